/* Fair k-means on four points that can be moved: Algorithm 3 and the descent, visit by visit, side by side. */
import { drag, explorable, fixed, scale, svg } from "../shared.js";
import { below, beside, legend, line } from "../plot.js";
import { run } from "./model.js";

const [FAR, LAST, PASSES, PANEL, GAP] = [8, 24, 60, 152, 34];
const COLORS = ["var(--ex-a)", "var(--ex-b)"];
const CLASSES = ["a", "b"];

let placed = []; // [point, x, y] of each in the drawing

const signed = (x) => (Number(Math.abs(x).toFixed(2)) && x > 0 ? "+" : "") + fixed(x, 2);
const came = (now, key) => (now ? (now.moved ? signed(now[key]) : "stays") : "–");
const place = (width) => scale(-FAR - 1, FAR + 1, 10, width - 10);
const panelTop = (k, used) => used + 16 + k * (PANEL + GAP);
const number = (x) => fixed(x, Number.isInteger(x) ? 0 : 1);

/* How a point stands above its neighbours where several share a place. */
const lift = (x, n) => 20 * x.slice(0, n).filter((other) => Math.abs(other - x[n]) < 0.75).length;

function words(side, x) {
  const { now, over, passes, cycle, index } = side;
  if (!now) return "before the first visit";
  if (over) return `has stopped after pass ${passes}`;
  const alone = now.believed === null ? ", the last of its cluster," : "";
  return `pass ${now.turn}: point ${now.n + 1} at ${number(x[now.n])}${alone} ` +
    (now.moved ? `moves to cluster ${now.to}` : "stays") + (cycle && index > (passes - cycle) * x.length ? "; the passes repeat" : "");
}

function panel(side, title, state, width, top, data) {
  const at = place(width), axis = top + 84, { now, labels, shares, centers } = side;
  const asked = now && !side.over ? now.n : -1;
  const anchor = (x) => (x < 70 ? "start" : x > width - 70 ? "end" : "middle");
  return svg("g", {},
    svg("text", { x: 0, y: top + 10, style: "font-weight: 600" }, title),
    svg("text", { x: 0, y: top + 30 }, words(side, state.x)),
    svg("line", { x1: at(-FAR - 1), x2: at(FAR + 1), y1: axis, y2: axis, stroke: "var(--ex-line)" }),
    [0, 1].map((k) => {
      const x = at(centers[k]), text = `w${"₀₁"[k]} = ${fixed(shares[k], 2)}${labels.includes(k) ? "" : ", empty"}`;
      return [
        svg("path", { d: `M${x} ${axis + 13}l8 13h-16z`, fill: COLORS[k] }),
        svg("text", { x, y: axis + 42 + 18 * k, class: CLASSES[k], "text-anchor": anchor(x) }, text),
      ];
    }).flat(),
    state.x.map((x, n) => {
      const y = axis - lift(state.x, n), k = labels[n];
      placed.push([n, at(x), y]);
      return svg("g", { class: "dot", "data-point": n },
        svg("circle", { cx: at(x), cy: y, r: 22, fill: "transparent" }),
        n === asked && svg("circle", { cx: at(x), cy: y, r: 14, fill: "none", stroke: "currentColor", "stroke-width": 1.5, "stroke-dasharray": "3 3" }),
        svg("circle", { cx: at(x), cy: y, r: 8, fill: data.s[n] ? COLORS[k] : "var(--ex-paper)", stroke: COLORS[k], "stroke-width": 3.5 }),
        svg("text", { x: at(x), y: y - (n === asked && now.moved ? 34 : 19), "text-anchor": "middle", class: `small ${CLASSES[k]}` },
          n === asked && now.moved ? `${n + 1}: ${now.from}→${now.to}` : n + 1));
    }));
}

function draw({ state, numbers, width, data }) {
  const narrow = width < 560;
  placed = [];
  const [signs, used] = legend([
    ["●", "currentColor", "s = 1"], ["○", "currentColor", "s = 0"],
    ["▲", COLORS[0], "centre of cluster 0"], ["▲", COLORS[1], "of cluster 1"],
  ], width);
  const top = panelTop(2, used) + 30, bottom = top + 120;
  const series = (side) => Array.from({ length: LAST + 1 }, (_, v) => run(state.x, data.s, data.start, state.lam, v, PASSES)[side]);
  const both = { paper: series("paper"), descent: series("descent") };
  const height = (one) => one.objective[one.index];
  const all = [...both.paper, ...both.descent].map(height);
  const [low, high] = [Math.min(...all), Math.max(...all)], room = Math.max(high - low, 1) * 0.12;
  const x = scale(0, LAST, narrow ? 40 : 52, width - 14), y = scale(low - room, high + room, bottom, top);
  const curve = (side, attributes) => line(both[side].map((one, v) => [x(v), y(height(one))]), attributes);
  return svg("svg", { width, height: bottom + 42, viewBox: `0 0 ${width} ${bottom + 42}` },
    signs,
    panel(numbers.paper, "Algorithm 3: compares as if nobody replied", state, width, panelTop(0, used), data),
    panel(numbers.descent, "The descent: computes what the move will cost", state, width, panelTop(1, used), data),
    below(x, Array.from({ length: LAST / 4 + 1 }, (_, k) => [4 * k, String(4 * k)]), { top, bottom, label: "visits (four are a pass)" }),
    beside(y, [low, high].map((v) => [v, fixed(v, 1)]).slice(0, high - low > 1e-9 ? 2 : 1), { left: x(0), right: x(LAST), top, label: narrow ? "objective G: Algorithm 3 ■, descent ●" : "the objective G after each visit: Algorithm 3 dashed ■, the descent solid ●" }),
    svg("line", { x1: x(state.visit), x2: x(state.visit), y1: top, y2: bottom, stroke: "var(--ex-line)", "stroke-width": 1.5 }),
    curve("paper", { stroke: "var(--ex-d)", "stroke-dasharray": "6 4", "stroke-width": 2.5 }),
    curve("descent", { stroke: "var(--ex-c)", "stroke-width": 2.5 }),
    svg("rect", { x: x(state.visit) - 6, y: y(height(both.paper[state.visit])) - 6, width: 12, height: 12, fill: "var(--ex-d)" }),
    svg("circle", { cx: x(state.visit), cy: y(height(both.descent[state.visit])), r: 6, fill: "var(--ex-c)" }));
}

/* Dragging a point along its line: what the two controls below do as well. */
function attach(frame) {
  const { stage, update } = frame;
  const near = ([x, y]) => placed.find(([, px, py]) => Math.hypot(px - x, py - y) < 22);
  drag(stage, near, ([n], [x]) => {
    const value = scale(10, stage.clientWidth - 10, -FAR - 1, FAR + 1)(x);
    update({ point: String(n), ...moved(frame.state, n, value) });
  });
}

const snap = (value) => Math.min(Math.max(Math.round(2 * value) / 2, -FAR), FAR);
const moved = (state, n, value) => ({ x: state.x.map((x, m) => (m === n ? snap(value) : x)) });

export function start(root) {
  explorable(root, {
    title: "Four points, two clusters: Algorithm 3 and the descent, visit by visit",
    initial: (data) => ({ x: data.x, lam: data.lam, visit: data.visit, point: "1" }),
    controls: [
      { kind: "range", key: "visit", label: "visits", min: 0, max: LAST, step: 1,
        text: (v) => (v ? `${v}: pass ${Math.ceil(v / 4)}, point ${((v - 1) % 4) + 1}` : "0: the start") },
      { kind: "button", label: "Next visit", set: (state) => ({ visit: state.visit + 1 }), disabled: (state) => state.visit === LAST },
      { kind: "button", label: "To the start", set: { visit: 0 } },
      { kind: "range", key: "lam", label: "λ", min: 0, max: 200, step: 1 },
      { kind: "choice", key: "point", label: "Move point", options: ["1", "2", "3", "4"].map((n) => [String(n - 1), n]) },
      { kind: "range", label: "its place", min: -FAR, max: FAR, step: 0.5, get: (state) => state.x[state.point],
        set: (state, value) => moved(state, Number(state.point), value), text: (v) => fixed(v, 1) },
    ],
    valid: (state) => ({ ...state, x: state.x.map(snap) }),
    compute: (state, data) => run(state.x, data.s, data.start, state.lam, state.visit, PASSES),
    outputs: ({ paper, descent }) => ({
      believed: paper.now ? signed(paper.now.believed) : "–",
      replied: came(paper.now, "dF"),
      followed: came(paper.now, "dG"),
      exact: descent.now && descent.now.believed !== null ? signed(descent.now.believed) : "–",
      found: came(descent.now, "dG"),
      end: paper.stopped ? `stops after pass ${paper.passes}` : paper.cycle ? `repeats a cycle of ${paper.cycle} passes for ever` : "has not stopped",
      descent_end: `stops after pass ${descent.passes}`,
    }),
    readouts: [
      ["believed", "Algorithm 3 believes"],
      ["replied", "true: the adversary has replied"],
      ["followed", "true: the centres too"],
      ["exact", "the descent computes"],
      ["found", "true: all have replied"],
    ],
    summary: ({ paper, descent }, { x, lam }) =>
      `λ = ${lam}. Algorithm 3, ${words(paper, x)}: w is ${fixed(paper.shares[0], 2)} and ${fixed(paper.shares[1], 2)}, G ${fixed(paper.objective[paper.index], 2)}. ` +
      `The descent, ${words(descent, x)}: w is ${fixed(descent.shares[0], 2)} and ${fixed(descent.shares[1], 2)}, G ${fixed(descent.objective[descent.index], 2)}. ` +
      `Algorithm 3 ${paper.stopped ? `stops after pass ${paper.passes}` : paper.cycle ? `repeats a cycle of ${paper.cycle} passes for ever` : "has not stopped"}; the descent stops after pass ${descent.passes}.`,
    draw,
    attach,
  });
}
