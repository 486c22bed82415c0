"""Policies without contexts: EXP3, UCB1, epsilon-greedy and Thompson sampling."""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from corollary.bandit._checks import check_number
from corollary.bandit.bounds import (
    exp3_anytime_bound,
    exp3_learning_rate,
    exp3_regret_bound,
    ucb_regret_bound,
)
from corollary.bandit.environments import Arms, BernoulliArms
from corollary.bandit.policy import Policy, RegretBound, _losses_in_unit_interval
from corollary.core.compat import Interval, InvalidParameterError
from corollary.core.schema import Integer, List, Nullable, Number, Schema, Text

# Memory of an arm that was never played: finite, so that a saved memory of infinities can be told
# for a forgery, and beyond every loss.
NEVER = 1e150

_POSITIVE = Interval(Real, 0, None, closed="neither")
_COUNT = Interval(Integral, 1, None, closed="left")


@dataclass(frozen=True)
class EXP3(Policy):
    r"""Exponential weights on importance-weighted losses.

    Draws the arm from :math:`v_t`, divides its loss by its probability (the others count as
    zero) and updates :math:`v_{t+1,i} \propto v_{t,i} e^{-\eta l^h_{t,i}}`: Hedge on hallucinated
    losses. Nothing is assumed of the losses but that they lie in [0, 1] and do not react to the
    draws.

    Parameters
    ----------
    horizon : int or None, default=None
        Rounds :math:`m` that will be played; the rate is then
        :math:`\eta = \sqrt{2 \ln n / (m n)}`. None for a rate that falls with time and needs no
        horizon.
    learning_rate : float or None, default=None
        A constant rate :math:`\eta` instead.

    See Also
    --------
    exp3_regret_bound : What it guarantees on average.
    exp3_pathwise_bound : What it guarantees in every run.

    Notes
    -----
    Weights are kept as logarithms, and their sums along a binary tree, so that a round costs the
    logarithm of the number of arms. Without a horizon the rate of round t is
    :math:`\sqrt{\ln n / (n \tau_t)}` with :math:`t \le \tau_t \le 17 t / 16`: it changes in steps,
    because each change costs a pass over the arms.

    References
    ----------
    Auer, P., Cesa-Bianchi, N., Freund, Y. and Schapire, R. (2002). The nonstochastic multiarmed
    bandit problem. SIAM Journal on Computing 32.

    Examples
    --------
    >>> from corollary.bandit import EXP3, AlternatingArms, play
    >>> result = play(EXP3(), AlternatingArms(3), rounds=1000, repetitions=20, random_state=0)
    >>> bool((result.pathwise_regret <= result.pathwise_bound).all())
    True
    """

    horizon: int | None = None
    learning_rate: float | None = None

    _schema = Schema(horizon=Nullable(Integer(1)), learning_rate=Nullable(Number(0)))
    _bounded: ClassVar[bool] = True
    _weighs: ClassVar[bool] = True
    _place: ClassVar[int] = 0

    def __post_init__(self) -> None:
        if self.horizon is not None:
            check_number("EXP3", "horizon", self.horizon, _COUNT)
        if self.learning_rate is not None:
            check_number("EXP3", "learning_rate", self.learning_rate, _POSITIVE)
            if self.horizon is not None:
                raise InvalidParameterError(
                    "EXP3 takes a horizon or a learning_rate, not both. Leave one of them out."
                )

    def _rate(self, n_arms: int) -> float:
        if self.learning_rate is not None:
            return float(self.learning_rate)
        return 0.0 if self.horizon is None else exp3_learning_rate(n_arms, self.horizon)

    def _start_memory(self, n_arms: int, n_features: int) -> list[np.ndarray]:
        leaves = 2 ** int(n_arms - 1).bit_length()
        return [np.zeros(8), np.zeros(n_arms), np.zeros(2 * leaves)]

    def _rule(self, n_arms: int, *fields: np.ndarray) -> Any:
        from corollary.bandit._loops.records import EXP3_SCALARS, Exp3

        scalars, losses, tree = fields
        return Exp3(self._rate(n_arms), scalars.view(EXP3_SCALARS)[:, 0], losses, tree)

    def _has_inequality(self) -> bool:
        return True

    def regret_bound(self, arms: Any, rounds: np.ndarray) -> RegretBound | None:
        """Return the bound on the expected regret; see :class:`Policy`."""
        if not isinstance(arms, Arms) or not _losses_in_unit_interval(arms):
            return None
        rate = self._rate(arms.n_arms)
        if rate:
            values = exp3_regret_bound(rounds, arms.n_arms, learning_rate=rate)
        else:
            values = exp3_anytime_bound(rounds, arms.n_arms)
        return RegretBound(
            values, "expected regret against any losses in [0, 1] fixed before the game"
        )


@dataclass(frozen=True)
class UCB1(Policy):
    r"""Play the arm whose lower confidence bound of the mean loss is smallest.

    After each arm was played once, the arm of round :math:`t` is
    :math:`\arg\min_i \hat\mu_i - \sqrt{c \ln t / s_i}` with :math:`s_i` plays of arm i so far.

    Parameters
    ----------
    exploration : float, default=2.0
        The constant :math:`c`; the theorem has 2.

    See Also
    --------
    ucb_regret_bound : What it guarantees.

    Examples
    --------
    >>> from corollary.bandit import UCB1, BernoulliArms, play
    >>> arms = BernoulliArms([0.2, 0.8])
    >>> result = play(UCB1(), arms, rounds=2000, repetitions=10, random_state=0)
    >>> bool(result.mean_regret[-1] < result.bound.values[-1])
    True
    """

    exploration: float = 2.0

    _schema = Schema(exploration=Number(0))
    _sure: ClassVar[bool] = True
    _place: ClassVar[int] = 1

    def __post_init__(self) -> None:
        check_number("UCB1", "exploration", self.exploration, _POSITIVE)

    def _start_memory(self, n_arms: int, n_features: int) -> list[np.ndarray]:
        return [np.zeros(n_arms), np.full(n_arms, NEVER)]

    def _rule(self, n_arms: int, *fields: np.ndarray) -> Any:
        from corollary.bandit._loops.records import Confidence

        return Confidence(float(self.exploration), *fields)

    def regret_bound(self, arms: Any, rounds: np.ndarray) -> RegretBound | None:
        """Return the bound on the expected pseudo-regret; see :class:`Policy`."""
        iid = isinstance(arms, BernoulliArms) and arms.random_state is None
        if not iid or self.exploration != 2.0:
            return None
        return RegretBound(
            ucb_regret_bound(rounds, arms.mean),
            "expected pseudo-regret for independent losses in [0, 1] of these means",
        )


@dataclass(frozen=True)
class EpsilonGreedy(Policy):
    r"""Play the arm of smallest mean loss, but with probability epsilon any arm.

    Parameters
    ----------
    epsilon : float, default=0.1
        Probability of exploring, or its factor.
    schedule : {"constant", "inverse"}, default="constant"
        "inverse" explores in round :math:`t` with probability
        :math:`\min(1, \epsilon n / t)`; then `epsilon` is the constant :math:`c / d^2` of Auer et
        al., where :math:`d` is at most the smallest gap and :math:`c > 5`.

    Notes
    -----
    With a constant epsilon regret grows linearly, at least by epsilon times the mean gap in each
    round. Arms that were never played come first.

    References
    ----------
    Auer, P., Cesa-Bianchi, N. and Fischer, P. (2002). Finite-time analysis of the multiarmed
    bandit problem. Machine Learning 47, theorem 3.

    Examples
    --------
    >>> from corollary.bandit import BernoulliArms, EpsilonGreedy, play
    >>> arms = BernoulliArms([0.2, 0.8])
    >>> result = play(EpsilonGreedy(0.1), arms, rounds=2000, repetitions=10, random_state=0)
    >>> bool(result.pulls[:, 0].min() > 1500)
    True
    """

    epsilon: float = 0.1
    schedule: str = "constant"

    _schema = Schema(epsilon=Number(0), schedule=Text(("constant", "inverse")))
    _place: ClassVar[int] = 2

    def __post_init__(self) -> None:
        if self.schedule not in ("constant", "inverse"):
            raise InvalidParameterError(
                "The 'schedule' parameter of EpsilonGreedy must be 'constant' or 'inverse'. "
                f"Got {self.schedule!r} instead."
            )
        high = 1 if self.schedule == "constant" else None
        closed = "both" if high else "left"
        check_number(
            "EpsilonGreedy", "epsilon", self.epsilon, Interval(Real, 0, high, closed=closed)
        )

    def _start_memory(self, n_arms: int, n_features: int) -> list[np.ndarray]:
        return [np.full(n_arms, -NEVER)]

    def _rule(self, n_arms: int, *fields: np.ndarray) -> Any:
        from corollary.bandit._loops.records import Greedy

        return Greedy(float(self.epsilon), self.schedule == "inverse", *fields)


@dataclass(frozen=True)
class BernoulliThompson(Policy):
    """Thompson sampling for losses in [0, 1]: play an arm as often as it is believed to be best.

    Each arm's mean has a beta posterior; a mean is drawn from each and the arm of the smallest
    is played. A loss strictly between 0 and 1 is turned into a coin of that chance.

    Parameters
    ----------
    prior : tuple of two floats, default=(1.0, 1.0)
        Parameters of the beta prior of a mean loss; one each is the uniform law.

    See Also
    --------
    thompson_bayes_regret_bound : What it guarantees on average over the prior.

    References
    ----------
    Agrawal, S. and Goyal, N. (2012). Analysis of Thompson sampling for the multi-armed bandit
    problem. Conference on Learning Theory.

    Examples
    --------
    >>> from corollary.bandit import BernoulliArms, BernoulliThompson, play
    >>> arms = BernoulliArms([0.2, 0.8])
    >>> result = play(BernoulliThompson(), arms, rounds=2000, repetitions=10, random_state=0)
    >>> bool(result.mean_regret[-1] < 20)
    True
    """

    prior: tuple[float, float] = (1.0, 1.0)

    _schema = Schema(prior=List(Number(0)))
    _bounded: ClassVar[bool] = True
    _place: ClassVar[int] = 3

    def __post_init__(self) -> None:
        values = tuple(self.prior) if isinstance(self.prior, tuple | list) else ()
        if len(values) != 2:
            raise InvalidParameterError(
                "The 'prior' parameter of BernoulliThompson must be two positive numbers. Got "
                f"{self.prior!r} instead."
            )
        for value in values:
            check_number(
                "BernoulliThompson", "prior", value, Interval(Real, 1e-6, 1e15, closed="both")
            )
        object.__setattr__(self, "prior", values)

    def _start_memory(self, n_arms: int, n_features: int) -> list[np.ndarray]:
        from corollary.bandit._loops.thompson import remember_prior

        fields = [np.full(n_arms, prior, dtype=float) for prior in self.prior]
        fields += [np.zeros(n_arms) for _ in range(3)] + [np.zeros(1)]
        remember_prior(self._rule(n_arms, *(field[None] for field in fields)))
        return fields

    def _rule(self, n_arms: int, *fields: np.ndarray) -> Any:
        from corollary.bandit._loops.records import BetaBelief

        return BetaBelief(*fields)

    def _problem(self, work: np.ndarray) -> str | None:
        # The sampler of the gamma law would not end for a parameter that is not positive.
        n = len(work) // 5
        shapes, spreads = work[: 2 * n], work[2 * n : 4 * n]
        possible = shapes.min() >= 1e-6 and shapes.max() <= 1e18 and spreads.min() > 0
        return None if possible else "its beliefs are impossible"


@dataclass(frozen=True)
class GaussianThompson(Policy):
    """Thompson sampling for losses with Gaussian noise.

    Parameters
    ----------
    prior_mean : float, default=0.5
        Prior mean of an arm's mean loss.
    prior_scale : float, default=0.5
        Its prior standard deviation.
    noise : float, default=0.5
        Standard deviation of a loss around its mean; 0.5 serves losses in [0, 1].

    Examples
    --------
    >>> from corollary.bandit import GaussianArms, GaussianThompson, play
    >>> arms = GaussianArms([0.0, 1.0], scale=0.5)
    >>> result = play(GaussianThompson(), arms, rounds=2000, repetitions=10, random_state=0)
    >>> bool(result.mean_regret[-1] < 20)
    True
    """

    prior_mean: float = 0.5
    prior_scale: float = 0.5
    noise: float = 0.5

    _schema = Schema(prior_mean=Number(), prior_scale=Number(0), noise=Number(0))
    _place: ClassVar[int] = 4

    def __post_init__(self) -> None:
        name = "GaussianThompson"
        check_number(
            name, "prior_mean", self.prior_mean, Interval(Real, None, None, closed="neither")
        )
        check_number(
            name, "prior_scale", self.prior_scale, Interval(Real, 1e-100, 1e100, closed="both")
        )
        check_number(name, "noise", self.noise, Interval(Real, 1e-100, 1e100, closed="both"))

    def _start_memory(self, n_arms: int, n_features: int) -> list[np.ndarray]:
        return [
            np.full(n_arms, value, dtype=float) for value in (self.prior_mean, self.prior_scale)
        ]

    def _rule(self, n_arms: int, *fields: np.ndarray) -> Any:
        from corollary.bandit._loops.records import NormalBelief

        prior, data = (1.0 / float(scale) ** 2 for scale in (self.prior_scale, self.noise))
        return NormalBelief(float(self.prior_mean), prior, data, *fields)
