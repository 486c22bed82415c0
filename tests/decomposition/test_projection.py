import numpy as np
import pytest

from corollary.decomposition import (
    orthogonal_projector,
    projection_moments,
    reconstruction_error,
)


def test_moments_of_a_projection_are_those_of_the_projected_rows(seed):
    rng = np.random.default_rng(seed)
    X, u, U = rng.normal(size=(50, 4)) + 3, rng.normal(size=4), rng.normal(size=(4, 2))
    mean, covariance = X.mean(axis=0), np.cov(X.T, ddof=0)
    one = projection_moments(u, mean, covariance)
    np.testing.assert_allclose(one, [(X @ u).mean(), (X @ u).var()], rtol=1e-12)
    several = projection_moments(U, mean, covariance)
    np.testing.assert_allclose(several.mean, (X @ U).mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(several.covariance, np.cov((X @ U).T, ddof=0), rtol=1e-10)


def test_moments_by_hand():
    moments = projection_moments([2.0, -1.0], [1.0, 5.0], [[1.0, 0.5], [0.5, 3.0]])
    assert moments == (-3.0, 4.0 - 2.0 + 3.0)


def test_the_projector_is_symmetric_idempotent_and_nearest(seed):
    rng = np.random.default_rng(seed)
    basis, x = rng.normal(size=(5, 2)), rng.normal(size=5)
    P = orthogonal_projector(basis)
    np.testing.assert_allclose(P @ P, P, atol=1e-12)
    np.testing.assert_allclose(P, P.T, atol=1e-12)
    np.testing.assert_allclose(P @ basis, basis, atol=1e-12)
    assert np.trace(P) == pytest.approx(2)
    # Pythagoras, and no other point of the subspace is nearer.
    assert (x @ x) == pytest.approx(np.sum((P @ x) ** 2) + np.sum((x - P @ x) ** 2))
    others = basis @ rng.normal(size=(2, 200))
    assert np.linalg.norm(x[:, None] - others, axis=0).min() >= np.linalg.norm(x - P @ x)


def test_the_error_is_the_mean_squared_distance(seed):
    rng = np.random.default_rng(seed)
    X, basis = rng.normal(size=(40, 4)) + 1, rng.normal(size=(4, 2))
    lost = X - X @ orthogonal_projector(basis)
    error = reconstruction_error(basis, X.T @ X / 40)
    assert error == pytest.approx(np.mean(np.sum(lost**2, axis=1)))
    x = X[:1]
    assert reconstruction_error(x.T, x.T @ x) == pytest.approx(0, abs=1e-12)
    # By hand: tr S = 5, and the first axis keeps 3.
    assert reconstruction_error([[2.0], [0.0]], [[3.0, 1.0], [1.0, 2.0]]) == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: projection_moments([1.0], [1.0, 2.0], np.eye(2)), "equally many features"),
        (lambda: projection_moments([1.0, 2.0], [1.0, 2.0], [[1.0, 2.0], [0.0, 1.0]]), "symmetric"),
        (lambda: projection_moments([1.0, 2.0], [1.0, 2.0], np.full((2, 2), np.nan)), "finite"),
        (lambda: orthogonal_projector([[1.0, 2.0], [1.0, 2.0]]), "linearly independent"),
        (lambda: orthogonal_projector(np.ones((1, 2))), "linearly independent"),
        (lambda: orthogonal_projector([1.0, 2.0]), "column for each"),
        (lambda: orthogonal_projector(np.ones((3, 0))), "column for each"),
        (lambda: reconstruction_error([[1.0], [0.0]], np.eye(3)), "3 rows"),
    ],
)
def test_bad_input_is_told(call, words):
    with pytest.raises(ValueError, match=words):
        call()
