"""What people see of results: axes to draw on, tables in notebooks, and text from strangers.

Matplotlib is an optional extra, and this is the one place that asks for it.
"""

import unicodedata
from collections.abc import Mapping, Sequence
from html import escape
from numbers import Real
from typing import Any


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
