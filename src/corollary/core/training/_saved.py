"""A run of training in a checkpoint file: what it belongs to, and where it stands."""

import hashlib
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from corollary.core.training._steps import State
from corollary.core.training.checkpoint import Checkpoint, match_arrays
from corollary.core.xla import jax


class Run(NamedTuple):
    """The state after some steps, and the losses of the epochs that have ended."""

    state: State
    history: np.ndarray
    n_steps: int


def resume(store: Checkpoint | None, run: Run) -> Run:
    """Return the run of a checkpoint, or the given one if there is none."""
    arrays = None if store is None else store.read()
    if arrays is None:
        return run
    leaves, structure = jax.tree.flatten(run.state)
    state = jax.tree.unflatten(structure, match_arrays(arrays, leaves, "state"))
    return Run(state, arrays["history"], int(arrays["n_steps"]))


def save(store: Checkpoint | None, run: Run, *, now: bool = False) -> None:
    """Write a run to its checkpoint, if it has one."""
    if store is not None:
        leaves = {f"state{i}": np.asarray(a) for i, a in enumerate(jax.tree.leaves(run.state))}
        arrays = {**leaves, "history": run.history, "n_steps": np.array(run.n_steps)}
        store.write(arrays, now=now)


def identify(
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
