r"""Whether rows lie closer together than the density around them explains."""

from typing import Any

import numpy as np

from corollary.core.estimator import CountFromTwo, checked
from corollary.validation.dependence._hashes import number_units

#: Neighbours that show the density around a row.
NEIGHBORS = 10
#: A row is close to another if chance makes it so close once in this many rows, per neighbour.
CLOSE, SHARE_OF_DISTANCE = 0.002, 0.3
#: Rows that must be close, beyond three times those of chance, for any to be called copies.
LEAST_SHARE = 0.03
#: Above so many rows a sample of this size is looked at first.
MANY, SAMPLE = 5000, 1500


@checked
def nearest_ratios(X: Any, *, n_neighbors: CountFromTwo = NEIGHBORS) -> tuple[np.ndarray, float]:
    r"""Compare the nearest neighbour of each row with its k-th.

    Among rows from a density on D dimensions, which is nearly constant over k neighbours, the
    ratio of distances :math:`u = (d_1 / d_k)^D` has the law Beta(1, k - 1): of the k - 1 nearer
    ones none is likely to be very near. Near copies have u close to 0. The dimension is that of
    the data, not the number of columns: it is estimated by the further half of the neighbours,
    whose distances copies do not change.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_columns)
        Rows as numbers on comparable scales.
    n_neighbors : int, default=10
        The neighbour k to compare with.

    Returns
    -------
    ratios : ndarray of shape (n_rows,)
        The ratio u of each row.
    dimension : float
        The dimension D, from 1 to 30.

    References
    ----------
    .. [1] E. Levina, P. Bickel (2004). Maximum likelihood estimation of intrinsic dimension.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.validation import nearest_ratios
    >>> rows = np.random.default_rng(0).normal(size=(1000, 3))
    >>> ratios, dimension = nearest_ratios(rows)
    >>> bool(abs(ratios.mean() - 0.1) < 0.02), bool(abs(dimension - 3) < 0.3)
    (True, True)
    """
    rows = np.asarray(X, dtype=np.float64)
    distances, _ = _neighbors(rows, rows, n_neighbors)
    return _ratios(distances)


def near_copies(X: Any) -> np.ndarray:
    """Join rows that are much closer to each other than the density around them explains.

    Rows are called close if their nearest neighbour is within 0.3 of the distance of the tenth
    and chance makes it so close in 2 rows of 100 (:func:`nearest_ratios`). If 8 of 100 rows are
    close, links within that distance join rows to units; otherwise no row has a near copy. Equal
    rows are not close: they are copies.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_columns)
        Rows as numbers; columns are scaled to unit spread, missing values filled by the mean.
        Columns should have many values: on coarse scales all rows are near others.

    Returns
    -------
    codes : ndarray of int of shape (n_rows,)
        Unit of each row, from 0 by first appearance; all different without near copies.

    See Also
    --------
    agreement_lift : For rows that agree exactly.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.validation import near_copies
    >>> rng = np.random.default_rng(0)
    >>> rows = rng.normal(size=(100, 4))
    >>> int(near_copies(rows).max()) + 1
    100
    >>> again = rows + 0.001 * rng.normal(size=rows.shape)
    >>> codes = near_copies(np.concatenate([rows, again]))
    >>> bool((codes[:100] == codes[100:]).all())
    True
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    rows = _standard(np.asarray(X, dtype=np.float64))
    n = len(rows)
    if n < 4 * NEIGHBORS:
        return np.arange(n)
    if n > MANY:
        sample = np.random.default_rng(0).permutation(n)[:SAMPLE]
        distances, _ = _neighbors(rows, rows[sample], NEIGHBORS)
        if np.mean(distances[:, 0] < 0.1 * distances[:, -1]) < LEAST_SHARE:
            return np.arange(n)
    distances, neighbors = _neighbors(rows, rows, NEIGHBORS)
    reach = SHARE_OF_DISTANCE * distances[:, -1]
    ratios, _ = _ratios(distances)
    close = (ratios < CLOSE) & (distances[:, 0] < reach) & (distances[:, 0] > 1e-9)
    chance = 1 - (1 - CLOSE) ** (NEIGHBORS - 1)
    if np.median(reach) <= 1e-9 or close.mean() < LEAST_SHARE + 3 * chance:
        return np.arange(n)
    row, rank = np.nonzero(close[:, None] & (distances < reach[:, None]))
    links = coo_matrix((np.ones(len(row)), (row, neighbors[row, rank])), (n, n))
    return number_units(connected_components(links, directed=False)[1])


def _standard(X: np.ndarray) -> np.ndarray:
    """Scale columns to unit spread; fill missing values by the mean."""
    spread = np.nanstd(X, axis=0)
    scaled = (X - np.nanmean(X, axis=0)) / np.where(spread > 0, spread, 1.0)
    return np.nan_to_num(scaled)


def _neighbors(X: np.ndarray, queries: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Find the k nearest rows of rows, themselves left out, at distances above zero."""
    # Ours would be compiled first, which is most of the time of a quick report.
    from sklearn.neighbors import NearestNeighbors

    distances, neighbors = NearestNeighbors(n_neighbors=k + 1).fit(X).kneighbors(queries)
    return np.maximum(distances[:, 1:], 1e-12), neighbors[:, 1:]


def _ratios(distances: np.ndarray) -> tuple[np.ndarray, float]:
    """Compute the ratios and the dimension from distances in rising order."""
    k = distances.shape[1]
    far = np.arange(k // 2 + 1, k)
    spacing = np.log(distances[:, -1:] / distances[:, far - 1]).mean() if len(far) else 0.0
    # The j-th of k neighbours has log(d_k / d_j) of mean (1/j + ... + 1/(k-1)) / D.
    expected = np.mean([sum(1 / i for i in range(j, k)) for j in far]) if len(far) else 1.0
    dimension = float(np.clip(expected / max(spacing, 1e-6), 1, 30))
    return (distances[:, 0] / distances[:, -1]) ** dimension, dimension
