r"""The generalised linear model behind all of this folder.

.. math:: P(w, b) = \frac1S \sum_i s_i \ell(y_i, f_i) + \frac\alpha2 \|w\|_2^2,
          \qquad f_i = \langle w, x_i \rangle + b

with half the deviance of a law of Tweedie's family as the loss of the linear predictor.
"""

import warnings
from abc import abstractmethod
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from corollary.core.estimator import Count, NoEffect, NonNegative, Positive, fitted
from corollary.core.parallel import one_blas_thread
from corollary.core.schema import Integer
from corollary.core.summary import Chunk, Summary, reduce
from corollary.linear._regressor import LinearRegressor
from corollary.optimize import newton_minimise
from corollary.risk import TweedieLoss


@dataclass(frozen=True, eq=False)
class _Terms(Summary):
    """Weighted sums of the loss, its gradient and its Hessian over rows."""

    family: TweedieLoss
    parameters: np.ndarray  # one for each feature, the intercept last if there is one
    fit_intercept: bool
    loss: float
    gradient: np.ndarray
    hessian: np.ndarray

    @classmethod
    def at(cls, family: TweedieLoss, parameters: np.ndarray, fit_intercept: bool) -> Self:
        """Return the sums over no rows."""
        d = len(parameters)
        return cls(family, parameters, fit_intercept, 0.0, np.zeros(d), np.zeros((d, d)))

    def empty(self) -> Self:
        """Return the sums over no rows at the same place."""
        return self.at(self.family, self.parameters, self.fit_intercept)

    def update(self, chunk: Chunk) -> Self:
        """Add the rows of ``(X, y, sample_weight)``."""
        X, y, weight = chunk
        w = np.ones(len(y)) if weight is None else weight
        ones = np.ones((len(y), int(self.fit_intercept)))
        Z = sparse.hstack([X, ones], "csr") if sparse.issparse(X) else np.hstack([X, ones])
        scores, loss = Z @ self.parameters, self.family
        # Where the loss bends downwards, its expectation says how far a step may go.
        bend = loss.curvature(y, scores)
        bend = w * np.where(bend > 0, bend, loss.information(scores))
        if sparse.issparse(Z):
            hessian = (Z.T @ sparse.diags_array(bend) @ Z).toarray()
        else:
            hessian = (Z * bend[:, None]).T @ Z
        return replace(
            self,
            loss=self.loss + float(w @ loss.value(y, scores)),
            gradient=self.gradient + Z.T @ (w * loss.slope(y, scores)),
            hessian=self.hessian + hessian,
        )

    def merge(self, other: Self) -> Self:
        """Return the sums over both sets of rows."""
        return replace(
            self,
            loss=self.loss + other.loss,
            gradient=self.gradient + other.gradient,
            hessian=self.hessian + other.hessian,
        )


class GeneralisedLinear(LinearRegressor):
    """A regressor whose predicted mean is a function of a linear predictor."""

    _: KW_ONLY
    alpha: NonNegative = 1.0
    fit_intercept: bool = True
    solver: Literal["lbfgs", "newton-cholesky"] = "lbfgs"
    max_iter: Count = 100
    tol: Positive = 1e-4
    warm_start: bool = False
    verbose: NoEffect = 0

    n_iter_: int = fitted(Integer(0))

    _rows: ClassVar[dict[str, Any]] = {"accept_sparse": "csr"}
    _training_rows: ClassVar[dict[str, Any]] = {"finite_squares": True, "order": "C"}

    @abstractmethod
    def _loss(self) -> TweedieLoss:
        """Return half the deviance, as a loss of the linear predictor."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        with suppress(TypeError, ValueError):  # parameters that fit refuses
            tags.target_tags.positive_only = not self._loss().is_truth(-1.0)
        return tags

    def _fit(self, X: Any, y: np.ndarray, sample_weight: np.ndarray | None) -> None:
        loss, name = self._loss(), type(self).__name__
        if not loss.is_truth(y).all():
            raise ValueError(
                f"Some value(s) of y are out of the valid range of the loss: {name} needs "
                f"{'positive targets' if loss.power >= 2 else 'targets of at least 0'}. "
                f"Got {y.min():g}; take another model, or shift them."
            )
        d = X.shape[1]
        total = float(len(y) if sample_weight is None else sample_weight.sum())
        l2 = np.full(d + self.fit_intercept, float(self.alpha))
        l2[d:] = 0.0

        def terms(x: np.ndarray, hessian: bool) -> tuple[float, np.ndarray, np.ndarray]:
            with np.errstate(over="ignore", invalid="ignore"):  # a step too far is taken back
                sums = reduce(_Terms.at(loss, x, self.fit_intercept), (X, y, sample_weight))
                value = sums.loss / total + 0.5 * float(l2 @ x**2)
            value = value if np.isfinite(value) else np.inf
            return value, sums.gradient / total + l2 * x, sums.hessian / total + np.diag(l2)

        with one_blas_thread():
            start = self._start(d, np.average(y, weights=sample_weight), loss)
            if terms(start, False)[0] == np.inf:
                raise ValueError(
                    f"{name} finds no mean to start from: with this power and link='identity' "
                    "predictions must be positive. Use link='log', or fit_intercept=True."
                )
            result = newton_minimise(terms, start, tol=self.tol, max_iter=self.max_iter)
        self.coef_ = result.x[:d].copy()
        self.intercept_ = float(result.x[d]) if self.fit_intercept else 0.0
        self.n_iter_ = result.n_iter
        if not result.converged:
            warnings.warn(
                f"{name} stopped after max_iter={self.max_iter} steps at a gradient of "
                f"{result.gradient_norm:.1e}; tol={self.tol:.1e} was asked for. Increase max_iter, "
                "or bring the features to one scale.",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _start(self, d: int, mean: float, loss: TweedieLoss) -> np.ndarray:
        """Return the coefficients of the last fit, or those of a constant prediction."""
        start = np.zeros(d + self.fit_intercept)
        if self.warm_start and hasattr(self, "coef_") and len(self.coef_) == d:
            start[:d] = self.coef_
            start[d:] = self.intercept_
        elif self.fit_intercept and (mean > 0 or loss.link == "identity"):
            start[d] = np.log(mean) if loss.link == "log" else mean
        return start

    def _predict(self, X: Any) -> np.ndarray:
        return self._loss().select(super()._predict(X))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of the deviance that is explained, at most 1.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,)
            Targets.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights.

        Returns
        -------
        score : float
            0 for the best constant prediction.
        """
        from sklearn.metrics import d2_tweedie_score

        mean, power = self.predict(X), self._loss().power
        return float(d2_tweedie_score(y, mean, sample_weight=sample_weight, power=power))
