/* The circle of functions of a variable with three values, and the ellipse to which R maps it. */
import { dependence, dot, lastSign } from "../dependence.js";

/** For a table with three columns: sigma_2, sigma_3 and the circle's axes g_2 = g* and g_3. */
export function axes(counts) {
  const { sigmas, f, g, p, q } = dependence(counts);
  /* In the units v = sqrt(q) g the third axis is orthogonal to the constants and to g*. */
  const v0 = q.map(Math.sqrt), v2 = g.map((x, j) => x * v0[j]);
  const cross = [v0[1] * v2[2] - v0[2] * v2[1], v0[2] * v2[0] - v0[0] * v2[2], v0[0] * v2[1] - v0[1] * v2[0]];
  const third = cross.map((x, j) => (lastSign(cross) * x) / v0[j]);
  return { sigmas, f, second: g, third, p, q };
}

/** The function in direction t (degrees from g*), its image under R, and the correlation of the best reply. */
export function walk(counts, degrees) {
  const { sigmas, second, third, p } = axes(counts), t = (degrees * Math.PI) / 180;
  const code = second.map((x, j) => Math.cos(t) * x + Math.sin(t) * third[j]);
  const total = counts.flat().reduce((x, y) => x + y, 0);
  /* With m_i = E[g(b) | a = i], the correlation of g with its best reply is the root of E[m^2] by definition. */
  const m = counts.map((row, i) => dot(row, code) / total / p[i]);
  return {
    sigmas, code, reached: Math.sqrt(dot(m.map((x) => x * x), p)),
    point: [Math.cos(t), Math.sin(t)], image: [sigmas[0] * Math.cos(t), sigmas[1] * Math.sin(t)],
  };
}
