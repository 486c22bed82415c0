"""Groups of rows: what a row weighs among them, and a memory of their names."""

from hashlib import blake2b
from typing import Any

import numpy as np

from corollary.conformal._checks import check_groups


def numbers_of_groups(groups: Any, n_rows: int, who: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the number of each row's group, and the size of each group."""
    labels = check_groups(groups, n_rows, who=who)
    _, numbers, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    return numbers, sizes


def row_weights(groups: Any, n_rows: int, who: str) -> np.ndarray:
    """Return one over the size of its group for each row, so that every group weighs one."""
    numbers, sizes = numbers_of_groups(groups, n_rows, who)
    return 1.0 / sizes[numbers]


def maximum_weights(scores: np.ndarray, groups: Any, who: str) -> np.ndarray:
    """Return one for the row with the largest score of each group, and zero for its other rows."""
    numbers, sizes = numbers_of_groups(groups, len(scores), who)
    weights = np.zeros(len(scores))
    weights[np.lexsort((scores, numbers))[np.cumsum(sizes) - 1]] = 1.0
    return weights


def hash_labels(labels: np.ndarray) -> np.ndarray:
    """Hash labels of groups to 64 bits, the same on every machine; a number is its text."""
    unique, numbers = np.unique(labels, return_inverse=True)
    if unique.dtype.kind == "M":
        unique = unique.astype("datetime64[us]").astype(str)
    words = [
        int.from_bytes(blake2b(_text(label).encode(), digest_size=8).digest(), "little")
        for label in unique.tolist()
    ]
    return np.array(words, dtype=np.uint64)[numbers]


def _text(label: Any) -> str:
    # A column of whole numbers becomes one of floats when a value is missing elsewhere in it.
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)
