"""Adding members to a fitted ensemble gives what one fit of all of them gives."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression as PeerLogistic

import corollary
from corollary.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from corollary.linear import Ridge
from corollary.neighbors import KNeighborsRegressor


def data(seed, n=150):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 4))
    X[::11, 1] = np.nan
    return X, np.where(X[:, 0] + random.normal(size=n) > 0, "yes", "no"), random.uniform(size=n)


FORESTS = [
    (RandomForestClassifier, {"oob_score": True}),
    (RandomForestClassifier, {"class_weight": "balanced_subsample", "feature_sampling": "tree"}),
    (RandomForestClassifier, {"bootstrap": False, "max_depth": 3}),
    (RandomForestRegressor, {"oob_score": True, "ccp_alpha": 0.01, "max_samples": 0.5}),
    (BaggingClassifier, {"oob_score": True, "max_features": 0.5}),
    (BaggingRegressor, {"oob_score": True}),
]


@pytest.mark.filterwarnings("ignore:.*were seen by all")
@pytest.mark.parametrize(("cls", "options"), FORESTS)
@pytest.mark.parametrize("weighted", [False, True])
def test_members_are_those_of_one_fit(cls, options, weighted, seed):
    X, y, weight = data(seed)
    y = y if "Classifier" in cls.__name__ else X[:, 0] ** 2
    weight = weight if weighted else None
    whole = cls(n_estimators=20, random_state=seed, **options).fit(X, y, weight)
    model = cls(n_estimators=3, random_state=seed, warm_start=True, **options)
    for size in (3, 4, 20):
        model.set_params(n_estimators=size).fit(X, y, weight)
    method = "predict_proba" if hasattr(whole, "predict_proba") else "predict"
    assert getattr(model, method)(X).tobytes() == getattr(whole, method)(X).tobytes()
    for name in ("oob_score_", "oob_decision_function_", "oob_prediction_"):
        assert hasattr(model, name) == hasattr(whole, name)
        if hasattr(whole, name):
            np.testing.assert_array_equal(getattr(model, name), getattr(whole, name))
    for one, two in zip(model.estimators_samples_, whole.estimators_samples_, strict=True):
        assert np.array_equal(one, two)
    if hasattr(whole, "trees_"):
        for name, value in vars(whole.trees_).items():
            assert np.array_equal(getattr(model.trees_, name), value, equal_nan=True), name
    assert model.fingerprint_.n_rows == 150


def test_a_generator_gives_one_seed(seed):
    X, y, _ = data(seed)
    model = RandomForestClassifier(4, warm_start=True, random_state=np.random.RandomState(seed))
    model.fit(X, y).set_params(n_estimators=9).fit(X, y)
    whole = RandomForestClassifier(9, random_state=np.random.RandomState(seed)).fit(X, y)
    assert model.predict_proba(X).tobytes() == whole.predict_proba(X).tobytes()
    none = RandomForestClassifier(4, warm_start=True).fit(X, y)
    before, seed_before = none.trees_[3], none.seed_
    none.set_params(n_estimators=6).fit(X, y)
    assert np.array_equal(none.trees_[3].threshold, before.threshold)
    assert none.seed_ == seed_before
    assert len(none.trees_) == 6


def test_members_are_not_fitted_again(seed):
    X, _y, _ = data(seed)
    X = np.nan_to_num(X)
    model = BaggingRegressor(Ridge(), 3, warm_start=True, random_state=0).fit(X, X[:, 0])
    before = list(model.estimators_)
    model.set_params(n_estimators=5).fit(X, X[:, 0])
    assert all(a is b for a, b in zip(before, model.estimators_))
    assert len(model.estimators_) == 5
    with pytest.warns(UserWarning, match="5 members already and fits no more"):
        model.fit(X, X[:, 0])
    model.set_params(warm_start=False).fit(X, X[:, 0])
    assert all(a is not b for a, b in zip(before, model.estimators_))
    near = BaggingRegressor(KNeighborsRegressor(2), 2, warm_start=True, random_state=0)
    near.fit(X, X[:, 0]).set_params(n_estimators=4).fit(X, X[:, 0])
    whole = BaggingRegressor(KNeighborsRegressor(2), 4, random_state=0).fit(X, X[:, 0])
    assert near.predict(X).tobytes() == whole.predict(X).tobytes()


def test_out_of_bag_may_be_asked_for_later(seed):
    X, y, _ = data(seed)
    model = RandomForestClassifier(30, warm_start=True, random_state=0).fit(X, y)
    assert not hasattr(model, "oob_score_")
    with pytest.warns(UserWarning, match="fits no more"):
        model.set_params(oob_score=True).fit(X, y)
    whole = RandomForestClassifier(30, oob_score=True, random_state=0).fit(X, y)
    assert model.oob_score_ == whole.oob_score_
    assert not hasattr(whole.set_params(oob_score=False).fit(X, y), "oob_score_")


def test_a_loaded_forest_goes_on(tmp_path, seed):
    X, y, _ = data(seed)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(e=pd.Categorical(y))
    model = RandomForestClassifier(3, warm_start=True, random_state=1).fit(frame, y)
    corollary.save(model, tmp_path / "model")
    again = corollary.load(tmp_path / "model").set_params(n_estimators=8).fit(frame, y)
    whole = RandomForestClassifier(8, random_state=1).fit(frame, y)
    assert again.predict_proba(frame).tobytes() == whole.predict_proba(frame).tobytes()
    with pytest.raises(ValueError, match=r"which were fitted with max_depth=None. Got max_depth=2"):
        corollary.load(tmp_path / "model").set_params(n_estimators=8, max_depth=2).fit(frame, y)


def test_what_cannot_change_is_refused_and_the_model_stays(seed):
    X, y, weight = data(seed)
    model = RandomForestClassifier(5, warm_start=True, random_state=0).fit(X, y)
    expected = model.predict_proba(X).tobytes()
    model.set_params(n_estimators=8)
    three = np.where(X[:, 2] > 0, "perhaps", y)
    for rows, labels, weights, message in (
        (X[:, :3], y, None, r"needs 4 columns. Got 3"),
        (X, three, None, r"needs the classes \['no' 'yes'\]. Got"),
        (X[:-1], y[:-1], None, r"needs 150 rows. Got 149"),
        (pd.DataFrame(X[:-1], columns=list("abcd")), y[:-1], None, r"needs 150 rows. Got 149"),
        (X[:, ::-1], y, None, r"needs the rows of the last fit. Got others. Fit a model of"),
        (X, y, weight, r"needs the weights of the last fit"),
    ):
        with pytest.raises(ValueError, match=message):
            model.fit(rows, labels, weights)
        assert not hasattr(model, "feature_names_in_")
        assert model.predict_proba(X).tobytes() == expected
    with pytest.raises(ValueError, match=r"the 5 that there are. Got n_estimators=2. Raise it"):
        model.set_params(n_estimators=2).fit(X, y)
    model.set_params(n_estimators=8)
    with pytest.raises(ValueError, match=r"fitted with random_state=0. Got random_state=1"):
        model.set_params(random_state=1).fit(X, y)
    bag = BaggingClassifier(PeerLogistic(C=1.0), 2, warm_start=True).fit(np.nan_to_num(X), y)
    with pytest.raises(ValueError, match=r"with estimator__C=1.0. Got estimator__C=2.0. Set it"):
        bag.set_params(n_estimators=3, estimator__C=2.0).fit(np.nan_to_num(X), y)
