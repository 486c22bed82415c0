"""Unusual rows: which rows are unlike the others, by which columns, and whether that costs."""

from typing import Any

from corollary.reporting._records import Evidence
from corollary.reporting.page import _population as population
from corollary.reporting.page._format import (
    count,
    label,
    listing,
    number,
    percent,
    percent_triple,
    plural,
    triple,
)
from corollary.reporting.page._unusual_content import UnusualRowsSection
from corollary.reporting.page.sections import _facts as facts
from corollary.reporting.trust._clusters import LEVEL, RealClusters
from corollary.reporting.trust._unusual import FEWEST, UnusualRow, UnusualRows
from corollary.reporting.trust.errors._unusual import UnusualErrors

HEADING, CONTENT = "Unusual rows", UnusualRowsSection

LEAST_P = 1e-6


def build(evidence: Evidence) -> dict[str, Any] | None:
    """List the rows unlike the others, and the clusters if there are any."""
    found = evidence.unusual
    if found is None:
        return None
    able = not found.why_not
    errors = None if facts.chosen(evidence).baseline else evidence.unusual_errors
    finding = _finding(evidence, found)
    if found.n_called and not facts.chosen(evidence).baseline:
        finding += " " + _errors_words(evidence, errors)
    return {
        "finding": finding,
        "called": found.n_called,
        "judged": found.n_judged,
        "rate": found.rate if able and found.controlled else None,
        "threshold": found.threshold if able else None,
        "rows": [_row(row) for row in found.shown],
        "errors": errors and _errors(errors),
        "clusters": found.clusters and _clusters(evidence, found.clusters),
        "method": _method(evidence, found) if able else [],
    }


def _finding(evidence: Evidence, found: UnusualRows) -> str:
    if found.why_not == "no quantities":
        return "No column is a quantity, so that rows have no distances to judge them by."
    if found.why_not == "few rows":
        return (
            f"{count(found.n_reference)} {_reference(evidence)} are too few to call any row "
            f"unusual: at least {FEWEST} are needed."
        )
    threshold = f"p ≤ {_p(found.threshold)}"
    flag = f"New rows are flagged by corollary predict at the same threshold, {threshold}"
    if not found.controlled:
        return (
            f"{_called(found)} than all {count(found.n_reference)} {_reference(evidence)} that "
            f"distances were compared with. {flag}: 1 in {count(found.n_reference + 1)} ordinary "
            "rows is flagged. Distances of these rows thin out too slowly to say more."
        )
    if not found.n_called:
        return (
            f"None of {plural(found.n_judged, 'row')} is unlike the others, at a false-discovery "
            f"rate of {percent(found.rate)}. {flag}."
        )
    verb = "is" if found.n_called == 1 else "are"
    return (
        f"{count(found.n_called)} of {plural(found.n_judged, 'row')} {verb} unlike the others: of "
        f"rows called so, at most {percent(found.rate)} are expected to be ordinary ones. {flag}."
    )


def _called(found: UnusualRows) -> str:
    if not found.n_called:
        return f"None of {plural(found.n_judged, 'row')} is farther"
    verb = "is" if found.n_called == 1 else "are"
    return f"{count(found.n_called)} of {plural(found.n_judged, 'row')} {verb} farther"


def _reference(evidence: Evidence) -> str:
    if evidence.population.kind == "new units":
        return f"training rows, each of another {label(evidence.population.piece, 80)},"
    return "training rows"


def _errors_words(evidence: Evidence, errors: UnusualErrors | None) -> str:
    """Say whether the model errs more on them, and how that was measured."""
    if errors is None:
        return "No test row is among them, so that it is not shown whether the model errs more."
    rows = plural(errors.rows, "test row")
    if evidence.task == "classification":
        share, low, high = percent_triple(errors.value, errors.low or 0.0, errors.high or 1.0)
        measured = (
            f"{share} of {rows} ({low} to {high}) wrong, {percent(errors.elsewhere)} of the others"
        )
    else:
        value, low, high = triple(errors.value, errors.low, errors.high)
        ends = f" ({low} to {high})" if errors.low is not None else ""
        measured = f"mean error {value}{ends} on {rows}, {number(errors.elsewhere)} on the others"
    if errors.shown:
        return f"The model errs more on them, shown: {measured} ({_equals(errors.p_value)})."
    return f"That the model errs more on them is not shown: {measured} ({_equals(errors.p_value)})."


def _p(value: float) -> str:
    """Write a p-value with two digits; nobody knows a tail to the last of its zeros."""
    return number(value, 2) if value >= LEAST_P else "10⁻⁶"


def _equals(value: float) -> str:
    return f"p = {_p(value)}" if value >= LEAST_P else f"p below {_p(value)}"


def _row(row: UnusualRow) -> dict[str, Any]:
    return {
        "position": row.position,
        "names": [{"column": n.column, "value": facts.cell(n.value)} for n in row.names],
        "part": row.part,
        "p": row.p_value,
        "p_words": _p(row.p_value) if row.p_value >= LEAST_P else f"below {_p(row.p_value)}",
        "reasons": [
            {"column": reason.column, "value": facts.cell(reason.value), "place": reason.place}
            for reason in row.reasons
        ],
    }


def _errors(errors: UnusualErrors) -> dict[str, Any]:
    return {
        "n": errors.n,
        "value": errors.value,
        "low": errors.low,
        "high": errors.high,
        "elsewhere": errors.elsewhere,
        "p": errors.p_value,
        "shown": errors.shown,
    }


def _clusters(evidence: Evidence, found: RealClusters) -> dict[str, Any]:
    names = [label(name, 40) for name in found.columns]
    rows = f"{count(found.n_rows)} {_reference(evidence)}".removesuffix(",")
    return {
        "sentence": (
            f"The {rows} fall into {len(found.sizes)} clusters with hardly a row between them "
            f"({_equals(found.p_value)}). They differ most in {listing(names)}."
        ),
        "p": found.p_value,
        "level": LEVEL,
        "n": found.n_rows,
        "columns": list(found.columns),
        "rows": [
            {
                "label": chr(ord("A") + k),
                "n": size,
                "medians": list(medians),
                "words": [number(value) for value in medians],
            }
            for k, (size, medians) in enumerate(zip(found.sizes, found.medians))
        ],
        "points": [[facts.six_digits(x), facts.six_digits(y), k] for x, y, k in found.points],
    }


def _method(evidence: Evidence, found: UnusualRows) -> list[str]:
    columns = f"the {plural(found.n_columns, 'column')} that are quantities"
    if found.n_columns == 1:
        columns = "the one column that is a quantity"
    if found.n_columns < found.n_quantities:
        columns = (
            f"{count(found.n_columns)} of the {count(found.n_quantities)} columns that are "
            "quantities, drawn at random"
        )
    judged = ""
    if found.n_judged < evidence.profile.n_rows:
        judged = f" {count(found.n_judged)} of {count(evidence.profile.n_rows)} rows were judged."
    lines = [
        f"Distances are Mahalanobis distances in {columns}, with logarithms of skewed ones; a "
        "training row is measured by the folds that it is not in, other rows by all training rows. "
        f"Targets play no role.{judged} A column is named if it adds much to the distance; it is "
        "high or low if at most 2.5% of the rows go as far, and else usual by itself but not "
        "together with the others."
    ]
    if found.controlled:
        lines.append(
            f"The p-value of a row is the chance that an ordinary one lies as far: beyond the "
            f"ninth decile of the distances of {count(found.n_reference)} {_reference(evidence)} "
            "they are assumed to thin out no slower than a power law with the rate seen between "
            "the seventh decile and there. Rows are called by the procedure of Benjamini and "
            "Hochberg; the largest p-value that it calls, or would call if one row were, is the "
            "threshold."
        )
    if evidence.population.kind == "period":
        lines.append(
            "Rows of a period depend on each other and may drift away from those before: what is "
            "said of false discoveries is not proved for them."
        )
    elif evidence.population.kind == "new units":
        lines.append(
            f"The tail is one of rows of different {label(evidence.population.pieces, 80)}; rows "
            f"of one {label(evidence.population.piece, 80)} may be called together."
        )
    if evidence.unusual_errors is not None:
        how = "ranks of the errors" if evidence.task == "regression" else "Fisher's exact test"
        if evidence.test.units is not None or evidence.test.stretches is not None:
            how = f"ranks of the mean errors of {population.tested_pieces(evidence)}"
        lines.append(f"Whether the model errs more is tested on test rows, by {how}.")
    if found.clusters is not None:
        lines.append(
            f"Clusters are cut at valleys: half of the rows chooses a direction and three windows, "
            f"the other half counts. Rows without a valley are cut in at most "
            f"{percent(LEVEL, decimals=0)} of the tables; further cuts follow the same rule."
        )
    return lines
