"""The page that leads from the paper to the book leaves nothing out and leads nowhere wrong.

That its links go somewhere, the strict build checks; here, that each thing of the paper has a row,
and that each row's function and test exist.
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


@pytest.mark.parametrize("label", NAMES)
def test_every_label_of_the_paper_has_one_row(label):
    assert [row[0].endswith(f"`{label}`") for row in ROWS].count(True) == 1


@pytest.mark.parametrize("number", NUMBERED)
def test_everything_numbered_has_one_row(number):
    assert [(row[0] + " ").startswith(number + " ") for row in ROWS].count(True) == 1


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_row_leads_to_a_place_a_function_and_a_test(row):
    _, _, place, code, test = row
    assert re.search(r"\{(eq|prf:ref|numref|ref)\}`[^`]+`", place)
    names = re.findall(r"\{py:obj\}`~([\w.]+)`", code)
    assert names
    for name in names:
        module, _, attribute = name.rpartition(".")
        assert hasattr(importlib.import_module(module), attribute), name
    claim, path = re.fullmatch(r"(.+) \(`([\w/]+)`\)", test).groups()
    source = (checks.ROOT / "tests" / f"{path}.py").read_text(encoding="utf8")
    assert f"def test_{claim.replace(' ', '_')}(" in source, test
