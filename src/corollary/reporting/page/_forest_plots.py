"""Pictures made of rows: a label, a dot, its interval, and the numbers in words.

They come in a wide form (labels left, words right) and a narrow form for telephones (words above
the interval); the page shows whichever fits.
"""

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from corollary.reporting.page._axes import Scale, horizontal_axis
from corollary.reporting.page._svg import Drawing, text_width

NARROW = 560
ROW = 30
NARROW_ROW = 42
NOTE = 15


def _ends(row: Mapping[str, Any]) -> list[float]:
    return [v for v in (row["value"], row.get("low"), row.get("high")) if v is not None]


def _domain(rows: Sequence[Mapping[str, Any]], reference: float, clip: bool) -> tuple[float, float]:
    """Span all rows and the reference, unless few rows dwarf all others."""
    kept = rows
    if clip:
        reach = [max(abs(v - reference) for v in _ends(row)) for row in rows]
        positive = [r for r in reach if r > 0]
        if len(positive) > 2:
            limit = 5 * statistics.median(positive)
            kept = [row for row, r in zip(rows, reach) if r <= limit]
    values = [reference, *(v for row in kept for v in _ends(row))]
    low, high = min(values), max(values)
    margin = 0.04 * (high - low) or max(abs(high), 1.0) * 0.1
    return low - margin if low < reference else low, high + margin


def forest(
    data: Mapping[str, Any],
    *,
    name: str,
    title: str,
    width: float = 880,
    bars: bool = False,
    clip: bool = False,
) -> Markup:
    """Draw estimates with intervals against a reference line."""
    rows = data["rows"]
    narrow = width < NARROW
    top = 22 if data.get("reference_label") else 6
    places, bottom = _places(rows, top, narrow)
    picture = Drawing(width, bottom + (44 if data.get("axis") else 24))
    if narrow:
        left, right = 8.0, width - 12.0
    else:
        longest = max((text_width(r["label"], 13) for r in rows), default=0)
        words = max((text_width(r["text"]) for r in rows), default=0)
        notes = max((text_width(r.get("note", "")) for r in rows), default=0)
        left = min(max(longest, 60), 0.30 * width) + 14
        right = width - min(words + (notes + 14 if notes else 0), 0.42 * width) - 20
    low, high = data.get("domain") or _domain(rows, data["reference"] or 0.0, clip)
    scale = Scale(low, high, left, right)
    zero = None if data["reference"] is None else scale(data["reference"])
    horizontal_axis(
        picture,
        scale,
        bottom,
        percent=bool(data.get("percent")),
        title=data.get("axis", ""),
        grid_top=top,
    )
    if zero is not None:
        picture.line(zero, top - 4, zero, bottom, "ref")
        if data.get("reference_label"):
            _label_above(picture, zero, top - 9, data["reference_label"])
    for row, y in zip(rows, places):
        _estimate(picture, scale, row, y, zero if bars else None)
        _words(picture, row, y, left, right, narrow)
    description = "; ".join(f"{r['label']}: {r['text']}" for r in rows[:12])
    return picture.render(name, title, description, "narrow" if narrow else "wide")


def _places(
    rows: Sequence[Mapping[str, Any]], top: float, narrow: bool
) -> tuple[list[float], float]:
    """Find the height of each row's interval, and where the last row ends."""
    if not narrow:
        return [top + ROW * (i + 0.5) for i in range(len(rows))], top + ROW * len(rows) + 2
    places, y = [], top
    for row in rows:
        y += NARROW_ROW + (NOTE if row.get("note") else 0)
        places.append(y - 12)
    return places, y + 2


def _label_above(picture: Drawing, x: float, y: float, text: str) -> None:
    """Centre a text on x, but keep it inside the picture."""
    half = text_width(text) / 2
    x = min(max(x, half), picture.width - half)
    picture.text(x, y, text, "t-soft", anchor="middle", width=picture.width)


def _estimate(
    picture: Drawing, scale: Scale, row: Mapping[str, Any], y: float, zero: float | None
) -> None:
    value, low, high = row["value"], row.get("low"), row.get("high")
    tone = "warn" if row.get("warn") else "muted" if row.get("muted") else "mark"
    text = f"{row['label']}: {row['text']}"
    slack = 1e-9 * (abs(scale.low) + abs(scale.high))
    if value > scale.high + slack or value < scale.low - slack:
        side = 1 if value > scale.high else -1
        edge = scale.end if side > 0 else scale.start
        tip = [(edge - 7 * side, y - 5), (edge, y), (edge - 7 * side, y + 5)]
        picture.path([(edge - 26 * side, y), (edge, y)], f"{tone}-line")
        picture.path(tip, f"{tone}-line", title=text)
        return
    a, b = scale.clamp(low, -math.inf), scale.clamp(high, math.inf)
    x = scale(value)
    if zero is not None:
        picture.rect(min(zero, x), y - 6, abs(x - zero), 12, "band")
    if b - a > 1:
        picture.line(a, y, b, y, f"{tone}-line")
        for end, known in ((a, low), (b, high)):
            if known is not None and scale.low - slack <= known <= scale.high + slack:
                picture.line(end, y - 4, end, y + 4, f"{tone}-line")
    picture.circle(x, y, 5 if row.get("strong") else 4, tone, title=text)


def _words(
    picture: Drawing, row: Mapping[str, Any], y: float, left: float, right: float, narrow: bool
) -> None:
    style, size = ("t-strong", 13.0) if row.get("strong") else ("t", 12.0)
    note = row.get("note", "")
    if narrow:  # words stand inside the frame: a halo keeps grid lines from crossing them
        words = min(text_width(row["text"]), 0.62 * picture.width)
        line = y - 13 - (NOTE if note else 0)
        room = picture.width - words - 10
        picture.text(0, line, row["label"], f"{style} halo", width=room, size=size)
        picture.text(picture.width, line, row["text"], "t-soft halo", anchor="end", width=words)
        if note:
            picture.text(picture.width, y - 13, note, "t-soft halo", anchor="end")
        return
    picture.text(0, y + 4.5, row["label"], style, width=left - 14, size=size)
    start = right + 20
    picture.text(start, y + 4.5, row["text"], "t", width=picture.width - start)
    if note:
        picture.text(picture.width, y + 4.5, note, "t-soft", anchor="end")


def strip(data: Mapping[str, Any], *, name: str, title: str, width: float = 210) -> Markup:
    """Draw one number on a line: its interval, and what it is measured against."""
    picture = Drawing(width, 46)
    low, high = data["domain"]
    scale = Scale(low, high, 5.0, width - 5.0)
    y = 14.0
    picture.line(5, y, width - 5, y, "ax")
    a, b = scale.clamp(data.get("low"), low), scale.clamp(data.get("high"), high)
    picture.rect(a, y - 5, max(b - a, 1), 10, "interval", round_=2)
    last = -math.inf
    for mark in sorted(data["marks"], key=lambda m: m["at"]):
        x = scale.clamp(mark["at"], low)
        picture.line(x, y - 9, x, y + 9, "tick")
        half = text_width(mark["label"], 11) / 2
        middle = min(max(x, half), width - half)
        if middle - half > last + 4:
            picture.text(
                middle, 40, mark["label"], "t-small", anchor="middle", width=width, size=11
            )
            last = middle + half
    picture.circle(scale.clamp(data["value"], low), y, 4.5, "mark")
    return picture.render(name, title)
