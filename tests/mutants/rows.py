"""The rows of the ledger: which functions each one changes, and which tests must notice."""

import functools
import importlib
import re
import sys
import tomllib
import zlib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FunctionType
from typing import Any

from tests.mutants.equivalent import equivalent
from tests.mutants.faults import Fault, faults

ROOT = Path(__file__).parents[2]
CLAIMS = "tests/guarantees/test_guarantees.py::test_claim_holds"
#: Special methods that compute; the others show, compare or declare.
COMPUTING = frozenset(["__add__", "__call__", "__init__", "__mul__", "__pow__", "__rmul__"])


@dataclass(frozen=True)
class Row:
    """One row: the functions of its objects by their names, and the loops that are left out."""

    name: str
    kind: str
    tests: tuple[str, ...]
    functions: dict[str, FunctionType] = field(repr=False)
    #: Objects that are functions themselves: a test of the row has to call them.
    called: frozenset[str]
    #: Functions that other rows name as well, and the tests that those rows name.
    shared: frozenset[str]
    elsewhere: frozenset[str]
    compiled: tuple[str, ...]

    def owns(self, nodeid: str, theorem: str | None) -> bool:
        """Whether a collected test is one of the row's, or simulates its claim."""
        test = nodeid.partition("[")[0]
        if theorem is not None:
            return theorem == self.name and test == CLAIMS
        return test in self.tests


def load(prefixes: list[str] | None = None, kinds: list[str] | None = None) -> list[Row]:
    """Read the rows whose names begin as asked, of the kinds asked for."""
    ledger = tomllib.loads((ROOT / "coverage.toml").read_text(encoding="utf-8"))
    uses: dict[str, set[str]] = defaultdict(set)
    for name, entry in ledger.items():
        for path in entry["objects"]:
            uses[path].add(name)
    return [
        _row(
            name,
            entry,
            {path: [ledger[row] for row in rows - {name}] for path, rows in uses.items()},
        )
        for name, entry in ledger.items()
        if (not prefixes or name.startswith(tuple(prefixes)))
        and (not kinds or entry["kind"] in kinds)
    ]


def chosen_faults(row: Row, reached: dict[str, set[int]], most: int) -> list[Fault]:
    """Draw faults of the functions that the row's tests reach; others do not change the draw.

    Up to half are changes of the value, those of bounds themselves first: no simulation notices a
    bound that is too large, so that each bound needs a test of its value. Changes that change
    nothing are left out.
    """
    candidates = [
        fault
        for name, function in sorted(row.functions.items())
        if name in reached
        for fault in faults(function)
        if not equivalent(fault.name) and (name not in row.shared or fault.lines & reached[name])
    ]
    candidates.sort(key=lambda fault: zlib.crc32(f"{row.name} {fault.name}".encode()))
    values = [fault for fault in candidates if fault.kind == "value"]
    if row.kind == "BOUND":
        values.sort(key=lambda fault: fault.function_name not in row.called)
    formulas = [fault for fault in candidates if fault.kind != "value"]
    kept = max(most // 2, most - len(formulas))
    return [*values[:kept], *formulas[: most - len(values[:kept])]]


def _row(name: str, entry: dict[str, Any], siblings: dict[str, list[Any]]) -> Row:
    functions: dict[str, FunctionType] = {}
    called, shared, elsewhere, compiled = set(), set(), set(), []
    for path in entry["objects"]:
        value = _resolved(path)
        if hasattr(value, "py_func"):
            compiled.append(path)
            continue
        own = list(_functions(value))
        if not isinstance(value, type):
            called.update(map(_name, own))
        parts = {_name(part): part for function in own for part in _with_helpers(function)}
        functions.update(parts)
        if siblings[path]:
            shared.update(parts)
            elsewhere.update(test for sibling in siblings[path] for test in sibling["tests"])
    tests = [*entry["tests"], *([CLAIMS] if name in _theorems() else [])]
    sets = frozenset(called), frozenset(shared), frozenset(elsewhere - {CLAIMS})
    return Row(name, entry["kind"], tuple(tests), functions, *sets, tuple(compiled))


@functools.cache
def _theorems() -> frozenset[str]:
    """Return the theorems that have claims, without the time it takes to import them all."""
    sources = (ROOT / "tests" / "guarantees").glob("*.py")
    names = (re.findall(r'"([a-z]+\.[a-z0-9-]+)"', path.read_text("utf-8")) for path in sources)
    return frozenset(name for found in names for name in found)


def _resolved(path: str) -> Any:
    library, *names = path.split(".")
    door = 2 if names[0] == "core" else 1
    value = importlib.import_module(".".join([library, *names[:door]]))
    return functools.reduce(getattr, names[door:], value)


def _functions(value: Any) -> Iterator[FunctionType]:
    """Go through the function that an object is, or the methods that a class defines."""
    if isinstance(value, type):
        for name, member in vars(value).items():
            if not name.startswith("__") or name in COMPUTING:
                yield from _functions(bare(member))
        return
    while hasattr(value, "__wrapped__"):
        value = value.__wrapped__
    ours = isinstance(value, FunctionType) and value.__module__.startswith("corollary.")
    # Not what a dataclass or the floor of estimators has made for the class.
    if ours and value.__code__.co_filename == sys.modules[value.__module__].__file__:
        yield value


def bare(member: Any) -> Any:
    """Take the function out of a property, a class method and the like."""
    for attribute in ("fget", "__func__", "func"):
        inner = getattr(member, attribute, None)
        if inner is not None:
            return inner
    return None if isinstance(member, type) else member


def _with_helpers(function: FunctionType) -> Iterator[FunctionType]:
    """Go through a function and the private functions of its file, but checks, that it calls."""
    seen, waiting = set(), [function]
    while waiting:
        function = waiting.pop()
        if function.__code__ in seen:
            continue
        seen.add(function.__code__)
        yield function
        for name in function.__code__.co_names:
            private = name.startswith("_") and not name.startswith("_check")
            helper = function.__globals__.get(name) if private else None
            inner = list(_functions(helper)) if not isinstance(helper, type) else []
            waiting.extend(f for f in inner if f.__module__ == function.__module__)


def _name(function: FunctionType) -> str:
    return f"{function.__module__}.{function.__qualname__}"
