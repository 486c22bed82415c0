"""The normal-inverse-Wishart law of a cluster's mean and covariance."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state


@dataclass(frozen=True, eq=False)
class NormalInverseWishart:
    r"""The conjugate law of mean and covariance of Gaussian rows.

    The covariance follows :math:`\mathrm{IW}(\Psi,\nu)` and, given it, the mean follows
    :math:`\mathcal N(m,\Sigma/\kappa)`.

    Parameters
    ----------
    mean : array-like of shape (n_features,)
        Expectation m of the mean.
    mean_precision : float
        How many rows :math:`\kappa` the expectation of the mean is worth; positive.
    degrees_of_freedom : float
        :math:`\nu`, above n_features - 1. The covariance has an expectation,
        :math:`\Psi/(\nu-d-1)`, above n_features + 1.
    scale : array-like of shape (n_features, n_features)
        :math:`\Psi`, symmetric and positive definite.

    Notes
    -----
    Methods take rows of shape (n_samples, n_features); logarithms are natural ones. As :math:`\nu`
    grows with :math:`\Psi=\nu\Sigma_0`, covariances are known to be :math:`\Sigma_0`, and with
    :math:`\kappa=\sigma^2/\sigma_0^2` means have the standard deviation :math:`\sigma_0`.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.mixture import NormalInverseWishart
    >>> prior = NormalInverseWishart([0.0], 1.0, 3.0, [[1.0]])
    >>> posterior = prior.posterior([[2.0], [4.0]])
    >>> posterior.mean, posterior.mean_precision, posterior.degrees_of_freedom, posterior.scale
    (array([2.]), 3.0, 5.0, array([[9.]]))
    """

    mean: np.ndarray
    mean_precision: float
    degrees_of_freedom: float
    scale: np.ndarray

    def __post_init__(self) -> None:
        mean, scale = np.array(self.mean, dtype=float), np.array(self.scale, dtype=float)
        object.__setattr__(self, "mean", mean)
        object.__setattr__(self, "scale", scale)
        d = len(mean) if mean.ndim == 1 else 0
        if d == 0 or scale.shape != (d, d) or not np.allclose(scale, scale.T):
            raise ValueError(
                "NormalInverseWishart needs a mean of d numbers and a symmetric scale of d by d. "
                f"Got shapes {mean.shape} and {scale.shape}."
            )
        if not self.mean_precision > 0 or not self.degrees_of_freedom > d - 1:
            raise ValueError(
                f"NormalInverseWishart needs a positive mean_precision and more than {d - 1} "
                f"degrees of freedom. Got {self.mean_precision} and {self.degrees_of_freedom}."
            )
        if not (np.linalg.eigvalsh(scale) > 0).all():
            raise ValueError("The scale of a NormalInverseWishart must be positive definite.")

    def posterior(self, X: Any) -> "NormalInverseWishart":
        """Return the law after rows have been seen. See :class:`NormalInverseWishart`."""
        X = np.asarray(X, dtype=float).reshape(-1, len(self.mean))
        n, kappa = len(X), self.mean_precision
        centre = X.mean(axis=0) if n else self.mean
        scatter = (X - centre).T @ (X - centre)
        gap = centre - self.mean
        return NormalInverseWishart(
            (kappa * self.mean + n * centre) / (kappa + n),
            kappa + n,
            self.degrees_of_freedom + n,
            self.scale + scatter + kappa * n / (kappa + n) * np.outer(gap, gap),
        )

    def log_evidence(self, X: Any) -> float:
        """Return the log density of all rows together, mean and covariance integrated out.

        See :class:`NormalInverseWishart`.
        """
        after = self.posterior(X)
        n, d = len(np.asarray(X)), len(self.mean)
        return after._log_constant() - self._log_constant() - 0.5 * n * d * math.log(math.pi)

    def log_predictive(self, X: Any) -> np.ndarray:
        """Return the log density of each row on its own, that of a Student law.

        See :class:`NormalInverseWishart`.
        """
        from scipy.special import gammaln

        X, d = np.asarray(X, dtype=float), len(self.mean)
        nu, kappa = self.degrees_of_freedom, self.mean_precision
        factor = np.linalg.cholesky(self.scale)
        squares = (np.linalg.solve(factor, (X - self.mean).T) ** 2).sum(axis=0)
        constant = gammaln((nu + 1) / 2) - gammaln((nu + 1 - d) / 2)
        constant -= 0.5 * d * math.log(math.pi * (kappa + 1) / kappa)
        constant -= np.log(factor.diagonal()).sum()
        return constant - (nu + 1) / 2 * np.log1p(squares * kappa / (kappa + 1))

    def sample(self, random_state: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Draw a mean and a covariance. See :class:`NormalInverseWishart`."""
        random, d = check_random_state(random_state), len(self.mean)
        # Bartlett: a Wishart matrix A A' of the identity, whose inverse is then scaled.
        A = np.tril(random.normal(size=(d, d)), -1)
        A += np.diag(np.sqrt(random.chisquare(self.degrees_of_freedom - np.arange(d))))
        root = np.linalg.cholesky(self.scale) @ np.linalg.inv(A).T
        mean = self.mean + root @ random.normal(size=d) / math.sqrt(self.mean_precision)
        return mean, root @ root.T

    def _log_constant(self) -> float:
        """Return what remains of the log normaliser when powers of two cancel."""
        from scipy.special import multigammaln

        d = len(self.mean)
        log_det = np.linalg.slogdet(self.scale)[1]
        constant = multigammaln(self.degrees_of_freedom / 2, d)
        constant -= self.degrees_of_freedom / 2 * log_det
        return float(constant - 0.5 * d * math.log(self.mean_precision))
