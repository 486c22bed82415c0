"""The picture of AdaBoost's bounds."""

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.datasets import load_iris

from corollary.ensemble import AdaBoostClassifier, AdaBoostDisplay
from corollary.linear import LogisticRegression

mpl.use("Agg")


@pytest.fixture(autouse=True)
def close_figures():
    import matplotlib.pyplot as plt

    yield
    plt.close("all")


def test_curves_are_those_of_the_model():
    X, y = load_iris(return_X_y=True)
    X, y = X[50:, :2], y[50:]
    model = AdaBoostClassifier(n_estimators=10).fit(X[::2], y[::2])
    display = AdaBoostDisplay.from_estimator(model, X[1::2], y[1::2])
    np.testing.assert_array_equal(
        display.lines_["training error"].get_ydata(), model.training_errors_
    )
    np.testing.assert_array_equal(display.lines_["edge bound"].get_ydata(), model.edge_bounds_)
    test = [np.mean(labels != y[1::2]) for labels in model.staged_predict(X[1::2])]
    np.testing.assert_allclose(display.lines_["test error"].get_ydata(), test)
    assert display.ax_.get_xlabel() == "round"


def test_several_classes_have_no_edge_bound():
    import matplotlib.pyplot as plt

    X, y = load_iris(return_X_y=True)
    _, ax = plt.subplots()
    model = AdaBoostClassifier(n_estimators=4).fit(X, y)
    display = AdaBoostDisplay.from_estimator(model, ax=ax)
    assert display.ax_ is ax
    assert "edge bound" not in display.lines_


def test_errors():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(TypeError, match="Got LogisticRegression"):
        AdaBoostDisplay.from_estimator(LogisticRegression().fit(X, y))
    model = AdaBoostClassifier(n_estimators=2).fit(X, y)
    with pytest.raises(ValueError, match="X and y together"):
        AdaBoostDisplay.from_estimator(model, X)
