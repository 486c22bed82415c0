"""The coverage of every public method, exact to the error of simulation, and faults that break it.

All methods run at one level on four calibration rows, where each covers with probability 3 / 5: a
rank that is one too small, or that forgets to count the new row, covers 2 / 5.
"""

import math
import warnings

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

import corollary.conformal
from corollary.conformal import (
    ConformalQuantileRegressor,
    CVPlusRegressor,
    JackknifeAfterBootstrapRegressor,
    SplitConformalClassifier,
    SplitConformalRegressor,
    conformal_quantile,
    full_conformal_neighbors,
    full_conformal_ridge,
    group_conditional_quantiles,
    plus_intervals,
    weighted_conformal_quantile,
)
from corollary.core.simulate import assert_share_equals
from corollary.ensemble import BaggingRegressor

N, CONFIDENCE, EXACT = 4, 0.5, 3 / 5


class Column(RegressorMixin, BaseEstimator):
    """Predicts a column of X, or nothing at all: it learns nothing, so that coverage is exact."""

    def __init__(self, column=None):
        self.column = column

    def fit(self, X, y):
        self.n_features_in_ = np.shape(X)[1]
        return self

    def predict(self, X):
        return np.zeros(len(X)) if self.column is None else np.asarray(X)[:, self.column]


class Table(ClassifierMixin, BaseEstimator):
    """Takes the first three columns for probabilities."""

    def fit(self, X, y):
        self.classes_ = np.arange(3)
        return self

    def predict_proba(self, X):
        return np.asarray(X)[:, :3]

    def predict(self, X):
        return self.predict_proba(X).argmax(axis=1)


def fitted(model, n_features=4):
    return model.fit(np.zeros((2, n_features)), np.zeros(2))


def first_column(X):
    return X[:, 0] > 0


def regression(rng, n):
    """Column 1 is a scale, columns 2 and 3 are wrong quantiles."""
    X = rng.normal(size=(n, 4))
    X[:, 1] = np.exp(X[:, 1])
    return X, X[:, 1] * rng.standard_cauchy(n)


def interval_covers(model, rng, train_rows=0):
    X, y = regression(rng, N + train_rows + 1)
    model.fit(X[:-1], y[:-1])
    low, high = model.predict_interval(X[-1:])[0]
    return low <= y[-1] <= high


def split_regressor(rng, score="absolute", **how):
    model = SplitConformalRegressor(
        fitted(Column()),
        prefit=True,
        confidence=CONFIDENCE,
        conformity_score=score,
        scale_estimator=fitted(Column(1)),
        **how,
    )
    return interval_covers(model, rng)


def trained_split(rng):
    model = SplitConformalRegressor(
        Column(), confidence=CONFIDENCE, calibration_size=N, random_state=int(rng.integers(2**31))
    )
    return interval_covers(model, rng, train_rows=3)


def quantile_regressor(rng, **how):
    model = ConformalQuantileRegressor(
        fitted(Column(2)),
        upper_estimator=fitted(Column(3)),
        prefit=True,
        confidence=CONFIDENCE,
        **how,
    )
    return interval_covers(model, rng)


def set_covers(rng, score, n=N, new_class=None, **how):
    X = rng.dirichlet(np.ones(3), size=n + 1)
    y = np.minimum((rng.random(n + 1)[:, None] > np.cumsum(X, axis=1)).sum(axis=1), 2)
    if new_class is not None:
        y = np.append(np.repeat([0, 1], N), new_class)  # N rows of each of two classes
    model = SplitConformalClassifier(
        Table().fit(None, None),
        prefit=True,
        confidence=CONFIDENCE,
        conformity_score=score,
        randomised=score != "lac",
        random_state=int(rng.integers(2**31)),
        **how,
    )
    return bool(model.fit(X[:-1], y[:-1]).predict_set(X[-1:])[0, y[-1]])


def within_group(rng, make, ratio=None):
    """N rows of each of two groups, one of them ten times as noisy; the new row is of it."""
    X, y = regression(rng, 2 * N + 1)
    X[:, 0] = np.repeat([-1.0, 1.0], [N, N + 1])
    y = np.where(X[:, 0] > 0, 10.0, 1.0) * y
    model = make(partition=first_column, likelihood_ratio=ratio).fit(X[:-1], y[:-1])
    low, high = model.predict_interval(X[-1:])[0]
    return low <= y[-1] <= high


def grouped_split(rng, ratio=None):
    how = {"prefit": True, "confidence": CONFIDENCE}
    return within_group(
        rng, lambda **group: SplitConformalRegressor(fitted(Column()), **how, **group), ratio
    )


def grouped_quantiles(rng):
    def make(**group):
        return ConformalQuantileRegressor(
            fitted(Column(2)),
            upper_estimator=fitted(Column(3)),
            prefit=True,
            confidence=CONFIDENCE,
            **group,
        )

    return within_group(rng, make)


def grouped_sets(rng, score):
    """Groups by the largest probability, drawn until both have N rows and the new one a member."""
    X = rng.dirichlet(np.ones(3), size=60)
    sure = X.max(axis=1) > 0.6
    rows = np.concatenate([np.flatnonzero(sure)[: N + 1], np.flatnonzero(~sure)[:N]])[::-1]
    X = X[rows]  # the new row is the last, a sure one
    y = np.minimum((rng.random(len(X))[:, None] > np.cumsum(X, axis=1)).sum(axis=1), 2)
    model = SplitConformalClassifier(
        Table().fit(None, None),
        prefit=True,
        confidence=CONFIDENCE,
        conformity_score=score,
        randomised=score != "lac",
        partition=lambda X: X.max(axis=1) > 0.6,
        random_state=int(rng.integers(2**31)),
    )
    return bool(model.fit(X[:-1], y[:-1]).predict_set(X[-1:])[0, y[-1]])


def bagged(rng):
    model = JackknifeAfterBootstrapRegressor(
        # Bags of one row: no row is in all of them, which would make its residual infinite.
        BaggingRegressor(Column(), bootstrap=True, max_samples=0.25, n_jobs=1),
        confidence=CONFIDENCE,
        n_estimators=12,
        random_state=int(rng.integers(2**31)),
    )
    return interval_covers(model, rng)


def full(rng, method, **how):
    X, y = rng.normal(size=(N + 1, 1)), rng.standard_t(3, size=N + 1)
    low, high = method(X[:-1], y[:-1], X[-1:], confidence=CONFIDENCE, **how)[0]
    return low <= y[-1] <= high


def function(rng, threshold):
    scores = np.abs(rng.standard_cauchy(N + 1))
    return scores[-1] <= threshold(scores[:-1])


METHODS = {
    "SplitConformalRegressor": split_regressor,
    "SplitConformalRegressor, trained": trained_split,
    "SplitConformalRegressor, normalised": lambda rng: split_regressor(rng, "normalised"),
    "SplitConformalRegressor, weighted": lambda rng: split_regressor(
        rng, likelihood_ratio=lambda X: np.full(len(X), 0.3)
    ),
    "SplitConformalRegressor, in a group": grouped_split,
    "SplitConformalRegressor, weighted in a group": lambda rng: grouped_split(
        rng, ratio=lambda X: np.where(X[:, 0] > 0, 3.0, 1.0)
    ),
    "SplitConformalClassifier, lac": lambda rng: set_covers(rng, "lac"),
    "SplitConformalClassifier, aps": lambda rng: set_covers(rng, "aps"),
    "SplitConformalClassifier, raps": lambda rng: set_covers(rng, "raps"),
    "SplitConformalClassifier, weighted": lambda rng: set_covers(
        rng, "lac", likelihood_ratio=lambda X: np.full(len(X), 0.3)
    ),
    "SplitConformalClassifier, of a class": lambda rng: set_covers(
        rng, "aps", n=2 * N, new_class=1, class_conditional=True
    ),
    "SplitConformalClassifier, lac in a group": lambda rng: grouped_sets(rng, "lac"),
    "SplitConformalClassifier, aps in a group": lambda rng: grouped_sets(rng, "aps"),
    "ConformalQuantileRegressor": quantile_regressor,
    "ConformalQuantileRegressor, in a group": grouped_quantiles,
    "CVPlusRegressor": lambda rng: interval_covers(
        CVPlusRegressor(Column(), cv=2, confidence=CONFIDENCE), rng
    ),
    "CVPlusRegressor, jackknife+": lambda rng: interval_covers(
        CVPlusRegressor(Column(), cv="loo", confidence=CONFIDENCE), rng
    ),
    "JackknifeAfterBootstrapRegressor": bagged,
    "full_conformal_ridge": lambda rng: full(rng, full_conformal_ridge, alpha=100.0),
    "full_conformal_neighbors": lambda rng: full(rng, full_conformal_neighbors, n_neighbors=2),
    "conformal_quantile": lambda rng: function(rng, lambda s: conformal_quantile(s, CONFIDENCE)),
    "weighted_conformal_quantile": lambda rng: function(
        rng, lambda s: weighted_conformal_quantile(s, np.full(N, 2.0), [2.0], CONFIDENCE)[0]
    ),
    "group_conditional_quantiles": lambda rng: function(
        rng, lambda s: group_conditional_quantiles(s, np.zeros(N), CONFIDENCE)[0.0]
    ),
    "plus_intervals": lambda rng: function(
        rng, lambda s: plus_intervals([[0.0, 0.0]], s, [0, 1, 0, 1], CONFIDENCE)[0, 1]
    ),
}


def share_covered(method, repetitions, seed):
    streams = np.random.SeedSequence([seed, len(method)]).spawn(repetitions)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return sum(bool(METHODS[method](np.random.default_rng(one))) for one in streams)


def test_no_public_method_is_forgotten():
    public = {
        name
        for name, value in vars(corollary.conformal).items()
        if hasattr(value, "predict_interval")
        or hasattr(value, "predict_set")
        or name.startswith("full_conformal")
    }
    assert len(public) == 7
    assert public <= {method.split(",")[0] for method in METHODS}


@pytest.mark.parametrize("method", METHODS)
def test_coverage_is_exact(method, seed):
    assert_share_equals(share_covered(method, 250, seed), 250, EXACT)


@pytest.mark.verify
@pytest.mark.parametrize("method", METHODS)
def test_coverage_is_exact_at_length(method, seed):
    assert_share_equals(share_covered(method, 4000, seed), 4000, EXACT)


def one_too_small(value, n):
    return max(1, math.ceil(value - 1e-9) - 1)


def new_row_forgotten(value, n):
    return max(1, math.ceil(value * n / (n + 1) - 1e-9))


@pytest.mark.parametrize("fault", [one_too_small, new_row_forgotten])
@pytest.mark.parametrize("method", [name for name in METHODS if "weighted" not in name])
def test_a_wrong_rank_is_caught(method, fault, seed, monkeypatch):
    monkeypatch.setattr("corollary.conformal._order.round_up", fault)
    with pytest.raises(AssertionError, match="share is wrong"):
        assert_share_equals(share_covered(method, 250, seed), 250, EXACT, level=1e-3)


@pytest.mark.parametrize("method", [name for name in METHODS if "weighted" in name])
def test_a_new_row_without_mass_is_caught(method, seed, monkeypatch):
    from corollary.conformal import _order

    right = _order.weighted_thresholds

    def without_mass(scores, weights, new_weights, confidence):
        return right(scores, weights, 0 * new_weights, confidence)

    for module in ("split._cells", "weighted"):
        monkeypatch.setattr(f"corollary.conformal.{module}.weighted_thresholds", without_mass)
    with pytest.raises(AssertionError, match="share is wrong"):
        assert_share_equals(share_covered(method, 250, seed), 250, EXACT, level=1e-3)


# Covariate shift with two kinds of rows, whose scores lie in (0, 1) and in (1, 2): every threshold
# is an order statistic of one kind, and coverage a finite sum.
OLD, NEW, LEVEL, ROWS = 0.5, 0.8, 0.7, 8
RATIO = np.array([(1 - NEW) / (1 - OLD), NEW / OLD])


def covered_by_hand(weights):
    """Add up over the number of calibration rows of the second kind and the kind of the new row."""
    coverage = np.zeros(2)
    for second in range(ROWS + 1):
        first = ROWS - second
        for kind in (0, 1):
            mass = weights[0] * first + weights[1] * second + weights[kind]
            place = math.ceil(LEVEL * mass / weights[0] - 1e-9)
            if place <= first:
                share = (place / (first + 1), 0.0)[kind]
            else:
                left = LEVEL * mass - weights[0] * first
                place = math.ceil(left / weights[1] - 1e-9)
                share = 1.0 if place > second or kind == 0 else place / (second + 1)
            coverage[kind] += binom.pmf(second, ROWS, OLD) * share
    return coverage


@pytest.mark.parametrize("known", [True, False])
def test_coverage_under_shift_equals_a_sum_by_hand(known, seed):
    """With the ratio the level is kept; without it, not; both to the error of simulation."""
    weights = RATIO if known else np.ones(2)
    expected = covered_by_hand(weights)
    marginal = (1 - NEW) * expected[0] + NEW * expected[1]
    assert (marginal >= LEVEL) == known
    rng = np.random.default_rng(seed)
    repetitions, hits, kinds = 800, np.zeros(2, dtype=int), np.zeros(2, dtype=int)
    model = SplitConformalRegressor(
        fitted(Column(), 1),
        prefit=True,
        confidence=LEVEL,
        likelihood_ratio=(lambda X: RATIO[X[:, 0].astype(int)]) if known else None,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        for _ in range(repetitions):
            x, new = rng.random(ROWS) < OLD, int(rng.random() < NEW)
            model.fit(x[:, None].astype(float), x + rng.random(ROWS))
            high = model.predict_interval(np.array([[float(new)]]))[0, 1]
            hits[new] += new + rng.random() <= high
            kinds[new] += 1
    assert_share_equals(int(hits.sum()), repetitions, marginal)
    for kind in (0, 1):
        assert_share_equals(int(hits[kind]), int(kinds[kind]), expected[kind])
