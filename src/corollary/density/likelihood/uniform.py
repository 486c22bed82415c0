"""Uniform laws up to a parameter: their support moves with it, and the theory of scores ends."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from corollary.density.likelihood.family import Family


class _UpTo(Family):
    """Laws of constant density or probability up to their parameter."""

    regular: ClassVar[bool] = False

    def _log_density(self, x: Any, theta: Any, xp: Any) -> Any:
        return xp.where(x <= theta[0], -xp.log(theta[0]), -math.inf)

    def _likeliest(self, x: np.ndarray, weight: np.ndarray) -> np.ndarray:
        return np.atleast_1d(x.max())


@dataclass(frozen=True)
class Uniform(_UpTo):
    """Uniform laws between 0 and their parameter, where the theory of scores fails.

    Examples
    --------
    >>> from corollary.density import Uniform, maximum_likelihood
    >>> maximum_likelihood(Uniform(), [0.2, 0.9, 0.4]).theta  # the largest draw
    array([0.9])
    """

    names: ClassVar[Any] = ("end",)
    domain: ClassVar[Any] = ((0.0, math.inf),)

    def _supports(self, x: np.ndarray) -> Any:
        return (x >= 0) & np.isfinite(x)

    def _sample(self, n: int, theta: np.ndarray, random: Any) -> np.ndarray:
        return random.uniform(size=n) * theta[0]

    def _law(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the nodes of Gauss and Legendre."""
        z, weight = np.polynomial.legendre.leggauss(64)
        return theta[0] * (z + 1) / 2, weight / 2


@dataclass(frozen=True)
class DiscreteUniform(_UpTo):
    """Uniform laws on 1, 2, ..., up to their parameter.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.density import DiscreteUniform
    >>> np.exp(DiscreteUniform().log_density([1, 3, 5], [4])).round(2)
    array([0.25, 0.25, 0.  ])
    """

    names: ClassVar[Any] = ("size",)
    domain: ClassVar[Any] = ((1.0, math.inf),)

    def _supports(self, x: np.ndarray) -> Any:
        return (x >= 1) & (x == np.floor(x)) & np.isfinite(x)

    def _sample(self, n: int, theta: np.ndarray, random: Any) -> np.ndarray:
        return random.randint(1, int(theta[0]) + 1, size=n).astype(float)

    def _law(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        size = int(theta[0])
        return np.arange(1.0, size + 1), np.full(size, 1 / size)
