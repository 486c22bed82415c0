"""Where the table of a report comes from: a file, memory, or data that ship with scikit-learn."""

import difflib
import hashlib
import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from corollary.core.frames import as_pandas
from corollary.reporting._errors import ReportError
from corollary.reporting.table._delimited import is_number, read_delimited
from corollary.reporting.table._source import Source, first_line
from corollary.representation import ColumnTable

DEMOS = ("breast_cancer", "iris", "wine", "digits", "diabetes")


@dataclass(frozen=True)
class Table:
    """A table as read.

    Parameters
    ----------
    frame : pandas DataFrame
        The values; column names are distinct strings.
    name : str
        File name, or the name of the bundled data.
    sha256 : str
        Hash of the file's bytes (of the values as CSV for tables from memory).
    notes : tuple of str, default=()
        What had to be decided while reading, in sentences.
    target : str, default=""
        The target column, where the data come with one.
    demo : str, default=""
        Name of the bundled data, if they are such.

    Examples
    --------
    >>> from corollary.reporting import read_demo
    >>> table = read_demo("diabetes")
    >>> table.name, table.target
    ('diabetes (bundled)', 'progression')
    """

    frame: Any
    name: str
    sha256: str
    notes: tuple[str, ...] = ()
    target: str = ""
    demo: str = ""

    @cached_property
    def columns(self) -> ColumnTable:
        """The columns, each read once however many stages ask for it."""
        return ColumnTable.of(self.frame)


def read_table(path: Any, *, fewest_columns: int = 2) -> Table:
    r"""Read a CSV or Parquet file.

    Parameters
    ----------
    path : str or path-like
        The file.
    fewest_columns : int, default=2
        Files with fewer columns are refused; training takes a target and something else.

    Returns
    -------
    table : Table
        Its contents.

    Raises
    ------
    ReportError
        Of kind "data", when the file cannot be read as a table.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from corollary.reporting import read_table
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "prices.csv"
    >>> _ = path.write_text("size;price\n1,5;20\n2,0;31\n")
    >>> table = read_table(path)
    >>> table.frame["size"].tolist(), table.notes
    ([1.5, 2.0], ('Numbers were read with a decimal comma.',))
    """
    path = Path(path)
    if os.path.isdir(path):
        inside = sorted(p.name for p in path.iterdir() if p.suffix.lower() in (".csv", ".parquet"))
        hint = f" Did you mean {path / inside[0]}?" if inside else " Give one CSV or Parquet file."
        raise ReportError("data", f"{path} is a directory.{hint}")
    if not os.path.exists(path):
        near = _near_files(path)
        hint = f" Did you mean {_listed(near, 'or')}?" if near else ""
        raise ReportError("data", f"There is no file {path}.{hint}")
    source = Source(path)
    head = source.head[:4]
    if not head:
        raise ReportError("data", f"{path} is empty. It must hold a header line and rows.")
    if head == b"PAR1":
        frame, notes = _read_parquet(source)
    elif head[:2] == b"PK" or path.suffix.lower() in (".xls", ".xlsx", ".ods"):
        raise ReportError(
            "data", f"{path} looks like a spreadsheet or archive. Export the sheet as CSV."
        )
    else:
        frame, notes = read_delimited(source)
    return _finish(frame, path.name, source.sha256, notes, fewest_columns)


def from_memory(data: Any, name: str = "table") -> Table:
    """Take a table from memory.

    Parameters
    ----------
    data : data frame
        pandas or polars.
    name : str, default="table"
        What the report calls it.

    Returns
    -------
    table : Table
        A copy with distinct string column names.

    Examples
    --------
    >>> import pandas as pd
    >>> from corollary.reporting import from_memory
    >>> from_memory(pd.DataFrame({"size": [1, 2], 7: [3, 4]}), "sizes").frame.columns.tolist()
    ['size', '7']
    """
    import pandas as pd

    data = as_pandas(data)
    if not isinstance(data, pd.DataFrame):
        raise ReportError(
            "data",
            f"The data must be a file name or a data frame. Got {type(data).__name__} instead.",
        )
    frame = data.reset_index(drop=True)
    digest = hashlib.sha256(frame.to_csv(index=False).encode("utf-8", "replace")).hexdigest()
    return _finish(frame, name, digest, [])


def read_demo(name: str) -> Table:
    """Load a real data set that ships with scikit-learn.

    Parameters
    ----------
    name : {"breast_cancer", "iris", "wine", "digits", "diabetes"}
        Which.

    Returns
    -------
    table : Table
        With its target set.

    Examples
    --------
    >>> from corollary.reporting.table._read import read_demo
    >>> table = read_demo("iris")
    >>> table.frame.shape, table.target
    ((150, 5), 'species')
    """
    key = name.replace("-", "_").lower()
    if key not in DEMOS:
        raise ReportError("usage", f"There is no demo {name!r}. Choose one of {_listed(DEMOS)}.")
    from sklearn import datasets

    target = dict(zip(DEMOS, ("diagnosis", "species", "cultivar", "digit", "progression")))[key]
    bunch = getattr(datasets, f"load_{key}")(as_frame=True)
    frame = bunch.frame.rename(columns={"target": target})
    if key in ("breast_cancer", "iris", "wine"):
        frame[target] = [str(bunch.target_names[i]) for i in frame[target]]
    digest = hashlib.sha256(frame.to_csv(index=False).encode()).hexdigest()
    title = f"{key.replace('_', ' ')} (bundled)"
    return Table(frame, title, digest, (), target, key)


def list_columns(table: Table) -> str:
    """Say which columns a table has."""
    names = [str(c) for c in table.frame.columns]
    if len(names) > 12:
        return f"Its columns are {', '.join(names[:12])} and {len(names) - 12} others."
    return f"Its columns are {_listed(names)}."


def check_target(table: Table, target: str) -> None:
    """Refuse a target that is not a column, suggesting near names."""
    names = [str(c) for c in table.frame.columns]
    if target in names:
        return
    lowered = {name.lower().strip(): name for name in names}
    near = difflib.get_close_matches(target.lower().strip(), list(lowered), n=3, cutoff=0.5)
    near += [n for n in lowered if target.lower() and target.lower() in n and n not in near][:3]
    if near:
        hint = f" Did you mean {_listed([repr(lowered[n]) for n in near[:3]], 'or')}?"
    else:
        hint = f" {list_columns(table)}"
    if all(is_number(name) for name in names):
        hint += " The first line holds only numbers: the file seems to lack a header line."
    raise ReportError("target", f"{table.name} has no column {target!r}.{hint}")


def _near_files(path: Path) -> list[str]:
    """Name the files beside whose names, extensions aside, are like this one."""
    try:
        stems = {p.name: p.stem.lower() for p in path.parent.iterdir()}
    except OSError:
        return []
    near = difflib.get_close_matches(path.stem.lower(), sorted(set(stems.values())), n=3)
    return sorted((n for n in stems if stems[n] in near), key=lambda n: near.index(stems[n]))[:3]


def _listed(items: Any, last: str = "and") -> str:
    items = [str(item) for item in items]
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} {last} {items[-1]}"


def _finish(frame: Any, name: str, digest: str, notes: list[str], fewest_columns: int = 2) -> Table:
    """Give columns distinct string names; refuse a table without columns or rows."""
    if frame.shape[1] < fewest_columns:
        raise ReportError(
            "data",
            f"{name} has {frame.shape[1]} column{'s' * (frame.shape[1] != 1)}. A target and at "
            "least one other column are needed; is the delimiter a comma, semicolon, tab or bar?",
        )
    if len(frame) == 0:
        raise ReportError("data", f"{name} has column names but no rows.")
    seen: dict[str, int] = {}
    names: dict[str, int] = {}
    for position, column in enumerate(frame.columns, start=1):
        plain = str(column).strip() or f"column {position}"
        seen[plain] = seen.get(plain, 0) + 1
        candidate = plain if seen[plain] == 1 else f"{plain} ({seen[plain]})"
        while candidate in names:
            seen[plain] += 1
            candidate = f"{plain} ({seen[plain]})"
        names[candidate] = position
        if candidate != plain:
            notes.append(
                f"The column name {plain!r} occurs more than once; column {position} "
                f"is called {candidate!r} here."
            )
    return Table(frame.set_axis(list(names), axis=1), name, digest, tuple(notes))


def _read_parquet(source: Source) -> tuple[Any, list[str]]:
    import pyarrow
    import pyarrow.parquet

    try:
        table = pyarrow.parquet.ParquetFile(source.place).read()
        names = list(table.column_names)
        # Names may repeat in Parquet, which pandas cannot convert; _finish tells them apart.
        frame = table.rename_columns([str(i) for i in range(len(names))]).to_pandas(
            ignore_metadata=True
        )
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise ReportError(
            "data", f"{source.path} is a damaged Parquet file: {first_line(error)}"
        ) from None
    return frame.set_axis(names, axis=1), []
