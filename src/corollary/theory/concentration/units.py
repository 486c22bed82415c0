"""From rows of owners to one independent number for each owner.

Rows of one owner (a person, a shop, a row that was copied) resemble each other, so that many of
them are no more evidence than a few. If owners are independent draws, whatever is computed from the
rows of one owner alone is an independent draw too: its mean, its median, one row chosen at random.
"""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from corollary.core.estimator import ArrayLike, checked


@checked
def unit_means(values: ArrayLike, groups: ArrayLike) -> np.ndarray:
    """Average the values of each owner.

    Parameters
    ----------
    values : array-like of shape (n_samples,)
        One number for every row, such as its loss.
    groups : array-like of shape (n_samples,)
        The owner of every row.

    Returns
    -------
    means : ndarray of shape (n_groups,)
        One for each owner, in the order of their sorted labels.

    See Also
    --------
    betting_mean_bound : Bounds the expectation of such a mean.
    unit_medians : Without a bounded loss.

    Notes
    -----
    The expectation of a mean is that of the loss of a row drawn from a new owner. The mean over
    rows counts large owners more; it estimates a ratio of expectations, for which no bound exists
    that holds for all sizes of owners.

    Examples
    --------
    >>> from corollary.theory import unit_means
    >>> unit_means([1.0, 0.0, 0.0, 0.0, 1.0], ["a", "a", "a", "a", "b"])
    array([0.25, 1.  ])
    """
    numbers, codes = _paired("unit_means", values, groups)
    return np.bincount(codes, weights=numbers) / np.bincount(codes)


@checked
def unit_medians(values: ArrayLike, groups: ArrayLike) -> np.ndarray:
    """Take the median of the values of each owner.

    Parameters
    ----------
    values : array-like of shape (n_samples,)
        One number for every row, such as its absolute error.
    groups : array-like of shape (n_samples,)
        The owner of every row.

    Returns
    -------
    medians : ndarray of shape (n_groups,)
        One for each owner, in the order of their sorted labels.

    See Also
    --------
    quantile_upper_bound : Bounds the median of such medians.
    unit_means : For bounded losses.

    Examples
    --------
    >>> from corollary.theory import unit_medians
    >>> unit_medians([1.0, 5.0, 90.0, 2.0], ["a", "a", "a", "b"])
    array([5., 2.])
    """
    numbers, codes = _paired("unit_medians", values, groups)
    order = np.lexsort((numbers, codes))
    sizes = np.bincount(codes)
    first = np.cumsum(sizes) - sizes
    ranked = numbers[order]
    return (ranked[first + (sizes - 1) // 2] + ranked[first + sizes // 2]) / 2


@checked
def one_row_per_unit(groups: ArrayLike, random_state: Any = 0) -> np.ndarray:
    """Draw one row of each owner at random.

    Parameters
    ----------
    groups : array-like of shape (n_samples,)
        The owner of every row.
    random_state : int, RandomState instance or None, default=0
        Seed or generator, chosen before the rows are looked at.

    Returns
    -------
    rows : ndarray of shape (n_groups,)
        Position of the row that was drawn for each owner, in the order of their sorted labels.

    See Also
    --------
    clopper_pearson_upper : What such rows prove about a share.
    quantile_upper_bound : What they prove about a quantile.

    Notes
    -----
    Rows of independent owners that are drawn so are independent, and each is distributed like a row
    drawn from a new owner, whatever the sizes.

    References
    ----------
    Dunn, R., Wasserman, L. and Ramdas, A. (2023). Distribution-free prediction sets for two-layer
    hierarchical models. Journal of the American Statistical Association 118.

    Examples
    --------
    >>> from corollary.theory import one_row_per_unit
    >>> one_row_per_unit(["a", "a", "a", "b"], random_state=0)
    array([0, 3])
    """
    codes = _codes("one_row_per_unit", groups)
    drawn = check_random_state(random_state).uniform(size=len(codes))
    order = np.lexsort((drawn, codes))
    sizes = np.bincount(codes)
    return order[np.cumsum(sizes) - sizes]


def _codes(who: str, groups: Any) -> np.ndarray:
    labels = np.asarray(groups)
    if labels.ndim != 1 or not len(labels):
        raise ValueError(f"{who} needs one owner for every row. Got shape {labels.shape}.")
    return np.unique(labels, return_inverse=True)[1]


def _paired(who: str, values: Any, groups: Any) -> tuple[np.ndarray, np.ndarray]:
    numbers, codes = np.asarray(values, dtype=float), _codes(who, groups)
    if numbers.shape != codes.shape or np.isnan(numbers).any():
        raise ValueError(
            f"{who} needs one number for every row, and its owner. Got shape {numbers.shape}, "
            f"{int(np.isnan(numbers).sum())} of the numbers missing, and {len(codes)} owners."
        )
    return numbers, codes
