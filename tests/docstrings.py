"""Compare what a docstring documents with what the code has."""

import inspect
import re
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from typing import Any

from numpydoc.docscrape import NumpyDocString

from corollary.core.compat import StrOptions

#: What reStructuredText leaves alone: blocks that are indented after ``::``, roles, code.
LITERAL = re.compile(r"::.*(\n+[ ]+.*)*|:\w+:`[^`]*`|``[^`]+``|`[^`]*`_?")


def signature_of(obj: Any) -> dict[str, Any]:
    """Parameter names to defaults (inspect.Parameter.empty where there is none)."""
    if inspect.isclass(obj):
        if is_dataclass(obj):
            return {
                f.name: (
                    inspect.Parameter.empty
                    if f.default is MISSING and f.default_factory is MISSING
                    else f.default
                    if f.default is not MISSING
                    else "a factory"
                )
                for f in fields(obj)
                if f.init
            }
        if issubclass(obj, tuple) and hasattr(obj, "_fields"):
            return {
                name: obj._field_defaults.get(name, inspect.Parameter.empty) for name in obj._fields
            }
        if not inspect.isfunction(obj.__init__) or issubclass(obj, Enum):
            return {}
        if getattr(obj, "_is_protocol", False):
            return {}
        target = obj.__init__
    else:
        target = obj
    parameters = dict(inspect.signature(target).parameters)
    parameters.pop("self", None)
    names = {
        inspect.Parameter.VAR_KEYWORD: "**{}",
        inspect.Parameter.VAR_POSITIONAL: "*{}",
    }
    return {
        names.get(p.kind, "{}").format(n): p.default
        for n, p in parameters.items()
        if not n.startswith("_")
    }


def problems(obj: Any) -> list[str]:
    """Differences between the documented and the real parameters."""
    text = inspect.getdoc(obj)
    if not text:
        return ["has no docstring"]
    doc = NumpyDocString(text)
    found = []
    real = signature_of(obj)
    documented: dict[str, str] = {}
    described: dict[str, list[str]] = {}
    for parameter in doc["Parameters"]:
        for name in parameter.name.split(","):
            documented[name.strip()] = parameter.type
            described[name.strip()] = parameter.desc
    short = re.search(r"See\s+:(class|func):", text) and not doc["Parameters"]
    if not short and list(documented) != list(real):
        found.append(f"documents {list(documented)}, has {list(real)}")
    for name, default in real.items():
        kind = documented.get(name, "")
        if name.startswith("*") or short or name not in documented:
            continue
        if default is inspect.Parameter.empty:
            if "default=" in kind:
                found.append(f"{name}: a default is documented, there is none")
        elif "default=" not in kind:
            found.append(f"{name}: the default {default!r} is not documented")
        elif not _same(kind.split("default=", 1)[1].strip(), default):
            found.append(f"{name}: documented {kind.split('default=', 1)[1]}, is {default!r}")
    for name, allowed in getattr(obj, "_parameter_constraints", {}).items():
        options = {word for c in allowed if isinstance(c, StrOptions) for word in c.options}
        said = set(re.findall(r'"([^"]+)"', documented.get(name, "").split("default=")[0]))
        if not said:  # long lists stand in the description
            said = options & set(re.findall(r"[\w-]+", " ".join(described.get(name, []))))
        elsewhere = "As in :class:" in " ".join(described.get(name, []))
        if options and name in documented and said != options and not elsewhere:
            found.append(f"{name}: documents {sorted(said)}, accepts {sorted(options)}")
    return found + [f"Sphinx would take {mark!r} for markup" for mark in stray_markup(doc)]


def stray_markup(doc: NumpyDocString) -> list[str]:
    """Names and bars of the prose that reStructuredText takes for references."""
    prose = [*doc["Summary"], *doc["Extended Summary"], *doc["Notes"]]
    for section in ("Parameters", "Returns", "Attributes", "Raises"):
        for field in doc[section]:
            prose += [field.type, "", *field.desc, ""]
    prose_only = re.sub(LITERAL, "", "\n".join(prose))
    return re.findall(r"(?<![\w\\])\w+_(?![\w{])|(?<!\S)\|\S+", prose_only)


def _same(documented: str, default: Any) -> bool:
    if default == "a factory":
        return True
    if callable(default) or not isinstance(default, int | float | str | bool | tuple | type(None)):
        return True
    candidates = {repr(default), str(default), f'"{default}"'}
    if isinstance(default, float) and not isinstance(default, bool):
        try:
            return float(documented.replace("inf", "inf")) == default
        except ValueError:
            return False
    return (
        documented in candidates
        or documented.replace("'", '"') in candidates
        or (
            isinstance(default, tuple)
            and documented.replace(" ", "") == repr(default).replace(" ", "")
        )
    )
