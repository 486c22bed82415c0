"""How often rows that depend on each other are seen, and how often others are called so.

``python -m bench.dependence [--repeats N] [--first SEED] [--worlds TEXT]``: for each world of
``tests/validation/dependence/worlds.py`` the share of seeds in which a question is asked (the
right one where there is one), medians of what was measured, and seconds.

``--reports fast`` or ``--reports full`` runs the whole report instead, on the worlds of
``bench/dependence_worlds.py``, and faces its model with fresh rows of the kind that it speaks of:
how often the headline held, how often sets and intervals did. ``--peers N`` prints, on N tables of
some of these worlds, what other libraries say of the same file and the truth; the interpreter that
has them is named by ``--peer-python``.
"""

import argparse
import statistics
import sys
import time
from pathlib import Path
from typing import NamedTuple

from tests.validation.dependence.worlds import WORLDS, called, draw

from bench.dependence_report import peers, reports
from corollary.validation import Dependence, Unit, find_dependence


class Outcome(NamedTuple):
    """What was found in one table of a world."""

    asked: bool
    unit: Unit | None  # the right unit if it was asked about, else the one of largest excess
    seconds: float


def examine(name: str, seed: int) -> Outcome:
    """Look for dependence in one table of a world."""
    X, y = draw(name, seed)
    start = time.perf_counter()
    dependence = find_dependence(X, y, random_state=seed)
    seconds = time.perf_counter() - start
    return Outcome(called(name, dependence), relevant(name, dependence), seconds)


def relevant(name: str, dependence: Dependence) -> Unit | None:
    """Return the unit that a world is about, or the one that seems to matter most."""
    kinds, columns = WORLDS[name].kinds or WORLDS[name].wrong, WORLDS[name].columns
    units = [
        unit
        for unit in dependence.units
        if (not kinds or unit.kind in kinds)
        and (not columns or set(columns) & set(unit.columns))
        and unit.effect is not None
    ]
    return max(units, key=lambda u: (u.matters, u.effect.excess), default=None)


def median(values: list[float | None]) -> str:
    """Write the median of the numbers there are."""
    present = [value for value in values if value is not None]
    return f"{statistics.median(present):.2f}" if present else "-"


def line(name: str, repeats: int, first: int) -> tuple[str, int]:
    """Examine some tables of a world; return a row of the page and the number of questions."""
    outcomes = [examine(name, seed) for seed in range(first, first + repeats)]
    effects = [o.unit.effect for o in outcomes if o.unit is not None]
    asked = sum(o.asked for o in outcomes)
    figures = [
        median([e.cost.value for e in effects]),
        median([e.hint for e in effects]),
        median([e.later for e in effects]),
        median([o.seconds for o in outcomes]),
    ]
    marks = "fresh" * WORLDS[name].fresh + " weak" * WORLDS[name].weak
    return f"| {name} | {marks.strip()} | {asked}/{repeats} | {' | '.join(figures)} |", asked


def detection(repeats: int, first: int, text: str) -> None:
    """Print how often each world is asked about."""
    names = [name for name in WORLDS if text in name]
    for title, dependent in (("with structure", True), ("clean", False)):
        chosen = [name for name in names if bool(WORLDS[name].kinds) == dependent]
        print(f"\n| {title} | | asked | cost | hint | later | seconds |")
        print("| --- | --- | --- | --- | --- | --- | --- |", flush=True)
        total = 0
        for name in chosen:
            row, asked = line(name, repeats, first)
            total += asked
            print(row, flush=True)
        print(f"\n{title}: {total} questions in {repeats * len(chosen)} tables", flush=True)


def main() -> None:
    """Read the options and print the tables."""
    parser = argparse.ArgumentParser(prog="python -m bench.dependence", description=__doc__)
    parser.add_argument("--repeats", type=int, default=20, help="seeds of each world")
    parser.add_argument("--first", type=int, default=0, help="the first of the seeds")
    parser.add_argument("--worlds", default="", help="only worlds whose name contains this")
    parser.add_argument("--reports", choices=("fast", "full"), help="run whole reports")
    parser.add_argument("--jobs", type=int, default=1, help="processes that run reports")
    parser.add_argument("--log", type=Path, help="write the outcome of each report to this file")
    parser.add_argument("--peers", type=int, default=0, help="tables of each world for the peers")
    parser.add_argument("--peer-python", default=sys.executable, help="interpreter of the peers")
    options = parser.parse_args()
    if options.peers:
        peers(options.peers, options.first, options.worlds, options.peer_python)
    elif options.reports:
        fast, which = options.reports == "fast", (options.repeats, options.first, options.worlds)
        reports(*which, fast=fast, jobs=options.jobs, log=options.log)
    else:
        detection(options.repeats, options.first, options.worlds)


if __name__ == "__main__":
    main()
