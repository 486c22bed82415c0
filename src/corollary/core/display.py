"""What people see of results: axes to draw on, tables in notebooks, and text from strangers.

Matplotlib is an optional extra, and this is the one place that asks for it.
"""

import math
import unicodedata
from abc import abstractmethod
from collections.abc import Mapping, Sequence, Sized
from dataclasses import fields
from html import escape
from numbers import Real
from typing import Any, Self

#: Fields of results that take more characters are named by their kind only.
_LONGEST_FIELD = 80
#: Arrays of more numbers likewise.
_LARGEST_ARRAY = 8


def axes_for(ax: Any = None, **options: Any) -> Any:
    """Return the axes to draw on."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "Pictures need Matplotlib, which is not installed. Install it with "
            "pip install 'corollary[plot]'."
        ) from error
    return plt.subplots(**options)[1]


class Display:
    """A picture of data that a data class holds; subclasses write ``_draw(ax)``."""

    def plot(self, ax: Any = None) -> Self:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        display : Display
            Itself, with ``ax_``, ``figure_`` and what was drawn.
        """
        self.ax_ = axes_for(ax)
        self.figure_ = self.ax_.figure
        self._draw(self.ax_)
        return self

    @abstractmethod
    def _draw(self, ax: Any) -> None:
        """Draw on axes, and keep what was drawn."""


def html_table(columns: Mapping[str, Sequence[Any]]) -> str:
    """Write columns, given by their headers, as an HTML table; everything in it is escaped."""
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    rows = "".join(
        f"<tr>{''.join(f'<td>{escape(_text(entry))}</td>' for entry in row)}</tr>"
        for row in zip(*columns.values(), strict=True)
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _text(entry: Any) -> str:
    """Write numbers to four digits, and the rest as it is."""
    if isinstance(entry, Real) and not isinstance(entry, bool):
        return f"{float(entry):.4g}"
    return str(entry)


def clean(text: str) -> str:
    """Make text from data safe to look at: control and direction-changing characters show.

    Escaping keeps markup from running; this keeps a name from hiding or reversing the text
    around it, and from commanding the terminal it is printed on.
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


def _brief(value: Any) -> str:
    """Write a field of a result if it is short, or else say what it is and of which size."""
    if isinstance(value, Tabular):
        return f"<{value}>"
    shape = getattr(value, "shape", ())
    if math.prod(shape) > _LARGEST_ARRAY:
        return f"<{type(value).__name__} of shape {shape}>"
    text = repr(value)
    if len(text) <= _LONGEST_FIELD:
        return text
    size = f" of length {len(value)}" if isinstance(value, Sized) else ""
    return f"<{type(value).__name__}{size}>"


class Tabular:
    """A result that prints as a sentence, shows as a table in notebooks and becomes a frame.

    Subclasses are data classes with ``repr=False``, so that typing the name of a result into a
    console shows its short fields, and not thousands of numbers.
    """

    @abstractmethod
    def _columns(self) -> Mapping[str, Any]:
        """Return the columns of the table by their names."""

    def to_frame(self) -> Any:
        """Return the result as a data frame of pandas.

        Returns
        -------
        frame : DataFrame
            The table that notebooks show.
        """
        import pandas as pd

        return pd.DataFrame(dict(self._columns()))

    def __repr__(self) -> str:
        shown = {f.name: _brief(getattr(self, f.name)) for f in fields(self) if f.repr}  # type: ignore[arg-type]
        return f"{type(self).__name__}({', '.join(f'{k}={text}' for k, text in shown.items())})"

    def _repr_html_(self) -> str:
        return f"<p>{escape(str(self))}</p>{html_table(self._columns())}"


class Difference(Tabular):
    """The risk of one model less that of another, with an interval and a p-value."""

    difference: float
    lower: float
    upper: float
    p_value: float
    confidence: float

    @property
    def distinguishable(self) -> bool:
        """Whether the interval excludes zero."""
        return self.lower > 0 or self.upper < 0

    def __str__(self) -> str:
        shown = "Neither is shown to be better"
        if self.distinguishable:
            shown = f"The {'second' if self.difference > 0 else 'first'} is better"
        return (
            f"{shown}: the risk of the first less that of the second is {self.difference:.4g} "
            f"({100 * self.confidence:.6g}% interval {self.lower:.4g} to {self.upper:.4g}, "
            f"p = {self.p_value:.2g})."
        )

    def _columns(self) -> dict[str, list[float]]:
        names = ("difference", "lower", "upper", "p_value", "confidence")
        return {name: [getattr(self, name)] for name in names}
