"""Bias and variance of an average."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeRegressor

from corollary.ensemble import (
    average_bias,
    average_moments,
    average_variance,
    equicorrelated_variance,
)


@given(st.integers(0, 10**6), st.integers(1, 6))
def test_variance_is_the_double_sum(seed, B):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(B, B))
    C = root @ root.T
    p = rng.uniform(0.1, 1, size=B)
    q = p / p.sum()
    brute = sum(q[a] * q[b] * C[a, b] for a in range(B) for b in range(B))
    np.testing.assert_allclose(average_variance(C, p), brute)
    np.testing.assert_allclose(average_bias(root[0], p), (q * root[0]).sum())


@pytest.mark.parametrize("B", [1, 2, 5, 20])
@pytest.mark.parametrize("rho", [-0.05, 0.0, 0.4, 1.0])
def test_equal_correlations(B, rho):
    C = 3.0 * ((1 - rho) * np.eye(B) + rho)
    wanted = 3.0 * rho + (1 - rho) * 3.0 / B
    assert equicorrelated_variance(3.0, rho, B) == pytest.approx(wanted)
    assert float(average_variance(C)) == pytest.approx(wanted)


def test_the_floor_and_the_most_negative_correlation():
    values = [equicorrelated_variance(2.0, 0.3, B) for B in (1, 2, 5, 50, 10**6)]
    assert values == sorted(values, reverse=True)
    assert values[-1] == pytest.approx(0.6, abs=1e-5)
    assert equicorrelated_variance(1.0, -1 / 3, 4) == pytest.approx(0.0, abs=1e-15)
    with pytest.raises(ValueError, match="at least -1/3"):
        equicorrelated_variance(1.0, -0.34, 4)


def test_simulated_equicorrelated_members(seed):
    rng = np.random.default_rng(seed)
    B, rho, sets = 5, 0.4, 40_000
    common, own = rng.normal(size=(sets, 1)), rng.normal(size=(sets, B))
    members = np.sqrt(rho) * common + np.sqrt(1 - rho) * own
    wanted = equicorrelated_variance(1.0, rho, B)
    # The variance of a normal sample variance is 2 sigma^4 / n.
    assert abs(members.mean(axis=1).var() - wanted) < 6 * wanted * np.sqrt(2 / sets)


def test_identities_hold_on_bagged_trees(seed):
    rng = np.random.default_rng(seed)
    grid = np.linspace(0.05, 0.95, 7)[:, None]
    truth = np.sin(6 * grid.ravel())
    sets, B, n = 60, 5, 40
    predictions = np.empty((sets, B, len(grid)))
    for s in range(sets):
        X = rng.uniform(size=(n, 1))
        y = np.sin(6 * X.ravel()) + 0.5 * rng.normal(size=n)
        for b in range(B):
            rows = rng.integers(n, size=n)
            tree = DecisionTreeRegressor(random_state=0).fit(X[rows], y[rows])
            predictions[s, b] = tree.predict(grid)
    moments = average_moments(predictions, truth)
    mean = predictions.mean(axis=1)
    np.testing.assert_allclose(moments.bias, mean.mean(axis=0) - truth)
    np.testing.assert_allclose(moments.variance, mean.var(axis=0))
    np.testing.assert_allclose(moments.member_biases.mean(axis=0), moments.bias)
    single = np.einsum("xbb->x", moments.covariance).mean() / B
    # Averaged over the points, the closed form with the measured correlation is exact.
    closed = equicorrelated_variance(single, moments.correlation, B)
    assert moments.variance.mean() == pytest.approx(closed)
    assert moments.variance.mean() < 0.9 * single


def test_weights_and_one_member():
    values = np.random.default_rng(0).normal(size=(50, 3, 2))
    weighted = average_moments(values, weights=[1, 0, 0])
    np.testing.assert_allclose(weighted.variance, values[:, 0].var(axis=0))
    assert np.isnan(weighted.bias).all()
    assert average_moments(values[:, :1]).correlation == 1.0


def test_errors():
    with pytest.raises(ValueError, match="n_members, n_members"):
        average_variance([1.0, 2.0])
    with pytest.raises(ValueError, match="symmetric"):
        average_variance([[1.0, 0.5], [0.0, 1.0]])
    with pytest.raises(ValueError, match="\\(n_sets, n_members, n_points\\)"):
        average_moments([[1.0]])
    with pytest.raises(ValueError, match="'correlation' parameter of equicorrelated_variance"):
        equicorrelated_variance(1.0, 1.5, 2)
    with pytest.raises(ValueError, match="one bias per member"):
        average_bias(1.0)
