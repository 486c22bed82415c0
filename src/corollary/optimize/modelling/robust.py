r"""Linear inequalities that hold for every coefficient vector of a set.

.. math:: a^\top x\le b\text{ for all }a\in\{\bar a+Pu:\|u\|_2\le1\}
          \iff\bar a^\top x+\|P^\top x\|_2\le b

With :math:`|a_j-\bar a_j|\le\delta_j` in place of the ellipsoid it is
:math:`\bar a^\top x+\sum_j\delta_j|x_j|\le b`.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from corollary.optimize.problem.functions import Quadratic
from corollary.optimize.program._cones import Origin, SecondOrder, Semidefinite
from corollary.optimize.program.constraints import (
    Constraint,
    LinearConstraint,
    linear_inequality,
    norm_inequality,
)
from corollary.optimize.program.program import Program


def robust_program(
    program: Program, *, ellipsoids: Mapping[str, Any] | None = None, boxes: Any = None
) -> Program:
    r"""Return a program whose inequalities hold for all coefficients of sets.

    Rows in ellipsoids become norms, named as :meth:`Constraint.labels` says. For rows in boxes the
    variables are (x, t), with :math:`|x|\le t` as "modulus"; x are the first n of them.

    A. Ben-Tal and A. Nemirovski, Robust convex optimization, Mathematics of Operations Research,
    1998. :func:`worst_coefficients` are those that an inequality has to fear at a point. A name of
    no linear inequality, or a shape that does not fit, raises a ValueError.

    Parameters
    ----------
    program : Program
        With a linear or quadratic objective in n variables and constraints in cones.
    ellipsoids : mapping of str to array-like of shape (m, n, k) or (n, k), default=None
        For linear inequalities by name, the matrices :math:`P_i` of the ellipsoids
        :math:`\bar a_i+P_iu` of their rows; one matrix serves all rows.
    boxes : mapping of str to array-like of shape (m, n) or (n,), default=None
        For linear inequalities by name, how far the coefficients of their rows may be off.

    Examples
    --------
    >>> from corollary.optimize import Program, linear_inequality, robust_program, solve
    >>> nominal = Program([-1.0], [linear_inequality([1.0], 6.0, name="budget")])  # x <= 6
    >>> robust = robust_program(nominal, ellipsoids={"budget": [[0.5]]})  # a in [0.5, 1.5]
    >>> round(float(solve(nominal).x[0]), 4), round(float(solve(robust).x[0]), 4)
    (6.0, 4.0)
    """
    ellipsoids, boxes = dict(ellipsoids or {}), dict(boxes or {})
    n, objective = program.n_variables, program.objective
    _check_names(program, ellipsoids, boxes)
    assert isinstance(objective, Quadratic)
    extra = n if boxes else 0
    constraints: list[Constraint] = []
    for c in program.constraints:
        assert isinstance(c, LinearConstraint)
        if c.name in ellipsoids:
            constraints += _ellipsoid_rows(c, _shaped(c, ellipsoids[c.name], 3), extra)
        else:
            widths = _shaped(c, boxes[c.name], 2) if c.name in boxes else np.zeros(c.G.shape)
            G = np.hstack([c.G, widths[:, :extra]])
            constraints.append(LinearConstraint(G, c.h, c.cone, c.name))
    if boxes:
        eye = np.eye(n)
        modulus = np.block([[eye, -eye], [-eye, -eye]])
        constraints.append(linear_inequality(modulus, np.zeros(2 * n), name="modulus"))
    P, q = np.pad(objective.P, (0, extra)), np.pad(objective.q, (0, extra))
    return Program(Quadratic(P, q, objective.r), constraints)


def worst_coefficients(a: Any, x: Any, *, ellipsoid: Any = None, box: Any = None) -> np.ndarray:
    r"""Return the coefficients of a set that make :math:`a^\top x` largest.

    They are :math:`\bar a+PP^\top x/\|P^\top x\|`, or :math:`\bar a+\delta\,\mathrm{sign}(x)`.

    Parameters
    ----------
    a, x : array-like of shape (n,)
        Centre :math:`\bar a` of the set, and a point.
    ellipsoid : array-like of shape (n, k) or None, default=None
        Matrix P of the ellipsoid :math:`\bar a+Pu`.
    box : array-like of shape (n,) or None, default=None
        Half-widths :math:`\delta` of a box, in place of an ellipsoid.

    Examples
    --------
    >>> from corollary.optimize import worst_coefficients
    >>> worst_coefficients([1.0, 1.0], [3.0, -4.0], ellipsoid=[[1.0, 0.0], [0.0, 1.0]])
    array([1.6, 0.2])
    """
    if (ellipsoid is None) == (box is None):
        raise ValueError("worst_coefficients needs an ellipsoid or a box, and not both.")
    a, x = np.asarray(a, dtype=float), np.asarray(x, dtype=float)
    if box is not None:
        return a + np.asarray(box, dtype=float) * np.sign(x)
    P = np.asarray(ellipsoid, dtype=float)
    along = P.T @ x
    length = float(np.linalg.norm(along))
    return a + P @ along / length if length > 0 else a.copy()


def _ellipsoid_rows(c: LinearConstraint, shapes: np.ndarray, extra: int) -> list[Constraint]:
    """Return the norm of each row, with zeros for the variables that boxes add."""
    widened = np.hstack([c.G, np.zeros((len(c.G), extra))])
    constraints = []
    for P, a, b, name in zip(shapes, widened, c.h, c.labels()):
        root = np.hstack([P.T, np.zeros((P.shape[1], extra))])
        constraints.append(norm_inequality(root, np.zeros(len(root)), -a, float(b), name=name))
    return constraints


def _shaped(c: LinearConstraint, uncertainty: Any, ndim: int) -> np.ndarray:
    """Return the uncertainty of a constraint with an entry for each of its rows."""
    array = np.array(uncertainty, dtype=float)
    m, n = c.G.shape
    array = np.broadcast_to(array, (m, *array.shape)) if array.ndim == ndim - 1 else array
    fits = array.ndim == ndim and array.shape[:2] == (m, n) and np.isfinite(array).all()
    if not fits or (ndim == 2 and (array < 0).any()):
        each = "a matrix with a row" if ndim == 3 else "a half-width of at least 0"
        raise ValueError(
            f"The uncertainty of {c.name!r} needs {each} for each of {n} variables, and that once "
            f"or for each of {m} rows. Got shape {array.shape}."
        )
    return array


def _check_names(program: Program, ellipsoids: dict[str, Any], boxes: dict[str, Any]) -> None:
    """Refuse uncertainty of what is no linear inequality."""
    if not program.is_conic:
        raise ValueError(
            "robust_program needs a linear or quadratic objective and constraints in cones."
        )
    special = Origin | SecondOrder | Semidefinite
    rows = [c.name for c in program.constraints if not isinstance(c.cone, special)]
    wrong = sorted((set(ellipsoids) | set(boxes)) - set(rows))
    twice = sorted(set(ellipsoids) & set(boxes))
    if wrong or twice:
        raise ValueError(
            f"robust_program needs one uncertainty for linear inequalities by name, which are "
            f"{rows}. Not among them: {wrong}; in both mappings: {twice}. Equations with uncertain "
            "coefficients have no solution in general."
        )
