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
        seen, unseen = (f"wrong {percent(e)} of the time" for e in (judged.seen, judged.unseen))
    else:
        seen, unseen = (
            f"about {number(judged.seen)} off in the median",
            f"{number(judged.unseen)} off",
        )
    known = f"on further rows of the {count(unit.n_units)} {label(evidence.population.pieces, 80)}"
    where, new = f"{known} of the table", "on rows of new ones"
    if unit.in_time:
        where, new = "where rows of all times are dealt at random", "on later rows"
    return (
        f"In cross-validation, which certifies nothing, the model is {seen} {where} and {unseen} "
        f"{new}."
    )


def _question(evidence: Evidence, unit: UnitFact) -> str:
    """Say which option settles what only the user knows."""
    pieces = label(evidence.population.pieces, 80)
    what = "be later ones" if unit.in_time else f"bring new {pieces}"
    told = "" if unit.kind == "joined" else f" If so, {_option(unit)} settles it."
    return f"Will new rows {what}?{told} If not, run with --independent."


def _other(unit: UnitFact) -> str:
    """Tell of a second way in which rows depend on each other."""
    if unit.in_time:
        return f"Rows also change with time; for later rows, run with {_option(unit)}."
    names = listing([label(name, 40) for name in unit.columns[:4]])
    return f"Rows that agree in {names} resemble each other, too."


def _option(unit: UnitFact) -> str:
    """Give the option that says the same."""
    if unit.kind == "order":
        return "--order"
    option = "--time" if unit.kind == "time" else "--group"
    return f"{option} {label(unit.columns[0], 40)}" if unit.kind != "joined" else option
