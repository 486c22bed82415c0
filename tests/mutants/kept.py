"""Verdicts of earlier runs: a row is tried again when its functions or its tests have changed.

What these call in other files is not looked at, nor how faults are made; ``--fresh`` tries all
rows, as a machine does that has no earlier run.
"""

import ast
import functools
import hashlib
import inspect
import json
from pathlib import Path

from tests.mutants.equivalent import EQUIVALENT
from tests.mutants.rows import CLAIMS, ROOT, Row
from tests.mutants.run import MOST, Verdict

FILE = ROOT / ".mutants.json"


class Kept:
    """The verdicts in a file."""

    def __init__(self, file: Path = FILE, *, fresh: bool = False) -> None:
        self.file = file
        known = file.exists() and not fresh
        self.verdicts = json.loads(file.read_text(encoding="utf-8")) if known else {}

    def find(self, row: Row) -> Verdict | None:
        """Return the verdict on a row, unless something has changed since."""
        entry = self.verdicts.get(row.name)
        if entry is None or entry["digest"] != digest(row):
            return None
        lists = (entry[name] for name in ("killed", "survived", "idle"))
        return Verdict(row, *lists, seconds=tuple(entry["seconds"]))

    def keep(self, verdict: Verdict) -> None:
        """Write a verdict into the file, but not that tests fail by themselves."""
        if verdict.broken:
            return
        entry = {name: getattr(verdict, name) for name in ("killed", "survived", "idle", "seconds")}
        self.verdicts[verdict.row.name] = {"digest": digest(verdict.row), **entry}
        self.file.write_text(json.dumps(self.verdicts, indent=0), encoding="utf-8")


def digest(row: Row) -> str:
    """Return a number that changes with what the verdict on a row depends on."""
    parts = [row.kind, str(MOST[row.kind])]
    for name, function in sorted(row.functions.items()):
        parts.append(name)
        parts.append(inspect.getsource(function))
        parts += sorted(text for text in EQUIVALENT if text.startswith(f"{name}: "))
    tests = {*row.tests, *row.elsewhere}
    for file in sorted({test.partition("::")[0] for test in tests}):
        parts += _statements(file, frozenset(test.rpartition("::")[2] for test in tests))
    if CLAIMS in tests:
        parts += [path.read_text("utf-8") for path in _claims(row.name)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


@functools.cache
def _parsed(file: str) -> list[ast.stmt]:
    return ast.parse((ROOT / file).read_text(encoding="utf-8")).body


def _statements(file: str, tests: frozenset[str]) -> list[str]:
    """Return the named tests of a file and what is not a test in it."""
    return [
        ast.dump(node)
        for node in _parsed(file)
        if not isinstance(node, ast.Import | ast.ImportFrom)
        and not (
            isinstance(node, ast.FunctionDef)
            and node.name.startswith("test_")
            and node.name not in tests
        )
    ]


def _claims(theorem: str) -> list[Path]:
    """Return the files that simulate a theorem."""
    files = sorted((ROOT / "tests" / "guarantees").glob("*.py"))
    return [path for path in files if f'"{theorem}"' in path.read_text("utf-8")]
