"""Numbers and names as a reader wants to see them.

Two or three significant digits, never six; the two ends of an interval rounded outwards, so that
rounding never makes a claim stronger than what was computed; true minus signs; thousands
separated by commas. Everything here is pure and returns plain strings.
"""

import math
import re
import statistics
from collections.abc import Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from typing import Any, Literal

from corollary.core.display import clean

Direction = Literal["nearest", "down", "up"]

_ROUNDING = {"nearest": ROUND_HALF_EVEN, "down": ROUND_FLOOR, "up": ROUND_CEILING}
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
MINUS = "−"


def fixed(value: float, decimals: int, direction: Direction = "nearest") -> str:
    """Write a number with a fixed number of decimals."""
    # Twelve digits first: 0.1 + 0.2 must not be rounded up to 0.31.
    exact = Decimal(f"{value:.12g}")
    step = Decimal(1).scaleb(-decimals)
    rounded = (exact / step).quantize(Decimal(1), rounding=_ROUNDING[direction]) * step
    if rounded == 0:
        rounded = abs(rounded)  # no negative zero
    text = f"{rounded:,.{max(decimals, 0)}f}"
    return text.replace("-", MINUS)


def decimals_for(scale: float, digits: int = 2) -> int:
    """Count the decimals that show ``digits`` significant digits of ``scale``."""
    if not math.isfinite(scale) or scale == 0:
        return 0
    return digits - 1 - math.floor(math.log10(abs(scale)))


def _decimals_of_value(value: float, digits: int = 3) -> int:
    size = abs(value)
    if size == 0:
        return 0
    if 1_000 <= size < 10_000:
        return 0  # four digits read as one word; 4,853 rather than 4,850
    return decimals_for(size, digits)


def number(value: float | None, digits: int = 3, direction: Direction = "nearest") -> str:
    """Write a number with few significant digits."""
    if value is None or math.isnan(value):
        return "unknown"
    if math.isinf(value):
        return "unbounded"
    size = abs(value)
    if size and (size < 1e-4 or size >= 1e10):
        power = math.floor(math.log10(size))
        mantissa = fixed(float(Decimal(value).scaleb(-power)), digits - 1, direction)
        if mantissa.lstrip(MINUS).startswith("10"):  # rounded up to the next power
            power += 1
            mantissa = fixed(float(Decimal(value).scaleb(-power)), digits - 1, direction)
        return f"{mantissa}×10{str(power).translate(_SUPERSCRIPT)}"
    if float(value).is_integer() and size < 10_000:
        return fixed(value, 0)
    return fixed(value, _decimals_of_value(value, digits), direction)


def without_zeros(text: str) -> str:
    """Drop the zeros at the end of a decimal number, which nobody measured."""
    return text.rstrip("0").rstrip(".") if "." in text else text


def thousands(text: str) -> str:
    """Separate the thousands of whole numbers inside a sentence."""
    return re.sub(r"(?<![\w.,])\d{4,}(?![\w.]*\w)", lambda found: f"{int(found[0]):,}", text)


def _interval_decimals(value: float, low: float, high: float) -> int:
    """Two digits of the half-width, but at most three of the largest number."""
    ends = [abs(x) for x in (value, low, high) if math.isfinite(x)]
    largest = max(ends, default=0.0)
    half = (high - low) / 2 if math.isfinite(high - low) else largest
    wanted = decimals_for(half) if half > 0 else _decimals_of_value(largest)
    return min(wanted, max(_decimals_of_value(largest), -15))


def triple(value: float, low: float | None, high: float | None) -> tuple[str, str, str]:
    """Write an estimate and its interval with the same decimals, ends rounded outwards."""
    floor = -math.inf if low is None else low
    ceiling = math.inf if high is None else high
    largest = max((abs(x) for x in (value, floor, ceiling) if math.isfinite(x)), default=0.0)
    if largest and (largest < 1e-4 or largest >= 1e10):
        return (
            number(value),
            number(floor, direction="down"),
            number(ceiling, direction="up"),
        )
    decimals = _interval_decimals(value, floor, ceiling)
    return (
        fixed(value, decimals),
        fixed(floor, decimals, "down") if math.isfinite(floor) else "unbounded",
        fixed(ceiling, decimals, "up") if math.isfinite(ceiling) else "unbounded",
    )


def triples(
    estimates: Sequence[tuple[float, float | None, float | None]],
) -> list[tuple[str, str, str]]:
    """Write several estimates and intervals that stand below each other with equal decimals."""
    ends = [
        (v, -math.inf if a is None else a, math.inf if b is None else b) for v, a, b in estimates
    ]
    sizes = [abs(x) for e in ends for x in e if math.isfinite(x)]
    if not sizes or max(sizes) < 1e-4 or max(sizes) >= 1e10:
        return [triple(*e) for e in estimates]
    decimals = statistics.median_low(_interval_decimals(*e) for e in ends)
    return [
        (
            fixed(v, decimals),
            fixed(a, decimals, "down") if math.isfinite(a) else "unbounded",
            fixed(b, decimals, "up") if math.isfinite(b) else "unbounded",
        )
        for v, a, b in ends
    ]


def _percent_decimals(share: float, half_width: float | None = None) -> int:
    if half_width is not None and half_width < 0.01:
        return 1
    if half_width is not None and half_width >= 0.05:
        return 0
    edge = min(share, 1 - share)
    if edge >= 0.1 - 1e-9 or edge <= 0:
        return 0
    return 1 if edge >= 0.001 else min(decimals_for(100 * edge, 1), 6)


def percent(share: float, direction: Direction = "nearest", decimals: int | None = None) -> str:
    """Write a share as a percentage.

    Whole per cent in the middle, one decimal near 0% and 100%, where it matters.
    """
    if not abs(share) < 1e8:  # a model may be worse than guessing by any factor
        return number(100 * share, direction=direction) + "%" * math.isfinite(share)
    if decimals is None:
        decimals = _percent_decimals(share)
    return fixed(100 * share, decimals, direction) + "%"


def percent_triple(
    share: float, low: float | None, high: float | None, decimals: int | None = None
) -> tuple[str, str, str]:
    """Write a share and its interval as percentages with the same decimals."""
    low = 0.0 if low is None else low
    high = 1.0 if high is None else high
    if decimals is None:
        decimals = _percent_decimals(share, (high - low) / 2)
    value = percent(share, decimals=0 if share in (0.0, 1.0) else decimals)
    ends = (
        "0%" if low <= 0 else percent(low, "down", decimals),
        "100%" if high >= 1 else percent(high, "up", decimals),
    )
    return value, ends[0], ends[1]


def percent_decimals(rows: Sequence[Mapping[str, Any]]) -> int:
    """Choose the decimals of shares that stand below each other: as few as one of them has."""
    return min(
        (_percent_decimals(row["value"], (row["high"] - row["low"]) / 2) for row in rows), default=0
    )


def count(n: int) -> str:
    """Write a whole number with thousands separated."""
    return f"{int(n):,}".replace("-", MINUS)


def plural(n: int, one: str, many: str = "") -> str:
    """Write a count with its noun."""
    return f"{count(n)} {one if n == 1 else many or one + 's'}"


def aligned(values: Sequence[float]) -> list[str]:
    """Write the numbers of one table column with equal decimals."""
    sizes = [abs(v) for v in values if v]
    if not sizes or all(float(v).is_integer() for v in values):
        return [number(v) if abs(v) >= 10_000 else fixed(v, 0) for v in values]
    typical = statistics.median(sizes)
    if typical < 1e-4 or typical >= 10_000:
        return [number(v) for v in values]
    return [fixed(v, _decimals_of_value(typical)) for v in values]


def seconds(value: float) -> str:
    """Write a duration."""
    if value < 0.1:
        return f"{max(round(1000 * value), 1) if value > 0 else 0} ms"
    if value < 59.95:
        return f"{value:.1f} s"
    minutes, rest = divmod(round(value), 60)
    return f"{minutes} min {rest} s" if rest else f"{minutes} min"


def listing(items: Sequence[str], most: int = 4) -> str:
    """Join names as in a sentence."""
    items = list(items)
    if len(items) > most:
        items = [*items[:most], f"{count(len(items) - most)} more"]
    if len(items) < 2:
        return "".join(items)
    return ", ".join(items[:-1]) + " and " + items[-1]


def opening(text: str) -> str:
    """Start a sentence with a text: its first letter becomes a capital."""
    return text[:1].upper() + text[1:]


def label(name: str, most: int = 60) -> str:
    """Make a column or class name fit for a sentence: never empty, never endless."""
    name = clean(str(name)).strip()
    if not name:
        return "(no name)"
    if len(name) <= most:
        return name
    head = most // 2
    return name[:head] + "…" + name[len(name) - (most - head - 1) :]
