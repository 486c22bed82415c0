"""Mini-batches: running means, reassignment, and costs near those of all rows."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_blobs

from corollary.cluster import KMeans, MiniBatchKMeans
from corollary.cluster.means._batches import BatchState, batch_step, reassign
from corollary.cluster.means._rows import ArrayRows

X, _ = make_blobs(3000, 4, centers=5, cluster_std=1.0, random_state=0)


def test_centres_are_means_of_all_rows_given_to_them():
    rng = np.random.default_rng(0)
    rows, weight = rng.normal(size=(60, 2)), rng.integers(1, 4, 60).astype(float)
    state = BatchState(np.array([[-9.0, 0.0], [9.0, 0.0]]), np.zeros(2))
    given = [[], []]
    for start in range(0, 60, 20):
        part = slice(start, start + 20)
        labels = ((rows[part, None] - state.centres) ** 2).sum(axis=2).argmin(axis=1)
        before = state.centres
        state, cost = batch_step(state, rows[part], weight[part])
        own = ((rows[part] - before[labels]) ** 2).sum(axis=1)
        assert cost == pytest.approx(weight[part] @ own)
        for label, row in zip(labels, np.arange(start, start + 20), strict=True):
            given[label].append(row)
    for label in range(2):
        mean = np.average(rows[given[label]], axis=0, weights=weight[given[label]])
        assert state.centres[label] == pytest.approx(mean)
        assert state.totals[label] == weight[given[label]].sum()
    assert state.since == 60


def test_centres_that_have_seen_little_move_to_rows():
    rows = np.arange(8.0)[:, None] + 100
    state = BatchState(np.zeros((4, 1)), np.array([100.0, 0.5, 50.0, 0.9]), 77)
    moved = reassign(state, rows, 0.01, np.random.RandomState(0))
    assert set(moved.centres[[1, 3], 0]) <= set(rows[:, 0])
    assert len(set(moved.centres[[1, 3], 0])) == 2
    assert moved.centres[[0, 2], 0].tolist() == [0.0, 0.0]
    assert moved.totals.tolist() == [100.0, 50.0, 50.0, 50.0]
    assert moved.since == 0
    few = reassign(state, rows[:2], 0.01, np.random.RandomState(0))  # half of the batch at most
    assert few.totals.tolist() == [100.0, 0.9, 50.0, 0.9]


def test_the_cost_is_near_that_of_all_rows():
    options = {"n_clusters": 5, "random_state": 0}
    full, batches = KMeans(**options).fit(X), MiniBatchKMeans(**options, batch_size=256).fit(X)
    assert batches.inertia_ < 1.05 * full.inertia_
    assert batches.score(X) == pytest.approx(-batches.inertia_)
    assert np.array_equal(batches.predict(X), batches.labels_)
    assert batches.n_steps_ >= 10
    assert batches.n_iter_ == -(-batches.n_steps_ * 256 // 3000)


@pytest.mark.parametrize("init", ["k-means++", "k-means||", "random", "array", "callable"])
def test_starts(init):
    start = {"array": X[:5], "callable": lambda X, k, random_state: X[:k]}.get(init, init)
    model = MiniBatchKMeans(5, init=start, random_state=0, max_iter=20).fit(X)
    assert model.cluster_centers_.shape == (5, 4)
    centres = model._start(ArrayRows(X, np.ones(3000)), 4, np.random.RandomState(0))
    assert (centres[:, None] == X).all(axis=2).any(axis=1).all()  # they are rows
    assert np.isfinite(model.inertia_)


def test_batches_as_they_come():
    model = MiniBatchKMeans(5, random_state=0)
    for start in range(0, 3000, 300):
        model.partial_fit(X[start : start + 300])
    assert model.n_steps_ == 10
    assert model.counts_.sum() <= 3000
    assert model.labels_.shape == (300,)
    assert -model.score(X) < 1.2 * KMeans(5, random_state=0).fit(X).inertia_
    seen = model.fingerprint_.overlap(X[:50]).seen
    assert seen == 50  # rows of the first batch are remembered


def test_rules_that_end_training():
    still = MiniBatchKMeans(5, random_state=0, max_no_improvement=None, max_iter=3, batch_size=500)
    assert still.fit(X).n_steps_ == 18
    assert still.set_params(tol=1e6).fit(X).n_steps_ == 2
    assert still.set_params(tol=0.0, max_no_improvement=1, max_iter=100).fit(X).n_steps_ < 600
    rough = MiniBatchKMeans(5, random_state=0, compute_labels=False).fit(X)
    assert not hasattr(rough, "labels_")
    assert rough.inertia_ == pytest.approx(-rough.score(X), rel=0.3)


def test_weights_and_sparse_rows():
    weight = (X[:, 0] > np.median(X[:, 0])).astype(float)
    model = MiniBatchKMeans(2, random_state=0).fit(X, sample_weight=weight)
    assert -model.score(X, sample_weight=weight) == pytest.approx(model.inertia_)
    thin = MiniBatchKMeans(3, random_state=0).fit(sparse.csr_matrix(X))
    assert thin.inertia_ == pytest.approx(MiniBatchKMeans(3, random_state=0).fit(X).inertia_)


def test_bad_input_is_told():
    with pytest.raises(ValueError, match="n_samples=3 should be >= n_clusters=8"):
        MiniBatchKMeans().fit(X[:3])
    with pytest.warns(RuntimeWarning, match="init_size=2"):
        assert MiniBatchKMeans(5, init_size=2, random_state=0).fit(X).init_size_ == 15
    with pytest.warns(RuntimeWarning, match="only one init"):
        MiniBatchKMeans(5, init=X[:5], n_init=4).fit(X)
