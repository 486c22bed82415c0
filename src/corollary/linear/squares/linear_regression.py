"""Ordinary least squares as an estimator."""

from dataclasses import KW_ONLY

import numpy as np

from corollary.core.estimator import NoEffect, NonNegative, fitted
from corollary.core.schema import Array, Optional
from corollary.linear.squares._records import LeastSquares
from corollary.linear.squares._regressor import LeastSquaresRegressor
from corollary.linear.squares._solve import LeastSquaresProblem


class LinearRegression(LeastSquaresRegressor):
    r"""Ordinary least squares.

    Minimises :math:`\sum_i w_i(y_i-x_i^\top\beta-b)^2`, with :math:`\beta` in ``coef_`` and b in
    ``intercept_``. Where many coefficients do equally well, the fit is the one of smallest norm.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether the model has an intercept.
    copy_X : bool, default=True
        Changes nothing: X is never written to.
    tol : float, default=1e-6
        Relative tolerance of the iterations that solve for sparse inputs with both sides above
        4096; other inputs are solved directly.
    n_jobs : int or None, default=None
        Threads for :meth:`fit`; None means one per available core. The result does not depend
        on it.
    positive : bool, default=False
        Whether coefficients must not be negative.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        Coefficients.
    intercept_ : float or ndarray of shape (n_targets,)
        Intercept.
    rank_ : int
        Rank of the (centred) design.
    singular_ : ndarray of shape (min(n_samples, n_features),) or None
        Singular values of the (centred and weighted) design, descending; None with
        ``positive=True`` and where the solver iterates.
    solver_ : str
        What was used: "cholesky", "dual", "svd", "eigen", "lsqr" or "nnls", which is for
        ``positive=True``.

    See Also
    --------
    Ridge : With a penalty on large coefficients.
    corollary.linear.coefficient_intervals : How sure each coefficient is.
    corollary.linear.diagnose : Rank, uniqueness and condition of the problem.

    Notes
    -----
    The fit forms the normal equations block by block, so that X is neither copied nor centred,
    refines their solution with residuals of the rows, and falls back to an orthogonal
    factorisation when they are ill-conditioned.

    Guarantee. With uncorrelated noise of equal variance and full column rank, no linear unbiased
    estimate of the coefficients has a smaller covariance (Gauss and Markov), checked by
    ``tests/linear/test_sampling_law.py::test_no_linear_unbiased_estimate_has_less_covariance``.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.linear import LinearRegression
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0]])
    >>> model = LinearRegression().fit(X, X @ [2.0, -1.0] + 3.0)
    >>> model.coef_.round(6), round(model.intercept_, 6)
    (array([ 2., -1.]), 3.0)
    """

    _: KW_ONLY
    fit_intercept: bool = True
    copy_X: NoEffect = True
    tol: NonNegative = 1e-6
    n_jobs: int | None = None
    positive: bool = False

    singular_: np.ndarray | None = fitted(Optional(Array("f", "*", low=0.0)))

    def _problem(self) -> LeastSquaresProblem:
        return LeastSquaresProblem(
            0.0,
            self.fit_intercept,
            tol=self.tol,
            n_jobs=self.n_jobs,
            positive=self.positive,
            singular=True,
        )

    def _keep(self, solution: LeastSquares) -> None:
        super()._keep(solution)
        self.singular_ = solution.singular_values
