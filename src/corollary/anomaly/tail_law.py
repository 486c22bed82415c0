r"""A tail that other rows are judged by: the law behind :func:`tail_p_values`, kept.

Ranks call a row at most one in n + 1. Where scores are assumed to thin out at a rate that does not
fall, the spacings between the seventh and the ninth decile say how far beyond it a row must lie to
be rarer than that. Given the logarithms of distances the assumption is that distances thin out no
slower than a power of them does, which skewed and heavy-tailed columns fulfil, too.
"""

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from corollary.anomaly._spacings import Spacings, measure_spacings
from corollary.core.estimator import ArrayLike, checked
from corollary.core.schema import Integer, Number, Schema

#: The rank, as a share, from which on spacings measure the rate.
_FIRST = 0.7
#: Below this p-value of the assumption only ranks are left.
_REFUTED = 0.01


@dataclass(frozen=True)
class TailLaw:
    r"""How often a normal row scores higher, by a tail that reference rows have measured.

    With n reference scores, of which the k largest lie beyond a score :math:`s_0`, and the mean
    :math:`\hat m` of f normalised spacings below it, a further row has

    .. math:: p(s) = \frac{k+1}{n+1}\left(1+\frac{s-s_0}{f\,\hat m}\right)^{-f},\qquad s > s_0.

    Parameters
    ----------
    n : int
        Reference rows.
    start : float
        The score :math:`s_0`; no row below it is called.
    share : float
        Chance :math:`(k+1)/(n+1)` that a further row scores beyond it.
    spacing : float
        Mean :math:`\hat m` of the normalised spacings.
    n_spacings : int
        Their number f; 0 where the assumption was refuted, and only ranks are left: the start is
        then the largest of the reference scores.

    See Also
    --------
    tail_p_values : P-values of the reference rows themselves.

    Notes
    -----
    Guarantee: if the scores of reference rows and of a further row are independent draws from one
    law whose hazard rate does not fall beyond its seventh decile, the p-value of the further row is
    at most u with probability at most u. If only ranks are left, it holds for every law. Checked by
    ``tests/anomaly/test_tail_law.py``.

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
        spacings = measure_spacings(ordered, _FIRST, further=1)
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
            tail = Spacings(self.start, 0, self.spacing, self.n_spacings, 1.0)
            p_values[beyond] *= tail.decay(scores[beyond])
        return p_values
