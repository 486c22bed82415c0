"""Importance of columns by shuffling them, on given rows or out of bag."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from corollary.core.compat import HasMethods
from corollary.core.estimator import ArrayLike, Count, RandomSeed, checked
from corollary.core.frames import as_frame
from corollary.core.progress import track
from corollary.ensemble.bagging._forest import BaseForest


@dataclass(frozen=True, eq=False)
class PermutationImportance:
    """By how much the loss rises when a column is shuffled.

    Parameters
    ----------
    importances : ndarray of shape (n_features, n_repeats)
        Rise of the mean loss in each repetition; out of bag, in each tree.
    baseline : float
        Mean loss without shuffling.
    """

    importances: np.ndarray
    baseline: float

    @property
    def mean(self) -> np.ndarray:
        """Mean rise of each column."""
        return self.importances.mean(axis=1)

    @property
    def standard_error(self) -> np.ndarray:
        """Standard error of the mean over repetitions or trees; NaN for a single one."""
        n = self.importances.shape[1]
        if n < 2:
            return np.full(len(self.importances), np.nan)
        return self.importances.std(axis=1, ddof=1) / np.sqrt(n)


@checked
def permutation_importance(
    model: Annotated[Any, HasMethods("predict")],
    X: Any,
    y: ArrayLike,
    *,
    loss: Callable[..., Any] | None = None,
    n_repeats: Count = 5,
    out_of_bag: bool = False,
    sample_weight: ArrayLike | None = None,
    random_state: RandomSeed = None,
) -> PermutationImportance:
    """Measure how much the loss rises when a column is shuffled among the rows.

    A column on which the predictions do not lean has importance zero up to chance, whatever its
    number of values; impurity importances favour columns with many. Columns that carry the same
    information stand in for each other and share little of it.

    Parameters
    ----------
    model : estimator
        A fitted classifier or regressor.
    X : array-like or data frame of shape (n_samples, n_features)
        Rows: unseen ones, or the training rows of a forest with ``out_of_bag``.
    y : array-like of shape (n_samples,)
        Their targets.
    loss : callable or None, default=None
        ``loss(y, prediction)`` by row; None for the error of labels and the squared error of
        numbers.
    n_repeats : int, default=5
        Shuffles of each column; out of bag there is one in each tree.
    out_of_bag : bool, default=False
        Whether to shuffle, in each tree of a forest, the rows that it has not seen (Breiman's
        importance). X and y must be the rows of training, in their order.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Weights in the mean loss.
    random_state : int, RandomState instance or None, default=None
        Determines the shuffles.

    Returns
    -------
    importance : PermutationImportance
        The rises.

    References
    ----------
    .. [1] L. Breiman (2001). Random forests. Machine Learning 45, 5-32.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.ensemble import RandomForestRegressor, permutation_importance
    >>> X = np.random.default_rng(0).normal(size=(300, 3))
    >>> model = RandomForestRegressor(20, random_state=0).fit(X[:200], X[:200, 1])
    >>> found = permutation_importance(model, X[200:], X[200:, 1], random_state=0)
    >>> int(found.mean.argmax())
    1
    """
    check_is_fitted(model)
    if hasattr(X, "indptr"):
        raise ValueError(
            "permutation_importance shuffles columns one by one, of an array or a data frame. Got "
            "a sparse matrix. Give X.toarray(), or explain a model of fewer columns."
        )
    frame = as_frame(X)
    X, y = np.asarray(X) if frame is None else frame.to_native(), np.asarray(y)
    n_features = X.shape[1]
    weight = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, np.float64)
    if loss is None:
        loss = _zero_one if is_classifier(model) else _squared
    random = np.random.default_rng(int(check_random_state(random_state).randint(2**31 - 1)))
    rises: list[np.ndarray] = []
    bases: list[float] = []
    if out_of_bag:
        _check_out_of_bag(model, len(y))
        parts = _out_of_bag_parts(model, X)
        total = len(model.trees_)
    else:
        parts = iter([(np.arange(len(y)), X, model.predict)] * n_repeats)
        total = n_repeats
    with track("shuffling columns", total=total) as step:
        for place, rows, predict in parts:
            step()
            if not len(place):
                continue
            truth, mass = y[place], weight[place] / weight[place].sum()
            before = float(mass @ loss(truth, predict(rows)))
            bases.append(before)
            rise = np.empty(n_features)
            for j in range(n_features):
                shuffled = _shuffled(rows, j, random.permutation(len(place)))
                rise[j] = float(mass @ loss(truth, predict(shuffled))) - before
            rises.append(rise)
    if not rises:
        raise ValueError("No tree has rows that it has not seen. Raise n_estimators.")
    return PermutationImportance(np.array(rises).T, float(np.mean(bases)))


def _check_out_of_bag(model: Any, n_samples: int) -> None:
    if not isinstance(model, BaseForest) or not model.bootstrap:
        raise ValueError(
            "out_of_bag=True needs a random forest grown with bootstrap=True. "
            f"Got {type(model).__name__}; give rows that the model has not seen instead."
        )
    if n_samples != model.n_samples_:
        raise ValueError(
            f"out_of_bag=True needs the {model.n_samples_} rows of training, in their order. "
            f"Got {n_samples} rows."
        )


def _out_of_bag_parts(model: Any, X: Any) -> Iterator[tuple[np.ndarray, Any, Any]]:
    """Yield, for each tree, the rows it has not seen and what it predicts for rows."""
    rows = model._new(X)
    trees = model.trees_
    for t, drawn in enumerate(model.estimators_samples_):
        left_out = np.setdiff1d(np.arange(len(rows)), drawn)
        tree = trees[t]

        def predict(part: np.ndarray, tree: Any = tree) -> np.ndarray:
            values = tree.predict_values(part)
            if is_classifier(model):
                return model.classes_[values.argmax(axis=1)]
            return values[:, 0]

        yield left_out, rows[left_out], predict


def _shuffled(rows: Any, j: int, order: np.ndarray) -> Any:
    frame = as_frame(rows)
    if frame is not None:
        return frame.with_columns(frame[:, j][order]).to_native()
    changed = rows.copy()
    changed[:, j] = rows[order, j]
    return changed


def _zero_one(y: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    return (y != predicted).astype(np.float64)


def _squared(y: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    return (np.asarray(y, dtype=np.float64) - predicted) ** 2
