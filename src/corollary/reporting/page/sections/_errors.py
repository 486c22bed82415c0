"""Errors: how they are spread, where they gather, and the worst rows by name."""

from typing import Any

from corollary.reporting._records import Evidence
from corollary.reporting.page import _population as population
from corollary.reporting.page._format import count, number, opening, percent_triple, triple
from corollary.reporting.page._report_content import ErrorsSection
from corollary.reporting.page.sections import _facts as facts
from corollary.reporting.page.sections import _groups as groups
from corollary.reporting.page.sections._worst_rows import worst_rows_table
from corollary.reporting.trust.errors._confusion import ConfusedPair
from corollary.reporting.trust.errors._scatter import MOST_POINTS

HEADING, CONTENT = "Errors", ErrorsSection

LEVEL_WORDS = {0.5: "half", 0.9: "9 of 10", 0.99: "99 of 100"}
MOST_CLASSES = 12


def build(evidence: Evidence) -> dict[str, Any] | None:
    """Show the distribution of errors, weak groups and the worst rows."""
    if len(evidence.test.truth) == 0 or facts.chosen(evidence).baseline:
        return None  # the errors of guessing are the spread of the target
    weak = groups.build(evidence)
    section: dict[str, Any] = {"finding": "", "weak": weak, "worst": worst_rows_table(evidence)}
    if evidence.task == "regression":
        quantiles = _quantiles(evidence)
        section |= {
            "scatter": _scatter(evidence),
            "histogram": _histogram(evidence, quantiles),
            "quantiles": quantiles,
            "finding": _regression_finding(evidence, quantiles),
        }
    else:
        section |= {
            "confusion": _confusion(evidence),
            "thresholds": _thresholds(evidence),
            "finding": _classification_finding(evidence),
        }
    if weak and weak["n_shown"]:
        section["finding"] += " " + weak["sentence"]
    section["method"] = _method(evidence)
    return section


def _quantiles(evidence: Evidence) -> list[dict[str, Any]]:
    rows = []
    for quantile in evidence.error_sizes.quantiles:
        low, high = quantile.low, quantile.high
        texts = triple(quantile.value, 0.0 if low is None else low, high)
        interval = f"{texts[1]} to {texts[2]}"
        if high is None:
            interval = f"at least {texts[1]}; the upper end needs more rows"
        if evidence.population.kind == "period":
            interval = "none: rows of a period depend on each other"
        rows.append(
            {
                "level": quantile.level,
                "label": LEVEL_WORDS[quantile.level],
                "value": quantile.value,
                "low": low,
                "high": high,
                "words": number(quantile.value),
                "interval": interval,
                "n": evidence.error_sizes.n,
            }
        )
    return rows


def _regression_finding(evidence: Evidence, quantiles: list[dict[str, Any]]) -> str:
    rows, sizes = evidence.test, evidence.error_sizes
    parts = [
        f"{q['label'] if q['level'] > 0.5 else 'half of the rows'} within {q['words']}"
        for q in quantiles
    ]
    side = facts.direction(rows.truth[sizes.worst], rows.prediction[sizes.worst])
    return (
        f"{opening(', '.join(parts))}; worst {number(sizes.largest)} "
        f"({side}, {facts.row_words(evidence, sizes.worst)}). "
        f"{facts.share_words(sizes.too_high, sizes.rows)} were predicted too high."
    )


def _histogram(evidence: Evidence, quantiles: list[dict[str, Any]]) -> dict[str, Any]:
    sizes = evidence.error_sizes
    marks = [{"at": q["value"], "label": f"{q['label']} within {q['words']}"} for q in quantiles]
    return {
        "edges": sizes.edges.tolist(),
        "counts": sizes.counts.tolist(),
        "marks": marks,
        "x_label": f"size of the error, in units of {facts.target_name(evidence)}",
        "y_label": "test rows",
    }


def _scatter(evidence: Evidence) -> dict[str, Any]:
    found, target = evidence.scatter, facts.target_name(evidence)
    cells = found.cells
    return {
        "points": [[facts.six_digits(p), facts.six_digits(a), held] for p, a, held in found.points],
        "cells": cells
        and {
            "x_edges": cells.x_edges.tolist(),
            "y_edges": cells.y_edges.tolist(),
            "counts": [list(cell) for cell in cells.counts],
        },
        "ribbon": [
            [facts.six_digits(v) for v in (r.predicted, r.low, r.high)] for r in found.ribbon
        ],
        "domain": list(found.domain),
        "x_label": f"predicted {target}",
        "y_label": f"actual {target}",
        "n": found.n,
        "description": "The dashed line is where prediction and truth agree.",
    }


def _classification_finding(evidence: Evidence) -> str:
    rate = evidence.error_rate
    if not rate.wrong:
        return f"None of {population.counted_rows(evidence, rate.n)} was classified wrongly."
    top = evidence.confusion.pairs[0]
    share, low, high = percent_triple(top.share, top.low, top.high)
    names = [facts.class_name(evidence, index) for index in (top.truth, top.predicted)]
    one = rate.wrong == 1
    return (
        f"{facts.share_words(rate.wrong, rate.rows)} {population.unseen_rows(evidence)} "
        f"{'was' if one else 'were'} classified wrongly. "
        f"{'The mistake' if one else 'Most frequent'}: {names[0]} called {names[1]}, "
        f"{count(top.rows)} of {count(top.of)} ({share}; {low} to {high})."
    )


def _confusion(evidence: Evidence) -> dict[str, Any]:
    found = evidence.confusion
    small = len(evidence.classes) <= MOST_CLASSES
    return {
        "classes": [str(c) for c in evidence.classes] if small else [],
        "table": found.table.tolist() if small else [],
        "pairs": [_pair(evidence, pair) for pair in found.pairs[:MOST_CLASSES]],
        "n": len(evidence.test.truth),
    }


def _pair(evidence: Evidence, pair: ConfusedPair) -> dict[str, Any]:
    return {
        "truth": evidence.classes[pair.truth],
        "predicted": evidence.classes[pair.predicted],
        "n": pair.rows,
        "of": pair.of,
        "share": pair.share,
        "low": pair.low,
        "high": pair.high,
    }


def _thresholds(evidence: Evidence) -> dict[str, Any] | None:
    found = evidence.thresholds
    if found is None:
        return None
    rows = [
        {
            "threshold": t.threshold,
            "called": t.called,
            "hits": t.hits,
            "false_alarms": t.called - t.hits,
            "missed": found.positives - t.hits,
            "caught": t.caught,
            "caught_low": t.caught_interval[0],
            "caught_high": t.caught_interval[1],
            "right": t.right,
            "right_low": t.right_interval[0],
            "right_high": t.right_interval[1],
        }
        for t in found.rows
    ]
    return {
        "class": evidence.classes[found.positive],
        "other": evidence.classes[1 - found.positive],
        "n": found.n,
        "positives": found.positives,
        "rows": rows,
        "fine": [list(pair) for pair in found.fine],  # for the slider
    }


def _method(evidence: Evidence) -> list[str]:
    if evidence.task == "regression":
        return [
            f"{population.quantiles_method(evidence)} The band in the left picture joins the "
            "medians of the intervals of rows predicted alike; a ring marks a row outside its own "
            f"interval. Above {count(MOST_POINTS)} rows the picture shows counts in cells, darker "
            "for more.",
        ]
    return [
        f"{population.shares_method(evidence)} Worst rows are those whose true class was given the "
        "least probability.",
    ]
