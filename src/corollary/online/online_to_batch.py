r"""From a learner of rounds to a rule for new rows: stop at a random time.

Draw t uniformly from 1 to m, let the learner play t independent rounds and keep its hypothesis.
The chance that it errs on a fresh row is the expected number of mistakes in rounds 2 to m + 1, over
m; so a bound B on the mistakes in every sequence gives :math:`B / m`.
"""

import copy
from numbers import Real
from typing import Annotated, Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from corollary.core.compat import Interval
from corollary.core.estimator import Count, checked
from corollary.online.protocol import OnlineLearner


@checked
def online_to_batch_bound(
    mistakes: Annotated[float, Interval(Real, 0, None, closed="both")], n_samples: Count
) -> float:
    r"""Return the largest error of a learner that was stopped at a random time.

    Parameters
    ----------
    mistakes : float
        B, a bound on the mistakes in every sequence of :math:`m + 1` rounds.
    n_samples : int
        m, rows to learn from.

    Returns
    -------
    error : float
        :math:`B / m`, at most 1: the probability, over the rows, the time and a fresh row, that
        the fresh row is mislabelled.

    Notes
    -----
    Guarantee: for independent rows of one law; in expectation, not with high probability for one
    sample. Checked by ``tests/online/test_online_to_batch.py::test_error_is_at_most_b_over_m``.

    Examples
    --------
    >>> from corollary.online import online_to_batch_bound
    >>> online_to_batch_bound(25, 1000)
    0.025
    """
    return float(min(1.0, mistakes / n_samples))


class StoppedLearner(NamedTuple):
    """A learner that was stopped at a random time.

    Parameters
    ----------
    learner : OnlineLearner
        The learner after its last round; use its ``predict``.
    stopping_time : int
        Rounds it played.
    """

    learner: OnlineLearner
    stopping_time: int


def stop_at_random(
    learner: OnlineLearner, X: Any, y: Any, *, random_state: Any = None
) -> StoppedLearner:
    """Let a learner play a random number of the rounds given.

    Parameters
    ----------
    learner : OnlineLearner
        A fresh learner; it is copied and stays as it is.
    X : array-like or CSR matrix of shape (n_samples, n_features)
        Independent rows.
    y : array-like of shape (n_samples,)
        Their labels.
    random_state : int, RandomState instance or None, default=None
        Seed or generator of the stopping time.

    Returns
    -------
    stopped : StoppedLearner
        The learner after t rounds, t uniform on 1 to n_samples.

    See Also
    --------
    online_to_batch_bound : The error that this guarantees.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.online import Winnow, disjunction, stop_at_random
    >>> X = np.random.default_rng(0).integers(0, 2, size=(300, 20))
    >>> rule = stop_at_random(Winnow(), X, disjunction(5)(X), random_state=0).learner
    >>> rule.predict(X[:3]).shape
    (3,)
    """
    X = X if hasattr(X, "shape") else np.asarray(X)
    n = X.shape[0]
    if n < 1:
        raise ValueError("stop_at_random needs at least one row. Got none.")
    time = int(check_random_state(random_state).randint(1, n + 1))
    played = copy.deepcopy(learner)
    played.partial_fit(X[:time], np.asarray(y)[:time])
    return StoppedLearner(played, time)
