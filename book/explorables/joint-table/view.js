import { el, explorable, fixed, scale, slide, svg } from "../shared.js";
import { look } from "./model.js";

const MOST = 20;
const NAME = "joint-table";

export function start(root) {
  let cells = null;
  explorable(root, {
    title: "Three measures of dependence, and the functions that maximize the correlation",
    initial: (data) => ({ counts: data.counts }),
    valid: (state) => {
      const counts = state.counts.map((x) => Math.min(Math.max(Math.round(x), 0), MOST));
      if (!counts.some((x) => x > 0)) counts[0] = 1; // an empty table has no correlation
      return { counts };
    },
    compute: (state, data) => look(state.counts, data.a, data.b),
    outputs: (numbers, state) => {
      const texts = { pearson: fixed(numbers.pearson, 3), nmi: fixed(numbers.nmi, 3), rho: fixed(numbers.rho, 3), total: String(numbers.total) };
      numbers.D.flat().forEach((x, k) => { texts[`d${k}`] = signed(x); });
      state.counts.forEach((x, k) => { texts[`n${k}`] = String(x); });
      return texts;
    },
    summary: (numbers, state, data) => {
      const list = (values, names) => names.map((name, k) => `${fixed(name, 0)}: ${fixed(values[k], 2)}`).join(", ");
      const best = numbers.rho > 0
        ? `The best functions are f* (${list(numbers.f, data.a)}) and g* (${list(numbers.g, data.b)}).`
        : "The two variables are independent.";
      return `${numbers.total} people. Pearson ${fixed(numbers.pearson, 3)}, NMI ${fixed(numbers.nmi, 3)}, Rényi ${fixed(numbers.rho, 3)}. ${best}`;
    },
    draw: ({ state, numbers, width, data, stage, update }) => {
      cells = cells || build(stage, data, update, () => cells.now);
      cells.now = state;
      const D = numbers.D.flat();
      cells.inputs.forEach((input, k) => {
        if (Number(input.value) !== state.counts[k]) input.value = state.counts[k];
        input.setAttribute("aria-valuetext", `${state.counts[k]} people, D = ${signed(D[k])}`);
        const cell = input.closest("td");
        cell.style.setProperty("--depth", `${Math.min(100, Math.round(Math.abs(D[k]) * 700))}%`);
        cell.className = D[k] > 5e-4 ? "more" : D[k] < -5e-4 ? "fewer" : "";
      });
      const room = width >= 640 ? width - 400 : width;
      cells.picture.replaceChildren(picture(numbers, data, Math.min(room, 460)));
      return null;
    },
  });
}

const signed = (x) => (Number(Math.abs(x).toFixed(3)) === 0 ? "0.000" : (x > 0 ? "+" : "") + fixed(x, 3));
const output = (key) => el("output", { "data-explorable": NAME, "data-value": key });

/* The table is its own control: a slider in every cell. */
function build(stage, data, update, now) {
  const inputs = [];
  const heading = (name, value) => el("th", { scope: name === "a" ? "row" : "col" }, `${name} = ${fixed(value, 0)}`);
  const rows = data.a.map((a, i) => el("tr", {}, heading("a", a), data.b.map((b, j) => {
    const k = i * data.b.length + j;
    const input = el("input", { type: "range", min: 0, max: MOST, step: 1, "aria-label": `people with a = ${fixed(a, 0)} and b = ${fixed(b, 0)}` });
    slide(input, (value) => update({ counts: now().counts.map((x, l) => (l === k ? value : x)) }), () => now().counts[k]);
    inputs.push(input);
    return el("td", {}, output(`n${k}`), el("small", {}, output(`d${k}`)), input);
  })));
  const table = el("table", {}, el("caption", {}, "Cells show people, and D as a number and a color. Slide to add or remove people."),
    el("thead", {}, el("tr", {}, el("td", {}), data.b.map((b) => heading("b", b)))),
    el("tbody", {}, rows));
  const place = el("div", {});
  stage.replaceChildren(el("div", { class: "joint-table" }, table, place));
  return { inputs, picture: place, now: null };
}

/* Bars of the three measures; below, the functions f* and g* that reach the largest correlation. */
function picture(numbers, data, width) {
  const bars = [["|Pearson|", Math.abs(numbers.pearson), "var(--ex-line)"], ["NMI", numbers.nmi, "var(--ex-c)"], ["Rényi", numbers.rho, "var(--ex-b)"]];
  const x = scale(0, 1, 78, width - 52), height = 264, nodes = [];
  bars.forEach(([name, value, color], k) => {
    const y = 4 + 27 * k;
    nodes.push(svg("text", { x: 70, y: y + 15, "text-anchor": "end" }, name));
    nodes.push(svg("rect", { x: x(0), y, width: x(1) - x(0), height: 20, fill: "none", stroke: "var(--ex-grid)" }));
    nodes.push(svg("rect", { x: x(0), y, width: Math.max(x(Math.min(value, 1)) - x(0), 0), height: 20, fill: color }));
    nodes.push(svg("text", { x: x(1) + 6, y: y + 15 }, fixed(value, 3)));
  });
  const largest = Math.max(2, ...numbers.f.map(Math.abs), ...numbers.g.map(Math.abs));
  const values = [...data.a, ...data.b], at = scale(Math.min(...values), Math.max(...values), 100, width - 40);
  const up = scale(-largest * 1.1, largest * 1.1, height - 34, 116);
  nodes.push(svg("line", { x1: 78, x2: width - 16, y1: up(0), y2: up(0), stroke: "var(--ex-grid)" }));
  [-Math.floor(largest), 0, Math.floor(largest)].forEach((tick) => {
    nodes.push(svg("text", { x: 66, y: up(tick) + 4, "text-anchor": "end", class: "small muted" }, fixed(tick, 0)));
  });
  data.a.forEach((a) => nodes.push(svg("text", { x: at(a), y: height - 18, "text-anchor": "middle", class: "small muted" }, fixed(a, 0))));
  nodes.push(svg("text", { x: (100 + width - 40) / 2, y: height - 2, "text-anchor": "middle", class: "small muted" }, "value of a, and of b"));
  nodes.push(svg("text", { x: 78, y: 104, class: "a" }, "● f*(a)"), svg("text", { x: 146, y: 104, class: "b" }, "■ g*(b), dashed"));
  const path = (list, where) => list.map((y, k) => `${k ? "L" : "M"}${at(where[k])} ${up(y)}`).join("");
  if (numbers.rho > 0) {
    nodes.push(svg("path", { d: path(numbers.f, data.a), fill: "none", stroke: "var(--ex-a)", "stroke-width": 2 }));
    nodes.push(svg("path", { d: path(numbers.g, data.b), fill: "none", stroke: "var(--ex-b)", "stroke-width": 2, "stroke-dasharray": "6 4" }));
    numbers.f.forEach((y, k) => nodes.push(svg("circle", { cx: at(data.a[k]), cy: up(y), r: 6, fill: "var(--ex-a)" })));
    numbers.g.forEach((y, k) => nodes.push(svg("rect", { x: at(data.b[k]) - 4.5, y: up(y) - 4.5, width: 9, height: 9, fill: "var(--ex-b)" })));
  } else {
    nodes.push(svg("text", { x: 100, y: up(0) - 10 }, "independent: no function helps"));
  }
  return svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Bars of the three measures, and the functions f* and g*", "aria-describedby": "joint-table-summary" }, nodes);
}
