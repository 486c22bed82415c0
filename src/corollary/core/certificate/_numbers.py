"""Numbers in sentences, rounded outwards."""

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Literal

Direction = Literal["upper", "lower"]


def format_share(value: float, direction: Direction = "upper") -> str:
    """Write a share as a percentage, rounded outwards.

    Parameters
    ----------
    value : float
        A share between 0 and 1.
    direction : {"upper", "lower"}, default="upper"
        Round an upper bound up and a lower bound down.

    Returns
    -------
    text : str
        One decimal, or two significant digits below 1%.

    Examples
    --------
    >>> from corollary.core.certificate import format_share
    >>> format_share(0.04342), format_share(0.04342, "lower"), format_share(0.000123)
    ('4.4%', '4.3%', '0.013%')
    """
    percent = Decimal(repr(float(value))) * 100
    digits = 1 if percent == 0 or percent >= 1 else 1 - percent.adjusted()
    return f"{_outwards(percent, digits, direction)}%"


def format_number(value: float, direction: Direction = "upper") -> str:
    """Write a number with four significant digits, rounded outwards.

    Parameters
    ----------
    value : float
        Any number.
    direction : {"upper", "lower"}, default="upper"
        Round an upper bound up and a lower bound down.

    Returns
    -------
    text : str
        The number without trailing zeros.

    Examples
    --------
    >>> from corollary.core.certificate import format_number
    >>> format_number(12.3401), format_number(12.3401, "lower"), format_number(1e-9)
    ('12.35', '12.34', '1e-09')
    """
    if not math.isfinite(value):
        return "infinity" if value > 0 else "-infinity"
    exact = Decimal(repr(float(value)))
    if exact == 0:
        return "0"
    rounded = _outwards(exact, 3 - exact.adjusted(), direction)
    return f"{float(rounded):.6g}"


def format_confidence(confidence: float) -> str:
    """Write a confidence as a percentage, rounded down and never up to 100%.

    Parameters
    ----------
    confidence : float
        A probability strictly between 0 and 1.

    Returns
    -------
    text : str
        The percentage without trailing zeros.

    Examples
    --------
    >>> from corollary.core.certificate import format_confidence
    >>> format_confidence(0.95), format_confidence(1 - 0.05 / 3), format_confidence(0.999999)
    ('95%', '98.33%', '99.9999%')
    """
    percent = Decimal(repr(float(confidence))) * 100
    digits = max(2, 1 - (100 - percent).adjusted())
    text = str(_outwards(percent, digits, "lower"))
    return (text.rstrip("0").rstrip(".") if "." in text else text) + "%"


def _outwards(value: Decimal, digits: int, direction: Direction) -> Decimal:
    rounding = ROUND_CEILING if direction == "upper" else ROUND_FLOOR
    return value.quantize(Decimal(1).scaleb(-digits), rounding=rounding)
