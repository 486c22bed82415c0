r"""Bootstrap samples: who is in the bag, and who is left out.

Of M draws with replacement from m rows, a given row is absent with probability
:math:`(1 - 1/m)^M`, about 37% for :math:`M = m`. Predictions of the members that have not seen a
row are honest for that row: averaged, they give the out-of-bag error without a test set.
"""

from numbers import Integral
from typing import Any

import numpy as np

from corollary.core.estimator import Count, CountFromZero, checked


@checked
def expected_distinct_share(n_samples: Count, n_draws: CountFromZero | None = None) -> float:
    r"""Return the expected share of rows in a bootstrap sample.

    Parameters
    ----------
    n_samples : int
        Rows m to draw from.
    n_draws : int or None, default=None
        Draws M with replacement; None for as many as rows.

    Returns
    -------
    share : float
        :math:`1 - (1 - 1/m)^M`.

    Examples
    --------
    >>> from corollary.ensemble import expected_distinct_share
    >>> round(expected_distinct_share(1_000_000), 4)
    0.6321
    """
    draws = n_samples if n_draws is None else n_draws
    if n_samples == 1:
        return float(draws > 0)
    return float(-np.expm1(draws * np.log1p(-1.0 / n_samples)))


def bootstrap_counts(
    n_samples: int,
    n_draws: int,
    random: np.random.Generator,
    *,
    sample_weight: np.ndarray | None = None,
    replace: bool = True,
) -> np.ndarray:
    """Draw rows and count how often each was drawn.

    Parameters
    ----------
    n_samples : int
        Rows to draw from.
    n_draws : int
        Draws.
    random : Generator
        Source of randomness.
    sample_weight : ndarray of shape (n_samples,) or None, default=None
        Rows are drawn in proportion to it; None for equal chances.
    replace : bool, default=True
        Whether a row can be drawn more than once.

    Returns
    -------
    counts : ndarray of int of shape (n_samples,)
        Their sum is the number of draws.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.ensemble import bootstrap_counts
    >>> counts = bootstrap_counts(5, 10, np.random.default_rng(0))
    >>> counts.sum(), len(counts)
    (np.int64(10), 5)
    """
    if replace and sample_weight is None:
        drawn = random.integers(0, n_samples, size=n_draws)
    else:
        p = None if sample_weight is None else sample_weight / sample_weight.sum()
        drawn = random.choice(n_samples, size=n_draws, replace=replace, p=p)
    return np.bincount(drawn, minlength=n_samples)


def number_of_draws(max_samples: Any, n_samples: int) -> int:
    """Turn a number or share of rows into a number of draws.

    Parameters
    ----------
    max_samples : int, float or None
        A number, a share of the rows, or None for as many draws as rows.
    n_samples : int
        Rows.

    Returns
    -------
    n_draws : int
        At least 1.

    Examples
    --------
    >>> from corollary.ensemble import number_of_draws
    >>> number_of_draws(0.5, 100)
    50
    """
    if max_samples is None:
        return n_samples
    if isinstance(max_samples, Integral):
        return int(max_samples)
    return max(1, round(max_samples * n_samples))
