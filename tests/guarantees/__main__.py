"""Simulate every claim at full length and write ``docs/guarantees.md``.

Run by ``make verify``; ``--most N`` bounds the repetitions, which the table states. The exit code
is 1 if a claim is broken. The table depends on the seeds alone: a second run writes the same file.
"""

import argparse
import math
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from tests.guarantees.registry import Outcome, load, simulate

TARGET = Path(__file__).parents[2] / "docs" / "guarantees.md"
HEAD = """# Guarantees, simulated

Every bound of the library is drawn against the truth on worlds where the truth is known. *Allowed*
is the share of repetitions in which the true value may exceed its bound (0: never; "mean": the
claim is about expectations), *seen* the share in which it did. *Tightness* is the median bound over
the smallest number that would have kept the same promise in that world: 1 is perfect, 10 is ten
times too careful. Written by `make verify`; planted faults are part of `make test`.

| theorem | world | repetitions | allowed | seen | tightness |
| --- | --- | --- | --- | --- | --- |
"""


def judge(index: int, most: int) -> Outcome:
    claim = load()[index]
    return simulate(claim, claim.trial, min(claim.verify, most))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=sys.maxsize, help="most repetitions of a claim")
    most, claims = parser.parse_args().most, load()
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        outcomes = list(pool.map(partial(judge, most=most), range(len(claims))))
    lines, broken = [], 0
    for claim, outcome in zip(claims, outcomes):
        allowed = "mean" if claim.delta is None else f"{claim.delta:g}"
        seen = "" if claim.delta is None else f"{outcome.violations / outcome.repetitions:.4g}"
        tight = f"{outcome.tightness:.2f}" if math.isfinite(outcome.tightness) else "vacuous"
        lines.append(
            f"| `{claim.theorem}` | {claim.world} | {outcome.repetitions:,} | {allowed} | {seen} "
            f"| {tight} |"
        )
        if outcome.message:
            broken += 1
            print(f"BROKEN {claim.name}: {outcome.message}", file=sys.stderr)
    TARGET.write_text(HEAD + "\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(claims)} claims simulated, {broken} broken; wrote {TARGET.name}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
