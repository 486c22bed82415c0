"""The rows that were predicted worst, beside the training rows that they resemble."""

import math
from typing import Any

from corollary.reporting._records import Evidence
from corollary.reporting.page._format import (
    aligned,
    count,
    decimals_for,
    fixed,
    label,
    listing,
    percent,
)
from corollary.reporting.page.sections import _facts as facts
from corollary.reporting.trust.errors._worst import WorstRows

WORST_COLUMNS = 4


def worst_rows_table(evidence: Evidence) -> dict[str, Any]:
    """Write down the worst rows and their neighbours."""
    rows, worst = evidence.test, evidence.worst_rows
    names = [i.column for i in evidence.importances if i.column in rows.table]
    names = [*facts.row_names(evidence), *(names or list(rows.table))]
    names = list(dict.fromkeys(names))[:WORST_COLUMNS]
    values = [facts.cells([rows.table[name][i] for i in worst.order]) for name in names]
    decimals = _decimals(worst) if evidence.task == "regression" else 0
    found = [
        {
            "position": int(rows.positions[i]),
            **(
                _number_row(evidence, i, decimals)
                if evidence.task == "regression"
                else _class_row(evidence, i)
            ),
            "held": worst.held[k],
            "values": [column[k] for column in values],
        }
        for k, i in enumerate(worst.order)
    ]
    return {
        "columns": [str(n) for n in names],
        "rows": found,
        "neighbours": _neighbours(evidence, names, decimals),
        "distance": _distance_words(evidence),
        "n": len(rows.truth),
        "n_wrong": evidence.error_rate.wrong if evidence.task != "regression" else None,
    }


def _neighbours(evidence: Evidence, names: list[str], decimals: int) -> list[dict[str, Any]]:
    """List the training rows that the worst rows resemble, with the same columns."""
    nearest = [(w, n) for w in evidence.worst for n in w.neighbours]
    columns = [facts.cells([n.values.get(name) for _, n in nearest]) for name in names]
    distances = aligned([n.distance for _, n in nearest])
    return [
        {
            "of": int(evidence.test.positions[w.row]),
            "position": n.position,
            "distance": distances[k],
            "truth": fixed(n.truth, decimals)
            if evidence.task == "regression"
            else label(evidence.classes[int(n.truth)], 40),
            "values": [column[k] for column in columns],
        }
        for k, (w, n) in enumerate(nearest)
    ]


def _distance_words(evidence: Evidence) -> str:
    """Say whether the worst rows are strange ones."""
    far = sum(w.far for w in evidence.worst)
    if not evidence.worst:
        return ""
    if not far:
        return "None of them is unusually far from the training rows."
    verb = "is" if far == 1 else "are"
    return (
        f"{count(far)} of them {verb} farther from every training row than 95% of test rows are: "
        "there the model extrapolates."
    )


def _decimals(worst: WorstRows) -> int:
    """Choose decimals that show the spread of the target and the errors of these rows."""
    spread, typical = worst.spread, worst.typical
    if not 1e-4 <= spread < 1e10:
        return 6
    visible = decimals_for(typical, 3) if typical > 1e-6 * spread else decimals_for(spread)
    return min(max(decimals_for(spread), visible), 8)


def _number_row(evidence: Evidence, i: int, decimals: int) -> dict[str, Any]:
    rows = evidence.test
    truth, prediction = float(rows.truth[i]), float(rows.prediction[i])
    interval = ""
    if rows.low is not None and rows.high is not None:
        ends = float(rows.low[i]), float(rows.high[i])
        if all(map(math.isfinite, ends)):
            low, high = fixed(ends[0], decimals, "down"), fixed(ends[1], decimals, "up")
            interval = f"{low} to {high}"
        else:
            interval = "unbounded"
    return {
        "truth": fixed(truth, decimals),
        "prediction": fixed(prediction, decimals),
        "error": fixed(abs(truth - prediction), decimals),
        "direction": facts.direction(truth, prediction),
        "interval": interval,
    }


def _class_row(evidence: Evidence, i: int) -> dict[str, Any]:
    rows = evidence.test
    members = ""
    if rows.sets is not None:
        named = [name for name, inside in zip(evidence.classes, rows.sets[i]) if inside]
        members = listing([label(name, 40) for name in named], 4) or "none"
    stated = rows.probability
    return {
        "truth": label(evidence.classes[int(rows.truth[i])], 40),
        "prediction": label(evidence.classes[int(rows.prediction[i])], 40),
        "error": "" if stated is None else percent(float(stated[i, int(rows.truth[i])])),
        "direction": "wrong" if rows.truth[i] != rows.prediction[i] else "right",
        "interval": members,
    }
