"""The only place that imports private parts of third-party packages.

scikit-learn keeps its declared parameter constraints private. They give the best error messages
in the field, so we use them, and a release that moves them is mended in this file alone.
"""

from typing import Any

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
from sklearn.utils.validation import _check_sample_weight as check_sample_weight

__all__ = [
    "BaseComposition",
    "HasMethods",
    "Interval",
    "InvalidParameterError",
    "Options",
    "StrOptions",
    "check_sample_weight",
    "fit_context",
    "safe_indexing",
    "validate_parameters",
    "validate_params",
]


def validate_parameters(estimator: Any) -> None:
    """Check an estimator's parameters against its declared constraints, as ``fit`` would.

    Parameters
    ----------
    estimator : estimator
        Any scikit-learn estimator.

    Raises
    ------
    InvalidParameterError
        If a parameter does not fit.
    """
    estimator._validate_params()
