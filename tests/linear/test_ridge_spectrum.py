"""Ridge through singular values: shrinkage, variance, bias, degrees of freedom."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corollary.linear import (
    lasso_dof,
    ols_covariance,
    posterior_variance_split,
    ridge_bias,
    ridge_covariance,
    ridge_dof,
    ridge_mse,
    ridge_operator,
    ridge_solution,
    shrinkage_factors,
    variance_factors,
)

POSITIVE = st.floats(1e-3, 1e3)


@pytest.fixture
def X(seed):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(20, 3)) * [3.0, 1.0, 0.1]


def test_shrinks_the_least_squares_solution_along_singular_directions(X, seed):
    y = np.random.default_rng(seed).normal(size=20)
    _, s, Vt = np.linalg.svd(X, full_matrices=False)
    ols = np.linalg.lstsq(X, y, rcond=None)[0]
    ridge = ridge_solution(X, y, 0.7)
    np.testing.assert_allclose(Vt @ ridge, shrinkage_factors(s, 0.7) * (Vt @ ols), rtol=1e-8)


def test_covariance_and_bias_are_those_of_the_linear_map(X):
    A, beta = ridge_operator(X, 2.0), np.array([1.0, -2.0, 3.0])
    np.testing.assert_allclose(ridge_covariance(X, 2.0, 1.5), 1.5 * A @ A.T, atol=1e-12)
    np.testing.assert_allclose(ridge_bias(X, 2.0, beta), A @ X @ beta - beta, atol=1e-12)
    np.testing.assert_allclose(ridge_covariance(X, 0.0), ols_covariance(X), rtol=1e-8)


def test_covariance_and_bias_are_met_by_simulation(X, seed):
    rng = np.random.default_rng(seed)
    beta, sigma, repetitions = np.array([1.0, -2.0, 3.0]), 0.5, 20_000
    noise = sigma * rng.normal(size=(repetitions, 20))
    estimates = (X @ beta + noise) @ ridge_operator(X, 2.0).T
    covariance = ridge_covariance(X, 2.0, sigma**2)
    error = np.sqrt(np.diag(covariance) / repetitions)
    bias = estimates.mean(axis=0) - beta
    assert np.all(np.abs(bias - ridge_bias(X, 2.0, beta)) < 5 * error)
    scale = np.sqrt(np.outer(np.diag(covariance), np.diag(covariance)))
    assert np.all(np.abs(np.cov(estimates.T) - covariance) < 5 * scale * np.sqrt(2 / repetitions))
    squares = np.sum((estimates - beta) ** 2, axis=1)
    mse = ridge_mse(X, 2.0, beta, sigma**2)
    assert abs(squares.mean() - mse) < 5 * squares.std() / np.sqrt(repetitions)


@given(POSITIVE, POSITIVE)
def test_variance_factor_is_at_most_a_quarter_of_the_inverse_penalty(D, alpha):
    factor = variance_factors([D], alpha)[0]
    assert factor <= 1 / (4 * alpha) * (1 + 1e-12)
    assert variance_factors([np.sqrt(alpha)], alpha)[0] == pytest.approx(1 / (4 * alpha))


def test_variance_factor_at_both_ends():
    assert variance_factors([1e4], 1.0)[0] == pytest.approx(1e-8, rel=1e-6)
    assert variance_factors([1e-4], 2.0)[0] == pytest.approx(1e-8 / 4, rel=1e-6)
    assert variance_factors([0.0, 2.0], 0.0).tolist() == [0.0, 0.25]
    assert shrinkage_factors([0.0, 2.0], 0.0).tolist() == [0.0, 1.0]


def test_mean_squared_error_has_its_minimum_inside(X):
    beta = np.array([1.0, -2.0, 3.0])
    alphas = np.geomspace(1e-6, 1e6, 400)
    curve = np.array([ridge_mse(X, a, beta) for a in alphas])
    best = int(np.argmin(curve))
    assert 0 < best < len(alphas) - 1
    assert curve[best] < ridge_mse(X, 0.0, beta) < curve[-1] + 1e9
    assert curve[best] < beta @ beta
    assert curve[-1] == pytest.approx(beta @ beta, rel=1e-3)


@given(st.lists(st.floats(0, 1e3), min_size=1, max_size=5), POSITIVE, POSITIVE)
def test_posterior_variance_is_variance_plus_averaged_squared_bias(D, noise, prior):
    split = posterior_variance_split(D, noise, prior)
    np.testing.assert_allclose(split.posterior, split.sampling + split.squared_bias, rtol=1e-10)


def test_parts_of_the_posterior_variance_are_what_they_are_called(X):
    noise, prior = 0.5, 2.0
    alpha = noise / prior
    _, s, Vt = np.linalg.svd(X, full_matrices=False)
    split = posterior_variance_split(s, noise, prior)
    posterior = np.linalg.inv(X.T @ X / noise + np.eye(3) / prior)
    np.testing.assert_allclose(split.posterior, np.diag(Vt @ posterior @ Vt.T), rtol=1e-8)
    sampling = ridge_covariance(X, alpha, noise)
    np.testing.assert_allclose(split.sampling, np.diag(Vt @ sampling @ Vt.T), rtol=1e-8)
    # Averaged over the prior, the squared bias is prior variance times the squared bias map.
    bias = np.array([ridge_bias(X, alpha, e) for e in np.eye(3)]).T
    averaged = prior * bias @ bias.T
    np.testing.assert_allclose(split.squared_bias, np.diag(Vt @ averaged @ Vt.T), rtol=1e-8)
    assert np.all(split.sampling <= prior / 4 + 1e-12)


def test_degrees_of_freedom_are_the_trace_of_the_smoother(X):
    for alpha in (0.1, 10.0):
        trace = np.trace(X @ ridge_operator(X, alpha))
        assert ridge_dof(X, alpha) == pytest.approx(trace)
    centred = X - X.mean(axis=0)
    trace = np.trace(centred @ ridge_operator(centred, 3.0)) + 1
    assert ridge_dof(X, 3.0, fit_intercept=True) == pytest.approx(trace)


def test_degrees_of_freedom_start_at_the_rank_and_fall(X):
    deficient = np.column_stack([X, X[:, 0]])
    assert ridge_dof(deficient, 0.0) == 3.0
    values = ridge_dof(deficient, [0.0, 0.1, 1.0, 10.0, 1e9])
    assert values.shape == (5,)
    assert np.all(np.diff(values) < 0)
    assert values[-1] == pytest.approx(0, abs=1e-6)
    with pytest.raises(ValueError, match="'alpha' parameter of ridge_dof must be non-negative"):
        ridge_dof(X, [1.0, -1.0])


def test_lasso_dof_counts_non_zeros():
    assert lasso_dof([0.0, -0.0, 1e-300, 2.0]) == 2


def test_lasso_dof_is_unbiased(seed):
    # With an orthonormal design the lasso is a soft threshold t, and by Stein's identity
    # sum Cov(fit_i, y_i) / sigma^2 is the expected number of non-zeros.
    rng = np.random.default_rng(seed)
    mean = np.array([0.0, 0.0, 0.5, 2.0])
    y = mean + rng.normal(size=(100_000, 4))
    fit = np.sign(y) * np.maximum(np.abs(y) - 1.0, 0.0)
    products = np.sum(fit * (y - mean), axis=1)
    counts = np.array([lasso_dof(row) for row in fit[:5000]])
    error = 5 * (products.std() / np.sqrt(100_000) + counts.std() / np.sqrt(5000))
    assert abs(products.mean() - counts.mean()) < error
