import math

import numpy as np
import pytest
import sklearn.ensemble
from scipy.stats import betabinom
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import LinearRegression, QuantileRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import corollary.linear
from corollary.conformal import ConformalQuantileRegressor, coverage_score, mean_size
from corollary.core.simulate import LEVEL, assert_share_equals
from corollary.ensemble import HistGradientBoostingRegressor


class Column(RegressorMixin, BaseEstimator):
    """Predicts one column."""

    def __init__(self, column=0):
        self.column = column

    def fit(self, X, y):
        self.fitted_ = True
        return self

    def predict(self, X):
        return np.asarray(X)[:, self.column]


def noisy(n, rng):
    X = rng.uniform(0.2, 2, size=(n, 1))
    return X, X[:, 0] * rng.standard_t(4, size=n)


def test_coverage_is_exact_with_two_wrong_models(seed):
    rng = np.random.default_rng(seed)
    model = ConformalQuantileRegressor(
        LinearRegression(),
        upper_estimator=LinearRegression(fit_intercept=False),
        confidence=0.75,
        calibration_size=15,
        random_state=0,
    )
    hits = 0
    for _ in range(200):
        X, y = noisy(30, rng)
        new, fresh = noisy(1, rng)
        hits += coverage_score(fresh, model.fit(X, y).predict_interval(new))
    assert_share_equals(int(hits), 200, 12 / 16)


def test_intervals_shrink_and_may_be_empty():
    X = np.column_stack([np.full(9, 10.0), np.full(9, -10.0)])
    y = np.linspace(-1, 1, 9)
    low, high = Column(1).fit(X, y), Column(0).fit(X, y)
    model = ConformalQuantileRegressor(low, upper_estimator=high, prefit=True, confidence=0.5)
    assert model.fit(X, y).scores_.max() < 0
    # Scores are |y| - 10, so the interval shrinks to the fifth smallest |y|.
    assert model.predict_interval(X[:1]) == pytest.approx(np.array([[-0.5, 0.5]]))
    empty = model.predict_interval(np.array([[1.0, -1.0]]))
    assert empty[0, 0] > empty[0, 1]
    assert mean_size(empty) == 0


def test_two_linear_quantiles_adapt(seed):
    rng = np.random.default_rng(seed)
    X, y = noisy(600, rng)
    low, high = (QuantileRegressor(quantile=q, alpha=0) for q in (0.05, 0.95))
    model = ConformalQuantileRegressor(low, upper_estimator=high, random_state=seed).fit(X, y)
    easy, hard = model.predict_interval([[0.3], [1.9]])
    assert hard[1] - hard[0] > 2 * (easy[1] - easy[0])
    # A point between two models is that between their ends, not the lower quantile.
    np.testing.assert_allclose(model.predict([[0.3], [1.9]]), [easy.mean(), hard.mean()])


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (QuantileRegressor(alpha=0), "quantile"),
        (corollary.linear.QuantileRegressor(alpha=0.0), "quantile"),
        (
            make_pipeline(StandardScaler(), QuantileRegressor(alpha=0)),
            "quantileregressor__quantile",
        ),
        (sklearn.ensemble.GradientBoostingRegressor(loss="quantile", n_estimators=5), "alpha"),
        (
            sklearn.ensemble.HistGradientBoostingRegressor(
                loss="quantile", quantile=0.5, max_iter=5
            ),
            "quantile",
        ),
    ],
    ids=["linear", "ours", "pipeline", "boosting", "histograms"],
)
def test_a_model_with_one_quantile_is_fitted_at_both_ends(model, name):
    rng = np.random.default_rng(0)
    X, y = noisy(120, rng)
    wrapper = ConformalQuantileRegressor(model, confidence=0.8, random_state=0).fit(X, y)
    assert wrapper.estimator_.get_params()[name] == pytest.approx(0.1)
    assert wrapper.upper_estimator_.get_params()[name] == pytest.approx(0.9)
    low, high = wrapper.predict_interval(X).T
    by_hand = wrapper.upper_estimator_.predict(X) - wrapper.estimator_.predict(X)
    np.testing.assert_allclose(high - low, by_hand + 2 * wrapper.thresholds_[0])
    # The model given is left as it was, and cannot stand for two when it is fitted already.
    assert model.get_params()[name] != pytest.approx(0.1)
    with pytest.raises(ValueError, match=r"unless prefit, a model that has its quantile"):
        ConformalQuantileRegressor(wrapper.estimator_, prefit=True).fit(X + 9, y)


def test_one_boosted_model_gives_widths_that_follow_the_noise(seed):
    rng = np.random.default_rng(seed)
    X, y = noisy(800, rng)
    boost = HistGradientBoostingRegressor(loss="quantile", quantile=[0.1, 0.5, 0.9], max_iter=20)
    model = ConformalQuantileRegressor(boost, confidence=0.8, random_state=0).fit(X, y)
    intervals = model.predict_interval(X)
    widths = intervals[:, 1] - intervals[:, 0]
    assert widths[X[:, 0] > 1.5].mean() > 1.5 * widths[X[:, 0] < 0.7].mean()
    new, fresh = noisy(4000, rng)
    assert abs(coverage_score(fresh, model.predict_interval(new)) - 0.8) < 0.12
    quantiles = model.estimator_.predict_quantiles(X)
    np.testing.assert_allclose(
        intervals[:, 0] - quantiles[:, 0], -(widths[0] - np.diff(quantiles[0, [0, 2]])[0]) / 2
    )


def test_prefit_and_wrong_parts():
    rng = np.random.default_rng(0)
    X, y = noisy(60, rng)
    low, high = LinearRegression().fit(X, y - 1), LinearRegression().fit(X, y + 1)
    model = ConformalQuantileRegressor(low, upper_estimator=high, prefit=True).fit(X, y)
    inside = (model.predict_interval(X)[:, 0] <= y) & (y <= model.predict_interval(X)[:, 1])
    assert inside.sum() == 55  # the rank of 0.9 among 60 scores, all of them counted
    with pytest.raises(ValueError, match="needs a model with predict_quantiles"):
        ConformalQuantileRegressor(LinearRegression()).fit(X, y)
    squared = sklearn.ensemble.HistGradientBoostingRegressor()  # has a quantile, and ignores it
    with pytest.raises(ValueError, match="needs a model with predict_quantiles"):
        ConformalQuantileRegressor(squared).fit(X, y)
    single = HistGradientBoostingRegressor(loss="quantile", quantile=0.5, max_iter=2)
    with pytest.raises(ValueError, match="at least two quantiles"):
        ConformalQuantileRegressor(single).fit(X, y)


@pytest.mark.verify
@pytest.mark.parametrize("n", [9, 10, 30])
def test_fitted_coverage_is_exact_at_length(n, seed):
    rng = np.random.default_rng([seed, n])
    repetitions, m = 3000, 5
    model = ConformalQuantileRegressor(
        LinearRegression(), upper_estimator=LinearRegression(), calibration_size=n
    )
    rank = math.ceil((n + 1) * 0.9 - 1e-9)
    law = betabinom(m, rank, n + 1 - rank)
    hits = []
    for i in range(repetitions):
        X, y = noisy(n + 20 + m, rng)
        model.set_params(random_state=i).fit(X[:-m], y[:-m])
        hits.append(round(m * coverage_score(y[-m:], model.predict_interval(X[-m:]))))
    for count in range(m + 1):
        assert_share_equals(hits.count(count), repetitions, law.pmf(count), level=LEVEL)
