"""The book's experiments as functions, each of which returns a tidy DataFrame.

They reproduce the paper's figures and tables, and measure further claims. Every row is one
measurement and states its origin, as far as it applies: ``split`` ("paper", or "random" for random
splits), ``seed``, ``lam`` and ``rows`` ("train", "test" and, for random splits, "validation", a
fifth of the rows that the paper trains on). "The measures" in the docstrings are the entries of
`_measures.measures`. A function returns the same table whenever it is called with the same
options, except for columns named ``cpu_seconds`` or ``seconds``, which are measured by a clock.

`run_all` computes tables and stores them, and `load` reads a stored table. Each experiment can
recompute a slice of its table in seconds. `outdated` does so for all experiments and names the
tables that are missing, were edited, or differ from what the current code computes.
"""

from renyi_book.experiments._benchmark import benchmark_frontier
from renyi_book.experiments._boosting import fair_boosting
from renyi_book.experiments._calibration import (
    calibration,
    fairness_calibration,
    true_table,
)
from renyi_book.experiments._classification import (
    boundary_covariance,
    equal_opportunity,
    equal_opportunity_rivals,
    penalties_compared,
    starting_points,
)
from renyi_book.experiments._clusters import (
    clusters_stop,
    fair_clusters,
    four_points,
    toy_clusters,
)
from renyi_book.experiments._fermi import at_level, batches_compared
from renyi_book.experiments._fermi_claims import (
    fermi_consistency,
    fermi_convergence,
    fermi_epochs,
    fermi_estimator,
    fermi_logistic,
    fermi_measures,
    fermi_running,
)
from renyi_book.experiments._multiverse import multiverse
from renyi_book.experiments._network import fair_network
from renyi_book.experiments._odds import benchmark_odds
from renyi_book.experiments._optimal import (
    optimal_rule_adult,
    training_or_correcting,
    training_verdicts,
)
from renyi_book.experiments._promises import promises
from renyi_book.experiments._rare import planned_power, rare_groups, rare_values
from renyi_book.experiments._scores import adult_scores
from renyi_book.experiments._slices import outdated
from renyi_book.experiments._splits import FRESH, resplit, sizes
from renyi_book.experiments._store import ResultsError, load, run_all
from renyi_book.experiments._summary import best_at, interval, summarize
from renyi_book.experiments._theory import convergence, theorems
from renyi_book.experiments._timing import timing

__all__ = [
    "FRESH",
    "ResultsError",
    "adult_scores",
    "at_level",
    "batches_compared",
    "benchmark_frontier",
    "benchmark_odds",
    "best_at",
    "boundary_covariance",
    "calibration",
    "clusters_stop",
    "convergence",
    "equal_opportunity",
    "equal_opportunity_rivals",
    "fair_boosting",
    "fair_clusters",
    "fair_network",
    "fairness_calibration",
    "fermi_consistency",
    "fermi_convergence",
    "fermi_epochs",
    "fermi_estimator",
    "fermi_logistic",
    "fermi_measures",
    "fermi_running",
    "four_points",
    "interval",
    "load",
    "multiverse",
    "optimal_rule_adult",
    "outdated",
    "penalties_compared",
    "planned_power",
    "promises",
    "rare_groups",
    "rare_values",
    "resplit",
    "run_all",
    "sizes",
    "starting_points",
    "summarize",
    "theorems",
    "timing",
    "toy_clusters",
    "training_or_correcting",
    "training_verdicts",
    "true_table",
]
