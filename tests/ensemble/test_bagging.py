"""Bags of any learner."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import BaggingClassifier as PeerBagging
from sklearn.model_selection import cross_val_score
from sklearn.svm import LinearSVC as PeerSVC
from sklearn.tree import DecisionTreeClassifier as PeerTree

from corollary.ensemble import BaggingClassifier, BaggingRegressor
from corollary.linear import LogisticRegression, Ridge
from corollary.tree import DecisionTreeClassifier, DecisionTreeRegressor


def world(rng, n):
    X = rng.uniform(-2, 2, size=(n, 3))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * rng.normal(size=n)


def test_the_mean_of_members_fitted_by_hand(seed):
    rng = np.random.default_rng(seed)
    X, y = world(rng, 80)
    bag = BaggingRegressor(Ridge(), 6, max_features=2, random_state=seed).fit(X, y)
    total = np.zeros(80)
    for rows, columns in zip(bag.estimators_samples_, bag.estimators_features_):
        assert len(rows) == 80
        assert len(columns) == 2
        total += Ridge().fit(X[rows][:, columns], y[rows]).predict(X[:, columns])
    np.testing.assert_allclose(bag.predict(X), total / 6, rtol=1e-8)


def test_out_of_bag_by_hand(seed):
    rng = np.random.default_rng(seed)
    X, y = world(rng, 60)
    bag = BaggingRegressor(n_estimators=40, oob_score=True, random_state=seed).fit(X, y)
    expected = np.zeros(60)
    for i in range(60):
        out = [
            member.predict(X[i : i + 1])[0]
            for member, rows in zip(bag.estimators_, bag.estimators_samples_)
            if i not in rows
        ]
        expected[i] = np.mean(out)
    np.testing.assert_allclose(bag.oob_prediction_, expected, rtol=1e-9)
    residual = ((y - expected) ** 2).sum() / ((y - y.mean()) ** 2).sum()
    assert bag.oob_score_ == pytest.approx(1 - residual)


def test_variance_falls_with_the_number_of_members():
    # Over training sets: the bias stays, the variance falls.
    rng = np.random.default_rng(0)
    new, _ = world(rng, 40)
    spread = {}
    for size in (1, 5, 25):
        model = BaggingRegressor(DecisionTreeRegressor(), size, random_state=0)
        found = [model.fit(*world(rng, 60)).predict(new) for _ in range(25)]
        spread[size] = np.var(found, axis=0).mean()
    single = [DecisionTreeRegressor().fit(*world(rng, 60)).predict(new) for _ in range(25)]
    assert spread[1] > spread[5] > spread[25]
    assert spread[25] < 0.8 * np.var(single, axis=0).mean()


def test_out_of_bag_error_is_honest():
    rng = np.random.default_rng(1)
    X, y = world(rng, 300)
    new, truth = world(rng, 3000)
    bag = BaggingRegressor(n_estimators=60, oob_score=True, random_state=0).fit(X, y)
    out_of_bag = ((bag.oob_prediction_ - y) ** 2).mean()
    fresh = ((bag.predict(new) - truth) ** 2).mean()
    training = ((bag.predict(X) - y) ** 2).mean()
    assert training < 0.5 * fresh
    assert out_of_bag == pytest.approx(fresh, rel=0.25)


def test_as_good_as_scikit_learns():
    X, y = load_breast_cancer(return_X_y=True)
    ours = BaggingClassifier(DecisionTreeClassifier(splitter="histogram"), 30, random_state=0)
    theirs = PeerBagging(PeerTree(), 30, random_state=0)
    mine, other = (cross_val_score(m, X, y, cv=3).mean() for m in (ours, theirs))
    assert mine > other - 0.015


def test_members_without_probabilities_vote(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(90, 2))
    y = np.array(["x", "y", "z"])[np.digitize(X[:, 0], [-0.5, 0.5])]
    bag = BaggingClassifier(PeerSVC(), 7, random_state=0).fit(X, y)
    assert bag.n_classes_ == 3
    votes = np.array([member.predict(X) for member in bag.estimators_])
    shares = np.column_stack([(votes == k).mean(axis=0) for k in bag.classes_])
    np.testing.assert_allclose(bag.predict_proba(X), shares)


def test_members_that_take_no_weights_get_copies(seed):
    from sklearn.neighbors import KNeighborsRegressor

    rng = np.random.default_rng(seed)
    X, y = world(rng, 50)
    bag = BaggingRegressor(KNeighborsRegressor(2), 3, random_state=0).fit(X, y)
    for member, rows in zip(bag.estimators_, bag.estimators_samples_):
        assert member.n_samples_fit_ == len(rows) == 50


def test_a_bag_without_some_class(seed):
    # Three rows of one class are absent from many bags of ten draws.
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 2))
    y = np.array([0] * 57 + [1] * 3)
    for base in (DecisionTreeClassifier(), LogisticRegression()):
        bag = BaggingClassifier(base, 10, max_samples=10, random_state=0).fit(X, y)
        probabilities = bag.predict_proba(X)
        assert probabilities.shape == (60, 2)
        np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)


def test_weights_draw_rows(seed):
    rng = np.random.default_rng(seed)
    X, y = world(rng, 40)
    w = (np.arange(40) < 20).astype(float)
    bag = BaggingRegressor(n_estimators=5, random_state=0).fit(X, y, sample_weight=w)
    assert max(rows.max() for rows in bag.estimators_samples_) < 20


def test_same_seed_same_bits_for_any_workers(seed):
    rng = np.random.default_rng(seed)
    X, y = world(rng, 80)
    settings = {"n_estimators": 25, "random_state": 3, "oob_score": True}
    one = BaggingRegressor(n_jobs=1, **settings).fit(X, y)
    two = BaggingRegressor(n_jobs=2, **settings).fit(X, y)
    assert one.predict(X).tobytes() == two.predict(X).tobytes()
    assert one.oob_prediction_.tobytes() == two.oob_prediction_.tobytes()


def test_frames_with_categories(seed):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"c": pd.Categorical(list("abcd") * 30), "x": rng.normal(size=120)})
    y = frame["c"].isin(["a", "d"]).to_numpy().astype(int)
    bag = BaggingClassifier(n_estimators=5, max_features=2, random_state=0).fit(frame, y)
    assert bag.score(frame, y) == 1.0


def test_rows_in_every_bag_are_named():
    X, y = np.arange(12.0).reshape(6, 2), np.arange(6.0)
    with pytest.warns(UserWarning, match="have no out-of-bag prediction. Raise n_estimators"):
        bag = BaggingRegressor(n_estimators=1, oob_score=True, random_state=0).fit(X, y)
    assert np.isnan(bag.oob_prediction_).any()


def test_errors():
    X, y = np.zeros((4, 1)), [0, 1, 0, 1]
    with pytest.raises(ValueError, match="needs a classifier as estimator"):
        BaggingClassifier(Ridge()).fit(X, y)
    with pytest.raises(ValueError, match="Set bootstrap=True"):
        BaggingClassifier(bootstrap=False, oob_score=True).fit(X, y)
    with pytest.raises(ValueError, match="'n_estimators' parameter of BaggingRegressor"):
        BaggingRegressor(n_estimators=0).fit(X, y)
