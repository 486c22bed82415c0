"""Groups of test rows, cut by one column: its categories, or the thirds of its range."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from corollary.reporting._records import Evidence
from corollary.reporting.trust._pieces import Pieces

#: Pieces of evidence that a group and its complement must have.
LEAST_ROWS = 20
MOST_LEVELS = 20
#: Numbers of at most so many values, such as 0 and 1, are cut by these; so many rows tell.
FEW_VALUES, MANY_LOOKED = 6, 1_000
# Groups are sought in at most so many rows, evenly spaced: more would find smaller weaknesses
# than a reader can act on, at the price of a slow page.
MOST_ROWS = 20_000


@dataclass(frozen=True)
class Group:
    """Rows that one column has in common."""

    column: str
    part: Literal["lowest", "middle", "highest", "missing", "level"]
    ends: tuple[float, float] = (0.0, 0.0)  # where the thirds of a numeric column meet
    level: Any = None  # the category


@dataclass(frozen=True, eq=False)
class Groups:
    """Groups, and which of the looked-at rows belong to them."""

    groups: tuple[Group, ...]
    members: np.ndarray  # one line for each group
    picked: slice  # the rows that were looked at


def find_groups(evidence: Evidence) -> Groups:
    """Cut the test rows by one column after the other."""
    picked = slice(None, None, -(-len(evidence.test.truth) // MOST_ROWS) or None)
    kinds = {c.name: c.kind for c in evidence.profile.columns if c.used}
    pieces = Pieces.of(evidence).take(picked)
    groups: list[Group] = []
    members: list[np.ndarray] = []
    for column, values in evidence.test.table.items():
        if column not in kinds:
            continue
        many = kinds[column] == "numeric" and len(set(values[:MANY_LOOKED])) > FEW_VALUES
        cut = _thirds if many else _levels
        for group, inside in cut(column, values[picked]):
            if min(_count(pieces, inside), _count(pieces, ~inside)) >= LEAST_ROWS:
                groups.append(group)
                members.append(inside)
    table = np.array(members, dtype=bool).reshape(len(members), pieces.n_rows)
    return Groups(tuple(groups), table, picked)


def _count(pieces: Pieces, inside: np.ndarray) -> int:
    return int(inside.sum()) if pieces.units is None else pieces.take(inside).n


def _thirds(column: str, values: Sequence[Any]) -> list[tuple[Group, np.ndarray]]:
    try:
        numbers = np.array(values, dtype=float)
    except (TypeError, ValueError):
        known_or_none = [_known(v) for v in values]
        if not all(v is None or isinstance(v, int | float | np.number) for v in known_or_none):
            return _levels(column, values)
        numbers = np.array(known_or_none, dtype=float)
    known = numbers[np.isfinite(numbers)]
    if len(known) < 3 * LEAST_ROWS:
        return []
    a, b = (float(v) for v in np.quantile(known, [1 / 3, 2 / 3]))
    return [
        (Group(column, "lowest", (a, b)), numbers <= a),
        (Group(column, "middle", (a, b)), (numbers > a) & (numbers <= b)),
        (Group(column, "highest", (a, b)), numbers > b),
        (Group(column, "missing"), ~np.isfinite(numbers)),
    ]


def _levels(column: str, values: Sequence[Any]) -> list[tuple[Group, np.ndarray]]:
    known = [v if isinstance(v, str) else _known(v) for v in values]
    sizes = Counter(known)
    order = sorted(sizes, key=lambda v: (-sizes[v], str(v)))[:MOST_LEVELS]
    numbers = {level: i for i, level in enumerate(order)}
    place = np.array([numbers.get(v, -1) for v in known])
    return [
        (Group(column, "level", level=level), place == i)
        for i, level in enumerate(order)
        if sizes[level] >= LEAST_ROWS
    ]


def _known(value: Any) -> Any:
    """Give a value of the data, or None where it is missing; what is not plain becomes text."""
    if isinstance(value, str | int | float | np.generic):
        return value if value == value else None
    text = str(value)
    return None if value is None or text in ("NaT", "<NA>") else text
