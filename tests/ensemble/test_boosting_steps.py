"""Steps of boosting never raise the training loss, however rare a class is."""

import numpy as np
import pytest

from corollary.ensemble import (
    ExponentialBoostingLoss,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    LogisticBoostingLoss,
    PoissonBoostingLoss,
    SoftmaxBoostingLoss,
)


def rare(seed, n=3000, positives=3, shift=3.0):
    rng = np.random.default_rng(seed)
    y = np.zeros(n, dtype=int)
    y[:positives] = 1
    X = rng.normal(size=(n, 3))
    X[:positives] += shift
    return X, y


def never_rises(model, X, y):
    losses = model.fit(X, y).staged_loss(X, y)
    assert np.isfinite(losses).all()
    assert (np.diff(losses) <= 1e-12 * np.abs(losses[:-1])).all()
    return losses


@pytest.mark.parametrize("shift", [1.0, 3.0])
@pytest.mark.parametrize("loss", ["log_loss", "exponential"])
@pytest.mark.parametrize("rate", [0.1, 0.5, 1.0, 3.0])
def test_one_in_a_thousand(seed, loss, rate, shift):
    X, y = rare(seed, shift=shift)
    model = HistGradientBoostingClassifier(loss, max_iter=25, learning_rate=rate)
    losses = never_rises(model, X, y)
    assert losses[-1] < (0.2 if shift > 2 else 0.9) * losses[0]


def test_one_in_a_thousand_through_all_rounds(seed):
    X, y = rare(seed, n=5005, positives=5)
    losses = never_rises(HistGradientBoostingClassifier(random_state=0), X, y)
    assert losses[-1] < 0.05 * losses[0]


@pytest.mark.parametrize("rate", [0.1, 0.45])
def test_rare_classes_among_many(seed, rate):
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(7), [1500, 800, 400, 150, 100, 46, 4])
    X = rng.normal(size=(len(y), 5)) + 1.2 * rng.normal(size=(7, 5))[y]
    model = HistGradientBoostingClassifier(max_iter=30, learning_rate=rate, random_state=0)
    losses = never_rises(model, X, y)
    assert losses[-1] < 0.3 * losses[0]


@pytest.mark.parametrize("rate", [0.1, 1.0])
def test_rare_counts(seed, rate):
    X, y = rare(seed, n=5000, positives=5)
    model = HistGradientBoostingRegressor("poisson", max_iter=40, learning_rate=rate)
    losses = never_rises(model, X, y.astype(float))
    # A term of the half deviance does not depend on the model: compare with the least value, 0.
    assert losses[-1] < 0.3 * losses[0]


@pytest.mark.parametrize(
    "kind", [LogisticBoostingLoss, ExponentialBoostingLoss, PoissonBoostingLoss]
)
@pytest.mark.parametrize("rate", [0.05, 0.3, 1.0])
def test_the_longest_step_by_brute_force(kind, rate):
    # Shrunk Newton steps of a row up to the length, at any curvature, do not raise its loss.
    loss = kind()
    longest = loss.longest_step(rate)
    assert np.expm1(longest) - longest == pytest.approx(longest**2 / rate, rel=1e-9)
    raw = np.linspace(-12, 12, 4001)[:, None]
    for y in (0.0, 1.0):
        y = np.full(len(raw), y)
        g, h = (part[0] for part in loss.derivatives(y, raw))
        newton = -g / h
        step = np.sign(newton) * np.minimum(
            rate * np.abs(newton), np.maximum(longest, np.log1p(np.abs(newton)))
        )
        change = loss.value(y, raw + step[:, None]) - loss.value(y, raw)
        assert (change <= 1e-9 * loss.value(y, raw)).all()


def test_the_longest_step_of_several_classes():
    # By hand: (e^2 - 3) / 4 = 1.0973 = K / (2 (K - 1) rate) at M = 1.
    assert SoftmaxBoostingLoss(3).longest_step(0.75 / 1.0972640247) == pytest.approx(1.0)
    assert SoftmaxBoostingLoss(3).longest_step(1.0) == 1.0
    assert SoftmaxBoostingLoss(2).longest_step(0.1) == pytest.approx(0.5 * 5.8797, abs=0.2)


@pytest.mark.parametrize("scale", [1e-310, 1e-6, 1e-5, 1e-3, 1e300])
def test_the_unit_of_weights_does_not_matter(seed, scale):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(400, 3))
    X[:, 2] = rng.integers(0, 12, 400)
    y = X[:, 0] + (X[:, 2] % 3) + 0.3 * rng.normal(size=400)
    weight = rng.uniform(0.5, 1.0, size=400)
    options = {"max_iter": 15, "categorical_features": [2], "random_state": 0}
    for kind, target in (
        (HistGradientBoostingRegressor, y),
        (HistGradientBoostingClassifier, y > 1),
    ):
        base = kind(**options).fit(X, target, sample_weight=weight)
        model = kind(**options).fit(X, target, sample_weight=scale * weight)
        np.testing.assert_allclose(
            model.trees_.predict_values(X), base.trees_.predict_values(X), rtol=1e-3, atol=1e-3
        )
