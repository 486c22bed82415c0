"""Stability of gradient descent that visits every row once per pass, and what it certifies."""

import math

import numpy as np

from corollary.certificates.certification import gather
from corollary.certificates.proofs.descent import _certify_descent
from corollary.online import OnlineClassifier
from corollary.theory import coupled_sgd, hoeffding_bound, sgd_row_distances
from tests.guarantees.registry import guarantee

DELTA = 0.1
HOW = {"step": "constant", "n_passes": 1, "shuffle": False, "fit_intercept": False}


def certified(rng, n=8000, flip=0.05):
    """Points on a circle and a plane; the error is the angle between it and the true one."""
    angles = 2 * np.pi * rng.random(n)
    X = np.column_stack([np.cos(angles), np.sin(angles)])
    y = ((X[:, 0] > 0) ^ (rng.random(n) < flip)).astype(int)
    model = OnlineClassifier(**HOW, eta=1 / n).fit(X, y)
    (one,) = _certify_descent(gather(model, X, y, seen=True), 1 - DELTA)
    assert not one.vacuous
    w = model.coef_[0]
    angle = math.acos(np.clip(w[0] / np.linalg.norm(w), -1, 1))
    return one.bound, flip + (1 - 2 * flip) * angle / math.pi


def no_stability(rng):
    """Labels that nothing predicts, and few long rows, each of which decides about itself."""
    X, y = rng.choice([-1.0, 1.0], size=(100, 2000)) / np.sqrt(2000), rng.integers(0, 2, 100)
    model = OnlineClassifier(**HOW, eta=1.0).fit(X, y)
    error = float(np.mean(model.predict(X) != y))
    return error + hoeffding_bound(n_samples=100, delta=DELTA), 0.5


guarantee(
    "theory.sgd-stability",
    "one pass over 8,000 points on a circle, certified",
    delta=DELTA,
    repetitions=20,
    verify=2000,
    faults={"no stability": no_stability},
)(certified)


def pull(w, x, y):
    """The gradient of a linear loss of slope 1."""
    return -y * x


def opposite_rows(rng, factor=1.0):
    """Two passes with a penalty, on tables that have one row and its opposite."""
    n, m = 8, 0.2
    steps = np.concatenate([np.full(n, 0.3), rng.uniform(0.1, 0.5, n)])
    X = rng.normal(size=(n, 3))
    X /= np.linalg.norm(X, axis=1)[:, None]
    last = int(np.argmax(steps[n:]))
    orders = np.concatenate([np.arange(n), np.roll(np.arange(n), last)])
    path = coupled_sgd(
        lambda w, x, y: pull(w, x, y) + m * w,
        X,
        np.ones(n),
        replaced=0,
        x_new=-X[0],
        y_new=1.0,
        step_sizes=steps,
        rows=orders,
    )
    distances = sgd_row_distances(gradients=1.0, step_sizes=steps, n_samples=n, penalty=m)
    return factor * distances[0], path[-1]


guarantee(
    "theory.sgd-stability",
    "a row and its opposite in two passes",
    delta=0,
    faults={"half of the distance": lambda rng: opposite_rows(rng, 0.5)},
)(opposite_rows)


def linear_gap(rng, factor=1.0):
    """One pass over 40 coin rows in 50 dimensions; losses (1 - margin) / 2 have mean 1/2.

    The expected gap is half of the mean stability: a fresh row is not the opposite of the one
    that it replaces, but orthogonal to it.
    """
    n, d = 40, 50
    steps = 0.2 / np.sqrt(np.arange(1, n + 1))
    X, y = rng.choice([-1.0, 1.0], size=(n, d)) / np.sqrt(d), rng.choice([-1.0, 1.0], n)
    w = (steps * y) @ X
    gap = float(np.mean(y * (X @ w))) / 2
    stability = sgd_row_distances(gradients=1.0, step_sizes=steps, n_samples=n) / 2
    return factor * float(stability.mean()), gap


guarantee(
    "theory.sgd-stability",
    "expected gap of a linear loss, 40 coin rows",
    delta=None,
    repetitions=1000,
    faults={"two fifths of the stability": lambda rng: linear_gap(rng, 0.4)},
)(linear_gap)
