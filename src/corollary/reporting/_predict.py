"""Predictions for a file, by the model that a report left behind."""

import os
from pathlib import Path
from typing import Any

from corollary.core.files import atomic_write
from corollary.reporting._errors import ReportError
from corollary.reporting._model import ReportModel
from corollary.reporting.table._read import read_table


def load_model(path: str | os.PathLike[str]) -> ReportModel:
    """Load the model of a report.

    Parameters
    ----------
    path : str or path-like
        A ``model.corollary`` file; it need not be trusted.

    Returns
    -------
    model : ReportModel
        The model.

    Raises
    ------
    ReportError
        Of kind "model", if the file is not there or is refused.

    Examples
    --------
    >>> import tempfile
    >>> from corollary.reporting import load_model, read_demo, report
    >>> made = report(read_demo("diabetes"), out=tempfile.mkdtemp(), fast=True)
    >>> load_model(made.paths["model.corollary"]).label
    'ridge regression'
    """
    from corollary.core.files import ModelFileError, load

    try:
        model = load(path)
    except FileNotFoundError:
        raise ReportError("model", f"There is no model file {path}.") from None
    except IsADirectoryError:
        raise ReportError(
            "model", f"{path} is a directory. Did you mean {Path(path) / 'model.corollary'}?"
        ) from None
    except OSError as error:
        raise ReportError("model", f"{path} cannot be read: {error.strerror or error}.") from None
    except ModelFileError as error:
        raise ReportError("model", f"{path} was refused. {error}") from None
    if not isinstance(model, ReportModel):
        raise ReportError(
            "model",
            f"{path} holds a {type(model).__name__}, not the model of a report. Load it with "
            "corollary.load.",
        )
    return model


def predict_file(
    model: str | os.PathLike[str],
    data: str | os.PathLike[str],
    out: str | os.PathLike[str] | None = None,
) -> tuple[Any, list[str]]:
    """Predict the rows of a file.

    Parameters
    ----------
    model : str or path-like
        A ``model.corollary`` file.
    data : str or path-like
        CSV or Parquet file with the columns of training, in any order.
    out : str, path-like or None, default=None
        File to write: Parquet if it ends so, else CSV. None writes nothing.

    Returns
    -------
    table : pandas DataFrame
        As :meth:`ReportModel.predict_table` gives it.
    notes : list of str
        What the user should know: notes of the reader, absent and unknown columns, flagged rows.

    Raises
    ------
    ReportError
        Of kind "model", "data" or "output".

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from corollary.reporting import predict_file, read_demo, report
    >>> data = read_demo("diabetes")
    >>> made = report(data, out=tempfile.mkdtemp(), fast=True)
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "new.csv"
    >>> data.frame.head(3).drop(columns="bmi").to_csv(path, index=False)
    >>> table, notes = predict_file(made.paths["model.corollary"], path)
    >>> table.columns.tolist(), notes[0]
    (['prediction', 'low', 'high', 'flags'], 'Absent columns, taken as missing: bmi.')
    """
    loaded = load_model(model)
    source = read_table(data, fewest_columns=1)
    names = [str(c) for c in source.frame.columns]
    table = loaded.predict_table(source.frame)
    notes = list(source.notes)
    absent = [c for c in loaded.columns if c not in names]
    read = {*loaded.columns, *(loaded.promise.columns if loaded.promise else ()), loaded.target}
    unknown = [c for c in names if c not in read]
    if absent:
        notes.append(f"Absent columns, taken as missing: {', '.join(absent)}.")
    if unknown:
        notes.append(f"Columns the model does not read: {', '.join(unknown)}.")
    outside = int(loaded.outside(source.frame).sum())
    if outside and loaded.promise is not None:
        why = "lie beyond the period that was tested"
        if loaded.promise.kind == "new units":
            why = f"belong to a {loaded.promise.piece} that the model was trained on"
        notes.append(
            f"{outside:,} of {len(table):,} rows {why}; what was tested are {loaded.promise.rows}. "
            "See 'promise'."
        )
    flagged = int((table["flags"] != "").sum())
    if flagged:
        promised, one = "set" if "set" in table else "interval", flagged == 1
        said = f"Its {promised} carries" if one else f"Their {promised}s carry"
        notes.append(
            f"{flagged:,} of {len(table):,} row{'s' * (len(table) > 1)} "
            f"{'is' if one else 'are'} unlike the training rows; see 'flags'. {said} no promise."
        )
    if out is not None:
        _write(table, Path(out))
    return table, notes


def _write(table: Any, path: Path) -> None:
    if path.suffix.lower() in (".parquet", ".pq"):
        data = table.to_parquet(index=False)
    else:
        data = table.to_csv(index=False).encode()
    try:
        with atomic_write(path) as file:
            file.write(data)
    except OSError as error:
        raise ReportError(
            "output", f"The predictions could not be written to {path}: {error.strerror or error}."
        ) from None
