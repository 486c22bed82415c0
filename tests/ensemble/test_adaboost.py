"""AdaBoost: against the textbook loop, a peer, and its own bounds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.ensemble import AdaBoostClassifier as Peer
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression as PeerLogistic
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from corollary.ensemble import (
    AdaBoostClassifier,
    StumpClassifier,
    best_stump,
    boosting_distribution,
    training_error_chain,
)
from corollary.tree import DecisionTreeClassifier as OurTree

TREE = DecisionTreeClassifier(max_depth=1, random_state=0)


def noisy(seed, n=60, d=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.where(X[:, 0] * X[:, 1] + 0.3 * X[:, 2] + 0.3 * rng.normal(size=n) > 0, 1, -1)
    return X, y


def votes_of(model, X):
    return np.array([member.predict(X) for member in model.estimators_])


def test_against_the_textbook_loop(seed):
    X, y = noisy(seed)
    model = AdaBoostClassifier(n_estimators=15).fit(X, y)
    D, f = np.full(len(y), 1 / len(y)), np.zeros(len(y))
    for t in range(15):
        h = best_stump(X, y, sample_weight=D).predict(X)
        error = D[h != y].sum()
        alpha = 0.5 * np.log((1 - error) / error)
        assert model.estimator_errors_[t] == pytest.approx(error)
        assert model.alphas_[t] == pytest.approx(alpha)
        assert np.array_equal(model.estimators_[t].predict(X), h)
        f += alpha * h
        D = D * np.exp(-alpha * y * h)
        D /= D.sum()
    assert np.array_equal(model.predict(X), np.where(f > 0, 1, -1))
    np.testing.assert_allclose(model.decision_function(X), f / model.alphas_.sum())
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], 1 / (1 + np.exp(-2 * f)))


@pytest.mark.parametrize("load", [load_breast_cancer, load_iris])
@pytest.mark.parametrize("rate", [1.0, 0.4])
def test_against_a_peer(load, rate):
    X, y = load(return_X_y=True)
    ours = AdaBoostClassifier(TREE, n_estimators=20, learning_rate=rate, random_state=3).fit(X, y)
    peer = Peer(TREE, n_estimators=20, learning_rate=rate, random_state=3).fit(X, y)
    np.testing.assert_allclose(ours.estimator_errors_, peer.estimator_errors_)
    np.testing.assert_allclose(ours.estimator_weights_, peer.estimator_weights_)
    assert np.array_equal(ours.predict(X), peer.predict(X))
    # The peer's scores of two classes reach from -2 to 2, though it documents -1 to 1.
    scale = 2 if len(ours.classes_) == 2 else 1
    np.testing.assert_allclose(scale * ours.decision_function(X), peer.decision_function(X))
    np.testing.assert_allclose(ours.feature_importances_, peer.feature_importances_)
    for a, b in zip(ours.staged_predict(X), peer.staged_predict(X), strict=True):
        assert np.array_equal(a, b)


def check_chain(model, n_classes):
    slack = 1 + 1e-9
    assert np.all(model.training_errors_ <= model.exponential_losses_ * slack)
    np.testing.assert_allclose(model.exponential_losses_, model.training_bounds_, rtol=1e-9)
    if n_classes == 2:
        assert np.all(model.training_bounds_ <= model.edge_bounds_ * slack)
    else:
        assert model.edge_bounds_ is None


@given(
    st.integers(0, 10**6), st.integers(2, 30), st.integers(2, 4), st.sampled_from([0.3, 1.0, 1.7])
)
@pytest.mark.filterwarnings("ignore:The first weak classifier")
def test_the_bounds_hold_at_every_round(seed, n, k, rate):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, 2)).round(1), rng.integers(k, size=n)
    y[:2] = [0, 1]
    w = rng.uniform(0.1, 2, size=n)
    model = AdaBoostClassifier(n_estimators=12, learning_rate=rate).fit(X, y, sample_weight=w)
    check_chain(model, len(np.unique(y)))
    share = w / w.sum()
    for t, labels in enumerate(model.staged_predict(X)):
        assert model.training_errors_[t] == pytest.approx(share[labels != y].sum(), abs=1e-12)
    # The exponential loss by its definition.
    codes = np.array([np.searchsorted(model.classes_, h) for h in votes_of(model, X)])
    right = np.where(codes == np.searchsorted(model.classes_, y), 1, -1)
    direct = share @ np.exp(-0.5 * model.estimator_weights_ @ right)
    assert model.exponential_losses_[-1] == pytest.approx(direct)


def test_the_whole_chain_on_real_data():
    X, y = load_breast_cancer(return_X_y=True)
    model = AdaBoostClassifier(n_estimators=100).fit(X, y)
    check_chain(model, 2)
    signs = np.where(y == 1, 1, -1)
    votes = np.where(votes_of(model, X) == 1, 1, -1)
    chain = training_error_chain(signs, votes, model.alphas_)
    np.testing.assert_allclose(chain.exponential_loss, model.exponential_losses_)
    np.testing.assert_allclose(chain.edge_bound, model.edge_bounds_)
    np.testing.assert_allclose(chain.product_of_roots, model.training_bounds_)
    assert model.training_errors_[-1] == 0
    # Weights of the rows follow from the scores alone, and leave the last stump a coin.
    D = boosting_distribution(signs, model.alphas_ @ votes)
    assert D[votes[-1] != signs].sum() == pytest.approx(0.5, abs=1e-9)


def test_the_presorted_stumps_are_the_stumps(seed):
    X, y = noisy(seed)
    w = np.random.default_rng(seed).uniform(0.5, 1.5, size=len(y))
    fast = AdaBoostClassifier(n_estimators=20).fit(X, y, sample_weight=w)
    slow = AdaBoostClassifier(StumpClassifier(), n_estimators=20).fit(X, y, sample_weight=w)
    np.testing.assert_allclose(fast.estimator_weights_, slow.estimator_weights_, rtol=1e-9)
    assert np.array_equal(fast.predict(X), slow.predict(X))


def test_a_perfect_round_ends_the_run_and_decides():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    model = AdaBoostClassifier().fit(X, ["a", "a", "b", "b"])
    assert len(model.estimators_) == 1
    assert model.estimator_errors_.tolist() == [0.0]
    assert model.estimator_weights_.tolist() == [1.0]
    check_chain(model, 2)
    assert model.predict([[1.4], [1.6]]).tolist() == ["a", "b"]


class Improving(StumpClassifier):
    """A weak learner that turns into a table of answers at the third call."""

    calls = 0

    def fit(self, X, y, sample_weight=None):
        Improving.calls += 1
        self.known_ = dict(zip(X[:, 0], y)) if Improving.calls == 3 else None
        return super().fit(X, y, sample_weight)

    def predict(self, X):
        if self.known_ is None:
            return super().predict(X)
        return np.array([self.known_.get(x, self.classes_[0]) for x in X[:, 0]])


def test_a_later_perfect_round_outvotes_all_others():
    X = np.arange(8.0)[:, None]
    y = np.array([0, 1, 0, 0, 1, 1, 0, 1])
    Improving.calls = 0
    model = AdaBoostClassifier(Improving()).fit(X, y)
    assert len(model.estimators_) == 3
    assert model.estimator_weights_[2] == pytest.approx(1 + model.estimator_weights_[:2].sum())
    assert model.score(X, y) == 1.0
    check_chain(model, 2)
    assert model.training_errors_[-1] == 0


def test_no_better_than_guessing():
    X, y = [[0.0], [0.0], [0.0], [0.0]], [0, 1, 0, 1]
    with pytest.warns(ConvergenceWarning, match="no better than guessing"):
        model = AdaBoostClassifier().fit(X, y)
    assert len(model.estimators_) == 1
    assert model.predict([[3.0]]).tolist() == [0]
    check_chain(model, 2)
    # A later round without an edge ends the run quietly.
    model = AdaBoostClassifier().fit([[0.0], [0.0], [0.0]], [0, 1, 1])
    assert len(model.estimators_) == 1
    check_chain(model, 2)


def test_ties_go_to_the_first_class():
    members = [StumpClassifier().fit([[0.0]], [c]) for c in ("b", "a")]
    model = AdaBoostClassifier().fit([[0.0], [1.0]], ["a", "b"])
    model.estimators_, model.estimator_weights_ = members, np.array([1.0, 1.0])
    assert model.predict([[0.5]]).tolist() == ["a"]
    assert model.decision_function([[0.5]]).tolist() == [0.0]


@given(st.integers(0, 10**6))
@pytest.mark.filterwarnings("ignore:The first weak classifier")
def test_weight_is_repetition(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(12, 2)), rng.integers(2, size=12)
    w = rng.integers(0, 4, size=12)
    w[0] = 1
    a = AdaBoostClassifier(n_estimators=8).fit(X, y, sample_weight=w)
    b = AdaBoostClassifier(n_estimators=8).fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    grid = rng.normal(size=(30, 2))
    assert np.array_equal(a.predict(grid), b.predict(grid))
    np.testing.assert_allclose(a.estimator_weights_, b.estimator_weights_, rtol=1e-7)


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_huge_and_tiny_weights(seed, scale):
    X, y = noisy(seed)
    w = np.random.default_rng(seed).uniform(0.1, 1, size=len(y))
    plain = AdaBoostClassifier(n_estimators=10).fit(X, y, sample_weight=w)
    scaled = AdaBoostClassifier(n_estimators=10).fit(X, y, sample_weight=w * scale)
    np.testing.assert_allclose(plain.estimator_weights_, scaled.estimator_weights_)
    w[0] = 1e250  # one row outweighs all others
    assert AdaBoostClassifier(n_estimators=10).fit(X, y, sample_weight=w).predict(X[:1]) == y[0]


def test_penalised_members_see_the_weight_of_all_rows(seed):
    # With weights that sum to one, a penalty would swamp sixty rows.
    X, y = noisy(seed)
    model = AdaBoostClassifier(PeerLogistic(), n_estimators=1).fit(X, y)
    alone = PeerLogistic().fit(X, y)
    np.testing.assert_allclose(model.estimators_[0].coef_, alone.coef_, rtol=1e-4)


def test_seeds_and_random_members(seed):
    X, y = noisy(seed)
    tree = DecisionTreeClassifier(max_depth=2, splitter="random")
    fits = [AdaBoostClassifier(tree, n_estimators=5, random_state=s).fit(X, y) for s in (1, 1, 2)]
    same = [fits[0].estimator_weights_.tolist() == f.estimator_weights_.tolist() for f in fits]
    assert same == [True, True, False]
    assert len({m.random_state for m in fits[0].estimators_}) == 5


def test_staged_numbers(seed):
    X, y = noisy(seed)
    model = AdaBoostClassifier(n_estimators=6).fit(X, y)
    *_, probabilities = model.staged_predict_proba(X)
    *_, decision = model.staged_decision_function(X)
    np.testing.assert_array_equal(probabilities, model.predict_proba(X))
    np.testing.assert_array_equal(decision, model.decision_function(X))
    np.testing.assert_allclose(np.log(probabilities), model.predict_log_proba(X))
    np.testing.assert_allclose(list(model.staged_score(X, y)), 1 - model.training_errors_)


@pytest.mark.parametrize("member", [None, OurTree(max_depth=2), OurTree(max_depth=1)])
def test_one_walk_down_all_trees_is_the_vote_of_each(seed, member):
    rng = np.random.default_rng(seed)
    # Rounded values lie on thresholds, and the third class is rare.
    X, y = (
        rng.normal(size=(80, 3)).round(1),
        rng.choice(["a", "b", "c"], p=[0.5, 0.45, 0.05], size=80),
    )
    model = AdaBoostClassifier(member, n_estimators=12, random_state=0).fit(X, y)
    rows = np.vstack([X, X + 0.05])
    table = np.zeros((len(rows), 3))
    for fitted, weight in zip(model.estimators_, model.estimator_weights_):
        table += weight * (fitted.predict(rows)[:, None] == model.classes_)
    np.testing.assert_array_equal(model._raw(rows), table)
    np.testing.assert_array_equal(list(model.staged_predict(rows))[-1], model.predict(rows))


def test_one_class_and_one_row():
    model = AdaBoostClassifier().fit([[1.0]], ["only"])
    assert model.predict([[7.0]]).tolist() == ["only"]
    assert model.predict_proba([[7.0]]).tolist() == [[1.0]]
    check_chain(model, 2)


def test_errors(seed):
    X, y = noisy(seed)
    with pytest.raises(ValueError, match="KNeighborsClassifier doesn't support it"):
        AdaBoostClassifier(KNeighborsClassifier()).fit(X, y)
    with pytest.raises(ValueError, match=r"in the range \(0.0, 2.0\]"):
        AdaBoostClassifier(learning_rate=2.5).fit(X, y)
    model = AdaBoostClassifier(PeerLogistic(), n_estimators=2).fit(X, X[:, 0] > 0.1)
    with pytest.raises(AttributeError, match="use a tree or a stump"):
        _ = model.feature_importances_


def test_frames_keep_their_names(seed):
    frames = pytest.importorskip("polars")
    X, y = noisy(seed)
    frame = frames.DataFrame({"u": X[:, 0], "v": X[:, 1], "w": X[:, 2]})
    model = AdaBoostClassifier(n_estimators=5).fit(frame, y)
    assert model.feature_names_in_.tolist() == ["u", "v", "w"]
    assert np.array_equal(
        model.predict(frame), AdaBoostClassifier(n_estimators=5).fit(X, y).predict(X)
    )


@pytest.mark.parametrize("depth", [2, 3])
def test_weights_that_fall_for_fifty_rounds(depth):
    # Rows that are always right have weights below 1e-16 of the largest.
    X, y = load_wine(return_X_y=True)
    model = AdaBoostClassifier(OurTree(max_depth=depth), n_estimators=50).fit(X, y)
    assert model.score(X, y) == 1.0
