/* A bank with one parameter theta, three groups and an inspector who may ask one question about them. Pure functions.
   bank = { shares, base, tilt, rate }: the groups' shares q_j, their rates of loans expit(base_j + tilt_j theta),
   and the length of a gradient step. A question g has mean 0 and variance 1 over the groups. */

const sum = (list) => list.reduce((a, b) => a + b, 0);
const dot = (a, b) => sum(a.map((x, j) => x * b[j]));

/** The share of each group that gets a loan at theta. */
export function rates(bank, theta) {
  return bank.base.map((a, j) => 1 / (1 + Math.exp(-(a + bank.tilt[j] * theta))));
}

/** The question that embarrasses the bank most at theta: each group's distance from the mean rate, scaled. */
export function question(bank, theta) {
  const r = rates(bank, theta), mean = dot(bank.shares, r);
  const off = r.map((x) => x - mean);
  const length = Math.sqrt(dot(bank.shares, off.map((x) => x * x)));
  return off.map((x) => x / length);
}

/** What an inspector with question g measures at theta, and its derivative with g held fixed. */
export function paid(bank, theta, g) {
  const r = rates(bank, theta), q = bank.shares;
  const steep = r.map((x, j) => x * (1 - x) * bank.tilt[j]);
  const mean = dot(q, r), change = dot(q, steep);
  const weights = q.map((x, j) => x * g[j]);
  const top = dot(weights, r), below = mean * (1 - mean);
  const value = (top * top) / below;
  const slope = (2 * top * dot(weights, steep) - value * (1 - 2 * mean) * change) / below;
  return { value, slope };
}

/** The true rho_R squared at theta, and its slope, which is that of the best question held fixed (Danskin). */
export function truth(bank, theta) {
  return paid(bank, theta, question(bank, theta));
}

/** The values of theta after 0, 1, ..., steps gradient steps; a frozen inspector keeps her first question. */
export function path(bank, start, steps, frozen) {
  const first = question(bank, start), places = [start];
  for (let k = 0; k < steps; k++) {
    const theta = places[k];
    places.push(theta - bank.rate * paid(bank, theta, frozen ? first : question(bank, theta)).slope);
  }
  return places;
}

/** All numbers of the figure. */
export function compare(bank, start, steps) {
  const first = question(bank, start);
  const banks = [true, false].map((frozen) => {
    const places = path(bank, start, steps, frozen), theta = places[steps];
    const seen = frozen ? paid(bank, theta, first) : truth(bank, theta);
    return { places, theta, seen, true: truth(bank, theta), rates: rates(bank, theta) };
  });
  return { first, before: truth(bank, start), startRates: rates(bank, start), frozen: banks[0], moving: banks[1] };
}
