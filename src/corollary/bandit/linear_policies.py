r"""Policies for contexts: each arm's mean loss is linear in the context of the round.

Arm i has coefficients :math:`\theta_i` of its own, estimated by ridge regression on the rounds in
which it was played: :math:`A_i = \lambda I + \sum x x^\top` and :math:`\hat\theta_i = A_i^{-1}
\sum l\,x`. Inverses are updated in place by rank-one steps.
"""

from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from corollary.bandit._checks import check_number
from corollary.bandit.bounds import linucb_regret_bound
from corollary.bandit.environments import LinearArms
from corollary.bandit.policy import Policy, RegretBound
from corollary.core.compat import Interval
from corollary.core.schema import Nullable, Number, Schema

_POSITIVE = Interval(Real, 0, None, closed="neither")
_NOT_NEGATIVE = Interval(Real, 0, None, closed="left")
# The inverse of the penalty and its logarithm must stay within double precision.
_PENALTY = Interval(Real, 1e-100, 1e100, closed="both")


class _LinearPolicy(Policy):
    """A policy whose memory is a ridge regression for each arm."""

    regularisation: float
    _contextual: ClassVar[bool] = True
    _places: ClassVar[int] = 2

    def _start_memory(self, n_arms: int, n_features: int) -> list[np.ndarray]:
        # For each arm the inverse matrix, the coefficients and the log determinant.
        inverse = np.eye(n_features) / self.regularisation
        return [np.tile(np.concatenate([inverse.ravel(), np.zeros(n_features + 1)]), n_arms)]


@dataclass(frozen=True)
class LinUCB(_LinearPolicy):
    r"""Play the arm whose lower confidence bound at the context is smallest.

    The arm of context :math:`x` is
    :math:`\arg\min_i x^\top\hat\theta_i - \beta_i \sqrt{x^\top A_i^{-1} x}` with

    .. math:: \beta_i = \sqrt\lambda S
              + \sigma \sqrt{2 \ln(n/\delta) + \ln\det(A_i / \lambda)},

    for which :math:`x^\top\theta_i` lies within the width for all arms and rounds at once with
    probability at least :math:`1 - \delta`.

    Parameters
    ----------
    alpha : float or None, default=None
        A constant radius instead of the theorem's; smaller ones often do better and guarantee
        nothing.
    regularisation : float, default=1.0
        The penalty :math:`\lambda`.
    noise : float, default=0.5
        Sub-Gaussian scale :math:`\sigma` of the losses around their mean; 0.5 for losses in
        [0, 1].
    norm : float, default=1.0
        Largest length :math:`S` of an arm's coefficients.
    delta : float, default=0.05
        Probability of failure :math:`\delta`.

    See Also
    --------
    linucb_regret_bound : The bound before the game.
    LinearThompson : Sampling instead of bounds.

    Notes
    -----
    Guarantee: on the event above each round's regret is at most twice the width of the arm
    played; :func:`play` records the sum as ``pathwise_bound``. Checked by
    ``tests/bandit/test_linear.py``.

    References
    ----------
    Li, L., Chu, W., Langford, J. and Schapire, R. (2010). A contextual-bandit approach to
    personalized news article recommendation. World Wide Web conference.
    Abbasi-Yadkori, Y., Pal, D. and Szepesvari, C. (2011). Improved algorithms for linear
    stochastic bandits. Advances in Neural Information Processing Systems 24, theorem 2.

    Examples
    --------
    >>> from corollary.bandit import LinearArms, LinUCB, play
    >>> arms = LinearArms([[0.5, 0.0], [0.0, 0.5]], noise=0.1)
    >>> result = play(LinUCB(noise=0.1), arms, rounds=500, repetitions=5, random_state=0)
    >>> bool((result.pathwise_regret <= result.pathwise_bound).all())
    True
    """

    alpha: float | None = None
    regularisation: float = 1.0
    noise: float = 0.5
    norm: float = 1.0
    delta: float = 0.05

    _schema = Schema(
        alpha=Nullable(Number(0)),
        regularisation=Number(0),
        noise=Number(0),
        norm=Number(0),
        delta=Number(0, 1),
    )
    _sure: ClassVar[bool] = True
    _place: ClassVar[int] = 0

    def __post_init__(self) -> None:
        if self.alpha is not None:
            check_number("LinUCB", "alpha", self.alpha, _NOT_NEGATIVE)
        check_number("LinUCB", "regularisation", self.regularisation, _PENALTY)
        check_number("LinUCB", "noise", self.noise, _NOT_NEGATIVE)
        check_number("LinUCB", "norm", self.norm, _NOT_NEGATIVE)
        check_number("LinUCB", "delta", self.delta, Interval(Real, 0, 1, closed="neither"))

    def _rule(self, n_arms: int, *fields: np.ndarray) -> Any:
        from corollary.bandit._loops.records import LinearConfidence

        return LinearConfidence(
            -1.0 if self.alpha is None else float(self.alpha),
            float(self.regularisation),
            float(self.noise),
            float(self.norm),
            float(self.delta),
            fields[0].reshape(len(fields[0]), n_arms, -1),
        )

    def _has_inequality(self) -> bool:
        return self.alpha is None

    def regret_bound(self, arms: Any, rounds: np.ndarray) -> RegretBound | None:
        """Return the bound before the game; see :class:`Policy`."""
        if not isinstance(arms, LinearArms) or self.alpha is not None or self.regularisation < 1:
            return None
        longest = float(np.linalg.norm(arms.coef, axis=1).max())
        if longest > self.norm or arms.noise > self.noise:
            return None  # the environment breaks what the policy assumes
        values = linucb_regret_bound(
            rounds,
            arms.n_arms,
            arms.n_features,
            regularisation=self.regularisation,
            noise=self.noise,
            norm=self.norm,
            delta=self.delta,
        )
        return RegretBound(values, f"regret in all rounds with probability {1 - self.delta:g}")


@dataclass(frozen=True)
class LinearThompson(_LinearPolicy):
    r"""Draw every arm's coefficients from their posterior and play the best arm of the draw.

    The posterior of :math:`\theta_i` is Gaussian, :math:`N(\hat\theta_i, \sigma^2 A_i^{-1})`; its
    prior variance is :math:`\sigma^2 / \lambda`. Since arms are independent and one context is
    scored, the score of each arm is drawn directly, which has the same law at lower cost.

    Parameters
    ----------
    noise : float, default=0.5
        Standard deviation :math:`\sigma` of a loss around its mean.
    regularisation : float, default=1.0
        The penalty :math:`\lambda`.

    See Also
    --------
    LinUCB : Bounds instead of sampling.

    Examples
    --------
    >>> from corollary.bandit import LinearArms, LinearThompson, play
    >>> arms = LinearArms([[0.5, 0.0], [0.0, 0.5]], noise=0.1)
    >>> result = play(LinearThompson(noise=0.1), arms, rounds=500, repetitions=5, random_state=0)
    >>> bool(result.mean_regret[-1] < 10)
    True
    """

    noise: float = 0.5
    regularisation: float = 1.0

    _schema = Schema(noise=Number(0), regularisation=Number(0))
    _place: ClassVar[int] = 1

    def __post_init__(self) -> None:
        check_number("LinearThompson", "noise", self.noise, _NOT_NEGATIVE)
        check_number("LinearThompson", "regularisation", self.regularisation, _PENALTY)

    def _rule(self, n_arms: int, *fields: np.ndarray) -> Any:
        from corollary.bandit._loops.records import LinearBelief

        return LinearBelief(float(self.noise), fields[0].reshape(len(fields[0]), n_arms, -1))
