"""coverage.toml: every object it names imports, every test it names is collected."""

import ast
import importlib
import pathlib
import tomllib
from functools import cache

import pytest

ROOT = pathlib.Path(__file__).parents[1]
LEDGER = tomllib.loads((ROOT / "coverage.toml").read_text())


def resolve(name):
    parts = name.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            value = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for part in parts[cut:]:
            value = getattr(value, part)
        return value
    raise ModuleNotFoundError(name)


@pytest.mark.parametrize("row", sorted(LEDGER))
def test_named_objects_import(row):
    assert LEDGER[row]["objects"]
    for name in LEDGER[row]["objects"]:
        assert callable(resolve(name)) or resolve(name) is not None


@cache
def defined_tests(path):
    """Names of the test functions of a file, and Class::name for methods."""
    found = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.ClassDef):
            found |= {
                f"{node.name}::{child.name}"
                for child in node.body
                if isinstance(child, ast.FunctionDef)
            }
    return found


@pytest.mark.parametrize("row", sorted(LEDGER))
def test_named_tests_are_defined(row):
    assert LEDGER[row]["tests"]
    for node in LEDGER[row]["tests"]:
        file, _, name = node.partition("::")
        assert name.rsplit("::", 1)[-1].startswith("test_"), node
        assert (ROOT / file).is_file(), node
        assert name in defined_tests(ROOT / file), node


def test_the_share_covered_is_printed(capsys):
    syllabus = ROOT.parent / "shared" / "syllabus" / "index.tsv"
    if syllabus.is_file():
        ids = {line.split("\t")[0] for line in syllabus.read_text().splitlines()[1:]}
        assert set(LEDGER) <= ids
        with capsys.disabled():
            print(f"\nledger: {len(LEDGER)} of {len(ids)} rows covered")
    assert LEDGER
