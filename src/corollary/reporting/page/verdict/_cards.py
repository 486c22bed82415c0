"""The five questions of the first screen, each with its number and a sentence."""

import math
from typing import Any

from corollary.core.certificate import format_share
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
from corollary.reporting.page.sections import _calibration as calibration
from corollary.reporting.page.sections import _facts as facts
from corollary.reporting.page.sections import _new_data as new_data
from corollary.reporting.trust.errors._classes import SureRows


def _card(key: str, question: str, number_: str, caption: str, sentence: str, **more: Any) -> dict:
    card = {
        "key": key,
        "question": question,
        "number": number_,
        "caption": caption,
        "interval": "",
        "n": None,
        "sentence": sentence,
        "section": "",
        "strip": None,
    }
    return {**card, **more}


def how_good(evidence: Evidence) -> dict[str, Any]:
    """Say how often, or by how much, the model is wrong on unseen rows."""
    if evidence.task != "classification":
        return _typical_error(evidence)
    rate, level = evidence.error_rate, facts.confidence_words(evidence)
    bound = format_share(rate.upper)
    sentence = (
        f"{_wrong_rows(evidence)} With {level} confidence "
        f"{population.bounded_share(evidence, bound)}."
    )
    if not facts.chosen(evidence).baseline:
        sentence += f" {facts.guess_words(evidence)}: {percent(rate.baseline)}."
    return _card(
        "how-good",
        "How good?",
        percent(rate.value),
        f"of {population.unseen_rows(evidence)} wrong",
        sentence + population.weighting(evidence),
        interval=f"at most {bound}",
        n=rate.n,
        section="certificate" if evidence.certificates else "errors",
        strip={
            "value": rate.value,
            "low": 0.0,
            "high": rate.upper,
            "domain": [0.0, min(1.0, 1.15 * max(rate.baseline, rate.upper, 0.01))],
            "marks": [{"at": rate.baseline, "label": f"guessing {percent(rate.baseline)}"}],
        },
    )


def _wrong_rows(evidence: Evidence) -> str:
    """Count the wrong rows; a share of rows that come in units is no count."""
    rate = evidence.error_rate
    rows = population.counted_rows(evidence, rate.n)
    if evidence.population.kind == "new units":
        return f"{percent(rate.value)} of {rows} wrong."
    return f"{count(rate.wrong)} of {rows} wrong ({percent(rate.value)})."


def _typical_error(evidence: Evidence) -> dict[str, Any]:
    """State the median error: unlike that of a mean, its interval holds however long the tails."""
    sizes, guessing = evidence.error_sizes, facts.chosen(evidence).baseline
    middle, high = sizes.median.value, sizes.median.high
    low = 0.0 if sizes.median.low is None else sizes.median.low  # no error is smaller
    words = triple(middle, low, high)
    interval = f"{words[1]} to {words[2]}"
    ends = [v for v in (low, middle, high, sizes.baseline_median) if v is not None]
    stated = f" ({facts.confidence_words(evidence)} interval {interval})"
    if evidence.population.kind == "period":  # no theorem gives an interval, and none is drawn
        stated, interval = "", "no interval: rows of a period depend on each other"
        low = high = middle
    sentence = (
        f"Half of {population.counted_rows(evidence, sizes.n)} are off by at most {words[0]}"
        f"{stated}, in the units of {facts.target_name(evidence)}."
    )
    average = "" if evidence.loss.of_logarithm else number(sizes.mean)
    if average:
        sentence += f" The average is {average}."
    if not guessing:
        sentence += f" {facts.guess_words(evidence)}: {number(sizes.baseline_median)}"
        sentence += f", on average {number(sizes.baseline_mean)}." if average else "."
    if not average:
        sentence += " A few rows decide every average here."
    return _card(
        "how-good",
        "How good?",
        words[0],
        "off in the median",
        sentence + population.weighting(evidence),
        interval=interval,
        n=sizes.n,
        section="errors",
        strip={
            "value": middle,
            "low": low,
            "high": high,
            "domain": [0.0, 1.15 * max(ends) or 1.0],
            "marks": [
                {
                    "at": sizes.baseline_median,
                    "label": f"guessing {number(sizes.baseline_median)}",
                }
            ],
        },
    )


def how_sure(evidence: Evidence) -> dict[str, Any]:
    """Say whether sets or intervals held as often as promised."""
    summary = calibration.coverage_summary(evidence)
    if summary is None:
        return _card(
            "how-sure", "How sure?", "unknown", "", "No prediction sets or intervals were made."
        )
    words = percent_triple(summary["value"], summary["low"], summary["high"])
    floor = min(summary["low"], evidence.coverage)
    return _card(
        "how-sure",
        "How sure?",
        words[0],
        f"of {percent(evidence.coverage)} {summary['kind']} held",
        summary["sentence"],
        interval=f"{words[1]} to {words[2]}",
        n=evidence.held.n if evidence.held else None,
        section="calibration",
        strip={
            "value": summary["value"],
            "low": summary["low"],
            "high": summary["high"],
            "domain": [max(0.0, floor - 0.35 * (1 - floor)), 1.0],
            "marks": [{"at": evidence.coverage, "label": f"wanted {percent(evidence.coverage)}"}],
        },
    )


def how_wrong(evidence: Evidence) -> dict[str, Any]:
    """Say how bad the worst errors are, with their direction."""
    return (
        _wrong_classes(evidence) if evidence.task == "classification" else _wrong_numbers(evidence)
    )


def _wrong_numbers(evidence: Evidence) -> dict[str, Any]:
    sizes, rows = evidence.error_sizes, evidence.test
    half, most, nearly = sizes.within
    side = facts.direction(rows.truth[sizes.worst], rows.prediction[sizes.worst])
    worst = number(sizes.largest)
    parts = [f"9 of 10 rows within {number(most)}"]
    if sizes.n >= 100:
        parts.append(f"99 of 100 within {number(nearly)}")
    parts.append(f"worst {worst} (predicted {side})")
    return _card(
        "how-wrong",
        "How wrong at worst?",
        worst,
        f"worst error, {side}",
        ", ".join(parts) + ".",
        interval=f"9 of 10 within {number(most)}",
        n=sizes.n,
        section="errors",
        strip={
            "value": sizes.largest,
            "low": 0.0,
            "high": most,
            "domain": [0.0, 1.04 * sizes.largest or 1.0],
            "marks": [
                {"at": half, "label": "half"},
                {"at": most, "label": "9 of 10"},
                {"at": sizes.largest, "label": "worst"},
            ],
        },
    )


def _wrong_classes(evidence: Evidence) -> dict[str, Any]:
    sure, guessing = evidence.wrong_classes.sure, facts.chosen(evidence).baseline
    if sure is None or guessing:
        rate = evidence.error_rate
        return _card(
            "how-wrong",
            "How wrong at worst?",
            percent(rate.value),
            "wrong, whatever the row" if guessing else "wrong, by direction",
            _directions(evidence) or "No unseen row is wrong.",
            interval=f"at most {format_share(rate.upper)}",
            n=rate.n,
            section="errors",
        )
    bound, limit = format_share(sure.upper), percent(sure.limit)
    share = f"{count(sure.wrong)} of {plural(sure.rows, 'row')}"
    if evidence.population.kind == "new units":
        share = f"{percent(sure.value)} of {population.counted_rows(evidence, sure.n)}"
    text = (
        f"Where it was at least {limit} sure, {share} wrong "
        f"({facts.confidence_words(evidence)} confidence: at most {bound})."
    )
    rate = evidence.error_rate
    if sure.worst is not None and sure.value <= rate.value and sure.upper >= rate.upper:
        # So few rows are sure that their bound says less than that of all rows.
        return _card(
            "how-wrong",
            "How wrong at worst?",
            percent(sure.stated),
            "sure, and yet wrong",
            f"{_surest_mistake(evidence, sure).strip()} {text}",
            interval=f"{percent(rate.value)} wrong of all",
            n=rate.n,
            section="errors",
        )
    return _card(
        "how-wrong",
        "How wrong at worst?",
        f"≤ {bound}",
        f"wrong when at least {limit} sure",
        text + _surest_mistake(evidence, sure),
        interval=f"{percent(sure.value)} seen, at most {bound}",
        n=sure.n,
        section="errors",
        strip={
            "value": sure.value,
            "low": 0.0,
            "high": sure.upper,
            "domain": [0.0, min(1.0, 1.3 * max(sure.upper, 1 - sure.limit))],
            "marks": [
                {"at": 1 - sure.limit, "label": f"sureness allows {percent(1 - sure.limit)}"}
            ],
        },
    )


def _surest_mistake(evidence: Evidence, sure: SureRows) -> str:
    if sure.worst is None:
        return ""
    rows, worst = evidence.test, sure.worst
    one = evidence.error_rate.wrong == 1
    start = "The only mistake" if one else f"{_directions(evidence)} Surest mistake"
    told, is_ = (facts.class_name(evidence, v[worst]) for v in (rows.prediction, rows.truth))
    return (
        f" {start}: {facts.row_words(evidence, worst)}, called "
        f"{told} with probability {percent(sure.stated)}, is {is_}."
    )


def _directions(evidence: Evidence) -> str:
    wrong = evidence.wrong_classes
    parts = [
        f"{count(mistake.rows)} {facts.class_name(evidence, mistake.truth)} called "
        f"{facts.class_name(evidence, mistake.prediction)}"
        for mistake in wrong.foremost
    ]
    if not parts:
        return ""
    start = "All mistakes: " if wrong.kinds == len(parts) else "Most frequent: "
    return start + listing(parts) + "."


def why(evidence: Evidence) -> dict[str, Any]:
    """Say which column the predictions lean on most."""
    if facts.chosen(evidence).baseline:
        used = sum(column.used for column in evidence.profile.columns)
        return _card(
            "why",
            "Why?",
            "none",
            "of the columns is used",
            f"Guessing looks at none of the {count(used)} columns."
            if used > 1
            else "Guessing looks at no column.",
            interval="no column used",
            section="models",
        )
    if not evidence.importances:
        return _card("why", "Why?", "unknown", "", "The columns' importance was not measured.")
    loss = evidence.importance_loss or evidence.loss.label
    top, looks = evidence.importances[0], len(evidence.importances)
    rise = evidence.rises[0]
    level = facts.confidence_words(evidence)
    looked = f", corrected for {looks} looks," if looks > 1 else ""
    words = triple(rise.value, facts.plain(rise.low), facts.plain(rise.high))
    name = label(top.column, 40)
    if rise.low > 0:
        text = (
            f"It leans most on {name}: with its values shuffled, {loss} rises by "
            f"{words[0]} ({level} interval{looked} {words[1]} to {words[2]})."
        )
    elif rise.value <= 0:
        text = f"No single column is shown to matter: shuffling none of them raises {loss}."
    else:
        text = (
            f"No single column is shown to matter. Shuffling {name} costs most: {words[0]} in "
            f"{loss} ({level} interval{looked} {words[1]} to {words[2]})."
        )
    if top.stand_ins:
        text += f" Can stand in for it: {listing([label(s, 40) for s in top.stand_ins], 2)}."
    text += " Association, not cause."
    ends = [v for v in (rise.low, rise.value, rise.high, 0.0) if math.isfinite(v)]
    margin = 0.12 * (max(ends) - min(ends)) or 1.0
    return _card(
        "why",
        "Why?",
        words[0] if words[0].startswith("−") else f"+{words[0]}",
        f"{loss}, {label(top.column, 24)} shuffled",
        text,
        interval=f"{words[1]} to {words[2]}",
        n=int(rise.n),
        section="why",
        strip={
            "value": float(rise.value),
            "low": facts.plain(rise.low),
            "high": facts.plain(rise.high),
            "domain": [min(ends) - margin, max(ends) + margin],
            "marks": [{"at": 0.0, "label": "no effect"}],
        },
    )


def still_true(evidence: Evidence) -> dict[str, Any]:
    """Say that nobody knows yet, how to find out, and what new rows would reveal."""
    table = new_data.detectable(evidence)
    row = next((r for r in table["rows"] if r["n"] == 100), table["rows"][0])
    write = percent if table["percent"] else number
    rows = population.like_these(evidence)
    holds = f"Holds for {rows}; not checked on new data yet."
    if evidence.verdict != "shown":
        holds = f"Speaks about {rows} only; not checked on new data yet."
    if evidence.population.kind == "period":
        holds = f"Speaks about {rows} only; not checked yet.{population.later_rows(evidence)}"
    new = population.new_rows(evidence, row["n"])
    reveals, interval = "too few to notice a change", ""
    if row["detectable"] is not None:
        shown = write(row["detectable"], direction="up")
        reveals = f"enough to reveal {new_data.revealed(evidence, shown)}, 4 times in 5"
        interval = f"{count(row['n'])} rows would reveal {shown}"
    return _card(
        "still-true",
        "Still true on new data?",
        "not checked",
        "on new data yet",
        f"{holds} {new} with known {facts.target_name(evidence)} would be {reveals}: "
        f"{new_data.HOW_TO_CHECK}.",
        interval=interval,
        n=row["n"] if interval else None,
        section="new_data",
    )
