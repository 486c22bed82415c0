r"""The perceptron as a player of rounds, its mistake bounds and its invariants.

Start from w = 0; in each round predict the sign of :math:`\langle w, x \rangle`, and if
:math:`y \langle w, x \rangle \le 0` (a score of zero is a mistake), add :math:`y x` to w. A step
size would scale all weights alike and change no prediction.

The batch form, which cycles until a pass without mistake, is
:class:`corollary.linear.Perceptron`; this one sees every round once, in any order.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from corollary.core.estimator import NonNegative, checked
from corollary.online._rows import table, truths
from corollary.online.linear._learner import Comparison, LinearLearner
from corollary.online.linear._state import LinearSettings, LinearState, make_settings
from corollary.online.protocol import Rounds
from corollary.risk import HingeLoss, PerceptronLoss, sign


@checked
def perceptron_mistake_bound(radius: NonNegative, margin: NonNegative) -> float:
    r"""Return the most mistakes of the perceptron on separable rounds.

    Parameters
    ----------
    radius : float
        R, at least the length of every row.
    margin : float
        :math:`\gamma` such that a unit vector v has :math:`y_t \langle v, x_t \rangle \ge \gamma`
        in every round.

    Returns
    -------
    mistakes : float
        :math:`(R / \gamma)^2`, equally :math:`R^2 \|u\|^2` for any u with
        :math:`y_t \langle u, x_t \rangle \ge 1`; infinite (vacuous) for margin zero.

    Notes
    -----
    Guarantee: for every stream of rows in any order with any repetitions, in any dimension;
    attained by :func:`perceptron_adversary`; checked by
    ``tests/online/test_perceptron.py::test_mistake_bound_on_separable_streams``.

    Examples
    --------
    >>> from corollary.online import perceptron_mistake_bound
    >>> perceptron_mistake_bound(1.0, 0.1)
    100.0
    """
    if margin > radius * (1 + 1e-12):
        raise ValueError(
            "perceptron_mistake_bound: the margin cannot exceed the radius, since "
            f"|<v, x>| <= ||x||. Got margin {margin:.6g} and radius {radius:.6g}."
        )
    return float((radius / margin) ** 2) if margin else np.inf


def conservative_ogd_bound(hinge: Any, norm: float, radius: Any) -> Any:
    r"""Return the most mistakes of the perceptron against any comparator.

    Gradient descent on the hinge loss that learns from mistakes only is the perceptron, whatever
    its step, so its best step may be chosen afterwards: over the M rounds with mistakes
    :math:`M \le L + U R \sqrt M`, hence

    .. math:: \sqrt M \le \tfrac12 \bigl( U R + \sqrt{U^2 R^2 + 4 L} \bigr).

    For L = 0 this is :math:`M \le U^2 R^2`.

    Parameters
    ----------
    hinge : float or ndarray
        :math:`L = \sum_t \max(0, 1 - y_t \langle u, x_t \rangle)`, hinge loss of the comparator
        u, over all rounds or over those with mistakes.
    norm : float
        U, length of u.
    radius : float or ndarray
        R, largest length of a row.

    Returns
    -------
    mistakes : float or ndarray
        The bound.

    Notes
    -----
    Guarantee: for every stream and every u, separable or not; checked by
    ``tests/online/test_perceptron.py::test_bound_against_any_comparator``.

    Examples
    --------
    >>> from corollary.online import conservative_ogd_bound
    >>> conservative_ogd_bound(0.0, 10.0, 1.0), conservative_ogd_bound(6.0, 1.0, 1.0)
    (100.0, 9.0)
    """
    hinge, reach = np.asarray(hinge, dtype=float), norm * np.asarray(radius, dtype=float)
    if np.any(hinge < 0) or np.any(reach < 0):
        raise ValueError(
            "conservative_ogd_bound needs a loss, a norm and a radius of at least zero. Got "
            f"{np.min(hinge)}, {norm} and {np.min(radius)}."
        )
    bound = ((reach + np.sqrt(reach**2 + 4 * hinge)) / 2) ** 2
    return bound if bound.ndim else float(bound)


class PerceptronTrace(NamedTuple):
    """Every iterate of a perceptron.

    Parameters
    ----------
    iterates : ndarray of shape (n_rounds + 1, n_features)
        Weights before each round and after the last.
    mistakes : ndarray of bool of shape (n_rounds,)
        Rounds with a mistake.
    cumulative : ndarray of int of shape (n_rounds + 1,)
        Mistakes before each round, and in all.
    """

    iterates: np.ndarray
    mistakes: np.ndarray
    cumulative: np.ndarray


def perceptron_trace(X: Any, y: Any, order: Any = None) -> PerceptronTrace:
    r"""Run the perceptron over any stream of indices and keep every iterate.

    .. math:: w_{t+1} = w_t + m_t y_{i_t} x_{i_t}, \qquad
              m_t = 1\{y_{i_t} \langle w_t, x_{i_t} \rangle \le 0\}

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Rows.
    y : array-like of shape (n_samples,)
        Labels -1 and 1.
    order : array-like of int or None, default=None
        :math:`i_t`, the row of each round, repetitions allowed; None for every row once.

    Returns
    -------
    trace : PerceptronTrace
        Iterates and mistakes; for study, since it keeps n_rounds times n_features numbers.

    Notes
    -----
    Guarantee: with :math:`R = \max \|x_i\|` and a unit v of margin :math:`\gamma`, at every t
    :math:`\|w_t\|^2 \le M_t R^2`, :math:`\langle v, w_t \rangle \ge M_t \gamma` and
    :math:`\|w_t\| \ge M_t \gamma`; checked by
    ``tests/online/test_perceptron.py::test_norm_invariants``.

    Examples
    --------
    >>> from corollary.online import perceptron_trace
    >>> perceptron_trace([[1.0, 0.0], [0.0, 2.0]], [1, -1]).iterates
    array([[ 0.,  0.],
           [ 1.,  0.],
           [ 1., -2.]])
    """
    X = table("perceptron_trace", X)
    y = truths("perceptron_trace", y, len(X), (-1.0, 1.0))
    order = np.arange(len(X)) if order is None else np.asarray(order, dtype=np.int64)
    if order.ndim != 1 or (order.size and not (order.min() >= 0 and order.max() < len(X))):
        raise ValueError(
            f"The order must list row numbers from 0 to {len(X) - 1}. Got shape {order.shape}"
            + (f" with values from {order.min()} to {order.max()}." if order.size else ".")
        )
    rounds = OnlinePerceptron().play(X[order], y[order])
    changes = rounds.mistakes[:, None] * y[order][:, None] * X[order]
    iterates = np.vstack([np.zeros(X.shape[1]), np.cumsum(changes, axis=0)])
    return PerceptronTrace(iterates, rounds.mistakes, np.append(0, np.cumsum(rounds.mistakes)))


@dataclass
class OnlinePerceptron(LinearLearner):
    r"""Add the rows on which the score has the wrong sign.

    Rounds are rows, dense or CSR, and labels -1 and 1.

    Parameters
    ----------
    eta : float, default=1.0
        Size of the step; it changes the weights' length and nothing else.

    Attributes
    ----------
    state_ : LinearState
        Memory; ``weights_`` are the current weights.

    See Also
    --------
    perceptron_mistake_bound : On separable rounds.
    conservative_ogd_bound : Against any comparator; recorded by :meth:`run`.
    corollary.linear.Perceptron : Cycles until no mistake is left.

    Notes
    -----
    Losses are mistakes, and a score of zero is one. The comparator's loss is its hinge loss.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.datasets import SeparableMargin
    >>> from corollary.online import OnlinePerceptron
    >>> u = np.array([0.6, 0.8])
    >>> X, y = SeparableMargin(u, margin=0.2).sample(1000, random_state=0)
    >>> record = OnlinePerceptron().run((X, y), comparator=u / 0.2)
    >>> bool(record.truth[-1] <= record.bound[-1] <= 25)
    True
    """

    eta: float = 1.0
    state_: LinearState = field(init=False, repr=False)

    measure = "mistakes"
    theorem = "conservative_ogd_bound"

    def __post_init__(self) -> None:
        if not 0 < self.eta < np.inf:
            raise ValueError(
                "The 'eta' parameter of OnlinePerceptron must be a float in the range "
                f"(0.0, inf). Got {self.eta} instead."
            )

    def _settings(self) -> LinearSettings:
        return make_settings(loss=PerceptronLoss(), eta=self.eta)

    def _judge(
        self, X: Any, y: np.ndarray, scores: np.ndarray, slopes: np.ndarray, u: Comparison | None
    ) -> Rounds:
        mistakes = y * scores <= 0
        return Rounds(sign(scores), mistakes.astype(float), mistakes, *_mistake_bound(self, y, u))


def _mistake_bound(
    learner: LinearLearner, y: np.ndarray, u: Comparison | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the comparator's hinge loss and the perceptron's bound after every round."""
    if u is None:
        return np.full(len(y), np.nan), np.full(len(y), np.inf)
    radius = learner._running_max("radius", np.sqrt(u.squares))
    hinge = learner._running_sum("comparator", HingeLoss()(y, u.scores))
    return hinge, conservative_ogd_bound(hinge, u.norm, radius)
