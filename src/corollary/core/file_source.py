"""Files as a source: Parquet and CSV, read in batches through pyarrow."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from corollary.core.sources import Selection, Source, check_finite, not_numeric_message
from corollary.core.summary import Chunk, Summary, reblock, reduce_blocks

S = TypeVar("S", bound=Summary)

# Bytes of a file decoded at a time: about one block of the reduction.
BATCH_BYTES = 4 * 2**20
PARQUET = (".parquet", ".pq")
CSV = (".csv", ".csv.gz", ".tsv", ".tsv.gz")


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
        weight = [] if select.sample_weight is None else [select.sample_weight]
        self._names = [*self.feature_names, *select.target, *weight]
        for name in self._names:
            if not _is_numeric(schema.field(name).type):
                raise ValueError(not_numeric_message(name, path.name, schema.field(name).type))
        self._rows = max(1024, BATCH_BYTES // (8 * len(self._names)))

    def _schema(self) -> Any:
        import pyarrow as pa

        if self._is_parquet:
            import pyarrow.parquet as pq

            return pq.read_schema(self._files[0])
        try:
            with self._open_csv(self._files[0], None) as reader:
                return reader.schema
        except pa.ArrowInvalid as error:
            if "Empty CSV" in str(error):
                raise ValueError(f"{self._path.name} is empty: there are no rows.") from None
            raise

    def _open_csv(self, path: Path, names: list[str] | None) -> Any:
        import pyarrow as pa
        from pyarrow import csv

        convert = csv.ConvertOptions()
        if names is not None:
            # Types guessed from the first block may be too narrow for later ones.
            convert = csv.ConvertOptions(
                include_columns=names, column_types=dict.fromkeys(names, pa.float64())
            )
        return csv.open_csv(
            path,
            read_options=csv.ReadOptions(block_size=BATCH_BYTES),
            parse_options=csv.ParseOptions(delimiter="\t" if ".tsv" in path.name else ","),
            convert_options=convert,
        )

    def _batches(self) -> Iterator[Any]:
        import pyarrow as pa

        for path in self._files:
            if self._is_parquet:
                import pyarrow.parquet as pq

                # Buffered streams decode a large row group piece by piece; pre-buffering and
                # decoding columns in parallel would hold all of it.
                with pq.ParquetFile(path, buffer_size=2**16, pre_buffer=False) as file:
                    missing = [n for n in self._names if n not in file.schema_arrow.names]
                    if missing:
                        raise ValueError(
                            f"Column {missing[0]!r} is not in {path.name}, though it is in "
                            f"{self._files[0].name}."
                        )
                    yield from file.iter_batches(
                        batch_size=self._rows, columns=self._names, use_threads=False
                    )
            else:
                try:
                    with self._open_csv(path, self._names) as reader:
                        yield from reader
                except pa.ArrowInvalid as error:
                    raise ValueError(
                        f"{path.name} holds a value that is not a number: {error}"
                    ) from None

    def _chunks(self) -> Iterator[Chunk]:
        position = 0
        for batch in self._batches():
            if batch.num_rows == 0:
                continue
            matrix = np.empty((batch.num_rows, len(self._names)))
            for column, name in enumerate(self._names):
                values = batch.column(name)
                if values.null_count:
                    row = position + int(np.flatnonzero(values.is_null().to_numpy(False))[0])
                    raise ValueError(
                        f"Column {name!r} of {self._path.name} has a missing value in row {row}. "
                        "Fill or drop missing values first."
                    )
                matrix[:, column] = values.to_numpy(zero_copy_only=False)
            position += batch.num_rows
            yield self._select.split(matrix, self.n_features)
        if position == 0:
            raise ValueError(f"{self._path.name} is empty: there are no rows.")

    def reduce(self, summary: S, n_jobs: int | None = None) -> S:
        """Return the summary of all rows, reading the file once from start to end."""
        names = self.feature_names
        blocks = (check_finite(block, names) for block in reblock(self._chunks()))
        return reduce_blocks(summary, blocks, n_jobs=n_jobs)


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


def _is_numeric(dtype: Any) -> bool:
    from pyarrow import types

    return bool(
        types.is_integer(dtype)
        or types.is_floating(dtype)
        or types.is_boolean(dtype)
        or types.is_decimal(dtype)
        or types.is_null(dtype)  # no value at all: what is missing is said when it is read
    )
