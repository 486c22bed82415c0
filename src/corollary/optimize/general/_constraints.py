"""Constraints as SciPy writes them, read as constraints with names.

SciPy's functions say nothing about themselves. One that agrees with its linear interpolation at
random points is read as linear, and certificates state that as an assumption.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from corollary.core.certificate import Assumption
from corollary.optimize.problem.functions import Function
from corollary.optimize.program.constraints import (
    Constraint,
    function_inequality,
    linear_equality,
    linear_inequality,
)

_PROBES = 8


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
            linear = _linear(part["fun"], x)
            if linear is None:
                read += _functions(part, x)
                continue
            (A, b), name = linear, part["name"]
            if part["type"] == "eq":
                read.append(linear_equality(A, -b, name=name))
            else:
                read.append(linear_inequality(-A, b, name=name))
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
            yield _between(kind, label, fun, jac, np.flatnonzero(rows), sign, side)


def _between(
    kind: str, name: str, fun: Any, jac: Any, rows: np.ndarray, sign: float, side: np.ndarray
) -> dict[str, Any]:
    """Return the dictionary of some rows of lb <= fun(x) <= ub."""

    def value(x: Any) -> Any:
        return sign * (_vector(fun(x))[rows] - side[rows])

    def slope(x: Any) -> Any:
        return sign * np.atleast_2d(jac(x))[rows]

    return {"type": kind, "fun": value, "jac": None if jac is None else slope, "name": name}


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
        import jax

        with jax.enable_x64(True):
            return function(x)

    return call
