"""The tool itself: which faults it plants, which of them it finds, and what it writes."""

import contextlib
import importlib
import inspect
import json
import math
import subprocess
import sys
from dataclasses import dataclass, replace

import numpy as np
import pytest

from tests.guarantees._page import write
from tests.mutants import toy
from tests.mutants.__main__ import section
from tests.mutants.equivalent import EQUIVALENT
from tests.mutants.faults import faults, scaled_value
from tests.mutants.kept import Kept
from tests.mutants.rows import ROOT, bare
from tests.mutants.run import Verdict

#: What can be wrong in the toy, and its value for 4 rows then; 6 is right.
CHANGES = {
    "value times 0.7": 4.2,
    "value times 1.5": 9.0,
    "delta > 0.5 → delta < 0.5": 1.5,
    "delta > 0.5 → delta > 0.75": 6.0,
    "return _half(3.0) → return _half(4.5)": 6.0,
    "return _half(3 * n_samples) → return _half(4 * n_samples)": 8.0,
    "return _half(3 * n_samples) → return _half(3 * 1)": 1.5,
}
SCRIPT = """
import json
from tests.mutants import toy
from tests.mutants.rows import load
from tests.mutants.run import try_rows

rows = [toy.row("test_value"), toy.row("test_never_negative"), toy.row("test_that_fails")]
every = dict.fromkeys(["BOUND", "QUANTITY", "IDENTITY", "METHOD", "CONSTRUCTION"], 99)
verdicts = try_rows(rows + load({names!r}), most=every, workers=2, say=lambda text: None)
fields = [
    (v.row.name, v.killed, v.survived, v.idle, v.broken)
    for v in verdicts
]
print(json.dumps(fields))
"""
#: Rows whose tests take no time and let no fault pass.
REAL = ["theory.bit-length-prior"]


def test_faults_of_the_toy_are_these():
    # Not the check that raises, or its message.
    assert [fault.change for fault in faults(toy.radius)] == list(CHANGES)
    assert [fault.change for fault in faults(toy._half)] == [
        "value times 0.7",
        "value times 1.5",
        "return value / 2 → return value / 3",
    ]


@pytest.mark.parametrize("change", CHANGES)
def test_a_planted_fault_changes_the_value_everywhere(change, monkeypatch):
    monkeypatch.setattr("builtins.__scaled__", scaled_value, raising=False)
    code, imported = toy.radius.__code__, toy.radius
    fault = next(fault for fault in faults(toy.radius) if fault.change == change)
    try:
        assert fault.plant()
        assert imported(4, 0.1) == pytest.approx(CHANGES[change])
    finally:
        toy.radius.__code__ = code
    assert imported(4, 0.1) == 6.0


def test_what_no_factor_changes_is_left_alone():
    for value in (
        0.0,
        (0.0, "name"),
        [np.zeros(3), None],
        np.array([math.inf, 0.0]),
        (np.arange(3),),
    ):
        assert scaled_value(value, 0.7) is value


def test_verdicts_are_kept_until_a_test_or_a_function_changes(tmp_path):
    row, other = toy.row("test_value"), toy.row("test_never_negative")
    kept = Kept(tmp_path / "verdicts.json")
    assert kept.find(row) is None
    kept.keep(Verdict(row, killed=["a"], survived=["b"], seconds=(1.0, 2.0)))
    kept.keep(Verdict(other, broken="its tests fail"))
    again = Kept(tmp_path / "verdicts.json")
    found = again.find(row)
    assert (found.killed, found.survived, found.seconds) == (["a"], ["b"], (1.0, 2.0))
    assert again.find(other) is None
    assert again.find(replace(row, tests=other.tests)) is None
    assert again.find(replace(row, kind="METHOD")) is None
    assert again.find(replace(row, functions={})) is None
    assert Kept(tmp_path / "verdicts.json", fresh=True).find(row) is None


def test_numbers_arrays_and_records_are_scaled_and_nothing_else():
    assert scaled_value((2.0, "name", True, None), 0.5) == (1.0, "name", True, None)
    assert [scaled_value(n, 0.7) for n in (0, 1, 10)] == [0, 0, 7]
    assert [scaled_value(n, 1.5) for n in (0, 1, 10)] == [0, 2, 15]
    assert scaled_value(np.array([2.0, 4.0]), 1.5).tolist() == [3.0, 6.0]
    assert scaled_value(np.array([2, 4]), 1.5).tolist() == [2, 4]
    record = Interval(1.0, 2, "name")
    assert scaled_value(record, 1.5) == Interval(1.5, 2, "name")
    assert record.lower == 1.0


@dataclass(frozen=True)
class Interval:
    lower: float
    count: int
    name: str


def test_known_survivors_survive_and_the_others_are_killed():
    script = SCRIPT.format(names=REAL)
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, check=True
    )
    good, weak, broken, *real = json.loads(done.stdout.splitlines()[-1])
    prefix = "tests.mutants.toy."
    _, killed, survived, idle, _ = good
    # The tests never ask for a delta above a half.
    assert sorted(survived) == [
        f"{prefix}radius: delta > 0.5 → delta > 0.75",
        f"{prefix}radius: return _half(3.0) → return _half(4.5)",
    ]
    assert len(killed) == len(CHANGES) - 2 + 3
    assert idle == [f"{prefix}forgotten"]
    assert not weak[1]
    assert len(weak[2]) == len(CHANGES) + 3
    assert "test_that_fails" in broken[4]
    for name, killed, survived, idle, message in real:
        assert killed, name
        assert (survived, idle, message) == ([], [], ""), name


def test_exclusions_name_faults_that_exist_and_say_why():
    for name, reason in EQUIVALENT.items():
        path, _, change = name.partition(": ")
        changes = {fault.change for fault in faults(_function(path))}
        assert change in changes | {text.partition(" → ")[0] for text in changes}, name
        assert len(reason.split()) >= 5, name


def _function(path):
    parts = path.split(".")
    for n in range(len(parts) - 1, 0, -1):
        with contextlib.suppress(ModuleNotFoundError):
            value = importlib.import_module(".".join(parts[:n]))
            for part in parts[n:]:
                value = inspect.getattr_static(value, part)
            return inspect.unwrap(bare(value))
    raise AssertionError(path)


def test_the_two_parts_of_the_page_are_written_apart(tmp_path):
    page = tmp_path / "page.md"
    write(claims="claims\n", target=page)
    write(faults="faults\n", target=page)
    write(claims="new claims\n", target=page)
    assert page.read_text() == "new claims\n\n## Wrong numbers, planted\n\nfaults\n"
    write(faults="new faults\n", target=page)
    assert page.read_text() == "new claims\n\n## Wrong numbers, planted\n\nnew faults\n"


def test_the_section_counts_and_lists():
    killed, survivor, *_ = faults(toy.radius)
    verdict = Verdict(
        toy.row("test_value"),
        killed=[killed.name] * 3,
        survived=[survivor.name],
        idle=["corollary.x.y"],
    )
    text = section([verdict])
    assert "| BOUND | 1 | 4 | 3 | 75.0% |" in text
    assert "| `toy.test_value` | BOUND | `tests.mutants.toy.radius` | `value times 1.5` |" in text
    assert "`toy.test_value` names `corollary.x.y`" in text
