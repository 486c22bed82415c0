"""Limits: what this report does not show."""

from typing import Any

from corollary.reporting._records import Evidence
from corollary.reporting.page import _population as population
from corollary.reporting.page._format import label, listing, plural
from corollary.reporting.page._report_content import LimitsSection
from corollary.reporting.page.sections import _facts as facts

HEADING, CONTENT = "Limits", LimitsSection

FEW_ROWS = 100


def build(evidence: Evidence) -> dict[str, Any] | None:
    """List what the reader must not conclude."""
    lines = [
        population.scope(evidence),
        population.split_words(evidence),
        "Sets and intervals keep their promise on average over rows, not for each single row or "
        "every group that one may think of.",
        "Importance and effects describe the model. They are associations, not causes.",
    ]
    dates = [label(c.name, 40) for c in evidence.profile.columns if c.used and c.kind == "date"]
    if dates and evidence.population.kind != "period":
        lines.insert(
            1,
            f"Rows were dealt at random whatever their {listing(dates)}, so nothing here tells how "
            "well the rows of a later time are predicted.",
        )
    if evidence.population.kind == "new units" and evidence.n_pieces < FEW_ROWS:
        few = population.pieces(evidence, evidence.n_pieces)
        lines.insert(
            0,
            f"The test rows belong to only {few}: intervals are wide, and rare failures cannot "
            "show.",
        )
    elif evidence.n_test < FEW_ROWS:
        lines.insert(
            0,
            f"There are only {plural(evidence.n_test, 'test row')}: intervals are wide, and rare "
            "failures cannot show.",
        )
    if evidence.profile.n_dropped:
        dropped = plural(evidence.profile.n_dropped, "row")
        one = evidence.profile.n_dropped == 1
        value = "a value of" if evidence.classes else "a number in"
        lines.append(
            f"{dropped} without {value} {facts.target_name(evidence)} "
            f"{'was' if one else 'were'} left out; if {'it differs' if one else 'they differ'} "
            f"from the others, the claims do not cover {'it' if one else 'them'}."
        )
    unused = [label(c.name, 40) for c in evidence.profile.columns if not c.used]
    if unused:
        verb, them = ("was", "it") if len(unused) == 1 else ("were", "them")
        lines.append(f"{listing(unused)} {verb} not used: no claim involves {them}.")
    if evidence.unsaved:
        lines.insert(0, unsaved_words(evidence))
    lines += [str(note) for note in evidence.notes]
    return {
        "finding": f"This report shows how one model does on {population.tested_rows(evidence)}. "
        "It does not show the following.",
        "limits": lines,
    }


def unsaved_words(evidence: Evidence) -> str:
    """Say why there is no model file."""
    reason = label(evidence.unsaved, 400)
    return f"There is no model file, because {reason.rstrip('.')}."
