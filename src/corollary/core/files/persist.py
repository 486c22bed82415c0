"""Saving and loading models as data, never as code.

A file holds a tree of plain values, arrays and objects. An object is the public name of a class
and its state; on loading, the class must be one that this library exports or one of the few
third-party classes in :mod:`corollary.core.files`, its parameters must pass the class's own
constraints, and its fitted attributes must fit the schema that the installed library declares.
The file cannot name functions, modules or paths, and it brings no list of what to trust.
"""

import dataclasses
import importlib
import importlib.util
import math
import os
import re
import sys
from typing import Any

import numpy as np
from scipy import sparse

from corollary.core.files.atomic import atomic_write
from corollary.core.files.column_transformer import with_plain_columns
from corollary.core.files.container import (
    DTYPES,
    SIGNATURE,
    ModelFileError,
    is_whole,
    pack,
    unpack,
)
from corollary.core.files.pipe import spooled
from corollary.core.schema import Schema

FORMAT = 1
# Deep enough for nested pipelines, shallow enough for Python's stack.
MAX_DEPTH = 60
# Every string of an array takes the room of its longest, so that a small file could ask for much.
MAX_STRING_BYTES = 2**28

_PUBLIC = re.compile(r"corollary\.([a-z_]+)\.([A-Z]\w*)")
_CORE = re.compile(r"corollary\.core\.([a-z]\w*)\.([A-Z]\w*)")
# Names in files of earlier versions, and where their classes live now.
_FORMER = {
    "corollary.core.moments.Moments": "corollary.core.summary.Moments",
    "corollary.theory.PACBayesClassifier": "corollary.neural.PACBayesClassifier",
    "corollary.core.normal_equations.NormalEquations": "corollary.linear.NormalEquations",
    "corollary.report.IntervalCalibration": "corollary.conformal.IntervalCalibration",
    "corollary.report.MarginClassifier": "corollary.svm.CalibratedMachine",
    "corollary.report.Predictor": "corollary.reporting.Predictor",
    "corollary.report.ReportModel": "corollary.reporting.ReportModel",
    "corollary.report.SetCalibration": "corollary.conformal.SetCalibration",
}


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Save a model.

    Parameters
    ----------
    model : estimator
        An estimator of this library, or a scikit-learn pipeline of such estimators and common
        preprocessing steps (:mod:`corollary.core.files` lists them); fitted or not.
    path : str or path-like
        File to write; conventionally with suffix ``.corollary``. An existing file is replaced in
        one step, or, if anything fails, not at all.

    Raises
    ------
    TypeError
        If the model contains something that is not data, such as a function.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> import corollary
    >>> from corollary.linear import Ridge
    >>> X = np.arange(6.0).reshape(3, 2)
    >>> model = Ridge().fit(X, [0.0, 1.0, 2.0])
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "ridge.corollary"
    >>> corollary.save(model, path)
    >>> np.array_equal(corollary.load(path).predict(X), model.predict(X))
    True
    """
    from corollary import __version__

    writer = _Writer()
    root = writer.node(model, type(model).__name__, 0)
    if not _is_object(root):
        raise TypeError(f"Only a model can be saved, alone. Got a {type(model).__name__}.")
    header = {"format": FORMAT, "corollary": __version__, "root": root}
    data = pack(header, writer.arrays)
    with atomic_write(path) as file:
        file.write(data)


def load(path: str | os.PathLike[str]) -> Any:
    """Load a model; the file need not be trusted.

    Parameters
    ----------
    path : str or path-like
        A file written by :func:`save`, by this or an earlier version.

    Returns
    -------
    model : estimator
        The model.

    Raises
    ------
    ModelFileError
        If the file is not a model file, is damaged, comes from a newer format, or holds anything
        that does not fit the classes it names. It is a ValueError.
    """
    header, arrays = unpack(_whole(path))
    version = header.get("format")
    if not is_whole(version) or version < 1:
        raise ModelFileError("The model file does not state its format.")
    if version > FORMAT:
        raise ModelFileError(
            f"The model file has format {version}, made by corollary "
            f"{str(header.get('corollary'))[:40]}; this version reads formats up to {FORMAT}. "
            "Install a newer corollary."
        )
    value = _Reader(arrays).value(root := header.get("root"), 0)
    if not _is_object(root):
        raise ModelFileError(f"The model file holds no model but a {type(value).__name__}.")
    return value


def _is_object(node: Any) -> bool:
    return isinstance(node, dict) and node.get("t") == "object"


def _whole(path: str | os.PathLike[str]) -> bytes:
    """Read a file or a pipe; of what is no model file, the beginning only."""
    with spooled(path) or open(path, "rb") as file:
        file.seek(0)
        start: bytes = file.read(len(SIGNATURE))
        return start + file.read() if start == SIGNATURE else start


def public_name(cls: type) -> str | None:
    """Return the name under which a class is saved."""
    from corollary.core.files.third_party import NAMES

    if cls in NAMES():
        return NAMES()[cls]
    parts = cls.__module__.split(".")
    if parts[0] != "corollary" or not isinstance(vars(cls).get("_schema"), Schema):
        return None
    name = f"{'.'.join(parts[: 3 if parts[1] == 'core' else 2])}.{cls.__name__}"
    return name if _class_named(name) is cls else None


def _class_named(name: str) -> type | None:
    """Find a class by its public name, among those that declare a schema, and only those."""
    from corollary import _PACKAGES
    from corollary.core.files.third_party import NAMES

    name = _FORMER.get(name, name)
    for cls, known in NAMES().items():
        if name == known:
            return cls
    if match := _PUBLIC.fullmatch(name):
        package, attribute = match.groups()
        if package not in _PACKAGES:
            return None
        module = f"corollary.{package}"
    elif match := _CORE.fullmatch(name):
        file, attribute = match.groups()
        module = f"corollary.core.{file}"
        if importlib.util.find_spec(module) is None:
            return None
    else:
        return None
    found = getattr(importlib.import_module(module), attribute, None)
    if isinstance(found, type) and isinstance(vars(found).get("_schema"), Schema):
        return found
    return None


def _schema_of(cls: type) -> Schema:
    from corollary.core.files.third_party import SCHEMAS

    return vars(cls).get("_schema") or SCHEMAS()[cls]


class _Writer:
    """Turn values into JSON nodes, collecting arrays on the way."""

    def __init__(self) -> None:
        self.arrays: list[np.ndarray] = []
        self._string_bytes = 0

    def node(self, value: Any, where: str, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise TypeError(f"{where} is nested too deeply to be saved.")

        def inner(item: Any, name: str) -> Any:
            return self.node(item, f"{where}{name}", depth + 1)

        if isinstance(value, np.generic) and value.dtype.kind in "biuf":
            return {"t": "scalar", "v": self._store(np.asarray(value))}
        if isinstance(value, str):
            return str(value)
        if isinstance(value, int) and abs(value) > sys.float_info.max:
            raise TypeError(f"{where} is a whole number beyond all floats, which cannot be saved.")
        if value is None or isinstance(value, bool | int):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else {"t": "float", "v": repr(value)}
        if isinstance(value, np.dtype) and value.str in DTYPES:
            return {"t": "dtype", "v": value.str}
        if isinstance(value, type) and issubclass(value, np.generic):
            return {"t": "numpy type", "v": np.dtype(value).str}
        if isinstance(value, np.ndarray):
            return self._array(value, inner)
        if sparse.issparse(value) and value.format in ("csr", "csc"):
            parts = [value.data, value.indices, value.indptr]
            return {
                "t": "sparse",
                "format": value.format,
                "shape": list(value.shape),
                "v": [self._store(np.asarray(p)) for p in parts],
            }
        if isinstance(value, list | tuple | slice | dict) and not hasattr(value, "_fields"):
            return _container(value, inner)
        return self._object(value, where, inner)

    def _store(self, array: np.ndarray) -> int:
        self.arrays.append(array)
        return len(self.arrays) - 1

    def _array(self, value: np.ndarray, inner: Any) -> dict[str, Any]:
        if value.dtype.kind in "biuf" and value.dtype.itemsize <= 8:
            return {"t": "array", "v": self._store(value)}
        if value.dtype.kind in "UO":
            items = [inner(v, "[...]") for v in value.ravel().tolist()]
            kind = "strings" if value.dtype.kind == "U" else "objects"
            self._string_bytes += value.nbytes if kind == "strings" else 0
            if self._string_bytes > MAX_STRING_BYTES:
                raise TypeError(
                    f"Arrays of strings of more than {MAX_STRING_BYTES} bytes cannot be saved. "
                    "Shorten the longest strings."
                )
            return {"t": kind, "shape": list(value.shape), "v": items}
        raise TypeError(f"Arrays of dtype {value.dtype} cannot be saved.")

    def _object(self, value: Any, where: str, inner: Any) -> dict[str, Any]:
        name = public_name(type(value))
        if name is None:
            raise TypeError(
                f"{where} is a {type(value).__module__}.{type(value).__qualname__}, which cannot "
                "be saved: model files hold data only. Use an estimator of corollary, or one of "
                "the scikit-learn steps listed in docs/model_files.md."
            )
        parameters, state = _take_apart(value)
        schema = _schema_of(type(value))
        problem = schema.problem(parameters, state)
        if problem is None and schema.check is not None and schema.fitted(state):
            problem = schema.check(value)
        if problem is not None:
            raise TypeError(f"{where} cannot be saved: {problem}.")
        return {
            "t": "object",
            "class": name,
            "parameters": {k: inner(v, f".{k}") for k, v in parameters.items()},
            "state": {k: inner(v, f".{k}") for k, v in state.items()},
        }


def _container(value: Any, inner: Any) -> dict[str, Any]:
    """Write a list, a tuple, a slice or a dictionary."""
    if isinstance(value, slice):
        ends = (value.start, value.stop, value.step)
        return {"t": "slice", "v": [inner(end, "") for end in ends]}
    if isinstance(value, dict):
        return {
            "t": "dict",
            "k": [inner(k, " key") for k in value],
            "v": [inner(v, f"[{k!r}]") for k, v in value.items()],
        }
    return {
        "t": "list" if isinstance(value, list) else "tuple",
        "v": [inner(v, f"[{i}]") for i, v in enumerate(value)],
    }


def _take_apart(value: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split an object into constructor parameters and fitted state."""
    if dataclasses.is_dataclass(value):
        fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
        return {}, fields
    parameters = value.get_params(deep=False)
    left_out = {*parameters, *getattr(value, "_unsaved", ())}
    state = {k: v for k, v in vars(value).items() if k not in left_out}
    if "transformers" in parameters:
        return with_plain_columns(parameters, state)
    return parameters, state


class _Reader:
    """Turn JSON nodes back into values, believing nothing."""

    def __init__(self, arrays: list[np.ndarray]) -> None:
        self._arrays: list[np.ndarray | None] = list(arrays)
        self._string_bytes = 0

    def value(self, node: Any, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise ModelFileError("The model file is nested too deeply.")

        def inner(item: Any) -> Any:
            return self.value(item, depth + 1)

        match node:
            case int() if abs(node) > sys.float_info.max:
                raise ModelFileError("The model file has a whole number beyond all floats.")
            case None | bool() | int() | float() | str():
                return node
            case {"t": "float", "v": ("nan" | "inf" | "-inf") as text}:
                return float(text)
            case {"t": "dtype", "v": str(text)} if text in DTYPES:
                return np.dtype(text)
            case {"t": "numpy type", "v": str(text)} if text in DTYPES:
                return np.dtype(text).type
            case {"t": "scalar", "v": index}:
                array = self._stored(index)
                if array.ndim == 0:
                    return array[()]
            case {"t": "array", "v": index}:
                return self._stored(index)
            case {"t": "sparse", "format": "csr" | "csc", "shape": [int(), int()], "v": list(v)}:
                return self._sparse(node["format"], node["shape"], v)
            case {"t": "strings" | "objects" as kind, "shape": list(shape), "v": list(items)}:
                return self._shaped([inner(v) for v in items], shape, kind)
            case {"t": "slice", "v": [start, stop, step]}:
                return slice(inner(start), inner(stop), inner(step))
            case {"t": "list", "v": list(items)}:
                return [inner(v) for v in items]
            case {"t": "tuple", "v": list(items)}:
                return tuple(inner(v) for v in items)
            case {"t": "dict", "k": list(keys), "v": list(items)} if len(keys) == len(items):
                return dict(zip([_key(inner(k)) for k in keys], [inner(v) for v in items]))
            case {"t": "object", "class": str(name), "parameters": dict(p), "state": dict(s)}:
                parameters = {k: inner(v) for k, v in p.items()}
                return _put_together(name, parameters, {k: inner(v) for k, v in s.items()})
        raise ModelFileError(f"The model file holds something unknown: {str(node)[:120]}")

    def _stored(self, index: Any) -> np.ndarray:
        if not is_whole(index) or not 0 <= index < len(self._arrays):
            raise ModelFileError(
                f"The model file refers to an array that is not there: {str(index)[:40]}."
            )
        array, self._arrays[index] = self._arrays[index], None
        if array is None:  # checking one array a million times would take for ever
            raise ModelFileError(f"The model file refers to array {index} more than once.")
        return array

    def _sparse(self, kind: str, shape: list[int], parts: list[Any]) -> Any:
        if len(parts) != 3 or not all(0 <= n < 2**48 for n in shape):
            raise ModelFileError("The model file holds an impossible sparse matrix.")
        data, indices, indptr = (self._stored(i) for i in parts)
        build = sparse.csr_matrix if kind == "csr" else sparse.csc_matrix
        try:
            matrix = build((data, indices, indptr), shape=tuple(shape))
            matrix.check_format(full_check=True)
        except (ValueError, TypeError, IndexError) as error:
            raise ModelFileError(f"The model file's sparse matrix is invalid: {error}") from None
        return matrix

    def _shaped(self, items: list[Any], shape: list[Any], kind: str) -> np.ndarray:
        if not all(is_whole(n) and n >= 0 for n in shape) or math.prod(shape) != len(items):
            raise ModelFileError("The model file holds an array of strings of an impossible shape.")
        if len(shape) > 8 or math.prod(max(1, n) for n in shape) > max(1, len(items)):
            raise ModelFileError("The model file holds an array of strings of an impossible shape.")
        if kind == "strings":
            if not all(isinstance(v, str) for v in items):
                raise ModelFileError("The model file holds an array of strings with other things.")
            self._string_bytes += 4 * len(items) * max(map(len, items), default=0)
            if self._string_bytes > MAX_STRING_BYTES:
                raise ModelFileError("The model file holds arrays of strings that are too large.")
            return np.array(items, dtype=np.str_).reshape(shape)
        array = np.empty(len(items), dtype=object)
        array[:] = items
        return array.reshape(shape)


def _key(value: Any) -> Any:
    if isinstance(value, str | int | float | bool) or value is None:
        return value
    raise ModelFileError("The model file holds a dictionary key that is not a plain value.")


def _put_together(name: str, parameters: dict[str, Any], state: dict[str, Any]) -> Any:
    cls = _class_named(name)
    if cls is None:
        raise ModelFileError(f"The model file names {name[:80]!r}, which is not a class we load.")
    # A name that has come to mean another method says which class its older files are of.
    if hasattr(cls, "_successor"):
        cls = cls._successor(parameters, state)
    schema = _schema_of(cls)
    try:
        # A class whose state has changed since its first files says what they mean today.
        if hasattr(cls, "_from_former"):
            state = cls._from_former(parameters, state)
        problem = schema.problem(parameters, state)
        if problem is None:
            value = _build(cls, parameters, state)
            if schema.check is not None and schema.fitted(state):
                problem = schema.check(value)
    # A check that stumbles over what it is to check has found that it does not fit.
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        problem = str(error)
    if problem is not None:
        raise ModelFileError(
            f"The model file's {cls.__name__} does not fit: {problem.rstrip('.')}."
        )
    return value


def _build(cls: type, parameters: dict[str, Any], state: dict[str, Any]) -> Any:
    if dataclasses.is_dataclass(cls):
        if parameters:
            raise ModelFileError("it has unknown parameters")
        return cls(**state)
    value = cls(**parameters)
    _validate_parameters(value)
    vars(value).update(state)
    return value


def _validate_parameters(estimator: Any) -> None:
    from corollary.core.compat import validate_parameters

    validate_parameters(estimator)
