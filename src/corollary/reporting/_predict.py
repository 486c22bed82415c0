"""Predictions for a file, by the model that a report left behind."""

import hashlib
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from corollary.reporting._errors import ReportError
from corollary.reporting._export import check_format, write_predictions
from corollary.reporting._model import ReportModel
from corollary.reporting.table._read import Table, list_columns, read_table


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
    *,
    keep: Sequence[str] = (),
) -> tuple[Any, list[str]]:
    """Predict the rows of a file.

    Parameters
    ----------
    model : str or path-like
        A ``model.corollary`` file.
    data : str or path-like
        CSV or Parquet file with the columns of training, in any order.
    out : str, path-like or None, default=None
        File to write: CSV, or JSON or Parquet if it ends so. None writes nothing.
    keep : sequence of str, default=()
        Columns of the data that stand before the predictions, besides those that name a row: the
        identifiers of the report, and its owners or times.

    Returns
    -------
    table : pandas DataFrame
        What names the rows, and what :meth:`ReportModel.predict_table` gives.
    notes : list of str
        What the user should know: notes of the reader, absent and unknown columns, flagged rows.

    Raises
    ------
    ReportError
        Of kind "model", "data", "usage" or "output".

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from corollary.reporting import predict_file, read_demo, report
    >>> data = read_demo("diabetes")
    >>> made = report(data, out=tempfile.mkdtemp(), fast=True)
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "new.csv"
    >>> data.frame.head(3).drop(columns="bmi").to_csv(path, index=False)
    >>> table, notes = predict_file(made.paths["model.corollary"], path, keep=["age"])
    >>> table.columns.tolist(), notes[0]
    (['age', 'prediction', 'low', 'high', 'unusual'], 'Absent columns, taken as missing: bmi.')
    """
    if out is not None:
        check_format(Path(out))
    loaded = load_model(model)
    source = read_table(data, fewest_columns=1)
    kept = _kept_columns(loaded, source, keep)
    table = loaded.predict_table(source.frame)
    notes = [*_strangers_beside(Path(model)), *source.notes, *_column_notes(loaded, source, kept)]
    notes += _row_notes(loaded, source, table)
    for place, name in enumerate(kept):
        shown = f"{name} (input)" if name in table else name
        table.insert(place, shown, source.frame[name].to_numpy())
    if out is not None:
        write_predictions(table, Path(out))
    return table, notes


def _kept_columns(model: ReportModel, source: Table, keep: Sequence[str]) -> list[str]:
    """List the columns of the data that stand beside the predictions."""
    names = list(source.frame.columns)
    for name in keep:
        if name not in names:
            raise ReportError(
                "usage", f"{source.name} has no column {name!r} to keep. {list_columns(source)}"
            )
    owners = model.promise.columns if model.promise else ()
    return [name for name in dict.fromkeys((*(model.keys or ()), *owners, *keep)) if name in names]


def _strangers_beside(path: Path) -> list[str]:
    """Say if the report beside a model file speaks of another model."""
    try:
        content = json.loads((path.parent / "report.json").read_text(encoding="utf-8"))
        described = content["sections"]["reproduce"]["hashes"]["model"]
        if described == hashlib.sha256(path.read_bytes()).hexdigest():
            return []
    except (OSError, ValueError, LookupError, TypeError):
        return []  # none beside it, or none of ours
    return [
        f"{path.parent / 'report.json'} describes another model than {path.name}: a report was "
        "interrupted while its files were replaced, or one of them was moved. Make it again."
    ]


def _column_notes(model: ReportModel, source: Table, kept: list[str]) -> list[str]:
    names = list(source.frame.columns)
    notes, absent = [], [c for c in model.columns if c not in names]
    read = {*model.columns, *kept, model.target}
    unknown = [c for c in names if c not in read]
    if absent:
        notes.append(f"Absent columns, taken as missing: {', '.join(absent)}.")
    if unknown:
        notes.append(f"Columns the model does not read: {', '.join(unknown)}.")
    return notes


def _row_notes(model: ReportModel, source: Table, table: Any) -> list[str]:
    notes, outside = [], int(model.outside(source.frame).sum())
    if outside and model.promise is not None:
        why = "lie beyond the period that was tested"
        if model.promise.kind == "new units":
            why = f"belong to a {model.promise.piece} that the model was trained on"
        notes.append(
            f"{outside:,} of {len(table):,} rows {why}; what was tested are {model.promise.rows}. "
            "See 'promise'."
        )
    for name, (late, last) in model.later(source.frame).items():
        notes.append(
            f"{int(late.sum()):,} of {len(table):,} rows lie after {last}, the last {name!r} of "
            "training. What is promised is promised of rows like those of training; whether it "
            "holds later was not tested."
        )
    flagged = int((table["unusual"] != "").sum())
    if flagged:
        promised, one = "set" if "set" in table else "interval", flagged == 1
        said = f"Its {promised} carries" if one else f"Their {promised}s carry"
        rule = ""
        if model.distance is not None:
            rule = (
                f" Rows are flagged as far at p ≤ {model.distance.threshold:.2g}, the threshold of "
                "the report, and for values that the model cannot read."
            )
        notes.append(
            f"{flagged:,} of {len(table):,} row{'s' * (len(table) > 1)} "
            f"{'is' if one else 'are'} unlike the training rows; see 'unusual'. {said} no promise."
            f"{rule}"
        )
    return notes
