"""A weighted mean of candidates, with weights learnt on out-of-fold predictions alone.

The weights are not negative and sum to one, so that the mean of probabilities is a probability
and the mean of predictions stays between them. They minimise the squared error, or the log loss,
of the mean; both are convex. Each model is granted one row more than there are, in which it alone
errs by its usual size (or alone is right), which keeps the weights of few rows near to equal.
"""

from collections.abc import Sequence

import numpy as np

from corollary.reporting.models._losses import Loss
from corollary.reporting.models._trials import Fold, Trial

#: A mean has at most this many members: each more costs time wherever the model predicts.
MOST_MEMBERS = 5
#: Members of less weight than this are left out: they cost as much time as any other, wherever the
#: model is fitted or predicts, and change no digit that anyone reads.
LEAST_WEIGHT = 0.05


def mix(
    trials: Sequence[Trial], folds: Sequence[Fold], y: np.ndarray, loss: Loss, *, log: bool
) -> Trial | None:
    """Make the weighted mean of candidates, judged by weights that never saw the judged row."""
    usable = [trial for trial in trials if not trial.error]
    if len(usable) < 2:
        return None

    def weights_on(chosen: Sequence[Trial], rows: np.ndarray) -> np.ndarray:
        stack = np.stack([trial.prediction[rows] for trial in chosen])
        return learn_weights(stack, y[rows], log=log)

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
    )


def learn_weights(predictions: np.ndarray, y: np.ndarray, *, log: bool = False) -> np.ndarray:
    """Learn the weights of the best mean of predictions."""
    from corollary.ensemble import simplex_least_squares, simplex_log_loss

    m = len(predictions)
    if predictions.ndim == 3:
        given = np.stack([p[np.arange(len(y)), y] for p in predictions], axis=1)
        return simplex_log_loss(np.vstack([given, np.eye(m)]))
    if log:
        tiny = np.finfo(np.float64).tiny
        predictions, y = np.log(np.maximum(predictions, tiny)), np.log(y)
    usual = np.sqrt(np.mean((y - predictions) ** 2, axis=1))
    alone = np.diag(usual)
    return simplex_least_squares(np.vstack([predictions.T, alone]), np.append(y, np.zeros(m)))
