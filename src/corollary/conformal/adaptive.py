r"""Conformal prediction on streams whose law may change at any time.

Nothing is exchangeable along a drifting stream. Adaptive conformal inference lowers the level
after a miss and raises it after a hit, which forces the long-run share of misses to the wanted one
for every sequence whatsoever.
"""

import bisect
import math
from collections import deque
from numbers import Integral, Real
from typing import Any

import numpy as np

from corollary.conformal._order import rank_of_level
from corollary.core.estimator import Count, Positive, Probability, checked


@checked
def adaptive_coverage_bound(n_rounds: Count, confidence: Probability, step_size: Positive) -> float:
    r"""Bound how far the share of misses of an adaptive stream can be from the wanted one.

    .. math:: \Big| \frac1T \sum_{t \le T} \mathrm{miss}_t - \alpha \Big|
              \le \frac{\max(\alpha, 1-\alpha) + \gamma}{\gamma T}

    Parameters
    ----------
    n_rounds : int
        Number T of rounds.
    confidence : float
        Wanted coverage :math:`1 - \alpha`, strictly between 0 and 1.
    step_size : float
        The step :math:`\gamma`, positive.

    Returns
    -------
    gap : float
        The bound; it holds for every sequence, not only with some probability.

    See Also
    --------
    AdaptiveThreshold : The method.

    References
    ----------
    Gibbs, I. and Candes, E. (2021). Adaptive conformal inference under distribution shift.
    Advances in Neural Information Processing Systems 34.

    Examples
    --------
    >>> from corollary.conformal import adaptive_coverage_bound
    >>> round(adaptive_coverage_bound(1000, 0.9, 0.05), 4)
    0.019
    """
    return (max(confidence, 1 - confidence) + step_size) / (step_size * n_rounds)


def _is(value: Any, kind: type) -> bool:
    return isinstance(value, kind)


class AdaptiveThreshold:
    r"""A conformal threshold that follows a stream of scores.

    In round t the threshold is the conformal quantile of the past scores at level
    :math:`1 - \alpha_t`; after the score is seen,
    :math:`\alpha_{t+1} = \alpha_t + \gamma(\alpha - \mathrm{miss}_t)`. A level of at least one
    means the threshold infinity, one of at most zero means minus infinity.

    Parameters
    ----------
    confidence : float, default=0.9
        Wanted long-run coverage, strictly between 0 and 1.
    step_size : float, default=0.05
        The step :math:`\gamma`: larger follows changes faster and makes thresholds restless.
    window : int or None, default=None
        How many past scores count; None for all.

    Attributes
    ----------
    threshold : float
        Threshold of the next score.
    alpha : float
        The level :math:`\alpha_t` of the next round, between :math:`-\gamma` and
        :math:`1 + \gamma`.
    n_rounds : int
        Rounds so far.
    n_misses : int
        How many scores exceeded their threshold.

    See Also
    --------
    adaptive_coverage_bound : What holds after T rounds.

    Notes
    -----
    Guarantee: for every sequence of scores the share of misses after T rounds is within
    :func:`adaptive_coverage_bound` of 1 - confidence. Checked by
    ``tests/conformal/test_adaptive.py`` on hostile sequences.

    References
    ----------
    Gibbs, I. and Candes, E. (2021). Adaptive conformal inference under distribution shift.
    Advances in Neural Information Processing Systems 34.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.conformal import AdaptiveThreshold
    >>> stream = AdaptiveThreshold(0.9, step_size=0.05)
    >>> drifting = np.abs(np.random.default_rng(0).normal(size=2000)) * np.linspace(1, 10, 2000)
    >>> thresholds = stream.update(drifting)
    >>> round(float(np.mean(drifting <= thresholds)), 2)
    0.9
    """

    def __init__(
        self, confidence: float = 0.9, *, step_size: float = 0.05, window: int | None = None
    ) -> None:
        if not _is(confidence, Real) or not 0 < confidence < 1:
            raise ValueError(
                "The 'confidence' parameter of AdaptiveThreshold must be a float in the range "
                f"(0.0, 1.0). Got {confidence!r} instead."
            )
        if not _is(step_size, Real) or not 0 < step_size < math.inf:
            raise ValueError(
                "The 'step_size' parameter of AdaptiveThreshold must be a positive number. "
                f"Got {step_size!r} instead."
            )
        if window is not None and (not _is(window, Integral) or window < 1):
            raise ValueError(
                "The 'window' parameter of AdaptiveThreshold must be None or a positive int. "
                f"Got {window!r} instead."
            )
        self.confidence, self.step_size, self.window = float(confidence), float(step_size), window
        self.alpha = 1 - self.confidence
        self.n_rounds = 0
        self.n_misses = 0
        self._sorted: list[float] = []
        self._recent: deque[float] = deque()

    @property
    def threshold(self) -> float:
        """Threshold of the next score."""
        level = 1 - self.alpha
        if level >= 1:
            return math.inf
        if level <= 0:
            return -math.inf
        rank = rank_of_level(len(self._sorted), level)
        return self._sorted[rank - 1] if rank <= len(self._sorted) else math.inf

    def update(self, scores: Any) -> np.ndarray:
        """Take scores one after the other.

        Parameters
        ----------
        scores : float or array-like of shape (n_rounds,)
            Scores in the order of the stream.

        Returns
        -------
        thresholds : ndarray of shape (n_rounds,)
            The threshold that each score met, fixed before it was seen.
        """
        scores = np.atleast_1d(np.asarray(scores, dtype=float))
        if scores.ndim != 1 or not np.isfinite(scores).all():
            raise ValueError(
                "AdaptiveThreshold.update needs a list of finite scores. Got shape "
                f"{scores.shape} with {int((~np.isfinite(scores)).sum())} that are not finite."
            )
        thresholds = np.empty(len(scores))
        for t, score in enumerate(scores.tolist()):
            thresholds[t] = self.threshold
            miss = score > thresholds[t]
            self.alpha += self.step_size * (1 - self.confidence - miss)
            self.n_rounds += 1
            self.n_misses += bool(miss)
            bisect.insort(self._sorted, score)
            if self.window is not None:
                self._recent.append(score)
                if len(self._recent) > self.window:
                    oldest = self._recent.popleft()
                    del self._sorted[bisect.bisect_left(self._sorted, oldest)]
        return thresholds
