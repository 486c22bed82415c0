"""Many partitions of the same rows, and the one that stands for them."""

from typing import Any, NamedTuple

import numpy as np


class PartitionSummary(NamedTuple):
    """The partition that agrees best with many others, see :func:`summarise_partitions`."""

    labels: np.ndarray
    expected_loss: float


def pair_agreement(labels: Any, others: Any) -> float:
    """Return the share of pairs of rows that two partitions both join or both separate.

    It is Rand's index, one if the partitions are equal.

    Parameters
    ----------
    labels, others : array-like of shape (n_samples,)
        Blocks of each partition, by whole numbers.

    Examples
    --------
    >>> from corollary.mixture import pair_agreement
    >>> pair_agreement([0, 0, 1, 1], [0, 0, 0, 1])
    0.5
    """
    first, second = _blocks(labels), _blocks(others)
    if first.shape != second.shape or len(first) < 2:
        raise ValueError(
            "pair_agreement needs two partitions of the same rows, at least two of them. Got "
            f"{len(first)} and {len(second)} rows."
        )
    n = len(first)
    both = np.bincount(first * (second.max() + 1) + second).astype(float)
    joined = _squares(first) + _squares(second) - 2 * float(both @ both)
    return 1 - joined / (n * (n - 1))


def summarise_partitions(partitions: Any) -> PartitionSummary:
    """Return the drawn partition whose expected disagreement with the draws is least.

    Disagreement is Binder's loss, the share of pairs of rows that one joins and the other does not.

    Parameters
    ----------
    partitions : array-like of shape (n_draws, n_samples)
        Partitions, by whole numbers; of more than 200 some in equal steps are compared.

    Returns
    -------
    summary : PartitionSummary
        Its ``labels``, blocks numbered in the order of their first row, and the ``expected_loss``,
        the disagreement with a drawn partition on average.

    References
    ----------
    Binder (1978), Bayesian cluster analysis.

    Examples
    --------
    >>> from corollary.mixture import summarise_partitions
    >>> summarise_partitions([[0, 0, 1], [5, 5, 2], [0, 1, 1]]).labels
    array([0, 0, 1])
    """
    draws = np.asarray(partitions)
    if draws.ndim != 2 or not draws.size:
        raise ValueError(f"partitions must be a table of labels. Got shape {draws.shape}.")
    chosen = draws[np.linspace(0, len(draws) - 1, min(len(draws), 200)).astype(int)]
    if draws.shape[1] < 2:
        return PartitionSummary(np.zeros(draws.shape[1], dtype=int), 0.0)
    distinct, copies = np.unique([_blocks(labels) for labels in chosen], axis=0, return_counts=True)
    agreement = np.array([[pair_agreement(a, b) for b in distinct] for a in distinct])
    losses = 1 - agreement @ copies / copies.sum()
    best = int(np.argmin(losses))
    return PartitionSummary(distinct[best], float(losses[best]))


def _blocks(labels: Any) -> np.ndarray:
    """Return labels that number blocks in the order of their first row."""
    _, first, places = np.unique(np.asarray(labels), return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[places.ravel()]


def _squares(labels: np.ndarray) -> float:
    """Return the sum of the squared sizes of blocks."""
    sizes = np.bincount(labels).astype(float)
    return float(sizes @ sizes)
