r"""Are the rows exchangeable? A bet against it, valid whenever it is looked at.

Of exchangeable scores the rank of each among those so far is uniform and independent of the
ranks before. A gambler who bets on small or large ranks can then not grow rich; one who does has
evidence against exchangeability.
"""

from typing import NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from corollary.core.estimator import ArrayLike, RandomSeed, checked

# Share of the capital that changes its opinion in each round.
_JUMP = 0.01


class ExchangeabilityTest(NamedTuple):
    """What a test of exchangeability found.

    Parameters
    ----------
    p_value : float
        One over the largest capital so far; valid at every time, also if looked at repeatedly.
    capital : ndarray of shape (n_samples,)
        The gambler's capital after each score, from 1 before the first.
    """

    p_value: float
    capital: np.ndarray


@checked
def exchangeability_test(
    scores: ArrayLike, *, random_state: RandomSeed = None
) -> ExchangeabilityTest:
    r"""Test whether a sequence of scores is exchangeable.

    Each score gets its smoothed rank p among those so far. Three gamblers multiply their capital
    by :math:`1 + \epsilon (p - 1/2)` with :math:`\epsilon \in \{-1, 0, 1\}`, and one per cent of
    the capital moves between them in each round.

    Parameters
    ----------
    scores : array-like of shape (n_samples,)
        Scores in the order of the rows: residuals of a model that has not seen them, or any
        number known of each row.
    random_state : int, RandomState instance or None, default=None
        Seed or generator that breaks ties.

    Returns
    -------
    result : ExchangeabilityTest
        ``p_value`` and the path of the ``capital``.

    Notes
    -----
    Guarantee: for exchangeable scores the capital ever exceeds 1 / u with probability at most u
    (Ville), so that ``p_value <= u`` has probability at most u. Checked by
    ``tests/guarantees/conformal.py``.

    References
    ----------
    Vovk, V., Petej, I., Nouretdinov, I., Ahlberg, E., Carlsson, L. and Gammerman, A. (2021).
    Retrain or not retrain: conformal test martingales for change-point detection. Proceedings of
    Machine Learning Research 152.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.conformal import exchangeability_test
    >>> rng = np.random.default_rng(0)
    >>> calm = rng.normal(size=400)
    >>> exchangeability_test(calm, random_state=0).p_value > 0.05
    True
    >>> exchangeability_test(calm + np.linspace(0, 3, 400), random_state=0).p_value < 1e-6
    True
    """
    scores = np.asarray(scores, dtype=float)
    if scores.ndim != 1 or np.isnan(scores).any():
        raise ValueError(
            "exchangeability_test needs a list of scores free of NaN. "
            f"Got shape {scores.shape} with {int(np.isnan(scores).sum())} NaN."
        )
    uniform = check_random_state(random_state).random_sample(len(scores))
    places = _smoothed_ranks(scores, uniform)
    bets = np.array([-1.0, 0.0, 1.0])
    purse, log_scale = np.full(3, 1 / 3), 0.0
    capital = np.empty(len(scores))
    for t, place in enumerate(places):
        purse = (1 - _JUMP) * purse + _JUMP * purse.mean()
        purse = purse * (1 + bets * (place - 0.5))
        total = purse.sum()
        # The logarithm is kept, so that a long run neither overflows nor dies of rounding.
        log_scale += np.log(total)
        purse = purse / total
        capital[t] = log_scale
    best = max(0.0, float(capital.max(initial=0.0)))
    return ExchangeabilityTest(float(np.exp(-best)), np.exp(np.minimum(capital, 700.0)))


def _smoothed_ranks(scores: np.ndarray, uniform: np.ndarray) -> np.ndarray:
    """Return (number above + u * number equal) / t among the first t, itself included."""
    import bisect

    seen: list[float] = []
    places = np.empty(len(scores))
    for t, score in enumerate(scores.tolist()):
        bisect.insort(seen, score)
        above = len(seen) - bisect.bisect_right(seen, score)
        equal = len(seen) - above - bisect.bisect_left(seen, score)
        places[t] = (above + uniform[t] * equal) / len(seen)
    return places
