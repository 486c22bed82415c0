"""From the lines of a class to constructor, constraints and file schema.

A subclass of :class:`Estimator` declares each parameter and each fitted attribute once::

    class Ridge(Regressor):
        alpha: NonNegative = 1.0
        _: KW_ONLY
        fit_intercept: bool = True
        coef_: np.ndarray = fitted(Array("f", "d"))

Public annotated names are parameters, in the order of dataclasses: those of bases first, those
after ``KW_ONLY`` by keyword only. Names declared with :func:`fitted` are learnt. ``ClassVar`` and
names that start with an underscore are neither.
"""

from dataclasses import KW_ONLY
from difflib import get_close_matches
from inspect import Parameter, Signature, get_annotations
from typing import Any, ClassVar, Literal, NamedTuple, dataclass_transform, get_origin

from sklearn.base import BaseEstimator

from corollary.core.compat import parameters_fit
from corollary.core.estimator._parameters import constraints_of, shown_type
from corollary.core.schema import Flag, Integer, Number, Schema, Spec, Text

_SPECS: dict[Any, Spec] = {int: Integer(), float: Number(), str: Text(), bool: Flag()}


class _Fitted(NamedTuple):
    """The mark of an attribute that ``fit`` sets."""

    spec: Spec | None


def fitted(spec: Spec | None = None, *, init: Literal[False] = False) -> Any:
    """Declare an attribute that ``fit`` sets and that model files hold."""
    return _Fitted(spec)


@dataclass_transform(eq_default=False, field_specifiers=(fitted,))
class Estimator(BaseEstimator):
    """Base of everything with parameters.

    Where ``__init__`` is written by hand, the class is read like any scikit-learn estimator:
    its annotations are no parameters, and it states ``_parameter_constraints`` itself.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}
    _schema: ClassVar[Schema] = Schema()
    _declared: ClassVar[dict[str, Parameter]] = {}
    #: What model files may hold as parameters, where that is less than the constraints allow.
    _saved_parameters: ClassVar[dict[str, Spec]] = {}
    #: Attributes that model files leave out; the model does without them when it is loaded.
    _unsaved: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        by_hand = not hasattr(cls.__init__, "declared")
        bases = [base for base in reversed(cls.__mro__[1:]) if issubclass(base, Estimator)]
        inherited = {name: p for base in bases for name, p in base._declared.items()}
        parameters, attributes = _read(cls, inherited, by_hand)
        cls._declared = inherited | {
            name: p.replace(annotation=shown_type(p.annotation)) for name, p in parameters.items()
        }
        if "_parameter_constraints" not in vars(cls):
            cls._parameter_constraints = {
                name: allowed
                for base in bases
                for name, allowed in base._parameter_constraints.items()
            } | {name: constraints_of(p.annotation) for name, p in parameters.items()}
        if "_schema" not in vars(cls):
            saved = {name: spec for base in bases for name, spec in base._schema.attributes.items()}
            cls._schema = Schema(cls._fits_together, cls._saved_parameters, **saved | attributes)
        if not by_hand:
            cls.__init__ = _constructor(cls)  # type: ignore[method-assign]

    def _validate_params(self) -> None:
        """Check parameters as scikit-learn does, which is asked only where one does not fit."""
        if not parameters_fit(self):
            super()._validate_params()

    def _fits_together(self) -> str | None:
        """Say what is wrong between the attributes of a loaded model, or None."""
        return None


def _read(
    cls: type, inherited: dict[str, Parameter], by_hand: bool
) -> tuple[dict[str, Parameter], dict[str, Spec]]:
    """Take parameters and fitted attributes out of the body of a class."""
    kinds = get_annotations(cls)
    if not by_hand and any(isinstance(kind, str) for kind in kinds.values()):
        kinds = get_annotations(cls, eval_str=True)
    untyped = (vars(cls).keys() & inherited.keys()) - kinds.keys()
    if untyped and not by_hand:
        name = min(untyped)
        raise TypeError(
            f"{cls.__name__} sets {name!r} without a type, which would change no default. "
            f"Write '{name}: type = value'."
        )
    parameters: dict[str, Parameter] = {}
    attributes: dict[str, Spec] = {}
    place: Any = Parameter.POSITIONAL_OR_KEYWORD
    for name, kind in kinds.items():
        value = vars(cls).get(name, Parameter.empty)
        if kind is KW_ONLY:
            place = Parameter.KEYWORD_ONLY
        elif isinstance(value, _Fitted):
            attributes[name] = value.spec or _SPECS[kind]
            delattr(cls, name)  # hasattr(model, "coef_") is False before fit
        elif not (by_hand or _is_no_parameter(name, kind)):
            parameters[name] = Parameter(name, place, default=value, annotation=kind)
            if value is not Parameter.empty:
                delattr(cls, name)
    return parameters, attributes


def _is_no_parameter(name: str, kind: Any) -> bool:
    return "_" in (name[0], name[-1]) or ClassVar in (kind, get_origin(kind))


def _constructor(cls: type[Estimator]) -> Any:
    """Make the ``__init__`` that assigns the declared parameters."""
    first = Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)
    declared = sorted(cls._declared.values(), key=lambda p: p.kind)
    signature = Signature([first, *declared])
    by_place = [p.name for p in declared if p.kind is Parameter.POSITIONAL_OR_KEYWORD]
    defaults = {p.name: p.default for p in declared if p.default is not Parameter.empty}

    def assign(self: Any, *args: Any, **kwargs: Any) -> None:
        placed = dict(zip(by_place, args))
        values = defaults | placed | kwargs
        each_once = len(placed) == len(args) and placed.keys().isdisjoint(kwargs)
        if not each_once or values.keys() != cls._declared.keys():
            try:  # in Python's words
                signature.bind(self, *args, **kwargs)
            except TypeError as error:
                raise TypeError(f"{cls.__name__}: {error}. {_advice(cls, kwargs)}") from None
        vars(self).update(values)

    assign.__signature__, assign.declared = signature, True  # type: ignore[attr-defined]
    assign.__name__, assign.__module__ = "__init__", cls.__module__
    assign.__qualname__ = f"{cls.__qualname__}.__init__"
    return assign


def _advice(cls: type[Estimator], kwargs: dict[str, Any]) -> str:
    """Say which parameter was probably meant, or which there are."""
    for name in kwargs:
        if name not in cls._declared and (near := get_close_matches(name, cls._declared, 1)):
            return f"Did you mean {near[0]!r}?"
    return f"Its parameters are {', '.join(cls._declared)}."


Estimator.__init__ = _constructor(Estimator)  # type: ignore[method-assign]
