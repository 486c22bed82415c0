"""What the solvers of this package take."""

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
