"""The index of the paper lists everything once, and its functions and test files exist.

The strict build checks the links.
"""

import importlib
import re

import pytest

from . import checks

#: Everything in the paper's source that has a label.
LABELS = """
sec.RenyiDefinition; Renyi; sec.minmaxFramework; eq.RenyiFairInference;
eq.MinMaxRenyiFairInference; thm: discrete-Renyi; thm: at-least-one-binary;
Renyi-one discrete-one-binary; Renyi-one discrete-one-binary-max-prob2; classification;
fair-classification; Min-Max-Fairness_DP-discrete; alg: classification-discrete;
thm: Fair-classification-discrete; eq:Binary-Min-Max-Fairness; alg: classification-binary;
PL-assumption; thm: Fair-classification-binary; Min-Max-Fairness_EO; kmeans_main_objective-1;
kmeans_fair_objective-binary; alg: Fair kmeans; alg: fair-while; alg: fair-update A loop;
alg: fair-update A; alg: fair-update v; alg: fair-update c; Fair-Experiments; fig: EO;
fig: Renyi-classification; fig: Renyi-Clustering; eq:pfThmtemp1;
appendix-fair-kmenas-toy-example; fig: kmeans-lambda-0; fig: kmeans-lambda;
appendix:fair k-means; fig: Renyi-NMI; tab:my_label
"""
NAMES = [" ".join(label.split()) for label in LABELS.split(";")]
#: What is numbered in print, with or without a label.
NUMBERED = [
    *(f"equation ({n})" for n in range(1, 13)),
    *(f"Theorem {n}" for n in range(1, 5)),
    *(f"Algorithm {n}" for n in range(1, 4)),
    *(f"Figure {n}" for n in range(1, 7)),
    "Table 1",
    "Assumption 4.1",
]
PAGE = (checks.BOOK / "paper_index.md").read_text(encoding="utf8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in PAGE.splitlines()
    if line.startswith("| ") and not line.startswith("| in the paper")
]


def test_every_label_of_the_paper_has_one_row():
    listed = [label for row in ROWS for label in NAMES if row[0].endswith(f"`{label}`")]
    assert sorted(listed) == sorted(NAMES)


def test_every_numbered_item_has_one_row():
    listed = [
        number for row in ROWS for number in NUMBERED if f"{row[0]} ".startswith(f"{number} ")
    ]
    assert sorted(listed) == sorted(NUMBERED)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_rows_link_to_a_section_a_function_and_a_test_file(row):
    _, _, place, code, test = row
    assert re.search(r"\{(eq|prf:ref|numref|ref)\}`[^`]+`", place)
    names = re.findall(r"\{py:obj\}`~([\w.]+)`", code)
    assert names
    for name in names:
        module, _, attribute = name.rpartition(".")
        assert hasattr(importlib.import_module(module), attribute), name
    path = re.fullmatch(r".+ \(`([\w/]+)`\)", test).group(1)
    assert (checks.ROOT / "tests" / f"{path}.py").exists()
