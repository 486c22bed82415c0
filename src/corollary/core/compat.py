"""The only place that depends on what third-party packages do not promise.

scikit-learn keeps its declared parameter constraints private. They give the best error messages
in the field, so we use them. Some errors of others can be told apart by their words only. A release
that changes either is mended in this file alone.
"""

from functools import cache
from inspect import signature
from typing import Any

import numpy as np
from sklearn.base import _fit_context as fit_context
from sklearn.utils import _safe_indexing as safe_indexing
from sklearn.utils._param_validation import (
    HasMethods,
    Interval,
    InvalidParameterError,
    Options,
    StrOptions,
    make_constraint,
    validate_params,
)
from sklearn.utils.metaestimators import _BaseComposition as BaseComposition
from sklearn.utils.validation import _check_feature_names_in as check_feature_names_in
from sklearn.utils.validation import _check_sample_weight as check_sample_weight

__all__ = [
    "Anything",
    "BaseComposition",
    "HasMethods",
    "InstanceOf",
    "Interval",
    "InvalidParameterError",
    "Only",
    "Options",
    "StrOptions",
    "Texts",
    "check_feature_names_in",
    "check_sample_weight",
    "fit_context",
    "is_missing",
    "parameters_fit",
    "safe_indexing",
    "validate_parameters",
    "validate_params",
    "warn_at_bounds",
    "what_was_refused",
]


class Anything(Options):
    """A parameter that changes nothing, and so may have any value."""

    def __init__(self) -> None:
        super().__init__(object, set())

    def is_satisfied_by(self, value: Any) -> bool:
        """Say that every value will do."""
        return True

    def __str__(self) -> str:
        return "anything"


class Texts(StrOptions):
    """Texts, which a message names in the order in which they were declared."""

    def __init__(self, *values: str) -> None:
        super().__init__(set(values))
        self.values = values

    def __str__(self) -> str:
        return f"a str among {{{', '.join(map(repr, self.values))}}}"


class InstanceOf(Options):
    """Objects of a class, which a message names as users do, without its module."""

    def __init__(self, kind: type) -> None:
        super().__init__(object, set())
        self.kind = kind

    def is_satisfied_by(self, value: Any) -> bool:
        """Say whether a value is such an object."""
        return isinstance(value, self.kind)

    def __str__(self) -> str:
        return f"an instance of {self.kind.__name__}"


class Only(Options):
    """The values of scikit-learn's that a parameter has here, and what to use for the others."""

    def __init__(self, *values: Any, instead: str) -> None:
        super().__init__(object, set(values))
        self.values, self.instead = values, instead

    def is_satisfied_by(self, value: Any) -> bool:
        """Say whether a value is one of ours, of the same type."""
        return any(value is one or (type(value), value) == (type(one), one) for one in self.values)

    def __str__(self) -> str:
        return f"{' or '.join(map(repr, self.values))} here ({self.instead})"


def validate_parameters(estimator: Any) -> None:
    """Check an estimator's parameters against its declared constraints, as ``fit`` would."""
    estimator._validate_params()


def parameters_fit(estimator: Any) -> bool:
    """Say whether the parameters of an estimator satisfy its constraints, without a sentence."""
    for name, default, allowed in _constraints(type(estimator)):  # type: ignore[arg-type]
        value = getattr(estimator, name)
        if value is not default and not any(one.is_satisfied_by(value) for one in allowed):
            return False
    return True


@cache
def _constraints(kind: Any) -> list[tuple[str, Any, list[Any]]]:
    """Return each parameter of a class that is checked, its default if valid, and constraints."""
    checks = []
    for name, parameter in signature(kind).parameters.items():
        given = kind._parameter_constraints.get(name, "no_validation")
        if given == "no_validation":
            continue
        allowed = [make_constraint(one) for one in given]
        valid = any(one.is_satisfied_by(parameter.default) for one in allowed)
        checks.append((name, parameter.default if valid else object(), allowed))
    return checks


def is_missing(value: Any) -> bool:
    """Say whether a value is None, NaN or pandas' NA, which answers comparisons with itself."""
    if value is None:
        return True
    unequal = value != value
    return bool(unequal) if isinstance(unequal, bool | np.bool_) else unequal is value


def warn_at_bounds(kernel: Any) -> None:
    """Warn if hyper-parameters of scikit-learn's kernel object have reached their bounds."""
    kernel._check_bounds_params()


#: What part of an error's words says what was refused.
_REFUSALS = {
    "missing values": "does not accept missing values encoded as NaN natively",
    "sparse rows": "Sparse data was passed for X",
    "text": "could not convert string to float",
    "empty file": "Empty CSV",
    "value of another type": "conversion error",
}


def what_was_refused(error: Exception) -> str | None:
    """Tell errors of scikit-learn, NumPy and pyarrow apart."""
    if isinstance(error, np.exceptions.DTypePromotionError):  # dates
        return "text"
    words = str(error)
    return next((what for what, part in _REFUSALS.items() if part in words), None)
