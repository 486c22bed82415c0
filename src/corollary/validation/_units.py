"""Reading what rows belong to and when they happened."""

from datetime import timedelta
from typing import Any

import numpy as np

from corollary.core.compat import is_missing
from corollary.core.population import Population

#: Positions of training rows and of rows that are left out.
Fold = tuple[np.ndarray, np.ndarray]


def read_units(
    who: str, units: Any, n_rows: int | None = None, *, least: int = 1, what: str = "unit"
) -> np.ndarray:
    """Return the number of each row's unit or class, from 0, in the order of the labels."""
    # A list of words and NaN would become a list of words.
    labels = np.asarray(units, dtype=None if hasattr(units, "dtype") else object)
    if labels.ndim != 1 or not len(labels):
        raise ValueError(f"{who} needs one {what} for each row. Got shape {labels.shape}.")
    if n_rows is not None and len(labels) != n_rows:
        raise ValueError(
            f"{who} needs one {what} for each of the {n_rows} rows. Got {len(labels)}."
        )
    missing = _missing(labels)
    if missing:
        raise ValueError(
            f"{who} needs the {what} of every row. Got {missing} without one; leave them out, or "
            f"give each of them a {what} if they have nothing in common."
        )
    # The order of labels, not of first rows: it must not depend on what happened to the rows.
    try:
        codes = np.unique(labels, return_inverse=True)[1]
    except TypeError:  # labels of several kinds have no order
        place = {label: i for i, label in enumerate(sorted(set(labels.tolist()), key=repr))}
        codes = np.array([place[label] for label in labels.tolist()])
    if codes.max() + 1 < least:
        raise ValueError(
            f"{who} needs rows of at least {least} units: whole units are left out, and the other "
            f"ones train. Got {codes.max() + 1}."
        )
    return codes


def read_moments(who: str, moments: Any, n_rows: int | None = None) -> np.ndarray:
    """Return the moments of rows as numbers or dates that can be compared and subtracted."""
    values = np.asarray(moments)
    if values.dtype.kind == "O":
        values = _from_objects(who, values)
    if values.ndim != 1 or not len(values) or values.dtype.kind not in "iufM":
        raise ValueError(
            f"{who} needs one moment for each row: numbers or dates (datetime64, pandas or polars "
            f"dates). Got {values.dtype} of shape {values.shape}; pandas.to_datetime reads text."
        )
    if n_rows is not None and len(values) != n_rows:
        raise ValueError(
            f"{who} needs one moment for each of the {n_rows} rows. Got {len(values)}."
        )
    missing = _missing(values)
    if missing:
        raise ValueError(
            f"{who} needs the moment of every row. Got {missing} without one; leave them out."
        )
    return values.astype(np.int64) if values.dtype.kind == "u" else values


def read_span(who: str, name: str, span: Any, moments: np.ndarray) -> Any:
    """Return a length of time in a type that can be added to the moments."""
    dates = moments.dtype.kind == "M"
    if isinstance(span, timedelta):  # pandas' as well
        span = np.timedelta64(span)
    if dates and not isinstance(span, np.timedelta64):
        if span == 0:
            return moments[0] - moments[0]
        raise ValueError(
            f"The '{name}' parameter of {who} must be a length of time for moments that are dates, "
            f"for instance numpy.timedelta64(7, 'D'). Got {span!r} instead."
        )
    if not dates and isinstance(span, np.timedelta64):
        raise ValueError(
            f"The '{name}' parameter of {who} must be a number for moments that are numbers. Got "
            f"{span!r} instead."
        )
    if not span >= 0 * span or (not dates and not np.isfinite(span)):
        raise ValueError(f"The '{name}' parameter of {who} must not be negative. Got {span!r}.")
    return span


def _missing(values: np.ndarray) -> int:
    """Count missing values."""
    if values.dtype.kind == "O":
        return sum(is_missing(value) for value in values)
    return int(np.sum(values != values)) if values.dtype.kind in "fMm" else 0


def _from_objects(who: str, values: np.ndarray) -> np.ndarray:
    """Read dates of Python and pandas, with or without time zone, and numbers."""
    import pandas as pd

    if any(isinstance(value, str) for value in values.ravel()):
        return values.astype(str)
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        pass
    try:
        return pd.to_datetime(pd.Series(values), utc=True).dt.tz_localize(None).to_numpy()
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{who} needs moments that are numbers or dates. Got {values[0]!r}."
        ) from error


def count_rows(X: Any) -> int:
    """Return the number of rows of a matrix, a frame or a list."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def check_rows(who: str, X: Any, y: Any) -> int:
    """Return the number of rows, and raise unless there is an output for each of them."""
    rows, outputs = count_rows(X), count_rows(y)
    if rows != outputs:
        raise ValueError(
            f"{who} needs an output for each row. Got {rows} rows of X and {outputs} of y."
        )
    return rows


def population_of(groups: Any, moments: np.ndarray | None) -> Population:
    """Say of which rows losses speak: a period's if there are its moments, else of new units."""
    if moments is not None:
        dates = moments.dtype.kind == "M"
        start, end = (
            _written(moment) if dates else float(moment)
            for moment in (moments.min(), moments.max())
        )
        return Population("period", start=start, end=end)
    if groups is None:
        return Population()
    name = getattr(groups, "name", None)
    return Population("new units", unit=name if isinstance(name, str) else "")


def _written(moment: np.datetime64) -> str:
    """Write a date as a day, or with its time of day down to seconds if it has one."""
    day = moment.astype("datetime64[D]")
    return str(day if day == moment else moment.astype("datetime64[s]"))
