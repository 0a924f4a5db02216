/* Adult's test people: how many of each group score above each threshold. Pure functions.
   data = { lams, methods, steps, size, negatives, cells }: size is [women, men], negatives the number of people with
   Y = 0; cells[method][lam] lists how many women, how many men and how many people with Y = 1 have a score in each of
   the `steps` equal cells of [0, 1]. A person is selected if the score exceeds the threshold, which is a border of cells. */

const sum = (list) => list.reduce((a, b) => a + b, 0);
const Z = 1.959963984540054; // the 0.975 quantile of the normal distribution

/** The cells of women (0), men (1) or people with Y = 1 (2). */
export function histogram(data, method, lam, s) {
  return data.cells[method][data.lams.indexOf(lam)].slice(s * data.steps, (s + 1) * data.steps);
}

/** For women, men and people with Y = 1, how many score above every threshold 0, 1 / steps, ..., 1. */
export function above(data, method, lam) {
  return [0, 1, 2].map((s) => {
    const cells = histogram(data, method, lam, s), list = new Array(data.steps + 1).fill(0);
    for (let k = data.steps - 1; k >= 0; k--) list[k] = list[k + 1] + cells[k];
    return list;
  });
}

/** Everything at threshold k / steps. Gaps are men minus women. */
export function measure(data, counts, k) {
  const { size } = data, total = sum(size), selected = [counts[0][k], counts[1][k]];
  const rates = selected.map((n, s) => n / size[s]), [low, high] = [Math.min(...rates), Math.max(...rates)];
  /* True positives plus the negatives that are not selected. */
  const correct = data.negatives + 2 * counts[2][k] - sum(selected);
  return {
    selected, rates, correct,
    accuracy: correct / total,
    pRule: high ? low / high : 1,
    gap: rates[1] - rates[0],
    chance: band(sum(selected) / total, size),
  };
}

/** Half the width of the 95 % band of the gap if decisions did not depend on the group, at the overall rate r. */
export function band(r, size) {
  return Z * Math.sqrt(r * (1 - r) * (1 / size[0] + 1 / size[1]));
}

/** The signed gap at every threshold. */
export function gaps(data, counts) {
  return Array.from({ length: data.steps + 1 }, (_, k) => measure(data, counts, k).gap);
}

/** All numbers of the figure: those of the chosen model, and the gaps of all methods. */
export function read(data, method, lam, k) {
  const counts = above(data, method, lam);
  return {
    ...measure(data, counts, k), counts,
    curves: data.methods.map((name) => gaps(data, above(data, name, lam))),
  };
}
