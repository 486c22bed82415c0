"""Covers and packings against integer programs, brute force and volumes."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corollary.theory import (
    covering_number,
    farthest_points,
    greedy_packing,
    log_ball_volume,
    packing_number,
    unit_ball_covering,
    volume_covering,
)

seeds = st.integers(0, 2**32 - 1)


def brute(X, epsilon):
    D = np.linalg.norm(X[:, None] - X[None], axis=2)
    n = len(X)
    cover = next(
        k
        for k in range(1, n + 1)
        for centres in combinations(range(n), k)
        if np.all(D[list(centres)].min(axis=0) <= epsilon)
    )
    pack = max(
        k
        for k in range(1, n + 1)
        for points in combinations(range(n), k)
        if all(D[a, b] > epsilon for a, b in combinations(points, 2))
    )
    return cover, pack


@given(seeds, st.floats(0.1, 2.0))
@settings(max_examples=25)
def test_numbers_are_brute_force_and_sandwiched(seed, epsilon):
    X = np.random.default_rng(seed).normal(size=(7, 2))
    cover, pack = covering_number(X, epsilon), packing_number(X, epsilon)
    assert (cover, pack) == brute(X, epsilon)
    assert packing_number(X, 2 * epsilon) <= cover <= pack
    assert cover <= len(greedy_packing(X, epsilon)) <= pack


@given(seeds, st.floats(0.05, 1.5))
@settings(max_examples=25)
def test_greedy_packing_is_both(seed, epsilon):
    X = np.random.default_rng(seed).normal(size=(60, 3))
    rows = greedy_packing(X, epsilon)
    D = np.linalg.norm(X[rows][:, None] - X[rows][None], axis=2)
    assert np.all(D[~np.eye(len(rows), dtype=bool)] > epsilon)
    assert np.all(np.linalg.norm(X[:, None] - X[rows][None], axis=2).min(axis=1) <= epsilon)


def test_traversal_radii_fall_and_end_at_zero():
    X = np.random.default_rng(0).normal(size=(40, 2))
    order, radii = farthest_points(X)
    assert sorted(order) == list(range(40))
    assert np.all(np.diff(radii) <= 1e-12)
    assert radii[-1] == 0
    # At most twice the best radius for each number of centres, here for one centre.
    best = np.linalg.norm(X[:, None] - X[None], axis=2).max(axis=1).min()
    assert best <= radii[0] <= 2 * best


@pytest.mark.parametrize("epsilon", [0.1, 0.17, 0.26, 0.6])
def test_interval(epsilon):
    grid = np.linspace(0, 1, 121)[:, None]
    assert covering_number(grid, epsilon) == math.ceil(1 / (2 * epsilon) - 0.02)


def test_volumes():
    assert [math.exp(log_ball_volume(2, p)) for p in (1, 2, math.inf)] == pytest.approx(
        [2, math.pi, 4]
    )
    assert math.exp(log_ball_volume(5, 1)) == pytest.approx(2**5 / math.factorial(5))
    assert math.exp(log_ball_volume(3)) == pytest.approx(4 / 3 * math.pi)
    points = np.random.default_rng(0).uniform(-1, 1, size=(200_000, 3))
    share = np.mean(np.sum(np.abs(points) ** 3, axis=1) <= 1)
    assert math.exp(log_ball_volume(3, 3.0)) == pytest.approx(8 * share, rel=0.01)


@pytest.mark.parametrize("epsilon", [0.12, 0.35, 0.9])
@pytest.mark.parametrize("width", [1, 2, 6])
def test_cube_lies_between_the_volume_bounds(width, epsilon):
    exact = width * math.log(math.ceil(1 / epsilon))
    entropy = unit_ball_covering(width, epsilon)
    assert entropy.lower <= exact + 1e-12
    assert exact <= entropy.upper
    general = volume_covering(
        width * math.log(2),
        width * math.log(2 + epsilon),
        n_features=width,
        epsilon=epsilon,
        p=math.inf,
    )
    assert general == pytest.approx(entropy)


def test_disc_lies_between_the_volume_bounds():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 2))
    X *= (np.sqrt(rng.random(4000)) / np.linalg.norm(X, axis=1))[:, None]
    for epsilon in (0.2, 0.5):
        size = math.log(len(greedy_packing(X, epsilon)))
        entropy = unit_ball_covering(2, epsilon)
        assert entropy.lower <= size <= entropy.upper
    assert unit_ball_covering(9, 1.0) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: greedy_packing([[0.0]], 0.0), "must be positive"),
        (lambda: farthest_points([[0.0]], start=3), "start among the rows"),
        (lambda: covering_number(np.zeros((201, 1)), 0.1), "at most 200"),
        (lambda: packing_number([1.0], 0.1), "finite points"),
        (lambda: log_ball_volume(0), "'dimension' parameter"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
