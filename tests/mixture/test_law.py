"""Gaussian mixtures as laws: density, draws, margins and conditions."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from corollary.mixture import MixtureLaw
from tests.mixture.examples import random_law


def brute_density(law, X):
    return sum(
        w * multivariate_normal(m, C).pdf(X)
        for w, m, C in zip(law.weights, law.means, law.covariances)
    )


@pytest.mark.parametrize("d", [1, 2, 5, 9])
def test_density_equals_the_sum_of_normal_densities(d):
    rng = np.random.default_rng(d)
    law, X = random_law(rng, d=d), rng.normal(size=(300, d)) * 2
    np.testing.assert_allclose(np.exp(law.logdensity(X)), brute_density(law, X), rtol=1e-9)
    joint = law.log_joint(X)
    for j in range(3):
        one = np.log(law.weights[j]) + multivariate_normal(law.means[j], law.covariances[j]).logpdf(
            X
        )
        np.testing.assert_allclose(joint[:, j], one, rtol=1e-9)
    r = law.responsibilities(X)
    np.testing.assert_allclose(r, np.exp(joint) / np.exp(joint).sum(axis=1, keepdims=True))


def test_density_integrates_to_one():
    law = MixtureLaw([0.3, 0.7], [[-1.0], [2.0]], [[[0.5]], [[2.0]]])
    grid = np.linspace(-15, 15, 20001)[:, None]
    assert np.trapezoid(np.exp(law.logdensity(grid)), grid.ravel()) == pytest.approx(1, abs=1e-9)
    swapped = MixtureLaw(law.weights[::-1], law.means[::-1], law.covariances[::-1])
    np.testing.assert_allclose(swapped.logdensity(grid), law.logdensity(grid), rtol=1e-12)


def test_a_collapsing_component_has_no_bound():
    X = np.array([[0.0], [1.0], [2.0]])
    values = [
        MixtureLaw([0.5, 0.5], [[0.0], [1.0]], [[[s**2]], [[1.0]]]).logdensity(X).sum()
        for s in (1.0, 1e-3, 1e-9)
    ]
    # Two rows are the other component's; the first one gains what its variance loses.
    normal = -0.5 * np.log(2 * np.pi)
    by_hand = 3 * (normal + np.log(0.5)) - 0.5 + np.log(1e9)
    assert values[2] == pytest.approx(by_hand, abs=1e-6)
    assert values[2] - values[1] == pytest.approx(np.log(1e6), abs=1e-2)


@pytest.mark.parametrize("missing", [[1], [0, 2], [0, 1, 2]])
def test_missing_values_are_integrated_out(missing):
    rng = np.random.default_rng(5)
    law, X = random_law(rng, d=3), rng.normal(size=(4, 3))
    left = np.setdiff1d(np.arange(3), missing)
    holes = X.copy()
    holes[1:, missing] = np.nan
    density = np.exp(law.logdensity(holes))
    np.testing.assert_allclose(density[0], np.exp(law.logdensity(X[:1]))[0])
    if len(left):
        marginal = law.marginal(left)
        np.testing.assert_allclose(density[1:], brute_density(marginal, X[1:, left]), rtol=1e-9)
    else:
        np.testing.assert_allclose(density[1:], 1.0)
        np.testing.assert_allclose(law.responsibilities(holes)[1:], np.tile(law.weights, (3, 1)))


def test_one_missing_value_by_quadrature():
    rng = np.random.default_rng(6)
    law = random_law(rng, d=2)
    grid = np.linspace(-40, 40, 80001)
    rows = np.column_stack([np.full(len(grid), 0.7), grid])
    integral = np.trapezoid(np.exp(law.logdensity(rows)), grid)
    assert np.exp(law.logdensity([[0.7, np.nan]]))[0] == pytest.approx(integral, rel=1e-8)
    # The conditional mean and variance, too, are integrals.
    weight = np.exp(law.logdensity(rows)) / integral
    mean = np.trapezoid(weight * grid, grid)
    variance = np.trapezoid(weight * (grid - mean) ** 2, grid)
    moments = law.impute([[0.7, np.nan], [1.0, 2.0]])
    np.testing.assert_allclose(moments.mean, [[0.7, mean], [1.0, 2.0]], rtol=1e-7)
    np.testing.assert_allclose(moments.variance, [[0.0, variance], [0.0, 0.0]], rtol=1e-7)


def test_conditions_are_ratios_of_densities():
    rng = np.random.default_rng(7)
    law = random_law(rng, d=3)
    given = law.condition([2, 0], [0.3, -0.4])
    Y = rng.normal(size=(10, 1))
    rows = np.column_stack([np.full(10, -0.4), Y, np.full(10, 0.3)])
    ratio = law.logdensity(rows) - law.marginal([2, 0]).logdensity([[0.3, -0.4]])
    np.testing.assert_allclose(given.logdensity(Y), ratio, rtol=1e-9)
    wide = law.condition([1], [0.5])
    both = np.column_stack([rows[:, 0], np.full(10, 0.5), Y])
    ratio = law.logdensity(both) - law.marginal([1]).logdensity([[0.5]])
    np.testing.assert_allclose(wide.logdensity(both[:, [0, 2]]), ratio, rtol=1e-9)


def test_draws_have_the_moments_of_the_law():
    rng = np.random.default_rng(8)
    law = random_law(rng, k=2)
    X, z = law.sample(40_000, 0)
    assert np.abs(np.bincount(z) / 40_000 - law.weights).max() < 0.012
    for j in range(2):
        rows = X[z == j]
        error = 5 * np.sqrt(law.covariances[j].max() / len(rows))
        np.testing.assert_allclose(rows.mean(axis=0), law.means[j], atol=error)
        np.testing.assert_allclose(np.cov(rows.T), law.covariances[j], rtol=0.1, atol=0.1)
    np.testing.assert_array_equal(law.sample(5, 1)[0], law.sample(5, 1)[0])


def test_a_row_has_the_same_bits_alone_and_among_others():
    rng = np.random.default_rng(9)
    law, X = random_law(rng, d=5), rng.normal(size=(300, 5))
    np.testing.assert_array_equal(
        law.logdensity(X)[[0, 130, 299]], law.logdensity(X[[0, 130, 299]])
    )


def test_bad_laws_are_refused():
    eye = np.eye(2)
    with pytest.raises(ValueError, match="needs k weights"):
        MixtureLaw([1.0], [[0.0, 0.0]], [eye, eye])
    with pytest.raises(ValueError, match="sum to one"):
        MixtureLaw([0.5, 0.6], [[0.0, 0.0]] * 2, [eye, eye])
    with pytest.raises(ValueError, match="symmetric"):
        MixtureLaw([1.0], [[0.0, 0.0]], [[[1.0, 0.5], [0.0, 1.0]]])
    with pytest.raises(ValueError, match="component 1 is not"):
        MixtureLaw([0.5, 0.5], [[0.0, 0.0]] * 2, [eye, 0 * eye]).logdensity([[0.0, 0.0]])
    law = MixtureLaw([1.0], [[0.0, 0.0]], [eye])
    with pytest.raises(ValueError, match="must have 2 columns"):
        law.logdensity([[1.0]])
    with pytest.raises(ValueError, match="distinct numbers"):
        law.marginal([0, 2])
    with pytest.raises(ValueError, match="left over"):
        law.condition([0, 1], [0.0, 0.0])
