r"""The exponentially weighted average: constant regret for square and entropic loss.

Experts advise numbers in [0, 1]; the learner predicts their mean under weights
:math:`v_{t,i} \propto e^{-\eta L_{t,i}}`, where :math:`L_{t,i}` is what expert i has lost so far.
Where :math:`e^{-\eta \ell(y, \cdot)}` is concave the regret never exceeds
:math:`\frac1\eta \ln n`, however long the game: :math:`\eta = \frac12` for the square loss, 1 for
the entropic one.
"""

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from scipy.special import rel_entr

from corollary.core.estimator import Count, Positive, checked
from corollary.online._rows import check_width, table, truths
from corollary.online.protocol import OnlineLearner, Rounds
from corollary.risk import binary_kl, check_law

# The largest eta for which exp(-eta * loss(y, .)) is concave on [0, 1] for all y in [0, 1].
RATES = {"square": 0.5, "entropic": 1.0}


def entropic_loss(y_true: Any, prediction: Any) -> np.ndarray:
    r"""Return the relative entropy of two coins, one that falls with the truth's probability.

    .. math:: L(y, \hat y) = y \ln\frac{y}{\hat y} + (1 - y) \ln\frac{1 - y}{1 - \hat y}

    For labels 0 and 1 it is the log loss: :math:`-\ln \hat y` or :math:`-\ln(1 - \hat y)`.

    Parameters
    ----------
    y_true : array-like
        Truths in [0, 1].
    prediction : array-like
        Predictions in [0, 1].

    Returns
    -------
    losses : ndarray
        At least 0; infinite where a sure prediction is wrong.

    Examples
    --------
    >>> from corollary.online import entropic_loss
    >>> entropic_loss([1, 0, 0.5, 1], [0.5, 0.0, 0.5, 0.0]).round(4)
    array([0.6931, 0.    , 0.    ,    inf])
    """
    y_true = np.asarray(y_true, dtype=float)
    prediction = np.asarray(prediction, dtype=float)
    for name, value in (("y_true", y_true), ("prediction", prediction)):
        if not np.all((value >= 0) & (value <= 1)):
            raise ValueError(
                f"The '{name}' parameter of entropic_loss must hold numbers in [0, 1]. Got "
                f"values from {np.min(value)} to {np.max(value)}."
            )
    return binary_kl(y_true, prediction)


@checked
def weighted_average_bound(
    n_experts: Count, loss: Literal["square", "entropic"] = "square", *, eta: Positive | None = None
) -> float:
    r"""Return the largest regret of the weighted average forecaster.

    Parameters
    ----------
    n_experts : int
        n, number of experts.
    loss : {"square", "entropic"}, default="square"
        Loss of predictions in [0, 1] of truths in [0, 1].
    eta : float or None, default=None
        Learning rate; None for the best, 1/2 or 1.

    Returns
    -------
    regret : float
        :math:`\frac1\eta \ln n`, at any number of rounds; infinite (vacuous) if eta exceeds the
        rate up to which :math:`e^{-\eta L(y, \cdot)}` is concave.

    Notes
    -----
    Guarantee: for every sequence, fractional truths included; checked by
    ``tests/online/test_weighted_average.py::test_regret_never_exceeds_the_bound``.

    Examples
    --------
    >>> from corollary.online import weighted_average_bound
    >>> round(weighted_average_bound(10, "square"), 3)
    4.605
    """
    rate = RATES[loss] if eta is None else eta
    return float(np.log(n_experts) / rate) if rate <= RATES[loss] else np.inf


def exponential_weights(losses: Any, eta: float) -> np.ndarray:
    r"""Return the exponential weights with which every round is played.

    Parameters
    ----------
    losses : array-like of shape (n_rounds, n_experts)
        Losses of the experts, round by round; may be infinite.
    eta : float
        Learning rate :math:`\eta > 0`.

    Returns
    -------
    weights : ndarray of shape (n_rounds + 1, n_experts)
        Row t is :math:`v_{t,i} \propto \exp(-\eta \sum_{s<t} \ell_{s,i})`, from the uniform row to
        the one after the last round. If all losses are infinite the row is uniform.

    See Also
    --------
    Hedge : Plays them.
    WeightedAverage : Predicts by them.

    Examples
    --------
    >>> from corollary.online import exponential_weights
    >>> exponential_weights([[0.0, 1.0], [0.0, 1.0]], 1.0).round(3)
    array([[0.5  , 0.5  ],
           [0.731, 0.269],
           [0.881, 0.119]])
    """
    if not eta > 0:
        raise ValueError(
            "The 'eta' parameter of exponential_weights must be a float in the range (0.0, inf). "
            f"Got {eta!r} instead; a negative rate would prefer the worst experts."
        )
    losses = table("exponential_weights", losses, low=0.0)
    totals = np.vstack([np.zeros(losses.shape[1]), np.cumsum(losses, axis=0)])
    least = totals.min(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):
        gaps = np.where(totals == least, 0.0, totals - least)
    weights = np.exp(-eta * gaps)
    return weights / weights.sum(axis=1, keepdims=True)


def entropy_progress(u: Any, weights: Any) -> np.ndarray:
    r"""Return by how much the relative entropy to a fixed mixture fell in every round.

    .. math:: d(u, v_t) - d(u, v_{t+1}), \qquad d(u, v) = \sum_i u_i \ln \frac{u_i}{v_i}

    For the entropic loss, :math:`\eta = 1` and truths 0 and 1 this equals the round's regret to u,
    :math:`L(y_t, v_t^\top x_t) - \sum_i u_i L(y_t, x_{t,i})`; for truths in between it is at
    least that. For Hedge it is :math:`-\eta u^\top l_t - \ln Z_t`.

    Parameters
    ----------
    u : array-like of shape (n_experts,)
        A mixture of experts.
    weights : array-like of shape (n_rounds + 1, n_experts)
        Weights as :func:`exponential_weights` returns them.

    Returns
    -------
    progress : ndarray of shape (n_rounds,)
        Differences; NaN after an expert that u needs has lost all weight.

    Notes
    -----
    Guarantee: both identities hold to rounding; checked by
    ``tests/online/test_weighted_average.py::test_progress_is_regret`` and
    ``tests/online/test_hedge.py::test_one_step_identity``.

    Examples
    --------
    >>> from corollary.online import entropy_progress, exponential_weights
    >>> weights = exponential_weights([[0.0, 1.0]], 1.0)
    >>> entropy_progress([1.0, 0.0], weights).round(4)
    array([0.3799])
    """
    u = check_law("entropy_progress", "u", u)
    with np.errstate(invalid="ignore"):
        distance = rel_entr(u, np.asarray(weights, dtype=float)).sum(axis=1)
        return distance[:-1] - distance[1:]


@dataclass
class WeightedAverage(OnlineLearner):
    r"""Predict the exponentially weighted average of experts' advice.

    Rounds are rows of advice in [0, 1], one column for each expert, and truths in [0, 1].

    Parameters
    ----------
    loss : {"square", "entropic"}, default="square"
        What is suffered, :math:`(y - \hat y)^2` or the relative entropy of two coins.
    eta : float or None, default=None
        Learning rate; None for the largest with constant regret: 1/2 for the square loss, 1 for
        the entropic loss.

    Attributes
    ----------
    expert_losses_ : ndarray of shape (n_experts,)
        Cumulative losses of the experts; infinite for one that was surely wrong.
    n_rounds_ : int
        Rounds played.

    See Also
    --------
    weighted_average_bound : What :meth:`run` records beside the regret.

    Notes
    -----
    With the entropic loss and truths 0 and 1 this is Bayes' rule with a uniform prior on the
    experts, and the cumulative loss is the code length of the mixture.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.online import WeightedAverage
    >>> advice = np.array([[0.9, 0.2], [0.8, 0.3], [0.7, 0.4]])
    >>> record = WeightedAverage(loss="entropic").run((advice, [1, 1, 1]))
    >>> record.predictions.round(3), round(record.bound[-1], 3)
    (array([0.55 , 0.709, 0.677]), np.float64(0.693))
    """

    loss: Literal["square", "entropic"] = "square"
    eta: float | None = None
    expert_losses_: np.ndarray = field(init=False, repr=False)
    n_rounds_: int = field(default=0, init=False, repr=False)

    measure = "regret"
    theorem = "weighted_average_bound"

    def __post_init__(self) -> None:
        if self.loss not in RATES:
            raise ValueError(
                "The 'loss' parameter of WeightedAverage must be a str among "
                f"{sorted(RATES)}. Got {self.loss!r} instead."
            )
        if self.eta is not None and not 0 < self.eta < np.inf:
            raise ValueError(
                "The 'eta' parameter of WeightedAverage must be None or a float in the range "
                f"(0.0, inf). Got {self.eta} instead."
            )

    @property
    def rate(self) -> float:
        """The learning rate used."""
        return RATES[self.loss] if self.eta is None else float(self.eta)

    def play(self, X: Any, y: Any = None, *, comparator: Any = None) -> Rounds:
        """Play one round for each row of advice; see :class:`OnlineLearner`."""
        from corollary.online._loops.experts import exponential_rounds

        advice = table("WeightedAverage", X, low=0.0, high=1.0)
        m, n = advice.shape
        y = truths("WeightedAverage", y, m)
        if y.size and not (y.min() >= 0 and y.max() <= 1):
            raise ValueError(
                f"WeightedAverage needs truths in [0, 1]. Got values from {y.min():g} to "
                f"{y.max():g}; rescale them."
            )
        if not hasattr(self, "expert_losses_"):
            self.expert_losses_ = np.zeros(n)
        check_width("WeightedAverage", len(self.expert_losses_), n)
        out = np.empty((m, 4))
        losses = self._loss(y[:, None], advice)
        exponential_rounds(losses, advice, self.rate, False, 0, self.expert_losses_, out)
        self.n_rounds_ += m
        # Means of numbers in [0, 1] may leave it by rounding.
        predictions = np.clip(out[:, 0], 0.0, 1.0)
        bound = weighted_average_bound(n, self.loss, eta=self.eta)
        return Rounds(
            predictions,
            self._loss(y, predictions),
            np.zeros(m, dtype=bool),
            out[:, 3].copy(),
            np.full(m, bound),
        )

    def _loss(self, y: np.ndarray, prediction: np.ndarray) -> np.ndarray:
        return (y - prediction) ** 2 if self.loss == "square" else entropic_loss(y, prediction)

    def predict(self, X: Any) -> np.ndarray:
        """Return the weighted average of advice now, without learning.

        Parameters
        ----------
        X : array-like of shape (n_rounds, n_experts)
            Advice in [0, 1].

        Returns
        -------
        predictions : ndarray of shape (n_rounds,)
            Numbers in [0, 1].
        """
        advice = table("WeightedAverage", X, low=0.0, high=1.0)
        totals = getattr(self, "expert_losses_", np.zeros(advice.shape[1]))
        check_width("WeightedAverage", len(totals), advice.shape[1])
        return np.clip(advice @ exponential_weights(totals[None], self.rate)[1], 0.0, 1.0)
