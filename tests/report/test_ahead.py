"""Compiling ahead: the second process leaves what the first one needs."""

import os
import subprocess
import sys

import pytest

from corollary.report import ahead
from corollary.report.candidates import find


def test_every_name_is_registered():
    for name in ahead.CANDIDATES:
        assert find(name, "classification") or find(name, "regression"), name
    assert find("no such model", "regression") is None


def test_candidates_are_fitted_for_every_task_they_serve():
    plan = ahead.plan_candidates(("lasso", "ridge"))
    assert [(entry.name, situation.task) for entry, situation in plan] == [
        ("lasso", "regression"),
        ("ridge", "regression"),
    ]
    assert list(ahead.compile_candidates(plan)) == ["lasso", "ridge regression"]


@pytest.mark.parametrize(
    ("n_rows", "fast", "names"),
    [
        (40, False, set()),
        (569, False, {"forest"}),
        (1_797, False, {"forest", "machine", "boosting"}),
        (1_797, True, set()),
        (10_000, True, {"boosting"}),
        (100_000, False, {"forest", "boosting"}),
        (None, True, {"forest", "machine", "boosting"}),
    ],
)
def test_only_what_takes_part_is_compiled(n_rows, fast, names):
    plan = ahead.plan_candidates(n_rows=n_rows, fast=fast)
    assert {entry.name for entry, _ in plan} == names


def test_what_is_planned_and_done_is_said(capsys, monkeypatch):
    monkeypatch.setattr(ahead, "compile_candidates", lambda plan: [e.label for e, _ in plan[::2]])
    ahead.main(["--rows", "1797"])
    assert capsys.readouterr().out.splitlines() == [
        "random forest|support vector machine|gradient boosting",
        "random forest",
        "support vector machine",
        "gradient boosting",
    ]


@pytest.mark.verify
def test_the_cache_serves_another_process(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    words = [sys.executable, "-m", "corollary.report.ahead", "--fast"]
    subprocess.run(words, env=environment, check=True, timeout=300)
    made = {path.name for path in tmp_path.rglob("*.nbi")}
    assert any("_histogram" in name or "_boosting" in name for name in made)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nbc")}
    subprocess.run(words, env=environment, check=True, timeout=300)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nbc")} == before
