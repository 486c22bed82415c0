"""The five questions of the first screen, each with its number and a sentence."""

from typing import Any

import numpy as np

from corollary.core.certificate import format_share
from corollary.reporting._records import Evidence
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
from corollary.validation import (
    quantile_interval,
    share_interval,
    share_upper,
)

SURE = 0.9


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
    if evidence.task == "classification":
        level, guess = facts.confidence_words(evidence), facts.guess_words(evidence)
        n, guessing = len(evidence.test.truth), facts.chosen(evidence).baseline
        k = int(facts.wrong(evidence).sum())
        base = float(np.mean(evidence.test.truth != evidence.test.baseline))
        high = share_upper(k, n, evidence.confidence)
        bound = format_share(high)
        return _card(
            "how-good",
            "How good?",
            percent(k / n),
            "of unseen rows wrong",
            f"{count(k)} of {plural(n, 'unseen row')} wrong ({percent(k / n)}). With {level} "
            f"confidence at most {bound} of such rows."
            + ("" if guessing else f" {guess}: {percent(base)}."),
            interval=f"at most {bound}",
            n=n,
            section="certificate",
            strip={
                "value": k / n,
                "low": 0.0,
                "high": high,
                "domain": [0.0, min(1.0, 1.15 * max(base, high, 0.01))],
                "marks": [{"at": base, "label": f"guessing {percent(base)}"}],
            },
        )
    return _typical_error(evidence)


def _typical_error(evidence: Evidence) -> dict[str, Any]:
    """State the median error: unlike that of a mean, its interval holds however long the tails."""
    errors, guessing = facts.absolute_errors(evidence), facts.chosen(evidence).baseline
    n, level = len(errors), facts.confidence_words(evidence)
    middle, low, high = quantile_interval(errors, 0.5, evidence.confidence)
    low = 0.0 if low is None else low  # no error is smaller, however few the rows
    guess = np.abs(evidence.test.truth - evidence.test.baseline)
    base = float(np.median(guess))
    words = triple(middle, low, high)
    ends = [v for v in (low, middle, high, base) if v is not None]
    sentence = (
        f"Half of {plural(n, 'unseen row')} are off by at most {words[0]} ({level} interval "
        f"{words[1]} to {words[2]}), in the units of {facts.target_name(evidence)}."
    )
    average = "" if evidence.loss.of_logarithm else number(float(errors.mean()))
    if average:
        sentence += f" The average is {average}."
    if not guessing:
        sentence += f" {facts.guess_words(evidence)}: {number(base)}"
        sentence += f", on average {number(float(guess.mean()))}." if average else "."
    if not average:
        sentence += " A few rows decide every average here."
    return _card(
        "how-good",
        "How good?",
        words[0],
        "off in the median",
        sentence,
        interval=f"{words[1]} to {words[2]}",
        n=n,
        section="errors",
        strip={
            "value": middle,
            "low": low,
            "high": high,
            "domain": [0.0, 1.15 * max(ends) or 1.0],
            "marks": [{"at": base, "label": f"guessing {number(base)}"}],
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
        n=summary["n"],
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
    errors = facts.absolute_errors(evidence)
    n = len(errors)
    ordered = np.sort(errors)
    half, most, nearly = (
        float(ordered[max(int(np.ceil(q * n - 1e-9)), 1) - 1]) for q in (0.5, 0.9, 0.99)
    )
    worst = int(np.argmax(errors))
    side = facts.direction(evidence.test.truth[worst], evidence.test.prediction[worst])
    parts = [f"9 of 10 rows within {number(most)}"]
    if n >= 100:
        parts.append(f"99 of 100 within {number(nearly)}")
    parts.append(f"worst {number(float(errors[worst]))} (predicted {side})")
    return _card(
        "how-wrong",
        "How wrong at worst?",
        number(float(errors[worst])),
        f"worst error, {side}",
        ", ".join(parts) + ".",
        interval=f"9 of 10 within {number(most)}",
        n=n,
        section="errors",
        strip={
            "value": float(errors[worst]),
            "low": 0.0,
            "high": most,
            "domain": [0.0, 1.04 * float(errors[worst]) or 1.0],
            "marks": [
                {"at": half, "label": "half"},
                {"at": most, "label": "9 of 10"},
                {"at": float(errors[worst]), "label": "worst"},
            ],
        },
    )


def _wrong_classes(evidence: Evidence) -> dict[str, Any]:
    rows, wrong = evidence.test, facts.wrong(evidence)
    n = len(wrong)
    directions = _directions(evidence, wrong)
    guessing = facts.chosen(evidence).baseline
    if rows.probability is None or guessing:
        k = int(wrong.sum())
        low, high = share_interval(k, n, evidence.confidence)
        words = percent_triple(k / n, low, high)
        return _card(
            "how-wrong",
            "How wrong at worst?",
            words[0],
            "wrong, whatever the row" if guessing else "wrong, by direction",
            directions or "No unseen row is wrong.",
            interval=f"{words[1]} to {words[2]}",
            n=n,
            section="errors",
        )
    stated = np.asarray(rows.probability).max(axis=1)
    sure = stated >= SURE
    limit = SURE
    if not sure.any():
        limit = float(np.median(stated))
        sure = stated >= limit
    k, m = int((wrong & sure).sum()), int(sure.sum())
    high = share_upper(k, m, evidence.confidence)
    bound = format_share(high)
    text = (
        f"Where it was at least {percent(limit)} sure, {count(k)} of {plural(m, 'row')} wrong "
        f"({facts.confidence_words(evidence)} confidence: at most {bound})."
    )
    if wrong.any():
        worst = int(np.flatnonzero(wrong)[np.argmax(stated[wrong])])
        start = "The only mistake" if wrong.sum() == 1 else f"{directions} Surest mistake"
        told, is_ = (facts.class_name(evidence, v[worst]) for v in (rows.prediction, rows.truth))
        text += (
            f" {start}: row {count(int(rows.positions[worst]) + 1)}, called "
            f"{told} with probability {percent(float(stated[worst]))}, is {is_}."
        )
    return _card(
        "how-wrong",
        "How wrong at worst?",
        percent(k / m),
        f"wrong when at least {percent(limit)} sure",
        text,
        interval=f"at most {bound}",
        n=m,
        section="errors",
        strip={
            "value": k / m,
            "low": 0.0,
            "high": high,
            "domain": [0.0, min(1.0, 1.3 * max(high, 1 - limit))],
            "marks": [{"at": 1 - limit, "label": f"sureness allows {percent(1 - limit)}"}],
        },
    )


def _directions(evidence: Evidence, wrong: np.ndarray) -> str:
    rows = evidence.test
    pairs = np.column_stack([rows.truth[wrong], rows.prediction[wrong]]).astype(int)
    if not len(pairs):
        return ""
    kinds, counts = np.unique(pairs, axis=0, return_counts=True)
    order = np.argsort(-counts, kind="stable")[:3]
    parts = [
        f"{count(int(counts[i]))} {facts.class_name(evidence, kinds[i][0])} called "
        f"{facts.class_name(evidence, kinds[i][1])}"
        for i in order
    ]
    return ("All mistakes: " if len(kinds) <= 3 else "Most frequent: ") + listing(parts) + "."


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
    rise = facts.widened(top.increase, looks, evidence.confidence)
    level = facts.confidence_words(evidence)
    looked = f", corrected for {looks} looks," if looks > 1 else ""
    words = triple(rise.value, facts.plain(rise.low), facts.plain(rise.high))
    name = label(top.column, 40)
    if rise.low > 0:
        text = (
            f"It leans most on {name}: with its values shuffled, {loss} rises by "
            f"{words[0]} ({level} interval{looked} {words[1]} to {words[2]})."
        )
    else:
        text = (
            f"No single column is shown to matter. Shuffling {name} costs most: {words[0]} in "
            f"{loss} ({level} interval{looked} {words[1]} to {words[2]})."
        )
    if top.stand_ins:
        text += f" Can stand in for it: {listing([label(s, 40) for s in top.stand_ins], 2)}."
    text += " Association, not cause."
    ends = [v for v in (rise.low, rise.value, rise.high, 0.0) if np.isfinite(v)]
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
    """Say for which rows the claims hold, and what new rows would reveal."""
    table = new_data.detectable(evidence)
    row = next((r for r in table["rows"] if r["n"] == 100), table["rows"][0])
    write = percent if table["percent"] else number
    holds = "Holds for rows like these; never checked on new data."
    if evidence.verdict != "shown":
        holds = "Speaks about rows like these only; never checked on new data."
    if row["detectable"] is None:
        return _card(
            "still-true",
            "Still true on new data?",
            "never",
            "checked so far",
            f"{holds} {count(row['n'])} new rows with known {facts.target_name(evidence)} would be "
            "too few to notice a change.",
            section="new_data",
        )
    shown = write(row["detectable"], direction="up")
    return _card(
        "still-true",
        "Still true on new data?",
        shown,
        f"{table['quantity']} that {count(row['n'])} new rows would reveal",
        f"{holds} {count(row['n'])} new rows with known {facts.target_name(evidence)} would reveal "
        f"{new_data.revealed(evidence, shown)}, 4 times in 5.",
        interval=f"now {table['now_words']}",
        n=row["n"],
        section="new_data",
        strip={
            "value": row["detectable"],
            "low": table["now"],
            "high": row["detectable"],
            "domain": [
                0.0,
                min(1.2 * row["detectable"], 1.0) if table["percent"] else 1.2 * row["detectable"],
            ],
            "marks": [{"at": table["now"], "label": "now"}],
        },
    )
