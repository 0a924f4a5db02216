/* The landing page: women selected for every 100 men, at every threshold, of two models on Adult's real scores. */
import { drag, explorable, fixed, scale, svg } from "../shared.js";
import { below, beside, line } from "../plot.js";
import { relative } from "./model.js";

const LOW = 0.05, HIGH = 0.95, MOST = 170;
const LINES = [["usual", "var(--ex-b)", "7 4", "trained as usual"], ["fair", "var(--ex-a)", null, "trained to be fair"]];
const across = (width) => scale(LOW, HIGH, 40, width - 14);
const index = (t, data) => Math.round(t * data.steps);

function draw({ state, numbers, width, data }) {
  const narrow = width < 560, x = across(width), [left, right] = [x(LOW), x(HIGH)];
  const top = 30, bottom = narrow ? 190 : 230, y = scale(0, MOST, bottom, top);
  const here = x(state.t), knob = y(66);
  /* The number of a rising curve is on the left of its point, where the curve is lower. */
  const leftOf = { usual: state.t > 0.6, fair: (state.t > 0.15 && state.t < 0.74) || state.t > 0.9 };
  /* The names of the curves are on the side away from the line of the threshold. */
  const aside = state.t > 0.5 ? { x: left + 4 } : { x: right, "text-anchor": "end" };
  return svg("svg", { width, height: bottom + 40, viewBox: `0 0 ${width} ${bottom + 40}` },
    below(x, [0.1, 0.3, 0.5, 0.7, 0.9].map((v) => [v, fixed(v, 1)]), { top, bottom, label: "score needed to be selected" }),
    beside(y, [0, 50, 100, 150].map((v) => [v, v === 100 ? "equal" : String(v)]), { left, right, top: top - 8, label: "women selected for every 100 men" }),
    svg("line", { x1: left, x2: right, y1: y(100), y2: y(100), stroke: "currentColor", "stroke-width": 1.5 }),
    LINES.map(([key, color, dash]) => line(
      data[key].map((_, k) => k).filter((k) => k / data.steps >= LOW - 1e-9 && k / data.steps <= HIGH + 1e-9)
        .map((k) => [x(k / data.steps), y(relative(data, key, k))]), { stroke: color, "stroke-dasharray": dash, "stroke-width": 2.5 })),
    svg("text", { ...aside, y: y(14), class: "b" }, LINES[0][3]),
    svg("text", { ...aside, y: y(58), class: "a" }, LINES[1][3]),
    svg("g", { class: "dot", "data-handle": "threshold" },
      svg("rect", { x: here - 22, y: top, width: 44, height: bottom - top, fill: "transparent" }),
      svg("line", { x1: here, x2: here, y1: top, y2: bottom, stroke: "currentColor", "stroke-width": 2 }),
      svg("circle", { cx: here, cy: knob, r: 9, fill: "currentColor" }),
      svg("path", { d: `M${here - 13} ${knob - 5}l-6 5l6 5M${here + 13} ${knob - 5}l6 5l-6 5`, fill: "none", stroke: "currentColor", "stroke-width": 2 })),
    LINES.map(([key, color]) => [
      svg("circle", { cx: here, cy: y(numbers[key]), r: 6, fill: color, stroke: "var(--ex-paper)", "stroke-width": 2 }),
      svg("text", { x: here + (leftOf[key] ? -12 : 12), y: y(numbers[key]) + (key === "usual" ? 20 : -10), "text-anchor": leftOf[key] ? "end" : "start",
        style: `fill: ${color}; font-size: 17px; font-weight: 700` }, fixed(numbers[key], 0)),
    ]).flat());
}

export function start(root) {
  explorable(root, {
    title: "Women selected for every 100 men, at every threshold",
    initial: { t: 0.5 },
    controls: [{ kind: "range", key: "t", label: "threshold", min: LOW, max: HIGH, step: 0.01, text: (v) => fixed(v, 2) }],
    compute: (state, data) => Object.fromEntries(LINES.map(([key]) => [key, relative(data, key, index(state.t, data))])),
    outputs: (found, state) => ({ usual: fixed(found.usual, 0), fair: fixed(found.fair, 0), t: fixed(state.t, 2) }),
    summary: (found, state) =>
      `At the threshold ${fixed(state.t, 2)}, the model trained as usual selects ${fixed(found.usual, 0)} women for every 100 men, ` +
      `and the model trained to be fair selects ${fixed(found.fair, 0)}.`,
    draw,
    attach: (frame) => drag(frame.stage, ([x]) => Math.abs(x - across(frame.stage.clientWidth)(frame.state.t)) < 22, (held, [x]) => {
      const place = across(frame.stage.clientWidth);
      frame.update({ t: LOW + ((x - place(LOW)) / (place(HIGH) - place(LOW))) * (HIGH - LOW) });
    }),
  });
}
