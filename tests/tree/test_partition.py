"""Piecewise-constant regression: least squares on indicators, and the best segments."""

from itertools import combinations

import numpy as np
import pytest

from corollary.tree import DecisionTreeRegressor, fit_partition, leaf_boxes, optimal_segments

INF = np.inf


def test_means_are_least_squares_on_indicators(seed):
    rng = np.random.default_rng(seed)
    X, y, w = rng.uniform(size=(60, 2)), rng.normal(size=60), rng.uniform(0.5, 2.0, size=60)
    lower = [[-INF, -INF], [0.5, -INF], [0.5, 0.4]]
    upper = [[0.5, INF], [INF, 0.4], [INF, INF]]
    function = fit_partition(lower, upper, X, y, sample_weight=w)
    indicators = np.eye(3)[function.boxes(X)]
    root = np.sqrt(w)
    coef = np.linalg.lstsq(indicators * root[:, None], y * root, rcond=None)[0]
    np.testing.assert_allclose(function.values, coef, rtol=1e-10)
    np.testing.assert_allclose(function(X), indicators @ coef, rtol=1e-10)


def test_a_tree_is_a_partition(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(150, 3)), rng.normal(size=150)
    model = DecisionTreeRegressor(max_depth=4).fit(X, y)
    leaves, lower, upper = leaf_boxes(model.nodes_)
    function = fit_partition(lower, upper, X, y)
    new = rng.normal(size=(500, 3))
    assert np.array_equal(leaves[function.boxes(new)], model.apply(new))
    np.testing.assert_allclose(function(X), model.predict(X), rtol=1e-10)


@pytest.mark.parametrize("n_segments", [1, 2, 3, 4])
def test_segments_are_the_best_of_all(seed, n_segments):
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, 9, size=14).astype(float), rng.normal(size=14)
    places = np.unique(x)
    least = INF
    for ends in combinations(range(1, len(places)), n_segments - 1):
        parts = np.digitize(x, places[list(ends)]) if ends else np.zeros(len(x), dtype=int)
        cost = sum(((y[parts == p] - y[parts == p].mean()) ** 2).sum() for p in np.unique(parts))
        least = min(least, cost)
    cuts, residual = optimal_segments(x, y, n_segments)
    assert residual == pytest.approx(least, abs=1e-10)
    parts = np.digitize(x, cuts)
    assert len(cuts) == n_segments - 1
    again = sum(((y[parts == p] - y[parts == p].mean()) ** 2).sum() for p in np.unique(parts))
    assert again == pytest.approx(least, abs=1e-10)


def test_greedy_is_never_better_and_can_be_worse():
    rng, x, excess = np.random.default_rng(0), np.arange(12.0), []
    for _ in range(20):
        y = rng.normal(size=12)
        _, residual = optimal_segments(x, y, 3)
        model = DecisionTreeRegressor(max_leaf_nodes=3).fit(x[:, None], y)
        excess.append(((model.predict(x[:, None]) - y) ** 2).sum() / residual)
    assert min(excess) >= 1 - 1e-9
    assert max(excess) > 1.1


def test_more_segments_than_places():
    cuts, residual = optimal_segments([1.0, 1.0, 2.0], [0.0, 2.0, 5.0], 7)
    assert cuts.tolist() == [1.5]
    assert residual == pytest.approx(2.0)


def test_errors():
    with pytest.raises(ValueError, match="Row 1 lies in 0 of them"):
        fit_partition([[-INF]], [[1.0]], [[0.0], [2.0]], [0.0, 1.0])
    with pytest.raises(ValueError, match="Row 0 lies in 2 of them"):
        fit_partition([[-INF], [-1.0]], [[1.0], [INF]], [[0.0]], [0.0])
    with pytest.raises(ValueError, match="lower corners below upper"):
        fit_partition([[1.0]], [[0.0]], [[0.5]], [0.0])
    with pytest.raises(ValueError, match="a target for each"):
        optimal_segments([0.0], [1.0, 2.0], 1)
    import pandas as pd

    frame = pd.DataFrame({"c": pd.Categorical(list("aabb"))})
    tree = DecisionTreeRegressor().fit(frame, [0.0, 0.0, 1.0, 1.0]).nodes_
    with pytest.raises(ValueError, match="categorical split makes no box"):
        leaf_boxes(tree)
