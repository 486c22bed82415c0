"""The record of what a report compiles: complete, in use, and what the command line asks for."""

import json
import os
import subprocess
import sys

import pytest

from corollary import cli
from corollary.core.ahead import QUEUE, list_compiled, read_record, read_type
from corollary.report import ahead
from corollary.report.candidates import Situation, candidates, find
from corollary.report.split import CALIBRATION_SHARE, TEST_SHARE

ENTRIES = json.loads(ahead.RECORD.read_text())
USERS = sorted({user for entry in ENTRIES for user in entry["users"]})
TRAINING_SHARE = 1 - TEST_SHARE - CALIBRATION_SHARE


def recorded(user):
    return {
        (entry["kernel"], json.dumps(entry["types"])) for entry in ENTRIES if user in entry["users"]
    }


def test_the_record_is_for_candidates_that_exist():
    labels = {
        f"{kind} {entry.label}"
        for name in ahead.CANDIDATES
        for kind, (task, _) in ahead.KINDS.items()
        if (entry := find(name, task))
    }
    assert set(USERS) == labels
    assert {user.partition(" ")[2] for user in USERS} == set(cli.COMPILED)
    assert len(ENTRIES) < len(QUEUE)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry["kernel"].rpartition(".")[2])
def test_the_record_names_kernels_and_types_that_exist(entry):
    from importlib import import_module

    module, _, name = entry["kernel"].rpartition(".")
    kernel = getattr(import_module(module), name)
    assert kernel.py_func.__code__.co_argcount == len(entry["types"])
    for plain in entry["types"]:
        read_type(plain)


@pytest.mark.parametrize("name", ["boosting", "lasso"])
def test_what_is_recorded_is_compiled(name):
    entry = find(name, "regression")
    ahead.fit_shapes(name, "number", shapes=[(120, 3)])
    made = {(k, json.dumps(t)) for k, each in list_compiled().items() for t in each}
    mine = recorded(f"number {entry.label}")
    assert mine
    assert mine <= made, "python -m corollary.report.ahead records anew"


@pytest.mark.verify
def test_the_record_is_up_to_date():
    def plain(entries):
        return {(e["kernel"], json.dumps(e["types"]), tuple(sorted(e["users"]))) for e in entries}

    assert plain(ahead.record()) == plain(ENTRIES), "python -m corollary.report.ahead records anew"


def situation(n, kind, *, fast):
    task, n_classes = ahead.KINDS[kind]
    n = round(TRAINING_SHARE * n)
    return Situation(task, n, 4, n_classes, log=False, severe=False, seed=0, fast=fast)


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize("kind", [*ahead.KINDS])
def test_the_command_line_asks_for_what_takes_part(kind, fast, tmp_path):
    """Its thresholds repeat those of the candidates, which it could only import slowly."""
    for n in (40, 60, 500, 800, 870, 3_000, 3_400, 10_000, 13_000, 13_500, 100_000):
        path = tmp_path / "table.csv"
        values = {"number": range(n), "two": "ab" * n, "several": "abc" * n}[kind]
        path.write_text("y\n" + "".join(f"{v}\n" for _, v in zip(range(n), values)))
        expected = {
            f"{kind} {entry.label}"
            for entry in candidates(situation(n, kind, fast=fast))
            if f"{kind} {entry.label}" in USERS
        }
        asked = set(cli._plan(str(path), None, "y", "auto", fast)) & set(USERS)
        assert expected <= asked, n
        # How many columns there are, it does not know.
        assert asked - expected <= {f"{kind} sparse logistic regression"}, n


def test_the_kind_of_target_is_guessed_as_it_will_be_read(tmp_path):
    from corollary.report.read import read_table
    from corollary.report.target import read_target

    columns = {
        "price": [f"{i * 1.5}" for i in range(40)],
        "few": [str(i % 4) for i in range(40)],
        "many": [str(i) for i in range(40)],
        "halves": [f"{i % 3 + 0.5}" for i in range(40)],
        "answer": ["yes", "no"] * 20,
        "gaps": ["", "7"] + [str(i) for i in range(38)],
        "colour": ["red, dark", "green", "blue", "red, dark"] * 10,
    }
    path = tmp_path / "t.csv"
    rows = ([*columns], *zip(*columns.values()))
    path.write_text("".join(",".join(f'"{v}"' for v in row) + "\n" for row in rows))
    table = read_table(path)
    for name in columns:
        goal = read_target(table, name)
        kind = "number" if not goal.classes else "two" if len(goal.classes) == 2 else "several"
        asked = cli._plan(str(path), None, name, "auto", False)
        assert {user.partition(" ")[0] for user in asked} == {kind}, name
    every = set(ahead.KINDS)
    for target in (None, "no such column"):
        asked = cli._plan(str(path), None, target, "auto", False)
        assert {user.partition(" ")[0] for user in asked} == every
    asked = cli._plan(str(path), None, "price", "classification", False)
    assert {user.partition(" ")[0] for user in asked} == {"two", "several"}
    path.write_bytes(b"a,y\n" + b"1" * 200_000 + b",2\n")  # a field that Python's reader refuses
    asked = cli._plan(str(path), None, "y", "auto", False)
    assert {user.partition(" ")[0] for user in asked} == every
    assert cli._plan("missing.csv", None, "y", "auto", True) == [
        f"{kind} gradient boosting" for kind in ahead.KINDS
    ]


def test_bundled_data_have_the_kind_that_is_stated():
    from corollary.report.read import read_demo
    from corollary.report.target import read_target

    for name in cli.DEMOS:
        table = read_demo(name)
        classes = read_target(table, table.target).classes
        kind = "number" if not classes else "two" if len(classes) == 2 else "several"
        asked = cli._plan(None, name, None, "auto", False)
        assert {user.partition(" ")[0] for user in asked} == {kind}, name


@pytest.mark.verify
def test_the_cache_serves_another_process(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    users = ["number random forest", "number gradient boosting"]
    words = [sys.executable, "-m", "corollary.core.ahead", str(ahead.RECORD), *users]
    subprocess.run(words, env=environment, check=True, timeout=300, input=QUEUE)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nb*")}
    assert len(before) > len(read_record(ahead.RECORD, users))
    fit = "from corollary.report import ahead; "
    fit += "[ahead.fit_shapes(name, 'number') for name in ('forest', 'boosting')]"
    subprocess.run([sys.executable, "-c", fit], env=environment, check=True, timeout=300)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nb*")} == before
