r"""Estimates with what they are known to: standard errors, intervals, transformations.

If the family is regular, :math:`\sqrt n(\hat\theta_n-\theta)\Rightarrow N(0,I(\theta)^{-1})`: the
maximum of the likelihood is consistent, normal and efficient in the limit, and its covariance is
about the inverse of the curvature of the log likelihood there.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from corollary.core.display import Tabular
from corollary.core.estimator import ArrayLike, Probability, checked


@checked
def wald_interval(
    theta: ArrayLike, covariance: ArrayLike, confidence: Probability = 0.95
) -> np.ndarray:
    r"""Return the intervals :math:`\hat\theta\pm z\sqrt{\operatorname{diag}\Sigma}`.

    Parameters
    ----------
    theta : array-like of shape (n_parameters,)
        Estimates.
    covariance : array-like of shape (n_parameters, n_parameters)
        Their covariance, such as the inverse of the information of the whole sample.
    confidence : float, default=0.95
        Share of samples whose interval holds the truth, in the limit of many draws.

    Returns
    -------
    interval : ndarray of shape (n_parameters, 2)
        Lower and upper ends.

    Examples
    --------
    >>> from corollary.density import wald_interval
    >>> wald_interval([0.5], [[0.0025]]).round(3)  # 50 heads in 100 throws
    array([[0.402, 0.598]])
    """
    from scipy.special import ndtri

    theta = np.atleast_1d(np.asarray(theta, dtype=float))
    spread = np.sqrt(np.diag(np.atleast_2d(np.asarray(covariance, dtype=float))))
    z = ndtri((1 + confidence) / 2)
    return np.stack([theta - z * spread, theta + z * spread], axis=1)


@dataclass(frozen=True, repr=False)
class Estimate(Tabular):
    """Parameters at a maximum of the likelihood, or of a posterior density.

    Parameters
    ----------
    names : tuple of str
        Names of the parameters.
    theta : ndarray of shape (n_parameters,)
        Their values.
    log_likelihood : float
        Maximum of the log likelihood, with the log density of the prior if there is one.
    information : ndarray of shape (n_parameters, n_parameters) or None
        Minus its second derivatives there; None if the family is not regular or the maximum lies
        on the edge of the domain.
    n_samples : float
        Number, or weight, of the draws.

    Examples
    --------
    >>> from corollary.density import Poisson, maximum_likelihood
    >>> estimate = maximum_likelihood(Poisson(), [3, 5, 4, 4])
    >>> estimate.theta, estimate.standard_errors
    (array([4.]), array([1.]))
    >>> print(estimate)
    mean = 4 (standard error 1), log likelihood -6.755 of 4 draws
    """

    names: tuple[str, ...]
    theta: np.ndarray
    log_likelihood: float
    information: np.ndarray | None
    n_samples: float

    @property
    def covariance(self) -> np.ndarray:
        """Inverse of the observed information; ValueError where there is none."""
        if self.information is None:
            raise ValueError(
                "The estimate has no standard errors: the family is not regular, or the maximum "
                "lies on the edge of the domain."
            )
        try:
            factor = linalg.cho_factor(self.information)
        except linalg.LinAlgError as error:
            raise ValueError(
                "The estimate has no standard errors: the log likelihood is flat in a direction. "
                "The parameters cannot be told apart by these draws."
            ) from error
        return linalg.cho_solve(factor, np.eye(len(self.theta)))

    @property
    def standard_errors(self) -> np.ndarray:
        """Roots of the variances of the parameters."""
        return np.sqrt(np.diag(self.covariance))

    def interval(self, confidence: float = 0.95) -> np.ndarray:
        """Return the normal intervals of :func:`wald_interval`. See :class:`Estimate`."""
        return wald_interval(self.theta, self.covariance, confidence)

    def transform(self, function: Callable[[Any], Any], names: tuple[str, ...]) -> "Estimate":
        r"""Return the estimate of a function of the parameters.

        The likeliest value of :math:`g(\theta)` is :math:`g(\hat\theta)`. Its covariance is
        :math:`J\Sigma J^\top`, with the derivatives J of g, in the limit.

        Parameters
        ----------
        function : callable
            One-to-one map of parameters to as many others, written with ``jax.numpy``.
        names : tuple of str
            Names of the values.
        """
        from corollary.core.xla import jax

        with jax.enable_x64(True):
            values = np.atleast_1d(np.asarray(function(self.theta), dtype=float))
            J = np.asarray(jax.jacfwd(function)(self.theta), dtype=float)
        if values.shape != self.theta.shape or len(names) != len(values):
            raise ValueError(
                f"Estimate.transform needs a function to {len(self.theta)} values with names. Got "
                f"values of shape {values.shape} and {len(names)} names."
            )
        try:
            inverse = linalg.inv(J.reshape(len(values), -1))
        except linalg.LinAlgError as error:
            raise ValueError(
                "Estimate.transform needs a function that is one-to-one near the estimate. Its "
                f"derivatives at {self.theta.tolist()} are singular; leave out what follows from "
                "other values."
            ) from error
        information = None if self.information is None else inverse.T @ self.information @ inverse
        return Estimate(names, values, self.log_likelihood, information, self.n_samples)

    def __str__(self) -> str:
        parts = [f"{name} = {value:.4g}" for name, value in zip(self.names, self.theta)]
        if self.information is not None:
            errors = self.standard_errors
            parts = [f"{part} (standard error {e:.2g})" for part, e in zip(parts, errors)]
        value = f"log likelihood {self.log_likelihood:.4g}"
        return f"{', '.join(parts)}, {value} of {self.n_samples:g} draws"

    def _columns(self) -> dict[str, Any]:
        errors = np.full(len(self.names), np.nan)
        if self.information is not None:
            errors = self.standard_errors
        return {"parameter": self.names, "estimate": self.theta, "standard error": errors}
