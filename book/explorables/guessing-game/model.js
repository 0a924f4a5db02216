/* A game in which one guesses the probability that b = 1 given a, and pays the squared error. */

/** Compute the cost of the guesses (`paid`), of the best guesses (`gamma`) and of the best guess without knowing a
    (`blind`), the part saved, and rho_R^2, the largest part that can be saved. `counts` lists how many have b = 0 and
    b = 1 in each class of a, and `guesses` has a number for each class. */
export function pay(counts, guesses) {
  const sizes = counts.map(([none, one]) => none + one), total = sizes.reduce((x, y) => x + y, 0);
  const ones = counts.reduce((x, [, one]) => x + one, 0), q = ones / total;
  const shares = counts.map(([, one], i) => one / sizes[i]), sizesOf = sizes.map((n) => n / total);
  const costs = counts.map(([none, one], i) => (none * guesses[i] ** 2 + one * (1 - guesses[i]) ** 2) / total);
  const paid = costs.reduce((x, y) => x + y, 0), blind = q * (1 - q);
  const gamma = counts.reduce((x, [none], i) => x + (shares[i] * none) / total, 0);
  /* r_i - q is computed from differences of products of counts, which are accurate even if the shares are close to q. */
  const explained = counts.reduce((x, [, one], i) => x + ((one * total - sizes[i] * ones) / total / total) ** 2 / sizesOf[i], 0);
  const rho2 = blind > 0 ? Math.min(explained / blind, 1) : 0;
  return { q, shares, sizes: sizesOf, costs, paid, blind, gamma, saved: blind > 0 ? 1 - paid / blind : 0, rho2, rho: Math.sqrt(rho2) };
}
