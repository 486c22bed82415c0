"""The picture of a Gaussian process, drawn without a screen."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

mpl.use("Agg")

from corollary.gp import GaussianProcessDisplay, GaussianProcessRegressor


@pytest.fixture(autouse=True)
def _close():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(0, 5, size=(30, 2)), columns=["depth", "width"])
    y = np.sin(X["depth"]) + 0.1 * rng.normal(size=30)
    return GaussianProcessRegressor(random_state=0).fit(X, y), X, y


def test_curves_are_the_predictions(fitted):
    model, X, y = fitted
    display = GaussianProcessDisplay.from_estimator(
        model, X, y, n_points=50, n_draws=4, random_state=0
    )
    x, mean = display.line_.get_data()
    rows = pd.DataFrame({"depth": x, "width": np.median(X["width"])})
    expected, std = model.predict(rows, return_std=True)
    np.testing.assert_allclose(mean, expected)
    corners = display.band_.get_paths()[0].vertices
    for i in (0, 20, 49):
        ends = corners[np.isclose(corners[:, 0], x[i]), 1]
        np.testing.assert_allclose(ends.max(), expected[i] + 1.959964 * std[i], atol=1e-6)
        np.testing.assert_allclose(ends.min(), expected[i] - 1.959964 * std[i], atol=1e-6)
    assert len(display.draw_lines_) == 4
    assert display.ax_.get_xlabel() == "depth"
    assert "95% of new data" in [t.get_text() for t in display.ax_.get_legend().get_texts()]
    assert x[0] < X["depth"].min() < X["depth"].max() < x[-1]


def test_other_feature_own_axes_and_confidence(fitted):
    import matplotlib.pyplot as plt

    model, X, _ = fitted
    _, ax = plt.subplots()
    display = GaussianProcessDisplay.from_estimator(model, X, feature=1, confidence=0.5, ax=ax)
    assert display.ax_ is ax
    assert display.ax_.get_xlabel() == "width"
    assert display.draw_lines_ == []
    wide = GaussianProcessDisplay.from_estimator(model, X, feature=1, confidence=0.99)
    heights = [np.ptp(d.band_.get_paths()[0].vertices[:, 1]) for d in (display, wide)]
    assert heights[0] < heights[1]


def test_errors(fitted):
    model, X, _ = fitted
    with pytest.raises(ValueError, match="Got feature=2"):
        GaussianProcessDisplay.from_estimator(model, X, feature=2)
    with pytest.raises(ValueError, match="'confidence' parameter of GaussianProcessDisplay"):
        GaussianProcessDisplay.from_estimator(model, X, confidence=1.0)
