r"""Hedge: spread a unit among n choices, see all their losses, and do nearly as well as the best.

In round t a distribution :math:`v_t` is played, the loss vector :math:`l_t \in [0, 1]^n` is seen
and :math:`v_t^\top l_t` suffered; then :math:`v_{t+1,i} \propto v_{t,i} e^{-\eta l_{t,i}}`. Drawing
one choice from :math:`v_t` suffers the same on average, as long as the losses do not depend on the
draw.
"""

from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from corollary.core.compat import Interval, validate_params
from corollary.core.estimator import Count, NonNegative, Positive, checked
from corollary.online._rows import check_width, table
from corollary.online.experts.weighted_average import exponential_weights
from corollary.online.protocol import OnlineLearner, Rounds

_SIZES = {
    "n_experts": [Interval(Integral, 1, None, closed="left")],
    "horizon": [Interval(Integral, 1, None, closed="left"), np.ndarray],
}


@validate_params(_SIZES, prefer_skip_nested_validation=True)
def hedge_rate(n_experts: int, horizon: int) -> float:
    r"""Return the learning rate of Hedge for a known number of rounds.

    Parameters
    ----------
    n_experts : int
        n, number of choices.
    horizon : int
        m, number of rounds.

    Returns
    -------
    eta : float
        :math:`\sqrt{2 \ln n / m}`.

    Examples
    --------
    >>> from corollary.online import hedge_rate
    >>> round(hedge_rate(2, 400), 4)
    0.0589
    """
    return float(np.sqrt(2 * np.log(n_experts) / horizon))


@validate_params(_SIZES, prefer_skip_nested_validation=True)
def hedge_regret_bound(n_experts: int, horizon: int) -> float:
    r"""Return the largest regret of Hedge with the rate of :func:`hedge_rate`.

    Parameters
    ----------
    n_experts : int
        n, number of choices.
    horizon : int
        m, number of rounds.

    Returns
    -------
    regret : float
        :math:`\sqrt{2 m \ln n}`, for losses in [0, 1]; losses in [0, B] multiply it by B.

    Notes
    -----
    Guarantee: for every sequence of losses in [0, 1]; checked by
    ``tests/online/test_hedge.py::test_regret_bounds_hold``. With the rate
    :math:`\sqrt{2 m \ln n}` instead it would be false: alternating losses of two choices make a
    regret of 199.7 in 400 rounds, against 23.5.

    Examples
    --------
    >>> from corollary.online import hedge_regret_bound
    >>> round(hedge_regret_bound(2, 400), 2)
    23.55
    """
    return float(np.sqrt(2 * horizon * np.log(n_experts)))


@validate_params(_SIZES, prefer_skip_nested_validation=True)
def hedge_anytime_bound(n_experts: int, horizon: Any) -> Any:
    r"""Return the largest regret of Hedge when the number of rounds is not known in advance.

    With the rate :math:`\eta_t = \sqrt{8 \ln n / t}` in round t, for losses in [0, 1],

    .. math:: \max_u \sum_{t \le m} (v_t - u)^\top l_t
              \le \sqrt{2 m \ln n} + \sqrt{\tfrac18 \ln n} \quad \text{for every } m.

    Parameters
    ----------
    n_experts : int
        n, number of choices.
    horizon : int or ndarray of int
        m, number of rounds.

    Returns
    -------
    regret : float or ndarray
        The bound.

    Notes
    -----
    Guarantee: for every sequence, at every round; checked by
    ``tests/online/test_hedge.py::test_regret_bounds_hold``.

    References
    ----------
    Cesa-Bianchi and Lugosi, Prediction, Learning, and Games, 2006, Theorem 2.3.

    Examples
    --------
    >>> from corollary.online import hedge_anytime_bound
    >>> round(hedge_anytime_bound(2, 400), 2)
    23.84
    """
    bound = np.sqrt(2 * np.asarray(horizon) * np.log(n_experts)) + np.sqrt(np.log(n_experts) / 8)
    return bound if bound.ndim else float(bound)


@checked
def hedge_second_order_bound(
    n_experts: Count, eta: Positive, squares: NonNegative | np.ndarray
) -> Any:
    r"""Return the bound on Hedge's regret that looks at the losses it met.

    .. math:: \sum_t (v_t - u)^\top l_t
              \le \frac{\ln n}{\eta} + \frac{\eta}{2} \sum_t \sum_i v_{t,i} l_{t,i}^2
              \quad \text{for every mixture } u.

    Parameters
    ----------
    n_experts : int
        n, number of choices.
    eta : float
        Learning rate.
    squares : float or ndarray
        :math:`\sum_t \sum_i v_{t,i} l_{t,i}^2`.

    Returns
    -------
    regret : float or ndarray
        The bound.

    Notes
    -----
    Guarantee: for every sequence of losses :math:`l \ge 0`, by :math:`e^{-x} \le 1 - x + x^2/2`;
    checked by ``tests/online/test_hedge.py::test_second_order_bound_holds``.

    Examples
    --------
    >>> from corollary.online import hedge_second_order_bound
    >>> round(hedge_second_order_bound(2, 0.0589, 200.0), 2)
    17.66
    """
    bound = np.log(n_experts) / eta + eta / 2 * np.asarray(squares, dtype=float)
    return bound if bound.ndim else float(bound)


def hedge_draws(weights: Any, random_state: Any = None) -> np.ndarray:
    """Draw one choice for each round from the weights that are played.

    Parameters
    ----------
    weights : array-like of shape (n_rounds, n_experts)
        Distributions, for instance the first rows of :func:`exponential_weights`.
    random_state : int, RandomState instance or None, default=None
        Seed or generator.

    Returns
    -------
    choices : ndarray of int of shape (n_rounds,)
        Independent draws.

    Examples
    --------
    >>> from corollary.online import hedge_draws
    >>> hedge_draws([[0.0, 1.0], [1.0, 0.0]], random_state=0)
    array([1, 0])
    """
    weights = table("hedge_draws", weights, low=0.0)
    edges = np.cumsum(weights, axis=1)
    uniform = check_random_state(random_state).uniform(size=len(weights)) * edges[:, -1]
    return (uniform[:, None] >= edges).sum(axis=1)


@dataclass
class Hedge(OnlineLearner):
    r"""Play exponential weights in the allocation setting.

    Rounds are rows of losses in [0, 1], one column for each choice; there is no separate truth.
    The setting of experts is embedded by :math:`l_{t,i} = L(y_t, x_{t,i})`.

    Parameters
    ----------
    horizon : int or None, default=None
        Number of rounds, if it is known; the rate is then :func:`hedge_rate`'s. None for a rate
        that falls with the rounds, :math:`\eta_t = \sqrt{8 \ln n / t}`, good at any time.
    eta : float or None, default=None
        A fixed learning rate instead.

    Attributes
    ----------
    expert_losses_ : ndarray of shape (n_experts,)
        Cumulative losses of the choices.
    n_rounds_ : int
        Rounds played.
    squares_ : float
        :math:`\sum_t \sum_i v_{t,i} l_{t,i}^2` so far.

    See Also
    --------
    hedge_second_order_bound : The bound recorded with a fixed rate.
    hedge_anytime_bound : The bound recorded without a horizon.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.online import Hedge
    >>> losses = np.tile([[1.0, 0.0], [0.0, 1.0]], (200, 1))
    >>> record = Hedge(horizon=400).run(losses)
    >>> bool(record.regret.max() <= record.bound[-1] <= 23.55)
    True
    """

    horizon: int | None = None
    eta: float | None = None
    expert_losses_: np.ndarray = field(init=False, repr=False)
    n_rounds_: int = field(default=0, init=False, repr=False)
    squares_: float = field(default=0.0, init=False, repr=False)

    measure = "regret"

    def __post_init__(self) -> None:
        if self.horizon is not None and (
            isinstance(self.horizon, bool)
            or not isinstance(self.horizon, Integral)
            or self.horizon < 1
        ):
            raise ValueError(
                "The 'horizon' parameter of Hedge must be None or an int in the range [1, inf). "
                f"Got {self.horizon!r} instead."
            )
        if self.eta is not None and not 0 < self.eta < np.inf:
            raise ValueError(
                "The 'eta' parameter of Hedge must be None or a float in the range (0.0, inf). "
                f"Got {self.eta!r} instead."
            )

    @property
    def theorem(self) -> str:  # type: ignore[override]
        """The function that computes the bound."""
        anytime = self.horizon is None and self.eta is None
        return "hedge_anytime_bound" if anytime else "hedge_second_order_bound"

    def play(self, X: Any, y: Any = None, *, comparator: Any = None) -> Rounds:
        """Play one round for each row of losses; see :class:`OnlineLearner`."""
        from corollary.online._loops.experts import exponential_rounds

        losses = table("Hedge", X, low=0.0, high=1.0)
        m, n = losses.shape
        if not hasattr(self, "expert_losses_"):
            self.expert_losses_ = np.zeros(n)
        check_width("Hedge", len(self.expert_losses_), n)
        rate, falling = self._rate(n)
        out = np.empty((m, 4))
        exponential_rounds(losses, losses, rate, falling, self.n_rounds_, self.expert_losses_, out)
        played = np.arange(self.n_rounds_ + 1, self.n_rounds_ + m + 1)
        # One addition after the other, as rounds that come singly would be added.
        squares = np.cumsum(np.append(self.squares_, out[:, 2]))[1:]
        self.n_rounds_ += m
        if falling:
            bound = hedge_anytime_bound(n, played)
        elif n == 1:
            bound = np.zeros(m)
        else:
            bound = hedge_second_order_bound(n, rate, squares)
        if m:
            self.squares_ = float(squares[-1])
        return Rounds(
            out[:, 1].copy(), out[:, 1].copy(), np.zeros(m, bool), out[:, 3].copy(), bound
        )

    def _rate(self, n: int) -> tuple[float, bool]:
        if self.eta is not None:
            return float(self.eta), False
        if self.horizon is not None:
            return hedge_rate(n, int(self.horizon)), False
        return float(np.sqrt(8 * np.log(n))), True

    def predict(self, X: Any = None) -> np.ndarray:
        """Return the weights that the next round is played with.

        Parameters
        ----------
        X : object, default=None
            Ignored: the allocation does not depend on inputs.

        Returns
        -------
        weights : ndarray of shape (n_experts,)
            A distribution.
        """
        rate, falling = self._rate(len(self.expert_losses_))
        rate = rate / np.sqrt(self.n_rounds_ + 1) if falling else rate
        return exponential_weights(self.expert_losses_[None], rate)[1]
