"""Owners and moments of rows, read before a theorem is asked."""

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np

from corollary.core.compat import is_missing
from corollary.core.population import Population


class Dependence(NamedTuple):
    """How rows depend on each other."""

    given: Any  # the owners as they came
    labels: list[Hashable]  # the owner of each row
    groups: np.ndarray | None  # the number of the owner of each row
    order: np.ndarray | None  # positions of the rows, the earliest first
    owners: Population | None  # rows of new owners
    period: Population | None  # the rows of the period
    training_groups: Any  # owners of training rows

    @property
    def n_owners(self) -> int:
        """How many owners there are."""
        return 0 if self.groups is None else int(self.groups.max()) + 1


class Moments(NamedTuple):
    """When rows happened."""

    order: np.ndarray  # positions of the rows, the earliest first
    start: str | float  # the first moment
    end: str | float  # the last one


def read_dependence(groups: Any, time: Any, unit: Any, training: Any, n: int) -> Dependence:
    """Read owners and moments, and name the rows that claims speak of."""
    labels: list[Hashable] = []
    codes = order = owners = period = None
    ends: dict[str, Any] = {}
    if time is not None:
        order, *moments = read_moments(time, n)
        ends = dict(zip(("start", "end"), moments))
        period = Population("period", **ends)
    if groups is not None:
        labels, codes = _number_owners(groups, n)
        name = unit if isinstance(unit, str) else tuple(unit)
        owners = Population("new units", unit=name, **ends)
    return Dependence(groups, labels, codes, order, owners, period, training)


def _number_owners(groups: Any, n: int) -> tuple[list[Hashable], np.ndarray]:
    """Give each owner a number; several columns make an owner of each combination."""
    labels = list_owners(groups, "groups")
    if len(labels) != n:
        raise ValueError(
            f"certify needs the owner of each of the {n} rows. Got {len(labels)} owners in "
            "'groups'; pass one for every row."
        )
    place: dict[Hashable, int] = {}
    codes = np.array([place.setdefault(label, len(place)) for label in labels])
    if len(place) < 2:
        raise ValueError(
            f"certify with 'groups' needs rows of at least 2 owners. Got 1, {labels[0]!r}, which "
            "does not show how much owners differ. Pass rows of more owners, or leave 'groups' out "
            "if rows to come are drawn like these."
        )
    return labels, codes


def list_owners(groups: Any, name: str) -> list[Hashable]:
    """Return one label for every row, a tuple for several columns; none may be missing."""
    # A list of words and NaN would become an array of words.
    values = np.asarray(groups, dtype=None if hasattr(groups, "dtype") else object)
    if values.ndim not in (1, 2) or not len(values):
        raise ValueError(
            f"The '{name}' parameter of certify must hold the owner of every row, in one column or "
            f"several. Got shape {values.shape} instead."
        )
    columns = values.reshape(len(values), -1)
    missing = sum(any(is_missing(value) for value in row) for row in columns.tolist())
    if missing:
        raise ValueError(
            f"certify needs the owner of every row. Got {missing} rows without one in '{name}'; "
            "leave them out, or give each an owner of its own."
        )
    rows = columns.tolist()
    return [row[0] for row in rows] if columns.shape[1] == 1 else [tuple(row) for row in rows]


def read_moments(time: Any, n: int) -> Moments:
    """Order rows by their moments, equal ones as they came."""
    values = np.asarray(time)
    if values.ndim != 1 or len(values) != n:
        raise ValueError(
            f"certify needs the moment of each of the {n} rows. Got shape {values.shape} in 'time'."
        )
    if values.dtype.kind == "O" and not any(isinstance(value, str) for value in values):
        numbers = _as_numbers(values)
        values = values if numbers is None else numbers
    if values.dtype.kind in "iuf":
        if not np.isfinite(values).all():
            _refuse_missing(int((~np.isfinite(values)).sum()))
        return Moments(_order(values), values.min().item(), values.max().item())
    stamps = _as_dates(values)
    if np.isnat(stamps).any():
        _refuse_missing(int(np.isnat(stamps).sum()))
    start, end = _as_text(stamps)
    return Moments(_order(stamps), start, end)


def _order(values: np.ndarray) -> np.ndarray:
    return np.argsort(values, kind="stable")


def _refuse_missing(count: int) -> None:
    raise ValueError(
        f"certify needs the moment of every row. Got {count} rows without one in 'time'; leave "
        "them out."
    )


def _as_numbers(values: np.ndarray) -> np.ndarray | None:
    """Return numbers that came as objects; None if they are none."""
    from numbers import Real

    rows = [np.nan if is_missing(value) else value for value in values]
    return np.array(rows, dtype=float) if all(isinstance(row, Real) for row in rows) else None


def _as_dates(values: np.ndarray) -> np.ndarray:
    """Read dates of any library, and ISO text, as moments of universal time."""
    import pandas as pd

    if values.dtype.kind == "M":
        return values.astype("datetime64[us]")
    try:
        # Older versions of pandas read str, and not NumPy's subclass of it.
        rows = [str(value) if isinstance(value, str) else value for value in values]
        column = pd.Series(rows, dtype=object)
        text = any(isinstance(value, str) for value in values)
        dates = pd.to_datetime(column, format="ISO8601" if text else None, utc=True)
        return dates.dt.tz_localize(None).to_numpy().astype("datetime64[us]")
    except (TypeError, ValueError, AttributeError) as error:
        raise ValueError(
            "The 'time' parameter of certify must hold numbers, dates or text like 2020-05-01. "
            f"Got {str(values[0])!r}, for instance; pandas.to_datetime reads other text."
        ) from error


def _as_text(stamps: np.ndarray) -> tuple[str, str]:
    """Write the first and the last moment as days, or to the second."""
    ends = np.array([stamps.min(), stamps.max()])
    whole_days = bool((stamps == stamps.astype("datetime64[D]")).all())
    texts = ends.astype("datetime64[D]" if whole_days else "datetime64[s]").astype(str)
    start, end = (text.replace("T", " ") for text in texts)
    return start, end
