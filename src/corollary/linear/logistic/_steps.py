"""What Newton's methods share: when a step is good enough, and where they stopped."""

from typing import NamedTuple

import numpy as np

# Sufficient decrease, as a share of what the linear model promises (Armijo's rule).
ARMIJO = 1e-4


class NewtonResult(NamedTuple):
    """Where a Newton method stopped."""

    x: np.ndarray  # the last point
    value: float  # objective at the last point that was evaluated
    gradient_norm: float  # largest entry of the gradient, or of the violation of optimality, there
    decrement: float  # squared Newton decrement there
    n_iter: int  # steps taken
    converged: bool  # whether the tolerances were met
    hessian: np.ndarray | None = None  # the last Hessian


def is_sufficient(gain: float, promised: float, value: float) -> bool:
    """Say whether a step gains enough of what was promised, up to rounding of the objective."""
    return gain >= ARMIJO * promised - 1e-13 * max(1.0, abs(value))
