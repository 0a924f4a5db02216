/* The rule eta - k b > 1/2 on a population of types: the types that it accepts, its accuracy and its fairness. */

const dot = (x, y) => x.reduce((sum, value, i) => sum + value * y[i], 0);

/** The bias score of each type, from the types' shares and their probabilities of group 1. */
export function biasScores({ share, sigma }) {
  const q = dot(share, sigma);
  return sigma.map((s) => s / q - (1 - s) / (1 - q));
}

/** The rule's accuracy, the positive rates of groups 0 and 1, their ratio and gap, and whether each type is accepted. */
export function rule(population, k) {
  const { share, eta, sigma } = population, b = biasScores(population), q = dot(share, sigma);
  const accepted = eta.map((p, i) => p - k * b[i] > 0.5);
  const of = (weights) => share.reduce((sum, w, i) => sum + (accepted[i] ? w * weights[i] : 0), 0);
  const one = of(sigma) / q, zero = of(sigma.map((s) => 1 - s)) / (1 - q);
  const accuracy = share.reduce((sum, w, i) => sum + w * (accepted[i] ? eta[i] : 1 - eta[i]), 0);
  return { accuracy, rates: [zero, one], ratio: Math.min(zero / one, one / zero), gap: one - zero, accepted };
}
