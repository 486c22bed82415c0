"""Our classes beside scikit-learn's classes of the same name.

A gap is one line of text: what scikit-learn's class offers and ours does not.

- ``Ridge(copy_X)``: a parameter of the constructor is missing;
- ``Ridge(tol=0.0001)``: this is scikit-learn's default, and ours is another one;
- ``Ridge(alpha, *)``: the arguments by place are others;
- ``Ridge(solver="sag"): refused``: a value that scikit-learn's class fits with is refused by ours;
- ``Ridge.path``, ``Ridge.predict(return_std)``: a method, or an argument of one, is missing;
- ``SVC.coef_``, ``SVC(probability=True).probA_``: an attribute is missing after a fit.

``differences.toml`` holds those that are meant, each with its reason; ``gaps`` the others, which
are to be closed. ``python -m tests.namesakes`` prints both, and writes the second.
"""

import inspect
import tomllib
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils import all_estimators

from corollary.core.compat import Options
from tests.registry import META, estimators

HERE = Path(__file__).parent
#: Offered by scikit-learn as an experiment.
_EXPERIMENTAL = ("set_callbacks",)
#: Defaults that stand for "not passed".
_SENTINELS = ("warn", "deprecated")
#: Sizes that make a fit to a tiny table quick; of each name what the class has.
_SMALL = {
    **{"n_estimators": 3, "max_iter": 20, "hidden_layer_sizes": (4,), "Cs": 2},
    **{"n_components": 5, "nu": 0.3, "n_alphas": 3},
}


@cache
def namesakes() -> dict[str, tuple[type, type]]:
    """Return ours and scikit-learn's of every class that both have, by name."""
    theirs = dict(all_estimators())
    ours = {type(model).__name__: type(model) for model in estimators()}
    return {name: (cls, theirs[name]) for name, cls in ours.items() if name in theirs}


def family(name: str) -> str:
    """Return the package of ours that has a class."""
    return namesakes()[name][0].__module__.split(".")[1]


def listed(name: str) -> tuple[set[str], dict[str, str]]:
    """Return the gaps of a class that are to be closed, and the differences that are meant."""
    to_close, meant = tables()
    return (
        {line for line in to_close if class_of(line) == name},
        {line: reason for line, reason in meant.items() if class_of(line) == name},
    )


@cache
def tables() -> tuple[set[str], dict[str, str]]:
    """Return the gaps of all classes that are to be closed, and the differences that are meant."""
    lines = [line for path in HERE.glob("gaps/*.txt") for line in path.read_text().splitlines()]
    meant = tomllib.loads((HERE / "differences.toml").read_text("utf-8"))
    return set(lines), {line: why for part in meant.values() for line, why in part.items()}


def class_of(line: str) -> str:
    """Return the class that a gap is about."""
    return line.replace(".", "(").partition("(")[0]


def gaps(ours: type, theirs: type) -> set[str]:
    """Return what scikit-learn's class offers and ours does not."""
    return {*_constructor(ours, theirs), *_arguments(ours, theirs), *_fits(ours, theirs)}


def _constructor(ours: type, theirs: type) -> Iterator[str]:
    """Compare parameters, their defaults and their places."""
    have, want = _parameters(ours), _parameters(theirs)
    for name, parameter in want.items():
        if name not in have:
            yield f"{theirs.__name__}({name})"
        elif parameter.default not in _SENTINELS and not _equal(
            parameter.default, have[name].default
        ):
            yield f"{theirs.__name__}({name}={parameter.default!r})"
    by_place = _by_place(want)
    if _by_place(have)[: len(by_place)] != by_place:
        yield f"{theirs.__name__}({', '.join([*by_place, '*'])})"


def _parameters(function: Any) -> dict[str, inspect.Parameter]:
    """Return named parameters in their order, but self."""
    parameters = inspect.signature(function).parameters
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return {name: p for name, p in parameters.items() if p.kind in named and name != "self"}


def _by_place(parameters: dict[str, inspect.Parameter]) -> list[str]:
    """Return the names of those that may be given without their name."""
    return [n for n, p in parameters.items() if p.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]


def _equal(one: Any, other: Any) -> bool:
    """Say whether two defaults are the same value."""
    return bool(one == other or (one != one and other != other))


def _arguments(ours: type, theirs: type) -> Iterator[str]:
    """Compare what public methods take."""
    for name, method in inspect.getmembers(theirs, callable):
        if name.startswith("_") or name.endswith("_request"):
            continue
        same = getattr(ours, name, None)
        if same is None:
            continue  # said by the comparison of fitted models, where it may not be offered
        have = inspect.signature(same).parameters
        if any(p.kind is inspect.Parameter.VAR_KEYWORD for p in have.values()):
            continue
        for argument in _parameters(method):
            if argument not in have:
                yield f"{theirs.__name__}.{name}({argument})"


def _fits(ours: type, theirs: type) -> Iterator[str]:
    """Fit both in every way that options of one parameter allow, and compare what they have."""
    mine, peer = _instance(ours), _instance(theirs)
    absent: set[str] = set()
    for change in [{}, *_changes(theirs)]:
        if change.keys() - _parameters(ours).keys():
            continue  # the parameter is missing, which is said already
        (parameter, value) = next(iter(change.items()), ("", None))
        shown = f"{theirs.__name__}({parameter}={value!r})" if change else theirs.__name__
        for data in _tables(peer):
            answer = _fitted(peer, change, data)
            if not isinstance(answer, Exception):
                break
        else:
            continue
        ours_fitted = _fitted(mine, change, data)
        if isinstance(ours_fitted, Exception):
            yield f"{shown}: refused"
            continue
        new = set(_public(answer)) - absent
        missing = {n for n in new if not _has(ours_fitted, n)}
        absent |= missing
        yield from (f"{shown}.{n}" for n in missing)


def _instance(cls: type) -> Any:
    """Return a model with its defaults, as far as it can be made of them."""
    if cls.__name__ in META:
        return META[cls.__name__](cls)
    return cls(**{name: size for name, size in _SMALL.items() if name in _parameters(cls)})


def _changes(theirs: Any) -> Iterator[dict[str, Any]]:
    """Return every option of every parameter but defaults, one at a time."""
    for name, parameter in _parameters(theirs).items():
        constraints = theirs._parameter_constraints.get(name)
        if name == "scoring" or not isinstance(constraints, list):
            continue  # scorers are functions of scikit-learn's own
        for constraint in constraints:
            values: list[Any] = []
            if constraint == "boolean":
                values = [False, True]
            elif isinstance(constraint, Options):
                values = sorted(constraint.options, key=str)
            for value in values:
                if value not in (*_SENTINELS, parameter.default):
                    yield {name: value}


def _tables(model: Any) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return tiny tables with a target that suits a model."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(24, 3))
    if not is_classifier(model):
        return [(X, X @ [1.0, 2.0, 3.0] + rng.uniform(size=24) + 0.1)]
    labels = np.arange(24) % 3
    X = X + 0.2 * labels[:, None]
    return [(X, labels), (X, labels % 2)]


def _fitted(model: Any, change: dict[str, Any], data: tuple[np.ndarray, np.ndarray]) -> Any:
    """Return a fitted copy of a model, or the error that was raised instead."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        copy = clone(model).set_params(**change)
        if "random_state" in copy.get_params(deep=False):
            copy.set_params(random_state=0)
        try:
            return copy.fit(*data)
        except Exception as error:
            return error


def _public(model: Any) -> Iterator[str]:
    """Return the names of attributes that a fit has learnt, and of methods."""
    for name in dir(model):
        if name.startswith("_") or name.endswith("_request") or name in _EXPERIMENTAL:
            continue
        if not _has(model, name):
            continue
        if name.endswith("_") or callable(getattr(type(model), name, None)):
            yield name


def _has(model: Any, name: str) -> bool:
    """Say whether a fitted model has an attribute that can be read."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return hasattr(model, name)
