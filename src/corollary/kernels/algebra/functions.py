"""Functions of one kernel, which users write ``2.0 * k``, ``k ** 3``, ``k.exp()`` and the like."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from corollary.core.schema import Array, Integer, Number, Schema
from corollary.kernels import _arrays as arrays
from corollary.kernels._differentiation import Pullback
from corollary.kernels._parametrised import check_whole, hyperparameter
from corollary.kernels.algebra._wrapper import KERNEL, Wrapper
from corollary.kernels.base import Kernel


class _Function(Wrapper):
    """A function of the values of another kernel."""

    def _evaluate(self, P: Any, Q: Any, same: bool) -> Any:
        return self._of_values(self.kernel._evaluate(P, Q, same))

    def _diag(self, P: Any) -> Any:
        return self._of_values(self.kernel._diag(P))

    @abstractmethod
    def _of_values(self, values: Any) -> Any:
        """Return the kernel for values of the one inside, which may be overwritten."""

    @abstractmethod
    def _slope_of_values(self, values: np.ndarray) -> Any:
        """Return the derivative of the function."""

    def gram_with_gradient(self, X: Any, Y: Any = None) -> tuple[np.ndarray, Pullback]:
        """Return the function of the Gram matrix, differentiated by the chain rule."""
        inner, pull = self.kernel.gram_with_gradient(X, Y)
        return self._of_values(inner.copy()), lambda W: pull(W * self._slope_of_values(inner))

    def diag_gradient(self, X: Any, weight: np.ndarray) -> np.ndarray:
        """Return the gradient of the function of the diagonal by the chain rule."""
        slope = self._slope_of_values(self.kernel.diag(X))
        return self.kernel.diag_gradient(X, weight * slope)


@dataclass(frozen=True, eq=False)
class Scaled(_Function):
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

    scale: Any = hyperparameter()
    kernel: Kernel  # type: ignore[misc]  # no default precedes it, which mypy cannot see
    _schema = Schema(scale=Number(0), kernel=KERNEL)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._settle("scale", strict=False)

    def _of_values(self, values: Any) -> Any:
        if isinstance(values, np.ndarray) and not arrays.is_traced(self.scale):
            values *= self.scale
            return values
        return values * self.scale

    def _slope_of_values(self, values: np.ndarray) -> Any:
        return self.scale

    def gram_with_gradient(self, X: Any, Y: Any = None) -> tuple[np.ndarray, Pullback]:
        """Return the multiple, differentiated in its factor too."""
        inner, pull = self.kernel.gram_with_gradient(X, Y)

        def scaled(W: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            by_parameters, by_points = pull(W)
            first = [float(np.vdot(W, inner))]
            return self.scale * np.append(first, by_parameters), self.scale * by_points

        return self.scale * inner, scaled

    def diag_gradient(self, X: Any, weight: np.ndarray) -> np.ndarray:
        """Return the gradient in the factor and in the parameters of the kernel."""
        first = [float(weight @ self.kernel.diag(X))]
        return self.scale * np.append(first, self.kernel.diag_gradient(X, weight))

    def spectral_mass(self) -> float:
        """Return the multiple of the kernel's mass."""
        return self.scale * self.kernel.spectral_mass()

    def _spectral_sample(self, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
        return self.kernel._spectral_sample(n, d, rng)


@dataclass(frozen=True, eq=False)
class Power(_Function):
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
    _schema = Schema(kernel=KERNEL, degree=Integer(1))

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole("Power", "degree", self.degree, 1)

    def _of_values(self, values: Any) -> Any:
        return arrays.whole_power(values, self.degree)

    def _slope_of_values(self, values: np.ndarray) -> Any:
        return self.degree * values ** (self.degree - 1)

    def spectral_mass(self) -> float:
        """Return the power of the kernel's mass."""
        return self.kernel.spectral_mass() ** self.degree

    def _spectral_sample(self, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
        draws = (self.kernel._spectral_sample(n, d, rng) for _ in range(self.degree))
        return sum(draws)  # type: ignore[return-value]


@dataclass(frozen=True, eq=False)
class Exponential(_Function):
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
    _schema = Schema(kernel=KERNEL)

    def _of_values(self, values: Any) -> Any:
        return arrays.apply("exp", values)

    def _slope_of_values(self, values: np.ndarray) -> Any:
        return np.exp(values)


@dataclass(frozen=True, eq=False)
class PolynomialOf(_Function):
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
    _schema = Schema(kernel=KERNEL, coefficients=Array("f", "p", low=0))

    def __post_init__(self) -> None:
        super().__post_init__()
        self._settle("coefficients", vector=True, strict=False)
        object.__setattr__(self, "coefficients", np.atleast_1d(self.coefficients))

    def _of_values(self, values: Any) -> Any:
        total = 0.0 * values
        for coefficient in self.coefficients[::-1].tolist():
            total = total * values + coefficient
        return total

    def _slope_of_values(self, values: np.ndarray) -> Any:
        total = 0.0 * values
        for degree in range(len(self.coefficients) - 1, 0, -1):
            total = total * values + degree * self.coefficients[degree]
        return total


@dataclass(frozen=True, eq=False)
class Normalised(Wrapper):
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
    _schema = Schema(kernel=KERNEL)

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

    def diag_gradient(self, X: Any, weight: np.ndarray) -> np.ndarray:
        """Return zeros: the diagonal is one, whatever the parameters."""
        return np.zeros(len(self.parameters().values))

    def spectral_mass(self) -> float:
        """Return 1, if the kernel has a spectral measure at all."""
        self.kernel.spectral_mass()
        return 1.0

    def _spectral_sample(self, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
        return self.kernel._spectral_sample(n, d, rng)
