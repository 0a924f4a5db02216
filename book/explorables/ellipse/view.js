import { drag, explorable, fixed, scale, svg } from "../shared.js";
import { below, beside, line } from "../plot.js";
import { walk } from "./model.js";

export function start(root) {
  let frame = null; // center and unit of the round panel, for the pointer
  explorable(root, {
    title: "The circle of functions, and the ellipse to which R maps it",
    initial: { angle: 40, table: "weather" },
    controls: (data) => [
      { kind: "range", key: "angle", label: "direction of v", min: 0, max: 360, step: 1, text: (v) => `${v}°` },
      { kind: "group", label: "Other tables", controls: [
        { kind: "choice", key: "table", label: "Table:", options: Object.entries(data.tables).map(([key, { label }]) => [key, label]) },
      ] },
    ],
    compute: (state, data) => ({ ...walk(data.tables[state.table].counts, state.angle), wave: Array.from({ length: 91 }, (_, k) => walk(data.tables[state.table].counts, 4 * k).reached) }),
    readouts: [["reached", "length of Rv"], ["sigma2", "longest, σ₂ = ρ_R"], ["sigma3", "shortest, σ₃"]],
    outputs: (n, state, data) => {
      const texts = { reached: fixed(n.reached, 4), sigma2: fixed(n.sigmas[0], 4), sigma3: fixed(n.sigmas[1], 4), angle: `${state.angle}°` };
      data.columns.forEach((name, j) => { texts[name] = fixed(n.code[j], 2); });
      return texts;
    },
    summary: (n, state, data) => `The function in direction ${state.angle}° has the values ${data.columns.map((name, j) => `${name} ${fixed(n.code[j], 2)}`).join(", ")}. Its best reply reaches the correlation ${fixed(n.reached, 4)}; the semi-axes of the ellipse are ${fixed(n.sigmas[0], 4)} and ${fixed(n.sigmas[1], 4)}.`,
    draw: ({ state, numbers, width, data }) => {
      const wide = width >= 600, side = wide ? Math.min(width / 2 - 10, 360) : Math.min(width, 300), height = wide ? side : side + 176;
      frame = { cx: wide ? width / 4 : width / 2, cy: side / 2, unit: side / 2 - 30, half: side / 2 };
      const panel = wide ? { left: width / 2 + 44, right: width - 24, top: 34, bottom: side - 44 } : { left: 38, right: width - 24, top: side + 28, bottom: height - 40 };
      return svg("svg", { width, height, viewBox: `0 0 ${width} ${height}` }, round(numbers, frame, data.columns), wave(numbers, state, panel));
    },
    attach: ({ stage, update }) => drag(stage,
      ([px, py]) => Math.hypot(px - frame.cx, py - frame.cy) < frame.unit + 30,
      (_, [px, py]) => update({ angle: (Math.round((Math.atan2(frame.cy - py, px - frame.cx) * 180) / Math.PI) + 360) % 360 })),
  });
}

function round({ sigmas, point, image, code }, { cx, cy, unit, half }, names) {
  const at = ([x, y]) => [cx + unit * x, cy - unit * y], [px, py] = at(point), [ix, iy] = at(image);
  const inner = (turn, far) => at([far * Math.cos(Math.atan2(point[1], point[0]) + turn), far * Math.sin(Math.atan2(point[1], point[0]) + turn)]);
  const [vx, vy] = inner(0.14, 0.86), right = point[0] >= 0, up = point[1] >= 0;
  const stroke = (a, b, more) => svg("line", { x1: a[0], y1: a[1], x2: b[0], y2: b[1], ...more });
  /* Shift the label of the image away from v, so that it does not overlap v's label. */
  const [rx, ry] = at([image[0] - 0.13 * (right ? 1 : -1), image[1] - 0.13 * (up ? 1 : -1)]);
  return [
    stroke(at([-1.05, 0]), at([1.05, 0]), { stroke: "var(--ex-grid)" }), stroke(at([0, -1.05]), at([0, 1.05]), { stroke: "var(--ex-grid)" }),
    svg("circle", { cx, cy, r: unit, fill: "none", stroke: "var(--ex-a)", "stroke-width": 2, "stroke-dasharray": "6 4" }),
    svg("ellipse", { cx, cy, rx: unit * sigmas[0], ry: Math.max(unit * sigmas[1], 0.5), fill: "var(--ex-b-soft)", stroke: "var(--ex-b)", "stroke-width": 2 }),
    stroke([cx, cy], [ix, iy], { stroke: "var(--ex-b)", "stroke-width": 4 }),
    stroke([px, py], [ix, iy], { stroke: "var(--ex-line)", "stroke-dasharray": "2 4", "stroke-width": 1.5 }),
    svg("circle", { cx: px, cy: py, r: 10, fill: "var(--ex-a)", class: "dot" }),
    svg("rect", { x: ix - 6, y: iy - 6, width: 12, height: 12, fill: "var(--ex-b)" }),
    svg("text", { x: vx, y: vy + 5, "text-anchor": "middle", class: "a", style: "font-weight: 600" }, "v"),
    svg("text", { x: rx, y: ry + 5, "text-anchor": "middle", class: "b", style: "font-weight: 600" }, "Rv"),
    /* The values of v, in the corner nearest to v. */
    names.map((name, j) => svg("text", {
      x: cx + (right ? half : -half), y: up ? cy - half + 12 + 16 * j : cy + half - 4 - 16 * (names.length - 1 - j),
      "text-anchor": right ? "end" : "start", class: "a small",
    }, `${name} ${fixed(code[j], 2)}`)),
    svg("text", { x: cx, y: cy - unit - 14, "text-anchor": "middle", class: "muted" }, "g₃"),
    svg("text", { x: cx + unit + 13, y: cy + 5, class: "muted" }, "g*"),
  ];
}

/* The length of Rv, all around the circle. */
function wave({ wave: heights, sigmas, reached }, state, { left, right, top, bottom }) {
  const x = scale(0, 360, left, right), most = Math.max(0.1, sigmas[0] * 1.15), y = scale(0, most, bottom, top);
  const names = Math.abs(y(sigmas[0]) - y(sigmas[1])) < 16 ? [[sigmas[0], "σ₂ ", -7], [sigmas[1], "σ₃", 8]] : [[sigmas[0], "σ₂", 0], [sigmas[1], "σ₃", 0]];
  return [
    below(x, [0, 90, 180, 270, 360].map((tick) => [tick, `${tick}°`]), { top, bottom, label: "direction of v" }),
    beside(y, [0, 0.2, 0.4, 0.6, 0.8, 1].filter((tick) => tick <= most).map((tick) => [tick, fixed(tick, 1)]), { left, right, top }),
    svg("text", { x: left, y: top - 12, class: "b" }, "length of Rv"),
    names.map(([value, name, shift]) => [
      svg("line", { x1: left, x2: right, y1: y(value), y2: y(value), stroke: "var(--ex-line)", "stroke-dasharray": "4 4" }),
      svg("text", { x: right + 6, y: y(value) + 4 + shift }, name),
    ]).flat(),
    line(heights.map((h, k) => [x(4 * k), y(h)]), { stroke: "var(--ex-b)" }),
    svg("line", { x1: x(state.angle), x2: x(state.angle), y1: bottom, y2: y(reached), stroke: "var(--ex-b)", "stroke-width": 4 }),
    svg("rect", { x: x(state.angle) - 6, y: y(reached) - 6, width: 12, height: 12, fill: "var(--ex-b)" }),
  ];
}
