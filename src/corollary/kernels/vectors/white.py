"""The kernel of noise that every row has for itself."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from corollary.core.schema import Number, Schema
from corollary.kernels._differentiation import NO_POINTS, Pullback
from corollary.kernels._parametrised import hyperparameter
from corollary.kernels.base import Kernel


@dataclass(frozen=True, eq=False)
class White(Kernel):
    """Noise that each row has for itself: the level for a row with itself, zero for two rows.

    Parameters
    ----------
    noise_level : float, default=1.0
        Non-negative variance of the noise.

    Notes
    -----
    The noise belongs to rows, not to their values: two equal rows are two measurements. So
    ``gram(X)`` is a multiple of the identity, and ``gram(X, Y)`` is zero for any Y, as for
    scikit-learn's ``WhiteKernel``.

    Examples
    --------
    >>> from corollary.kernels import RBF, White
    >>> kernel = RBF() + White(0.5)
    >>> kernel.gram([[0.0], [0.0]])
    array([[1.5, 1. ],
           [1. , 1.5]])
    >>> kernel.gram([[0.0], [0.0]], [[0.0]])
    array([[1.],
           [1.]])
    """

    noise_level: Any = hyperparameter(1.0)
    _schema = Schema(noise_level=Number(0))

    def __post_init__(self) -> None:
        self._settle("noise_level", strict=False)

    def _prepare(self, X: Any, Y: Any) -> tuple[Any, Any]:
        P = _numbers(X)
        return P, P if Y is None else -1 - _numbers(Y)

    def _evaluate(self, P: Any, Q: Any, same: bool) -> Any:
        return (P[:, None] == Q[None, :]) * self.noise_level

    def _diag(self, P: Any) -> Any:
        return (P == P) * self.noise_level

    def gram_with_gradient(self, X: Any, Y: Any = None) -> tuple[np.ndarray, Pullback]:
        """See :meth:`Kernel.gram_with_gradient`."""
        by_points = NO_POINTS if Y is None else np.zeros(np.shape(X))

        def pull(W: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            return np.array([self.noise_level * np.trace(W) if Y is None else 0.0]), by_points

        return self.gram(X, Y), pull

    def diag_gradient(self, X: Any, weight: np.ndarray) -> np.ndarray:
        """See :meth:`Kernel.diag_gradient`."""
        return np.array([self.noise_level * weight.sum()])


def _numbers(X: Any) -> Any:
    """Return a number for each row, in the library of their array."""
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    own = hasattr(X, "__array_namespace__")
    return X.__array_namespace__().arange(n) if own else np.arange(n)
