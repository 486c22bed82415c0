r"""Roots of functions that are only seen with noise (Robbins and Monro).

The iteration :math:`x_{t+1}=\Pi(x_t-\eta_t(Y_t-c))` with :math:`E[Y_t\mid x_t]=M(x_t)` finds the
point where an increasing M takes the value c, if :math:`\sum\eta_t=\infty` and
:math:`\sum\eta_t^2<\infty`. With M a gradient and c = 0 it is stochastic gradient descent; with
:math:`Y_t=x_t-Z_t` and :math:`\eta_t=1/(t+1)` it is the running mean of the Z.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from corollary.core.estimator import CountFromZero, RandomSeed, checked
from corollary.optimize.iteration.driver import Iteration, iterate
from corollary.optimize.iteration.stopping import Info
from corollary.optimize.problem.sets import ConvexSet
from corollary.optimize.rates.schedules import PowerRate, Schedule


class RobbinsMonroState(NamedTuple):
    """The point, the average of all points, and the number of steps."""

    x: np.ndarray
    average: np.ndarray
    n_steps: int


@dataclass(frozen=True)
class RobbinsMonro(Iteration[RobbinsMonroState]):
    """Steps towards the root of a noisy increasing function, each drawn from a ``seed``.

    See :class:`Iteration`, and :func:`robbins_monro` for the parameters.

    Examples
    --------
    >>> from corollary.optimize import RobbinsMonro, iterate
    >>> coin = RobbinsMonro(lambda x, random: x - random.integers(2))
    >>> share = iterate(coin, [0.3], max_iter=1000).state.x  # a running mean of coins
    >>> abs(share[0] - 0.5) < 0.05
    np.True_
    """

    response: Callable[[np.ndarray, np.random.Generator], Any]
    rate: Schedule | None = None
    target: float = 0.0
    within: ConvexSet | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        rate = PowerRate(1.0, power=1.0) if self.rate is None else self.rate
        object.__setattr__(self, "rate", rate)
        if not isinstance(rate, Schedule) or not rate.averages_noise_out:
            raise ValueError(
                "RobbinsMonro needs step sizes with an infinite sum and a finite sum of squares, "
                f"such as PowerRate(1.0, power=1.0) with a power in (1/2, 1]. Got {self.rate!r}."
            )

    def init(self, start: Any) -> RobbinsMonroState:
        """Return the first state, at a point that is projected onto the set."""
        x = np.array(start, dtype=float)
        x = x if self.within is None else self.within.project(x)
        return RobbinsMonroState(x, np.zeros_like(x), 0)

    def step(self, state: RobbinsMonroState) -> tuple[RobbinsMonroState, Info]:
        """Take one step; the average is that of all points where steps ended."""
        assert self.rate is not None
        t = state.n_steps
        noisy = self.response(state.x, np.random.default_rng([self.seed, t]))
        x = state.x - self.rate(t) * (np.asarray(noisy, dtype=float) - self.target)
        if x.shape != state.x.shape:
            raise ValueError(
                f"The response of RobbinsMonro must have the shape {state.x.shape} of the point. "
                f"Got shape {np.shape(noisy)}."
            )
        x = x if self.within is None else self.within.project(x)
        average = state.average + (x - state.average) / (t + 1)
        return RobbinsMonroState(x, average, t + 1), Info(step=float(np.linalg.norm(x - state.x)))


@checked
def robbins_monro(
    response: Callable[..., Any],
    start: Any,
    *,
    n_steps: CountFromZero = 1000,
    rate: Schedule | None = None,
    target: float = 0.0,
    within: ConvexSet | None = None,
    averaged: bool = False,
    random_state: RandomSeed = None,
) -> np.ndarray:
    """Find where an increasing function takes a value, from noisy values of it.

    H. Robbins and S. Monro, A stochastic approximation method, Annals of Mathematical Statistics,
    1951. Nothing is proved about the estimate of the root.

    Parameters
    ----------
    response : callable
        ``response(x, random)`` returns a noisy value :math:`Y_t` of the shape of ``x``, drawn with
        the NumPy generator ``random``.
    start : float or array-like
        First point.
    n_steps : int, default=1000
        Number of steps.
    rate : Schedule or None, default=None
        Step sizes with an infinite sum and a finite sum of squares; None for 1/(t + 1).
    target : float, default=0.0
        The value c.
    within : ConvexSet or None, default=None
        A set that steps are projected onto; None for none.
    averaged : bool, default=False
        Whether the average of all points is returned (Polyak and Ruppert), which suits powers
        below 1, or the last point.
    random_state : int, RandomState instance or None, default=None
        Source of the noise.

    Examples
    --------
    The dose at which half of the subjects respond, from single answers:

    >>> import numpy as np
    >>> from corollary.optimize import PowerRate, robbins_monro
    >>> answer = lambda dose, random: random.random() < 1 / (1 + np.exp(2.0 - dose))
    >>> dose = robbins_monro(answer, 0.0, n_steps=4000, rate=PowerRate(4.0, 1.0), target=0.5,
    ...                      random_state=0)
    >>> abs(dose - 2.0) < 0.2
    np.True_
    """
    seed = int(check_random_state(random_state).randint(2**31 - 1))
    run = iterate(RobbinsMonro(response, rate, target, within, seed), start, max_iter=n_steps)
    return run.state.average if averaged else run.state.x
