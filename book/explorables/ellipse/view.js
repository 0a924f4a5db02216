import { drag, explorable, fixed, scale, svg } from "../shared.js";
import { walk } from "./model.js";

export function start(root) {
  let frame = null; // centre and unit of the round panel, for the pointer
  explorable(root, {
    title: "The circle of codes, and the ellipse that R makes of it",
    initial: { angle: 40, table: "weather" },
    controls: (data) => [
      { kind: "range", key: "angle", label: "direction of the code", min: 0, max: 360, step: 1, text: (v) => `${v}°` },
      { kind: "choice", key: "table", label: "Table:", options: Object.entries(data.tables).map(([key, { label }]) => [key, label]) },
    ],
    compute: (state, data) => ({ ...walk(data.tables[state.table].counts, state.angle), wave: Array.from({ length: 91 }, (_, k) => walk(data.tables[state.table].counts, 4 * k).reached) }),
    readouts: [["reached", "best reply reaches |Rv|"], ["sigma2", "long half-axis σ₂ = ρ_R"], ["sigma3", "short half-axis σ₃"]],
    outputs: (n, state, data) => {
      const texts = { reached: fixed(n.reached, 4), sigma2: fixed(n.sigmas[0], 4), sigma3: fixed(n.sigmas[1], 4), angle: `${state.angle}°` };
      data.columns.forEach((name, j) => { texts[name] = fixed(n.code[j], 2); });
      return texts;
    },
    summary: (n, state, data) => `Code in direction ${state.angle}°: ${data.columns.map((name, j) => `${name} ${fixed(n.code[j], 2)}`).join(", ")}. Its best reply reaches ${fixed(n.reached, 4)}; the half-axes are ${fixed(n.sigmas[0], 4)} and ${fixed(n.sigmas[1], 4)}.`,
    draw: ({ state, numbers, width }) => {
      const wide = width >= 600, side = Math.min(wide ? width / 2 - 10 : width, 360), height = wide ? side : side + 190;
      frame = { cx: (wide ? width / 4 : width / 2), cy: side / 2, unit: side / 2 - 30 };
      const panel = wide ? { left: width / 2 + 50, right: width - 12, top: 34, bottom: side - 44 } : { left: 50, right: width - 12, top: side + 26, bottom: height - 44 };
      return svg("svg", { width, height, viewBox: `0 0 ${width} ${height}` }, round(numbers, frame), wave(numbers, state, panel));
    },
    attach: ({ stage, update }) => drag(stage,
      ([px, py]) => Math.hypot(px - frame.cx, py - frame.cy) < frame.unit + 30,
      (_, [px, py]) => update({ angle: (Math.round((Math.atan2(frame.cy - py, px - frame.cx) * 180) / Math.PI) + 360) % 360 })),
  });
}

function round({ sigmas, point, image }, { cx, cy, unit }) {
  const at = ([x, y]) => [cx + unit * x, cy - unit * y], [px, py] = at(point), [ix, iy] = at(image);
  const aside = Math.atan2(point[1], point[0]) + 0.12, [vx, vy] = at([0.88 * Math.cos(aside), 0.88 * Math.sin(aside)]);
  const line = (a, b, more) => svg("line", { x1: a[0], y1: a[1], x2: b[0], y2: b[1], ...more });
  return [
    line(at([-1.05, 0]), at([1.05, 0]), { stroke: "var(--ex-grid)" }), line(at([0, -1.05]), at([0, 1.05]), { stroke: "var(--ex-grid)" }),
    svg("circle", { cx, cy, r: unit, fill: "none", stroke: "var(--ex-a)", "stroke-width": 2, "stroke-dasharray": "6 4" }),
    svg("ellipse", { cx, cy, rx: unit * sigmas[0], ry: Math.max(unit * sigmas[1], 0.5), fill: "var(--ex-b-soft)", stroke: "var(--ex-b)", "stroke-width": 2 }),
    line([cx, cy], [ix, iy], { stroke: "var(--ex-b)", "stroke-width": 4 }),
    line([px, py], [ix, iy], { stroke: "var(--ex-line)", "stroke-dasharray": "2 4", "stroke-width": 1.5 }),
    svg("circle", { cx: px, cy: py, r: 10, fill: "var(--ex-a)", class: "dot" }),
    svg("rect", { x: ix - 6, y: iy - 6, width: 12, height: 12, fill: "var(--ex-b)" }),
    svg("text", { x: vx, y: vy + 5, "text-anchor": "middle", class: "a" }, "v"),
    svg("text", { x: ix + 10, y: iy - 10, class: "b" }, "Rv"),
    svg("text", { x: cx, y: cy - unit - 14, "text-anchor": "middle", class: "muted" }, "g₃"),
    svg("text", { x: cx + unit + 13, y: cy + 5, class: "muted" }, "g*"),
  ];
}

/* What the best reply reaches, all around the circle. */
function wave({ wave: heights, sigmas, reached }, state, { left, right, top, bottom }) {
  const x = scale(0, 360, left, right), most = Math.max(0.1, sigmas[0] * 1.15), y = scale(0, most, bottom, top), nodes = [];
  [[sigmas[0], "σ₂"], [sigmas[1], "σ₃"]].forEach(([value, name]) => {
    nodes.push(svg("line", { x1: left, x2: right, y1: y(value), y2: y(value), stroke: "var(--ex-line)", "stroke-dasharray": "4 4" }));
    nodes.push(svg("text", { x: left - 8, y: y(value) + 4, "text-anchor": "end" }, name));
  });
  nodes.push(svg("line", { x1: left, x2: right, y1: bottom, y2: bottom, stroke: "var(--ex-line)" }));
  [0, 90, 180, 270, 360].forEach((tick) => nodes.push(svg("text", { x: x(tick), y: bottom + 17, "text-anchor": tick === 360 ? "end" : "middle", class: "small muted" }, `${tick}°`)));
  nodes.push(svg("path", { d: heights.map((h, k) => `${k ? "L" : "M"}${x(4 * k)} ${y(h)}`).join(""), fill: "none", stroke: "var(--ex-b)", "stroke-width": 2 }));
  nodes.push(svg("line", { x1: x(state.angle), x2: x(state.angle), y1: bottom, y2: y(reached), stroke: "var(--ex-b)", "stroke-width": 4 }));
  nodes.push(svg("rect", { x: x(state.angle) - 6, y: y(reached) - 6, width: 12, height: 12, fill: "var(--ex-b)" }));
  nodes.push(svg("text", { x: left, y: top - 12, class: "b" }, "length of Rv"));
  nodes.push(svg("text", { x: (left + right) / 2, y: bottom + 36, "text-anchor": "middle", class: "small muted" }, "direction of the code"));
  return nodes;
}
