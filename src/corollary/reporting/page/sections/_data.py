"""The data: rows, columns, what is odd, and every column in miniature."""

from typing import Any

from corollary.reporting._records import Evidence, Finding, ProfiledColumn
from corollary.reporting.page import _population as population
from corollary.reporting.page._format import (
    count,
    decimals_for,
    fixed,
    listing,
    number,
    plural,
    without_zeros,
)
from corollary.reporting.page._model_content import DataSection
from corollary.reporting.page.sections import _facts as facts

HEADING, CONTENT = "The data", DataSection

#: Findings that only someone who knows the data can settle.
QUESTIONS = (
    "predicts-alone",
    "computed-target",
    "impossible-sign",
    "code-as-number",
    "isolated-value",
    "possible-code",
    "alike-values",
    "dependent-rows",
)
MOST_COLUMNS = 300
MOST_FINDINGS = 20
MOST_BARS = 24
MOST_CHARACTERS = 22


def build(evidence: Evidence) -> dict[str, Any] | None:
    """Describe the table and what is odd in it."""
    profile = evidence.profile
    columns = [_column(c, profile.n_rows) for c in profile.columns[:MOST_COLUMNS]]
    acts = sum(f.act for f in profile.findings)
    return {
        "finding": _finding(evidence, acts),
        "counts": {
            "rows": profile.n_rows,
            "dropped": profile.n_dropped,
            "columns": len(profile.columns),
            "used": sum(c.used for c in profile.columns),
            "train": evidence.n_train,
            "calibration": evidence.n_calibration,
            "test": evidence.n_test,
            "folds": evidence.test.folds,
        },
        "findings": [_odd(f) for f in sorted(profile.findings, key=lambda f: not f.act)][
            :MOST_FINDINGS
        ],
        "n_findings_hidden": max(len(profile.findings) - MOST_FINDINGS, 0),
        "target": _column(profile.target, profile.n_rows),
        "columns": columns,
        "n_hidden": len(profile.columns) - len(columns),
        "method": [
            population.parts(evidence),
            "Small plots show the distribution of all rows that have a target; categories are "
            "ordered by frequency, and a pale last bar stands for all rarer ones.",
        ],
    }


def _finding(evidence: Evidence, acts: int) -> str:
    profile = evidence.profile
    missing = sum(c.n_missing for c in profile.columns)
    gaps = sum(c.n_missing > 0 for c in profile.columns)
    text = f"{plural(profile.n_rows, 'row')} and {plural(len(profile.columns), 'column')}"
    cells = profile.n_rows * len(profile.columns)
    if missing:
        share = facts.share_words(missing, cells)
        text += f"; {share} values are missing, in {plural(gaps, 'column')}."
    else:
        text += ", no value missing."
    if acts:
        verb = "needs" if acts == 1 else "need"
        return f"{text} {plural(acts, 'finding')} {verb} your attention."
    asked = sum(f.kind in QUESTIONS for f in profile.findings)
    if asked:
        return f"{text} {plural(asked, 'question')} for you below."
    if evidence.unusual is not None and (called := evidence.unusual.n_called):
        verb = "is" if called == 1 else "are"
        return f"{text} {plural(called, 'row')} {verb} unlike the others: see Unusual rows."
    return f"{text} Nothing found that needs your attention."


def _odd(finding: Finding) -> dict[str, Any]:
    return {
        "kind": finding.kind,
        "sentence": finding.sentence,
        "act": bool(finding.act),
        "columns": [str(c) for c in finding.columns],
        "rows": [int(r) for r in finding.rows[:20]],
        "where": _where(finding),
    }


def _where(finding: Finding) -> str:
    if not finding.rows:
        return ""
    rows = listing([count(r + 1) for r in finding.rows], 8)
    return f"{'Row' if len(finding.rows) == 1 else 'Rows'} {rows}."


def _column(column: ProfiledColumn, n_rows: int) -> dict[str, Any]:
    numbers = {key: facts.plain(value) for key, value in column.numbers.items()}
    return {
        "name": column.name,
        "kind": column.kind,
        "scale": column.scale,
        "n_missing": int(column.n_missing),
        "missing_share": column.n_missing / n_rows if n_rows else 0.0,
        "n_distinct": int(column.n_distinct),
        "used": bool(column.used),
        "why_unused": column.why_unused,
        "numbers": numbers,
        "histogram": _histogram(column.histogram),
        "summary": _summary(column),
    }


def _histogram(histogram: dict[str, Any]) -> dict[str, Any]:
    counts = [int(n) for n in histogram.get("counts", [])]
    if "labels" in histogram:
        labels = [str(v) for v in histogram["labels"]]
        rest = int(histogram.get("other", 0)) + sum(counts[MOST_BARS:])
        return {"labels": labels[:MOST_BARS], "counts": counts[:MOST_BARS], "other": rest}
    return {"edges": [facts.plain(e) for e in histogram.get("edges", [])], "counts": counts}


def _three(values: list[Any]) -> str:
    """Write three values in the width of a small plot, with two digits if three do not fit."""
    numbers = all(isinstance(facts.plain(v), float) for v in values)
    # What is far smaller than the range needs no digits of its own.
    reach = max(values) - min(values) if numbers else 0.0
    most = decimals_for(reach) + 3
    text = " · ".join(
        without_zeros(fixed(v, most)) if reach and abs(v) < 10.0 ** (2 - most) else facts.cell(v)
        for v in values
    )
    if len(text) > MOST_CHARACTERS and numbers:
        text = " · ".join(number(v, 2) for v in values)
    return text


def _two_dates(first: str, last: str) -> str:
    """Write from when to when, in the width of a small plot; hours only within one day."""
    if first[:10] == last[:10]:
        return f"{first[:10]}, {first[11:16]} – {last[11:16]}" if len(first) > 10 else first
    return f"{first[:10]} – {last[:10]}"


def _summary(column: ProfiledColumn) -> str:
    numbers = column.numbers
    if column.kind == "date" and {"min", "max"} <= set(numbers):
        return _two_dates(str(numbers["min"]), str(numbers["max"]))
    if {"min", "median", "max"} <= set(numbers):
        return _three([numbers[k] for k in ("min", "median", "max")])
    labels = column.histogram.get("labels", [])
    if labels and column.kind != "text":
        words = [facts.cell(v) for v in labels]
        return listing([*words, *[""] * max(column.n_distinct - len(words), 0)], 2)
    return plural(column.n_distinct, "distinct value")
