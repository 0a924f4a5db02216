import { el, explorable, fixed, scale, svg } from "../shared.js";
import { look } from "./model.js";

const MOST = 20;
const COMMON = "joint-table";

export function start(root) {
  let cells = null;
  explorable(root, {
    title: "Three measures of dependence, and the best question",
    initial: (data) => ({ counts: data.counts }),
    valid: (state) => {
      const counts = state.counts.map((x) => Math.min(Math.max(Math.round(x), 0), MOST));
      if (!counts.some((x) => x > 0)) counts[0] = 1; // an empty table has no correlation
      return { counts };
    },
    compute: (state, data) => look(state.counts, data.a, data.b),
    outputs: (numbers, state) => {
      const texts = { pearson: fixed(numbers.pearson, 3), nmi: fixed(numbers.nmi, 3), rho: fixed(numbers.rho, 3), total: String(numbers.total) };
      numbers.f.forEach((x, i) => { texts[`f${i}`] = fixed(x, 2); });
      numbers.g.forEach((x, j) => { texts[`g${j}`] = fixed(x, 2); });
      numbers.D.flat().forEach((x, k) => { texts[`d${k}`] = signed(x); });
      state.counts.forEach((x, k) => { texts[`n${k}`] = String(x); });
      return texts;
    },
    summary: (numbers, state, data) => {
      const list = (values, names) => names.map((name, k) => `${fixed(name, 0)}: ${fixed(values[k], 2)}`).join(", ");
      const question = numbers.rho > 0
        ? `The best question gives a the numbers ${list(numbers.f, data.a)}, and b the numbers ${list(numbers.g, data.b)}.`
        : "No question finds anything.";
      return `${numbers.total} people: Pearson ${fixed(numbers.pearson, 3)}, NMI ${fixed(numbers.nmi, 3)}, Rényi ${fixed(numbers.rho, 3)}. ${question}`;
    },
    draw: ({ state, numbers, width, data, stage, update }) => {
      cells = cells || build(stage, data, update, () => cells.now);
      cells.now = state;
      cells.inputs.forEach((input, k) => {
        if (Number(input.value) !== state.counts[k]) input.value = state.counts[k];
        input.setAttribute("aria-valuetext", `${state.counts[k]} people, ${signed(numbers.D.flat()[k])} against independence`);
        input.closest("td").style.setProperty("--fill", `${(100 * state.counts[k]) / MOST}%`);
        input.closest("td").className = numbers.D.flat()[k] < -5e-4 ? "fewer" : "";
      });
      const room = width >= 640 ? width - 400 : width;
      cells.picture.replaceChildren(picture(numbers, data, Math.min(room, 460)));
      return null;
    },
  });
}

const signed = (x) => (Number(Math.abs(x).toFixed(3)) === 0 ? "0.000" : (x > 0 ? "+" : "") + fixed(x, 3));
const output = (key) => el("output", { "data-explorable": COMMON, "data-value": key });

/* The table is its own control: a slider in every cell. */
function build(stage, data, update, now) {
  const inputs = [];
  const heading = (name, value) => el("th", { scope: name === "a" ? "row" : "col" }, `${name} = ${fixed(value, 0)}`);
  const rows = data.a.map((a, i) => el("tr", {}, heading("a", a), data.b.map((b, j) => {
    const k = i * data.b.length + j;
    const input = el("input", { type: "range", min: 0, max: MOST, step: 1, "aria-label": `people with a = ${fixed(a, 0)} and b = ${fixed(b, 0)}` });
    input.addEventListener("input", () => update({ counts: now().counts.map((x, l) => (l === k ? Number(input.value) : x)) }));
    inputs.push(input);
    return el("td", {}, output(`n${k}`), el("small", {}, output(`d${k}`)), input);
  }), el("td", { class: "margin a" }, output(`f${i}`))));
  const foot = el("tr", {}, el("th", { scope: "row" }, "g*"), data.b.map((_, j) => el("td", { class: "margin b" }, output(`g${j}`))), el("td", { class: "margin" }));
  const table = el("table", {}, el("caption", {}, "People, and D below: drag a slider to move mass"),
    el("thead", {}, el("tr", {}, el("td", {}), data.b.map((b) => heading("b", b)), el("th", { scope: "col" }, "f*"))),
    el("tbody", {}, rows, foot));
  const place = el("div", {});
  stage.replaceChildren(el("div", { class: "joint-table" }, table, place));
  return { inputs, picture: place, now: null };
}

/* Bars of the three measures; below, the numbers that the best question gives to a and to b. */
function picture(numbers, data, width) {
  const bars = [["|Pearson|", Math.abs(numbers.pearson), "var(--ex-line)"], ["NMI", numbers.nmi, "var(--ex-c)"], ["Rényi", numbers.rho, "var(--ex-b)"]];
  const x = scale(0, 1, 78, width - 52), height = 330, nodes = [];
  bars.forEach(([name, value, color], k) => {
    const y = 12 + 30 * k;
    nodes.push(svg("text", { x: 70, y: y + 14, "text-anchor": "end" }, name));
    nodes.push(svg("rect", { x: x(0), y, width: x(1) - x(0), height: 20, fill: "none", stroke: "var(--ex-grid)" }));
    nodes.push(svg("rect", { x: x(0), y, width: Math.max(x(Math.min(value, 1)) - x(0), 0), height: 20, fill: color }));
    nodes.push(svg("text", { x: x(1) + 6, y: y + 15 }, fixed(value, 3)));
  });
  const largest = Math.max(2, ...numbers.f.map(Math.abs), ...numbers.g.map(Math.abs));
  const values = [...data.a, ...data.b], at = scale(Math.min(...values), Math.max(...values), 100, width - 40);
  const up = scale(-largest * 1.1, largest * 1.1, height - 34, 130);
  nodes.push(svg("line", { x1: 78, x2: width - 16, y1: up(0), y2: up(0), stroke: "var(--ex-grid)" }));
  [-Math.floor(largest), 0, Math.floor(largest)].forEach((tick) => {
    nodes.push(svg("text", { x: 66, y: up(tick) + 4, "text-anchor": "end", class: "small muted" }, fixed(tick, 0)));
  });
  data.a.forEach((a) => nodes.push(svg("text", { x: at(a), y: height - 14, "text-anchor": "middle", class: "small muted" }, fixed(a, 0))));
  nodes.push(svg("text", { x: 78, y: 122, class: "a" }, "● f*(a)"), svg("text", { x: 146, y: 122, class: "b" }, "■ g*(b), dashed"));
  const path = (list, where) => list.map((y, k) => `${k ? "L" : "M"}${at(where[k])} ${up(y)}`).join("");
  if (numbers.rho > 0) {
    nodes.push(svg("path", { d: path(numbers.f, data.a), fill: "none", stroke: "var(--ex-a)", "stroke-width": 2 }));
    nodes.push(svg("path", { d: path(numbers.g, data.b), fill: "none", stroke: "var(--ex-b)", "stroke-width": 2, "stroke-dasharray": "6 4" }));
    numbers.f.forEach((y, k) => nodes.push(svg("circle", { cx: at(data.a[k]), cy: up(y), r: 6, fill: "var(--ex-a)" })));
    numbers.g.forEach((y, k) => nodes.push(svg("rect", { x: at(data.b[k]) - 4.5, y: up(y) - 4.5, width: 9, height: 9, fill: "var(--ex-b)" })));
  } else {
    nodes.push(svg("text", { x: 100, y: up(0) - 10 }, "nothing to find"));
  }
  return svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Bars of the three measures, and the functions f* and g*", "aria-describedby": "joint-table-summary" }, nodes);
}
