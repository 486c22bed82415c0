"""Sums and products of kernels, which users write ``k1 + k2`` and ``k1 * k2``.

There is no difference: ``k1 - k2`` need not be a kernel.
"""

from abc import abstractmethod
from dataclasses import dataclass
from functools import reduce
from typing import Any, Self

import numpy as np

from corollary.core.schema import List, Schema
from corollary.kernels._differentiation import Pullback
from corollary.kernels.algebra._wrapper import KERNEL, check_part
from corollary.kernels.base import Kernel


class _Several(Kernel):
    """What sums and products share; the parts are in the field called ``_field``."""

    _field: str

    @property
    def _parts(self) -> tuple[Kernel, ...]:
        return getattr(self, self._field)

    @classmethod
    def of(cls, *kernels: Kernel) -> Self:
        """Combine kernels, without nesting a sum in a sum or a product in a product.

        Parameters
        ----------
        *kernels : Kernel
            The parts.

        Returns
        -------
        kernel : Kernel
            Their combination.
        """
        parts: list[Kernel] = []
        for kernel in kernels:
            parts.extend(kernel._parts if isinstance(kernel, cls) else [kernel])
        return cls(tuple(parts))  # type: ignore[call-arg]

    def __post_init__(self) -> None:
        name, parts = type(self).__name__, tuple(self._parts)
        if not parts:
            raise ValueError(f"{name} needs at least one kernel. Got none.")
        for part in parts:
            check_part(name, self._field, part)
        object.__setattr__(self, self._field, parts)

    @property
    def positive_semidefinite(self) -> bool:  # type: ignore[override]
        """Whether all parts are."""
        return all(part.positive_semidefinite for part in self._parts)

    @property
    def stationary(self) -> bool:  # type: ignore[override]
        """Whether all parts are."""
        return all(part.stationary for part in self._parts)

    def _single(self, x: Any) -> Any:
        return self._parts[0]._single(x)

    def _prepare(self, X: Any, Y: Any) -> tuple[Any, Any]:
        pairs = [part._prepare(X, Y) for part in self._parts]
        P = tuple(p for p, _ in pairs)
        return P, P if Y is None else tuple(q for _, q in pairs)

    def _evaluate(self, P: Any, Q: Any, same: bool) -> Any:
        values = (part._evaluate(p, q, same) for part, p, q in zip(self._parts, P, Q))
        return reduce(self._combine, values)

    def _diag(self, P: Any) -> Any:
        return reduce(self._combine, (part._diag(p) for part, p in zip(self._parts, P)))

    @abstractmethod
    def _combine(self, left: Any, right: Any) -> Any:
        """Return what two parts give together; the first may be overwritten."""

    @abstractmethod
    def _weights(self, W: Any, values: list[Any]) -> list[Any]:
        """Return the weights of each part in an inner product of the combination with W."""

    def gram_with_gradient(self, X: Any, Y: Any = None) -> tuple[np.ndarray, Pullback]:
        """Return the combination, differentiated part by part."""
        pairs = [part.gram_with_gradient(X, Y) for part in self._parts]
        values = [value for value, _ in pairs]

        def pull(W: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            weights = self._weights(W, values)
            gradients = [pull(weight) for weight, (_, pull) in zip(weights, pairs)]
            by_points = reduce(np.add, [points for _, points in gradients])
            return np.concatenate([parameters for parameters, _ in gradients]), by_points

        return reduce(self._combine, values[1:], values[0].copy()), pull

    def diag_gradient(self, X: Any, weight: np.ndarray) -> np.ndarray:
        """Return the gradient of the combination, part by part."""
        weights = self._weights(weight, [part.diag(X) for part in self._parts])
        return np.concatenate(
            [part.diag_gradient(X, weight) for weight, part in zip(weights, self._parts)]
        )


@dataclass(frozen=True, eq=False)
class Sum(_Several):
    """Sum of kernels; its features are those of all terms.

    Parameters
    ----------
    terms : tuple of Kernel
        The terms.

    Examples
    --------
    >>> from corollary.kernels import Linear, RBF
    >>> (RBF() + Linear() + 1.0)([1.0], [1.0])
    3.0
    """

    terms: tuple[Kernel, ...]
    _schema = Schema(terms=List(KERNEL))
    _field = "terms"

    def _combine(self, left: Any, right: Any) -> Any:
        if isinstance(left, np.ndarray):
            left += right
            return left
        return left + right

    def _weights(self, W: Any, values: list[Any]) -> list[Any]:
        return [W] * len(values)

    def spectral_mass(self) -> float:
        """Return the sum of the terms' masses."""
        return sum(term.spectral_mass() for term in self.terms)

    def _spectral_sample(self, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
        # A mixture of the terms' measures, in proportion to their masses.
        masses = np.array([term.spectral_mass() for term in self.terms])
        which = rng.choice(len(masses), size=n, p=masses / masses.sum())
        draws = np.stack([term._spectral_sample(n, d, rng) for term in self.terms])
        return draws[which, np.arange(n)]


@dataclass(frozen=True, eq=False)
class Product(_Several):
    """Product of kernels; its features are the products of one feature of each factor.

    Parameters
    ----------
    factors : tuple of Kernel
        The factors.

    Examples
    --------
    >>> from corollary.kernels import Linear, RBF
    >>> (RBF() * Linear())([2.0], [2.0])
    4.0
    """

    factors: tuple[Kernel, ...]
    _schema = Schema(factors=List(KERNEL))
    _field = "factors"

    def _combine(self, left: Any, right: Any) -> Any:
        if isinstance(left, np.ndarray):
            left *= right
            return left
        return left * right

    def _weights(self, W: Any, values: list[Any]) -> list[Any]:
        return [
            reduce(np.multiply, [value for j, value in enumerate(values) if j != i], W)
            for i in range(len(values))
        ]

    def spectral_mass(self) -> float:
        """Return the product of the factors' masses."""
        return float(np.prod([factor.spectral_mass() for factor in self.factors]))

    def _spectral_sample(self, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
        # Measures of products are convolutions: frequencies add up.
        return sum(  # type: ignore[return-value]
            factor._spectral_sample(n, d, rng) for factor in self.factors
        )
