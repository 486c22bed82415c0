"""Loops of clustering without the compiler."""

import numpy as np


def _data(n=60, d=5):
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, d)) + 3 * rng.integers(0, 3, (n, 1))


def check_k_means():
    from sklearn.cluster import KMeans as TheirKMeans

    from corollary.cluster import KMeans

    X = _data()
    weight = np.arange(60) % 3.0
    for w in (None, weight):
        model = KMeans(4, init=X[:4], tol=0).fit(X, sample_weight=w)
        theirs = TheirKMeans(4, init=X[:4], n_init=1, tol=0).fit(X, sample_weight=w)
        assert np.isclose(model.inertia_, theirs.inertia_)
        assert np.array_equal(model.labels_, theirs.labels_)
    assert np.allclose(model.transform(X), theirs.transform(X))


def check_rows_between_centres():
    from corollary.cluster import KMeans

    model = KMeans(2, init=[[0.0], [2.0]], tol=0, max_iter=1).fit([[0.0], [1.0], [2.0]])
    # The row between goes to the first of two equally near centres.
    assert np.allclose(model.cluster_centers_, [[0.5], [2.0]])


def check_seeding():
    from corollary.cluster import kmeans_plusplus

    X = _data(20)
    for weight in (None, np.arange(20.0)):
        seeding = kmeans_plusplus(X, 4, sample_weight=weight, random_state=0)
        near = ((X[:, None] - seeding.centers) ** 2).sum(axis=2).min(axis=1)
        assert np.isclose(seeding.cost, near.sum() if weight is None else weight @ near)


def check_exact():
    from corollary.cluster import exact_kmeans, kmeans_1d

    x = np.array([1.0, 9.0, 2.0, 10.0, 50.0, 51.5])
    assert np.isclose(exact_kmeans(x[:, None], 3).cost, 2.125)
    assert np.isclose(kmeans_1d(x, 3).cost, 2.125)
    assert np.isclose(kmeans_1d(np.append(x, 1e9), 4).cost, 2.125)  # sums in two parts


def check_medoids():
    from corollary.cluster import find_medoids

    x = np.array([0.0, 1.0, 2.0, 10.0])
    D = (x[:, None] - x) ** 2
    assert find_medoids(D, [0, 1]).cost == 2.0
    assert find_medoids(D, [3]).cost == 69.0
