r"""Unusual by the tail: p-values of rows without rows that are known to be normal.

Ranks of rows among themselves call none: whatever the rows are, the k-th largest of n has rank k,
and dealing them at random into rows that calibrate and rows that are tested makes any table
exchangeable, so that the chance of a discovery is at most the level for every table. Something must
be assumed of the tail. Here it is that the distances of normal rows thin out at a rate that does
not fall (an increasing hazard), as all do that have a log-concave density, those of Gaussian rows
among them. Distances far beyond the ninth decile are then compared with the spacings below it.

Further rows are judged by the spacings between the seventh and the ninth decile, where ranks would
call a row at most one in n + 1. Given the logarithms of distances the assumption is that distances
thin out no slower than a power of them does, which skewed and heavy-tailed columns fulfil, too.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Self

import numpy as np

from corollary.core.estimator import ArrayLike, checked
from corollary.core.schema import Integer, Number, Schema

#: The ranks, as shares, from which on spacings measure the rate, for these and for further rows.
_MIDDLE, _LATE = 0.5, 0.7
#: The last rank whose spacing measures the rate; scores beyond are judged by it.
_STOP = 0.9
#: Below this p-value of the assumption only ranks are left to judge further rows.
_REFUTED = 0.01


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
    Guarantee: if scores are independent draws whose hazard rate does not fall, each p-value is at
    most u with probability at most u, for every u and n; exactly u, up to (n - b) / n, for
    exponential draws, whose spacings are independent and exponential (Sukhatme 1937). Where the
    rate may fall below the quantile of a share c, it is at most :math:`u+P(B\ge a)`, with B the
    number of n draws below that quantile: nothing for c = 1/2, 0.01 for c = 0.4 and n = 150.
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
    spacings = _measure_spacings(ordered, _MIDDLE)
    if spacings is None:
        return TailPValues(p_values, 1.0)
    beyond = scores > spacings.start
    p_values[beyond] = (n - spacings.stop) / n * spacings.decay(scores[beyond])
    return TailPValues(p_values, spacings.assumption)


@dataclass(frozen=True)
class TailLaw:
    r"""How often a normal row scores higher, by a tail that reference rows have measured.

    With n reference scores, of which the k largest lie beyond a score :math:`s_0`, and the mean
    :math:`\hat m` of f normalised spacings below it, a further row has

    .. math:: p(s) = \frac{k+1}{n+1}\left(1+\frac{s-s_0}{f\,\hat m}\right)^{-f},\qquad s > s_0.

    The fields are ``n``, the ``start`` :math:`s_0`, below which no row is called, the ``share``
    :math:`(k+1)/(n+1)` of further rows beyond it, the mean ``spacing`` :math:`\hat m`, and the
    number ``n_spacings`` f. That is 0 where the assumption was refuted, and only ranks are left:
    the start is then the largest of the reference scores. See :func:`tail_p_values` for p-values of
    the reference rows themselves.

    Notes
    -----
    Guarantee: if the scores of reference rows and of a further row are independent draws from one
    law whose hazard rate does not fall, the p-value of the further row is at most u with
    probability at most u; where the rate may fall below the quantile of a share c, at most u plus
    the chance that seven tenths of the reference rows lie below that. If only ranks are left, it
    holds for every law. Checked by ``tests/anomaly/test_tail_law.py``.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.anomaly import TailLaw
    >>> law = TailLaw.of(np.random.default_rng(0).exponential(size=200))
    >>> law.p_values([1.0, 4.0, 20.0]).round(4)
    array([1.    , 0.0337, 0.    ])
    """

    n: int
    start: float
    share: float
    spacing: float
    n_spacings: int

    _schema: ClassVar[Schema] = Schema(
        lambda law: None if law.spacing > 0 or not law.n_spacings else "a tail has a spread",
        n=Integer(1),
        start=Number(),
        share=Number(0.0, 1.0),
        spacing=Number(0.0),
        n_spacings=Integer(0),
    )

    @classmethod
    @checked
    def of(cls, scores: ArrayLike) -> Self:
        """Measure the tail of reference rows by their scores.

        The rows are independent, and each is scored by a model that has not seen it. Anomalies
        among them make the tail look longer; near a tenth of them leave only ranks, as does an
        upper half of the spacings that is larger than a rate that does not fall makes it (at 1%).
        See :class:`TailLaw`.
        """
        ordered = np.sort(np.asarray(scores, dtype=float))
        if ordered.ndim != 1 or not len(ordered) or not np.isfinite(ordered).all():
            raise ValueError(
                "TailLaw needs a list of finite scores. Got "
                f"{int(np.isfinite(ordered).sum())} finite ones in shape {ordered.shape}."
            )
        n = len(ordered)
        # A further row beyond the start is one more that lies above every spacing.
        spacings = _measure_spacings(ordered, _LATE, further=1)
        if spacings is None or spacings.assumption < _REFUTED:
            return cls(n, float(ordered[-1]), 1 / (n + 1), 0.0, 0)
        share = (n - spacings.stop + 1) / (n + 1)
        return cls(n, spacings.start, share, spacings.mean, spacings.number)

    @checked
    def p_values(self, scores: ArrayLike) -> np.ndarray:
        """Return how often a normal row would score higher, 1 for scores up to the start.

        The p-values of reference rows are a little too large. See :class:`TailLaw`.
        """
        scores = np.asarray(scores, dtype=float)
        if np.isnan(scores).any():
            raise ValueError(
                "TailLaw.p_values needs scores that are numbers. Got "
                f"{int(np.isnan(scores).sum())} NaN; leave these rows out."
            )
        beyond = scores > self.start
        p_values = np.where(beyond, self.share, 1.0)
        if self.n_spacings:
            tail = _Spacings(self.start, 0, self.spacing, self.n_spacings, 1.0)
            p_values[beyond] *= tail.decay(scores[beyond])
        return p_values


class _Spacings(NamedTuple):
    """Normalised spacings up to the score of rank `stop`; `assumption` is a p-value of the rate."""

    start: float
    stop: int
    mean: float
    number: int
    assumption: float

    def decay(self, scores: np.ndarray) -> np.ndarray:
        """Return how much rarer scores at or beyond the start are than the start, at most."""
        with np.errstate(over="ignore"):
            excess = (scores - self.start) / (self.number * self.mean)
            return np.exp(-self.number * np.log1p(excess))


def _measure_spacings(ordered: np.ndarray, first: float, *, further: int = 0) -> _Spacings | None:
    """Measure scores from a share of the ranks on; None where they have no spread there.

    A rate that does not fall makes the upper half of the spacings no larger than the lower half,
    which an F-test judges. `further` rows lie above every spacing, beside those that are here.
    """
    from scipy.special import fdtrc

    n = len(ordered)
    a, b = int(first * n), int(_STOP * n)
    if b - a < 2 or not np.isfinite(ordered[b - 1]) or ordered[b - 1] == ordered[a - 1]:
        return None
    with np.errstate(over="ignore"):
        spacings = (n + further - np.arange(a, b)) * np.diff(ordered[a - 1 : b])
        if not np.isfinite(spacings.sum()):
            return None
    middle = (b - a) // 2
    lower, upper = spacings[:middle].mean(), spacings[middle:].mean()
    ratio = upper / lower if lower > 0 else np.inf
    assumption = float(fdtrc(2 * (b - a - middle), 2 * middle, ratio))
    return _Spacings(float(ordered[b - 1]), b, float(spacings.mean()), b - a, assumption)
