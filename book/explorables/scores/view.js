/* Lambda and one common threshold on Adult's real scores: does the fairness survive when the threshold moves? */
import { drag, explorable, fixed, scale, svg } from "../shared.js";
import { below, beside, legend, line } from "../plot.js";
import { band, histogram, read } from "./model.js";

const WIDE = 4; // cells per bar
/* Methods have colors other than blue and vermilion, which stand for men and women. */
const LINES = [["var(--ex-d)", "7 4"], ["var(--ex-c)", null], ["currentColor", "2 3"]];
const GROUPS = [["women", "b"], ["men", "a"]];

const percent = (x) => `${fixed(100 * x, 1)} %`;
const points = (x) => (Number(Math.abs(100 * x).toFixed(2)) && x > 0 ? "+" : "") + fixed(100 * x, 2);
const people = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, "\u202f");
const index = (t, data) => Math.round(t * data.steps);

/* The map from scores to places across the drawing. */
function across(width) {
  return scale(0, 1, width < 560 ? 38 : 46, width - 8);
}

function bars(data, state, x, y, s) {
  const cells = histogram(data, state.method, state.lam, s), color = `var(--ex-${GROUPS[s][1]}`;
  const found = [];
  for (let k = 0; k < data.steps; k += WIDE) {
    let share = 0;
    for (let j = k; j < k + WIDE; j++) share += cells[j] / data.size[s];
    const [from, to] = [k / data.steps, (k + WIDE) / data.steps], cut = Math.min(Math.max(state.t, from), to);
    const [a, b] = [y(0), y(share)];
    const bar = (left, right, fill) => right - left > 1e-9 && found.push(svg("rect", {
      x: x(left), width: Math.max(x(right) - x(left) - 1, 0.5), y: Math.min(a, b), height: Math.abs(a - b), fill,
    }));
    bar(from, cut, `${color}-soft)`);
    bar(cut, to, `${color})`);
  }
  return found;
}

function draw({ state, numbers, width, data }) {
  const narrow = width < 560, x = across(width), [left, right] = [x(0), x(1)];
  const tall = narrow ? 84 : 100;
  const top = 22, middle = top + tall, foot = middle + tall;
  const root = (sign) => (share) => middle - sign * tall * Math.sqrt(share / 0.6);
  const shares = [0.04, 0.16, 0.36];
  const chosen = data.methods.indexOf(state.method);
  const [signs, used] = legend([
    ...data.methods.map((name, j) => [LINES[j][1] ? (j > 1 ? "dot" : "dash") : "line", LINES[j][0], data.names[j]]),
    ["bar", "var(--ex-grid)", "what chance alone would give"],
  ], width);
  const high = foot + 44 + used + 24, low = high + (narrow ? 150 : 140);
  const most = Math.max(...numbers.curves.flat().map(Math.abs), 0.02) * 1.08;
  const y = scale(-most, most, low, high), unit = [0.01, 0.02, 0.05, 0.1, 0.2].find((u) => most / u < 3.2);
  const steps = Array.from({ length: data.steps + 1 }, (_, k) => k);
  const half = steps.map((k) => band((numbers.counts[0][k] + numbers.counts[1][k]) / (data.size[0] + data.size[1]), data.size));
  const edge = (sign) => steps.map((k) => [x(k / data.steps), y(sign * half[k])]);
  const outline = [...edge(1), ...edge(-1).reverse()].map(([a, b]) => `${a.toFixed(1)},${b.toFixed(1)}`).join(" ");
  const ticks = [];
  for (let v = -Math.floor(most / unit) * unit; v <= most; v += unit) ticks.push([v, points(v).replace(/\.?0+$/, "") || "0"]);
  const ends = state.t > 0.5;
  return svg("svg", { width, height: low + 40, viewBox: `0 0 ${width} ${low + 40}` },
    svg("text", { x: left, y: 12, class: "b" }, `women: ${percent(numbers.rates[0])} selected`),
    svg("text", { x: left, y: foot + 14, class: "a" }, `men: ${percent(numbers.rates[1])} selected`),
    svg("text", { x: right, y: 12, "text-anchor": "end", class: "small muted" }, narrow ? "share, square-root scale" : "share of the group in each bar, square-root scale"),
    shares.flatMap((v) => [1, -1].map((sign) => svg("g", {},
      svg("line", { x1: left, x2: right, y1: root(sign)(v), y2: root(sign)(v), stroke: "var(--ex-grid)" }),
      svg("text", { x: left - 6, y: root(sign)(v) + 4, "text-anchor": "end", class: "small muted" }, `${100 * v} %`)))),
    bars(data, state, x, root(1), 0),
    bars(data, state, x, root(-1), 1),
    svg("line", { x1: left, x2: right, y1: middle, y2: middle, stroke: "currentColor" }),
    svg("g", { transform: `translate(0 ${foot + 32})` }, signs),
    svg("polygon", { points: outline, fill: "var(--ex-grid)" }),
    below(x, [0, 0.2, 0.4, 0.6, 0.8, 1].map((v) => [v, fixed(v, 1)]), { top: high, bottom: low, label: "score, and threshold" }),
    beside(y, ticks, { left, right, top: high, label: narrow ? "gap in points, men minus women" : "gap between selection rates in points, men minus women" }),
    svg("line", { x1: left, x2: right, y1: y(0), y2: y(0), stroke: "currentColor" }),
    numbers.curves.map((gaps, j) => line(gaps.map((v, i) => [x(i / data.steps), y(v)]),
      { stroke: LINES[j][0], "stroke-dasharray": LINES[j][1], "stroke-width": j === chosen ? 3 : 1.8 })),
    svg("g", { class: "dot", "data-handle": "threshold" },
      svg("rect", { x: x(state.t) - 22, y: top, width: 44, height: low - top, fill: "transparent" }),
      [[top - 4, foot], [high, low]].map(([from, to]) =>
        svg("line", { x1: x(state.t), x2: x(state.t), y1: from, y2: to, stroke: "currentColor", "stroke-width": 2 })),
      state.t === 0.5 && svg("text", { x: x(state.t) + 8, y: top + 12, class: "halo", style: "font-weight: 600" }, "drag me ↔")),
    svg("circle", { cx: x(state.t), cy: y(numbers.gap), r: 7, fill: LINES[chosen][0], stroke: "var(--ex-paper)", "stroke-width": 2 }),
    svg("text", { x: x(state.t) + (ends ? -12 : 12), y: Math.max(y(numbers.gap) - 10, high + 14), "text-anchor": ends ? "end" : "start", style: "font-weight: 600" },
      `${points(numbers.gap)}`));
}

/* Let the reader drag the threshold in the picture. */
function attach(frame) {
  const { stage, update } = frame;
  const place = () => across(stage.clientWidth);
  drag(stage, ([x]) => Math.abs(x - place()(frame.state.t)) < 22, (held, [x]) => {
    const [left, right] = [place()(0), place()(1)];
    update({ t: (x - left) / (right - left) });
  });
}

export function start(root) {
  explorable(root, {
    title: "Scores of women and men, and the gap between them at every threshold",
    initial: (data) => ({ method: data.methods[0], lam: data.lam, t: 0.5 }),
    controls: (data) => [
      { kind: "range", key: "t", label: "threshold", min: 0.05, max: 0.95, step: 0.01, text: (v) => fixed(v, 2) },
      { kind: "group", label: "Change λ or the penalty", controls: [
        { kind: "range", label: "weight λ of the penalty", min: 0, max: data.lams.length - 1, step: 1,
          get: (state) => data.lams.indexOf(state.lam), set: (state, value) => ({ lam: data.lams[value] }),
          text: (value) => String(data.lams[value]) },
        { kind: "choice", key: "method", label: "Penalty on", options: data.methods.map((name, j) => [name, data.names[j]]) },
      ] },
    ],
    valid: (state, data) => ({ ...state, lam: data.lams.reduce((a, b) => (Math.abs(b - state.lam) < Math.abs(a - state.lam) ? b : a)) }),
    compute: (state, data) => read(data, state.method, state.lam, index(state.t, data)),
    outputs: (found, state) => ({
      p: percent(found.pRule), accuracy: percent(found.accuracy), gap: points(found.gap),
      women: percent(found.rates[0]), men: percent(found.rates[1]), t: fixed(state.t, 2), lam: String(state.lam),
    }),
    readouts: [["p", "p%, lower rate over higher"], ["gap", "gap in points, men minus women"], ["accuracy", "accuracy"]],
    summary: (found, state, data) =>
      `Threshold ${fixed(state.t, 2)}, λ = ${state.lam}, penalty on ${data.names[data.methods.indexOf(state.method)]}: ` +
      `${people(found.selected[0])} of ${people(data.size[0])} women (${percent(found.rates[0])}) and ${people(found.selected[1])} of ` +
      `${people(data.size[1])} men (${percent(found.rates[1])}) are selected, and the accuracy is ${percent(found.accuracy)}. ` +
      `The gap of ${points(found.gap)} points is ${Math.abs(found.gap) > found.chance ? "more than" : "within"} what chance alone would give (${fixed(100 * found.chance, 2)} either way).`,
    draw,
    attach,
  });
}
