"""Searches: exact, ordered, and the same whatever the algorithm."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from corollary.neighbors import NeighborIndex, nearest_neighbors

METRICS = ["euclidean", "manhattan", "chebyshev", "minkowski", "cosine"]


def naive(X, Q, k, metric, p=3.0):
    """Distances from their definitions, ranked by (distance, row)."""
    gaps = np.abs(Q[:, None, :] - X[None])
    if metric == "cosine":
        lengths = np.linalg.norm(Q, axis=1)[:, None] * np.linalg.norm(X, axis=1)
        D = 1 - Q @ X.T / lengths
    else:
        D = {
            "euclidean": lambda: np.sqrt((gaps**2).sum(axis=2)),
            "manhattan": lambda: gaps.sum(axis=2),
            "chebyshev": lambda: gaps.max(axis=2),
            "minkowski": lambda: (gaps**p).sum(axis=2) ** (1 / p),
        }[metric]()
    order = np.argsort(D, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(D, order, axis=1), order


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("d", [1, 2, 7, 30])
def test_neighbours_are_those_of_the_definition(metric, d, seed):
    random = np.random.default_rng(seed)
    X, Q = random.normal(size=(700, d)), random.normal(size=(150, d))
    if metric == "cosine" and d == 1:
        X, Q = np.c_[X, X**2], np.c_[Q, Q**2]
    distances, rows = naive(X, Q, 6, metric)
    for algorithm in ("brute", "kd_tree", "auto"):
        found = nearest_neighbors(X, Q, 6, metric=metric, p=3.0, algorithm=algorithm, leaf_size=9)
        assert np.array_equal(found[1], rows)
        assert found[0] == pytest.approx(distances, rel=1e-9, abs=1e-13)


def answers(X, Q, k, **options):
    """The same search by every way through the code."""
    from corollary.neighbors.search import index as module

    yield nearest_neighbors(X, Q, k, algorithm="kd_tree", leaf_size=3, **options)
    yield nearest_neighbors(X, Q, k, algorithm="kd_tree", leaf_size=1000, **options)
    small = module.SMALL
    try:
        for module.SMALL in (0, 10**12):  # products, and distances
            for n_jobs in (1, 3):
                yield nearest_neighbors(X, Q, k, algorithm="brute", n_jobs=n_jobs, **options)
    finally:
        module.SMALL = small


def assert_all_the_same(X, Q, k, **options):
    first, *others = answers(X, Q, k, **options)
    for other in others:
        assert np.array_equal(first[1], other[1])
        assert first[0].tobytes() == other[0].tobytes()
    return first


@given(
    data=st.data(),
    n=st.integers(1, 40),
    d=st.integers(1, 4),
    metric=st.sampled_from(METRICS[:4]),
)
def test_ties_are_broken_by_row_number_in_every_algorithm(data, n, d, metric):
    # Few values: most distances are equal.
    whole = st.integers(-1, 1).map(float)
    X = data.draw(arrays.arrays(float, (n, d), elements=whole))
    Q = data.draw(arrays.arrays(float, (5, d), elements=whole))
    k = data.draw(st.integers(1, n))
    distances, rows = assert_all_the_same(X, Q, k, metric=metric, p=3.0)
    wanted = naive(X, Q, k, metric)
    assert distances == pytest.approx(wanted[0])
    assert np.array_equal(rows, wanted[1])


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e8, 1e15])
def test_cancellation_does_not_change_neighbours(offset, seed):
    # Far from the origin |x|^2 - 2 q x + |q|^2 keeps no digit of the distance.
    random = np.random.default_rng(seed)
    X, Q = random.normal(size=(600, 3)) + offset, random.normal(size=(80, 3)) + offset
    _, rows = assert_all_the_same(X, Q, 5)
    assert np.array_equal(rows, naive(X, Q, 5, "euclidean")[1])


def test_two_clusters_far_apart_do_not_fool_single_precision(seed):
    # The scale is that of the gap; within a cluster single precision sees nothing.
    random = np.random.default_rng(seed)
    X = 1e-9 * random.normal(size=(500, 2)) + np.repeat([[0.0], [1.0]], 250, axis=0)
    Q = 1e-9 * random.normal(size=(60, 2)) + np.repeat([[0.0], [1.0]], 30, axis=0)
    _, rows = assert_all_the_same(X, Q, 4)
    assert np.array_equal(rows, naive(X, Q, 4, "euclidean")[1])


def test_candidates_of_single_precision_usually_suffice(seed):
    # If every query fell back to the full search, the products would be in vain.
    from corollary.neighbors._loops import nearest

    random = np.random.default_rng(seed)
    X, Q = random.normal(size=(3000, 8)), random.normal(size=(200, 8))
    counted = []
    settle = nearest.settle

    def count(*arguments):
        counted.append(settle(*arguments))
        return counted[-1]

    nearest.settle = count
    try:
        nearest_neighbors(X, Q, 10, algorithm="brute")
    finally:
        nearest.settle = settle
    assert sum(counted) <= 2
    assert counted


@pytest.mark.parametrize("scale", [1e-200, 1e-30, 1e30, 1e160])
def test_extreme_scales(scale, seed):
    random = np.random.default_rng(seed)
    X, Q = scale * random.normal(size=(300, 3)), scale * random.normal(size=(50, 3))
    distances, rows = assert_all_the_same(X, Q, 3)
    assert rows.min() >= 0
    assert rows.max() < 300
    wanted = naive(X / scale, Q / scale, 3, "euclidean")
    assert np.array_equal(rows, wanted[1])
    assert distances / scale == pytest.approx(wanted[0])


@pytest.mark.parametrize("algorithm", ["brute", "kd_tree"])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev", "minkowski"])
@pytest.mark.parametrize("exponent", [-1020, -560, 530, 1000])
def test_powers_of_distances_may_leave_the_range_of_doubles(seed, exponent, metric, algorithm):
    rng = np.random.default_rng(seed)
    X, Q = rng.normal(size=(60, 2)), rng.normal(size=(5, 2))
    wanted = nearest_neighbors(X, Q, 4, metric=metric, p=3, algorithm=algorithm)
    X, Q = np.ldexp(X, exponent), np.ldexp(Q, exponent)
    distances, found = nearest_neighbors(X, Q, 4, metric=metric, p=3, algorithm=algorithm)
    np.testing.assert_array_equal(found, wanted[1])
    np.testing.assert_allclose(np.ldexp(distances, -exponent), wanted[0], rtol=1e-10)


def test_far_queries_and_equal_rows(seed):
    random = np.random.default_rng(seed)
    X = random.normal(size=(400, 2))
    Q = np.array([[1e9, 0.0], [1e300, -1e300], [0.0, 0.0]])
    assert_all_the_same(X, Q, 3)
    same = np.ones((50, 2))
    _, rows = assert_all_the_same(same, same[:4], 7)
    assert rows.tolist() == [list(range(7))] * 4


@given(seed=st.integers(0, 2**32 - 1), shift=st.floats(-5, 5), scale=st.floats(0.1, 10))
def test_moving_and_scaling_everything_changes_nothing(seed, shift, scale):
    random = np.random.default_rng(seed)
    X, Q = random.normal(size=(60, 3)), random.normal(size=(7, 3))
    first = nearest_neighbors(X, Q, 5)
    second = nearest_neighbors(scale * X + shift, scale * Q + shift, 5)
    assert np.array_equal(first[1], second[1])
    assert second[0] == pytest.approx(scale * first[0])


def test_permuting_rows_permutes_neighbours(seed):
    random = np.random.default_rng(seed)
    X, Q = random.normal(size=(3000, 2)), random.normal(size=(40, 2))
    order = random.permutation(3000)
    first, second = nearest_neighbors(X, Q, 4), nearest_neighbors(X[order], Q, 4)
    assert np.array_equal(first[1], order[second[1]])
    assert first[0].tobytes() == second[0].tobytes()


def test_the_tree_is_chosen_where_it_looks_at_few_rows(seed):
    random = np.random.default_rng(seed)
    assert NeighborIndex.build(random.normal(size=(20_000, 2))).algorithm == "kd_tree"
    assert NeighborIndex.build(random.normal(size=(4000, 16))).algorithm == "brute"
    assert NeighborIndex.build(random.normal(size=(100, 2))).algorithm == "brute"
    # Many columns, but a thin set: the tree sees that the rows lie on a curve.
    t = random.uniform(size=(20_000, 1))
    assert NeighborIndex.build(np.sin(t * np.arange(1, 13))).algorithm == "kd_tree"


def test_the_tree_orders_its_rows(seed):
    X = np.random.default_rng(seed).normal(size=(1000, 3))
    index = NeighborIndex.build(X, algorithm="kd_tree", leaf_size=20)
    assert np.array_equal(index.rows, X[index.order])
    assert len(index.low) == 2**7 - 1
    assert np.array_equal(index.low[0], X.min(axis=0))
    left, right = index.rows[:500], index.rows[500:]
    assert np.array_equal(index.high[1], left.max(axis=0))
    assert np.array_equal(index.low[2], right.min(axis=0))
    side = np.argmax(X.max(axis=0) - X.min(axis=0))
    assert left[:, side].max() <= right[:, side].min()


def test_sorted_and_constant_columns_build_quickly():
    X = np.c_[np.arange(50_000.0), np.zeros(50_000)]
    index = NeighborIndex.build(X, algorithm="kd_tree")
    assert index.query(X[:3], 1)[1].ravel().tolist() == [0, 1, 2]
    assert NeighborIndex.build(np.zeros((50_000, 2)), algorithm="kd_tree").query(X[:1], 2)[
        1
    ].tolist() == [[0, 1]]


@pytest.mark.verify
def test_many_shapes(seed):
    random = np.random.default_rng(seed)
    for _ in range(150):
        n, d, q = random.integers(1, 3000), random.integers(1, 40), random.integers(1, 700)
        X, Q = random.normal(size=(n, d)), random.normal(size=(q, d))
        if random.uniform() < 0.5:
            X, Q = X.round(1), Q.round(1)
        k = int(random.integers(1, min(n, 60) + 1))
        assert_all_the_same(X, Q, k, metric=str(random.choice(METRICS[:3])))


def test_errors_say_what_to_repair():
    X = np.zeros((3, 2))
    with pytest.raises(ValueError, match="n_neighbors = 4, n_samples_fit = 3"):
        nearest_neighbors(X, X, 4)
    with pytest.raises(ValueError, match=r"same number of columns. Got 2 and 1"):
        nearest_neighbors(X, [[0.0]], 1)
    with pytest.raises(ValueError, match="row 0 is one"):
        nearest_neighbors(X, X, 1, metric="cosine")
    with pytest.raises(
        ValueError, match=r"'p' parameter of NeighborIndex.build must be at least 1"
    ):
        nearest_neighbors(X, X, 1, metric="minkowski", p=0.5)
    with pytest.raises(ValueError, match="'metric' parameter of nearest_neighbors must be a str"):
        nearest_neighbors(X, X, 1, metric="hamming")
    with pytest.raises(ValueError, match="contains NaN"):
        nearest_neighbors(np.full((2, 2), np.nan), X, 1)
