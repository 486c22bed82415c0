"""Of whom the report speaks, and the other answer beside it, below the headline."""

from typing import Any

from corollary.reporting._records import Evidence
from corollary.reporting._structure import UnitFact
from corollary.reporting.page import _population as population
from corollary.reporting.page._format import count, label, listing, number, percent
from corollary.reporting.page.sections import _facts as facts


def build(evidence: Evidence) -> dict[str, Any] | None:
    """Say of which rows the numbers speak; nothing for rows drawn alike that hold no surprise."""
    structure = evidence.structure
    unit, judged = structure.headline, structure.familiarity
    if unit is None:
        if not structure.vouched:
            return None
        sentence = "You vouched that rows do not depend on each other; all of this rests on it."
        return {"rows": population.such_rows(evidence), "sentence": sentence, "unit": None}
    parts = [f"These numbers speak of {population.such_rows(evidence)}{_reason(evidence, unit)}."]
    if judged is not None and (judged.harder or not facts.chosen(evidence).baseline):
        parts.append(_beside(evidence, unit))
    if not unit.told:
        parts.append(_question(evidence, unit))
    parts += [_other(fact) for fact in structure.facts if fact.asked]
    sentence = " ".join(parts)
    return {
        "rows": population.such_rows(evidence),
        "sentence": sentence,
        "unit": {
            "kind": unit.kind,
            "columns": [str(name) for name in unit.columns],
            "n_units": unit.n_units,
            "told": unit.told,
            "error_seen": None if judged is None else judged.seen,
            "error_unseen": None if judged is None else judged.unseen,
        },
    }


def _reason(evidence: Evidence, unit: UnitFact) -> str:
    """Say why: the user asked for it, or rows were found to belong together."""
    if unit.told:
        return f", as {_option(unit)} asks for"
    if unit.in_time:
        return ": rows were found to change with time"
    return f": rows of one {label(evidence.population.piece, 80)} were found to resemble each other"


def _beside(evidence: Evidence, unit: UnitFact) -> str:
    """Set the error where the unit was seen beside the one where it was not."""
    judged = evidence.structure.familiarity
    assert judged is not None
    if evidence.task == "classification":
        seen, unseen = (f"about {percent(e)} wrong" for e in (judged.seen, judged.unseen))
    else:
        seen, unseen = (
            f"about {number(e)} off in the median" for e in (judged.seen, judged.unseen)
        )
    if unit.in_time:
        return (
            f"With rows of all times dealt at random: {seen}; on later rows: {unseen} "
            "(cross-validated, not certified)."
        )
    known = f"the {count(unit.n_units)} {label(evidence.population.pieces, 80)} of the table"
    return (
        f"Further rows of {known}: {seen}; rows of new ones: {unseen} (cross-validated, not "
        "certified)."
    )


def _question(evidence: Evidence, unit: UnitFact) -> str:
    """Say which option settles what only the user knows."""
    settled = "" if unit.kind == "joined" else f"; {_option(unit)} settles it"
    if unit.in_time:
        return f"If new rows are not later ones, run with --independent{settled}."
    pieces = label(evidence.population.pieces, 80)
    return f"If new rows bring no new {pieces}, run with --independent{settled}."


def _other(unit: UnitFact) -> str:
    """Tell of a second way in which rows depend on each other."""
    if unit.in_time:
        return f"Rows also change with time: {_option(unit)} speaks of later ones instead."
    names = listing([label(name, 40) for name in unit.columns[:4]])
    return f"Rows that agree in {names} resemble each other, too."


def _option(unit: UnitFact) -> str:
    """Give the option that says the same."""
    if unit.kind == "order":
        return "--order"
    option = "--time" if unit.kind == "time" else "--group"
    return f"{option} {label(unit.columns[0], 40)}" if unit.kind != "joined" else option
