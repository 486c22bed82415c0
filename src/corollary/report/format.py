"""Numbers and names as a reader wants to see them.

Two or three significant digits, never six; the two ends of an interval rounded outwards, so that
rounding never makes a claim stronger than what was computed; true minus signs; thousands
separated by commas. Everything here is pure and returns plain strings.
"""

import math
import re
import statistics
import unicodedata
from collections.abc import Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from typing import Any, Literal

Direction = Literal["nearest", "down", "up"]

_ROUNDING = {"nearest": ROUND_HALF_EVEN, "down": ROUND_FLOOR, "up": ROUND_CEILING}
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
MINUS = "−"


def fixed(value: float, decimals: int, direction: Direction = "nearest") -> str:
    """Write a number with a fixed number of decimals.

    Parameters
    ----------
    value : float
        A finite number.
    decimals : int
        Digits after the point; negative values round to tens, hundreds and so on.
    direction : {"nearest", "down", "up"}, default="nearest"
        Where to round.

    Returns
    -------
    text : str
        With thousands separators and a true minus sign.

    Examples
    --------
    >>> from corollary.report.format import fixed
    >>> fixed(0.04321, 3, "up"), fixed(12345.6, -2)
    ('0.044', '12,300')
    """
    # Twelve digits first: 0.1 + 0.2 must not be rounded up to 0.31.
    exact = Decimal(f"{value:.12g}")
    step = Decimal(1).scaleb(-decimals)
    rounded = (exact / step).quantize(Decimal(1), rounding=_ROUNDING[direction]) * step
    if rounded == 0:
        rounded = abs(rounded)  # no negative zero
    text = f"{rounded:,.{max(decimals, 0)}f}"
    return text.replace("-", MINUS)


def decimals_for(scale: float, digits: int = 2) -> int:
    """Count the decimals that show ``digits`` significant digits of ``scale``.

    Parameters
    ----------
    scale : float
        Size of what must remain visible, for instance half the width of an interval.
    digits : int, default=2
        Significant digits.

    Returns
    -------
    decimals : int
        Possibly negative.

    Examples
    --------
    >>> from corollary.report.format import decimals_for
    >>> decimals_for(0.034), decimals_for(5200.0)
    (3, -2)
    """
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
    """Write a number with few significant digits.

    Parameters
    ----------
    value : float or None
        The number; ``None`` and non-finite values become words.
    digits : int, default=3
        Significant digits.
    direction : {"nearest", "down", "up"}, default="nearest"
        Where to round.

    Returns
    -------
    text : str
        The number.

    Examples
    --------
    >>> from corollary.report.format import number
    >>> number(0.123456), number(4853.2), number(1234567.0), number(12.0)
    ('0.123', '4,853', '1,230,000', '12')
    >>> number(0.0000123), number(None)
    ('1.23×10⁻⁵', 'unknown')
    """
    if value is None or math.isnan(value):
        return "unknown"
    if math.isinf(value):
        return "unbounded"
    size = abs(value)
    if size and (size < 1e-4 or size >= 1e10):
        power = math.floor(math.log10(size))
        mantissa = fixed(value / 10.0**power, digits - 1, direction)
        if mantissa.lstrip(MINUS).startswith("10"):  # rounded up to the next power
            power += 1
            mantissa = fixed(value / 10.0**power, digits - 1, direction)
        return f"{mantissa}×10{str(power).translate(_SUPERSCRIPT)}"
    if float(value).is_integer() and size < 10_000:
        return fixed(value, 0)
    return fixed(value, _decimals_of_value(value, digits), direction)


def without_zeros(text: str) -> str:
    """Drop the zeros at the end of a decimal number, which nobody measured.

    Parameters
    ----------
    text : str
        A number as :func:`number` writes it.

    Returns
    -------
    text : str
        The same number.

    Examples
    --------
    >>> from corollary.report.format import without_zeros
    >>> without_zeros("0.400"), without_zeros("12.0"), without_zeros("1,200")
    ('0.4', '12', '1,200')
    """
    return text.rstrip("0").rstrip(".") if "." in text else text


def thousands(text: str) -> str:
    """Separate the thousands of whole numbers inside a sentence.

    Parameters
    ----------
    text : str
        A sentence.

    Returns
    -------
    text : str
        The same sentence.

    Examples
    --------
    >>> from corollary.report.format import thousands
    >>> thousands("9 of 12500 rows, by 0.12345 and 3.5e10; 1,200")
    '9 of 12,500 rows, by 0.12345 and 3.5e10; 1,200'
    """
    return re.sub(r"(?<![\w.,])\d{4,}(?![\w.]*\w)", lambda found: f"{int(found[0]):,}", text)


def _interval_decimals(value: float, low: float, high: float) -> int:
    """Two digits of the half-width, but at most three of the largest number."""
    ends = [abs(x) for x in (value, low, high) if math.isfinite(x)]
    largest = max(ends, default=0.0)
    half = (high - low) / 2 if math.isfinite(high - low) else largest
    wanted = decimals_for(half) if half > 0 else _decimals_of_value(largest)
    return min(wanted, max(_decimals_of_value(largest), -15))


def triple(value: float, low: float | None, high: float | None) -> tuple[str, str, str]:
    """Write an estimate and its interval with the same decimals, ends rounded outwards.

    Parameters
    ----------
    value : float
        Estimate.
    low : float or None
        Lower end; ``None`` if there is none.
    high : float or None
        Upper end; ``None`` if there is none.

    Returns
    -------
    texts : tuple of str
        Estimate, lower end, upper end.

    Examples
    --------
    >>> from corollary.report.format import triple
    >>> triple(0.0813, 0.0512, 0.1201)
    ('0.081', '0.051', '0.121')
    """
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
    """Write several estimates and intervals that stand below each other with equal decimals.

    Parameters
    ----------
    estimates : sequence of (value, low, high)
        The estimates.

    Returns
    -------
    texts : list of tuple of str
        As :func:`triple` writes them, with the decimals that suit the one in the middle.

    Examples
    --------
    >>> from corollary.report.format import triples
    >>> triples([(4.42, -1.61, 10.4), (0.14, -0.41, 0.69), (10.5, 5.04, 16.0)])[1]
    ('0.1', '−0.5', '0.7')
    """
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

    Parameters
    ----------
    share : float
        Between 0 and 1.
    direction : {"nearest", "down", "up"}, default="nearest"
        Where to round.
    decimals : int or None, default=None
        Fixed number of decimals instead.

    Returns
    -------
    text : str
        The percentage.

    Examples
    --------
    >>> from corollary.report.format import percent
    >>> percent(0.014), percent(0.533), percent(0.912), percent(0.0432, "up")
    ('1.4%', '53%', '91.2%', '4.4%')
    """
    if decimals is None:
        decimals = _percent_decimals(share)
    return fixed(100 * share, decimals, direction) + "%"


def percent_triple(
    share: float, low: float | None, high: float | None, decimals: int | None = None
) -> tuple[str, str, str]:
    """Write a share and its interval as percentages with the same decimals.

    Parameters
    ----------
    share : float
        Estimate.
    low : float or None
        Lower end; ``None`` stands for 0.
    high : float or None
        Upper end; ``None`` stands for 1.
    decimals : int or None, default=None
        Decimals; None chooses them by the interval.

    Returns
    -------
    texts : tuple of str
        Estimate, lower end rounded down, upper end rounded up.

    Examples
    --------
    >>> from corollary.report.format import percent_triple
    >>> percent_triple(0.986, 0.9504, 0.9983)
    ('98.6%', '95.0%', '99.9%')
    """
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
    """Choose the decimals of shares that stand below each other: as few as one of them has.

    Parameters
    ----------
    rows : sequence of mapping
        Each with ``value``, ``low`` and ``high``, between 0 and 1.

    Returns
    -------
    decimals : int
        Decimals; 0 if there are no rows.

    Examples
    --------
    >>> from corollary.report.format import percent_decimals
    >>> wide, narrow = (0.88, 0.83, 0.92), (0.928, 0.892, 0.955)
    >>> percent_decimals([dict(zip(("value", "low", "high"), row)) for row in (wide, narrow)])
    0
    """
    return min(
        (_percent_decimals(row["value"], (row["high"] - row["low"]) / 2) for row in rows), default=0
    )


def count(n: int) -> str:
    """Write a whole number with thousands separated.

    Parameters
    ----------
    n : int
        The number.

    Returns
    -------
    text : str
        The number.

    Examples
    --------
    >>> from corollary.report.format import count
    >>> count(2500)
    '2,500'
    """
    return f"{int(n):,}".replace("-", MINUS)


def plural(n: int, one: str, many: str = "") -> str:
    """Write a count with its noun.

    Parameters
    ----------
    n : int
        The number.
    one : str
        Noun for one.
    many : str, default=""
        Noun for several; ``one`` with an s if empty.

    Returns
    -------
    text : str
        For instance ``"1 row"`` or ``"2,500 rows"``.

    Examples
    --------
    >>> from corollary.report.format import plural
    >>> plural(1, "row"), plural(2500, "row")
    ('1 row', '2,500 rows')
    """
    return f"{count(n)} {one if n == 1 else many or one + 's'}"


def aligned(values: Sequence[float]) -> list[str]:
    """Write the numbers of one table column with equal decimals.

    Parameters
    ----------
    values : sequence of float
        Finite numbers.

    Returns
    -------
    texts : list of str
        Three digits of the typical size; whole numbers stay whole.

    Examples
    --------
    >>> from corollary.report.format import aligned
    >>> aligned([30.2, 29.0, 31.07]), aligned([87.0, 90.0])
    (['30.2', '29.0', '31.1'], ['87', '90'])
    """
    sizes = [abs(v) for v in values if v]
    if not sizes or all(float(v).is_integer() for v in values):
        return [number(v) if abs(v) >= 10_000 else fixed(v, 0) for v in values]
    typical = statistics.median(sizes)
    if typical < 1e-4 or typical >= 10_000:
        return [number(v) for v in values]
    return [fixed(v, _decimals_of_value(typical)) for v in values]


def seconds(value: float) -> str:
    """Write a duration.

    Parameters
    ----------
    value : float
        Seconds.

    Returns
    -------
    text : str
        In milliseconds, seconds or minutes.

    Examples
    --------
    >>> from corollary.report.format import seconds
    >>> seconds(0.012), seconds(3.21), seconds(75.0)
    ('12 ms', '3.2 s', '1 min 15 s')
    """
    if value < 0.1:
        return f"{max(round(1000 * value), 1) if value > 0 else 0} ms"
    if value < 59.95:
        return f"{value:.1f} s"
    minutes, rest = divmod(round(value), 60)
    return f"{minutes} min {rest} s" if rest else f"{minutes} min"


def listing(items: Sequence[str], most: int = 4) -> str:
    """Join names as in a sentence.

    Parameters
    ----------
    items : sequence of str
        The names.
    most : int, default=4
        How many to write out.

    Returns
    -------
    text : str
        For instance ``"a, b and 3 more"``.

    Examples
    --------
    >>> from corollary.report.format import listing
    >>> listing(["a", "b", "c"]), listing(["a", "b", "c", "d"], most=2)
    ('a, b and c', 'a, b and 2 more')
    """
    items = list(items)
    if len(items) > most:
        items = [*items[:most], f"{count(len(items) - most)} more"]
    if len(items) < 2:
        return "".join(items)
    return ", ".join(items[:-1]) + " and " + items[-1]


def opening(text: str) -> str:
    """Start a sentence with a text: its first letter becomes a capital.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    text : str
        The rest stays as it is.

    Examples
    --------
    >>> from corollary.report.format import opening
    >>> opening("ridge regression of BMI")
    'Ridge regression of BMI'
    """
    return text[:1].upper() + text[1:]


def clean(text: str) -> str:
    """Make text from data safe to look at: control and direction-changing characters show.

    Escaping keeps markup from running; this keeps a name from hiding or reversing the text
    around it.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    text : str
        The same text with every invisible control character replaced by U+FFFD.

    Examples
    --------
    >>> from corollary.report.format import clean
    >>> clean("a" + chr(0x202E) + "b") == "a" + chr(0xFFFD) + "b"
    True
    """
    if text.isascii() and text.isprintable():
        return text
    kept = [
        c
        if c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Zl", "Zp")
        else "\ufffd"
        for c in text
    ]
    return "".join(kept)


def label(name: str, most: int = 60) -> str:
    """Make a column or class name fit for a sentence: never empty, never endless.

    Parameters
    ----------
    name : str
        The name.
    most : int, default=60
        Characters to keep.

    Returns
    -------
    text : str
        The name, its middle cut if it is too long.

    Examples
    --------
    >>> from corollary.report.format import label
    >>> label(" "), label("abcdefghij", most=7)
    ('(no name)', 'abc…hij')
    """
    name = clean(str(name)).strip()
    if not name:
        return "(no name)"
    if len(name) <= most:
        return name
    head = most // 2
    return name[:head] + "…" + name[len(name) - (most - head - 1) :]
