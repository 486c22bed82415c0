"""Bounds by Rademacher complexity and margins."""

import math

import numpy as np

from corollary.theory import (
    euclidean_ball_bound,
    lipschitz_loss_bound,
    margin_bound,
    operator_norm_bound,
    rademacher_bound,
    rademacher_complexity,
    uniform_margin_bound,
)
from tests.guarantees.registry import guarantee

DELTA = 0.1
# Ten functions on four equally likely points, values in [0, 1].
TABLE = np.random.default_rng(0).random((10, 4))


def finite_table(rng, n=8):
    rows = rng.integers(0, 4, n)
    gap = np.max(TABLE.mean(axis=1) - TABLE[:, rows].mean(axis=1))
    complexity = rademacher_complexity(TABLE[:, rows]).value
    return rademacher_bound(complexity, n_samples=n, delta=DELTA, empirical=True), float(gap)


guarantee("theory.uniform-deviation", "ten functions, complexity of the rows", delta=DELTA)(
    finite_table
)


def all_signs(rng, d=60):
    """Every function to 0 and 1 on many points: complexity one half, gap the unseen share."""
    n = 40
    gap = 1 - len(np.unique(rng.integers(0, d, n))) / d
    # The complexity of values 0 and 1 is half of that of signs; 1 bounds the latter.
    return rademacher_bound(0.5, n_samples=n, delta=DELTA), gap


def without_the_factor_two(rng):
    # Half the complexity in place of the complexity is one in place of two.
    return rademacher_bound(0.25, n_samples=40, delta=DELTA), all_signs(rng, 4000)[1]


guarantee(
    "theory.uniform-deviation",
    "all functions to 0 and 1",
    delta=DELTA,
    faults={"one for two": without_the_factor_two},
)(all_signs)


@guarantee("theory.symmetrisation", "ten functions, four points", delta=None)
def symmetrisation(rng):
    rows = rng.integers(0, 4, 6)
    gap = np.max(TABLE.mean(axis=1) - TABLE[:, rows].mean(axis=1))
    return 2 * rademacher_complexity(TABLE[:, rows]).value, float(gap)


def linear_world(rng, n, width=40):
    """Noise labels and points on the unit sphere; the worst unit vector for the hinge at margin."""
    X = rng.normal(size=(n, width))
    X /= np.linalg.norm(X, axis=1)[:, None]
    return X, rng.choice([-1.0, 1.0], n)


def margins(rng, n=50, gamma=0.15):
    X, y = linear_world(rng, n)
    w = y @ X
    w /= np.linalg.norm(w)
    return X, y * (X @ w), gamma


@guarantee("theory.margin-bound", "coin labels on a sphere, a fixed level", delta=DELTA)
def fixed_margin(rng):
    X, found, gamma = margins(rng)
    return margin_bound(found, gamma=gamma, rademacher=1 / math.sqrt(len(X)), delta=DELTA), 0.5


def lost_complexity(rng):
    _, found, gamma = margins(rng, n=200, gamma=0.01)
    return margin_bound(found, gamma=gamma, rademacher=0.0, delta=DELTA), 0.5


guarantee(
    "theory.margin-bound",
    "coin labels on a sphere, 200 rows and a small level",
    delta=DELTA,
    faults={"a lost complexity": lost_complexity},
)(
    lambda rng: (
        margin_bound(
            margins(rng, 200, 0.01)[1], gamma=0.01, rademacher=1 / math.sqrt(200), delta=DELTA
        ),
        0.5,
    )
)


@guarantee("theory.margin-bound-uniform", "coin labels on a sphere, the best level", delta=DELTA)
def best_margin(rng):
    _, found, _ = margins(rng, 200)
    return uniform_margin_bound(found, rademacher=1 / math.sqrt(200), delta=DELTA).bound, 0.5


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
