"""Estimators of forward stagewise additive modelling."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.linear_model import LinearRegression as PeerLinear
from sklearn.linear_model import LogisticRegression as PeerLogistic
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from corollary.ensemble import (
    AdaBoostClassifier,
    StagewiseClassifier,
    StagewiseRegressor,
    StumpRegressor,
)
from corollary.linear import LinearRegression
from corollary.risk import PinballLoss

CLASSIFIERS = [None, DecisionTreeClassifier(max_depth=2, random_state=0), GaussianNB()]
REGRESSORS = [None, DecisionTreeRegressor(max_depth=2, random_state=0), LinearRegression()]


def labelled(seed, n=80):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.where(X[:, 0] + X[:, 1] ** 2 + 0.5 * rng.normal(size=n) > 0.7, "yes", "no")


def test_exponential_loss_is_adaboost():
    X, y = load_breast_cancer(return_X_y=True)
    sums = StagewiseClassifier(loss="exponential", n_estimators=25).fit(X, y)
    boost = AdaBoostClassifier(n_estimators=25).fit(X, y)
    np.testing.assert_allclose(sums.lengths_, boost.alphas_, rtol=1e-9)
    np.testing.assert_allclose(sums.losses_[0][1:], boost.exponential_losses_, rtol=1e-9)
    for a, b in zip(sums.estimators_, boost.estimators_, strict=True):
        assert (a.feature_, a.threshold_) == (b.feature_, b.threshold_)
    np.testing.assert_allclose(sums.predict_proba(X), boost.predict_proba(X), atol=1e-9)
    scores = boost.decision_function(X) * boost.alphas_.sum()
    np.testing.assert_allclose(sums.decision_function(X), scores, atol=1e-9)


@pytest.mark.parametrize("loss", ["logistic", "hinge", "squared_hinge", "ramp", "square_margin"])
@pytest.mark.parametrize("base", CLASSIFIERS + REGRESSORS[1:], ids=lambda b: type(b).__name__)
@pytest.mark.parametrize("rate", [1.0, 0.3])
def test_losses_never_rise_for_labels(seed, loss, base, rate):
    X, y = labelled(seed)
    model = StagewiseClassifier(base, loss=loss, n_estimators=8, learning_rate=rate).fit(X, y)
    losses = model.losses_[0]
    assert len(losses) >= 2
    assert np.all(np.diff(losses) <= 0)
    if loss == "logistic":
        s = np.where(y == "yes", 1, -1) * model.decision_function(X)
        assert losses[-1] == pytest.approx(np.logaddexp(0, -s).mean())


@pytest.mark.parametrize("loss", ["square", "absolute", PinballLoss(0.8), "epsilon_insensitive"])
@pytest.mark.parametrize("base", REGRESSORS, ids=lambda b: type(b).__name__)
def test_losses_never_rise(seed, loss, base):
    X, _ = labelled(seed)
    y = np.sin(2 * X[:, 0]) + X[:, 1]
    w = np.random.default_rng(seed).uniform(0.5, 2, size=len(y))
    model = StagewiseRegressor(base, loss=loss, n_estimators=10).fit(X, y, sample_weight=w)
    assert np.all(np.diff(model.losses_[0]) <= 0)
    if loss == "square":
        error = np.average((y - model.predict(X)) ** 2, weights=w)
        assert model.losses_[0][-1] == pytest.approx(error)


def test_square_loss_fits_residuals(seed):
    X, _ = labelled(seed)
    y = X[:, 0] ** 2 + X[:, 1]
    model = StagewiseRegressor(n_estimators=5).fit(X, y)
    f = np.full(len(y), y.mean())
    for length, member in zip(model.lengths_, model.estimators_):
        stump = StumpRegressor().fit(X, y - f)
        # The slope of (y - f)^2 is twice the residual: half the length undoes it.
        np.testing.assert_allclose(length * member.predict(X), stump.predict(X), atol=1e-9)
        f = f + stump.predict(X)
    np.testing.assert_allclose(model.predict(X), f)
    assert model.start_ == pytest.approx(y.mean())


def test_quantiles_start_from_the_quantile(seed):
    y = np.random.default_rng(seed).normal(size=101)
    model = StagewiseRegressor(loss=PinballLoss(0.9), n_estimators=1).fit(np.zeros((101, 1)), y)
    assert model.predict([[0.0]])[0] == pytest.approx(np.quantile(y, 0.9))


def test_boosted_linear_functions_are_one_linear_function():
    X, y = load_diabetes(return_X_y=True)
    single = PeerLinear().fit(X, y)
    model = StagewiseRegressor(LinearRegression(), n_estimators=20).fit(X, y)
    assert len(model.estimators_) == 1  # nothing is left after the first
    np.testing.assert_allclose(model.predict(X), single.predict(X), rtol=1e-8)


def test_boosted_linear_scores_are_one_logistic_regression(seed):
    X, y = labelled(seed, 300)
    single = PeerLogistic(C=1e9, tol=1e-10).fit(X, y)
    model = StagewiseClassifier(LinearRegression(), loss="logistic", n_estimators=300).fit(X, y)
    coef = sum(a * m.coef_ for a, m in zip(model.lengths_, model.estimators_))
    np.testing.assert_allclose(coef, single.coef_[0], rtol=1e-3, atol=1e-4)
    s = np.where(y == "yes", 1, -1) * single.decision_function(X)
    assert model.losses_[0][-1] >= np.logaddexp(0, -s).mean() - 1e-9


def test_several_classes():
    X, y = load_iris(return_X_y=True)
    model = StagewiseClassifier(n_estimators=20, learning_rate=0.5).fit(X, y)
    assert model.score(X, y) > 0.95
    assert len(model.losses_) == 3
    assert set(model.outputs_) == {0, 1, 2}
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    one = StagewiseClassifier(n_estimators=20, learning_rate=0.5).fit(X, y == 1)
    np.testing.assert_allclose(model.decision_function(X)[:, 1], one.decision_function(X))


def test_probabilities_exist_where_the_loss_has_them(seed):
    X, y = labelled(seed)
    for loss, has in [("logistic", True), ("exponential", True), ("hinge", False)]:
        model = StagewiseClassifier(loss=loss, n_estimators=3).fit(X, y)
        assert hasattr(model, "predict_proba") == has


def test_weight_is_repetition(seed):
    X, y = labelled(seed, 30)
    w = np.random.default_rng(seed).integers(0, 4, size=30)
    w[:2] = 1
    kwargs = {"loss": "logistic", "n_estimators": 6}
    a = StagewiseClassifier(**kwargs).fit(X, y, sample_weight=w)
    b = StagewiseClassifier(**kwargs).fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    np.testing.assert_allclose(a.decision_function(X), b.decision_function(X), atol=1e-8)


def test_the_perceptron_loss_adds_nothing(seed):
    X, y = labelled(seed)
    model = StagewiseClassifier(loss="perceptron").fit(X, y)
    assert model.estimators_ == []
    assert set(model.predict(X)) == {"no"}


def test_errors(seed):
    X, y = labelled(seed)
    with pytest.raises(ValueError, match="KNeighborsClassifier doesn't support it"):
        StagewiseClassifier(KNeighborsClassifier()).fit(X, y)
    with pytest.raises(ValueError, match="KNeighborsRegressor doesn't support it"):
        StagewiseRegressor(KNeighborsRegressor()).fit(X, X[:, 0], sample_weight=np.ones(len(X)))
    with pytest.raises(ValueError, match="a loss of labels; use StagewiseClassifier"):
        StagewiseRegressor(loss="hinge").fit(X, X[:, 0])
    with pytest.raises(ValueError, match="needs a regressor as estimator"):
        StagewiseRegressor(GaussianNB()).fit(X, X[:, 0])
    with pytest.raises(ValueError, match="Got one class"):
        StagewiseClassifier().fit(X, ["a"] * len(X))
    with pytest.raises(ValueError, match="needs a loss of one real score"):
        StagewiseClassifier(loss="zero_one").fit(X, y)
    with pytest.raises(ValueError, match="must be one of"):
        StagewiseClassifier(loss="nonsense").fit(X, y)
    with pytest.raises(ValueError, match=r"loss of the targets is not a finite number\. Divide y"):
        StagewiseRegressor().fit(X, 1e200 * X[:, 0])
