r"""Full conformal intervals where they have a closed form: ridge regression and nearest neighbours.

Full conformal prediction refits the model with every candidate target of the new row. If fitted
values are linear in the targets, all residuals are :math:`a_i + b_i t` in the candidate t, and
the candidates that fit well enough are found by sorting the points where two residuals are equal.
All rows train and all calibrate, at the full level.
"""

from typing import Any

import numpy as np
from scipy import linalg
from sklearn.utils import check_array, check_X_y

from corollary.conformal.quantile import conformal_rank
from corollary.core.estimator import ArrayLike, Count, Positive, Probability, checked

# Relative difference below which two residuals are equal for every candidate. Rounding gives some
# 1e-15; a difference below this one would only matter for candidates as far off as its inverse.
_TIE = 1e-12


def _linear_hull(
    intercepts: np.ndarray, slopes: np.ndarray, new_intercept: float, new_slope: float, needed: int
) -> tuple[float, float]:
    r"""Return the smallest interval of all t where enough rows fit no better than the new one.

    Row i counts at t if :math:`|a_i + b_i t| \ge |a + b t|`.
    """
    if needed <= 0:
        return -np.inf, np.inf
    # Seen from the zero of the new residual and in units of its slope: |c_i + e_i u| >= |u|.
    zero = -new_intercept / new_slope
    c = (intercepts + slopes * zero) / new_slope
    e = slopes / new_slope
    flip = np.where(c < 0, -1.0, 1.0)
    c, e = c * flip, e * flip
    with np.errstate(divide="ignore", invalid="ignore"):
        right = np.where(e < 1, c / (1 - e), np.inf)  # c + e u = u, where it is reached at all
        left = np.where(e > -1, -c / (1 + e), -np.inf)
    # Every row counts at u = 0 and on [left, right] around it. A row with |e| > 1 counts beyond
    # a further root on one side, too.
    with np.errstate(divide="ignore", invalid="ignore"):
        again_right = np.where(e < -1, c / (-1 - e), np.inf)
        again_left = np.where(e > 1, -c / (e - 1), -np.inf)
    # A residual that is as large as the new one at every t, up to rounding, counts everywhere: the
    # residuals of one row and the new one, with a free constant, differ in their signs alone.
    rounding = _TIE * (np.abs(intercepts) + np.abs(slopes * zero)) / abs(new_slope)
    equal = (np.abs(np.abs(e) - 1) <= _TIE) & (c <= rounding)
    right[equal], again_right[equal] = np.inf, np.inf
    left[equal], again_left[equal] = -np.inf, -np.inf
    return zero + _reach(-left, -again_left, needed) * -1.0, zero + _reach(
        right, again_right, needed
    )


def _reach(ends: np.ndarray, returns: np.ndarray, needed: int) -> float:
    """Return the largest u >= 0 within the ends, or beyond the returns, of enough rows."""
    if np.isinf(ends).sum() + np.isfinite(returns).sum() >= needed:
        return np.inf
    places = np.concatenate([ends[np.isfinite(ends)], returns[np.isfinite(returns)]])
    change = np.concatenate(
        [-np.ones(np.isfinite(ends).sum()), np.ones(np.isfinite(returns).sum())]
    )
    # From far out inwards: ends add a row when passed, returns take one away.
    order = np.lexsort((change, -places))
    count = np.isinf(ends).sum() + np.isfinite(returns).sum() - np.cumsum(change[order])
    enough = np.flatnonzero(count >= needed)
    return float(places[order][enough[0]]) if len(enough) else 0.0


@checked
def full_conformal_ridge(
    X: ArrayLike,
    y: ArrayLike,
    X_new: ArrayLike,
    *,
    alpha: Positive = 1.0,
    confidence: Probability = 0.9,
    fit_intercept: bool = True,
) -> np.ndarray:
    r"""Predict intervals by full conformal prediction with ridge regression.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Training rows.
    y : array-like of shape (n_samples,)
        Targets.
    X_new : array-like of shape (n_new, n_features)
        Rows to predict.
    alpha : float, default=1.0
        Penalty of the squared weights, positive; fixed before these rows were seen.
    confidence : float, default=0.9
        Wanted coverage, strictly between 0 and 1.
    fit_intercept : bool, default=True
        Whether there is a constant, which has no penalty.

    Returns
    -------
    intervals : ndarray of shape (n_new, 2)
        The smallest intervals that hold all candidates that conform.

    See Also
    --------
    full_conformal_neighbors : The same for nearest neighbours.
    SplitConformalRegressor : For every model.

    Notes
    -----
    Guarantee: for exchangeable rows an interval holds the target with probability at least
    `confidence`. Checked by ``tests/conformal/test_full.py``. A new row takes time of order
    n (d + log n), and memory of order n.

    References
    ----------
    Nouretdinov, I., Melluish, T. and Vovk, V. (2001). Ridge regression confidence machine.
    International Conference on Machine Learning.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.conformal import full_conformal_ridge
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 1))
    >>> y = X[:, 0] + rng.normal(size=200)
    >>> full_conformal_ridge(X, y, [[0.0]]).shape
    (1, 2)
    """
    X, y, new = _read(X, y, X_new)
    if fit_intercept:
        X, new = (np.column_stack([np.ones(len(part)), part]) for part in (X, new))
    penalty = np.full(X.shape[1], float(alpha))
    if fit_intercept:
        penalty[0] = 0.0
    factor = linalg.cho_factor(X.T @ X + np.diag(penalty))
    beta = linalg.cho_solve(factor, X.T @ y)
    residuals = y - X @ beta
    needed = len(y) + 1 - conformal_rank(len(y), confidence)
    intervals = np.empty((len(new), 2))
    for j, row in enumerate(new):
        direction = linalg.cho_solve(factor, row)
        shrink = 1 / (1 + row @ direction)
        # Sherman and Morrison: the fit with the new row, whose target is t, as a function of t.
        pull, said = X @ direction * shrink, row @ beta
        intervals[j] = _linear_hull(residuals + pull * said, -pull, -said * shrink, shrink, needed)
    return intervals


@checked
def full_conformal_neighbors(
    X: ArrayLike,
    y: ArrayLike,
    X_new: ArrayLike,
    *,
    n_neighbors: Count = 5,
    confidence: Probability = 0.9,
) -> np.ndarray:
    """Predict intervals by full conformal prediction with the mean of nearest neighbours.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Training rows.
    y : array-like of shape (n_samples,)
        Targets.
    X_new : array-like of shape (n_new, n_features)
        Rows to predict.
    n_neighbors : int, default=5
        Neighbours of a row that are averaged, the row itself left out; the new row is one of the
        neighbours that others may have.
    confidence : float, default=0.9
        Wanted coverage, strictly between 0 and 1.

    Returns
    -------
    intervals : ndarray of shape (n_new, 2)
        The smallest intervals that hold all candidates that conform.

    See Also
    --------
    full_conformal_ridge : The same for ridge regression.

    Notes
    -----
    Guarantee: for exchangeable rows without ties of distances an interval holds the target with
    probability at least `confidence`. Checked by ``tests/conformal/test_full.py``.

    References
    ----------
    Papadopoulos, H., Vovk, V. and Gammerman, A. (2011). Regression conformal prediction with
    nearest neighbours. Journal of Artificial Intelligence Research 40.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.conformal import full_conformal_neighbors
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 1))
    >>> y = X[:, 0] + rng.normal(size=200)
    >>> full_conformal_neighbors(X, y, [[0.0]]).shape
    (1, 2)
    """
    from corollary.neighbors import NearestNeighbors

    X, y, new = _read(X, y, X_new)
    if n_neighbors >= len(y):
        raise ValueError(
            "full_conformal_neighbors needs more rows than neighbours. "
            f"Got {len(y)} rows and n_neighbors={n_neighbors}."
        )
    index = NearestNeighbors(n_neighbors=n_neighbors).fit(X)
    gaps, who = index.kneighbors()  # of the training rows themselves, each without itself
    means, farthest, last = y[who].mean(axis=1), gaps[:, -1], y[who[:, -1]]
    nearest = index.kneighbors(new, return_distance=False)
    needed = len(y) + 1 - conformal_rank(len(y), confidence)
    intervals = np.empty((len(new), 2))
    for j, row in enumerate(new):
        # The new row takes the place of the farthest neighbour of every row it is nearer to.
        enters = np.sqrt(((X - row) ** 2).sum(axis=1)) < farthest
        slopes = np.where(enters, -1 / n_neighbors, 0.0)
        intercepts = y - means + np.where(enters, last / n_neighbors, 0.0)
        intervals[j] = _linear_hull(intercepts, slopes, -y[nearest[j]].mean(), 1.0, needed)
    return intervals


def _read(X: Any, y: Any, X_new: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    X, y = check_X_y(X, y, dtype=np.float64, y_numeric=True)
    new = check_array(X_new, dtype=np.float64)
    if new.shape[1] != X.shape[1]:
        raise ValueError(
            f"Full conformal prediction needs new rows of {X.shape[1]} features. "
            f"Got {new.shape[1]}."
        )
    return X, y.astype(float), new
