"""Bounds by Rademacher complexity and margins."""

import math
from functools import cache

import numpy as np

from corollary.theory import (
    euclidean_ball_bound,
    lipschitz_loss_bound,
    margin_bound,
    mean_absolute_walk,
    operator_norm_bound,
    rademacher_bound,
    rademacher_complexity,
    symmetrisation_sides,
    uniform_margin_bound,
)
from tests.guarantees.registry import guarantee

DELTA = 0.1
# Ten functions on four equally likely points, values in [0, 1].
TABLE = np.random.default_rng(0).random((10, 4))


def finite_table(rng, n=150):
    rows = rng.integers(0, 4, n)
    gap = np.max(TABLE.mean(axis=1) - TABLE[:, rows].mean(axis=1))
    # A limit of the complexity that fails once in a million; the rest of delta is the bound's.
    complexity = rademacher_complexity(
        TABLE[:, rows], n_draws=200, delta=1e-6, random_state=int(rng.integers(2**31))
    )
    return rademacher_bound(complexity.upper, n_samples=n, delta=DELTA, empirical=True), float(gap)


guarantee("theory.uniform-deviation", "ten functions, complexity of the rows", delta=DELTA)(
    finite_table
)

HEAVY, LIGHT = 0.5, 4000


def heavy_point(rng, n=200):
    """Every function to 0 and 1 on a point of probability one half and 4000 rare ones.

    The rare ones are hardly seen: their mass is nearly all of the gap, and half of the complexity.
    """
    light = rng.random(n) >= HEAVY
    seen = len(np.unique(rng.integers(0, LIGHT, light.sum())))
    gap = (1 - HEAVY) * (1 - seen / LIGHT) + max(0.0, HEAVY - np.mean(~light))
    # Values 0 and 1 have half of the complexity of signs; light rows follow every sign.
    complexity = 0.5 * (1 - HEAVY + mean_absolute_walk(n) / n)
    return complexity, float(gap)


def without_the_factor_two(rng):
    complexity, gap = heavy_point(rng)
    return rademacher_bound(complexity / 2, n_samples=200, delta=DELTA), gap


@guarantee(
    "theory.uniform-deviation",
    "all functions to 0 and 1, half of the mass never seen twice",
    delta=DELTA,
    faults={"one for two": without_the_factor_two},
)
def all_functions(rng):
    complexity, gap = heavy_point(rng)
    return rademacher_bound(complexity, n_samples=200, delta=DELTA), gap


@guarantee("theory.symmetrisation", "ten functions, four points", delta=None)
def symmetrisation(rng):
    rows = rng.integers(0, 4, 6)
    gap = np.max(TABLE.mean(axis=1) - TABLE[:, rows].mean(axis=1))
    return bound_of_six_rows(), float(gap)


@cache
def bound_of_six_rows():
    """The bound is a sum over all samples, the same in every repetition."""
    return symmetrisation_sides(TABLE, n_samples=6).bound


def one_for_two(rng):
    _, gap = rare_point(rng)
    return symmetrisation_sides(RARE, n_samples=1, law=[0.1, 0.9]).bound / 2, gap


RARE = np.array([[1.0, 0.0], [0.0, 0.0]])


@guarantee(
    "theory.symmetrisation",
    "one rare point and one row",
    delta=None,
    faults={"one for two": one_for_two},
)
def rare_point(rng):
    gap = max(0.1 - float(rng.random() < 0.1), 0.0)
    return symmetrisation_sides(RARE, n_samples=1, law=[0.1, 0.9]).bound, gap


def linear_world(rng, n, width=40):
    """Noise labels and points on the unit sphere; the worst unit vector for the hinge at margin."""
    X = rng.normal(size=(n, width))
    X /= np.linalg.norm(X, axis=1)[:, None]
    return X, rng.choice([-1.0, 1.0], n)


def margins(rng, n=400, width=16):
    """Coin labels on the axes, and unit weights that vote for the majority of each axis.

    All margins are 1 / sqrt(width) in size, the minorities' negative; the error is one half.
    """
    axes, y = rng.integers(0, width, n), rng.choice([-1.0, 1.0], n)
    votes = np.where(np.bincount(axes, y, minlength=width) >= 0, 1.0, -1.0)
    return y * votes[axes] / math.sqrt(width)


# The length of a mean of n signed unit vectors is at most 1 / sqrt(n) on average.
COMPLEXITY = 1 / math.sqrt(400)


def fixed_margin(rng, complexity=COMPLEXITY):
    return margin_bound(margins(rng), gamma=0.25, rademacher=complexity, delta=DELTA), 0.5


def lost_mistakes(rng):
    return margin_bound(np.abs(margins(rng)), gamma=0.25, rademacher=COMPLEXITY, delta=DELTA), 0.5


guarantee(
    "theory.margin-bound",
    "coin labels on 16 axes, a fixed level",
    delta=DELTA,
    faults={
        "a lost complexity": lambda rng: fixed_margin(rng, 0.0),
        "lost mistakes": lost_mistakes,
    },
)(fixed_margin)


@guarantee(
    "theory.margin-bound-uniform",
    "coin labels on 16 axes, the best level",
    delta=DELTA,
    faults={
        "a lost complexity": lambda rng: (
            uniform_margin_bound(margins(rng), rademacher=0.0, delta=DELTA).bound,
            0.5,
        )
    },
)
def best_margin(rng):
    return uniform_margin_bound(margins(rng), rademacher=COMPLEXITY, delta=DELTA).bound, 0.5


@guarantee("theory.lipschitz-loss-bound", "hinge at 1, unit weights, coin labels", delta=DELTA)
def lipschitz(rng):
    X, y = linear_world(rng, 60)
    w = y @ X
    w /= np.linalg.norm(w)
    # For coin labels the risk of the hinge 1 - y w.x (never above 2, never below 0) is 1.
    gap = 1 - float(np.mean(1 - y * (X @ w)))
    complexity = euclidean_ball_bound(X)
    return lipschitz_loss_bound(complexity, lipschitz=1.0, n_samples=60, delta=DELTA, high=2.0), gap


@guarantee("theory.sign-data-class", "operator norm of 40 x 10 signs", delta=DELTA)
def operator_norm(rng):
    X = rng.choice([-1.0, 1.0], size=(40, 10))
    return operator_norm_bound(n_samples=40, n_features=10, delta=DELTA), float(
        np.linalg.norm(X, 2)
    )


@guarantee("theory.sign-data-class", "operator norm of 2000 x 3 signs, the first form", delta=DELTA)
def tall_matrix(rng):
    X = rng.choice([-1.0, 1.0], size=(2000, 3))
    bound = operator_norm_bound(n_samples=2000, n_features=3, delta=DELTA, sharp=False)
    return bound, float(np.linalg.norm(X, 2))
