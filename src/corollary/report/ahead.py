"""Compile ahead: fill the cache of compiled loops while another process still reads its data.

The first report after an installation compiles the loops of trees and kernel machines, which takes
seconds on one core. The command line starts this module in a second process, where it fits those
candidates that will take part to a handful of rows; what it compiles goes to Numba's cache on the
disk, where the first process finds it. Nothing else passes between the two, so the report does not
depend on it.
"""

import argparse
import contextlib
from dataclasses import replace

import numpy as np

from corollary.report.evidence import Task
from corollary.report.split import CALIBRATION_SHARE, TEST_SHARE

#: Candidates whose loops take long to compile, in the order in which a report needs them.
CANDIDATES = ("forest", "machine", "boosting")
#: Share of the rows that models are trained on.
TRAINING_SHARE = 1 - TEST_SHARE - CALIBRATION_SHARE


def compile_candidates(
    names: tuple[str, ...] = CANDIDATES, *, n_rows: int | None = None, fast: bool = False
) -> list[str]:
    """Fit candidates to a handful of rows, and predict them, so that their loops are compiled.

    Parameters
    ----------
    names : tuple of str, default=CANDIDATES
        Registered names.
    n_rows : int or None, default=None
        Rows of the table, as far as known: candidates that will not take part are left alone.
        None compiles all.
    fast : bool, default=False
        Whether the report is made in haste.

    Returns
    -------
    done : list of str
        The candidates fitted, with their tasks.
    """
    from corollary.report import candidates as register
    from corollary.report.trials import fit_predictor, predict_with

    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    targets: dict[Task, np.ndarray] = {
        "classification": (X[:, 0] > 0).astype(np.int64),
        "regression": X[:, 0].copy(),
    }
    done = []
    for name in names:
        for task, y in targets.items():
            entry = register.find(name, task)
            if entry is None:
                continue
            situation = register.Situation(
                task=task,
                n=len(X),
                d=X.shape[1],
                n_classes=2 if task == "classification" else 0,
                log=False,
                severe=False,
                seed=0,
                fast=True,
            )
            if n_rows is not None:
                expected = replace(situation, n=round(TRAINING_SHARE * n_rows), fast=fast)
                if not entry.applies(expected):
                    continue
            predict_with(fit_predictor((entry,), situation, X, y), X)
            done.append(f"{name} {task}")
    return done


def main(words: list[str] | None = None) -> None:
    """Compile what a report on a table of known size needs.

    Parameters
    ----------
    words : list of str or None, default=None
        ``--rows N`` and ``--fast``; None takes the command line.
    """
    parser = argparse.ArgumentParser(prog="python -m corollary.report.ahead")
    parser.add_argument("--rows", type=int, default=None)
    parser.add_argument("--fast", action="store_true")
    given = parser.parse_args(words)
    compile_candidates(n_rows=given.rows, fast=given.fast)


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        main()
