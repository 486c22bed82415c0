"""What the state of a saved object must look like, declared as data.

A class that can be saved has a class attribute ``_schema``, for example::

    _schema = Schema(
        coef_=Array("f", "d") | Array("f", "k", "d"),
        intercept_=Number() | Array("f", "k"),
        n_features_in_=Size("d"),
        feature_names_in_=Optional(Strings("d")),
    )

Letters are sizes: each must have one value throughout the object, so a file whose arrays do not
fit together is refused when it is loaded instead of failing, or worse, in ``predict``.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

Sizes = dict[str, int]


class Spec(ABC):
    """Something a value must be; ``a | b`` accepts either."""

    @abstractmethod
    def matches(self, value: Any, sizes: Sizes) -> bool:
        """Tell whether a value fits, binding size letters on the way."""

    def __or__(self, other: "Spec") -> "Spec":
        return Either((self, other))


@dataclass(frozen=True)
class Either(Spec):
    """One of several."""

    options: tuple[Spec, ...]

    def matches(self, value: Any, sizes: Sizes) -> bool:
        """See :class:`Spec`."""
        for option in self.options:
            trial = dict(sizes)
            if option.matches(value, trial):
                sizes.update(trial)
                return True
        return False


@dataclass(frozen=True)
class Nullable(Spec):
    """Must be there, but may be None."""

    spec: Spec

    def matches(self, value: Any, sizes: Sizes) -> bool:
        """See :class:`Spec`."""
        return value is None or self.spec.matches(value, sizes)


class Optional(Nullable):
    """May be absent, too."""


@dataclass(frozen=True)
class Number(Spec):
    """A finite number, not a boolean, from ``low`` to ``high``; NaN and infinity if one says so."""

    low: float = -np.inf
    high: float = np.inf
    nan: bool = False
    infinite: bool = False

    def matches(self, value: Any, sizes: Sizes) -> bool:
        """See :class:`Spec`."""
        if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.number):
            return False
        if isinstance(value, int) and abs(value) > np.finfo(np.float64).max:
            return False  # arithmetic with it would overflow
        if np.isnan(value):
            return self.nan
        return bool(self.low <= value <= self.high and (self.infinite or np.isfinite(value)))


@dataclass(frozen=True)
class Integer(Spec):
    """A whole number from ``low`` to ``high``, by default the range of 64 bits."""

    low: float = -(2**63)
    high: float = 2**63 - 1

    def matches(self, value: Any, sizes: Sizes) -> bool:
        """See :class:`Spec`."""
        if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer):
            return False
        return bool(self.low <= value <= self.high)


@dataclass(frozen=True)
class Size(Spec):
    """A whole number that is one of the sizes."""

    letter: str

    def matches(self, value: Any, sizes: Sizes) -> bool:
        """See :class:`Spec`."""
        return Integer(0).matches(value, sizes) and _bind(self.letter, int(value), sizes)


@dataclass(frozen=True)
class Flag(Spec):
    """A boolean."""

    def matches(self, value: Any, sizes: Sizes) -> bool:
        """See :class:`Spec`."""
        return isinstance(value, bool | np.bool_)


@dataclass(frozen=True)
class Text(Spec):
    """A string; one of ``choices`` unless that is empty."""

    choices: tuple[str, ...] = ()

    def matches(self, value: Any, sizes: Sizes) -> bool:
        """See :class:`Spec`."""
        return isinstance(value, str) and (not self.choices or value in self.choices)


@dataclass(frozen=True)
class DType(Spec):
    """A NumPy dtype of numbers or booleans."""

    def matches(self, value: Any, sizes: Sizes) -> bool:
        """See :class:`Spec`."""
        return isinstance(value, np.dtype) and value.kind in "biuf"


class Array(Spec):
    """A numeric array; compiled loops take floats of single or double precision only.

    ``kinds`` are the allowed kinds of dtype (``"f"``, ``"i"``, ``"u"``, ``"b"``), ``shape`` its
    sizes by letter or number, ``"*"`` for any, ``"k+"`` for a size k of at least one. Values are at
    least ``low`` and less than ``below``, a number or the letter of the size that they index. They
    are finite, except where ``nan`` or ``infinite`` says that a model may hold such.
    """

    def __init__(
        self,
        kinds: str,
        *shape: str | int,
        low: float = -np.inf,
        below: str | float = np.inf,
        nan: bool = False,
        infinite: bool = False,
    ) -> None:
        self.kinds, self.shape, self.low, self.below = kinds, shape, low, below
        self.nan, self.infinite = nan, infinite

    def matches(self, value: Any, sizes: Sizes) -> bool:
        """See :class:`Spec`."""
        if not isinstance(value, np.ndarray) or value.dtype.kind not in self.kinds:
            return False
        if value.dtype == np.float16 or not _bind_shape(self.shape, value.shape, sizes):
            return False
        if self.nan and value.dtype.kind == "f":
            value = value[~np.isnan(value)]
        if value.size == 0:
            return True
        least, most = value.min(), value.max()  # NaN if there is one, which no comparison lets pass
        if not (self.infinite or (np.isfinite(least) and np.isfinite(most))):
            return False
        below = sizes.get(self.below, -1) if isinstance(self.below, str) else self.below
        return bool(least >= self.low and (most < below or below == np.inf))


class Sparse(Spec):
    """A sparse matrix of finite numbers in compressed form; its indices are checked."""

    def __init__(self, *shape: str | int) -> None:
        self.shape = shape

    def matches(self, value: Any, sizes: Sizes) -> bool:
        """See :class:`Spec`."""
        return (
            sparse.issparse(value)
            and _bind_shape(self.shape, value.shape, sizes)
            and bool(np.isfinite(value.data).all())
        )


class Strings(Spec):
    """An array of strings."""

    def __init__(self, *shape: str | int) -> None:
        self.shape = shape

    def matches(self, value: Any, sizes: Sizes) -> bool:
        """See :class:`Spec`."""
        return (
            isinstance(value, np.ndarray)
            and (value.dtype.kind == "U" or all(isinstance(v, str) for v in value.flat))
            and _bind_shape(self.shape, value.shape, sizes)
        )


class Labels(Spec):
    """Class labels: finite numbers, booleans or strings, distinct."""

    def __init__(self, letter: str) -> None:
        self.letter = letter

    def matches(self, value: Any, sizes: Sizes) -> bool:
        """See :class:`Spec`."""
        return (
            isinstance(value, np.ndarray)
            and value.ndim == 1
            and (
                value.dtype.kind in "biufU"
                # Labels of different kinds could not be compared, let alone sorted.
                or all(isinstance(v, str) for v in value)
                or all(isinstance(v, int | float | bool) for v in value)
            )
            and all(np.isfinite(v) for v in value.tolist() if isinstance(v, float))
            and len(set(value.tolist())) == len(value)
            and _bind(self.letter, len(value), sizes)
        )


class List(Spec):
    """A list or tuple whose items fit ``item``; ``length`` is the letter of its length.

    Size letters inside are free for each item unless they are bound outside.
    """

    def __init__(self, item: Spec, length: str = "*") -> None:
        self.item, self.length = item, length

    def matches(self, value: Any, sizes: Sizes) -> bool:
        """See :class:`Spec`."""
        return (
            isinstance(value, list | tuple)
            and _bind(self.length, len(value), sizes)
            and all(self.item.matches(v, dict(sizes)) for v in value)
        )


class Mapping(Spec):
    """A dictionary with string keys whose values fit ``item``."""

    def __init__(self, item: Spec) -> None:
        self.item = item

    def matches(self, value: Any, sizes: Sizes) -> bool:
        """See :class:`Spec`."""
        return isinstance(value, dict) and all(
            isinstance(k, str) and self.item.matches(v, dict(sizes)) for k, v in value.items()
        )


class Record(Spec):
    """A dictionary with exactly the given keys, of which those marked Optional may be absent.

    Size letters are shared by the fields.
    """

    def __init__(self, **fields: Spec) -> None:
        self.fields = fields

    def matches(self, value: Any, sizes: Sizes) -> bool:
        """See :class:`Spec`."""
        if not isinstance(value, dict) or not set(value) <= set(self.fields):
            return False
        return all(
            spec.matches(value[name], sizes) if name in value else isinstance(spec, Optional)
            for name, spec in self.fields.items()
        )


class Plain(Spec):
    """Plain data of any shape: numbers, strings, booleans, None, lists, dictionaries of such."""

    def matches(self, value: Any, sizes: Sizes) -> bool:
        """See :class:`Spec`."""
        if isinstance(value, list | tuple):
            return all(self.matches(v, sizes) for v in value)
        if isinstance(value, dict):
            return all(isinstance(k, str) and self.matches(v, sizes) for k, v in value.items())
        return value is None or isinstance(value, bool | int | float | str)


class Instance(Spec):
    """A saved object that has all of the given methods, by which a model is told from a scaler."""

    def __init__(self, *methods: str) -> None:
        self.methods = methods

    def matches(self, value: Any, sizes: Sizes) -> bool:
        """See :class:`Spec`."""
        return hasattr(type(value), "__mro__") and all(
            callable(getattr(type(value), m, None)) for m in self.methods
        )


# What scikit-learn's ``set_output`` leaves on an estimator, fitted or not.
_SETTINGS: dict[str, Spec] = {
    "_sklearn_output_config": Record(transform=Text(("default", "pandas", "polars")))
}


class Schema:
    """The fitted attributes (or dataclass fields) an object may have.

    ``check(object)`` runs last and returns a sentence if something does not fit together.
    ``parameters`` restricts constructor parameters beyond the constraints of the class. An object
    without any of its fitted attributes is an unfitted estimator and may be saved, too.
    """

    def __init__(
        self,
        check: Callable[[Any], str | None] | None = None,
        parameters: dict[str, Spec] | None = None,
        /,
        **attributes: Spec,
    ) -> None:
        self.check = check
        self.parameters = parameters or {}
        self.attributes = attributes

    def problem(self, parameters: dict[str, Any], state: dict[str, Any]) -> str | None:
        """Say what is wrong with the parts of an object, or None."""
        for name, spec in self.parameters.items():
            if not spec.matches(parameters.get(name), {}):
                return f"parameter {name!r} has a value that model files may not have"
        for name, spec in _SETTINGS.items():
            if name in state and not spec.matches(state[name], {}):
                return f"attribute {name!r} has the wrong type, shape or range"
        state = self.fitted(state)
        unknown = sorted(set(state) - set(self.attributes))
        if unknown:
            return f"unknown attribute {unknown[0]!r}"
        sizes: Sizes = {}
        for name, spec in self.attributes.items():
            if name not in state:
                if isinstance(spec, Optional) or not state:
                    continue
                return f"attribute {name!r} is missing"
            if not spec.matches(state[name], sizes):
                return f"attribute {name!r} has the wrong type, shape or range"
        return None

    def fitted(self, state: dict[str, Any]) -> dict[str, Any]:
        """Return what fitting has left, without what the user has set."""
        return {name: value for name, value in state.items() if name not in _SETTINGS}


def _bind(letter: str, size: int, sizes: Sizes) -> bool:
    if letter.endswith("+"):
        return size > 0 and _bind(letter[:-1], size, sizes)
    return letter == "*" or sizes.setdefault(letter, size) == size


def _bind_shape(wanted: tuple[str | int, ...], found: tuple[int, ...], sizes: Sizes) -> bool:
    return len(wanted) == len(found) and all(
        w == f if isinstance(w, int) else _bind(w, f, sizes) for w, f in zip(wanted, found)
    )
