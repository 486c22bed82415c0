"""What the cross-validated lasso and elastic net share: paths in folds, and the choice of one."""

from abc import abstractmethod
from dataclasses import KW_ONLY
from typing import Any, ClassVar, Literal

import numpy as np
from scipy import sparse

from corollary.core.estimator import (
    ArrayLike,
    Count,
    NoEffect,
    NonNegative,
    RandomSeed,
    Share,
    fitted,
)
from corollary.core.parallel import one_blas_thread
from corollary.core.schema import Array, Integer, Number
from corollary.linear._parameters import Folds
from corollary.linear._regressor import LinearRegressor
from corollary.linear.sparse._path import alpha_grid, solve_path, warn_of_unfinished
from corollary.linear.sparse._regressor import warn_not_converged


class CrossValidatedPath(LinearRegressor):
    """A linear model whose l1 penalty, and whose share of it, is chosen by folds.

    Subclasses say which shares of l1 to try.
    """

    _: KW_ONLY
    eps: Share = 1e-3
    alphas: Count | ArrayLike = 100
    fit_intercept: bool = True
    precompute: NoEffect = "auto"
    max_iter: Count = 1000
    tol: NonNegative = 1e-4
    copy_X: NoEffect = True
    cv: Folds = None
    verbose: NoEffect = False
    n_jobs: int | None = None
    positive: bool = False
    random_state: RandomSeed = None
    selection: Literal["cyclic", "random"] = "cyclic"

    alpha_: float = fitted(Number(0.0))
    alphas_: np.ndarray = fitted(Array("f", "a", low=0.0) | Array("f", "l", "a", low=0.0))
    mse_path_: np.ndarray = fitted(
        Array("f", "a", "*", nan=True, infinite=True)
        | Array("f", "l", "a", "*", nan=True, infinite=True)
    )
    dual_gap_: float = fitted(Number(0.0, infinite=True))
    n_iter_: int = fitted(Integer(0))

    _rows: ClassVar[dict[str, Any]] = {"accept_sparse": ["csr", "csc"]}
    _training_rows: ClassVar[dict[str, Any]] = {"accept_sparse": "csc", "finite_squares": True}

    @abstractmethod
    def _l1_shares(self) -> np.ndarray:
        """Return the shares of the l1 penalty to choose from."""

    def _fit(self, X: Any, y: np.ndarray, sample_weight: np.ndarray | None) -> None:
        from joblib import Parallel, delayed
        from sklearn.model_selection import check_cv

        from corollary.optimize import WorkingSetSolver, prepare_columns

        n, shares = len(y), self._l1_shares()
        folds = list(check_cv(self.cv).split(X, y))
        with one_blas_thread():
            whole = prepare_columns(X, y[:, None], sample_weight, self.fit_intercept)
            solver = WorkingSetSolver(whole.design, whole.Y[:, 0], positive=self.positive)
            reach = solver.correlation if self.positive else np.abs(solver.correlation)
            largest = max(float(reach.max()), 0.0) / n
            grids = np.array([alpha_grid(largest, s, self.eps, self.alphas) for s in shares])
            rows = X.tocsr() if sparse.issparse(X) else X
            errors = Parallel(n_jobs=self.n_jobs or -1, backend="threading")(
                delayed(self._fold_errors)(rows, y, sample_weight, fold, share, grid)
                for share, grid in zip(shares, grids)
                for fold in folds
            )
            paths = np.reshape(errors, (len(shares), len(folds), -1)).transpose(0, 2, 1)
            weight = np.ones(n) if sample_weight is None else sample_weight
            total = np.array([weight[test].sum() for _, test in folds])
            i, k = np.unravel_index(int(np.argmin(paths @ total)), grids.shape)
            self.alpha_, share = float(grids[i, k]), float(shares[i])
            l1, l2 = n * self.alpha_ * share, n * self.alpha_ * (1.0 - share)
            solution = solver.solve(l1, l2, tol=self.tol, max_iter=self.max_iter)
        if not solution.converged:
            goal = self.tol * solver.yy / n
            warn_not_converged(type(self).__name__, solution.n_iter, solution.gap / n, goal)
        self._keep_choice(share, grids, paths)
        self.coef_, self.dual_gap_, self.n_iter_ = solution.coef, solution.gap / n, solution.n_iter
        self.intercept_ = float(whole.Y_mean[0] - whole.X_mean @ solution.coef)

    def _keep_choice(self, share: float, grids: np.ndarray, paths: np.ndarray) -> None:
        """Keep the candidates and their errors; a single share has no axis of its own."""
        self.alphas_ = grids[0] if len(grids) == 1 or np.ndim(self.alphas) else grids
        self.mse_path_ = paths[0] if len(paths) == 1 else paths

    def _fold_errors(
        self,
        rows: Any,
        y: np.ndarray,
        sample_weight: np.ndarray | None,
        fold: tuple[np.ndarray, np.ndarray],
        share: float,
        alphas: np.ndarray,
    ) -> np.ndarray:
        """Return the mean square on the rows left out, for every penalty."""
        from corollary.optimize import prepare_columns

        train, test = fold
        weight = None if sample_weight is None else sample_weight[train]
        prepared = prepare_columns(rows[train], y[train, None], weight, self.fit_intercept)
        path = solve_path(
            prepared,
            0,
            alphas,
            share,
            tol=self.tol,
            max_iter=self.max_iter,
            positive=self.positive,
        )
        warn_of_unfinished(f"A fold of {type(self).__name__}", path, alphas, self.max_iter)
        intercepts = prepared.Y_mean[0] - prepared.X_mean @ path.coefs
        squares = (y[test, None] - rows[test] @ path.coefs - intercepts) ** 2
        held_out = None if sample_weight is None else sample_weight[test]
        if held_out is not None and held_out.sum() == 0.0:
            return np.zeros(len(alphas))  # no weight: no say in the choice
        return np.average(squares, axis=0, weights=held_out)
