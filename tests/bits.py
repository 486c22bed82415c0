"""Everything that a fitted model holds and answers, as bits.

``python -m tests.bits`` prints a digest for every estimator of the registry; tests compare those of
processes that have different numbers of threads and cores.
"""

import hashlib
import inspect
import json
import os
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone, is_classifier

from tests.registry import estimators

#: Rows to fit and rows to ask about: enough for BLAS to share products out among threads.
N_FIT, N_ASKED, N_COLUMNS = 300, 1000, 32

#: How methods are asked, where they can be: with a seed, and for deviations beside means.
ASKED = {"random_state": 0, "return_std": True}
#: What makes a model small where the common checks need it large: bits do not ask for quality.
SMALL: dict[str, dict[str, Any]] = {
    "AnomalyDetector": {"calibration_size": 0.0},  # as `fit_source` leaves it
    "HashingEncoder": {"n_features": 2**10},
    "LinearSVR": {"max_iter": 100},
    "SparseGaussianProcessRegressor": {"max_iter": 10},
}


def models() -> dict[str, Any]:
    """Return every estimator as the common checks use it, seeded, by name."""
    found = {}
    for model in estimators():
        model = clone(model)
        seeds = [name for name in model.get_params() if name.endswith("random_state")]
        small = SMALL.get(type(model).__name__, {})
        found[type(model).__name__] = model.set_params(**dict.fromkeys(seeds, 0), **small)
    return found


def table(model: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows to fit, targets that suit a model, and rows to ask about."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(N_FIT + N_ASKED, N_COLUMNS))
    y = X[:, :8] @ rng.normal(size=8) + 0.5 * rng.normal(size=len(X))
    if is_classifier(model):
        several = model.__sklearn_tags__().classifier_tags.multi_class
        y = np.searchsorted([-1.5, 1.5] if several else [0.0], y)
    if model.__sklearn_tags__().target_tags.positive_only:
        y = np.abs(y)
    return X[:N_FIT], y[:N_FIT], X[N_FIT:]


def fitted(model: Any, **parameters: Any) -> Any:
    """Return a fitted copy."""
    X, y, _ = table(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clone(model).set_params(**parameters).fit(X, y)


def answers(model: Any, X: np.ndarray) -> dict[str, list[np.ndarray]]:
    """Return what each public method says about rows: arrays with a row for each."""
    said = {}
    for name, method in inspect.getmembers(model, callable):
        if name.startswith(("_", "fit", "partial", "calibrate", "set_", "get_")) or name == "score":
            continue
        parameters = inspect.signature(method).parameters
        needed = [p.name for p in parameters.values() if p.default is p.empty]
        if needed != ["X"]:
            continue
        try:
            answer = method(X, **{name: v for name, v in ASKED.items() if name in parameters})
        except ValueError:  # offered for other parameters of the model
            continue
        arrays = [dense(part) for part in (answer if isinstance(answer, tuple) else (answer,))]
        said[name] = [array for array in arrays if array.ndim and len(array) == len(X)]
    return said


def dense(value: Any) -> np.ndarray:
    """Return an array of whatever a method returned."""
    if sparse.issparse(value):
        return value.toarray()
    return np.asarray(list(value) if inspect.isgenerator(value) else value)


def digest(model: Any) -> str:
    """Return one number for all that a fitted model holds and answers."""
    code = hashlib.sha256()
    for part in _parts(model, set()):
        code.update(part)
    for arrays in answers(model, table(model)[2]).values():
        for array in arrays:
            code.update(bytes_of(array))
    return code.hexdigest()[:16]


def _parts(value: Any, seen: set[int]) -> Iterator[bytes]:
    """Yield the bits of what has been learnt, inner models included."""
    if isinstance(value, np.ndarray):
        yield bytes_of(value)
    elif sparse.issparse(value):
        yield bytes_of(value.toarray())
    elif isinstance(value, float | int | str | bool | np.generic):
        yield repr(value).encode()
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _parts(part, seen)
    elif isinstance(value, dict):
        yield from _parts(list(value.values()), seen)
    elif isinstance(value, BaseEstimator) and id(value) not in seen:
        seen.add(id(value))
        for name, part in sorted(vars(value).items()):
            if name.endswith("_") and name != "fingerprint_":
                yield name.encode()
                yield from _parts(part, seen)


def bytes_of(array: np.ndarray) -> bytes:
    """Return the bits of an array."""
    if array.dtype == object:
        return repr(array.tolist()).encode()
    return np.ascontiguousarray(array).tobytes()


def main() -> None:
    """Print a digest of each estimator, or of those named, on as many cores as asked for."""
    cores, *names = sys.argv[1:]
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: int(cores)])
    chosen = {name: model for name, model in models().items() if not names or name in names}
    print(json.dumps({name: digest(fitted(model)) for name, model in chosen.items()}))


if __name__ == "__main__":
    main()
