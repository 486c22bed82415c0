r"""Step sizes that change from step to step.

A schedule is a function of the number t of a step, counted from 0; of an array of numbers it
returns an array. Whether stochastic steps converge is decided by two sums (Robbins and Monro):
:math:`\sum_t\eta_t=\infty`, so that every distance can be covered, and
:math:`\sum_t\eta_t^2<\infty`, so that the noise is averaged out.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np


class Schedule(ABC):
    """A step size for each step: ``schedule(t)`` of a number or an array of numbers from 0 on.

    Sizes and numbers of steps that a schedule is made of must be positive and finite.

    Attributes
    ----------
    averages_noise_out : bool
        Whether the steps have an infinite sum and a finite sum of squares.

    Examples
    --------
    >>> from corollary.optimize import PowerRate, Schedule
    >>> falling = PowerRate(2.0, power=1.0)
    >>> isinstance(falling, Schedule), falling([0, 1, 3]), falling.averages_noise_out
    (True, array([2. , 1. , 0.5]), True)
    """

    averages_noise_out: bool = False
    _may_vanish: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        for field in fields(self):  # type: ignore[arg-type]
            number = getattr(self, field.name)
            if isinstance(number, Schedule) or (number == 0 and field.name in self._may_vanish):
                continue
            if not 0 < number < math.inf:
                raise ValueError(
                    f"The {field.name!r} parameter of {type(self).__name__} must be positive and "
                    f"finite. Got {number!r} instead."
                )

    def __call__(self, t: Any) -> np.ndarray:
        """Return the sizes of steps by their numbers. See :class:`Schedule`."""
        return self._rates(np.asarray(t, dtype=float))

    @abstractmethod
    def _rates(self, t: np.ndarray) -> np.ndarray:
        """Return the sizes of steps."""


@dataclass(frozen=True)
class ConstantRate(Schedule):
    r"""Steps of one size ``rate``. See :class:`Schedule`.

    Examples
    --------
    >>> from corollary.optimize import ConstantRate
    >>> ConstantRate(0.1)([0, 1])
    array([0.1, 0.1])
    """

    rate: float

    def _rates(self, t: np.ndarray) -> np.ndarray:
        return np.full(t.shape, self.rate)


@dataclass(frozen=True)
class PowerRate(Schedule):
    r"""Steps :math:`\eta/(t+1)^p`, with :math:`\eta` the ``rate`` and p the ``power``.

    A power of 1/2 is for convex functions, 1 for strongly convex ones and for means.
    See :class:`Schedule`.

    Examples
    --------
    >>> from corollary.optimize import PowerRate
    >>> PowerRate(1.0)([0, 3]), PowerRate(1.0).averages_noise_out
    (array([1. , 0.5]), False)
    """

    rate: float
    power: float = 0.5

    @property
    def averages_noise_out(self) -> bool:  # type: ignore[override]
        """Whether the power is above 1/2 and at most 1."""
        return 0.5 < self.power <= 1

    def _rates(self, t: np.ndarray) -> np.ndarray:
        return self.rate / (t + 1) ** self.power


@dataclass(frozen=True)
class StepRate(Schedule):
    r"""Steps :math:`\eta\gamma^{\lfloor t/k\rfloor}`, which fall from time to time.

    The ``rate`` :math:`\eta` is multiplied by the ``factor`` :math:`\gamma` after ``every`` k
    steps. See :class:`Schedule`.

    Examples
    --------
    >>> from corollary.optimize import StepRate
    >>> StepRate(1.0, every=2)([0, 1, 2, 3, 4])
    array([1.  , 1.  , 0.5 , 0.5 , 0.25])
    """

    rate: float
    every: int
    factor: float = 0.5

    def _rates(self, t: np.ndarray) -> np.ndarray:
        return self.rate * self.factor ** (t // self.every)


@dataclass(frozen=True)
class CyclicRate(Schedule):
    """Steps that rise from ``low`` to ``high`` in ``rise`` steps, fall as fast, and so on.

    See :class:`Schedule`.

    Examples
    --------
    >>> from corollary.optimize import CyclicRate
    >>> CyclicRate(1.0, 3.0, rise=2)([0, 1, 2, 3, 4])
    array([1., 2., 3., 2., 1.])
    """

    low: float
    high: float
    rise: int

    def _rates(self, t: np.ndarray) -> np.ndarray:
        place = np.abs((t / self.rise + 1) % 2 - 1)
        return self.low + (self.high - self.low) * place


@dataclass(frozen=True)
class CosineRate(Schedule):
    r"""Steps :math:`l+\tfrac12(h-l)(1+\cos(\pi t/T))` along half a wave, then l.

    They fall from ``high`` to ``low``, which may be 0, in ``n_steps``. See :class:`Schedule`.

    Examples
    --------
    >>> from corollary.optimize import CosineRate
    >>> CosineRate(1.0, 4)([0, 2, 4, 9])
    array([1. , 0.5, 0. , 0. ])
    """

    high: float
    n_steps: int
    low: float = 0.0
    _may_vanish: ClassVar[tuple[str, ...]] = ("low",)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.low > self.high:
            raise ValueError(f"CosineRate needs 0 <= low <= high. Got {self.low!r}.")

    def _rates(self, t: np.ndarray) -> np.ndarray:
        wave = np.cos(np.pi * np.minimum(t / self.n_steps, 1.0))
        return self.low + 0.5 * (self.high - self.low) * (1 + wave)


@dataclass(frozen=True)
class WarmUpRate(Schedule):
    r"""Another ``schedule``, whose first ``n_steps`` w are multiplied by :math:`(t+1)/w`.

    Step w - 1 is the first whole one. See :class:`Schedule`.

    Examples
    --------
    >>> from corollary.optimize import ConstantRate, WarmUpRate
    >>> WarmUpRate(ConstantRate(1.0), 4)([0, 1, 3, 9])
    array([0.25, 0.5 , 1.  , 1.  ])
    """

    schedule: Schedule
    n_steps: int

    @property
    def averages_noise_out(self) -> bool:  # type: ignore[override]
        """Whether the other schedule's steps do: the first ones do not matter."""
        return self.schedule.averages_noise_out

    def _rates(self, t: np.ndarray) -> np.ndarray:
        return self.schedule(t) * np.minimum((t + 1) / self.n_steps, 1.0)


def as_schedule(rate: float | Schedule) -> Schedule:
    """Return a schedule, of one size if a number is given. See :class:`Schedule`.

    Examples
    --------
    >>> from corollary.optimize import as_schedule
    >>> as_schedule(0.1)
    ConstantRate(rate=0.1)
    """
    return rate if isinstance(rate, Schedule) else ConstantRate(float(rate))
