"""Ridge regression as an estimator."""

from collections.abc import Callable
from dataclasses import KW_ONLY, replace
from typing import Any, Literal

import numpy as np

from corollary.core.estimator import ArrayLike, Count, NoEffect, NonNegative, RandomSeed, fitted
from corollary.core.schema import Array, Integer, Nullable
from corollary.linear.squares._records import LeastSquares
from corollary.linear.squares._regressor import LeastSquaresRegressor
from corollary.linear.squares._solve import LeastSquaresProblem


class Ridge(LeastSquaresRegressor):
    r"""Ridge regression.

    Minimises :math:`\sum_i w_i(y_i-x_i^\top\beta-b)^2+\alpha\|\beta\|^2`; the intercept is not
    penalised.

    Parameters
    ----------
    alpha : float or array-like of shape (n_targets,), default=1.0
        Penalty :math:`\alpha`, one for all targets or one for each; the noise variance over the
        prior variance of a coefficient. 0 gives ordinary least squares.
    fit_intercept : bool, default=True
        Whether the model has an intercept.
    copy_X : bool, default=True
        Changes nothing: X is never written to.
    max_iter : int or None, default=None
        Largest number of iterations of "lsqr"; None for ten times the smaller side of X.
    tol : float, default=1e-4
        Relative tolerance of "lsqr".
    solver : str, default="auto"
        "auto", "svd", "cholesky" or "lsqr". "cholesky" solves the normal equations of the smaller
        side of X and falls back to singular values when they are ill-conditioned; "svd" uses these
        at once; "lsqr" iterates, and is what "auto" chooses for sparse inputs with both sides
        above 4096. scikit-learn's other names lead to the same minimum: "sparse_cg" is "lsqr",
        "sag" and "saga" are "auto", and "lbfgs" is for ``positive=True``.
    positive : bool, default=False
        Whether coefficients must not be negative; the solver is then "auto" or "lbfgs".
    random_state : int, RandomState instance or None, default=None
        Changes nothing: nothing here is random.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        Coefficients.
    intercept_ : float or ndarray of shape (n_targets,)
        Intercept.
    rank_ : int
        Rank of the (centred) design where the solver finds it, else the number of its columns
        that vary or of its rows.
    solver_ : str
        What was used: "cholesky", "dual", "svd", "eigen", "lsqr" or "nnls".
    n_iter_ : ndarray of shape (n_targets,) or None
        Iterations of "lsqr"; None for the others.

    See Also
    --------
    RidgeCV : Chooses alpha by leave-one-out.
    BayesianLinearRegression : The full posterior of which this is the mean.
    corollary.linear.ridge_path : Coefficients over a grid of alphas.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.linear import Ridge
    >>> X, y = np.array([[-1.0], [0.0], [1.0]]), np.array([1.0, 3.0, 5.0])
    >>> model = Ridge(alpha=2.0).fit(X, y)
    >>> model.coef_.round(6), round(model.intercept_, 6)
    (array([1.]), 3.0)
    """

    alpha: NonNegative | ArrayLike = 1.0
    _: KW_ONLY
    fit_intercept: bool = True
    copy_X: NoEffect = True
    max_iter: Count | None = None
    tol: NonNegative = 1e-4
    solver: Literal["auto", "svd", "cholesky", "lsqr", "sparse_cg", "sag", "saga", "lbfgs"] = "auto"
    positive: bool = False
    random_state: RandomSeed = None

    # Earlier versions kept 1 for solvers that do not iterate.
    n_iter_: Any = fitted(Nullable(Integer(1) | Array("i", "*")))

    def _problem(self) -> LeastSquaresProblem:
        if self.positive and self.solver not in ("auto", "lbfgs"):
            raise ValueError(
                f"solver={self.solver!r} does not support positive fitting. Set solver='auto', or "
                "positive=False."
            )
        if self.solver == "lbfgs" and not self.positive:
            raise ValueError(
                "'lbfgs' solver can be used only when positive=True. Use solver='auto' instead."
            )
        solver = {"sparse_cg": "lsqr", "sag": "auto", "saga": "auto", "lbfgs": "auto"}.get(
            self.solver, self.solver
        )
        return LeastSquaresProblem(
            alpha=0.0,
            fit_intercept=self.fit_intercept,
            solver=solver,
            tol=self.tol,
            max_iter=self.max_iter,
            positive=self.positive,
        )

    def ridge_penalty(self) -> float | None:
        """Return the penalty if there is one and the model goes through the origin.

        Returns
        -------
        alpha : float or None
            Weight of the squared norm beside the sum of squares.
        """
        alphas = np.unique(self.alpha)
        return (
            float(alphas[0])
            if len(alphas) == 1 and alphas[0] > 0 and not self.fit_intercept
            else None
        )

    def _solve(
        self, n_targets: int, solve: Callable[[LeastSquaresProblem], LeastSquares]
    ) -> LeastSquares:
        """Solve once for every penalty and put the targets together again."""
        problem = self._problem()
        alphas = np.ravel(np.asarray(self.alpha, dtype=np.float64))
        if len(alphas) not in (1, n_targets) or not np.all((alphas >= 0) & np.isfinite(alphas)):
            raise ValueError(
                f"The 'alpha' parameter of Ridge must be a non-negative number, or one for each of "
                f"the {n_targets} targets. Got {self.alpha!r} instead (number of targets and "
                "number of penalties do not correspond)."
            )
        distinct, place = np.unique(alphas, return_inverse=True)
        solutions = []
        for alpha in distinct:
            solutions.append(solve(replace(problem, alpha=float(alpha))))
        if len(alphas) == 1 or len(distinct) == 1:
            return solutions[0]
        columns = [(solutions[i], k) for k, i in enumerate(place)]
        iterated = solutions[0].n_iter is not None
        return solutions[0]._replace(
            coef=np.column_stack([s.coef[:, k] for s, k in columns]),
            intercept=np.array([s.intercept[k] for s, k in columns]),
            n_iter=np.array([s.n_iter[k] for s, k in columns]) if iterated else None,
        )

    def _keep(self, solution: LeastSquares) -> None:
        super()._keep(solution)
        self.n_iter_ = solution.n_iter
