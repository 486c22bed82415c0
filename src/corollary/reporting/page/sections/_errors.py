"""Errors: how they are spread, where they gather, and the worst rows by name."""

from typing import Any

import numpy as np

from corollary.reporting._records import Evidence
from corollary.reporting.page._format import (
    count,
    number,
    percent_triple,
    plural,
    triple,
)
from corollary.reporting.page.sections import _facts as facts
from corollary.reporting.page.sections import _groups as groups
from corollary.reporting.page.sections._worst_rows import worst_rows_table
from corollary.reporting.trust._coverage import held_truth
from corollary.reporting.trust._reliability import positive_class
from corollary.validation import quantile_interval, share_interval

MOST_POINTS = 2000
CELLS = 60
LEVELS = (0.5, 0.9, 0.99)
LEVEL_WORDS = {0.5: "half", 0.9: "9 of 10", 0.99: "99 of 100"}
MOST_CLASSES = 12
THRESHOLDS = tuple(round(0.1 * i, 1) for i in range(1, 10))


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
    ordered = np.sort(facts.absolute_errors(evidence))
    found = []
    for level in LEVELS:
        if level * len(ordered) > len(ordered) - 1 and level > 0.5:
            continue  # the sample is too small to have such a quantile
        value, low, high = quantile_interval(ordered, level, evidence.confidence)
        texts = triple(value, 0.0 if low is None else low, high)
        found.append(
            {
                "level": level,
                "label": LEVEL_WORDS[level],
                "value": value,
                "low": low,
                "high": high,
                "words": number(value),
                "interval": f"{texts[1]} to {texts[2]}"
                if high is not None
                else f"at least {texts[1]}; the upper end needs more rows",
                "n": len(ordered),
            }
        )
    return found


def _regression_finding(evidence: Evidence, quantiles: list[dict[str, Any]]) -> str:
    rows = evidence.test
    errors = facts.absolute_errors(evidence)
    worst = int(np.argmax(errors))
    parts = [
        f"{q['label'] if q['level'] > 0.5 else 'half of the rows'} within {q['words']}"
        for q in quantiles
    ]
    high = int(np.sum(rows.prediction > rows.truth))
    text = ", ".join(parts)
    side = facts.direction(rows.truth[worst], rows.prediction[worst])
    return (
        f"{text[0].upper()}{text[1:]}; worst {number(float(errors[worst]))} "
        f"({side}, row {count(int(rows.positions[worst]) + 1)}). "
        f"{facts.share_words(high, len(errors))} were predicted too high."
    )


def _histogram(evidence: Evidence, quantiles: list[dict[str, Any]]) -> dict[str, Any]:
    signed = np.asarray(evidence.test.prediction) - np.asarray(evidence.test.truth)
    sizes = np.abs(signed)
    bins = int(np.clip(np.sqrt(len(sizes)) * 1.5, 8, 40))
    counts, edges = np.histogram(sizes, bins=bins, range=(0.0, float(sizes.max()) or 1.0))
    marks = [{"at": q["value"], "label": f"{q['label']} within {q['words']}"} for q in quantiles]
    return {
        "edges": edges.tolist(),
        "counts": counts.tolist(),
        "marks": marks,
        "x_label": f"size of the error, in units of {facts.target_name(evidence)}",
        "y_label": "test rows",
    }


def _scatter(evidence: Evidence) -> dict[str, Any]:
    rows = evidence.test
    predicted = np.asarray(rows.prediction, dtype=float)
    actual = np.asarray(rows.truth, dtype=float)
    inside = held_truth(evidence)
    domain = [min(predicted.min(), actual.min()), max(predicted.max(), actual.max())]
    target = facts.target_name(evidence)
    data: dict[str, Any] = {
        "points": [],
        "cells": None,
        "ribbon": _ribbon(evidence, predicted),
        "domain": [float(d) for d in domain],
        "x_label": f"predicted {target}",
        "y_label": f"actual {target}",
        "n": len(actual),
        "description": "The dashed line is where prediction and truth agree.",
    }
    if len(actual) <= MOST_POINTS:
        known = np.ones(len(actual), dtype=bool) if inside is None else inside
        data["points"] = [
            [_digits(p), _digits(a), bool(i)] for p, a, i in zip(predicted, actual, known)
        ]
        return data
    counts, xs, ys = np.histogram2d(predicted, actual, bins=CELLS, range=[domain, domain])
    filled = np.argwhere(counts > 0)
    data["cells"] = {
        "x_edges": xs.tolist(),
        "y_edges": ys.tolist(),
        "counts": [[int(i), int(j), int(counts[i, j])] for i, j in filled],
    }
    return data


def _digits(value: float) -> float:
    """Keep six digits: more cannot be seen, and would only make the file larger."""
    return float(f"{value:.6g}")


def _ribbon(evidence: Evidence, predicted: np.ndarray) -> list[list[float]]:
    """Summarise the intervals by the medians of their ends among rows predicted alike."""
    rows = evidence.test
    if rows.low is None or rows.high is None or len(predicted) < 2 * 10:
        return []
    order = np.argsort(predicted, kind="stable")
    parts = np.array_split(order, int(np.clip(len(order) // 10, 2, 12)))
    found = []
    for part in parts:
        middle = np.median(predicted[part])
        below = np.median((predicted - rows.low)[part])
        above = np.median((rows.high - predicted)[part])
        if np.isfinite([middle, below, above]).all():
            found.append([_digits(middle), _digits(middle - below), _digits(middle + above)])
    return found


def _classification_finding(evidence: Evidence) -> str:
    wrong = facts.wrong(evidence)
    k, n = int(wrong.sum()), len(wrong)
    if not k:
        return f"None of {plural(n, 'unseen row')} was classified wrongly."
    top = _confusion(evidence)["pairs"][0]
    share, low, high = percent_triple(top["share"], top["low"], top["high"])
    names = [
        facts.class_name(evidence, evidence.classes.index(top[key]))
        for key in ("truth", "predicted")
    ]
    start = "The mistake" if k == 1 else "Most frequent"
    return (
        f"{facts.share_words(k, n)} unseen rows {'was' if k == 1 else 'were'} classified wrongly. "
        f"{start}: {names[0]} called {names[1]}, {count(top['n'])} of {count(top['of'])} "
        f"({share}; {low} to {high})."
    )


def _confusion(evidence: Evidence) -> dict[str, Any]:
    truth = np.asarray(evidence.test.truth, dtype=int)
    prediction = np.asarray(evidence.test.prediction, dtype=int)
    k = len(evidence.classes)
    table = np.bincount(truth * k + prediction, minlength=k * k).reshape(k, k)
    totals = table.sum(axis=1)
    pairs = []
    for i, j in np.argwhere(table > 0):
        if i != j:
            low, high = share_interval(table[i, j], totals[i], evidence.confidence)
            pairs.append(
                {
                    "truth": evidence.classes[i],
                    "predicted": evidence.classes[j],
                    "n": int(table[i, j]),
                    "of": int(totals[i]),
                    "share": float(table[i, j] / totals[i]),
                    "low": low,
                    "high": high,
                }
            )
    pairs.sort(key=lambda p: -p["n"])
    small = k <= MOST_CLASSES
    return {
        "classes": [str(c) for c in evidence.classes] if small else [],
        "table": table.tolist() if small else [],
        "pairs": pairs[:MOST_CLASSES],
        "n": len(truth),
    }


def _thresholds(evidence: Evidence) -> dict[str, Any] | None:
    probability = evidence.test.probability
    if probability is None or len(evidence.classes) != 2:
        return None
    index = positive_class(evidence)
    stated = np.asarray(probability)[:, index]
    positive = np.asarray(evidence.test.truth) == index
    total = int(positive.sum())
    rows = []
    for t in THRESHOLDS:
        called = stated >= t
        hits, calls = int((called & positive).sum()), int(called.sum())
        caught = share_interval(hits, total, evidence.confidence)
        right = share_interval(hits, calls, evidence.confidence)
        rows.append(
            {
                "threshold": t,
                "called": calls,
                "hits": hits,
                "false_alarms": calls - hits,
                "missed": total - hits,
                "caught": hits / total if total else None,
                "caught_low": caught[0],
                "caught_high": caught[1],
                "right": hits / calls if calls else None,
                "right_low": right[0],
                "right_high": right[1],
            }
        )
    return {
        "class": evidence.classes[index],
        "other": evidence.classes[1 - index],
        "n": len(stated),
        "positives": total,
        "rows": rows,
        # For the slider: misses and false alarms at every hundredth.
        "fine": [
            [
                int((~(stated >= i / 100) & positive).sum()),
                int(((stated >= i / 100) & ~positive).sum()),
            ]
            for i in range(1, 100)
        ],
    }


def _method(evidence: Evidence) -> list[str]:
    level = facts.confidence_words(evidence)
    if evidence.task == "regression":
        return [
            f"Quantiles of the error have {level} intervals from order statistics, which hold for "
            "every continuous distribution. The band in the left picture joins the medians of the "
            "intervals of rows predicted alike; a ring marks a row outside its own interval. Above "
            f"{count(MOST_POINTS)} rows the picture shows counts in cells, darker for more.",
        ]
    return [
        f"Shares have exact binomial intervals at {level}. Worst rows are those whose true class "
        "was given the least probability.",
    ]
