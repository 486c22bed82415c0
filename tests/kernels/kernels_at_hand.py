"""One of every kernel on vectors, with its formula for two single vectors."""

import numpy as np

from corollary.kernels import (
    ANOVA,
    RBF,
    ArcCosine,
    Bilinear,
    Constant,
    ExponentialDot,
    Laplacian,
    Linear,
    Matern,
    Periodic,
    Polynomial,
    RationalQuadratic,
    Sigmoid,
    TruncatedExponential,
)

SCALES = np.array([0.7, 2.0, 1.3])
A = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, -0.3], [0.0, -0.3, 0.5]])


def distance(x, y, scale=1.0):
    return np.sqrt(np.sum(((x - y) / scale) ** 2))


def unit(x):
    return x / np.linalg.norm(x)


def _matern52(r):
    return (1 + np.sqrt(5) * r + 5 * r**2 / 3) * np.exp(-np.sqrt(5) * r)


FORMULAS = {
    "rbf": (RBF(1.5), lambda x, y: np.exp(-np.sum((x - y) ** 2) / (2 * 1.5**2))),
    "rbf ard": (RBF(SCALES), lambda x, y: np.exp(-(distance(x, y, SCALES) ** 2) / 2)),
    "rq": (
        RationalQuadratic(SCALES, alpha=0.7),
        lambda x, y: (1 + distance(x, y, SCALES) ** 2 / 1.4) ** -0.7,
    ),
    "matern 1/2": (Matern(2.0, nu=0.5), lambda x, y: np.exp(-distance(x, y, 2.0))),
    "matern 3/2": (
        Matern(SCALES, nu=1.5),
        lambda x, y: (
            (1 + np.sqrt(3) * distance(x, y, SCALES)) * np.exp(-np.sqrt(3) * distance(x, y, SCALES))
        ),
    ),
    "matern 5/2": (Matern(0.8, nu=2.5), lambda x, y: _matern52(distance(x, y, 0.8))),
    "laplacian": (Laplacian(SCALES), lambda x, y: np.exp(-np.sum(np.abs(x - y) / SCALES))),
    "periodic": (
        Periodic(SCALES, period=[1.0, 2.0, 3.0]),
        lambda x, y: np.exp(
            -2 * np.sum(np.sin(np.pi * (x - y) / np.array([1.0, 2.0, 3.0])) ** 2 / SCALES**2)
        ),
    ),
    "constant": (Constant(2.5), lambda x, y: 2.5),
    "linear": (Linear(), lambda x, y: x @ y),
    "polynomial": (
        Polynomial(degree=3, offset=0.5, gamma=2.0),
        lambda x, y: (2.0 * (x @ y) + 0.5) ** 3,
    ),
    "exponential": (ExponentialDot(0.4), lambda x, y: np.exp(0.4 * (x @ y))),
    "truncated": (
        TruncatedExponential(degree=3, scale=0.5),
        lambda x, y: sum((0.5 * (x @ y)) ** i / f for i, f in enumerate([1, 1, 2, 6])),
    ),
    "sigmoid": (Sigmoid(0.3, offset=-0.2), lambda x, y: np.tanh(0.3 * (x @ y) + 0.2)),
    "bilinear": (Bilinear(A), lambda x, y: x @ A @ y),
    # The angle by half-angle tangents: the arc cosine loses half its digits near zero.
    "arc-cosine": (
        ArcCosine(),
        lambda x, y: (
            1 - 2 / np.pi * np.arctan2(distance(unit(x), unit(y)), distance(unit(x), -unit(y)))
        ),
    ),
    "anova": (ANOVA(), lambda x, y: np.prod(1 + x * y)),
}


def brute_force(formula, X, Y):
    return np.array([[formula(x, y) for y in Y] for x in X])
