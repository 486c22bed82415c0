r"""Why some assumption is needed: for every learner there is a world in which it fails.

Take 2n points and all :math:`2^{2n}` labellings of them. A learner that sees n labelled points
knows nothing about the others, on which half of the labellings disagree with whatever it says. The
functions here carry that out for a given learner, by enumeration.
"""

import math
from collections.abc import Callable
from itertools import product
from typing import Any, NamedTuple

import numpy as np


class NoFreeLunch(NamedTuple):
    """What a learner does over all labellings of 2n points.

    Parameters
    ----------
    mean_error : float
        Its expected error, averaged over the labellings; at least 1/4.
    worst_labels : ndarray of shape (2 * n_samples,)
        The labelling with the largest expected error.
    worst_error : float
        That error.
    worst_tail : float
        Probability, under that labelling, of an error of at least 1/8; at least 1/7, by the reverse
        Markov inequality for a mean of 1/4.
    """

    mean_error: float
    worst_labels: np.ndarray
    worst_error: float
    worst_tail: float


def no_free_lunch(
    learner: Callable[[Any, Any], Callable[[Any], Any]], n_samples: int
) -> NoFreeLunch:
    """Search for the labelling of 2n points on which a learner fails worst.

    Parameters
    ----------
    learner : callable
        ``learner(X, y)`` gets points of shape (n_samples, 1) with labels -1 and +1 and returns a
        predictor, a function of points.
    n_samples : int
        Rows n of a training set, at most 3: all labellings of 2n points and all ordered samples of
        n of them are tried.

    Returns
    -------
    outcome : NoFreeLunch
        Exact values.

    See Also
    --------
    memoriser_error : The mean error of a learner that remembers what it saw.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.theory import no_free_lunch
    >>> def memorise(X, y):
    ...     known = dict(zip(X[:, 0], y))
    ...     return lambda Z: np.array([known.get(z, 1) for z in Z[:, 0]])
    >>> outcome = no_free_lunch(memorise, 2)
    >>> outcome.mean_error, outcome.worst_error
    (0.28125, 0.5625)
    """
    if n_samples not in (1, 2, 3):
        raise ValueError(
            "The 'n_samples' parameter of no_free_lunch must be 1, 2 or 3: the number of training "
            f"sets grows as (8n)^n 2^n. Got {n_samples!r} instead."
        )
    n_points = 2 * n_samples
    points = np.arange(n_points, dtype=float)[:, None]
    errors, tails = [], []
    labellings = np.array(list(product([-1, 1], repeat=n_points)))
    for labels in labellings:
        risks = [
            np.mean(np.asarray(learner(points[list(rows)], labels[list(rows)])(points)) != labels)
            for rows in product(range(n_points), repeat=n_samples)
        ]
        errors.append(np.mean(risks))
        tails.append(np.mean(np.array(risks) >= 1 / 8))
    worst = int(np.argmax(errors))
    return NoFreeLunch(
        float(np.mean(errors)), labellings[worst], float(errors[worst]), float(tails[worst])
    )


def memoriser_error(n_samples: int, n_points: int) -> float:
    r"""Return the mean error, over all labellings, of a learner that is right on what it saw.

    Parameters
    ----------
    n_samples : int
        Rows n of a training set.
    n_points : int
        Equally likely points N.

    Returns
    -------
    error : float
        :math:`\tfrac12(1-1/N)^n`: half of the probability that a new point was not seen. It tends
        to 1/2 as N grows.

    Examples
    --------
    >>> from corollary.theory import memoriser_error
    >>> memoriser_error(2, 4)
    0.28125
    """
    if n_samples < 1 or n_points < 1:
        raise ValueError(
            "memoriser_error needs positive numbers of rows and points. Got "
            f"n_samples={n_samples!r} and n_points={n_points!r}."
        )
    return 0.5 * (1 - 1 / n_points) ** n_samples


def no_free_lunch_points(*, n_samples: int, epsilon: float, probability: float) -> int:
    r"""Return how many points an adversary needs to make every learner fail as often as wanted.

    Parameters
    ----------
    n_samples : int
        Rows n of a training set.
    epsilon : float
        Error rate, below 1/2.
    probability : float
        Probability with which the error must reach epsilon, below 1.

    Returns
    -------
    n_points : int
        Smallest N for which some labelling of N equally likely points gives any learner an error
        of at least epsilon with at least this probability. No sample size is safe: on an infinite
        domain N can always be this large.

    Raises
    ------
    ValueError
        If epsilon is not below 1/2.

    Notes
    -----
    At least N - n points stay unseen. Under random labels the number of mistakes on them is
    binomial with probability 1/2, whatever the learner says; so an average over labellings, and
    hence some labelling, has a tail at least as large as the binomial one.

    Examples
    --------
    >>> from corollary.theory import no_free_lunch_points
    >>> no_free_lunch_points(n_samples=10, epsilon=0.4, probability=0.9)
    110
    """
    from scipy.stats import binom

    if not 0 <= epsilon < 0.5 or not 0 <= probability < 1 or n_samples < 1:
        raise ValueError(
            "no_free_lunch_points needs n_samples >= 1, 0 <= epsilon < 1/2, 0 <= probability < 1. "
            f"Got n_samples={n_samples!r}, epsilon={epsilon!r}, probability={probability!r}."
        )

    def suffices(n_points: int) -> bool:
        # Averaged over labellings the success share is this; some labelling does no better.
        unseen = n_points - n_samples
        return bool(binom.sf(math.ceil(epsilon * n_points) - 1, unseen, 0.5) >= probability)

    # The tail does not grow with every step of N, so the smallest N is found by walking.
    n_points = n_samples + 1
    while not suffices(n_points):
        n_points += 1
    return n_points
