"""Of whom the report speaks, and the other answer beside it, below the headline."""

from typing import Any

from corollary.reporting._records import Evidence
from corollary.reporting._structure import UnitFact
from corollary.reporting.page import _population as population
from corollary.reporting.page._format import count, label, number, percent
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
    sentence = f"This report speaks of {population.such_rows(evidence)}{_reason(unit)}."
    if judged is not None and (judged.matters or not facts.chosen(evidence).baseline):
        sentence += _beside(evidence, unit)
    if not unit.told:
        sentence += f" {_question(evidence, unit)}"
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


def _reason(unit: UnitFact) -> str:
    """Say why: the user asked for it, or rows were found to belong together."""
    option = _option(unit)
    if unit.told:
        return f", as {option} asks for"
    if unit.kind in ("time", "order"):
        return ", because rows were found to change with time"
    return ", because rows of one were found to resemble each other"


def _beside(evidence: Evidence, unit: UnitFact) -> str:
    """Set the error where the unit was seen beside the one where it was not."""
    judged = evidence.structure.familiarity
    assert judged is not None
    classes = evidence.task == "classification"
    seen, unseen = (percent(e) if classes else number(e) for e in (judged.seen, judged.unseen))
    error = "wrong" if classes else "median error"
    if unit.kind in ("time", "order"):
        return (
            f" In cross-validation: {seen} {error} with rows of all times dealt at random, "
            f"{unseen} on later rows."
        )
    known = f"the {count(unit.n_units)} {label(evidence.population.pieces, 80)} of the table"
    return (
        f" In cross-validation, not certified: {seen} {error} on further rows of {known}, "
        f"{unseen} on rows of new ones."
    )


def _question(evidence: Evidence, unit: UnitFact) -> str:
    """Ask what only the user knows."""
    if unit.kind in ("time", "order"):
        ask = "Will new rows be later ones"
    else:
        ask = f"Will new rows bring new {label(evidence.population.pieces, 80)}"
    return f"{ask}? Then nothing is to do ({_option(unit)}). If not, run with --independent."


def _option(unit: UnitFact) -> str:
    """Give the option that says the same."""
    if unit.kind == "order":
        return "--order"
    option = "--time" if unit.kind == "time" else "--group"
    return f"{option} {label(unit.columns[0], 40)}" if unit.kind != "joined" else option
