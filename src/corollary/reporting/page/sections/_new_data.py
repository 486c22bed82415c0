"""Still true on new data: for which rows the claims hold, and what would be noticed."""

from typing import Any

from corollary.core.certificate import format_share
from corollary.reporting._records import Evidence, ProfiledColumn
from corollary.reporting.page import _population as population
from corollary.reporting.page._format import count, label, number, percent, plural
from corollary.reporting.page._report_content import NewDataSection
from corollary.reporting.page.sections import _facts as facts
from corollary.reporting.trust._detection import ALARM, POWER

HEADING, CONTENT = "New data", NewDataSection

MOST_RANGES = 12
HOW_TO_CHECK = (
    'corollary.certify(corollary.load("model.corollary"), rows, targets) bounds their error'
)


def build(evidence: Evidence) -> dict[str, Any] | None:
    """State the scope of the claims and the smallest change that new rows would reveal."""
    table = detectable(evidence)
    write = percent if table["percent"] else number
    known = [r for r in table["rows"] if r["detectable"] is not None]
    finding = population.holds_for(evidence)
    if known:
        finding += (
            f" Once their {facts.target_name(evidence)} is known, "
            f"{population.new_rows(evidence, known[-1]['n'])} would reveal "
            f"{revealed(evidence, write(known[-1]['detectable'], direction='up'))}."
        )
    else:
        finding += " With so few test rows even 1,000 new rows would not reveal a change."
    return {
        "finding": finding,
        "detectable": table,
        "ranges": _ranges(evidence),
        "method": _method(evidence, table),
    }


def detectable(evidence: Evidence) -> dict[str, Any]:
    """Say which error on m new rows would be told from the present one."""
    found = evidence.detection
    share = found.limit is not None
    now_words = number(found.now)
    if found.limit is not None:
        now_words = f"{percent(found.now)}, at most {format_share(found.limit)}"
    quantity: str = found.kind
    if found.far is not None:
        quantity = f"share of rows {_far(found.far)}"
    return {
        "quantity": quantity,
        "percent": share,
        "now": found.now,
        "now_words": now_words,
        "rows": [{"n": m, "detectable": value} for m, value in found.smallest],
    }


def _far(far: float) -> str:
    return f"off by more than {number(far)}"


def _ranges(evidence: Evidence) -> list[dict[str, Any]]:
    """List the values seen so far in the columns that matter most."""
    columns = {c.name: c for c in evidence.profile.columns if c.used}
    names = [i.column for i in evidence.importances if i.column in columns]
    names += [name for name in columns if name not in set(names)]
    return [
        {"column": name, "kind": columns[name].kind, "seen": _seen(columns[name])}
        for name in names[:MOST_RANGES]
    ]


def _seen(column: ProfiledColumn) -> str:
    numbers = column.numbers
    if "min" in numbers and "max" in numbers:
        return f"{facts.cell(numbers['min'])} to {facts.cell(numbers['max'])}"
    labels = [label(str(v), 24) for v in column.histogram.get("labels", [])[:5]]
    text = ", ".join(labels)
    more = column.n_distinct - len(labels)
    if not labels:
        return plural(column.n_distinct, "distinct value")
    return f"{text} and {count(more)} more" if more > 0 else text


def revealed(evidence: Evidence, shown: str) -> str:
    """Say what new rows would reveal."""
    if evidence.detection.far is not None:
        return f"that {shown} or more of the rows are {_far(evidence.detection.far)}"
    return f"an {evidence.detection.kind} of {shown} or more"


def _method(evidence: Evidence, table: dict[str, Any]) -> list[str]:
    if table["percent"]:
        what = "errors" if evidence.task == "classification" else "such rows"
        return [
            f"An alarm is raised when m new rows contain more {what} than the upper bound on the "
            f"{table['quantity']} ({table['now_words']}, n = {count(evidence.n_pieces)}) "
            f"allows with probability {percent(1 - ALARM)}; the table gives the share that raises "
            f"it with probability {percent(POWER)} (exact binomial)."
        ]
    return [
        f"An alarm is raised when the mean absolute error of m new rows exceeds the present one "
        f"by more than chance explains at {percent(ALARM)}; the table gives the mean error that "
        f"raises it with probability {percent(POWER)} (normal approximation, spread from "
        f"{population.pieces(evidence, evidence.n_pieces, 'test')})."
    ]
