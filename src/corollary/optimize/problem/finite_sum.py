r"""Averages of many functions, of which a step may look at a few.

:math:`f(x)=\tfrac1n\sum_if_i(x)`: the mean of the gradients of a uniformly drawn set of terms has
the gradient of f as its expectation, which is all that stochastic methods ask for.
"""

from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from scipy import linalg

from corollary.optimize.problem.functions import Smooth
from corollary.risk import LossLike, SquareLoss, SquareMarginLoss, check_loss


class FiniteSum(Smooth):
    """The average of ``n_terms`` functions.

    ``term_gradients(x, rows)`` and ``batch_gradient(x, rows)`` take the numbers of terms; without
    ``rows`` all of them, and one that is named twice counts twice.

    Attributes
    ----------
    n_terms : int
        Number of functions.

    Examples
    --------
    >>> from corollary.optimize import Average, FiniteSum, Quadratic
    >>> f = Average([Quadratic([[1.0]], [-1.0]), Quadratic([[3.0]], [5.0])])
    >>> isinstance(f, FiniteSum), f.n_terms, f.term_gradients([1.0])[:, 0], f.gradient([1.0])
    (True, 2, array([0., 8.]), array([4.]))
    """

    n_terms: int

    def term_gradients(self, x: Any, rows: Any = None) -> np.ndarray:
        """Return the gradients of some terms at a point as rows. See :class:`FiniteSum`."""
        chosen = np.arange(self.n_terms) if rows is None else np.asarray(rows)
        return self._term_gradients(np.asarray(x, dtype=float), chosen)

    def batch_gradient(self, x: Any, rows: Any) -> np.ndarray:
        """Return the mean of the gradients of some terms. See :class:`FiniteSum`."""
        return self._batch_gradient(np.asarray(x, dtype=float), np.asarray(rows))

    @abstractmethod
    def _term_gradients(self, x: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Return the gradients of some terms."""

    def _batch_gradient(self, x: np.ndarray, rows: np.ndarray) -> np.ndarray:
        return self._term_gradients(x, rows).mean(axis=0)


class Average(FiniteSum):
    """The average of functions.

    Its constants are the means of those of the terms: valid, and exact where the terms have the
    same curvature. See :class:`FiniteSum`.

    Examples
    --------
    >>> from corollary.optimize import Average, Quadratic
    >>> f = Average([Quadratic([[1.0]]), Quadratic([[3.0]])])
    >>> f.value([2.0]), f.smoothness
    (4.0, 2.0)
    """

    def __init__(self, functions: Sequence[Smooth]) -> None:
        if not functions:
            raise ValueError("Average needs at least one function. Got none.")
        self.functions = tuple(functions)
        self.n_terms = len(self.functions)
        self.convex = True if all(f.convex for f in self.functions) else None
        self.smoothness = float(np.mean([f.smoothness for f in self.functions]))
        if self.convex:
            self.strong_convexity = float(np.mean([f.strong_convexity for f in self.functions]))
        self.assumptions = tuple(dict.fromkeys(a for f in self.functions for a in f.assumptions))

    def _value(self, x: np.ndarray) -> float:
        return float(np.mean([f.value(x) for f in self.functions]))

    def _gradient(self, x: np.ndarray) -> np.ndarray:
        return self._batch_gradient(x, np.arange(self.n_terms))

    def _term_gradients(self, x: np.ndarray, rows: np.ndarray) -> np.ndarray:
        return np.array([self.functions[i].gradient(x) for i in rows])

    def _hessian(self, x: np.ndarray) -> np.ndarray:
        return np.mean([f.hessian(x) for f in self.functions], axis=0)


class EmpiricalRisk(FiniteSum):
    r"""The function :math:`\tfrac1n\sum_i\ell(y_i,x_i^\top w)+\tfrac\alpha2\|w\|^2`.

    The smoothness is :math:`\beta\lambda_{\max}(X^\top X/n)+\alpha` with :math:`\beta` that of the
    loss: 2 for the square loss, 1/4 for the logistic one, where it is the Hessian at 0 and so
    exact. The constant of strong convexity is :math:`\alpha`, and :math:`2\lambda_{\min}` more for
    the square losses, whose curvature is 2 everywhere. For a loss with a kink the gradient is a
    subgradient, and the smoothness infinite.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Rows :math:`x_i`.
    y : array-like of shape (n_samples,)
        Truths, in the form that the loss takes; labels are -1 and +1.
    loss : str or Loss, default="logistic"
        A loss of one real prediction from :mod:`corollary.risk`.
    alpha : float, default=0.0
        Strength of the penalty.

    Attributes
    ----------
    lipschitz : float
        Bound on the lengths of (sub)gradients; infinite with a penalty.

    Examples
    --------
    >>> from corollary.optimize import EmpiricalRisk
    >>> f = EmpiricalRisk([[2.0], [0.0]], [1, -1], "logistic", alpha=0.5)
    >>> f.smoothness, f.strong_convexity  # 1/4 * 4/2 + 1/2
    (1.0, 0.5)
    >>> f.gradient([0.0])
    array([-0.5])
    """

    def __init__(self, X: Any, y: Any, loss: LossLike = "logistic", alpha: float = 0.0) -> None:
        self.X, self.y = np.array(X, dtype=float), np.array(y)
        self.loss, self.alpha = check_loss(loss, gradient=True), float(alpha)
        if self.X.ndim != 2 or self.y.shape != self.X.shape[:1] or not self.X.size:
            raise ValueError(
                "EmpiricalRisk needs a matrix X with at least one row and column and one truth for "
                f"each row. Got shapes {self.X.shape} and {self.y.shape}."
            )
        if not 0 <= self.alpha < np.inf:
            raise ValueError(
                "The 'alpha' parameter of EmpiricalRisk must be a float in the range [0, inf). "
                f"Got {alpha!r} instead."
            )
        losses = self.loss.value(self.y, np.zeros(len(self.y)))
        for name, numbers in (("X", self.X), ("y", losses)):
            if not np.isfinite(numbers).all():
                raise ValueError(
                    f"EmpiricalRisk needs finite numbers. {name} holds NaN or infinity."
                )
        self.n_terms = len(self.y)
        self.convex = True if self.loss.convex else None

    @cached_property
    def _spectrum(self) -> np.ndarray:
        """Eigenvalues of the mean outer product of the rows, ascending."""
        sizes = linalg.svdvals(self.X)
        # What is rounding counts as zero: a curvature that is not there would prove too much.
        sizes[sizes <= max(self.X.shape) * np.finfo(float).eps * sizes[0]] = 0.0
        squares = sizes**2 / self.n_terms
        missing = max(0, self.X.shape[1] - len(squares))
        return np.append(np.zeros(missing), squares[::-1])

    @cached_property
    def _largest(self) -> float:
        """The largest of these eigenvalues, which needs no singular values."""
        X = self.X if self.X.shape[0] >= self.X.shape[1] else self.X.T
        n = X.shape[1]
        with np.errstate(over="ignore", invalid="ignore"):
            gram = X.T @ X / self.n_terms
        if not np.isfinite(gram).all():
            return np.inf
        return float(linalg.eigvalsh(gram, subset_by_index=(n - 1, n - 1))[0])

    @property
    def smoothness(self) -> float:  # type: ignore[override]
        """That of the loss times the largest eigenvalue of the rows, plus the penalty's."""
        if self._largest <= 0:
            return self.alpha
        return float(self.loss.smoothness * self._largest) + self.alpha

    @property
    def strong_convexity(self) -> float:  # type: ignore[override]
        """The penalty's, and for square losses the least eigenvalue of the Hessian."""
        if isinstance(self.loss, SquareLoss | SquareMarginLoss):
            return 2.0 * float(self._spectrum[0]) + self.alpha
        return self.alpha if self.convex else 0.0

    @property
    def lipschitz(self) -> float:
        """Lipschitz constant of the loss times the mean length of the rows."""
        if self.alpha > 0:
            return np.inf
        return float(self.loss.lipschitz * np.linalg.norm(self.X, axis=1).mean())

    def _value(self, x: np.ndarray) -> float:
        return float(self.loss.value(self.y, self.X @ x).mean() + self.alpha / 2 * (x @ x))

    def _gradient(self, x: np.ndarray) -> np.ndarray:
        return self._batch_gradient(x, slice(None))

    def _value_and_gradient(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        scores = self.X @ x
        value = self.loss.value(self.y, scores).mean() + self.alpha / 2 * (x @ x)
        return value, self.X.T @ self.loss.slope(self.y, scores) / self.n_terms + self.alpha * x

    def _term_gradients(self, x: np.ndarray, rows: np.ndarray) -> np.ndarray:
        X = self.X[rows]
        return self.loss.slope(self.y[rows], X @ x)[:, None] * X + self.alpha * x

    def _batch_gradient(self, x: np.ndarray, rows: Any) -> np.ndarray:
        X = self.X[rows]
        return X.T @ self.loss.slope(self.y[rows], X @ x) / len(X) + self.alpha * x

    def _hessian(self, x: np.ndarray) -> np.ndarray:
        curvature = self.loss.curvature(self.y, self.X @ x)
        return (self.X.T * curvature) @ self.X / self.n_terms + self.alpha * np.eye(x.size)
