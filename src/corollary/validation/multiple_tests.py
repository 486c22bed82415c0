"""Many tests at once: what their p-values are worth together.

Of m tests at level alpha m alpha reject by chance. :func:`holm` keeps the chance of any false
finding below the level; :func:`benjamini_hochberg` keeps the expected share of false ones among
the findings below it, which finds more.
"""

from typing import Any

import numpy as np


def holm(p_values: Any) -> np.ndarray:
    """Adjust p-values so that the chance of any false finding stays below the level.

    Guarantee: rejecting where the adjusted value is at most a level has a chance of any false
    rejection of at most that level, however the tests depend on each other.

    Parameters
    ----------
    p_values : array-like of shape (m,)
        One for each test.

    Returns
    -------
    adjusted : ndarray of shape (m,)
        Adjusted p-values, at most 1.

    References
    ----------
    .. [1] S. Holm (1979). A simple sequentially rejective multiple test procedure. Scandinavian
       Journal of Statistics 6, 65-70.

    Examples
    --------
    >>> from corollary.validation import holm
    >>> holm([0.25, 0.01, 0.04]).round(2)
    array([0.25, 0.03, 0.08])
    """
    p_values = _checked("holm", p_values)
    m = len(p_values)
    order = np.argsort(p_values, kind="stable")
    steps = np.maximum.accumulate(p_values[order] * (m - np.arange(m)))
    adjusted = np.empty(m)
    adjusted[order] = np.minimum(steps, 1.0)
    return adjusted


def benjamini_hochberg(p_values: Any) -> np.ndarray:
    r"""Adjust p-values so that the share of false findings stays below the level.

    The adjusted value of the k-th smallest of m is the least of :math:`m\,p_{(j)}/j` over
    :math:`j \ge k`.

    Parameters
    ----------
    p_values : array-like of shape (m,)
        One for each test.

    Returns
    -------
    adjusted : ndarray of shape (m,)
        Adjusted p-values, at most 1; in their order never smaller than before.

    See Also
    --------
    holm : For the chance of any false finding.

    Notes
    -----
    Guarantee: rejecting where the adjusted value is at most a level, the expected share of true
    hypotheses among those rejected is at most that level, if the p-values are independent or depend
    positively on each other as conformal ones do. Checked by ``tests/guarantees/anomaly.py``.

    References
    ----------
    .. [1] Y. Benjamini and Y. Hochberg (1995). Controlling the false discovery rate: a practical
       and powerful approach to multiple testing. Journal of the Royal Statistical Society B 57.
    .. [2] Y. Benjamini and D. Yekutieli (2001). The control of the false discovery rate in multiple
       testing under dependency. Annals of Statistics 29.

    Examples
    --------
    >>> from corollary.validation import benjamini_hochberg
    >>> benjamini_hochberg([0.25, 0.01, 0.04]).round(2)
    array([0.25, 0.03, 0.06])
    """
    p_values = _checked("benjamini_hochberg", p_values)
    m = len(p_values)
    order = np.argsort(p_values, kind="stable")[::-1]
    adjusted = np.empty(m)
    adjusted[order] = np.minimum.accumulate(p_values[order] * (m / np.arange(m, 0, -1)))
    return adjusted


def _checked(who: str, p_values: Any) -> np.ndarray:
    """Return p-values as an array, or say what is wrong with them."""
    p_values = np.asarray(p_values, dtype=float)
    if p_values.ndim != 1 or not ((p_values >= 0) & (p_values <= 1)).all():
        raise ValueError(
            f"{who} needs a list of p-values between 0 and 1. Got shape {p_values.shape} with "
            f"values from {p_values.min(initial=np.inf):g} to {p_values.max(initial=-np.inf):g}."
        )
    return p_values
