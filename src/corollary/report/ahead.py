"""Compile ahead: fill the cache of compiled loops while another process still reads its data.

The first report after an installation compiles the loops of trees and kernel machines, which takes
seconds on one core. The command line starts this module in a second process, where it fits those
candidates that will take part to a handful of rows; what it compiles goes to Numba's cache on the
disk, where the first process finds it. It also says what is done, so that the first process can
wait for the rest instead of compiling the same a second time. Numbers never pass between the two.
"""

import argparse
import contextlib
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from corollary.report.candidates import Entry, Situation, find
from corollary.report.evidence import Task
from corollary.report.split import CALIBRATION_SHARE, TEST_SHARE

#: Candidates whose loops take long to compile, in the order in which a report needs them.
CANDIDATES = ("forest", "machine", "boosting")
TASKS: tuple[Task, ...] = ("classification", "regression")
#: Rows to fit on while compiling.
ROWS = 60
#: Share of the rows that models are trained on.
TRAINING_SHARE = 1 - TEST_SHARE - CALIBRATION_SHARE


def plan_candidates(
    names: tuple[str, ...] = CANDIDATES, *, n_rows: int | None = None, fast: bool = False
) -> list[tuple[Entry, Situation]]:
    """List what takes long to compile and will take part.

    Parameters
    ----------
    names : tuple of str, default=CANDIDATES
        Registered names.
    n_rows : int or None, default=None
        Rows of the table, as far as known: candidates that will not take part are left out. None
        lists all.
    fast : bool, default=False
        Whether the report is made in haste.

    Returns
    -------
    plan : list of (Entry, Situation)
        Candidates for every task they serve, and a situation of a handful of rows.
    """
    plan = []
    for name in names:
        for task in TASKS:
            entry = find(name, task)
            situation = Situation(
                task=task,
                n=ROWS,
                d=4,
                n_classes=2 if task == "classification" else 0,
                log=False,
                severe=False,
                seed=0,
                fast=True,
            )
            n = ROWS if n_rows is None else round(TRAINING_SHARE * n_rows)
            expected = replace(situation, n=n, fast=fast)
            if entry is not None and (n_rows is None or entry.applies(expected)):
                plan.append((entry, situation))
    return plan


def compile_candidates(plan: list[tuple[Entry, Situation]]) -> Iterator[str]:
    """Fit candidates to a handful of rows, and predict them, so that their loops are compiled.

    Parameters
    ----------
    plan : list of (Entry, Situation)
        From :func:`plan_candidates`.

    Yields
    ------
    label : str
        Of each candidate, once it is compiled for all its tasks.
    """
    from corollary.report.trials import fit_predictor, predict_with

    X = np.random.default_rng(0).normal(size=(ROWS, 4))
    for k, (entry, situation) in enumerate(plan):
        y = (X[:, 0] > 0).astype(np.int64) if situation.n_classes else X[:, 0].copy()
        predict_with(fit_predictor((entry,), situation, X, y), X)
        if k + 1 == len(plan) or plan[k + 1][0].label != entry.label:
            yield entry.label


def main(words: list[str] | None = None) -> None:
    """Compile what a report on a table of known size needs.

    The first line printed lists what will be compiled, separated by bars; every further line names
    one of them that is done.

    Parameters
    ----------
    words : list of str or None, default=None
        ``--rows N`` and ``--fast``; None takes the command line.
    """
    parser = argparse.ArgumentParser(prog="python -m corollary.report.ahead")
    parser.add_argument("--rows", type=int, default=None)
    parser.add_argument("--fast", action="store_true")
    given = parser.parse_args(words)
    plan = plan_candidates(n_rows=given.rows, fast=given.fast)
    print("|".join(dict.fromkeys(entry.label for entry, _ in plan)), flush=True)
    for label in compile_candidates(plan):
        print(label, flush=True)


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt, BrokenPipeError):
        main()
