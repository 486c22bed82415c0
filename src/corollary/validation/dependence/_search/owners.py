"""Columns that may name an owner of several rows."""

import re
from collections.abc import Sequence

import numpy as np

from corollary.validation.dependence._hashes import count_equal_pairs, hash_columns, number_units
from corollary.validation.dependence._search.candidate import Candidate
from corollary.validation.dependence._search.table import Reading, pairs_of
from corollary.validation.dependence.records import Sign, Unit
from corollary.validation.dependence.sizes import even_sizes_p_value

#: The sign that owners have columns of their own.
FIXED: Sign = "fixed columns"
#: Names that owners of rows often have.
OWNER_NAME = re.compile(
    r"(^|[_\W])(id|ids|code|key|no|nr|num|number|uuid|user|subject|patient|person|customer|"
    r"client|owner|animal|name)$|[a-z](ID|Id|Code|No)$",
    re.IGNORECASE,
)


def find_owners(
    table: Reading,
    usable: Sequence[int],
    dated: tuple[int, ...],
    y: np.ndarray,
    measured: np.ndarray,
) -> list[Candidate]:
    """List the columns that may name an owner of several rows."""
    n = table.n_rows
    whole_or_text = [j for j in usable if table.kinds[j] in ("whole", "text")]
    named = [j for j in whole_or_text if table.n_values[j] <= n / 2]  # pairs are the least
    fixed = {j: table.fixed_within(j) for j in named}
    candidates = []
    for j in named:
        present = table.codes[:, j] >= 0
        size = np.bincount(table.codes[present, j])
        if (size > 1).sum() < 5 or size.max() > n / 3:
            continue
        signs = _design(table, j, usable, dated, fixed[j], size)
        called = bool(OWNER_NAME.search(table.names[j]))
        holds = table.n_values[j] >= 10 and any(
            2 * table.n_values[j] <= table.n_values[k] and fixed[k][j] > 0.98
            for k in named
            if k != j
        )
        if table.kinds[j] == "text":
            # Good and Turing: the share of values that occur once is that of new values.
            if table.n_values[j] >= 20 and (size == 1).sum() >= 0.01 * n:
                signs = (*signs, "new values")
            eligible = _text_may_own(table, j, signs, called) or holds
            # Codes along which the target moves smoothly are grades.
            eligible = eligible and (bool(signs) or not _is_scale(table, j, y, measured))
        else:
            few = table.n_values[j] < 20 and not holds
            eligible = FIXED in signs or not (
                j in dated or few or (not signs and _is_scale(table, j, y, measured))
            )
        if eligible:
            candidates.append(_owned(table, j, signs, called))
    return candidates


def _owned(table: Reading, j: int, signs: tuple[Sign, ...], called: bool) -> Candidate:
    """Make a candidate of an owner; rows without one are units of their own."""
    codes = table.codes[:, j].copy()
    missing = np.flatnonzero(codes < 0)
    codes[missing] = codes.max() + 1 + np.arange(len(missing))
    codes = number_units(codes)
    n_runs = 1 + int((np.diff(codes) != 0).sum())
    together = n_runs < 1.5 * table.n_values[j]
    return Candidate(
        Unit("owner", (table.names[j],), codes, signs=signs),
        scale=None if table.kinds[j] == "text" else table.features[:, j],
        columns=(j,),
        rank=int(together) + int(called),
    )


def _design(
    table: Reading,
    j: int,
    usable: Sequence[int],
    dated: tuple[int, ...],
    fixed: np.ndarray,
    size: np.ndarray,
) -> tuple[Sign, ...]:
    """Collect evidence, without a model, that rows were collected owner by owner."""
    signs: list[Sign] = []
    n_values = table.n_values
    if even_sizes_p_value(size) < 0.001:
        signs.append("even sizes")
    if any(
        k != j
        and fixed[k] > 0.98
        and table.chance[k] < 0.7
        and n_values[k] > 2
        and (n_values[k] >= max(6, n_values[j] / 4) or n_values[j] >= 100)
        and not table.alike(j, k)
        for k in usable
    ):
        signs.append(FIXED)
    for t in dated:
        both = count_equal_pairs(hash_columns(table.codes, [j, t]).sum(axis=1))
        if t != j and 20 * both + 10 < pairs_of(table.codes[:, j]) * table.chance[t]:
            signs.append("one row a moment")
    return tuple(signs)


def _text_may_own(table: Reading, j: int, signs: tuple[Sign, ...], called: bool) -> bool:
    """Whether a text names owners and not one of a closed set of kinds."""
    if table.n_values[j] >= 20 and (called or table.has_digits[j]):
        return True
    return bool(signs) and bool(table.n_values[j] >= 10)


def _is_scale(table: Reading, j: int, y: np.ndarray, measured: np.ndarray) -> bool:
    """Whether the target moves smoothly along the values: then they measure, and do not name."""
    from scipy.stats import rankdata

    values = table.numbers[measured, j]
    present = ~np.isnan(values)
    order, where = np.unique(values[present], return_inverse=True)
    targets = y[measured][present]
    for column in targets.T:
        means = rankdata(np.bincount(where, weights=column) / np.bincount(where))
        if len(order) > 2 and np.ptp(means[1:]) > 0 and np.ptp(means[:-1]) > 0:
            correlation = np.corrcoef(means[1:], means[:-1])[0, 1]
            if correlation > max(0.3, 3 / np.sqrt(len(means))):
                return True
    return False
