"""Kernels from kernels: each rule keeps the Gram matrix positive semi-definite.

Users write ``k1 + k2``, ``k1 * k2``, ``2.0 * k``, ``k ** 3``, ``k.exp()``, ``k.polynomial(c)``,
``k.normalised()``, ``k.with_inputs(map)``; the classes here are what these expressions return.
There is no difference: ``k1 - k2`` need not be a kernel.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, Self

import numpy as np

from corollary.core.schema import Array, Instance, Integer, List, Number, Schema
from corollary.kernels import arrays
from corollary.kernels.base import POSITIVE, Kernel
from corollary.kernels.dot_product import Linear, check_whole, whole_power

_KERNEL = Instance("gram")


def _check_kernel(who: str, name: str, value: Any) -> None:
    if not isinstance(value, Kernel):
        raise TypeError(f"The {name!r} parameter of {who} must be a Kernel. Got {value!r} instead.")


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
            parts.extend(kernel._parts if type(kernel) is cls else [kernel])
        return cls(tuple(parts))  # type: ignore[call-arg]

    def __post_init__(self) -> None:
        name, parts = type(self).__name__, tuple(self._parts)
        if not parts:
            raise ValueError(f"{name} needs at least one kernel. Got none.")
        for part in parts:
            _check_kernel(name, self._field, part)
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

    def _combine(self, left: Any, right: Any) -> Any:
        raise NotImplementedError  # abstract: the two classes below define it


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
    _schema = Schema(terms=List(_KERNEL))
    _field = "terms"

    def _combine(self, left: Any, right: Any) -> Any:
        if isinstance(left, np.ndarray):
            left += right
            return left
        return left + right

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
    _schema = Schema(factors=List(_KERNEL))
    _field = "factors"

    def _combine(self, left: Any, right: Any) -> Any:
        if isinstance(left, np.ndarray):
            left *= right
            return left
        return left * right

    def spectral_mass(self) -> float:
        """Return the product of the factors' masses."""
        return float(np.prod([factor.spectral_mass() for factor in self.factors]))

    def _spectral_sample(self, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
        # Measures of products are convolutions: frequencies add up.
        return sum(  # type: ignore[return-value]
            factor._spectral_sample(n, d, rng) for factor in self.factors
        )


class _Wrapper(Kernel):
    """What kernels of one other kernel share."""

    kernel: Kernel

    def __post_init__(self) -> None:
        _check_kernel(type(self).__name__, "kernel", self.kernel)

    @property
    def positive_semidefinite(self) -> bool:  # type: ignore[override]
        """Whether the kernel inside is."""
        return self.kernel.positive_semidefinite

    @property
    def stationary(self) -> bool:  # type: ignore[override]
        """Whether the kernel inside is."""
        return self.kernel.stationary

    def _single(self, x: Any) -> Any:
        return self.kernel._single(x)

    def _prepare(self, X: Any, Y: Any) -> tuple[Any, Any]:
        return self.kernel._prepare(X, Y)

    def _evaluate(self, P: Any, Q: Any, same: bool) -> Any:
        return self._of_values(self.kernel._evaluate(P, Q, same))

    def _diag(self, P: Any) -> Any:
        return self._of_values(self.kernel._diag(P))

    def _of_values(self, values: Any) -> Any:
        return values


@dataclass(frozen=True, eq=False)
class Scaled(_Wrapper):
    """A non-negative multiple of a kernel.

    Parameters
    ----------
    scale : float
        Non-negative factor; the squared amplitude of a Gaussian process.
    kernel : Kernel
        The kernel.

    Examples
    --------
    >>> from corollary.kernels import RBF
    >>> 3.0 * RBF(length_scale=2.0)
    Scaled(scale=3.0, kernel=RBF(length_scale=2.0))
    """

    scale: Any = field(metadata=POSITIVE)
    kernel: Kernel
    _schema = Schema(scale=Number(0), kernel=_KERNEL)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._settle("scale", strict=False)

    def _of_values(self, values: Any) -> Any:
        if isinstance(values, np.ndarray) and not arrays.is_traced(self.scale):
            values *= self.scale
            return values
        return values * self.scale

    def spectral_mass(self) -> float:
        """Return the multiple of the kernel's mass."""
        return self.scale * self.kernel.spectral_mass()

    def _spectral_sample(self, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
        return self.kernel._spectral_sample(n, d, rng)


@dataclass(frozen=True, eq=False)
class Power(_Wrapper):
    """A whole power of a kernel.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    degree : int
        At least 1.

    Examples
    --------
    >>> from corollary.kernels import Linear
    >>> (Linear() ** 3)([2.0], [1.0])
    8.0
    """

    kernel: Kernel
    degree: int
    _schema = Schema(kernel=_KERNEL, degree=Integer(1))

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole("Power", "degree", self.degree, 1)

    def _of_values(self, values: Any) -> Any:
        return whole_power(values, self.degree)

    def spectral_mass(self) -> float:
        """Return the power of the kernel's mass."""
        return self.kernel.spectral_mass() ** self.degree

    def _spectral_sample(self, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
        draws = (self.kernel._spectral_sample(n, d, rng) for _ in range(self.degree))
        return sum(draws)  # type: ignore[return-value]


@dataclass(frozen=True, eq=False)
class Exponential(_Wrapper):
    """The exponential of a kernel.

    Parameters
    ----------
    kernel : Kernel
        The kernel.

    Examples
    --------
    >>> from corollary.kernels import Linear
    >>> Linear().exp()([1.0], [1.0])
    2.718281828459045
    """

    kernel: Kernel
    _schema = Schema(kernel=_KERNEL)

    def _of_values(self, values: Any) -> Any:
        return arrays.apply("exp", values)


@dataclass(frozen=True, eq=False)
class PolynomialOf(_Wrapper):
    """A polynomial of a kernel with non-negative coefficients.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    coefficients : array-like of shape (p + 1,)
        Non-negative; entry i multiplies the i-th power.

    Examples
    --------
    >>> from corollary.kernels import Linear
    >>> Linear().polynomial([1.0, 0.0, 3.0])([2.0], [1.0])
    13.0
    """

    kernel: Kernel
    coefficients: Any
    _schema = Schema(kernel=_KERNEL, coefficients=Array("f", "p", low=0))

    def __post_init__(self) -> None:
        super().__post_init__()
        self._settle("coefficients", vector=True, strict=False)
        object.__setattr__(self, "coefficients", np.atleast_1d(self.coefficients))

    def _of_values(self, values: Any) -> Any:
        total = 0.0 * values
        for coefficient in self.coefficients[::-1].tolist():
            total = total * values + coefficient
        return total


@dataclass(frozen=True, eq=False)
class Normalised(_Wrapper):
    """A kernel divided by the norms of its features, ``k(x, y) / sqrt(k(x, x) k(y, y))``.

    Parameters
    ----------
    kernel : Kernel
        The kernel.

    Notes
    -----
    Inputs with ``k(x, x) = 0`` have no features, and their normalised kernel is 0 with every
    input, themselves included.

    Examples
    --------
    >>> from corollary.kernels import Linear
    >>> round(Linear().normalised()([1.0, 0.0], [3.0, 3.0]), 6)  # the cosine of 45 degrees
    0.707107
    """

    kernel: Kernel
    _schema = Schema(kernel=_KERNEL)

    def _prepare(self, X: Any, Y: Any) -> tuple[Any, Any]:
        P, Q = self.kernel._prepare(X, Y)

        def with_norm(R: Any) -> tuple[Any, Any]:
            squares = self.kernel._diag(R)
            xp = squares.__array_namespace__()
            positive = squares > 0
            inverse = 1.0 / xp.sqrt(xp.where(positive, squares, 1.0))
            return R, xp.where(positive, inverse, 0.0)

        return arrays.both(with_norm, P, Q)

    def _evaluate(self, P: Any, Q: Any, same: bool) -> Any:
        values = self.kernel._evaluate(P[0], Q[0], same)
        values = values * P[1][:, None] * Q[1][None, :]
        return arrays.with_diagonal(values, self._diag(P)) if same else values

    def _diag(self, P: Any) -> Any:
        xp = P[1].__array_namespace__()
        return xp.where(P[1] > 0, 1.0, 0.0)

    def spectral_mass(self) -> float:
        """Return 1, if the kernel has a spectral measure at all."""
        self.kernel.spectral_mass()
        return 1.0

    def _spectral_sample(self, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
        return self.kernel._spectral_sample(n, d, rng)


@dataclass(frozen=True, eq=False)
class InputMap(_Wrapper):
    """A kernel of mapped inputs, ``k(map(x), map(y))``.

    Parameters
    ----------
    kernel : Kernel
        The kernel on what the map returns.
    map : callable
        ``map(X)`` takes n inputs of any kind and returns n of those the kernel takes. The kernel
        can be saved if the map is an object that can.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.kernels import RBF
    >>> warped = RBF().with_inputs(np.log)
    >>> round(warped([1.0], [np.e]), 6)  # exp(-1/2)
    0.606531
    """

    kernel: Kernel
    map: Callable[[Any], Any]
    _schema = Schema(kernel=_KERNEL, map=Instance("__call__"))

    stationary = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not callable(self.map):
            raise TypeError(f"The 'map' of InputMap must be callable. Got {self.map!r} instead.")

    def _single(self, x: Any) -> Any:
        # Numbers are rows of numbers; strings, graphs and the like are taken as they are.
        array = x if hasattr(x, "__array_namespace__") else np.asarray(x)
        numeric = not isinstance(array, np.ndarray) or array.dtype.kind in "biuf"
        return array.__array_namespace__().reshape(array, (1, -1)) if numeric else [x]

    def _prepare(self, X: Any, Y: Any) -> tuple[Any, Any]:
        if not hasattr(X, "__array_namespace__") and np.asarray(X).dtype.kind in "biuf":
            X = np.asarray(X)
        if Y is not None and not hasattr(Y, "__array_namespace__"):
            Y = np.asarray(Y) if np.asarray(Y).dtype.kind in "biuf" else Y
        return self.kernel._prepare(self.map(X), None if Y is None else self.map(Y))


def from_feature_map(map: Callable[[Any], Any]) -> Kernel:
    """Return the kernel ``<map(x), map(y)>`` of a feature map.

    Parameters
    ----------
    map : callable
        ``map(X)`` takes n inputs and returns an array of shape (n, N).

    Returns
    -------
    kernel : Kernel
        The linear kernel of the features. An orthogonal change of the features gives the same
        kernel.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.kernels import from_feature_map
    >>> kernel = from_feature_map(lambda X: np.hstack([X, X**2]))
    >>> kernel([1.0], [3.0])
    12.0
    """
    return Linear().with_inputs(map)
