"""What becomes of a case: None if it ends well, else what is wrong."""

import contextlib
import signal
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import sklearn

import corollary

#: Seconds after which a case counts as a hang; cases are small, and machines are shared.
PATIENCE = 60
#: Whether tracebacks of faults are printed.
SHOWS = False
#: Who may refuse what a user hands in: we, scikit-learn, whose checks and models we call, and
#: joblib, which hands on what was said in another process.
REFUSERS = tuple(Path(package.__file__).parent for package in (corollary, sklearn, joblib))


class Hang(BaseException):
    """A case did not end; no handler of errors may catch it."""


@contextlib.contextmanager
def _alarm() -> Iterator[None]:
    def ring(*args: Any) -> None:
        raise Hang

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(PATIENCE)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def outcome(case: Callable[[], str | None]) -> str | None:
    """Run a case; return None if it ends well, else what is wrong."""
    try:
        with _alarm(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return case()
    except Hang:
        return f"no end within {PATIENCE} s"
    except (TypeError, ValueError) as error:
        return None if is_refusal(error) else _described(error)
    except Exception as error:
        return _described(error)


def is_refusal(error: BaseException) -> bool:
    """Tell whether somebody who checks what users hand in has said a sentence."""
    place = Path(traceback.extract_tb(error.__traceback__)[-1].filename)
    return any(refuser in place.parents for refuser in REFUSERS) and " " in str(error)


def _described(error: BaseException) -> str:
    if SHOWS:
        traceback.print_exception(error)
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} in {place.name}: {str(error)[:120]}"


def gives_nan(method: Callable[[Any], Any], X: Any) -> bool:
    """Tell whether numbers are none, and no warning in words says so."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", UserWarning)
        value = method(X)
    value = value.data if hasattr(value, "indptr") else np.asarray(value)
    rows = isinstance(X, np.ndarray) and X.dtype.kind == "f" and value.shape[:1] == X.shape[:1]
    if method.__name__ == "transform" and rows:
        value = value[~np.isnan(X).any(axis=1)]  # what is missing may stay so
    return value.dtype.kind == "f" and bool(np.isnan(value).any()) and not said
