"""Targets on a lattice, as prices are: what a threshold holds, its interval holds."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin

from corollary.conformal import (
    ConformalQuantileRegressor,
    SplitConformalRegressor,
    plus_intervals,
    reach,
)


class Column(RegressorMixin, BaseEstimator):
    """Predict a column of the rows."""

    def __init__(self, column=0):
        self.column = column

    def fit(self, X, y):
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X):
        return X[:, self.column]


def lattice(seed, n=200):
    """Rows of three columns (two ends and a scale), and targets, all of them few tenths."""
    rng = np.random.default_rng(seed)
    X = np.sort(rng.integers(0, 30, size=(n, 3)) / 10, axis=1) + np.array([0, 0, 0.1])
    return X, X[:, 0] + rng.integers(-9, 10, size=n) / 10


def wrappers(X, y):
    model = [Column(k).fit(X, y) for k in range(3)]
    how = {"prefit": True, "confidence": 0.8}
    yield SplitConformalRegressor(model[0], **how)
    yield SplitConformalRegressor(model[0], partition=lambda X: X[:, 1] > 1, **how)
    yield SplitConformalRegressor(
        model[0], conformity_score="normalised", scale_estimator=model[2], **how
    )
    yield ConformalQuantileRegressor(model[0], upper_estimator=model[1], **how)


@pytest.mark.parametrize("world", range(12))
@pytest.mark.parametrize("which", range(4))
def test_no_target_within_the_threshold_is_lost(which, world):
    X, y = lattice(world)
    wrapper = list(wrappers(X, y))[which].fit(X, y)
    # Scores that rounding put a hair above the threshold may be held too.
    assert wrapper.misses(X, y).sum() <= sum(cell.beyond for cell in wrapper.calibration_cells())


def test_plus_intervals_hold_what_their_residuals_reach():
    rng = np.random.default_rng(0)
    for _ in range(300):
        prediction, y = rng.integers(0, 40, size=2) / 10
        residual = abs(y - prediction)
        low, high = plus_intervals([[prediction]], np.full(9, residual), [0] * 9, 0.9)[0]
        assert low <= y <= high


@pytest.mark.parametrize("scale", [1.0, 1e-300, 1e300])
def test_reach_is_enough_and_little(scale):
    rng = np.random.default_rng(1)
    centre, y = scale * rng.normal(size=(2, 100_000))
    unit = np.exp(rng.normal(size=100_000))
    error = np.abs(y - centre)
    for by in (reach(error), reach(error / unit, unit)):
        assert (centre - by <= y).all()
        assert (y <= centre + by).all()
        assert (by <= error * (1 + 1e-14) + 5e-324).all()
    assert reach(np.array([np.inf, 0.0])).tolist() == [np.inf, 5e-324]
    assert reach(np.array([np.inf, 0.0]), np.ones(2)).tolist() == [np.inf, 0.0]
