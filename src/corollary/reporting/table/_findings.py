"""What is odd about a table, in sentences a reader can check.

A finding asks the reader to act only when values are wrong under any reading we can think of (a
length of zero among lengths, a code such as 9999 among measurements). Everything else is a
question or a harmless fact.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from corollary.reporting._records import Finding
from corollary.reporting.table._split import Split
from corollary.reporting.table._target import Target
from corollary.representation import (
    Column,
    ColumnContent,
    ColumnTable,
    is_few,
    stays_away_from_zero,
)

_WORD = re.compile(r"\w+")
#: Numbers that stand for "unknown" in many files.
SENTINELS = (-1.0, -9.0, -99.0, -999.0, -9999.0, -99999.0, 99.0, 999.0, 9999.0, 99999.0, 999999.0)
#: A few odd values are a mistake; many are a habit of the data. In between, zeros are a question,
#: unless another column that otherwise moves along says that they are wrong.
SOME_SHARE, CONTRADICTED_SHARE = 0.05, 0.3
#: Rank correlation from which a column can contradict another, and the rank at which it does.
WITNESS, WITNESS_RANK, WITNESS_ROWS = 0.8, 0.15, 5_000
#: Of numbers of both signs, one is isolated beyond so many times the range of the others.
ISOLATED = 20.0
#: A column predicts alone when it leaves at most this share of the baseline's errors.
ALONE = 0.03
#: Words of a text column that are tried as predictors, the most frequent first, and the least and
#: largest share of rows that hold them.
MOST_WORDS, LEAST_SHARE, LARGEST_SHARE = 200, 0.02, 0.98
#: Distinct moments from which a column can put the rows in order.
FEWEST_MOMENTS = 10
#: Levels from which a category may name who or what a row is about, and rows of each, on average.
FEWEST_OWNERS, FEWEST_ROWS_EACH, MOST_ROWS_EACH = 20, 2, 50
#: Rows on which single columns are tried as predictors.
ALONE_ROWS = 20_000


def find_oddities(
    table: ColumnTable, plans: dict[str, ColumnContent], target: Target, split: Split
) -> list[Finding]:
    """List what a reader should know about the data."""
    from pandas.api import types

    act, ask, know = [], [], []
    numeric = {
        column.name: column.numbers
        for column in table.columns
        if plans[column.name].kind == "numeric" and not plans[column.name].why
    }
    for column in table.columns:
        name, plan = column.name, plans[column.name]
        if name in numeric:
            zeros = impossible_zeros(name, numeric[name], target.rows, numeric)
            act += [finding for finding in zeros if finding.act]
            ask += [finding for finding in zeros if not finding.act]
            act += sentinel_values(name, numeric[name], target.rows)
            ask += isolated_values(name, numeric[name], target.rows)
        if not plan.why and predicts_alone(column, plan, target):
            ask.append(
                Finding(
                    "predicts-alone",
                    f"{name!r} alone predicts {target.name!r} almost perfectly. Is it known before "
                    "the target is? If it is a consequence of the target, leave it out.",
                    columns=(name,),
                )
            )
        # Notes of a column of numbers that did not arrive as such are about its other words.
        mixed = plan.kind == "numeric" and not types.is_numeric_dtype(column.values.dtype)
        know += [
            Finding(
                "mixed-column" if mixed else "column-note",
                f"{name!r}: {note}.",
                columns=(name,),
            )
            for note in plan.notes
        ]
        if plan.kind == "category" and not plan.why:
            codes, levels = column.strings
            ask += alike_values(name, levels)
            ask += shared_owners(name, codes, len(levels), split)
    ask += alike_values(target.name, target.classes)
    ask += time_order(table, plans)
    know += _twins(split, len(table))
    know += _missing(table, plans, target)
    know += _unused(plans)
    know += _rare_classes(target)
    know += [Finding("target-note", note, columns=(target.name,)) for note in target.notes]
    return act + ask + know


def impossible_zeros(
    name: str,
    numbers: np.ndarray,
    rows: np.ndarray,
    columns: Mapping[str, np.ndarray] | None = None,
) -> list[Finding]:
    """Find exact zeros in a column whose other values stay well away from zero.

    Very few are called wrong, as are more if a column that otherwise moves along contradicts them
    (a stone of common weight and no length); some without such a witness are a question.
    """
    present = numbers[~np.isnan(numbers)]
    positive = present[present > 0]
    zeros = np.flatnonzero(numbers == 0)
    share = len(zeros) / max(len(present), 1)
    if not 0 < share <= CONTRADICTED_SHARE or not stays_away_from_zero(present):
        return []
    n = len(zeros)
    few = is_few(n, len(present))
    witness = None if few else _witness(name, numbers, columns or {})
    if not few and witness is None and share > SOME_SHARE:
        return []
    sentence = (
        f"{name!r} is exactly 0 in {n} row{'s' * (n > 1)}; its other values lie between "
        f"{positive.min():.3g} and {positive.max():.3g}. "
    )
    if few:
        sentence += "A zero there is probably a missing value."
    elif witness is not None:
        sentence += (
            f"{witness!r}, which otherwise moves along with it, is not unusual there: a zero is "
            "probably a missing value."
        )
    else:
        sentence += "Does a zero there mean none, or that the value is missing?"
    sure = few or witness is not None
    kind = "impossible-value" if sure else "possible-code"
    return [Finding(kind, sentence, sure, (name,), _positions(rows, zeros))]


def _witness(name: str, numbers: np.ndarray, columns: Mapping[str, np.ndarray]) -> str | None:
    """Name the column that moves most along with this one and contradicts its zeros."""
    from scipy.stats import rankdata

    sample = np.flatnonzero(numbers > 0)[:WITNESS_ROWS]
    zeros = np.flatnonzero(numbers == 0)
    best, strongest, mine = None, WITNESS, rankdata(numbers[sample])
    for other, values in columns.items():
        if other == name or np.isnan(values[sample]).any() or np.ptp(values[sample]) == 0:
            continue
        correlation = float(np.corrcoef(mine, rankdata(values[sample]))[0, 1])
        known = values[zeros][~np.isnan(values[zeros])]
        if not len(known):
            continue
        place = np.searchsorted(np.sort(values[sample]), known, side="right") / len(sample)
        place = np.median(place if correlation > 0 else 1.0 - place)
        if abs(correlation) >= strongest and place >= WITNESS_RANK:
            best, strongest = other, abs(correlation)
    return best


def sentinel_values(name: str, numbers: np.ndarray, rows: np.ndarray) -> list[Finding]:
    """Find codes for "unknown", such as 9999, far outside all other values."""
    present = numbers[~np.isnan(numbers)]
    found: list[Finding] = []
    if len(present) < 20:
        return found
    for end in (present.min(), present.max()):
        others = present[present != end]
        mine = np.flatnonzero(numbers == end)
        if end not in SENTINELS or len(mine) < 2 or len(np.unique(others)) < 10:
            continue
        spread = others.max() - others.min()
        gap = min(abs(end - others.min()), abs(end - others.max()))
        # -1 lies close to small measurements: it counts only where nothing else is negative.
        lone_negative = end < 0 and others.min() >= 0
        if gap > spread or (lone_negative and end in (-9.0, -99.0, -999.0, -9999.0, -99999.0)):
            sentence = (
                f"{name!r} is {end:g} in {len(mine)} rows, far from its other values "
                f"({others.min():.3g} to {others.max():.3g}). It looks like a code for "
                "a missing value."
            )
            found.append(Finding("sentinel-value", sentence, True, (name,), _positions(rows, mine)))
    return found


def isolated_values(name: str, numbers: np.ndarray, rows: np.ndarray) -> list[Finding]:
    """Find at most three values far beyond all others, on the plain and on the log scale."""
    present = np.flatnonzero(~np.isnan(numbers))
    values = numbers[present]
    positive = values[values > 0]
    if len(values) < 200 or len(np.unique(values)) < 50:
        return []
    if len(positive) < 0.9 * len(values):
        return _isolated_either_way(name, numbers, present, rows)
    order = np.sort(positive)
    for k in (3, 2, 1):
        below, above = order[-k - 1], order[-k]
        low = order[0]
        wide = above - below > 2.0 * (below - low)
        wide_log = np.log(above / below) > 0.5 * np.log(below / low) if below > low else False
        if wide and wide_log:
            mine = present[values >= above]
            sentence = (
                f"{name!r} reaches {order[-1]:.3g} while all but {k} of its values stay at or "
                f"below {below:.3g}. Is that right?"
            )
            return [Finding("isolated-value", sentence, False, (name,), _positions(rows, mine))]
    return []


def _isolated_either_way(
    name: str, numbers: np.ndarray, present: np.ndarray, rows: np.ndarray
) -> list[Finding]:
    """Find values far beyond all others where there is no log scale to judge them on."""
    values = np.sort(numbers[present])
    for side in (1, -1):
        order = values if side > 0 else -values[::-1]
        for k in (3, 2, 1):
            below, above = order[-k - 1], order[-k]
            if above - below > ISOLATED * (below - order[0]):
                mine = present[side * numbers[present] >= above]
                beyond = "at or below" if side > 0 else "at or above"
                sentence = (
                    f"{name!r} reaches {side * order[-1]:.3g} while all but {k} of its values stay "
                    f"{beyond} {side * below:.3g}. Is that right?"
                )
                return [Finding("isolated-value", sentence, False, (name,), _positions(rows, mine))]
    return []


def predicts_alone(column: Column, plan: ColumnContent, target: Target) -> bool:
    """Tell whether one column leaves next to nothing of the target unexplained."""
    n = min(len(column), ALONE_ROWS)
    if n < 30:
        return False
    y = target.values[:n]
    if n < len(column):
        column = column.take(np.arange(n))
    if plan.kind == "text":
        return target.task == "classification" and any(
            _explains(codes, y, target) for codes in _frequent_words(*column.strings)
        )
    if plan.kind in ("numeric", "boolean", "date"):
        numbers = column.dates(plan.date_format) if plan.kind == "date" else column.numbers
        if target.task == "regression":
            return _follows(numbers, y)
        if len(np.unique(numbers[~np.isnan(numbers)])) > n // 10:
            wrong = _neighbour_errors(numbers, y, len(target.classes))
            return bool(wrong <= ALONE * (n - np.bincount(y).max()))
        codes = np.unique(numbers, return_inverse=True)[1]
    else:
        codes = column.strings[0]
    return _explains(codes, y, target)


def _explains(codes: np.ndarray, y: np.ndarray, target: Target) -> bool:
    """Tell whether levels, learnt on one half of the rows, explain the other half."""
    codes = np.where(codes < 0, codes.max() + 1, codes)
    half = np.arange(len(y)) % 2 == 0
    left, total = 0.0, 0.0
    for learn in (half, ~half):
        left += _table_errors(codes[learn], y[learn], codes[~learn], y[~learn], target)
        total += _table_errors(
            np.zeros(learn.sum(), int), y[learn], np.zeros((~learn).sum(), int), y[~learn], target
        )
    return bool(total > 0 and left <= ALONE * total)


def _frequent_words(codes: np.ndarray, texts: list[str]) -> Iterator[np.ndarray]:
    """Give for each frequent word of a text which rows hold it: 1, 0, or -1 for no text."""
    words = [set(_WORD.findall(text.lower())) for text in texts]
    frequency = np.bincount(codes[codes >= 0], minlength=len(texts))
    shares: Counter[str] = Counter()
    for here, n in zip(words, frequency):
        shares.update(dict.fromkeys(here, int(n)))
    for word, n in shares.most_common(MOST_WORDS):
        if LEAST_SHARE <= n / len(codes) <= LARGEST_SHARE:
            yield np.asarray([*(word in here for here in words), -1], dtype=np.int64)[codes]


def time_order(table: ColumnTable, plans: dict[str, ColumnContent]) -> list[Finding]:
    """Find the column of dates or years by which the rows of the file are sorted."""
    for column in table.columns:
        name, plan = column.name, plans[column.name]
        if plan.kind == "date":
            moments = column.dates(plan.date_format)
        elif plan.kind == "numeric":
            moments = column.numbers
            if not np.nanmin(moments) >= 1500 or not np.nanmax(moments) <= 2200:
                continue
        else:
            continue
        steps = np.diff(moments)
        sorted_ = (steps >= 0).all() or (steps <= 0).all()
        if not sorted_ or len(np.unique(moments)) < FEWEST_MOMENTS:
            continue
        sentence = (
            f"The rows are in order of {name!r} and were dealt at random, so the test rows lie "
            "among the training rows in time. Is the model meant for later rows? They may be "
            "harder: test it on the latest rows, kept aside."
        )
        return [Finding("time-order", sentence, columns=(name,))]
    return []


def shared_owners(name: str, codes: np.ndarray, n_levels: int, split: Split) -> list[Finding]:
    """Find a category that may say whose rows these are, where test rows share it with others."""
    each = np.sum(codes >= 0) / max(n_levels, 1)
    if n_levels < FEWEST_OWNERS or not FEWEST_ROWS_EACH <= each <= MOST_ROWS_EACH:
        return []
    tested = codes[split.test]
    share = float(np.mean((tested >= 0) & np.isin(tested, codes[split.train])))
    if share < 0.5:
        return []
    sentence = (
        f"{name!r} has {n_levels:,} values in about {each:.0f} rows each, and {share:.0%} of the "
        "test rows share theirs with a training row. Will new rows bring new values of it? They "
        "may be harder."
    )
    return [Finding("shared-owner", sentence, columns=(name,))]


def _follows(numbers: np.ndarray, y: np.ndarray) -> bool:
    """Tell whether the target is nearly a monotone function of the column."""
    known = ~np.isnan(numbers)
    if known.sum() < 30 or len(np.unique(numbers[known])) < 10:
        return False
    from scipy.stats import spearmanr

    return bool(abs(spearmanr(numbers[known], y[known]).statistic) >= 0.995)


def _neighbour_errors(numbers: np.ndarray, y: np.ndarray, n_classes: int) -> int:
    """Rows whose class differs from that of most of their two neighbours on either side."""
    order = np.argsort(np.where(np.isnan(numbers), np.inf, numbers), kind="stable")
    labels = y[order]
    votes = np.zeros((len(y), n_classes))
    for shift in (1, 2):
        votes[np.arange(len(y) - shift), labels[shift:]] += 1.0
        votes[np.arange(shift, len(y)), labels[:-shift]] += 1.0
    return int((votes.argmax(axis=1) != labels).sum())


def _table_errors(
    codes: np.ndarray, y: np.ndarray, new_codes: np.ndarray, new_y: np.ndarray, target: Target
) -> float:
    """Errors (squared errors) on new rows of the best constant per level, learnt on others."""
    n_codes = int(max(codes.max(initial=0), new_codes.max(initial=0))) + 1
    if target.task == "regression":
        sums = np.bincount(codes, weights=y, minlength=n_codes)
        counts = np.bincount(codes, minlength=n_codes)
        best = np.where(counts > 0, sums / np.maximum(counts, 1), y.mean())
        return float(((new_y - best[new_codes]) ** 2).sum())
    k = len(target.classes)
    counts = np.bincount(codes * k + y, minlength=n_codes * k).reshape(n_codes, k)
    best_class = np.where(counts.sum(axis=1) > 0, counts.argmax(axis=1), np.bincount(y).argmax())
    return float((new_y != best_class[new_codes]).sum())


def _twins(split: Split, n: int) -> list[Finding]:
    found = []
    if split.n_across:
        found.append(
            Finding(
                "twins-across-split",
                f"{split.n_across:,} test rows have an identical twin among the rows trained or "
                "calibrated on; these data repeat by nature.",
            )
        )
    elif split.n_twins:
        found.append(
            Finding(
                "duplicate-rows",
                f"{split.n_twins:,} of {n:,} rows have an identical twin; twins were kept on the "
                "same side of the split.",
            )
        )
    return found


def _missing(table: ColumnTable, plans: dict[str, ColumnContent], target: Target) -> list[Finding]:
    found = []
    if target.n_dropped:
        n = target.n_dropped
        sentence = (
            f"{n:,} row{'s' * (n > 1)} without {_value(target)} {target.name!r} "
            f"{'were' if n > 1 else 'was'} left out."
        )
        found.append(Finding("missing-target", sentence, columns=(target.name,)))
    gaps = {column.name: int(column.values.isna().sum()) for column in table.columns}
    gaps = {name: n for name, n in gaps.items() if n and plans[name].kind != "empty"}
    if gaps:
        worst = max(gaps, key=lambda c: gaps[c])
        share = gaps[worst] / len(table)
        sentence = (
            f"{len(gaps)} column{'s have' if len(gaps) > 1 else ' has'} missing values; most of "
            f"all {worst!r} ({share:.0%} of rows). Missing numbers were filled by what the other "
            "numbers of the row tell, or by the median, and marked."
        )
        found.append(Finding("missing-values", sentence, columns=tuple(gaps)))
    return found


def _value(target: Target) -> str:
    return "a value of" if target.classes else "a number in"


def _unused(plans: dict[str, ColumnContent]) -> list[Finding]:
    kinds = {"empty": "empty-column", "constant": "constant-column", "identifier": "identifier"}
    return [
        Finding(
            kinds.get(plan.kind, "row-number"),
            f"{name!r} is not used: {plan.why}.",
            columns=(name,),
        )
        for name, plan in plans.items()
        if plan.why
    ]


def alike_values(name: str, values: Sequence[str]) -> list[Finding]:
    """Find categories that differ in nothing but capitals and spaces."""
    alike: dict[str, list[str]] = {}
    for value in values:
        alike.setdefault(" ".join(value.split()).casefold(), []).append(value)
    groups = [group for group in alike.values() if len(group) > 1]
    if not groups:
        return []
    pairs = "; ".join(", ".join(map(repr, group)) for group in groups[:3])
    more = f" and {len(groups) - 3} more" * (len(groups) > 3)
    sentence = (
        f"{name!r} holds values that differ in nothing but capitals and spaces: {pairs}{more}. "
        "Should they be one? They were read as different."
    )
    return [Finding("alike-values", sentence, columns=(name,))]


def _rare_classes(target: Target) -> list[Finding]:
    if target.task != "classification":
        return []
    counts = np.bincount(target.values, minlength=len(target.classes))
    rare = [(target.classes[i], int(c)) for i, c in enumerate(counts) if c < 10]
    if not rare:
        return []
    names = ", ".join(f"{name!r} ({c})" for name, c in rare[:5]) + ", ..." * (len(rare) > 5)
    sentence = f"Classes with fewer than 10 rows: {names}. Little can be said about them."
    return [Finding("rare-class", sentence, columns=(target.name,))]


def _positions(rows: np.ndarray, chosen: np.ndarray) -> tuple[int, ...]:
    return tuple(int(r) for r in rows[chosen][:20])
