"""What the command line lets other processes compile while it still reads the data.

The first report after an installation compiles the loops of trees and kernel machines, which takes
seconds on one core. ``kernels.json`` records these loops with the types of their arguments;
:mod:`corollary.core.ahead` compiles them. After a change to a kernel or to a candidate, record
anew::

    python -m corollary.report.ahead

Every candidate is fitted in a process with an empty cache, and the loops that it called are noted,
those that took longest first, since two processes share them.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from corollary.core.ahead import compile_seconds, list_compiled
from corollary.report.candidates import Situation, find
from corollary.report.evidence import Task

RECORD = Path(__file__).with_name("kernels.json")
#: Candidates whose loops are recorded.
CANDIDATES = ("sparse-logistic", "lasso", "forest", "machine", "boosting")
#: Kinds of targets: the task, and so many classes.
KINDS: dict[str, tuple[Task, int]] = {
    "number": ("regression", 0),
    "two": ("classification", 2),
    "several": ("classification", 3),
}
#: Rows and columns to fit to. Kernel machines use other loops on few rows than on many.
SHAPES = ((300, 4), (2_500, 6))


def fit_shapes(name: str, kind: str, shapes: Iterable[tuple[int, int]] = SHAPES) -> None:
    """Fit a candidate to tables of several shapes, and predict with it, as a report does."""
    from corollary.report.trials import fit_predictor, predict_with

    task, n_classes = KINDS[kind]
    entry = find(name, task)
    assert entry is not None
    for n, d in shapes:
        X = np.random.default_rng(0).normal(size=(n, d))
        y = np.digitize(X[:, 0], [0.0, 0.5][: n_classes - 1]) if n_classes else X[:, 0].copy()
        situation = Situation(task, n, d, n_classes, log=False, severe=False, seed=0, fast=True)
        predict_with(fit_predictor((entry,), situation, X, y), X)


def describe(name: str, kind: str) -> dict[str, Any]:
    """Fit a candidate in this process, which has compiled nothing yet, and say what that took."""
    with compile_seconds() as seconds:
        fit_shapes(name, kind)
    compiled = list_compiled()
    return {
        kernel: {"types": compiled[kernel], "seconds": taken}
        for kernel, taken in seconds.items()
        if kernel in compiled
    }


def record(names: Iterable[str] = CANDIDATES) -> list[dict[str, Any]]:
    """Find out what candidates compile."""
    users: dict[str, list[str]] = {}
    seconds: dict[str, float] = {}
    for name, kind in product(names, KINDS):
        entry = find(name, KINDS[kind][0])
        if entry is None:
            continue
        with tempfile.TemporaryDirectory() as folder:
            words = [sys.executable, "-m", "corollary.report.ahead", "--describe", name, kind]
            environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
            said = subprocess.run(words, env=environment, check=True, capture_output=True).stdout
        for kernel, found in json.loads(said).items():
            for types in found["types"]:
                key = json.dumps([kernel, types])
                users.setdefault(key, []).append(f"{kind} {entry.label}")
                seconds[key] = found["seconds"] / len(found["types"])
    return [
        {"kernel": kernel, "types": types, "users": users[key]}
        for key in sorted(users, key=lambda key: -seconds[key])
        for kernel, types in [json.loads(key)]
    ]


def main(words: list[str] | None = None) -> None:
    """Record what candidates compile."""
    parser = argparse.ArgumentParser(prog="python -m corollary.report.ahead")
    parser.add_argument("--describe", metavar=("NAME", "KIND"), nargs=2, default=None)
    given = parser.parse_args(words)
    if given.describe is not None:
        print(json.dumps(describe(*given.describe)))
        return
    lines = ",\n".join(json.dumps(entry) for entry in record())
    RECORD.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
