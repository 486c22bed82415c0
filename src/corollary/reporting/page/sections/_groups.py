"""Weak groups: parts of the data, cut by one column, where the model errs more than elsewhere."""

from typing import Any

from corollary.reporting._records import Evidence
from corollary.reporting.page import _population as population
from corollary.reporting.page._format import count, label, number, percent_triple, plural, triples
from corollary.reporting.page.sections import _facts as facts
from corollary.reporting.trust.errors._groups import LEAST_ROWS, Group
from corollary.reporting.trust.errors._weak_groups import WeakGroups


def build(evidence: Evidence) -> dict[str, Any] | None:
    """Write down the groups that err most."""
    found = evidence.weak_groups
    if found is None:
        return None
    regression, drawn = evidence.task == "regression", not found.few_errors
    rows = _rows(evidence, found)
    return {
        "sentence": _sentence(rows, found.n_weak, found.n_tested, drawn),
        "n_tested": found.n_tested,
        "n_shown": found.n_weak,
        "n": found.rows,
        "forest": None
        if not drawn
        else {
            "rows": rows,
            "reference": found.overall,
            "reference_label": "all test rows",
            "axis": "average error in the group" if regression else "share wrong in the group",
            "percent": not regression,
        },
        "method": f"Groups are the categories of each column and the lower, middle and upper third "
        f"of each numeric column, with at least {LEAST_ROWS} of "
        f"{population.pieces(evidence, found.n)}. "
        f"Intervals hold for all {count(found.n_tested)} groups together (Bonferroni); a group is "
        f"called weak when it errs more than all other rows at {facts.confidence_words(evidence)} "
        f"after Holm’s correction for so many looks {population.group_test(evidence)}",
    }


def name_group(group: Group) -> str:
    """Name a group of rows."""
    name = label(group.column, 40)
    low, high = (number(end) for end in group.ends)
    return {
        "lowest": f"{name} up to {low}",
        "middle": f"{name} {low} to {high}",
        "highest": f"{name} above {high}",
        "missing": f"{name} missing",
        "level": f"{name}: {facts.cell(group.level)}",
    }[group.part]


def _rows(evidence: Evidence, found: WeakGroups) -> list[dict[str, Any]]:
    ends = [(g.value, g.low, facts.plain(g.high)) for g in found.shown]
    if evidence.task == "regression":
        words = triples(ends)
    else:
        words = [percent_triple(*end) for end in ends]
    return [
        {
            "label": name_group(g.group),
            "value": value,
            "low": low,
            "high": high,
            "text": f"{text[0]} ({text[1]} to {text[2]}), n = {count(g.rows)}",
            "n": g.rows,
            "p": g.p,
            "warn": g.weak,
            "muted": not g.weak,
        }
        for g, (value, low, high), text in zip(found.shown, ends, words)
    ]


def _sentence(rows: list[dict[str, Any]], shown: int, tested: int, drawn: bool) -> str:
    if not shown:
        return (
            f"None of {plural(tested, 'group')} is shown to err more than the rest, corrected for "
            "so many looks"
            + ("; the largest averages are drawn." if drawn else "; there are too few errors.")
        )
    verb = "is" if shown == 1 else "are"
    return (
        f"{plural(shown, 'group')} of {count(tested)} {verb} shown to err more than the rest: "
        f"most clearly {rows[0]['label']}, {rows[0]['text']}."
    )
