"""Empirical risk minimisation over linear and other parametric classes."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.optimize import minimize
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge

import corollary
from corollary.risk import (
    ERMClassifier,
    ERMRegressor,
    ExponentialLoss,
    FiniteWorld,
    HingeLoss,
    LogisticLoss,
    SquareLoss,
    minimise_linear,
    minimise_parametric,
)


def noisy(seed, n=120, classes=2):
    return make_classification(
        n, 5, n_informative=3, n_classes=classes, flip_y=0.3, random_state=seed
    )


# -- against peers and first-order conditions ------------------------------------------------


def test_square_loss_gives_least_squares_and_ridge(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(50, 4)), rng.normal(size=50)
    ours, peer = ERMRegressor(tol=1e-9).fit(X, y), LinearRegression().fit(X, y)
    np.testing.assert_allclose(ours.coef_, peer.coef_, atol=1e-7)
    assert np.isclose(ours.intercept_, peer.intercept_, atol=1e-7)
    ours, peer = ERMRegressor(alpha=0.1, tol=1e-9).fit(X, y), Ridge(alpha=5).fit(X, y)
    np.testing.assert_allclose(ours.coef_, peer.coef_, atol=1e-7)


def test_logistic_loss_gives_logistic_regression(seed):
    X, y = noisy(seed)
    ours = ERMClassifier(tol=1e-9).fit(X, y)
    peer = LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000).fit(X, y)
    np.testing.assert_allclose(ours.coef_, peer.coef_, rtol=1e-4)
    signs = 2 * y - 1
    margins = signs * ours.decision_function(X)
    gradient = -(X * (signs / (1 + np.exp(margins)))[:, None]).mean(axis=0)
    np.testing.assert_allclose(gradient, 0, atol=1e-7)


def test_cross_entropy_gives_multinomial_regression(seed):
    X, y = noisy(seed, classes=3)
    ours = ERMClassifier(loss="cross_entropy", alpha=0.01, tol=1e-9).fit(X, y)
    peer = LogisticRegression(C=1 / (2 * 0.01 * len(y)), tol=1e-10, max_iter=10_000).fit(X, y)
    np.testing.assert_allclose(ours.coef_, peer.coef_, atol=1e-5)
    np.testing.assert_array_equal(ours.predict(X), peer.predict(X))
    assert ours.decision_function(X).shape == (len(y), 3)


def test_two_class_cross_entropy_equals_logistic(seed):
    X, y = noisy(seed)
    one = ERMClassifier(tol=1e-10).fit(X, y)
    two = ERMClassifier(loss="cross_entropy", tol=1e-10).fit(X, y)
    np.testing.assert_allclose(two.coef_[1] - two.coef_[0], one.coef_[0], atol=1e-5)
    np.testing.assert_allclose(two.decision_function(X), one.decision_function(X), atol=1e-5)


@pytest.mark.parametrize("loss", ["squared_hinge", "exponential", "square_margin"])
def test_other_surrogates_reach_the_minimum(loss, seed):
    X, y = noisy(seed)
    model = ERMClassifier(loss=loss, alpha=0.05).fit(X, y)
    from corollary.risk import check_loss

    def objective(theta):
        scores = X @ theta[:-1] + theta[-1]
        return check_loss(loss)(2 * y - 1, scores).mean() + 0.05 * theta[:-1] @ theta[:-1]

    peer = minimize(objective, np.zeros(6), method="BFGS")
    assert model.risk_ <= peer.fun + 1e-7
    assert np.isclose(model.risk_, objective(np.append(model.coef_[0], model.intercept_)))


def test_nonlinear_class_by_pullback(seed):
    rng = np.random.default_rng(seed)
    x = np.linspace(0, 2, 60)
    y = 2 * np.exp(-1.5 * x) + 0.01 * rng.normal(size=60)

    def decay(theta):
        f = theta[0] * np.exp(-theta[1] * x)
        return f, lambda g: np.array([g @ (f / theta[0]), g @ (-x * f)])

    found = minimise_parametric(decay, [1.0, 1.0], y, "square", tol=1e-9)
    np.testing.assert_allclose(found.parameters, [2, 1.5], atol=0.1)
    peer = minimize(
        lambda t: np.mean((y - t[0] * np.exp(-t[1] * x)) ** 2),
        [1.0, 1.0],
        method="Nelder-Mead",
        options={"xatol": 1e-9, "fatol": 1e-14},
    )
    np.testing.assert_allclose(found.parameters, peer.x, atol=1e-5)
    assert found.converged


# -- identities of the logistic loss ---------------------------------------------------------


def test_expected_logistic_loss_is_divergence_plus_entropy(seed):
    # E KL(p(y|x) || p_w(y|x)) = E log p(y|x) + E loss, on a finite table, two and three classes
    rng = np.random.default_rng(seed)
    for k, loss in ((2, "logistic"), (3, "cross_entropy")):
        outcomes = [-1, 1] if k == 2 else [0, 1, 2]
        world = FiniteWorld(rng.dirichlet(np.ones(4 * k)).reshape(4, k), outcomes)
        scores = rng.normal(size=4) if k == 2 else rng.normal(size=(4, k))
        if k == 2:
            model = np.stack([1 / (1 + np.exp(scores)), 1 / (1 + np.exp(-scores))], axis=1)
        else:
            model = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
        divergence = (world.joint * np.log(world.posterior / model)).sum()
        entropy = -(world.joint * np.log(world.posterior)).sum()
        assert np.isclose(divergence, -entropy + world.risk(lambda X, s=scores: s, loss))
        assert np.isclose(world.bayes_risk(loss), entropy)


# -- users' cases ----------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["logistic", "exponential", "cross_entropy"])
def test_separable_rows_without_penalty_have_no_minimiser(loss):
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])
    with pytest.warns(ConvergenceWarning, match="linearly separable.*Set alpha above 0"):
        ERMClassifier(loss=loss).fit(X, y)
    ERMClassifier(loss=loss, alpha=0.01).fit(X, y)


def test_stopping_early_is_told(seed):
    X, y = noisy(seed)
    with pytest.warns(ConvergenceWarning, match="after 1 iterations.*Raise max_iter"):
        ERMClassifier(max_iter=1).fit(X, y)


def test_weights_repetition_permutation_sparse_and_frames(seed):
    X, y = noisy(seed)
    rng = np.random.default_rng(seed)
    weight = rng.integers(0, 4, len(y))
    model = ERMClassifier(alpha=0.01, tol=1e-9)
    weighted = model.fit(X, y, sample_weight=weight).coef_
    repeated = model.fit(np.repeat(X, weight, axis=0), np.repeat(y, weight)).coef_
    np.testing.assert_allclose(weighted, repeated, atol=1e-6)
    order = rng.permutation(len(y))
    plain = model.fit(X, y).coef_
    np.testing.assert_allclose(model.fit(X[order], y[order]).coef_, plain, atol=1e-6)
    np.testing.assert_allclose(model.fit(sparse.csr_matrix(X), y).coef_, plain, atol=1e-6)
    frame = pd.DataFrame(X, columns=list("abcde"))
    model.fit(frame, np.where(y == 1, "yes", "no"))
    assert model.feature_names_in_.tolist() == list("abcde")
    assert set(model.predict(frame)) == {"no", "yes"}
    np.testing.assert_allclose(model.coef_, plain, atol=1e-6)


def test_without_intercept(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(30, 2)), rng.normal(size=30) + 5
    model = ERMRegressor(fit_intercept=False, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(model.coef_, np.linalg.lstsq(X, y, rcond=None)[0], atol=1e-7)
    assert model.intercept_ == 0


def test_a_score_of_zero_is_the_second_class():
    model = ERMClassifier(loss="squared_hinge").fit([[-1.0], [1.0]], ["a", "b"])
    model.intercept_ = np.zeros(1)
    assert model.predict([[0.0]]).tolist() == ["b"]


def test_losses_as_objects_survive_saving(tmp_path, seed):
    X, y = noisy(seed)
    model = ERMClassifier(loss=ExponentialLoss(), alpha=0.1).fit(X, y)
    corollary.save(model, tmp_path / "model.corollary")
    loaded = corollary.load(tmp_path / "model.corollary")
    assert loaded.loss == ExponentialLoss()
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: ERMClassifier(loss=HingeLoss()).fit([[0.0], [1.0]], [0, 1]),
            "needs a differentiable loss. Got HingeLoss.*'squared_hinge' in place of 'hinge'",
        ),
        (
            lambda: ERMClassifier(loss=SquareLoss()).fit([[0.0], [1.0]], [0, 1]),
            "'loss' parameter of ERMClassifier must be a loss of scores",
        ),
        (
            lambda: ERMRegressor(loss=LogisticLoss()).fit([[0.0], [1.0]], [0, 1]),
            "'loss' parameter of ERMRegressor must be a loss of numbers",
        ),
        (
            lambda: ERMClassifier().fit([[0.0], [1.0], [2.0]], [0, 1, 2]),
            "got 3 classes with a margin loss; use loss='cross_entropy'",
        ),
        (lambda: ERMClassifier().fit([[0.0], [1.0]], [1, 1]), "Got one class"),
        (lambda: ERMClassifier(alpha=-1).fit([[0.0], [1.0]], [0, 1]), "'alpha' parameter of ERMCl"),
        (lambda: minimise_linear([[0.0]], [1.0], "square", alpha=-1), "'alpha' parameter of minim"),
    ],
)
def test_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()
