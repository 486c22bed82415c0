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

import hashlib
import os
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from corollary.core.progress import track
from corollary.core.training.batches import (
    Batches,
    bucket,
    check_weight,
    count_rows,
    draw_batches,
    pad_rows,
)
from corollary.core.training.checkpoint import Checkpoint, match_arrays

Loss = Callable[[Any, Mapping[str, Any], Any], Any]

# A call of the compiled loop should end soon enough that Ctrl-C feels immediate, and late enough
# that returning to Python (about 0.2 ms) costs nothing. Neither number affects results.
SHORT_CALL, LONG_CALL = 0.1, 0.4
# Rows of held-out data that are evaluated at once.
EVALUATION_ROWS = 4096
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
    """

    params: Any
    losses: np.ndarray
    held_out_losses: np.ndarray | None
    n_epochs: int
    best_epoch: int
    status: str


class _State(NamedTuple):
    """What the next step needs, and nothing else; this is what a checkpoint holds."""

    params: Any
    optimizer_state: Any
    best_params: Any  # None without held-out rows
    best_loss: Any
    n_stalled: Any  # epochs without improvement
    epoch_loss: Any  # of the epoch that is under way
    stopped: Any


def train(
    loss: Loss,
    params: Any,
    data: Mapping[str, Any],
    *,
    optimizer: Callable[..., Any],
    settings: Mapping[str, float] | None = None,
    weight: Any = None,
    held_out: Mapping[str, Any] | None = None,
    held_out_weight: Any = None,
    held_out_loss: Loss | None = None,
    epochs: int = 200,
    batch_size: int = 32,
    patience: int = 10,
    tol: float = 1e-4,
    seed: int = 0,
    checkpoint: str | os.PathLike[str] | None = None,
    description: str = "training",
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
    checkpoint : str, path-like or None, default=None
        File to keep the state in. If it exists, training goes on from there.
    description : str, default="training"
        Words for the progress display.

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
    for name, number in {"epochs": epochs, "batch_size": batch_size, "patience": patience}.items():
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
    held = None
    if held_out is not None:
        n_held = count_rows(held_out, "held_out")
        held_weight = check_weight(held_out_weight, n_held, "held_out_weight")
        capacity = bucket(n_held, minimum=FEWEST_HELD_OUT[n > SMALL])
        if capacity > EVALUATION_ROWS:
            capacity = -(-capacity // EVALUATION_ROWS) * EVALUATION_ROWS
        held = pad_rows({**held_out, "weight": held_weight}, capacity)
    rows, held = jax.device_put((rows, held))
    functions = {"loss": loss, "held_out_loss": held_out_loss or loss, "optimizer": optimizer}
    params = jax.tree.map(np.asarray, params)
    state = _start(params, numbers, optimizer=optimizer, keep_best=held is not None)
    history, n_steps = np.empty((0, 2)), 0

    store = None
    if checkpoint is not None:
        arguments = {"seed": seed, "n_rows": n, "batch_size": batch_size, "patience": patience}
        identity = _identify((params, rows, held), functions, numbers, arguments | {"tol": tol})
        store = Checkpoint(checkpoint, identity)
        found = store.read()
        if found is not None:
            leaves, structure = jax.tree.flatten(state)
            state = jax.tree.unflatten(structure, match_arrays(found, leaves, "state"))
            history, n_steps = found["history"], int(found["n_steps"])

    key = np.array([seed >> 32 & 0xFFFFFFFF, seed & 0xFFFFFFFF], np.uint32)
    limits = {"patience": patience, "tol": tol}
    capacity = int(np.clip(2**20 // batch_size, 16, 1024))
    count = 64
    with track(description, total=epochs) as step:
        step(n_steps / n_batches)
        while n_steps < epochs * n_batches and not state.stopped:
            started = time.monotonic()
            count = min(count, capacity, epochs * n_batches - n_steps)
            plan = draw_batches(seed, weight, batch_size, n_steps, count, capacity)
            state, records, n_done = _run(
                state, rows, held, plan, numbers, key, limits, **functions
            )
            n_done = int(n_done)
            n_steps += n_done
            ended = np.asarray(records, np.float64)[:n_done][plan.last[:n_done]]
            history = np.concatenate([history, ended])
            if store is not None:
                store.write(_arrays(state, history, n_steps))
            shown = {"loss": history[-1, -1 if held else 0]} if len(history) else {}
            step(n_done / n_batches, **shown)
            elapsed = time.monotonic() - started
            if elapsed < SHORT_CALL:
                count = 2 * count
            elif elapsed > LONG_CALL:
                count = max(count // 2, 1)
    if store is not None:
        store.write(_arrays(state, history, n_steps), now=True)
    return _conclude(state, history)


def weighted_mean(values: Any, weight: Any) -> Any:
    """Return the weighted mean of per-row values, 0 if no row has weight.

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> from corollary.core.training import weighted_mean
    >>> float(weighted_mean(jnp.array([1.0, 4.0]), jnp.array([2.0, 1.0])))
    2.0
    """
    total = jnp.sum(weight)
    return jnp.sum(weight * values) / jnp.where(total > 0, total, 1)


@partial(jax.jit, static_argnames=("optimizer", "keep_best"))
def _start(params: Any, settings: Any, *, optimizer: Any, keep_best: bool) -> _State:
    dtype = jnp.result_type(*jax.tree.leaves(params))
    return _State(
        params=params,
        optimizer_state=optimizer(**settings).init(params),
        best_params=params if keep_best else None,
        best_loss=jnp.array(jnp.inf, dtype),
        n_stalled=jnp.array(0, jnp.int32),
        epoch_loss=jnp.array(0, dtype),
        stopped=jnp.array(False),
    )


@partial(jax.jit, static_argnames=("loss", "held_out_loss", "optimizer"))
def _run(
    state: _State,
    data: Any,
    held_out: Any,
    plan: Batches,
    settings: Any,
    key: Any,
    limits: Any,
    *,
    loss: Loss,
    held_out_loss: Loss,
    optimizer: Any,
) -> tuple[_State, Any, Any]:
    """Run up to ``plan.n_steps`` steps; record training and held-out loss where epochs end."""
    transform = optimizer(**settings)
    key = jax.random.wrap_key_data(key, impl="threefry2x32")
    dtype = state.epoch_loss.dtype

    def take_step(i: Any, state: _State) -> _State:
        rows = plan.rows[i]
        batch = jax.tree.map(lambda a: a.at[rows].get(mode="promise_in_bounds"), data)
        step_key = jax.random.fold_in(key, plan.first + i)
        value, gradient = jax.value_and_grad(loss)(state.params, batch, step_key)
        updates, optimizer_state = transform.update(gradient, state.optimizer_state, state.params)
        return state._replace(
            params=jax.tree.map(lambda p, u: (p + u).astype(p.dtype), state.params, updates),
            optimizer_state=optimizer_state,
            epoch_loss=state.epoch_loss + (plan.share[i] * value).astype(dtype),
        )

    def end_epoch(state: _State) -> tuple[_State, Any]:
        trained = state.epoch_loss
        tested = trained
        best_params = state.best_params
        if held_out is not None:
            tested = _evaluate(held_out_loss, state.params, held_out, key).astype(dtype)
            best_params = jax.tree.map(
                lambda new, old: jnp.where(tested < state.best_loss, new, old),
                state.params,
                best_params,
            )
        improved = tested < state.best_loss - limits["tol"]
        n_stalled = jnp.where(improved, 0, state.n_stalled + 1)
        finite = jnp.isfinite(trained) & jnp.isfinite(tested)
        state = state._replace(
            best_params=best_params,
            best_loss=jnp.fmin(tested, state.best_loss),
            n_stalled=n_stalled,
            epoch_loss=jnp.zeros_like(trained),
            stopped=(n_stalled >= limits["patience"]) | ~finite,
        )
        return state, jnp.stack([trained, tested])

    def body(carry: Any) -> Any:
        i, state, records = carry
        state, record = jax.lax.cond(
            plan.last[i],
            end_epoch,
            lambda state: (state, jnp.zeros(2, dtype)),
            take_step(i, state),
        )
        return i + 1, state, records.at[i].set(record)

    def goes_on(carry: Any) -> Any:
        return (carry[0] < plan.n_steps) & ~carry[1].stopped

    records = jnp.zeros((plan.last.shape[0], 2), dtype)
    n_done, state, records = jax.lax.while_loop(goes_on, body, (0, state, records))
    return state, records, n_done


def _evaluate(loss: Loss, params: Any, data: Any, key: Any) -> Any:
    n = data["weight"].shape[0]
    if n <= EVALUATION_ROWS:
        return loss(params, data, key)
    blocks = jax.tree.map(lambda a: a.reshape(-1, EVALUATION_ROWS, *a.shape[1:]), data)
    means = jax.lax.map(lambda block: loss(params, block, key), blocks)
    return weighted_mean(means, jnp.sum(blocks["weight"], axis=1))


def _conclude(state: _State, history: np.ndarray) -> TrainResult:
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
    )


def _fewest_rows(data: Mapping[str, Any]) -> int:
    width = sum(int(np.prod(np.shape(value)[1:])) for value in data.values())
    return int(np.clip(FEWEST_NUMBERS // max(width, 1), *FEWEST_ROWS))


def _arrays(state: _State, history: np.ndarray, n_steps: int) -> dict[str, np.ndarray]:
    leaves = {f"state{i}": np.asarray(a) for i, a in enumerate(jax.tree.leaves(state))}
    return {**leaves, "history": history, "n_steps": np.array(n_steps)}


def _identify(
    arrays: Any, functions: Mapping[str, Any], settings: Any, arguments: Any
) -> dict[str, Any]:
    """Say what a checkpoint belongs to; the budget is left out, so that it can be raised."""
    digest = hashlib.sha256()
    for path, leaf in jax.tree_util.tree_leaves_with_path(arrays):
        array = np.ascontiguousarray(leaf)
        digest.update(f"{jax.tree_util.keystr(path)} {array.dtype} {array.shape}".encode())
        digest.update(array.tobytes())
    names = {
        name: f"{f.__module__}.{f.__qualname__}" if hasattr(f, "__qualname__") else repr(f)
        for name, f in functions.items()
    }
    return {**arguments, **names, "settings": settings, "data and start": digest.hexdigest()}
