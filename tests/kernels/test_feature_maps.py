from math import comb, factorial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.preprocessing import PolynomialFeatures

import corollary
from corollary.kernels import (
    RBF,
    Columns,
    ExponentialDot,
    KernelRidge,
    MonomialMap,
    Polynomial,
    TruncatedExponential,
    bias_map,
    exponential_map,
    from_feature_map,
    monomial_exponents,
    monomial_map,
    polynomial_map,
    rbf_map,
    rbf_map_error,
)


@given(
    d=st.integers(1, 5),
    p=st.integers(0, 5),
    bias=st.booleans(),
    interactions=st.booleans(),
)
def test_monomials_as_scikit_learn_lists_them(d, p, bias, interactions):
    if p == 0 and not bias:
        return  # scikit-learn refuses; we return no columns
    X = np.random.default_rng(d + 10 * p).normal(size=(4, d))
    peer = PolynomialFeatures(p, include_bias=bias, interaction_only=interactions)
    ours = monomial_map(X, p, include_bias=bias, interaction_only=interactions)
    np.testing.assert_allclose(ours, peer.fit_transform(X), rtol=1e-12)
    exponents = monomial_exponents(d, p, interaction_only=interactions)
    np.testing.assert_array_equal(exponents[0 if bias else 1 :], peer.powers_)
    if not interactions:
        assert len(exponents) == comb(d + p, p)


def test_named_small_maps():
    assert bias_map([[2.0, 3.0]]).tolist() == [[2.0, 3.0, 1.0]]
    x = monomial_map([[2.0, 3.0]], interaction_only=True, include_bias=False)
    assert x.tolist() == [[2.0, 3.0, 6.0]]
    # All monomials x_i x_j with i <= j: n (n + 1) / 2 of them.
    assert monomial_map(np.ones((1, 7)), 2).shape[1] - 1 - 7 == 28


def test_noiseless_polynomial_is_recovered(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 2))
    y = 1 + 2 * X[:, 0] - X[:, 1] ** 2 + 0.5 * X[:, 0] * X[:, 1] ** 2
    fit = LinearRegression(fit_intercept=False).fit(monomial_map(X, 3), y)
    wanted = dict.fromkeys(map(tuple, monomial_exponents(2, 3)), 0.0)
    wanted.update({(0, 0): 1.0, (1, 0): 2.0, (0, 2): -1.0, (1, 2): 0.5})
    np.testing.assert_allclose(fit.coef_, list(wanted.values()), atol=1e-10)


def test_circle_is_linear_in_monomials(seed):
    X = np.random.default_rng(seed).uniform(-2, 2, size=(400, 2))
    y = np.where(np.linalg.norm(X, axis=1) >= 1, 1, -1)
    w = np.array([-1.0, 0, 0, 1, 0, 1])  # of 1, x1, x2, x1^2, x1 x2, x2^2
    np.testing.assert_array_equal(np.where(monomial_map(X) @ w >= 0, 1, -1), y)
    assert LogisticRegression(C=1e6, max_iter=1000).fit(X, y).score(X, y) < 0.95


def test_quadratic_kernel_trick_needs_weights(seed):
    X = np.random.default_rng(seed).normal(size=(6, 4))
    weighted = polynomial_map(X, 2, offset=0.0)
    assert weighted.shape == (6, 10)
    np.testing.assert_allclose(weighted @ weighted.T, (X @ X.T) ** 2, rtol=1e-9, atol=1e-12)
    plain = monomial_map(X, 2)[:, 5:]
    assert np.abs(plain @ plain.T - (X @ X.T) ** 2).max() > 0.1
    # All ordered products work too.
    ordered = np.einsum("ni,nj->nij", X, X).reshape(6, -1)
    np.testing.assert_allclose(ordered @ ordered.T, (X @ X.T) ** 2, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("degree", [1, 2, 5])
@pytest.mark.parametrize("offset", [0.0, 0.5, 2.0])
def test_polynomial_features_have_binomial_weights(degree, offset, seed):
    X = np.random.default_rng(seed).normal(size=(6, 3))
    features = polynomial_map(X, degree, offset=offset, gamma=0.7)
    kernel = Polynomial(degree, offset=offset, gamma=0.7)
    np.testing.assert_allclose(features @ features.T, kernel.gram(X), rtol=1e-9, atol=1e-11)


def test_exponential_features_in_one_dimension():
    a, x = 1.7, np.array([0.3, -1.2, 2.0])
    features = exponential_map(x, 30, scale=a)
    for i in range(5):
        np.testing.assert_allclose(features[:, i], np.sqrt(a**i / factorial(i)) * x**i)
    np.testing.assert_allclose(features @ features.T, np.exp(a * np.outer(x, x)), rtol=1e-9)
    np.testing.assert_allclose(features @ features.T, ExponentialDot(a).gram(x), rtol=1e-9)


def test_exponential_features_are_those_of_the_truncated_kernel(seed):
    X = np.random.default_rng(seed).normal(size=(5, 3))
    features = exponential_map(X, 4, scale=0.6)
    kernel = TruncatedExponential(4, scale=0.6)
    np.testing.assert_allclose(features @ features.T, kernel.gram(X), rtol=1e-9, atol=1e-12)


def test_rbf_features_converge(seed):
    X = np.random.default_rng(seed).uniform(-0.7, 0.7, size=(6, 2))
    features = rbf_map(X, 25)
    np.testing.assert_allclose(features @ features.T, RBF().gram(X), atol=1e-15)


@pytest.mark.parametrize("length_scale", [1.0, 0.6, (0.5, 2.0)])
@pytest.mark.parametrize("degree", [0, 1, 3, 8])
def test_rbf_truncation_error_bound(degree, length_scale, seed):
    X = np.random.default_rng(seed).normal(size=(20, 2))
    features = rbf_map(X, degree, length_scale=length_scale)
    error = np.abs(features @ features.T - RBF(length_scale).gram(X))
    bound = rbf_map_error(X, degree=degree, length_scale=length_scale)
    assert (error <= bound + 1e-14).all()
    # It is attained where the inner product is positive: there, all terms left out are.
    positive = (X / np.array(length_scale)) @ (X / np.array(length_scale)).T > 0
    np.testing.assert_allclose(error[positive], bound[positive], rtol=1e-6, atol=1e-13)
    np.testing.assert_allclose(
        rbf_map_error(X, X[:2], degree=degree, length_scale=length_scale), bound[:, :2]
    )


def test_weights_of_plain_monomials_cannot_be_one_number():
    """At x = [1, 1] plain monomials have a divergent norm; with 1 / sqrt(m!) it is e^2."""
    norms = [np.sum(monomial_map([[1.0, 1.0]], p) ** 2) for p in (5, 10, 20)]
    assert norms[2] > 2 * norms[1] > 4 * norms[0]
    assert np.sum(exponential_map([[1.0, 1.0]], 20) ** 2) == pytest.approx(np.exp(2.0))


def test_maps_as_objects_can_be_saved(tmp_path, seed):
    X = np.random.default_rng(seed).normal(size=(5, 3))
    kernel = from_feature_map(MonomialMap(3, interaction_only=True))
    np.testing.assert_allclose(
        kernel.gram(X),
        monomial_map(X, 3, interaction_only=True) @ monomial_map(X, 3, interaction_only=True).T,
    )
    kernel = kernel + RBF().with_inputs(Columns((2, 0)))
    corollary.save(KernelRidge(kernel=kernel), tmp_path / "model")
    assert corollary.load(tmp_path / "model").kernel == kernel


def test_errors():
    with pytest.raises(ValueError, match=r"would make .* columns"):
        monomial_map(np.zeros((1, 100)), 5)
    with pytest.raises(ValueError, match="'degree' parameter of monomial_map"):
        monomial_map([[1.0]], -1)
    with pytest.raises(ValueError, match="at most 20 features"):
        corollary.kernels.subset_map(np.zeros((1, 21)))
    with pytest.raises(ValueError, match="offset >= 0 and gamma > 0"):
        polynomial_map([[1.0]], 2, offset=-1.0)
    with pytest.raises(ValueError, match="'scale' parameter of exponential_map"):
        exponential_map([[1.0]], 2, scale=0.0)
    with pytest.raises(ValueError, match="Columns asks for column 3"):
        Columns((3,))(np.zeros((2, 2)))
    with pytest.raises(ValueError, match="at least one column"):
        Columns(())
