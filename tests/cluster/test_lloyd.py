"""Lloyd's iteration: its steps, its descent, and the bounds that spare distances."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.cluster import KMeans as TheirKMeans

from corollary.cluster import (
    centers_cost,
    centroids,
    count_partitions,
    lloyd,
    lloyd_step,
    nearest_centers,
    partition_cost,
)
from corollary.datasets import lloyd_trap


def plain(X, centres, steps, weight=None):
    """Return the centres after so many steps, by definition."""
    weight = np.ones(len(X)) if weight is None else weight
    for _ in range(steps):
        labels = ((X[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
        centres = np.array(
            [
                np.average(X[labels == k], axis=0, weights=weight[labels == k])
                if weight[labels == k].any()
                else centres[k]
                for k in range(len(centres))
            ]
        )
    return centres


@given(st.integers(0, 10**6))
def test_no_part_of_a_step_raises_the_cost(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 25))
    k = int(rng.integers(1, min(n, 6) + 1))
    X = rng.normal(size=(n, 2)).round(int(rng.integers(0, 3)))
    labels = np.concatenate([np.arange(k), rng.integers(0, k, n - k)])
    steps = 0
    while True:
        step = lloyd_step(X, labels, k, random_state=steps)
        before, assigned, after = step.costs
        assert before == pytest.approx(partition_cost(X, labels), abs=1e-12)
        assert after == pytest.approx(partition_cost(X, step.labels), abs=1e-12)
        assert after <= assigned + 1e-9
        assert assigned <= before + 1e-9
        assert set(step.labels) == set(range(k))
        if np.array_equal(step.labels, labels) or after >= before - 1e-12:
            break
        labels, steps = step.labels, steps + 1
    assert steps <= count_partitions(n, k)


def test_an_emptied_cluster_takes_a_row():
    trap = lloyd_trap("empty")
    step = lloyd_step(trap.X, trap.start, 2, random_state=0)
    assert step.costs == (2.0, 2.0, 0.5)
    assert sorted(np.bincount(step.labels)) == [1, 2]
    moved = {
        int(np.flatnonzero(lloyd_step(trap.X, trap.start, 2, random_state=s).labels)[0])
        for s in range(30)
    }
    assert moved == {0, 1, 2}  # at random
    copies = lloyd_step(np.zeros((3, 1)), [0, 1, 2], 3, random_state=0)  # all go to the first
    assert copies.assigned.tolist() == [0, 0, 0]
    assert sorted(copies.labels) == [0, 1, 2]


@pytest.mark.parametrize("which", ["rectangle", "triangle"])
def test_fixed_points_far_from_the_optimum(which):
    trap = lloyd_trap(which)
    step = lloyd_step(trap.X, trap.start, 2)
    assert np.array_equal(step.labels, trap.start)
    assert step.costs == (trap.start_cost,) * 3


@pytest.mark.parametrize(
    ("n", "d", "k"), [(40, 1, 3), (500, 2, 7), (3000, 5, 12), (2000, 17, 40), (900, 130, 4)]
)
def test_steps_with_bounds_are_those_of_the_definition(n, d, k):
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, d)) + 4 * rng.integers(0, 3, (n, 1))
    start = X[:k].copy()
    for steps in (1, 2, 5, 20):
        run = lloyd(X, start, max_iter=steps, tol=0.0)
        assert run.centers == pytest.approx(plain(X, start, steps), abs=1e-9)
        labels = ((X[:, None] - run.centers) ** 2).sum(axis=2).argmin(axis=1)
        assert np.array_equal(run.labels, labels)
        assert run.cost == pytest.approx(centers_cost(X, labels, run.centers))
        assert np.array_equal(run.counts, np.bincount(labels, minlength=k))


def test_the_cost_falls_at_every_step_of_a_run():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    start = np.vstack([X[:5], [[50.0, 50.0, 50.0]], [[51.0, 50.0, 50.0]]])  # two will be empty
    costs = [lloyd(X, start, max_iter=m, random_state=3).cost for m in range(1, 25)]
    assert all(b <= a * (1 + 1e-12) for a, b in itertools.pairwise(costs))
    last = lloyd(X, start, random_state=3)
    assert last.converged
    assert (last.counts > 0).all()
    assert last.centers == pytest.approx(centroids(X, last.labels))


def test_equal_starts_end_where_scikit_learns_do():
    rng = np.random.default_rng(5)
    X, weight = rng.normal(size=(800, 4)), rng.uniform(size=800)
    start = X[:9]
    for w in (None, weight):
        theirs = TheirKMeans(9, init=start, n_init=1, tol=0.0).fit(X, sample_weight=w)
        ours = lloyd(X, start, sample_weight=w)
        assert ours.cost == pytest.approx(theirs.inertia_, rel=1e-10)
        assert ours.n_iter == theirs.n_iter_
        assert np.array_equal(ours.labels, theirs.labels_)


def test_weight_is_copies():
    rng = np.random.default_rng(6)
    X, weight = rng.normal(size=(300, 3)), rng.integers(0, 4, 300)
    copies = np.repeat(np.arange(300), weight)
    one = lloyd(X, X[:5], sample_weight=weight)
    many = lloyd(X[copies], X[:5])
    assert one.cost == pytest.approx(many.cost)
    assert one.n_iter == many.n_iter
    assert np.array_equal(one.labels[copies], many.labels)


@pytest.mark.parametrize("scale", [1e-150, 1e-30, 1.0, 1e30, 1e150])
def test_numbers_of_any_size(scale):
    rng = np.random.default_rng(7)
    X = rng.normal(size=(300, 3))
    right = lloyd(X, X[:4])
    run = lloyd(X * scale, X[:4] * scale)
    assert np.array_equal(run.labels, right.labels)
    far = lloyd(X + 1e7, X[:4] + 1e7)
    assert far.cost == pytest.approx(right.cost, rel=1e-6)


def test_ties_go_to_the_first_centre_and_rows_far_away_are_exact():
    X = np.array([[0.0], [1.0], [2.0], [1e9]])
    assert nearest_centers(X, [[0.0], [2.0], [0.0], [2.0]]).tolist() == [0, 0, 1, 1]
    close = np.array([[0.0], [1e-12], [2e-12], [1.0]])  # one point in single precision
    assert nearest_centers(close, close).tolist() == [0, 1, 2, 3]


def test_copies_leave_centres_without_rows():
    X = np.repeat([[0.0], [1.0]], 10, axis=0)
    run = lloyd(X, [[0.0], [0.0], [5.0], [5.0]], random_state=0)
    assert run.cost == 0.0
    assert run.converged
    assert np.count_nonzero(run.counts) == 2


def test_weights_of_zero_move_nothing():
    X = np.array([[0.0], [1.0], [10.0], [11.0], [500.0]])
    run = lloyd(X, [[0.0], [11.0]], sample_weight=[1, 1, 1, 1, 0])
    assert run.centers.ravel().tolist() == [0.5, 10.5]
    assert run.labels.tolist() == [0, 0, 1, 1, 1]
    assert run.cost == 1.0
    few = lloyd(X, X[:3], sample_weight=[1, 1, 0, 0, 0])
    assert few.cost == 0.0


def test_sparse_rows_take_the_same_way():
    rng = np.random.default_rng(8)
    X = rng.normal(size=(200, 6)) * (rng.uniform(size=(200, 6)) < 0.5)
    dense, thin = lloyd(X, X[:5]), lloyd(sparse.csr_matrix(X), X[:5])
    assert thin.cost == pytest.approx(dense.cost)
    assert thin.n_iter == dense.n_iter
    assert np.array_equal(thin.labels, dense.labels)


def test_bad_input_is_told():
    with pytest.raises(ValueError, match="number of features"):
        lloyd([[0.0, 1.0]], [[0.0]])
    with pytest.raises(ValueError, match="below n_clusters=1"):
        lloyd_step([[0.0], [1.0]], [0, 1], 1)
    with pytest.raises(ValueError, match="lloyd_step needs at least as many rows as clusters"):
        lloyd_step([[0.0], [1.0]], [0, 1], 3)
    with pytest.raises(ValueError, match="NaN"):
        lloyd([[np.nan]], [[0.0]])
