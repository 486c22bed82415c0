"""Pictures with two axes: calibration, coverage, errors, effects, and the columns in miniature.

All are drawn 420 pixels wide: two stand side by side on a screen, one fills a telephone.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from markupsafe import Markup

from corollary.reporting.page._axes import Scale, horizontal_axis, tick_texts, ticks, vertical_axis
from corollary.reporting.page._format import count, number, percent
from corollary.reporting.page._svg import Drawing, text_width

WIDTH = 420
LEFT, RIGHT = 46.0, 408.0


def _padded(low: float, high: float, share: float = 0.04) -> tuple[float, float]:
    margin = share * (high - low) or 0.05 * max(abs(high), 1.0)
    return low - margin, high + margin


def _left(low: float, high: float, most: int) -> float:
    """Leave as much room left of a plot as its widest tick label needs."""
    return max((text_width(t) + 10 for t in tick_texts(ticks(low, high, most))), default=30.0)


def calibration(data: Mapping[str, Any], *, name: str, title: str) -> Markup:
    """Draw observed shares against predicted probabilities, with the rows' histogram below."""
    picture = Drawing(WIDTH, 444)
    x, y = Scale(0, 1, LEFT, RIGHT), Scale(0, 1, 340, 28)
    vertical_axis(picture, y, LEFT, percent=True, title=data["y_label"], grid_right=RIGHT)
    bins = data["bins"]
    if len(bins) > 1:
        upper = [(x(b["predicted"]), y(b["high"])) for b in bins]
        lower = [(x(b["predicted"]), y(b["low"])) for b in reversed(bins)]
        picture.path(upper + lower, "band", closed=True)
    picture.line(x(0), y(0), x(1), y(1), "ref")
    if len(bins) > 1:
        picture.path([(x(b["predicted"]), y(b["observed"])) for b in bins], "mark-line")
    for b in bins:
        place = x(b["predicted"])
        text = (
            f"predicted {percent(b['predicted'])}, observed {percent(b['observed'])} "
            f"({percent(b['low'], 'down')} to {percent(b['high'], 'up')}), n = {count(b['n'])}"
        )
        picture.line(place, y(b["low"]), place, y(b["high"]), "mark-line")
        picture.circle(place, y(b["observed"]), 4, "mark", title=text)
    _histogram(picture, data["histogram"], x, Scale(0, 1, 402, 352))
    horizontal_axis(picture, x, 402, percent=True, title=data["x_label"], most=6)
    return picture.render(name, title, f"{len(bins)} bins of equal count with exact bands.")


def _histogram(picture: Drawing, histogram: Mapping[str, Any], x: Scale, y: Scale) -> None:
    counts, edges = histogram["counts"], histogram["edges"]
    top = max(counts, default=0) or 1
    for n, a, b in zip(counts, edges, edges[1:]):
        if n:
            tall = y(n / top)
            gap = 0.5 if x(b) - x(a) > 3 else 0
            text = f"{number(a)} to {number(b)}: {count(n)}"
            picture.rect(x(a) + gap, tall, x(b) - x(a) - 2 * gap, y(0) - tall, "bar", title=text)


def coverage(data: Mapping[str, Any], *, name: str, title: str) -> Markup:
    """Draw the share of rows inside their interval, band by band, against what was promised."""
    bands = data["bands"]
    lines = max((len(b["lines"]) for b in bands), default=1)
    bottom = 340.0
    picture = Drawing(WIDTH, bottom + 32 + 14 * lines)
    least = min([data["nominal"] - 0.05, *(b["low"] for b in bands)])
    floor = max(0.0, math.floor(10 * least - 1e-9) / 10)
    x, y = Scale(0, len(bands), LEFT, RIGHT), Scale(floor, 1, bottom, 28)
    vertical_axis(picture, y, LEFT, percent=True, title=data["y_label"], grid_right=RIGHT)
    promise = y(data["nominal"])
    picture.line(LEFT, promise, RIGHT, promise, "ref")
    # The legend stands above the frame, where no interval can cross it.
    words = f"wanted {percent(data['nominal'])}"
    picture.text(RIGHT, 16, words, "t-soft", anchor="end")
    start = RIGHT - text_width(words)
    picture.line(start - 32, 12, start - 6, 12, "ref")
    room = (RIGHT - LEFT) / max(len(bands), 1)
    for i, b in enumerate(bands):
        middle = x(i + 0.5)
        text = (
            f"{b['label']}: {percent(b['value'])} ({percent(b['low'], 'down')} to "
            f"{percent(b['high'], 'up')}), n = {count(b['n'])}"
        )
        tone = "warn" if b.get("warn") else "mark"
        picture.line(middle, y(b["low"]), middle, y(b["high"]), f"{tone}-line")
        for end in (b["low"], b["high"]):
            picture.line(middle - 4, y(end), middle + 4, y(end), f"{tone}-line")
        picture.circle(middle, y(b["value"]), 4.5, tone, title=text)
        for line, words in enumerate(b["lines"]):
            picture.text(
                middle,
                bottom + 18 + 14 * line,
                words,
                "t-soft",
                anchor="middle",
                width=room - 4,
                size=11.5,
            )
    picture.line(LEFT, bottom, RIGHT, bottom, "ax")
    centre, foot = (LEFT + RIGHT) / 2, picture.height - 4
    room = 2 * (WIDTH - centre)
    picture.text(centre, foot, data["x_label"], "t-soft", anchor="middle", width=room)
    return picture.render(name, title, f"{len(bands)} bands; wanted {percent(data['nominal'])}.")


def errors(data: Mapping[str, Any], *, name: str, title: str) -> Markup:
    """Draw how large errors are, with the marks that half, 9 of 10 and 99 of 100 stay below."""
    picture = Drawing(WIDTH, 404)
    edges, counts = data["edges"], data["counts"]
    top, bottom = 92.0, 360.0
    tallest = max(counts) or 1
    left = _left(0, tallest, 5)
    x = Scale(edges[0], edges[-1], left, RIGHT)
    y = Scale(0, tallest, bottom, top)
    vertical_axis(picture, y, left, grid_right=RIGHT, most=5)
    picture.text(0, 16, data["y_label"], "t-soft", width=WIDTH)
    share = {"edges": edges, "counts": counts}
    _histogram(picture, share, x, Scale(0, 1, bottom, top))
    heights = [34 + 17 * (level % 3) for level in range(len(data["marks"]))]
    for mark, height in zip(data["marks"], heights):
        picture.line(x(mark["at"]), height - 2, x(mark["at"]), bottom, "tick")
    for mark, height in zip(data["marks"], heights):  # texts last: their halo cuts the lines
        place = x(mark["at"])
        words, wide = mark["label"], text_width(mark["label"])
        anchor, shift = ("end", -4) if place + wide + 4 > WIDTH else ("start", 4)
        picture.text(place + shift, height + 8, words, "t halo", anchor=anchor)
    horizontal_axis(picture, x, bottom, title=data["x_label"], most=6)
    return picture.render(name, title, "; ".join(m["label"] for m in data["marks"]))


def scatter(data: Mapping[str, Any], *, name: str, title: str) -> Markup:
    """Draw predicted against actual values with the band of typical intervals."""
    low, high = data["domain"]
    low, high = _padded(low, high, 0.02)
    left = _left(low, high, 6)
    picture = Drawing(WIDTH, 404)
    x, y = Scale(low, high, left, RIGHT), Scale(low, high, 360, 28)
    vertical_axis(picture, y, left, title=data["y_label"], grid_right=RIGHT)
    ribbon = data.get("ribbon", [])
    if len(ribbon) > 1:
        upper = [(x(p), y.clamp(h, high)) for p, _, h in ribbon]
        lower = [(x(p), y.clamp(v, low)) for p, v, _ in reversed(ribbon)]
        picture.path(upper + lower, "band", closed=True)
    picture.line(x(low), y(low), x(high), y(high), "ref")
    if data.get("cells"):
        _cells(picture, data["cells"], x, y)
    radius = 3.2 if len(data.get("points", [])) <= 500 else 2.2
    for predicted, actual, inside in data.get("points", []):
        text = f"predicted {number(predicted)}, actual {number(actual)}"
        style = "dot" if inside else "dot-out"
        picture.circle(x(predicted), y(actual), radius, style, title=text)
    horizontal_axis(picture, x, 360, title=data["x_label"], most=6)
    return picture.render(name, title, data.get("description", ""))


def _cells(picture: Drawing, cells: Mapping[str, Any], x: Scale, y: Scale) -> None:
    """Shade cells in five steps of the logarithm of their counts, each step one path."""
    top = max((n for _, _, n in cells["counts"]), default=1)
    shades: list[list[tuple[float, float, float, float]]] = [[] for _ in range(5)]
    for i, j, n in cells["counts"]:
        left, right = x(cells["x_edges"][i]), x(cells["x_edges"][i + 1])
        bottom, upper = y(cells["y_edges"][j]), y(cells["y_edges"][j + 1])
        shade = 0 if top <= 1 else min(int(5 * math.log(n) / math.log(top)), 4)
        shades[shade].append((left, upper, right - left, bottom - upper))
    for shade, boxes in enumerate(shades):
        picture.columns(boxes, f"cell-{shade + 1}")


def effect(data: Mapping[str, Any], *, name: str, title: str) -> Markup:
    """Draw the mean prediction as one column moves, over the density of the rows."""
    picture = Drawing(280, 196)
    low, high = _padded(*data["domain"])
    left = 40.0 if data["percent"] else max(_left(low, high, 4), 30.0)
    right, bottom = 272.0, 158.0
    y = Scale(low, high, 126, 30)
    vertical_axis(picture, y, left, percent=data["percent"], grid_right=right, most=4)
    picture.text(0, 14, data["column"], "t-strong", width=280, size=12.5)
    top = max(data["density"], default=0) or 1
    means = data["mean"]
    if data["numeric"] or data["dated"]:
        grid = _moments(data["grid"]) if data["dated"] else data["grid"]
        x = Scale(grid[0], grid[-1], left, right)
        heights = _density(grid, data["density"])
        tops = [(x(g), bottom - 24 * h) for g, h in zip(grid, heights)]
        picture.path([(left, bottom), *tops, (right, bottom)], "bar-soft", closed=True)
        picture.path([(x(g), y(m)) for g, m in zip(grid, means)], "mark-line")
        if data["dated"]:
            picture.line(left, bottom, right, bottom, "ax")
            first, last = _ends(data["grid"])
            picture.text(left, bottom + 16, first, "t-small", size=11)
            picture.text(right, bottom + 16, last, "t-small", anchor="end", size=11)
        else:
            horizontal_axis(picture, x, bottom, most=4)
    else:
        x = Scale(0, len(means), left, right)
        room = (right - left) / max(len(means), 1)
        # Names that do not fit beside each other take turns on two lines.
        lines = 1 + any(text_width(str(level), 11) > room - 2 for level in data["grid"])
        for i, (level, mean, density) in enumerate(zip(data["grid"], means, data["density"])):
            middle = x(i + 0.5)
            tall = 24 * density / top
            picture.rect(middle - 0.35 * room, bottom - tall, 0.7 * room, tall, "bar-soft")
            shown = percent(mean) if data["percent"] else number(mean)
            picture.circle(middle, y(mean), 4, "mark", title=f"{level}: {shown}")
            below = bottom + 16 + 13 * (i % lines)
            space = min(lines * room - 2, 2 * (middle - left) + room, 2 * (280 - middle))
            picture.text(
                middle, below, str(level), "t-small", anchor="middle", width=space, size=11
            )
        picture.line(left, bottom, right, bottom, "ax")
    return picture.render(name, title)


def _moments(grid: Sequence[str]) -> list[float]:
    """Place moments on a line, in seconds."""
    return [datetime.fromisoformat(moment).replace(tzinfo=UTC).timestamp() for moment in grid]


def _ends(grid: Sequence[str]) -> tuple[str, str]:
    """Write the first and the last moment, with hours only where they are of one day."""
    size = 10 if grid[0][:10] != grid[-1][:10] else 16
    return grid[0][:size].replace("T", " "), grid[-1][:size].replace("T", " ")


def _density(grid: Sequence[float], shares: Sequence[float]) -> list[float]:
    """Divide the shares of rows near grid values by the width of their cells; the largest is 1."""
    middles = [(a + b) / 2 for a, b in itertools.pairwise(grid)]
    edges = [2 * grid[0] - middles[0], *middles, 2 * grid[-1] - middles[-1]]
    heights = [
        share / (b - a) if b > a else 0.0
        for share, (a, b) in zip(shares, itertools.pairwise(edges))
    ]
    top = max(heights) or 1.0
    return [h / top for h in heights]


def miniature(histogram: Mapping[str, Any], *, name: str, title: str, width: float = 150) -> Markup:
    """Draw a column's values as small bars."""
    tall = 26.0
    picture = Drawing(width, tall)
    counts: Sequence[int] = list(histogram.get("counts", []))
    other = histogram.get("other", 0)
    top = max([*counts, other, 1])
    if "labels" in histogram:
        every = [*counts, other] if other else counts
        room = min(width / max(len(every), 1), 26)
        boxes = [
            (i * room, tall - (tall - 1) * n / top, room - 2, (tall - 1) * n / top)
            for i, n in enumerate(every)
        ]
        picture.columns(boxes[: len(counts)], "bar")
        picture.columns(boxes[len(counts) :], "bar-soft")
    elif counts:
        room = width / len(counts)
        picture.columns(
            (
                (
                    i * room,
                    tall - max((tall - 1) * n / top, 1),
                    room - 0.6,
                    max((tall - 1) * n / top, 1),
                )
                for i, n in enumerate(counts)
                if n
            ),
            "bar",
        )
    picture.line(0, tall, width, tall, "ax")
    return picture.render(name, title)


def split(
    parts: Sequence[Mapping[str, Any]], *, name: str, title: str, width: float = 880
) -> Markup:
    """Draw how the rows were dealt out, as one bar."""
    picture = Drawing(width, 52)
    total = sum(p["n"] for p in parts) or 1
    words = [f"{p['label']} {count(p['n'])}" for p in parts]
    edges = [width * sum(p["n"] for p in parts[:i]) / total for i in range(len(parts) + 1)]
    for i, text in enumerate(words):
        wide = edges[i + 1] - edges[i]
        picture.rect(edges[i], 4, max(wide - 2, 1), 18, f"part-{i + 1}", title=text, round_=2)
    # A label may be wider than its part: it is pushed left, to make room for those on its right.
    free = width
    for i in reversed(range(len(words))):
        start = max(min(edges[i], free - text_width(words[i])), 0.0)
        picture.text(start, 42, words[i], "t-soft", width=free - start)
        free = start - 10
    description = "; ".join(f"{p['label']}: {p['n']}" for p in parts)
    return picture.render(name, title, description, "wide" if width >= 560 else "narrow")
