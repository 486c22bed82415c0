"""Sums of stumps and sums of linear functions."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from corollary.ensemble import AdditiveFunction, linear_sum, stump_sum, stumps_needed


def fewest_by_enumeration(y):
    """Try all sets of stumps, smallest first; weights by linear programming."""
    n = len(y)
    functions = [np.where(np.arange(n) >= t, 1, -1) for t in range(n)]  # t = 0 is the constant
    for size in range(1, n + 1):
        for chosen in itertools.combinations(functions, size):
            A = -np.array(chosen).T * np.array(y)[:, None]
            found = linprog(np.zeros(size), A_ub=A, b_ub=-np.ones(n), bounds=(None, None))
            if found.status == 0:
                return size
    return None


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_stumps_needed_against_enumeration(n):
    for y in itertools.product([-1, 1], repeat=n):
        assert stumps_needed(y) == fewest_by_enumeration(y)


def test_an_interval_takes_three_stumps_one_of_them_constant():
    assert stumps_needed([-1, -1, 1, 1, -1]) == 3
    f = stump_sum([0.0, 1.0, 2.0, 3.0, 4.0], [-1, -1, 1, 1, -1])
    thresholds = sorted(g.__self__.threshold for g in f.functions)
    assert thresholds == [-np.inf, 1.5, 3.5]


@given(st.integers(0, 10**6), st.integers(1, 12))
def test_stump_sum_has_the_labels(seed, n):
    rng = np.random.default_rng(seed)
    x, y = rng.permutation(n).astype(float), rng.choice([-1, 1], size=n)
    f = stump_sum(x, y)
    assert np.array_equal(f(x[:, None]), y)
    assert len(f.functions) == stumps_needed(y[np.argsort(x)])


@given(st.integers(0, 10**6))
def test_a_sum_of_linear_functions_is_linear(seed):
    rng = np.random.default_rng(seed)
    W, b, beta, X = rng.normal(size=(4, 3)), rng.normal(size=4), rng.normal(size=4), None
    X = rng.normal(size=(6, 3))
    parts = tuple(lambda Z, w=w, c=c: Z @ w + c for w, c in zip(W, b))
    f = AdditiveFunction(parts, tuple(beta))
    coef, intercept = linear_sum(W, b, beta)
    np.testing.assert_allclose(f(X), X @ coef + intercept, atol=1e-12)
    np.testing.assert_allclose((f + 2.0 * f)(X), 3 * f(X), atol=1e-12)
    assert np.array_equal(AdditiveFunction((), ())(X), np.zeros(6))


def test_errors():
    with pytest.raises(ValueError, match="one coefficient per function"):
        AdditiveFunction((), (1.0,))
    with pytest.raises(ValueError, match="one intercept and weight per member"):
        linear_sum([[1.0]], [1.0, 2.0], [1.0])
    with pytest.raises(ValueError, match="distinct points on a line"):
        stump_sum([1.0, 1.0], [1, -1])
    with pytest.raises(ValueError, match="vector of labels"):
        stumps_needed([[1]])
