"""The path's picture, drawn without a screen."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

mpl.use("Agg")

from corollary.linear import (
    CoefficientPathDisplay,
    ElasticNet,
    Lasso,
    LassoCV,
    LinearRegression,
    Ridge,
    lasso_path,
    ridge_path,
)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(40, 5)), columns=["one", "two", "three", "four", "five"])
    return X, (2 * X["one"] - X["four"] + 0.3 * rng.normal(size=40)).to_numpy()


@pytest.fixture(autouse=True)
def _close():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


def test_lines_are_the_coefficients(data):
    X, y = data
    alphas, coefs, _ = lasso_path(X, y, alphas=15)
    display = CoefficientPathDisplay.from_path(alphas, coefs, feature_names=X.columns, n_labels=2)
    assert len(display.lines_) == 5
    for line, row in zip(display.lines_, coefs):
        np.testing.assert_array_equal(line.get_xdata(), alphas)
        np.testing.assert_array_equal(line.get_ydata(), row)
    legend = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert legend == ["one", "four"]
    assert display.ax_.get_xscale() == "log"
    left, right = display.ax_.get_xlim()
    assert left > right  # penalties fall from left to right
    assert display.figure_ is display.ax_.figure


def test_degrees_of_freedom_as_the_axis(data):
    X, y = data
    alphas, coefs, _ = lasso_path(X, y, alphas=15)
    lasso = CoefficientPathDisplay.from_path(alphas, coefs, x_axis="dof")
    np.testing.assert_array_equal(lasso.lines_[0].get_xdata(), np.count_nonzero(coefs, axis=0))
    path = ridge_path(X, y, np.geomspace(100, 0.1, 9))
    ridge = CoefficientPathDisplay.from_path(path.alphas, path.coefs, dof=path.dof, x_axis="dof")
    np.testing.assert_array_equal(ridge.lines_[0].get_xdata(), path.dof)
    assert np.all(np.diff(path.dof) > 0)


@pytest.mark.parametrize(
    "model", [Lasso(alpha=0.1), ElasticNet(alpha=0.1), LassoCV(cv=3), Ridge(alpha=2.0)]
)
@pytest.mark.parametrize("x_axis", ["alpha", "dof"])
def test_path_of_a_model_passes_through_the_model(data, model, x_axis):
    import matplotlib.pyplot as plt

    X, y = data
    model.fit(X, y)
    _, ax = plt.subplots()
    at = model.alpha_ if isinstance(model, LassoCV) else model.alpha
    display = CoefficientPathDisplay.from_estimator(
        model, X, y, alphas=[10 * at, at, 0.1 * at], ax=ax, x_axis=x_axis
    )
    assert display.ax_ is ax
    assert display.chosen == at
    assert display.feature_names == list(X.columns)
    legend = display.ax_.get_legend().get_texts()
    assert len(legend) >= 5  # all features, by default
    k = int(np.argmin(np.abs(display.alphas - at)))
    np.testing.assert_allclose(display.coefs[:, k], model.coef_, atol=0.02)


def test_ridge_grid_surrounds_the_penalty(data):
    display = CoefficientPathDisplay.from_estimator(Ridge(alpha=3.0), *data, alphas=11)
    assert display.alphas.max() > 3.0 > display.alphas.min()
    assert len(display.alphas) == 11


def test_errors(data):
    with pytest.raises(TypeError, match="Got LinearRegression instead"):
        CoefficientPathDisplay.from_estimator(LinearRegression(), *data)
    with pytest.raises(ValueError, match=r"\(n_features, 2\). Got shape \(2, 3\)"):
        CoefficientPathDisplay.from_path([1.0, 0.5], np.zeros((2, 3)))
    with pytest.raises(ValueError, match="'x_axis' parameter of"):
        CoefficientPathDisplay.from_path([1.0], np.zeros((2, 1)), x_axis="beta")


def test_range_of_penalties_around_that_of_ridge(data):
    display = CoefficientPathDisplay.from_estimator(Ridge(alpha=2.0), *data, alphas=9)
    assert display.alphas[[0, -1]] == pytest.approx([2e4, 2e-4])
