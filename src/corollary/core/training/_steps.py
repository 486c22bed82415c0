"""The steps of training as one compiled program.

Whatever changes from fit to fit is an argument of it, not a part of it: the number of rows and of
steps, the learning rate, the patience, the seed.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

from corollary.core.training.batches import EVALUATION_ROWS, Batches
from corollary.core.xla import jax, jnp

Loss = Callable[[Any, Mapping[str, Any], Any], Any]


class State(NamedTuple):
    """What the next step needs, and nothing else; this is what a checkpoint holds."""

    params: Any
    optimizer_state: Any
    best_params: Any  # None without held-out rows
    best_loss: Any
    n_stalled: Any  # epochs without improvement
    rate: Any  # what the learning rate has been multiplied by on plateaus
    epoch_loss: Any  # of the epoch that is under way
    stopped: Any


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
def first_state(params: Any, settings: Any, *, optimizer: Any, keep_best: bool) -> State:
    """Return the state before the first step."""
    dtype = jnp.result_type(*jax.tree.leaves(params))
    return State(
        params=params,
        optimizer_state=optimizer(**settings).init(params),
        best_params=params if keep_best else None,
        best_loss=jnp.array(jnp.inf, dtype),
        n_stalled=jnp.array(0, jnp.int32),
        rate=jnp.array(1, dtype),
        epoch_loss=jnp.array(0, dtype),
        stopped=jnp.array(False),
    )


@partial(jax.jit, static_argnames=("loss", "held_out_loss", "optimizer"))
def run_steps(
    state: State,
    data: Any,
    held_out: Any,
    plan: Batches,
    settings: Any,
    constants: Any,
    key: Any,
    limits: Any,
    *,
    loss: Loss,
    held_out_loss: Loss,
    optimizer: Any,
) -> tuple[State, Any, Any]:
    """Run up to ``plan.n_steps`` steps; record training and held-out loss where epochs end."""
    key = jax.random.wrap_key_data(key, impl="threefry2x32")
    dtype = state.epoch_loss.dtype

    def take_step(i: Any, state: State) -> State:
        rows = plan.rows[i]
        batch = jax.tree.map(lambda a: a.at[rows].get(mode="promise_in_bounds"), data)
        step_key = jax.random.fold_in(key, plan.first + i)
        batch = {**batch, **constants}
        numbers = dict(settings)
        if "learning_rate" in numbers:
            numbers["learning_rate"] = numbers["learning_rate"] * state.rate * plan.rate[i]
        value, gradient = jax.value_and_grad(loss)(state.params, batch, step_key)
        updates, optimizer_state = optimizer(**numbers).update(
            gradient, state.optimizer_state, state.params
        )
        return state._replace(
            params=jax.tree.map(lambda p, u: (p + u).astype(p.dtype), state.params, updates),
            optimizer_state=optimizer_state,
            epoch_loss=state.epoch_loss + (plan.share[i] * value).astype(dtype),
        )

    def end_epoch(state: State) -> tuple[State, Any]:
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
        plateau = n_stalled >= limits["patience"]
        # On a plateau the learning rate falls, or if it is the least one already, training ends.
        falls = plateau & (state.rate > limits["least_rate"])
        state = state._replace(
            best_params=best_params,
            best_loss=jnp.fmin(tested, state.best_loss),
            n_stalled=jnp.where(falls, 0, n_stalled),
            rate=jnp.where(falls, state.rate * limits["fall"], state.rate).astype(dtype),
            epoch_loss=jnp.zeros_like(trained),
            stopped=(plateau & ~falls) | ~finite,
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
