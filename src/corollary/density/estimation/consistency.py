r"""Consistency, shown by simulation: how often an estimator is off by more than a tolerance.

An estimator is consistent if :math:`P(\|\hat\theta_n-\theta\|>\varepsilon)\to0` for every
:math:`\varepsilon`. No simulation proves that; a curve that does not fall refutes it.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from corollary.core.estimator import Count, Positive, checked
from corollary.density.estimation.outcomes import _values, draw_outcomes


@dataclass(frozen=True, eq=False)
class ConsistencyCurve:
    """How often an estimator was off, by the size of samples.

    Parameters
    ----------
    sizes, off : ndarray of shape (n_sizes,)
        Draws in a sample, ascending, and how many samples gave an error above the tolerance.
    repetitions : int
        How many samples were drawn of each size.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.density import ConsistencyCurve
    >>> curve = ConsistencyCurve(np.array([10, 100]), np.array([300, 0]), 1000)
    >>> curve.share, curve.smallest_size(0.05)
    (array([0.3, 0. ]), 100)
    """

    sizes: np.ndarray
    off: np.ndarray
    repetitions: int

    @property
    def share(self) -> np.ndarray:
        """Share of samples with an error above the tolerance."""
        return self.off / self.repetitions

    def upper(self, confidence: float = 0.99) -> np.ndarray:
        """Return exact binomial upper limits on the probabilities of being off.

        Parameters
        ----------
        confidence : float, default=0.99
            Probability with which one limit holds.
        """
        from scipy.special import betaincinv

        rest = np.maximum(self.repetitions - self.off, 1)
        limits = betaincinv(self.off + 1, rest, confidence)
        return np.where(self.off == self.repetitions, 1.0, limits)

    def smallest_size(self, delta: float, confidence: float = 0.99) -> int | None:
        """Return the size from which on the estimator is rarely off; None if there is none.

        Parameters
        ----------
        delta : float
            Probability that is allowed: from that size on no limit exceeds it.
        confidence : float, default=0.99
            Of the limits.
        """
        bad = np.flatnonzero(self.upper(confidence) > delta)
        first = 0 if not len(bad) else int(bad[-1]) + 1
        return int(self.sizes[first]) if first < len(self.sizes) else None


@checked
def consistency_curve(
    estimator: Any,
    family: Any,
    theta: Any,
    sizes: Any,
    *,
    tolerance: Positive,
    repetitions: Count = 1000,
    random_state: Any = None,
) -> ConsistencyCurve:
    """Simulate how often an estimator is off by more than a tolerance.

    Of each of the ascending ``sizes``, ``repetitions`` samples are drawn. An estimate is off if the
    Euclidean norm of its error exceeds the ``tolerance``. See :class:`ConsistencyCurve` for what is
    returned, :func:`draw_outcomes` for ``family``, ``theta`` and ``random_state``, and
    :func:`estimator_moments` for ``estimator``.

    Examples
    --------
    >>> from corollary.density import Normal, consistency_curve
    >>> how = {"tolerance": 0.3, "random_state": 0}
    >>> mean = consistency_curve(lambda x: x.mean(axis=1), Normal(std=1.0), [0.0], [4, 64], **how)
    >>> first = consistency_curve(lambda x: x[:, 0], Normal(std=1.0), [0.0], [4, 64], **how)
    >>> mean.smallest_size(0.05), first.smallest_size(0.05)
    (64, None)
    """
    rng, theta = check_random_state(random_state), family.check(theta)
    sizes, off = np.asarray(sizes), []
    if sizes.ndim != 1 or not len(sizes) or sizes.min() < 1 or (np.diff(sizes) <= 0).any():
        raise ValueError(
            f"consistency_curve needs ascending sizes of samples from 1 on. Got {sizes.tolist()!r}."
        )
    for size in sizes:
        outcomes = draw_outcomes(family, theta, int(size), repetitions, rng)
        errors = np.linalg.norm(_values(estimator, outcomes) - theta, axis=1)
        off.append(int((errors > tolerance).sum()))
    return ConsistencyCurve(sizes, np.array(off), repetitions)
