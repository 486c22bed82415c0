"""The first screen: one sentence of verdict and five questions with their answers."""

from typing import Any

import numpy as np

from corollary.reporting._records import Evidence
from corollary.reporting.page._format import (
    count,
    number,
    plural,
    triple,
)
from corollary.reporting.page.sections import _facts as facts
from corollary.reporting.page.sections._cards import how_good, how_sure, how_wrong, still_true, why
from corollary.reporting.page.sections._doubts import doubts
from corollary.reporting.trust._test_rows import FEWEST_OTHERS, FEWEST_TEST_ROWS, count_others

PHRASES = {
    "shown": "better than guessing, shown",
    "not shown": "not shown",
    "worse": "worse",
}
HEADLINES = {
    "shown": "Better than guessing, shown.",
    "not shown": "Better than guessing, not shown.",
    "worse": "Worse than guessing.",
}


def build(evidence: Evidence) -> dict[str, Any]:
    """Answer the five questions."""
    return {
        "phrase": PHRASES[evidence.verdict],
        "headline": HEADLINES[evidence.verdict],
        "act": evidence.verdict != "shown",
        "sentence": _sentence(evidence),
        "rule": _rule(evidence),
        "gain": facts.estimate(evidence.gain),
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
    loss, remark = facts.loss_words(evidence)
    model = facts.model_words(best)
    rows = plural(evidence.n_test, "row")
    level = facts.confidence_words(evidence)
    if best.baseline:
        return (
            "No model was better than guessing by more than chance would make it, so this report "
            f"describes guessing itself ({model}), on {rows} that no choice ever saw."
        )
    value, low, high = triple(gain.value, gain.low, gain.high)
    if evidence.verdict == "not shown" and not gain.low <= 0 <= gain.high:
        return _too_few(evidence)
    if evidence.verdict == "not shown":
        return (
            f"On {rows} that no choice ever saw, {model} and guessing cannot be told apart: the "
            f"gain in {loss} is {value} ({level} interval {low} to {high}){remark}."
            f"{_right_more_often(evidence)}"
        )
    side = "smaller" if evidence.verdict == "shown" else "larger"
    least, most = sorted((abs(gain.low), abs(gain.high)))
    value, low, high = triple(abs(gain.value), least, most)
    if not low.strip("0."):  # what lies beyond zero is not written as zero
        low = number(least, 1, direction="down")
    return (
        f"On {rows} that no choice ever saw, the {loss} of {model} is {side} than that of guessing "
        f"by {value} ({level} interval {low} to {high}){remark}.{doubts(evidence)}"
    )


def _too_few(evidence: Evidence) -> str:
    """Say why an interval beyond zero shows nothing."""
    rows = f"{plural(evidence.n_test, 'row')} that no choice ever saw"
    truth = evidence.test.truth
    few = evidence.task == "classification" and (others := count_others(truth)) < FEWEST_OTHERS
    if few and evidence.n_test >= FEWEST_TEST_ROWS:
        common = int(np.bincount(truth).argmax())
        return (
            f"Of {rows}, {count(others) if others else 'none'} {'is' if others < 2 else 'are'} not "
            f"{facts.class_name(evidence, common)}: too few to show anything."
        )
    return f"{rows} are too few to show anything."


def _right_more_often(evidence: Evidence) -> str:
    """Explain a model that is right more often than guessing and yet not shown to be better."""
    from corollary.theory import compare_losses

    if evidence.task != "classification":
        return ""
    wrong = facts.wrong(evidence)
    guess = np.asarray(evidence.test.truth) != np.asarray(evidence.test.baseline)
    if compare_losses(guess * 1.0, wrong * 1.0, confidence=evidence.confidence).lower <= 0:
        return ""
    return (
        f" Its classes are right more often ({count(int(wrong.sum()))} wrong against "
        f"{count(int(guess.sum()))}), but a few of its probabilities were so wrong that they "
        "decide the mean."
    )


def _rule(evidence: Evidence) -> str:
    log_loss = (
        " Log loss is minus the logarithm of the probability that was given to what then happened: "
        "0 for certainty that proves right, and the larger the surer a mistake was."
    )
    return (
        f"“Shown” means that the {facts.confidence_words(evidence)} interval of the paired "
        "difference in loss, row by row on the test rows, lies above zero; “worse” that it lies "
        "below; “not shown” that it contains zero, or that there are too few test rows to say. The "
        "interval is Student’s, corrected for skewness."
        + (log_loss if evidence.task == "classification" else "")
    )
