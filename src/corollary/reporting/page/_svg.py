"""A small drawing kit that writes SVG: shapes, and text that fits.

Colours are never written into a drawing: shapes carry classes, and the page's style sheet gives
them colours for light, dark and paper. Every text goes through the escape of :mod:`markupsafe`,
every shape may carry a ``<title>`` that browsers show on hover without any script.
"""

import math
from collections.abc import Iterable

from markupsafe import Markup, escape

from corollary.reporting.page._format import clean

# Advance widths in em, those of DejaVu Sans rounded: it is the widest of the common system fonts,
# so a text that fits by this table fits everywhere.
_WIDTHS = {
    **dict.fromkeys("iljI.,:;'|! ", 0.33),
    **dict.fromkeys('ftr()[]-/"', 0.41),
    **dict.fromkeys("mwMW@%—…", 0.98),
    **dict.fromkeys("ABCDEFGHJKLNOPQRSTUVXYZ&", 0.71),
    **dict.fromkeys("<>=+~−×", 0.84),
}
FONT = 12.0


def text_width(text: str, size: float = FONT) -> float:
    """Estimate how wide a text is drawn."""
    return size * sum(_WIDTHS.get(c, 0.63 if ord(c) < 0x1100 else 1.05) for c in text)


def fit_text(text: str, width: float, size: float = FONT) -> str:
    """Shorten a text so that it fits."""
    text = clean(text)
    if text_width(text, size) <= width + 0.5:  # half a pixel for rounding
        return text
    for keep in range(len(text) - 1, 1, -1):
        head = (keep + 1) // 2
        short = text[:head].rstrip() + "…" + text[len(text) - (keep - head) :].lstrip()
        if text_width(short, size) <= width:
            return short
    return "…"


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
    >>> from corollary.reporting.page._svg import Drawing
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
        """Draw a straight line."""
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
        """Draw a rectangle."""
        if width < 0 or height < 0:
            return
        corner = f' rx="{_short(round_)}"' if round_ else ""
        place = f'x="{_short(x)}" y="{_short(y)}" width="{_short(width)}" height="{_short(height)}"'
        self._add("rect", f'class="{style}" {place}{corner}', title)

    def circle(self, x: float, y: float, radius: float, style: str, *, title: str = "") -> None:
        """Draw a dot."""
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
        """Draw a line through points."""
        steps = "L".join(f"{_short(x)} {_short(y)}" for x, y in points)
        if steps:
            self._add("path", f'class="{style}" d="M{steps}{"Z" if closed else ""}"', title)

    def columns(self, bars: Iterable[tuple[float, float, float, float]], style: str) -> None:
        """Draw many rectangles as one path, to keep files small."""
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
        """Write a text, shortened to a width; the full text then shows on hover."""
        shown = fit_text(text, width, size)
        place = f'x="{_short(x)}" y="{_short(y)}"'
        side = "" if anchor == "start" else f' text-anchor="{anchor}"'
        title = text if shown != clean(text) else ""
        self._add("text", f'class="{style}" {place}{side}', title, str(escape(shown)))

    def render(self, name: str, title: str, description: str = "", style: str = "") -> Markup:
        """Finish the picture."""
        box = f'viewBox="0 0 {_short(self.width)} {_short(self.height)}"'
        size = f'width="{_short(self.width)}" height="{_short(self.height)}"'
        described = f' aria-describedby="{name}-d"' if description else ""
        body = f'<title id="{name}-t">{escape(clean(title))}</title>'
        if description:
            body += f'<desc id="{name}-d">{escape(clean(description))}</desc>'
        look = f' class="{style}"' if style else ""
        head = f'<svg{look} role="img" aria-labelledby="{name}-t"{described} {box} {size}>'
        return Markup(head + body + "".join(self._parts) + "</svg>")
