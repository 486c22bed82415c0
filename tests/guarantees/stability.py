"""Generalisation of stable learners."""

import numpy as np

from corollary.theory import ridge_stability, stability_bound
from tests.guarantees.registry import guarantee

DELTA = 0.1


def ridge_gap(rng, n=40, alpha=1.0):
    """Risk minus training risk of ridge on signs that have nothing to do with the inputs."""
    angles = 2 * np.pi * rng.random((n, 1))
    X, y = np.hstack([np.cos(angles), np.sin(angles)]), rng.choice([-1.0, 1.0], n)
    theta = np.linalg.solve(X.T @ X / n + alpha * np.eye(2), X.T @ y / n)
    train = np.mean(np.abs(X @ theta - y))
    # Given x the output is a fair sign, and |<x, theta>| <= 1: the mean absolute error is 1.
    return 1.0 - float(train)


@guarantee("theory.stability-expectation", "ridge on 40 coin outputs", delta=None)
def expectation(rng):
    return ridge_stability(n_samples=40, alpha=1.0), ridge_gap(rng)


def probability(rng, n=400):
    epsilon = ridge_stability(n_samples=n, alpha=1.0)
    return stability_bound(epsilon, n_samples=n, delta=DELTA, high=1.5), ridge_gap(rng, n)


def lost_width(rng):
    epsilon = ridge_stability(n_samples=40, alpha=1.0)
    return epsilon - 0.05, ridge_gap(rng, alpha=0.01)


guarantee(
    "theory.stability-probability",
    "ridge on 400 coin outputs",
    delta=DELTA,
    faults={"a forgotten tail and a hundredth of the penalty": lost_width},
)(probability)
