"""The faults of one function: its source is changed in one place and compiled again.

Four kinds: the value times 0.7 or 1.5, a numeric constant changed, a comparison turned round, a
size lost (``n_samples``, ``len(x)``, ``x.shape[0]`` or ``x.size`` replaced by 1). What cannot make
a number wrong is left alone: messages, checks that only raise, tolerances, shapes and seeds.
"""

import ast
import copy
import dataclasses
import functools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NamedTuple

import numpy as np

FACTORS = (0.7, 1.5)
#: Name by which changed code finds `scaled`; a built-in name in the process that runs it.
SCALED = "__scaled__"
#: Arguments that say how well, where or in which shape something is computed, not what.
NEUTRAL_ARGUMENTS = frozenset(
    ["abs_tol", "atol", "axis", "axis1", "axis2", "copy", "decimals", "dtype", "epsabs", "epsrel"]
    + ["gtol", "key", "keepdims", "limit", "max_iter", "maxiter", "minlength", "ndigits", "ndmin"]
    + [
        "offset",
        "random_state",
        "rel_tol",
        "rtol",
        "seed",
        "stacklevel",
        "tol",
        "tolerance",
        "xtol",
    ]
)
#: Functions whose numbers are shapes, digits, types, sentences or the grid of a search.
NEUTRAL_CALLS = frozenset(
    ["PRNGKey", "SeedSequence", "astype", "default_rng", "expand_dims", "geomspace", "isinstance"]
    + ["linspace", "moveaxis", "reshape", "round", "squeeze", "swapaxes", "transpose", "warn"]
)
#: Below this a constant is a tolerance, above its inverse a limit.
TINY = 1e-5
TURNED = {
    ast.Lt: ast.Gt,
    ast.Gt: ast.Lt,
    ast.LtE: ast.GtE,
    ast.GtE: ast.LtE,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
}


class Site(NamedTuple):
    """One place of a syntax tree, and what stands there instead."""

    parent: ast.AST
    field: str
    index: int | None
    instead: Any


@dataclass(frozen=True)
class Fault:
    """A change of a function: of which kind, what is changed, and in which lines."""

    function: FunctionType
    kind: str
    change: str
    lines: frozenset[int]
    site: Site

    @property
    def function_name(self) -> str:
        return f"{self.function.__module__}.{self.function.__qualname__}"

    @property
    def name(self) -> str:
        return f"{self.function_name}: {self.change}"

    def plant(self) -> bool:
        """Exchange the code of the function, and say whether the changed source has such code."""
        code = self.function.__code__
        changed = _code_with(_parsed(code.co_filename), self.site, code)
        if changed is None or changed.co_freevars != code.co_freevars:
            return False
        self.function.__code__ = changed
        return True


def faults(function: FunctionType) -> list[Fault]:
    """Return every fault that can be planted in a function of a file."""
    node = _definition(_parsed(function.__code__.co_filename), function.__code__)
    if node is None:
        return []
    return [
        Fault(function, kind, change, lines, site) for kind, change, lines, site in _sites(node)
    ]


def scaled_value(value: Any, factor: float) -> Any:
    """Return a number, an array or a record with its numbers multiplied; else the value itself."""
    if isinstance(value, bool | str | bytes | type) or value is None:
        return value
    if isinstance(value, int):
        return int(value * factor // 1) if factor < 1 else -int(-value * factor // 1)
    if isinstance(value, float):
        return value if value * factor == value else value * factor
    if isinstance(value, tuple | list):
        parts = [scaled_value(part, factor) for part in value]
        if all(part is before for part, before in zip(parts, value)):
            return value
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    if getattr(getattr(value, "dtype", None), "kind", "") == "f":
        return value * factor if isinstance(value, np.floating) or _has_numbers(value) else value
    if isinstance(value, np.integer):
        return scaled_value(int(value), factor)
    if dataclasses.is_dataclass(value):
        return _scaled_record(value, factor)
    return value


def _has_numbers(array: Any) -> bool:
    """Whether an array holds anything that a factor changes."""
    try:
        values = np.asarray(array.toarray() if hasattr(array, "toarray") else array)
    except Exception:  # an abstract array of a traced function
        return True
    return bool(np.any((values != 0) & np.isfinite(values)))


def _scaled_record(record: Any, factor: float) -> Any:
    """Return a copy of a record with its real numbers multiplied; itself if it has none."""
    numbers = {
        field.name: getattr(record, field.name)
        for field in dataclasses.fields(record)
        if isinstance(getattr(record, field.name, None), float)
        and field.name not in NEUTRAL_ARGUMENTS
    }
    if not any(numbers.values()):
        return record
    changed = copy.copy(record)
    for name, number in numbers.items():
        object.__setattr__(changed, name, number * factor)
    return changed


def _sites(function: ast.FunctionDef) -> Iterator[tuple[str, str, frozenset[int], Site]]:
    """Go through the places of a function where a fault can be planted."""
    sizes = {
        argument.arg
        for argument in (*function.args.args, *function.args.kwonlyargs)
        if (argument.arg.startswith("n_") and argument.arg != "n_jobs")
        or argument.arg in ("n", "m", "size", "dimension")
    }
    for factor in FACTORS:
        returns = [node for node in _own_nodes(function) if isinstance(node, ast.Return)]
        if any(node.value is not None for node in returns):
            lines = frozenset(line for node in returns for line in _lines(node))
            yield "value", f"value times {factor}", lines, Site(function, "", None, factor)
    for parent, field, index, node in _places(function):
        instead, kind = _instead(node, sizes)
        if instead is not None:
            site = Site(parent, field, index, instead)
            yield kind, _described(function, site), frozenset(_lines(node)), site


def _instead(node: Any, sizes: set[str]) -> tuple[Any, str]:
    """Return what a fault puts in the place of a node, and its kind; None for no fault."""
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        if node.value != 0 and not TINY < abs(node.value) < 1 / TINY:
            return None, ""
        return ast.copy_location(ast.Constant(_changed(node.value)), node), "constant"
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in TURNED:
        turned = ast.Compare(node.left, [TURNED[type(node.ops[0])]()], node.comparators)
        return ast.copy_location(turned, node), "comparison"
    if _is_size(node, sizes):
        return ast.copy_location(ast.Constant(1), node), "size"
    return None, ""


def _changed(value: float) -> float:
    if value == 0:
        return 1 if isinstance(value, int) else 1.0
    return value + 1 if isinstance(value, int) else 1.5 * value


def _is_size(node: Any, sizes: set[str]) -> bool:
    """Whether an expression is a number of rows, columns or draws."""
    if isinstance(node, ast.Name):
        return node.id in sizes and isinstance(node.ctx, ast.Load)
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id == "len"
    if isinstance(node, ast.Attribute):
        return node.attr == "size" and isinstance(node.ctx, ast.Load)
    return (
        isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Attribute)
        and node.value.attr == "shape"
        and isinstance(node.slice, ast.Constant)
    )


def _places(node: ast.AST) -> Iterator[tuple[ast.AST, str, int | None, Any]]:
    """Go through the nodes below a statement that take part in a computation."""
    for field, value in ast.iter_fields(node):
        if field in ("decorator_list", "annotation", "returns", "args") and not isinstance(
            node, ast.Call
        ):
            continue
        pairs = list(enumerate(value)) if isinstance(value, list) else [(None, value)]
        for index, child in pairs:
            if not isinstance(child, ast.AST) or _neutral(node, field, child):
                continue
            yield node, field, index, child
            if not _is_size(child, set()):
                yield from _places(child)


def _neutral(parent: ast.AST, field: str, child: ast.AST) -> bool:
    """Whether what stands below a node cannot make a number wrong."""
    if isinstance(child, ast.Raise | ast.Assert | ast.JoinedStr | ast.arguments):
        return True
    if isinstance(child, ast.If) and all(isinstance(node, ast.Raise) for node in child.body):
        return not child.orelse
    if isinstance(child, ast.keyword):
        return child.arg in NEUTRAL_ARGUMENTS
    if isinstance(child, ast.Call):
        return _called(child).startswith(("check_", "_check", "_refuse", "require_"))
    if isinstance(child, ast.Compare):
        shape = any(getattr(node, "attr", "") == "ndim" for node in ast.walk(child))
        return shape or not isinstance(child.ops[0], tuple(TURNED))
    plain = not isinstance(child, ast.expr) or all(
        isinstance(node, ast.Constant | ast.Name | ast.UnaryOp | ast.Attribute | ast.Subscript)
        for node in ast.walk(child)
        if isinstance(node, ast.expr)
    )
    if isinstance(parent, ast.Call):
        return plain and field == "args" and _called(parent) in NEUTRAL_CALLS
    # Indices and slices: which element, not which number.
    index = isinstance(parent, ast.Slice) or (
        isinstance(parent, ast.Subscript) and field == "slice"
    )
    return index and plain


def _called(call: ast.Call) -> str:
    """Return the name of what is called."""
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """Go through the nodes of a function but not of those defined inside it."""
    for child in ast.iter_child_nodes(function):
        if not isinstance(child, ast.FunctionDef | ast.Lambda | ast.ClassDef):
            yield child
            yield from _own_nodes(child)


def _lines(node: ast.AST) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)  # type: ignore[attr-defined]


@functools.cache
def _parsed(path: str) -> ast.Module:
    return ast.parse(Path(path).read_text(encoding="utf-8"), path)


def _definition(tree: ast.Module, code: CodeType) -> ast.FunctionDef | None:
    """Find the definition from which a code was compiled."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == code.co_name:
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            if first == code.co_firstlineno:
                return node
    return None


def _put(site: Site, value: Any) -> Any:
    """Put a value in a place and return what stood there."""
    if site.index is None:
        before = getattr(site.parent, site.field)
        setattr(site.parent, site.field, value)
    else:
        items = getattr(site.parent, site.field)
        before, items[site.index] = items[site.index], value
    return before


def _code_with(tree: ast.Module, site: Site, code: CodeType) -> CodeType | None:
    """Compile a file with one place changed, and return the code of one of its functions."""
    sites = [site]
    if isinstance(site.instead, float):  # a factor of all values
        returns = [n for n in _own_nodes(site.parent) if isinstance(n, ast.Return) and n.value]
        sites = [Site(n, "value", None, _scaling(n.value, site.instead)) for n in returns]
    before = [_put(place, place.instead) for place in sites]
    compiled = compile(tree, code.co_filename, "exec", dont_inherit=True)
    for place, value in zip(sites, before):
        _put(place, value)
    return _code_like(compiled, code)


def _scaling(value: Any, factor: float) -> ast.Call:
    called = ast.Name(SCALED, ast.Load())
    node = ast.Call(called, [value, ast.Constant(factor)], [])
    return ast.fix_missing_locations(ast.copy_location(node, value))


def _code_like(outer: CodeType, code: CodeType) -> CodeType | None:
    """Find in compiled code the function that stands where another one stood."""
    for inner in outer.co_consts:
        if isinstance(inner, CodeType):
            if (inner.co_qualname, inner.co_firstlineno) == (
                code.co_qualname,
                code.co_firstlineno,
            ):
                return inner
            deeper = _code_like(inner, code)
            if deeper is not None:
                return deeper
    return None


def _described(function: ast.FunctionDef, site: Site) -> str:
    """Say what was changed: the line, or the condition of a longer statement, before and after."""
    shown = next(
        (
            node
            for node in ast.walk(function)
            if isinstance(node, ast.stmt)
            and not hasattr(node, "body")
            and any(child is site.parent for child in ast.walk(node))
        ),
        site.parent,
    )
    header = hasattr(shown, "body") and not isinstance(shown, ast.expr)
    value = _put(site, site.instead)
    after = ast.unparse(site.instead if header else shown)
    _put(site, value)
    before = ast.unparse(value if header else shown)
    if len(before) > 90:
        before, after = _shortened(before, after)
    return f"{before} → {after}"


def _shortened(before: str, after: str) -> tuple[str, str]:
    """Cut equal beginnings and ends of two long texts."""
    first = next((i for i, (a, b) in enumerate(zip(before, after)) if a != b), 0)
    last = next((i for i, (a, b) in enumerate(zip(before[::-1], after[::-1])) if a != b), 0)
    start, tail = max(0, first - 35), max(0, last - 35)
    cut = [f"…{text[start : len(text) - tail]}…".replace("\n", " ") for text in (before, after)]
    return cut[0], cut[1]
