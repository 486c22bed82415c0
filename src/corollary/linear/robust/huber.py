r"""Huber's regression with its scale: squares of small residuals, absolute values of large ones.

.. math:: P(w, b, \sigma) = \sigma + \frac1S \sum_i s_i\, \sigma H_\epsilon\Bigl(
          \frac{y_i - \langle w, x_i \rangle - b}{\sigma} \Bigr) + \frac{\alpha}{S} \|w\|_2^2

is convex in all of its variables. Since the scale is learnt too, the units of the target do not
matter to which rows count as outliers. Steps are taken in the logarithm of the scale, which keeps
it positive; where so many rows are fitted exactly that the best scale is zero, it stops at the
square root of what numbers resolve.
"""

import warnings
from dataclasses import KW_ONLY, dataclass, replace
from numbers import Real
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from corollary.core.compat import Interval
from corollary.core.estimator import CountFromZero, NonNegative, fitted
from corollary.core.parallel import one_blas_thread, row_products
from corollary.core.schema import Array, Integer, Number
from corollary.core.summary import Chunk, Summary, reduce
from corollary.linear._regressor import LinearRegressor
from corollary.optimize import newton_minimise
from corollary.risk import HuberLoss

# The least scale, in units of the targets' spread; residuals below are rounding.
LEAST = 1e-6
# Straight parts of the loss have no curvature; a share of that of their majoriser keeps steps
# finite in directions that only outliers span.
_SHARE = 1e-3


@dataclass(frozen=True, eq=False)
class _Terms(Summary):
    """Weighted sums of the scaled loss, its gradient and a Hessian over rows."""

    loss: HuberLoss
    parameters: np.ndarray  # of the features, of the intercept if there is one, log of the scale
    value: float
    gradient: np.ndarray
    hessian: np.ndarray

    @classmethod
    def at(cls, loss: HuberLoss, parameters: np.ndarray) -> Self:
        """Return the sums over no rows."""
        d = len(parameters)
        return cls(loss, parameters, 0.0, np.zeros(d), np.zeros((d, d)))

    def empty(self) -> Self:
        """Return the sums over no rows at the same place."""
        return self.at(self.loss, self.parameters)

    def update(self, chunk: Chunk) -> Self:
        """Add the rows of ``(X, y, sample_weight)``."""
        X, y, weight = chunk
        w = np.ones(len(y)) if weight is None else weight
        scale = max(float(np.exp(self.parameters[-1])), LEAST)
        n_ones = len(self.parameters) - 1 - X.shape[1]
        stack: Any = sparse.hstack if sparse.issparse(X) else np.hstack
        rows = stack([X, np.ones((len(y), n_ones))])
        residual = y - rows @ self.parameters[:-1]
        z = residual / scale
        losses, slopes = self.loss.value(z, 0.0), -self.loss.slope(z, 0.0)
        near = np.abs(z) <= self.loss.epsilon
        by_scale = -scale * float(w @ np.where(near, z, self.loss.epsilon) ** 2)
        gradient = np.append(-(rows.T @ (w * slopes)), by_scale)
        # The Hessian of sigma H(r / sigma) is that of one more feature, the residual itself.
        rows = stack([rows, np.where(near, residual, 0.0)[:, None]])
        bend = w / scale * np.where(near, 2.0, _SHARE * slopes / np.where(near, 1.0, z))
        if sparse.issparse(rows):
            hessian = (rows.T @ sparse.diags_array(bend) @ rows).toarray()
        else:
            hessian = (rows * bend[:, None]).T @ rows
        return replace(
            self,
            value=self.value + scale * float(w @ losses),
            gradient=self.gradient + gradient,
            hessian=self.hessian + hessian,
        )

    def merge(self, other: Self) -> Self:
        """Return the sums over both sets of rows."""
        return replace(
            self,
            value=self.value + other.value,
            gradient=self.gradient + other.gradient,
            hessian=self.hessian + other.hessian,
        )


def _median(values: np.ndarray, weight: np.ndarray | None) -> float:
    """Return the smallest value up to which half of the weight lies."""
    order = np.argsort(values, kind="stable")
    mass = np.cumsum(np.ones(len(values)) if weight is None else weight[order])
    return float(values[order][np.searchsorted(mass, mass[-1] / 2)])


class HuberRegressor(LinearRegressor):
    r"""Least squares for most rows, absolute errors for those far off.

    Minimises, as scikit-learn's class of this name does,
    :math:`\sum_i s_i (\sigma + \sigma H_\epsilon(r_i / \sigma)) + \alpha \|w\|_2^2` over
    coefficients, intercept and the scale :math:`\sigma`, with residuals :math:`r_i`, weights
    :math:`s_i`, and :math:`H_\epsilon(z)` equal to :math:`z^2` up to :math:`\epsilon`, then a
    straight line.

    Parameters
    ----------
    epsilon : float, default=1.35
        Residuals beyond epsilon times the scale are outliers; at least 1. With 1.35 and normal
        errors without outliers the variance is that of least squares divided by 0.95.
    max_iter : int, default=100
        Largest number of steps.
    alpha : float, default=0.0001
        Strength of the penalty.
    warm_start : bool, default=False
        Whether to start from the last fit.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    tol : float, default=1e-5
        Largest allowed entry of the gradient, of targets in units of their spread.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Coefficients.
    intercept_ : float
        Intercept.
    scale_ : float
        The scale of residuals; at least 1e-6 of the median distance of targets from their median.
    n_iter_ : int
        Steps taken.
    outliers_ : ndarray of shape (n_samples,), dtype=bool
        Whether a training row is farther off than epsilon times the scale.

    See Also
    --------
    QuantileRegressor : The median, with no squares at all.
    corollary.risk.HuberLoss : The loss.

    References
    ----------
    .. [1] A. B. Owen (2007). A robust hybrid of lasso and ridge regression. Contemporary
       Mathematics 443.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.linear import HuberRegressor
    >>> X = np.arange(10.0)[:, None]
    >>> y = 2 * X[:, 0] + [0.1, -0.2, 0.0, 0.2, -0.1, 0.1, 0.0, -0.1, 0.1, 1000.0]
    >>> model = HuberRegressor().fit(X, y)
    >>> model.coef_.round(1), np.flatnonzero(np.abs(y - model.predict(X)) > 10 * model.scale_)
    (array([2.]), array([9]))
    """

    _: KW_ONLY
    epsilon: Annotated[float, Interval(Real, 1.0, None, closed="left")] = 1.35
    max_iter: CountFromZero = 100
    alpha: NonNegative = 0.0001
    warm_start: bool = False
    fit_intercept: bool = True
    tol: NonNegative = 1e-5

    scale_: float = fitted(Number(np.finfo(np.float64).tiny))
    n_iter_: int = fitted(Integer(0))
    outliers_: np.ndarray = fitted(Array("b", "*"))

    _rows: ClassVar[dict[str, Any]] = {"accept_sparse": "csr"}
    _training_rows: ClassVar[dict[str, Any]] = {"finite_squares": True, "order": "C"}

    def _fit(self, X: Any, y: np.ndarray, sample_weight: np.ndarray | None) -> None:
        d, loss = X.shape[1], HuberLoss(self.epsilon)
        total = float(len(y) if sample_weight is None else sample_weight.sum())
        # In units of the spread the problem has no units, and nothing over- or underflows.
        centre = _median(y, sample_weight) if self.fit_intercept else 0.0
        distance = np.abs(y - centre)
        spread = _median(distance, sample_weight) or float(distance.max()) or 1.0
        target, l2 = (y - centre) / spread, self.alpha * spread / total
        penalty = np.concatenate([np.full(d, 2 * l2), np.zeros(1 + self.fit_intercept)])

        def terms(x: np.ndarray, hessian: bool) -> tuple[float, np.ndarray, np.ndarray]:
            sums = reduce(_Terms.at(loss, x), (X, target, sample_weight))
            gradient, bend = sums.gradient / total + penalty * x, sums.hessian / total
            scale = max(float(np.exp(x[-1])), LEAST)
            gradient[-1] += scale
            if scale == LEAST and gradient[-1] >= 0.0:  # it may not fall further
                gradient[-1] = bend[-1] = bend[:, -1] = 0.0
            bend += np.diag(penalty)
            bend[-1, -1] += abs(gradient[-1])  # the bend of the logarithm; zero at the minimum
            value = scale + sums.value / total + 0.5 * float(penalty @ x**2)
            return value if np.isfinite(value) else np.inf, gradient, bend

        with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
            start = self._start(d, centre, spread)
            result = newton_minimise(terms, start, tol=self.tol, max_iter=self.max_iter)
        self.coef_ = spread * result.x[:d]
        self.intercept_ = float(centre + spread * result.x[d]) if self.fit_intercept else 0.0
        self.scale_ = spread * max(float(np.exp(result.x[-1])), LEAST)
        self.n_iter_ = result.n_iter
        residual = np.abs(y - row_products(X, self.coef_) - self.intercept_)
        self.outliers_ = residual > self.epsilon * self.scale_
        if not result.converged:
            warnings.warn(
                f"HuberRegressor stopped after max_iter={self.max_iter} steps at a gradient of "
                f"{result.gradient_norm:.1e}; tol={self.tol:.1e} was asked for. Increase max_iter, "
                "or bring the features to one scale.",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _start(self, d: int, centre: float, spread: float) -> np.ndarray:
        """Return the last fit, or a constant prediction, in units of the targets' spread."""
        start = np.zeros(d + 1 + self.fit_intercept)
        if self.warm_start and hasattr(self, "coef_") and len(self.coef_) == d:
            start[:d] = self.coef_ / spread
            start[d:-1] = (self.intercept_ - centre) / spread
            start[-1] = np.log(self.scale_ / spread)
        return start
