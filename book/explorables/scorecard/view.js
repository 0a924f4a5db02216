/* The scorecard as a table to search, filter, group and sort. The rows are those of the page itself. */
import { el, explorable } from "../shared.js";
import { shown, tally } from "./model.js";

const HEAD = ["Claim, in our words", "Paper", "Ours", "Verdict"];
let custom = [];

function counted(counts, data) {
  return data.verdicts.map((verdict, k) => [counts[k], verdict, data.signs[k]]).filter(([n]) => n)
    .map(([n, verdict, sign]) => `${n} ${sign}\u00a0${verdict}`).join(", ");
}

/* The verdicts of the rows that are shown, as one bar. */
function bar(counts, data) {
  const total = counts.reduce((a, b) => a + b, 0);
  const words = `${total} of ${data.rows.length} rows${total ? "" : ": none fits"}`;
  return [el("p", { class: "claims-count", "aria-hidden": "true" }, words), el("div", { class: "claims-bar", "aria-hidden": "true" }, data.verdicts.map((verdict, k) => counts[k] > 0 &&
    el("span", { "data-verdict": verdict, style: `flex-grow: ${counts[k]}`, title: verdict }, `${data.signs[k]} ${counts[k]}`)))];
}

/* A group of rows, folded; the rows are moved here from where they are. */
function section(name, rows, data, open, nodes) {
  const body = el("tbody", {}, rows.map((row) => nodes.get(row.id)));
  return el("details", { class: "claims-part", open },
    el("summary", {}, el("span", {}, el("strong", {}, name), `: ${counted(tally(rows, data.verdicts), data)}`)),
    el("table", { class: "claims" }, el("thead", {}, el("tr", {}, HEAD.map((head) => el("th", { scope: "col" }, head)))), body));
}

/* The controls that the frame does not have: words to look for, a part to choose, second readings. */
function attach(frame) {
  const { stage, update, data } = frame, live = stage.parentElement;
  const panel = live.querySelector(".explorable-controls");
  const field = (label, node, key, get, event) => {
    node.addEventListener(event, () => update({ [key]: get() }));
    custom.push(() => { if (get() !== frame.state[key]) node.type === "checkbox" ? (node.checked = frame.state[key] === "yes") : (node.value = frame.state[key]); });
    return el("label", { class: "explorable-field" }, node.type === "checkbox" ? [node, label] : [label, node]);
  };
  const words = el("input", { type: "search", placeholder: "lambda, Hardt, Theorem …" });
  const part = el("select", {}, el("option", { value: "all" }, "all"), data.parts.map((name) => el("option", { value: name }, name)));
  const second = el("input", { type: "checkbox" });
  panel.prepend(
    field("Find", words, "words", () => words.value, "input"),
    field("Part", part, "part", () => part.value, "change"));
  panel.querySelector("button").before(field("second readings too", second, "second", () => (second.checked ? "yes" : "no"), "change"));
  /* Before the rows, for the eye and for the tab key. */
  stage.before(panel, live.querySelector(".explorable-summary"));
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
    controls: (data) => [
      { kind: "choice", key: "verdict", label: "Verdict",
        options: [["all", "all"], ...data.verdicts.map((verdict, k) => [verdict, `${data.signs[k]} ${verdict}`])] },
      { kind: "choice", key: "group", label: "Together by", options: [["part", "part of the paper"], ["verdict", "verdict"]] },
      { kind: "choice", key: "sort", label: "Order", options: [["paper", "as in the paper"], ["effect", "largest effect first"]] },
    ],
    valid: (state, data) => ({ ...state, part: data.parts.includes(state.part) ? state.part : "all", second: state.second === "yes" ? "yes" : "no" }),
    compute: (state, data) => {
      if (!all.has(data)) all.set(data, rowsOf(data));
      return shown(data, all.get(data), state);
    },
    outputs: ({ rows, counts }, state, data) => ({
      shown: String(rows.length), ...Object.fromEntries(data.verdicts.map((verdict, k) => [verdict.replaceAll(" ", "_"), String(counts[k])])),
    }),
    summary: ({ rows, counts }, state, data) => `${rows.length} of ${data.rows.length} rows: ${counted(counts, data) || "none"}.`,
    draw: ({ numbers, data, stage }) => {
      const open = new Set([...stage.querySelectorAll("details[open]")].map((node) => node.dataset.name));
      const sections = numbers.groups.map(([name, rows]) => {
        const node = section(name, rows, data, numbers.narrowed || open.has(name), nodes);
        node.dataset.name = name;
        return node;
      });
      stage.replaceChildren(...bar(numbers.counts, data), ...sections);
      custom.forEach((follow) => follow());
      return null;
    },
    attach,
  });
}
