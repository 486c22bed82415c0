"""What callers of minimize pass, in the forms that they know from SciPy, read into one form."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from corollary.core.certificate import Assumption
from corollary.optimize.general._constraints import in_double, read_constraints
from corollary.optimize.problem.functions import Function, Smooth
from corollary.optimize.problem.penalties import Penalty
from corollary.optimize.problem.sets import Box
from corollary.optimize.program.constraints import Constraint, linear_inequality
from corollary.optimize.program.program import Program

_DIFFERENCE = float(np.finfo(float).eps ** (1 / 3))


class Problem(NamedTuple):
    """A function to minimise from a start, with what limits its points."""

    function: Smooth
    start: np.ndarray
    constraints: tuple[Constraint, ...] = ()
    box: Box | None = None
    penalty: Penalty | None = None
    assumptions: tuple[Assumption, ...] = ()

    def program(self) -> Program:
        """Return the same as a program, whose bounds are constraints like others."""
        if self.box is None:
            return Program(self.function, self.constraints)
        bounds = [*_sides(self.box.high, 1.0, "upper"), *_sides(self.box.low, -1.0, "lower")]
        return Program(self.function, [*self.constraints, *bounds])


def _sides(side: np.ndarray, sign: float, name: str) -> list[Constraint]:
    """Return bounds as inequalities whose labels count the variables."""
    rows = sign * np.eye(len(side))
    if np.isfinite(side).all():
        return [linear_inequality(rows, sign * side, name=name)]
    return [
        linear_inequality(rows[i], sign * side[i], name=f"{name}[{i}]")
        for i in np.flatnonzero(np.isfinite(side))
    ]


def read_problem(
    fun: Any, x0: Any, jac: Any, hess: Any, bounds: Any, constraints: Any,
    penalty: Penalty | None, claims: Mapping[str, Any],
) -> Problem:  # fmt: skip
    """Read the arguments, and refuse what does not fit together."""
    more: tuple[Constraint, ...] = ()
    if isinstance(fun, Program):
        x0 = np.zeros(fun.n_variables) if x0 is None and fun.n_variables else x0
        fun, more = fun.objective, fun.constraints
    x = _start(x0, penalty)
    function = _function(fun, x, jac, hess, claims)
    entries: Sequence[Any] = constraints
    if isinstance(constraints, Constraint | Mapping) or not isinstance(constraints, Sequence):
        entries = [constraints]
    read, assumptions = read_constraints(entries, x)
    box = None if bounds is None else _box(bounds, x.size)
    if penalty is not None and (box is not None or more or read):
        raise ValueError(
            "minimize takes a penalty or bounds and constraints, not both. Pass a set such as Box "
            "as the penalty, or write the penalty into a Program."
        )
    problem = Problem(function, x, (*more, *read), box, penalty, assumptions)
    if problem.constraints:
        problem.program()._point(x)
    return problem


def _start(x0: Any, penalty: Any) -> np.ndarray:
    if x0 is None:
        raise ValueError("minimize needs a start x0: a vector with one entry for each variable.")
    x = np.array(x0, dtype=float)
    if (x.ndim != 1 and penalty is None) or not x.size or not np.isfinite(x).all():
        raise ValueError(
            f"minimize needs a start x0 that is a vector of finite numbers. Got shape {x.shape}"
            f"{'' if np.isfinite(x).all() else ' with NaN or infinity'}."
        )
    return x


def _function(fun: Any, x: np.ndarray, jac: Any, hess: Any, claims: Mapping[str, Any]) -> Smooth:
    """Return the objective as a function with its constants, tried once at the start."""
    if isinstance(fun, Smooth):
        if jac is not None or hess is not None or claims:
            raise ValueError(
                "minimize takes derivatives and constants from a function object itself. Leave "
                f"out {sorted({*claims, *(['jac'] if jac is not None else [])})}, or pass a plain "
                "function."
            )
        function = fun
    elif callable(fun):
        function = _plain_function(fun, jac, hess, claims)
    else:
        raise TypeError(
            f"minimize needs a function, a Smooth or a Program. Got {type(fun).__name__}."
        )
    try:
        function.value_and_gradient(x)
    except TypeError as error:
        if isinstance(fun, Smooth):
            raise
        raise TypeError(
            "minimize could not evaluate the function at the start. It must return one number, "
            "and be written with jax.numpy where no gradient is given; otherwise pass jac, or "
            f"jac='3-point' for differences. The function said: {str(error).splitlines()[0]}"
        ) from error
    return function


def _plain_function(fun: Any, jac: Any, hess: Any, claims: Mapping[str, Any]) -> Function:
    if jac is None:
        return Function(fun, None, None if hess is None else in_double(hess), **claims)
    value, gradient = in_double(fun), jac
    if jac is True:
        value, gradient = (lambda x: in_double(fun)(x)[0]), (lambda x: in_double(fun)(x)[1])
    elif jac == "3-point":

        def gradient(x: np.ndarray) -> np.ndarray:
            steps = np.diag(_DIFFERENCE * np.maximum(1.0, np.abs(x)))
            return np.array([(value(x + e) - value(x - e)) / (2 * e.sum()) for e in steps])

    elif not callable(jac):
        raise ValueError(
            "The 'jac' parameter of minimize must be a function, True, '3-point' or None. Got "
            f"{jac!r} instead."
        )
    hessian = None if hess is None else in_double(hess)
    function = Function(value, in_double(gradient), hessian, **claims)
    if jac == "3-point":
        words = "Its gradient is that of central differences, up to their error."
        function.assumptions += (Assumption(words, "model"),)
    return function


def _box(bounds: Any, n: int) -> Box:
    """Read bounds: an object with lb and ub, or pairs with None for no bound."""
    if hasattr(bounds, "lb"):
        low, high = (np.broadcast_to(np.asarray(b, dtype=float), n) for b in (bounds.lb, bounds.ub))
        return Box(low, high)
    pairs = list(bounds)
    if len(pairs) != n or any(np.shape(pair) != (2,) for pair in pairs):
        raise ValueError(
            f"minimize needs one pair (low, high) of bounds for each of {n} variables, with None "
            f"for no bound. Got {len(pairs)} entries."
        )
    low = np.array([-np.inf if low is None else low for low, _ in pairs], dtype=float)
    high = np.array([np.inf if high is None else high for _, high in pairs], dtype=float)
    return Box(low, high)
