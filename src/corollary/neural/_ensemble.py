"""A deep ensemble: several networks learned from different starts and different rows.

One network on a small table is a lottery: its start, the order of its rows and the rows it stops
by all move its predictions. Averaging a few of them removes most of that variance and, since
members disagree where data are thin, makes probabilities less overconfident. Each member
stops by its own held-out rows; the held-out parts are disjoint, so that together the members
learn from every row.
"""

import os
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from corollary.neural.mlp import MLPLoss, apply_mlp, flatten, init_mlp, unflatten

# Fewer held-out rows than this say nothing about when to stop.
MIN_HELD_OUT = 2
# Rows that are predicted at once.
PREDICTION_ROWS = 4096


class Training(NamedTuple):
    """How the networks of an ensemble are learned."""

    n_members: int
    learning_rate: float
    weight_decay: float
    epochs: int
    batch_size: int
    validation_fraction: float | None
    patience: int
    tol: float
    seed: int


class Ensemble(NamedTuple):
    """Networks and how they were learned; arrays have a leading axis of members."""

    parameters: list[np.ndarray]
    losses: list[np.ndarray]  # of each member, the mean training loss of each epoch
    held_out_losses: list[np.ndarray] | None  # on the rows that a member held out, if any
    best_losses: np.ndarray  # that each member stopped by, at the epoch it kept


def held_out_rows(
    y: np.ndarray, fraction: float, member: int, seed: int, *, discrete: bool
) -> np.ndarray:
    """Choose the rows by which one member of an ensemble stops.

    Rows are put in random order, sorted by target, and every m-th is taken, m = 1/fraction rounded,
    starting at another row for each member. So every part has nearly the same share of each class
    (or of each range of a numeric target), and m members in a row have disjoint parts.
    """
    period = max(2, round(1 / fraction))
    turn, offset = divmod(member, period)
    order = np.random.default_rng([seed, turn]).permutation(len(y))
    if discrete:
        order = order[np.bincount(y)[y[order]] > 1]
    if y.ndim == 1 or y.shape[1] == 1:
        order = order[np.argsort(y.reshape(len(y))[order], kind="stable")]
    rows = np.sort(order[offset::period])
    return rows if len(rows) >= MIN_HELD_OUT else rows[:0]


def fit_ensemble(
    X: np.ndarray,
    y: np.ndarray,
    *,
    weight: np.ndarray | None,
    loss: MLPLoss,
    start: list[np.ndarray] | None,
    training: Training,
    checkpoint: str | os.PathLike[str] | None = None,
) -> Ensemble:
    """Learn an ensemble of networks by AdamW."""
    X = X.astype(np.float32)
    y = y.astype(np.int32 if loss.kind == "cross-entropy" else np.float32)
    ones = np.ones(len(X), np.float32) if weight is None else weight.astype(np.float32)
    folder = None if checkpoint is None else Path(checkpoint)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    results = []
    for member in range(training.n_members):
        parameters = None if start is None else [array[member] for array in start]
        place = None if folder is None else folder / f"member-{member}.npz"
        results.append(_fit_member(member, X, y, ones, loss, parameters, training, place))
    _warn(results, training)
    networks = [unflatten(result.params, loss.sizes) for result in results]
    curves = [result.held_out_losses for result in results]
    return Ensemble(
        parameters=[np.stack(arrays) for arrays in zip(*networks)],
        losses=[result.losses for result in results],
        held_out_losses=None if any(curve is None for curve in curves) else curves,
        best_losses=np.array([_curve(r)[max(r.best_epoch, 1) - 1] for r in results]),
    )


def _fit_member(
    member: int,
    X: np.ndarray,
    y: np.ndarray,
    weight: np.ndarray,
    loss: MLPLoss,
    start: list[np.ndarray] | None,
    training: Training,
    checkpoint: Path | None,
) -> Any:
    """Learn one network from a start, or a random one, and the rows that it does not hold out."""
    import optax

    from corollary.core.training import train

    seed = training.seed
    if start is None:
        rng = np.random.RandomState(np.random.SeedSequence([seed, member]).generate_state(4))
        start = init_mlp(loss.sizes, activation=loss.activation, random_state=rng)
    held = np.empty(0, int)
    if training.validation_fraction is not None:
        discrete = loss.kind == "cross-entropy"
        held = held_out_rows(y, training.validation_fraction, member, seed, discrete=discrete)
    rows = np.setdiff1d(np.arange(len(X)), held)
    rates = {"learning_rate": training.learning_rate, "weight_decay": training.weight_decay}
    result = train(
        loss,
        flatten(start),
        {"x": X[rows], "y": y[rows]},
        weight=weight[rows],
        held_out={"x": X[held], "y": y[held]} if len(held) else None,
        held_out_weight=weight[held],
        optimizer=optax.adamw,
        settings=rates,
        epochs=training.epochs,
        batch_size=training.batch_size,
        patience=training.patience,
        tol=training.tol,
        seed=int(np.random.SeedSequence([seed, member, 1]).generate_state(1)[0]),
        checkpoint=checkpoint,
        description=f"network {member + 1} of {training.n_members}",
    )
    if not np.isfinite(result.params).all():
        raise ValueError(
            f"Training diverged: the loss is not finite after {result.n_epochs} epochs with "
            f"learning_rate_init={training.learning_rate}. Lower learning_rate_init, or look for "
            "extreme values in the data."
        )
    return result


def _curve(result: Any) -> np.ndarray:
    """Return the losses by which a network stopped."""
    return result.losses if result.held_out_losses is None else result.held_out_losses


def ensemble_outputs(parameters: list[np.ndarray], X: np.ndarray, activation: str) -> np.ndarray:
    """Evaluate every member of an ensemble, in double precision and bounded memory."""
    parameters = [array.astype(np.float64) for array in parameters]
    outputs = np.empty((len(parameters[0]), len(X), parameters[-1].shape[-1]))
    for first in range(0, len(X), PREDICTION_ROWS):
        rows = slice(first, first + PREDICTION_ROWS)
        outputs[:, rows] = apply_mlp(parameters, X[rows], activation=activation)
    return outputs


def _warn(results: list[Any], training: Training) -> None:
    unfinished = [result for result in results if result.status == "out of epochs"]
    if unfinished:
        last = np.mean([_curve(result)[-1] for result in unfinished])
        warnings.warn(
            f"{len(unfinished)} of {len(results)} networks were still learning after "
            f"max_iter={training.epochs} epochs, at a mean loss of {last:.4g}. Raise max_iter, or "
            f"learning_rate_init={training.learning_rate}.",
            ConvergenceWarning,
            stacklevel=6,
        )
    diverged = sum(result.status == "diverged" for result in results)
    if diverged:
        warnings.warn(
            f"{diverged} of {len(results)} networks diverged and were set back to their best epoch."
            f" Lower learning_rate_init={training.learning_rate}.",
            ConvergenceWarning,
            stacklevel=6,
        )
