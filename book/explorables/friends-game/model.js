/* Two friends assign numbers to words, and reply to each other in turn. */
import { dependence, dot, transpose } from "../dependence.js";

/** Standardize f to mean 0 and variance 1 under the weights p; null if f is constant. */
export function standardize(f, p) {
  const mean = dot(f, p), centered = f.map((x) => x - mean);
  const deviation = Math.sqrt(dot(centered.map((x) => x * x), p));
  return deviation > 1e-12 ? centered.map((x) => x / deviation) : null;
}

/** The best reply to g, which is its mean given each row of P, standardized; null if that mean is constant. */
export function reply(P, p, g) {
  return standardize(P.map((row, i) => dot(row, g) / p[i]), p);
}

/** The correlation of f and g; 0 if one of them is constant. */
export function score(P, p, q, f, g) {
  const u = standardize(f, p), v = standardize(g, q);
  return u && v ? dot(u, P.map((row) => dot(row, v))) : 0;
}

/** The functions f and g and their correlation after each reply; the first friend (f) begins. */
export function play(counts, f, g, replies) {
  const total = counts.flat().reduce((x, y) => x + y, 0), P = counts.map((row) => row.map((x) => x / total));
  const { rho, p, q } = dependence(counts), turned = transpose(P);
  const steps = [{ f, g, score: score(P, p, q, f, g) }];
  for (let k = 1; k <= replies; k += 1) {
    if (k % 2) f = reply(P, p, standardize(g, q) || g) || f;
    else g = reply(turned, q, standardize(f, p) || f) || g;
    steps.push({ f, g, score: score(P, p, q, f, g) });
  }
  return { steps, rho };
}
