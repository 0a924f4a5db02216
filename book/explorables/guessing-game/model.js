/* Guess how sure you are that b = 1, told a; pay the square of your error. */

/** counts: for each class, how many have b = 0 and b = 1. guesses: a number for each class.
    What the guesses pay, what the best ones would (gamma), what a guess without the hint pays,
    the part saved, and rho_R^2, the most that can be saved. */
export function pay(counts, guesses) {
  const sizes = counts.map(([none, one]) => none + one), total = sizes.reduce((x, y) => x + y, 0);
  const ones = counts.reduce((x, [, one]) => x + one, 0), q = ones / total;
  const shares = counts.map(([, one], i) => one / sizes[i]), sizesOf = sizes.map((n) => n / total);
  const costs = counts.map(([none, one], i) => (none * guesses[i] ** 2 + one * (1 - guesses[i]) ** 2) / total);
  const paid = costs.reduce((x, y) => x + y, 0), blind = q * (1 - q);
  const gamma = counts.reduce((x, [none], i) => x + (shares[i] * none) / total, 0);
  /* r_i - q as differences of products of counts: no digits are lost where the shares are close to q. */
  const explained = counts.reduce((x, [, one], i) => x + ((one * total - sizes[i] * ones) / total / total) ** 2 / sizesOf[i], 0);
  const rho2 = blind > 0 ? Math.min(explained / blind, 1) : 0;
  return { q, shares, sizes: sizesOf, costs, paid, blind, gamma, saved: blind > 0 ? 1 - paid / blind : 0, rho2, rho: Math.sqrt(rho2) };
}
