/* Axes, legends and lines that several drawings share. */
import { lowered, svg } from "./shared.js";

/** Grid lines and ticks along the bottom; `ticks` are pairs of a value and its text. */
export function below(x, ticks, { top, bottom, label }) {
  const [left, right] = [x(ticks[0][0]), x(ticks[ticks.length - 1][0])];
  return svg("g", {},
    ticks.map(([value, text]) => [
      svg("line", { x1: x(value), x2: x(value), y1: top, y2: bottom, stroke: "var(--ex-grid)" }),
      svg("text", { x: x(value), y: bottom + 16, "text-anchor": "middle", class: "small muted" }, text),
    ]).flat(),
    label && svg("text", { x: (left + right) / 2, y: bottom + 34, "text-anchor": "middle", class: "small muted" }, label));
}

/** The same along the left side. */
export function beside(y, ticks, { left, right, top, label }) {
  return svg("g", {},
    ticks.map(([value, text]) => [
      svg("line", { x1: left, x2: right, y1: y(value), y2: y(value), stroke: "var(--ex-grid)" }),
      svg("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end", class: "small muted" }, text),
    ]).flat(),
    label && svg("text", { x: 0, y: top - 10, class: "small muted" }, label));
}

/** A line through points. */
export function line(points, attributes) {
  const path = points.map(([x, y], k) => `${k ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
  return svg("path", { d: path, fill: "none", "stroke-width": 2, ...attributes });
}

/** n + 1 numbers from a to b. */
export function grid(a, b, n) {
  return Array.from({ length: n + 1 }, (_, k) => a + ((b - a) * k) / n);
}

/** A legend, in as many rows of 20 px as it needs. Items are [mark, color, text], and a mark is "line", "dash",
    "dot", "bar" or a character. Returns the group and its height. */
export function legend(items, width) {
  const group = svg("g", {});
  let [x, row] = [0, 0];
  for (const [mark, color, text] of items) {
    const wide = 32 + 6.3 * text.length;
    if (x && x + wide > width) [x, row] = [0, row + 1];
    const y = 12 + 20 * row;
    const dashes = { line: null, dash: "6 4", dot: "2 3" };
    group.append(
      mark in dashes
        ? svg("line", { x1: x, x2: x + 20, y1: y - 4, y2: y - 4, stroke: color, "stroke-width": 2.5, "stroke-dasharray": dashes[mark] })
        : mark === "bar"
          ? svg("rect", { x, y: y - 11, width: 20, height: 13, fill: color })
          : svg("text", { x: x + 10, y, "text-anchor": "middle", style: `fill: ${color}` }, mark),
      svg("text", { x: x + 26, y, class: "small" }, lowered(text)));
    x += wide + 10;
  }
  return [group, 20 * (row + 1)];
}

/** Move labels up where necessary, so that they keep their order and their heights are at least `gap` apart. */
export function apart(heights, gap = 18) {
  const found = [...heights];
  let above = Infinity;
  heights.map((_, k) => k).sort((i, j) => heights[j] - heights[i]).forEach((k) => {
    found[k] = Math.min(found[k], above);
    above = found[k] - gap;
  });
  return found;
}
