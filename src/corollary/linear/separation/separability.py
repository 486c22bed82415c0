r"""Linear separability by linear programming.

A data set with labels -1 and 1 is strictly separable if some (w, b) has
:math:`y_i (\langle w, x_i \rangle + b) > 0` for all i; scaled, if the linear program
:math:`y_i (\langle w, x_i \rangle + b) \ge 1` is feasible. It is weakly separable if some
non-zero (w, b) reproduces all labels when a score of zero counts as +1: scores at least 0 where
y = 1 and at most -1 (scaled) where y = -1.

Rows and columns are first divided by their largest entries, which changes neither answer and
keeps the solver's tolerances meaningful; a plane that is found is verified in the data.
"""

from typing import Any

import numpy as np

from corollary.linear.separation._checks import check_points, check_signs
from corollary.linear.separation._records import Separation


def separability(X: Any, y: Any, *, strict: bool = True, fit_intercept: bool = True) -> Separation:
    """Find out whether a hyperplane separates two classes.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Points.
    y : array-like of shape (n_samples,)
        Labels -1 and 1.
    strict : bool, default=True
        Whether all points must be off the plane. If not, points with label 1 may lie on it.
    fit_intercept : bool, default=True
        Whether the plane may miss the origin.

    Returns
    -------
    result : named tuple
        The answer ``separable``, and ``coef`` and ``intercept`` of a separating plane, zeros if
        there is none.

    See Also
    --------
    dataset_margin : The widest separating hyperplane.

    Notes
    -----
    The solver (HiGHS) works to a tolerance of about 1e-7: planes whose margin is below that share
    of the size of the rows may be missed.

    Examples
    --------
    >>> from corollary.linear import separability
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> separability(X, [-1, -1, -1, 1]).separable  # AND
    True
    >>> separability(X, [-1, 1, 1, -1]).separable  # XOR
    False
    """
    X = np.asarray(X, dtype=np.float64)
    X, _ = check_points("separability", X, np.ones(X.shape[-1]))
    sign = check_signs("separability", y, len(X))
    A = np.column_stack([X, np.ones(len(X))]) if fit_intercept else X
    columns = _largest(A, axis=0)
    scaled = A / columns
    scaled = scaled / _largest(scaled, axis=1)[:, None]
    if strict:
        z = _feasible(-sign[:, None] * scaled, -np.ones(len(X)))
    elif (sign < 0).any():
        z = _feasible(-sign[:, None] * scaled, np.where(sign > 0, 0.0, -1.0))
    else:
        z = _one_sided(scaled)
    if z is None or not _holds(A, sign, z / columns, strict):
        return Separation(False, np.zeros(X.shape[1]), 0.0)
    w = z / columns
    return Separation(True, w[: X.shape[1]], float(w[-1]) if fit_intercept else 0.0)


def _largest(A: np.ndarray, axis: int) -> np.ndarray:
    size = np.abs(A).max(axis=axis)
    return np.where(size > 0, size, 1.0)


def _feasible(A: np.ndarray, b: np.ndarray) -> np.ndarray | None:
    from scipy.optimize import linprog

    program = linprog(np.zeros(A.shape[1]), A_ub=A, b_ub=b, bounds=(None, None), method="highs")
    return program.x if program.status == 0 else None


def _one_sided(A: np.ndarray) -> np.ndarray | None:
    """Find a non-zero z with Az >= 0: gaining on some row, or in the null space of A."""
    from scipy.linalg import null_space
    from scipy.optimize import linprog

    program = linprog(
        -A.sum(axis=0), A_ub=-A, b_ub=np.zeros(len(A)), bounds=(-1, 1), method="highs"
    )
    if program.status == 0 and -program.fun > 1e-7:
        return program.x
    flat = null_space(A)
    return flat[:, 0] if flat.shape[1] else None


def _holds(A: np.ndarray, sign: np.ndarray, z: np.ndarray, strict: bool) -> bool:
    """Verify a plane in the data; where equality is allowed, up to rounding."""
    score = sign * (A @ z)
    rounding = 16 * np.finfo(float).eps * (np.abs(A) @ np.abs(z))
    if strict:
        return bool((score > rounding).all())
    # The solver may be off by its tolerance on rows that lie on the plane.
    lowest = -1e-6 * (np.abs(A) @ np.abs(z))
    return bool(np.where(sign > 0, score >= lowest, score > rounding).all() and z.any())
