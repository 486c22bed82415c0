"""Summaries: statistics that can be merged, computed over arrays, files and clusters.

A :class:`Summary` says what one chunk of rows adds and how two parts are merged; :func:`reduce`
runs it over arrays in threads, over chunks from disk and over Dask collections, with the same bits.
:func:`open_source` gives all kinds of data one interface.
"""

from corollary.core.summary.dask_source import DaskSource, scheduler_options
from corollary.core.summary.file_source import FileSource
from corollary.core.summary.moments import Moments
from corollary.core.summary.sources import (
    ArraySource,
    ChunkSource,
    Selection,
    Source,
    check_finite,
    not_numeric_message,
    open_source,
)
from corollary.core.summary.summary import (
    BLOCK_BYTES,
    Chunk,
    MergeTree,
    Summary,
    Together,
    block_rows,
    n_rows,
    reblock,
    reduce,
    reduce_blocks,
    slice_rows,
)

__all__ = [
    "BLOCK_BYTES",
    "ArraySource",
    "Chunk",
    "ChunkSource",
    "DaskSource",
    "FileSource",
    "MergeTree",
    "Moments",
    "Selection",
    "Source",
    "Summary",
    "Together",
    "block_rows",
    "check_finite",
    "n_rows",
    "not_numeric_message",
    "open_source",
    "reblock",
    "reduce",
    "reduce_blocks",
    "scheduler_options",
    "slice_rows",
]
