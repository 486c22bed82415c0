"""What callers of minimize pass, in the forms that they know from SciPy, read into one form.

SciPy's functions say nothing about themselves. One that agrees with its linear interpolation at
random points is read as linear, and certificates state that as an assumption.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from corollary.core.certificate import Assumption
from corollary.optimize.problem.functions import Function, Smooth
from corollary.optimize.problem.penalties import Penalty
from corollary.optimize.problem.sets import Box
from corollary.optimize.program.constraints import (
    Constraint,
    function_inequality,
    linear_equality,
    linear_inequality,
)
from corollary.optimize.program.program import Program

_PROBES = 8
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
    rows, finite = sign * np.eye(len(side)), np.isfinite(side)
    if finite.all():
        return [linear_inequality(rows, sign * side, name=name)]
    chosen = [(i, f"{name}[{i}]") for i in np.flatnonzero(finite)]
    return [linear_inequality(rows[i], sign * side[i], name=label) for i, label in chosen]


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


def read_constraints(
    entries: Sequence[Any], x: np.ndarray
) -> tuple[tuple[Constraint, ...], tuple[Assumption, ...]]:
    """Return constraints with names, and what was assumed to read them."""
    read: list[Constraint] = []
    assumed: list[Assumption] = []
    for number, entry in enumerate(entries):
        if isinstance(entry, Constraint):
            read.append(entry)
            continue
        for part in _dictionaries(entry, f"constraint {number}", x):
            linear, name = _linear(part["fun"], x), part["name"]
            if linear is None:
                read += _functions(part, x)
                continue
            A, b = linear
            equation = part["type"] == "eq"
            make, sign = (linear_equality, 1.0) if equation else (linear_inequality, -1.0)
            read.append(make(sign * A, -sign * b, name=name))
            words = f"The function of {name!r} is linear, as it is at {_PROBES} random points."
            assumed.append(Assumption(words, "model"))
    return tuple(read), tuple(assumed)


def _dictionaries(entry: Any, name: str, x: np.ndarray) -> Iterator[dict[str, Any]]:
    """Turn an object of SciPy's into dictionaries with a type, a function, its jac and a name."""
    if isinstance(entry, Mapping):
        if entry.get("type") not in ("eq", "ineq") or not callable(entry.get("fun")):
            raise ValueError(
                f"A constraint of minimize that is a dictionary needs a 'type', 'eq' or 'ineq', "
                f"and a function 'fun'. Got {sorted(entry)} with type {entry.get('type')!r}."
            )
        yield {"name": name, **entry, "fun": in_double(entry["fun"])}
        return
    fun: Any
    if hasattr(entry, "A") and hasattr(entry, "lb"):
        A = np.atleast_2d(np.asarray(entry.A, dtype=float))
        fun, jac = A.__matmul__, None
    elif hasattr(entry, "fun") and hasattr(entry, "lb"):
        fun, jac = in_double(entry.fun), entry.jac if callable(entry.jac) else None
    else:
        raise TypeError(
            "A constraint of minimize must be one of corollary.optimize, such as "
            "linear_inequality, a dictionary with 'type' and 'fun', or SciPy's LinearConstraint or "
            f"NonlinearConstraint. Got {type(entry).__name__}."
        )
    shape = _vector(fun(x)).shape
    low, high = (np.broadcast_to(np.asarray(b, dtype=float), shape) for b in (entry.lb, entry.ub))
    same = low == high
    for kind, label, rows, sign, side in (
        ("eq", name, same, 1.0, low),
        ("ineq", f"{name} low", ~same & np.isfinite(low), 1.0, low),
        ("ineq", f"{name} high", ~same & np.isfinite(high), -1.0, high),
    ):
        if rows.any():
            yield {"type": kind, "name": label} | _between(fun, jac, rows.nonzero()[0], sign, side)


def _between(fun: Any, jac: Any, rows: np.ndarray, sign: float, side: np.ndarray) -> dict[str, Any]:
    """Return the function of some rows of lb <= fun(x) <= ub, and its derivative."""
    return {
        "fun": lambda x: sign * (_vector(fun(x))[rows] - side[rows]),
        "jac": None if jac is None else lambda x: sign * np.atleast_2d(jac(x))[rows],
    }


def _linear(fun: Callable[[Any], Any], x: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Return A and b with fun(x) = Ax + b, or None if random points contradict that."""
    first = np.asarray(_vector(fun(x)), dtype=float)
    if not np.isfinite(first).all():
        return None
    columns = [np.asarray(_vector(fun(x + e)), dtype=float) - first for e in np.eye(x.size)]
    A = np.array(columns).T
    random = np.random.default_rng(0)
    for away in random.normal(scale=1 + np.abs(x), size=(_PROBES, x.size)):
        seen = np.asarray(_vector(fun(x + away)), dtype=float)
        size = 1 + np.abs(first) + np.abs(A) @ np.abs(away)
        if not (np.abs(first + A @ away - seen) <= 1e-9 * size).all():
            return None
    A = np.where(np.abs(A) <= 1e-12 * np.abs(A).max(initial=0.0), 0.0, A)
    return A, first - A @ x


def _functions(part: dict[str, Any], x: np.ndarray) -> list[Constraint]:
    """Return inequalities fun(x) >= 0 as functions that are at most 0, one for each entry."""
    fun, jac, name = part["fun"], part.get("jac"), part["name"]
    if part["type"] == "eq":
        raise ValueError(
            f"minimize takes linear equations only, whose points are a convex set; {name!r} is not "
            "linear. Solve it for a variable, or write it as two inequalities."
        )
    size = len(_vector(fun(x)))

    def entry(i: int) -> Constraint:
        gradient = None if jac is None else lambda x: -np.atleast_2d(in_double(jac)(x))[i]
        function = Function(lambda x: -_vector(fun(x))[i], gradient)
        return function_inequality(function, name=name if size == 1 else f"{name}[{i}]")

    return [entry(i) for i in range(size)]


def _vector(value: Any) -> Any:
    """Return a number or an array, of NumPy or JAX, as a vector."""
    return value.reshape(-1) if hasattr(value, "reshape") else np.atleast_1d(value)


def in_double(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a function that also computes in double precision if it is written with JAX."""

    def call(x: Any) -> Any:
        result = function(x)
        if not hasattr(result[0] if isinstance(result, tuple) else result, "aval"):
            return result
        from corollary.core.xla import jax

        with jax.enable_x64(True):
            return function(x)

    return call
