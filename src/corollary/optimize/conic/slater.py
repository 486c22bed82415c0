r"""Points that satisfy all inequalities strictly (Slater), which make duality strong."""

from typing import NamedTuple

import numpy as np

from corollary.optimize.conic._form import require_conic
from corollary.optimize.conic.solve import solve
from corollary.optimize.program._cones import Origin
from corollary.optimize.program.constraints import Constraint, LinearConstraint, linear_inequality
from corollary.optimize.program.program import Program

#: More room than this is not looked for.
_ROOM = 1.0


class SlaterPoint(NamedTuple):
    """A point with room to all inequalities.

    Parameters
    ----------
    x : ndarray of shape (n,)
        The point.
    margin : float
        Least slack of an inequality there, room of a norm, or least eigenvalue of a matrix.

    Examples
    --------
    >>> from corollary.optimize import SlaterPoint
    >>> SlaterPoint(x=[0.0], margin=0.5).margin
    0.5
    """

    x: np.ndarray
    margin: float


def slater_point(program: Program, tol: float = 1e-7) -> SlaterPoint | None:
    r"""Look for a point that satisfies the equations, and all inequalities with room.

    Parameters
    ----------
    program : Program
        A program with linear constraints in cones; the objective does not matter.
    tol : float, default=1e-7
        Least room that counts.

    Returns
    -------
    slater : SlaterPoint or None
        The point with the largest margin, or one with a margin of at least 1; None if no point has
        a margin above the tolerance.

    Notes
    -----
    For a convex program with such a point strong duality holds: the best lower bound equals the
    least value, :math:`\max_{z\in K^*}g(z)=\min\{f(x):x\text{ feasible}\}`, and multipliers attain
    it if it is finite. Without convexity it fails: :math:`-x^2` on :math:`[-1,1]` has such points
    and the dual value :math:`-\infty`. For linear constraints feasibility is enough.

    Guarantee: the gap closes on random programs with such a point, checked by
    ``tests/optimize/test_solve.py::test_strong_duality_under_slater``.

    Examples
    --------
    >>> from corollary.optimize import Program, linear_inequality, slater_point
    >>> interval = linear_inequality([[1.0], [-1.0]], [1.0, -0.5], name="interval")
    >>> round(slater_point(Program([1.0], [interval])).margin, 6)  # at 0.75
    0.25
    >>> point = linear_inequality([[1.0], [-1.0]], [1.0, -1.0], name="point")
    >>> slater_point(Program([1.0], [point])) is None
    True
    """
    n = program.n_variables
    require_conic(Program(np.zeros(n), program.constraints), "slater_point")
    last = np.append(np.zeros(n), _ROOM)
    constraints: list[Constraint] = [linear_inequality(last, _ROOM, name="")]
    for c in program.constraints:
        assert isinstance(c, LinearConstraint)
        # The new variable is the margin: the slack less its multiple of the centre is in the cone.
        G = np.hstack([c.G, c.cone.centre()[:, None]])
        constraints.append(LinearConstraint(G, c.h, c.cone, f"{c.name} "))
    solution = solve(Program(-last, constraints))
    if solution.status != "optimal":
        return None
    x = solution.x[:n]
    inequalities = [c for c in program.constraints if not isinstance(c.cone, Origin)]
    margin = min((c.cone.margin(c.slack(x)) for c in inequalities), default=_ROOM)
    feasible = program.is_feasible(x, tol)
    return SlaterPoint(x, margin) if margin > tol and feasible else None
