/* Two banks take gradient steps from the same start, one with a frozen and one with a replying inspector. */
import { explorable, fixed, scale, svg } from "../shared.js";
import { apart, below, beside, grid, legend, line } from "../plot.js";
import { compare, paid, truth } from "./model.js";

const [LEFT, RIGHT, HIGH, STEPS] = [-1.5, 3.5, 0.7, 30];
const GROUPS = ["young", "middle", "old"];
const next = (state) => (state.steps < STEPS ? { steps: state.steps + 1 } : null);

function draw({ state, numbers, width, data }) {
  const narrow = width < 560, edge = narrow ? 30 : 40;
  const [signs, used] = legend([
    ["line", "currentColor", "best question, ρ_R²"],
    ["dash", "var(--ex-b)", "first question"],
    ["■", "var(--ex-b)", "frozen inspector"],
    ["●", "var(--ex-a)", "replying inspector"],
  ], width);
  const top = used + 30, bottom = top + (narrow ? 190 : 220), rows = bottom + 66;
  const x = scale(LEFT, RIGHT, edge, width - 12), y = scale(0, HIGH, bottom, top);
  const places = grid(LEFT, RIGHT, 120), { frozen, moving, first } = numbers;
  const curve = (value, attributes) => line(places.map((t) => [x(t), y(Math.min(value(t), HIGH))]), attributes);
  const trail = (bank, height, color) => bank.places.slice(0, -1).map((t) =>
    svg("circle", { cx: x(t), cy: y(height(t)), r: 2.5, fill: color }));
  const square = (cx, cy, size, attributes) => svg("rect", { x: cx - size, y: cy - size, width: 2 * size, height: 2 * size, ...attributes });
  /* The value that the frozen inspector sees and the true value, beside her bank; the upper label moves up if they are close. */
  const right = x(frozen.theta) < width - 110, aside = { class: "b halo", x: x(frozen.theta) + (right ? 13 : -13), "text-anchor": right ? "start" : "end" };
  const [low, high] = apart([Math.min(y(frozen.seen.value) + 4, bottom - 6), y(frozen.true.value) + 4]);
  const picture = svg("svg", { width, height: rows + 104, viewBox: `0 0 ${width} ${rows + 104}` },
    signs,
    below(x, [-1, 0, 1, 2, 3].map((t) => [t, fixed(t, 0)]), { top, bottom, label: "the bank's parameter θ" }),
    beside(y, [0, 0.2, 0.4, 0.6].map((v) => [v, fixed(v, 1)]), { left: edge, right: width - 12, top, label: "what an inspector measures" }),
    curve((t) => truth(data, t).value, { stroke: "currentColor", "stroke-width": 2.5 }),
    curve((t) => paid(data, t, first).value, { stroke: "var(--ex-b)", "stroke-dasharray": "7 4" }),
    svg("line", { x1: x(state.start), x2: x(state.start), y1: top, y2: bottom, stroke: "var(--ex-line)", "stroke-dasharray": "1 3" }),
    svg("text", { x: x(state.start) - 5, y: top + 10, "text-anchor": "end", class: "small muted" }, "start"),
    trail(frozen, (t) => paid(data, t, first).value, "var(--ex-b)"),
    trail(moving, (t) => truth(data, t).value, "var(--ex-a)"),
    svg("line", { x1: x(frozen.theta), x2: x(frozen.theta), y1: y(frozen.seen.value), y2: y(frozen.true.value), stroke: "var(--ex-b)", "stroke-width": 1.5 }),
    square(x(frozen.theta), y(frozen.seen.value), 6, { fill: "var(--ex-paper)", stroke: "var(--ex-b)", "stroke-width": 2 }),
    square(x(frozen.theta), y(frozen.true.value), 6, { fill: "var(--ex-b)" }),
    svg("circle", { cx: x(moving.theta), cy: y(moving.true.value), r: 7, fill: "var(--ex-a)" }),
    svg("text", { ...aside, y: high }, `true ${fixed(frozen.true.value, 3)}`),
    svg("text", { ...aside, y: low }, `seen ${fixed(frozen.seen.value, 3)}`));

  /* The rates of the three groups at both banks. */
  const rate = scale(0, 1, 66, width - 24), height = (j) => rows + 12 + 24 * j;
  picture.append(
    below(rate, [0, 0.5, 1].map((v) => [v, `${100 * v} %`]), { top: rows, bottom: height(2) + 12 }),
    svg("text", { x: 0, y: rows - 10, class: "small muted" }, "share of each group that gets a loan (| at the start)"),
    ...GROUPS.flatMap((name, j) => {
      const at = height(j);
      return [
        svg("text", { x: 0, y: at + 4, class: "small" }, name),
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
    initial: { start: 0, steps: 0 },
    controls: [
      { kind: "play", next, from: { steps: 0 }, wait: 250 },
      { kind: "button", label: "One step", set: next, disabled: (state) => !next(state) },
      { kind: "range", key: "steps", label: "gradient steps", min: 0, max: STEPS, step: 1 },
      { kind: "group", label: "Start somewhere else", controls: [
        { kind: "range", key: "start", label: "first value of θ", min: -1, max: 3, step: 0.1, text: (v) => fixed(v, 1) },
      ] },
    ],
    compute: (state, data) => compare(data, state.start, state.steps),
    outputs: ({ before, frozen, moving }, state) => ({
      before: fixed(before.value, 3),
      seen: fixed(frozen.seen.value, 3),
      frozen: fixed(frozen.true.value, 3),
      moving: fixed(moving.true.value, 3),
      steps: counted(state.steps),
    }),
    readouts: [
      ["seen", "□ the frozen inspector sees"],
      ["frozen", "■ true ρ_R² of her bank"],
      ["moving", "● ρ_R² of the other bank"],
    ],
    summary: ({ before, frozen, moving }, { start: from, steps }) =>
      `After ${counted(steps)} from θ = ${fixed(from, 1)} the bank with the frozen inspector is at θ = ${fixed(frozen.theta, 2)}. ` +
      `She sees ${fixed(frozen.seen.value, 3)}, and the true ρ_R² is ${fixed(frozen.true.value, 3)}; it was ${fixed(before.value, 3)} at the start. ` +
      `The bank with the replying inspector is at θ = ${fixed(moving.theta, 2)}, with ρ_R² = ${fixed(moving.true.value, 3)}.`,
    draw,
  });
}

const counted = (steps) => (steps === 1 ? "1 step" : `${steps} steps`);
