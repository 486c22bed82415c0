"""Scores that rank the classes of a row, and their sets, for rows by the block.

Calibration asks for the score of one class, prediction compares all of them with a threshold. Both
take the numbers from one kernel: a sum in another order would differ in its last bit, and a label
whose score equals the threshold would fall out of its set.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

# Probabilities ranked at once by a thread: sums and scores of a block stay in its cache.
_BLOCK = 2**16
# Up to so many classes all pairs of them are compared; more are sorted.
_FEW = 48


def row_blocks(shape: tuple[int, int]) -> list[slice]:
    """Cut a table of rows and classes into pieces that stay in the cache."""
    step = max(1, _BLOCK // max(1, shape[1]))
    return [slice(i, i + step) for i in range(0, shape[0], step)]


def ranked_scores(
    probabilities: np.ndarray,
    *,
    uniform: np.ndarray | None = None,
    penalty: float = 0.0,
    free_classes: int = 0,
) -> np.ndarray:
    """Compute `raps_score` for every class."""
    table = np.empty(probabilities.shape)

    def keep(rows: slice, before: np.ndarray, scores: np.ndarray) -> None:
        table[rows] = scores

    _rank(probabilities, uniform, penalty, free_classes, keep)
    return table


def label_scores(
    probabilities: np.ndarray,
    columns: np.ndarray,
    *,
    uniform: np.ndarray | None = None,
    penalty: float = 0.0,
    free_classes: int = 0,
) -> np.ndarray:
    """Compute `raps_score` for one class of each row."""
    of_labels = np.empty(len(probabilities))

    def keep(rows: slice, before: np.ndarray, scores: np.ndarray) -> None:
        of_labels[rows] = scores[np.arange(len(scores)), columns[rows]]

    _rank(probabilities, uniform, penalty, free_classes, keep)
    return of_labels


def ranked_sets(
    probabilities: np.ndarray,
    threshold: Any,
    *,
    reach: Any = None,
    uniform: np.ndarray | None = None,
    penalty: float = 0.0,
    free_classes: int = 0,
) -> np.ndarray:
    """Take the classes whose `raps_score` is at most a threshold."""
    sets = np.empty(probabilities.shape, dtype=bool)
    threshold = np.broadcast_to(threshold, sets.shape)
    limit = None if reach is None else np.broadcast_to(reach, sets.shape)

    def compare(rows: slice, before: np.ndarray, scores: np.ndarray) -> None:
        np.less_equal(scores, threshold[rows], out=sets[rows])
        if limit is not None:
            sets[rows] |= before < limit[rows]

    _rank(probabilities, uniform, penalty, free_classes, compare)
    return sets


def _rank(
    probabilities: np.ndarray,
    uniform: Any,
    penalty: float,
    free_classes: int,
    use: Callable[[slice, np.ndarray, np.ndarray], None],
) -> None:
    """Hand blocks of rows, the sums before each class, and the scores to a function."""
    from corollary.conformal._loops import order_by_counting, ranked_sums
    from corollary.core.parallel import ordered_map

    n, n_classes = probabilities.shape
    places = np.arange(1, n_classes + 1)
    price = penalty * np.maximum(places - free_classes, 0.0)
    share = np.ones(n) if uniform is None else np.asarray(uniform, dtype=float)

    def work(rows: slice) -> None:
        part = np.ascontiguousarray(probabilities[rows], dtype=np.float64)
        before, scores = np.empty(part.shape), np.empty(part.shape)
        if n_classes <= _FEW:
            # Zeros, since a row with NaN, whose places are not a permutation, leaves gaps.
            order = np.zeros(part.shape, dtype=np.intp)
            order_by_counting(part, order)
        else:
            order = np.argsort(-part, axis=1, kind="stable")
        ranked_sums(part, order, share[rows], price, before, scores)
        use(rows, before, scores)

    pieces = row_blocks(probabilities.shape)
    for _ in ordered_map(work, pieces, workers=None if len(pieces) > 1 else 1):
        pass
