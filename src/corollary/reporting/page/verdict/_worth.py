"""What a model is worth beside guessing: by its loss, its decisions, the class that is looked for.

Probabilities can be better than those of guessing while the classes that they lead to are not.
"""

import math
from typing import Any

from corollary.reporting._records import Evidence
from corollary.reporting.page import _population as population
from corollary.reporting.page._format import count, number, percent, triple
from corollary.reporting.page.sections import _facts as facts

HEADLINES = {
    "shown": "Better than guessing{}, shown.",
    "not shown": "Better than guessing{}, not shown.",
    "worse": "Worse than guessing{}.",
}
#: Where the probabilities are shown to be better, by what is shown of the decisions.
DECIDING = {
    "not shown": "Better probabilities than guessing{}, shown; better decisions, not shown.",
    "worse": "Better probabilities than guessing{}, shown; worse decisions.",
}

#: Shares beyond it need more digits than their interval asks for.
NEARLY_ALL = 0.99


def headline(evidence: Evidence) -> str:
    """Say in one line what is better than guessing."""
    text = HEADLINES[evidence.verdict]
    if evidence.verdict == "shown" and evidence.task == "classification":
        text = DECIDING.get(evidence.decisions.verdict, text)
    return text.format(population.where(evidence))


def is_settled(evidence: Evidence) -> bool:
    """Tell whether everything that is looked at is shown to be better."""
    decides = evidence.task == "classification"
    return evidence.verdict == "shown" and (not decides or evidence.decisions.verdict == "shown")


def gain_words(evidence: Evidence) -> tuple[str, str]:
    """Write the size of the gain and its interval, in per cent of the loss of guessing."""
    worth = evidence.worth
    if math.isnan(worth.value):  # guessing makes no error: there is no such share
        gain = evidence.gain
        value, low, high = triple(abs(gain.value), *sorted((abs(gain.low), abs(gain.high))))
        return value, f"{low} to {high}"
    middle, least, most = worth.value, worth.low, worth.high
    if evidence.verdict != "not shown":
        middle = abs(middle)
        least, most = sorted((abs(least), abs(most)))
    if NEARLY_ALL < middle < 1:  # what is not all is not written as all
        return percent(middle, "down"), f"{percent(least, 'down')} to {percent(most, 'up')}"
    value, low, high = triple(100 * middle, 100 * least, 100 * most)
    if evidence.verdict != "not shown" and not low.strip("0."):
        low = number(100 * least, 1, direction="down")
    return f"{value}%", f"{low}% to {high}%"


def decisions(evidence: Evidence) -> dict[str, Any] | None:
    """Count the mistakes of model and guessing, and the rows of a class that were found."""
    if evidence.task != "classification":
        return None
    counted, found = evidence.decisions, evidence.least_found
    return {
        "verdict": counted.verdict,
        "wrong": counted.model,
        "wrong_by_guessing": counted.guessing,
        "rows": counted.rows,
        "found_class": None if found is None else evidence.classes[found.label],
        "found": None if found is None else found.found,
        "rows_of_class": None if found is None else found.rows,
    }


def decision_words(evidence: Evidence) -> str:
    """Compare the mistakes with those of guessing, and say how much of a class is found."""
    if evidence.task != "classification" or facts.chosen(evidence).baseline:
        return ""
    found = evidence.decisions
    counted = f"{count(found.model)} of {count(found.rows)} rows wrong, {count(found.guessing)}"
    if found.verdict == "shown":
        text = f" Its decisions are better: {counted} by guessing."
    elif found.verdict == "worse":
        text = f" Its decisions are worse: {counted} by guessing."
    else:
        text = f" Its decisions are not shown to be better: {counted} by guessing."
    if evidence.verdict == "not shown" and found.verdict == "shown":
        text += " But a few of its probabilities were so wrong that they decide the mean."
    return text + _found_words(evidence)


def _found_words(evidence: Evidence) -> str:
    """Say how many rows of the class that is looked for, or found least, were found."""
    found = evidence.least_found
    if found is None:
        return ""
    name, rows = facts.class_name(evidence, found.label), count(found.rows)
    start = "It finds" if len(evidence.classes) == 2 else "Of the class found least, it finds"
    if not found.found:
        return f" {start} none of {rows} rows of {name}."
    share = percent(found.found / found.rows)
    return f" {start} {count(found.found)} of {rows} rows of {name} ({share})."
