r"""Whether rows agree more often than chance explains.

Rows repeat by nature where columns are coarse, and because they were copied or joined. Counts of
agreeing pairs tell the two apart: rows that agree by chance in all columns are outnumbered, in a
known ratio, by rows that agree in all but one and in all but two; copies are not.
"""

from typing import Any

import numpy as np

from corollary.validation.dependence._hashes import (
    count_equal_pairs,
    hash_columns,
    lift_of_hashes,
)


def agreeing_pairs(codes: Any) -> int:
    r"""Count the pairs of rows that agree in every column.

    Units of :math:`m` rows that agree give :math:`m (m - 1) / 2` pairs each.

    Parameters
    ----------
    codes : array-like of int of shape (n_rows,) or (n_rows, n_columns)
        Values as whole numbers. Negative ones are missing: they agree with nothing.

    Returns
    -------
    pairs : int
        Number of pairs.

    Examples
    --------
    >>> from corollary.validation import agreeing_pairs
    >>> agreeing_pairs([[0, 5], [0, 5], [0, 5], [1, 5], [-1, 5], [-1, 5]])
    3
    """
    return count_equal_pairs(hash_columns(_check_codes("agreeing_pairs", codes)).sum(axis=1))


def agreement_lift(codes: Any) -> tuple[float, int]:
    r"""Divide the pairs of rows that agree in all columns by what chance explains of them.

    Take two columns j, k and the pairs of rows that agree in all others: a agree in j and k too, b
    and c in one of the two only, d in neither. If the agreement in j and the agreement in k are
    independent, b c / d pairs agree in both. The lift is a over the largest such number. Rows that
    repeat by nature have a lift of about 1, correlated columns one of a few units; copies, which
    agree in everything at once, have one of tens.

    Parameters
    ----------
    codes : array-like of int of shape (n_rows, n_columns)
        Values as whole numbers, at least two columns. Negative ones are missing: they agree with
        nothing.

    Returns
    -------
    lift : float
        Agreeing pairs over what chance explains, which counts as half a pair at least.
    pairs : int
        Number of agreeing pairs.

    See Also
    --------
    agreeing_pairs : The counts it is made of.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.validation import agreement_lift
    >>> rows = np.random.default_rng(0).integers(0, 6, (600, 4))
    >>> round(agreement_lift(rows)[0], 1)
    1.0
    >>> fine = np.random.default_rng(0).integers(0, 12, (200, 4))
    >>> agreement_lift(np.concatenate([fine] * 3))[0] > 20
    True
    """
    codes = _check_codes("agreement_lift", codes)
    if codes.shape[1] < 2:
        raise ValueError(
            f"agreement_lift needs at least two columns. Got {codes.shape[1]}: one column alone "
            "cannot tell copies from chance."
        )
    hashes = hash_columns(codes)
    return lift_of_hashes(hashes, hashes.sum(axis=1))


def _check_codes(who: str, codes: Any) -> np.ndarray:
    """Return whole numbers as a matrix, or raise."""
    codes = np.asarray(codes)
    if codes.ndim not in (1, 2) or not (codes.size == 0 or np.issubdtype(codes.dtype, np.integer)):
        raise ValueError(
            f"{who} needs whole numbers, one for each row and column. Got an array of shape "
            f"{codes.shape} and type {codes.dtype}. Number the values of each column first, "
            "as numpy.unique(column, return_inverse=True) does."
        )
    return codes[:, None] if codes.ndim == 1 else codes
