"""Streams as chunks, and rounds and truths as arrays; or a sentence that says what is wrong."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy import sparse


def chunks(
    stream: Any,
    target: str | None = None,
    columns: Sequence[str] | None = None,
    *,
    labels: bool = False,
) -> Iterator[tuple[Any, ...]]:
    """Cut a stream into chunks ``(X,)`` or ``(X, y)``."""
    if isinstance(stream, tuple) and not any(hasattr(a, "__dask_graph__") for a in stream):
        yield stream
        return
    if isinstance(stream, np.ndarray) or sparse.issparse(stream):
        yield (stream,)
        return
    from corollary.core.summary import open_source

    yield from open_source(stream, columns=columns, target=target, labels=labels).chunks()


def table(who: str, X: Any, *, low: float = -np.inf, high: float = np.inf) -> np.ndarray:
    """Return rounds as a contiguous table of doubles, or say what is wrong with them."""
    X = np.ascontiguousarray(X, dtype=np.float64)
    if X.ndim != 2 or not X.shape[1]:
        raise ValueError(
            f"{who} takes a table with one row for each round. Got shape {X.shape}; a single round "
            "is a table of one row."
        )
    # NaN fails both comparisons.
    if X.size and not (X.min() >= low and X.max() <= high):
        raise ValueError(
            f"{who} needs numbers in [{low:g}, {high:g}]. Got values from {X.min():g} to "
            f"{X.max():g}."
        )
    return X


def truths(who: str, y: Any, n_rounds: int, choices: tuple[float, ...] | None = None) -> np.ndarray:
    """Return one truth for each round, or say what is wrong with them."""
    if y is None:
        raise ValueError(f"{who} requires y to be passed, one truth for each round. Got None.")
    try:
        y = np.asarray(y, dtype=np.float64)
    except ValueError:
        raise ValueError(
            f"{who} needs truths that are numbers. Got labels of another kind; turn them into "
            "numbers, or take OnlineClassifier, which does."
        ) from None
    if y.shape != (n_rounds,):
        raise ValueError(
            f"{who} needs one truth for each of {n_rounds} rounds. Got shape {y.shape}."
        )
    wrong = ~np.isfinite(y) if choices is None else ~np.isin(y, choices)
    if wrong.any():
        allowed = "finite" if choices is None else " or ".join(f"{c:g}" for c in choices)
        raise ValueError(f"{who} needs truths that are {allowed}. Got {y[wrong][0]:g} among them.")
    return y


def check_width(who: str, expected: int, got: int) -> None:
    """Refuse rounds of another width than the earlier ones."""
    if expected != got:
        raise ValueError(
            f"{who} has seen rounds with {expected} columns. Got {got} now; a learner keeps to one "
            "table, take a new one for another."
        )


def binary_table(who: str, X: Any) -> np.ndarray:
    """Return a table of zeros and ones, or say what is wrong with it."""
    X = table(who, X, low=0.0, high=1.0)
    if not np.all((X == 0) | (X == 1)):
        raise ValueError(
            f"{who} needs zeros and ones. Got {X[(X != 0) & (X != 1)][0]:g} among them; threshold "
            "or binarise the columns first."
        )
    return X


def binary_rows(who: str, X: Any) -> Any:
    """Return rows of zeros and ones, dense or CSR, or say what is wrong with them."""
    if not sparse.issparse(X):
        return binary_table(who, X)
    X = sparse.csr_matrix(X, dtype=np.float64, copy=True)
    X.sum_duplicates()
    X.eliminate_zeros()
    if not np.all(X.data == 1):
        raise ValueError(
            f"{who} needs zeros and ones. Got {X.data[X.data != 1][0]:g} among them; threshold or "
            "binarise the columns first."
        )
    return X
