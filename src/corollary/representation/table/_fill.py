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

from corollary.core.parallel import one_blas_thread

#: Numbers of rows, or of their small systems, that are held at a time.
_BATCH = 1_000_000


class Moments(NamedTuple):
    """What is known of a row before anything of it is seen."""

    mean: np.ndarray  # means
    spread: np.ndarray  # standard deviations
    precision: np.ndarray  # inverse of the correlation matrix


@one_blas_thread()
def learn_moments(X: np.ndarray) -> Moments | None:
    r"""Learn moments from the values that are present.

    Each correlation is that of the rows in which both features are present. Correlations are then
    multiplied by a common factor below one: n / (n + d) for d features and n rows (of the pair that
    has the fewest), or less where correlations of different rows contradict each other. The least
    eigenvalue is then at least d / (n + d).
    """
    present, d = ~np.isnan(X), X.shape[1]
    pairs = present.T.astype(np.float64) @ present
    n = float(pairs.min(initial=len(X)))
    if d == 0 or n < 2 * d:
        return None
    mean, spread = location_and_spread(X)
    spread = np.where(spread > 0, spread, 1.0)
    scaled = np.where(present, (X - mean) / spread, 0.0)
    correlation = scaled.T @ scaled / pairs
    np.fill_diagonal(correlation, 1.0)
    least = min(0.0, float(linalg.eigvalsh(correlation, subset_by_index=(0, 0))[0]))
    correlation *= n / (n + d) / (1.0 - least)
    np.fill_diagonal(correlation, 1.0)
    return Moments(mean, spread, linalg.inv(correlation))


def location_and_spread(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation by column, where squares may leave the range of floats."""
    largest = np.fmax.reduce(np.abs(X), axis=0, initial=0.0)
    unit = np.where(largest > 0, largest, 1.0)
    scaled = X / unit
    count = np.maximum(1, (~np.isnan(scaled)).sum(axis=0))
    mean = np.nansum(scaled, axis=0) / count
    spread = np.sqrt(np.nansum((scaled - mean) ** 2, axis=0) / count) * unit
    # By less than the smallest normal number nothing can be divided.
    return mean * unit, np.where(spread >= np.finfo(np.float64).tiny, spread, 0.0)


def predict_missing(X: np.ndarray, moments: Moments) -> tuple[np.ndarray, np.ndarray]:
    """Predict the missing values of each row from its present ones."""
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
