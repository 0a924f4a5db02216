/* Written into the page after each explorable (renyi_book/explorables.py). Pages of the built book state
   where their root is. JupyterLab's pages do not, so they keep the still picture. A page opened as a file
   cannot import modules, so it loads the same code as one plain script (_tools/explorable_files.py). */
(() => {
  const root = document.documentElement.dataset.content_root;
  if (root === undefined) return;
  const figure = document.currentScript.parentElement, name = figure.dataset.explorable;
  const base = new URL(`${root}book/explorables/`, document.baseURI).href;
  const add = (tag, fields) => document.head.appendChild(Object.assign(document.createElement(tag), fields));
  if (!document.getElementById("explorables-css")) {
    add("link", { id: "explorables-css", rel: "stylesheet", href: `${base}explorables.css` });
  }
  const wake = () => {
    if (location.protocol !== "file:") return import(`${base}${name}/view.js`).then((view) => view.start(figure));
    return add("script", { src: `${base}${name}/plain.js`, onload: () => window.renyiExplorables[name].start(figure) });
  };
  if (location.hash.includes(`${name}.`)) return wake();
  const near = new IntersectionObserver((seen) => {
    if (seen.some((one) => one.isIntersecting)) { near.disconnect(); wake(); }
  }, { rootMargin: "800px" });
  near.observe(figure);
})();
