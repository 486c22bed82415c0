"""Validation of what ``fit`` and ``predict`` were given, with errors that say what to repair."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, is_regressor
from sklearn.utils.validation import assert_all_finite, validate_data

from corollary.core.compat import check_sample_weight, what_was_refused
from corollary.core.summary import block_rows, reduce_blocks, slice_rows


def check_training_data(
    estimator: BaseEstimator,
    X: Any,
    y: Any = None,
    *,
    sample_weight: Any = None,
    finite_squares: bool = False,
    **checks: Any,
) -> tuple[Any, Any, np.ndarray | None]:
    """Validate what ``fit`` was given and remember its rows."""
    checks.setdefault("dtype", np.float64)
    if finite_squares:  # squares with a finite sum are those of finite numbers: one pass, not two
        checks["ensure_all_finite"] = False
    with clear_errors(estimator, X, y):
        if y is None:  # an error, if the estimator's tags say that it needs targets
            X = validate_data(estimator, X, None, **checks)
        else:
            X, y = validate_data(estimator, X, y, **checks)
            if y.dtype.kind in "US" and is_regressor(estimator):
                y = y.astype(np.float64)
        squares = check_squares(estimator, X, y) if finite_squares else 0.0
    if sample_weight is not None:
        sample_weight = check_sample_weight(
            sample_weight, X, dtype=np.float64, ensure_non_negative=True
        )
        heaviest = float(sample_weight.max(initial=0.0))
        if not np.isfinite(heaviest * squares):
            raise ValueError(
                f"{type(estimator).__name__} needs weights whose products with the squares of the "
                f"features have a finite sum. Got weights up to {heaviest:.3g} for features of "
                f"size {np.sqrt(squares):.3g}; divide the weights, or the features, by a constant."
            )
    earlier = getattr(estimator, "fingerprint_", None)
    remember_rows(estimator, X)
    kept = hasattr(estimator, "fingerprint_")
    if kept and earlier is not None and getattr(estimator, "warm_start", False):
        # What started from an earlier fit has learnt from its rows, too.
        estimator.fingerprint_ = earlier.union(estimator.fingerprint_)
    return X, y, sample_weight


def check_squares(estimator: BaseEstimator, X: Any, y: Any = None) -> float:
    """Return the sum of squares of features; refuse them, or targets, unless it is finite."""
    who, squares = type(estimator).__name__, 0.0
    for letter, name, given in (("X", "features", X), ("y", "targets", y)):
        values = np.asarray(given.data if hasattr(given, "indptr") else given)
        if values.dtype.kind != "f":
            continue  # no targets, or labels
        # One pass of the fastest kind: memory in one piece is one long vector.
        piece = values.flags.c_contiguous or values.flags.f_contiguous
        vector = values.ravel(order="K") if piece else np.abs(values).max(axis=0, initial=0).ravel()
        with np.errstate(over="ignore", invalid="ignore"):
            # Not by BLAS, whose threads would go on spinning beside the ones that come next.
            total = np.einsum("i,i->", vector, vector, dtype=np.float64)
        if not np.isfinite(total):
            assert_all_finite(given, estimator_name=who, input_name=letter)
            raise ValueError(
                f"{who} needs {name} whose squares have a finite sum. Got "
                f"values from {values.min():.3g} to {values.max():.3g}. Divide the {name} by a "
                "constant so that they are about one, or drop the rows that are out of line."
            )
        squares = float(total) if letter == "X" else squares
    return squares


_FORGETFUL: ContextVar[bool] = ContextVar("forgetful", default=False)


@contextmanager
def without_memory() -> Iterator[None]:
    """Fit models inside this block without a memory of their rows.

    For models that are fitted to be compared and thrown away: nobody will ask whether they have
    seen a row. :func:`corollary.certify` cannot tell for them, so they must not be handed on.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.core.estimator import without_memory
    >>> from corollary.linear import Ridge
    >>> with without_memory():
    ...     model = Ridge().fit(np.eye(3), np.arange(3.0))
    >>> hasattr(model, "fingerprint_")
    False
    """
    token = _FORGETFUL.set(True)
    try:
        yield
    finally:
        _FORGETFUL.reset(token)


def remember_rows(estimator: BaseEstimator, X: Any, *, more: bool = False) -> None:
    """Store a fingerprint of training rows on an estimator."""
    from corollary.core.fingerprint import Fingerprint

    if _FORGETFUL.get():
        vars(estimator).pop("fingerprint_", None)
        return
    start = getattr(estimator, "fingerprint_", Fingerprint()) if more else Fingerprint()
    # A sketch does not depend on how the rows are cut, so the blocks are larger than those of
    # sums, which saves merges.
    step, size = 16 * block_rows((X,)), X.shape[0]
    blocks = (slice_rows((X,), i, min(i + step, size)) for i in range(0, size, step))
    estimator.fingerprint_ = reduce_blocks(start, blocks)


def check_new_data(estimator: BaseEstimator, X: Any, **checks: Any) -> Any:
    """Validate what ``predict`` or ``transform`` was given."""
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(estimator)
    checks.setdefault("dtype", np.float64)
    with clear_errors(estimator, X):
        return validate_data(estimator, X, reset=False, **checks)


@contextmanager
def clear_errors(estimator: BaseEstimator, X: Any, y: Any = None) -> Iterator[None]:
    """Say which column or target was refused, and what to do about it."""
    try:
        yield
    except (TypeError, ValueError) as error:
        sentence = _clear_sentence(type(estimator).__name__, X, y, error)
        if sentence is None:
            raise
        raise ValueError(sentence) from error


def _clear_sentence(who: str, X: Any, y: Any, error: Exception) -> str | None:
    names = [str(name) for name in getattr(X, "columns", ())]
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated is not None:
        return (
            f"{who} needs columns of different names. Got {repeated!r} {names.count(repeated)} "
            "times. Rename or drop columns, or pass the numbers without names."
        )
    refused = what_was_refused(error)
    if refused == "missing values":
        return (
            f"Input X contains NaN{_missing_in(X)}. {who} takes no missing values: fill them "
            "first, for instance with sklearn.impute.SimpleImputer or corollary.representation."
            "TableEncoder. The trees and forests of corollary.tree and corollary.ensemble take "
            "them as they are."
        )
    if refused == "sparse rows":
        return (
            f"{who} needs dense rows. Got a sparse matrix. Give X.toarray() if it fits in memory; "
            "linear models, support vector machines, trees, forests and neighbours take sparse "
            "rows as they are."
        )
    if refused != "text":
        return None
    columns = _columns_of_text(X)
    if columns:
        (name, value), more = columns[0], len(columns) - 1
        return (
            f"{who} needs numbers in every column. Column {name!r} holds {value!r}"
            + (f", and {more} more hold such values" if more else "")
            + ". Encode such columns first, for instance with corollary.representation."
            "TableEncoder; trees, forests and boosting take the text columns and categories of "
            "data frames as they are."
        )
    value = next((v for v in np.asarray(y, dtype=object).ravel() if _is_text(v)), None)
    if value is None:
        return None
    return (
        f"{who} needs numbers as targets. Got {value!r} in y. Take a classifier for labels, or "
        "turn them into numbers first."
    )


def _missing_in(X: Any) -> str:
    """Say which columns of a data frame have missing values."""
    if not hasattr(X, "columns"):
        return ""
    import pandas as pd

    names = [name for name in X.columns if pd.isna(np.asarray(X[name])).any()]
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f" in {', '.join(map(repr, names[:3]))}{more}" if names else ""


def _columns_of_text(X: Any) -> list[tuple[Any, Any]]:
    """Return name and first value of every column that holds something else than numbers."""
    if hasattr(X, "columns"):
        columns = [(name, np.asarray(X[name])) for name in X.columns]
    else:
        table = np.asarray(X, dtype=object)
        columns = [(j, table[:, j]) for j in range(table.shape[1])] if table.ndim == 2 else []
    found = []
    for name, values in columns:
        if values.dtype.kind in "mM":
            found.append((name, str(values[0])))
        elif values.dtype.kind not in "biuf":
            found += [(name, v) for v in values.tolist() if _is_text(v)][:1]
    return found


def _is_text(value: Any) -> bool:
    if not isinstance(value, str | bytes):
        return False
    try:
        float(value)
    except ValueError:
        return True
    return False
