"""Numbers that cannot be right, or that only the reader can judge."""

import re
from collections.abc import Mapping

import numpy as np

from corollary.reporting._records import Finding
from corollary.representation import is_few, stays_away_from_zero

#: Numbers that stand for "unknown" in many files.
SENTINELS = (-1.0, -9.0, -99.0, -999.0, -9999.0, -99999.0, 99.0, 999.0, 9999.0, 99999.0, 999999.0)
#: Zeros of a larger share are a habit of the data, and a question even if contradicted.
SOME_SHARE, CONTRADICTED_SHARE = 0.05, 0.3
#: Without a witness a few zeros are a question only if no other number comes so near to zero: as a
#: share of the median, and in steps of the numbers next to the smallest.
FAR_FROM_ZERO, FAR_IN_STEPS = 0.3, 5.0
#: Rank correlation from which a column can contradict another, and the rank at which it does.
WITNESS, WITNESS_RANK, WITNESS_ROWS = 0.8, 0.15, 5_000
#: Numbers next to the smallest that tell the usual step.
FEW_DISTINCT = 20
#: Names of quantities that have no sign, and of codes that are written as numbers.
_UNSIGNED = re.compile(
    r"(?i)(^|[\W_])(age|years?|price|count|number|weight|height|length|width|duration|distance|area)"
    r"([\W_]|$)"
)
_CODE = re.compile(r"(?i)(^|[\W_])(zip|zip_?code|post_?code|postal|plz|fips|area_?code)([\W_]|$)")
#: Of numbers of both signs, one is isolated beyond so many times the range of the others.
ISOLATED = 20.0


def impossible_zeros(
    name: str,
    numbers: np.ndarray,
    rows: np.ndarray,
    columns: Mapping[str, np.ndarray] | None = None,
) -> list[Finding]:
    """Find exact zeros in a column whose other values stay well away from zero.

    They are called wrong only if a column that otherwise moves along contradicts them (a stone of
    common weight and no length). Without such a witness a few are a question where they stand
    apart; an index whose worst rows are 0, and years of service, do not.
    """
    present = numbers[~np.isnan(numbers)]
    positive = present[present > 0]
    zeros = np.flatnonzero(numbers == 0)
    share = len(zeros) / max(len(present), 1)
    if not 0 < share <= CONTRADICTED_SHARE or not stays_away_from_zero(present):
        return []
    n = len(zeros)
    witness = _witness(name, numbers, columns or {})
    if witness is None and not (is_few(n, len(present)) and _stand_apart(positive)):
        return []
    sentence = (
        f"{name!r} is exactly 0 in {n} row{'s' * (n > 1)}; its other values lie between "
        f"{positive.min():.3g} and {positive.max():.3g}. "
    )
    if witness is not None:
        sentence += f"{witness!r}, which otherwise moves along with it, is not unusual there"
    sure = witness is not None and share <= SOME_SHARE
    if sure:
        sentence += ": a zero is probably a missing value. If so, leave such fields empty."
    else:
        sentence += ". " * (witness is not None)
        sentence += "Does a zero there mean none, or that the value is missing?"
    kind = "impossible-value" if sure else "possible-code"
    return [Finding(kind, sentence, sure, (name,), _positions(rows, zeros))]


def _stand_apart(positive: np.ndarray) -> bool:
    """Tell whether zero lies far below the positive numbers of a column."""
    smallest = np.unique(positive)[:FEW_DISTINCT]
    step = float(np.median(np.diff(smallest)))
    far = smallest[0] >= FAR_FROM_ZERO * np.median(positive)
    return bool(far and smallest[0] >= FAR_IN_STEPS * step)


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


def lone_negatives(name: str, numbers: np.ndarray, rows: np.ndarray) -> list[Finding]:
    """Find a few negative numbers among others that are not, where they stand apart.

    They stand apart if the name says that the quantity has no sign, or if they lie below all other
    numbers by more than half of their spread.
    """
    present = numbers[~np.isnan(numbers)]
    below, others = present[present < 0], present[present >= 0]
    if not len(below) or len(others) < 20 or not is_few(len(below), len(present)):
        return []
    apart = others.min() - below.max() > 0.5 * float(np.std(others))
    if not apart and not _UNSIGNED.search(name):
        return []
    n = len(below)
    sentence = (
        f"{name!r} is below 0 in {n} row{'s' * (n > 1)} (down to {below.min():.3g}); all others "
        f"lie between {others.min():.3g} and {others.max():.3g}. Is that right?"
    )
    mine = np.flatnonzero(numbers < 0)
    return [Finding("impossible-sign", sentence, False, (name,), _positions(rows, mine))]


def codes_as_numbers(name: str, numbers: np.ndarray) -> list[Finding]:
    """Ask about whole numbers whose name says that they are a code, such as a postal one."""
    present = numbers[~np.isnan(numbers)]
    if not _CODE.search(name) or (present != np.round(present)).any():
        return []
    sentence = (
        f"{name!r} is read as a quantity, though its name says that it is a code. If so, write its "
        "values with a letter in front, so that they count as names."
    )
    return [Finding("code-as-number", sentence, columns=(name,))]


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


def _positions(rows: np.ndarray, chosen: np.ndarray) -> tuple[int, ...]:
    return tuple(int(r) for r in rows[chosen][:20])
