"""Model files that somebody has changed, and what becomes of them.

Every estimator is fitted once and saved; a case forges its file (:mod:`tests.fuzz.forge`) or puts
NaN or infinity into one of its arrays, loads it and asks it about ordinary rows. NaN is a fault
where the poison was not noticed; a forger who writes 1e308 may get what he asked for.
"""

import tempfile
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier

import corollary
from corollary.core.files import pack, unpack
from tests.fuzz.arrays import METHODS, models, name_of
from tests.fuzz.forge import forge
from tests.fuzz.outcome import gives_nan, outcome


@cache
def rows() -> tuple[np.ndarray, np.ndarray]:
    """Ordinary rows, and numbers to predict; their signs are classes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    return X, X @ [1.0, -1.0, 0.5] + 0.3 * rng.normal(size=40)


@cache
def saved(name: str) -> bytes:
    """The file of an estimator that was fitted to ordinary rows."""
    X, y = rows()
    model = clone(models()[name])
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore")
        model.fit(X, _targets(model, y))
        corollary.save(model, Path(folder) / "model")
        return (Path(folder) / "model").read_bytes()


def _targets(model: Any, y: np.ndarray) -> np.ndarray:
    if is_classifier(model):
        return np.where(y > 0, "plus", "minus")
    return np.exp(y) if model.__sklearn_tags__().target_tags.positive_only else y


def run(seed: int) -> str | None:
    """Change one file, load it and ask it."""
    name, poisoned = name_of(seed), seed // len(models()) % 2 == 0
    whole = saved(name)
    file = poison(whole, seed) if poisoned else forge(whole, f"{name} {seed}")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        path.write_bytes(file)
        fault = outcome(lambda: _try(path, strict=poisoned))
    return fault and f"{name}: {fault}"


def _try(path: Path, *, strict: bool) -> str | None:
    model = corollary.load(path)
    for method in METHODS:
        if hasattr(model, method) and gives_nan(getattr(model, method), rows()[0]) and strict:
            return f"{method} gives NaN"
    return None


def poison(whole: bytes, seed: int) -> bytes:
    """Put a number that is none into one of the arrays of a file."""
    rng = np.random.default_rng([seed, 3])
    header, arrays = unpack(whole)
    places = [i for i, a in enumerate(arrays) if a.dtype.kind == "f" and a.size]
    if places:
        array: Any = arrays[int(rng.choice(places))]
        array.flat[rng.integers(array.size)] = rng.choice([np.nan, np.inf, -np.inf])
    return pack(header, arrays)
