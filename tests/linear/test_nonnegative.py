"""Least squares with coefficients that must not be negative, from arrays and from sources."""

import numpy as np
import pytest
import sklearn.linear_model as peer
from scipy import sparse

from corollary.linear import LinearRegression, Ridge


@pytest.fixture
def data(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 8)) * np.geomspace(0.01, 100.0, 8) + 5.0
    return X, np.column_stack([X @ rng.normal(size=8), X @ -np.ones(8)]) + rng.normal(size=(60, 2))


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("rows", [60, 6])
def test_linear_regression_equals_the_peer(data, rows, fit_intercept, seed):
    X, y = data[0][:rows], data[1][:rows]
    w = np.random.default_rng(seed).exponential(size=rows)
    options = {"positive": True, "fit_intercept": fit_intercept}
    theirs = peer.LinearRegression(**options).fit(X, y, sample_weight=w)
    for given in (X, sparse.csr_matrix(X)):
        ours = LinearRegression(**options).fit(given, y, sample_weight=w)
        assert ours.coef_.min() >= 0.0
        np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("rows", [60, 6])
def test_ridge_satisfies_the_optimality_conditions(data, rows, fit_intercept, seed):
    """Where a coefficient is positive the gradient is zero, and elsewhere it is not negative."""
    X, y = data[0][:rows], data[1][:rows]
    w = np.random.default_rng(seed).exponential(size=rows)
    model = Ridge(alpha=[0.7, 30.0], positive=True, fit_intercept=fit_intercept)
    model.fit(X, y, sample_weight=w)
    residual = w[:, None] * (model.predict(X) - y)
    if fit_intercept:
        np.testing.assert_allclose(residual.sum(axis=0), 0.0, atol=1e-7)
    gradient = residual.T @ X + np.array([[0.7], [30.0]]) * model.coef_
    scale = np.linalg.norm(X, axis=0) * np.linalg.norm(y)
    assert model.coef_.min() >= 0.0
    assert (model.coef_ > 0).any()
    assert np.abs(gradient[model.coef_ > 0] / np.tile(scale, (2, 1))[model.coef_ > 0]).max() < 1e-9
    assert (gradient / scale)[model.coef_ == 0].min(initial=0.0) > -1e-9


@pytest.mark.parametrize("model", [LinearRegression(positive=True), Ridge(2.0, positive=True)])
def test_sources_give_the_same_coefficients(data, model):
    X, y = data
    expected = model.fit(X, y).coef_.copy()
    chunks = [(X[:17], y[:17]), (X[17:], y[17:])]
    np.testing.assert_array_equal(model.fit_source(chunks).coef_, expected)
    once = model.fit_source(chunk for chunk in chunks).coef_  # one pass, from the equations alone
    np.testing.assert_allclose(once, expected, rtol=1e-6, atol=1e-9)


def test_solvers_that_do_not_go_with_signs_are_refused(data):
    with pytest.raises(ValueError, match="does not support positive fitting"):
        Ridge(positive=True, solver="svd").fit(*data)
    with pytest.raises(ValueError, match="only when positive=True"):
        Ridge(solver="lbfgs").fit(*data)
