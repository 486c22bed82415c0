"""Confidence intervals for coefficients: textbook formula and coverage."""

import numpy as np
import pytest
from scipy import stats

from corollary.core.simulate import assert_bound_holds, assert_share_equals
from corollary.linear import coefficient_intervals


def textbook(X, y, w, order):
    A = np.column_stack([X, np.ones(len(X))])
    inverse = np.linalg.inv(A.T @ (w[:, None] * A))
    coef = inverse @ A.T @ (w * y)
    dof = len(A) - A.shape[1]
    variance = w @ (y - A @ coef) ** 2 / dof
    error = np.sqrt(variance * np.diag(inverse))
    return coef, error, stats.t.ppf(order, dof), variance


@pytest.mark.parametrize("weighted", [True, False])
def test_formula(weighted, seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(25, 3)) + 4.0, rng.normal(size=25)
    w = rng.exponential(size=25) if weighted else np.ones(25)
    found = coefficient_intervals(X, y, confidence=0.9, sample_weight=w if weighted else None)
    coef, error, q, variance = textbook(X, y, w, 0.95)
    np.testing.assert_allclose(found.coef, coef, rtol=1e-8)
    np.testing.assert_allclose(found.standard_error, error, rtol=1e-8)
    np.testing.assert_allclose(found.lower, coef - q * error, rtol=1e-7)
    np.testing.assert_allclose(found.upper, coef + q * error, rtol=1e-7)
    assert found.noise_variance == pytest.approx(variance)
    assert found.degrees_of_freedom == 21


def test_without_intercept_and_normal_quantile(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(10, 2)), rng.normal(size=10)
    exact = coefficient_intervals(X, y, fit_intercept=False)
    normal = coefficient_intervals(X, y, fit_intercept=False, method="normal")
    assert exact.coef.shape == (2,)
    np.testing.assert_allclose(exact.coef, np.linalg.lstsq(X, y, rcond=None)[0])
    ratio = (exact.upper - exact.lower) / (normal.upper - normal.lower)
    np.testing.assert_allclose(ratio, stats.t.ppf(0.975, 8) / stats.norm.ppf(0.975))


def covered(n, d, method, repetitions, seed, fit_intercept=True):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d - fit_intercept))
    beta = rng.normal(size=d - fit_intercept)
    hits = 0
    for _ in range(repetitions):
        y = X @ beta + rng.normal(size=n)
        found = coefficient_intervals(X, y, method=method, fit_intercept=fit_intercept)
        hits += found.lower[0] <= beta[0] <= found.upper[0]
    return hits


@pytest.mark.parametrize("n", [4, 30])
def test_student_interval_covers_exactly(n, seed):
    assert_share_equals(covered(n, 3, "t", 500, seed), 500, 0.95)


def test_normal_interval_covers_less(seed):
    # n = 30, d = 3: 2 P(t_27 <= 1.96) - 1 = 0.9396 instead of 0.95.
    share = 2 * stats.t.cdf(stats.norm.ppf(0.975), 27) - 1
    assert share == pytest.approx(0.9375, abs=0.004)
    assert_share_equals(covered(30, 3, "normal", 500, seed), 500, share)
    # With four rows the shortfall is plain, and the simulation sees it.
    hits = covered(4, 3, "normal", 300, seed)
    with pytest.raises(AssertionError, match="bound broken"):
        assert_bound_holds(300 - hits, 300, 0.05)


@pytest.mark.verify
def test_coverage_numbers_of_many_repetitions(seed):
    repetitions = 20_000
    assert_share_equals(covered(30, 3, "t", repetitions, seed, False), repetitions, 0.95)
    share = 2 * stats.t.cdf(stats.norm.ppf(0.975), 27) - 1
    assert_share_equals(covered(30, 3, "normal", repetitions, seed, False), repetitions, share)


def test_badly_conditioned_columns_keep_their_digits(seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=200)
    X = np.column_stack([x, x + 1e-7 * rng.normal(size=200)])
    y = rng.normal(size=200)
    found = coefficient_intervals(X, y)
    _, R = np.linalg.qr(np.column_stack([np.ones(200), X]))
    error = np.sqrt(found.noise_variance * np.sum(np.linalg.inv(R) ** 2, axis=1))
    np.testing.assert_allclose(found.standard_error, error[[1, 2, 0]], rtol=1e-5)


def test_errors_say_what_to_do():
    with pytest.raises(ValueError, match="Got 3 rows and 3 coefficients; use fewer columns"):
        coefficient_intervals(np.eye(3)[:, :2], [1.0, 2.0, 3.0])
    X = np.arange(10.0)[:, None] * [1.0, 2.0]
    with pytest.raises(ValueError, match=r"linearly independent columns. Got rank 1 for 2"):
        coefficient_intervals(X, np.arange(10.0))
    with pytest.raises(ValueError, match=r"'confidence' parameter of coefficient_intervals .* 1.5"):
        coefficient_intervals(X, np.arange(10.0), confidence=1.5)
