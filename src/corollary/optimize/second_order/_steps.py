"""When a Newton step is good enough."""

# Sufficient decrease, as a share of what the linear model promises (Armijo's rule).
_ARMIJO = 1e-4


def is_sufficient(gain: float, promised: float, value: float) -> bool:
    """Say whether a step gains enough of what was promised, up to rounding of the objective."""
    return gain >= _ARMIJO * promised - 1e-13 * max(1.0, abs(value))
