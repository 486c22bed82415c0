"""Purity, coverage and the bound of the nearest-neighbour rule, by brute force."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corollary.active import (
    coverage_bound,
    coverage_regions,
    enemy_distances,
    impurity,
    pure_radius,
)

populations = st.integers(0, 10_000).map(
    lambda seed: (
        np.round(np.random.default_rng(seed).uniform(size=(seed % 9 + 2, seed % 2 + 1)), 1),
        np.random.default_rng(seed + 1).integers(0, 3, size=seed % 9 + 2),
    )
)


def naive_regions(X, y, labelled, radius):
    distances = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    covered, error, pure = [], [], []
    for i in range(len(X)):
        nearest = labelled[int(np.argmin(distances[i, labelled]))]
        covered.append(distances[i, labelled].min() <= radius)
        error.append(y[nearest] != y[i])
        pure.append((y[distances[i] <= radius] == y[i]).all())
    return np.array(covered), np.array(error), np.array(pure)


@given(populations, st.integers(1, 4), st.floats(0, 1), st.integers(0, 100))
def test_bound_holds_on_every_finite_population(population, size, radius, seed):
    """Also regions against a plain search: right and wrong split what is covered."""
    X, y = population
    rng = np.random.default_rng(seed)
    labelled = rng.choice(len(X), size=min(size, len(X)), replace=False)
    regions = coverage_regions(X, y, labelled, radius)
    covered, error, pure = naive_regions(X, y, labelled, radius)
    np.testing.assert_array_equal(regions.covered, covered)
    np.testing.assert_array_equal(regions.error, error)
    np.testing.assert_array_equal(regions.pure, pure)
    np.testing.assert_array_equal(regions.right, covered & ~error)
    np.testing.assert_array_equal(regions.wrong, covered & error)
    assert not (regions.wrong & regions.pure).any()  # the inclusion behind the bound
    weight = rng.uniform(size=len(X))
    for mass in (None, weight):
        result = coverage_bound(X, y, labelled, radius, sample_weight=mass)
        assert result.risk == pytest.approx(np.average(error, weights=mass))
        assert result.risk <= result.bound + 1e-12
        expected = 1 - np.average(covered, weights=mass) + np.average(~pure, weights=mass)
        assert result.bound == pytest.approx(min(1.0, expected))


def test_the_bound_is_sharp_and_needs_both_parts():
    X, y = np.arange(6.0)[:, None], np.array([0, 0, 0, 1, 1, 1])
    far = coverage_bound(X, y, [0], 2.0)  # covers half, two impure balls on each side
    assert far == (1.0, 0.5, pytest.approx(4 / 6), 0.5)
    tight = coverage_bound(X, y, [1], 0.5)
    assert tight.bound == pytest.approx(5 / 6)
    none = coverage_bound(X, y, [], 1.0)
    assert none.bound == none.risk == 1.0


@given(populations)
def test_impurity_is_the_law_of_enemy_distances_and_grows(population):
    X, y = population
    distances = enemy_distances(X, y)
    radii = np.linspace(0, 1.5, 6)
    values = [impurity(X, y, r) for r in radii]
    assert (np.diff(values) >= 0).all()
    np.testing.assert_allclose(values, [(distances <= r).mean() for r in radii])
    for allowed in (0.0, 0.3, 0.8):
        radius = pure_radius(X, y, allowed)
        if np.isfinite(radius) and radius > 0:
            assert impurity(X, y, radius) <= allowed + 1e-9
            assert impurity(X, y, np.nextafter(radius, np.inf)) > allowed


def test_half_spaces_are_impure_near_their_boundary(seed):
    """With uniform inputs the mass within the radius of the boundary: twice the radius."""
    n = 4000
    line = (np.arange(n)[:, None] + 0.5) / n
    for radius in (0.01, 0.1, 0.3):
        found = impurity(line, line[:, 0] > 0.5, radius)
        assert found == pytest.approx(2 * radius, abs=3 / n)
    square = np.random.default_rng(seed).uniform(size=(n, 2))
    found = impurity(square, square[:, 0] > 0.5, 0.1)
    near = np.abs(square[:, 0] - 0.5) <= 0.1
    # A ball may miss its few points beyond the boundary; it can never find one that is not there.
    assert found <= near.mean()
    assert found > 0.9 * near.mean()


def test_equal_points_with_different_labels_are_never_pure():
    X, y = [[0.0], [0.0], [5.0]], ["a", "b", "b"]
    np.testing.assert_array_equal(enemy_distances(X, y), [0.0, 0.0, 5.0])
    assert impurity(X, y, 0.0) == pytest.approx(2 / 3)
    assert pure_radius(X, y, 0.5) == 0.0
    assert pure_radius(X, [1, 1, 1]) == np.inf


def test_wrong_input_is_named():
    with pytest.raises(ValueError, match="one label for each"):
        enemy_distances([[0.0]], [0, 1])
    with pytest.raises(ValueError, match="needs indices from 0 to 0"):
        coverage_regions([[0.0]], [0], [1], 1.0)
    with pytest.raises(ValueError, match="'radius' parameter of impurity"):
        impurity([[0.0]], [0], -1.0)
    with pytest.raises(ValueError, match="'allowed' parameter of pure_radius"):
        pure_radius([[0.0]], [0], 1.0)
    with pytest.raises(ValueError, match="must not all be zero"):
        impurity([[0.0]], [0], 1.0, sample_weight=[0.0])


def test_many_labelled_points_keep_their_own_labels(seed):
    """More labelled points than one block of the compiled loop holds."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(5000, 2)), rng.integers(0, 5, size=5000)
    regions = coverage_regions(X, y, rng.permutation(5000), 0.0)
    assert not regions.error.any()
    assert regions.covered.all()
