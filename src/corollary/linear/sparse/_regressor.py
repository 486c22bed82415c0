"""What the lasso and the elastic net share: validation, the solver's call, prediction."""

import warnings
from abc import ABC, abstractmethod
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning

from corollary.core.blas import one_blas_thread
from corollary.core.compat import Interval
from corollary.core.estimator import check_new_data, check_training_data
from corollary.core.schema import (
    Array,
    Instance,
    Integer,
    List,
    Number,
    Optional,
    Size,
    Strings,
)

PARAMETER_CONSTRAINTS: dict = {
    "alpha": [Interval(Real, 0, None, closed="neither")],
    "fit_intercept": ["boolean"],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "tol": [Interval(Real, 0, None, closed="left")],
    "warm_start": ["boolean"],
    "positive": ["boolean"],
}
SOLUTION_SCHEMA: dict = {
    "coef_": Array("f", "d") | Array("f", "k", "d"),
    "intercept_": Number() | Array("f", "k"),
    "dual_gap_": Number(0.0) | Array("f", "k", low=0.0),
    "n_iter_": Integer(0) | List(Integer(0), "k"),
    "n_features_in_": Size("d"),
    "feature_names_in_": Optional(Strings("d")),
    "fingerprint_": Optional(Instance("merge", "overlap")),
}


class L1Regressor(MultiOutputMixin, RegressorMixin, BaseEstimator, ABC):
    """A linear model fitted by :class:`WorkingSetSolver`."""

    alpha: float
    fit_intercept: bool
    max_iter: int
    tol: float
    warm_start: bool
    positive: bool

    @property
    @abstractmethod
    def _share(self) -> float:
        """The share of the l1 penalty."""

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Self:
        from corollary.linear.sparse._designs import prepare
        from corollary.linear.sparse._working_set import WorkingSetSolver

        start = getattr(self, "coef_", None) if self.warm_start else None
        X, y, sample_weight = check_training_data(
            self,
            X,
            y,
            sample_weight=sample_weight,
            accept_sparse="csc",
            y_numeric=True,
            multi_output=True,
            finite_squares=True,
        )
        Y = np.asarray(y, dtype=np.float64).reshape(len(y), -1)
        n, n_targets = Y.shape
        if start is not None and start.size != n_targets * X.shape[1]:
            start = None
        l1 = n * self.alpha * self._share
        l2 = n * self.alpha * (1.0 - self._share)
        solutions = []
        with one_blas_thread():
            design, Y, X_mean, Y_mean = prepare(X, Y, sample_weight, self.fit_intercept)
            for k in range(n_targets):
                solver = WorkingSetSolver(
                    design,
                    Y[:, k],
                    positive=self.positive,
                    start=None if start is None else start.reshape(n_targets, -1)[k],
                )
                found = solver.solve(l1, l2, tol=self.tol, max_iter=self.max_iter)
                if not found.converged:
                    warn_not_converged(
                        type(self).__name__, found.n_iter, found.gap / n, self.tol * solver.yy / n
                    )
                solutions.append(found)
        coef = np.array([found.coef for found in solutions])
        intercept = Y_mean - coef @ X_mean
        gap = np.array([found.gap / n for found in solutions])
        n_iter = [found.n_iter for found in solutions]
        single = y.ndim == 1
        self.coef_ = coef[0] if single else coef
        self.intercept_ = float(intercept[0]) if single else intercept
        self.dual_gap_ = float(gap[0]) if single else gap
        self.n_iter_ = n_iter[0] if single else n_iter
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Predict targets.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New inputs.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_targets)
            Predicted targets.
        """
        X = check_new_data(self, X, accept_sparse=["csr", "csc"])
        return np.asarray(X @ self.coef_.T) + self.intercept_

    @property
    def sparse_coef_(self) -> Any:
        """The coefficients as a sparse matrix."""
        return sparse.csr_matrix(self.coef_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.multi_output = True
        return tags


def warn_not_converged(who: str, n_iter: int, gap: float, goal: float) -> None:
    """Say what was reached and what to do about it."""
    warnings.warn(
        f"{who} stopped after {n_iter} epochs with a duality gap of {gap:.3g}, above the goal of "
        f"{goal:.3g} (tol times the mean square of the centred target). Raise max_iter, raise "
        "tol or alpha, or bring the features to the same scale.",
        ConvergenceWarning,
        stacklevel=4,
    )
