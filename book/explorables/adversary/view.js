/* The frozen and the best-replying inspector: two banks walk downhill from one place. */
import { explorable, fixed, scale, svg } from "../shared.js";
import { below, beside, grid, legend, line } from "../plot.js";
import { compare, paid, truth } from "./model.js";

const [LEFT, RIGHT, HIGH] = [-1.5, 3.5, 0.7];
const GROUPS = ["young", "middle", "old"];

function draw({ state, numbers, width, data }) {
  const narrow = width < 560, edge = narrow ? 34 : 44;
  const [signs, used] = legend([
    ["line", "currentColor", "best question: ρ_R²"],
    ["dash", "var(--ex-b)", "her first question"],
    ["■", "var(--ex-b)", "bank of the frozen inspector"],
    ["●", "var(--ex-a)", "bank of the replying one"],
  ], width);
  const top = used + 30, bottom = top + (narrow ? 200 : 240), rows = bottom + 78;
  const x = scale(LEFT, RIGHT, edge, width - 12), y = scale(0, HIGH, bottom, top);
  const places = grid(LEFT, RIGHT, 120), { frozen, moving, first } = numbers;
  const curve = (value, attributes) => line(places.map((t) => [x(t), y(Math.min(value(t), HIGH))]), attributes);
  /* The slope that a bank follows, as a short line through its place. */
  const tangent = (theta, { value, slope }, color) => line([-0.42, 0.42].map((h) => [x(theta + h), y(value + slope * h)]),
    { stroke: color, "stroke-width": 1.5, "stroke-dasharray": "2 3" });
  const trail = (bank, height, color) => bank.places.slice(0, -1).map((t) =>
    svg("circle", { cx: x(t), cy: y(height(t)), r: 2.5, fill: color }));
  const square = (cx, cy, size, attributes) => svg("rect", { x: cx - size, y: cy - size, width: 2 * size, height: 2 * size, ...attributes });
  const right = x(frozen.theta) < width - 130;
  const picture = svg("svg", { width, height: rows + 112, viewBox: `0 0 ${width} ${rows + 112}` },
    signs,
    below(x, [-1, 0, 1, 2, 3].map((t) => [t, fixed(t, 0)]), { top, bottom, label: "the bank's dial θ" }),
    beside(y, [0, 0.2, 0.4, 0.6].map((v) => [v, fixed(v, 1)]), { left: edge, right: width - 12, top, label: "what an inspector is paid" }),
    curve((t) => truth(data, t).value, { stroke: "currentColor", "stroke-width": 2.5 }),
    curve((t) => paid(data, t, first).value, { stroke: "var(--ex-b)", "stroke-dasharray": "7 4" }),
    svg("line", { x1: x(state.start), x2: x(state.start), y1: top, y2: bottom, stroke: "var(--ex-line)", "stroke-dasharray": "1 3" }),
    svg("text", { x: x(state.start) + 4, y: top + 10, class: "small muted" }, "start"),
    trail(frozen, (t) => paid(data, t, first).value, "var(--ex-b)"),
    trail(moving, (t) => truth(data, t).value, "var(--ex-a)"),
    svg("line", { x1: x(frozen.theta), x2: x(frozen.theta), y1: y(frozen.seen.value), y2: y(frozen.true.value), stroke: "var(--ex-b)", "stroke-width": 1.5 }),
    tangent(frozen.theta, frozen.seen, "var(--ex-b)"),
    tangent(moving.theta, moving.seen, "var(--ex-a)"),
    square(x(frozen.theta), y(frozen.seen.value), 6, { fill: "var(--ex-paper)", stroke: "var(--ex-b)", "stroke-width": 2 }),
    square(x(frozen.theta), y(frozen.true.value), 6, { fill: "var(--ex-b)" }),
    svg("circle", { cx: x(moving.theta), cy: y(moving.true.value), r: 7, fill: "var(--ex-a)" }),
    svg("text", { x: x(frozen.theta) + (right ? 11 : -11), y: y(frozen.true.value) + 5, class: "b", "text-anchor": right ? "start" : "end" }, `truth ${fixed(frozen.true.value, 3)}`),
    svg("text", { x: x(frozen.theta) + (right ? 11 : -11), y: y(frozen.seen.value) - 9, class: "b", "text-anchor": right ? "start" : "end" }, `sees ${fixed(frozen.seen.value, 3)}`));

  /* The three rates of both banks, and the weights of the frozen question. */
  const names = narrow ? 92 : 190, rate = scale(0, 1, names, width - 24);
  const height = (j) => rows + 14 + 26 * j;
  picture.append(
    below(rate, [0, 0.5, 1].map((v) => [v, `${100 * v} %`]), { top: rows, bottom: height(2) + 14 }),
    svg("text", { x: 0, y: rows - 12, class: "small muted" }, narrow ? "share with a loan; | at the start" : "share of each group that gets a loan; | at the start"),
    ...GROUPS.flatMap((name, j) => {
      const at = height(j);
      return [
        svg("text", { x: 0, y: at + 4, class: "small" }, narrow ? `${name} ${fixed(first[j], 1)}` : `${name}, in her question ${fixed(first[j], 2)}`),
        svg("line", { x1: rate(0), x2: rate(1), y1: at, y2: at, stroke: "var(--ex-grid)" }),
        svg("line", { x1: rate(numbers.startRates[j]), x2: rate(numbers.startRates[j]), y1: at - 8, y2: at + 8, stroke: "currentColor", "stroke-width": 2 }),
        svg("circle", { cx: rate(moving.rates[j]), cy: at, r: 6, fill: "var(--ex-a)" }),
        square(rate(frozen.rates[j]), at, 5, { fill: "var(--ex-b)", stroke: "var(--ex-paper)" }),
      ];
    }));
  return picture;
}

export function start(root) {
  explorable(root, {
    title: "Two banks go downhill, one against a frozen and one against a replying inspector",
    initial: { start: 0, steps: 30 },
    controls: [
      { kind: "range", key: "steps", label: "gradient steps", min: 0, max: 30, step: 1 },
      { kind: "range", key: "start", label: "start of the dial θ", min: -1, max: 3, step: 0.1, text: (v) => fixed(v, 1) },
      { kind: "button", label: "One step", set: (state) => ({ steps: state.steps + 1 }), disabled: (state) => state.steps === 30 },
      { kind: "button", label: "Back to the start", set: { steps: 0 } },
    ],
    compute: (state, data) => compare(data, state.start, state.steps),
    outputs: ({ before, frozen, moving }) => ({
      before: fixed(before.value, 3),
      seen: fixed(frozen.seen.value, 3),
      frozen: fixed(frozen.true.value, 3),
      moving: fixed(moving.true.value, 3),
      followed: fixed(frozen.seen.slope, 3),
      slope: fixed(frozen.true.slope, 3),
    }),
    readouts: [
      ["seen", "■ the frozen inspector sees"],
      ["frozen", "■ true ρ_R² of her bank"],
      ["moving", "● ρ_R² against the replying one"],
      ["followed", "■ slope that her bank follows"],
      ["slope", "■ true slope there"],
    ],
    summary: ({ before, frozen, moving }, { start: from, steps }) =>
      `After ${steps} ${steps === 1 ? "step" : "steps"} from θ = ${fixed(from, 1)} the bank with the frozen inspector is at θ = ${fixed(frozen.theta, 2)}: ` +
      `she sees ${fixed(frozen.seen.value, 3)}, the true ρ_R² is ${fixed(frozen.true.value, 3)} (at the start ${fixed(before.value, 3)}). ` +
      `The other bank is at θ = ${fixed(moving.theta, 2)}, with ρ_R² = ${fixed(moving.true.value, 3)}.`,
    draw,
  });
}
