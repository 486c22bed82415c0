"""What a kernel is: the contract of every similarity in this package.

A kernel is a frozen dataclass. It knows its Gram matrix, its diagonal and its hyper-parameters as
a flat vector, and kernels combine to kernels by ``+``, ``*``, ``**``, :meth:`Kernel.exp`,
:meth:`Kernel.normalised` and :meth:`Kernel.with_inputs`. The same code runs on NumPy arrays, where
it is blocked and threaded, and on JAX arrays, where it can be compiled and differentiated.

A new kernel on vectors implements three methods: ``_prepare(X, Y)`` (work on single inputs, done
once), ``_evaluate(P, Q, same)`` (pairs of prepared inputs; returns a new array, which the caller
may overwrite) and ``_diag(P)``.
"""

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from corollary.kernels import arrays


@dataclass(frozen=True)
class KernelParameters:
    """The hyper-parameters of a kernel as flat vectors.

    Parameters
    ----------
    names : tuple of str
        A name for each number, such as ``"terms[0].length_scale[2]"``.
    values : ndarray of shape (p,)
        The numbers as the kernel has them.
    positive : ndarray of shape (p,), dtype=bool
        Whether a number is positive and optimised on the log scale.
    low : ndarray of shape (p,)
        Smallest sensible values.
    high : ndarray of shape (p,)
        Largest sensible values.

    Examples
    --------
    >>> from corollary.kernels import RBF
    >>> found = (2.0 * RBF(length_scale=[1.0, 3.0])).parameters()
    >>> found.names
    ('scale', 'kernel.length_scale[0]', 'kernel.length_scale[1]')
    >>> found.values, found.vector.round(3)
    (array([2., 1., 3.]), array([0.693, 0.   , 1.099]))
    """

    names: tuple[str, ...]
    values: np.ndarray
    positive: np.ndarray
    low: np.ndarray
    high: np.ndarray

    @property
    def vector(self) -> np.ndarray:
        """The numbers on the scale of :meth:`Kernel.with_parameters`: logarithms if positive."""
        return self._scaled(self.values)

    @property
    def bounds(self) -> np.ndarray:
        """Bounds on the scale of :attr:`vector`, of shape (p, 2)."""
        return np.stack([self._scaled(self.low), self._scaled(self.high)], axis=1)

    def _scaled(self, values: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore"):
            return np.where(self.positive, np.log(np.where(self.positive, values, 1.0)), values)


# Metadata of a dataclass field that make it a hyper-parameter: whether it is positive, and then
# optimised on the log scale, and bounds for optimisers.
POSITIVE: dict[str, Any] = {"positive": True, "low": 1e-5, "high": 1e5}
REAL: dict[str, Any] = {"positive": False, "low": -1e5, "high": 1e5}


class Kernel(ABC):
    """A positive semi-definite similarity.

    Subclasses are frozen dataclasses. Kernels with equal parameters are equal, and a kernel can
    be a parameter of an estimator and be saved with it.

    Attributes
    ----------
    positive_semidefinite : bool
        Whether every Gram matrix is positive semi-definite; False for :class:`Sigmoid` and what
        is built from it.
    stationary : bool
        Whether the kernel depends on the difference of its inputs only.

    Examples
    --------
    >>> from corollary.kernels import Kernel, Linear, RBF
    >>> kernel = 2.0 * RBF(length_scale=0.5) + Linear()
    >>> isinstance(kernel, Kernel)
    True
    >>> kernel.gram([[0.0], [1.0]]).round(4)
    array([[2.    , 0.2707],
           [0.2707, 3.    ]])
    >>> kernel.diag([[0.0], [1.0]])
    array([2., 3.])
    """

    positive_semidefinite: ClassVar[bool] = True
    stationary: ClassVar[bool] = False

    # -- what a kernel computes ------------------------------------------------------------------

    def gram(self, X: Any, Y: Any = None) -> Any:
        """Return the kernel of all pairs.

        Parameters
        ----------
        X : array-like of shape (n, d), or the kernel's own kind of inputs
            Inputs; JAX arrays give a JAX array.
        Y : like X, with m rows, or None, default=None
            Other inputs; None for those of X, which costs half and gives an exactly symmetric
            matrix.

        Returns
        -------
        K : array of shape (n, m)
            ``K[i, j] = k(X[i], Y[j])``.
        """
        P, Q = self._prepare(self._placed(X), self._placed(Y))
        return arrays.assemble(self._evaluate, P, Q)

    def diag(self, X: Any) -> Any:
        """Return the kernel of every input with itself, without the rest of the Gram matrix.

        Parameters
        ----------
        X : array-like of shape (n, d), or the kernel's own kind of inputs
            Inputs.

        Returns
        -------
        diagonal : array of shape (n,)
            ``k(X[i], X[i])``.
        """
        return self._diag(self._prepare(self._placed(X), None)[0])

    def __call__(self, x: Any, y: Any) -> Any:
        """Return the kernel of two single inputs."""
        value = self.gram(self._single(x), self._single(y))[0, 0]
        return float(value) if isinstance(value, np.floating) else value

    def _placed(self, X: Any) -> Any:
        """Return NumPy inputs as JAX arrays if a hyper-parameter is a JAX tracer."""
        if isinstance(X, np.ndarray) and X.dtype.kind in "biuf":
            for _, value, _ in self._leaves(""):
                if arrays.is_traced(value):
                    return value.__array_namespace__().asarray(X)
        return X

    def _single(self, x: Any) -> Any:
        if not hasattr(x, "__array_namespace__"):
            x = np.asarray(x)
        return x.__array_namespace__().reshape(x, (1, -1))

    @abstractmethod
    def _prepare(self, X: Any, Y: Any) -> tuple[Any, Any]:
        """Do the work on single inputs; the second result is the first if Y is None."""

    @abstractmethod
    def _evaluate(self, P: Any, Q: Any, same: bool) -> Any:
        """Return a new matrix for all pairs of prepared inputs."""

    @abstractmethod
    def _diag(self, P: Any) -> Any:
        """Return the diagonal for prepared inputs."""

    # -- spectral measure ------------------------------------------------------------------------

    def spectral_sample(self, n_samples: int, n_features: int, random_state: Any = None) -> Any:
        """Draw frequencies from the normalised spectral measure.

        By Bochner's theorem a continuous stationary kernel is ``k(x, y) = Z E cos(w'(x - y))``
        with ``Z = k(x, x)`` and w drawn from a probability measure.

        Parameters
        ----------
        n_samples : int
            How many frequencies.
        n_features : int
            Their length, the number of features of the inputs.
        random_state : int, Generator, RandomState or None, default=None
            Seed or generator.

        Returns
        -------
        frequencies : ndarray of shape (n_samples, n_features)
            Independent draws.

        Raises
        ------
        TypeError
            If the kernel has no spectral measure that we can draw from.
        """
        if n_samples < 0 or n_features < 1:
            raise ValueError(
                "spectral_sample needs n_samples >= 0 and n_features >= 1. "
                f"Got {n_samples} and {n_features}."
            )
        return self._spectral_sample(n_samples, n_features, generator(random_state))

    def _spectral_sample(self, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
        raise TypeError(
            f"{type(self).__name__} has no spectral measure to draw from; stationary kernels such "
            "as RBF, Laplacian, Matern, RationalQuadratic and Periodic, their sums, products and "
            "multiples have one."
        )

    def spectral_mass(self) -> float:
        """Return the total mass ``Z = k(x, x)`` of the spectral measure.

        Returns
        -------
        mass : float
            The value of a stationary kernel at difference zero.

        Raises
        ------
        TypeError
            If the kernel is not stationary.
        """
        if not self.stationary:
            raise TypeError(f"{type(self).__name__} is not stationary: it has no spectral measure.")
        return 1.0

    # -- hyper-parameters ------------------------------------------------------------------------

    def parameters(self) -> KernelParameters:
        """Return the hyper-parameters as flat vectors.

        Returns
        -------
        parameters : KernelParameters
            Names, values, scales and bounds, in the order of :meth:`with_parameters`.
        """
        found = list(self._leaves(""))
        return KernelParameters(
            names=tuple(name for name, *_ in found),
            values=np.array([value for _, value, _ in found], dtype=float),
            positive=np.array([meta["positive"] for *_, meta in found], dtype=bool),
            low=np.array([meta["low"] for *_, meta in found], dtype=float),
            high=np.array([meta["high"] for *_, meta in found], dtype=float),
        )

    def with_parameters(self, vector: Any) -> Self:
        """Return the same kernel with other hyper-parameters.

        Parameters
        ----------
        vector : array of shape (p,)
            One number for each of :meth:`parameters`; logarithms of those that are positive. A
            JAX tracer gives a kernel that can be compiled and differentiated.

        Returns
        -------
        kernel : Kernel
            The kernel.
        """
        if not hasattr(vector, "__array_namespace__"):
            vector = np.asarray(vector, dtype=float)
        needed = sum(1 for _ in self._leaves(""))
        if vector.shape != (needed,):
            raise ValueError(
                f"{type(self).__name__} has {needed} hyper-parameters, and with_parameters needs "
                f"as many. Got an array of shape {vector.shape}."
            )
        kernel, _ = self._rebuilt(vector, 0)
        return kernel

    def _leaves(self, prefix: str) -> Iterator[tuple[str, Any, Any]]:
        for field in dataclasses.fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if isinstance(value, Kernel):
                yield from value._leaves(f"{prefix}{field.name}.")
            elif isinstance(value, tuple) and value and isinstance(value[0], Kernel):
                for i, part in enumerate(value):
                    yield from part._leaves(f"{prefix}{field.name}[{i}].")
            elif field.metadata:
                if np.ndim(value) == 0:
                    yield f"{prefix}{field.name}", value, field.metadata
                else:
                    for i in range(value.shape[0]):
                        yield f"{prefix}{field.name}[{i}]", value[i], field.metadata

    def _rebuilt(self, vector: Any, at: int) -> tuple[Self, int]:
        changes: dict[str, Any] = {}
        for field in dataclasses.fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if isinstance(value, Kernel):
                changes[field.name], at = value._rebuilt(vector, at)
            elif isinstance(value, tuple) and value and isinstance(value[0], Kernel):
                parts = []
                for part in value:
                    part, at = part._rebuilt(vector, at)
                    parts.append(part)
                changes[field.name] = tuple(parts)
            elif field.metadata:
                size = 1 if np.ndim(value) == 0 else value.shape[0]
                new = vector[at] if np.ndim(value) == 0 else vector[at : at + size]
                if field.metadata["positive"]:
                    new = vector.__array_namespace__().exp(new)
                changes[field.name], at = new, at + size
        return dataclasses.replace(self, **changes), at  # type: ignore[type-var]

    def _settle(
        self, name: str, *, vector: bool = False, low: float = 0.0, strict: bool = True
    ) -> None:
        """Check a parameter and store it as a float or a read-only array; leave tracers alone."""
        value = getattr(self, name)
        if arrays.is_traced(value):
            return
        try:
            number = np.asarray(value, dtype=np.float64)
        except (TypeError, ValueError):
            number = np.asarray(np.nan)
        fits = number.ndim == 0 or (vector and number.ndim == 1 and number.size)
        good = number > low if strict else number >= low
        if isinstance(value, bool) or not fits or not (np.isfinite(number) & good).all():
            sign, end = ("(", low) if strict else ("[", low)
            start = "(-inf" if math.isinf(low) else f"{sign}{end}"
            raise ValueError(
                f"The {name!r} parameter of {type(self).__name__} must be a float in the range "
                f"{start}, inf){' or one for each feature' if vector else ''}. "
                f"Got {value!r} instead."
            )
        if number.ndim:
            number = number.copy()
            number.flags.writeable = False
        object.__setattr__(self, name, number if number.ndim else float(number))

    # -- algebra ---------------------------------------------------------------------------------

    def __add__(self, other: Any) -> "Kernel":
        from corollary.kernels import algebra
        from corollary.kernels.dot_product import Constant

        if _is_number(other):
            other = Constant(other)
        return algebra.Sum.of(self, other) if isinstance(other, Kernel) else NotImplemented

    __radd__ = __add__

    def __mul__(self, other: Any) -> "Kernel":
        from corollary.kernels import algebra

        if _is_number(other):
            return algebra.Scaled(other, self)
        return algebra.Product.of(self, other) if isinstance(other, Kernel) else NotImplemented

    __rmul__ = __mul__

    def __pow__(self, degree: int) -> "Kernel":
        from corollary.kernels import algebra

        return algebra.Power(self, degree)

    def exp(self) -> "Kernel":
        """Return the kernel ``exp(k(x, y))``.

        Returns
        -------
        kernel : Kernel
            The exponential: a power series with positive coefficients.
        """
        from corollary.kernels import algebra

        return algebra.Exponential(self)

    def polynomial(self, coefficients: Any) -> "Kernel":
        """Return a polynomial of the kernel.

        Parameters
        ----------
        coefficients : array-like of shape (p + 1,)
            Non-negative; entry i multiplies ``k(x, y) ** i``.

        Returns
        -------
        kernel : Kernel
            ``sum_i coefficients[i] k(x, y) ** i``.
        """
        from corollary.kernels import algebra

        return algebra.PolynomialOf(self, coefficients)

    def normalised(self) -> "Kernel":
        """Return the kernel ``k(x, y) / sqrt(k(x, x) k(y, y))``.

        Returns
        -------
        kernel : Kernel
            The cosine of the angle between features; 0 where an input has no features at all.
        """
        from corollary.kernels import algebra

        return algebra.Normalised(self)

    def with_inputs(self, map: Callable[[Any], Any]) -> "Kernel":
        """Return the kernel of mapped inputs.

        Parameters
        ----------
        map : callable
            ``map(X)`` takes n inputs and returns what this kernel takes.

        Returns
        -------
        kernel : Kernel
            ``k(map(x), map(y))``; it can be saved if the map can.
        """
        from corollary.kernels import algebra

        return algebra.InputMap(self, map)

    # -- values ----------------------------------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return all(
            _equal(getattr(self, f.name), getattr(other, f.name))
            for f in dataclasses.fields(self)  # type: ignore[arg-type]
        )

    def __hash__(self) -> int:
        values = (getattr(self, f.name) for f in dataclasses.fields(self))  # type: ignore[arg-type]
        keys = (v.tobytes() if isinstance(v, np.ndarray) else v for v in values)
        return hash((type(self), *keys))


def generator(random_state: Any) -> np.random.Generator:
    """Return a generator for scikit-learn's convention of seeds."""
    if isinstance(random_state, np.random.RandomState):
        random_state = int(random_state.randint(np.iinfo(np.int32).max))
    return np.random.default_rng(random_state)


def _is_number(value: Any) -> bool:
    if isinstance(value, bool):
        return False
    return isinstance(value, int | float | np.number) or (
        not isinstance(value, Kernel) and getattr(value, "ndim", None) == 0
    )


def _equal(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.shape(a) == np.shape(b) and bool(np.all(np.asarray(a) == np.asarray(b)))
    return bool(a == b)
