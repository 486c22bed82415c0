"""The rows by which networks stop, and the scores they are judged by."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from corollary.neural.mlp import apply_mlp

# Fewer held-out rows than this say nothing about when to stop.
MIN_HELD_OUT = 2


@dataclass(frozen=True)
class MLPError:
    """One minus the score of a network: the share of wrong rows, or of unexplained variance.

    Batches of numeric targets hold their variance as ``variance``, for each row the same.
    """

    activation: str
    kind: str

    def __call__(self, parameters: Any, batch: Any, key: Any) -> Any:
        """Return the weighted mean over the rows of a batch."""
        from corollary.core.training import weighted_mean
        from corollary.core.xla import jnp

        outputs = apply_mlp(parameters, batch["x"], activation=self.activation)
        y = batch["y"]
        if self.kind == "cross-entropy":
            errors = jnp.argmax(outputs, axis=1) != y
        elif self.kind == "logistic":
            errors = jnp.any((outputs > 0) != (y > 0.5), axis=1)
        else:
            predicted = jnp.exp(outputs) if self.kind == "poisson" else outputs
            squares, variance = (predicted - y) ** 2, batch["variance"]
            # Of a constant target nothing is explained unless it is met.
            shares = jnp.where(variance > 0, squares / jnp.where(variance > 0, variance, 1), 1)
            errors = jnp.mean(jnp.where(squares > 0, shares, 0), axis=1)
        return weighted_mean(errors.astype(batch["weight"].dtype), batch["weight"])


def drawn_rows(y: np.ndarray, fraction: float, rng: Any, *, discrete: bool) -> np.ndarray:
    """Draw the rows by whose score a network stops, from every class its share."""
    from sklearn.model_selection import train_test_split

    options = {"test_size": fraction, "random_state": rng, "stratify": y if discrete else None}
    held = np.sort(train_test_split(np.arange(len(y)), **options)[1])
    if len(held) < MIN_HELD_OUT:
        raise ValueError(
            f"The validation set is too small. Stopping early needs {MIN_HELD_OUT} rows at least. "
            f"Got {len(held)} of {len(y)}. Increase 'validation_fraction' or the size of your "
            "dataset, or set early_stopping=False."
        )
    return held


def disjoint_rows(
    y: np.ndarray, fraction: float, member: int, seed: int, *, discrete: bool
) -> np.ndarray:
    """Choose the rows by whose loss one member of an ensemble stops.

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


def variances(y: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return the variance of each target, at each row the same."""
    mean = np.average(y, axis=0, weights=weight)
    variance = np.average((y - mean) ** 2, axis=0, weights=weight)
    return np.broadcast_to(variance, y.shape).astype(y.dtype)
