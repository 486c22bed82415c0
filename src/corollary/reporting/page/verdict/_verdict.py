"""The first screen: one sentence of verdict and five questions with their answers."""

from typing import Any

from corollary.reporting._records import Evidence
from corollary.reporting.page import _population as population
from corollary.reporting.page._format import count, label
from corollary.reporting.page.sections import _facts as facts
from corollary.reporting.page.verdict import _scope as scope
from corollary.reporting.page.verdict import _worth as worth
from corollary.reporting.page.verdict._cards import how_good, how_sure, how_wrong, still_true, why
from corollary.reporting.page.verdict._doubts import doubt
from corollary.reporting.trust._test_rows import FEWEST_OTHERS, FEWEST_TEST_ROWS

#: How many times as many rows are called out of reach.
MOST_ROWS = 1_000
PHRASES = {
    "shown": "better than guessing, shown",
    "not shown": "not shown",
    "worse": "worse",
}


def build(evidence: Evidence) -> dict[str, Any]:
    """Answer the five questions."""
    return {
        "phrase": PHRASES[evidence.verdict],
        "headline": worth.headline(evidence),
        "act": not worth.is_settled(evidence),
        "sentence": _sentence(evidence),
        "scope": scope.build(evidence),
        "rule": _rule(evidence),
        "gain": facts.estimate(evidence.gain),
        "decisions": worth.decisions(evidence),
        "cards": [
            how_good(evidence),
            how_sure(evidence),
            how_wrong(evidence),
            why(evidence),
            still_true(evidence),
        ],
    }


def _sentence(evidence: Evidence) -> str:
    gain, best = evidence.gain, facts.chosen(evidence)
    model = facts.model_words(best)
    rows = population.tested_rows(evidence)
    level = facts.confidence_words(evidence)
    if best.baseline:
        more = "" if evidence.test.folds else " by more than chance would make it"
        return (
            f"No model was better than guessing{more}, so this report describes guessing itself "
            f"({model}), on {rows}."
        )
    if evidence.verdict == "not shown" and not gain.low <= 0 <= gain.high:
        return _too_few(evidence)
    value, interval = worth.gain_words(evidence)
    later, decisions = population.later_rows(evidence), worth.decision_words(evidence)
    if evidence.verdict == "not shown":
        return (
            f"On {rows}, {model} and guessing cannot be told apart: the {evidence.loss.name} is "
            f"{value} smaller ({level} interval {interval}).{_needed(evidence)}{later}{decisions}"
        )
    side = "smaller" if evidence.verdict == "shown" else "larger"
    return (
        f"On {rows}, the {evidence.loss.name} of {model} is {value} {side} than that of guessing "
        f"({level} interval {interval}).{later}{decisions}{doubt(evidence)}"
    )


def _needed(evidence: Evidence) -> str:
    """Say how many rows would show as much, where rows are drawn alike."""
    if evidence.population.kind != "alike":
        return ""
    needed, n = evidence.rows_to_show, evidence.profile.n_rows
    if needed is None:
        return " As nothing was gained, no number of rows can be named that would show it."
    if needed > MOST_ROWS * n:
        return f" Even {MOST_ROWS} times as many rows would hardly show so small a gain."
    return (
        f" If the gain is what it seems, about {count(needed)} such rows in all would be needed to "
        "show it."
    )


def _too_few(evidence: Evidence) -> str:
    """Say why an interval beyond zero shows nothing."""
    rows = population.tested_rows(evidence)
    if evidence.task == "classification" and evidence.n_pieces >= FEWEST_TEST_ROWS:
        others, common = evidence.commonest.others, evidence.commonest.label
        if others < FEWEST_OTHERS:
            verb = "is" if others < 2 else "are"
            return (
                f"Of {rows}, {count(others) if others else 'none'} {verb} not "
                f"{facts.class_name(evidence, common)}: too few to show anything."
            )
    return f"{rows} are too few to show anything."


def _rule(evidence: Evidence) -> str:
    deciding = (
        " Decisions are the most probable classes; theirs is the paired difference in mistakes."
        " Log loss is minus the logarithm of the probability that was given to what then happened: "
        "0 for certainty that proves right, and the larger the surer a mistake was."
    )
    by, few = "row by row on the test rows", "test rows"
    student = "Student’s, corrected for skewness"
    if evidence.test.folds:
        by, few = "row by row, each row predicted without its fold", "rows"
        student += f" and {population.WIDENED}"
    if evidence.population.kind == "new units":
        piece = label(evidence.population.piece, 80)
        few = label(evidence.population.pieces, 80)
        by = f"{piece} by {piece} (each by the mean of its test rows)"
    if evidence.population.kind == "period":
        by, few = "stretch by stretch of rows that follow each other", "stretches"
    return (
        f"“Shown” means that the {facts.confidence_words(evidence)} interval of the paired "
        f"difference in loss, {by}, lies above zero; “worse” that it lies below; “not shown” that "
        f"it contains zero, or that there are too few {few} to say. The interval is {student}; "
        "it is stated as a share of what guessing loses on these rows"
        + ("." + deciding if evidence.task == "classification" else _r_squared(evidence))
    )


def _r_squared(evidence: Evidence) -> str:
    """Say what the share is called elsewhere."""
    if evidence.loss.of_logarithm:
        return "."
    return ", which for squared errors is R² (with the training mean as the guess)."
