// The search's own order: a page whose title one typed comes first, then the pages that have the
// thing under another name (`otherWords`, written into the search page), then the rest.

(() => {
  "use strict";

  // A title without its number and its marks.
  const plain = (text) =>
    text.replace(/<[^>]*>/g, "").replace(/\s+/g, " ").trim().replace(/^\d+\. /, "").toLowerCase();

  // How well a title answers: the whole of it, its beginning, its words before a colon.
  function closeness(title, query) {
    const words = plain(title);
    if (words == query) return 3000;
    if (words.startsWith(query + ":")) return 2500;
    if (words.startsWith(query + " ")) return 1500;
    return 0;
  }

  // The lines shown of a page are of its text, without formulas, buttons and folded code.
  const SILENT = "math, button, script, style, summary, nav, .headerlink, .chapter-foot, .explorable .controls";
  Search.htmlToText = (html, anchor) => {
    const page = new DOMParser().parseFromString(html, "text/html");
    for (const element of page.querySelectorAll(SILENT)) element.replaceWith(element.localName === "math" ? "…" : " ");
    const article = page.querySelector(".bd-article") || page.body;
    const place = anchor && article.querySelector(anchor);
    return (place || article).textContent;
  };

  const search = Search._performSearch;
  Search._performSearch = (query, ...terms) => {
    const asked = plain(query), index = Search._index;
    const results = search(query, ...terms);
    const page = (name, score) => {
      const at = index.docnames.indexOf(name);
      return at < 0 ? null : [name, index.titles[at], "", null, score, index.filenames[at]];
    };
    const extra = [];
    index.docnames.forEach((name, at) => {
      const score = closeness(index.titles[at], asked);
      if (score) extra.push(page(name, score));
    });
    for (const [word, pages] of Object.entries(otherWords)) {
      if (!` ${asked} `.includes(` ${word} `)) continue;
      pages.forEach((name, place) => extra.push(page(name, 1000 + 10 * word.length - place)));
    }
    const best = new Map();
    for (const result of extra.filter(Boolean)) {
      const known = best.get(result[0]);
      if (!known || known[4] < result[4]) best.set(result[0], result);
    }
    for (const result of results) {
      const words = plain(result[1].split(" > ").pop());
      if (words == asked) result[4] += 500;
    }
    // A page stands once: not again for its text.
    const rest = results.filter((r) => !(best.has(r[0]) && !r[2]));
    rest.sort((a, b) => a[4] - b[4]);
    // The last is shown first.
    return [...rest, ...[...best.values()].sort((a, b) => a[4] - b[4])];
  };
})();
