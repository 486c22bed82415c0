"""Distances of scikit-learn's, functions and matrices: neighbours are scikit-learn's."""

import numpy as np
import pytest
import sklearn.neighbors as peer
from scipy import sparse
from sklearn.metrics import DistanceMetric, pairwise_distances

import corollary
from corollary.neighbors import (
    KNeighborsClassifier,
    KNeighborsRegressor,
    NearestNeighbors,
    RadiusNeighborsClassifier,
    RadiusNeighborsRegressor,
)
from corollary.neighbors.search._metrics import OTHER_METRICS, PAIR_METRICS

WEIGHTS = np.array([1.0, 0.5])
PARAMETERS = {
    "seuclidean": {"V": np.array([0.5, 2.0])},
    "mahalanobis": {"VI": np.array([[2.0, 0.3], [0.3, 1.0]])},
}


def measured(metric, params, Q, X):
    """Every distance, by scikit-learn."""
    if metric in PAIR_METRICS:
        return DistanceMetric.get_metric(metric, **params).pairwise(Q, X)
    return pairwise_distances(Q, X, metric=metric, **params)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
@pytest.mark.parametrize("metric", sorted(set(OTHER_METRICS) - {"precomputed"}))
def test_every_distance_of_scikit_learn_is_searched(metric, seed, tmp_path):
    rng = np.random.default_rng(seed)
    X, Q = (rng.integers(0, 2, size=(n, 2)) + 0.5 * rng.random((n, 2)) for n in (40, 9))
    params = PARAMETERS.get(metric, {})
    D = measured(metric, params, Q, X)
    model = NearestNeighbors(n_neighbors=4, metric=metric, metric_params=params or None).fit(X)
    distances, neighbors = model.kneighbors(Q)
    np.testing.assert_array_equal(neighbors, np.argsort(D, axis=1, kind="stable")[:, :4])
    np.testing.assert_allclose(distances, np.sort(D, axis=1)[:, :4], rtol=1e-12)
    radius = float(np.median(D))
    near, rows = model.radius_neighbors(Q, radius)
    for j in range(len(Q)):
        np.testing.assert_array_equal(rows[j], np.flatnonzero(D[j] <= radius))
        np.testing.assert_allclose(near[j], D[j][rows[j]], rtol=1e-12)
    corollary.save(model, tmp_path / "model")
    again = corollary.load(tmp_path / "model").kneighbors(Q)
    np.testing.assert_array_equal(again[0], distances)
    assert (model.effective_metric_, model.effective_metric_params_) == (metric, params)


@pytest.mark.parametrize(
    "model",
    [
        KNeighborsClassifier(4),
        KNeighborsRegressor(4, weights="distance"),
        RadiusNeighborsClassifier(1.5, outlier_label="most_frequent"),
        RadiusNeighborsRegressor(1.5),
        NearestNeighbors(n_neighbors=4),
    ],
)
@pytest.mark.filterwarnings("ignore:.*predicts NaN")
def test_a_matrix_of_distances_is_as_good_as_rows(model, seed):
    rng = np.random.default_rng(seed)
    X, Q, y = rng.normal(size=(40, 3)), rng.normal(size=(9, 3)), rng.integers(0, 3, size=40)
    inside, across = pairwise_distances(X), pairwise_distances(Q, X)
    np.fill_diagonal(inside, 0.0)
    answer = (lambda m, Z: m.kneighbors(Z)[1]) if not hasattr(model, "predict") else None
    answer = answer or (lambda m, Z: m.predict(Z))
    expected = answer(model.fit(X, y), Q)
    distances = model.set_params(metric="precomputed").fit(inside, y)
    np.testing.assert_allclose(answer(distances, across), expected, rtol=1e-7)
    assert distances.__sklearn_tags__().input_tags.pairwise


def test_weights_of_a_matrix_of_distances(seed):
    rng = np.random.default_rng(seed)
    X, y, weight = rng.normal(size=(20, 2)), rng.normal(size=20), rng.uniform(1, 2, size=20)
    D = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    model = KNeighborsRegressor(3, metric="precomputed").fit(D, y, weight)
    rows = KNeighborsRegressor(3).fit(X, y, weight)
    np.testing.assert_allclose(model.predict(D), rows.predict(X))
    weight[3] = 0.0
    with pytest.raises(ValueError, match="leave their rows and columns out"):
        model.fit(D, y, weight)


def test_missing_entries_of_a_graph_are_no_neighbours(seed):
    X = np.random.default_rng(seed).normal(size=(30, 2))
    graph = peer.NearestNeighbors(n_neighbors=6).fit(X).kneighbors_graph(X, mode="distance")
    model = NearestNeighbors(n_neighbors=5, metric="precomputed").fit(graph)
    expected = NearestNeighbors(n_neighbors=5).fit(X)
    np.testing.assert_array_equal(model.kneighbors()[1], expected.kneighbors()[1])
    with pytest.raises(ValueError, match="7 neighbors are required for every row"):
        model.kneighbors(graph, 7)
    near = model.radius_neighbors(sparse.csr_matrix(graph), 1e9)[1]
    assert [len(rows) for rows in near] == [6] * 30


def test_a_function_is_a_distance(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(30, 2)), rng.integers(0, 2, size=30)

    def taxi(a, b, scale=1.0):
        return scale * np.abs(a - b).sum()

    model = KNeighborsClassifier(3, metric=taxi, metric_params={"scale": 2.0}).fit(X, y)
    np.testing.assert_array_equal(
        model.predict_proba(X),
        KNeighborsClassifier(3, metric="manhattan").fit(X, y).predict_proba(X),
    )
    np.testing.assert_allclose(
        model.kneighbors(X[:1])[0][0, 1], 2.0 * taxi(X[0], X[model.kneighbors(X[:1])[1][0, 1]])
    )


@pytest.mark.filterwarnings("ignore:Mind that for 0 < p < 1")
def test_arguments_of_minkowski(seed):
    rng = np.random.default_rng(seed)
    X, Q = rng.normal(size=(30, 2)), rng.normal(size=(5, 2))
    for options in ({"metric_params": {"w": WEIGHTS}, "p": 3}, {"p": 0.5, "algorithm": "brute"}):
        ours, theirs = NearestNeighbors(**options).fit(X), peer.NearestNeighbors(**options).fit(X)
        np.testing.assert_array_equal(ours.kneighbors(Q)[1], theirs.kneighbors(Q)[1])
        np.testing.assert_allclose(ours.kneighbors(Q)[0], theirs.kneighbors(Q)[0], rtol=1e-12)
        assert ours.effective_metric_ == "minkowski"
    for p, name in ((1, "manhattan"), (2, "euclidean"), (np.inf, "chebyshev"), (3, "minkowski")):
        model = NearestNeighbors(p=p).fit(X)
        theirs = peer.NearestNeighbors(p=p).fit(X)
        assert model.effective_metric_ == theirs.effective_metric_ == name
        assert model.effective_metric_params_ == ({"p": 3} if p == 3 else {})
    with pytest.warns(SyntaxWarning, match="takes p=1 of metric_params"):
        model = NearestNeighbors(metric_params={"p": 1}).fit(X)
    assert model.effective_metric_ == "manhattan"


def test_ball_trees_and_k_d_trees_find_the_same(seed):
    rng = np.random.default_rng(seed)
    X, Q = rng.normal(size=(300, 2)), rng.normal(size=(50, 2))
    one, two = (NearestNeighbors(algorithm=a).fit(X).kneighbors(Q) for a in ("ball_tree", "brute"))
    np.testing.assert_array_equal(one[0], two[0])
    np.testing.assert_array_equal(one[1], two[1])


@pytest.mark.parametrize(
    ("options", "X", "words"),
    [
        ({"metric": "precomputed"}, np.zeros((3, 2)), "must be square"),
        ({"metric": "precomputed"}, -np.ones((3, 3)), "Negative values in data passed to precom"),
        ({"p": 0.5, "algorithm": "kd_tree"}, np.zeros((9, 2)), "does not support 0 < p < 1"),
    ],
)
def test_what_is_no_distance_is_refused(options, X, words):
    with pytest.raises(ValueError, match=words):
        NearestNeighbors(**options).fit(X)


def test_rows_with_missing_values(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(30, 3)), rng.integers(0, 2, size=30)
    X[rng.random(X.shape) < 0.2] = np.nan
    ours = KNeighborsClassifier(metric="nan_euclidean").fit(X, y)
    theirs = peer.KNeighborsClassifier(metric="nan_euclidean").fit(X, y)
    np.testing.assert_array_equal(ours.predict_proba(X), theirs.predict_proba(X))
