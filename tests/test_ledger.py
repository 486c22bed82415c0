"""coverage.toml: every object it names is exported, every test it names is collected."""

import importlib
import pathlib
import tomllib

import pytest

import corollary
from tests.conftest import COLLECTED

ROOT = pathlib.Path(__file__).parents[1]
LEDGER = tomllib.loads((ROOT / "coverage.toml").read_text())
KINDS = {"BOUND", "CONSTRUCTION", "IDENTITY", "METHOD", "QUANTITY"}


@pytest.mark.parametrize("row", sorted(LEDGER))
def test_named_objects_are_exported(row):
    assert LEDGER[row]["objects"]
    for name in LEDGER[row]["objects"]:
        library, family, first, *attributes = name.split(".")
        assert library == "corollary"
        if family == "core":  # a module or folder of core is a door
            family, first, *attributes = f"core.{first}", *attributes
        assert family.startswith("core.") or family in corollary._PACKAGES, name
        value = getattr(importlib.import_module(f"corollary.{family}"), first)
        assert not isinstance(value, type(pathlib)), f"{name} is a module"
        for attribute in attributes:
            value = getattr(value, attribute)


@pytest.mark.parametrize("row", sorted(LEDGER))
def test_a_row_has_a_kind(row):
    assert LEDGER[row]["kind"] in KINDS


@pytest.mark.parametrize("row", sorted(LEDGER))
def test_named_tests_are_collected(row, request):
    assert LEDGER[row]["tests"]
    collected = request.config.stash[COLLECTED]
    files = {name.partition("::")[0] for name in collected}
    for name in LEDGER[row]["tests"]:
        file = name.partition("::")[0]
        assert (ROOT / file).is_file(), name
        if file in files:  # else this run was asked for other files
            assert name in collected, f"{name} is no test that pytest finds"


def test_rows_belong_to_packages():
    assert len(LEDGER) >= 350
    assert {row.partition(".")[0] for row in LEDGER} <= set(corollary._PACKAGES)
