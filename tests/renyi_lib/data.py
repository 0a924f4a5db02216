"""Data shared by several test files, and the objective of a classifier on them."""

import numpy as np

from renyi_lib.correlation import renyi_from_soft


def biased_data(n=400, n_classes=2, n_groups=2, n_features=4, seed=0):
    """Features that reveal the group, and a label that depends on them."""
    rng = np.random.default_rng(seed)
    s = rng.permutation(np.arange(n) % n_groups)
    shift = rng.normal(size=(n_groups, n_features))
    X = rng.normal(size=(n, n_features)) + shift[s]
    scores = X @ rng.normal(size=(n_features, n_classes)) + rng.gumbel(size=(n, n_classes))
    return X, scores.argmax(axis=1), s


def objective_value(classifier, X, y, s):
    """mean loss + lam * rho_R^2 of the predictions, computed without `renyi_lib.objective`."""
    F = classifier.predict_proba(X)
    loss = -np.mean(np.log(F[np.arange(len(y)), np.searchsorted(classifier.classes_, y)]))
    if classifier.fairness == "demographic_parity":
        penalty = renyi_from_soft(F, s) ** 2
    else:
        wanted = classifier.classes_
        if classifier.fairness == "equal_opportunity":
            label = classifier.pos_label
            wanted = [wanted[-1] if label is None else label]
        penalty = sum(renyi_from_soft(F[y == k], s[y == k]) ** 2 for k in wanted)
    return loss + classifier.lam * penalty
