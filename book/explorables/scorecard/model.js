/* Which rows of the scorecard are shown, and in what order. Pure functions.
   A row is { id, part, verdict, primary, effect, text }, in the order of the paper; `effect` is in units of the
   smallest effect that matters, or null; state = { verdict, part, second, words, group, sort }. */

const GREEK = { α: "alpha", γ: "gamma", δ: "delta", ε: "epsilon", η: "eta", θ: "theta", λ: "lambda", μ: "mu", ν: "nu", ρ: "rho", σ: "sigma", χ: "chi" };

/** Text as it is searched: lower case, without accents, Greek letters by their names. */
export function plain(text) {
  return text.toLowerCase().normalize("NFD").replace(/[\u0300-\u036f]/g, "").replace(/[α-ω]/g, (letter) => GREEK[letter] || letter);
}

/** The rows that a state shows. */
export function matching(rows, { verdict, part, second, words }) {
  const wanted = plain(words).split(/\s+/).filter(Boolean);
  return rows.filter((row) =>
    (verdict === "all" || row.verdict === verdict) &&
    (part === "all" || row.part === part) &&
    (second === "yes" || row.primary) &&
    wanted.every((word) => plain(row.text).includes(word)));
}

/** Sort rows as in the paper, or from the largest effect to the smallest, with rows without an effect at the end. */
export function sorted(rows, sort) {
  if (sort !== "effect") return rows;
  const size = (row) => (row.effect === null ? -Infinity : row.effect);
  return [...rows].sort((a, b) => (size(b) > size(a)) - (size(b) < size(a)));
}

/** [name, rows] for each part, or each verdict, that has rows. */
export function grouped(rows, names, key) {
  return names.map((name) => [name, rows.filter((row) => row[key] === name)]).filter(([, mine]) => mine.length);
}

/** How many rows have each verdict. */
export function tally(rows, verdicts) {
  return verdicts.map((verdict) => rows.filter((row) => row.verdict === verdict).length);
}

/** Everything that the page shows; `offered` counts the rows of each verdict that its filter would show. */
export function shown(data, rows, state) {
  const found = sorted(matching(rows, state), state.sort);
  const names = state.group === "verdict" ? data.verdicts : data.parts;
  return {
    rows: found, counts: tally(found, data.verdicts), offered: tally(matching(rows, { ...state, verdict: "all" }), data.verdicts),
    groups: grouped(found, names, state.group === "verdict" ? "verdict" : "part"),
    narrowed: state.verdict !== "all" || state.part !== "all" || state.words.trim() !== "",
  };
}
