"""Intervals that allow for many looks."""

from scipy import special

from corollary.validation import Estimate


def widen(rise: Estimate, looks: int, confidence: float) -> Estimate:
    """Widen an interval so that it holds for all of many looks together.

    The column that is named first was picked because its estimate is the largest; an interval
    that holds singly would be too narrow for it.
    """
    level = (1 - confidence) / 2
    factor = float(special.ndtri(level / max(looks, 1)) / special.ndtri(level))
    low = rise.value - factor * (rise.value - rise.low)
    return rise._replace(low=low, high=rise.value + factor * (rise.high - rise.value))
