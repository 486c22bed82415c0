r"""Disciplined convex programming: convexity that follows from the way an expression is written.

An expression is a tree of atoms of known curvature. :math:`f(g_1,\dots,g_k)` is convex by the rules
if f is convex and each :math:`g_i` is affine, or convex where f rises with it, or concave where f
falls with it; the same, turned round, for concave ones. The rules never call convex what is not,
and miss some of what is. Trees and atoms are those of CVXPY, an optional extra.
"""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from corollary.core.display import Tabular
from corollary.optimize.problem.functions import Quadratic
from corollary.optimize.program._cones import Origin, Orthant, SecondOrder, Semidefinite
from corollary.optimize.program.constraints import Constraint, LinearConstraint
from corollary.optimize.program.program import Program

Rule = Literal["atom", "composition", "objective", "inequality", "equation", "cone"]


class Shape(NamedTuple):
    """What the rules say about an expression: affine ones are convex and concave."""

    convex: bool
    concave: bool

    def __str__(self) -> str:
        names = {(True, True): "affine", (True, False): "convex", (False, True): "concave"}
        return names.get((self.convex, self.concave), "neither convex nor concave")


_AFFINE = Shape(True, True)


@dataclass(frozen=True, kw_only=True)
class BrokenRule:
    """A place where an expression leaves the rules.

    Parameters
    ----------
    where : str
        The objective, or a constraint by its number, from 0 on.
    expression : str
        The expression that breaks the rule, as CVXPY writes it.
    rule : {"atom", "composition", "objective", "inequality", "equation", "cone"}
        Which one: the atom has no curvature; an argument has the wrong one for its atom; or the
        whole has the wrong one for its place.
    got, needed : str
        Curvature of the argument, or of the whole, and the one that the rule asks for.
    argument : str, default=""
        The argument of the atom, where one is wrong.

    Examples
    --------
    >>> from corollary.optimize import BrokenRule
    >>> print(BrokenRule(where="objective", expression="sqrt(square(x))", rule="composition",
    ...                  argument="square(x)", got="convex", needed="concave or affine"))
    objective: in sqrt(square(x)) the argument square(x) is convex and must be concave or affine.
    """

    where: str
    expression: str
    rule: Rule
    got: str
    needed: str
    argument: str = ""

    def __str__(self) -> str:
        if self.rule == "atom":
            return f"{self.where}: {self.expression} is {self.got}, whatever its arguments are."
        place = f"in {self.expression} the argument {self.argument}"
        what = place if self.rule == "composition" else self.expression
        return f"{self.where}: {what} is {self.got} and must be {self.needed}."


@dataclass(frozen=True, kw_only=True, repr=False)
class Discipline(Tabular):
    """Whether a problem follows the rules of disciplined convex programming, and where not.

    Parameters
    ----------
    broken : tuple of BrokenRule
        Where the rules are broken, innermost first; empty if they are not.

    Examples
    --------
    >>> from corollary.optimize import Discipline
    >>> print(Discipline(broken=()))
    The rules prove that this is convex.
    """

    broken: tuple[BrokenRule, ...]

    @property
    def followed(self) -> bool:
        """Whether no rule is broken."""
        return not self.broken

    def __str__(self) -> str:
        if self.followed:
            return "The rules prove that this is convex."
        first = "The rules do not prove that this is convex, which it may still be."
        return "\n".join([first, *map(str, self.broken)])

    def _columns(self) -> dict[str, list[Any]]:
        names = ("where", "rule", "expression", "argument", "got", "needed")
        return {name: [getattr(rule, name) for rule in self.broken] for name in names}


def check_discipline(problem: Any) -> Discipline:
    """Check a problem of CVXPY by the rules of disciplined convex programming.

    The :class:`Discipline` says which ones are broken, and where. Without CVXPY it is an
    ImportError. M. Grant, S. Boyd and Y. Ye, Disciplined convex programming, 2006.
    :func:`refute_convexity` looks for points that show a function not to be convex.

    Parameters
    ----------
    problem : cvxpy.Problem, cvxpy.Constraint or cvxpy.Expression
        What is checked; an expression follows the rules if they prove it convex or concave.

    Examples
    --------
    >>> import cvxpy
    >>> from corollary.optimize import check_discipline
    >>> x = cvxpy.Variable(name="x")
    >>> print(check_discipline(cvxpy.exp(cvxpy.log(x))))
    The rules do not prove that this is convex, which it may still be.
    expression: in exp(log(x)) the argument log(x) is concave and must be convex or affine.
    """
    cvxpy = _cvxpy()
    broken: list[BrokenRule] = []
    if isinstance(problem, cvxpy.Problem):
        whole = "convex" if isinstance(problem.objective, cvxpy.Minimize) else "concave"
        _check("objective", problem.objective.expr, "objective", whole, broken)
        for i, constraint in enumerate(problem.constraints):
            _check_constraint(f"constraint {i}", constraint, broken)
    elif isinstance(problem, cvxpy.constraints.constraint.Constraint):
        _check_constraint("constraint", problem, broken)
    elif isinstance(problem, cvxpy.Expression):
        _shape("expression", problem, broken)
    else:
        raise TypeError(
            "check_discipline needs a problem, constraint or expression of CVXPY. Got "
            f"{type(problem).__name__}."
        )
    return Discipline(broken=tuple(broken))


def conic_program(problem: Any) -> Program:
    """Return a problem of CVXPY as a program over cones, for :func:`solve` and its proofs.

    It minimises the objective, or minus the objective where that is maximised, over the variables
    and those that the reduction adds. Its constraints are "equations", "inequalities", "norm 0",
    ..., "matrix 0", ....

    Parameters
    ----------
    problem : cvxpy.Problem
        A problem that follows the rules and whose atoms need linear, second-order and semidefinite
        constraints only; others raise a ValueError.

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
    named: dict[str, Orthant] = {
        "equations": Origin(dims.zero),
        "inequalities": Orthant(dims.nonneg),
        **{f"norm {i}": SecondOrder(size) for i, size in enumerate(dims.soc)},
        **{f"matrix {i}": Semidefinite.of_order(k) for i, k in enumerate(dims.psd)},
    }
    constraints: list[Constraint] = []
    A, b, first = data["A"].toarray(), data["b"], 0
    for name, cone in named.items():
        rows = slice(first, first := first + cone.size)
        if cone.size:
            constraints.append(LinearConstraint(A[rows], b[rows], cone, name))
    return Program(objective, constraints)


def _cvxpy() -> Any:
    """Return CVXPY."""
    try:
        import cvxpy
    except ImportError as error:
        raise ImportError(
            "Disciplined programs need CVXPY, which is not installed. Install it with "
            "pip install 'corollary[program]'."
        ) from error
    return cvxpy


def _check_constraint(where: str, constraint: Any, broken: list[BrokenRule]) -> None:
    """Check the sides of a constraint: convex below concave, affine equations and cones."""
    cvxpy = _cvxpy()
    if isinstance(constraint, cvxpy.constraints.Inequality):
        left, right = constraint.args
        _check(where, left, "inequality", "convex", broken)
        _check(where, right, "inequality", "concave", broken)
        return
    equation = isinstance(constraint, cvxpy.constraints.Equality | cvxpy.constraints.Zero)
    for side in constraint.args:
        _check(where, side, "equation" if equation else "cone", "affine", broken)


def _check(where: str, expression: Any, rule: Rule, needed: str, broken: list[BrokenRule]) -> None:
    """Check that the rules prove the curvature which a place needs."""
    shape = _shape(where, expression, broken)
    fits = {"convex": shape.convex, "concave": shape.concave, "affine": shape == _AFFINE}
    if not fits[needed] and any(shape):
        text, got = str(expression), str(shape)
        needed = _or_affine(needed)
        broken.append(BrokenRule(where=where, expression=text, rule=rule, got=got, needed=needed))


def _shape(where: str, expression: Any, broken: list[BrokenRule]) -> Shape:
    """Apply the composition rule to a tree, from the leaves on, and note where it first fails."""
    if expression.is_constant() or not expression.args:
        return _AFFINE
    shapes = [_shape(where, argument, broken) for argument in expression.args]
    if not all(any(shape) for shape in shapes):
        return Shape(False, False)
    atom = Shape(bool(expression.is_atom_convex()), bool(expression.is_atom_concave()))
    needs = [_needed(expression, i) for i in range(len(shapes))]
    shape = Shape(
        atom.convex and all(_fits(s, need) for s, need in zip(shapes, needs)),
        atom.concave and all(_fits(Shape(s.concave, s.convex), n) for s, n in zip(shapes, needs)),
    )
    if not any(shape):
        broken.append(_first_misfit(where, expression, atom, shapes, needs))
    return shape


def _needed(expression: Any, i: int) -> str:
    """Return the curvature that a convex atom needs of an argument."""
    if expression.is_incr(i):
        return "convex"
    return "concave" if expression.is_decr(i) else "affine"


def _fits(shape: Shape, needed: str) -> bool:
    """Tell whether an argument has the curvature that is needed; affine ones always do."""
    return shape == _AFFINE or (needed != "affine" and getattr(shape, needed))


def _first_misfit(
    where: str, expression: Any, atom: Shape, shapes: list[Shape], needs: list[str]
) -> BrokenRule:
    """Say which argument does not fit its atom."""
    text = str(expression)
    if not any(atom):
        return BrokenRule(where=where, expression=text, rule="atom", got=str(atom), needed="convex")
    turned = {"convex": "concave", "concave": "convex", "affine": "affine"}
    needs = needs if atom.convex else [turned[need] for need in needs]
    triples = zip(expression.args, shapes, needs)
    argument, shape, need = next(triple for triple in triples if not _fits(*triple[1:]))
    broken: Any = {"argument": str(argument), "got": str(shape), "needed": _or_affine(need)}
    return BrokenRule(where=where, expression=text, rule="composition", **broken)


def _or_affine(needed: str) -> str:
    """Write what is needed, with affine ones, which always are enough."""
    return needed if needed == "affine" else f"{needed} or affine"
