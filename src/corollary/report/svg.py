"""A small drawing kit that writes SVG: scales, ticks, text that fits, and shapes.

Colours are never written into a drawing: shapes carry classes, and the page's style sheet gives
them colours for light, dark and paper. Every text goes through the escape of :mod:`markupsafe`,
every shape may carry a ``<title>`` that browsers show on hover without any script.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from corollary.report.format import clean, fixed, number

# Advance widths in em, a little wider than Helvetica and a little narrower than DejaVu Sans: a
# text that fits by this table fits in every common system font at the sizes used here.
_WIDTHS = {
    **dict.fromkeys("iljI.,:;'|!`", 0.30),
    **dict.fromkeys('ftr()[]{}-/\\ "', 0.40),
    **dict.fromkeys("mwMW@%—…", 0.95),
    **dict.fromkeys("ABCDEFGHJKLNOPQRSTUVXYZ&", 0.70),
}
FONT = 12.0


def text_width(text: str, size: float = FONT) -> float:
    """Estimate how wide a text is drawn.

    Parameters
    ----------
    text : str
        The text.
    size : float, default=12.0
        Font size in pixels.

    Returns
    -------
    width : float
        Pixels, rather too many than too few.

    Examples
    --------
    >>> from corollary.report.svg import text_width
    >>> text_width("mean radius") > text_width("radius")
    True
    """
    return size * sum(_WIDTHS.get(c, 0.60 if ord(c) < 0x1100 else 1.05) for c in text)


def fit_text(text: str, width: float, size: float = FONT) -> str:
    """Shorten a text so that it fits.

    Parameters
    ----------
    text : str
        The text.
    width : float
        Pixels there are.
    size : float, default=12.0
        Font size in pixels.

    Returns
    -------
    text : str
        The text, or its beginning and end with an ellipsis between.

    Examples
    --------
    >>> from corollary.report.svg import fit_text
    >>> fit_text("worst fractal dimension", 80)
    'worst…nsion'
    """
    text = clean(text)
    if text_width(text, size) <= width + 0.5:  # half a pixel for rounding
        return text
    for keep in range(len(text) - 1, 1, -1):
        head = (keep + 1) // 2
        short = text[:head].rstrip() + "…" + text[len(text) - (keep - head) :].lstrip()
        if text_width(short, size) <= width:
            return short
    return "…"


@dataclass(frozen=True)
class Scale:
    """A straight line from data to pixels.

    Parameters
    ----------
    low : float
        Data value at ``start``.
    high : float
        Data value at ``end``.
    start : float
        Pixel of ``low``.
    end : float
        Pixel of ``high``.

    Examples
    --------
    >>> from corollary.report.svg import Scale
    >>> Scale(0.0, 10.0, 100.0, 200.0)(2.5)
    125.0
    """

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Map a value to its pixel.

        Parameters
        ----------
        value : float
            Data value.

        Returns
        -------
        pixel : float
            Its place.
        """
        if self.high == self.low:
            return (self.start + self.end) / 2
        share = (value - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def clamp(self, value: float | None, missing: float) -> float:
        """Map a value to its pixel, kept inside the scale.

        Parameters
        ----------
        value : float or None
            Data value; ``None`` stands for ``missing``.
        missing : float
            Value to use instead of ``None``.

        Returns
        -------
        pixel : float
            Its place, at most the end of the scale.
        """
        place = self(missing if value is None else value)
        return min(max(place, min(self.start, self.end)), max(self.start, self.end))


def ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Choose round values between two numbers.

    Parameters
    ----------
    low : float
        Left end.
    high : float
        Right end.
    most : int, default=6
        Ticks at most.

    Returns
    -------
    values : list of float
        Multiples of 1, 2 or 5 times a power of ten.

    Examples
    --------
    >>> from corollary.report.svg import ticks
    >>> ticks(0.0, 1.0), ticks(-3.0, 17.0, most=5)
    ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [0.0, 5.0, 10.0, 15.0])
    """
    span = high - low
    if not (math.isfinite(span) and span > 0):
        return [low] if math.isfinite(low) else []
    power = math.floor(math.log10(span / max(most, 1)))
    for step in (m * 10.0**p for p in (power, power + 1) for m in (1, 2, 5)):
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        if last - first + 1 <= most:
            return [float(f"{i * step:.12g}") for i in range(first, last + 1)]
    return [low, high]


def tick_texts(values: Sequence[float], percent: bool = False) -> list[str]:
    """Write tick values with the fewest decimals that tell them apart.

    Parameters
    ----------
    values : sequence of float
        Tick values.
    percent : bool, default=False
        Whether they are shares to be written as percentages.

    Returns
    -------
    texts : list of str
        One a value.

    Examples
    --------
    >>> from corollary.report.svg import tick_texts
    >>> tick_texts([0.0, 0.25, 0.5]), tick_texts([0.0, 0.5, 1.0], percent=True)
    (['0', '0.25', '0.5'], ['0%', '50%', '100%'])
    """
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


def _short(value: float) -> str:
    text = f"{value:.1f}"
    return text[:-2] if text.endswith(".0") else text


class Drawing:
    """A picture under construction.

    Parameters
    ----------
    width : float
        Width in pixels.
    height : float
        Height in pixels.

    Examples
    --------
    >>> from corollary.report.svg import Drawing
    >>> picture = Drawing(40, 20)
    >>> picture.circle(10, 10, 3, "mark", title="a < b")
    >>> "a &lt; b" in picture.render("example", "Example", "One dot.")
    True
    """

    def __init__(self, width: float, height: float) -> None:
        self.width = width
        self.height = height
        self._parts: list[str] = []

    def _add(self, tag: str, attributes: str, title: str = "", body: str = "") -> None:
        if title:
            body = f"<title>{escape(clean(title))}</title>{body}"
        self._parts.append(
            f"<{tag} {attributes}/>" if not body else f"<{tag} {attributes}>{body}</{tag}>"
        )

    def line(self, x1: float, y1: float, x2: float, y2: float, style: str) -> None:
        """Draw a straight line.

        Parameters
        ----------
        x1, y1, x2, y2 : float
            Ends.
        style : str
            Class.
        """
        ends = f'x1="{_short(x1)}" y1="{_short(y1)}" x2="{_short(x2)}" y2="{_short(y2)}"'
        self._add("line", f'class="{style}" {ends}')

    def rect(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        style: str,
        *,
        title: str = "",
        round_: float = 0,
    ) -> None:
        """Draw a rectangle.

        Parameters
        ----------
        x, y, width, height : float
            Place and size; a negative size draws nothing.
        style : str
            Class.
        title : str, default=""
            Text on hover.
        round_ : float, default=0
            Radius of the corners.
        """
        if width < 0 or height < 0:
            return
        corner = f' rx="{_short(round_)}"' if round_ else ""
        place = f'x="{_short(x)}" y="{_short(y)}" width="{_short(width)}" height="{_short(height)}"'
        self._add("rect", f'class="{style}" {place}{corner}', title)

    def circle(self, x: float, y: float, radius: float, style: str, *, title: str = "") -> None:
        """Draw a dot.

        Parameters
        ----------
        x, y : float
            Centre.
        radius : float
            Radius.
        style : str
            Class.
        title : str, default=""
            Text on hover.
        """
        place = f'cx="{_short(x)}" cy="{_short(y)}" r="{_short(radius)}"'
        self._add("circle", f'class="{style}" {place}', title)

    def path(
        self,
        points: Iterable[tuple[float, float]],
        style: str,
        *,
        closed: bool = False,
        title: str = "",
    ) -> None:
        """Draw a line through points.

        Parameters
        ----------
        points : iterable of (float, float)
            The points.
        style : str
            Class.
        closed : bool, default=False
            Whether the last point is joined to the first.
        title : str, default=""
            Text on hover.
        """
        steps = "L".join(f"{_short(x)} {_short(y)}" for x, y in points)
        if steps:
            self._add("path", f'class="{style}" d="M{steps}{"Z" if closed else ""}"', title)

    def columns(self, bars: Iterable[tuple[float, float, float, float]], style: str) -> None:
        """Draw many rectangles as one path, to keep files small.

        Parameters
        ----------
        bars : iterable of (x, y, width, height)
            The rectangles.
        style : str
            Class.
        """
        d = "".join(
            f"M{_short(x)} {_short(y)}h{_short(w)}v{_short(h)}h{_short(-w)}Z"
            for x, y, w, h in bars
            if w > 0 and h > 0
        )
        if d:
            self._add("path", f'class="{style}" d="{d}"')

    def text(
        self,
        x: float,
        y: float,
        text: str,
        style: str = "t",
        *,
        anchor: str = "start",
        width: float = math.inf,
        size: float = FONT,
    ) -> None:
        """Write a text, shortened to a width; the full text then shows on hover.

        Parameters
        ----------
        x, y : float
            Place of the base line.
        text : str
            What to write.
        style : str, default="t"
            Class.
        anchor : {"start", "middle", "end"}, default="start"
            Which part of the text is at x.
        width : float, default=inf
            Pixels there are.
        size : float, default=12.0
            Font size that the class has.
        """
        shown = fit_text(text, width, size)
        place = f'x="{_short(x)}" y="{_short(y)}"'
        side = "" if anchor == "start" else f' text-anchor="{anchor}"'
        title = text if shown != clean(text) else ""
        self._add("text", f'class="{style}" {place}{side}', title, str(escape(shown)))

    def render(self, name: str, title: str, description: str = "", style: str = "") -> Markup:
        """Finish the picture.

        Parameters
        ----------
        name : str
            Identifier, unique in the page; letters, digits and hyphens.
        title : str
            What the picture is, for those who cannot see it.
        description : str, default=""
            What it shows.
        style : str, default=""
            Class of the picture.

        Returns
        -------
        svg : Markup
            The element.
        """
        box = f'viewBox="0 0 {_short(self.width)} {_short(self.height)}"'
        size = f'width="{_short(self.width)}" height="{_short(self.height)}"'
        described = f' aria-describedby="{name}-d"' if description else ""
        body = f'<title id="{name}-t">{escape(clean(title))}</title>'
        if description:
            body += f'<desc id="{name}-d">{escape(clean(description))}</desc>'
        look = f' class="{style}"' if style else ""
        head = f'<svg{look} role="img" aria-labelledby="{name}-t"{described} {box} {size}>'
        return Markup(head + body + "".join(self._parts) + "</svg>")


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
    """Draw an axis below a plot: line, ticks, labels that do not collide, name.

    Parameters
    ----------
    picture : Drawing
        Where to draw.
    scale : Scale
        Horizontal scale.
    y : float
        Height of the axis.
    percent : bool, default=False
        Whether values are shares.
    title : str, default=""
        Name of the axis, below the labels.
    grid_top : float or None, default=None
        If given, grid lines run up to here.
    most : int or None, default=None
        Ticks at most; by default one in 70 pixels.
    """
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
        room = picture.width - 4
        picture.text((left + right) / 2, y + 36, title, "t-soft", anchor="middle", width=room)


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
    """Draw an axis left of a plot; its name stands above it, to be read without a turned head.

    Parameters
    ----------
    picture : Drawing
        Where to draw.
    scale : Scale
        Vertical scale (``start`` is the bottom).
    x : float
        Place of the axis.
    percent : bool, default=False
        Whether values are shares.
    title : str, default=""
        Name of the axis.
    grid_right : float or None, default=None
        If given, grid lines run up to here.
    most : int, default=6
        Ticks at most.
    """
    values = ticks(scale.low, scale.high, most)
    for value, text in zip(values, tick_texts(values, percent)):
        y = scale(value)
        if grid_right is not None:
            picture.line(x, y, grid_right, y, "grid")
        picture.text(x - 7, y + 4, text, "t-soft", anchor="end", width=x - 7)
    if title:
        picture.text(0, min(scale.start, scale.end) - 12, title, "t-soft", width=picture.width)
