import { drag, explorable, fixed, lowered, scale, svg } from "../shared.js";
import { pay } from "./model.js";

const STEP = 0.01;
const snap = (x) => Number(Math.min(Math.max(Math.round(x / STEP) * STEP, 0), 1).toFixed(2));
const sides = (width) => [width < 560 ? 8 : 130, width - 12];
const changed = (w, i, value) => ({ w: w.map((x, k) => (k === i ? value : x)) });

/* The next role whose guess is not yet the share of men in it. */
function next(state, data) {
  const i = data.shares.findIndex((share, k) => state.w[k] !== snap(share));
  return i < 0 ? null : changed(state.w, i, snap(data.shares[i]));
}

export function start(root) {
  const rows = []; // top, bottom of each row, for the pointer
  explorable(root, {
    title: "Your guess for each family role, over the true shares",
    initial: (data) => ({ w: data.start }),
    controls: (data) => [
      { kind: "play", next, from: { w: data.start }, wait: 1000 },
      { kind: "button", label: "Improve one guess", set: next, disabled: (state) => !next(state, data) },
      { kind: "group", label: "Set the guesses role by role", controls: data.names.map((name, i) => ({
        kind: "range", label: name, min: 0, max: 1, step: STEP, text: (v) => fixed(v, 2),
        get: (state) => state.w[i], set: (state, value) => changed(state.w, i, value),
      })) },
    ],
    valid: (state) => ({ w: state.w.map(snap) }),
    compute: (state, data) => pay(data.counts, state.w),
    readouts: [["paid", "cost of your guesses"], ["saved", "part saved"], ["rho2", "at most ρ_R²"]],
    outputs: (n) => ({ paid: fixed(n.paid, 3), gamma: fixed(n.gamma, 3), blind: fixed(n.blind, 3), saved: fixed(n.saved, 3), rho2: fixed(n.rho2, 3) }),
    summary: (n, state, data) => `Your guesses cost ${fixed(n.paid, 3)} on average. One guess for everyone costs at least ${fixed(n.blind, 3)}, and the best guess for each role costs ${fixed(n.gamma, 3)}, so you save ${fixed(n.saved, 3)} of a possible ${fixed(n.rho2, 3)}. Guesses: ${data.names.map((name, i) => `${name} ${fixed(state.w[i], 2)}`).join(", ")}.`,
    draw: ({ state, numbers, width, data }) => {
      rows.length = 0;
      const narrow = width < 560, [left, right] = sides(width), x = scale(0, 1, left, right), nodes = [], marks = [];
      nodes.push(svg("text", { x: left, y: 13, class: "a" }, "■ share of men"), svg("text", { x: left + 112, y: 13, class: "b" }, "▲ your guess"));
      let y = 38;
      nodes.push(svg("text", { x: x(numbers.q), y: 32, "text-anchor": "middle" }, `q = ${fixed(numbers.q, 2)}`));
      data.names.forEach((name, i) => {
        const high = Math.max(18, 150 * numbers.sizes[i]);
        if (narrow) { nodes.push(svg("text", { x: left + 2, y: y + 13 }, name)); y += 18; }
        else nodes.push(svg("text", { x: left - 10, y: y + high / 2 + 5, "text-anchor": "end" }, name));
        nodes.push(svg("rect", { x: left, y, width: right - left, height: high, fill: "var(--ex-grid)" }));
        nodes.push(svg("rect", { x: left, y, width: x(numbers.shares[i]) - left, height: high, fill: "var(--ex-a)" }));
        marks.push(svg("line", { x1: x(state.w[i]), x2: x(state.w[i]), y1: y - 3, y2: y + high + 3, stroke: "var(--ex-paper)", "stroke-width": 7 }));
        marks.push(svg("line", { x1: x(state.w[i]), x2: x(state.w[i]), y1: y - 3, y2: y + high + 3, stroke: "var(--ex-b)", "stroke-width": 4, class: "dot" }));
        marks.push(svg("path", { d: `M${x(state.w[i])} ${y + high + 1}l-6 7h12z`, fill: "var(--ex-b)" }));
        rows.push({ i, top: y - 6, bottom: y + high + 6 });
        y += high + 11;
      });
      nodes.push(svg("line", { x1: x(numbers.q), x2: x(numbers.q), y1: 36, y2: y - 2, stroke: "currentColor", "stroke-dasharray": "6 4", "stroke-width": 1.5 }));
      [0, 0.5, 1].forEach((tick) => nodes.push(svg("text", { x: x(tick), y: y + 12, "text-anchor": ["start", "middle", "end"][2 * tick], class: "small muted" }, fixed(tick, 1))));
      return svg("svg", { width, height: y + 84, viewBox: `0 0 ${width} ${y + 84}` }, nodes, marks, saving(numbers, left, right, y + 36));
    },
    attach: (live) => drag(live.stage,
      ([, py]) => rows.find(({ top, bottom }) => py >= top && py <= bottom),
      ({ i }, [px]) => live.update(changed(live.state.w, i, scale(...sides(live.stage.clientWidth), 0, 1)(px)))),
  });
}

/* The part of the cost that is saved, as a bar that cannot pass the mark at ρ_R². A loss goes to the left. */
function saving({ saved, rho2 }, left, right, top) {
  const x = scale(-0.4, 1, left, right), end = x(Math.max(saved, -0.4));
  return [
    svg("text", { x: left, y: top, class: "c" }, saved < -0.0005 ? "part of the cost saved: a loss" : "part of the cost saved"),
    svg("rect", { x: x(0), y: top + 8, width: x(1) - x(0), height: 18, fill: "none", stroke: "var(--ex-line)" }),
    svg("rect", { x: Math.min(x(0), end), y: top + 8, width: Math.abs(end - x(0)), height: 18, fill: saved < 0 ? "var(--ex-b)" : "var(--ex-c)" }),
    svg("line", { x1: x(rho2), x2: x(rho2), y1: top + 3, y2: top + 31, stroke: "currentColor", "stroke-width": 3 }),
    svg("text", { x: x(0), y: top + 44, "text-anchor": "middle", class: "small muted" }, "0"),
    svg("text", { x: x(rho2), y: top + 44, "text-anchor": "middle", class: "small" }, lowered(`ρ_R² = ${fixed(rho2, 3)}`)),
    svg("text", { x: x(1), y: top + 44, "text-anchor": "end", class: "small muted" }, "1"),
  ];
}
