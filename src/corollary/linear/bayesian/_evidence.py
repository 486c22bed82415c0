"""The evidence of a Gaussian linear model, and the hyper-parameters that maximise it."""

from dataclasses import dataclass
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


@dataclass(frozen=True)
class Profile:
    r"""Minus twice the log evidence along :math:`\alpha`, up to a constant.

    In the eigenvectors of the whitened Gram matrix, with eigenvalues :math:`D_i^2` and targets
    :math:`c_i` along them, the evidence is a sum over directions. :math:`\alpha` is the ratio of
    noise variance to prior variance. If the prior is learnt, the best noise variance for it is
    :math:`\frac1n\bigl(y^\top y-\sum_i c_i^2/(D_i^2+\alpha)\bigr)`; if not, the prior is whitened
    to precision 1 and :math:`\alpha` is the noise variance.
    """

    values: np.ndarray
    along: np.ndarray
    squares: float
    n: float
    learn_prior: bool
    noise_variance: float | None  # None to learn it

    @property
    def floor(self) -> float:
        """The smallest noise variance that may be learnt."""
        return max(NOISE_FLOOR * self.squares / self.n, float(np.finfo(float).tiny) ** 0.5)

    def residual(self, alpha: float) -> float:
        """Return the penalised sum of squares at its minimum."""
        return self.squares - float(np.sum(self.along**2 / (self.values + alpha)))

    def noise(self, alpha: float) -> float:
        """Return the noise variance that belongs to alpha."""
        if self.noise_variance is not None:
            return self.noise_variance
        return max(self.residual(alpha) / self.n if self.learn_prior else alpha, self.floor)

    def loss(self, log_alpha: float) -> float:
        """Return what is to be minimised."""
        alpha = float(np.exp(log_alpha))
        variance = self.noise(alpha)
        complexity = float(np.log1p(self.values / alpha).sum())
        return self.n * float(np.log(variance)) + complexity + self.residual(alpha) / variance

    def slope(self, log_alpha: float) -> float:
        """Return its derivative."""
        alpha = float(np.exp(log_alpha))
        variance = self.noise(alpha)
        shrunk = self.along / (self.values + alpha)
        slope = alpha * float(shrunk @ shrunk) / variance
        slope -= float(np.sum(self.values / (self.values + alpha)))
        if not self.learn_prior:
            slope += self.n - self.residual(alpha) / variance
        return slope

    def minimiser(self) -> float:
        """Return the best alpha: a search on a grid, then a root of the slope."""
        from scipy.optimize import brentq

        if self.learn_prior:
            scale = float(self.values[-1]) or 1.0
            grid = np.log(scale) + np.linspace(np.log(1e-12), np.log(1e12), 49)
        else:
            top = max(self.squares / self.n, self.floor)
            grid = np.linspace(np.log(self.floor), np.log(top) + 1.0, 97)
        best = int(np.argmin([self.loss(log_alpha) for log_alpha in grid]))
        low, high = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
        # The root of the slope is known to all digits, the place of a minimum to half of them.
        if self.slope(low) < 0 < self.slope(high):
            return float(np.exp(brentq(self.slope, low, high, xtol=1e-13, rtol=1e-13)))
        return float(np.exp(grid[best]))


def maximise_evidence(
    gram: np.ndarray,
    cross: np.ndarray,
    squares: float,
    n: float,
    prior_precision: Any = "evidence",
    noise_variance: float | str = "evidence",
) -> HyperParameters:
    """Choose prior precision and noise variance that make the data most probable."""
    learn_prior = isinstance(prior_precision, str)
    fixed_noise = None if isinstance(noise_variance, str) else float(noise_variance)
    prior = np.eye(len(gram)) if learn_prior else precision_matrix(prior_precision, len(gram))
    if not learn_prior and fixed_noise is not None:
        return HyperParameters(prior, fixed_noise)
    values, _, along = directions(gram, cross, whitening(prior))
    profile = Profile(values, along, squares, n, learn_prior, fixed_noise)
    alpha = profile.minimiser()
    variance = profile.noise(alpha)
    return HyperParameters(prior * (alpha / variance) if learn_prior else prior, variance)


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
