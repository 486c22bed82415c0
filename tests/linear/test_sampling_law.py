"""The law of the least-squares estimate under repeated noise."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from corollary.core.simulate import assert_share_equals
from corollary.linear import (
    gauss_markov_excess,
    gaussian_log_likelihood,
    ols_covariance,
    residual_variance,
)


@pytest.fixture
def X(seed):
    return np.random.default_rng(seed).normal(size=(12, 3)) + [1.0, 0.0, 0.0]


def test_covariance_is_the_inverse_gram_matrix(X):
    expected = 2.0 * np.linalg.inv(X.T @ X)
    np.testing.assert_allclose(ols_covariance(X, 2.0), expected, rtol=1e-9)


def test_covariance_and_mean_at_low_rank_belong_to_the_pseudo_inverse(X, seed):
    X = np.column_stack([X, X[:, 0] + X[:, 1]])
    beta, repetitions = np.array([1.0, 2.0, 3.0, 4.0]), 20_000
    pinv = np.linalg.pinv(X)
    np.testing.assert_allclose(ols_covariance(X), pinv @ pinv.T, atol=1e-12)
    noise = np.random.default_rng(seed).normal(size=(repetitions, 12))
    estimates = (X @ beta + noise) @ pinv.T
    error = np.sqrt(np.diag(pinv @ pinv.T) / repetitions)
    assert np.all(np.abs(estimates.mean(axis=0) - pinv @ X @ beta) < 5 * error)
    assert np.abs(pinv @ X @ beta - beta).max() > 0.3  # biased


def test_estimates_have_this_covariance(X, seed):
    repetitions, sigma = 20_000, 0.7
    noise = sigma * np.random.default_rng(seed).normal(size=(repetitions, 12))
    estimates = noise @ np.linalg.pinv(X).T
    covariance = ols_covariance(X, sigma**2)
    scale = np.sqrt(np.outer(np.diag(covariance), np.diag(covariance)))
    assert np.all(np.abs(np.cov(estimates.T) - covariance) < 5 * scale * np.sqrt(2 / repetitions))


def test_noise_variance_is_scaled_chi_squared(X, seed):
    rng = np.random.default_rng(seed)
    sigma2, repetitions = 2.5, 3000
    y = X @ [1.0, 2.0, 3.0] + np.sqrt(sigma2) * rng.normal(size=(repetitions, 12))
    values = np.array([residual_variance(X, row) for row in y])
    assert abs(values.mean() - sigma2) < 5 * sigma2 * np.sqrt(2 / 9 / repetitions)
    assert stats.kstest(9 * values / sigma2, stats.chi2(9).cdf).pvalue > 1e-6
    assert_share_equals(int(np.sum(9 * values / sigma2 <= stats.chi2(9).ppf(0.9))), 3000, 0.9)


def test_variance_needs_a_degree_of_freedom():
    with pytest.raises(ValueError, match=r"more rows than the rank of X. Got 2 rows and rank 2"):
        residual_variance(np.eye(2), [1.0, 2.0])


@given(st.integers(0, 10_000))
def test_no_linear_unbiased_estimate_has_less_covariance(example):
    rng = np.random.default_rng(example)
    n, d = int(rng.integers(3, 9)), int(rng.integers(1, 4))
    n = max(n, d + 1)
    X = rng.normal(size=(n, d))
    pinv = np.linalg.pinv(X)
    D = rng.normal(size=(d, n)) @ (np.eye(n) - X @ pinv)  # D X = 0
    excess = gauss_markov_excess(X, pinv + D)
    np.testing.assert_allclose(excess, D @ D.T, atol=1e-8 * (1 + np.abs(D).max() ** 2))
    assert np.linalg.eigvalsh(excess).min() >= -1e-9 * (1 + np.abs(excess).max())
    C = pinv + D
    direct = C @ C.T - np.linalg.inv(X.T @ X)
    np.testing.assert_allclose(excess, direct, atol=1e-6 * (1 + np.abs(direct).max()))


def test_weighting_rows_costs_covariance_and_bias_is_refused(X):
    w = np.linspace(1.0, 5.0, 12)
    C = np.linalg.solve(X.T @ (w[:, None] * X), (w[:, None] * X).T)
    assert np.linalg.eigvalsh(gauss_markov_excess(X, C)).min() > -1e-12
    assert np.trace(gauss_markov_excess(X, C)) > 0
    np.testing.assert_allclose(gauss_markov_excess(X, np.linalg.pinv(X)), 0, atol=1e-12)
    with pytest.raises(ValueError, match="must be unbiased"):
        gauss_markov_excess(X, 0.9 * C)
    with pytest.raises(ValueError, match=r"must have shape \(3, 12\). Got \(12, 3\)"):
        gauss_markov_excess(X, C.T)


def test_log_likelihood_is_that_of_scipy(X, seed):
    rng = np.random.default_rng(seed)
    y, beta = rng.normal(size=12), rng.normal(size=3)
    expected = stats.norm(X @ beta, np.sqrt(0.3)).logpdf(y).sum()
    assert gaussian_log_likelihood(X, y, beta, 0.3) == pytest.approx(expected)
    with pytest.raises(ValueError, match="'noise_variance' parameter of gaussian_log_likelihood"):
        gaussian_log_likelihood(X, y, beta, 0.0)
