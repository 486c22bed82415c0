"""Try the faults of the ledger's rows and write the survivors into ``docs/guarantees.md``.

Run by ``make verify``. With the beginnings of rows' names (``theory. risk.erm``) or with ``--kind``
it tries these rows only, prints the survivors and writes nothing. Rows that have not changed since
an earlier run are not tried again. The exit code is 1 if the tests of a row fail by themselves, if
fewer faults are killed than the kind of a row asks for, or if a row names a function that none of
its tests calls.
"""

import argparse
import os
import sys
import time

from tests.guarantees._page import TARGET, write
from tests.mutants.equivalent import EQUIVALENT
from tests.mutants.kept import Kept
from tests.mutants.rows import load
from tests.mutants.run import MOST, Verdict, try_rows

#: Share of the faults that must be killed.
GOALS = {"BOUND": 1.0, "QUANTITY": 1.0, "IDENTITY": 1.0, "CONSTRUCTION": 0.95, "METHOD": 0.95}
HEAD = """\
Would the tests notice a wrong number? Every row of the ledger (`coverage.toml`) names objects and
tests. Small faults are planted in the objects, one at a time: the value times 0.7 or 1.5, a
constant of the formula changed, a comparison turned round, a sample size lost. The tests that the
row names, with the simulations of its claims above, must then fail; an object that several rows
name is tried with the tests of all of them. At most {BOUND} faults of a bound, quantity or
identity, {CONSTRUCTION} of a construction and {METHOD} of a method are drawn, by a fixed seed, from
the functions that the tests reach; a line that they do not reach counts as a survivor, unless other
rows name the object as well. Compiled loops are not changed. {n_equivalent} lines or changes that
change nothing are listed with their reasons in `tests/mutants/equivalent.py`. Written by
`make verify` (`python -m tests.mutants`).

| kind of row | rows | faults | killed | score |
| --- | --- | --- | --- | --- |
"""


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", nargs="*", help="beginnings of rows' names; all rows if none")
    parser.add_argument("--kind", help="kinds of rows, separated by commas")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--fresh", action="store_true", help="forget the verdicts of earlier runs")
    asked = parser.parse_args(arguments)
    start, kept = time.monotonic(), Kept(fresh=asked.fresh)
    rows = load(asked.rows, asked.kind.split(",") if asked.kind else None)
    known = {row.name: kept.find(row) for row in rows}
    changed = [row for row in rows if known[row.name] is None]
    tried = {v.row.name: v for v in try_rows(changed, workers=asked.workers, keep=kept.keep)}
    verdicts = [known[row.name] or tried[row.name] for row in rows]
    print(section(verdicts))
    broken = [verdict for verdict in verdicts if verdict.broken]
    for verdict in broken:
        print(f"{verdict.row.name} was not tried: {verdict.broken}", file=sys.stderr)
    print(f"{len(changed)} of {len(rows)} rows tried in {time.monotonic() - start:.0f} s")
    if not (asked.rows or asked.kind or broken):
        write(faults=section(verdicts))
        print(f"wrote {TARGET.name}")
    missed = [f"{kind} {share:.1%}" for kind, share in _shares(verdicts) if share < GOALS[kind]]
    if missed:
        print(f"Too few faults are killed: {', '.join(missed)}.", file=sys.stderr)
    idle = [verdict.row.name for verdict in verdicts if verdict.idle]
    if idle:
        print(f"Rows that name what none of their tests calls: {', '.join(idle)}.", file=sys.stderr)
    return 1 if broken or missed or idle else 0


def section(verdicts: list[Verdict]) -> str:
    """Write the table of scores, the survivors and the objects that are never called."""
    lines = [HEAD.format(n_equivalent=len(EQUIVALENT), **MOST)]
    for kind in [*GOALS, "all"]:
        chosen = [v for v in verdicts if kind in (v.row.kind, "all") and v.tried]
        tried, killed = sum(v.tried for v in chosen), sum(len(v.killed) for v in chosen)
        if tried:
            share = f"{killed / tried:.1%}"
            lines.append(f"| {kind} | {len(chosen)} | {tried:,} | {killed:,} | {share} |\n")
    lines.append(
        "\n| survivor of the row | kind | function | change |\n| --- | --- | --- | --- |\n"
    )
    for verdict in verdicts:
        for fault in sorted(verdict.survived):
            function, _, change = fault.replace("|", "\\|").partition(": ")
            lines.append(
                f"| `{verdict.row.name}` | {verdict.row.kind} | `{function}` | `{change}` |\n"
            )
    idle = [f"`{v.row.name}` names `{name}`" for v in verdicts for name in v.idle]
    if idle:
        lines.append(
            "\nNamed functions that no test of their row calls: " + "; ".join(idle) + ".\n"
        )
    return "".join(lines)


def _shares(verdicts: list[Verdict]) -> list[tuple[str, float]]:
    """Return the share of killed faults for each kind of row."""
    kinds = {verdict.row.kind: (0, 0) for verdict in verdicts if verdict.tried}
    for verdict in verdicts:
        if verdict.tried:
            tried, killed = kinds[verdict.row.kind]
            kinds[verdict.row.kind] = tried + verdict.tried, killed + len(verdict.killed)
    return [(kind, killed / tried) for kind, (tried, killed) in kinds.items()]


if __name__ == "__main__":
    sys.exit(main())
