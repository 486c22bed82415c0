"""Loops of active learning."""

import numpy as np

from corollary.active import enemy_distances, greedy_ball_coverage


def check_balls_cover_what_lies_within_their_radius():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    near = np.linalg.norm(X[:, None] - X[None], axis=2) <= 0.7
    chosen = greedy_ball_coverage(X, budget=3, radius=0.7)
    left = np.ones(40, dtype=bool)
    for index, gain in zip(chosen.indices, chosen.gains):
        assert gain == near[index][left].sum() == near[:, left].sum(axis=1).max()
        left &= ~near[index]
    np.testing.assert_array_equal(chosen.covered, ~left)


def check_distances_to_the_nearest_of_another_label():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(30, 3)), rng.integers(3, size=30)
    gaps = np.linalg.norm(X[:, None] - X[None], axis=2)
    gaps[y[:, None] == y[None]] = np.inf
    np.testing.assert_allclose(enemy_distances(X, y), gaps.min(axis=1))
