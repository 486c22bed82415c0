"""Files as a source: Parquet and CSV, read in batches through pyarrow."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from corollary.core.compat import what_was_refused
from corollary.core.summary.sources import Selection, Source, check_finite, not_numeric_message
from corollary.core.summary.summary import Chunk, Summary, reblock, reduce_blocks

S = TypeVar("S", bound=Summary)

# Bytes of a file decoded at a time: about one block of the reduction.
BATCH_BYTES = 4 * 2**20
PARQUET = (".parquet", ".pq")
CSV = (".csv", ".csv.gz", ".tsv", ".tsv.gz")


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Name the file in what the reader has to say about it."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        refused = what_was_refused(error)
        if refused == "empty file":
            raise ValueError(f"{path.name} is empty: there are no rows.") from None
        if refused == "value of another type":
            raise ValueError(f"{path.name} holds a value that is not a number: {error}") from None
        raise ValueError(f"{path.name} cannot be read: {error}") from None


class FileSource(Source):
    """A Parquet or CSV file, or a folder of Parquet files, read in batches.

    Parameters
    ----------
    path : Path
        Where the data are.
    select : Selection
        Which columns to read.
    """

    def __init__(self, path: Path, select: Selection) -> None:
        self._select = select
        self._path = path
        self._files, self._is_parquet = _files(path)
        schema = self._schema()
        self.feature_names = select.features(schema.names, path.name)
        self.n_features = len(self.feature_names)
        self.n_targets = len(select.target)
        self.target_ndim = select.target_ndim
        self._names = select.numeric(self.feature_names)
        for name in self._names:
            if not _is_numeric(schema.field(name).type):
                raise ValueError(not_numeric_message(name, path.name, schema.field(name).type))
        self._label_type = None
        if select.label is not None:
            self._label_type = schema.field(select.label).type
            if not (_is_text(self._label_type) or _is_numeric(_plain(self._label_type))):
                raise ValueError(
                    f"Column {select.label!r} of {path.name} has type {self._label_type}; labels "
                    "must be strings, whole numbers or truth values."
                )
        self._columns = [*self._names, *([] if select.label is None else [select.label])]
        self._rows = max(1024, BATCH_BYTES // (8 * len(self._columns)))

    def _schema(self) -> Any:
        with _naming(self._files[0]):
            if self._is_parquet:
                import pyarrow.parquet as pq

                schema = pq.read_schema(self._files[0])
            else:
                with self._open_csv(self._files[0], None) as reader:
                    schema = reader.schema
            schema.names  # noqa: B018 - names that are no text fail here
            return schema

    def _open_csv(self, path: Path, names: list[str] | None) -> Any:
        import pyarrow as pa
        from pyarrow import csv

        convert = csv.ConvertOptions()
        if names is not None:
            # Types guessed from the first block may be too narrow for later ones.
            types = dict.fromkeys(names, pa.float64())
            if self._select.label is not None:
                types[self._select.label] = self._label_type
            convert = csv.ConvertOptions(include_columns=names, column_types=types)
        return csv.open_csv(
            path,
            read_options=csv.ReadOptions(block_size=BATCH_BYTES),
            parse_options=csv.ParseOptions(delimiter="\t" if ".tsv" in path.name else ","),
            convert_options=convert,
        )

    def _batches(self) -> Iterator[Any]:
        for path in self._files:
            with _naming(path):
                if self._is_parquet:
                    yield from self._parquet_batches(path)
                else:
                    with self._open_csv(path, self._columns) as reader:
                        yield from reader

    def _parquet_batches(self, path: Path) -> Iterator[Any]:
        import pyarrow.parquet as pq

        # Buffered streams decode a large row group piece by piece; pre-buffering and decoding
        # columns in parallel would hold all of it.
        with pq.ParquetFile(path, buffer_size=2**16, pre_buffer=False) as file:
            schema = file.schema_arrow
            missing = [n for n in self._columns if n not in schema.names]
            if missing:
                raise ValueError(
                    f"Column {missing[0]!r} is not in {path.name}, though it is in "
                    f"{self._files[0].name}."
                )
            for name in self._names:
                if not _is_numeric(schema.field(name).type):
                    raise ValueError(not_numeric_message(name, path.name, schema.field(name).type))
            label = self._select.label
            if label is not None and (
                _is_text(schema.field(label).type) != _is_text(self._label_type)
            ):
                raise ValueError(
                    f"Column {label!r} of {path.name} has type {schema.field(label).type}, though "
                    f"it has type {self._label_type} in {self._files[0].name}."
                )
            yield from file.iter_batches(
                batch_size=self._rows, columns=self._columns, use_threads=False
            )

    def _chunks(self) -> Iterator[Chunk]:
        position = 0
        for batch in self._batches():
            if batch.num_rows == 0:
                continue
            matrix = np.empty((batch.num_rows, len(self._names)))
            for column, name in enumerate(self._names):
                matrix[:, column] = self._values(batch, name, position)
            label = self._select.label
            labels = None if label is None else self._values(batch, label, position)
            position += batch.num_rows
            yield self._select.split(matrix, self.n_features, labels)
        if position == 0:
            raise ValueError(f"{self._path.name} is empty: there are no rows.")

    def _values(self, batch: Any, name: str, position: int) -> np.ndarray:
        import pyarrow as pa

        values = batch.column(name)
        if pa.types.is_dictionary(values.type):
            values = values.dictionary_decode()
        if values.null_count and self._select.missing and name in (self.feature_names or ()):
            return np.asarray(values.cast(pa.float64()).to_numpy(zero_copy_only=False))
        holes = values.is_null().to_numpy(False) if values.null_count else np.zeros(0, dtype=bool)
        found = values.to_numpy(zero_copy_only=False)
        if not holes.any() and not self._is_parquet and _is_text(values.type):
            holes = found == ""  # a file of text has no other way to leave a label out
        if holes.any():
            row = position + int(np.flatnonzero(holes)[0])
            raise ValueError(
                f"Column {name!r} of {self._path.name} has a missing value in row {row}. "
                "Fill or drop missing values first."
            )
        return found

    def reduce(self, summary: S, n_jobs: int | None = None) -> S:
        """Return the summary of all rows, reading the file once from start to end."""
        names = self.feature_names
        checked = partial(check_finite, names=names, missing=self._select.missing)
        blocks = map(checked, reblock(self._chunks()))
        return reduce_blocks(summary, blocks, n_jobs=n_jobs)

    def chunks(self) -> Iterator[Chunk]:
        """Yield the rows batch by batch, reading the file once from start to end."""
        checked = partial(check_finite, names=self.feature_names, missing=self._select.missing)
        return map(checked, self._chunks())


def _files(path: Path) -> tuple[list[Path], bool]:
    if path.is_dir():
        files = sorted(p for p in path.iterdir() if p.name.endswith(PARQUET))
        if not files:
            raise ValueError(f"{path.name} is a folder without Parquet files.")
        return files, True
    if not path.exists():
        raise FileNotFoundError(f"There is no file {str(path)!r}.")
    if path.stat().st_size == 0:
        raise ValueError(f"{path.name} is empty: there are no rows.")
    if path.name.endswith(PARQUET):
        return [path], True
    if path.name.endswith(CSV):
        return [path], False
    raise ValueError(
        f"The type of {path.name} is unknown. Files are read if their name ends in "
        f"{', '.join((*PARQUET, *CSV))}."
    )


def _plain(dtype: Any) -> Any:
    """Return the type of the values of a column, which may be kept once for each category."""
    from pyarrow import types

    return dtype.value_type if types.is_dictionary(dtype) else dtype


def _is_text(dtype: Any) -> bool:
    from pyarrow import types

    dtype = _plain(dtype)
    return bool(
        types.is_string(dtype) or types.is_large_string(dtype) or types.is_string_view(dtype)
    )


def _is_numeric(dtype: Any) -> bool:
    from pyarrow import types

    return bool(
        types.is_integer(dtype)
        or types.is_floating(dtype)
        or types.is_boolean(dtype)
        or types.is_decimal(dtype)
        or types.is_null(dtype)  # no value at all: what is missing is said when it is read
    )
