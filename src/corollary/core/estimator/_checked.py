"""Functions whose arguments are checked by their types, like parameters of estimators."""

from collections.abc import Callable
from inspect import Parameter, signature
from typing import Any, TypeVar

from corollary.core.compat import validate_params
from corollary.core.estimator._parameters import constraints_of, shown_type

F = TypeVar("F", bound=Callable[..., Any])


def checked(function: F) -> F:
    """Check the arguments of a function by their declared types before it runs.

    An argument without a type, of type Any, or of ``Annotated[type, "no_validation"]`` is not
    checked. Signatures show the types without their ranges.

    Examples
    --------
    >>> from corollary.core.estimator import Count, Probability, checked
    >>> @checked
    ... def rate(n: Count, delta: Probability) -> float:
    ...     return n * delta
    >>> rate(0, 0.1)
    Traceback (most recent call last):
        ...
    sklearn.utils._param_validation.InvalidParameterError: The 'n' parameter of rate must be an int
    in the range [1, inf). Got 0 instead.
    """
    declared = signature(function)
    arguments = declared.parameters.values()
    allowed = {argument.name: _allowed(argument.annotation) for argument in arguments}
    wrapped: Any = validate_params(allowed, prefer_skip_nested_validation=True)(function)
    shown = [p.replace(annotation=shown_type(p.annotation)) for p in arguments]
    wrapped.__signature__ = declared.replace(parameters=shown)
    return wrapped


def _allowed(kind: Any) -> Any:
    """Return the constraints on an argument in the form that scikit-learn takes."""
    constraints = ["no_validation"] if kind in (Parameter.empty, Any) else constraints_of(kind)
    return "no_validation" if "no_validation" in constraints else constraints
