"""Batches: which rows each step of training uses, in shapes that do not change with n.

Compiled code is made for fixed shapes. So arrays are padded to one of few sizes with rows of
weight zero, and the rows of each step are given as an array of row numbers that has a fixed shape
as well; a step that is not full is filled up with row n, the first of the padding.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

#: Rows of held-out data that are evaluated at once.
EVALUATION_ROWS = 4096


class Batches(NamedTuple):
    """The rows of the next steps.

    Parameters
    ----------
    rows : ndarray of shape (capacity, batch_size)
        Row numbers of each step.
    share : ndarray of shape (capacity,)
        Part of an epoch's weight that each step has; adds up to 1 over an epoch.
    rate : ndarray of shape (capacity,)
        What the learning rate of each step is multiplied by.
    last : ndarray of shape (capacity,)
        Whether the step ends an epoch.
    first : int
        Number of the first of these steps, counted from the start of training.
    n_steps : int
        Number of steps meant; what follows up to capacity is filling.
    """

    rows: np.ndarray
    share: np.ndarray
    rate: np.ndarray
    last: np.ndarray
    first: int
    n_steps: int


def draw_batches(
    seed: int | None,
    weight: np.ndarray,
    batch_size: int,
    first: int,
    n_steps: int,
    capacity: int,
    rate: Callable[[int], float] | None = None,
) -> Batches:
    """Draw the rows of some steps, from the seed, the number of rows and the epoch alone.

    Every epoch visits every row once, in a new random order, or in their own order if the seed is
    None. The rate of a step is that of its epoch, counted from 0.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.core.training import draw_batches
    >>> batches = draw_batches(0, np.ones(5), batch_size=2, first=0, n_steps=3, capacity=4)
    >>> sorted(batches.rows[:3].ravel().tolist())  # 5 rows, and one to fill up
    [0, 1, 2, 3, 4, 5]
    >>> batches.last[:3].tolist()
    [False, False, True]
    """
    n = len(weight)
    n_batches = -(-n // batch_size)
    epochs = range(first // n_batches, (first + n_steps - 1) // n_batches + 1)
    orders = np.full((len(epochs), n_batches * batch_size), n, np.int32)
    for order, epoch in zip(orders, epochs):
        # With one batch per epoch the order is of no use, and without it sums stay comparable.
        if n_batches == 1 or seed is None:
            order[:n] = np.arange(n)
        else:
            order[:n] = np.random.default_rng([seed, n, epoch]).permutation(n)
    skip = first - epochs.start * n_batches
    rows = np.full((capacity, batch_size), n, np.int32)
    rows[:n_steps] = orders.reshape(-1, batch_size)[skip : skip + n_steps]
    share = np.append(weight, 0.0)[rows].sum(axis=1) / weight.sum()
    turns, place = np.divmod(first + np.arange(capacity), n_batches)
    rates = np.array([1.0 if rate is None else rate(int(turn)) for turn in turns], np.float32)
    return Batches(rows, share.astype(np.float32), rates, place == n_batches - 1, first, n_steps)


def bucket(n: int, *, minimum: int = 1) -> int:
    """Round a number of rows up to the next of few sizes.

    Sizes are ``minimum`` times powers of the square root of 2, so that padding adds 41 % at most
    and a million rows pass through only twenty sizes on the way from a thousand.

    Examples
    --------
    >>> from corollary.core.training import bucket
    >>> [bucket(n, minimum=1024) for n in (5, 1024, 1025, 2000)]
    [1024, 1024, 1449, 2048]
    """
    half_powers = 0
    while (size := math.ceil(minimum * 2 ** (half_powers / 2))) < n:
        half_powers += 1
    return size


def pad_rows(data: Mapping[str, Any], capacity: int) -> dict[str, Any]:
    """Pad every array with copies of its first row, and the weights with zeros.

    Zeros would do for most losses, but log 0 times weight 0 is NaN: a real row is always safe.
    """
    padded = {}
    for name, value in data.items():
        value = np.asarray(value)
        rows = np.empty((capacity, *value.shape[1:]), value.dtype)
        rows[: len(value)] = value
        rows[len(value) :] = 0 if name == "weight" else value[0]
        padded[name] = rows
    return padded


def count_rows(data: Mapping[str, Any], name: str) -> int:
    """Return the number of rows that arrays share."""
    lengths = {key: np.shape(value)[:1] for key, value in data.items()}
    if not lengths or len(set(lengths.values())) != 1 or lengths[next(iter(lengths))] in ((), (0,)):
        raise ValueError(
            f"The {name!r} parameter of train must be a mapping of arrays with the same number of "
            f"rows, at least one. Got leading shapes {lengths} instead."
        )
    if "weight" in data:
        raise ValueError(
            f"The {name!r} parameter of train must not have an array named 'weight'. "
            "Pass weights as 'weight' or 'held_out_weight'."
        )
    return int(lengths[next(iter(lengths))][0])


def check_weight(weight: Any, n: int, name: str) -> np.ndarray:
    """Return usable weights."""
    weight = np.ones(n, np.float32) if weight is None else np.asarray(weight)
    if weight.shape != (n,) or not np.all(weight >= 0) or not 0 < weight.sum() < np.inf:
        raise ValueError(
            f"The {name!r} parameter of train must be {n} non-negative numbers, not all zero. "
            f"Got shape {weight.shape} with sum {weight.sum():.6g} instead."
        )
    return weight
