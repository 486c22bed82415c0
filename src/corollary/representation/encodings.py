"""Plans by which columns become numbers: learnt on training rows, applied to any row.

Each kind of column has a function that learns its plan and one that applies it; both are pure.
:func:`learn_plan` and :func:`apply_plan` choose by the plan's ``kind``. Plans are plain data.

================  ================================================================================
kind              features
================  ================================================================================
numeric, boolean  the number (filled where missing, see :mod:`corollary.representation.fill`);
                  its logarithm too if it is positive and skewed; an indicator per frequent word
                  among numbers; an indicator of missing values if training rows had any; a 0 far
                  from all other numbers is missing
category          an indicator per level; rare levels share one, unknown levels are rare; with more
                  than ``max_levels`` levels: log frequency and smoothed target statistics instead
date              year, month, day, weekday, time of day (where it varies), seconds since 1970
text              hashed character n-grams, weighted by rarity, projected on their first singular
                  directions
================  ================================================================================
"""

from typing import Any

import numpy as np

from corollary.core.schema import (
    Array,
    Flag,
    List,
    Mapping,
    Number,
    Record,
    Sizes,
    Spec,
    Text,
)
from corollary.representation._kinds import DATE_FORMATS, FEW, Plan
from corollary.representation.column import Column
from corollary.representation.levels import (
    apply_indicators,
    apply_levels,
    learn_indicators,
    learn_levels,
)
from corollary.representation.texts import BUCKETS, apply_text, learn_text

#: Positive numbers more skewed than this get their logarithm as a second feature.
SKEWED = 1.0
#: More zeros than this share, and more than three, are a habit of the data.
FEW_ZEROS = 0.005
#: Features of a date, in order.
DATE_PARTS = (" year", " month", " day", " weekday", " hour", " seconds")

_FINITE = Number(-np.finfo(np.float64).max, np.finfo(np.float64).max)
_RANGE = {"low": _FINITE, "high": _FINITE}
_NUMERIC = {
    "tokens": List(Text()),
    "median": _FINITE,
    "log": Flag(),
    "missing": Flag(),
    **_RANGE,
}
_FIELDS: dict[str, list[dict[str, Spec]]] = {
    "numeric": [_NUMERIC, _NUMERIC | {"zero": Flag()}],
    "boolean": [_NUMERIC],
    "category": [
        {"levels": List(Text(), "l"), "rare": Flag(), "missing": Flag(), "seen": List(Text())},
        {
            "levels": List(Text(), "l"),
            "counts": Array("i", "l", low=0),
            "statistics": Array("f", "l", "k"),
            "prior": Array("f", "k"),
            "missing": Flag(),
        },
    ],
    "date": [
        {
            "format": Text(("", *DATE_FORMATS)),
            "medians": Mapping(_FINITE),
            "missing": Flag(),
            **_RANGE,
        }
    ],
    "text": [{"rarity": Array("f", BUCKETS), "directions": Array("f", "k", BUCKETS)}],
    "empty": [{"why": Text()}],
    "constant": [{"why": Text()}],
    "identifier": [{"why": Text()}],
}


class PlanSpec(Spec):
    """What a saved plan must look like; a file's plan is believed in nothing."""

    def matches(self, value: Any, sizes: Sizes) -> bool:
        """See :class:`corollary.core.schema.Spec`."""
        kind = value.get("kind") if isinstance(value, dict) else None
        common = {
            "kind": Text(),
            "name": Text(),
            "notes": List(Text()),
            "features": List(List(Text())),
        }
        for fields in _FIELDS.get(kind, []) if isinstance(kind, str) else []:
            if Record(**common, **fields).matches(value, {}):
                if value.get("log") and not value["low"] > 0:
                    return False
                pairs = all(
                    len(f) == 2 and f[1] in ("each", "joint", "no") for f in value["features"]
                )
                return pairs and len(value["features"]) == _width(value)
        return False


def _width(plan: Plan) -> int:
    """Count the features :func:`apply_plan` gives."""
    missing = int(plan.get("missing", False))
    if plan["kind"] in ("numeric", "boolean"):
        return 1 + int(plan["log"]) + len(plan["tokens"]) + missing
    if plan["kind"] == "date":
        return len(plan["medians"]) + missing if set(plan["medians"]) <= set(DATE_PARTS) else -1
    if plan["kind"] == "text":
        return plan["directions"].shape[0]
    if "statistics" in plan:
        return 1 + plan["statistics"].shape[1] + missing
    return len(plan["levels"]) + int(plan["rare"]) + missing if plan["kind"] == "category" else 0


def learn_plan(
    plan: Plan,
    column: Column,
    target: np.ndarray | None,
    *,
    max_levels: int,
    dimensions: int,
    seed: int,
) -> Plan:
    """Learn how to encode a column."""
    kind = plan["kind"]
    if kind in ("numeric", "boolean"):
        return plan | _learn_numeric(plan, column)
    if kind == "date":
        return plan | _learn_date(plan, column)
    if kind == "text":
        return plan | learn_text(column.values, dimensions, seed)
    if kind == "category":
        codes, levels = column.strings
        if len(levels) <= max_levels:
            return plan | learn_indicators(codes, levels)
        return plan | learn_levels(codes, levels, target, max_levels)
    return plan | {"features": []}


def apply_plan(plan: Plan, column: Column, *, fill: bool = True) -> np.ndarray:
    """Encode a column."""
    kind = plan["kind"]
    if kind in ("numeric", "boolean"):
        return _apply_numeric(plan, column, fill or kind == "boolean")
    if kind == "date":
        return _apply_date(plan, column)
    if kind == "text":
        return apply_text(plan, column.values)
    if kind == "category":
        codes, levels = column.strings
        if "statistics" in plan:
            return apply_levels(plan, codes, levels)
        return apply_indicators(plan, codes, levels)
    return np.empty((len(column), 0))


def _learn_numeric(plan: Plan, column: Column) -> Plan:
    numbers = column.numbers
    zero = plan["kind"] == "numeric" and zero_means_missing(numbers)
    notes = list(plan["notes"])
    if zero and (n := int((numbers == 0).sum())):
        notes.append(f"0 was read as missing ({n} row{'s' * (n > 1)})")
    numbers = _without_zeros(numbers, zero)
    present = numbers[~np.isnan(numbers)]
    words = _spell_tokens(plan, column)
    features = [["", "each" if plan["kind"] == "numeric" else "no"]]
    log = plan["kind"] == "numeric" and _is_skewed(present)
    features += [[" log", "each"]] * log
    features += [[f"={token}", "no"] for token in plan["tokens"]]
    has_missing = bool((np.isnan(numbers) & ~words.any(axis=1)).any())
    features += [[" missing", "no"]] * has_missing
    return {
        **({"zero": True} if zero else {}),
        "notes": notes,
        "median": float(np.median(present) if plan["kind"] == "numeric" else present.mean() >= 0.5),
        "log": log,
        "low": float(present.min()),
        "high": float(present.max()),
        "missing": has_missing,
        "features": features,
    }


def zero_means_missing(numbers: np.ndarray) -> bool:
    """Tell whether a 0 among these numbers would be a missing value rather than a quantity."""
    present = numbers[~np.isnan(numbers)]
    return is_few(int((present == 0).sum()), len(present)) and stays_away_from_zero(present)


def is_few(count: int, n: int) -> bool:
    """Tell whether so many odd values of n are a mistake rather than a habit of the data.

    Parameters
    ----------
    count : int
        Odd values.
    n : int
        All values.

    Returns
    -------
    few : bool
        At most three, or at most half a percent.

    Examples
    --------
    >>> from corollary.representation import is_few
    >>> is_few(3, 100), is_few(30, 1000)
    (True, False)
    """
    return count <= max(3.0, FEW_ZEROS * n)


def stays_away_from_zero(present: np.ndarray) -> bool:
    """Tell whether numbers, zeros aside, are positive, many, varied and never near 0.

    Parameters
    ----------
    present : ndarray of shape (n,)
        Numbers, none missing.

    Returns
    -------
    away : bool
        Whether an exact 0 among them would look like a missing value.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.representation import stays_away_from_zero
    >>> stays_away_from_zero(np.linspace(5.0, 9.0, 100)), stays_away_from_zero(np.arange(100.0))
    (True, False)
    """
    positive = present[present > 0]
    if len(positive) < 50 or present.min() < 0 or len(np.unique(positive)) < 20:
        return False
    return bool(positive.min() >= 0.2 * np.median(positive))


def _without_zeros(numbers: np.ndarray, zero: bool) -> np.ndarray:
    return np.where(numbers == 0, np.nan, numbers) if zero else numbers


def _apply_numeric(plan: Plan, column: Column, fill: bool) -> np.ndarray:
    numbers = _without_zeros(column.numbers, plan.get("zero", False))
    missing = np.isnan(numbers)
    # One range beyond the training range is as far as any extrapolation is trusted: a slipped
    # decimal point or a huge number must not dominate a prediction.
    reach = plan["high"] - plan["low"]
    filled = np.clip(numbers, plan["low"] - reach, plan["high"] + reach)
    words = _spell_tokens(plan, column)
    unsaid = missing & ~words.any(axis=1)
    filled = np.where(missing if fill else missing & ~unsaid, plan["median"], filled)
    parts = [filled]
    if plan["log"]:
        parts.append(follow_logarithm(plan, filled))
    parts.append(words)
    if plan["missing"]:
        parts.append(unsaid.astype(np.float64))
    return np.column_stack(parts)


def follow_logarithm(plan: Plan, numbers: np.ndarray) -> np.ndarray:
    """Take logarithms, as near to zero as half the smallest training value."""
    return np.log(np.maximum(numbers, plan["low"] / 2))


def _is_skewed(present: np.ndarray) -> bool:
    """Tell whether positive numbers are clearly less skewed on the log scale."""
    if len(present) < FEW or present.min() <= 0:
        return False
    before, after = _skewness(present), _skewness(np.log(present))
    return bool(before > SKEWED and abs(after) < 0.5 * before)


def _skewness(values: np.ndarray) -> float:
    centred = values / np.abs(values).max() if values.any() else values
    centred = centred - centred.mean()
    return float((centred**3).mean() / max((centred**2).mean() ** 1.5, np.finfo(float).tiny))


def _spell_tokens(plan: Plan, column: Column) -> np.ndarray:
    """Mark the frequent words among numbers: one indicator per word."""
    if not plan["tokens"]:
        return np.empty((len(column), 0), dtype=bool)
    codes, levels = column.strings
    place = {level: i for i, level in enumerate(levels)}
    return codes[:, None] == np.asarray([place.get(token, -2) for token in plan["tokens"]])


def _date_parts(seconds: np.ndarray) -> dict[str, np.ndarray]:
    missing = np.isnan(seconds)
    stamps = np.where(missing, 0, seconds).astype(np.int64).astype("datetime64[s]")
    days, months = stamps.astype("datetime64[D]"), stamps.astype("datetime64[M]")
    year = stamps.astype("datetime64[Y]").astype(np.int64) + 1970
    parts = {
        " year": year,
        " month": months.astype(np.int64) % 12 + 1,
        " day": (days - months.astype("datetime64[D]")).astype(np.int64) + 1,
        " weekday": (days.astype(np.int64) + 3) % 7,  # 1970-01-01 was a Thursday; Monday is 0
        " hour": (stamps - days.astype("datetime64[s]")).astype(np.int64) / 3600.0,
        " seconds": stamps.astype(np.int64),
    }
    return {name: np.where(missing, np.nan, part) for name, part in parts.items()}


def _learn_date(plan: Plan, column: Column) -> Plan:
    seconds = column.dates(plan["format"])
    parts = _date_parts(seconds)
    if not np.nanmax(parts[" hour"]) > 0:
        del parts[" hour"]
    missing = bool(np.isnan(seconds).any())
    return {
        "medians": {name: float(np.nanmedian(part)) for name, part in parts.items()},
        "low": float(np.nanmin(seconds)),
        "high": float(np.nanmax(seconds)),
        "missing": missing,
        "features": [[name, "each"] for name in parts] + [[" missing", "no"]] * missing,
    }


def _apply_date(plan: Plan, column: Column) -> np.ndarray:
    seconds = column.dates(plan["format"])
    parts = _date_parts(seconds)
    columns = [np.where(np.isnan(seconds), m, parts[name]) for name, m in plan["medians"].items()]
    if plan["missing"]:
        columns.append(np.isnan(seconds).astype(np.float64))
    return np.column_stack(columns)
