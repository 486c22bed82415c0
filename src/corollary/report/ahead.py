"""Compile ahead: fill the cache of compiled loops while another process still reads its data.

The first report after an installation compiles the loops of trees and kernel machines, which takes
seconds on one core. The command line starts this module in a second process, where it fits those
candidates to a handful of rows; what it compiles goes to Numba's cache on the disk, where the first
process finds it. Nothing else passes between the two, so the report does not depend on it.
"""

import contextlib
import sys

import numpy as np

from corollary.report.evidence import Task

#: Candidates whose loops take long to compile, in the order in which a report needs them.
CANDIDATES = ("forest", "machine", "boosting")
FAST_CANDIDATES = ("boosting",)


def compile_candidates(names: tuple[str, ...] = CANDIDATES) -> list[str]:
    """Fit candidates to a handful of rows, and predict them, so that their loops are compiled.

    Parameters
    ----------
    names : tuple of str, default=CANDIDATES
        Registered names.

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
            predict_with(fit_predictor((entry,), situation, X, y), X)
            done.append(f"{name} {task}")
    return done


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        compile_candidates(FAST_CANDIDATES if "--fast" in sys.argv[1:] else CANDIDATES)
