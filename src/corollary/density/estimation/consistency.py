r"""Consistency, shown by simulation: how often an estimator is off by more than a tolerance.

An estimator is consistent if :math:`P(\|\hat\theta_n-\theta\|>\varepsilon)\to0` for every
:math:`\varepsilon`. No simulation proves that; a curve that does not fall refutes it.
"""

from collections.abc import Sequence
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
        """Return upper limits on the probabilities of being off.

        Parameters
        ----------
        confidence : float, default=0.99
            Probability with which one limit holds.

        Returns
        -------
        upper : ndarray of shape (n_sizes,)
            Exact binomial limits.
        """
        from scipy.special import betaincinv

        rest = np.maximum(self.repetitions - self.off, 1)
        limits = betaincinv(self.off + 1, rest, confidence)
        return np.where(self.off == self.repetitions, 1.0, limits)

    def smallest_size(self, delta: float, confidence: float = 0.99) -> int | None:
        """Return the size from which on the estimator is rarely off.

        Parameters
        ----------
        delta : float
            Probability that is allowed.
        confidence : float, default=0.99
            Of the limits that must lie below it.

        Returns
        -------
        size : int or None
            The first size from which on all limits are at most delta; None if the last one is not.
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

    Parameters
    ----------
    estimator : callable
        Maps samples of shape (n_outcomes, n_samples) to one value, or one row of values, for each.
    family : Family
        The densities; with a sampler.
    theta : array-like of shape (n_parameters,)
        The truth.
    sizes : sequence of int
        Draws in a sample.
    tolerance : float
        Error, as a Euclidean norm, from which on an estimate is off.
    repetitions : int, default=1000
        Samples of each size.
    random_state : int, RandomState instance or None, default=None
        Seed or generator.

    Returns
    -------
    curve : ConsistencyCurve
        How often it was off.

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
    sizes = _sizes(sizes)
    off = []
    for size in sizes:
        outcomes = draw_outcomes(family, theta, int(size), repetitions, rng)
        errors = np.linalg.norm(_values(estimator, outcomes) - theta, axis=1)
        off.append(int((errors > tolerance).sum()))
    return ConsistencyCurve(sizes, np.array(off), repetitions)


def _sizes(sizes: Sequence[int]) -> np.ndarray:
    """Return sizes as an ascending array."""
    array = np.asarray(sizes)
    if array.ndim != 1 or not len(array) or array.min() < 1 or (np.diff(array) <= 0).any():
        raise ValueError(
            f"consistency_curve needs ascending sizes of samples from 1 on. Got {sizes!r}."
        )
    return array
