"""Loops of neighbour searches without the compiler."""

import numpy as np

METRICS = {"euclidean": 2.0, "manhattan": 1.0, "chebyshev": np.inf, "minkowski": 3.0}


def _data(n=70, d=3):
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, d)).round(1), rng.normal(size=(6, d)).round(1)


def _distances(X, Q, p):
    gaps = np.abs(Q[:, None, :] - X[None, :, :])
    return gaps.max(axis=2) if np.isinf(p) else (gaps**p).sum(axis=2) ** (1.0 / p)


def check_nearest_rows():
    from corollary.neighbors import NeighborIndex

    X, Q = _data()
    for metric, p in METRICS.items():
        right = np.sort(_distances(X, Q, p), axis=1)[:, :4]
        for algorithm in ("brute", "kd_tree"):
            index = NeighborIndex.build(X, metric=metric, p=p, algorithm=algorithm, leaf_size=5)
            distances, _ = index.query(Q, 4)
            assert np.allclose(distances, right), (metric, algorithm)


def check_rows_within_a_distance():
    from corollary.neighbors import NeighborIndex

    X, Q = _data(n=270)  # more than a list holds when it is made
    for metric, p in METRICS.items():
        Q = Q[:2]
        right = np.count_nonzero(_distances(X, Q, p) <= 5.95, axis=1)
        for algorithm in ("brute", "kd_tree"):
            index = NeighborIndex.build(X, metric=metric, p=p, algorithm=algorithm, leaf_size=9)
            near = index.query_radius(Q, 5.95)
            assert np.array_equal(np.diff(near.starts), right), (metric, algorithm)


def check_matrix_products():
    from corollary.neighbors import NeighborIndex
    from corollary.neighbors.search import index as searches

    X, Q = _data()
    before, searches.SMALL = searches.SMALL, 1
    try:
        index = NeighborIndex.build(X, algorithm="brute")
        distances, _ = index.query(Q, 4)
        near = index.query_radius(Q, 1.45)
        # Two rows of single precision that are one: only a search of all rows tells them apart.
        close = np.array([[0.0], [1e-12], [2e-12], [1.0]] + [[2.0]] * 40)
        _, nearest = NeighborIndex.build(close, algorithm="brute").query(np.array([[1.9e-12]]), 1)
    finally:
        searches.SMALL = before
    assert np.allclose(distances, np.sort(_distances(X, Q, 2.0), axis=1)[:, :4])
    assert len(near.neighbors) == np.count_nonzero(_distances(X, Q, 2.0) <= 1.45)
    assert nearest[0, 0] == 2


def check_sparse_rows():
    from scipy.sparse import csr_matrix

    from corollary.neighbors import SparseNeighborIndex

    X, Q = _data(n=270)
    X[np.abs(X) < 0.5], Q = 0.0, Q[:2]
    for metric, p in METRICS.items():
        index = SparseNeighborIndex.build(csr_matrix(X), metric=metric, p=p)
        distances, _ = index.query(Q, 4)
        assert np.allclose(distances, np.sort(_distances(X, Q, p), axis=1)[:, :4]), metric
        near = index.query_radius(Q, 5.95)
        assert len(near.neighbors) == np.count_nonzero(_distances(X, Q, p) <= 5.95), metric
