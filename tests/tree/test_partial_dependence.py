"""Partial dependence of trees and forests: by hand, by brute force, and in scikit-learn's tools."""

import numpy as np
import pytest
from sklearn.inspection import PartialDependenceDisplay, partial_dependence
from sklearn.tree import DecisionTreeRegressor as PeerTree

from corollary.ensemble import RandomForestRegressor
from corollary.tree import DecisionTreeRegressor, tree_partial_dependence


@pytest.fixture
def data(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(150, 4))
    return X, np.sin(X[:, 0]) + X[:, 1] * X[:, 2], rng.uniform(0.5, 2.0, 150)


@pytest.mark.parametrize("features", [[0], [2, 1]])
def test_it_is_scikit_learns(data, features):
    X, y, w = data
    ours = DecisionTreeRegressor(max_depth=3).fit(X, y, sample_weight=w)
    theirs = PeerTree(max_depth=3, random_state=0).fit(X, y, sample_weight=w)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X))
    grid = np.random.default_rng(0).normal(size=(20, len(features)))
    expected = theirs._compute_partial_dependence_recursion(grid, np.array(features, np.intp))
    np.testing.assert_allclose(
        tree_partial_dependence(ours.nodes_, grid, features).T, np.atleast_2d(expected), atol=1e-12
    )


@pytest.mark.parametrize("make", [DecisionTreeRegressor, RandomForestRegressor])
def test_scikit_learns_tools_take_our_models(make):
    """On a whole factorial table recursion and brute force are the same mean."""
    size = {"n_estimators": 5, "bootstrap": False} if make is RandomForestRegressor else {}
    model = make(random_state=0, **size)
    whole = np.stack(np.meshgrid(*[np.arange(4.0)] * 3), axis=-1).reshape(-1, 3)
    model.fit(whole, whole[:, 0] * whole[:, 1] + whole[:, 2])
    options = {"features": [1], "kind": "average"}
    curve = partial_dependence(model, X=whole, method="brute", **options)["average"]
    np.testing.assert_allclose(curve, [1.5 * np.arange(4) + 1.5], atol=1e-9)
    given = partial_dependence(model, X=whole, **options)["average"]
    np.testing.assert_allclose(given, curve, atol=1e-9)
    np.testing.assert_allclose(
        model._compute_partial_dependence_recursion(np.arange(4.0)[:, None], [1]), curve, atol=1e-9
    )


def test_the_picture_draws(data):
    import matplotlib.pyplot as plt

    X, y, _ = data
    model = DecisionTreeRegressor(max_depth=3).fit(X, y)
    display = PartialDependenceDisplay.from_estimator(model, X, [0, (1, 2)], grid_resolution=5)
    assert len(display.pd_results) == 2
    plt.close("all")


def test_missing_values_go_where_the_tree_sends_them():
    X = np.array([[0.0], [1.0], [np.nan], [np.nan]])
    tree = DecisionTreeRegressor().fit(X, [0.0, 4.0, 4.0, 4.0]).nodes_
    np.testing.assert_allclose(
        tree_partial_dependence(tree, [[np.nan], [0.0]], [0]), [[4.0], [0.0]]
    )


def test_categories_are_refused():
    import pandas as pd

    frame = pd.DataFrame({"kind": pd.Categorical(["a", "b", "a", "b"])})
    tree = DecisionTreeRegressor().fit(frame, [0.0, 1.0, 0.0, 1.0]).nodes_
    with pytest.raises(ValueError, match=r"columns of numbers\. Column 0 holds categories"):
        tree_partial_dependence(tree, [[0.0]], [0])
