r"""Gradient descent, with a constant step or one that is searched."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from corollary.optimize.iteration.stopping import Info
from corollary.optimize.problem.functions import Smooth


class DescentState(NamedTuple):
    """Where gradient descent is: the point, with value and gradient there."""

    x: np.ndarray
    value: float
    gradient: np.ndarray


@dataclass(frozen=True)
class GradientDescent:
    r"""Steps :math:`x_{t+1}=x_t-\eta\nabla f(x_t)` of one length.

    Parameters
    ----------
    function : Smooth
        What is minimised.
    rate : float or None, default=None
        Step size :math:`\eta`; None for 1/L, with the function's own smoothness.

    See Also
    --------
    iterate : Runs it.
    first_order_bound : What it guarantees.

    Notes
    -----
    With :math:`\eta\le1/L` the value never rises, and falls by at least
    :math:`\tfrac\eta2\|\nabla f(x_t)\|^2` in a step. It ends at a stationary point, which is a
    minimum if the function is convex.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.optimize import GradientDescent, Quadratic, iterate
    >>> run = iterate(GradientDescent(Quadratic(np.diag([1.0, 4.0]))), [1.0, 1.0], max_iter=2)
    >>> run.state.x  # (1 - 1/4)^2 and 0
    array([0.5625, 0.    ])
    """

    function: Smooth
    rate: float | None = None

    def __post_init__(self) -> None:
        rate = 1 / self.function.smoothness if self.rate is None else self.rate
        if not 0 < rate < np.inf:
            raise ValueError(
                "GradientDescent needs a positive, finite step. Pass 'rate', or a function whose "
                f"smoothness is known and positive. Got {self.rate!r} and smoothness "
                f"{self.function.smoothness!r}."
            )
        object.__setattr__(self, "rate", float(rate))

    def init(self, start: Any) -> DescentState:
        """Return the first state.

        Parameters
        ----------
        start : array-like of shape (n,)
            First point.

        Returns
        -------
        state : DescentState
            The point, with value and gradient there.
        """
        x = np.array(start, dtype=float)
        return DescentState(x, *self.function.value_and_gradient(x))

    def step(self, state: DescentState) -> tuple[DescentState, Info]:
        """Take one step.

        Parameters
        ----------
        state : DescentState
            Where it begins.

        Returns
        -------
        state : DescentState
            Where it ends.
        info : Info
            Value at the end, length of the step, norm of the gradient at the beginning.
        """
        assert self.rate is not None
        x = state.x - self.rate * state.gradient
        following = DescentState(x, *self.function.value_and_gradient(x))
        norm = float(np.linalg.norm(state.gradient))
        return following, Info(value=following.value, step=self.rate * norm, gradient=norm)
