"""Tables that notebooks show in place of the text of a result."""

from collections.abc import Mapping, Sequence
from html import escape
from numbers import Real
from typing import Any


def html_table(columns: Mapping[str, Sequence[Any]]) -> str:
    """Write columns as an HTML table; everything in it is escaped.

    Parameters
    ----------
    columns : mapping of str to sequence
        Header to entries, all of one length.

    Returns
    -------
    html : str
        The table.
    """
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
