"""What a reader should doubt about a verdict that speaks for the model."""

from corollary.reporting._records import Evidence
from corollary.reporting.page._format import label, listing, number
from corollary.reporting.page.sections import _facts as facts

#: An average error below this share of guessing's is rare unless the target is computed.
TOO_GOOD = 0.01


def doubt(evidence: Evidence) -> str:
    """Ask what the verdict stands or falls with."""
    if evidence.verdict != "shown":
        return ""
    text = (
        _predicts_alone(evidence)
        or _computed(evidence)
        or _too_good(evidence)
        or _far_rows_only(evidence)
    )
    return f" But {text}" if text else ""


def _predicts_alone(evidence: Evidence) -> str:
    found = [f for f in evidence.profile.findings if f.kind == "predicts-alone"]
    if not found:
        return ""
    name = label(found[0].columns[0], 40)
    return f"{name} alone predicts almost perfectly: is it known before the target is?"


def _computed(evidence: Evidence) -> str:
    found = [f for f in evidence.profile.findings if f.kind == "computed-target"]
    if not found:
        return ""
    names = listing([label(name, 40) for name in found[0].columns])
    return f"{facts.target_name(evidence)} looks computed from {names}: are they known before it?"


def _too_good(evidence: Evidence) -> str:
    """Ask whether a number that is predicted almost exactly was computed from the columns."""
    if evidence.task != "regression" or not evidence.importances:
        return ""
    if evidence.error_sizes.mean > TOO_GOOD * evidence.error_sizes.baseline_mean:
        return ""
    name = label(evidence.importances[0].column, 40)
    return (
        f"so small an error is rare: is {facts.target_name(evidence)} computed from other columns, "
        f"such as {name}?"
    )


def _far_rows_only(evidence: Evidence) -> str:
    """Tell of a model whose typical error is no smaller than that of guessing."""
    if evidence.task != "regression":
        return ""
    model, guess = evidence.error_sizes.median.value, evidence.error_sizes.baseline_median
    if model < guess:
        return ""
    return (
        f"half of its errors exceed {number(model)}, half of those of guessing {number(guess)}: "
        "it is better on rows that are far off."
    )
