"""What linear regressors have in common: prediction, and fitting over a source of rows."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin

from corollary.core.compat import fit_context
from corollary.core.estimator import check_new_data, check_training_data
from corollary.core.fingerprint import Fingerprint
from corollary.core.schema import Array, Instance, Number, Optional, Size, Strings
from corollary.core.summary import Source, Together, open_source
from corollary.linear.squares._records import LeastSquares
from corollary.linear.squares.normal_equations import NormalEquations

# What model files hold of a linear model; "d" features and "k" targets.
FITTED = {
    "coef_": Array("f", "d") | Array("f", "k", "d"),
    "intercept_": Number() | Array("f", "k"),
    "n_features_in_": Size("d"),
    "feature_names_in_": Optional(Strings("d")),
    "fingerprint_": Optional(Instance("merge", "overlap")),
}


def fits_together(model: Any) -> str | None:
    """Say what is wrong with the shapes of a loaded linear model, or None."""
    if (model.coef_.ndim == 1) != (np.ndim(model.intercept_) == 0):
        return "coefficients and intercept are for different numbers of targets"
    return None


def read_source(
    estimator: BaseEstimator,
    data: Any,
    *,
    target: str | Sequence[str] | None,
    columns: Sequence[str] | None,
    sample_weight: str | None,
    n_jobs: int | None,
) -> tuple[Source, NormalEquations]:
    """Open data, form their normal equations in one pass and remember names and rows."""
    source = open_source(data, columns=columns, target=target, sample_weight=sample_weight)
    if source.n_targets == 0:
        raise ValueError(
            f"{type(estimator).__name__}.fit_source needs targets. Name the column to predict in "
            "`target`, or give chunks (X, y)."
        )
    empty = NormalEquations.of_width(source.n_features, source.n_targets)
    both: Any = source.reduce(Together((empty, Fingerprint())), n_jobs)
    equations, estimator.fingerprint_ = both.parts
    estimator.n_features_in_ = source.n_features
    if source.feature_names is not None:
        estimator.feature_names_in_ = np.array(source.feature_names, dtype=object)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_
    return source, equations


class LinearModel(MultiOutputMixin, RegressorMixin, BaseEstimator, ABC):
    """Abstract linear regressor fitted by (penalised) least squares.

    Subclasses say how to solve for arrays and from the normal equations of a source; this class
    validates, remembers the training rows and predicts.
    """

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model to arrays or data frames in memory.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Targets.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Non-negative weights; a row of weight k counts like k equal rows.

        Returns
        -------
        self : estimator
            The fitted model.
        """
        X, y, sample_weight = check_training_data(
            self,
            X,
            y,
            sample_weight=sample_weight,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            multi_output=True,
            y_numeric=True,
            finite_squares=True,
        )
        y = np.asarray(y, dtype=np.float64)
        self._keep(self._solve_arrays(X, y, sample_weight))
        return self

    @fit_context(prefer_skip_nested_validation=True)
    def fit_source(
        self,
        data: Any,
        *,
        target: str | Sequence[str] | None = None,
        columns: Sequence[str] | None = None,
        sample_weight: str | None = None,
        n_jobs: int | None = None,
    ) -> Self:
        """Fit the model to data that need not fit in memory.

        The coefficients equal those of :meth:`fit` on the same rows in memory.

        Parameters
        ----------
        data : path, data frame, Dask collection, or iterable of chunks
            See :func:`corollary.core.summary.open_source`. Arrays and chunks hold ``(X, y)`` or
            ``(X, y, sample_weight)``.
        target : str, sequence of str or None, default=None
            Name of the column to predict, for files and data frames.
        columns : sequence of str or None, default=None
            Names of the features; None for all other columns.
        sample_weight : str or None, default=None
            Name of the column of weights.
        n_jobs : int or None, default=None
            Threads; None means one per available core. The result does not depend on it.

        Returns
        -------
        self : estimator
            The fitted model.
        """
        source, equations = read_source(
            self,
            data,
            target=target,
            columns=columns,
            sample_weight=sample_weight,
            n_jobs=n_jobs,
        )
        self._keep(self._solve_source(source, equations, n_jobs))
        return self

    @abstractmethod
    def _solve_arrays(
        self, X: Any, y: np.ndarray, sample_weight: np.ndarray | None
    ) -> LeastSquares:
        """Solve for arrays in memory."""

    @abstractmethod
    def _solve_source(
        self, source: Source, equations: NormalEquations, n_jobs: int | None
    ) -> LeastSquares:
        """Solve from the normal equations of a source."""

    def _keep(self, solution: LeastSquares) -> None:
        self.coef_ = np.ascontiguousarray(solution.coef.T)
        self.intercept_ = solution.intercept
        self.rank_ = solution.rank
        self.solver_ = solution.solver

    def predict(self, X: Any) -> np.ndarray:
        """Predict targets.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_targets)
            Predictions.
        """
        X = check_new_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32])
        return np.asarray(X @ self.coef_.T + self.intercept_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
