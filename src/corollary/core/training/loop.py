"""train: the one loop behind everything that is learned by gradient.

The user of this module writes a loss, ``loss(params, batch, key) -> scalar``, and chooses an Optax
optimiser; :func:`train` does the rest: mini-batches, early stopping on held-out rows, progress,
interruption, checkpoints.

How it stays fast. Steps run inside one compiled loop of many steps, with no Python between
them. Whatever changes from fit to fit is an argument of that loop, not a part of it: the number
of rows (arrays are padded to few sizes, see :mod:`corollary.core.training`, and the number of steps
is a loop bound), the learning rate, the patience, the seed. So the loop is compiled once per
loss, optimiser, array widths and batch size, and five folds or fifty seeds of one model share it.

How it stays repeatable. The rows of each batch are drawn by NumPy from the seed, the number of
rows and the number of the epoch alone, and the stopping rule runs inside the loop. Where the loop
returns to Python (to show progress, to let Ctrl-C through, to write a checkpoint) therefore
changes nothing in the result, and a resumed run equals an uninterrupted one bit for bit.
"""

import math
import os
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from corollary.core.progress import track
from corollary.core.training._saved import Run, identify, resume, save
from corollary.core.training._steps import Loss, State, first_state, run_steps
from corollary.core.training.batches import (
    EVALUATION_ROWS,
    bucket,
    check_weight,
    count_rows,
    draw_batches,
    pad_rows,
)
from corollary.core.training.checkpoint import Checkpoint
from corollary.core.xla import jax

# A call of the compiled loop should end soon enough that Ctrl-C feels immediate, and late enough
# that returning to Python (about 0.2 ms) costs nothing. Neither number affects results.
SHORT_CALL, LONG_CALL = 0.1, 0.4
# Arrays are padded to at least so many rows, where that fills no more than so many numbers: the
# folds of a small table and the table itself then share compiled code. Held-out rows are all
# evaluated, also those that fill up, so on small tables they are padded less.
FEWEST_ROWS, FEWEST_NUMBERS = (1024, 8192), 2**20
SMALL, FEWEST_HELD_OUT = 2048, (128, 1024)


class TrainResult(NamedTuple):
    """What :func:`train` returns.

    Parameters
    ----------
    params : pytree of ndarray
        The learned parameters: those of the best epoch if there were held-out rows, else the last.
    losses : ndarray of shape (n_epochs,)
        Mean training loss of each epoch, measured while it ran.
    held_out_losses : ndarray of shape (n_epochs,) or None
        Loss on the held-out rows after each epoch; None without held-out rows.
    n_epochs : int
        Epochs run.
    best_epoch : int
        Epoch, counted from 1, whose parameters are returned; 0 when no epoch improved.
    status : {"converged", "out of epochs", "diverged"}
        Why training ended: no improvement for ``patience`` epochs, the budget, or a loss that is
        not finite.
    state : State
        Where the last epoch left parameters and optimiser, for another run to go on from.
    """

    params: Any
    losses: np.ndarray
    held_out_losses: np.ndarray | None
    n_epochs: int
    best_epoch: int
    status: str
    state: State


class Fall(NamedTuple):
    """How the learning rate falls on plateaus, where training would else end.

    Parameters
    ----------
    factor : float, default=0.2
        What it is multiplied by after ``patience`` epochs without improvement.
    least : float, default=1e-6
        A learning rate at or below this ends training at the next plateau.
    """

    factor: float = 0.2
    least: float = 1e-6


def train(
    loss: Loss,
    params: Any,
    data: Mapping[str, Any],
    *,
    optimizer: Callable[..., Any],
    settings: Mapping[str, float] | None = None,
    constants: Mapping[str, float] | None = None,
    rate: Callable[[int], float] | None = None,
    fall: Fall | None = None,
    weight: Any = None,
    held_out: Mapping[str, Any] | None = None,
    held_out_weight: Any = None,
    held_out_loss: Loss | None = None,
    epochs: int = 200,
    batch_size: int = 32,
    patience: int = 10,
    tol: float = 1e-4,
    seed: int = 0,
    shuffle: bool = True,
    state: State | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    description: str = "training",
    watch: Callable[[np.ndarray], None] | None = None,
) -> TrainResult:
    """Minimise a mean loss over rows by mini-batch gradient steps.

    Parameters
    ----------
    loss : callable
        ``loss(params, batch, key)``, the weighted mean loss of a batch as a scalar (see
        :func:`weighted_mean`). ``batch`` holds rows of ``data`` by name, and their weights as
        ``batch["weight"]``; ``key`` is a fresh JAX random key for each step. It must be pure, and
        hashable by value (a module-level function, or a frozen dataclass with ``__call__``):
        equal losses share compiled code.
    params : pytree of arrays
        Where to start. Precision is that of these arrays; double precision needs the caller to
        work inside ``jax.enable_x64(True)``.
    data : mapping of str to array of shape (n_rows, ...)
        Training rows.
    optimizer : callable
        A function that makes an Optax optimiser, such as ``optax.adamw``; called inside compiled
        code as ``optimizer(**settings)``.
    settings : mapping of str to float or None, default=None
        Numbers for ``optimizer``. Changing them does not recompile.
    constants : mapping of str to float or None, default=None
        Numbers that the loss finds in its training batches, by name, such as the strength of a
        penalty; held-out rows are evaluated without them. Changing them does not recompile.
    rate : callable or None, default=None
        ``rate(epoch)``, what ``settings["learning_rate"]`` is multiplied by in an epoch, counted
        from 0; None for 1.
    fall : Fall or None, default=None
        How the learning rate falls on plateaus; None ends training at the first one.
    weight : array-like of shape (n_rows,) or None, default=None
        Non-negative weights of the training rows; None for ones.
    held_out : mapping of str to array or None, default=None
        Rows to stop by, named as in ``data``. None stops by the training loss instead.
    held_out_weight : array-like or None, default=None
        Weights of the held-out rows; None for ones.
    held_out_loss : callable or None, default=None
        Loss for the held-out rows; None for ``loss``.
    epochs : int, default=200
        Passes over the data at most.
    batch_size : int, default=32
        Rows per step. At least ``n_rows`` means full batch.
    patience : int, default=10
        Stop after this many epochs in a row without an improvement larger than ``tol``.
    tol : float, default=1e-4
        The smallest improvement of the loss that counts; ``-inf`` never stops early.
    seed : int, default=0
        Determines the order of the rows and the random keys.
    shuffle : bool, default=True
        Whether each epoch has a new random order of the rows, or their own.
    state : State or None, default=None
        The state of an earlier run to go on from, in place of ``params`` and a fresh optimiser.
    checkpoint : str, path-like or None, default=None
        File to keep the state in. If it exists, training goes on from there.
    description : str, default="training"
        Words for the progress display.
    watch : callable or None, default=None
        Called now and then with the losses of all epochs so far, of shape (n_epochs, 2): training
        and held-out loss.

    Returns
    -------
    result : TrainResult
        Parameters as NumPy arrays, the loss of each epoch, and why training ended.

    Raises
    ------
    ValueError
        If shapes disagree, weights are not usable, or the checkpoint belongs to other work.

    Notes
    -----
    Guarantee: for given arguments the result is the same, bit for bit, whether or not the run was
    interrupted and resumed from its checkpoint; checked by
    ``tests/core/test_train.py::test_killed_run_resumes_bit_for_bit``.

    The number of processor cores is not among the arguments, but XLA divides large sums by it: a
    network of 512 units in batches of 256 rows differs in its last bits between one core and two,
    while networks of up to 256 units in the estimators' own batches do not (checked by
    ``tests/neural/test_estimators.py::test_same_bits_on_one_core``).

    Examples
    --------
    >>> import numpy as np, optax
    >>> from corollary.core.training import train, weighted_mean
    >>> def squared(params, batch, key):
    ...     return weighted_mean((batch["x"] @ params - batch["y"]) ** 2, batch["weight"])
    >>> x = np.random.default_rng(0).normal(size=(100, 2)).astype("float32")
    >>> result = train(squared, np.zeros(2, "float32"), {"x": x, "y": x @ [1, -2]},
    ...                optimizer=optax.sgd, settings={"learning_rate": 0.1})
    >>> result.params.round(2)
    array([ 1., -2.], dtype=float32)
    >>> result.status
    'converged'
    """
    counts = {"epochs": epochs, "batch_size": batch_size, "patience": patience}
    for name, number in counts.items():
        if number < 1:
            raise ValueError(
                f"The {name!r} parameter of train must be an int in the range [1, inf). "
                f"Got {number!r} instead."
            )
    n = count_rows(data, "data")
    weight = check_weight(weight, n, "weight")
    numbers = {name: float(value) for name, value in (settings or {}).items()}
    batch_size = min(int(batch_size), bucket(n, minimum=16))
    n_batches = -(-n // batch_size)
    # One row more than needed: batches are filled up with row n, whose weight is zero.
    rows = pad_rows({**data, "weight": weight}, bucket(n + 1, minimum=_fewest_rows(data)))
    held = None if held_out is None else _pad_held_out(held_out, held_out_weight, n)
    rows, held = jax.device_put((rows, held))
    functions = {"loss": loss, "held_out_loss": held_out_loss or loss, "optimizer": optimizer}
    params = jax.tree.map(np.asarray, params)
    first = first_state(params, numbers, optimizer=optimizer, keep_best=held is not None)
    state = first if state is None else state._replace(stopped=first.stopped)
    fixed = {name: np.float32(value) for name, value in (constants or {}).items()}
    least = math.inf if fall is None else fall.least / numbers["learning_rate"]
    limits = {"patience": patience, "tol": tol, "least_rate": least}
    limits["fall"] = 1.0 if fall is None else fall.factor
    store = None
    if checkpoint is not None:
        arguments = {"seed": seed, "n_rows": n, "batch_size": batch_size, **limits}
        identity = identify((params, rows, held, fixed), functions, numbers, arguments)
        store = Checkpoint(checkpoint, identity)
    run = resume(store, Run(state, np.empty((0, 2)), 0))

    key = np.array([seed >> 32 & 0xFFFFFFFF, seed & 0xFFFFFFFF], np.uint32)
    capacity = int(np.clip(2**20 // batch_size, 16, 1024))
    count = 64
    with track(description, total=epochs) as step:
        step(run.n_steps / n_batches)
        while run.n_steps < epochs * n_batches and not run.state.stopped:
            started = time.monotonic()
            count = min(count, capacity, epochs * n_batches - run.n_steps)
            order = seed if shuffle else None
            plan = draw_batches(order, weight, batch_size, run.n_steps, count, capacity, rate)
            state, records, done = run_steps(
                run.state, rows, held, plan, numbers, fixed, key, limits, **functions
            )
            n_done = int(done)
            ended = np.asarray(records, np.float64)[:n_done][plan.last[:n_done]]
            run = Run(state, np.concatenate([run.history, ended]), run.n_steps + n_done)
            save(store, run)
            shown = {"loss": run.history[-1, -1 if held else 0]} if len(run.history) else {}
            step(n_done / n_batches, **shown)
            if watch is not None:
                watch(run.history)
            count = _next_count(count, time.monotonic() - started)
    save(store, run, now=True)
    return _conclude(run.state, run.history)


def _next_count(count: int, elapsed: float) -> int:
    """Return how many steps the next call may run, by how long the last one took."""
    if elapsed < SHORT_CALL:
        return 2 * count
    return max(count // 2, 1) if elapsed > LONG_CALL else count


def _pad_held_out(held_out: Mapping[str, Any], weight: Any, n_training: int) -> dict[str, Any]:
    """Pad held-out rows to a size that they share with others, in whole blocks of evaluation."""
    n = count_rows(held_out, "held_out")
    weight = check_weight(weight, n, "held_out_weight")
    capacity = bucket(n, minimum=FEWEST_HELD_OUT[n_training > SMALL])
    if capacity > EVALUATION_ROWS:
        capacity = -(-capacity // EVALUATION_ROWS) * EVALUATION_ROWS
    return pad_rows({**held_out, "weight": weight}, capacity)


def _fewest_rows(data: Mapping[str, Any]) -> int:
    width = sum(int(np.prod(np.shape(value)[1:])) for value in data.values())
    return int(np.clip(FEWEST_NUMBERS // max(width, 1), *FEWEST_ROWS))


def _conclude(state: State, history: np.ndarray) -> TrainResult:
    held_out = state.best_params is not None
    finite = bool(np.all(np.isfinite(history[-1:])))
    status = "out of epochs" if not state.stopped else "converged" if finite else "diverged"
    tested = np.where(np.isnan(history[:, 1]), np.inf, history[:, 1])
    best = int(np.argmin(tested)) + 1 if np.isfinite(tested).any() else 0
    params = state.best_params if held_out else state.params
    return TrainResult(
        params=jax.tree.map(np.asarray, params),
        losses=history[:, 0],
        held_out_losses=history[:, 1] if held_out else None,
        n_epochs=len(history),
        best_epoch=best if held_out else len(history),
        status=status,
        state=jax.tree.map(np.asarray, state),
    )
