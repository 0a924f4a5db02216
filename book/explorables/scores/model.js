/* Adult's test people: how many of each group and truth score above each threshold. Pure functions.
   data = { lams, methods, steps, people, cells }: people[s][y] are all test people of group s (0 women, 1 men) and
   truth y; cells[method][lam] lists, for s = 0, 1 and y = 0, 1 in turn, how many scores lie in each of the `steps` equal
   cells of [0, 1]. A person is selected if the score is greater than the threshold, which is a border of cells. */

const sum = (list) => list.reduce((a, b) => a + b, 0);
const PAIRS = [[0, 0], [0, 1], [1, 0], [1, 1]];
const Z = 1.959963984540054; // the normal distribution's .975 quantile

/** The cells of one group and truth. */
export function histogram(data, method, lam, s, y) {
  const from = (2 * s + y) * data.steps;
  return data.cells[method][data.lams.indexOf(lam)].slice(from, from + data.steps);
}

/** counts[s][y] of people above every threshold 0, 1 / steps, ..., 1: lists of steps + 1 numbers. */
export function above(data, method, lam) {
  const counts = [[], []];
  for (const [s, y] of PAIRS) {
    const cells = histogram(data, method, lam, s, y), list = new Array(data.steps + 1).fill(0);
    for (let k = data.steps - 1; k >= 0; k--) list[k] = list[k + 1] + cells[k];
    counts[s][y] = list;
  }
  return counts;
}

/** rho_R of a table of counts with two columns (women, men): the root of sum n_k (w_k - q)^2 / (N q (1 - q)). */
export function rho(table) {
  const total = sum(table.map(sum)), q = sum(table.map((row) => row[1])) / total;
  const between = sum(table.map((row) => (sum(row) ? sum(row) * (row[1] / sum(row) - q) ** 2 : 0)));
  return Math.sqrt(between / (total * q * (1 - q)));
}

/** Everything at threshold k / steps. Gaps are men minus women. */
export function measure(data, counts, k) {
  const size = data.people.map(sum), total = sum(size);
  const selected = [0, 1].map((s) => counts[s][0][k] + counts[s][1][k]);
  const rates = selected.map((n, s) => n / size[s]);
  const right = [0, 1].map((s) => counts[s][1][k] + data.people[s][0] - counts[s][0][k]);
  const tpr = [0, 1].map((s) => counts[s][1][k] / data.people[s][1]);
  const [low, high] = [Math.min(...rates), Math.max(...rates)];
  return {
    selected, rates, tpr, size,
    correct: sum(right), total,
    accuracy: sum(right) / total,
    pRule: high ? low / high : 1,
    gap: rates[1] - rates[0],
    eoGap: tpr[1] - tpr[0],
    rhoLabel: rho([selected, selected.map((n, s) => size[s] - n)]),
    chance: band(sum(selected) / total, size),
  };
}

/** Half the width of the 95 % band of the gap if groups did not matter, at the overall rate r. */
export function band(r, size) {
  return Z * Math.sqrt(r * (1 - r) * (1 / size[0] + 1 / size[1]));
}

/** rho_R of the score, cut into ten equal cells. */
export function rhoScore(data, counts) {
  const wide = data.steps / 10;
  const rows = Array.from({ length: 10 }, (_, k) => [0, 1].map((s) =>
    sum([0, 1].map((y) => counts[s][y][k * wide] - counts[s][y][(k + 1) * wide]))));
  return rho(rows);
}

/** The signed gap at every threshold. */
export function gaps(data, counts) {
  return Array.from({ length: data.steps + 1 }, (_, k) => measure(data, counts, k).gap);
}

/** All numbers of the figure: the chosen model, and beside it the one that was trained as usual. */
export function read(data, method, lam, k) {
  const counts = above(data, method, lam), usual = above(data, method, data.lams[0]);
  return {
    ...measure(data, counts, k), rhoScore: rhoScore(data, counts), counts,
    usual: measure(data, usual, k), half: measure(data, counts, data.steps / 2),
    curves: data.methods.map((name) => gaps(data, above(data, name, lam))),
  };
}
