r"""Missing numbers filled by what the other columns say of them.

The best linear prediction of the missing part :math:`m` of a row from its present part :math:`o`
is :math:`\mu_m + \Sigma_{mo} \Sigma_{oo}^{-1} (x_o - \mu_o)`. With the precision matrix
:math:`\Lambda = \Sigma^{-1}` it solves the small system

.. math:: \Lambda_{mm} (x_m - \mu_m) = -\Lambda_{mo} (x_o - \mu_o),

whatever other values of the row are missing too, and :math:`(\Lambda_{mm}^{-1})_{jj}` is the
variance that remains. Features are in units of their spread. Rows with equally many missing values
are solved together.
"""

from typing import NamedTuple

import numpy as np
from scipy import linalg

#: Numbers of rows, or of their small systems, that are held at a time.
_BATCH = 1_000_000


class Moments(NamedTuple):
    """What is known of a row before anything of it is seen.

    Parameters
    ----------
    mean : ndarray of shape (d,)
        Means.
    spread : ndarray of shape (d,)
        Standard deviations.
    precision : ndarray of shape (d, d)
        Inverse of the correlation matrix.
    """

    mean: np.ndarray
    spread: np.ndarray
    precision: np.ndarray


def learn_moments(X: np.ndarray) -> Moments | None:
    """Learn moments from the rows without missing values.

    Correlations of d features in n rows are multiplied by n / (n + d), which keeps their matrix
    regular.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Features; NaN where missing.

    Returns
    -------
    moments : Moments or None
        None if fewer than ten complete rows per feature are there to learn them from. A constant
        feature has spread one and no correlations.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.representation.fill import learn_moments
    >>> X = np.repeat([[1.0, 2.0], [3.0, 6.0]], 50, axis=0)
    >>> moments = learn_moments(X)
    >>> moments.mean.round(6).tolist(), moments.spread.round(6).tolist()
    ([2.0, 4.0], [1.0, 2.0])
    """
    complete = X[~np.isnan(X).any(axis=1)]
    n, d = complete.shape
    if n < 10 * max(d, 1):
        return None
    mean, spread = location_and_spread(complete)
    spread = np.where(spread > 0, spread, 1.0)
    scaled = (complete - mean) / spread
    correlation = scaled.T @ scaled / (n + d)
    np.fill_diagonal(correlation, 1.0)
    return Moments(mean, spread, linalg.inv(correlation))


def location_and_spread(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation by column, where squares may leave the range of floats.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Numbers.

    Returns
    -------
    mean : ndarray of shape (d,)
        Means.
    spread : ndarray of shape (d,)
        Standard deviations.
    """
    largest = np.abs(X).max(axis=0, initial=0.0)
    unit = np.where(largest > 0, largest, 1.0)
    scaled = X / unit
    return scaled.mean(axis=0) * unit, scaled.std(axis=0) * unit


def predict_missing(X: np.ndarray, moments: Moments) -> tuple[np.ndarray, np.ndarray]:
    """Predict the missing values of each row from its present ones.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Features; NaN where missing.
    moments : Moments
        From :func:`learn_moments`.

    Returns
    -------
    filled : ndarray of shape (n, d)
        X with predictions where it was missing.
    unexplained : ndarray of shape (n, d)
        Share of the variance of each missing value that the present ones leave open; 0 where a
        value is present.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.representation.fill import Moments, predict_missing
    >>> precision = np.linalg.inv([[1.0, 0.8], [0.8, 1.0]])
    >>> X = np.array([[2.0, np.nan], [np.nan, np.nan]])
    >>> filled, unexplained = predict_missing(X, Moments(np.zeros(2), np.ones(2), precision))
    >>> filled.round(2).tolist(), unexplained.round(2).tolist()
    ([[2.0, 1.6], [0.0, 0.0]], [[0.0, 0.36], [1.0, 1.0]])
    """
    missing = np.isnan(X)
    counts = missing.sum(axis=1)
    filled, unexplained = X.copy(), np.zeros(X.shape)
    for m in np.unique(counts[counts > 0]):
        rows = np.flatnonzero(counts == m)
        size = len(rows) * max(m * m, X.shape[1])
        for part in np.array_split(rows, -(-size // _BATCH)):
            places = np.nonzero(missing[part])[1].reshape(len(part), m)
            away = np.where(missing[part], 0.0, (X[part] - moments.mean) / moments.spread)
            pull = np.take_along_axis(away @ moments.precision, places, axis=1)
            inverse = np.linalg.inv(moments.precision[places[:, :, None], places[:, None, :]])
            steps = -(inverse @ pull[:, :, None])[:, :, 0]
            filled[part[:, None], places] = moments.mean[places] + moments.spread[places] * steps
            unexplained[part[:, None], places] = np.diagonal(inverse, axis1=1, axis2=2)
    return filled, unexplained
