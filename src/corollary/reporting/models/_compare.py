"""Cross-validated comparison of candidates, row by row.

Every candidate predicts every training row once, fitted on the other folds; the encoder is fitted
inside each fold too. Losses are compared on the same rows. The rows of a cross-validation are not
independent, because training sets overlap, which :func:`cross_validated_interval` allows for.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from corollary.reporting._records import Candidate
from corollary.reporting.models._candidates import Entry, Situation
from corollary.reporting.models._losses import Loss
from corollary.reporting.models._mixing import mix
from corollary.reporting.models._trials import Fold, Trial, run_trial
from corollary.validation import (
    Estimate,
    cross_validated_error,
    cross_validated_interval,
    unit_means,
)

SELECTION_RULE = (
    "The model with the smallest cross-validated mean loss is chosen; guessing stands unless that "
    "model beats it by more than one standard error of the paired difference."
)
SMALL_RULE = (
    "The model with the smallest cross-validated mean loss is chosen, guessing among them: of a "
    "table this small no standard error is small enough to ask for more."
)
BASELINES = {
    "classification": "class shares",
    "regression": "mean",
    "geometric mean": "geometric mean",
}


def compare(
    entries: Sequence[Entry],
    folds: Sequence[Fold],
    y: np.ndarray,
    situation: Situation,
    loss: Loss,
    ready: Sequence[Trial] = (),
) -> list[Trial]:
    """Cross-validate the baseline, all candidates, and a weighted mean; some may be ready."""
    trials = {trial.name: trial for trial in ready}
    kind = "geometric mean" if situation.severe else situation.task
    first: dict[str, Any] = {
        "name": "baseline",
        "label": f"{BASELINES[kind]} (guessing)",
        "words": BASELINES[kind],
        "description": f"The {BASELINES[kind]} of the training rows, whatever the row.",
    }
    guess = trials.get("baseline") or run_trial((), folds, y, situation, loss, **first)
    singles = []
    for entry in entries:
        said: dict[str, Any] = {
            "name": entry.name,
            "label": entry.label,
            "description": entry.description,
        }
        said["words"] = f"{entry.article} {entry.label}".strip()
        trial = trials.get(entry.name) or run_trial((entry,), folds, y, situation, loss, **said)
        singles.append(trial)
    mean = mix(singles, folds, y, loss, log=situation.severe)
    return [guess, *singles] if mean is None else [guess, *singles, mean]


def choose(
    trials: Sequence[Trial],
    n_folds: int = 0,
    units: np.ndarray | None = None,
    *,
    cautious: bool = True,
    rows: np.ndarray | slice = slice(None),
) -> Trial:
    """Choose the model of the report by the stated rule, from the losses of some rows."""
    guess = trials[0]
    best = min(
        (t for t in trials if not t.error),
        key=lambda t: float(per_unit(t.loss[rows], units).mean()),
    )
    if best is guess or not cautious:
        return best
    gain = per_unit(guess.loss - best.loss, units)
    return guess if gain.mean() <= cross_validated_error(gain, n_folds) else best


def per_unit(losses: np.ndarray, units: np.ndarray | None) -> np.ndarray:
    """Give one mean loss for each unit: rows of one unit are one piece of evidence."""
    return losses if units is None else unit_means(losses, units)


def as_candidates(
    trials: Sequence[Trial],
    chosen: Trial,
    n_folds: int,
    confidence: float,
    units: np.ndarray | None = None,
) -> tuple[Candidate, ...]:
    """Describe the trials for the report."""
    guess = trials[0]
    order = sorted(trials[1:], key=lambda t: (bool(t.error), float(per_unit(t.loss, units).mean())))
    unknown = Estimate(float("nan"), float("nan"), float("nan"), 0)
    described = []
    for trial in [*order, guess]:
        estimates = [unknown] * 3
        if not trial.error:
            values = [
                per_unit(losses, units)
                for losses in (trial.loss, trial.loss - chosen.loss, trial.loss - guess.loss)
            ]
            estimates = [cross_validated_interval(v, n_folds, confidence) for v in values]
            # No loss here is negative, whatever a symmetric interval says.
            estimates[0] = estimates[0]._replace(low=max(estimates[0].low, 0.0))
        described.append(
            Candidate(
                name=trial.name,
                label=trial.label,
                description=trial.description,
                loss=estimates[0],
                versus_chosen=estimates[1],
                versus_baseline=estimates[2],
                chosen=trial.name == chosen.name,
                baseline=trial is guess,
                indistinguishable=bool(estimates[1].low <= 0 <= estimates[1].high),
                seconds=trial.seconds,
                size=trial.size,
                settings=trial.settings,
                error=trial.error,
                words=trial.words,
                out_of_bag=trial.oob,
            )
        )
    return tuple(described)
