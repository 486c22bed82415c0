"""Partitions of the rows that may matter, found without a model."""

from collections.abc import Sequence

import numpy as np

from corollary.validation.dependence._search.blocks import find_blocks
from corollary.validation.dependence._search.candidate import Candidate
from corollary.validation.dependence._search.owners import find_owners
from corollary.validation.dependence._search.table import Reading, rank_correlation
from corollary.validation.dependence._search.times import Moment, find_moment, find_order
from corollary.validation.dependence.moments import serial_correlation, stretches
from corollary.validation.dependence.near_copies import near_copies
from corollary.validation.dependence.records import Sign, Unit, UnitKind

#: Kinds of units in the order in which they are measured.
ORDER: tuple[UnitKind, ...] = ("copies", "joined", "near copies", "owner", "time", "order")
#: Candidates that are measured at most.
MOST_MEASURED = 6


def find_candidates(table: Reading, y: np.ndarray, measured: np.ndarray) -> list[Candidate]:
    """List what may matter; the targets of the measured rows only are read."""
    moment = find_moment(table)
    dated = () if moment is None or not moment.certain else (moment.column,)
    usable = [
        j
        for j in range(len(table.names))
        if not (table.kinds[j] != "number" and table.n_values[j] == table.n_rows)
    ]
    candidates = [] if moment is None else [_timed(table, moment)]
    if find_order(table) and _moves_slowly(table, y, measured):
        candidates.append(_ordered(table))
    free = [j for j in usable if j not in dated]
    for block in find_blocks(table, free):
        kind: UnitKind = "copies" if block.whole else "joined"
        names = tuple(table.names[j] for j in block.columns)
        unit = Unit(kind, names, block.codes, signs=("agreement",))
        candidates.append(Candidate(unit, columns=block.columns))
    close = _near(table, free)
    if close is not None:
        candidates.append(Candidate(Unit("near copies", (), close, signs=("closeness",))))
    return candidates + find_owners(table, usable, dated, y, measured)


def _timed(table: Reading, moment: Moment) -> Candidate:
    """Make a candidate of the column that says when."""
    moments = table.numbers[:, moment.column]
    signs: tuple[Sign, ...] = ("dated",) if moment.certain else ()
    unit = Unit("time", (table.names[moment.column],), stretches(moments), moments, signs)
    return Candidate(unit, columns=(moment.column,), forward=moment.certain)


def _ordered(table: Reading) -> Candidate:
    """Make a candidate of the order of the rows."""
    order = np.arange(table.n_rows, dtype=np.float64)
    free = all(abs(r) < 0.9 for r in _with_row_number(table))
    return Candidate(Unit("order", (), stretches(order), order), forward=free)


def _with_row_number(table: Reading) -> list[float]:
    """Correlate ranks of numbers with the row number."""
    order = np.arange(table.n_rows) - (table.n_rows - 1) / 2
    kept = [j for j, kind in enumerate(table.kinds) if kind != "text"]
    return [rank_correlation(table.ranks[:, j], order) for j in kept]


def _moves_slowly(table: Reading, y: np.ndarray, measured: np.ndarray) -> bool:
    """Whether anything changes slowly along the file, which is not merely sorted by the target."""
    target = y[measured] @ np.arange(1, y.shape[1] + 1)
    steps, n_values = np.diff(target), len(np.unique(target))
    n_runs = 1 + int((steps != 0).sum())
    if min((steps < 0).mean(), (steps > 0).mean()) < 0.02 and (
        n_values > 20 or 1 < n_runs <= 3 * n_values
    ):
        return False
    p_values = [serial_correlation(column)[1] for column in (*y[measured].T, *table.numbers.T)]
    return min(p_values) < 0.01 / len(p_values)


def _near(table: Reading, columns: Sequence[int]) -> np.ndarray | None:
    """Give units to near copies, if there are columns fine enough to see them and any are seen."""
    fine = [j for j in columns if table.kinds[j] != "text" and table.n_values[j] > table.n_rows / 5]
    if len(fine) < 3:  # on fewer fine scales rows come close by chance
        return None
    codes = near_copies(table.numbers[:, fine])
    return codes if codes.max() + 1 < len(codes) else None
