"""Simulate every claim at full length and write ``docs/guarantees.md``.

Run by ``make verify``; ``--most N`` bounds the repetitions, which the table states. The exit code
is 1 if a claim is broken. The table depends on the seeds alone: a second run writes the same file.
``python -m tests.guarantees NAME`` simulates the claims of one theorem, or one claim, in this
process, prints their rows of the table and writes nothing.
"""

import argparse
import math
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from scipy.stats import binomtest

from tests.guarantees._page import TARGET, write
from tests.guarantees.registry import Guarantee, Outcome, load, simulate

HEAD = """# Guarantees, simulated

Every bound of the library is drawn against the truth on worlds where the truth is known. *Allowed*
is the share of repetitions in which the true value may exceed its bound (0: never; "mean": the
claim is about expectations). *Seen* is the share in which it did, with the 95% interval that so
many repetitions leave for it: a true claim that is nearly sharp is seen above its share about
every second time, and only an interval that begins above what is allowed would speak against it. A
claim counts as broken where a true one would look so in less than one of a million simulations.

*Tightness* is the median bound over the smallest single number that would have kept the same
promise in that world: 1 is perfect, 10 is ten times too careful. It can fall below 1 where bounds
follow the draw, small where the truth is small, which no single number can do. *Vacuous*: the
median bound says nothing; such rows show that too few observations give no false promise. Written
by `make verify`; planted faults are part of `make test`.

| theorem | world | repetitions | allowed | seen | tightness |
| --- | --- | --- | --- | --- | --- |
"""


def judge(index: int, most: int) -> Outcome:
    claim = load()[index]
    return simulate(claim, claim.trial, min(claim.verify, most))


def share(violations: int, repetitions: int) -> str:
    """Write a share with its exact 95% interval."""
    low, high = binomtest(violations, repetitions).proportion_ci(0.95)
    return f"{violations / repetitions:.3g} ({low:.2g} to {high:.2g})"


def row(claim: Guarantee, outcome: Outcome) -> str:
    allowed = "mean" if claim.delta is None else f"{claim.delta:g}"
    seen = "" if claim.delta is None else share(outcome.violations, outcome.repetitions)
    tight = f"{outcome.tightness:.2f}" if math.isfinite(outcome.tightness) else "vacuous"
    return (
        f"| `{claim.theorem}` | {claim.world} | {outcome.repetitions:,} | {allowed} | {seen} "
        f"| {tight} |"
    )


def broken(claims: list[Guarantee], outcomes: list[Outcome]) -> int:
    """Name the claims that were broken, and count them."""
    lines = [f"BROKEN {c.name}: {o.message}" for c, o in zip(claims, outcomes) if o.message]
    for line in lines:
        print(line, file=sys.stderr)
    return len(lines)


def simulate_some(name: str, most: int) -> int:
    """Simulate the claims of one theorem, or the claim of that name."""
    claims = [claim for claim in load() if name in (claim.name, claim.theorem)]
    if not claims:
        raise SystemExit(f"No claim is named {name!r}: give a theorem, or 'theorem: world'.")
    outcomes = [simulate(claim, claim.trial, min(claim.verify, most)) for claim in claims]
    print("\n".join(map(row, claims, outcomes)))
    return 1 if broken(claims, outcomes) else 0


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", nargs="?", help="a theorem, or one of its claims: 'theorem: world'")
    parser.add_argument("--most", type=int, default=sys.maxsize, help="most repetitions of a claim")
    asked = parser.parse_args(arguments)
    if asked.name:
        return simulate_some(asked.name, asked.most)
    claims = load()
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        outcomes = list(pool.map(partial(judge, most=asked.most), range(len(claims))))
    lines = "\n".join(map(row, claims, outcomes))
    write(claims=f"{HEAD}{lines}\n")
    n_broken = broken(claims, outcomes)
    print(f"{len(claims)} claims simulated, {n_broken} broken; wrote {TARGET.name}")
    return 1 if n_broken else 0


if __name__ == "__main__":
    sys.exit(main())
