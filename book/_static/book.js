// Small aids for readers: the current page in the contents, wide boxes, folded boxes, larger figures, and printing.

(() => {
  "use strict";

  const ready = (run) =>
    document.readyState === "loading" ? document.addEventListener("DOMContentLoaded", run) : run();

  // Mark the current page in the contents, and scroll to it.
  function showCurrentPage() {
    const box = document.querySelector(".bd-sidebar-primary");
    for (const fold of box ? box.querySelectorAll("li summary") : []) {
      const name = fold.closest("li").querySelector("a").textContent.trim();
      fold.setAttribute("aria-label", `Show or hide the pages of ${name}`);
    }
    const link = box && box.querySelector("li.current.active > a, a.current");
    if (!link) return;
    link.setAttribute("aria-current", "page");
    const off = link.getBoundingClientRect().top - box.getBoundingClientRect().top;
    if (off > box.clientHeight * 0.8) box.scrollTop += off - box.clientHeight / 3;
  }

  // On a phone, close a drawer when the reader follows one of its links.
  function closeDrawers() {
    for (const drawer of document.querySelectorAll("dialog[id$='sidebar-modal']")) {
      drawer.addEventListener("click", (event) => {
        if (event.target.closest("a[href]")) drawer.close();
      });
    }
  }

  // A box that scrolls sideways fades on each side where there is more, and the keyboard can focus and scroll it.
  const WIDE = "pre, div.math, .output.text_html, .pst-scrollable-table-container";
  const OURS = { tabindex: "0", role: "region", "aria-label": "wide, scrolls sideways" };
  function markWide(within) {
    const boxes = [...within.querySelectorAll(WIDE)].map((box) => [box, box.scrollWidth > box.clientWidth + 1 &&
      /auto|scroll/.test(getComputedStyle(box).overflowX)]);
    for (const [box, scrolls] of boxes) {
      if (scrolls && !("wide" in box.dataset)) {
        // The theme has set some of these attributes already.
        for (const name in OURS) if (!box.hasAttribute(name)) box.setAttribute(name, OURS[name]);
        followScroll({ target: box }, true);
      } else if (!scrolls && "wide" in box.dataset) {
        delete box.dataset.wide;
        for (const name in OURS) if (box.getAttribute(name) === OURS[name]) box.removeAttribute(name);
      }
    }
  }

  // Record on which sides of a box there is more to see.
  function followScroll({ target: box }, isNew = false) {
    if (!box.dataset || !(isNew || "wide" in box.dataset)) return;
    const left = box.scrollLeft > 2, right = box.scrollLeft + box.clientWidth < box.scrollWidth - 2;
    box.dataset.wide = left && right ? "both" : left ? "left" : "right";
  }

  // Let the whole title of a folded box open it, also where the title contains other elements (the theme's
  // own handler reacts only to its plain text), and label the button with the title.
  function mendFolds() {
    for (const title of document.querySelectorAll(".admonition.toggle > .admonition-title")) {
      const button = title.querySelector(".toggle-button");
      if (!button) continue;
      const words = [...title.childNodes].filter((n) => n !== button).map((n) => n.textContent).join("");
      button.setAttribute("aria-label", `Show or hide: ${words.trim()}`);
      title.addEventListener("click", (event) => {
        if (event.target === title || button.contains(event.target)) return;
        event.stopImmediatePropagation();
        if (!event.target.closest("a[href]")) button.click();
      }, true);
    }
  }

  // One button opens or closes all folds of a page. The text that the reader looks at stays in place.
  function switchFolds() {
    const box = document.querySelector(".fold-switch");
    if (!box) return;
    const button = box.firstElementChild;
    box.classList.add("ready");
    button.addEventListener("click", () => {
      const on = button.getAttribute("aria-pressed") === "false";
      const place = [...document.querySelectorAll(".bd-article :is(h2, h3, p)")]
        .find((e) => e !== box && e.getBoundingClientRect().top > 80 && e.checkVisibility());
      const before = place?.getBoundingClientRect().top;
      for (const fold of document.querySelectorAll(".bd-article details.fold")) fold.open = on;
      button.setAttribute("aria-pressed", on);
      if (place) scrollBy({ top: place.getBoundingClientRect().top - before, behavior: "instant" });
    });
  }

  // A click on a figure enlarges it. Without this script, the figure's link opens the picture.
  function enlarge() {
    document.addEventListener("click", (event) => {
      const link = event.target.closest(".bd-article a.image-reference");
      if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      const small = [...link.querySelectorAll("img")].find((i) => i.checkVisibility());
      const box = document.createElement("dialog");
      box.className = "lightbox";
      box.setAttribute("aria-label", "Figure, enlarged");
      const close = document.createElement("button");
      close.type = "button";
      close.textContent = "Close";
      const image = document.createElement("img");
      image.src = small.currentSrc || small.src;
      image.alt = small.alt;
      image.width = Math.max(small.clientWidth * 1.5, Math.min(innerWidth - 32, small.clientWidth * 2));
      box.append(close, image);
      box.addEventListener("click", () => box.close());
      box.addEventListener("close", () => { box.remove(); link.focus({ preventScroll: true }); });
      document.body.append(box);
      box.showModal();
    });
  }

  // Print the page. Folded boxes stay folded, unless the reader asks for everything.
  function printButtons() {
    for (const button of document.querySelectorAll("[data-print]")) {
      button.addEventListener("click", () => {
        const opened = [];
        if (button.dataset.print === "all") {
          for (const fold of document.querySelectorAll(".bd-article .toggle-hidden .toggle-button")) {
            if (fold.getAttribute("aria-expanded") === "false") { fold.click(); opened.push(fold); }
          }
        }
        window.print();
        for (const fold of opened) fold.click();
      });
    }
  }

  ready(() => {
    showCurrentPage();
    closeDrawers();
    enlarge();
    printButtons();
    switchFolds();
    // Wait for the theme's own scripts, which add their buttons when the page is ready.
    setTimeout(mendFolds);
    const article = document.querySelector(".bd-article");
    if (!article) return;
    const look = (within = article) => requestAnimationFrame(() => markWide(within));
    window.addEventListener("load", () => look());
    article.addEventListener("scroll", followScroll, { capture: true, passive: true });
    let wait;
    window.addEventListener("resize", () => {
      clearTimeout(wait);
      wait = setTimeout(look, 150, article);
    });
    document.addEventListener("toggle", (event) => look(event.target), true);
    document.addEventListener("click", (event) => {
      const title = event.target.closest(".admonition-title");
      if (title) look(title.parentElement);
    });
  });
})();
