"""Votes and averages of named estimators."""

import numpy as np
import pytest
from sklearn.ensemble import VotingClassifier as PeerClassifier
from sklearn.ensemble import VotingRegressor as PeerRegressor
from sklearn.linear_model import LogisticRegression as PeerLogistic
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from corollary.ensemble import VotingClassifier, VotingRegressor
from corollary.linear import Ridge


@pytest.fixture
def data(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 3))
    return X, X[:, 0] + rng.normal(size=80), rng.choice(["a", "b", "c"], size=80)


def members():
    return [
        ("tree", DecisionTreeClassifier(max_depth=2, random_state=0)),
        ("bayes", GaussianNB()),
        ("line", PeerLogistic()),
    ]


@pytest.mark.parametrize("voting", ["hard", "soft"])
@pytest.mark.parametrize("weights", [None, [0.5, 0.2, 0.45]])
def test_voting_classifier_against_a_peer(data, voting, weights):
    X, _, y = data
    ours = VotingClassifier(members(), voting=voting, weights=weights).fit(X, y)
    peer = PeerClassifier(members(), voting=voting, weights=weights).fit(X, y)
    assert np.array_equal(ours.predict(X), peer.predict(X))
    assert hasattr(ours, "predict_proba") == (voting == "soft")
    if voting == "soft":
        np.testing.assert_allclose(ours.predict_proba(X), peer.predict_proba(X))


def test_voting_regressor_against_a_peer(data):

    X, y, _ = data
    pair = [("tree", DecisionTreeRegressor(max_depth=3, random_state=0)), ("line", Ridge())]
    w = np.arange(1.0, 81.0)
    ours = VotingRegressor(pair, weights=[1, 3]).fit(X, y, sample_weight=w)
    peer = PeerRegressor(pair, weights=[1, 3]).fit(X, y, sample_weight=w)
    np.testing.assert_allclose(ours.predict(X), peer.predict(X))
    alone = VotingRegressor(pair[:1]).fit(X, y)
    np.testing.assert_array_equal(alone.predict(X), alone.estimators_[0].predict(X))


def test_members_are_named_dropped_and_set(data):
    X, _, y = data
    model = VotingClassifier(members(), weights=[1, 2, 3])
    model.set_params(tree="drop", line__C=0.5).fit(X, y)
    assert list(model.named_estimators) == ["tree", "bayes", "line"]
    assert list(model.named_estimators_) == ["tree", "bayes", "line"]
    assert model.named_estimators_.tree == "drop"
    assert model.named_estimators_.line.C == 0.5
    assert "bayes__var_smoothing" in model.get_params()
    np.testing.assert_allclose(model._member_weights(), [0.4, 0.6])
    with pytest.raises(ValueError, match=r"dropped\. Keep at least one"):
        VotingClassifier([("a", "drop")]).fit(X, y)


def test_voting_errors(data):

    X, _, y = data
    with pytest.raises(ValueError, match="'a' is a Ridge, which is not one"):
        VotingClassifier([("a", Ridge())]).fit(X, y)
    with pytest.raises(ValueError, match="non-empty list of \\(str, estimator\\)"):
        VotingClassifier([]).fit(X, y)
    with pytest.raises(ValueError, match="'a' has none; use voting='hard'"):
        VotingClassifier([("a", LinearSVC())], voting="soft").fit(X, y)
    with pytest.raises(ValueError, match="one number for each of the 3 estimators"):
        VotingClassifier(members(), weights=[1]).fit(X, y)
    with pytest.raises(ValueError, match="KNeighborsClassifier doesn't support it"):
        VotingClassifier([("a", KNeighborsClassifier())]).fit(X, y, sample_weight=np.ones(80))


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_reach_the_members_as_they_come(data, library):
    X, _, y = data
    frames = pytest.importorskip(library)
    frame = frames.DataFrame({name: X[:, i] for i, name in enumerate("abc")})
    model = VotingClassifier(members(), voting="soft").fit(frame, y)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    assert model.estimators_[0].feature_names_in_.tolist() == ["a", "b", "c"]
    plain = VotingClassifier(members(), voting="soft").fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(frame), plain.predict_proba(X))


@pytest.mark.parametrize("voting", ["hard", "soft"])
def test_what_members_say_is_the_peers(data, voting):
    X, target, y = data
    ours = VotingClassifier(members(), voting=voting).set_params(bayes="drop").fit(X, y)
    peer = PeerClassifier(members(), voting=voting).set_params(bayes="drop").fit(X, y)
    assert ours.transform(X) == pytest.approx(peer.transform(X))
    assert ours.get_feature_names_out().tolist() == peer.get_feature_names_out().tolist()
    assert ours.fit_transform(X, y) == pytest.approx(peer.transform(X))
    frame = ours.set_output(transform="pandas").transform(X)
    assert frame.columns.tolist() == peer.get_feature_names_out().tolist()
    regressors = [("tree", DecisionTreeRegressor(max_depth=2)), ("line", Ridge())]
    ours, peer = (cls(regressors).fit(X, target) for cls in (VotingRegressor, PeerRegressor))
    assert ours.transform(X) == pytest.approx(peer.transform(X))
    assert ours.get_feature_names_out().tolist() == peer.get_feature_names_out().tolist()


def test_tables_of_soft_voting_can_stay_apart(data):
    X, _, y = data
    model = VotingClassifier(members(), voting="soft", flatten_transform=False).fit(X, y)
    assert model.transform(X).shape == (3, 80, 3)
    assert model.transform(X).mean(axis=0) == pytest.approx(model.predict_proba(X))
    with pytest.raises(ValueError, match=r"columns have no names. Set flatten_transform=True"):
        model.get_feature_names_out()
