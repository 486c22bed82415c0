"""Sparse rows give the answers of the same rows filled up."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn import neighbors as peer

import corollary
from corollary.neighbors import (
    KNeighborsClassifier,
    KNeighborsRegressor,
    NearestNeighbors,
    RadiusNeighborsClassifier,
    SparseNeighborIndex,
    nearest_neighbors,
)

METRICS = ["euclidean", "manhattan", "chebyshev", "minkowski", "cosine"]


def data(seed, n=400, d=60, density=0.1, queries=70):
    random = np.random.default_rng(seed)
    table = random.normal(size=(n + queries, d)) * (random.uniform(size=(n + queries, d)) < density)
    table[np.arange(n + queries), random.integers(d, size=n + queries)] = 1.0  # no row of zeros
    return table[:n], random.integers(3, size=n), table[n:]


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csr_array, sparse.csc_matrix])
def test_neighbours_are_those_of_the_filled_rows(metric, kind, seed):
    X, _, Q = data(seed)
    distances, rows = nearest_neighbors(X, Q, 9, metric=metric, p=3.0)
    for queries in (kind(Q), Q):
        found = nearest_neighbors(kind(X), queries, 9, metric=metric, p=3.0)
        assert found[0] == pytest.approx(distances, abs=1e-12)
        wrong = found[1] != rows
        assert distances[wrong] == pytest.approx(found[0][wrong])  # ties up to rounding
        assert wrong.mean() < 0.01
    dense = nearest_neighbors(X, kind(Q), 9, metric=metric, p=3.0)
    assert np.array_equal(dense[1], rows)


@pytest.mark.parametrize("metric", METRICS)
def test_balls_are_those_of_the_filled_rows(metric, seed):
    X, _, Q = data(seed)
    first = NearestNeighbors(metric=metric, p=3).fit(X)
    second = NearestNeighbors(metric=metric, p=3).fit(sparse.csr_matrix(X))
    radius = float(first.kneighbors(Q, 20)[0].mean()) + 1e-7
    for queries in (Q, None):
        one = first.radius_neighbors_graph(queries, radius, mode="distance")
        other = None if queries is None else sparse.csr_matrix(queries)
        two = second.radius_neighbors_graph(other, radius, mode="distance")
        assert one.nnz > 0
        assert np.array_equal(one.indices, two.indices)
        assert one.toarray() == pytest.approx(two.toarray(), abs=1e-12)


@given(data=st.data(), n=st.integers(1, 30), k=st.integers(1, 5))
def test_whole_numbers_tie_by_row_number(data, n, k):
    # Sums of whole numbers have no rounding: every tie must be broken as with filled rows.
    random = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    X, Q = random.integers(-1, 2, size=(n, 4)) * 1.0, random.integers(-1, 2, size=(6, 4)) * 1.0
    for metric in METRICS[:4]:
        one = nearest_neighbors(X, Q, min(k, n), metric=metric, p=3.0)
        two = nearest_neighbors(sparse.csr_matrix(X), Q, min(k, n), metric=metric, p=3.0)
        assert np.array_equal(one[1], two[1])
        assert one[0] == pytest.approx(two[0])


def test_cancellation_does_not_change_neighbours(seed):
    # |x|^2 - 2 q x + |q|^2 keeps few digits of these distances.
    X, _, Q = data(seed, d=5, density=1.0)
    X, Q = X + 1e7, Q + 1e7
    one, two = nearest_neighbors(X, Q, 6), nearest_neighbors(sparse.csr_matrix(X), Q, 6)
    assert np.array_equal(one[1], two[1])
    assert one[0] == pytest.approx(two[0], rel=1e-12)


@pytest.mark.parametrize("scale", [1e-250, 1e-170, 1e160, 1e300])
def test_squares_that_overflow_or_vanish(scale, seed):
    X, _, Q = data(seed)
    plain = SparseNeighborIndex.build(sparse.csr_matrix(X))
    index = SparseNeighborIndex.build(sparse.csr_matrix(scale * X))
    one, two = plain.query(Q, 5), index.query(sparse.csr_matrix(scale * Q), 5)
    assert two[0] / scale == pytest.approx(one[0], rel=1e-12)
    one, two = plain.query_radius(Q, 2.0), index.query_radius(scale * Q, scale * 2.0)
    assert np.array_equal(one.starts, two.starts)
    assert len(one.neighbors) > 100


def test_most_rows_are_not_measured(seed, monkeypatch):
    from corollary.neighbors._loops import sparse as loops

    X, _, Q = data(seed, n=2000)
    measured = []

    def count(rows, i, *others):
        measured.append(i)
        return merge(rows, i, *others)

    merge = loops._merge.py_func
    for name in ("nearest_sparse", "_multiply_columns", "sift", "sort", "clear"):
        monkeypatch.setattr(loops, name, getattr(loops, name).py_func)
    monkeypatch.setattr(loops, "_merge", count)
    SparseNeighborIndex.build(sparse.csr_matrix(X)).query(Q[:3], 4, n_jobs=1)
    assert 12 <= len(measured) < 60


def test_estimators_take_sparse_rows(seed, tmp_path):
    X, y, Q = data(seed)
    S, P = sparse.csr_matrix(X), sparse.csr_matrix(Q)
    weight = np.random.default_rng(seed).uniform(0, 2, size=len(y))
    weight[::7] = 0.0
    for model, target, weights in (
        (KNeighborsClassifier(4, weights="distance"), y, weight),
        (KNeighborsClassifier(4, metric="cosine", algorithm="kd_tree"), y, None),
        (KNeighborsRegressor(4, metric="manhattan"), X[:, :2], weight),
        (RadiusNeighborsClassifier(4.0, outlier_label=0), y, weight),
    ):
        plain = model.fit(X, target, sample_weight=weights).predict(Q)
        assert model.predict(P) == pytest.approx(plain)
        model.fit(S, target, sample_weight=weights)
        assert isinstance(model.index_, SparseNeighborIndex)
        assert model.predict(P) == pytest.approx(plain)
        assert model.predict(Q) == pytest.approx(plain)
        corollary.save(model, tmp_path / "model")
        again = corollary.load(tmp_path / "model")
        assert again.predict(P).tobytes() == model.predict(P).tobytes()
    ours = NearestNeighbors().fit(S)
    theirs = peer.NearestNeighbors(algorithm="brute").fit(S)
    assert ours.kneighbors()[0] == pytest.approx(theirs.kneighbors()[0], abs=1e-6)
    assert (ours.kneighbors()[1] != np.arange(len(X))[:, None]).all()


def test_columns_may_be_in_any_order_and_the_users_matrix_stays(seed):
    X, _, Q = data(seed)
    S = sparse.csr_matrix(X)
    for i in range(S.shape[0]):
        part = slice(S.indptr[i], S.indptr[i + 1])
        S.indices[part], S.data[part] = S.indices[part][::-1].copy(), S.data[part][::-1].copy()
    S.has_sorted_indices = False
    before = S.indices.copy()
    found = NearestNeighbors().fit(S).kneighbors(Q)
    assert found[0] == pytest.approx(NearestNeighbors().fit(X).kneighbors(Q)[0])
    assert np.array_equal(before, S.indices)


def test_damaged_rows_are_not_saved(tmp_path, seed):
    X, y, _ = data(seed)
    for harm, problem in (
        (lambda rows: rows.data.__setitem__(0, np.nan), "wrong type, shape or range"),
        (
            lambda rows: rows.indices.__setitem__(slice(0, 2), 0),
            "columns of its rows are not in order",
        ),
    ):
        model = KNeighborsClassifier().fit(sparse.csr_matrix(X), y)
        harm(model.index_.rows)
        with pytest.raises((TypeError, ValueError), match=problem):
            corollary.save(model, tmp_path / "model")


def test_a_row_of_zeros_has_no_direction():
    with pytest.raises(ValueError, match="row 1 is one"):
        KNeighborsClassifier(1, metric="cosine").fit(sparse.csr_matrix([[1.0], [0.0]]), [0, 1])
