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
    assert ahead.compile_candidates(("lasso",)) == ["lasso regression"]


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
def test_only_what_takes_part_is_compiled(n_rows, fast, names, monkeypatch):
    from corollary.report import trials

    monkeypatch.setattr(trials, "fit_predictor", lambda *given: None)
    monkeypatch.setattr(trials, "predict_with", lambda *given: None)
    done = ahead.compile_candidates(n_rows=n_rows, fast=fast)
    assert {line.partition(" ")[0] for line in done} == names


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
