"""Still true on new data: for which rows the claims hold, and what would be noticed."""

import math
from typing import Any

import numpy as np
from scipy import special

from corollary.core.certificate import format_share
from corollary.reporting._records import Evidence, ProfiledColumn
from corollary.reporting.page._format import count, label, number, percent, plural
from corollary.reporting.page.sections import _facts as facts
from corollary.validation import share_upper

SIZES = (30, 100, 300, 1000)
ALARM = 0.05
POWER = 0.8
#: Where a few rows decide every average, errors beyond this quantile are counted.
FAR = 0.9
_SHARE = "share of rows "
MOST_RANGES = 12


def build(evidence: Evidence) -> dict[str, Any] | None:
    """State the scope of the claims and the smallest change that new rows would reveal."""
    table = detectable(evidence)
    write = percent if table["percent"] else number
    known = [r for r in table["rows"] if r["detectable"] is not None]
    finding = (
        "Everything above holds for rows drawn like these; no new data have been checked so far."
    )
    if known:
        finding += (
            f" Once their {facts.target_name(evidence)} is known, {count(known[-1]['n'])} new rows "
            f"would reveal "
            f"{revealed(table, write(known[-1]['detectable'], direction='up'))}."
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
    """Compute which error on m new rows would be told from the present one."""
    n = len(evidence.test.truth)
    if evidence.task == "classification":
        return _share(int(facts.wrong(evidence).sum()), n, evidence.confidence, "error rate")
    errors = facts.absolute_errors(evidence)
    if evidence.loss.of_logarithm:
        # A few rows decide every average: count the rows that are far off instead.
        far = float(np.quantile(errors, FAR))
        quantity = f"{_SHARE}off by more than {number(far)}"
        return _share(int((errors > far).sum()), n, evidence.confidence, quantity)
    mean = float(errors.mean())
    spread = float(errors.std(ddof=1)) if n > 1 else math.nan
    reach = float(special.ndtri(1 - ALARM) + special.ndtri(POWER))
    rows = [
        {"n": m, "detectable": facts.plain(mean + reach * spread * math.sqrt(1 / m + 1 / n))}
        for m in SIZES
    ]
    return {
        "quantity": "average error",
        "percent": False,
        "now": mean,
        "now_words": number(mean),
        "rows": rows,
    }


def _share(k: int, n: int, confidence: float, quantity: str) -> dict[str, Any]:
    """Tell which share of m new rows would be told from k of n."""
    from scipy.stats import binom

    limit = share_upper(k, n, confidence)
    rows = []
    for m in SIZES:
        # More hits than `allowed` have probability ALARM at most while the bound is true.
        allowed = int(binom.ppf(1 - ALARM, m, limit)) if limit < 1 else m
        value = float(special.betaincinv(allowed + 1, m - allowed, POWER)) if allowed < m else None
        rows.append({"n": m, "detectable": value})
    return {
        "quantity": quantity,
        "percent": True,
        "now": k / n,
        "now_words": f"{percent(k / n)}, at most {format_share(limit)}",
        "rows": rows,
    }


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


def revealed(table: dict[str, Any], shown: str) -> str:
    """Say what new rows would reveal."""
    if table["quantity"].startswith(_SHARE):
        return f"that {shown} or more of the rows are {table['quantity'].removeprefix(_SHARE)}"
    return f"an {table['quantity']} of {shown} or more"


def _method(evidence: Evidence, table: dict[str, Any]) -> list[str]:
    if table["percent"]:
        what = "errors" if evidence.task == "classification" else "such rows"
        return [
            f"An alarm is raised when m new rows contain more {what} than the upper bound on the "
            f"{table['quantity']} ({table['now_words']}, n = {count(len(evidence.test.truth))}) "
            f"allows with probability {percent(1 - ALARM)}; the table gives the share that raises "
            f"it with probability {percent(POWER)} (exact binomial)."
        ]
    return [
        f"An alarm is raised when the mean absolute error of m new rows exceeds the present one "
        f"by more than chance explains at {percent(ALARM)}; the table gives the mean error that "
        f"raises it with probability {percent(POWER)} (normal approximation, spread from "
        f"{plural(int(np.size(evidence.test.truth)), 'test row')})."
    ]
