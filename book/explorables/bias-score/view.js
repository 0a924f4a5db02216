/* The plane of bias score and eta, with the boundary of the rule, which turns as k grows. */
import { drag, explorable, fixed, scale, svg } from "../shared.js";
import { below, beside } from "../plot.js";
import { biasScores, rule } from "./model.js";

const MOST = 0.3, STEP = 0.005;
const percent = (x) => `${fixed(100 * x, 1)} %`;
const signed = (x) => (x > 0 ? "+" : "") + fixed(100 * x, 1);

export function start(root) {
  let frame = null; // the panel, for the pointer
  explorable(root, {
    title: "The boundary of the optimal rule in the plane of bias score and η",
    initial: { k: 0 },
    controls: [
      { kind: "play", next: ({ k }) => (k < MOST ? { k: k + STEP } : null), from: { k: 0 }, wait: 90 },
      { kind: "range", key: "k", label: "multiplier k", min: 0, max: MOST, step: STEP, text: (v) => fixed(v, 3) },
    ],
    compute: (state, data) => rule(data, state.k),
    readouts: [["accuracy", "accuracy"], ["ratio", "p%"], ["gap", "gap, in points"]],
    outputs: (n) => ({ accuracy: percent(n.accuracy), ratio: percent(n.ratio), gap: signed(n.gap) }),
    summary: (n, state) => `With k = ${fixed(state.k, 3)} the rule accepts ${percent(n.rates[1])} of group 1 and ${percent(n.rates[0])} of group 0; its accuracy is ${percent(n.accuracy)}.`,
    draw: ({ state, numbers, width, data }) => {
      const b = biasScores(data), height = width < 560 ? 340 : 380, far = Math.max(...b.map(Math.abs)) * 1.06;
      const panel = { left: 44, right: width - 10, top: 26, bottom: height - 44 };
      const x = scale(-far, far, panel.left, panel.right), y = scale(0, 1, panel.bottom, panel.top);
      frame = { x, y, ...panel };
      const size = Math.min(width, 640) / 640;
      /* The part of the line within the panel. */
      const ends = (k) => {
        const reach = k > 0 ? Math.min(far, 0.5 / k) : far;
        return { x1: x(-reach), y1: y(0.5 - k * reach), x2: x(reach), y2: y(0.5 + k * reach) };
      };
      const at = ends(state.k), grip = Math.min(far, state.k > 0 ? 0.5 / state.k : far) * 0.8;
      return svg("svg", { width, height, viewBox: `0 0 ${width} ${height}` },
        below(x, [-2, -1, 0, 1, 2].filter((t) => Math.abs(t) < far).map((t) => [t, String(t).replace("-", "−")]), { top: panel.top, bottom: panel.bottom, label: width < 560 ? "bias score b (right: like group 1)" : "bias score b: resembles group 0 ← → resembles group 1" }),
        beside(y, [0, 0.25, 0.5, 0.75, 1].map((t) => [t, fixed(t, 2)]), { left: panel.left, right: panel.right, top: panel.top, label: "η, the probability of Y = 1 (filled: accepted)" }),
        b.map((value, i) => svg("circle", {
          cx: x(value), cy: y(data.eta[i]), r: Math.max(75 * size * Math.sqrt(data.share[i]), 1.5), "stroke-width": 1.2,
          stroke: "var(--ex-a)", fill: numbers.accepted[i] ? "var(--ex-a)" : "var(--ex-paper)",
        })),
        svg("line", { ...ends(data.limit), stroke: "var(--ex-line)", "stroke-width": 1.5, "stroke-dasharray": "5 4" }),
        svg("line", { ...at, stroke: "var(--ex-b)", "stroke-width": 3 }),
        svg("g", { class: "dot", "data-handle": "k" },
          svg("circle", { cx: x(grip), cy: y(0.5 + state.k * grip), r: 22, fill: "transparent" }),
          svg("circle", { cx: x(grip), cy: y(0.5 + state.k * grip), r: 9, fill: "var(--ex-b)" }),
          state.k === 0 && svg("text", { x: x(grip) - 14, y: y(0.5) - 14, "text-anchor": "end", class: "b halo" }, "drag me")),
        svg("text", { x: panel.left + 8, y: panel.top + 18, class: "small muted halo" }, "dashed: the limit for λ → ∞"));
    },
    attach: ({ stage, update }) => drag(stage,
      ([px, py]) => px > frame.left && px < frame.right && py > frame.top && py < frame.bottom,
      (_, [px, py]) => {
        const across = (px - frame.x(0)) / (frame.x(1) - frame.x(0)), up = (py - frame.y(0.5)) / (frame.y(1) - frame.y(0));
        if (Math.abs(across) > 0.2) update({ k: up / across });
      }),
  });
}
