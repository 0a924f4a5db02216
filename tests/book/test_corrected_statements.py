"""False statements that the book once made, and counterexamples.

The sentences themselves must not come back, and the counterexamples show why they are false.
"""

import itertools

import numpy as np
import pytest

from renyi_lib.correlation import normalized_table, renyi_from_joint
from renyi_lib.penalties import Groups, HSICPenalty, RenyiPenalty
from tests.book.checks import BOOK, ROOT, read

REFUTED = {
    "part1_dependence/how-sure.ipynb": [
        "From few samples $\\rho_R$ comes out too large",
        "holds the truth about 19 times in 20",
        "ten million people cost little more than forty",
        "to twelve digits",
        "in the median**, too large as often as too small",
        "named here, in one sentence",
    ],
    "part1_dependence/theorem-1.ipynb": ["Theorem 1, due to Witsenhausen"],
    "part1_dependence/theorem-2.ipynb": ["a small group with a large gap gets a small"],
    "part2_classification/how-fast.ipynb": ['("income", smooth, 10), ("week", kinked, 100)'],
    "part2_classification/the-solver.ipynb": [
        "this makes her best $M$ unique",
        "small, equal steps",
    ],
    "part2_classification/fair-scores.ipynb": [
        "their scores were near one half",
        "spread smoothly there",
    ],
    "part2_classification/several-attributes.ipynb": ["lifts women who have features in common"],
    "part3_clustering/algorithm-3.ipynb": ["if a point stays where it is in case of a tie"],
    "part4_experiments/renyi-pearson-hsic.ipynb": ["the classifier at its end is the same"],
    "part5_beyond/fair-boosting.ipynb": [
        "not more slowly at $\\lambda = 10^6$",
        "stable for every $\\lambda$",
        "**Opportunity** costs nothing",
    ],
    "part5_beyond/continuous-attributes.ipynb": [
        "every finite sample shows less than the truth",
        "So the dip is real",
        "up to a number that grows with $N$. (",
    ],
    "part5_beyond/fair-regression.ipynb": [
        "has more than twice as much",
        "beats the projection on both counts",
        "so Danskin's theorem applies",
    ],
    "part5_beyond/use-it.ipynb": ["as often as you say", "and these move the wrong people too"],
    "part5_beyond/large-data.ipynb": ["far more slowly"],
    "part4_experiments/errata.ipynb": ["To *use* the method, begin there"],
    "appendices/boundary-and-information.ipynb": ["always, and quadratically"],
    "index.ipynb": ["the mathematics stands, the method", "about nine hours"],
    "what_is_new.md": ["come to rest at the same decisions", "its pace does not depend on"],
}


@pytest.mark.parametrize(
    ("page", "sentence"),
    [(page, sentence) for page, sentences in REFUTED.items() for sentence in sentences],
)
def test_refuted_sentences_do_not_reappear(page, sentence):
    assert sentence not in "\n".join(cell.source for cell in read(BOOK / page).cells)


def with_correlation(p, q, rho):
    """The 2 x 2 table with P(a = 1) = p, P(b = 1) = q and correlation rho."""
    both = p * q + rho * np.sqrt(p * (1 - p) * q * (1 - q))
    return np.array([[1 - p - q + both, q - both], [p - both, both]])


def mean_of_samples(P, N, times):
    draws = np.random.default_rng(0).multinomial(N, P.ravel(), size=times)
    return np.mean([renyi_from_joint(table.reshape(P.shape)) for table in draws])


def test_sample_correlation_is_too_low_if_a_rare_value_carries_the_dependence():
    badge = np.diag([0.999, 0.001])
    assert renyi_from_joint(badge) == pytest.approx(1)
    assert mean_of_samples(badge, 200, 1000) < 0.3
    # Away from independence the bias may vanish.
    assert mean_of_samples(with_correlation(0.2, 0.3, 0.6), 40, 1000) < 0.61


def test_sample_may_show_a_supremum_that_no_function_attains():
    """A takes box k with probability 2^-k; B copies it with probability 1 - 1/k, else takes 1."""
    rng, N, shown = np.random.default_rng(0), 1000, []
    for _ in range(50):
        a = rng.geometric(0.5, size=N)
        b = np.where(rng.random(N) < 1 / a, 1, a)
        rows, columns = (np.unique(x, return_inverse=True)[1] for x in (a, b))
        table = np.zeros((rows.max() + 1, columns.max() + 1))
        np.add.at(table, (rows, columns), 1)
        shown.append(renyi_from_joint(table))
    assert np.mean(np.isclose(shown, 1)) > 0.8


def test_waves_of_ranks_are_orthonormal_only_without_ties():
    def waves(x, K):
        u = (np.searchsorted(np.sort(x), x) + np.searchsorted(np.sort(x), x, "right")) / 2
        return np.sqrt(2) * np.cos(np.pi * np.outer(u / len(x), np.arange(1, K + 1)))

    tied, untied = np.repeat([0, 1], 500), np.arange(1000)
    values = [np.linalg.norm(waves(x, 4).T @ waves(x, 4) / 1000, 2) for x in (tied, untied)]
    assert values[0] > 1.5
    assert values[1] == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize("shape", [(2, 2), (2, 5), (4, 2)])
def test_tables_with_two_rows_or_columns_have_two_singular_values(shape):
    P = np.random.default_rng(0).dirichlet(np.ones(shape[0] * shape[1])).reshape(shape)
    assert len(np.linalg.svd(normalized_table(P), compute_uv=False)) == 2


@pytest.mark.parametrize("seed", range(10))
def test_lloyd_with_a_fixed_tie_rule_terminates_unless_a_cluster_empties(seed):
    rng = np.random.default_rng(seed)
    x, labels = rng.integers(0, 4, size=20) * 1.0, np.arange(20) % 3
    for _ in range(3**20):
        if np.bincount(labels, minlength=3).min() == 0:
            break
        centers = np.array([x[labels == k].mean() for k in range(3)])
        after = ((x[:, None] - centers) ** 2).argmin(axis=1)
        if np.array_equal(after, labels):
            break
        labels = after
    else:
        raise AssertionError("it did not stop")


def of_groups(deviations, shares, n=1000):
    """Return scores that are 1/2 plus the deviation of each group, and the groups."""
    s = np.repeat(np.arange(len(shares)), (n * np.array(shares)).round().astype(int))
    f = 0.5 + np.array(deviations)[s]
    return np.column_stack([1 - f, f]), Groups.from_labels(s)


def test_renyi_and_linear_hsic_rank_three_groups_differently():
    shares = [0.6, 0.3, 0.1]
    rare, frequent = (0.0, -0.05, 0.15), (0.04, -0.08, 0.0)
    values = {}
    for penalty in (RenyiPenalty(), HSICPenalty(kernel="linear")):
        values[type(penalty)] = [
            penalty.value_and_grad(*of_groups(deviations, shares))[0]
            for deviations in (rare, frequent)
        ]
    renyi, hsic = values[RenyiPenalty], values[HSICPenalty]
    assert renyi[0] > renyi[1]
    assert hsic[0] < hsic[1]


def test_nmi_is_linear_in_rho_for_vanishing_margins():
    found = []
    for m in (1e-6, 1e-10):
        both = m**2 + m**1.5
        P = np.array([[1 - 2 * m + both, m - both], [m - both, both]])
        H = -2 * (m * np.log(m) + (1 - m) * np.log1p(-m))
        information = np.sum(P * np.log(P / np.outer(P.sum(axis=1), P.sum(axis=0))))
        found.append((renyi_from_joint(P), 2 * information / H))
    slope = np.diff(np.log(found), axis=0)[0]
    assert slope[1] / slope[0] == pytest.approx(1, abs=0.1)


def test_the_largest_eigenvalue_has_no_gradient_at_a_tie():
    """So Danskin's theorem gives a gradient only where the largest one is simple."""
    direction = np.diag([1.0, -1.0])

    def largest(t, base):
        return np.linalg.eigvalsh(np.diag(base) + t * direction)[-1]

    for base, jump in (([1.0, 1.0], 2.0), ([1.0, 0.5], 0.0)):
        slopes = [(largest(t, base) - largest(0, base)) / t for t in (1e-6, -1e-6)]
        assert slopes[0] - slopes[1] == pytest.approx(jump, abs=1e-6)


def dealt(F, sizes):
    """Yield each assignment of the people to three groups, the first two of the given sizes."""
    people = range(len(F))
    for first in itertools.combinations(people, sizes[0]):
        left = [n for n in people if n not in first]
        for second in itertools.combinations(left, sizes[1]):
            s = np.full(len(F), 2)
            s[list(first)], s[list(second)] = 0, 1
            yield s


@pytest.mark.parametrize("classes", [2, 3])
def test_batch_bias_formula_is_exact_only_for_two_classes(classes):
    F = np.random.default_rng(classes).dirichlet(np.ones(classes), size=6)
    p = F.mean(axis=0)
    promised = (3 - 1) / (6 - 1) * np.sum(F.var(axis=0) / p)
    rho2, chi2 = [], []
    for s in dealt(F, (2, 2)):
        P = np.array([F[s == j].sum(axis=0) for j in range(3)]).T / 6
        rho2.append(renyi_from_joint(P) ** 2)
        pq = np.outer(P.sum(axis=1), P.sum(axis=0))
        chi2.append(np.sum((P - pq) ** 2 / pq))
    assert np.mean(chi2) == pytest.approx(promised)
    if classes == 2:
        assert np.mean(rho2) == pytest.approx(promised)
    else:
        assert np.mean(rho2) < 0.99 * promised


@pytest.mark.parametrize("replace", [True, False])
def test_batch_bias_formula_for_fixed_groups_assumes_independent_draws(replace):
    """Enumerate all batches with two people of each group, from groups of three people."""
    groups = np.array([[0.1, 0.4, 0.9], [0.2, 0.3, 0.8]])
    draws = (
        itertools.product(range(3), repeat=2) if replace else itertools.permutations(range(3), 2)
    )
    means = [groups[:, list(draw)].mean(axis=1) for draw in draws]
    found = np.mean([(np.array([r[0], t[1]]).var()) for r in means for t in means])
    mu, V = groups.mean(axis=1), groups.var(axis=1)
    promised = mu.var() + np.sum((1 - 0.5) * V) / 4
    assert (abs(found - promised) < 1e-12) == replace


def test_every_new_reference_is_cited_or_listed():
    keys = [
        "haberman1981tests",
        "eaton1994asymptotic",
        "abraham2020fairness",
        "li2024optimization",
    ]
    text = "\n".join(cell.source for path in BOOK.rglob("*.ipynb") for cell in read(path).cells)
    text += "".join(path.read_text("utf8") for path in BOOK.glob("*.md"))
    assert [key for key in keys if key not in text] == []
    bibliography = (ROOT / "references.bib").read_text("utf8")
    assert all(f"{{{key}," in bibliography for key in keys)
