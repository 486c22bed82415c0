"""Problems of CVXPY as programs over cones."""

from typing import Any

import numpy as np

from corollary.optimize.modelling.discipline import check_discipline
from corollary.optimize.problem.functions import Quadratic
from corollary.optimize.program._cones import Origin, Orthant, SecondOrder, Semidefinite
from corollary.optimize.program.constraints import Constraint, LinearConstraint
from corollary.optimize.program.program import Program


def conic_program(problem: Any) -> Program:
    r"""Return a problem of CVXPY as a program over cones, for :func:`solve` and its proofs.

    Parameters
    ----------
    problem : cvxpy.Problem
        A problem that follows the rules and whose atoms need linear, second-order and semidefinite
        constraints only.

    Returns
    -------
    program : Program
        Minimises the objective, or minus the objective where that is maximised, over the variables
        and those that the reduction adds. Its constraints are "equations", "inequalities",
        "norm 0", ..., "matrix 0", ....

    Raises
    ------
    ValueError
        If the problem breaks a rule, or needs exponentials or powers.

    Examples
    --------
    >>> import cvxpy
    >>> from corollary.optimize import conic_program, solve
    >>> x = cvxpy.Variable(2)
    >>> problem = cvxpy.Problem(cvxpy.Minimize(cvxpy.norm(x) + 1), [cvxpy.sum(x) == 2])
    >>> print(solve(conic_program(problem)).certificate)
    The value 2.41421 is at most ... above the least one: a dual point proves it...
    """
    discipline = check_discipline(problem)
    if not discipline.followed:
        raise ValueError(f"conic_program needs a problem that follows the rules. {discipline}")
    data = problem.get_problem_data("CLARABEL")[0]
    dims = data["dims"]
    if dims.exp or dims.p3d:
        raise ValueError(
            "conic_program needs atoms made of linear, second-order and semidefinite constraints. "
            "This problem has exponentials, logarithms or powers."
        )
    curved, n = "P" in data, len(data["c"])
    constant = float(data["param_prob"].apply_parameters(quad_obj=curved)[-3])
    P = np.triu(data["P"].toarray()) if curved else np.zeros((n, n))
    objective = Quadratic(P + np.triu(P, 1).T, data["c"], constant)
    named: list[tuple[str, Orthant]] = []
    if dims.zero:
        named.append(("equations", Origin(dims.zero)))
    if dims.nonneg:
        named.append(("inequalities", Orthant(dims.nonneg)))
    named += [(f"norm {i}", SecondOrder(size)) for i, size in enumerate(dims.soc)]
    named += [(f"matrix {i}", Semidefinite(k * (k + 1) // 2, k)) for i, k in enumerate(dims.psd)]
    constraints: list[Constraint] = []
    A, b, first = data["A"].toarray(), data["b"], 0
    for name, cone in named:
        rows = slice(first, first + cone.size)
        constraints.append(LinearConstraint(A[rows], b[rows], cone, name))
        first += cone.size
    return Program(objective, constraints)
