"""Polynomial regression: monomials, interpolation, choice of the degree."""

from math import comb

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import KFold
from sklearn.preprocessing import PolynomialFeatures

import corollary
from corollary.kernels import monomial_exponents, monomial_map
from corollary.linear import PolynomialRegression, Ridge


def polynomial_features(X, degree):
    return monomial_map(X, degree, include_bias=False)


@pytest.mark.parametrize("d", [1, 2, 3, 5])
@pytest.mark.parametrize("degree", [1, 2, 3, 4])
def test_monomials_are_scikit_learns(d, degree, seed):
    X = np.random.default_rng(seed).normal(size=(7, d))
    peer = PolynomialFeatures(degree, include_bias=False).fit(X)
    np.testing.assert_allclose(polynomial_features(X, degree), peer.transform(X), rtol=1e-12)
    exponents = monomial_exponents(d, degree)[1:]
    np.testing.assert_array_equal(exponents, peer.powers_)
    assert len(exponents) == comb(d + degree, degree) - 1
    by_definition = np.prod(X[:, None, :] ** exponents, axis=2)
    np.testing.assert_allclose(polynomial_features(X, degree), by_definition, rtol=1e-10)


def test_two_variables_are_listed_as_in_the_textbook():
    X = np.array([[2.0, 3.0]])  # x1, x2, x1^2, x1 x2, x2^2, x1^3, ...
    assert polynomial_features(X, 3)[0].tolist() == [2, 3, 4, 6, 9, 8, 12, 18, 27]


@pytest.mark.parametrize("degree", [1, 3, 6])
def test_equals_polyfit(degree, seed):
    rng = np.random.default_rng(seed)
    x, y = rng.uniform(-2, 2, 40), rng.normal(size=40)
    model = PolynomialRegression(degree).fit(x[:, None], y)
    expected = np.polyfit(x, y, degree)[::-1]
    np.testing.assert_allclose(np.append(model.intercept_, model.coef_), expected, rtol=1e-7)


def test_recovers_a_polynomial_without_noise(seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(60, 2))
    truth = rng.normal(size=9)
    model = PolynomialRegression(3).fit(X, polynomial_features(X, 3) @ truth - 2.0)
    np.testing.assert_allclose(model.coef_, truth, rtol=1e-8)
    assert model.intercept_ == pytest.approx(-2.0)


def test_interpolates_with_one_degree_less_than_points(seed):
    rng = np.random.default_rng(seed)
    x, y = np.linspace(-1, 1, 8), rng.normal(size=8)
    model = PolynomialRegression(7).fit(x[:, None], y)
    np.testing.assert_allclose(model.predict(x[:, None]), y, atol=1e-9)


def test_training_error_never_rises_with_the_degree(seed):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, size=(30, 1))
    y = np.sin(3 * x[:, 0]) + 0.3 * rng.normal(size=30)
    errors = [
        np.mean((y - PolynomialRegression(p).fit(x, y).predict(x)) ** 2) for p in range(1, 12)
    ]
    assert np.all(np.diff(errors) <= 1e-10)


@pytest.mark.parametrize("order", ["shuffled", "sorted"])
def test_cross_validation_finds_the_degree(order, seed):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, 200)
    if order == "sorted":  # unshuffled folds would have to extrapolate
        x = np.sort(x)
    y = 1 - 2 * x + 4 * x**3 + 0.05 * rng.normal(size=200)
    model = PolynomialRegression([1, 2, 3, 12], random_state=seed).fit(x[:, None], y)
    assert model.degree_ == 3
    assert model.cv_errors_.argmin() == 2
    assert model.cv_errors_[2] == pytest.approx(0.05**2, rel=0.5)
    assert model.cv_errors_[3] < 0.01  # between its neighbours, not beyond the ends
    again = PolynomialRegression([1, 2, 3, 12], random_state=seed).fit(x[:, None], y)
    np.testing.assert_array_equal(model.cv_errors_, again.cv_errors_)


def test_splitters_are_accepted(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(20, 1)), rng.normal(size=20)
    model = PolynomialRegression([1, 2], cv=KFold(4)).fit(X, y)
    errors = []
    for train, test in KFold(4).split(X):
        fit = np.polyfit(X[train, 0], y[train], 2)
        errors.append(np.mean((y[test] - np.polyval(fit, X[test, 0])) ** 2))
    assert model.cv_errors_[1] == pytest.approx(np.mean(errors))


def test_penalty_weights_and_several_targets(seed):
    rng = np.random.default_rng(seed)
    X, Y, w = rng.normal(size=(40, 2)), rng.normal(size=(40, 2)), rng.exponential(size=40)
    model = PolynomialRegression(2, alpha=0.7).fit(X, Y, sample_weight=w)
    expected = Ridge(alpha=0.7).fit(polynomial_features(X, 2), Y, sample_weight=w)
    np.testing.assert_allclose(model.coef_, expected.coef_)
    np.testing.assert_allclose(model.predict(X), expected.predict(polynomial_features(X, 2)))


def test_names_and_files(tmp_path):
    frame = pd.DataFrame({"a": np.arange(9.0), "b": np.arange(9.0) ** 2})
    model = PolynomialRegression([1, 2], random_state=0).fit(frame, np.arange(9.0))
    assert model.feature_names_in_.tolist() == ["a", "b"]
    corollary.save(model, tmp_path / "model")
    again = corollary.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict(frame), model.predict(frame))


def test_degrees_are_checked():
    X, y = np.ones((6, 1)), np.ones(6)
    for degree in (0, [2, 0], []):
        with pytest.raises(ValueError, match="'degree' parameter of PolynomialRegression must be"):
            PolynomialRegression(degree).fit(X, y)
