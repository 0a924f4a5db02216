/* How many women are selected for every 100 men. data = { steps, size, usual, fair }: size is [women, men], and
   usual[k] and fair[k] are [women, men] with a score above k / steps, by the two models. Pure functions. */

/** Women who would be selected for every 100 men if there were as many women as men. */
export function relative(data, model, k) {
  const [women, men] = data[model][k].map((n, s) => n / data.size[s]);
  return men ? (100 * women) / men : 100;
}
