"""Sources: data that are not one set of arrays in memory.

A source knows the width and the names of its columns and reduces a summary over its rows. There
are three kinds: a stream of chunks, files (Parquet and CSV) read in batches, and Dask collections.
All of them cut the rows into the same blocks and merge along the same tree as arrays in memory do
(see :mod:`corollary.core.summary`), so that the result has the same bits; memory stays bounded by
a few blocks, whatever the size of the file.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from scipy import sparse

from corollary.core.compat import is_missing
from corollary.core.summary.summary import Chunk, Summary, reblock, reduce, reduce_blocks

S = TypeVar("S", bound=Summary)


class Source(ABC):
    """Rows that can be reduced, wherever they are.

    Attributes
    ----------
    n_features : int
        Columns of X.
    n_targets : int
        Columns of y; 0 if there is no target.
    feature_names : list of str or None
        Names of the columns of X, if they have names.
    rereadable : bool
        Whether :meth:`reduce` may be called more than once.
    target_ndim : int
        1 for a single target, 2 for a table of targets.
    """

    n_features: int
    n_targets: int
    feature_names: list[str] | None = None
    rereadable: bool = True
    target_ndim: int = 1

    @abstractmethod
    def reduce(self, summary: S, n_jobs: int | None = None) -> S:
        """Return the summary of all rows.

        Parameters
        ----------
        summary : Summary
            Where to start.
        n_jobs : int or None, default=None
            Threads; None means one per available core.

        Returns
        -------
        summary : Summary
            The starting summary merged with that of all rows.
        """

    @abstractmethod
    def chunks(self) -> Iterator[Chunk]:
        """Go through the rows in order, for learners to which the order matters."""


def open_source(
    data: Any,
    *,
    columns: Sequence[str] | None = None,
    target: str | Sequence[str] | None = None,
    sample_weight: str | None = None,
    labels: bool = False,
    missing: bool = False,
    supervised: bool = True,
) -> Source:
    """Open data for reduction.

    Parameters
    ----------
    data : path, data frame, Dask collection, or iterable of chunks
        A Parquet or CSV file, or a folder of Parquet files (read in order of their names); a
        pandas or Dask data frame; a tuple of Dask arrays ``(X, y)`` or ``(X, y, sample_weight)``;
        an array X; or an iterable whose items are arrays, tuples of arrays or data frames.
    columns : sequence of str or None, default=None
        Names of the features, where columns have names; None for all that are neither target nor
        weight. Other columns are not read.
    target : str, sequence of str or None, default=None
        Name of the column to predict, or names of several.
    sample_weight : str or None, default=None
        Name of the column that holds weights.
    labels : bool, default=False
        Whether the target holds class labels. They may be strings, whole numbers or truth values
        and keep their type; otherwise the target is read as real numbers.
    missing : bool, default=False
        Whether features may be missing (NaN, or null in files); otherwise that is an error.
    supervised : bool, default=True
        Whether targets are read; otherwise those of tuples ``(X, y)`` are left out, and blocks are
        cut as if they were not there.

    Returns
    -------
    source : Source
        With a method ``reduce(summary, n_jobs)``.

    Raises
    ------
    ValueError
        If a column is missing or not numeric, if there are no rows, or if the file type is
        unknown.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.core.summary import Moments
    >>> from corollary.core.summary import open_source
    >>> chunks = [(np.zeros((2, 3)),), (np.ones((2, 3)),)]
    >>> open_source(chunks).reduce(Moments.of_width(3)).mean
    array([0.5, 0.5, 0.5])
    """
    select = Selection(columns, target, sample_weight, labels, missing, supervised)
    if isinstance(data, str | PathLike):
        from corollary.core.summary.file_source import FileSource

        return FileSource(Path(data), select)
    if hasattr(data, "__dask_graph__") or (
        isinstance(data, tuple) and any(hasattr(part, "__dask_graph__") for part in data)
    ):
        from corollary.core.summary.dask_source import DaskSource

        return DaskSource(data, select)
    if hasattr(data, "columns"):
        return ChunkSource([data], select)
    if _is_matrix(data) or (isinstance(data, tuple) and data and hasattr(data[0], "shape")):
        return ChunkSource([data], select)
    if isinstance(data, Iterable):
        return ChunkSource(data, select)
    raise ValueError(
        "open_source needs a path, a data frame, a Dask collection or an iterable of chunks "
        f"(tuples of arrays). Got {type(data).__name__} instead."
    )


def _is_matrix(item: Any) -> bool:
    """Say whether an item is an array of rows by itself, dense or sparse, without targets."""
    return getattr(item, "ndim", 0) == 2 and not hasattr(item, "columns")


class Selection:
    """Which named columns play which part.

    Parameters
    ----------
    columns : sequence of str or None
        Features; None for the rest.
    target : str, sequence of str or None
        What to predict.
    sample_weight : str or None
        Weights.
    labels : bool, default=False
        Whether the target holds class labels, which need not be numbers.
    missing : bool, default=False
        Whether features may be missing.
    supervised : bool, default=True
        Whether targets in tuples of arrays are read.
    """

    def __init__(
        self,
        columns: Sequence[str] | None,
        target: str | Sequence[str] | None,
        sample_weight: str | None,
        labels: bool = False,
        missing: bool = False,
        supervised: bool = True,
    ) -> None:
        if labels and not (target is None or isinstance(target, str)):
            raise ValueError(
                f"There must be one column of labels. Got {list(target)!r}; give the name of one "
                "column in `target`."
            )
        if isinstance(columns, str):
            columns = [columns]
        self.columns = None if columns is None else list(columns)
        self.target = (
            [] if target is None else [target] if isinstance(target, str) else list(target)
        )
        self.target_ndim = 1 if target is None or isinstance(target, str) else 2
        self.sample_weight = sample_weight
        self.missing = missing
        self.supervised = supervised
        self.label = self.target[0] if labels and self.target else None

    def numeric(self, features: Sequence[str]) -> list[str]:
        """Return the names of the columns that must hold numbers, in the order of a chunk."""
        weight = [] if self.sample_weight is None else [self.sample_weight]
        return [*features, *([] if self.label else self.target), *weight]

    @property
    def named(self) -> bool:
        """Whether any column is asked for by name."""
        return bool(self.columns or self.target or self.sample_weight)

    def features(self, available: Sequence[str], where: str) -> list[str]:
        """Return the names of the features, after checking that every name exists."""
        weight = [] if self.sample_weight is None else [self.sample_weight]
        names = [str(name) for name in available]
        for name in [*(self.columns or []), *self.target, *weight]:
            if name not in names:
                near = get_close_matches(name, names, n=3) or names[:10]
                raise ValueError(
                    f"Column {name!r} is not in {where}. Did you mean "
                    f"{', '.join(map(repr, near))}? It has {len(names)} columns."
                )
        repeated = sorted({name for name in names if names.count(name) > 1})
        if repeated:
            raise ValueError(
                f"Column names of {where} must be distinct. Got {repeated[0]!r} more than once; "
                "rename or drop one of them."
            )
        taken = {*self.target, *weight}
        if self.columns is not None:
            both = taken & set(self.columns)
            if both:
                raise ValueError(
                    f"A column is either a feature or the target or the weight. Got "
                    f"{sorted(both)[0]!r} in two parts; take it out of `columns`."
                )
            return self.columns
        features = [name for name in names if name not in taken]
        if not features:
            raise ValueError(f"{where} has no column left to learn from besides {sorted(taken)}.")
        return features

    def of_tuple(self, arrays: Chunk) -> Chunk:
        """Return arrays ``(X, y, sample_weight)`` without the targets that are not read."""
        return arrays if self.supervised else (arrays[0], None, *arrays[2:])

    def split(self, matrix: Any, n_features: int, labels: Any = None) -> Chunk:
        """Cut a matrix of features, targets and weight into a chunk."""
        stop = n_features + (0 if self.label else len(self.target))
        X = matrix[:, :n_features]
        y = matrix[:, n_features:stop] if self.target else None
        if y is not None and self.target_ndim == 1:
            y = labels if self.label else y[:, 0]
        if self.sample_weight is not None:
            return (X, y, matrix[:, stop])
        return (X,) if y is None else (X, y)


class ArraySource(Source):
    """Arrays in memory, with the interface of the other sources.

    Parameters
    ----------
    arrays : tuple of arrays
        ``(X,)``, ``(X, y)`` or ``(X, y, sample_weight)``; entries after X may be None.
    """

    def __init__(self, arrays: Chunk) -> None:
        self._arrays = arrays
        X, y = arrays[0], arrays[1] if len(arrays) > 1 else None
        self.n_features = X.shape[1]
        self.target_ndim = 1 if y is None else y.ndim
        self.n_targets = 0 if y is None else 1 if y.ndim == 1 else y.shape[1]

    def reduce(self, summary: S, n_jobs: int | None = None) -> S:
        """Return the summary of all rows."""
        return reduce(summary, self._arrays, n_jobs=n_jobs)

    def chunks(self) -> Iterator[Chunk]:
        """Yield the arrays as they are."""
        yield self._arrays


class ChunkSource(Source):
    """A stream of chunks: arrays, tuples of arrays, or data frames.

    Parameters
    ----------
    chunks : iterable
        The chunks, in order.
    select : Selection
        Which columns of data frames to use.
    """

    def __init__(self, chunks: Iterable[Any], select: Selection) -> None:
        self._select = select
        iterator = iter(chunks)
        self.rereadable = iterator is not chunks
        try:
            first = next(iterator)
        except StopIteration:
            raise ValueError("The stream of chunks is empty: there are no rows.") from None
        self._chunks = chunks if self.rereadable else chain([first], iterator)
        if not isinstance(first, tuple) and not hasattr(first, "columns") and not _is_matrix(first):
            shape = f" of shape {first.shape}" if hasattr(first, "shape") else ""
            raise ValueError(
                "A chunk must be an array X with rows and columns, a tuple of arrays, e.g. (X, y), "
                f"or a data frame. Got {type(first).__name__}{shape} instead."
            )
        if hasattr(first, "columns"):
            self.feature_names = select.features(list(first.columns), "the data frame")
        elif select.named:
            raise ValueError(
                "Columns can be chosen by name in files and data frames only. Got tuples of "
                "arrays; slice the arrays instead."
            )
        chunk = self._convert(first)
        self.n_features = chunk[0].shape[1]
        y = chunk[1] if len(chunk) > 1 else None
        self.target_ndim = 1 if y is None else y.ndim
        self.n_targets = 0 if y is None else 1 if y.ndim == 1 else y.shape[1]

    def _convert(self, item: Any) -> Chunk:
        if not hasattr(item, "columns"):
            item = self._select.of_tuple((item,) if _is_matrix(item) else item)
            return tuple(a if a is None or sparse.issparse(a) else np.asarray(a) for a in item)
        assert self.feature_names is not None
        names = self._select.numeric(self.feature_names)
        self._select.features(list(item.columns), "the data frame")
        for name in names:
            dtype = str(item[name].dtype).lower()
            if not dtype.startswith(("int", "uint", "float", "bool", "double")):
                raise ValueError(not_numeric_message(name, "the data frame", dtype))
        matrix = np.asarray(item[names].to_numpy(), dtype=np.float64)
        label = self._select.label
        labels = None if label is None else np.asarray(item[label].to_numpy())
        return self._select.split(matrix, len(self.feature_names), labels)

    def _checked(self) -> Iterator[Chunk]:
        kinds: set[bool] = set()
        for position, item in enumerate(self._chunks):
            chunk = self._convert(item)
            if chunk[0].ndim != 2 or chunk[0].shape[1] != self.n_features:
                raise ValueError(
                    f"Every chunk must have {self.n_features} columns like the first. Chunk "
                    f"{position} has shape {chunk[0].shape}."
                )
            rows = {a.shape[0] for a in chunk if a is not None}
            if len(rows) > 1:
                raise ValueError(
                    f"The arrays of a chunk must have equally many rows. Chunk {position} has "
                    f"{sorted(rows)}."
                )
            if len(chunk) > 1 and chunk[1] is not None:
                if chunk[1].dtype.kind == "O":
                    chunk = (chunk[0], _as_labels(chunk[1]), *chunk[2:])
                kinds.add(chunk[1].dtype.kind in "OUS")
                if len(kinds) > 1:  # joined, the numbers would turn into text
                    raise ValueError(
                        "Labels must be either strings or numbers. Chunk "
                        f"{position} holds others than those before it."
                    )
            yield chunk

    def reduce(self, summary: S, n_jobs: int | None = None) -> S:
        """Return the summary of all rows; a generator can be read once."""
        blocks = (self._finite(block) for block in reblock(self._checked()))
        return reduce_blocks(summary, blocks, n_jobs=n_jobs)

    def chunks(self) -> Iterator[Chunk]:
        """Yield the chunks as they come; a generator can be read once."""
        return map(self._finite, self._checked())

    def _finite(self, block: Chunk) -> Chunk:
        return check_finite(block, missing=self._select.missing)


def not_numeric_message(name: str, where: str, dtype: Any) -> str:
    """Word the error about a column that holds no numbers."""
    return (
        f"Column {name!r} of {where} has type {dtype}; numbers are needed. Encode it as numbers "
        "first, or leave it out by listing the wanted columns in `columns`."
    )


def _as_labels(values: np.ndarray) -> np.ndarray:
    """Return an array of objects as what they are: strings, numbers or truth values."""
    kinds = set(map(type, values))
    if all(issubclass(kind, str) for kind in kinds):
        return values
    if all(issubclass(kind, bool | np.bool_) for kind in kinds):
        return values.astype(bool)
    missing = [i for i, v in enumerate(values) if is_missing(v)]
    if missing:
        raise ValueError(
            f"A label is missing, {missing[0]} rows after the start of a block of "
            f"{len(values)}. Fill or drop rows without a label first."
        )
    if any(issubclass(kind, str) for kind in kinds):
        names = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise ValueError(f"Labels must be either strings or numbers. Got a mixture of {names}.")
    return np.array(values.tolist())


def check_finite(block: Chunk, names: list[str] | None = None, *, missing: bool = False) -> Chunk:
    """Refuse NaN, infinity and negative weights, which would spoil sums without a trace.

    Labels that came as objects are given the type of what they hold.
    """
    if len(block) > 1 and block[1] is not None and block[1].dtype.kind == "O":
        block = (block[0], _as_labels(block[1]), *block[2:])
    for label, part in zip(("X", "y", "sample_weight"), block):
        if part is None:
            continue
        values = part.data if sparse.issparse(part) else part
        if label == "y" and values.dtype.kind in "OUSb":  # labels that are no numbers
            continue
        # The sum is finite unless a value is not (or overflows, which the slow check clears).
        if np.isfinite(np.sum(values)) or np.isfinite(values).all():
            continue
        may_miss = missing and label == "X"
        if may_miss and not np.isinf(values).any():
            continue
        where = label
        if label == "X" and not sparse.issparse(part):
            wrong = np.isinf(part) if may_miss else ~np.isfinite(part)
            column = int(np.flatnonzero(wrong.any(axis=0))[0])
            where = f"column {names[column]!r}" if names else f"column {column} of X"
        what = "infinity" if may_miss else "NaN or infinity"
        raise ValueError(f"Input contains {what} in {where}. Fill or drop such rows first.")
    if len(block) > 2 and block[2] is not None and np.min(block[2], initial=0.0) < 0:
        raise ValueError("sample_weight must not be negative. Got a negative weight.")
    return block
