import { calm, drag, explorable, fixed, lowered, scale, svg } from "../shared.js";
import { play } from "./model.js";

const REACH = 3, MOST = 12, STEP = 0.05;
const snap = (x) => Number((Math.min(Math.max(Math.round(x / STEP) * STEP, -REACH), REACH)).toFixed(2));
const next = (state) => (state.replies < MOST ? { replies: state.replies + 1 } : null);

export function start(root) {
  let spots = []; // where the dots are, for the pointer
  let replies = null; // the number of replies for which the dots were drawn
  const now = (numbers, state) => numbers.steps[state.replies];
  /* If the reader chooses a number, all numbers as shown become the new start. */
  const chosen = (numbers, state, list, k, value) => {
    const { f, g } = now(numbers, state), start = { f: f.map(snap), g: g.map(snap), replies: 0 };
    start[list][k] = snap(value);
    return start;
  };
  let numbers;
  explorable(root, {
    title: "The friends' numbers, and the correlation after each reply",
    initial: (data) => ({ f: data.f, g: data.g, replies: 0 }),
    controls: (data) => [
      { kind: "play", next, from: { replies: 0 }, wait: 1000 },
      { kind: "button", label: "Best reply", set: next, disabled: (state) => !next(state) },
      { kind: "range", key: "replies", label: "replies so far", min: 0, max: MOST, step: 1 },
      { kind: "group", label: "Choose your own numbers", controls: [["f", data.rows], ["g", data.columns]].flatMap(([list, names]) => names.map((name, k) => ({
        kind: "range", label: name, min: -REACH, max: REACH, step: STEP, text: (value) => fixed(value, 2),
        get: (state) => snap(now(numbers, state)[list][k]), set: (state, value) => chosen(numbers, state, list, k, value),
      }))) },
    ],
    valid: (state) => ({ ...state, f: state.f.map(snap), g: state.g.map(snap) }),
    compute: (state, data) => { numbers = play(data.counts, state.f, state.g, MOST); return numbers; },
    readouts: [["score", "correlation now"], ["rho", "largest possible, ρ_R"]],
    outputs: (n, state, data) => {
      const { f, g, score } = now(n, state);
      const texts = { score: fixed(score, 4), rho: fixed(n.rho, 4), replies: said(state.replies) };
      data.rows.forEach((name, k) => { texts[name] = fixed(f[k], 2); });
      data.columns.forEach((name, k) => { texts[name] = fixed(g[k], 2); });
      return texts;
    },
    summary: (n, state, data) => {
      const { f, g, score } = now(n, state), list = (names, values) => names.map((name, k) => `${name} ${fixed(values[k], 2)}`).join(", ");
      return `After ${said(state.replies)} the correlation is ${fixed(score, 4)}, and at most ${fixed(n.rho, 4)} is possible. First friend: ${list(data.rows, f)}. Second friend: ${list(data.columns, g)}.`;
    },
    draw: ({ state, numbers: n, width, data }) => {
      const before = replies === state.replies || calm() ? [] : spots;
      spots = [];
      replies = state.replies;
      const { f, g } = now(n, state), lines = { f: 62, g: 172 };
      const x = scale(-REACH, REACH, 24, width - 24), nodes = [];
      for (const [list, names, values, who, shape] of [["f", data.rows, f, "First friend, told the weather", "a"], ["g", data.columns, g, "Second friend, told the journey", "b"]]) {
        const y = lines[list], replied = state.replies > 0 && (state.replies % 2 ? "f" : "g") === list;
        nodes.push(svg("text", { x: 8, y: y - 46, class: shape }, who + (replied ? " (has just replied)" : "")));
        nodes.push(svg("line", { x1: x(-REACH), x2: x(REACH), y1: y, y2: y, stroke: "var(--ex-line)" }));
        for (let tick = -REACH; tick <= REACH; tick += 1) {
          nodes.push(svg("line", { x1: x(tick), x2: x(tick), y1: y, y2: y + 5, stroke: "var(--ex-line)" }));
          nodes.push(svg("text", { x: x(tick), y: y + 20, "text-anchor": "middle", class: "small muted" }, fixed(tick, 0)));
        }
        const order = names.map((_, k) => k).sort((i, j) => values[i] - values[j]);
        const edges = [-Infinity, -Infinity, -Infinity]; // where the names on each level end
        order.forEach((k) => {
          const cx = x(Math.min(Math.max(values[k], -REACH), REACH)), half = 4.2 * names[k].length;
          const level = Math.max(edges.findIndex((edge) => cx - half > edge), 0); // names that would overlap are stacked
          edges[level] = cx + half;
          spots.push({ list, k, cx, cy: y });
          const dot = svg("g", { class: "dot" },
            svg("rect", { x: cx - 22, y: y - 22, width: 44, height: 44, fill: "transparent" }),
            shape === "a" ? svg("circle", { cx, cy: y, r: 8, fill: "var(--ex-a)" }) : svg("rect", { x: cx - 7, y: y - 7, width: 14, height: 14, fill: "var(--ex-b)" }),
            svg("text", { x: cx, y: y - [12, 26, -36][level], "text-anchor": "middle" }, names[k]));
          const was = before.find((spot) => spot.list === list && spot.k === k);
          if (was && was.cx !== cx) dot.animate([{ transform: `translateX(${was.cx - cx}px)` }, { transform: "none" }], { duration: 500, easing: "ease-in-out" });
          nodes.push(dot);
        });
      }
      return svg("svg", { width, height: 392, viewBox: `0 0 ${width} 392` }, nodes, climb(n, state, width));
    },
    attach: (live) => drag(live.stage,
      ([px, py]) => spots.find(({ cx, cy }) => Math.hypot(cx - px, cy - py) < 24),
      ({ list, k }, [px]) => live.update(chosen(numbers, live.state, list, k, scale(24, live.stage.clientWidth - 24, -REACH, REACH)(px)))),
  });
}

const said = (replies) => (replies === 1 ? "1 reply" : `${replies} replies`);

/* The correlation after each reply so far; the present one is filled. */
function climb(numbers, state, width) {
  const scores = numbers.steps.map((step) => step.score), low = Math.min(0, ...scores);
  const x = scale(0, MOST, 56, width - 20), y = scale(low, Math.max(numbers.rho, 0.1) * 1.16, 346, 236), nodes = [];
  const past = scores.slice(0, state.replies + 1);
  const ticks = [...new Set([low < -0.3 ? -0.5 : 0, 0, 0.25, 0.5, 0.75, 1])].filter((tick) => tick >= low && tick <= numbers.rho * 1.12);
  ticks.forEach((tick) => {
    nodes.push(svg("line", { x1: x(0), x2: x(MOST), y1: y(tick), y2: y(tick), stroke: "var(--ex-grid)" }));
    nodes.push(svg("text", { x: x(0) - 12, y: y(tick) + 4, "text-anchor": "end", class: "small muted" }, fixed(tick, 2)));
  });
  nodes.push(svg("line", { x1: x(0), x2: x(MOST), y1: y(numbers.rho), y2: y(numbers.rho), stroke: "currentColor", "stroke-dasharray": "5 4" }));
  nodes.push(svg("text", { x: x(MOST), y: y(numbers.rho) - 12, "text-anchor": "end" }, lowered(`ρ_R = ${fixed(numbers.rho, 4)}`)));
  nodes.push(svg("path", { d: past.map((s, k) => `${k ? "L" : "M"}${x(k)} ${y(s)}`).join(""), fill: "none", stroke: "var(--ex-line)" }));
  past.forEach((s, k) => nodes.push(svg("circle", {
    cx: x(k), cy: y(s), r: k === state.replies ? 8 : 5, stroke: "var(--ex-c)", "stroke-width": 2,
    fill: k === state.replies ? "var(--ex-c)" : "var(--ex-paper)",
  })));
  for (let k = 0; k <= MOST; k += 2) nodes.push(svg("text", { x: x(k), y: 370, "text-anchor": "middle", class: "small muted" }, String(k)));
  nodes.push(svg("text", { x: 8, y: 224, class: "small muted" }, "correlation"), svg("text", { x: x(MOST / 2), y: 388, "text-anchor": "middle", class: "small muted" }, "replies"));
  return nodes;
}
