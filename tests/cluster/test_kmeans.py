"""The estimator: starts, weights, precision, hostile rows, and scikit-learn's answers."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import KMeans as TheirKMeans
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning

from corollary.cluster import KMeans, KMedoids, centers_cost, exact_kmeans, kmeans_1d
from corollary.cluster.means._descent import descend

X, GROUPS = make_blobs(600, 5, centers=6, cluster_std=0.7, random_state=0)


@pytest.mark.parametrize("init", ["k-means++", "k-means||", "random"])
def test_groups_are_found(init):
    model = KMeans(6, init=init, n_init=50 if init == "random" else 3, random_state=0).fit(X)
    for label in range(6):
        assert len(set(GROUPS[model.labels_ == label])) == 1
    assert model.inertia_ == pytest.approx(centers_cost(X, model.labels_, model.cluster_centers_))
    assert np.array_equal(model.predict(X), model.labels_)
    assert model.score(X) == pytest.approx(-model.inertia_)
    distances = np.sqrt(((X[:, None] - model.cluster_centers_) ** 2).sum(axis=2))
    assert model.transform(X) == pytest.approx(distances)
    assert model.fit_transform(X) == pytest.approx(model.transform(X))
    assert list(model.get_feature_names_out()) == [f"kmeans{k}" for k in range(6)]


@pytest.mark.parametrize("algorithm", ["lloyd", "elkan"])
@pytest.mark.parametrize("tol", [0.0, 1e-4, 1e-1])
def test_from_equal_starts_it_is_scikit_learns(algorithm, tol):
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(700, 3))
    options = {"init": rows[:8], "n_init": 1, "tol": tol, "algorithm": algorithm}
    ours, theirs = KMeans(8, **options).fit(rows), TheirKMeans(8, **options).fit(rows)
    assert ours.n_iter_ == theirs.n_iter_
    assert ours.cluster_centers_ == pytest.approx(theirs.cluster_centers_, abs=1e-9)
    assert np.array_equal(ours.labels_, theirs.labels_)
    assert ours.inertia_ == pytest.approx(theirs.inertia_)


def test_the_best_of_several_starts_is_kept():
    rng = np.random.default_rng(2)
    rows, random = rng.normal(size=(100, 2)), np.random.RandomState(0)
    singles = [KMeans(7, init="random", n_init=1, random_state=random).fit(rows) for _ in range(10)]
    same = np.random.RandomState(0)
    best = KMeans(7, init="random", random_state=same).fit(rows)
    assert best.inertia_ == min(model.inertia_ for model in singles)
    assert same.randint(2**31 - 1) == random.randint(2**31 - 1)  # ten starts were drawn
    assert len({model.inertia_ for model in singles}) > 1


def test_callables_and_arrays_start(monkeypatch):
    def first_rows(rows, k, random_state):
        assert random_state is not None
        return rows[:k]

    ours, given = KMeans(4, init=first_rows).fit(X), KMeans(4, init=X[:4]).fit(X)
    assert np.array_equal(ours.labels_, given.labels_)
    runs = []

    def counted(*args, **options):
        runs.append(args)
        return descend(*args, **options)

    monkeypatch.setattr("corollary.cluster.means.kmeans.descend", counted)
    with pytest.warns(RuntimeWarning, match="only one init"):
        KMeans(4, init=X[:4], n_init=3).fit(X)
    assert len(runs) == 1
    with pytest.raises(ValueError, match="does not match the number of clusters 4"):
        KMeans(4, init=X[:3]).fit(X)


def test_weights_count_like_copies():
    rng = np.random.default_rng(3)
    weight = rng.integers(0, 4, len(X))
    copies = np.repeat(np.arange(len(X)), weight)
    one = KMeans(6, init=X[:6], tol=0).fit(X, sample_weight=weight)
    many = KMeans(6, init=X[:6], tol=0).fit(X[copies])
    assert one.inertia_ == pytest.approx(many.inertia_)
    assert np.array_equal(one.labels_[copies], many.labels_)
    assert one.score(X, sample_weight=weight) == pytest.approx(-one.inertia_)


def test_single_precision_is_kept():
    rows = X.astype(np.float32)
    model = KMeans(6, random_state=0).fit(rows)
    assert model.cluster_centers_.dtype == model.transform(rows).dtype == np.float32
    assert np.array_equal(model.predict(rows), model.labels_)


def test_sparse_rows_are_clustered_like_dense_ones():
    rows = X * (np.abs(X) > 3)
    for init in ("k-means++", "k-means||", "random"):
        options = {"init": init, "n_init": 3, "random_state": 0}
        thin = KMeans(5, **options).fit(sparse.csr_matrix(rows))
        assert np.array_equal(thin.predict(rows), thin.labels_)
        if init == "k-means++":
            assert thin.inertia_ == pytest.approx(KMeans(5, **options).fit(rows).inertia_)


def test_hostile_rows():
    one = KMeans(1).fit([[3.0, 4.0]])
    assert one.cluster_centers_.tolist() == [[3.0, 4.0]]
    assert one.inertia_ == 0.0
    constant = np.column_stack([X[:, 0], np.ones(len(X))])
    assert (KMeans(3, random_state=0).fit(constant).cluster_centers_[:, 1] == 1.0).all()
    copies = np.repeat([[0.0], [1.0], [2.0]], 5, axis=0)
    for init in ("k-means++", "k-means||", "random"):
        model = KMeans(3, init=init, n_init=5, random_state=0).fit(copies)
        assert model.inertia_ == 0.0
        with pytest.warns(ConvergenceWarning, match=r"\(3\) found smaller than n_clusters \(5\)"):
            assert KMeans(5, init=init, random_state=0).fit(copies).inertia_ == 0.0
    light = KMeans(2, random_state=0).fit([[0.0], [1.0], [9.0]], sample_weight=[1, 1, 0])
    assert sorted(light.cluster_centers_.ravel()) == [0.0, 1.0]
    for init in ("k-means++", "k-means||", "random"):
        with pytest.warns(ConvergenceWarning):
            few = KMeans(3, init=init, random_state=0).fit(
                [[0.0], [1.0], [9.0]], sample_weight=[1, 0, 0]
            )
        assert few.inertia_ == 0.0


@pytest.mark.parametrize(
    ("rows", "weight", "words"),
    [
        ([[0.0]], None, "n_samples=1 should be >= n_clusters=2"),
        ([[0.0], [np.nan]], None, "NaN"),
        ([[0.0], [np.inf]], None, "infinity"),
        ([[0.0], [1.0]], [0.0, 0.0], "non-zero"),
        ([[0.0], [1.0]], [1.0, -1.0], "Negative"),
    ],
)
def test_bad_input_is_told(rows, weight, words):
    with pytest.raises(ValueError, match=words):
        KMeans(2).fit(rows, sample_weight=weight)


def test_rows_whose_squares_are_infinite_are_refused():
    rows = 1e200 * np.random.default_rng(0).normal(size=(20, 2))
    for call in (
        KMeans(2, random_state=0).fit,
        KMedoids(2, random_state=0).fit,
        lambda X: exact_kmeans(X, 2),
        lambda X: kmeans_1d(X[:, 0], 2),
    ):
        with pytest.raises(ValueError, match=r"needs .*(squares|finite).*divide|Divide"):
            call(rows)
