/* The scorecard as a table to search, filter, group and sort. The rows are those of the page itself. */
import { el, explorable } from "../shared.js";
import { shown, tally } from "./model.js";

const HEAD = ["Claim, in our words", "Paper", "Ours", "Verdict"];
let custom = [];

function counted(counts, data) {
  return data.verdicts.map((verdict, k) => [counts[k], verdict, data.signs[k]]).filter(([n]) => n)
    .map(([n, verdict, sign]) => `${n} ${sign}\u00a0${verdict}`).join(", ");
}

/* The verdicts as one bar, each piece a button that shows only its rows. */
function bar({ rows, offered }, state, data, update) {
  const words = `${rows.length} of ${data.rows.length} rows${rows.length ? "" : ", because none matches"}`;
  return [el("div", { class: "claims-bar", role: "group", "aria-label": "Show one verdict" }, data.verdicts.map((verdict, k) => {
    if (!offered[k]) return null;
    const chosen = state.verdict === verdict;
    const piece = el("button", {
      type: "button", "data-verdict": verdict, "aria-pressed": String(chosen), style: `flex-grow: ${offered[k]}`, title: chosen ? "show all verdicts" : `show only: ${verdict}`,
    }, el("span", {}, `${data.signs[k]} ${offered[k]}`), el("span", { class: "claims-name" }, verdict));
    piece.addEventListener("click", () => update({ verdict: chosen ? "all" : verdict }));
    return piece;
  })), el("p", { class: "claims-count", "aria-hidden": "true" }, words)];
}

/* A foldable group of rows, which are moved here from their present place in the page. */
function section(name, rows, data, open, nodes) {
  const body = el("tbody", {}, rows.map((row) => nodes.get(row.id)));
  return el("details", { class: "claims-part", open },
    el("summary", {}, el("span", {}, el("strong", {}, name), `: ${counted(tally(rows, data.verdicts), data)}`)),
    el("table", { class: "claims" }, el("thead", {}, el("tr", {}, HEAD.map((head) => el("th", { scope: "col" }, head)))), body));
}

/* Add two controls that the frame does not have, a search field and a choice of the part. */
function attach(frame) {
  const { stage, update, data } = frame, live = stage.closest(".explorable-live");
  const [panel, fold] = live.querySelectorAll(".explorable-controls");
  const field = (label, node, key, event) => {
    node.addEventListener(event, () => update({ [key]: node.value }));
    custom.push(() => { if (node.value !== frame.state[key]) node.value = frame.state[key]; });
    return el("label", { class: "explorable-field" }, label, node);
  };
  panel.prepend(
    field("Find", el("input", { type: "search", placeholder: "lambda, Hardt, Theorem …" }), "words", "input"),
    field("Part", el("select", {}, el("option", { value: "all" }, "all"), data.parts.map((name) => el("option", { value: name }, name))), "part", "change"));
  /* Put the controls before the rows, on the screen and in the order of the tab key. */
  stage.before(panel, fold, live.querySelector(".explorable-summary"));
  custom.forEach((follow) => follow());
  addEventListener("beforeprint", () => stage.querySelectorAll("details").forEach((node) => { node.open = true; }));
  const target = location.hash.startsWith("#claim-") && document.getElementById(location.hash.slice(1));
  if (target) { target.closest("details").open = true; target.scrollIntoView(); }
}

export function start(root) {
  const nodes = new Map([...root.querySelectorAll("tr[id^=claim-]")].map((node) => [node.id.slice(6), node]));
  const texts = new Map([...nodes].map(([id, node]) => [id, node.textContent]));
  const rowsOf = (data) => data.rows.map(([id, part, verdict, primary, effect]) =>
    ({ id, part: data.parts[part], verdict: data.verdicts[verdict], primary: Boolean(primary), effect, text: texts.get(id) }));
  const all = new Map();
  custom = [];
  explorable(root, {
    title: "The paper's claims and what was found",
    initial: { words: "", part: "all", verdict: "all", group: "part", sort: "paper", second: "no" },
    controls: [
      { kind: "group", label: "Order, groups and second readings", controls: [
        { kind: "choice", key: "group", label: "Group by", options: [["part", "part of the paper"], ["verdict", "verdict"]] },
        { kind: "choice", key: "sort", label: "Order", options: [["paper", "as in the paper"], ["effect", "largest effect first"]] },
        { kind: "choice", key: "second", label: "Second readings", options: [["no", "hide"], ["yes", "show"]] },
      ] },
    ],
    valid: (state, data) => ({
      ...state, part: data.parts.includes(state.part) ? state.part : "all",
      verdict: data.verdicts.includes(state.verdict) ? state.verdict : "all",
    }),
    compute: (state, data) => {
      if (!all.has(data)) all.set(data, rowsOf(data));
      return shown(data, all.get(data), state);
    },
    outputs: ({ rows, counts }, state, data) => ({
      shown: String(rows.length), ...Object.fromEntries(data.verdicts.map((verdict, k) => [verdict.replaceAll(" ", "_"), String(counts[k])])),
    }),
    summary: ({ rows, counts }, state, data) => `${rows.length} of ${data.rows.length} rows: ${counted(counts, data) || "none"}.`,
    draw: ({ state, numbers, data, stage, update }) => {
      const focused = document.activeElement && document.activeElement.dataset.verdict;
      const open = new Set([...stage.querySelectorAll("details[open]")].map((node) => node.dataset.name));
      const sections = numbers.groups.map(([name, rows]) => {
        const node = section(name, rows, data, numbers.narrowed || open.has(name), nodes);
        node.dataset.name = name;
        return node;
      });
      stage.replaceChildren(...bar(numbers, state, data, update), ...sections);
      if (focused) stage.querySelector(`button[data-verdict="${focused}"]`)?.focus();
      custom.forEach((follow) => follow());
      return null;
    },
    attach,
  });
}
