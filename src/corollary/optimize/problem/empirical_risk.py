"""Penalised mean losses of linear predictors, with their constants."""

from functools import cached_property
from typing import Any

import numpy as np
from scipy import linalg

from corollary.optimize.problem.finite_sum import FiniteSum
from corollary.risk import LossLike, SquareLoss, SquareMarginLoss, check_loss


class EmpiricalRisk(FiniteSum):
    r"""The function :math:`\tfrac1n\sum_i\ell(y_i,x_i^\top w)+\tfrac\alpha2\|w\|^2`.

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

    Notes
    -----
    The smoothness is :math:`\beta\lambda_{\max}(X^\top X/n)+\alpha` with :math:`\beta` that of the
    loss: 2 for the square loss, 1/4 for the logistic one, where it is the Hessian at 0 and so
    exact. The constant of strong convexity is :math:`\alpha`, and :math:`2\lambda_{\min}` more for
    the square losses, whose curvature is 2 everywhere. For a loss with a kink the gradient is a
    subgradient, and the smoothness infinite.

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
        if not np.isfinite(self.X).all():
            raise ValueError("EmpiricalRisk needs finite numbers. X holds NaN or infinity.")
        if not 0 <= self.alpha < np.inf:
            raise ValueError(
                "The 'alpha' parameter of EmpiricalRisk must be a float in the range [0, inf). "
                f"Got {alpha!r} instead."
            )
        if not np.isfinite(self.loss.value(self.y, np.zeros(len(self.y)))).all():
            raise ValueError("EmpiricalRisk needs finite truths. y holds NaN or infinity.")
        self.n_terms = len(self.y)
        self.convex = True if self.loss.convex else None

    @cached_property
    def _spectrum(self) -> np.ndarray:
        """Eigenvalues of the mean outer product of the rows, ascending."""
        squares = linalg.svdvals(self.X) ** 2 / self.n_terms
        missing = max(0, self.X.shape[1] - len(squares))
        return np.append(np.zeros(missing), squares[::-1])

    @property
    def smoothness(self) -> float:  # type: ignore[override]
        """That of the loss times the largest eigenvalue of the rows, plus the penalty's."""
        if self._spectrum[-1] == 0:
            return self.alpha
        return float(self.loss.smoothness * self._spectrum[-1]) + self.alpha

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
        slopes = self.loss.slope(self.y, scores)
        return float(value), self.X.T @ slopes / self.n_terms + self.alpha * x

    def _term_gradients(self, x: np.ndarray, rows: np.ndarray) -> np.ndarray:
        X = self.X[rows]
        return self.loss.slope(self.y[rows], X @ x)[:, None] * X + self.alpha * x

    def _batch_gradient(self, x: np.ndarray, rows: Any) -> np.ndarray:
        X = self.X[rows]
        return X.T @ self.loss.slope(self.y[rows], X @ x) / len(X) + self.alpha * x

    def _hessian(self, x: np.ndarray) -> np.ndarray:
        curvature = self.loss.curvature(self.y, self.X @ x)
        return (self.X.T * curvature) @ self.X / self.n_terms + self.alpha * np.eye(x.size)
