// Aids for navigation and copying: links into folded boxes, the current section, previews of references,
// formulas copied as TeX, and the arrow keys.

(() => {
  "use strict";

  const ready = (run) =>
    document.readyState === "loading" ? document.addEventListener("DOMContentLoaded", run) : run();

  // -- Links into folded boxes -----------------------------------------------------------------

  function target() {
    try {
      return document.getElementById(decodeURIComponent(location.hash.slice(1)));
    } catch {
      return null;
    }
  }

  function openFolds(place) {
    let opened = false;
    for (let box = place; box; box = box.parentElement) {
      const button = box.matches(".toggle-hidden") && box.querySelector(".toggle-button");
      if (button) { button.click(); opened = true; }
      if (box.matches("details:not([open])")) { box.open = true; opened = true; }
    }
    return opened;
  }

  // Keep the target of the link in view until the reader moves, because a live figure may change its height.
  function keepPlace(article) {
    let moved = false;
    const still = new ResizeObserver(() => {
      const place = !moved && target();
      if (place) place.scrollIntoView({ behavior: "instant" });
    });
    still.observe(article);
    for (const kind of ["wheel", "touchstart", "keydown", "pointerdown"]) {
      addEventListener(kind, () => { moved = true; still.disconnect(); }, { once: true, passive: true });
    }
  }

  function followLinks() {
    const follow = () => {
      const place = target();
      if (place && openFolds(place)) place.scrollIntoView({ behavior: "instant" });
    };
    // Wait until the theme has folded its boxes.
    setTimeout(follow);
    addEventListener("hashchange", follow);
  }

  // -- The current section in the contents of the page ------------------------------------------

  function markSection() {
    const links = [...document.querySelectorAll("#pst-page-toc-nav a[href^='#']")];
    const places = links.map((link) => document.getElementById(decodeURIComponent(link.hash.slice(1))));
    let current, waiting = false;
    const mark = () => {
      waiting = false;
      const line = innerHeight / 4;
      const end = scrollY + innerHeight >= document.documentElement.scrollHeight - 2;
      let at = places.findLastIndex((place) => place && place.getBoundingClientRect().top <= line);
      if (end) at = links.length - 1;
      if (links[at] === current) return;
      current?.removeAttribute("aria-current");
      current = links[at];
      current?.setAttribute("aria-current", "location");
    };
    if (!links.length) return;
    addEventListener("scroll", () => { if (!waiting) { waiting = true; requestAnimationFrame(mark); } }, { passive: true });
    mark();
  }

  // -- Previews ------------------------------------------------------------------------------------

  // Elements that are previewed: equations, figures, theorems, exercises, citations, list entries and notes.
  const SHOWN = "div.math, figure, .proof, .exercise, .citation, dt, .admonition";
  const pages = new Map();

  async function page(address) {
    if (address === location.href.split("#")[0]) return document;
    if (!pages.has(address)) {
      const text = await (await fetch(address)).text();
      pages.set(address, new DOMParser().parseFromString(text, "text/html"));
    }
    return pages.get(address);
  }

  async function content(link) {
    const [address, id] = link.href.split("#");
    const found = (await page(address)).getElementById(decodeURIComponent(id));
    const shown = found && (found.matches(SHOWN) ? found : found.closest("p, li")?.closest(SHOWN));
    if (!shown) return null;
    const copy = document.createElement("div");
    copy.append(document.importNode(shown, true));
    if (shown.matches("dt")) {
      for (let next = shown.nextElementSibling; next?.matches("dd"); next = next.nextElementSibling) {
        copy.append(document.importNode(next, true));
      }
    }
    for (const unwanted of copy.querySelectorAll("button, script, .headerlink, .explorable")) unwanted.remove();
    for (const element of copy.querySelectorAll("[id], [tabindex]")) {
      for (const name of ["id", "tabindex", "role", "aria-label"]) element.removeAttribute(name);
    }
    for (const [selector, name] of [["img", "src"], ["source", "srcset"], ["a[href]", "href"]]) {
      for (const element of copy.querySelectorAll(selector)) {
        element.setAttribute(name, new URL(element.getAttribute(name), address).href);
      }
    }
    for (const box of copy.querySelectorAll(".toggle-hidden")) box.classList.remove("toggle-hidden");
    for (const inner of copy.querySelectorAll("a[href]")) inner.tabIndex = -1;
    return copy;
  }

  function showPreviews(article) {
    const box = document.createElement("div");
    box.className = "preview";
    box.id = "preview";
    box.setAttribute("role", "tooltip");
    box.hidden = true;
    document.body.append(box);
    let wait, shownFor = null;

    const hide = () => {
      clearTimeout(wait);
      shownFor?.removeAttribute("aria-describedby");
      shownFor = null;
      box.hidden = true;
    };
    const show = async (link) => {
      let copy;
      try {
        copy = await content(link);
      } catch {
        return; // a page that was opened as a file cannot read other pages
      }
      if (!copy || !link.matches(":hover, :focus-visible")) return;
      box.replaceChildren(copy);
      box.hidden = false;
      const at = link.getBoundingClientRect(), room = document.documentElement.clientWidth;
      const left = Math.max(8, Math.min(at.left, room - box.offsetWidth - 8));
      const below = at.bottom + 8 + box.offsetHeight < innerHeight || at.top < box.offsetHeight + 8;
      box.style.left = `${left + scrollX}px`;
      box.style.top = `${(below ? at.bottom + 8 : at.top - box.offsetHeight - 8) + scrollY}px`;
      link.setAttribute("aria-describedby", box.id);
      shownFor = link;
    };
    const ask = (event) => {
      const link = event.target.closest?.("a.reference.internal[href*='#'], a.headerlink ~ a[href*='#']");
      if (!link || link === shownFor || !article.contains(link)) return;
      hide();
      wait = setTimeout(show, event.type === "focusin" ? 600 : 250, link);
    };
    const leave = (event) => {
      if (box.contains(event.relatedTarget) || shownFor?.contains(event.relatedTarget)) return;
      hide();
    };
    if (matchMedia("(hover: hover)").matches) {
      article.addEventListener("mouseover", ask);
      article.addEventListener("mouseout", leave);
      box.addEventListener("mouseleave", leave);
    }
    article.addEventListener("focusin", (event) => { if (event.target.matches(":focus-visible")) ask(event); });
    article.addEventListener("focusout", hide);
    addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
  }

  // -- Formulas are copied as TeX -----------------------------------------------------------------

  function copyTex() {
    document.addEventListener("copy", (event) => {
      const chosen = getSelection();
      if (!chosen.rangeCount || chosen.isCollapsed) return;
      const copy = document.createElement("div");
      // Extend a selection that begins or ends inside a formula to the whole formula.
      const range = chosen.getRangeAt(0).cloneRange();
      for (const [edge, set] of [[range.startContainer, "setStartBefore"], [range.endContainer, "setEndAfter"]]) {
        const formula = (edge.nodeType === 1 ? edge : edge.parentElement).closest("math");
        if (formula) range[set](formula);
      }
      copy.append(range.cloneContents());
      const formulas = copy.querySelectorAll("math[data-tex]");
      if (!formulas.length) return;
      for (const formula of formulas) {
        const mark = formula.getAttribute("display") === "block" ? "$$" : "$";
        formula.replaceWith(mark + formula.dataset.tex + mark);
      }
      // Add the copy to the page, because only text that is laid out keeps its paragraphs.
      copy.style.cssText = "position: fixed; left: -999em; white-space: normal";
      document.body.append(copy);
      event.clipboardData.setData("text/plain", copy.innerText);
      copy.remove();
      event.preventDefault();
    });
  }

  // -- Arrow keys: the previous and the next page, unless something has the focus ---------------

  function turnPages() {
    addEventListener("keydown", (event) => {
      if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || event.defaultPrevented) return;
      if (document.activeElement !== document.body) return;
      const kind = { ArrowLeft: "prev", ArrowRight: "next" }[event.key];
      const link = kind && document.querySelector(`link[rel="${kind}"]`);
      if (link) location.href = link.href;
    });
  }

  ready(() => {
    copyTex();
    turnPages();
    markSection();
    const article = document.querySelector(".bd-article");
    if (!article) return;
    followLinks();
    keepPlace(article);
    showPreviews(article);
  });
})();
