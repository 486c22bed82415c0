r"""Passive-aggressive updates: the smallest change that mends the round's hinge loss.

.. math:: w_{t+1} = \arg\min_w \max(0, 1 - y_t \langle w, x_t \rangle)
          + \lambda \|w - w_t\|^2 = w_t + \tau_t y_t x_t

with :math:`\ell_t` the hinge loss before the update and C = 1 / (2 lambda):

============== ====================================================
PA             :math:`\tau = \ell / \|x\|^2` (the loss is mended whole)
PA-I           :math:`\tau = \min\{C, \ell / \|x\|^2\}` (the formula above)
PA-II          :math:`\tau = \ell / (\|x\|^2 + 1/(2C))` (squared loss)
linearised     :math:`\tau = C` if the loss is positive: a gradient step
============== ====================================================

The linearised step equals PA-I's only where :math:`\ell \ge C \|x\|^2`.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from corollary.online.linear._codes import GRADIENT, RULES
from corollary.online.linear._learner import Comparison, LinearLearner
from corollary.online.linear._state import LinearSettings, LinearState, make_settings
from corollary.online.linear.gradient_descent import ogd_second_order_bound
from corollary.online.protocol import Rounds
from corollary.risk import HingeLoss, sign


def passive_aggressive_step(
    loss: Any, squared_norm: Any, *, variant: str = "pa-i", C: float = 1.0
) -> np.ndarray:
    r"""Return the step of a passive-aggressive update.

    Parameters
    ----------
    loss : array-like
        Hinge losses before the update.
    squared_norm : array-like
        :math:`\|x\|^2`, entry by entry.
    variant : {"pa", "pa-i", "pa-ii", "linearised"}, default="pa-i"
        The rule; see the module's table.
    C : float, default=1.0
        Aggressiveness, :math:`1 / (2 \lambda)`.

    Returns
    -------
    tau : ndarray
        Steps along :math:`y x`.

    Examples
    --------
    >>> from corollary.online import passive_aggressive_step
    >>> passive_aggressive_step([0.0, 1.0, 4.0], 2.0)
    array([0. , 0.5, 1. ])
    """
    _check("passive_aggressive_step", variant, C)
    loss, squared_norm = np.asarray(loss, dtype=float), np.asarray(squared_norm, dtype=float)
    if variant == "linearised":
        return np.where(loss > 0, C, 0.0)
    if variant == "pa-ii":
        return loss / (squared_norm + 0.5 / C)
    with np.errstate(divide="ignore", invalid="ignore"):
        tau = np.where((loss > 0) & (squared_norm > 0), loss / squared_norm, 0.0)
    return np.minimum(tau, C) if variant == "pa-i" else tau


def passive_aggressive_bound(
    hinge: Any, norm: float, radius: Any, *, variant: str = "pa-i", C: float = 1.0
) -> Any:
    r"""Return the most mistakes of a passive-aggressive learner against a comparator.

    ======= ===================================================================
    PA      :math:`R^2 \|u\|^2` if u never has a hinge loss, else infinite
    PA-I    :math:`\max(R^2, 1/C) (\|u\|^2 + 2 C \sum_t \ell_t(u))`
    PA-II   :math:`(R^2 + 1/(2C)) (\|u\|^2 + 2 C \sum_t \ell_t(u)^2)`
    ======= ===================================================================

    Parameters
    ----------
    hinge : float or ndarray
        :math:`\sum_t \ell_t(u)`, the comparator's hinge loss; for PA-II the sum of its squares.
    norm : float
        :math:`\|u\|`.
    radius : float or ndarray
        R, largest length of a row.
    variant : {"pa", "pa-i", "pa-ii"}, default="pa-i"
        The rule.
    C : float, default=1.0
        Aggressiveness.

    Returns
    -------
    mistakes : float or ndarray
        The bound. For PA and PA-II it also bounds the learner's cumulative squared hinge loss.

    Notes
    -----
    Guarantee: for every stream and every u; checked by
    ``tests/online/test_passive_aggressive.py::test_mistake_bounds_hold``.

    References
    ----------
    Crammer, Dekel, Keshet, Shalev-Shwartz and Singer, Online passive-aggressive algorithms, 2006,
    Theorems 2, 4 and 5.

    Examples
    --------
    >>> from corollary.online import passive_aggressive_bound
    >>> passive_aggressive_bound(3.0, 2.0, 1.0, C=0.5)
    14.0
    """
    _check("passive_aggressive_bound", variant, C)
    if variant == "linearised":
        raise ValueError(
            "passive_aggressive_bound knows 'pa', 'pa-i' and 'pa-ii'. The linearised rule is "
            "gradient descent with step C: use ogd_second_order_bound."
        )
    hinge, squares = np.asarray(hinge, dtype=float), np.asarray(radius, dtype=float) ** 2
    if not (np.all(hinge >= 0) and norm >= 0 and np.all(np.asarray(radius) >= 0)):
        raise ValueError(
            "passive_aggressive_bound needs a hinge loss, a norm and a radius that are not "
            f"negative. Got hinge={hinge.min():g}, norm={norm!r} and radius={np.min(radius):g}."
        )
    if variant == "pa":
        bound = np.where(hinge > 0, np.inf, squares * norm**2)
    elif variant == "pa-i":
        bound = np.maximum(squares, 1 / C) * (norm**2 + 2 * C * hinge)
    else:
        bound = (squares + 0.5 / C) * (norm**2 + 2 * C * hinge)
    return bound if bound.ndim else float(bound)


@dataclass
class PassiveAggressive(LinearLearner):
    r"""Change the weights as little as mends the round's hinge loss.

    Rounds are rows, dense or CSR, and labels -1 and 1.

    Parameters
    ----------
    variant : {"pa", "pa-i", "pa-ii", "linearised"}, default="pa-i"
        The rule; see the module's table.
    C : float, default=1.0
        Aggressiveness, :math:`1 / (2 \lambda)`.

    Attributes
    ----------
    state_ : LinearState
        Memory; ``weights_`` are the current weights.

    See Also
    --------
    passive_aggressive_bound : Recorded by :meth:`run` beside the mistakes.
    OnlineGradientDescent : The linearised rule with step C.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.online import PassiveAggressive
    >>> learner = PassiveAggressive(variant="pa").partial_fit([[2.0, 0.0]], [1])
    >>> learner.weights_
    array([0.5, 0. ])
    """

    variant: str = "pa-i"
    C: float = 1.0
    state_: LinearState = field(init=False, repr=False)

    def __post_init__(self) -> None:
        _check("PassiveAggressive", self.variant, self.C)

    @property
    def measure(self) -> str:  # type: ignore[override]
        """What is bounded: mistakes, or for the linearised rule the regret."""
        return "regret" if self.variant == "linearised" else "mistakes"

    @property
    def theorem(self) -> str:  # type: ignore[override]
        """The function that computes the bound."""
        linear = self.variant == "linearised"
        return "ogd_second_order_bound" if linear else "passive_aggressive_bound"

    def _settings(self) -> LinearSettings:
        return make_settings(loss=HingeLoss(), rule=self.variant, eta=self.C)

    def _judge(
        self, X: Any, y: np.ndarray, scores: np.ndarray, slopes: np.ndarray, u: Comparison | None
    ) -> Rounds:
        losses, mistakes = HingeLoss()(y, scores), y * scores <= 0
        compared, bound = np.full(len(y), np.nan), np.full(len(y), np.inf)
        if u is not None:
            compared = self._running_sum("comparator", HingeLoss()(y, u.scores))
            bound = self._bound(y, slopes, u, compared)
        return Rounds(sign(scores), losses, mistakes, compared, bound)

    def _bound(
        self, y: np.ndarray, slopes: np.ndarray, u: Comparison, suffered: np.ndarray
    ) -> np.ndarray:
        if self.variant == "linearised":
            # The step is C times the slope of the hinge loss.
            squares = self._running_sum("squares", (slopes / self.C) ** 2 * u.squares)
            return ogd_second_order_bound(u.norm, self.C, squares)
        if self.variant == "pa-ii":
            suffered = self._running_sum("squared comparator", HingeLoss()(y, u.scores) ** 2)
        radius = self._running_max("radius", np.sqrt(u.squares))
        return passive_aggressive_bound(suffered, u.norm, radius, variant=self.variant, C=self.C)


def _check(who: str, variant: str, C: float) -> None:
    variants = [name for name, code in RULES.items() if code != GRADIENT]
    if variant not in variants:
        raise ValueError(
            f"The 'variant' parameter of {who} must be a str among {variants}. Got "
            f"{variant!r} instead."
        )
    if not 0 < C < np.inf:
        raise ValueError(
            f"The 'C' parameter of {who} must be a float in the range (0.0, inf). Got {C} instead."
        )
