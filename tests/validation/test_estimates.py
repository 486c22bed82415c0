"""Hold-out, cross-validation, leave-one-out and tuning against brute force and peers."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from joblib import parallel_config
from sklearn.base import BaseEstimator
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import LinearRegression as PeerRegression
from sklearn.linear_model import LogisticRegression as PeerLogistic
from sklearn.linear_model import Ridge as PeerRidge
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from corollary.core.simulate import assert_bound_holds
from corollary.linear import PolynomialRegression, Ridge
from corollary.risk import FiniteWorld, minimise_threshold
from corollary.validation import (
    bootstrap_risk,
    compare_learners,
    cross_validate,
    hold_out,
    hold_out_interval,
    least_squares_loo,
    look_price,
    nested_risk,
    retrain_without,
    smoother_loo,
    tune,
)


class Majority(BaseEstimator):
    """Predicts the commonest label of its training rows and remembers how many there were."""

    _estimator_type = "classifier"

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.estimator_type = "classifier"
        return tags

    def fit(self, X, y):
        values, counts = np.unique(y, return_counts=True)
        self.label_, self.rows_ = values[counts.argmax()], set(np.asarray(X)[:, 0])
        return self

    def predict(self, X):
        assert not self.rows_ & set(np.asarray(X)[:, 0]), "a held-out row was seen"
        return np.full(len(X), self.label_)


ROWS = np.arange(40.0)[:, None]
LABELS = np.r_[np.zeros(30, dtype=int), np.ones(10, dtype=int)]


def test_hold_out_is_unbiased_on_a_finite_world():
    world = FiniteWorld([[0.4, 0.1], [0.2, 0.3]], outcomes=[-1, 1])

    class Threshold(BaseEstimator):
        def fit(self, X, y):
            self.rule_ = minimise_threshold(np.asarray(X)[:, 0], y)
            return self

        def predict(self, X):
            return self.rule_.predict(X)

    gaps = []
    for seed in range(300):
        X, y = world.sample(24, seed)
        found = hold_out(Threshold(), X, y, random_state=seed)
        gaps.append(found.risk - world.risk(found.model.predict))
        assert len(found.losses) == len(found.rows) == 6
    assert abs(np.mean(gaps)) < 4 * np.std(gaps) / math.sqrt(300)


@pytest.mark.parametrize(
    "frame", [np.asarray, pd.DataFrame, pl.DataFrame], ids=["numpy", "pandas", "polars"]
)
def test_held_out_rows_are_never_seen_and_frames_stay_frames(frame):
    X = frame(ROWS) if frame is not pl.DataFrame else pl.DataFrame({"x": ROWS[:, 0]})
    found = hold_out(Majority(), X, LABELS, random_state=0)
    assert found.risk == pytest.approx(np.mean(LABELS[found.rows] != 0))
    outcome = cross_validate(Majority(), X, LABELS, cv=4, random_state=0)
    assert outcome.risk == pytest.approx(0.25)
    assert not np.isnan(outcome.losses).any()


@pytest.mark.parametrize("method", ["exact", "hoeffding", "bernstein", "auto"])
@pytest.mark.parametrize("n", [1, 5, 60])
def test_limits_hold(method, n):
    rng = np.random.default_rng(0)
    for sides in (1, 2):
        misses = 0
        for _ in range(300):
            losses = (rng.random(n) < 0.2).astype(float)
            low, high = hold_out_interval(losses, 0.2, sides=sides, method=method)
            misses += not low <= 0.2 <= high
            assert 0 <= low <= losses.mean() <= high <= 1
        assert_bound_holds(misses, 300, 0.2)


def test_limits_by_hand():
    losses = np.array([0.2, 0.4, 0.9])
    low, high = hold_out_interval(losses, 0.1, high=2.0)
    radius = 2 * math.sqrt(math.log(20) / 6)
    assert (low, high) == pytest.approx((0.0, min(2.0, 0.5 + radius)))
    exact = hold_out_interval([0.0, 0.0, 2.0], 0.1, high=2.0, sides=1, method="exact")
    assert exact[0] == 0.0
    # Clopper and Pearson: the upper limit p of 1 error in 3 solves P(Bin(3, p) <= 1) = 0.1.
    p = exact[1] / 2
    assert (1 - p) ** 3 + 3 * p * (1 - p) ** 2 == pytest.approx(0.1)


def test_price_of_looks():
    assert look_price(n_samples=50, looks=1, delta=0.1) == 0
    price = look_price(n_samples=50, looks=10, delta=0.1)
    assert price == pytest.approx(math.sqrt(math.log(100) / 100) - math.sqrt(math.log(10) / 100))


def test_folds_agree_with_scikit_learn():
    X, y = load_diabetes(return_X_y=True)
    folds = KFold(7, shuffle=True, random_state=3)
    outcome = cross_validate(PeerRidge(), X, y, loss="square", cv=folds)
    theirs = -cross_val_score(PeerRidge(), X, y, cv=folds, scoring="neg_mean_squared_error")
    assert outcome.fold_risks == pytest.approx(theirs)
    assert outcome.risk == pytest.approx(np.average(theirs, weights=outcome.fold_sizes))


def test_pipelines_are_refitted_per_fold_and_folds_are_shuffled_and_stratified():
    X, y = load_iris(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), PeerLogistic())
    one = cross_validate(pipeline, X, y, cv=5, random_state=0)
    with parallel_config("threading"):
        again = cross_validate(pipeline, X, y, cv=5, random_state=0, n_jobs=2)
    assert np.array_equal(one.losses, again.losses)
    assert one.risk < 0.1
    assert one.standard_error > np.std(one.fold_risks, ddof=1) / math.sqrt(5)


def test_groups_random_splits_and_rows_held_out_twice():
    groups = np.repeat(np.arange(8), 5)
    outcome = cross_validate(Majority(), ROWS, LABELS, cv=GroupKFold(4), groups=groups)
    assert outcome.fold_sizes.tolist() == [10] * 4
    splits = ShuffleSplit(3, test_size=10, random_state=0)
    outcome = cross_validate(Majority(), ROWS, LABELS, cv=splits)
    assert len(outcome.fold_risks) == 3
    assert np.isnan(outcome.losses).sum() == 40 - len({i for _, t in splits.split(ROWS) for i in t})


def test_leave_one_out_of_least_squares_three_ways():
    rng = np.random.default_rng(0)
    X = np.column_stack([np.ones(12), rng.normal(size=(12, 2))])
    y = rng.normal(size=12)
    parameters, residual = least_squares_loo(X, y)
    refits = retrain_without(lambda X, y: np.linalg.lstsq(X, y, rcond=None)[0], X, y)
    assert parameters == pytest.approx(np.array(refits))
    model = PeerRegression(fit_intercept=False)
    outcome = cross_validate(model, X, y, loss="square", cv="loo")
    assert outcome.losses == pytest.approx(residual**2)
    H = X @ np.linalg.pinv(X)
    assert smoother_loo(y, H @ y, np.diag(H)) == pytest.approx(residual)


def test_leave_one_out_of_ridge_by_its_smoother():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(15, 4)), rng.normal(size=15)
    H = X @ np.linalg.solve(X.T @ X + 2 * np.eye(4), X.T)
    shortcut = smoother_loo(y, H @ y, np.diag(H))
    outcome = cross_validate(Ridge(alpha=2.0, fit_intercept=False), X, y, loss="square", cv="loo")
    assert shortcut**2 == pytest.approx(outcome.losses, rel=1e-6)


def test_row_that_determines_its_own_fit_has_no_left_out_residual():
    assert np.isnan(smoother_loo([1.0], [1.0], [1.0])).all()


def test_tuning_recovers_the_degree_of_a_polynomial():
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, size=(80, 1))
    y = 1 - 2 * x[:, 0] + 3 * x[:, 0] ** 3 + 0.05 * rng.normal(size=80)
    settings = {"degree": [1, 2, 3, 4, 5, 6]}
    best = tune(
        PolynomialRegression(),
        settings,
        x,
        y,
        loss="square",
        rule="one_standard_error",
        random_state=0,
    )
    assert best.best == {"degree": 3}
    assert best.risks.argmin() >= 2
    assert best.model.predict(x) == pytest.approx(y, abs=0.3)
    training = [
        np.mean((PolynomialRegression(degree=d).fit(x, y).predict(x) - y) ** 2) for d in range(1, 7)
    ]
    assert np.all(np.diff(training) <= 1e-9)


def test_tuning_uses_the_same_folds_and_first_wins_ties():
    X, y = load_diabetes(return_X_y=True)
    same = tune(PeerRidge(), [{"alpha": 1.0}, {"alpha": 1.0}], X, y, loss="square", random_state=0)
    assert same.risks[0] == same.risks[1]
    assert same.chosen == 0


def test_nested_risk_does_not_leak_the_choice():
    # Pure noise: the best of many random columns looks good, the nested estimate does not.
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 200)), rng.integers(0, 2, 60)

    class Column(BaseEstimator):
        def __init__(self, column=0):
            self.column = column

        def fit(self, X, y):
            value = np.corrcoef(X[:, self.column], y)[0, 1]
            self.sign_, self.centre_ = np.sign(value), np.median(X[:, self.column])
            return self

        def predict(self, X):
            return (self.sign_ * (X[:, self.column] - self.centre_) > 0).astype(int)

    grid = {"column": list(range(100))}
    tuned = tune(Column(), grid, X, y, cv=3, random_state=0)
    nested = nested_risk(Column(), grid, X, y, cv=3, inner_cv=3, random_state=0)
    assert tuned.risks.min() < 0.36
    assert nested.risk > 0.4


def test_the_loss_of_a_regressor_is_squared_unless_said_otherwise():
    X, y = load_diabetes(return_X_y=True)
    grid = {"alpha": [0.1, 10.0]}
    runs = {
        "cross_validate": lambda **how: cross_validate(Ridge(), X, y, random_state=0, **how).risk,
        "hold_out": lambda **how: hold_out(Ridge(), X, y, random_state=0, **how).risk,
        "tune": lambda **how: tune(Ridge(), grid, X, y, random_state=0, **how).risks[0],
        "nested": lambda **how: nested_risk(Ridge(), grid, X, y, random_state=0, **how).risk,
        "bootstrap": lambda **how: (
            bootstrap_risk(Ridge(), X, y, n_resamples=3, random_state=0, **how).leave_one_out
        ),
        "compare": lambda **how: (
            compare_learners(Ridge(), Ridge(alpha=9.0), X, y, **how).difference
        ),
    }
    for name, run in runs.items():
        assert run() == run(loss="square"), name
        assert run() != run(loss="absolute"), name
    iris, species = load_iris(return_X_y=True)
    outcome = cross_validate(PeerLogistic(max_iter=1000), iris, species, random_state=0)
    assert set(outcome.losses) == {0.0, 1.0}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: hold_out(Majority(), ROWS[:1], LABELS[:1]), "at least two rows"),
        (lambda: hold_out_interval([0.5, 2.0], 0.1), "must lie in"),
        (lambda: hold_out_interval([0.5], 0.1, method="exact"), "one of the two ends"),
        (lambda: cross_validate(Majority(), ROWS, LABELS, cv="ten"), "'loo'"),
        (lambda: cross_validate(Majority(), ROWS, LABELS, cv=41), "from 2 to the number"),
        (lambda: tune(PeerRidge(), [], ROWS, LABELS), "at least one setting"),
        (lambda: least_squares_loo(np.ones((3, 2)), np.ones(3)), "full column rank"),
        (lambda: smoother_loo([1.0], [1.0, 2.0], [0.1]), "per row"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
