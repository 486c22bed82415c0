"""Reproduce: command, seed, versions, hashes, and where the time went."""

from typing import Any

from corollary.reporting._records import Evidence
from corollary.reporting.page._format import seconds
from corollary.reporting.page._report_content import ReproduceSection

HEADING, CONTENT = "Reproduce", ReproduceSection


def build(evidence: Evidence) -> dict[str, Any] | None:
    """List what another person needs to get the same bytes."""
    total = float(sum(evidence.seconds.values()))
    text = "The same command on the same file with the same versions writes the same report"
    text += ", apart from the date and the times." if evidence.date or total else "."
    if total:
        text += f" This run took {seconds(total)}."
    return {
        "finding": text,
        "command": evidence.command,
        "seed": int(evidence.seed),
        "versions": {str(k): str(v) for k, v in evidence.versions.items()},
        "hashes": {str(k): str(v) for k, v in evidence.hashes.items()},
        "stages": [
            {"stage": str(k), "seconds": float(v), "words": seconds(v)}
            for k, v in evidence.seconds.items()
        ],
        "network": "Neither the run nor this page uses a network.",
    }
