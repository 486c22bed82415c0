r"""Halving and weighted majority: votes of experts who are right or wrong.

Every expert starts with weight 1 and loses a factor :math:`\beta` with each of its mistakes; the
learner follows the heavier side. With :math:`\beta = 0`, Halving, an expert that errs once is out.
"""

from dataclasses import dataclass, field
from numbers import Real
from typing import Annotated, Any

import numpy as np

from corollary.core.compat import Interval
from corollary.core.estimator import Count, NonNegative, checked
from corollary.online._rows import binary_table, check_width, truths
from corollary.online.protocol import OnlineLearner, Rounds


@checked
def halving_bound(n_experts: Count) -> int:
    r"""Return the most mistakes Halving can make if some expert is always right.

    Parameters
    ----------
    n_experts : int
        n, number of experts.

    Returns
    -------
    mistakes : int
        :math:`\lfloor \log_2 n \rfloor`: each mistake at least halves the consistent experts.

    Notes
    -----
    Guarantee: for every sequence with a consistent expert, and attained by
    :func:`halving_adversary`; checked by
    ``tests/online/test_majority.py::test_halving_on_all_sequences``.

    Examples
    --------
    >>> from corollary.online import halving_bound
    >>> halving_bound(1000)
    9
    """
    return int(n_experts).bit_length() - 1


@checked
def weighted_majority_bound(
    best_mistakes: NonNegative | np.ndarray,
    n_experts: Count,
    beta: Annotated[float, Interval(Real, 0, 1, closed="left")] = float(np.exp(-1)),
) -> Any:
    r"""Return the most mistakes weighted majority can make.

    .. math:: M \le \frac{\ln(1/\beta)}{\ln(2/(1+\beta))} M_i + \frac{\ln n}{\ln(2/(1+\beta))}
              \quad \text{for every expert } i.

    Parameters
    ----------
    best_mistakes : float or ndarray
        :math:`M_i`, mistakes of the best expert (or of any).
    n_experts : int
        n, number of experts.
    beta : float, default=0.36787944117144233
        Factor :math:`\beta` for a mistake, in [0, 1). At 1/e both constants are 2.632, at 1/2 they
        are 2.41 and 3.48.

    Returns
    -------
    mistakes : float or ndarray
        The bound; infinite for ``beta = 0`` if every expert errs.

    Notes
    -----
    Guarantee: for every sequence, by :math:`W_{t+1} \le \frac{1+\beta}2 W_t` on each mistake;
    checked by ``tests/online/test_majority.py::test_mistake_bound_holds``.

    Examples
    --------
    >>> from corollary.online import weighted_majority_bound
    >>> round(weighted_majority_bound(0, 256), 2), round(weighted_majority_bound(10, 256), 2)
    (14.6, 40.92)
    """
    rate = np.log(2 / (1 + beta))
    best = np.asarray(best_mistakes, dtype=float)
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = np.where(best > 0, best * np.log(1 / np.float64(beta)), 0.0)
    bound = (slope + np.log(n_experts)) / rate
    return bound if bound.ndim else float(bound)


@dataclass
class WeightedMajority(OnlineLearner):
    r"""Follow the heavier side of experts who lose a factor with each mistake.

    Rounds are rows of advice in {0, 1}, one column for each expert, and outcomes in {0, 1}. A tie
    is answered with 1.

    Parameters
    ----------
    beta : float, default=0.36787944117144233
        Factor :math:`\beta` of an expert's weight for each mistake, in [0, 1); 1/e by default.
        :class:`Halving` is ``beta = 0``.

    Attributes
    ----------
    weights_ : ndarray of shape (n_experts,)
        Weights :math:`\beta^{M_i}` up to a common power of two.
    expert_mistakes_ : ndarray of int of shape (n_experts,)
        :math:`M_i`, mistakes of each expert.

    See Also
    --------
    weighted_majority_bound : What :meth:`run` records beside the mistakes.
    WeightedAverage : For advice in [0, 1].

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.online import WeightedMajority
    >>> advice = np.array([[0, 1, 1], [1, 1, 0], [0, 1, 0], [0, 0, 1]])
    >>> record = WeightedMajority(beta=0.5).run((advice, [0, 1, 0, 0]))
    >>> record.mistakes, record.comparator
    (array([ True, False, False, False]), array([0., 0., 0., 0.]))
    >>> record.bound.round(2)
    array([3.82, 3.82, 3.82, 3.82])
    """

    beta: float = float(np.exp(-1))
    weights_: np.ndarray = field(init=False, repr=False)
    expert_mistakes_: np.ndarray = field(init=False, repr=False)

    measure = "mistakes"
    theorem = "weighted_majority_bound"

    def __post_init__(self) -> None:
        if not 0 <= self.beta < 1:
            raise ValueError(
                "The 'beta' parameter of WeightedMajority must be a float in the range "
                f"[0.0, 1.0). Got {self.beta} instead."
            )

    def play(self, X: Any, y: Any = None, *, comparator: Any = None) -> Rounds:
        """Play one round for each row of advice; see :class:`OnlineLearner`."""
        return _vote(self, X, y)

    def predict(self, X: Any) -> np.ndarray:
        """Say what the weighted majority answers now, without learning.

        Parameters
        ----------
        X : array-like of shape (n_rounds, n_experts)
            Advice in {0, 1}.

        Returns
        -------
        labels : ndarray of shape (n_rounds,)
            0.0 or 1.0.
        """
        return _majority(self, X)


@dataclass
class Halving(OnlineLearner):
    """Follow the majority of the experts that have never erred.

    Rounds are rows of advice in {0, 1} and outcomes in {0, 1}. A tie is answered with 1. If no
    expert is left, the answer is always 1 and the bound is infinite; use
    :class:`WeightedMajority` where nobody may be perfect.

    Attributes
    ----------
    weights_ : ndarray of shape (n_experts,)
        1 for experts that never erred, else 0.
    expert_mistakes_ : ndarray of int of shape (n_experts,)
        Mistakes of each expert.

    See Also
    --------
    halving_bound : At most log2 n mistakes.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.online import Halving
    >>> learner = Halving()
    >>> record = learner.run((np.array([[0, 1, 1], [1, 1, 0]]), [0, 1]))
    >>> learner.weights_, record.truth[-1], record.bound[-1]
    (array([1., 0., 0.]), np.int64(1), np.float64(1.0))
    """

    weights_: np.ndarray = field(init=False, repr=False)
    expert_mistakes_: np.ndarray = field(init=False, repr=False)

    measure = "mistakes"
    theorem = "halving_bound"
    beta = 0.0

    def play(self, X: Any, y: Any = None, *, comparator: Any = None) -> Rounds:
        """Play one round for each row of advice; see :class:`OnlineLearner`."""
        rounds = _vote(self, X, y)
        n = len(self.weights_)
        return rounds._replace(bound=np.where(rounds.comparator == 0, halving_bound(n), np.inf))

    def predict(self, X: Any) -> np.ndarray:
        """Say what the consistent experts answer now, without learning.

        Parameters
        ----------
        X : array-like of shape (n_rounds, n_experts)
            Advice in {0, 1}.

        Returns
        -------
        labels : ndarray of shape (n_rounds,)
            0.0 or 1.0.
        """
        return _majority(self, X)


def _vote(learner: Any, X: Any, y: Any) -> Rounds:
    from corollary.online._loops.experts import majority_rounds

    who = type(learner).__name__
    advice = binary_table(who, X)
    m, n = advice.shape
    y = truths(who, y, m, (0.0, 1.0))
    if not hasattr(learner, "weights_"):
        learner.weights_ = np.ones(n)
        learner.expert_mistakes_ = np.zeros(n, dtype=np.int64)
    check_width(who, len(learner.weights_), n)
    predictions, best = np.empty(m), np.empty(m)
    majority_rounds(
        advice,
        y,
        float(learner.beta),
        learner.weights_,
        learner.expert_mistakes_,
        predictions,
        best,
    )
    mistakes = predictions != y
    bound = weighted_majority_bound(best, n, learner.beta)
    return Rounds(predictions, mistakes.astype(float), mistakes, best, bound)


def _majority(learner: Any, X: Any) -> np.ndarray:
    who = type(learner).__name__
    advice = binary_table(who, X)
    weights = getattr(learner, "weights_", np.ones(advice.shape[1]))
    check_width(who, len(weights), advice.shape[1])
    return (advice @ weights >= (1 - advice) @ weights).astype(float)
