"""What scripts ask of scikit-learn's ensembles besides fitting and predicting."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.datasets import load_diabetes, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import BayesianRidge

import corollary
from corollary.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
)
from corollary.linear import LogisticRegression, Ridge
from corollary.tree import DecisionTreeClassifier, DecisionTreeRegressor

X, y = load_iris(return_X_y=True)


@pytest.mark.parametrize(
    "model",
    [
        AdaBoostClassifier(n_estimators=3),
        AdaBoostRegressor(n_estimators=3, random_state=0),
        BaggingRegressor(n_estimators=3, random_state=0),
        RandomForestRegressor(3, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_members_are_counted_picked_and_gone_through(model):
    model.fit(X, y)
    assert len(model) == len(model.estimators_) == len(list(model)) == 3
    np.testing.assert_array_equal(model[-1].predict(X), model.estimators_[-1].predict(X))


def test_a_bag_averages_the_scores_of_its_members():
    bag = BaggingClassifier(LogisticRegression(), 3, max_features=2, random_state=0).fit(X, y)
    columns = zip(bag, bag.estimators_features_)
    scores = np.mean([member.decision_function(X[:, c]) for member, c in columns], axis=0)
    np.testing.assert_allclose(bag.decision_function(X), scores, rtol=1e-12)
    assert not hasattr(BaggingClassifier(DecisionTreeClassifier()), "decision_function")
    pick = np.flatnonzero(y == 0)
    bag.estimators_[1] = LogisticRegression().fit(X[:, :2], y > 0)
    with pytest.raises(ValueError, match=r"2 of 3 classes.*Raise max_samples, or use predict_prob"):
        bag.decision_function(X[pick])


class Nameless(BaseEstimator):
    """Predicts the mean, and says of itself neither that it classifies nor that it regresses."""

    def fit(self, X, y):
        self.kind_, self.mean_ = getattr(X, "format", "dense"), np.mean(y)
        return self

    def predict(self, X):
        return np.full(X.shape[0], self.mean_)


def test_a_bag_takes_what_does_not_say_its_kind_and_columns_as_they_are():
    bag = BaggingRegressor(Nameless(), 2, random_state=0).fit(sparse.csc_matrix(X), y)
    assert bag.predict(X[:1])[0] == pytest.approx(np.mean([member.mean_ for member in bag]))
    assert [member.kind_ for member in bag] == ["csc", "csc"]
    with pytest.raises(ValueError, match="needs a regressor as estimator"):
        BaggingRegressor(DecisionTreeClassifier()).fit(X, y)


def test_trees_of_a_forest_have_its_parameters_and_their_labels_are_right_together():
    forest = RandomForestClassifier(8, min_impurity_decrease=0.01, oob_score=True, random_state=0)
    with pytest.warns(UserWarning, match="have no out-of-bag"):
        forest.fit(X, np.column_stack([y, y > 0]))
    assert forest[0].min_impurity_decrease == 0.01
    shares = forest.oob_decision_function_
    labels = np.column_stack([shares[:, :, 0].argmax(axis=1), shares[:, :2, 1].argmax(axis=1)])
    seen = np.isfinite(shares[:, 0, 0])
    right = (labels == np.column_stack([y, y > 0])).all(axis=1)[seen]
    assert forest.oob_score_ == right.mean()
    with pytest.raises(ValueError, match="Set bootstrap=True or max_samples=None"):
        RandomForestClassifier(2, bootstrap=False, max_samples=0.5).fit(X, y)
    with pytest.raises(ValueError, match=r"needs a dense y.*y\.toarray\(\)"):
        RandomForestClassifier(2).fit(X, sparse.csr_matrix(np.eye(len(X))))


def test_members_that_were_fitted_before_are_combined(tmp_path):
    rows, target = load_diabetes(return_X_y=True)
    first, later = slice(0, 200), slice(200, None)
    members = [("ridge", Ridge().fit(rows[first], target[first]))]
    members += [("tree", DecisionTreeRegressor(max_depth=3).fit(rows[first], target[first]))]
    stack = StackingRegressor(members, Ridge(), cv="prefit").fit(rows[later], target[later])
    assert stack.estimators_ == [member for _, member in members]
    said = np.column_stack([member.predict(rows[later]) for _, member in members])
    by_hand = Ridge().fit(said, target[later])
    np.testing.assert_allclose(stack.final_estimator_.coef_, by_hand.coef_)
    corollary.save(stack, tmp_path / "stack.corollary")
    again = corollary.load(tmp_path / "stack.corollary")
    np.testing.assert_array_equal(again.predict(rows), stack.predict(rows))
    with pytest.raises(NotFittedError):
        StackingRegressor([("ridge", Ridge())], cv="prefit").fit(rows, target)


def test_a_final_estimator_is_asked_for_more_than_a_prediction():
    members = [("ridge", Ridge()), ("tree", DecisionTreeRegressor(max_depth=2))]
    stack = StackingRegressor(members, BayesianRidge(), cv=2).fit(X, y)
    mean, deviation = stack.predict(X, return_std=True)
    np.testing.assert_array_equal(mean, stack.predict(X))
    assert deviation.min() > 0
    with pytest.raises(TypeError, match=r"takes rows only\. Got return_std"):
        StackingRegressor(members, cv=2).fit(X, y).predict(X, return_std=True)


def test_regressors_vote_for_classes_by_their_numbers(tmp_path):
    stack = StackingClassifier([("ridge", Ridge())], cv=2).fit(X, y)
    assert stack.score(X, y) > 0.8
    np.testing.assert_array_equal(stack.transform(X)[:, 0], stack.estimators_[0].predict(X))
    corollary.save(stack, tmp_path / "stack.corollary")
    again = corollary.load(tmp_path / "stack.corollary")
    np.testing.assert_array_equal(again.predict(X), stack.predict(X))
    with pytest.raises(ValueError, match="'ridge' is a Ridge"):
        VotingClassifier([("ridge", Ridge())]).fit(X, y)


def test_scores_of_a_model_with_members_are_exact_and_those_that_lack_are_named():
    model = AdaBoostClassifier(n_estimators=1).fit(X, y)
    assert set(np.unique(model.decision_function(X))) == {1.0, -0.5}
    hard = VotingClassifier([("line", LogisticRegression())])
    with pytest.raises(AttributeError, match="no attribute 'predict_proba'"):
        hard.predict_proba(X)


def test_rows_outside_that_come_later_count_from_then():
    model = GradientBoostingRegressor(n_estimators=3, warm_start=True, random_state=0).fit(X, y)
    model.set_params(n_estimators=5, subsample=0.5).fit(X, y)
    np.testing.assert_array_equal(model.oob_scores_[:3], np.zeros(3))
    np.testing.assert_array_equal(model.oob_improvement_[:3], np.zeros(3))
    falls = -np.diff(model.oob_scores_[3:])
    np.testing.assert_allclose(model.oob_improvement_[4:], falls)
    # Between two stages the loss can only fall by what it was.
    assert 0 < model.oob_scores_[3] + model.oob_improvement_[3] < y.var()
    with pytest.raises(ValueError, match="needs predict_proba"):
        GradientBoostingClassifier(init=Ridge()).fit(X, y)
