"""Loops of forests are compiled aside, if nothing is compiled yet."""

import importlib
import os
import pkgutil
import subprocess
import sys

import numpy as np
import pytest

import corollary.tree._loops
from corollary import _compiling as compiling
from corollary.reporting.models._candidates import Situation, candidates


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    monkeypatch.setattr(compiling, "_children", [])
    monkeypatch.setattr(compiling, "_compiled", set())


@pytest.fixture
def started(monkeypatch, tmp_path):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    calls, usual = [], subprocess.Popen

    def start(words, **settings):
        calls.append(words)
        return usual([sys.executable, "-c", "pass"], **settings)

    monkeypatch.setattr(compiling.subprocess, "Popen", start)
    return calls


def test_a_child_compiles_where_nothing_is_compiled(started, tmp_path):
    assert compiling.compile_aside()
    assert started == [[sys.executable, "-c", compiling._TINY_FORESTS]]
    compiling.wait_until_compiled(3)
    compiling.wait_until_compiled(3)  # nobody is left to wait for
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "loop.nbi").write_bytes(b"")
    assert not compiling.compile_aside()
    assert len(started) == 1


def test_two_classes_do_not_wait_for_more(monkeypatch, tmp_path):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(compiling, "_TINY_FORESTS", "print(2, flush=True); input(); print(3)")
    usual, hold = subprocess.Popen, subprocess.PIPE
    monkeypatch.setattr(compiling.subprocess, "Popen", lambda w, **s: usual(w, stdin=hold, **s))
    assert compiling.compile_aside()
    (child,) = compiling._children
    compiling.wait_until_compiled(0)
    compiling.wait_until_compiled(2)
    assert child.poll() is None  # which still works on more classes
    child.stdin.write(b"\n")
    child.stdin.flush()
    compiling.wait_until_compiled(7)
    assert compiling._compiled == {2, 3}
    child.communicate()


def _compiled():
    """Name every compiled form of the loops of trees."""
    forms = set()
    for info in pkgutil.iter_modules(corollary.tree._loops.__path__, "corollary.tree._loops."):
        module = importlib.import_module(info.name)
        for name, loop in vars(module).items():
            forms |= {(name, str(form)) for form in getattr(loop, "signatures", ())}
    return forms


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled")
def test_what_the_child_grows_is_what_a_report_needs():
    exec(compiling._TINY_FORESTS, {})  # noqa: S102
    before = _compiled()
    assert before
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    for task, y in (("classification", rng.integers(0, 3, 80)), ("regression", X[:, 0])):
        situation = Situation(task, 80, 3, 3 * (task == "classification"), False, False, 0, False)
        (entry,) = [e for e in candidates(situation) if e.name == "forest"]
        entry.fit(situation, X, y).predict(X)
    assert _compiled() == before
