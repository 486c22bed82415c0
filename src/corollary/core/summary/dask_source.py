"""Dask collections as a source: blocks are summarised where they are, summaries travel."""

from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

import numpy as np

from corollary.core.parallel import one_blas_thread
from corollary.core.summary.sources import Selection, Source, check_finite, not_numeric_message
from corollary.core.summary.summary import Chunk, MergeTree, Summary, block_rows

S = TypeVar("S", bound=Summary)


class DaskSource(Source):
    """Dask arrays ``(X, y)`` or ``(X, y, sample_weight)``, or a Dask data frame.

    The rows are rechunked to the blocks of the reduction, each block is summarised where it is,
    and summaries travel up the merge tree; a lost worker's blocks are computed again by Dask.

    Parameters
    ----------
    data : tuple of Dask arrays, Dask array or Dask data frame
        The rows.
    select : Selection
        Which columns of a data frame to use.

    Notes
    -----
    The bits equal those of arrays in memory.
    """

    def __init__(self, data: Any, select: Selection) -> None:
        self._select = select
        if hasattr(data, "columns"):
            self._from_frame(data)
        else:
            if select.named:
                raise ValueError(
                    "Columns can be chosen by name in files and data frames only. Got Dask "
                    "arrays; slice the arrays instead."
                )
            self._arrays = select.of_tuple(data if isinstance(data, tuple) else (data,))
        if any(part is not None and not hasattr(part, "__dask_graph__") for part in self._arrays):
            import dask.array as da

            self._arrays = tuple(
                a if a is None or hasattr(a, "__dask_graph__") else da.asarray(a)
                for a in self._arrays
            )
        self._arrays = tuple(a if a is None else _with_known_chunks(a) for a in self._arrays)
        X = self._arrays[0]
        y = self._arrays[1] if len(self._arrays) > 1 else None
        if X.shape[0] == 0:
            raise ValueError("The Dask collection is empty: there are no rows.")
        rows = [a.shape[0] for a in self._arrays if a is not None]
        if len(set(rows)) > 1:
            raise ValueError(f"Dask arrays must have equally many rows. Got {rows}.")
        self.n_features = X.shape[1]
        self.target_ndim = 1 if y is None else y.ndim
        self.n_targets = 0 if y is None else 1 if y.ndim == 1 else y.shape[1]

    def _from_frame(self, frame: Any) -> None:
        select = self._select
        self.feature_names = select.features(list(frame.columns), "the Dask data frame")
        names = select.numeric(self.feature_names)
        for name in names:
            dtype = frame.dtypes[name]
            if getattr(dtype, "kind", "O") not in "biuf":
                raise ValueError(not_numeric_message(name, "the Dask data frame", dtype))
        matrix = frame[names].astype("float64").to_dask_array(lengths=True)
        labels = None
        if select.label is not None:
            column = frame[select.label]
            if getattr(column.dtype, "kind", "O") not in "biuf":
                column = column.astype(object)
            labels = column.to_dask_array(lengths=list(matrix.chunks[0]))
        self._arrays = select.split(matrix, len(self.feature_names), labels)

    def _parts(self) -> list[Any]:
        """Return the blocks of every array, not computed yet."""
        rows = block_rows(self._arrays)
        return [
            None if a is None else _row_blocks(a.rechunk({0: rows, **_whole_rows(a)}))
            for a in self._arrays
        ]

    def reduce(self, summary: S, n_jobs: int | None = None) -> S:
        """Return the summary of all rows, computed by the active Dask scheduler."""
        import dask

        parts = self._parts()
        names = self.feature_names
        start = summary.empty()
        tree = MergeTree(dask.delayed(_merge, pure=True))
        n_blocks = max(len(part) for part in parts if part is not None)
        for i in range(n_blocks):
            block = [None if part is None else part[i] for part in parts]
            tree.push(
                dask.delayed(_summarise, pure=True)(start, names, self._select.missing, *block)
            )
        with one_blas_thread(), _reaching_the_scheduler():
            (total,) = dask.compute(tree.result(), **scheduler_options(n_jobs))
        return summary.merge(total)

    def persist(self, function: Callable[[Chunk], Any], n_jobs: int | None = None) -> list[Any]:
        """Apply a function to every partition and keep the results where they are."""
        import dask

        rows = self._arrays[0].chunks[0]
        parts = [
            None if a is None else _row_blocks(a.rechunk({0: rows, **_whole_rows(a)}))
            for a in self._arrays
        ]
        apply = dask.delayed(_apply)
        names, missing = self.feature_names, self._select.missing
        results = [
            apply(function, names, missing, *(None if p is None else p[i] for p in parts))
            for i in range(len(rows))
        ]
        return list(dask.persist(*results, **scheduler_options(n_jobs)))

    def chunks(self) -> Iterator[Chunk]:
        """Yield the rows block by block, each computed when it is asked for."""
        import dask

        parts = self._parts()
        for i in range(max(len(part) for part in parts if part is not None)):
            block = dask.compute(*(None if part is None else part[i] for part in parts))
            yield check_finite(block, self.feature_names, missing=self._select.missing)


def scheduler_options(n_jobs: int | None) -> dict[str, Any]:
    """Tell a Dask scheduler how many threads to use."""
    return {} if n_jobs is None else {"num_workers": n_jobs}


@contextmanager
def _reaching_the_scheduler() -> Iterator[None]:
    """Say so if the scheduler of a cluster is gone; Dask itself speaks of cancelled work."""
    lost: tuple[type[Exception], ...] = (CancelledError,)
    with suppress(ImportError):  # plain Dask has no scheduler to lose
        from distributed.comm import CommClosedError

        lost = (CancelledError, CommClosedError)
    try:
        yield
    except lost as error:
        raise ConnectionError(
            "The Dask scheduler cannot be reached any more, so that the rows could not be "
            "summarised. Start the cluster again, connect a new distributed.Client to it, and fit "
            "again."
        ) from error


def _apply(
    function: Callable[[Chunk], Any], names: list[str] | None, missing: bool, *block: Any
) -> Any:
    return function(check_finite(block, names, missing=missing))


def _summarise(start: S, names: list[str] | None, missing: bool, *block: Any) -> S:
    # What has travelled may lie anywhere in memory, and sums of numbers that are not aligned, like
    # those of several BLAS threads, round differently.
    block = tuple(
        np.require(part, requirements="A") if isinstance(part, np.ndarray) else part
        for part in block
    )
    with one_blas_thread():
        return start.update(check_finite(block, names, missing=missing))


def _merge(left: S, right: S) -> S:
    return left.merge(right)


def _row_blocks(array: Any) -> list[Any]:
    return list(array.to_delayed().ravel())


def _whole_rows(array: Any) -> dict[int, int]:
    return dict.fromkeys(range(1, array.ndim), -1)


def _with_known_chunks(array: Any) -> Any:
    if any(np.isnan(size) for size in array.chunks[0]):
        return array.compute_chunk_sizes()
    return array
