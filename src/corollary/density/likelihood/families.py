"""The regular families: normal, Bernoulli, Poisson, exponential and gamma laws."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy import linalg
from scipy.special import gammaln, roots_genlaguerre, roots_hermite, xlog1py, xlogy

from corollary.core.summary import Moments
from corollary.density.likelihood.family import Family

#: Nodes of Gauss rules: exact for polynomials of degree 127.
_NODES = 64


class _ByMean(Family):
    """Families whose parameter is their mean."""

    def from_moments(self, moments: Moments) -> np.ndarray:
        """Return the mean."""
        return moments.mean


@dataclass(frozen=True)
class Normal(Family):
    r"""Normal laws on the line, with parameters mean and variance.

    Parameters
    ----------
    std : float or None, default=None
        Known standard deviation, which leaves the mean as the only parameter; None if the variance
        is a parameter.

    Examples
    --------
    >>> from corollary.density import Normal
    >>> Normal().fisher_information([0.0, 2.0])  # 1 / variance and 1 / (2 variance^2)
    array([[0.5  , 0.   ],
           [0.   , 0.125]])
    >>> Normal(std=2.0).fisher_information([0.0], n_samples=100)
    array([[25.]])
    """

    std: float | None = None

    def __post_init__(self) -> None:
        if self.std is not None and not 0 < self.std < math.inf:
            raise ValueError(f"Normal needs a positive standard deviation. Got {self.std!r}.")

    @property
    def names(self) -> tuple[str, ...]:
        """Mean, and variance unless that is known."""
        return ("mean", "variance") if self.std is None else ("mean",)

    @property
    def domain(self) -> Any:
        """All numbers, and positive ones."""
        return ((-math.inf, math.inf), (0.0, math.inf))[: len(self.names)]

    def _variance(self, theta: Any) -> Any:
        return theta[1] if self.std is None else self.std**2

    def _log_density(self, x: Any, theta: Any, xp: Any) -> Any:
        variance = self._variance(theta)
        return -0.5 * ((x - theta[0]) ** 2 / variance + xp.log(2 * math.pi * variance))

    def _information(self, theta: np.ndarray) -> np.ndarray:
        v = self._variance(theta)
        return np.diag([1 / v, 1 / (2 * v**2)][: len(self.names)])

    def from_moments(self, moments: Moments) -> np.ndarray:
        """Return the mean and the variance about it."""
        return np.array([moments.mean[0], moments.covariance()[0, 0]])[: len(self.names)]

    def _sample(self, n: int, theta: np.ndarray, random: Any) -> np.ndarray:
        return theta[0] + math.sqrt(self._variance(theta)) * random.standard_normal(n)

    def _law(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the nodes of Gauss and Hermite."""
        z, weight = roots_hermite(_NODES)
        return theta[0] + math.sqrt(2 * self._variance(theta)) * z, weight / math.sqrt(math.pi)


@dataclass(frozen=True, eq=False)
class NormalVector(_ByMean):
    """Normal laws of vectors, with a known covariance and their mean as parameter.

    Parameters
    ----------
    covariance : ndarray of shape (n_features, n_features)
        Positive definite.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.density import NormalVector
    >>> NormalVector(np.diag([1.0, 4.0])).fisher_information([0.0, 0.0])
    array([[1.  , 0.  ],
           [0.  , 0.25]])
    """

    covariance: np.ndarray

    def __post_init__(self) -> None:
        covariance = np.asarray(self.covariance, dtype=float)
        object.__setattr__(self, "covariance", covariance)
        try:
            object.__setattr__(self, "_factor", linalg.cholesky(covariance, lower=True))
        except (linalg.LinAlgError, ValueError) as error:
            raise ValueError("NormalVector needs a positive definite covariance.") from error

    @property
    def names(self) -> tuple[str, ...]:
        """One mean for each column."""
        return tuple(f"mean{k}" for k in range(len(self.covariance)))

    @property
    def domain(self) -> Any:
        """All numbers."""
        return ((-math.inf, math.inf),) * len(self.covariance)

    @cached_property
    def _precision(self) -> np.ndarray:
        return linalg.inv(self.covariance)

    def _log_density(self, x: Any, theta: Any, xp: Any) -> Any:
        away = x - theta
        log_det = 2 * np.log(np.diag(self._factor)).sum()  # type: ignore[attr-defined]
        distance = ((away @ self._precision) * away).sum(axis=-1)
        return -0.5 * (distance + len(self.covariance) * math.log(2 * math.pi) + log_det)

    def _supports(self, x: np.ndarray) -> Any:
        return np.isfinite(x).all(axis=-1)

    def _information(self, theta: np.ndarray) -> np.ndarray:
        return self._precision

    def _sample(self, n: int, theta: np.ndarray, random: Any) -> np.ndarray:
        z = random.standard_normal((n, len(theta)))
        return theta + z @ self._factor.T  # type: ignore[attr-defined]


@dataclass(frozen=True)
class Bernoulli(_ByMean):
    """Laws on 0 and 1, with the probability of 1 as parameter.

    Examples
    --------
    >>> from corollary.density import Bernoulli
    >>> Bernoulli().fisher_information([0.2]).round(6)  # 1 / (p (1 - p))
    array([[6.25]])
    """

    names: ClassVar[Any] = ("probability",)
    domain: ClassVar[Any] = ((0.0, 1.0),)

    def _log_density(self, x: Any, theta: Any, xp: Any) -> Any:
        if xp is np:
            return xlogy(x, theta[0]) + xlog1py(1 - x, -theta[0])
        return x * xp.log(theta[0]) + (1 - x) * xp.log1p(-theta[0])

    def _supports(self, x: np.ndarray) -> Any:
        return (x == 0) | (x == 1)

    def _information(self, theta: np.ndarray) -> np.ndarray:
        p = theta[0]
        return np.array([[1 / (p * (1 - p)) if 0 < p < 1 else math.inf]])

    def _sample(self, n: int, theta: np.ndarray, random: Any) -> np.ndarray:
        return (random.uniform(size=n) < theta[0]).astype(float)

    def _law(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.array([0.0, 1.0]), np.array([1 - theta[0], theta[0]])


@dataclass(frozen=True)
class Poisson(_ByMean):
    """Poisson laws of counts, with their mean as parameter.

    Examples
    --------
    >>> from corollary.density import Poisson
    >>> Poisson().fisher_information([4.0])  # 1 / mean
    array([[0.25]])
    """

    names: ClassVar[Any] = ("mean",)
    domain: ClassVar[Any] = ((0.0, math.inf),)

    def _log_density(self, x: Any, theta: Any, xp: Any) -> Any:
        if xp is np:
            return xlogy(x, theta[0]) - theta[0] - gammaln(x + 1)
        from jax.scipy.special import gammaln as log_gamma

        return x * xp.log(theta[0]) - theta[0] - log_gamma(x + 1)

    def _supports(self, x: np.ndarray) -> Any:
        return (x >= 0) & (x == np.floor(x)) & np.isfinite(x)

    def _information(self, theta: np.ndarray) -> np.ndarray:
        return np.array([[1 / theta[0] if theta[0] > 0 else math.inf]])

    def _sample(self, n: int, theta: np.ndarray, random: Any) -> np.ndarray:
        return random.poisson(theta[0], size=n).astype(float)

    def _law(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return all counts but those beyond 40 standard deviations."""
        mean = theta[0]
        points = np.arange(0.0, math.ceil(mean + 40 * math.sqrt(mean) + 40))
        return points, np.exp(self.log_density(points, theta))


@dataclass(frozen=True)
class Exponential(Family):
    """Exponential laws of waiting times, with their rate as parameter.

    Examples
    --------
    >>> from corollary.density import Exponential, maximum_likelihood
    >>> maximum_likelihood(Exponential(), [1.0, 2.0, 3.0]).theta  # one over the mean
    array([0.5])
    """

    names: ClassVar[Any] = ("rate",)
    domain: ClassVar[Any] = ((0.0, math.inf),)

    def _log_density(self, x: Any, theta: Any, xp: Any) -> Any:
        return xp.log(theta[0]) - theta[0] * x

    def _supports(self, x: np.ndarray) -> Any:
        return (x >= 0) & np.isfinite(x)

    def _information(self, theta: np.ndarray) -> np.ndarray:
        return np.array([[1 / theta[0] ** 2 if theta[0] > 0 else math.inf]])

    def from_moments(self, moments: Moments) -> np.ndarray:
        """Return one over the mean."""
        with np.errstate(divide="ignore"):
            return 1 / moments.mean

    def _sample(self, n: int, theta: np.ndarray, random: Any) -> np.ndarray:
        return random.standard_exponential(n) / theta[0]

    def _law(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return Gamma().law([1.0, theta[0]])


@dataclass(frozen=True)
class Gamma(Family):
    """Gamma laws, with shape and rate as parameters; the likeliest ones have no closed form.

    Examples
    --------
    >>> from corollary.density import Gamma
    >>> Gamma().fisher_information([2.0, 3.0]).round(4)  # trigamma(shape), -1/rate, shape/rate^2
    array([[ 0.6449, -0.3333],
           [-0.3333,  0.2222]])
    """

    names: ClassVar[Any] = ("shape", "rate")
    domain: ClassVar[Any] = ((0.0, math.inf), (0.0, math.inf))

    def _log_density(self, x: Any, theta: Any, xp: Any) -> Any:
        shape, rate = theta[0], theta[1]
        if xp is np:
            return shape * np.log(rate) + xlogy(shape - 1, x) - rate * x - gammaln(shape)
        from jax.scipy.special import gammaln as log_gamma

        return shape * xp.log(rate) + (shape - 1) * xp.log(x) - rate * x - log_gamma(shape)

    def _supports(self, x: np.ndarray) -> Any:
        return (x > 0) & np.isfinite(x)

    def _information(self, theta: np.ndarray) -> np.ndarray:
        from scipy.special import polygamma

        shape, rate = theta
        return np.array([[polygamma(1, shape), -1 / rate], [-1 / rate, shape / rate**2]])

    def _likeliest(self, x: np.ndarray, weight: np.ndarray) -> None:
        """Refuse draws that are equal; what else is likeliest is searched."""
        if np.ptp(x) <= 1e-6 * x.max():
            raise ValueError(
                f"Gamma needs draws that differ by more than rounding. Got {len(x)} from "
                f"{x.min():.9g} to {x.max():.9g}, which are the likelier the larger the shape is: "
                "give draws that vary, or a prior."
            )

    def _start(self, x: np.ndarray) -> np.ndarray:
        mean, variance = x.mean(), x.var()
        return np.array([mean**2, mean]) / max(variance, 1e-6 * mean**2)

    def _sample(self, n: int, theta: np.ndarray, random: Any) -> np.ndarray:
        return random.standard_gamma(theta[0], size=n) / theta[1]

    def _law(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the nodes of Gauss and Laguerre."""
        shape, rate = theta
        z, weight = roots_genlaguerre(_NODES, shape - 1)
        return z / rate, weight / weight.sum()
