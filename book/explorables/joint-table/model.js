/* A table of counts, and four measures of its dependence: D, Pearson, NMI and rho_R. */
import { dependence, differences, nmi, pearson } from "../dependence.js";

/** Split a list of counts into rows. */
export function rowsOf(counts, width) {
  return Array.from({ length: counts.length / width }, (_, i) => counts.slice(i * width, (i + 1) * width));
}

/** D, Pearson, NMI, rho_R, f* and g* of the counts; a and b are the values of rows and columns. */
export function look(counts, a, b) {
  const P = rowsOf(counts, b.length);
  const { rho, f, g } = dependence(P);
  return { D: differences(P), pearson: pearson(P, a, b), nmi: nmi(P), rho, f, g, total: counts.reduce((x, y) => x + y, 0) };
}
