"""Pictures of boosting and of contributions."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest

from corollary.ensemble import (
    BoostingCurveDisplay,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from corollary.tree import ContributionDisplay


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


@pytest.fixture
def data(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, 4))
    return X, X[:, 0] - 2 * X[:, 1] + 0.1 * rng.normal(size=300)


def test_curves_are_the_losses(data):
    X, y = data
    model = HistGradientBoostingRegressor(max_iter=6).fit(X[:200], y[:200])
    rows = {"training": (X[:200], y[:200]), "test": (X[200:], y[200:])}
    display = BoostingCurveDisplay.from_estimator(model, rows)
    found = display.lines_["test"].get_ydata()
    assert found[0] == pytest.approx(0.5 * np.mean((y[200:] - y[:200].mean()) ** 2))
    assert found[-1] == pytest.approx(0.5 * np.mean((y[200:] - model.predict(X[200:])) ** 2))
    assert display.ax_.get_xlabel() == "iterations"


def test_recorded_curves_mark_the_iterations_kept(data):
    X, y = data
    model = HistGradientBoostingClassifier(early_stopping=True, random_state=0, max_iter=15)
    display = BoostingCurveDisplay.from_estimator(model.fit(X, y > 0))
    assert set(display.curves) == {"training", "held out"}
    assert display.chosen == model.n_iter_


def test_curves_need_a_model_that_has_them(data):
    X, y = data
    with pytest.raises(ValueError, match="recorded no losses"):
        BoostingCurveDisplay.from_estimator(HistGradientBoostingRegressor(max_iter=1).fit(X, y))
    with pytest.raises(TypeError, match="Got str instead"):
        BoostingCurveDisplay.from_estimator("model")
    model = HistGradientBoostingClassifier(max_iter=1).fit(X, y > 0)
    with pytest.raises(ValueError, match="not seen in training"):
        model.staged_loss(X, np.full(300, 7))


def test_a_waterfall_ends_at_the_prediction(data):
    X, y = data
    model = HistGradientBoostingRegressor(max_iter=10).fit(X, y)
    display = ContributionDisplay.from_estimator(model, X[:1], max_features=2)
    top = display.bars_[0]
    assert top.get_x() + top.get_width() == pytest.approx(model.predict(X[:1])[0])
    bottom = display.bars_[-1]
    assert bottom.get_x() == pytest.approx(model.expected_value_)
    labels = [t.get_text() for t in display.ax_.get_yticklabels()]
    assert labels[0].startswith("x1 = ")
    assert labels[-1] == "2 others"


def test_bars_are_mean_sizes(data):
    X, y = data
    model = HistGradientBoostingRegressor(max_iter=10).fit(X, y)
    display = ContributionDisplay.from_estimator(model, X)
    sizes = np.sort(np.abs(model.contributions(X)).mean(axis=0))[::-1]
    np.testing.assert_allclose([bar.get_width() for bar in display.bars_], sizes)
    with pytest.raises(TypeError, match="Got int instead"):
        ContributionDisplay.from_estimator(3, X)
