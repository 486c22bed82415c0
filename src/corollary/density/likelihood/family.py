r"""Parametric families of densities.

A family says its log density once, in functions that NumPy and JAX share. Scores are derivatives
of it by JAX in double precision, and expectations are sums over :meth:`Family.law`, a finite law
that stands for the family's: its points themselves if it is discrete, else nodes of a Gauss rule.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from corollary.core.summary import Moments

Domain = tuple[tuple[float, float], ...]


class Family(ABC):
    """Densities with parameters.

    Methods take draws ``x``, one number or one row for each, and ``theta``, the parameters in the
    order of their names; outside the closure of the domain they raise a ValueError. Subclasses are
    frozen dataclasses. They write ``_log_density``, and as far as is known ``_sample``, ``_law``,
    ``_information`` and ``from_moments``.

    Attributes
    ----------
    names : tuple of str
        Names of the parameters.
    domain : tuple of (float, float)
        Open interval of each.
    regular : bool
        Whether differentiation and integration may change places: false where the support depends
        on the parameters, and then scores and informations say nothing about estimators.

    Examples
    --------
    >>> from corollary.density import Family, Poisson
    >>> isinstance(Poisson(), Family), Poisson().names, Poisson().domain
    (True, ('mean',), ((0.0, inf),))
    >>> Poisson().score([1, 4], [2.0])
    array([[-0.5],
           [ 1. ]])
    """

    names: ClassVar[Any]
    domain: ClassVar[Any]
    regular: ClassVar[bool] = True

    @abstractmethod
    def _log_density(self, x: Any, theta: Any, xp: Any) -> Any:
        """Return log densities inside the support, in functions of NumPy or JAX."""

    def _supports(self, x: np.ndarray) -> Any:
        """Say of each draw whether it is possible under some parameters."""
        return np.isfinite(x)

    def sample(self, n_samples: int, theta: Any, random_state: Any = None) -> np.ndarray:
        """Return independent draws; TypeError if the family knows no way. See :class:`Family`."""
        return self._sample(n_samples, self.check(theta), check_random_state(random_state))

    def _sample(self, n: int, theta: np.ndarray, random: Any) -> np.ndarray:
        """Draw from the law of checked parameters."""
        raise TypeError(f"{type(self).__name__} has no sampler.")

    def law(self, theta: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return points and their probabilities, whose sums are expectations.

        TypeError if the family knows none. See :class:`Family`.
        """
        return self._law(self.check(theta))

    def _law(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return points and probabilities for checked parameters."""
        raise TypeError(f"{type(self).__name__} has no finite law: simulate expectations.")

    def log_density(self, x: Any, theta: Any) -> np.ndarray:
        """Return the log density at draws, minus infinity outside the support.

        See :class:`Family`.
        """
        x, theta = np.asarray(x, dtype=float), self.check(theta)
        inside = self._supports(x)
        with np.errstate(divide="ignore", invalid="ignore"):
            values = np.asarray(self._log_density(x, theta, np))
        return np.where(inside, values, -np.inf)

    def score(self, x: Any, theta: Any) -> np.ndarray:
        r"""Return the derivatives :math:`\partial\log p(x\mid\theta)/\partial\theta` at draws.

        The score of each draw is a row; that of a sample is their sum. See :class:`Family`.
        """
        return self._derivative("jacfwd", x, theta)

    def curvature(self, x: Any, theta: Any) -> np.ndarray:
        """Return the Hessian matrix of the log density at each draw. See :class:`Family`."""
        return self._derivative("hessian", x, theta)

    def fisher_information(self, theta: Any, n_samples: int = 1) -> np.ndarray:
        r"""Return the Fisher information of independent draws.

        The covariance of the score, :math:`E[\Lambda\Lambda^\top]`; n draws have n times the
        information of one. It is also minus the expected :meth:`curvature`. Families that are not
        regular have none, which raises a ValueError: their score does not have mean zero.
        See :class:`Family`.
        """
        theta = self.check(theta)
        if not self.regular:
            raise ValueError(
                f"{type(self).__name__} has no Fisher information: its support depends on the "
                "parameters, so that the score does not have mean zero."
            )
        return n_samples * self._information(theta)

    def _information(self, theta: np.ndarray) -> np.ndarray:
        """Return the information of one draw; subclasses write closed forms."""
        points, probability = self.law(theta)
        score = self.score(points, theta)
        return score.T @ (probability[:, np.newaxis] * score)

    def from_moments(self, moments: Moments) -> np.ndarray:
        """Return the likeliest parameters of draws that have these moments.

        Moments of rows on disk or on a cluster are :func:`corollary.core.summary.reduce`'s.

        Parameters
        ----------
        moments : Moments
            Weight, mean and scatter of the draws, which are its columns.

        Returns
        -------
        theta : ndarray of shape (n_parameters,)
            On the edge of the domain if no others are likelier; TypeError if moments do not decide.
        """
        raise TypeError(
            f"{type(self).__name__} has no closed form in the moments of draws. Use "
            "maximum_likelihood, which then searches."
        )

    def _likeliest(self, x: np.ndarray, weight: np.ndarray) -> np.ndarray | None:
        """Return the likeliest parameters where they have a closed form, else None."""
        if type(self).from_moments is Family.from_moments:
            return None
        return self.from_moments(Moments.of_columns([x], weight))

    def _start(self, x: np.ndarray) -> np.ndarray:
        """Return parameters from which a search may begin."""
        return np.array([_middle(low, high) for low, high in self.domain])

    def check(self, theta: Any) -> np.ndarray:
        """Return parameters as an array, or say what is wrong with them. See :class:`Family`."""
        theta = np.atleast_1d(np.asarray(theta, dtype=float))
        low, high = np.array(self.domain, dtype=float).T
        if theta.shape != low.shape or not ((theta >= low) & (theta <= high)).all():
            ranges = ", ".join(f"{n} in {d}" for n, d in zip(self.names, self.domain))
            raise ValueError(f"{type(self).__name__} needs {ranges}. Got {theta.tolist()}.")
        return theta

    def _derivative(self, kind: str, x: Any, theta: Any) -> np.ndarray:
        """Differentiate log densities of draws by the parameters."""
        from corollary.core.xla import jax

        x, theta = np.asarray(x, dtype=float), self.check(theta)
        with jax.enable_x64(True):
            return np.asarray(self._derivatives[kind](x, theta))

    @cached_property
    def _derivatives(self) -> dict[str, Callable[..., Any]]:
        from corollary.core.xla import jax, jnp

        def log_density(x: Any, theta: Any) -> Any:
            return self._log_density(x, theta, jnp)

        kinds = {"jacfwd": jax.jacfwd, "hessian": jax.hessian}
        return {kind: jax.jit(derive(log_density, 1)) for kind, derive in kinds.items()}


@dataclass(frozen=True, eq=False)
class LogDensity(Family):
    """A family of the user's, given by its log density.

    Parameters
    ----------
    function : callable
        ``function(x, theta)`` returns the log density of each draw, written with ``jax.numpy``.
    names : tuple of str
        Names of the parameters.
    domain : tuple of (float, float) or None, default=None
        Open interval of each parameter: all numbers, those above or below a limit, or between two;
        None for all numbers.

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> from corollary.density import LogDensity, maximum_likelihood
    >>> def laplace(x, theta):
    ...     return -jnp.abs(x) / theta[0] - jnp.log(2 * theta[0])
    >>> family = LogDensity(laplace, ("scale",), ((0.0, 9.0),))
    >>> maximum_likelihood(family, [-1.0, 2.0, 3.0]).theta.round(6)
    array([2.])
    """

    function: Callable[[Any, Any], Any]
    names: tuple[str, ...]  # type: ignore[misc]
    domain: Domain | None = None  # type: ignore[misc]

    def __post_init__(self) -> None:
        if self.domain is None:
            object.__setattr__(self, "domain", ((-math.inf, math.inf),) * len(self.names))

    def _log_density(self, x: Any, theta: Any, xp: Any) -> Any:
        if xp is not np:
            return self.function(x, theta)
        from corollary.core.xla import jax

        with jax.enable_x64(True):
            return np.asarray(self.function(x, theta))

    def _supports(self, x: np.ndarray) -> Any:
        return True


def _middle(low: float, high: float) -> float:
    """Return a number inside an interval."""
    if math.isinf(low):
        return 0.0 if math.isinf(high) else high - 1.0
    return low + 1.0 if math.isinf(high) else (low + high) / 2
