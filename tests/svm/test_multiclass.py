"""The joint machine: a reference, two classes, a peer, hard margin."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn import svm as peer
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning

import corollary
from corollary.svm import MulticlassSVC, joint_svm, linear_svm


def data(n=18, k=3, seed=0):
    rng = np.random.default_rng(seed)
    code = np.arange(n) % k
    centres = 1.2 * rng.normal(size=(k, 2))
    return centres[code] + rng.normal(size=(n, 2)), code


def slacks(X, code, W):
    scores = X @ W.T
    own = scores[np.arange(len(X)), code]
    scores[np.arange(len(X)), code] = -np.inf
    return np.maximum(0.0, 1.0 - own + scores.max(axis=1))


@pytest.mark.parametrize("seed", range(6))
def test_agrees_with_a_reference_program(seed):
    # The primal with slack variables, by SLSQP.
    X, code = data(seed=seed)
    n, k, C = len(X), 3, 0.8
    ours = joint_svm(X, code, C=C, tol=1e-9, max_iter=100_000, random_state=0)
    W = ours.tau.T @ X

    def gaps(v):
        scores = X @ v[: 2 * k].reshape(k, 2).T
        rows = [
            scores[i, code[i]] - scores[i, z] - 1.0 + v[2 * k + i]
            for i in range(n)
            for z in range(k)
            if z != code[i]
        ]
        return np.array(rows)

    found = minimize(
        lambda v: 0.5 * v[: 2 * k] @ v[: 2 * k] + C * v[2 * k :].sum(),
        np.concatenate([np.zeros(2 * k), np.ones(n)]),
        bounds=[(None, None)] * (2 * k) + [(0, None)] * n,
        constraints={"type": "ineq", "fun": gaps},
        method="SLSQP",
        options={"maxiter": 1000, "ftol": 1e-12},
    )
    primal = 0.5 * (W * W).sum() + C * slacks(X, code, W).sum()
    assert primal == pytest.approx(found.fun, rel=1e-6)
    assert ours.objective == pytest.approx(primal, rel=1e-7)
    assert ours.gap == pytest.approx(primal - ours.objective, abs=1e-9)
    np.testing.assert_allclose(W.ravel(), found.x[: 2 * k], atol=1e-4)
    # The same by the Gram matrix.
    again = joint_svm(
        X @ X.T, code, C=C, precomputed=True, tol=1e-9, max_iter=100_000, random_state=0
    )
    np.testing.assert_allclose(again.tau.T @ X, W, atol=1e-7)


def test_two_classes_are_a_pair_with_twice_the_price():
    X, code = data(k=2)
    joint = joint_svm(X, code, C=0.4, tol=1e-10, max_iter=100_000, random_state=0)
    W = joint.tau.T @ X
    np.testing.assert_allclose(W[0], -W[1], atol=1e-9)
    y = np.where(code == 1, 1.0, -1.0)
    pair = linear_svm(X, y, C=0.8, loss="hinge", tol=1e-10, max_iter=100_000, random_state=0)
    np.testing.assert_allclose(W[1] - W[0], pair.coef, atol=1e-7)
    assert joint.gap == pytest.approx(0.0, abs=1e-7)
    model = MulticlassSVC(C=0.4, kernel="linear", fit_intercept=False, tol=1e-10, random_state=0)
    np.testing.assert_allclose(model.fit(X, code).decision_function(X), X @ pair.coef, atol=1e-6)


@pytest.mark.parametrize("intercept", [False, True])
def test_agrees_with_scikit_learn(intercept):
    X, y = load_wine(return_X_y=True)
    X = (X - X.mean(0)) / X.std(0)
    ours = MulticlassSVC(
        C=0.05, fit_intercept=intercept, tol=1e-8, max_iter=100_000, random_state=0
    ).fit(X, y)
    theirs = peer.LinearSVC(
        multi_class="crammer_singer",
        C=0.05,
        fit_intercept=intercept,
        tol=1e-8,
        max_iter=1_000_000,
        random_state=0,
    ).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-4)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def test_kernels_weights_and_files(tmp_path):
    X, y = load_iris(return_X_y=True)
    options = {"tol": 1e-9, "max_iter": 100_000, "random_state": 0}
    model = MulticlassSVC(kernel="rbf", gamma=0.5, **options).fit(X, y)
    assert model.score(X, y) > 0.96
    gram = model.kernel_.gram(X)
    other = MulticlassSVC(kernel="precomputed", **options).fit(gram, y)
    np.testing.assert_allclose(other.decision_function(gram), model.decision_function(X), atol=1e-6)
    weight = np.random.default_rng(0).integers(1, 3, size=150)
    one = MulticlassSVC(**options).fit(X, y, sample_weight=weight)
    two = MulticlassSVC(**options).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(one.decision_function(X), two.decision_function(X), atol=1e-5)
    corollary.save(model, tmp_path / "model")
    np.testing.assert_array_equal(corollary.load(tmp_path / "model").predict(X), model.predict(X))


def test_hard_margin_separates_with_gap_one():
    centres = np.array([[4.0, 0.0], [-4.0, 3.0], [-4.0, -3.0]])
    code = np.arange(30) % 3
    X = centres[code] + 0.5 * np.random.default_rng(0).normal(size=(30, 2))
    hard = joint_svm(X, code, C=np.inf, tol=1e-9, max_iter=100_000, random_state=0)
    scores = X @ (hard.tau.T @ X).T
    own = scores[np.arange(30), code]
    scores[np.arange(30), code] = -np.inf
    assert (own - scores.max(axis=1)).min() == pytest.approx(1.0, abs=1e-7)
    soft = joint_svm(X, code, C=1e3, tol=1e-9, max_iter=100_000, random_state=0)
    assert hard.objective == pytest.approx(soft.objective, rel=1e-6)


def test_errors_and_warnings():
    X, code = data()
    with pytest.warns(ConvergenceWarning, match="there is no hard margin: use a finite C"):
        MulticlassSVC(C=np.inf, max_iter=20, random_state=0).fit(X, code)
    with pytest.raises(ValueError, match="at least 2 classes"):
        MulticlassSVC().fit(X, np.zeros(18))
    with pytest.raises(ValueError, match="one class, numbered from 0"):
        joint_svm(X, code[:3])
    with pytest.raises(ValueError, match="X must be square"):
        joint_svm(X, code, precomputed=True)
    with pytest.raises(ValueError, match="'C' parameter of joint_svm"):
        joint_svm(X, code, C=-1.0)
