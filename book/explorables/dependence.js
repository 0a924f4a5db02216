/* Pure functions of a joint table, which tests compare with those of renyi_lib.correlation.
   A table is a list of rows of counts or probabilities. */

export const sum = (x) => x.reduce((total, one) => total + one, 0);
export const dot = (x, y) => sum(x.map((one, k) => one * y[k]));
export const transpose = (M) => M[0].map((_, j) => M.map((row) => row[j]));

/** Sums of the rows, of the columns and of the whole table. */
export function margins(P) {
  const rows = P.map(sum), columns = transpose(P).map(sum);
  return { rows, columns, total: sum(rows) };
}

/** D = P - p q^T: how much more often each pair occurs than under independence. */
export function differences(P) {
  const { rows, columns, total } = margins(P);
  return P.map((row, i) => row.map((x, j) => (x * total - rows[i] * columns[j]) / (total * total)));
}

/* Express the columns of M in a basis of the complement of the positive unit vector x. The basis is the reflection
   that maps x to the first axis, without that axis. The function `back` is the inverse, for one vector. */
function outside(M, x) {
  const mirror = x.map((one, k) => one + (k === 0 ? 1 : 0));
  const shares = transpose(M).map((column) => dot(mirror, column) / mirror[0]);
  return M.map((row, i) => row.map((one, j) => one - mirror[i] * shares[j])).slice(1);
}

function back(y, x) {
  const mirror = x.map((one, k) => one + (k === 0 ? 1 : 0)), full = [0, ...y];
  const share = dot(mirror, full) / mirror[0];
  return full.map((one, k) => one - mirror[k] * share);
}

/** Singular values in decreasing order, and their vectors: A = sum_k values[k] left[k] right[k]^T.
    The one-sided Jacobi method rotates two columns at a time until all are orthogonal. Small singular values
    are accurate, too. If a value is zero, one of its two vectors is returned as zeros. */
export function singular(A) {
  if (!A.length || !A[0].length) return { values: [], left: [], right: [] };
  if (A.length < A[0].length) {
    const { values, left, right } = singular(transpose(A));
    return { values, left: right, right: left };
  }
  const columns = transpose(A), turned = columns.map((_, j) => columns.map((__, k) => (j === k ? 1 : 0)));
  for (let sweep = 0, moved = true; moved && sweep < 60; sweep += 1) {
    moved = false;
    for (let i = 0; i < columns.length; i += 1) {
      for (let j = i + 1; j < columns.length; j += 1) {
        const a = dot(columns[i], columns[i]), b = dot(columns[j], columns[j]), c = dot(columns[i], columns[j]);
        if (Math.abs(c) <= 1e-15 * Math.sqrt(a * b)) continue;
        moved = true;
        const zeta = (b - a) / (2 * c);
        const t = (zeta < 0 ? -1 : 1) / (Math.abs(zeta) + Math.hypot(1, zeta)), cosine = 1 / Math.hypot(1, t);
        for (const list of [columns, turned]) {
          const [x, y] = [list[i], list[j]];
          list[i] = x.map((one, k) => cosine * (one - t * y[k]));
          list[j] = x.map((one, k) => cosine * (t * one + y[k]));
        }
      }
    }
  }
  const lengths = columns.map((column) => Math.hypot(...column));
  const order = lengths.map((_, k) => k).sort((i, j) => lengths[j] - lengths[i]);
  return {
    values: order.map((k) => lengths[k]),
    left: order.map((k) => columns[k].map((one) => (lengths[k] ? one / lengths[k] : 0))),
    right: order.map((k) => turned[k]),
  };
}

/** Compute rho_R, the functions f* and g* (f* is positive at the last row where it is not zero), all singular
    values after the first, and the margins. f* and g* are 0 for rows and columns without mass, and everywhere
    if there is no dependence. */
export function dependence(P) {
  const all = margins(P), rows = kept(all.rows), columns = kept(all.columns);
  const f = P.map(() => 0), g = P[0].map(() => 0), { total } = all;
  const p = rows.map((i) => all.rows[i]), q = columns.map((j) => all.columns[j]);
  const u0 = p.map((one) => Math.sqrt(one / total)), v0 = q.map((one) => Math.sqrt(one / total));
  /* These differences of products of counts are exactly zero if the counts are independent. */
  const rest = rows.map((i, k) => columns.map((j, l) =>
    (P[i][j] * total - p[k] * q[l]) / (total * Math.sqrt(p[k])) / Math.sqrt(q[l])));
  const core = rows.length > 1 && columns.length > 1 ? transpose(outside(transpose(outside(rest, u0)), v0)) : [];
  const { values, left, right } = singular(core);
  const sigmas = Array.from({ length: Math.min(P.length, P[0].length) - 1 }, (_, k) => Math.min(values[k] || 0, 1));
  if (sigmas[0] > 0) {
    const u = back(left[0], u0), v = back(right[0], v0), sign = lastSign(u);
    rows.forEach((i, k) => { f[i] = (sign * u[k]) / u0[k]; });
    columns.forEach((j, k) => { g[j] = (sign * v[k]) / v0[k]; });
  }
  return { rho: sigmas[0] || 0, f, g, sigmas, p: all.rows.map((x) => x / total), q: all.columns.map((x) => x / total) };
}

const kept = (mass) => mass.map((_, k) => k).filter((k) => mass[k] > 0);

/** The sign of the last entry that is not zero. */
export function lastSign(u) {
  const seen = u.filter((one) => Math.abs(one) > 1e-8);
  return seen.length && seen[seen.length - 1] < 0 ? -1 : 1;
}

/** Pearson's correlation of the values a of the rows and b of the columns; 0 if one is constant. */
export function pearson(P, a, b) {
  const { rows, columns, total } = margins(P);
  const variance = (x, mass) => {
    const mean = dot(x, mass) / total;
    return dot(x.map((one) => (one - mean) ** 2), mass) / total;
  };
  const scale = Math.sqrt(variance(a, rows) * variance(b, columns));
  const covariance = dot(a, differences(P).map((row) => dot(row, b)));
  return scale > 0 ? covariance / scale : 0;
}

/** Mutual information divided by the mean of the two entropies; 0 if one variable is constant. */
export function nmi(P) {
  const { rows, columns, total } = margins(P);
  const entropy = (mass) => -sum(mass.filter((x) => x > 0).map((x) => (x / total) * Math.log(x / total)));
  const cells = P.flatMap((row, i) => row.map((x, j) => (x > 0 ? (x / total) * Math.log((x * total) / (rows[i] * columns[j])) : 0)));
  const both = entropy(rows) + entropy(columns);
  return kept(rows).length > 1 && kept(columns).length > 1 ? (2 * sum(cells)) / both : 0;
}
