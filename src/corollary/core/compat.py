"""The only place that depends on what third-party packages do not promise.

scikit-learn keeps its declared parameter constraints private. They give the best error messages
in the field, so we use them. Some errors of others can be told apart by their words only. A release
that changes either is mended in this file alone.
"""

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
    validate_params,
)
from sklearn.utils.metaestimators import _BaseComposition as BaseComposition
from sklearn.utils.validation import _check_feature_names_in as check_feature_names_in
from sklearn.utils.validation import _check_sample_weight as check_sample_weight

__all__ = [
    "BaseComposition",
    "HasMethods",
    "Interval",
    "InvalidParameterError",
    "Options",
    "StrOptions",
    "check_feature_names_in",
    "check_sample_weight",
    "fit_context",
    "is_missing",
    "safe_indexing",
    "validate_parameters",
    "validate_params",
    "what_was_refused",
]


def validate_parameters(estimator: Any) -> None:
    """Check an estimator's parameters against its declared constraints, as ``fit`` would."""
    estimator._validate_params()


def is_missing(value: Any) -> bool:
    """Say whether a value is None, NaN or pandas' NA, which answers comparisons with itself."""
    if value is None:
        return True
    unequal = value != value
    return bool(unequal) if isinstance(unequal, bool | np.bool_) else unequal is value


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
