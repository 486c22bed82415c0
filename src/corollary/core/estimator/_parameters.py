"""What a parameter may be, said by its type.

An estimator declares ``alpha: NonNegative = 1.0``; :func:`constraints_of` turns the type into the
constraints that scikit-learn checks when ``fit`` is called, in the order in which the error message
names them. A range that one estimator alone needs is written where it is needed, as
``Annotated[int, Interval(Integral, 2, None, closed="left")]``. A parameter of scikit-learn's that
changes nothing here is ``NoEffect``; one of which only some values are offered is
``Annotated[bool, Only(False, instead="what to use for True")]``.
"""

from collections.abc import Callable
from functools import reduce
from numbers import Integral, Real
from operator import or_
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from numpy.random import RandomState

from corollary.core.compat import Anything, HasMethods, InstanceOf, Interval, Options, Texts

Positive = Annotated[float, Interval(Real, 0, None, closed="neither")]
NonNegative = Annotated[float, Interval(Real, 0, None, closed="left")]
PositiveOrInfinite = Annotated[float, Interval(Real, 0, None, closed="right")]
Probability = Annotated[float, Interval(Real, 0, 1, closed="neither")]
Share = Annotated[float, Interval(Real, 0, 1, closed="right")]
Fraction = Annotated[float, Interval(Real, 0, 1, closed="both")]
Count = Annotated[int, Interval(Integral, 1, None, closed="left")]
CountFromZero = Annotated[int, Interval(Integral, 0, None, closed="left")]
CountFromTwo = Annotated[int, Interval(Integral, 2, None, closed="left")]
RandomSeed = Annotated[int | RandomState | None, "random_state"]
ArrayLike = Annotated[Any, "array-like"]
RowsLike = Annotated[Any, "array-like", "sparse matrix"]
AnyReal = Annotated[float, Real]
Predictor = Annotated[Any, HasMethods(["fit", "predict"])]
#: Of scikit-learn's parameters one that scripts pass and that changes nothing here.
NoEffect = Annotated[Any, Anything()]
ClassWeight = dict[Any, float] | Literal["balanced"] | None

_FINITE = Interval(Real, None, None, closed="neither")
_PLAIN: dict[Any, list[Any]] = {
    bool: ["boolean"],
    int: [Integral],
    float: [_FINITE],
    NoneType: [None],
    Callable: [callable],
}


def constraints_of(kind: Any) -> list[Any]:
    """Return scikit-learn's constraints on values of a type; one of them must hold."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return list(kind.__metadata__)
    if origin in (Union, UnionType):
        return [constraint for option in arguments for constraint in constraints_of(option)]
    if origin is Literal:
        if all(isinstance(option, str) for option in arguments):
            return [Texts(*arguments)]
        return [Options(type(arguments[0]), set(arguments))]
    kind = origin or kind
    if kind in _PLAIN:
        return _PLAIN[kind]
    if isinstance(kind, type) and kind is not Any:
        return [InstanceOf(kind)]
    raise TypeError(
        f"{kind!r} says nothing about values. Declare the parameter as "
        f"Annotated[{kind!r}, constraint] with a constraint from corollary.core.compat."
    )


def shown_type(kind: Any) -> Any:
    """Return a type as signatures show it, without the constraints that only ``fit`` reads."""
    if get_origin(kind) in (Union, UnionType):
        return reduce(or_, map(shown_type, get_args(kind)))
    return kind.__origin__ if get_origin(kind) is Annotated else kind
