"""Least squares, plain or with a ridge penalty, as a function of arrays."""

from typing import Any

import numpy as np
from sklearn.utils import check_X_y

from corollary.core.compat import check_sample_weight
from corollary.linear.squares._records import LeastSquares
from corollary.linear.squares._solve import LeastSquaresProblem


def least_squares(
    X: Any,
    y: Any,
    *,
    alpha: float = 0.0,
    sample_weight: Any = None,
    fit_intercept: bool = True,
    solver: str = "auto",
    n_jobs: int | None = None,
) -> LeastSquares:
    """Minimise the weighted sum of squares plus ``alpha`` times the squared norm.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Inputs.
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
        Targets.
    alpha : float, default=0.0
        Penalty on the squared norm of the coefficients; the intercept is not penalised.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Non-negative weights.
    fit_intercept : bool, default=True
        Whether the model has an intercept.
    solver : {"auto", "cholesky", "svd", "lsqr"}, default="auto"
        "cholesky" solves the normal equations of the smaller side, and falls back to "svd" when
        they are ill-conditioned; "lsqr" iterates and never forms products of columns, which
        suits large sparse inputs.
    n_jobs : int or None, default=None
        Threads; None means one per available core. The result does not depend on it.

    Returns
    -------
    solution : named tuple
        ``coef`` of shape (n_features,) or (n_features, n_targets), of smallest norm where it is
        not unique; ``intercept``, zero if none was asked for; ``rank`` of the (centred) design;
        ``rcond``, the estimated reciprocal condition number of the scaled normal equations; and
        the ``solver`` that was used: "cholesky", "svd" (of the rows), "eigen" (of the normal
        equations), "dual" or "lsqr", with its iterations ``n_iter``.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.linear import least_squares
    >>> X, y = np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 3.0, 5.0])
    >>> solution = least_squares(X, y)
    >>> solution.coef.round(6), round(solution.intercept, 6), solution.rank
    (array([2.]), 1.0, 1)
    """
    if not alpha >= 0:
        raise ValueError(
            "The 'alpha' parameter of least_squares must be a float in the range [0.0, inf). "
            f"Got {alpha!r} instead."
        )
    if solver not in ("auto", "cholesky", "svd", "lsqr"):
        raise ValueError(
            "The 'solver' parameter of least_squares must be one of 'auto', 'cholesky', 'svd', "
            f"'lsqr'. Got {solver!r} instead."
        )
    X, y = check_X_y(
        X,
        y,
        accept_sparse="csr",
        dtype=[np.float64, np.float32],
        multi_output=True,
        y_numeric=True,
    )
    if sample_weight is not None:
        sample_weight = check_sample_weight(
            sample_weight, X, dtype=np.float64, ensure_non_negative=True
        )
    problem = LeastSquaresProblem(alpha, fit_intercept, solver, n_jobs=n_jobs)
    return problem.solve_arrays(X, np.asarray(y, dtype=np.float64), sample_weight)
