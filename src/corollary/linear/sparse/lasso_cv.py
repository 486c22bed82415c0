"""Lasso with its penalty chosen by cross-validation along the path."""

from dataclasses import KW_ONLY
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from corollary.core.estimator import ArrayLike, Count, NonNegative, Probability, fitted
from corollary.core.parallel import one_blas_thread
from corollary.core.schema import Array, Integer, Number
from corollary.linear._parameters import Folds
from corollary.linear._regressor import LinearRegressor
from corollary.linear.sparse._path import alpha_grid, solve_path, warn_of_unfinished
from corollary.linear.sparse._regressor import warn_not_converged


class LassoCV(LinearRegressor):
    r"""Fit a lasso whose penalty minimises the cross-validated mean square.

    Every fold fits the whole path; the mean square on the rows left out is averaged over folds
    (weighted by rows, or by their weights), and the model is fitted again to all rows with the
    best penalty.

    Parameters
    ----------
    eps : float, default=1e-3
        Smallest over largest penalty of the grid.
    alphas : int or array-like of float, default=100
        Number of penalties in a geometric grid from the smallest that makes all coefficients
        zero, or the penalties themselves.
    fit_intercept : bool, default=True
        Whether to fit an intercept, which is not penalised.
    max_iter : int, default=1000
        Largest number of epochs for each penalty.
    tol : float, default=1e-4
        Duality gap to reach, relative to the mean square of the (centred) target.
    cv : int, splitter, iterable or None, default=None
        Folds, as in scikit-learn; None is five.
    n_jobs : int or None, default=None
        Threads over folds; None means one per available core. The result does not depend on it.
    positive : bool, default=False
        Whether coefficients must not be negative.

    Attributes
    ----------
    alpha_ : float
        The chosen penalty.
    alphas_ : ndarray of shape (n_alphas,)
        All penalties, decreasing.
    mse_path_ : ndarray of shape (n_alphas, n_folds)
        Mean squares on the rows left out.
    coef_ : ndarray of shape (n_features,)
        Coefficients at the chosen penalty.
    intercept_ : float
        Intercept.
    dual_gap_ : float
        Proven upper bound of the objective's distance from its minimum.
    n_iter_ : int
        Epochs used by the last fit.

    See Also
    --------
    Lasso : For a given penalty.
    lasso_path : The path itself.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.linear import LassoCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 8))
    >>> y = 3.0 * X[:, 0] + rng.normal(size=60)
    >>> model = LassoCV().fit(X, y)
    >>> bool(model.alphas_[-1] < model.alpha_ < model.alphas_[0])
    True
    """

    _: KW_ONLY
    eps: Probability = 1e-3
    alphas: Count | ArrayLike = 100
    fit_intercept: bool = True
    max_iter: Count = 1000
    tol: NonNegative = 1e-4
    cv: Folds = None
    n_jobs: int | None = None
    positive: bool = False

    alpha_: float = fitted(Number(0.0))
    alphas_: np.ndarray = fitted(Array("f", "a", low=0.0))
    mse_path_: np.ndarray = fitted(Array("f", "a", "*"))
    dual_gap_: float = fitted(Number(0.0))
    n_iter_: int = fitted(Integer(0))

    _rows: ClassVar[dict[str, Any]] = {"accept_sparse": ["csr", "csc"]}
    _training_rows: ClassVar[dict[str, Any]] = {"accept_sparse": "csc", "finite_squares": True}

    def _fit(self, X: Any, y: np.ndarray, sample_weight: np.ndarray | None) -> None:
        from joblib import Parallel, delayed
        from sklearn.model_selection import check_cv

        from corollary.linear.sparse._designs import prepare
        from corollary.linear.sparse._working_set import WorkingSetSolver

        n = len(y)
        folds = list(check_cv(self.cv).split(X, y))
        with one_blas_thread():
            whole = prepare(X, y[:, None], sample_weight, self.fit_intercept)
            solver = WorkingSetSolver(whole.design, whole.Y[:, 0], positive=self.positive)
            reach = solver.correlation if self.positive else np.abs(solver.correlation)
            self.alphas_ = alpha_grid(max(float(reach.max()), 0.0) / n, 1.0, self.eps, self.alphas)
            errors = Parallel(n_jobs=self.n_jobs or -1, backend="threading")(
                delayed(self._fold_errors)(X, y, sample_weight, train, test)
                for train, test in folds
            )
            self.mse_path_ = np.array(errors).T
            weight = np.ones(n) if sample_weight is None else sample_weight
            total = np.array([weight[test].sum() for _, test in folds])
            self.alpha_ = float(self.alphas_[np.argmin(self.mse_path_ @ total)])
            solution = solver.solve(n * self.alpha_, 0.0, tol=self.tol, max_iter=self.max_iter)
        if not solution.converged:
            goal = self.tol * solver.yy / n
            warn_not_converged("LassoCV", solution.n_iter, solution.gap / n, goal)
        self.coef_, self.dual_gap_, self.n_iter_ = solution.coef, solution.gap / n, solution.n_iter
        self.intercept_ = float(whole.Y_mean[0] - whole.X_mean @ solution.coef)

    def _fold_errors(
        self,
        X: Any,
        y: np.ndarray,
        sample_weight: np.ndarray | None,
        train: np.ndarray,
        test: np.ndarray,
    ) -> np.ndarray:
        """Mean square on the rows left out, for every penalty."""
        from corollary.linear.sparse._designs import prepare

        rows = X.tocsr() if sparse.issparse(X) else X
        weight = None if sample_weight is None else sample_weight[train]
        prepared = prepare(rows[train], y[train, None], weight, self.fit_intercept)
        path = solve_path(
            prepared,
            0,
            self.alphas_,
            1.0,
            tol=self.tol,
            max_iter=self.max_iter,
            positive=self.positive,
        )
        warn_of_unfinished("A fold of LassoCV", path, self.alphas_, self.max_iter)
        intercepts = prepared.Y_mean[0] - prepared.X_mean @ path.coefs
        squares = (y[test, None] - rows[test] @ path.coefs - intercepts) ** 2
        held_out = None if sample_weight is None else sample_weight[test]
        if held_out is not None and held_out.sum() == 0.0:
            return np.zeros(len(self.alphas_))  # no weight: no say in the choice
        return np.average(squares, axis=0, weights=held_out)
