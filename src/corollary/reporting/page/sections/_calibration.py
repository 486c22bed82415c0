"""How sure: whether stated probabilities, sets and intervals keep their word."""

from typing import Any

from corollary.core.certificate import format_share
from corollary.reporting._records import Evidence
from corollary.reporting.page import _population as population
from corollary.reporting.page._format import (
    count,
    label,
    number,
    percent,
    percent_triple,
    plural,
)
from corollary.reporting.page._model_content import CalibrationSection
from corollary.reporting.page.sections import _facts as facts
from corollary.reporting.page.sections._groups import name_group
from corollary.reporting.trust._coverage import CoverageCell
from corollary.reporting.trust._reliability import LEAST_ROWS

HEADING, CONTENT = "Calibration", CalibrationSection


def build(evidence: Evidence) -> dict[str, Any] | None:
    """Compare what the model promised with what happened on the test rows."""
    probability = probability_curve(evidence)
    coverage = coverage_summary(evidence)
    if probability is None and coverage is None:
        return None
    sentences = [part["sentence"] for part in (coverage, probability) if part]
    return {
        "finding": " ".join(sentences),
        "probability": probability,
        "coverage": coverage,
        "method": _method(evidence, probability, coverage),
    }


def probability_curve(evidence: Evidence) -> dict[str, Any] | None:
    """Compare predicted probabilities with observed shares in bins of equal count."""
    found = evidence.reliability
    if found is None:
        return None
    if found.positive is not None:
        of = facts.class_name(evidence, found.positive)
        x_label, y_label = f"predicted probability of {of}", f"share that is {of}"
    else:
        x_label, y_label = "probability of the predicted class", "share predicted rightly"
    bins = [
        {
            "from": b.first,
            "to": b.last,
            "predicted": b.predicted,
            "observed": b.observed,
            "low": b.low,
            "high": b.high,
            "hits": b.hits,
            "n": b.n,
            "off": b.off,
        }
        for b in found.bins
    ]
    edges = [round(e, 2) for e in found.edges.tolist()]
    off = [b for b in bins if b["off"]]
    return {
        "bins": bins,
        "histogram": {"edges": edges, "counts": found.counts.tolist()},
        "x_label": x_label,
        "y_label": y_label,
        "n": len(found.stated),
        "sentence": _curve_sentence(bins, off, evidence),
    }


def _curve_sentence(
    bins: list[dict[str, Any]], off: list[dict[str, Any]], evidence: Evidence
) -> str:
    where = f"bins of about {count(bins[0]['n'])} rows"
    if not off:
        if len(bins) == 1:
            return (
                f"There are only {plural(bins[0]['n'], 'test row')}, so the probabilities can be "
                "judged in one pooled bin only; there they agree with what happened."
            )
        every = "both" if len(bins) == 2 else f"all {len(bins)}"
        return f"The probabilities agree with what happened in {every} {where}."
    worst = max(off, key=lambda b: abs(b["predicted"] - b["observed"]))
    side = "too high" if worst["predicted"] > worst["observed"] else "too low"
    return (
        f"In {len(off)} of {len(bins)} {where} the probabilities are off: most where the model "
        f"said {percent(worst['predicted'])} and {percent(worst['observed'])} happened "
        f"(n = {count(worst['n'])}), {side}."
    )


def coverage_summary(evidence: Evidence) -> dict[str, Any] | None:
    """Count how often sets or intervals held the truth, in all and by band."""
    found = evidence.held
    if found is None:
        return None
    sets = evidence.task == "classification"
    summary = {
        "kind": "sets" if sets else "intervals",
        "nominal": evidence.coverage,
        "value": found.share,
        "low": found.low,
        "high": found.high,
        "hits": found.hits,
        "n": len(found.held),
        "by": "true class" if sets else "predicted value",
        "bands": [_band(evidence, cell) for cell in found.cells],
        "sizes": [{"classes": size, "rows": n} for size, n in found.sizes],
        "median_width": facts.plain(found.median_width),
        "promise": promise(evidence),
        "groups": _groups(evidence),
    }
    return {**summary, "sentence": _coverage_sentence(evidence, summary)}


def _band(evidence: Evidence, cell: CoverageCell) -> dict[str, Any]:
    if evidence.task == "classification":
        words = facts.class_name(evidence, cell.label)
        lines = [label(evidence.classes[cell.label], 40)]
    else:
        ends = [number(end) for end in cell.ends]
        words, lines = f"{ends[0]} to {ends[1]}", [ends[0], f"to {ends[1]}"]
    return {
        "label": words,
        "lines": lines,  # to fit below its dot
        "n": cell.n,
        "hits": cell.hits,
        "value": cell.share,
        "low": cell.low,
        "high": cell.high,
        "size": facts.plain(cell.size),
        "warn": bool(cell.high < evidence.coverage),
    }


def promise(evidence: Evidence) -> str:
    """Say what the calibration rows prove about coverage."""
    share, rows = evidence.held.promised if evidence.held else None, evidence.calibrated
    kind = "sets" if evidence.task == "classification" else "intervals"
    if share is None:
        return population.promise(evidence, kind)
    level = facts.confidence_words(evidence)
    where = "" if len(rows) == 1 else f" in each of {len(rows)} ranges of the prediction"
    return (
        f"Proved by the {plural(sum(rows), 'calibration row')}, before any test row was looked at: "
        f"with {level} confidence the {kind} hold the truth for at least "
        f"{format_share(share, 'lower')} of all such rows{where}."
    )


def _groups(evidence: Evidence) -> dict[str, Any] | None:
    """Write down the groups of rows whose sets or intervals held most rarely."""
    found = evidence.covered_groups
    if found is None:
        return None
    rows = [
        {
            "label": name_group(g.group),
            "n": g.rows,
            "hits": g.hits,
            "value": g.share,
            "low": g.low,
            "high": g.high,
            "p": g.p,
            "warn": g.low_coverage,
        }
        for g in found.shown
    ]
    return {
        "sentence": _group_sentence(rows, found.n_low, found.n_tested, evidence),
        "n_tested": found.n_tested,
        "n_shown": found.n_low,
        "rows": rows,
    }


def _group_sentence(rows: list[dict[str, Any]], shown: int, tested: int, evidence: Evidence) -> str:
    worst, wanted = rows[0], percent(evidence.coverage)
    words = f"{worst['label']}, {facts.share_words(worst['hits'], worst['n'])}"
    if shown:
        verb = "is" if shown == 1 else "are"
        return (
            f"Of {plural(tested, 'group')} of rows cut by one column, {count(shown)} {verb} shown "
            f"to be held less often than the {wanted} that were wanted: most clearly {words}."
        )
    return (
        f"None of {plural(tested, 'group')} of rows cut by one column is shown to be held less "
        f"often than the {wanted} that were wanted, corrected for so many looks. Lowest: {words}."
    )


def _coverage_sentence(evidence: Evidence, summary: dict[str, Any]) -> str:
    wanted = percent(evidence.coverage)
    share = percent_triple(summary["value"], summary["low"], summary["high"])[0]
    rows = population.counted_rows(evidence, evidence.n_pieces)
    bands = summary["bands"]
    worst = min(bands, key=lambda b: b["value"])
    if summary["kind"] == "sets":
        single = next((s["rows"] for s in summary["sizes"] if s["classes"] == 1), 0)
        held = f"{count(summary['hits'])} of {rows} ({share})"
        if evidence.population.kind == "new units":
            held = f"{share} of {rows}"
        text = f"{wanted} sets held the true class of {held}; "
        if all(s["classes"] == len(evidence.classes) for s in summary["sizes"]):
            return text + "but every set names all classes, so they say nothing."
        text += f"{count(single)} {'set names' if single == 1 else 'sets name'} one class only."
        if len(bands) > 1 and percent(worst["value"]) != percent(summary["value"]):
            text += f" Lowest for {worst['label']}: {facts.share_words(worst['hits'], worst['n'])}."
    else:
        text = f"{wanted} intervals held {share} of {rows}"
        if len(bands) > 1:
            text += (
                f"; in the worst band of predictions ({worst['label']}) {percent(worst['value'])} "
                f"of {count(worst['n'])}"
            )
        width = summary["median_width"]
        if width is None:
            return text + ". But half of them or more have no end, so they say nothing."
        text += f". Half of them are narrower than {number(width)}."
    return text


def _method(
    evidence: Evidence, probability: dict[str, Any] | None, coverage: dict[str, Any] | None
) -> list[str]:
    level = facts.confidence_words(evidence)
    lines = []
    if probability:
        lines.append(
            f"Rows are ordered by predicted probability and cut into bins of equal count, at least "
            f"{LEAST_ROWS} rows each or pooled. Bands are {population.bands_method(evidence)} that "
            f"hold for all bins together with {level} confidence (Bonferroni); a bin is called off "
            "when its mean prediction lies outside its band."
        )
    if coverage:
        what = "classes" if coverage["kind"] == "sets" else "bands of equal count"
        lines.append(
            f"Sets and intervals were calibrated {population.calibrated_on(evidence)}. Coverage "
            f"has {population.interval_method(evidence)}; those of {what} hold for all of them "
            "together, and only one that lies wholly below what was wanted is marked."
        )
        if coverage["groups"]:
            lines.append(
                "Groups of rows are those of the section on errors. A group is called held less "
                "often than wanted when the chance of so few hits, if it were held as often as "
                f"wanted, is below {percent(1 - evidence.confidence)} after Holm’s correction; "
                "intervals hold for all groups together (Bonferroni)."
            )
    return lines
