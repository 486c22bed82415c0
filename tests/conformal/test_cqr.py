import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from corollary.conformal import ConformalQuantileRegressor, coverage_score
from corollary.core.simulate import assert_share_equals
from corollary.ensemble import GradientBoostingRegressor


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


def test_one_boosted_model_gives_widths_that_follow_the_noise(seed):
    rng = np.random.default_rng(seed)
    X, y = noisy(800, rng)
    boost = GradientBoostingRegressor(loss="quantile", quantile=[0.1, 0.5, 0.9], n_estimators=20)
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
    single = GradientBoostingRegressor(loss="quantile", quantile=0.5, n_estimators=2)
    with pytest.raises(ValueError, match="at least two quantiles"):
        ConformalQuantileRegressor(single).fit(X, y)
