"""The JSON schema of a report, made from the types of its content."""

import types
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from corollary.reporting.page._content import Length, Range
from corollary.reporting.page._report_content import ReportContent
from corollary.reporting.page.sections import SECTIONS

SCHEMA_VERSION = 1
_PLAIN = {str: "string", bool: "boolean", int: "integer", float: "number", types.NoneType: "null"}


def json_schema() -> dict[str, Any]:
    """Describe ``report.json`` by a JSON schema.

    Returns
    -------
    schema : dict
        A schema of draft 2020-12.

    Examples
    --------
    >>> from corollary.reporting import json_schema
    >>> sorted(json_schema()["properties"]["rows"]["properties"])
    ['all', 'calibration', 'test', 'train']
    """
    schema = _schema_of(ReportContent)
    schema["properties"]["sections"]["properties"] = {
        name: _schema_of(section.content) for name, section in SECTIONS.items()
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "corollary report",
        "description": "The summary that `corollary report` writes beside its page, version "
        f"{SCHEMA_VERSION}. Numbers are unrounded; sentences are those of the page. A section with "
        "nothing to show is absent.",
        **schema,
    }


def _schema_of(kind: Any) -> dict[str, Any]:
    """Give the schema of the values of a type."""
    if kind in _PLAIN:
        return {"type": _PLAIN[kind]}
    if is_typeddict(kind):
        return _object(kind)
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _schema_of(parts[0]) | _limits(parts[1])
    if origin is NotRequired:
        return _schema_of(parts[0])
    if origin is Literal:
        return {"enum": list(parts)}
    if origin is list:
        return {"type": "array", "items": _schema_of(parts[0])}
    if origin is dict:
        return {"type": "object", "additionalProperties": _schema_of(parts[1])}
    if origin in (Union, types.UnionType):
        return {"anyOf": [_schema_of(part) for part in parts]}
    raise TypeError(f"No schema is known for values of {kind!r}.")


def _object(kind: Any) -> dict[str, Any]:
    hints = get_type_hints(kind, include_extras=True)
    return {
        "type": "object",
        "properties": {name: _schema_of(hint) for name, hint in hints.items()},
        "required": [name for name in hints if name in kind.__required_keys__],
        "additionalProperties": False,
    }


def _limits(limits: Length | Range) -> dict[str, Any]:
    names = ("minItems", "maxItems") if isinstance(limits, Length) else ("minimum", "maximum")
    return {name: limit for name, limit in zip(names, limits) if limit is not None}
