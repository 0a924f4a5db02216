"""The logistic loss matches high-precision arithmetic and is the same wherever it is used."""

import mpmath
import numpy as np
import pytest
from scipy.special import log_softmax, softmax

from renyi_lib._losses import logistic, softmax_loss, total_softmax_loss
from renyi_lib.baselines.zafar import logistic_loss
from renyi_lib.boosting import _LogisticLoss

SCORES = np.array([-800.0, -40.0, -1.5, -1e-9, 0.0, 1e-9, 0.3, 37.0, 750.0])


def test_two_class_loss_agrees_with_high_precision_arithmetic():
    with mpmath.workdps(400):
        exact = [1 / (1 + mpmath.exp(-mpmath.mpf(float(z)))) for z in SCORES]
        other = [1 / (1 + mpmath.exp(mpmath.mpf(float(z)))) for z in SCORES]
        for label, right in ((1, exact), (0, other)):
            losses, F = softmax_loss(SCORES[None], np.full(len(SCORES), label))
            expected = [float(-mpmath.log(p)) for p in right]
            np.testing.assert_allclose(losses, expected, rtol=1e-14, atol=1e-320)
            np.testing.assert_allclose(F[label], [float(p) for p in right], rtol=1e-14)


def test_loss_of_several_classes_agrees_with_scipy_and_keeps_the_scores():
    rng = np.random.default_rng(0)
    Z, y = rng.normal(size=(4, 30)) * 20, rng.integers(4, size=30)
    before = Z.copy()
    losses, F = softmax_loss(Z, y)
    np.testing.assert_array_equal(Z, before)
    np.testing.assert_allclose(F, softmax(Z, axis=0), atol=1e-15)
    np.testing.assert_allclose(losses, -log_softmax(Z, axis=0)[y, np.arange(30)], rtol=1e-12)


def test_two_class_loss_equals_softmax_with_one_zero_score():
    y = np.arange(len(SCORES)) % 2
    both = np.stack([np.zeros_like(SCORES), SCORES])
    for one, two in zip(softmax_loss(SCORES[None], y), softmax_loss(both, y)):
        np.testing.assert_allclose(one, two, rtol=1e-12, atol=1e-15)


def test_trees_and_baselines_use_the_same_loss():
    y = np.arange(len(SCORES)) % 2
    losses, F = softmax_loss(SCORES[None], y)
    weight = np.full(len(y), 1 / len(y))
    assert _LogisticLoss(y, 2, weight).value(SCORES) == pytest.approx(losses.mean(), rel=1e-12)
    value, first, second = logistic_loss(y)(SCORES)
    np.testing.assert_allclose(value, losses, rtol=1e-12)
    np.testing.assert_allclose(first, np.where(y, -F[0], F[1]), rtol=1e-12)
    np.testing.assert_allclose(second, F[0] * F[1], rtol=1e-12)
    rng = np.random.default_rng(0)
    Z, labels = rng.normal(size=(30, 3)), rng.integers(3, size=30)
    of_trees = _LogisticLoss(labels, 3, np.full(30, 1 / 30)).value(Z)
    assert of_trees == pytest.approx(softmax_loss(Z.T, labels)[0].mean(), rel=1e-12)


def test_probabilities_of_both_classes_are_accurate():
    (no, yes), tail = logistic(SCORES)
    np.testing.assert_allclose(no, logistic(-SCORES)[0][1], rtol=0)
    np.testing.assert_allclose(no + yes, 1, atol=1e-15)
    assert yes[1] == pytest.approx(np.exp(-40.0), rel=1e-12)
    np.testing.assert_allclose(tail, np.exp(-np.abs(SCORES)), rtol=1e-14)


@pytest.mark.parametrize("n_classes", [1, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_total_loss_is_the_sum_of_the_losses(n_classes, weighted):
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(n_classes, 1000)) * 10
    y = rng.integers(max(2, n_classes), size=1000)
    weight = rng.gamma(2.0, size=1000) if weighted else None
    losses, F = softmax_loss(Z, y)
    total, same = total_softmax_loss(Z, y, weight)
    assert total == pytest.approx(
        losses @ (np.ones(1000) if weight is None else weight), rel=1e-13
    )
    np.testing.assert_array_equal(same, F)
