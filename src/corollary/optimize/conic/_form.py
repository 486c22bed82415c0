"""What the solvers of this package take."""

from corollary.optimize.optimality import Optimality
from corollary.optimize.program.program import Program


def require_conic(program: Program, who: str) -> None:
    """Refuse what is not a convex program over cones."""
    if not program.is_conic:
        raise ValueError(
            f"{who} needs a linear or quadratic objective and constraints that are linear in "
            "cones. Write convex quadratic constraints as quadratic_inequality; smooth functions "
            "are the business of barrier."
        )
    if not program.convex:
        raise ValueError(
            f"{who} needs a convex objective. Its matrix P has a negative eigenvalue, and points "
            "that look optimal nearby may be far from the best."
        )


def is_proved(certificate: Optimality, tol: float) -> bool:
    """Tell whether a certificate proves a point optimal.

    A value well below its lower bound is that of a point whose small violation matters.
    """
    below = certificate.lower_bound - certificate.value > tol * max(1.0, abs(certificate.value))
    return certificate.is_optimal(tol) and not below
