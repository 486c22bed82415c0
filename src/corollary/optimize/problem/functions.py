r"""Differentiable functions with their constants.

A :class:`Smooth` function knows its value and gradient and, where they exist, its Hessian and two
constants: it is *L-smooth* if :math:`\|\nabla f(x)-\nabla f(y)\|\le L\|x-y\|`, and *m-strongly
convex* if :math:`f-\tfrac m2\|\cdot\|^2` is convex. Rates and certificates are computed from them.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from scipy import linalg

from corollary.core.certificate import Assumption

_FLAT = 1e-12


class Smooth(ABC):
    """A differentiable function of a vector.

    ``value(x)``, ``gradient(x)`` and ``hessian(x)`` take a point, an array-like of shape (n,).
    A function without second derivatives raises a TypeError where it is asked for them.

    Attributes
    ----------
    convex : bool or None
        Whether the function is convex; None if that is not known.
    smoothness : float
        Lipschitz constant L of the gradient; infinite if none is known.
    strong_convexity : float
        Constant m of strong convexity; 0 if none is known.
    floor : float
        A number that the function never falls below; -inf if none is known.
    assumptions : tuple of Assumption
        What the caller vouched for: constants that nobody computed.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.optimize import Quadratic, Smooth
    >>> bowl = Quadratic(np.diag([1.0, 4.0]), [1.0, 0.0])
    >>> isinstance(bowl, Smooth), bowl.value([1.0, 1.0]), bowl.gradient([1.0, 1.0])
    (True, 3.5, array([2., 4.]))
    """

    convex: bool | None = None
    smoothness: float = math.inf
    strong_convexity: float = 0.0
    floor: float = -math.inf
    assumptions: tuple[Assumption, ...] = ()

    def value(self, x: Any) -> float:
        """Return the value at a point. See :class:`Smooth`."""
        return float(self._value(_point(x)))

    def gradient(self, x: Any) -> np.ndarray:
        """Return the gradient, of shape (n,), at a point. See :class:`Smooth`."""
        return self._gradient(_point(x))

    def value_and_gradient(self, x: Any) -> tuple[float, np.ndarray]:
        """Return both, in one pass where that is cheaper. See :class:`Smooth`."""
        value, gradient = self._value_and_gradient(_point(x))
        return float(value), gradient

    def hessian(self, x: Any) -> np.ndarray:
        """Return the second derivatives, or raise a TypeError. See :class:`Smooth`."""
        return self._hessian(_point(x))

    @abstractmethod
    def _value(self, x: np.ndarray) -> float:
        """Return the value."""

    @abstractmethod
    def _gradient(self, x: np.ndarray) -> np.ndarray:
        """Return the gradient."""

    def _value_and_gradient(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        return self._value(x), self._gradient(x)

    def _hessian(self, x: np.ndarray) -> np.ndarray:
        raise TypeError(
            f"{type(self).__name__} has no Hessian. Give one, or use a method that needs none, "
            "such as lbfgs."
        )


class Quadratic(Smooth):
    r"""The function :math:`\tfrac12x^\top Px+q^\top x+r`, with exact constants.

    L is the largest absolute eigenvalue of P, and m the smallest eigenvalue, or 0 if that is
    negative. Eigenvalues below rounding error (1e-12 of the largest) count as 0. The matrix ``P``
    is symmetric, the linear part ``q`` and the constant part ``r`` are 0 by default.
    See :class:`Smooth`.

    Examples
    --------
    >>> from corollary.optimize import Quadratic
    >>> bowl = Quadratic([[2.0, 0.0], [0.0, 8.0]], [-2.0, 0.0])
    >>> bowl.convex, float(bowl.smoothness), float(bowl.strong_convexity)
    (True, 8.0, 2.0)
    >>> bowl.minimiser()
    array([1., 0.])
    """

    def __init__(self, P: Any, q: Any = None, r: float = 0.0) -> None:
        self.P = np.array(P, dtype=float)
        if self.P.ndim != 2 or self.P.shape[0] != self.P.shape[1]:
            raise ValueError(f"Quadratic needs a square matrix P. Got shape {self.P.shape}.")
        self.q = np.zeros(len(self.P)) if q is None else np.array(q, dtype=float)
        if self.q.shape != (len(self.P),):
            raise ValueError(
                f"Quadratic needs one entry of q for each column of P. Got shapes {self.q.shape} "
                f"and {self.P.shape}."
            )
        self.r = float(r)
        if not (np.isfinite(self.P).all() and np.isfinite(self.q).all() and np.isfinite(self.r)):
            raise ValueError("Quadratic needs finite numbers. P, q or r holds NaN or infinity.")
        rounding = 1e-12 * np.abs(self.P).max(initial=0)
        if not np.allclose(self.P, self.P.T, rtol=1e-10, atol=rounding):
            raise ValueError(
                "Quadratic needs a symmetric matrix P. Pass (P + P.T) / 2, the same function."
            )

    @cached_property
    def _eigenvalues(self) -> np.ndarray:
        values = linalg.eigvalsh(self.P) if self.P.size else np.zeros(1)
        flat = np.abs(values) <= _FLAT * np.abs(values).max()
        if flat[0] and _curves_down(self.P):
            flat &= values >= 0
        return np.where(flat, 0.0, values)

    @property
    def convex(self) -> bool:  # type: ignore[override]
        """Whether no eigenvalue of P is negative."""
        return bool(self._eigenvalues[0] >= 0)

    @property
    def smoothness(self) -> float:  # type: ignore[override]
        """Largest absolute eigenvalue of P."""
        return float(np.abs(self._eigenvalues).max())

    @property
    def strong_convexity(self) -> float:  # type: ignore[override]
        """Smallest eigenvalue of P, or 0 if it is negative."""
        return float(max(self._eigenvalues[0], 0.0))

    @cached_property
    def floor(self) -> float:  # type: ignore[override]
        """The least value, or -inf if there is none."""
        try:
            return self.value(self.minimiser())
        except ValueError:
            return -math.inf

    def _value(self, x: np.ndarray) -> float:
        return float(x @ (0.5 * (self.P @ x) + self.q) + self.r)

    def _gradient(self, x: np.ndarray) -> np.ndarray:
        return self.P @ x + self.q

    def _hessian(self, x: np.ndarray) -> np.ndarray:
        return self.P

    def minimiser(self) -> np.ndarray:
        """Return the shortest minimiser, or raise a ValueError if there is none."""
        x = linalg.lstsq(self.P, -self.q, cond=_FLAT)[0]
        scale = max(1.0, float(np.abs(self.q).max(initial=0.0)))
        if not self.convex or np.abs(self.gradient(x)).max(initial=0.0) > 1e-8 * scale:
            raise ValueError("The quadratic has no minimum: it falls without limit.")
        return x


class Function(Smooth):
    """A function of the user's, differentiated by JAX where no gradient is given.

    Derivatives are compiled once for each object and shape: pass the same object again rather than
    a new one. The function is then the one of the first call, whatever it refers to changes later.

    Parameters
    ----------
    value : callable
        ``value(x)`` returns a number. It is written with ``jax.numpy`` if gradient or Hessian are
        to be derived, else with anything.
    gradient : callable or None, default=None
        ``gradient(x)``; None derives it.
    hessian : callable or None, default=None
        ``hessian(x)``; None derives it if the gradient is derived, too.
    convex : bool or None, default=None
        What the caller vouches for; None if unknown, then no certificate rests on it.
    smoothness : float, default=inf
        Lipschitz constant of the gradient that the caller vouches for.
    strong_convexity : float, default=0.0
        Constant of strong convexity that the caller vouches for; above 0 it implies convexity.
    floor : float, default=-inf
        A number that the function never falls below, as the caller vouches.

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> from corollary.optimize import Function
    >>> f = Function(lambda x: jnp.log(1 + jnp.exp(x)).sum())
    >>> round(f.value([0.0, 0.0]), 4), f.gradient([0.0, 0.0])
    (1.3863, array([0.5, 0.5]))
    """

    def __init__(
        self,
        value: Callable[[Any], Any],
        gradient: Callable[[Any], Any] | None = None,
        hessian: Callable[[Any], Any] | None = None,
        *,
        convex: bool | None = None,
        smoothness: float = math.inf,
        strong_convexity: float = 0.0,
        floor: float = -math.inf,
    ) -> None:
        if not strong_convexity >= 0 or not smoothness >= strong_convexity:
            raise ValueError(
                "Function needs 0 <= strong_convexity <= smoothness. Got "
                f"{strong_convexity!r} and {smoothness!r}."
            )
        if convex is False and strong_convexity > 0:
            raise ValueError("A strongly convex function is convex; convex=False denies it.")
        self._given = (value, gradient, hessian)
        self.convex = True if strong_convexity > 0 else convex
        self.smoothness, self.strong_convexity = float(smoothness), float(strong_convexity)
        self.floor = float(floor)
        self.assumptions = _vouched(self)

    @cached_property
    def _derived(self) -> tuple[Callable[..., Any], Callable[..., Any]]:
        """Programs for value with gradient and for the Hessian, compiled once for each shape."""
        from corollary.core.xla import jax

        return jax.jit(jax.value_and_grad(self._given[0])), jax.jit(jax.hessian(self._given[0]))

    def _derive(self, order: int, x: np.ndarray) -> Any:
        from corollary.core.xla import jax

        with jax.enable_x64(True):
            return self._derived[order - 1](x)

    def _value(self, x: np.ndarray) -> float:
        return self._derive(1, x)[0] if self._given[1] is None else self._given[0](x)

    def _gradient(self, x: np.ndarray) -> np.ndarray:
        if self._given[1] is None:
            return np.asarray(self._derive(1, x)[1])
        return _shaped("gradient", self._given[1](x), x.shape)

    def _value_and_gradient(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        if self._given[1] is not None:
            return self._value(x), self._gradient(x)
        value, gradient = self._derive(1, x)
        return value, np.asarray(gradient)

    def _hessian(self, x: np.ndarray) -> np.ndarray:
        if self._given[2] is not None:
            return _shaped("hessian", self._given[2](x), (x.size, x.size))
        return super()._hessian(x) if self._given[1] is not None else np.asarray(self._derive(2, x))


def _curves_down(P: np.ndarray) -> bool:
    """Tell whether a matrix has a negative curvature that is more than rounding of its terms.

    Beside large eigenvalues a negative one can look like rounding and be none, as in a diagonal
    matrix whose units differ.
    """
    values, vectors = linalg.eigh(P)
    vectors = vectors[:, values < 0]
    terms = np.abs(vectors) * (np.abs(P) @ np.abs(vectors))
    curvatures = (vectors * (P @ vectors)).sum(axis=0)
    return bool((curvatures < -_FLAT * terms.sum(axis=0)).any())


def _point(x: Any) -> np.ndarray:
    return np.asarray(x, dtype=float)


def _shaped(name: str, result: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Return what a function of the user's gave, if it has the shape it must have."""
    array = np.asarray(result, dtype=float)
    if array.shape != shape:
        raise ValueError(
            f"The {name} must have shape {shape}. Got shape {array.shape} from the function that "
            "was passed."
        )
    return array


def _vouched(function: Smooth) -> tuple[Assumption, ...]:
    """Say what a caller vouched for."""
    texts = []
    if function.strong_convexity > 0:
        texts.append(
            f"The function is strongly convex with constant {function.strong_convexity:g}."
        )
    elif function.convex:
        texts.append("The function is convex.")
    if math.isfinite(function.smoothness):
        texts.append(f"Its gradient has the Lipschitz constant {function.smoothness:g}.")
    if math.isfinite(function.floor):
        texts.append(f"It never falls below {function.floor:g}.")
    return tuple(Assumption(text, "model") for text in texts)
