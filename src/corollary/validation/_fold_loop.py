"""The loop over folds: which rows are left out, and what the models without them lose on them."""

from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.model_selection import KFold, LeaveOneGroupOut, LeaveOneOut, check_cv

from corollary.core.compat import safe_indexing
from corollary.core.population import Population
from corollary.risk import LossLike
from corollary.validation._losses import loss_of
from corollary.validation._units import Fold, check_rows, population_of, read_moments, read_units
from corollary.validation.splits.splitters import BlockKFold, ForwardChaining, UnitKFold
from corollary.validation.splits.time import forward_folds

#: Losses by row, risks of folds, rows left out and trained on by fold, units, population.
Outcome = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray | None, Population]


def fold_losses(
    fit: Callable[[np.ndarray], Any],
    estimator: Any,
    X: Any,
    y: Any,
    *,
    loss: LossLike,
    cv: Any,
    groups: Any,
    time: Any,
    method: str,
    n_jobs: int | None,
    random_state: Any,
) -> Outcome:
    """Fit without each fold, measure on it, and return what a CrossValidation holds."""
    from joblib import Parallel, delayed

    n, y_array, measure = (
        check_rows("cross_validate", X, y),
        np.asarray(y),
        loss_of(estimator, loss),
    )
    units = None if groups is None else read_units("cross_validate", groups, n, least=2)
    time = time_of(cv, n) if time is None else time
    moments = None if time is None else read_moments("cross_validate", time, n)
    splits = splits_of(estimator, X, y_array, cv, units, moments, random_state)

    def lose(train: np.ndarray, test: np.ndarray) -> np.ndarray:
        prediction = getattr(fit(train), method)(safe_indexing(X, test))
        return np.asarray(measure(y_array[test], prediction), dtype=float)

    losses = Parallel(n_jobs=n_jobs)(delayed(lose)(train, test) for train, test in splits)
    sums, counts = np.zeros(n), np.zeros(n)
    for (_, test), values in zip(splits, losses):
        np.add.at(sums, test, values)
        np.add.at(counts, test, 1)
    with np.errstate(invalid="ignore"):
        mean = sums / counts
    return (
        mean,
        np.array([values.mean() for values in losses]),
        np.array([len(test) for _, test in splits]),
        np.array([len(train) for train, _ in splits]),
        units,
        population_of(groups, None if moments is None else moments[counts > 0]),
    )


def time_of(cv: Any, n_rows: int) -> Any:
    """Return the moments that a splitter by time brings along; None for other folds."""
    if not isinstance(cv, ForwardChaining | BlockKFold):
        return None
    return np.arange(n_rows) if cv.time is None else cv.time


def splits_of(
    estimator: Any,
    X: Any,
    y: np.ndarray,
    cv: Any,
    units: np.ndarray | None,
    moments: np.ndarray | None,
    random_state: Any,
) -> list[Fold]:
    """Return the folds that a number, a name or a splitter stands for."""
    if moments is not None:
        return _splits_by_time(cv, moments)
    splits = list(_splitter(estimator, y, cv, units, random_state).split(X, y, units))
    for train, test in splits:
        if units is not None and np.isin(units[test], units[train]).any():
            raise ValueError(
                "cross_validate needs folds that leave out whole units when groups= names them. "
                "Got rows of one unit on both sides; let cv be a number of folds, UnitKFold or "
                "another splitter that keeps groups whole, or pass time= to predict later rows."
            )
    return splits


def _splits_by_time(cv: Any, moments: np.ndarray) -> list[Fold]:
    """Return folds that read the moments of the rows."""
    if isinstance(cv, ForwardChaining | BlockKFold):
        return cv.folds(moments)
    if isinstance(cv, Integral):
        return forward_folds(moments, int(cv))
    raise ValueError(
        "The 'cv' parameter of cross_validate must be a number of folds, ForwardChaining or "
        f"BlockKFold when time= says when rows happened. Got {cv!r} instead."
    )


def _splitter(
    estimator: Any, y: np.ndarray, cv: Any, units: np.ndarray | None, random_state: Any
) -> Any:
    """Return a splitter of scikit-learn's kind."""
    labels = is_classifier(estimator)
    if isinstance(cv, str):
        if cv != "loo":
            raise ValueError(
                "The 'cv' parameter of cross_validate must be a number of folds, 'loo', a splitter "
                f"or pairs of rows. Got {cv!r} instead."
            )
        return LeaveOneOut() if units is None else LeaveOneGroupOut()
    if isinstance(cv, Integral):
        pieces, of_what = (len(y), "rows") if units is None else (int(units.max()) + 1, "units")
        if not 2 <= int(cv) <= pieces:
            raise ValueError(
                f"The 'cv' parameter of cross_validate must be from 2 to the number of {of_what}, "
                f"{pieces}. Got {cv!r} instead."
            )
        if units is not None:
            return UnitKFold(int(cv), random_state=random_state, stratify=labels)
        standard = check_cv(int(cv), y, classifier=labels)
        # Rows in the order of a file are often sorted; folds must not be.
        least = np.unique(y, return_counts=True)[1].min() if labels else cv
        if least < cv:
            standard = KFold(int(cv))
        return type(standard)(int(cv), shuffle=True, random_state=random_state)
    return check_cv(cv, y, classifier=labels)
