"""The report's sections, in the order of reading.

A section is one small module: ``build(evidence)`` turns what was measured into a dictionary of
plain values, or None if there is nothing to show, ``HEADING`` is what the page calls it and
``CONTENT`` the type of the dictionary, of which the JSON schema is made. A template of the same
name turns the dictionary into HTML. The same dictionaries are the JSON summary.
"""

from collections.abc import Callable
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, NamedTuple

from corollary.reporting._records import Evidence

#: Those that say what was seen, and those that end the page; others come between.
_FIRST = (
    "data",
    "models",
    "certificate",
    "calibration",
    "errors",
    "unusual_rows",
    "why",
    "new_data",
)
_LAST = ("reproduce", "limits")


class Section(NamedTuple):
    """One section of the page and of the JSON summary."""

    heading: str
    content: type  # of the dictionary that ``build`` returns, with the heading
    build: Callable[[Evidence], dict[str, Any] | None]


def _find() -> dict[str, Section]:
    """Find the modules of this folder that have a heading; the others help them."""
    names = (module.name for module in iter_modules(__path__))
    modules = {name[1:]: import_module(f"{__name__}.{name}") for name in names}
    found = {
        name: Section(module.HEADING, module.CONTENT, module.build)
        for name, module in modules.items()
        if hasattr(module, "HEADING")
    }
    between = sorted(found.keys() - {*_FIRST, *_LAST})
    return {name: found[name] for name in (*_FIRST, *between, *_LAST)}


SECTIONS = _find()
