/* Fair k-means on a few points of a line, visit by visit, with Algorithm 3 of the paper and with the descent. All
   functions are pure. Points x_n have s_n of 0 or 1 and a label of 0 or 1; c contains the centers, and w the clusters'
   shares of points with s_n = 1. A cluster that has lost its last point keeps its center and its share. */

const EPS = 1e-9; // a gain must exceed rounding errors, so points stay where they are in a tie

function members(labels, k) {
  return labels.flatMap((label, n) => (label === k ? [n] : []));
}

function mean(values) {
  return values.reduce((a, b) => a + b, 0) / values.length;
}

/** The mean of `values` in each cluster, or the mean before if the cluster is empty. */
export function means(values, labels, before = [0, 0]) {
  return [0, 1].map((k) => {
    const mine = members(labels, k);
    return mine.length ? mean(mine.map((n) => values[n])) : before[k];
  });
}

/** SSE about given centers minus lambda times the adversary's loss at its best reply w. */
export function F(x, s, labels, c, lam) {
  const w = means(s, labels);
  return labels.reduce((total, k, n) => total + (x[n] - c[k]) ** 2 - lam * (w[k] - s[n]) ** 2, 0);
}

/** The library's objective: F with the centers at the means, plus the constant lambda N q (1 - q). */
export function G(x, s, labels, lam) {
  const q = mean(s);
  return F(x, s, labels, means(x, labels), lam) + lam * s.length * q * (1 - q);
}

/** The scores that line 6 compares, |x_n - c_k|^2 - lambda (w_k - s_n)^2. */
export function scores(x, s, n, c, w, lam) {
  return [0, 1].map((k) => (x[n] - c[k]) ** 2 - lam * (w[k] - s[n]) ** 2);
}

/* The record of one visit. */
function record(kind, x, s, lam, n, turn, before, after, c, w, believed) {
  const moved = before[n] !== after[n];
  return {
    kind, n, turn, moved, labels: after, c, w, believed,
    from: before[n], to: after[n],
    wAfter: means(s, after, w),
    dF: moved ? F(x, s, after, c, lam) - F(x, s, before, c, lam) : 0,
    dG: moved ? G(x, s, after, lam) - G(x, s, before, lam) : 0,
    G: G(x, s, after, lam),
  };
}

/** Run Algorithm 3 for at most `passes` passes; returns { visits, passes, stopped, cycle }. `believed` is the change
    that line 6 predicts for a move to the other cluster, t_other - t_own. */
export function algorithm3(x, s, start, lam, passes) {
  let labels = [...start], c = means(x, labels), w = means(s, labels);
  const visits = [], seen = new Map([[key(labels, c, w), 0]]);
  for (let turn = 1; turn <= passes; turn++) {
    let moved = 0;
    for (let n = 0; n < x.length; n++) {
      const t = scores(x, s, n, c, w, lam), own = labels[n], believed = t[1 - own] - t[own];
      const after = [...labels];
      if (believed < -EPS) after[n] = 1 - own;
      visits.push(record("paper", x, s, lam, n, turn, labels, after, c, w, believed));
      moved += labels[n] !== after[n];
      labels = after;
      w = means(s, labels, w);
    }
    c = means(x, labels, c);
    if (!moved) return { visits, passes: turn, stopped: true, cycle: 0 };
    const state = key(labels, c, w);
    if (seen.has(state)) return { visits, passes: turn, stopped: false, cycle: turn - seen.get(state) };
    seen.set(state, turn);
  }
  return { visits, passes, stopped: false, cycle: 0 };
}

function key(labels, c, w) {
  return [...labels, ...[...c, ...w].map((v) => v.toFixed(9))].join();
}

/** Run the descent, in which centers and shares are always up to date, a point moves only if that lowers G, and the
    last point of a cluster stays. `believed` is n_l / (n_l + 1) t_l - n_k / (n_k - 1) t_k, the exact change. */
export function descent(x, s, start, lam, passes) {
  let labels = [...start];
  const visits = [];
  for (let turn = 1; turn <= passes; turn++) {
    let moved = 0;
    for (let n = 0; n < x.length; n++) {
      const c = means(x, labels), w = means(s, labels), t = scores(x, s, n, c, w, lam);
      const own = labels[n], size = [0, 1].map((k) => members(labels, k).length);
      const alone = size[own] < 2;
      const believed = alone ? null
        : (size[1 - own] / (size[1 - own] + 1)) * t[1 - own] - (size[own] / (size[own] - 1)) * t[own];
      const after = [...labels];
      if (!alone && believed < -EPS) after[n] = 1 - own;
      visits.push(record("descent", x, s, lam, n, turn, labels, after, c, w, believed));
      moved += labels[n] !== after[n];
      labels = after;
    }
    if (!moved) return { visits, passes: turn, stopped: true, cycle: 0 };
  }
  return { visits, passes, stopped: false, cycle: 0 };
}

/** Run both algorithms, and return the state of each after `visit` visits (0 is the start). `over` is true if an
    algorithm has stopped. If it has returned to an earlier state, its visits repeat in a cycle. */
export function run(x, s, start, lam, visit, passes) {
  const at = (algorithm) => {
    const found = algorithm(x, s, start, lam, passes), all = found.visits;
    const turn = found.cycle * x.length, last = all.length;
    let index = visit;
    if (visit > last) index = turn ? last - turn + 1 + ((visit - last - 1) % turn) : last;
    const now = index ? all[index - 1] : null;
    const labels = now ? now.labels : start;
    return {
      ...found, index, now, labels, over: found.stopped && visit >= last,
      objective: [G(x, s, start, lam), ...all.map((one) => one.G)],
      shares: now ? now.wAfter : means(s, start), centers: now ? now.c : means(x, start),
    };
  };
  return { paper: at(algorithm3), descent: at(descent) };
}
