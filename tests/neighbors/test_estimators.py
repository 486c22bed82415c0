"""The estimators against definitions and scikit-learn's."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import neighbors as peer
from sklearn.base import clone

import corollary
from corollary.neighbors import (
    KNeighborsClassifier,
    KNeighborsRegressor,
    NearestNeighbors,
    RadiusNeighborsClassifier,
    RadiusNeighborsRegressor,
    consistent_k,
    neighbor_weights,
)


def data(seed, n=300, d=3, classes=3):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    y = random.integers(classes, size=n)
    return X, y, random.normal(size=(90, d))


@pytest.mark.parametrize("weights", ["uniform", "distance"])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev", "minkowski", "cosine"])
@pytest.mark.parametrize("k", [1, 4, 11])
def test_classifier_agrees_with_scikit_learn(weights, metric, k, seed):
    X, y, Q = data(seed)
    options = {"n_neighbors": k, "weights": weights, "metric": metric, "p": 3}
    ours = KNeighborsClassifier(**options).fit(X, y)
    theirs = peer.KNeighborsClassifier(**options).fit(X, y)
    assert ours.predict_proba(Q) == pytest.approx(theirs.predict_proba(Q), abs=1e-7)
    assert np.array_equal(ours.predict(Q), theirs.predict(Q))
    assert np.array_equal(ours.kneighbors(Q)[1], theirs.kneighbors(Q)[1])
    assert ours.score(Q, theirs.predict(Q)) == 1.0


@pytest.mark.parametrize("weights", ["uniform", "distance", lambda d: np.exp(-d)])
def test_regressor_agrees_with_scikit_learn(weights, seed):
    X, y, Q = data(seed)
    for target in (X[:, 0] ** 2, np.c_[X[:, 0], y]):
        ours = KNeighborsRegressor(7, weights=weights).fit(X, target)
        theirs = peer.KNeighborsRegressor(7, weights=weights).fit(X, target)
        assert ours.predict(Q) == pytest.approx(theirs.predict(Q))
        assert ours.predict(Q).shape == theirs.predict(Q).shape


def test_posterior_is_the_share_among_the_neighbours(seed):
    X, y, Q = data(seed)
    model = KNeighborsClassifier(7).fit(X, y)
    for q, shares in zip(Q, model.predict_proba(Q)):
        nearest = np.argsort(((X - q) ** 2).sum(axis=1))[:7]
        assert shares == pytest.approx([(y[nearest] == c).sum() / 7 for c in range(3)])


def test_a_tie_is_the_first_class():
    X = np.array([[-1.0], [1.0]])
    assert KNeighborsClassifier(2).fit(X, [1, 0]).predict([[0.5]]) == [0]
    assert KNeighborsClassifier(1).fit(X, [1, 0]).predict([[0.0]]) == [1]  # the first row


def test_one_neighbour_repeats_the_training_labels(seed):
    X, y, _ = data(seed)
    assert KNeighborsClassifier(1).fit(X, y).score(X, y) == 1.0


@given(seed=st.integers(0, 2**32 - 1), k=st.integers(1, 9), whole=st.booleans())
def test_a_row_of_weight_w_counts_as_w_rows(seed, k, whole):
    random = np.random.default_rng(seed)
    X, y = random.normal(size=(30, 2)), random.integers(3, size=30)
    Q, weight = random.normal(size=(8, 2)), random.integers(0, 4, size=30)
    weight[0] = max(1, k)
    many, labels = np.repeat(X, weight, axis=0), np.repeat(y, weight)
    for weights in ("uniform", "distance"):
        first = KNeighborsClassifier(k, weights=weights).fit(X, y, sample_weight=weight)
        second = KNeighborsClassifier(k, weights=weights).fit(many, labels)
        shared = np.isin(first.classes_, second.classes_)
        assert first.predict_proba(Q)[:, shared] == pytest.approx(second.predict_proba(Q))
        one = KNeighborsRegressor(k, weights=weights).fit(X, X[:, 0], sample_weight=weight)
        two = KNeighborsRegressor(k, weights=weights).fit(many, many[:, 0])
        assert one.predict(Q) == pytest.approx(two.predict(Q))


def test_small_weights_reach_farther():
    X, y = np.arange(8.0)[:, None], np.arange(8.0)
    model = KNeighborsRegressor(2).fit(X, y, sample_weight=np.full(8, 0.5))
    assert model.predict([[0.0]]) == pytest.approx([1.5])  # four rows of weight a half
    model = KNeighborsRegressor(2).fit(X, y, sample_weight=np.r_[0.75, 0.75, np.full(6, 5.0)])
    assert model.predict([[0.0]]) == pytest.approx([(0.75 * 0 + 0.75 * 1 + 0.5 * 2) / 2])


def test_weights_by_distance():
    found = neighbor_weights(
        np.array([[2.0, 4.0], [0.0, 0.0], [1e-320, 1e-319], [np.inf, np.inf]]), "distance"
    )
    assert found[0] == pytest.approx([1.0, 0.5])
    assert found[1:].tolist()[0] == [1.0, 1.0]
    assert found[2] == pytest.approx([1.0, 0.1], rel=0.01)
    assert found[3].tolist() == [1.0, 1.0]


def test_training_rows_are_not_their_own_neighbours(seed):
    X = data(seed)[0]
    X[5] = X[4] = X[3]
    model = NearestNeighbors(n_neighbors=2).fit(X)
    distances, rows = model.kneighbors()
    assert (rows != np.arange(300)[:, None]).all()
    assert rows[3:6].tolist() == [[4, 5], [3, 5], [3, 4]]
    theirs = peer.NearestNeighbors(n_neighbors=2).fit(X).kneighbors()
    assert distances == pytest.approx(theirs[0])
    tree = NearestNeighbors(n_neighbors=2, algorithm="kd_tree").fit(X)
    assert np.array_equal(tree.kneighbors(return_distance=False), rows)


def test_the_graph_of_neighbours(seed):
    X, _, Q = data(seed)
    ours, theirs = NearestNeighbors().fit(X), peer.NearestNeighbors().fit(X)
    for mode in ("connectivity", "distance"):
        first, second = ours.kneighbors_graph(Q, 4, mode), theirs.kneighbors_graph(Q, 4, mode)
        assert first.toarray() == pytest.approx(second.toarray())


def test_threads_and_algorithms_do_not_change_a_bit(seed):
    X, y, Q = data(seed, n=3000)
    results = {
        KNeighborsClassifier(5, weights="distance", algorithm=a, n_jobs=j)
        .fit(X, y)
        .predict_proba(Q)
        .tobytes()
        for a in ("auto", "brute", "kd_tree")
        for j in (1, 2, None)
    }
    assert len(results) == 1


def test_blocks_of_queries_do_not_matter(seed, monkeypatch):
    X, y, Q = data(seed)
    weight = np.random.default_rng(seed).uniform(0.1, 2, size=300)
    model = KNeighborsClassifier(5).fit(X, y, sample_weight=weight)
    whole = model.predict_proba(Q)
    monkeypatch.setattr("corollary.neighbors._nearest.BLOCK", 7)
    assert model.predict_proba(Q) == pytest.approx(whole, abs=1e-15)


def test_consistent_number_of_neighbours(seed):
    X, y, _ = data(seed)
    assert KNeighborsClassifier("consistent").fit(X, y).n_neighbors_ == consistent_k(300) == 18
    weighted = KNeighborsClassifier("consistent").fit(X, y, sample_weight=np.full(300, 3.0))
    assert weighted.n_neighbors_ == consistent_k(900) == 30


def test_frames_and_names(seed):
    X, y, Q = data(seed)
    frame = pd.DataFrame(X, columns=list("abc"))
    model = KNeighborsClassifier().fit(frame, y)
    plain = KNeighborsClassifier().fit(X, y).predict(Q)
    assert np.array_equal(model.predict(pd.DataFrame(Q, columns=list("abc"))), plain)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    with pytest.raises(ValueError, match="feature names"):
        model.predict(pd.DataFrame(Q, columns=list("abd")))
    other = KNeighborsClassifier().fit(pl.DataFrame(X, schema=list("abc")), y)
    assert np.array_equal(other.predict(pl.DataFrame(Q, schema=list("abc"))), plain)
    labels = np.array(["no", "yes", "perhaps"])[y]
    assert set(KNeighborsClassifier().fit(X, labels).predict(Q)) <= {"no", "yes", "perhaps"}


@pytest.mark.parametrize("algorithm", ["brute", "kd_tree"])
def test_a_saved_model_predicts_the_same(tmp_path, algorithm, seed):
    X, y, Q = data(seed)
    for model in (
        KNeighborsClassifier(algorithm=algorithm, weights="distance").fit(X, y, np.full(300, 2.0)),
        KNeighborsRegressor(algorithm=algorithm, metric="minkowski", p=3).fit(X, np.c_[y, y]),
    ):
        corollary.save(model, tmp_path / "model")
        again = corollary.load(tmp_path / "model")
        assert again.predict(Q).tobytes() == model.predict(Q).tobytes()
        assert again.index_.algorithm == algorithm


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda m: setattr(m, "n_neighbors_", 1000), "fewer rows than neighbours"),
        (lambda m: setattr(m, "codes_", m.codes_ + 5), "codes_"),
        (lambda m: m.index_.order.__setitem__(0, 1), "order of its rows is not one"),
        (
            lambda m: m.index_.rows.__setitem__(0, np.inf),
            "'rows' has the wrong type, shape or range",
        ),
        (lambda m: object.__setattr__(m.index_, "low", m.index_.low[:5]), "wrong type, shape"),
        (lambda m: setattr(m, "n_samples_fit_", 7), "codes_|n_samples_fit_"),
    ],
)
def test_a_model_that_does_not_fit_together_is_not_saved(tmp_path, change, problem, seed):
    X, y, _ = data(seed)
    model = KNeighborsClassifier(algorithm="kd_tree").fit(X, y)
    change(model)
    with pytest.raises(TypeError, match=problem):
        corollary.save(model, tmp_path / "model")


def test_errors_say_what_to_repair(seed):
    X, y, Q = data(seed)
    with pytest.raises(ValueError, match=r"n_neighbors = 400, n_samples_fit = 300. Take fewer"):
        KNeighborsClassifier(400).fit(X, y).predict(Q)
    with pytest.raises(ValueError, match="weights sum to 1 for n_neighbors = 5"):
        KNeighborsClassifier().fit(X, y, sample_weight=np.full(300, 1 / 300))
    with pytest.raises(ValueError, match="at least one non-zero number"):
        KNeighborsClassifier().fit(X, y, sample_weight=np.zeros(300))
    with pytest.raises(ValueError, match="does not support 0 < p < 1"):
        KNeighborsRegressor(p=0.5, algorithm="kd_tree").fit(X, y)
    with pytest.raises(ValueError, match="'n_neighbors' parameter of KNeighborsClassifier"):
        KNeighborsClassifier(0).fit(X, y)
    with pytest.raises(ValueError, match="no row is its own neighbour"):
        NearestNeighbors(300).fit(X).kneighbors()
    with pytest.raises(ValueError, match=r"must be an int, at least 1. Got 0"):
        NearestNeighbors().fit(X).kneighbors(Q, 0)
    with pytest.raises(ValueError, match="'connectivity' or 'distance'"):
        NearestNeighbors().fit(X).kneighbors_graph(mode="x")
    with pytest.raises(ValueError, match="the weight zero"):
        KNeighborsRegressor(weights=np.zeros_like).fit(X, y).predict(Q)
    with pytest.raises(ValueError, match="the weight zero"):
        KNeighborsClassifier(weights=np.zeros_like).fit(X, y).predict(Q)
    with pytest.raises(ValueError, match="not negative, of the shape"):
        KNeighborsRegressor(weights=lambda d: -d).fit(X, y).predict(Q)
    with pytest.raises(ValueError, match="Unknown label type"):
        KNeighborsClassifier().fit(X, X[:, 0])


@pytest.mark.parametrize(
    "model",
    [
        KNeighborsClassifier(3, weights="distance"),
        RadiusNeighborsClassifier(2.0),
        KNeighborsRegressor(3, weights=None),
        RadiusNeighborsRegressor(2.0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_no_rows_stand_for_the_training_rows_left_out_one_by_one(model, seed, monkeypatch):
    X = np.random.default_rng(seed).normal(size=(30, 2))
    y = (X[:, 0] > 0).astype(int)
    others = [np.delete(np.arange(30), i) for i in range(30)]
    by_hand = [clone(model).fit(X[o], y[o]).predict(X[[i]])[0] for i, o in enumerate(others)]
    model.fit(X, y)
    np.testing.assert_array_equal(model.predict(None), by_hand)
    for module in ("_nearest", "_radius"):
        monkeypatch.setattr(f"corollary.neighbors.{module}.BLOCK", 7)
    np.testing.assert_array_equal(model.predict(None), by_hand)


def test_infinite_weights_count_alone():
    X, y = np.array([[0.0], [0.5], [0.6]]), np.array([0, 1, 1])
    with np.errstate(divide="ignore"):
        table = neighbor_weights(np.array([[0.0, 1.0], [1.0, 2.0]]), np.reciprocal)
        for model in (KNeighborsClassifier(3), RadiusNeighborsClassifier(2.0)):
            model.set_params(weights=np.reciprocal).fit(X, y)
            np.testing.assert_array_equal(model.predict([[0.0], [0.55]]), [0, 1])
    np.testing.assert_array_equal(table, [[1.0, 0.0], [1.0, 0.5]])
