"""Stacking on out-of-fold predictions."""

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import StackingClassifier as PeerClassifier
from sklearn.ensemble import StackingRegressor as PeerRegressor
from sklearn.linear_model import LinearRegression as PeerLinear
from sklearn.linear_model import LogisticRegression as PeerLogistic
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    RepeatedKFold,
    TimeSeriesSplit,
    cross_val_predict,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import corollary
from corollary.ensemble import (
    StackingClassifier,
    StackingRegressor,
    StumpClassifier,
    StumpRegressor,
)
from corollary.linear import LogisticRegression, Ridge
from corollary.optimize import simplex_least_squares, simplex_log_loss

REGRESSORS = [
    ("tree", DecisionTreeRegressor(max_depth=3, random_state=0)),
    ("line", Ridge()),
    ("near", KNeighborsRegressor()),
]
CLASSIFIERS = [
    ("tree", DecisionTreeClassifier(max_depth=2, random_state=0)),
    ("bayes", GaussianNB()),
    ("stump", StumpClassifier()),
]


def test_weights_come_from_out_of_fold_predictions():
    X, y = load_diabetes(return_X_y=True)
    model = StackingRegressor(REGRESSORS).fit(X, y)
    columns = np.column_stack([cross_val_predict(m, X, y, cv=5) for _, m in REGRESSORS])
    np.testing.assert_allclose(model.weights_, simplex_least_squares(columns, y))
    combined = np.mean((y - columns @ model.weights_) ** 2)
    assert combined <= min(np.mean((y - c) ** 2) for c in columns.T)
    fits = np.column_stack([m.fit(X, y).predict(X) for _, m in REGRESSORS])
    np.testing.assert_allclose(model.predict(X), fits @ model.weights_)


def test_probabilities_of_several_classes():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = StackingClassifier(CLASSIFIERS, cv=KFold(5, shuffle=True, random_state=0))
    model.fit(X, names)
    cv = KFold(5, shuffle=True, random_state=0)
    tables = [cross_val_predict(m, X, names, cv=cv, method="predict_proba") for _, m in CLASSIFIERS]
    likelihoods = np.column_stack([t[np.arange(150), y] for t in tables])
    np.testing.assert_allclose(model.weights_, simplex_log_loss(likelihoods), atol=1e-6)
    mixture = np.tensordot(model.weights_, [m.predict_proba(X) for m in model.estimators_], 1)
    np.testing.assert_allclose(model.predict_proba(X), mixture)
    assert set(model.predict(X)) == set(names)
    assert model.score(X, names) > 0.93


def test_a_final_regressor_against_a_peer():
    X, y = load_diabetes(return_X_y=True)
    for passthrough in (False, True):
        ours = StackingRegressor(REGRESSORS, PeerLinear(), passthrough=passthrough).fit(X, y)
        peer = PeerRegressor(REGRESSORS, PeerLinear(), passthrough=passthrough).fit(X, y)
        np.testing.assert_allclose(ours.predict(X), peer.predict(X), rtol=1e-6)
        assert ours.weights_ is None


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("method", ["auto", "predict_proba", "predict"])
def test_a_final_classifier_against_a_peer(classes, method):
    X, y = load_iris(return_X_y=True)
    X, y = X[y < classes][:, :2], y[y < classes]
    members, final = CLASSIFIERS[:2], PeerLogistic()
    ours = StackingClassifier(members, final, stack_method=method).fit(X, y)
    peer = PeerClassifier(members, final, stack_method=method).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), peer.predict_proba(X), rtol=1e-5, atol=1e-8)
    assert np.array_equal(ours.predict(X), peer.predict(X))


def test_scores_of_members_without_probabilities():
    X, y = load_iris(return_X_y=True)
    members = [("svm", LinearSVC()), ("bayes", GaussianNB())]
    model = StackingClassifier(members, PeerLogistic()).fit(X, y)
    assert model.stack_methods_ == ["decision_function", "predict_proba"]
    assert model.score(X, y) > 0.9
    # Without a last step, logistic regression is one where convex weights cannot be.
    plain = StackingClassifier(members).fit(X, y)
    assert plain.weights_ is None
    assert plain.score(X, y) > 0.9


class Memory(RegressorMixin, BaseEstimator):
    """Knows every row it was fitted to by heart, and nothing else."""

    def fit(self, X, y):
        self.known_ = {tuple(row): value for row, value in zip(np.asarray(X), y)}
        self.n_features_in_ = np.shape(X)[1]
        return self

    def predict(self, X):
        return np.array([self.known_.get(tuple(row), 0.0) for row in np.asarray(X)])


def test_nothing_leaks(seed):
    # By heart is perfect on rows that leak and useless on others.
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 2))
    y = 5 + rng.normal(size=60)
    model = StackingRegressor([("memory", Memory()), ("line", Ridge())]).fit(X, y)
    assert model.weights_[0] < 0.1  # with one leak it would be 1
    zeros = cross_val_predict(Memory(), X, y, cv=5)
    columns = np.column_stack([zeros, cross_val_predict(Ridge(), X, y, cv=5)])
    assert not zeros.any()
    np.testing.assert_allclose(model.weights_, simplex_least_squares(columns, y))
    assert np.array_equal(model.estimators_[0].predict(X), y)


class Peeking(StandardScaler):
    """A scaler that notes how many rows it was fitted to."""

    sizes: list = []

    def fit(self, X, y=None, sample_weight=None):
        Peeking.sizes.append(len(X))
        return super().fit(X, y, sample_weight)


def test_pipelines_are_fitted_anew_in_every_fold():
    X, y = load_diabetes(return_X_y=True)
    Peeking.sizes = []
    members = [("pipe", make_pipeline(Peeking(), PeerLinear())), ("line", Ridge())]
    StackingRegressor(members, cv=4).fit(X[:80], y[:80])
    assert Peeking.sizes == [60, 60, 60, 60, 80]


def test_folds_that_share_rows_are_refused():
    X, y = load_diabetes(return_X_y=True)
    folds = [(np.arange(0, 60), np.arange(50, 100))]
    with pytest.raises(ValueError, match="10 rows are both fitted and predicted"):
        StackingRegressor(REGRESSORS, cv=folds).fit(X, y)


def test_series_repeated_folds_and_groups():
    X, y = load_diabetes(return_X_y=True)
    X, y = X[:120], y[:120]
    cv = TimeSeriesSplit(4)
    model = StackingRegressor(REGRESSORS, cv=cv).fit(X, y)
    rows = np.concatenate([test for _, test in cv.split(X)])
    columns = np.column_stack(
        [
            np.concatenate([m.fit(X[a], y[a]).predict(X[b]) for a, b in cv.split(X)])
            for _, m in REGRESSORS
        ]
    )
    np.testing.assert_allclose(model.weights_, simplex_least_squares(columns, y[rows]))
    cv = RepeatedKFold(n_splits=3, n_repeats=2, random_state=0)
    assert StackingRegressor(REGRESSORS, cv=cv).fit(X, y).weights_.sum() == pytest.approx(1)
    groups = np.repeat(np.arange(30), 4)
    by_group = StackingRegressor(REGRESSORS, cv=GroupKFold(5)).fit(X, y, groups=groups)
    assert by_group.weights_.sum() == pytest.approx(1)


def test_weight_is_repetition_with_folds_by_group(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(40, 2)), rng.normal(size=40)
    w = rng.integers(1, 4, size=40)
    fold = np.arange(40) % 4
    members = [("stump", StumpRegressor()), ("line", Ridge())]

    def folds(f):
        return [(np.flatnonzero(f != k), np.flatnonzero(f == k)) for k in range(4)]

    a = StackingRegressor(members, cv=folds(fold)).fit(X, y, sample_weight=w)
    b = StackingRegressor(members, cv=folds(np.repeat(fold, w))).fit(
        np.repeat(X, w, axis=0), np.repeat(y, w)
    )
    np.testing.assert_allclose(a.weights_, b.weights_, atol=1e-7)


def test_a_rare_class_that_a_fold_does_not_see():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y = np.where(X[:, 0] > 0, "a", "b").astype(object)
    y[:1] = "rare"
    folds = [(np.arange(20, 40), np.arange(20)), (np.arange(20), np.arange(20, 40))]
    model = StackingClassifier(CLASSIFIERS, cv=folds).fit(X, y)
    assert model.classes_.tolist() == ["a", "b", "rare"]
    assert np.isfinite(model.weights_).all()
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_tables_with_text(library):
    rng = np.random.default_rng(0)
    columns = {"colour": rng.choice(["red", "blue"], size=60).tolist(), "size": rng.normal(size=60)}
    frames = pytest.importorskip(library)
    table = frames.DataFrame(columns)
    y = np.where(np.array(columns["colour"]) == "red", 3.0, 0.0) + columns["size"]
    pipe = make_pipeline(
        make_column_transformer((OneHotEncoder(), ["colour"]), remainder="passthrough"), Ridge()
    )
    number = make_pipeline(make_column_transformer(("passthrough", ["size"])), Ridge())
    model = StackingRegressor([("all", pipe), ("size", number)]).fit(table, y)
    assert model.weights_[0] > 0.9
    assert model.feature_names_in_.tolist() == ["colour", "size"]
    assert np.mean((model.predict(table) - y) ** 2) < 0.1


def test_the_same_with_two_threads():
    X, y = load_diabetes(return_X_y=True)
    one = StackingRegressor(REGRESSORS).fit(X, y)
    with parallel_config("threading"):
        two = StackingRegressor(REGRESSORS, n_jobs=2).fit(X, y)
    assert np.array_equal(one.predict(X), two.predict(X))


def test_saved_and_loaded(tmp_path):
    X, y = load_iris(return_X_y=True)
    X = pd.DataFrame(X, columns=list("abcd"))
    members = [
        ("pipe", make_pipeline(StandardScaler(), LogisticRegression())),
        ("stump", StumpClassifier()),
        ("gone", "drop"),
    ]
    for final in (None, LogisticRegression()):
        model = StackingClassifier(members, final, passthrough=final is not None).fit(X, y)
        corollary.save(model, tmp_path / "stack.corollary")
        again = corollary.load(tmp_path / "stack.corollary")
        assert np.array_equal(model.predict_proba(X), again.predict_proba(X))


class Odd(ClassifierMixin, BaseEstimator):
    """Says what it was never told."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), "nothing of the kind")


def test_errors():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="predicts the label 'nothing of the kind'"):
        StackingClassifier([("odd", Odd())], PeerLogistic()).fit(X, y)
    with pytest.raises(ValueError, match=r"members with decision_function\. 'odd'"):
        StackingClassifier([("odd", Odd())], PeerLogistic(), stack_method="decision_function").fit(
            X, y
        )
    mixed = np.array(["a", None] * 75, dtype=object)
    with pytest.raises(ValueError, match="labels of one kind, none of them missing"):
        StackingClassifier(CLASSIFIERS).fit(X, mixed)
    with pytest.raises(ValueError, match="Names provided are not unique"):
        StackingClassifier([CLASSIFIERS[0], CLASSIFIERS[0]]).fit(X, y)
    with pytest.raises(ValueError, match="KNeighborsRegressor doesn't support it"):
        StackingRegressor(REGRESSORS).fit(X, y, sample_weight=np.ones(len(y)))


def test_features_that_pass_through_are_those_of_the_predicted_rows(seed):
    # Folds that are drawn hold rows out in another order than that of the table.
    X = np.random.default_rng(seed).normal(size=(60, 2))
    y = 3 * X[:, 0] - X[:, 1]
    folds = KFold(3, shuffle=True, random_state=0)
    members = [("stump", StumpRegressor())]
    model = StackingRegressor(members, PeerLinear(), cv=folds, passthrough=True).fit(X, y)
    np.testing.assert_allclose(model.final_estimator_.coef_, [0, 3, -1], atol=1e-10)


@pytest.mark.parametrize("passthrough", [False, True])
@pytest.mark.parametrize("method", ["predict_proba", "decision_function", "predict"])
@pytest.mark.parametrize("classes", [2, 3])
def test_what_members_say_is_the_peers(passthrough, method, classes):
    X, y = load_iris(return_X_y=True, as_frame=True)
    X, y = X[y < classes], y[y < classes]
    members = [("one", PeerLogistic(C=0.1, max_iter=1000)), ("two", PeerLogistic(max_iter=1000))]
    options = {"passthrough": passthrough, "stack_method": method, "cv": 3}
    final = PeerLogistic(max_iter=10_000)
    ours = StackingClassifier(members, final, **options).fit(X, y)
    peer = PeerClassifier(members, final, **options).fit(X, y)
    np.testing.assert_allclose(ours.transform(X), peer.transform(X))
    assert ours.get_feature_names_out().tolist() == peer.get_feature_names_out().tolist()
    frame = ours.set_output(transform="pandas").transform(X)
    assert frame.columns.tolist() == peer.get_feature_names_out().tolist()
    np.testing.assert_allclose(final.fit(frame.to_numpy(), y).classes_, ours.classes_)


def test_members_of_regression_as_features(tmp_path):
    X, y = load_diabetes(return_X_y=True)
    ours, peer = StackingRegressor(REGRESSORS).fit(X, y), PeerRegressor(REGRESSORS).fit(X, y)
    np.testing.assert_allclose(ours.transform(X), peer.transform(X))
    assert ours.get_feature_names_out().tolist() == peer.get_feature_names_out().tolist()
    np.testing.assert_allclose(ours.transform(X) @ ours.weights_, ours.predict(X))
    assert ours.fit_transform(X, y).shape == (442, 3)
    model = StackingRegressor([("a", Ridge()), ("b", StumpRegressor())], cv=3).fit(X, y)
    corollary.save(model, tmp_path / "model")
    assert np.array_equal(corollary.load(tmp_path / "model").transform(X), model.transform(X))
    with pytest.raises(ValueError, match="input_features"):
        StackingRegressor(REGRESSORS, Ridge(), passthrough=True).fit(X, y).get_feature_names_out(
            ["a"]
        )


def test_scores_of_a_stack_are_those_of_its_last_step_or_log_odds():
    X, y = load_iris(return_X_y=True)
    two = y > 0
    members = [("tree", DecisionTreeClassifier(max_depth=1)), ("line", LogisticRegression())]
    convex = StackingClassifier(members, cv=3).fit(X[two], y[two])
    chance = np.clip(convex.predict_proba(X[two]), 1e-300, 1.0)
    np.testing.assert_allclose(
        convex.decision_function(X[two]), np.log(chance[:, 1] / chance[:, 0])
    )
    final = StackingClassifier(members, LogisticRegression(), cv=3).fit(X, y)
    expected = final.final_estimator_.decision_function(final.transform(X))
    np.testing.assert_array_equal(final.decision_function(X), expected)
    assert final.stack_method_ == ["predict_proba", "predict_proba"]
    labels = StackingClassifier(members, cv=3, stack_method="predict").fit(X, y)
    assert labels.score(X, y) > 0.9
    assert labels.weights_ is None
