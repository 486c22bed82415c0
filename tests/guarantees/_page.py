"""The page of guarantees: the table of simulated claims, then the table of planted faults.

Each part is written by a run of its own, which leaves the other part as it is.
"""

from pathlib import Path

TARGET = Path(__file__).parents[2] / "docs" / "guarantees.md"
#: The heading with which the second part begins.
FAULTS = "\n## Wrong numbers, planted\n"


def write(*, claims: str | None = None, faults: str | None = None, target: Path = TARGET) -> None:
    """Replace the table of claims, the section of faults, or both."""
    before = target.read_text(encoding="utf-8") if target.exists() else ""
    first, heading, second = before.partition(FAULTS)
    first = first if claims is None else claims
    section = heading + second if faults is None else f"{FAULTS}\n{faults}"
    target.write_text(first + section, encoding="utf-8")
