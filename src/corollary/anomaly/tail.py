r"""Unusual among themselves: p-values of rows without rows that are known to be normal.

Ranks of rows among themselves call none: whatever the rows are, the k-th largest of n has rank k,
and dealing them at random into rows that calibrate and rows that are tested makes any table
exchangeable, so that the chance of a discovery is at most the level for every table. Something must
be assumed of the tail. Here it is that beyond their median the distances of normal rows thin out at
a rate that does not fall (an increasing hazard), as those of Gaussian, and of all log-concave,
rows do. Distances far beyond the ninth decile are then compared with the spacings below it.
"""

from typing import NamedTuple

import numpy as np

from corollary.anomaly._spacings import measure_spacings
from corollary.core.estimator import ArrayLike, checked

#: The rank, as a share, from which on spacings measure the rate.
_FIRST = 0.5


class TailPValues(NamedTuple):
    """P-values of scores among themselves, and of what they assume."""

    p_values: np.ndarray
    assumption: float


@checked
def tail_p_values(scores: ArrayLike) -> TailPValues:
    r"""Judge the largest of many scores by how the others thin out.

    With the ordered scores :math:`s_{(1)}\le\dots\le s_{(n)}`, ranks a = n/2 and b = 9n/10, and the
    mean :math:`\hat m` of the b - a normalised spacings :math:`(n-k+1)(s_{(k)}-s_{(k-1)})` between
    them, a score beyond :math:`s_{(b)}` has

    .. math:: p = \frac{n-b}{n}\left(1+\frac{s-s_{(b)}}{(b-a)\,\hat m}\right)^{-(b-a)},

    and one below its rank from above, divided by n. The result has these ``p_values``, and the
    p-value of the ``assumption`` that the rate does not fall, which compares the upper half of the
    spacings with the lower half. Scores are distances of rows, large for unusual ones, each by a
    model that has not seen the row. See :class:`TailLaw`; with rows that are known to be normal,
    nothing need be assumed (:func:`corollary.conformal.conformal_p_values`).

    Notes
    -----
    Guarantee: if scores are independent draws whose hazard rate does not fall beyond their median,
    each p-value is at most u with probability at most u, for every u and n; exactly u for an
    exponential tail. Spacings of such draws are independent and exponential (Sukhatme 1937).
    Up to a tenth of the rows may be anomalies beyond the others: they only make the rest look
    closer. Checked by ``tests/guarantees/anomaly.py``.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.anomaly import tail_p_values
    >>> scores = np.append(np.random.default_rng(0).exponential(size=99), 20.0)
    >>> result = tail_p_values(scores)
    >>> bool(result.p_values[-1] < 1e-5), bool(result.p_values[:-1].min() > 1e-4)
    (True, True)
    """
    scores = np.asarray(scores, dtype=float)
    if scores.ndim != 1 or np.isnan(scores).any():
        raise ValueError(
            f"tail_p_values needs a list of scores free of NaN. Got shape {scores.shape} with "
            f"{int(np.isnan(scores).sum())} NaN."
        )
    n, ordered = len(scores), np.sort(scores)
    p_values = np.asarray((n - np.searchsorted(ordered, scores, side="left")) / max(n, 1))
    spacings = measure_spacings(ordered, _FIRST)
    if spacings is None:
        return TailPValues(p_values, 1.0)
    beyond = scores > spacings.start
    p_values[beyond] = (n - spacings.stop) / n * spacings.decay(scores[beyond])
    return TailPValues(p_values, spacings.assumption)
