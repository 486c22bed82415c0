r"""The rounds of AdaBoost, and the bounds that they prove.

Edge cases, which the algorithm on paper leaves open:

* a perfect round (no error on any row of positive weight) would have infinite weight; it gets one
  more than all earlier weights together, so that it decides alone, as in the limit, and the run
  ends;
* a round that is no better than guessing is thrown away and ends the run; if it is the first, the
  model is that classifier alone, with weight one.

With s = +1 where a classifier is right and -1 where it is wrong, a row is misclassified only if
:math:`\sum_tw_ts_t\le0`, for any number of classes; hence the training error is at most
:math:`\sum_iD_1(i)e^{-\frac12\sum_tw_ts_{ti}}=\prod_tZ_t` for any number of classes, too.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp

from corollary.ensemble._members import winners
from corollary.ensemble.stagewise.reweighting import classifier_weight

# An edge over guessing below this is rounding: after an update the last classifier has an error
# of exactly 1/2 on paper and of 1/2 minus a few units of the last digit in memory.
_SMALLEST_EDGE = 1e-10

#: A weak learner: weights of rows to a fitted classifier and its codes on the training rows.
WeakLearner = Callable[[np.ndarray], tuple[Any, np.ndarray]]


class Round(NamedTuple):
    """A weak classifier, and the vote on the training rows with it."""

    member: Any
    weight: float
    error: float
    training_error: float
    exponential_loss: float


def is_useless(error: float, n_classes: int) -> bool:
    """Say whether a weighted error is no better than guessing."""
    return error >= 1 - 1 / max(n_classes, 2) - _SMALLEST_EDGE


def boosting_rounds(
    learn: WeakLearner,
    codes: np.ndarray,
    log_start: np.ndarray,
    *,
    n_classes: int,
    learning_rate: float,
) -> Iterator[Round]:
    """Fit one weak classifier after the other to what the vote so far gets wrong."""
    margins = np.zeros(len(codes))  # sum of w_t s_t
    votes = np.zeros((len(codes), n_classes))
    rows = np.arange(len(codes))
    log_weights, total = log_start, 0.0
    while True:
        D = np.exp(log_weights)
        member, answer = learn(D)
        wrong = answer != codes
        # A row may be too light for its weight to be a number above zero.
        error = max(float(D[wrong].sum() / D.sum()), np.finfo(float).tiny * wrong.any())
        decides = not wrong.any() or is_useless(error, n_classes)
        if decides and wrong.any() and total > 0:
            return
        if decides:
            weight = 1.0 + total
        else:
            odds = classifier_weight(error, convention="log_odds", n_classes=n_classes)
            weight = learning_rate * odds
        total += weight
        margins += np.where(wrong, -weight, weight)
        votes[rows, answer] += weight
        log_loss = logsumexp(log_start - margins / 2)
        log_weights = log_start - margins / 2 - log_loss
        lost = winners(votes) != codes
        training_error = float(np.exp(log_start)[lost].sum())
        yield Round(member, weight, error, training_error, float(np.exp(log_loss)))
        if decides:
            return


def edge_bounds(errors: np.ndarray, normalisers: np.ndarray, learning_rate: float) -> np.ndarray:
    """Bound the training error after each round by the edges over guessing, for two classes."""
    # Z is convex in the weight: 1 without a step and with a double one, at most
    # exp(-2 edge^2) with a whole one. A perfect round has a weight of at least one.
    share = np.where(errors > 0, min(learning_rate, 2 - learning_rate), 1.0)
    gain = -np.expm1(-2 * (0.5 - errors) ** 2)
    return np.cumprod(np.where(errors < 0.5, 1 - share * gain, normalisers))
