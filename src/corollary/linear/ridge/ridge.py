"""Ridge regression as an estimator."""

from dataclasses import KW_ONLY
from typing import Literal

from corollary.core.estimator import Count, NonNegative, Positive, fitted
from corollary.core.schema import Integer
from corollary.linear.squares._records import LeastSquares
from corollary.linear.squares._regressor import LeastSquaresRegressor
from corollary.linear.squares._solve import LeastSquaresProblem


class Ridge(LeastSquaresRegressor):
    r"""Ridge regression.

    Minimises :math:`\sum_i w_i(y_i-x_i^\top\beta-b)^2+\alpha\|\beta\|^2`; the intercept is not
    penalised.

    Parameters
    ----------
    alpha : float, default=1.0
        Penalty :math:`\alpha`; the noise variance over the prior variance of a coefficient. 0
        gives ordinary least squares.
    fit_intercept : bool, default=True
        Whether the model has an intercept.
    solver : {"auto", "cholesky", "svd", "lsqr"}, default="auto"
        "cholesky" solves the normal equations of the smaller side of X and falls back to singular
        values when they are ill-conditioned; "svd" uses these at once; "lsqr" iterates, and is
        what "auto" chooses for sparse inputs with both sides above 4096.
    tol : float, default=1e-10
        Relative tolerance of "lsqr".
    max_iter : int or None, default=None
        Largest number of iterations of "lsqr"; None for ten times the smaller side of X.

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
        What was used: "cholesky", "dual", "svd", "eigen" or "lsqr".
    n_iter_ : int
        Iterations of "lsqr"; 1 for the others.

    See Also
    --------
    RidgeCV : Chooses alpha by leave-one-out.
    BayesianLinearRegression : The full posterior of which this is the mean.
    corollary.linear.ridge_path : Coefficients over a grid of alphas.

    Notes
    -----
    Of scikit-learn's parameters, ``positive``, ``copy_X``, ``random_state``, one ``alpha`` per
    target and the stochastic solvers are not offered; ``tol`` concerns "lsqr" alone.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.linear import Ridge
    >>> X, y = np.array([[-1.0], [0.0], [1.0]]), np.array([1.0, 3.0, 5.0])
    >>> model = Ridge(alpha=2.0).fit(X, y)
    >>> model.coef_.round(6), round(model.intercept_, 6)
    (array([1.]), 3.0)
    """

    alpha: NonNegative = 1.0
    _: KW_ONLY
    fit_intercept: bool = True
    solver: Literal["auto", "cholesky", "svd", "lsqr"] = "auto"
    tol: Positive = 1e-10
    max_iter: Count | None = None

    n_iter_: int = fitted(Integer(1))

    def _problem(self) -> LeastSquaresProblem:
        return LeastSquaresProblem(
            self.alpha, self.fit_intercept, self.solver, self.tol, self.max_iter
        )

    def ridge_penalty(self) -> float | None:
        """Return the penalty if there is one and the model goes through the origin.

        Returns
        -------
        alpha : float or None
            Weight of the squared norm beside the sum of squares.
        """
        return float(self.alpha) if self.alpha > 0 and not self.fit_intercept else None

    def _keep(self, solution: LeastSquares) -> None:
        super()._keep(solution)
        self.n_iter_ = solution.n_iter
