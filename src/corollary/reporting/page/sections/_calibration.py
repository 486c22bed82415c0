"""How sure: whether stated probabilities, sets and intervals keep their word."""

from typing import Any

import numpy as np
from scipy import special

from corollary.core.certificate import format_share
from corollary.reporting._records import Evidence
from corollary.reporting.page._format import count, number, percent, percent_triple, plural
from corollary.reporting.page.sections import _facts as facts
from corollary.reporting.page.sections import _groups as groups
from corollary.reporting.page.sections._bins import equal_count_bins
from corollary.validation import holm, share_interval

LEAST_ROWS = 20
MOST_BINS = 10
MOST_BANDS = 5
MOST_GROUPS = 6


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
    rows = evidence.test
    if rows.probability is None or len(rows.truth) == 0:
        return None
    probability = np.asarray(rows.probability, dtype=float)
    if len(evidence.classes) == 2:
        index = facts.positive(evidence)
        stated, hit = probability[:, index], np.asarray(rows.truth) == index
        of = facts.class_name(evidence, index)
        x_label, y_label = f"predicted probability of {of}", f"share that is {of}"
    else:
        stated = probability[np.arange(len(rows.truth)), np.asarray(rows.prediction, dtype=int)]
        hit = ~facts.wrong(evidence)
        x_label, y_label = "probability of the predicted class", "share predicted rightly"
    order = np.argsort(stated, kind="stable")
    cuts = equal_count_bins(len(stated), MOST_BINS, LEAST_ROWS)
    joint = 1 - (1 - evidence.confidence) / len(cuts)
    bins = []
    for cut in cuts:
        inside = order[cut]
        k, n = int(hit[inside].sum()), len(inside)
        low, high = share_interval(k, n, joint)
        mean = float(stated[inside].mean())
        bins.append(
            {
                "from": float(stated[inside[0]]),
                "to": float(stated[inside[-1]]),
                "predicted": mean,
                "observed": k / n,
                "low": low,
                "high": high,
                "hits": k,
                "n": n,
                "off": bool(not low <= mean <= high),
            }
        )
    counts, edges = np.histogram(stated, bins=20, range=(0.0, 1.0))
    off = [b for b in bins if b["off"]]
    return {
        "bins": bins,
        "histogram": {"edges": [round(e, 2) for e in edges.tolist()], "counts": counts.tolist()},
        "x_label": x_label,
        "y_label": y_label,
        "n": len(stated),
        "sentence": _curve_sentence(bins, off, evidence),
    }


def _curve_sentence(
    bins: list[dict[str, Any]], off: list[dict[str, Any]], evidence: Evidence
) -> str:
    where = f"{len(bins)} bins of about {count(bins[0]['n'])} rows"
    if not off:
        if len(bins) == 1:
            return (
                f"There are only {plural(bins[0]['n'], 'test row')}, so the probabilities can be "
                "judged in one pooled bin only; there they agree with what happened."
            )
        both = "both" if len(bins) == 2 else "all"
        where = where if both == "all" else where.partition(" ")[2]
        return f"The probabilities agree with what happened in {both} {where}."
    worst = max(off, key=lambda b: abs(b["predicted"] - b["observed"]))
    side = "too high" if worst["predicted"] > worst["observed"] else "too low"
    return (
        f"In {len(off)} of {where} the probabilities are off: most where the model said "
        f"{percent(worst['predicted'])} and {percent(worst['observed'])} happened "
        f"(n = {count(worst['n'])}), {side}."
    )


def coverage_summary(evidence: Evidence) -> dict[str, Any] | None:
    """Count how often sets or intervals held the truth, in all and by band."""
    covered = facts.covered(evidence)
    if covered is None or len(covered) == 0:
        return None
    k, n = int(covered.sum()), len(covered)
    low, high = share_interval(k, n, evidence.confidence)
    groups = _classes(evidence) if evidence.task == "classification" else _bands(evidence)
    joint = 1 - (1 - evidence.confidence) / max(len(groups), 1)
    bands = []
    for words, inside, size in groups:
        hits, rows = int(covered[inside].sum()), len(inside)
        a, b = share_interval(hits, rows, joint)
        bands.append(
            {
                "label": words,
                "lines": _lines(words)
                if evidence.task == "regression"
                else [words.removeprefix("class ")],
                "n": rows,
                "hits": hits,
                "value": hits / rows,
                "low": a,
                "high": b,
                "size": size,
                "warn": bool(b < evidence.coverage),
            }
        )
    summary = {
        "kind": "sets" if evidence.task == "classification" else "intervals",
        "nominal": evidence.coverage,
        "value": k / n,
        "low": low,
        "high": high,
        "hits": k,
        "n": n,
        "by": "true class" if evidence.task == "classification" else "predicted value",
        "bands": bands,
        "sizes": _set_sizes(evidence),
        "median_width": _median_width(evidence),
        "promise": promise(evidence),
        "groups": coverage_by_group(evidence, covered),
    }
    return {**summary, "sentence": _coverage_sentence(evidence, summary)}


def promised_coverage(evidence: Evidence) -> float | None:
    r"""Bound the coverage from below by the calibration rows, before any test row is looked at.

    Given n calibration rows the coverage of a conformal threshold at rank
    :math:`k = \lceil (n + 1) c \rceil` is at least a Beta(k, n + 1 - k) variable (equal to it if
    scores have no ties). Its lower quantile bounds the coverage; several thresholds share the
    error. Guarantee: checked by ``tests/reporting/test_headline.py``.
    """
    rows = evidence.calibrated
    error = (1 - evidence.confidence) / max(len(rows), 1)
    ranks = [int(np.ceil((n + 1) * evidence.coverage - 1e-9)) for n in rows]
    floors = [float(special.betaincinv(k, n + 1 - k, error)) for k, n in zip(ranks, rows) if k <= n]
    return min(floors, default=None)


def promise(evidence: Evidence) -> str:
    """Say what the calibration rows prove about coverage."""
    share, rows = promised_coverage(evidence), evidence.calibrated
    if share is None:
        return ""
    level = facts.confidence_words(evidence)
    kind = "sets" if evidence.task == "classification" else "intervals"
    where = "" if len(rows) == 1 else f" in each of {len(rows)} ranges of the prediction"
    return (
        f"Proved by the {plural(sum(rows), 'calibration row')}, before any test row was looked at: "
        f"with {level} confidence the {kind} hold the truth for at least "
        f"{format_share(share, 'lower')} of all such rows{where}."
    )


def coverage_by_group(evidence: Evidence, covered: np.ndarray) -> dict[str, Any] | None:
    """Look for groups of rows, cut by one column, whose sets or intervals hold too rarely."""
    picked = slice(None, None, -(-len(covered) // groups.MOST_ROWS))
    covered = covered[picked]
    names, members = groups.find_groups(evidence, picked)
    if not names:
        return None
    sizes = members.sum(axis=1)
    hits = np.array([int(covered[inside].sum()) for inside in members])
    # The chance of so few hits, or fewer, if the group were covered as often as promised.
    adjusted = holm(special.bdtr(hits.astype(float), sizes, evidence.coverage))
    shown = int((adjusted <= 1 - evidence.confidence).sum())
    joint = 1 - (1 - evidence.confidence) / len(names)
    order = np.lexsort((np.arange(len(names)), hits / sizes, adjusted))[:MOST_GROUPS]
    rows = []
    for i in order:
        k, n = int(hits[i]), int(sizes[i])
        low, high = share_interval(k, n, joint)
        rows.append(
            {
                "label": names[i],
                "n": n,
                "hits": k,
                "value": k / n,
                "low": low,
                "high": high,
                "p": float(adjusted[i]),
                "warn": bool(adjusted[i] <= 1 - evidence.confidence),
            }
        )
    return {
        "sentence": _group_sentence(rows, shown, len(names), evidence),
        "n_tested": len(names),
        "n_shown": shown,
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


def _classes(evidence: Evidence) -> list[tuple[str, np.ndarray, float | None]]:
    truth = np.asarray(evidence.test.truth)
    sizes = np.asarray(evidence.test.sets).sum(axis=1)
    found: list[tuple[str, np.ndarray, float | None]] = []
    for index in range(len(evidence.classes)):
        inside = np.flatnonzero(truth == index)
        if len(inside):
            name = facts.class_name(evidence, index)
            found.append((name, inside, float(sizes[inside].mean())))
    # Many classes: the most frequent ones are shown.
    return sorted(found, key=lambda g: -len(g[1]))[:MOST_BINS] if len(found) > MOST_BINS else found


def _bands(evidence: Evidence) -> list[tuple[str, np.ndarray, float | None]]:
    rows = evidence.test
    prediction = np.asarray(rows.prediction, dtype=float)
    order = np.argsort(prediction, kind="stable")
    width = np.asarray(rows.high) - np.asarray(rows.low)
    found = []
    most = MOST_BANDS if np.ptp(prediction) > 0 else 1  # one prediction for all rows: one band
    for cut in equal_count_bins(len(order), most, LEAST_ROWS):
        inside = order[cut]
        ends = prediction[inside[0]], prediction[inside[-1]]
        typical = facts.plain(float(np.median(width[inside])))
        found.append((f"{number(ends[0])} to {number(ends[1])}", inside, typical))
    return found


def _lines(words: str) -> list[str]:
    """Break the label of a band in two, to fit below its dot."""
    first, _, second = words.partition(" to ")
    return [first, f"to {second}"]


def _set_sizes(evidence: Evidence) -> list[dict[str, int]]:
    if evidence.test.sets is None:
        return []
    sizes, counts = np.unique(np.asarray(evidence.test.sets).sum(axis=1), return_counts=True)
    return [{"classes": int(s), "rows": int(c)} for s, c in zip(sizes, counts)]


def _median_width(evidence: Evidence) -> float | None:
    rows = evidence.test
    if rows.low is None or rows.high is None:
        return None
    return facts.plain(float(np.median(np.asarray(rows.high) - np.asarray(rows.low))))


def _coverage_sentence(evidence: Evidence, summary: dict[str, Any]) -> str:
    wanted = percent(evidence.coverage)
    share = percent_triple(summary["value"], summary["low"], summary["high"])[0]
    bands = summary["bands"]
    worst = min(bands, key=lambda b: b["value"])
    if summary["kind"] == "sets":
        single = next((s["rows"] for s in summary["sizes"] if s["classes"] == 1), 0)
        text = (
            f"{wanted} sets held the true class of {count(summary['hits'])} of "
            f"{plural(summary['n'], 'unseen row')} ({share}); "
        )
        if all(s["classes"] == len(evidence.classes) for s in summary["sizes"]):
            return text + "but every set names all classes, so they say nothing."
        text += f"{count(single)} {'set names' if single == 1 else 'sets name'} one class only."
        if len(bands) > 1 and percent(worst["value"]) != percent(summary["value"]):
            text += f" Lowest for {worst['label']}: {facts.share_words(worst['hits'], worst['n'])}."
    else:
        text = f"{wanted} intervals held {share} of {plural(summary['n'], 'unseen row')}"
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
            f"{LEAST_ROWS} rows each or pooled. Bands are exact binomial intervals (Clopper and "
            f"Pearson) that hold for all bins together with {level} confidence (Bonferroni); a bin "
            "is called off when its mean prediction lies outside its band."
        )
    if coverage:
        what = "classes" if coverage["kind"] == "sets" else "bands of equal count"
        lines.append(
            f"Sets and intervals were calibrated on {plural(evidence.n_calibration, 'row')} that "
            f"neither training nor this table used (split conformal prediction). Coverage has an "
            f"exact binomial interval at {level}; those of {what} hold for all of them together, "
            "and only one that lies wholly below what was wanted is marked."
        )
        if coverage["groups"]:
            lines.append(
                "Groups of rows are those of the section on errors. A group is called held less "
                "often than wanted when the chance of so few hits, if it were held as often as "
                f"wanted, is below {percent(1 - evidence.confidence)} after Holm’s correction; "
                "intervals hold for all groups together (Bonferroni)."
            )
    return lines
