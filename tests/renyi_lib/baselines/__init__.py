"""Tests of the baselines, and the data that they share."""

import numpy as np
from scipy.special import expit


def biased_data(n=400, n_groups=2, n_features=4, seed=0):
    """Features that reveal the group, and a label that depends on them."""
    rng = np.random.default_rng(seed)
    s = rng.permutation(np.arange(n) % n_groups)
    X = rng.normal(size=(n, n_features)) + rng.normal(size=(n_groups, n_features))[s]
    scores = X @ rng.normal(size=n_features) + rng.logistic(size=n)
    return X, (scores > np.median(scores)).astype(int), s


def logistic_objective(theta, X, y, l2=0.0):
    """mean loss + ridge and the gradient, with the intercept as theta's last entry."""
    z = X @ theta[:-1] + theta[-1]
    p = expit(z)
    value = np.mean(np.logaddexp(0, z) - y * z) + l2 / 2 * theta[:-1] @ theta[:-1]
    gradient = np.append(X.T @ (p - y) / len(y) + l2 * theta[:-1], np.mean(p - y))
    return value, gradient


def parameters(classifier):
    """theta, with the intercept as its last entry."""
    return np.append(classifier.coef_[0], classifier.intercept_)
