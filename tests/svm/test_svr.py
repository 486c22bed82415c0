"""Regression: a peer, the tube, weights, bad input."""

import numpy as np
import pytest
from sklearn import svm as peer
from sklearn.exceptions import ConvergenceWarning

import corollary
from corollary.svm import SVR


def waves(n=80, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, size=(n, 2))
    return X, np.sin(X[:, 0]) + 0.2 * X[:, 1] + 0.1 * rng.normal(size=n)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"C": 20.0, "epsilon": 0.3},
        {"epsilon": 0.0},
        {"kernel": "linear", "C": 0.1},
        {"kernel": "poly", "degree": 2, "coef0": 1.0},
    ],
)
def test_agrees_with_scikit_learn(options):
    X, y = waves()
    ours, theirs = SVR(tol=1e-8, **options).fit(X, y), peer.SVR(tol=1e-8, **options).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-5)
    np.testing.assert_array_equal(ours.support_, theirs.support_)
    np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, atol=1e-4)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-5)
    assert abs(ours.dual_gap_) < 1e-5


def test_rows_inside_the_tube_have_no_weight():
    X, y = waves()
    model = SVR(C=2.0, epsilon=0.2, tol=1e-9).fit(X, y)
    error = y - model.predict(X)
    weight = np.zeros(len(y))
    weight[model.support_] = model.dual_coef_[0]
    assert (weight[np.abs(error) < 0.2 - 1e-6] == 0).all()
    outside = np.abs(error) > 0.2 + 1e-6
    np.testing.assert_allclose(weight[outside], 2.0 * np.sign(error[outside]))
    assert weight.sum() == pytest.approx(0.0, abs=1e-9)


def test_data_that_fit_into_the_tube_give_the_flattest_function():
    X, y = waves()
    flat = SVR(epsilon=5.0).fit(X, y)
    assert len(flat.support_) == 0
    assert np.ptp(flat.predict(X)) == 0.0
    assert np.abs(y - flat.predict(X)).max() <= 5.0
    # A line through a tube: the slope is the smallest that stays inside.
    x = np.linspace(0, 1, 11)
    line = SVR(kernel="linear", C=1e6, epsilon=0.25, tol=1e-9).fit(x[:, None], 2.0 * x)
    slope = float(line.dual_coef_[0] @ line.support_vectors_[:, 0])
    assert slope == pytest.approx(1.5, abs=1e-6)


def test_weights_are_repetitions():
    X, y = waves(40)
    weight = np.random.default_rng(0).integers(0, 4, size=40)
    one = SVR(tol=1e-10).fit(X, y, sample_weight=weight)
    other = SVR(tol=1e-10).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(one.predict(X), other.predict(X), atol=1e-6)


def test_one_row_and_precomputed(tmp_path):
    model = SVR().fit([[1.0]], [3.0])
    assert model.predict([[7.0]]) == pytest.approx([3.0], abs=0.1 + 1e-9)
    X, y = waves(30)
    K = X @ X.T
    one = SVR(kernel="linear", tol=1e-9).fit(X, y)
    other = SVR(kernel="precomputed", tol=1e-9).fit(K, y)
    np.testing.assert_allclose(other.predict(K), one.predict(X), atol=1e-6)
    corollary.save(other, tmp_path / "model")
    np.testing.assert_array_equal(corollary.load(tmp_path / "model").predict(K), other.predict(K))


def test_errors_and_warnings():
    X, y = waves(30)
    with pytest.raises(ValueError, match="at least one non-zero"):
        SVR().fit(X, y, sample_weight=np.zeros(30))
    with pytest.raises(ValueError, match="'epsilon' parameter of SVR"):
        SVR(epsilon=-0.1).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="SVR stopped after 3 steps .* Increase max_iter=3"):
        SVR(C=100.0, max_iter=3).fit(X, y)
