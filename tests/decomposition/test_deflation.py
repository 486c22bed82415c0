import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from corollary.decomposition import deflate, deflation, leading_eigenspace, power_iteration


def covariance(seed, d=5):
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.normal(size=(d, d)))[0]
    return (Q * (10.0 / 2.0 ** np.arange(d))) @ Q.T


def test_power_iteration_finds_the_leading_eigenvector(seed):
    S = covariance(seed)
    result = power_iteration(S, random_state=seed)
    space = leading_eigenspace(S, 1)
    assert result.value == pytest.approx(10.0, rel=1e-12)
    np.testing.assert_allclose(result.vector, space.basis[:, 0], atol=1e-7)
    assert result.residual == pytest.approx(
        np.linalg.norm(S @ result.vector - result.value * result.vector), rel=1e-3, abs=1e-12
    )
    assert result.residual <= 1e-9 * 10
    # The residual falls by the factor 1/2 with each product.
    assert 20 < result.n_iter < 50


def test_random_directions_have_less_variance(seed):
    S = covariance(seed)
    U = np.random.default_rng(seed).normal(size=(5, 500))
    U /= np.linalg.norm(U, axis=0)
    assert np.einsum("ij,ik,kj->j", U, S, U).max() <= power_iteration(S).value


def test_deflated_covariance_is_that_of_deflated_rows(seed):
    rng = np.random.default_rng(seed)
    X, u = rng.normal(size=(30, 4)), rng.normal(size=4)
    X -= X.mean(axis=0)
    direction = u / np.linalg.norm(u)
    rows = X - np.outer(X @ direction, direction)
    np.testing.assert_allclose(deflate(X.T @ X / 30, u), rows.T @ rows / 30, atol=1e-12)


def test_deflation_equals_the_direct_method(seed):
    S = covariance(seed)
    result = deflation(S, 4)
    space = leading_eigenspace(S, 4)
    np.testing.assert_allclose(result.values, space.values, rtol=1e-8)
    np.testing.assert_allclose(result.vectors, space.basis.T, atol=1e-6)
    assert (result.n_iter > 1).all()


def test_directions_without_variance_are_orthogonal_to_the_others(seed):
    S = np.diag([4.0, 1.0, 0.0, 0.0])
    result = deflation(S, 4, random_state=seed)
    np.testing.assert_allclose(result.values, [4, 1, 0, 0], atol=1e-12)
    np.testing.assert_allclose(result.vectors @ result.vectors.T, np.eye(4), atol=1e-8)
    np.testing.assert_array_equal(result.n_iter[2:], 0)
    for again in range(10):  # what rounding leaves is no variance
        root = np.random.default_rng(again).normal(size=(30, 2))
        result = deflation(root @ root.T, 4)
        np.testing.assert_array_equal(result.n_iter[2:], 0)
        np.testing.assert_allclose(result.vectors @ result.vectors.T, np.eye(4), atol=1e-8)
    zero = deflation(np.zeros((2, 2)), 2)
    np.testing.assert_allclose(zero.vectors @ zero.vectors.T, np.eye(2), atol=1e-12)


def test_values_by_hand():
    np.testing.assert_allclose(
        deflate([[2.0, 1.0], [1.0, 2.0]], [3.0, 3.0]), [[0.5, -0.5], [-0.5, 0.5]], atol=1e-12
    )
    result = power_iteration([[4.0]])
    assert (result.value, result.vector.tolist(), result.n_iter) == (4.0, [1.0], 1)


def test_equal_eigenvalues_that_are_not_told_apart_are_warned_about():
    with pytest.warns(ConvergenceWarning, match="max_iter=3"):
        result = power_iteration(np.diag([1.0, 0.999]), max_iter=3)
    assert result.n_iter == 3


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: deflate(np.eye(2), [0.0, 0.0]), "not all zero"),
        (lambda: deflate(np.eye(2), [1.0]), "2 numbers"),
        (lambda: deflation(np.eye(2), 3), "between 0 and 2"),
        (lambda: power_iteration(-np.eye(2)), "positive semi-definite"),
        (lambda: power_iteration(np.eye(2), tol=0.0), "tol"),
    ],
)
def test_bad_input_is_told(call, words):
    with pytest.raises(ValueError, match=words):
        call()
