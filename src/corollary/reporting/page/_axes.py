"""Scales from data to pixels, round ticks, and axes whose labels do not collide."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from corollary.reporting.page._format import fixed, number
from corollary.reporting.page._svg import Drawing, text_width


@dataclass(frozen=True)
class Scale:
    """A straight line from data to pixels.

    Examples
    --------
    >>> from corollary.reporting.page._axes import Scale
    >>> Scale(0.0, 10.0, 100.0, 200.0)(2.5)
    125.0
    """

    low: float  # data value at ``start``
    high: float  # data value at ``end``
    start: float  # pixel of ``low``
    end: float  # pixel of ``high``

    def __call__(self, value: float) -> float:
        """Map a value to its pixel."""
        if self.high == self.low:
            return (self.start + self.end) / 2
        share = (value - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def clamp(self, value: float | None, missing: float) -> float:
        """Map a value to its pixel, kept inside the scale."""
        place = self(missing if value is None else value)
        return min(max(place, min(self.start, self.end)), max(self.start, self.end))


def ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Choose round values between two numbers."""
    span = high - low
    if not (math.isfinite(span) and span > 0):
        return [low] if math.isfinite(low) else []
    power = math.floor(math.log10(span / max(most, 1)))
    for step in (m * 10.0**p for p in (power, power + 1) for m in (1, 2, 5)):
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        if last - first + 1 <= most:
            return [round(i * step, max(1 - power, 1)) for i in range(first, last + 1)]
    return [low, high]


def tick_texts(values: Sequence[float], percent: bool = False) -> list[str]:
    """Write tick values with the fewest decimals that tell them apart."""
    scaled = [100 * v if percent else v for v in values]
    largest = max((abs(v) for v in scaled), default=0.0)
    if largest >= 1e6 or 0 < largest < 1e-3:
        texts = [number(v) for v in scaled]
    else:
        decimals = 0
        while decimals < 6 and any(
            abs(round(v, decimals) - v) > 1e-9 * max(largest, 1e-12) for v in scaled
        ):
            decimals += 1
        texts = [fixed(v, decimals) for v in scaled]
        texts = [t.rstrip("0").rstrip(".") if "." in t else t for t in texts]
    return [t + "%" for t in texts] if percent else texts


def horizontal_axis(
    picture: Drawing,
    scale: Scale,
    y: float,
    *,
    percent: bool = False,
    title: str = "",
    grid_top: float | None = None,
    most: int | None = None,
) -> None:
    """Draw an axis below a plot: line, ticks, labels that do not collide, name."""
    left, right = min(scale.start, scale.end), max(scale.start, scale.end)
    values = ticks(scale.low, scale.high, most or max(int((right - left) / 70), 2))
    last = -math.inf
    for value, text in zip(values, tick_texts(values, percent)):
        x = scale(value)
        if grid_top is not None:
            picture.line(x, grid_top, x, y, "grid")
        picture.line(x, y, x, y + 4, "ax")
        half = text_width(text) / 2
        if x - half > last + 6 and x + half <= picture.width + 8:
            picture.text(x, y + 17, text, "t-soft", anchor="middle")
            last = x + half
    picture.line(left, y, right, y, "ax")
    if title:
        centre = (left + right) / 2
        room = 2 * min(centre, picture.width - centre)
        picture.text(centre, y + 36, title, "t-soft", anchor="middle", width=room)


def vertical_axis(
    picture: Drawing,
    scale: Scale,
    x: float,
    *,
    percent: bool = False,
    title: str = "",
    grid_right: float | None = None,
    most: int = 6,
) -> None:
    """Draw an axis left of a plot; its name stands above it, to be read without a turned head."""
    values = ticks(scale.low, scale.high, most)
    for value, text in zip(values, tick_texts(values, percent)):
        y = scale(value)
        if grid_right is not None:
            picture.line(x, y, grid_right, y, "grid")
        picture.text(x - 7, y + 4, text, "t-soft", anchor="end", width=x - 7)
    if title:
        picture.text(0, min(scale.start, scale.end) - 12, title, "t-soft", width=picture.width)
