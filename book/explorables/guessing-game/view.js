import { drag, explorable, fixed, scale, svg } from "../shared.js";
import { pay } from "./model.js";

const STEP = 0.01;
const snap = (x) => Number(Math.min(Math.max(Math.round(x / STEP) * STEP, 0), 1).toFixed(2));

const sides = (width) => [width < 560 ? 8 : 130, width - 12];

export function start(root) {
  const rows = []; // top, bottom of each row, for the pointer
  explorable(root, {
    title: "Your guess for each family role, over the true shares",
    initial: (data) => ({ w: data.shares }),
    controls: (data) => [
      { kind: "group", label: "Your guesses, role by role", open: true, controls: data.names.map((name, i) => ({
        kind: "range", label: name, min: 0, max: 1, step: STEP, text: (v) => fixed(v, 2),
        get: (state) => state.w[i], set: (state, value) => ({ w: state.w.map((x, k) => (k === i ? value : x)) }),
      })) },
    ],
    valid: (state) => ({ w: state.w.map(snap) }),
    compute: (state, data) => pay(data.counts, state.w),
    readouts: [["paid", "you pay"], ["gamma", "least possible, γ"], ["saved", "part saved"], ["rho2", "at most ρ_R²"]],
    outputs: (n) => ({ paid: fixed(n.paid, 4), gamma: fixed(n.gamma, 4), blind: fixed(n.blind, 4), saved: fixed(n.saved, 4), rho2: fixed(n.rho2, 4), rho: fixed(n.rho, 4) }),
    summary: (n, state, data) => `You pay ${fixed(n.paid, 4)} on average, without a hint ${fixed(n.blind, 4)}, at best ${fixed(n.gamma, 4)}: you save ${fixed(n.saved, 4)} of a possible ${fixed(n.rho2, 4)}. Guesses: ${data.names.map((name, i) => `${name} ${fixed(state.w[i], 2)}`).join(", ")}.`,
    draw: ({ state, numbers, width, data }) => {
      rows.length = 0;
      const narrow = width < 560, [left, right] = sides(width), x = scale(0, 1, left, right), nodes = [];
      let y = 22;
      data.names.forEach((name, i) => {
        const high = Math.max(18, 170 * numbers.sizes[i]);
        if (narrow) { nodes.push(svg("text", { x: left + 10, y: y + 13 }, name)); y += 19; }
        else nodes.push(svg("text", { x: left - 10, y: y + high / 2 + 5, "text-anchor": "end" }, name));
        nodes.push(svg("rect", { x: left, y, width: right - left, height: high, fill: "var(--ex-grid)" }));
        nodes.push(svg("rect", { x: left, y, width: x(numbers.shares[i]) - left, height: high, fill: "var(--ex-a)" }));
        nodes.push(svg("line", { x1: x(state.w[i]), x2: x(state.w[i]), y1: y - 3, y2: y + high + 3, stroke: "var(--ex-paper)", "stroke-width": 7 }));
        nodes.push(svg("line", { x1: x(state.w[i]), x2: x(state.w[i]), y1: y - 3, y2: y + high + 3, stroke: "var(--ex-b)", "stroke-width": 4, class: "dot" }));
        nodes.push(svg("path", { d: `M${x(state.w[i])} ${y + high + 1}l-6 7h12z`, fill: "var(--ex-b)" }));
        rows.push({ i, top: y - 6, bottom: y + high + 6 });
        y += high + 11;
      });
      nodes.push(svg("line", { x1: x(numbers.q), x2: x(numbers.q), y1: 8, y2: y - 2, stroke: "currentColor", "stroke-dasharray": "6 4", "stroke-width": 1.5 }));
      nodes.push(svg("text", { x: x(numbers.q), y: y + 12, "text-anchor": "middle" }, "q"));
      [0, 0.5, 1].forEach((tick) => nodes.push(svg("text", { x: x(tick), y: y + 12, "text-anchor": ["start", "middle", "end"][2 * tick], class: "small muted" }, fixed(tick, 1))));
      nodes.push(svg("text", { x: left, y: y + 32, class: "a" }, "■ share of men"), svg("text", { x: left + 118, y: y + 32, class: "b" }, "▲ your guess"));
      return svg("svg", { width, height: y + 40, viewBox: `0 0 ${width} ${y + 40}` }, nodes);
    },
    attach: (live) => drag(live.stage,
      ([, py]) => rows.find(({ top, bottom }) => py >= top && py <= bottom),
      ({ i }, [px]) => live.update({ w: live.state.w.map((x, k) => (k === i ? scale(...sides(live.stage.clientWidth), 0, 1)(px) : x)) })),
  });
}
