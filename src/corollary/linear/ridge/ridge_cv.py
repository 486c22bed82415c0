r"""Ridge regression with the penalty chosen by leave-one-out, in closed form.

Leaving row i out of a linear smoother changes its residual from :math:`r_i` to
:math:`r_i/(1-h_i)`, with :math:`h_i` the row's own weight in its fitted value. For ridge,
:math:`h_i(\alpha)=w_i\bigl(\frac1W+\sum_j\frac{(v_j^\top(x_i-\bar x))^2}{D_j^2+\alpha}\bigr)`, so
that one decomposition serves all rows and all penalties.
"""

from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin

from corollary.core.estimator import ArrayLike, NoEffect, Positive, fitted, without_memory
from corollary.core.schema import Array, Number, Optional
from corollary.core.summary import Chunk, Summary, reduce
from corollary.linear._parameters import Folds
from corollary.linear._regressor import MultiTargetLinearRegressor
from corollary.linear.ridge._spectrum import Spectrum, check_alphas, spectrum
from corollary.linear.ridge.ridge import Ridge

_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class _LeaveOneOut(Summary):
    """Sums of squared leave-one-out residuals for every penalty."""

    spectrum: Spectrum
    alphas: np.ndarray
    mean_weight: float  # what the intercept adds to a row's weight in its own fit: 1 / total, or 0
    squares: np.ndarray  # (n_alphas, n_targets), weighted sums over rows so far

    def empty(self) -> Self:
        """Return zero sums for the same design."""
        return replace(self, squares=np.zeros_like(self.squares))

    def residuals(self, chunk: Chunk) -> Iterator[np.ndarray]:
        """Yield, for every penalty, by how much rows exceed what the others predict for them."""
        X, y, weight = chunk
        rows = self.spectrum.coordinates(X)
        targets = y.reshape(len(y), -1) - self.spectrum.y_mean
        w = np.ones(len(y)) if weight is None else weight
        s = self.spectrum.singular_values[:, np.newaxis]
        for alpha in self.alphas:
            fit = rows @ (s / (s**2 + alpha) * self.spectrum.projections)
            leverage = w * (self.mean_weight + (rows**2 @ (1 / (s**2 + alpha)))[:, 0])
            yield (targets - fit) / np.maximum(1 - leverage, _EPS)[:, np.newaxis]

    def update(self, chunk: Chunk) -> Self:
        """Add the rows of ``(X, y, sample_weight)``."""
        w = np.ones(len(chunk[1])) if chunk[2] is None else chunk[2]
        squares = [w @ left_out**2 for left_out in self.residuals(chunk)]
        return replace(self, squares=self.squares + np.array(squares))

    def merge(self, other: Self) -> Self:
        """Add the sums of other rows."""
        return replace(self, squares=self.squares + other.squares)


class _Predicted(RegressorMixin, BaseEstimator):
    """The model whose rows are its predictions, so that a scorer can judge them."""

    def predict(self, predictions: np.ndarray) -> np.ndarray:
        """Return what it is given."""
        return predictions


class RidgeCV(MultiTargetLinearRegressor):
    r"""Ridge regression whose penalty minimises the exact leave-one-out error.

    Parameters
    ----------
    alphas : array-like of shape (n_alphas,) or float, default=(0.1, 1.0, 10.0)
        Penalties to choose from; positive, or not negative if ``cv`` is given.
    fit_intercept : bool, default=True
        Whether the model has an intercept.
    scoring : str, callable or None, default=None
        What is best: minus the mean square if None, or any of scikit-learn's scorers, of the
        predictions for rows left out. With ``cv``, None means the coefficient of determination.
    cv : int, cross-validation generator, iterable or None, default=None
        Folds; None for leaving out one row at a time, which takes no more than one decomposition.
    gcv_mode : {"auto", "svd", "gram", "cov"} or None, default=None
        Changes nothing: one decomposition, of the triangular factor of the rows, is used.
    store_cv_results : bool, default=False
        Whether to keep ``cv_results_``; not with ``cv``.
    alpha_per_target : bool, default=False
        Whether every target has a penalty of its own; not with ``cv``.

    Attributes
    ----------
    alpha_ : float or ndarray of shape (n_targets,)
        The chosen penalty, or one for each target.
    best_score_ : float or ndarray of shape (n_targets,)
        Its score.
    loo_errors_ : ndarray of shape (n_alphas,)
        Weighted mean squared leave-one-out residual of every penalty, over all targets; not with
        ``cv``.
    cv_results_ : ndarray of shape (n_samples, n_alphas) or (n_samples, n_targets, n_alphas)
        If ``store_cv_results``: squared leave-one-out residuals times weights, or with
        ``scoring`` the predictions for the rows left out.
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        Coefficients for the chosen penalty.
    intercept_ : float or ndarray of shape (n_targets,)
        Intercept.

    See Also
    --------
    Ridge : With a given penalty.

    Notes
    -----
    Leave-one-out takes a weighted row out whole, so that weight k is not the same as k copies of
    the row.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.linear import RidgeCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(50, 3))
    >>> y = X @ [1.0, 0.0, -1.0] + 0.1 * rng.normal(size=50)
    >>> RidgeCV(alphas=[0.01, 1.0, 100.0]).fit(X, y).alpha_
    0.01
    """

    alphas: ArrayLike | Positive = (0.1, 1.0, 10.0)
    _: KW_ONLY
    fit_intercept: bool = True
    scoring: str | Callable[..., Any] | None = None
    cv: Folds = None
    gcv_mode: NoEffect = None
    store_cv_results: bool = False
    alpha_per_target: bool = False

    alpha_: Any = fitted(Number(0) | Array("f", "k", low=0.0))
    loo_errors_: np.ndarray = fitted(Optional(Array("f", "*", nan=True, infinite=True)))
    best_score_: Any = fitted(Number(infinite=True) | Array("f", "k"))
    cv_results_: np.ndarray = fitted(Optional(Array("f", "*", "*") | Array("f", "*", "k", "*")))

    _rows: ClassVar[dict[str, Any]] = {"accept_sparse": "csr"}
    _training_rows: ClassVar[dict[str, Any]] = {
        **MultiTargetLinearRegressor._training_rows,
        "ensure_min_samples": 2,
    }

    def _fit(self, X: Any, y: np.ndarray, sample_weight: np.ndarray | None) -> None:
        for name in ("loo_errors_", "cv_results_"):  # of an earlier fit with other parameters
            if hasattr(self, name):
                delattr(self, name)
        if self.cv is not None:
            self._search(X, y, sample_weight)
            return
        alphas = check_alphas("RidgeCV", np.atleast_1d(self.alphas))
        design = spectrum(X, y, sample_weight, fit_intercept=self.fit_intercept)
        scores = self._leave_one_out(X, y, sample_weight, design, alphas)
        apart = self.alpha_per_target and scores.shape[1] > 1
        best = scores.argmax(axis=0) if apart else np.array([scores.mean(axis=1).argmax()])
        self.alpha_ = alphas[best] if apart else float(alphas[best[0]])
        self.best_score_ = (
            scores[best, np.arange(len(best))] if apart else float(scores[best[0]].mean())
        )
        coef = design.coefficients(alphas[best])
        intercept = design.y_mean - design.x_mean @ coef
        self.coef_ = coef[:, 0] if y.ndim == 1 else np.ascontiguousarray(coef.T)
        self.intercept_ = float(intercept[0]) if y.ndim == 1 else intercept

    def _leave_one_out(
        self,
        X: Any,
        y: np.ndarray,
        weight: np.ndarray | None,
        design: Spectrum,
        alphas: np.ndarray,
    ) -> np.ndarray:
        """Return the score of every penalty for every target (or for all of them at once)."""
        total, n_targets = float(len(y) if weight is None else weight.sum()), len(design.y_mean)
        start = _LeaveOneOut(
            design, alphas, self.fit_intercept / total, np.zeros((len(alphas), n_targets))
        )
        errors = reduce(start, (X, y, weight)).squares / total
        self.loo_errors_ = errors.mean(axis=1)
        if self.scoring is None and not self.store_cv_results:
            return -errors
        left_out = np.stack(list(start.residuals((X, y, weight))), axis=2)
        predictions = y.reshape(len(y), -1, 1) - left_out
        if self.store_cv_results:
            w = np.ones(len(y)) if weight is None else weight
            kept = predictions if self.scoring else w[:, None, None] * left_out**2
            self.cv_results_ = kept[:, 0] if y.ndim == 1 else kept
        if self.scoring is None:
            return -errors
        return self._scores_of(predictions, y, weight)

    def _scores_of(
        self, predictions: np.ndarray, y: np.ndarray, weight: np.ndarray | None
    ) -> np.ndarray:
        """Let the scorer judge the predictions of every penalty."""
        from sklearn.metrics import check_scoring

        score: Any = check_scoring(self, scoring=self.scoring)
        options = {} if weight is None else {"sample_weight": weight}
        judge, targets = _Predicted(), y.reshape(len(y), -1)
        apart = self.alpha_per_target and targets.shape[1] > 1
        columns: list[Any] = list(range(targets.shape[1])) if apart else [slice(None)]
        if y.ndim == 1:
            columns = [0]
        return np.array(
            [
                [score(judge, predictions[:, j, a], targets[:, j], **options) for j in columns]
                for a in range(predictions.shape[2])
            ]
        )

    def _search(self, X: Any, y: np.ndarray, weight: np.ndarray | None) -> None:
        """Choose the penalty by folds."""
        from sklearn.model_selection import GridSearchCV

        for name in ("store_cv_results", "alpha_per_target"):
            if getattr(self, name):
                raise ValueError(
                    f"cv!=None and {name}=True are incompatible. Leave cv=None, for leaving out "
                    f"one row at a time, or {name}=False."
                )
        alphas = check_alphas("RidgeCV", np.atleast_1d(self.alphas), zero=True)
        search = GridSearchCV(
            Ridge(fit_intercept=self.fit_intercept),
            {"alpha": alphas},
            cv=self.cv,
            scoring=self.scoring,
        )
        with without_memory():
            search.fit(X, y, **({} if weight is None else {"sample_weight": weight}))
        best = search.best_estimator_
        self.alpha_, self.best_score_ = float(best.alpha), float(search.best_score_)
        self.coef_, self.intercept_ = best.coef_, best.intercept_
