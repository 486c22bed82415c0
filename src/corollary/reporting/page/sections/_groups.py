"""Weak groups: parts of the data, cut by one column, where the model errs more than elsewhere."""

from typing import Any

import numpy as np

from corollary.reporting._records import Evidence
from corollary.reporting.page._format import count, label, number, percent_triple, plural, triples
from corollary.reporting.page.sections import _facts as facts
from corollary.validation import holm, mean_interval, share_interval

LEAST_ROWS = 20
MOST_LEVELS = 20
MOST_SHOWN = 8
LEAST_ERRORS = 5  # with fewer, a picture of groups shows single rows
# Groups are sought in at most so many rows, evenly spaced: more would find smaller weaknesses
# than a reader can act on, at the price of a slow page.
MOST_ROWS = 20_000


def build(evidence: Evidence) -> dict[str, Any] | None:
    """Compare every one-column group with the other test rows."""
    n = len(evidence.test.truth)
    picked = slice(None, None, -(-n // MOST_ROWS))
    regression = evidence.task == "regression"
    errors = facts.absolute_errors(evidence) if regression else facts.wrong(evidence)
    errors = np.asarray(errors, dtype=float)[picked]
    names, members = find_groups(evidence, picked)
    if not names:
        return None
    p_values = _tests(members, errors, regression)
    adjusted = holm(p_values)
    means = np.array([errors[inside].mean() for inside in members])
    # Significant groups first, then the largest mean errors.
    order = np.lexsort((-means, np.where(adjusted <= 1 - evidence.confidence, adjusted, 1.0)))
    joint = 1 - (1 - evidence.confidence) / len(names)
    rows = _rows(
        [(names[i], errors[members[i]], adjusted[i]) for i in order[:MOST_SHOWN]], joint, evidence
    )
    shown = int((adjusted <= 1 - evidence.confidence).sum())
    overall = float(errors.mean())
    drawn = shown > 0 or regression or errors.sum() >= LEAST_ERRORS
    return {
        "sentence": _sentence(rows, shown, len(names), drawn),
        "n_tested": len(names),
        "n_shown": shown,
        "n": len(errors),
        "forest": None
        if not drawn
        else {
            "rows": rows,
            "reference": overall,
            "reference_label": "all test rows",
            "axis": "average error in the group" if regression else "share wrong in the group",
            "percent": not regression,
        },
        "method": f"Groups are the categories of each column and the lower, middle and upper third "
        f"of each numeric column, with at least {LEAST_ROWS} of {plural(len(errors), 'row')}. "
        f"Intervals hold for all {count(len(names))} groups together (Bonferroni); a group is "
        f"called weak when it errs more than all other rows at {facts.confidence_words(evidence)} "
        "after Holm’s correction for so many looks "
        + ("(Welch’s test)." if regression else "(Fisher’s exact test)."),
    }


def find_groups(evidence: Evidence, picked: slice) -> tuple[list[str], np.ndarray]:
    """Cut the test rows by one column after the other."""
    kinds = {c.name: c.kind for c in evidence.profile.columns if c.used}
    n = len(evidence.test.truth[picked])
    names: list[str] = []
    members: list[np.ndarray] = []
    for column, values in evidence.test.table.items():
        if column not in kinds:
            continue
        cut = _thirds if kinds[column] == "numeric" else _levels
        found = cut(column, values[picked])
        for name, inside in found:
            size = int(inside.sum())
            if LEAST_ROWS <= size <= n - LEAST_ROWS:
                names.append(name)
                members.append(inside)
    return names, np.array(members, dtype=bool).reshape(len(members), n)


def _thirds(column: str, values: list[Any]) -> list[tuple[str, np.ndarray]]:
    try:
        numbers = np.array(values, dtype=float)
    except (TypeError, ValueError):
        known_or_none = [facts.plain(v) for v in values]
        if any(isinstance(v, str) for v in known_or_none):
            return _levels(column, values)
        numbers = np.array(known_or_none, dtype=float)
    known = numbers[np.isfinite(numbers)]
    if len(known) < 3 * LEAST_ROWS:
        return []
    a, b = (float(v) for v in np.quantile(known, [1 / 3, 2 / 3]))
    name = label(column, 40)
    missing = ~np.isfinite(numbers)
    return [
        (f"{name} up to {number(a)}", numbers <= a),
        (f"{name} {number(a)} to {number(b)}", (numbers > a) & (numbers <= b)),
        (f"{name} above {number(b)}", numbers > b),
        (f"{name} missing", missing),
    ]


def _levels(column: str, values: list[Any]) -> list[tuple[str, np.ndarray]]:
    # A category is written once, not once for each row.
    words = {v: facts.cell(v) for v in {v for v in values if isinstance(v, str)}}
    cells = [words[v] if isinstance(v, str) else facts.cell(v) for v in values]
    texts = np.array(cells, dtype=object).astype(str)
    levels, sizes = np.unique(texts, return_counts=True)
    name = label(column, 40)
    order = np.argsort(-sizes, kind="stable")[:MOST_LEVELS]
    return [(f"{name}: {levels[i]}", texts == levels[i]) for i in order if sizes[i] >= LEAST_ROWS]


def _tests(members: np.ndarray, errors: np.ndarray, regression: bool) -> np.ndarray:
    """Test each group against all other rows, one-sided."""
    from scipy import stats

    # Group by group: one product with the whole matrix would copy it as numbers.
    size, n = members.sum(axis=1), len(errors)
    inside = np.array([errors[mask].sum() for mask in members])
    if not regression:
        return stats.hypergeom.sf(inside - 1, n, errors.sum(), size)
    squares = np.array([np.square(errors[mask]).sum() for mask in members])
    rest, rest_sum, rest_squares = n - size, errors.sum() - inside, (errors**2).sum() - squares
    mean_a, mean_b = inside / size, rest_sum / rest
    var_a = np.maximum(squares - size * mean_a**2, 0) / (size - 1) / size
    var_b = np.maximum(rest_squares - rest * mean_b**2, 0) / (rest - 1) / rest
    spread = var_a + var_b
    with np.errstate(divide="ignore", invalid="ignore"):
        freedom = spread**2 / (var_a**2 / (size - 1) + var_b**2 / (rest - 1))
        statistic = (mean_a - mean_b) / np.sqrt(spread)
    return np.where(spread > 0, stats.t.sf(statistic, np.nan_to_num(freedom, nan=1.0)), 1.0)


def _rows(
    found: list[tuple[str, np.ndarray, float]], joint: float, evidence: Evidence
) -> list[dict[str, Any]]:
    if evidence.task == "regression":
        ends = [mean_interval(errors, joint)[:3] for _, errors, _ in found]
        ends = [(value, max(low, 0.0), facts.plain(high)) for value, low, high in ends]
        words = triples(ends)
    else:
        counts = [(int(errors.sum()), len(errors)) for _, errors, _ in found]
        ends = [(k / n, *share_interval(k, n, joint)) for k, n in counts]
        words = [percent_triple(*end) for end in ends]
    level = 1 - evidence.confidence
    return [
        {
            "label": name,
            "value": value,
            "low": low,
            "high": high,
            "text": f"{text[0]} ({text[1]} to {text[2]}), n = {count(len(errors))}",
            "n": len(errors),
            "p": float(p),
            "warn": bool(p <= level),
            "muted": bool(p > level),
        }
        for (name, errors, p), (value, low, high), text in zip(found, ends, words)
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
