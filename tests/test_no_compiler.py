"""Every compiled loop runs with the compiler switched off, where a debugger can step through it.

``tests/no_compiler/FAMILY.py`` holds functions ``check_...`` that run the loops of a family on a
few rows and assert what must come out: right answers, not the same bits as with the compiler. All
files run in one process with ``NUMBA_DISABLE_JIT=1``.
"""

import ast
import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "corollary"
FAMILIES = sorted(path.stem for path in (ROOT / "tests" / "no_compiler").glob("[a-z]*.py"))


def loops():
    """Name all compiled functions: ``path::name``, as the interpreter would call them."""

    def visit(node, inside):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef):
                decorators = [
                    d.func if isinstance(d, ast.Call) else d for d in child.decorator_list
                ]
                if any(getattr(d, "id", "") in ("jit", "part") for d in decorators):
                    yield f"{inside}{child.name}"
                yield from visit(child, f"{inside}{child.name}.<locals>.")
            else:
                yield from visit(child, inside)

    for path in sorted(PACKAGE.rglob("*.py")):
        if "@jit" in (text := path.read_text()) or "@part" in text:
            for name in visit(ast.parse(text), ""):
                yield f"{path.relative_to(PACKAGE)}::{name}"


@cache
def without_compiler():
    result = subprocess.run(
        [sys.executable, "-W", "error", "-m", "tests.no_compiler"],
        cwd=ROOT,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


@pytest.mark.parametrize("family", FAMILIES)
def test_loops_run_without_the_compiler(family):
    failures = without_compiler()["failures"][family]
    assert not failures, "\n".join(failures)


def test_every_loop_is_run():
    missed = sorted(set(loops()) - set(without_compiler()["called"]))
    assert missed == [], "no check of tests/no_compiler runs these"


def test_a_loop_that_is_not_run_would_be_seen():
    names = set(loops())
    assert "tree/_loops/histogram.py::grow_tree" in names
    assert "tree/_loops/histogram.py::no_such_loop" not in names
