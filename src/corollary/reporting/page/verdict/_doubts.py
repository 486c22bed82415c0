"""What a reader should doubt about a verdict that speaks for the model."""

from corollary.reporting._records import Evidence
from corollary.reporting.page._format import count, label
from corollary.reporting.page.sections import _facts as facts
from corollary.reporting.trust._test_rows import FEWEST_OTHERS

#: An average error below this share of guessing's is rare unless the target is computed.
TOO_GOOD = 0.01
#: So many doubts stand on the first screen; each has its place further down, too.
MOST = 2


def doubts(evidence: Evidence) -> str:
    """Ask what the verdict stands or falls with."""
    if evidence.verdict != "shown":
        return ""
    found = [_predicts_alone(evidence) or _too_good(evidence), _never_called(evidence)]
    return "".join(f" But {doubt}" for doubt in [doubt for doubt in found if doubt][:MOST])


def _predicts_alone(evidence: Evidence) -> str:
    found = [f for f in evidence.profile.findings if f.kind == "predicts-alone"]
    if not found:
        return ""
    name = label(found[0].columns[0], 40)
    return f"{name} alone predicts almost perfectly: is it known before the target is?"


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


def _never_called(evidence: Evidence) -> str:
    """Name the class that is there and never predicted: errors are few because it is rare."""
    if evidence.task != "classification":
        return ""
    missed = evidence.never_called
    if missed.rows < FEWEST_OTHERS:
        return ""
    name = facts.class_name(evidence, missed.label)
    return f"no row was called {name}: all {count(missed.rows)} such rows were missed."
