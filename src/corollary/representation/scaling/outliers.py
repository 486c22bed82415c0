"""Removing outliers before fitting, by stated rules.

============ ========================================== ==================
rule         a value (or row) is an outlier if           default threshold
============ ========================================== ==================
mad          ``0.6745 |x - median| / MAD > threshold``   3.5
iqr          outside quartiles -+ threshold * IQR        1.5
zscore       ``|x - mean| / standard deviation > t``     3.0
mahalanobis  distance^2 > chi-squared quantile           0.999
============ ========================================== ==================

Least squares is pulled by outliers without limit, and so are mean and standard deviation: a
z-score in n rows cannot exceed ``(n - 1) / sqrt(n)``, so with ten rows or fewer the rule "zscore"
never finds anything. Median and MAD stand up to almost half of the rows being wrong.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.special import chdtri
from sklearn.utils.validation import check_array

# Thresholds of the rules where none is given: Iglewicz and Hoaglin, Tukey, three sigma, and one
# in a thousand Gaussian rows.
THRESHOLDS = {"mad": 3.5, "iqr": 1.5, "zscore": 3.0, "mahalanobis": 0.999}

# Makes the median (or mean) absolute deviation of Gaussian data a standard deviation.
_MAD_FACTOR, _MEAN_FACTOR = 0.6744897501960817, 0.7978845608028654


class CleanRows(NamedTuple):
    """Rows without outliers.

    Parameters
    ----------
    X : ndarray of shape (n_kept, n_features)
        Rows kept.
    y : ndarray of shape (n_kept,) or None
        Their targets, if targets were given.
    removed : ndarray of bool of shape (n_samples,)
        True for the rows that were removed.
    """

    X: Any
    y: Any
    removed: np.ndarray


def outlier_mask(X: Any, *, rule: str = "mad", threshold: float | None = None) -> np.ndarray:
    """Tell which rows are outliers.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Numbers; a missing value is never an outlier ("mahalanobis" takes none).
    rule : {"mad", "iqr", "zscore", "mahalanobis"}, default="mad"
        The rule. The first three look at each feature alone, and a row is an outlier if one of
        its values is; "mahalanobis" looks at rows as a whole.
    threshold : float or None, default=None
        The rule's threshold; None for 3.5, 1.5, 3 and 0.999. For "mahalanobis" it is the
        probability with which a Gaussian row is kept.

    Returns
    -------
    outlier : ndarray of bool of shape (n_samples,)
        True for outliers.

    Examples
    --------
    >>> from corollary.representation import outlier_mask
    >>> outlier_mask([[1.0], [2.0], [3.0], [2.0], [99.0]])
    array([False, False, False, False,  True])
    """
    if rule not in THRESHOLDS:
        raise ValueError(
            f"The 'rule' parameter of outlier_mask must be a str among {sorted(THRESHOLDS)}. "
            f"Got {rule!r} instead."
        )
    limit = THRESHOLDS[rule] if threshold is None else threshold
    top = 1.0 if rule == "mahalanobis" else np.inf
    if not 0 < limit < top:
        raise ValueError(
            f"The 'threshold' parameter of outlier_mask must be a float in the range (0.0, {top}) "
            f"for rule {rule!r}. Got {threshold!r} instead."
        )
    finite: Any = True if rule == "mahalanobis" else "allow-nan"
    X = check_array(X, dtype=np.float64, ensure_all_finite=finite)
    if rule == "mahalanobis":
        return _mahalanobis(X) > chdtri(_rank(X), 1 - limit)
    with np.errstate(invalid="ignore"):
        return np.any(_RULES[rule](X, limit), axis=1)


def remove_outliers(
    X: Any, y: Any = None, *, rule: str = "mad", threshold: float | None = None
) -> CleanRows:
    """Remove the rows that are outliers, together with their targets.

    Remove outliers from training rows only: errors on cleaned test rows say nothing about the
    rows that will come.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Inputs.
    y : array-like of shape (n_samples,) or None, default=None
        Targets.
    rule : {"mad", "iqr", "zscore", "mahalanobis"}, default="mad"
        The rule, see :func:`outlier_mask`.
    threshold : float or None, default=None
        Its threshold.

    Returns
    -------
    clean : CleanRows
        Rows and targets kept, and which were removed.

    Examples
    --------
    >>> from corollary.representation import remove_outliers
    >>> clean = remove_outliers([[1.0], [2.0], [3.0], [2.0], [99.0]], [0, 1, 2, 3, 4])
    >>> clean.y
    array([0, 1, 2, 3])
    """
    removed = outlier_mask(X, rule=rule, threshold=threshold)
    if y is not None:
        y = np.asarray(y)
        if len(y) != len(removed):
            raise ValueError(
                f"remove_outliers needs one target for each row. Got {len(removed)} rows and "
                f"{len(y)} targets."
            )
        y = y[~removed]
    rows = X.loc[~removed] if hasattr(X, "loc") else np.asarray(X)[~removed]
    return CleanRows(rows, y, removed)


def _mad(X: np.ndarray, limit: float) -> np.ndarray:
    deviation = np.abs(X - _nan(np.nanmedian, X))
    spread = _nan(np.nanmedian, deviation) / _MAD_FACTOR
    # More than half of the values equal: the mean deviation still sees the others.
    fallback = _nan(np.nanmean, deviation) / _MEAN_FACTOR
    return deviation > limit * np.where(spread > 0, spread, fallback)


def _iqr(X: np.ndarray, limit: float) -> np.ndarray:
    low, high = _nan(lambda Z, axis: np.nanpercentile(Z, [25, 75], axis=axis), X)
    reach = limit * (high - low)
    return (low - reach > X) | (high + reach < X)


def _zscore(X: np.ndarray, limit: float) -> np.ndarray:
    return np.abs(X - _nan(np.nanmean, X)) > limit * _nan(np.nanstd, X)


def _nan(function: Any, X: np.ndarray) -> Any:
    """Apply a statistic that ignores NaN to columns; columns of NaN only give NaN, silently."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return function(X, axis=0)


_RULES = {"mad": _mad, "iqr": _iqr, "zscore": _zscore}


def _rank(X: np.ndarray) -> int:
    return max(int(np.linalg.matrix_rank(X - X.mean(axis=0))), 1)


def _mahalanobis(X: np.ndarray) -> np.ndarray:
    centred = X - X.mean(axis=0)
    inverse = np.linalg.pinv(centred.T @ centred / len(X), hermitian=True)
    return np.einsum("ij,jk,ik->i", centred, inverse, centred)
