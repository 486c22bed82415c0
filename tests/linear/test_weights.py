"""Weights of any size: what linear regressors make of 1e-310 and 1e300."""

import numpy as np
import pytest
from scipy import sparse

from corollary.linear import (
    BayesianLinearRegression,
    BestSubset,
    BridgeRegression,
    ElasticNet,
    Lasso,
    LassoCV,
    LinearRegression,
    PolynomialRegression,
    Ridge,
    RidgeCV,
)

# The objectives of these do not depend on the unit of weights.
FREE = [BestSubset, ElasticNet, Lasso, LassoCV, LinearRegression, PolynomialRegression]
# These weigh a penalty against the sum: it is nothing beside heavy rows, all beside light ones.
PENALISED = [BridgeRegression, Ridge, RidgeCV]


def rows(seed):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(12, 2)), rng.normal(size=12), rng.uniform(0.5, 2.0, size=12)


@pytest.mark.parametrize("kind", FREE)
@pytest.mark.parametrize("scale", [1e-310, 1e-80, 1e80, 1e300])
def test_the_unit_of_weights_does_not_matter(seed, kind, scale):
    X, y, weight = rows(seed)
    model = kind().fit(X, y, sample_weight=scale * weight)
    expected = kind().fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(model.predict(X), expected.predict(X), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("kind", PENALISED)
def test_penalties_beside_extreme_weights(seed, kind):
    X, y, weight = rows(seed)
    heavy = kind().fit(X, 1e10 * y, sample_weight=1e300 * weight)
    free = LinearRegression().fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(heavy.predict(X) / 1e10, free.predict(X), rtol=1e-6)
    light = kind().fit(X, y, sample_weight=np.full(12, 1e-310))
    np.testing.assert_allclose(light.predict(X), y.mean(), rtol=1e-6)


def test_bayesian_regression_of_heavy_rows(seed):
    X, y, weight = rows(seed)
    heavy = BayesianLinearRegression().fit(X, 1e10 * y, sample_weight=1e300 * weight)
    free = LinearRegression().fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(heavy.predict(X) / 1e10, free.predict(X), rtol=1e-3)


@pytest.mark.parametrize(
    ("model", "given"),
    [
        (Lasso, np.asarray),
        (Lasso, sparse.csr_matrix),
        (ElasticNet, np.asarray),
        (ElasticNet, sparse.csr_matrix),
        (BestSubset, np.asarray),
        (BridgeRegression, np.asarray),
    ],
)
def test_squares_that_weights_make_too_large_are_refused(model, given):
    """The squares of all rows have a finite sum, but not those of the row that has all weight."""
    X = np.zeros((10, 2))
    X[0, 0], X[1, 1] = 9e153, 2.0
    weight = np.r_[1.0, 1e-9, np.zeros(8)]
    with pytest.raises(ValueError, match="features, times the weights of their rows"):
        model(fit_intercept=False).fit(given(X), np.arange(10.0), sample_weight=weight)
