"""A weighted mean of candidates, with weights learnt on out-of-fold predictions alone.

See :func:`corollary.ensemble.mean_weights` for the weights.
"""

from collections.abc import Sequence

import numpy as np

from corollary.ensemble import mean_weights
from corollary.reporting.models._losses import Loss
from corollary.reporting.models._trials import Fold, Trial

#: A mean has at most this many members: each more costs time wherever the model predicts.
MOST_MEMBERS = 5
#: Members of less weight than this are left out: they cost as much time as any other, wherever the
#: model is fitted or predicts, and change no digit that anyone reads.
LEAST_WEIGHT = 0.05
_TINY = np.finfo(np.float64).tiny


def mix(
    trials: Sequence[Trial], folds: Sequence[Fold], y: np.ndarray, loss: Loss, *, log: bool
) -> Trial | None:
    """Make the weighted mean of candidates, judged by weights that never saw the judged row."""
    usable = [trial for trial in trials if not trial.error]
    if len(usable) < 2:
        return None

    def weights_on(chosen: Sequence[Trial], rows: np.ndarray) -> np.ndarray:
        stack, truth = np.stack([trial.prediction[rows] for trial in chosen]), y[rows]
        if log:
            stack, truth = np.log(np.maximum(stack, _TINY)), np.log(truth)
        return mean_weights(stack, truth)

    everywhere = np.arange(len(y))
    first = weights_on(usable, everywhere)
    order = np.argsort(-first, kind="stable")[:MOST_MEMBERS]
    members = [usable[i] for i in order if first[i] >= LEAST_WEIGHT]
    if len(members) < 2:
        return None
    weights = weights_on(members, everywhere)
    prediction = np.zeros_like(members[0].prediction)
    for fold in folds:
        others = np.setdiff1d(everywhere, fold.rows)
        mine = weights_on(members, others) if len(others) else weights
        for weight, trial in zip(mine, members):
            prediction[fold.rows] += weight * trial.prediction[fold.rows]
    parts = [f"{weight:.0%} {trial.label}" for weight, trial in zip(weights, members)]
    return Trial(
        name="mean",
        label=f"weighted mean of {len(members)} models",
        description=f"{', '.join(parts[:-1])} and {parts[-1]}; weights learnt on predictions of "
        "rows that the models had not seen.",
        entries=tuple(entry for trial in members for entry in trial.entries),
        prediction=prediction,
        loss=loss(y, prediction),
        seconds=sum(trial.seconds for trial in members),
        size=sum(trial.size for trial in members),
        settings={trial.label: f"{w:.0%}" for w, trial in zip(weights, members)},
        weights=weights,
        words=f"a weighted mean of {len(members)} models",
    )
