"""Losses and residuals of rows under models that did not see their fold."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

#: Folds; three of four rows train, as many as there are before the latest quarter.
FOLDS = 4
#: Trees of the model that measures; fully grown, so that it can remember whatever it has seen.
TREES = 30
#: Rows that are measured at most, and rows of a unit among them at least.
MOST_ROWS, LEAST_OF_UNIT = 2000, 4
#: Classes that are told apart, commonest first; the rarer ones count as one.
MOST_CLASSES = 10
#: Least loss that an excess is relative to, as a share of the loss of guessing.
LEAST_LOSS = 0.03


class Losses(NamedTuple):
    """Loss and residual of each row; NaN and zero where a row was not predicted."""

    loss: np.ndarray
    residual: np.ndarray


@dataclass(frozen=True, eq=False)
class Problem:
    """What is predicted from what: numbers as normal scores, or classes as codes."""

    features: np.ndarray
    target: np.ndarray
    n_classes: int  # 0 for numbers
    floor: float
    model: Any  # None for fully grown trees
    seed: int

    def loss(self, residual: np.ndarray) -> np.ndarray:
        """Absolute error of numbers, half the Brier sum of classes."""
        return (residual**2).sum(axis=1) / 2 if self.n_classes else np.abs(residual[:, 0])

    def reseeded(self, k: int) -> "Problem":
        """Return the same problem with another seed of the model, if it has one."""
        if k == 0 or self.model is None:
            return replace(self, seed=self.seed + k)
        if "random_state" not in self.model.get_params():
            return self
        return replace(self, model=clone(self.model).set_params(random_state=self.seed + k))

    def out_of_fold(
        self, rows: np.ndarray, folds: np.ndarray, columns: np.ndarray | None = None
    ) -> Losses:
        """Predict each fold from all other rows; rows of a negative fold only train."""
        X = self.features[rows] if columns is None else self.features[np.ix_(rows, columns)]
        y = self.target[rows]
        truth = np.eye(self.n_classes)[y] if self.n_classes else y[:, None]
        loss, residual = np.full(len(rows), np.nan), np.zeros(truth.shape)
        for fold in np.unique(folds[folds >= 0]):
            test = folds == fold
            if self.model is None:
                prediction = _by_trees(X[~test], truth[~test], X[test], self.seed)
            else:
                prediction = self._by_model(X[~test], y[~test], X[test])
            residual[test] = truth[test] - prediction
            loss[test] = self.loss(residual[test])
        return Losses(loss, residual)

    def _by_model(self, X: np.ndarray, y: np.ndarray, new: np.ndarray) -> np.ndarray:
        """Predict numbers, or the probability of each class."""
        model = clone(self.model).fit(X, y)
        if not self.n_classes:
            return np.asarray(model.predict(new)).reshape(-1, 1)
        prediction = np.zeros((len(new), self.n_classes))
        prediction[:, model.classes_] = model.predict_proba(new)
        return prediction


def pose_problem(
    features: np.ndarray,
    y: np.ndarray,
    measured: np.ndarray,
    *,
    is_classes: bool,
    model: Any,
    seed: int,
) -> Problem:
    """Read the targets of measured rows: normal scores, on which no outlier decides, or codes."""
    from scipy.special import ndtri
    from scipy.stats import rankdata

    values, n = y[measured], len(measured)
    if is_classes:
        _, codes, counts = np.unique(values, return_inverse=True, return_counts=True)
        rank = np.argsort(np.argsort(-counts, kind="stable"))
        scores = np.minimum(rank, MOST_CLASSES - 1)[codes.reshape(-1)]
        n_classes = int(scores.max()) + 1
        shares = np.bincount(scores) / n
        guess = (1 - (shares**2).sum()) / 2
    else:
        scores, n_classes = ndtri((rankdata(values) - 0.5) / n), 0
        guess = float(np.abs(scores).mean())
    target = np.zeros(len(y), dtype=scores.dtype)
    target[measured] = scores
    if model is None:
        # Trees read numbers in single precision, which ends earlier.
        limit = np.finfo(np.float32).max
        features = np.clip(features, -limit, limit).astype(np.float32)
    return Problem(features, target, n_classes, LEAST_LOSS * guess, model, seed)


def _by_trees(X: np.ndarray, y: np.ndarray, new: np.ndarray, seed: int) -> np.ndarray:
    """Predict numbers, or shares of classes, by fully grown, extremely randomised trees.

    On indicators of classes squared error is Gini's index. This is scikit-learn's forest without
    its checks of each tree, which cost more than the tree.
    """
    from sklearn.tree import ExtraTreeRegressor

    total = np.zeros((len(new), y.shape[1]))
    for state in np.random.RandomState(seed).randint(np.iinfo(np.int32).max, size=TREES):
        tree = ExtraTreeRegressor(max_features=0.5, random_state=int(state))
        prediction = tree.fit(X, y, check_input=False).predict(new, check_input=False)
        total += prediction.reshape(total.shape)
    return total / TREES


def deal(codes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Deal whole units to folds of nearly equal numbers of rows, units in random order."""
    size = np.bincount(codes)
    fold, full = np.zeros(len(size), dtype=np.int64), np.zeros(FOLDS)
    for unit in rng.permutation(len(size)):
        fold[unit] = full.argmin()
        full[fold[unit]] += size[unit]
    return fold[codes]


def sample_units(codes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Choose at most so many rows as are measured: whole units, or a share of each large one."""
    n = len(codes)
    if n <= MOST_ROWS:
        return np.arange(n)
    size = np.bincount(codes)
    most = max(LEAST_OF_UNIT, MOST_ROWS // len(size))
    # Place of each row among those of its unit, in random order.
    shuffled = rng.permutation(n)
    order = shuffled[np.argsort(codes[shuffled], kind="stable")]
    first = np.cumsum(size) - size
    place = np.empty(n, dtype=np.int64)
    place[order] = np.arange(n) - np.repeat(first, size)
    units = rng.permutation(len(size))
    kept = units[np.cumsum(np.minimum(size, most)[units]) <= MOST_ROWS]
    chosen = np.zeros(len(size), dtype=bool)
    chosen[kept] = True
    return np.flatnonzero(chosen[codes] & (place < most))
