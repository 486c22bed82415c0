"""k-medoids: swaps and alternation against all choices of medoids."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from corollary.cluster import KMedoids, exact_kmeans, find_medoids
from corollary.cluster.medoids import _draw_medoids


def least_cost(D, k, weight):
    return min(weight @ D[:, list(m)].min(axis=1) for m in combinations(range(len(D)), k))


@pytest.mark.parametrize("metric", ["sqeuclidean", "euclidean", "cityblock"])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_best_of_some_starts_is_the_best_of_all_choices(metric, k):
    rng = np.random.default_rng(k)
    X, weight = rng.normal(size=(15, 2)), rng.integers(1, 4, 15).astype(float)
    D = cdist(X, X, metric)
    for w in (np.ones(15), weight):
        model = KMedoids(k, metric=metric, n_init=20, random_state=0).fit(X, sample_weight=w)
        assert model.inertia_ == pytest.approx(least_cost(D, k, w))
        assert np.array_equal(model.cluster_centers_, X[model.medoid_indices_])
        assert np.array_equal(model.labels_, D[:, model.medoid_indices_].argmin(axis=1))
        assert np.array_equal(model.predict(X), model.labels_)


def test_no_medoids_cost_less_than_means():
    rng = np.random.default_rng(5)
    for k in (1, 2, 4):
        X = rng.normal(size=(12, 2))
        model = KMedoids(k, n_init=10, random_state=0).fit(X)
        assert model.inertia_ >= exact_kmeans(X, k).cost


@pytest.mark.parametrize("method", ["swap", "alternate"])
def test_no_step_raises_the_cost(method):
    rng = np.random.default_rng(6)
    D, weight = cdist(*[rng.normal(size=(40, 3))] * 2), rng.uniform(size=40)
    options = {"method": method, "sample_weight": weight}
    costs = [weight @ D[:, :4].min(axis=1)]
    costs += [find_medoids(D, range(4), max_iter=m, **options).cost for m in range(1, 8)]
    assert all(b <= a + 1e-12 for a, b in pairwise(costs))
    last = find_medoids(D, range(4), **options)
    if method == "swap":  # no exchange of one medoid helps
        for place in range(4):
            for row in range(40):
                other = last.medoids.copy()
                other[place] = row
                assert weight @ D[:, other].min(axis=1) >= last.cost - 1e-9
    else:  # every medoid is the best of its members
        for place, medoid in enumerate(last.medoids):
            own = last.labels == place
            costs = weight[own] @ D[np.ix_(own, own)]
            assert weight[own] @ D[own, medoid] == pytest.approx(costs.min())


def test_swaps_leave_what_alternation_rests_at():
    x = np.array([0.0, 1.0, 2.0, 10.0])
    D = (x[:, None] - x) ** 2
    run = find_medoids(D, [0, 1])
    assert sorted(run.medoids) == [1, 3]
    assert run.cost == 2.0
    assert run.n_iter == 2
    rest = find_medoids(D, [0, 1], method="alternate")
    assert rest.cost >= run.cost


def test_dissimilarities_alone_and_functions():
    rng = np.random.default_rng(7)
    X, new = rng.normal(size=(30, 3)), rng.normal(size=(9, 3))
    plain = KMedoids(3, metric="euclidean", random_state=0).fit(X)
    table = KMedoids(3, metric="precomputed", random_state=0).fit(cdist(X, X))
    assert np.array_equal(plain.medoid_indices_, table.medoid_indices_)
    assert np.array_equal(plain.predict(new), table.predict(cdist(new, X)))
    function = KMedoids(3, metric=lambda a, b: np.abs(a - b).max(), random_state=0).fit(X)
    named = KMedoids(3, metric="chebyshev", random_state=0).fit(X)
    assert np.array_equal(function.labels_, named.labels_)


def test_copies_and_weights_of_zero():
    copies = KMedoids(3, random_state=0).fit(np.zeros((5, 1)))
    assert copies.inertia_ == 0.0
    assert len(set(copies.medoid_indices_)) == 3
    light = KMedoids(2, random_state=0).fit([[0.0], [1.0], [99.0]], sample_weight=[1, 1, 0])
    assert sorted(light.medoid_indices_) == [0, 1]
    few = KMedoids(2, random_state=0).fit([[0.0], [1.0], [9.0]], sample_weight=[1, 0, 0])
    assert few.inertia_ == 0.0


def test_starts_are_far_from_each_other():
    D = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
    for scale in (1e-6, 1.0, 1e6):
        for seed in range(20):
            start = _draw_medoids(scale * D, np.ones(3), 2, np.random.RandomState(seed))
            assert 2 in start
            assert len(set(start)) == 2


def test_bad_input_is_told():
    with pytest.raises(ValueError, match="different rows"):
        find_medoids(np.zeros((3, 3)), [0, 0])
    with pytest.raises(ValueError, match="square table"):
        find_medoids(np.zeros((3, 2)), [0, 1])
    with pytest.raises(ValueError, match="should be >="):
        KMedoids(3).fit([[0.0]])


@pytest.mark.parametrize("medoids", [[], [4], [-1, 3], [0.7, 1.2], [[0, 1]]])
def test_medoids_that_are_no_rows_are_refused(medoids):
    """Compiled loops would read, and write, beyond the table."""
    with pytest.raises(ValueError, match="by their numbers from 0 on"):
        find_medoids(np.ones((4, 4)), medoids)
