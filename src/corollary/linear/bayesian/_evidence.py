"""The evidence of a Gaussian linear model, and the hyper-parameters that maximise it."""

from typing import Any

import numpy as np
import scipy.linalg

from corollary.linear.bayesian._records import HyperParameters
from corollary.linear.squares._factorisation import numerical_rank

# Exact fits would drive the noise to zero and the evidence to infinity: learnt noise variances are
# at least this share of the variance of the targets.
NOISE_FLOOR = 1e-10


def precision_matrix(prior_precision: Any, n_features: int) -> np.ndarray:
    """Return a prior precision as a matrix."""
    value = np.asarray(prior_precision, dtype=np.float64)
    if value.ndim == 0:
        value = np.full(n_features, float(value))
    if value.ndim == 1:
        value = np.diag(value)
    if value.shape != (n_features, n_features):
        raise ValueError(
            f"A prior precision must be a number or have shape ({n_features},) or "
            f"({n_features}, {n_features}). Got shape {np.shape(prior_precision)} instead."
        )
    if not np.allclose(value, value.T, rtol=1e-10, atol=0) or np.any(
        scipy.linalg.eigvalsh(value) <= 0
    ):
        raise ValueError(
            "A prior precision must be symmetric and positive definite. Got one that is not; use "
            "positive numbers."
        )
    return value


def evidence_from_products(
    gram: np.ndarray,
    cross: np.ndarray,
    squares: float,
    n: float,
    precision: np.ndarray,
    noise_variance: float,
) -> float:
    r"""Compute the log evidence from sums over rows."""
    posterior = precision + gram / noise_variance
    factor = scipy.linalg.cho_factor(posterior, lower=True)
    mean = scipy.linalg.cho_solve(factor, cross / noise_variance)
    log_det = 2 * float(np.log(np.diag(factor[0])).sum())
    log_det_prior = float(np.linalg.slogdet(precision)[1])
    # Residual and penalty separately: y'y - y'X mu would cancel when the fit is good.
    residual = max(0.0, squares - 2 * float(cross @ mean) + float(mean @ gram @ mean))
    return 0.5 * (
        log_det_prior
        - log_det
        - n * float(np.log(2 * np.pi * noise_variance))
        - residual / noise_variance
        - float(mean @ precision @ mean)
    )


def maximise_evidence(
    gram: np.ndarray,
    cross: np.ndarray,
    squares: float,
    n: float,
    prior_precision: Any = "evidence",
    noise_variance: float | str = "evidence",
) -> HyperParameters:
    r"""Choose prior precision and noise variance that make the data most probable.

    In the eigenvectors of the Gram matrix the evidence is a sum over directions. For a given ratio
    :math:`\alpha=\sigma^2\lambda` of noise variance to prior variance the best noise variance is
    :math:`\frac1n\bigl(y^\top y-\sum_i c_i^2/(D_i^2+\alpha)\bigr)`, so that what remains is a
    search in one variable.
    """
    from scipy.optimize import brentq

    d = len(gram)
    learn_prior = isinstance(prior_precision, str)
    learn_noise = isinstance(noise_variance, str)
    if learn_prior:
        whiten = np.eye(d)
    else:
        prior = precision_matrix(prior_precision, d)
        if not learn_noise:
            return HyperParameters(prior, float(noise_variance))
        whiten = whitening(prior)
    values, _, along = directions(gram, cross, whiten)
    c2 = along**2
    scale = float(values[-1]) or 1.0
    floor = max(NOISE_FLOOR * squares / n, float(np.finfo(float).tiny) ** 0.5)

    def noise(alpha: float) -> float:
        if not learn_noise:
            return float(noise_variance)
        if not learn_prior:  # the prior is whitened to precision 1: alpha is the noise variance
            return max(alpha, floor)
        return max((squares - float(np.sum(c2 / (values + alpha)))) / n, floor)

    def loss(log_alpha: float) -> float:
        alpha = float(np.exp(log_alpha))
        variance = noise(alpha)
        residual = squares - float(np.sum(c2 / (values + alpha)))
        complexity = float(np.log1p(values / alpha).sum())
        return n * float(np.log(variance)) + complexity + residual / variance

    def slope(log_alpha: float) -> float:
        alpha = float(np.exp(log_alpha))
        variance = noise(alpha)
        residual = squares - float(np.sum(c2 / (values + alpha)))
        change = alpha * float(np.sum(c2 / (values + alpha) ** 2)) / variance
        change -= float(np.sum(values / (values + alpha)))
        if not learn_prior:
            change += n - residual / variance
        return change

    if learn_prior:
        grid = np.log(scale) + np.linspace(np.log(1e-12), np.log(1e12), 49)
    else:
        grid = np.linspace(np.log(floor), np.log(max(squares / n, floor)) + 1.0, 97)
    best = int(np.argmin([loss(a) for a in grid]))
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    # The root of the slope is known to all digits, the place of a minimum to half of them.
    if slope(low) < 0 < slope(high):
        alpha = float(np.exp(brentq(slope, low, high, xtol=1e-13, rtol=1e-13)))
    else:
        alpha = float(np.exp(grid[best]))
    variance = noise(alpha)
    if learn_prior:
        return HyperParameters(np.eye(d) * (alpha / variance), variance)
    return HyperParameters(prior, variance)


def whitening(prior: np.ndarray) -> np.ndarray:
    """Return W with ``W.T @ prior @ W`` the identity."""
    return scipy.linalg.inv(scipy.linalg.cholesky(prior))


def directions(
    gram: np.ndarray, cross: np.ndarray, whiten: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return eigenvalues and vectors of the whitened Gram matrix and the targets along them.

    What is rounding becomes exactly zero: divided by a small noise variance it would matter.
    """
    values, vectors = scipy.linalg.eigh(whiten.T @ gram @ whiten)
    along = vectors.T @ (whiten.T @ cross)
    n_rounding = len(values) - numerical_rank(values, len(values))
    values[:n_rounding] = along[:n_rounding] = 0.0
    return values, vectors, along
