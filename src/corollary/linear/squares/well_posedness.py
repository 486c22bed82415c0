"""Well-posedness of linear problems: existence, uniqueness and stability of the solution."""

import numpy as np
import scipy.linalg
from sklearn.utils import check_array

from corollary.core.estimator import ArrayLike, NonNegative, checked
from corollary.linear.squares._factorisation import numerical_rank
from corollary.linear.squares._records import WellPosedness


@checked
def diagnose(
    X: ArrayLike, y: ArrayLike | None = None, *, alpha: NonNegative = 0.0
) -> WellPosedness:
    """Diagnose a linear problem: rank, existence, uniqueness, condition number.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Inputs; append a column of ones for an intercept.
    y : array-like of shape (n_samples,) or None, default=None
        Targets, needed to judge whether an exact solution exists.
    alpha : float, default=0.0
        Ridge penalty; any positive value makes the minimiser unique.

    Returns
    -------
    diagnosis : record
        Prints as a sentence. Its fields are ``n_samples``, ``n_features``, the numerical ``rank``
        of X, its ``singular_values``, ``condition_number`` (of X, or of X with the rows
        sqrt(alpha) I appended; infinite if the minimiser is not unique), ``exists`` (whether
        ``X @ coef = y`` has an exact solution) and the relative ``residual``, both None without y,
        ``unique`` (the minimiser), ``stable`` (known to eight digits), ``well_posed`` and
        ``alpha``.

    Examples
    --------
    >>> from corollary.linear import diagnose
    >>> print(diagnose([[1.0, 2.0], [2.0, 4.0]], [1.0, 2.0]))
    2 equations in 2 unknowns, rank 1; solvable exactly; many minimisers; condition number inf;
    ill-posed: drop dependent columns, or use Ridge with alpha > 0
    >>> diagnose([[1.0, 2.0], [2.0, 4.0]], alpha=1.0).well_posed
    True
    """
    X = check_array(X, dtype=np.float64)
    n, d = X.shape
    U, s, _ = scipy.linalg.svd(X, full_matrices=False)
    rank = numerical_rank(s, max(n, d))
    smallest = s[-1] if rank == d else 0.0
    top, bottom = np.hypot(s[0], np.sqrt(alpha)), np.hypot(smallest, np.sqrt(alpha))
    condition = float(top / bottom) if bottom > 0 else np.inf
    exists = residual = None
    if y is not None:
        y = check_array(y, ensure_2d=False, dtype=np.float64)
        if len(y) != n:
            raise ValueError(f"diagnose needs one target per row. Got {len(y)} for {n} rows.")
        basis = U[:, :rank]
        length = float(np.linalg.norm(y))
        residual = float(np.linalg.norm(y - basis @ (basis.T @ y))) / length if length else 0.0
        exists = bool(residual <= 100 * np.finfo(float).eps * np.sqrt(n))
    unique = alpha > 0 or rank == d
    return WellPosedness(n, d, rank, s, condition, exists, unique, residual, float(alpha))


@checked
def interpolate(X: ArrayLike, y: ArrayLike) -> np.ndarray:
    """Solve a square linear system exactly: as many points as coefficients.

    Parameters
    ----------
    X : array-like of shape (n, n)
        Linearly independent rows.
    y : array-like of shape (n,)
        Targets.

    Returns
    -------
    coef : ndarray of shape (n,)
        The unique coefficients with ``X @ coef = y``.

    Raises
    ------
    ValueError
        If X is not square or its rows are linearly dependent.

    Examples
    --------
    >>> from corollary.linear import interpolate
    >>> interpolate([[1.0, 0.0], [1.0, 2.0]], [1.0, 5.0])
    array([1., 2.])
    """
    X, y = check_array(X, dtype=np.float64), check_array(y, ensure_2d=False, dtype=np.float64)
    if X.shape[0] != X.shape[1]:
        raise ValueError(
            f"interpolate needs as many rows as columns. Got shape {X.shape}; use "
            "least_squares for other shapes."
        )
    rank = diagnose(X).rank
    if rank < len(X):
        raise ValueError(
            f"interpolate needs linearly independent rows. Got rank {rank} for {len(X)} rows: the "
            "system has no solution or many. Use least_squares for the one of smallest norm."
        )
    return scipy.linalg.solve(X, y)
