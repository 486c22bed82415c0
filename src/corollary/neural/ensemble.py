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


class Ensemble(NamedTuple):
    """Networks and how they were learned."""

    # weights and biases of all layers, each with a leading axis of members
    parameters: list[np.ndarray]
    losses: list[np.ndarray]  # for each member the mean training loss of each epoch
    # for each member the loss on its held-out rows after each epoch; None if none were held out
    held_out_losses: list[np.ndarray] | None
    # the loss each member stopped by, at the epoch whose parameters it kept
    best_losses: np.ndarray


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
    n_members: int,
    learning_rate: float,
    weight_decay: float,
    epochs: int,
    batch_size: int,
    validation_fraction: float | None,
    patience: int,
    tol: float,
    seed: int,
    checkpoint: str | os.PathLike[str] | None = None,
) -> Ensemble:
    """Learn an ensemble of networks by AdamW."""
    import optax

    from corollary.core.training import train

    X = X.astype(np.float32)
    y = y.astype(np.int32 if loss.kind == "cross-entropy" else np.float32)
    ones = np.ones(len(X), np.float32) if weight is None else weight.astype(np.float32)
    if checkpoint is not None:
        Path(checkpoint).mkdir(parents=True, exist_ok=True)
    results = []
    for member in range(n_members):
        if start is None:
            rng = np.random.RandomState(np.random.SeedSequence([seed, member]).generate_state(4))
            parameters = init_mlp(loss.sizes, activation=loss.activation, random_state=rng)
        else:
            parameters = [array[member] for array in start]
        held = np.empty(0, int)
        if validation_fraction is not None:
            discrete = loss.kind == "cross-entropy"
            held = held_out_rows(y, validation_fraction, member, seed, discrete=discrete)
        rows = np.setdiff1d(np.arange(len(X)), held)
        result = train(
            loss,
            flatten(parameters),
            {"x": X[rows], "y": y[rows]},
            weight=ones[rows],
            held_out={"x": X[held], "y": y[held]} if len(held) else None,
            held_out_weight=ones[held],
            optimizer=optax.adamw,
            settings={"learning_rate": learning_rate, "weight_decay": weight_decay},
            epochs=epochs,
            batch_size=batch_size,
            patience=patience,
            tol=tol,
            seed=int(np.random.SeedSequence([seed, member, 1]).generate_state(1)[0]),
            checkpoint=None if checkpoint is None else Path(checkpoint) / f"member-{member}.npz",
            description=f"network {member + 1} of {n_members}",
        )
        if not np.isfinite(result.params).all():
            raise ValueError(
                "Training diverged: the loss is not finite after "
                f"{result.n_epochs} epochs with learning_rate_init={learning_rate}. Lower "
                "learning_rate_init, or look for extreme values in the data."
            )
        results.append(result)
    _warn(results, epochs, learning_rate)
    networks = [unflatten(result.params, loss.sizes) for result in results]
    curves = [result.held_out_losses for result in results]
    tested = all(curve is not None for curve in curves)
    kept = [
        (result.losses if result.held_out_losses is None else result.held_out_losses)[
            max(result.best_epoch, 1) - 1
        ]
        for result in results
    ]
    return Ensemble(
        parameters=[np.stack(arrays) for arrays in zip(*networks)],
        losses=[result.losses for result in results],
        held_out_losses=[c for c in curves if c is not None] if tested else None,
        best_losses=np.array(kept),
    )


def ensemble_outputs(parameters: list[np.ndarray], X: np.ndarray, activation: str) -> np.ndarray:
    """Evaluate every member of an ensemble, in double precision and bounded memory."""
    parameters = [array.astype(np.float64) for array in parameters]
    outputs = np.empty((len(parameters[0]), len(X), parameters[-1].shape[-1]))
    for first in range(0, len(X), PREDICTION_ROWS):
        rows = slice(first, first + PREDICTION_ROWS)
        outputs[:, rows] = apply_mlp(parameters, X[rows], activation=activation)
    return outputs


def _warn(results: list[Any], epochs: int, learning_rate: float) -> None:
    unfinished = [result for result in results if result.status == "out of epochs"]
    if unfinished:
        last = np.mean(
            [(r.losses if r.held_out_losses is None else r.held_out_losses)[-1] for r in unfinished]
        )
        warnings.warn(
            f"{len(unfinished)} of {len(results)} networks were still learning after "
            f"max_iter={epochs} epochs, at a mean loss of {last:.4g}. Raise max_iter, or "
            f"learning_rate_init={learning_rate}.",
            ConvergenceWarning,
            stacklevel=6,
        )
    diverged = sum(result.status == "diverged" for result in results)
    if diverged:
        warnings.warn(
            f"{diverged} of {len(results)} networks diverged and were set back to their best epoch."
            f" Lower learning_rate_init={learning_rate}.",
            ConvergenceWarning,
            stacklevel=6,
        )
