"""Conformal intervals and sets against MAPIE and crepes.

What is timed is the wrapper: calibration and prediction. The model is the same for all contenders,
learns nothing, and its prediction is a view of columns of X, which are kept in the order that makes
the view contiguous: it costs nobody anything. (A copy of a column, as this bench once timed it, was
a fifth of our time and a tenth of MAPIE's.) Views are handed out read-only, so that no contender
can spoil the data of the next.
"""

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from bench.harness import Contest, Peer, Row, run

CLASSES = 10


def view(values: np.ndarray) -> np.ndarray:
    """Return the same numbers without leave to write them."""
    shown = values.view()
    shown.flags.writeable = False
    return shown


class FirstColumn(RegressorMixin, BaseEstimator):
    """Predicts the first column."""

    def fit(self, X: Any, y: Any) -> "FirstColumn":
        """Learn nothing."""
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Show the column."""
        return view(X[:, 0])


class Columns(ClassifierMixin, BaseEstimator):
    """Takes the columns for the probabilities of classes."""

    def fit(self, X: Any, y: Any) -> "Columns":
        """Learn nothing."""
        self.classes_ = np.arange(CLASSES)
        self.n_features_in_ = X.shape[1]
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Show the columns."""
        return view(X)

    def predict(self, X: Any) -> np.ndarray:
        """Name the largest column."""
        return self.predict_proba(X).argmax(axis=1)


class Data(NamedTuple):
    """Calibration rows and new rows."""

    X: np.ndarray
    y: np.ndarray
    new: np.ndarray
    fresh: np.ndarray


def regression(n: int) -> Data:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2 * n, 4))
    y = X[:, 0] + rng.standard_t(4, size=2 * n)
    return Data(np.asfortranarray(X[:n]), y[:n], np.asfortranarray(X[n:]), y[n:])


def classification(n: int) -> Data:
    rng = np.random.default_rng(0)
    X = rng.dirichlet(np.full(CLASSES, 0.3), size=2 * n)
    y = (rng.random((2 * n, 1)) > np.cumsum(X, axis=1)).sum(axis=1).clip(0, CLASSES - 1)
    return Data(X[:n], y[:n], X[n:], y[n:])


def regression_100_000() -> Data:
    return regression(100_000)


def regression_1_000_000() -> Data:
    return regression(1_000_000)


def classification_100_000() -> Data:
    return classification(100_000)


def classification_5_000() -> Data:
    return classification(5_000)


def folds_5_000() -> Data:
    return regression(5_000)


def nbytes(data: Data) -> int:
    return sum(part.nbytes for part in data)


def ours_intervals(data: Data) -> np.ndarray:
    from corollary.conformal import SplitConformalRegressor

    model = FirstColumn().fit(data.X, data.y)
    wrapper = SplitConformalRegressor(model, prefit=True, confidence=0.9)
    return wrapper.fit(data.X, data.y).predict_interval(data.new)


def mapie_intervals(data: Data) -> np.ndarray:
    from mapie.regression import SplitConformalRegressor

    model = FirstColumn().fit(data.X, data.y)
    wrapper = SplitConformalRegressor(model, confidence_level=0.9, prefit=True)
    _, intervals = wrapper.conformalize(data.X, data.y).predict_interval(data.new)
    return intervals[:, :, 0]


def crepes_intervals(data: Data) -> np.ndarray:
    from crepes import WrapRegressor

    wrapper = WrapRegressor(FirstColumn())
    wrapper.fit(data.X, data.y)
    wrapper.calibrate(data.X, data.y)
    return wrapper.predict_int(data.new, confidence=0.9)


def ours_aps(data: Data) -> np.ndarray:
    from corollary.conformal import SplitConformalClassifier

    model = Columns().fit(data.X, data.y)
    wrapper = SplitConformalClassifier(
        model,
        prefit=True,
        confidence=0.9,
        conformity_score="aps",
        randomised=True,
        random_state=0,
    )
    return wrapper.fit(data.X, data.y).predict_set(data.new)


def mapie_aps(data: Data) -> np.ndarray:
    from mapie.classification import SplitConformalClassifier

    model = Columns().fit(data.X, data.y)
    wrapper = SplitConformalClassifier(
        model, confidence_level=0.9, conformity_score="aps", prefit=True, random_state=0
    )
    _, sets = wrapper.conformalize(data.X, data.y).predict_set(data.new)
    return sets[:, :, 0]


def ours_lac(data: Data) -> np.ndarray:
    from corollary.conformal import SplitConformalClassifier

    model = Columns().fit(data.X, data.y)
    wrapper = SplitConformalClassifier(model, prefit=True, confidence=0.9, random_state=0)
    return wrapper.fit(data.X, data.y).predict_set(data.new)


def mapie_lac(data: Data) -> np.ndarray:
    from mapie.classification import SplitConformalClassifier

    model = Columns().fit(data.X, data.y)
    wrapper = SplitConformalClassifier(model, confidence_level=0.9, prefit=True)
    _, sets = wrapper.conformalize(data.X, data.y).predict_set(data.new)
    return sets[:, :, 0]


def crepes_lac(data: Data) -> np.ndarray:
    from crepes import WrapClassifier

    wrapper = WrapClassifier(Columns())
    wrapper.fit(data.X, data.y)
    wrapper.calibrate(data.X, data.y, seed=0)
    return np.asarray(wrapper.predict_p(data.new, smoothing=False)) > 0.1


def ours_cv_plus(data: Data) -> np.ndarray:
    from corollary.conformal import CVPlusRegressor

    wrapper = CVPlusRegressor(FirstColumn(), cv=5, random_state=0).fit(data.X, data.y)
    return wrapper.predict_interval(data.new)


def mapie_cv_plus(data: Data) -> np.ndarray:
    from mapie.regression import CrossConformalRegressor

    wrapper = CrossConformalRegressor(FirstColumn(), confidence_level=0.9, cv=5)
    _, intervals = wrapper.fit_conformalize(data.X, data.y).predict_interval(data.new)
    return intervals[:, :, 0]


def interval_loss(data: Data, intervals: np.ndarray) -> float:
    """Mean Winkler score at 90%: width, and twenty times what is missed."""
    low, high = intervals.T
    missed = np.maximum(low - data.fresh, 0) + np.maximum(data.fresh - high, 0)
    return float(np.mean(high - low + 20 * missed))


def set_loss(data: Data, sets: np.ndarray) -> float:
    """Mean size, and one class more for each percent of coverage below 90."""
    covered = sets[np.arange(len(sets)), data.fresh].mean()
    return float(sets.sum(axis=1).mean() + 100 * max(0.0, 0.895 - covered))


CONTESTS = [
    Contest(
        name="conformal intervals, 100,000 calibration and 100,000 new rows",
        data=regression_100_000,
        ours=ours_intervals,
        peers=[
            Peer("MAPIE", mapie_intervals, goal=3.0, requires="mapie"),
            Peer("crepes", crepes_intervals, goal=3.0, requires="crepes"),
        ],
        quality=interval_loss,
        tolerance=1e-3,
        size=nbytes,
        memory_goal=3.0,
        # A millisecond: the best of few rounds is luck.
        rounds=40,
    ),
    Contest(
        name="conformal sets (1 - p), 10 classes, 100,000 calibration and 100,000 new rows",
        data=classification_100_000,
        ours=ours_lac,
        peers=[Peer("MAPIE", mapie_lac, goal=3.0, requires="mapie")],
        quality=set_loss,
        tolerance=5e-3,
        size=nbytes,
        memory_goal=3.0,
        cold=False,
    ),
    # The time of crepes grows with the product of the rows: fewer of them.
    Contest(
        name="conformal sets (1 - p), 10 classes, 5,000 calibration and 5,000 new rows",
        data=classification_5_000,
        ours=ours_lac,
        peers=[Peer("crepes", crepes_lac, goal=3.0, requires="crepes", once=True)],
        quality=set_loss,
        tolerance=2e-2,
        size=nbytes,
        memory_goal=3.0,
        cold=False,
    ),
    Contest(
        name="conformal sets (APS), 10 classes, 100,000 calibration and 100,000 new rows",
        data=classification_100_000,
        ours=ours_aps,
        peers=[Peer("MAPIE", mapie_aps, goal=3.0, requires="mapie")],
        quality=set_loss,
        tolerance=5e-2,
        size=nbytes,
        memory_goal=3.0,
        cold=False,
    ),
    Contest(
        name="CV+ intervals, 5 folds, 5,000 training and 5,000 new rows",
        data=folds_5_000,
        ours=ours_cv_plus,
        peers=[Peer("MAPIE", mapie_cv_plus, goal=3.0, requires="mapie", once=True)],
        quality=interval_loss,
        tolerance=1e-3,
        size=nbytes,
        cold=False,
    ),
    Contest(
        name="conformal intervals, 1,000,000 calibration and 1,000,000 new rows",
        data=regression_1_000_000,
        ours=ours_intervals,
        peers=[Peer("MAPIE", mapie_intervals, goal=3.0, requires="mapie")],
        quality=interval_loss,
        tolerance=1e-3,
        size=nbytes,
        memory_goal=3.0,
        cold=False,
    ),
]


def rows() -> list[Row]:
    return [row for contest in CONTESTS for row in run(contest)]
