"""AdaBoost for numbers: its losses, its weights by hand, its medians, and scikit-learn's."""

import numpy as np
import pytest
from sklearn import ensemble as peer
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.datasets import load_diabetes
from sklearn.model_selection import cross_val_score

import corollary
from corollary.ensemble import AdaBoostRegressor, relative_losses
from corollary.linear import Ridge

X, y = load_diabetes(return_X_y=True)


class Constant(RegressorMixin, BaseEstimator):
    """Says zero, whatever it was fitted to."""

    def fit(self, X, y):
        self.n_features_in_ = np.shape(X)[1]
        return self

    def predict(self, X):
        return np.zeros(len(X))


def test_losses_are_shares_of_the_largest_error():
    y, zero = np.array([1.0, -2.0, 4.0]), np.zeros(3)
    np.testing.assert_allclose(relative_losses(y, zero), [0.25, 0.5, 1.0])
    np.testing.assert_allclose(relative_losses(y, zero, "square"), [0.0625, 0.25, 1.0])
    bent = 1 - np.exp([-0.25, -0.5, -1.0])
    np.testing.assert_allclose(relative_losses(y, zero, "exponential"), bent)
    # A row without weight is not the largest.
    weight = np.array([1.0, 1.0, 0.0])
    np.testing.assert_allclose(relative_losses(y, zero, "linear", weight), [0.5, 1.0, 1.0])
    np.testing.assert_array_equal(relative_losses(zero, zero), 0.0)


def test_the_first_two_rounds_by_hand():
    target = np.array([1.0, 1.0, 1.0, 4.0])
    model = AdaBoostRegressor(Constant(), n_estimators=2, learning_rate=0.5, random_state=0)
    model.fit(np.zeros((4, 1)), target)
    # Losses 1/4, 1/4, 1/4, 1: their mean is 7/16, and beta 7/9.
    assert model.estimator_errors_[0] == pytest.approx(7 / 16)
    assert model.estimator_weights_[0] == pytest.approx(0.5 * np.log(9 / 7))
    weight = np.array([(7 / 9) ** (0.5 * 0.75)] * 3 + [1.0])
    error = (weight / weight.sum()) @ [0.25, 0.25, 0.25, 1.0]
    assert model.estimator_errors_[1] == pytest.approx(error)


def test_predictions_are_weighted_medians():
    model = AdaBoostRegressor(n_estimators=7, random_state=0).fit(X, y)
    answers = np.column_stack([member.predict(X) for member in model.estimators_])
    for row, said in zip(answers[:50], model.predict(X)[:50]):
        below = model.estimator_weights_[row <= said].sum()
        above = model.estimator_weights_[row >= said].sum()
        assert min(below, above) >= 0.5 * model.estimator_weights_.sum() * (1 - 1e-12)
    np.testing.assert_array_equal(list(model.staged_predict(X))[-1], model.predict(X))
    assert list(model.staged_score(X, y))[-1] == pytest.approx(model.score(X, y))


@pytest.mark.parametrize("loss", ["linear", "square", "exponential"])
def test_quality_is_the_peers(loss):
    settings = {"loss": loss, "random_state": 0, "n_estimators": 30}
    ours = cross_val_score(AdaBoostRegressor(**settings), X, y).mean()
    theirs = cross_val_score(peer.AdaBoostRegressor(**settings), X, y).mean()
    assert ours > theirs - 0.03


def test_perfect_and_useless_members_end_it(tmp_path):
    perfect = AdaBoostRegressor(Constant(), random_state=0).fit(X, np.zeros(len(X)))
    assert perfect.estimator_errors_.tolist() == [0.0]
    line = AdaBoostRegressor(Ridge(), n_estimators=5, random_state=0).fit(X, y)
    useless = AdaBoostRegressor(Constant(), random_state=0).fit(X, np.ones(len(X)))
    assert len(useless.estimators_) == 1
    corollary.save(line, tmp_path / "model.corollary")
    loaded = corollary.load(tmp_path / "model.corollary")
    np.testing.assert_array_equal(loaded.predict(X), line.predict(X))
    assert AdaBoostRegressor(random_state=0).fit(X, y).feature_importances_.argmax() in (2, 8)
