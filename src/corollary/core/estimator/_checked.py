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
    types = {name: p.annotation for name, p in declared.parameters.items()}
    free = (Parameter.empty, Any)
    allowed = {n: "no_validation" if t in free else constraints_of(t) for n, t in types.items()}
    wrapped: Any = validate_params(allowed, prefer_skip_nested_validation=True)(function)
    wrapped.__signature__ = declared.replace(
        parameters=[
            p.replace(annotation=shown_type(p.annotation)) for p in declared.parameters.values()
        ]
    )
    return wrapped
