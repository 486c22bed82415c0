"""k-medians: the medians themselves, and a descent in the unsquared norm."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from corollary.cluster import KMedians, coordinate_median, geometric_median


def test_medians_of_columns():
    rng = np.random.default_rng(0)
    for n in (1, 4, 9):
        X, weight = rng.normal(size=(n, 3)), rng.integers(1, 4, n)
        assert coordinate_median(X) == pytest.approx(np.median(X, axis=0))
        copies = np.repeat(X, weight, axis=0)
        weighted = coordinate_median(X, sample_weight=weight)
        assert weighted == pytest.approx(np.median(copies, axis=0))
    assert coordinate_median([[0.0], [2.0], [7.0]], sample_weight=[1, 1, 0]) == [1.0]


@given(st.integers(0, 10**6))
def test_the_pull_of_rows_vanishes_at_the_geometric_median(seed):
    rng = np.random.default_rng(seed)
    n, d = rng.integers(1, 12), rng.integers(1, 4)
    X, weight = rng.normal(size=(n, d)), rng.uniform(0.1, 1, n)
    point = geometric_median(X, sample_weight=weight)
    gaps = X - point
    length = np.linalg.norm(gaps, axis=1)
    away = length > 1e-9
    pull = (weight[away] / length[away]) @ gaps[away]
    assert np.linalg.norm(pull) <= weight[~away].sum() + 1e-6
    cost = weight @ length
    for start in X:
        found = minimize(lambda m: weight @ np.linalg.norm(X - m, axis=1), start, method="Powell")
        assert cost <= found.fun + 1e-6


def test_geometric_medians_by_hand():
    triangle = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(3) / 2]])
    assert geometric_median(triangle) == pytest.approx(triangle.mean(axis=0))
    heavy = geometric_median(triangle, sample_weight=[3.0, 1.0, 1.0])  # holds against the others
    assert heavy.tolist() == [0.0, 0.0]
    angles = 0.4 * np.pi * np.arange(5)
    star = np.vstack([np.column_stack([np.cos(angles), np.sin(angles)]), [[0.0, 0.0]]])
    middle = geometric_median(star, sample_weight=[1, 1, 1, 1, 1, 0.5])
    assert middle.tolist() == [0.0, 0.0]  # the row itself, not a point near it
    line = np.array([[0.0], [1.0], [50.0]])
    assert geometric_median(line).tolist() == [1.0]
    assert geometric_median(line, sample_weight=[1, 0, 0]).tolist() == [0.0]


@pytest.mark.parametrize("norm", [1, 2])
def test_no_step_raises_the_cost(norm):
    rng = np.random.default_rng(1)
    X, weight = rng.standard_t(2, size=(120, 3)), rng.integers(0, 3, 120)
    model = KMedians(6, norm=norm, random_state=0)
    costs = [
        model.set_params(max_iter=m).fit(X, sample_weight=weight).inertia_ for m in range(1, 12)
    ]
    assert all(b <= a * (1 + 1e-9) for a, b in pairwise(costs))
    model.set_params(max_iter=300).fit(X, sample_weight=weight)
    gaps = X[:, None] - model.cluster_centers_
    distances = np.abs(gaps).sum(axis=2) if norm == 1 else np.sqrt((gaps**2).sum(axis=2))
    assert np.array_equal(model.labels_, distances.argmin(axis=1))
    assert np.array_equal(model.predict(X), model.labels_)
    assert model.inertia_ == pytest.approx(weight @ distances.min(axis=1))
    median = coordinate_median if norm == 1 else geometric_median
    for k, centre in enumerate(model.cluster_centers_):
        own = model.labels_ == k
        assert centre == pytest.approx(median(X[own], sample_weight=weight[own]), abs=1e-6)


def test_outliers_move_medians_less_than_means():
    X = np.concatenate([np.arange(5.0), np.arange(100.0, 105.0), [200.0]])[:, None]
    model = KMedians(2, norm=1, n_init=5, random_state=0).fit(X)
    assert sorted(model.cluster_centers_.ravel()) == [2.0, 102.5]
    assert model.inertia_ == 2 + 1 + 1 + 2 + 2.5 + 1.5 + 0.5 + 0.5 + 1.5 + 97.5


def test_empty_clusters_take_a_row_and_copies_rest():
    from corollary.cluster.medians import _refill

    labels, distances = np.array([0, 0, 0, 2]), np.array([1.0, 0.0, 2.0, 1.0])
    seen = set()
    for seed in range(20):
        after = labels.copy()
        _refill(after, distances, np.ones(4), 3, np.random.RandomState(seed))
        assert after[1] == 0  # on its centre
        assert after[3] == 2  # alone in its cluster
        seen |= set(np.flatnonzero(after == 1))
    assert seen == {0, 2}
    assert KMedians(1).fit([[0.0], [1.0], [2.0]]).n_iter_ == 2
    copies = KMedians(3, random_state=0).fit(np.repeat([[0.0], [1.0]], 4, axis=0))
    assert copies.inertia_ == 0.0


def test_bad_input_is_told():
    with pytest.raises(ValueError, match="should be >="):
        KMedians(3).fit([[0.0]])
    with pytest.raises(ValueError, match="norm"):
        KMedians(1, norm=3).fit([[0.0]])
