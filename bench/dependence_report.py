"""Whether a report holds on fresh rows of the kind it speaks of, where rows are dependent."""

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bench.dependence_fresh import FRESH, FRESH_CLEAN
from bench.dependence_worlds import CLEAN, COINS, STRUCTURED, Drawn, Fresh
from corollary.reporting import Evidence, ReportModel, from_memory, measure

#: Coverage that reports are asked for.
ASKED_FOR = 0.9

#: Kinds of worlds, in the order of the page.
KINDS: dict[str, dict[str, Callable[[np.random.Generator], Drawn]]] = {
    "coin flips": COINS,
    "with structure": STRUCTURED,
    "with structure, never tuned on": FRESH,
    "clean": CLEAN,
    "clean, never tuned on": FRESH_CLEAN,
}
WORLDS = {name: draw for worlds in KINDS.values() for name, draw in worlds.items()}


@dataclass(frozen=True)
class Outcome:
    """What one report said, and what is true of fresh rows."""

    world: str
    seed: int
    fast: bool
    verdict: str
    population: str  # of whom the report speaks
    faced: str  # the kind of fresh rows: an owner, the period tested, later rows
    asked: bool  # whether a question is asked about rows that belong together
    copies: bool  # whether copies were set aside
    said: float  # the headline: error rate, or median error
    upper: float | None  # its upper end, where there is one
    truth: float  # the same on fresh rows
    held: bool  # whether the truth lies within what is said
    no_worse: bool  # whether it is at most the upper end of that
    coverage: float  # of sets or intervals on fresh rows
    stated: tuple[float, float]  # the interval of that share on the page
    finite: bool  # whether intervals are finite, or sets not all classes
    model: str
    seconds: float

    @property
    def true(self) -> bool:
        """Whether the share of rows that are covered lies within what the page says of it."""
        low, high = self.stated
        return low - 1e-9 <= self.coverage <= high + 1e-9  # weights add up to 1 but for rounding


def examine(world: str, seed: int, fast: bool) -> Outcome:
    """Report on one table of a world and face the model with fresh rows."""
    r = np.random.default_rng([seed, 14])
    drawn = WORLDS[world](r)
    start = time.perf_counter()
    evidence, model = measure(
        from_memory(drawn.frame), "y", seed=seed, fast=fast, coverage=ASKED_FOR
    )
    seconds = time.perf_counter() - start
    population, structure = evidence.population, evidence.structure
    unit = population.unit if isinstance(population.unit, str) else ""
    faced, fresh = drawn.fresh(population.kind, unit, evidence.test.positions, r)
    if evidence.task == "classification":
        said, low, high = evidence.error_rate.value, 0.0, evidence.error_rate.upper
    else:
        _, said, low, high = vars(evidence.error_sizes.median).values()
    truth, coverage, finite = face(evidence, model, fresh)
    bounds = [low is None or low <= truth, high is None or truth <= high]
    if population.kind == "period" and evidence.task == "regression":
        # Errors of numbers have no bound in a period; certificates say how often intervals miss.
        bounds += [1 - coverage <= certificate.bound for certificate in evidence.certificates]
    within, no_worse = all(bounds), all(bounds[1:])
    return Outcome(
        world=world,
        seed=seed,
        fast=fast,
        verdict=evidence.verdict,
        population=population.rows,
        faced=faced,
        asked=structure.headline is not None,
        copies=structure.copies is not None,
        said=float(said),
        upper=high,
        truth=truth,
        held=within,
        no_worse=no_worse,
        coverage=coverage,
        stated=(evidence.held.low, evidence.held.high),
        finite=finite,
        model=model.label,
        seconds=seconds,
    )


def face(evidence: Evidence, model: ReportModel, fresh: Fresh) -> tuple[float, float, bool]:
    """Give error and coverage on fresh rows, owners alike, and whether intervals are finite."""
    y = fresh.frame["y"].to_numpy()
    features = model.encoder.transform(fresh.frame[list(model.columns)])
    _, place, sizes = np.unique(fresh.units, return_inverse=True, return_counts=True)
    weight = 1 / sizes[place] / len(sizes)
    if evidence.task == "classification":
        probability = model.predictor.predict_proba(features)
        codes = np.searchsorted(evidence.classes, y.astype(str))
        sets = model.calibration.sets(probability)
        held = sets[np.arange(len(y)), codes]
        error = float(weight @ (probability.argmax(axis=1) != codes))
        return error, float(weight @ held), not bool(sets.all())
    predicted = model.predictor.predict(features)
    low, high = model.calibration.intervals(features, predicted)
    held = (low <= y) & (y <= high)
    errors = np.abs(predicted - y)
    order = np.argsort(errors)
    middle = errors[order[np.searchsorted(np.cumsum(weight[order]), 0.5)]]
    return float(middle), float(weight @ held), bool(np.isfinite(high).all())


Case = tuple[str, int, bool]  # world, seed, whether the report is a fast one


def _examine(case: Case) -> Outcome:
    return examine(*case)


def run(cases: Sequence[Case], jobs: int, log: Path | None) -> Iterator[Outcome]:
    """Examine cases in several processes, in order, writing each down; go on where a log ends."""
    known = {} if log is None or not log.exists() else dict(map(_read, log.open()))
    left = [case for case in cases if case not in known]
    with ProcessPoolExecutor(jobs) as pool:
        found = pool.map(_examine, left)
        for case in cases:
            outcome = known.get(case) or next(found)
            if log is not None and case not in known:
                with log.open("a") as file:
                    file.write(json.dumps(asdict(outcome)) + "\n")
            yield outcome


def _read(line: str) -> tuple[Case, Outcome]:
    outcome = Outcome(**json.loads(line))
    return (outcome.world, outcome.seed, outcome.fast), outcome


def line(world: str, outcomes: list[Outcome]) -> str:
    """Write the row of one world."""
    n = len(outcomes)
    faced = ", ".join(sorted({o.faced or "new" for o in outcomes}))
    cells: list[Any] = [
        world,
        faced,
        n,
        f"{sum(o.asked or o.copies for o in outcomes)}/{n}",
        f"{sum(o.held for o in outcomes)}/{n}",
        f"{sum(o.no_worse for o in outcomes)}/{n}",
        f"{np.median([o.said for o in outcomes]):.3g}",
        f"{np.median([o.truth for o in outcomes]):.3g}",
        f"{np.mean([o.coverage for o in outcomes]):.1%}",
        f"{sum(o.coverage >= ASKED_FOR for o in outcomes)}/{n}",
        f"{sum(o.true for o in outcomes)}/{n}",
        f"{sum(o.finite for o in outcomes)}/{n}",
        f"{sum(o.verdict == 'shown' for o in outcomes)}/{n}",
        f"{np.median([o.seconds for o in outcomes]):.1f}",
    ]
    return f"| {' | '.join(map(str, cells))} |"


HEAD = """
| {title} | faced with | repeats | said | held | no worse | headline | truth | coverage | reached \
| stated | finite | shown | s |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"""


def reports(
    repeats: int, first: int, text: str, *, fast: bool, jobs: int, log: Path | None = None
) -> None:
    """Print, for each world, what the report says and what is true of fresh rows."""
    kind = "fast" if fast else "full"
    for title, worlds in KINDS.items():
        names = [name for name in worlds if text in name]
        if not names:
            continue
        print(HEAD.format(title=f"{title}, {kind} report"), flush=True)
        cases = [(name, seed, fast) for name in names for seed in range(first, first + repeats)]
        outcomes: list[Outcome] = []
        for outcome in run(cases, jobs, log):
            outcomes.append(outcome)
            if len(outcomes) % repeats == 0:
                print(line(outcome.world, outcomes[-repeats:]), flush=True)
        asked, held, shown = (
            sum(of) for of in zip(*((o.asked, o.held, o.verdict == "shown") for o in outcomes))
        )
        print(
            f"\n{title}: {len(outcomes)} tables, {asked} questions, {held} headlines held, "
            f"{shown} shown, mean coverage {np.mean([o.coverage for o in outcomes]):.1%}",
            flush=True,
        )


#: Worlds that other libraries are asked about.
ASKED = (
    "whole numbers, every row three times",
    "customers joined to four orders",
    "noise in the fourth decimal",
    "8 rows for each of 105 clients",
    "hourly series",
    "hidden owner, classes",
    "panel of shops",
    "order of the rows only",
    "smooth function",
)
#: Fresh rows that a library predicts: some are slow.
FRESH_ROWS = 2000


def peers(repeats: int, first: int, text: str, python: str) -> None:
    """Print what other libraries say of a file, and their error on new owners or later rows."""
    names = ("scikit-learn", "mljar", "AutoGluon")
    print(f"\n| error said, and true | {' | '.join(names)} | corollary |\n| --- |{' --- |' * 4}")
    for world in [name for name in ASKED if text in name]:
        rows = [judged(world, seed, names, python) for seed in range(first, first + repeats)]
        cells = []
        for told in zip(*rows):
            pairs = [pair for pair in told if pair is not None]
            said, true = np.median(pairs, axis=0) if pairs else (np.nan, np.nan)
            cells.append(f"{said:.3g}, {true:.3g}" if pairs else "not installed")
        print(f"| {world} | {' | '.join(cells)} |", flush=True)


def judged(
    world: str, seed: int, names: tuple[str, ...], python: str
) -> list[tuple[float, float] | None]:
    """Give the error that each library states, and the true one; ours is the last."""
    r = np.random.default_rng([seed, 14])
    drawn = WORLDS[world](r)
    _, fresh = drawn.fresh("", "", np.zeros(0, int), r)
    some = r.permutation(len(fresh.frame))[:FRESH_ROWS]
    classes = fresh.frame["y"].nunique() < 10
    program = str(Path(__file__).with_name("dependence_peers.py"))
    with tempfile.TemporaryDirectory() as folder:
        files = [f"{folder}/{name}.csv" for name in ("file", "fresh")]
        drawn.frame.to_csv(files[0], index=False)
        fresh.frame.iloc[some].assign(unit_=fresh.units[some]).to_csv(files[1], index=False)
        task = "classification" if classes else "regression"
        told = [_ask([python, program, name, *files, task]) for name in names]
    evidence, model = measure(from_memory(drawn.frame), "y", seed=seed)
    features = model.encoder.transform(fresh.frame[list(model.columns)].iloc[some])
    predicted, y = model.predictor.predict(features), fresh.frame["y"].to_numpy()[some]
    if classes:
        wrong = np.asarray(evidence.classes)[predicted] != y.astype(str)
        return [*told, (evidence.error_rate.value, float(wrong.mean()))]
    return [*told, (evidence.error_sizes.mean, float(np.abs(predicted - y).mean()))]


def _ask(command: list[str]) -> tuple[float, float] | None:
    """Run a library in a process of its own, one thread, and read what it prints last."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
    environment.pop("PYTHONPATH", None)
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    told = json.loads(done.stdout.strip().splitlines()[-1])
    return None if "missing" in told else (told["said"], told["true"])
