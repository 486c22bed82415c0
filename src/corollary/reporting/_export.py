"""Tables of predictions as files, in which no spreadsheet finds a formula."""

from pathlib import Path
from typing import Any

from corollary.core.files import atomic_write
from corollary.reporting._errors import ReportError
from corollary.reporting.table._delimited import is_number

#: What a spreadsheet takes for the beginning of a formula, or of a line that hides one.
FORMULA = ("=", "+", "-", "@", "\t", "\n")
#: Extensions by which a file of predictions is written.
FORMATS = {
    "": "csv",
    ".csv": "csv",
    ".txt": "csv",
    ".json": "json",
    ".parquet": "parquet",
    ".pq": "parquet",
}


def as_csv(table: Any) -> str:
    r"""Write a table as CSV; a spreadsheet that opens it runs none of its texts.

    Texts and column names that begin like a formula (``=``, ``+``, ``-``, ``@``, a tab or the end
    of a line) and are no numbers get an apostrophe before them. Numbers stay as they are.

    Parameters
    ----------
    table : pandas DataFrame
        Predictions.

    Returns
    -------
    text : str
        A header line and a line for each row, without the index.

    Examples
    --------
    >>> import pandas as pd
    >>> from corollary.reporting import as_csv
    >>> print(as_csv(pd.DataFrame({"prediction": ["=1+1", "-5"], "low": [-2.5, 1.0]})), end="")
    prediction,low
    '=1+1,-2.5
    -5,1.0
    """
    from pandas.api import types

    safe = {
        j: values if types.is_numeric_dtype(values.dtype) else values.map(_plain)
        for j, (_, values) in enumerate(table.items())
    }
    columns = [_plain(name) for name in table.columns]
    return str(type(table)(safe, index=table.index).set_axis(columns, axis=1).to_csv(index=False))


def _plain(value: Any) -> Any:
    """Keep a text from being a formula, and from ending the line it stands in."""
    if not isinstance(value, str):
        return value
    value = value.replace("\r\n", "\n").replace("\r", "\n")
    return f"'{value}" if value.startswith(FORMULA) and not is_number(value) else value


def check_format(path: Path) -> str:
    """Give the format that a file's name asks for; refuse it if there is none."""
    form = FORMATS.get(path.suffix.lower())
    if form is None:
        raise ReportError(
            "output",
            f"Predictions are written as .csv, .json or .parquet. Got {path}: choose one of these "
            "extensions.",
        )
    return form


def write_predictions(table: Any, path: Path) -> None:
    """Write a table of predictions, whole or not at all."""
    match check_format(path):
        case "parquet":
            data = table.to_parquet(index=False)
        case "json":
            data = table.to_json(orient="records", force_ascii=False, indent=1).encode()
        case _:
            data = as_csv(table).encode()
    try:
        with atomic_write(path) as file:
            file.write(data)
    except OSError as error:
        raise ReportError(
            "output", f"The predictions could not be written to {path}: {error.strerror or error}."
        ) from None
