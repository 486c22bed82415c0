"""Stability of gradient descent that visits every row once per pass, and what it certifies."""

import numpy as np

from corollary import certify
from corollary.online import OnlineClassifier
from corollary.theory import coupled_sgd, hoeffding_bound, sgd_row_distances
from tests.guarantees.registry import guarantee

DELTA = 0.1
HOW = {"step": "constant", "n_passes": 1, "shuffle": False, "fit_intercept": False}


def coins(rng, n, d, eta):
    """Labels that nothing predicts: every classifier errs on half of the rows."""
    X, y = rng.choice([-1.0, 1.0], size=(n, d)) / np.sqrt(d), rng.integers(0, 2, n)
    return OnlineClassifier(**HOW, eta=eta).fit(X, y), X, y


def certified(rng):
    model, X, y = coins(rng, 4000, 3, 1 / 4000)
    found = certify(model, X, y, seen=True, confidence=1 - DELTA)
    (one,) = [c for c in found if c.theorem == "theory.sgd-stability"]
    return one.bound, 0.5


def no_stability(rng):
    """Each of a few long rows decides about itself."""
    model, X, y = coins(rng, 100, 2000, 1.0)
    error = float(np.mean(model.predict(X) != y))
    return error + hoeffding_bound(n_samples=100, delta=DELTA), 0.5


guarantee(
    "theory.sgd-stability",
    "one pass over 4,000 coin labels, certified",
    delta=DELTA,
    repetitions=15,
    verify=500,
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
