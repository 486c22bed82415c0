"""One network, or a few that are learned from different starts and different rows.

One network on a small table is a lottery: its start, the order of its rows and the rows it stops
by all move its predictions. Averaging a few of them removes most of that variance and, since
members disagree where data are thin, makes probabilities less overconfident. If members stop by
a loss, the parts that they hold out are disjoint, so that together they learn from every row.
"""

import os
import warnings
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from corollary.core.parallel import one_blas_thread
from corollary.neural._solvers import Solver, minimise_lbfgs
from corollary.neural._validation import MLPError, disjoint_rows, drawn_rows, variances
from corollary.neural.mlp import MLPLoss, apply_mlp, init_mlp

# Rows that are predicted at once.
PREDICTION_ROWS = 4096


class Training(NamedTuple):
    """How the networks of an ensemble are learned."""

    n_members: int
    solver: Solver
    alpha: float
    epochs: int
    batch_size: int
    stops_by: Literal["score", "loss"] | None
    validation_fraction: float
    patience: int
    tol: float
    shuffle: bool
    verbose: bool
    once: bool  # over rows that arrive in parts
    n_seen: int  # rows that the networks have learned from before


class Data(NamedTuple):
    """Rows, targets in the form that the loss takes, weights, and labels to stratify by."""

    X: np.ndarray
    y: np.ndarray
    weight: np.ndarray
    labels: np.ndarray | None

    def take(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        """Return some rows as ``train`` takes them."""
        return {"x": self.X[rows], "y": self.y[rows]}


class Ensemble(NamedTuple):
    """Networks, each a list of arrays, and how they were learned."""

    networks: list[list[np.ndarray]]
    losses: list[np.ndarray]  # of each member, the mean training loss of each epoch
    held_out_losses: list[np.ndarray] | None  # on the rows that a member held out, if any
    n_epochs: int
    n_rows: int  # that a member does not hold out
    states: list[Any]  # for another run to go on from


def fit_ensemble(
    data: Data,
    loss: MLPLoss,
    training: Training,
    *,
    rng: np.random.RandomState,
    start: list[list[np.ndarray]] | None = None,
    states: list[Any] | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
) -> Ensemble:
    """Learn networks from random starts, given ones, or the states of earlier runs."""
    folder = None if checkpoint is None else Path(checkpoint)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    parts = int(rng.randint(np.iinfo(np.int32).max)) if training.stops_by == "loss" else 0
    results = []
    for member in range(training.n_members):
        place = None if folder is None else folder / f"member-{member}.npz"
        if start is None:
            first = init_mlp(
                loss.sizes, activation=loss.activation, rule="glorot", random_state=rng
            )
        else:
            first = start[member]
        held = _held_out(data, training, member, parts, rng)
        seed = [int(rng.randint(np.iinfo(np.int32).max)), training.n_seen]
        if training.solver.name == "lbfgs":
            results.append(_descend(data, loss, first, training))
            continue
        state = None if states is None else states[member]
        options = {
            "state": state,
            "seed": int(np.random.SeedSequence(seed).generate_state(1)[0]),
            "checkpoint": place,
            "description": f"network {member + 1} of {training.n_members}",
        }
        results.append(_train(data, held, loss, first, training, options))
    if not training.once:
        _warn(results, training)
    curves = [result.held_out_losses for result in results]
    return Ensemble(
        networks=[result.params for result in results],
        losses=[result.losses for result in results],
        held_out_losses=None if any(curve is None for curve in curves) else curves,
        n_epochs=max(result.n_epochs for result in results),
        n_rows=len(data.y) - len(held),
        states=[result.state for result in results],
    )


def _held_out(data: Data, training: Training, member: int, parts: int, rng: Any) -> np.ndarray:
    """Return the rows that a member stops by, if any."""
    targets = data.y if data.labels is None else data.labels
    options = {"discrete": data.labels is not None}
    if training.solver.name == "lbfgs" or training.stops_by is None:
        return np.empty(0, int)
    if training.stops_by == "loss":
        return disjoint_rows(targets, training.validation_fraction, member, parts, **options)
    return drawn_rows(targets, training.validation_fraction, rng, **options)


def _train(
    data: Data,
    held: np.ndarray,
    loss: MLPLoss,
    start: list[np.ndarray],
    training: Training,
    options: dict[str, Any],
) -> Any:
    """Learn one network from the rows that it does not hold out."""
    from corollary.core.training import train

    rows = np.setdiff1d(np.arange(len(data.X)), held)
    validation: dict[str, Any] = {}
    if len(held):
        validation = {"held_out": data.take(held), "held_out_weight": data.weight[held]}
    if len(held) and training.stops_by == "score":
        validation["held_out_loss"] = MLPError(loss.activation, loss.kind)
        if loss.kind in ("squared", "poisson"):
            validation["held_out"]["variance"] = variances(data.y[held], data.weight[held])
    result = train(
        loss,
        start,
        data.take(rows),
        weight=data.weight[rows],
        constants={"alpha": training.alpha},
        epochs=training.epochs,
        batch_size=training.batch_size,
        patience=training.patience,
        tol=training.tol,
        shuffle=training.shuffle,
        watch=_printer() if training.verbose else None,
        **validation,
        **training.solver.options(len(rows), training.n_seen),
        **options,
    )
    _check_finite(result.params, training.solver)
    return result


def _descend(data: Data, loss: MLPLoss, start: list[np.ndarray], training: Training) -> Any:
    """Learn one network from all rows at once."""
    result = minimise_lbfgs(
        loss,
        start,
        {"x": data.X, "y": data.y},
        data.weight,
        training.alpha,
        max_iter=training.epochs,
        max_fun=training.solver.max_fun,
        tol=training.tol,
    )
    if training.verbose:
        _printer()(result.losses[:, None])
    _check_finite(result.params, training.solver)
    return result


def _printer() -> Any:
    """Return a function that prints the losses of epochs that it has not seen before."""
    printed = 0

    def show(history: np.ndarray) -> None:
        nonlocal printed
        for number, record in enumerate(history[printed:], start=printed + 1):
            print(f"Iteration {number}, loss = {record[0]:.8f}")
        printed = len(history)

    return show


def _check_finite(parameters: list[np.ndarray], solver: Solver) -> None:
    if not all(np.isfinite(array).all() for array in parameters):
        raise ValueError(
            "Solver produced non-finite parameter weights. The input data may contain large values "
            "and need to be preprocessed: set standardize=True, put a StandardScaler in front, or "
            f"lower learning_rate_init={solver.learning_rate}."
        )


def ensemble_outputs(networks: list[list[np.ndarray]], X: Any, activation: str) -> np.ndarray:
    """Evaluate every network, in double precision and bounded memory."""
    doubles = [[array.astype(np.float64, copy=False) for array in network] for network in networks]
    outputs = np.empty((len(networks), X.shape[0], len(doubles[0][-1])))
    with one_blas_thread():
        for first in range(0, X.shape[0], PREDICTION_ROWS):
            rows = slice(first, first + PREDICTION_ROWS)
            for member, network in enumerate(doubles):
                outputs[member, rows] = apply_mlp(network, X[rows], activation=activation)
    return outputs


def _warn(results: list[Any], training: Training) -> None:
    unfinished = [result for result in results if result.status == "out of epochs"]
    if unfinished:
        last = np.mean([_curve(result)[-1] for result in unfinished])
        advice = "Raise max_iter" if training.solver.name == "lbfgs" else (
            f"Raise max_iter, or learning_rate_init={training.solver.learning_rate}"
        )  # fmt: skip
        warnings.warn(
            f"{len(unfinished)} of {len(results)} networks were still learning after "
            f"max_iter={training.epochs} epochs, at a mean loss of {last:.4g}. {advice}.",
            ConvergenceWarning,
            stacklevel=7,
        )
    diverged = sum(result.status == "diverged" for result in results)
    if diverged:
        warnings.warn(
            f"{diverged} of {len(results)} networks diverged and were set back to their best epoch."
            f" Lower learning_rate_init={training.solver.learning_rate}.",
            ConvergenceWarning,
            stacklevel=7,
        )


def _curve(result: Any) -> np.ndarray:
    """Return the losses by which a network stopped."""
    return result.losses if result.held_out_losses is None else result.held_out_losses
