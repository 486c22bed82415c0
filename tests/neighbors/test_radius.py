"""All rows within a distance: by definition, by every algorithm, and as scikit-learn has them."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from sklearn import neighbors as peer

import corollary
from corollary.neighbors import (
    KNeighborsClassifier,
    KNeighborsRegressor,
    NearestNeighbors,
    NeighborIndex,
    RadiusNeighborsClassifier,
    RadiusNeighborsRegressor,
)
from corollary.neighbors.search import index as module

METRICS = ["euclidean", "manhattan", "chebyshev", "minkowski", "cosine"]


def data(seed, n=300, d=3, classes=3):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    return X, random.integers(classes, size=n), random.normal(size=(90, d))


def answers(X, Q, radius, **options):
    """The same search by every way through the code."""
    for leaf_size in (3, 1000):
        index = NeighborIndex.build(X, algorithm="kd_tree", leaf_size=leaf_size, **options)
        yield index.query_radius(Q, radius)
    index = NeighborIndex.build(X, algorithm="brute", **options)
    small = module.SMALL
    try:
        for module.SMALL in (0, 10**12):  # products, and distances
            for n_jobs in (1, 3):
                yield index.query_radius(Q, radius, n_jobs=n_jobs)
    finally:
        module.SMALL = small


def assert_all_the_same(X, Q, radius, **options):
    first, *others = answers(X, Q, radius, **options)
    for other in others:
        for one, two in zip(first, other):
            assert one.tobytes() == two.tobytes()
    return first


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("d", [2, 7, 30])
def test_every_algorithm_finds_what_the_nearest_rows_say(metric, d, seed):
    random = np.random.default_rng(seed)
    X, Q = random.normal(size=(700, d)), random.normal(size=(150, d))
    distances, rows = NeighborIndex.build(X, metric=metric, p=3.0).query(Q, 700)
    # A distance that occurs, and the number just below it: the boundary belongs to the ball.
    for radius in (0.0, distances[3, 40], np.nextafter(distances[3, 40], 0), 1e9):
        found = assert_all_the_same(X, Q, radius, metric=metric, p=3.0)
        near = distances <= radius
        assert np.array_equal(np.diff(found.starts), near.sum(axis=1))
        for j in range(len(Q)):
            assert found.lists(found.neighbors)[j].tolist() == sorted(rows[j][near[j]])
        order = found.sorted()
        assert np.array_equal(order.neighbors, rows[near])
        assert order.distances.tobytes() == distances[near].tobytes()
    assert len(found.neighbors) == 700 * 150


@given(data=st.data(), n=st.integers(1, 40), metric=st.sampled_from(METRICS[:4]))
def test_rows_on_the_boundary_are_found_by_every_algorithm(data, n, metric):
    whole = st.integers(-2, 2).map(float)
    X = data.draw(arrays.arrays(float, (n, 2), elements=whole))
    Q = data.draw(arrays.arrays(float, (5, 2), elements=whole))
    radius = data.draw(st.sampled_from([0.0, 1.0, 2.0, 3.0]))
    found = assert_all_the_same(X, Q, radius, metric=metric, p=3.0)
    gaps = np.abs(Q[:, None] - X)
    powers = {"euclidean": 2, "manhattan": 1, "minkowski": 3}
    size = gaps.max(axis=2) if metric == "chebyshev" else (gaps ** powers[metric]).sum(axis=2)
    expected = size <= radius ** powers.get(metric, 1)
    assert np.array_equal(found.queries, np.nonzero(expected)[0])
    assert np.array_equal(found.neighbors, np.nonzero(expected)[1])


@pytest.mark.parametrize("offset", [1e3, 1e8])
def test_cancellation_loses_no_row(offset, seed):
    random = np.random.default_rng(seed)
    X, Q = random.normal(size=(600, 3)) + offset, random.normal(size=(80, 3)) + offset
    found = assert_all_the_same(X, Q, 1.0)
    assert len(found.neighbors) == (np.linalg.norm(Q[:, None] - X, axis=2) <= 1.0).sum() > 1000


@pytest.mark.parametrize("scale", [1e-250, 1e-170, 1e160, 1e300])
def test_distances_whose_squares_overflow_or_vanish(scale, seed):
    X, _, Q = data(seed)
    found = assert_all_the_same(scale * X, scale * Q, scale)
    plain = NeighborIndex.build(X).query_radius(Q, 1.0)
    assert np.array_equal(found.neighbors, plain.neighbors)
    assert found.distances == pytest.approx(scale * plain.distances, rel=1e-12)


def test_products_rule_most_rows_out(seed, monkeypatch):
    from corollary.neighbors._loops import within

    X, _, Q = data(seed, n=3000, d=8)
    taken = []

    def count(tile, start, bounds, rows, *others):
        taken.append(int((tile[:, : len(rows) - start] <= bounds[:, None]).sum()))
        return search(tile, start, bounds, rows, *others)

    search = within.within_tile
    monkeypatch.setattr(within, "within_tile", count)
    found = NeighborIndex.build(X, algorithm="brute").query_radius(Q, 1.5)
    assert 0 < len(found.neighbors) <= sum(taken) <= 1.01 * len(found.neighbors) + 5


def test_auto_keeps_the_tree_where_the_ball_is_small(seed):
    X = np.random.default_rng(seed).uniform(size=(5000, 2))
    assert NeighborIndex.build(X, radius=0.02).algorithm == "kd_tree"
    assert NeighborIndex.build(X, radius=0.8).algorithm == "brute"
    y = (X[:, 0] > 0.5).astype(int)
    assert RadiusNeighborsClassifier(0.02).fit(X, y).index_.algorithm == "kd_tree"
    assert RadiusNeighborsClassifier(0.8).fit(X, y).index_.algorithm == "brute"


@pytest.mark.parametrize("algorithm", ["brute", "kd_tree"])
def test_methods_return_what_scikit_learn_returns(algorithm, seed):
    X, y, Q = data(seed)
    ours = NearestNeighbors(radius=0.9, algorithm=algorithm).fit(X)
    theirs = peer.NearestNeighbors(radius=0.9, algorithm=algorithm).fit(X)
    for queries in (Q, None):
        for radius in (None, 0.4):
            first = ours.radius_neighbors(queries, radius, sort_results=True)
            second = theirs.radius_neighbors(queries, radius, sort_results=True)
            for one, two in zip(first, second):
                assert one.shape == two.shape
                assert one.dtype == two.dtype == object
                for a, b in zip(one, two):
                    assert a == pytest.approx(b)
        for mode in ("connectivity", "distance"):
            graph = ours.radius_neighbors_graph(queries, mode=mode)
            other = theirs.radius_neighbors_graph(queries, mode=mode)
            assert graph.shape == other.shape
            assert graph.toarray() == pytest.approx(other.toarray())
    rows = ours.radius_neighbors(Q, return_distance=False)
    assert all((np.diff(r) > 0).all() for r in rows)  # by number unless sorted
    for model in (KNeighborsClassifier(), KNeighborsRegressor()):
        found = model.fit(X, y).radius_neighbors(Q, 0.9, return_distance=False)
        assert all(np.array_equal(a, b) for a, b in zip(found, rows))


def test_rows_are_not_their_own_neighbours_copies_are(seed):
    X = data(seed)[0]
    X[5] = X[4]
    rows = NearestNeighbors(radius=0.0).fit(X).radius_neighbors(return_distance=False)
    assert [r.tolist() for r in rows[3:7]] == [[], [5], [4], []]


@pytest.mark.parametrize("weights", ["uniform", "distance"])
@pytest.mark.parametrize("metric", METRICS)
def test_estimators_agree_with_scikit_learn(weights, metric, seed):
    X, y, Q = data(seed)
    Q = np.r_[Q, X[:5]]  # at distance zero
    radius = {"cosine": 0.3, "manhattan": 1.6}.get(metric, 1.0)
    options = {"radius": radius, "weights": weights, "metric": metric, "p": 3}
    ours = RadiusNeighborsClassifier(outlier_label=1, **options).fit(X, y)
    theirs = peer.RadiusNeighborsClassifier(outlier_label=1, **options).fit(X, y)
    assert ours.predict_proba(Q) == pytest.approx(theirs.predict_proba(Q), abs=1e-7)
    assert np.array_equal(ours.predict(Q), theirs.predict(Q))
    near = np.array([len(r) > 0 for r in ours.radius_neighbors(Q, return_distance=False)])
    for target in (X[:, 0] ** 2, np.c_[X[:, 0], y]):
        ours = RadiusNeighborsRegressor(**options).fit(X, target)
        theirs = peer.RadiusNeighborsRegressor(**options).fit(X, target)
        assert ours.predict(Q[near]) == pytest.approx(theirs.predict(Q[near]), abs=1e-7)
        assert ours.predict(Q[near]).shape == theirs.predict(Q[near]).shape


def test_a_function_weighs_the_distances(seed):
    X, y, Q = data(seed)
    model = RadiusNeighborsRegressor(2.0, weights=lambda d: np.exp(-d)).fit(X, y)
    distances = np.linalg.norm(Q[:, None] - X, axis=2)
    weights = np.where(distances <= 2.0, np.exp(-distances), 0.0)
    kept = weights.any(axis=1)
    assert model.predict(Q[kept]) == pytest.approx((weights @ y / weights.sum(axis=1))[kept])


@given(seed=st.integers(0, 2**32 - 1), weights=st.sampled_from(["uniform", "distance"]))
def test_a_row_of_weight_w_counts_as_w_rows(seed, weights):
    random = np.random.default_rng(seed)
    X, y = random.normal(size=(30, 2)), random.integers(3, size=30)
    Q, weight = random.normal(size=(8, 2)), random.integers(0, 4, size=30)
    weight[0] = 1
    many, labels = np.repeat(X, weight, axis=0), np.repeat(y, weight)
    options = {"radius": 6.0, "weights": weights}
    first = RadiusNeighborsClassifier(**options).fit(X, y, sample_weight=weight)
    second = RadiusNeighborsClassifier(**options).fit(many, labels)
    shared = np.isin(first.classes_, second.classes_)
    assert first.predict_proba(Q)[:, shared] == pytest.approx(second.predict_proba(Q))
    one = RadiusNeighborsRegressor(**options).fit(X, X[:, 0], sample_weight=weight)
    two = RadiusNeighborsRegressor(**options).fit(many, many[:, 0])
    assert one.predict(Q) == pytest.approx(two.predict(Q))


def test_rows_without_neighbours():
    X, y = np.array([[0.0], [1.0], [2.0]]), np.array(["a", "b", "b"])
    far = [[0.1], [50.0]]
    with pytest.raises(ValueError, match=r"radius = 1.5 of 1 of 2 rows, the first of them row 1"):
        RadiusNeighborsClassifier(1.5).fit(X, y).predict(far)
    model = RadiusNeighborsClassifier(1.5, outlier_label="most_frequent").fit(X, y)
    assert model.predict(far).tolist() == ["a", "b"]
    assert model.predict_proba(far).tolist() == [[0.5, 0.5], [0.0, 1.0]]
    weighted = RadiusNeighborsClassifier(1.5, outlier_label="most_frequent")
    assert weighted.fit(X, y, sample_weight=[3, 1, 1]).predict(far).tolist() == ["a", "a"]
    model = RadiusNeighborsClassifier(1.5, outlier_label="nobody").fit(X, y)
    assert model.predict(far).tolist() == ["a", "nobody"]
    with pytest.warns(UserWarning, match="1 rows have no neighbour .* 'nobody', is none"):
        assert model.predict_proba(far).tolist() == [[0.5, 0.5], [0.0, 0.0]]
    with pytest.raises(ValueError, match="must be one label of the kind of the classes"):
        RadiusNeighborsClassifier(outlier_label=3).fit(X, y)
    with pytest.warns(UserWarning, match="predicts NaN for them. Raise 'radius'"):
        found = RadiusNeighborsRegressor(1.5).fit(X, [1.0, 2.0, 3.0]).predict(far)
    assert found[0] == 1.5
    assert np.isnan(found[1])


def test_blocks_threads_and_frames_do_not_matter(seed, monkeypatch):
    X, y, Q = data(seed, n=2500)
    options = {"radius": 0.8, "weights": "distance", "outlier_label": 0}
    whole = RadiusNeighborsClassifier(**options).fit(X, y).predict_proba(Q)
    frame, names = pl.DataFrame(X, schema=list("abc")), list("abc")
    model = RadiusNeighborsClassifier(**options, n_jobs=3, algorithm="brute").fit(frame, y)
    monkeypatch.setattr("corollary.neighbors._radius.BLOCK", 7)
    assert model.predict_proba(pd.DataFrame(Q, columns=names)).tobytes() == whole.tobytes()


def test_a_saved_model_predicts_the_same(tmp_path, seed):
    X, y, Q = data(seed)
    labels = np.array(["no", "yes", "perhaps"])[y]
    for model in (
        RadiusNeighborsClassifier(0.9, outlier_label="none").fit(X, labels, np.full(300, 2.0)),
        RadiusNeighborsRegressor(9.0, algorithm="kd_tree").fit(X, np.c_[y, y]),
    ):
        corollary.save(model, tmp_path / "model")
        again = corollary.load(tmp_path / "model")
        assert again.predict(Q).tobytes() == model.predict(Q).tobytes()
    model = RadiusNeighborsClassifier(outlier_label=1).fit(X, y)
    model.outlier_label_ = np.array(["x"])
    with pytest.raises(TypeError, match="of another kind"):
        corollary.save(model, tmp_path / "model")


def test_errors_say_what_to_repair(seed):
    X, y, Q = data(seed)
    with pytest.raises(ValueError, match=r"KNeighborsClassifier has none of its own. Pass one"):
        KNeighborsClassifier().fit(X, y).radius_neighbors(Q)
    for radius in (-1, np.nan, True, "x"):
        with pytest.raises(ValueError, match=r"must be a number, at least 0. Got"):
            NearestNeighbors().fit(X).radius_neighbors(Q, radius)
    with pytest.raises(ValueError, match="'radius' parameter of RadiusNeighborsRegressor"):
        RadiusNeighborsRegressor(-1.0).fit(X, y)
    with pytest.raises(ValueError, match="radius_neighbors_graph must be 'connectivity'"):
        NearestNeighbors().fit(X).radius_neighbors_graph(mode="x")
    with pytest.raises(ValueError, match="the weight zero"):
        RadiusNeighborsRegressor(9, weights=np.zeros_like).fit(X, y).predict(Q)
    with pytest.raises(ValueError, match="not negative, of the shape"):
        RadiusNeighborsRegressor(9, weights=lambda d: -d).fit(X, y).predict(Q)


def test_a_model_has_one_label_for_outliers(tmp_path, seed):
    X, y, _ = data(seed)
    model = RadiusNeighborsClassifier(outlier_label=1).fit(X, y)
    model.outlier_label_ = np.array([1, 2])
    with pytest.raises(TypeError, match="its label of outliers is not one"):
        corollary.save(model, tmp_path / "model")


@pytest.mark.parametrize("targets", [[0.0, 1.0], [[0.0, 2.0], [1.0, 3.0]]])
def test_no_row_has_a_neighbour(targets):
    model = RadiusNeighborsRegressor(radius=0.1).fit([[0.0], [1.0]], targets)
    with pytest.warns(UserWarning, match="no neighbour within radius = 0.1 of 2 rows"):
        prediction = model.predict([[99.0], [-99.0]])
    assert prediction.shape == np.shape(targets)
    assert np.isnan(prediction).all()
