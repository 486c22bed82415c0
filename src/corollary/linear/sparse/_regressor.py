"""What the lasso and the elastic net share: the solver's call and what it reached."""

import warnings
from abc import abstractmethod
from dataclasses import KW_ONLY
from typing import Any, ClassVar, Literal, Self

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from corollary.core.compat import fit_context
from corollary.core.estimator import Count, NoEffect, NonNegative, RandomSeed, fitted
from corollary.core.parallel import one_blas_thread
from corollary.core.schema import Array, Integer, List, Number
from corollary.linear._regressor import MultiTargetLinearRegressor
from corollary.linear.sparse.path import enet_path
from corollary.linear.squares._solve import LeastSquaresProblem


class L1Regressor(MultiTargetLinearRegressor):
    """A linear model fitted by :class:`WorkingSetSolver`, one target after another.

    Subclasses say which share of the penalty is l1.
    """

    alpha: NonNegative = 1.0
    _: KW_ONLY
    fit_intercept: bool = True
    precompute: NoEffect = False
    copy_X: NoEffect = True
    max_iter: Count = 1000
    tol: NonNegative = 1e-4
    warm_start: bool = False
    positive: bool = False
    random_state: RandomSeed = None
    selection: Literal["cyclic", "random"] = "cyclic"

    dual_gap_: Any = fitted(Number(0.0, infinite=True) | Array("f", "k", low=0.0, infinite=True))
    n_iter_: Any = fitted(Integer(0) | List(Integer(0), "k"))

    _rows: ClassVar[dict[str, Any]] = {"accept_sparse": ["csr", "csc"]}
    _training_rows: ClassVar[dict[str, Any]] = {
        **MultiTargetLinearRegressor._training_rows,
        "accept_sparse": "csc",
    }

    #: scikit-learn's name for :func:`enet_path`.
    path = staticmethod(enet_path)

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None, check_input: bool = True) -> Self:
        """Fit the model to arrays or data frames in memory.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Targets.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Non-negative weights; a row of weight k counts like k equal rows.
        check_input : bool, default=True
            Changes nothing: inputs are always checked.

        Returns
        -------
        self : estimator
            The fitted model.
        """
        X, y, sample_weight = self._check(X, y, sample_weight, y_numeric=True)
        self._fit(X, np.asarray(y, dtype=np.float64), sample_weight)
        return self

    @abstractmethod
    def _l1_share(self) -> float:
        """Return the share of the l1 penalty; the rest is a squared l2 penalty."""

    def _fit(self, X: Any, y: np.ndarray, sample_weight: np.ndarray | None) -> None:
        from corollary.optimize import WorkingSetSolver, prepare_columns

        if self.alpha == 0.0:
            self._fit_without_penalty(X, y, sample_weight)
            return
        Y = y.reshape(len(y), -1)
        n, n_targets = Y.shape
        start = getattr(self, "coef_", None) if self.warm_start else None
        starts: Any = [None] * n_targets
        if start is not None and start.size == n_targets * X.shape[1]:
            starts = start.reshape(n_targets, -1)
        l1 = n * self.alpha * self._l1_share()
        l2 = n * self.alpha * (1.0 - self._l1_share())
        solutions = []
        with one_blas_thread():
            design, Y, X_mean, Y_mean = prepare_columns(X, Y, sample_weight, self.fit_intercept)
            for k in range(n_targets):
                solver = WorkingSetSolver(design, Y[:, k], positive=self.positive, start=starts[k])
                solution = solver.solve(l1, l2, tol=self.tol, max_iter=self.max_iter)
                if not solution.converged:
                    goal = self.tol * solver.yy / n
                    warn_not_converged(type(self).__name__, solution.n_iter, solution.gap / n, goal)
                solutions.append(solution)
        coef = np.array([solution.coef for solution in solutions])
        intercept = Y_mean - coef @ X_mean
        gap = np.array([solution.gap / n for solution in solutions])
        n_iter = [solution.n_iter for solution in solutions]
        single = y.ndim == 1
        self.coef_ = coef[0] if single else coef
        self.intercept_ = float(intercept[0]) if single else intercept
        self.dual_gap_ = float(gap[0]) if single else gap
        self.n_iter_ = n_iter[0] if single else n_iter

    def _fit_without_penalty(self, X: Any, y: np.ndarray, sample_weight: np.ndarray | None) -> None:
        """Solve least squares, which no duality gap would end."""
        problem = LeastSquaresProblem(0.0, self.fit_intercept, positive=self.positive)
        rows = X.tocsr() if sparse.issparse(X) else X
        solution = problem.solve_arrays(rows, y, sample_weight)
        self.coef_, self.intercept_ = np.ascontiguousarray(solution.coef.T), solution.intercept
        single = y.ndim == 1
        self.dual_gap_ = 0.0 if single else np.zeros(y.shape[1])
        self.n_iter_ = 1 if single else [1] * y.shape[1]

    @property
    def sparse_coef_(self) -> Any:
        """The coefficients as a sparse matrix."""
        return sparse.csr_matrix(self.coef_)


def warn_not_converged(who: str, n_iter: int, gap: float, goal: float) -> None:
    """Say what was reached and what to do about it."""
    warnings.warn(
        f"{who} stopped after {n_iter} epochs with a duality gap of {gap:.3g}, above the goal of "
        f"{goal:.3g} (tol times the mean square of the centred target). Raise max_iter, raise "
        "tol or alpha, or bring the features to the same scale.",
        ConvergenceWarning,
        stacklevel=5,
    )
