"""Multipliers of a point that comes from anywhere."""

from typing import Any

import numpy as np

from corollary.optimize.program._cones import Origin, SecondOrder, Semidefinite
from corollary.optimize.program.program import Program


def kkt_multipliers(program: Program, x: Any) -> dict[str, np.ndarray]:
    r"""Return the multipliers that come closest to the KKT conditions at a point.

    Parameters
    ----------
    program : Program
        A program with equations, inequalities and smooth functions as constraints.
    x : array-like of shape (n,)
        The point, from whatever source.

    Returns
    -------
    dual : dict of str to ndarray
        Multipliers by the names of the constraints, not negative for inequalities, that minimise
        :math:`\|\nabla_xL(x,z)\|^2+\sum_i(z_is_i)^2`, where :math:`s_i` is the slack of an
        inequality.

    Raises
    ------
    ValueError
        If a constraint is a norm or a matrix inequality.

    See Also
    --------
    certify_program : Turns point and multipliers into a bound.
    kkt_residuals : What is left of the conditions.

    Notes
    -----
    Nothing is taken from the solver that found the point, so that the certificate which rests on
    them is a check of the solver, too.

    Examples
    --------
    >>> from corollary.optimize import Program, Quadratic, kkt_multipliers, linear_inequality
    >>> program = Program(Quadratic([[2.0]]), [linear_inequality([-1.0], -1.0, name="floor")])
    >>> kkt_multipliers(program, [1.0])["floor"].round(9)  # 2 x - z = 0
    array([2.])
    """
    from scipy.optimize import lsq_linear

    x = program._point(x)
    constraints = program.constraints
    if any(isinstance(c.cone, SecondOrder | Semidefinite) for c in constraints):
        raise ValueError(
            "kkt_multipliers needs equations, inequalities and functions. Programs with norms and "
            "matrices are the business of solve, which returns their multipliers."
        )
    if not constraints:
        return {}
    free = np.concatenate([np.full(c.cone.size, isinstance(c.cone, Origin)) for c in constraints])
    slack = np.concatenate([c.slack(x) for c in constraints])
    jacobian = np.vstack([c.jacobian(x) for c in constraints])
    conditions = np.vstack([jacobian.T, np.diag(np.where(free, 0.0, slack))])
    target = np.concatenate([-program.objective.gradient(x), np.zeros(len(slack))])
    if not (np.isfinite(conditions).all() and np.isfinite(target).all()):
        return {c.name: np.zeros(c.cone.size) for c in constraints}
    # Units in which no column is longer than the others, so that far constraints stay at 0.
    sizes = np.maximum(np.linalg.norm(conditions, axis=0), 1e-300)
    bounds = np.where(free, -np.inf, 0.0), np.full(len(slack), np.inf)
    z = lsq_linear(conditions / sizes, target, bounds, tol=1e-14, method="bvls").x / sizes
    ends = np.cumsum([c.cone.size for c in constraints])[:-1]
    return program.unpack(np.split(np.where(free, z, np.maximum(z, 0.0)), ends))
