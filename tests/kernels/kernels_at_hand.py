"""One of every kernel, with inputs it takes; those on vectors with a formula for two vectors.

A kernel class that the package exports needs an entry: in :data:`FORMULAS` if it compares vectors
and is made from no other kernel, else in :data:`EXAMPLES`, which holds those of ``FORMULAS`` too.
``test_every_kernel.py`` says so, and tests whatever is there.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from corollary.kernels import (
    ANOVA,
    RBF,
    ArcCosine,
    Bhattacharyya,
    Bilinear,
    Columns,
    Constant,
    Diffusion,
    EdgeCount,
    ExponentialDot,
    HellingerRBF,
    Kernel,
    Laplacian,
    Linear,
    Matern,
    PairwiseFunction,
    Periodic,
    Polynomial,
    RationalQuadratic,
    Restricted,
    Sigmoid,
    Spectrum,
    Subsequence,
    TruncatedExponential,
    White,
)

SCALES = np.array([0.7, 2.0, 1.3])
A = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, -0.3], [0.0, -0.3, 0.5]])


def distance(x, y, scale=1.0):
    return np.sqrt(np.sum(((x - y) / scale) ** 2))


def unit(x):
    return x / np.linalg.norm(x)


def _matern52(r):
    return (1 + np.sqrt(5) * r + 5 * r**2 / 3) * np.exp(-np.sqrt(5) * r)


# A name, the kernel, and its value for two vectors, which may be equal, of three numbers each.
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


class Example(NamedTuple):
    """A kernel, how to draw inputs for it, and what is claimed of it."""

    kernel: Kernel
    draw: Callable[[np.random.Generator, int], Any]
    jax: bool = True  # whether the same code runs on JAX arrays
    moves: bool = True  # whether inputs are vectors that can be moved a little
    by_values: bool = True  # whether the kernel knows nothing of a row but its values


def rows(rng, n):
    return rng.normal(size=(n, 3))


def measurements(rng, n):
    return rng.normal(size=(n, 3))[rng.integers(0, n, size=n)]  # some twice


def histograms(rng, n):
    return rng.dirichlet(np.ones(3), size=n)


def graphs(rng, n):
    upper = np.triu(rng.random((n, 4, 4)) < 0.5, k=1).astype(float)
    return upper + upper.transpose(0, 2, 1)


def vertices(rng, n):
    return rng.integers(0, 5, size=n)


def texts(rng, n):
    return ["".join(rng.choice(list("abc"), size=rng.integers(2, 9))) for _ in range(n)]


RING = np.roll(np.eye(5), 1, axis=0) + np.roll(np.eye(5), -1, axis=0)

EXAMPLES = {
    **{name: Example(kernel, rows) for name, (kernel, _) in FORMULAS.items()},
    "bhattacharyya": Example(Bhattacharyya(), histograms),
    "hellinger": Example(HellingerRBF(0.6), histograms),
    "edge count": Example(EdgeCount(), graphs, jax=False, moves=False),
    "diffusion": Example(Diffusion(RING, beta=0.7), vertices, jax=False, moves=False),
    "spectrum": Example(Spectrum(2), texts, jax=False, moves=False),
    "subsequence": Example(Subsequence(2, decay=0.7), texts, jax=False, moves=False),
    "sum": Example(RBF(SCALES) + 0.5 * Matern(2.0) + 0.3, rows),
    "product": Example(1.5 * RBF(SCALES) * Polynomial(2) * RationalQuadratic(1.0), rows),
    "scaled": Example(2.5 * Polynomial(2, offset=0.5), rows),  # its diagonal is not constant
    "power": Example((1.2 * RBF(1.5)) ** 3, rows),
    "exponential of": Example((0.4 * Matern(SCALES, nu=2.5)).exp(), rows),
    "polynomial of": Example(Polynomial(1).polynomial([0.5, 0.0, 2.0]), rows),
    "normalised": Example(Polynomial(2, offset=0.5).normalised(), rows),
    "mapped": Example((0.7 * RBF([0.5, 1.5])).with_inputs(Columns((0, 2))), rows),
    "restricted": Example(Restricted(2.0 * RBF(SCALES), [2, 0.1, 2, 0.5], [2, 9, 2, 3]), rows),
    "white": Example(White(0.7) + 2.0 * RBF(1.5) * White(0.5), measurements, by_values=False),
    "noise": Example(White(0.7), measurements, by_values=False),
    "additive chi2": Example(PairwiseFunction("additive_chi2"), histograms, jax=False, moves=False),
}
