// Small help for readers: where one is, what is wide, what is folded, what is too small.

(() => {
  "use strict";

  const ready = (run) =>
    document.readyState === "loading" ? document.addEventListener("DOMContentLoaded", run) : run();

  // The contents show where one is.
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

  // On a phone the drawers close when something in them was chosen.
  function closeDrawers() {
    for (const drawer of document.querySelectorAll("dialog[id$='sidebar-modal']")) {
      drawer.addEventListener("click", (event) => {
        if (event.target.closest("a[href]")) drawer.close();
      });
    }
  }

  // What scrolls sideways can be reached, and scrolled, by keyboard.
  const WIDE = "pre, div.math, .output.text_html, .pst-scrollable-table-container";
  function markWide(within) {
    for (const box of within.querySelectorAll(WIDE)) {
      const scrolls = box.scrollWidth > box.clientWidth + 1 &&
        /auto|scroll/.test(getComputedStyle(box).overflowX);
      if (scrolls && !box.hasAttribute("tabindex")) {
        box.tabIndex = 0;
        box.dataset.wide = "more";
        if (!box.hasAttribute("role")) {
          box.setAttribute("role", "region");
          box.setAttribute("aria-label", "wide, scrolls sideways");
        }
      } else if (!scrolls && "wide" in box.dataset) {
        delete box.dataset.wide;
        for (const name of ["tabindex", "role", "aria-label"]) box.removeAttribute(name);
      }
    }
  }

  // A box says whether there is more to the right of what it shows.
  function followScroll(event) {
    const box = event.target;
    if (!box.dataset || !("wide" in box.dataset)) return;
    box.dataset.wide = box.scrollLeft + box.clientWidth < box.scrollWidth - 2 ? "more" : "end";
  }

  // The whole title of a folded box opens it, whatever stands in the title (the theme's own handler
  // knows the bare text only); its button says what it opens.
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

  // A figure, enlarged. Without this script its link opens the picture.
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

  // Paper: what is folded stays so, unless the reader asks for it.
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
    // After the theme's own scripts, which add their buttons when the page is ready.
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
