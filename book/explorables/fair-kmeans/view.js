/* Fair k-means on four movable points by Algorithm 3 and by the descent, visit by visit. For each move, the change that
   the algorithm predicts is shown beside the change that occurs. */
import { drag, explorable, fixed, scale, svg } from "../shared.js";
import { legend } from "../plot.js";
import { run } from "./model.js";

const [FAR, LAST, PASSES] = [8, 24, 60];
const COLORS = ["var(--ex-a)", "var(--ex-b)"];
const CLASSES = ["a", "b"];

let placed = []; // [point, x, y, scale] of each in the drawing

const signed = (x) => (Number(Math.abs(x).toFixed(2)) && x > 0 ? "+" : "") + fixed(x, 2);
const number = (x) => fixed(x, Number.isInteger(x) ? 0 : 1);
const next = (state) => (state.visit < LAST ? { visit: state.visit + 1 } : null);
const snap = (value) => Math.min(Math.max(Math.round(2 * value) / 2, -FAR), FAR);
const moved = (state, n, value) => ({ x: state.x.map((x, m) => (m === n ? snap(value) : x)) });

/* The change that occurs. In Algorithm 3 the centers are fixed until the end of a pass; in the descent nothing is. */
const occurred = (visit) => (visit.kind === "paper" ? visit.dF : visit.dG);

/* How far a point is lifted, in px, if other points are at the same place. */
const lift = (x, n) => 24 * x.slice(0, n).filter((other) => Math.abs(other - x[n]) < 1).length;

function words({ now, over, passes }, x) {
  if (!now) return "before the first visit";
  if (over) return `has stopped after pass ${passes}`;
  return `pass ${now.turn}: point ${now.n + 1} at ${number(x[now.n])} ` + (now.moved ? `moves to cluster ${now.to}` : "stays");
}

const end = (side) => (side.stopped ? `stops after pass ${side.passes}` : side.cycle ? `repeats a cycle of ${side.cycle} passes forever` : "has not stopped");

/* The points of one algorithm on their line. */
function points(side, title, state, left, width, data) {
  const at = scale(-FAR - 1, FAR + 1, left + 10, left + width - 10), axis = 92, { now, labels, shares, centers } = side;
  const asked = now && !side.over ? now.n : -1;
  const anchor = (x) => (x < left + 60 ? "start" : x > left + width - 60 ? "end" : "middle");
  return svg("g", {},
    svg("text", { x: left, y: 12, style: "font-weight: 600" }, title),
    svg("text", { x: left, y: 30 }, words(side, state.x)),
    svg("line", { x1: at(-FAR - 1), x2: at(FAR + 1), y1: axis, y2: axis, stroke: "var(--ex-line)" }),
    [0, 1].map((k) => {
      const x = at(centers[k]), text = `w${"₀₁"[k]} = ${fixed(shares[k], 2)}${labels.includes(k) ? "" : " (empty)"}`;
      return [
        svg("path", { d: `M${x} ${axis + 13}l8 12h-16z`, fill: COLORS[k] }),
        svg("text", { x, y: axis + 40 + 17 * k, class: `small ${CLASSES[k]}`, "text-anchor": anchor(x) }, text),
      ];
    }).flat(),
    state.x.map((x, n) => {
      const y = axis - lift(state.x, n), k = labels[n];
      placed.push([n, at(x), y, left, width]);
      return svg("g", { class: "dot", "data-point": n },
        svg("circle", { cx: at(x), cy: y, r: 22, fill: "transparent" }),
        n === asked && svg("circle", { cx: at(x), cy: y, r: 14, fill: "none", stroke: "currentColor", "stroke-width": 1.5, "stroke-dasharray": "3 3" }),
        svg("circle", { cx: at(x), cy: y, r: 8, fill: data.s[n] ? COLORS[k] : "var(--ex-paper)", stroke: COLORS[k], "stroke-width": 2 }),
        svg("text", { x: at(x), y: y + 4, "text-anchor": "middle", class: "small", style: `fill: ${data.s[n] ? "var(--ex-paper)" : COLORS[k]}; font-weight: 600` }, n + 1));
    }));
}

/* Two bars for each move so far: predicted and occurred. */
function bars(visits, state, left, width, [top, bottom], most) {
  const x = scale(0.4, LAST + 0.6, left + 34, left + width), y = scale(-most, most, bottom - 24, top + 8), half = Math.max((x(2) - x(1)) / 2 - 1, 3);
  const bar = (from, value, color, more) => svg("rect", { x: from, width: half, y: Math.min(y(0), y(value)), height: Math.max(Math.abs(y(value) - y(0)), 1), fill: color, ...more });
  return svg("g", {},
    [-most, 0, most].map((tick) => [
      svg("line", { x1: left + 34, x2: left + width, y1: y(tick), y2: y(tick), stroke: tick ? "var(--ex-grid)" : "var(--ex-line)" }),
      svg("text", { x: left + 28, y: y(tick) + 4, "text-anchor": "end", class: "small muted" }, (tick > 0 ? "+" : "") + fixed(tick, 0)),
    ]).flat(),
    [4, 8, 12, 16, 20, 24].map((tick) => svg("text", { x: x(tick), y: bottom - 4, "text-anchor": "middle", class: "small muted" }, tick)),
    svg("text", { x: left, y: bottom - 4, class: "small muted" }, "visit"),
    state.visit > 0 && svg("rect", { x: x(state.visit) - half - 2, width: 2 * half + 4, y: y(most), height: y(-most) - y(most), fill: "none", stroke: "currentColor", "stroke-dasharray": "2 3" }),
    visits.map((visit, v) => visit && visit.moved && [
      bar(x(v + 1) - half, visit.believed, "var(--ex-paper)", { stroke: "var(--ex-d)", "stroke-width": 1.5 }),
      bar(x(v + 1), occurred(visit), occurred(visit) > 0 ? "var(--ex-b)" : "var(--ex-c)"),
    ]).flat());
}

function draw({ state, numbers, width, data }) {
  const wide = width >= 620, each = wide ? (width - 32) / 2 : width, high = wide ? 310 : 280;
  placed = [];
  const [signs, used] = legend([
    ["●", "currentColor", "s = 1"], ["○", "currentColor", "s = 0"], ["▲", "var(--ex-muted)", "center"],
    ["□", "var(--ex-d)", "predicted"], ["■", "var(--ex-c)", "occurred, lower"], ["■", "var(--ex-b)", "occurred, higher"],
  ], width);
  const far = Math.max(5, ...numbers.sides.flatMap(({ history }) => history.filter((one) => one.moved).flatMap((one) => [Math.abs(one.believed), Math.abs(occurred(one))])));
  const most = 5 * Math.ceil(far / 5), height = used + 10 + (wide ? high : 2 * high + 8);
  const panels = numbers.sides.map(({ side, title, history }, k) => {
    const before = placed.length, left = wide ? k * (each + 32) : 0, down = used + 10 + (wide ? 0 : k * (high + 8));
    const group = svg("g", { transform: `translate(0 ${down})` }, points(side, title, state, left, each, data), bars(history.slice(0, state.visit), state, left, each, [154, high], most));
    placed.slice(before).forEach((one) => { one[2] += down; });
    return group;
  });
  return svg("svg", { width, height, viewBox: `0 0 ${width} ${height}` }, signs, panels);
}

/* Let the reader drag a point along its line, as with the two controls in the fold. */
function attach(frame) {
  const { stage, update } = frame;
  const near = ([x, y]) => placed.map((one) => [Math.hypot(one[1] - x, one[2] - y), one])
    .filter(([far]) => far < 22).sort(([one], [other]) => one - other)[0]?.[1];
  drag(stage, near, ([n, , , left, width], [x]) => {
    update({ point: String(n), ...moved(frame.state, n, scale(left + 10, left + width - 10, -FAR - 1, FAR + 1)(x)) });
  });
}

export function start(root) {
  explorable(root, {
    title: "Four points, two clusters: Algorithm 3 and the descent, visit by visit",
    initial: (data) => ({ x: data.x, lam: data.lam, visit: 0, point: "1" }),
    controls: [
      { kind: "play", next, from: { visit: 0 }, wait: 700 },
      { kind: "button", label: "Next visit", set: next, disabled: (state) => !next(state) },
      { kind: "range", key: "visit", label: "visits", min: 0, max: LAST, step: 1 },
      { kind: "group", label: "Change λ or move the points", controls: [
        { kind: "range", key: "lam", label: "λ", min: 0, max: 200, step: 1 },
        { kind: "choice", key: "point", label: "Point", options: ["1", "2", "3", "4"].map((n) => [String(n - 1), n]) },
        { kind: "range", label: "its position", min: -FAR, max: FAR, step: 0.5, get: (state) => state.x[state.point],
          set: (state, value) => moved(state, Number(state.point), value), text: (v) => fixed(v, 1) },
      ] },
    ],
    valid: (state) => ({ ...state, x: state.x.map(snap) }),
    compute: (state, data) => {
      const at = (visit) => run(state.x, data.s, data.start, state.lam, visit, PASSES), found = at(state.visit);
      const all = Array.from({ length: LAST }, (_, v) => at(v + 1));
      /* A visit after the descent has stopped changes nothing. */
      const history = (key) => all.map((both) => (both[key].over ? { ...both[key].now, moved: false } : both[key].now));
      return { ...found, sides: [["paper", "Algorithm 3"], ["descent", "The descent method"]].map(([key, title]) => ({ side: found[key], title, history: history(key) })) };
    },
    outputs: ({ paper }, { lam }) => ({
      believed: paper.now ? signed(paper.now.believed) : "–",
      replied: paper.now ? (paper.now.moved ? signed(paper.now.dF) : "stays") : "–",
      end: end(paper),
      lam: String(lam),
    }),
    readouts: [["believed", "change that Algorithm 3 predicts"], ["replied", "change that occurs"]],
    summary: ({ paper, descent }, { x, lam }) =>
      `λ = ${lam}. Algorithm 3, ${words(paper, x)}: w is ${fixed(paper.shares[0], 2)} and ${fixed(paper.shares[1], 2)}, G ${fixed(paper.objective[paper.index], 2)}. ` +
      `The descent method, ${words(descent, x)}: w is ${fixed(descent.shares[0], 2)} and ${fixed(descent.shares[1], 2)}, G ${fixed(descent.objective[descent.index], 2)}. ` +
      `Algorithm 3 ${end(paper)}; the descent method stops after pass ${descent.passes}.`,
    draw,
    attach,
  });
}
