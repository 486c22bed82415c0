import numpy as np
import pytest
from sklearn.gaussian_process import kernels as peers
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel

from corollary.kernels import (
    RBF,
    Columns,
    ExponentialDot,
    Laplacian,
    Linear,
    Matern,
    Periodic,
    RationalQuadratic,
    gamma_from_length_scale,
    length_scale_from_gamma,
)


@pytest.fixture
def X(seed):
    return np.random.default_rng(seed).normal(size=(20, 3))


def test_rbf_width_has_one_convention(X):
    gamma = 0.3
    ours = RBF(length_scale_from_gamma(gamma)).gram(X)
    np.testing.assert_allclose(ours, rbf_kernel(X, gamma=gamma), rtol=1e-12)
    assert gamma_from_length_scale(length_scale_from_gamma(gamma)) == pytest.approx(gamma)
    np.testing.assert_allclose(gamma_from_length_scale([1.0, 2.0]), [0.5, 0.125])
    # exp(-|x - y|^2 / l^2) is the same with length scale l / sqrt(2).
    assert RBF(3.0 / np.sqrt(2.0))(0.0, 2.0) == pytest.approx(np.exp(-4.0 / 9.0))
    for bad in (0.0, -1.0, np.nan):
        with pytest.raises(ValueError, match=r"must be a float in the range \(0.0, inf\)"):
            length_scale_from_gamma(bad)


def test_peers_agree(X):
    s = np.array([0.5, 1.0, 2.0])
    pairs = [
        (RBF(s), peers.RBF(s)),
        (RationalQuadratic(1.3, alpha=0.4), peers.RationalQuadratic(1.3, 0.4)),
        (Matern(s, nu=0.5), peers.Matern(s, nu=0.5)),
        (Matern(s, nu=1.5), peers.Matern(s, nu=1.5)),
        (Matern(s, nu=2.5), peers.Matern(s, nu=2.5)),
        (4.0 * RBF(s), peers.ConstantKernel(4.0) * peers.RBF(s)),
    ]
    for ours, peer in pairs:
        np.testing.assert_allclose(ours.gram(X), peer(X), rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(Laplacian(2.0).gram(X), laplacian_kernel(X, gamma=0.5), rtol=1e-12)
    x = X[:, :1]
    np.testing.assert_allclose(
        Periodic(1.3, period=0.7).gram(x), peers.ExpSineSquared(1.3, 0.7)(x), rtol=1e-8
    )


def test_rational_quadratic_tends_to_rbf(X):
    np.testing.assert_allclose(
        RationalQuadratic(0.8, alpha=1e9).gram(X), RBF(0.8).gram(X), atol=1e-8
    )


def test_matern_one_half_is_the_exponential_of_the_euclidean_distance():
    assert Matern(2.0, nu=0.5)([0.0, 0.0], [3.0, 4.0]) == pytest.approx(np.exp(-2.5))
    assert Laplacian(2.0)([0.0, 0.0], [3.0, 4.0]) == pytest.approx(np.exp(-3.5))
    x = np.linspace(0, 3, 7)
    np.testing.assert_allclose(Matern(nu=0.5).gram(x), Laplacian().gram(x), rtol=1e-12)
    with pytest.raises(ValueError, match="'nu' parameter of Matern must be one of"):
        Matern(nu=1.0)


def test_amplitude_is_a_factor(X):
    np.testing.assert_allclose((3.0**2 * RBF()).diag(X), 9.0)
    np.testing.assert_allclose(
        (1.5**2 * RationalQuadratic()).gram(X), 2.25 * RationalQuadratic().gram(X)
    )
    np.testing.assert_allclose((1.5**2 * Periodic()).gram(X), 2.25 * Periodic().gram(X))


def test_product_of_one_dimensional_rbf_kernels_is_the_rbf_kernel(X):
    product = RBF(0.5).with_inputs(Columns((0,))) * RBF(2.0).with_inputs(Columns((1,)))
    product = product * RBF(1.0).with_inputs(Columns((2,)))
    np.testing.assert_allclose(product.gram(X), RBF([0.5, 2.0, 1.0]).gram(X), rtol=1e-12)


def test_rbf_is_the_normalised_exponential_kernel(X):
    """exp(-b|x - t|^2) = g(x) g(t) exp(2b <x, t>), and exp(linear) normalised."""
    beta = 0.7
    g = np.exp(-beta * np.sum(X**2, axis=1))
    factored = g[:, None] * g[None, :] * np.exp(2 * beta * X @ X.T)
    rbf = RBF(length_scale_from_gamma(beta)).gram(X)
    np.testing.assert_allclose(factored, rbf, rtol=1e-10)
    np.testing.assert_allclose(ExponentialDot(2 * beta).normalised().gram(X), rbf, rtol=1e-10)
    np.testing.assert_allclose((2 * beta * Linear()).exp().normalised().gram(X), rbf, rtol=1e-10)


@pytest.mark.parametrize("kernel", [RBF(), Matern(nu=0.5), Matern(nu=2.5), RationalQuadratic()])
def test_far_from_the_origin_nothing_is_lost(kernel, X):
    np.testing.assert_allclose(kernel.gram(X + 1e7), kernel.gram(X), atol=1e-7)
    far = kernel.gram(X + 1e7, X[:3] + 1e7)
    np.testing.assert_allclose(far, kernel.gram(X, X[:3]), atol=1e-7)


@pytest.mark.parametrize("kernel", [RBF, Matern, RationalQuadratic, Laplacian, Periodic])
def test_tiny_and_huge_length_scales(kernel, X):
    """Equal rows stay equal when all else is infinitely far, everywhere in the matrix."""
    rows = np.vstack([X, X[:4]])
    K = kernel(1e-9).gram(rows)
    assert np.isfinite(K).all()
    np.testing.assert_array_equal(K[np.arange(4), 20 + np.arange(4)], 1.0)
    np.testing.assert_array_equal(np.diag(K), 1.0)
    assert K[0, 1] < 1e-3 or kernel is RationalQuadratic
    np.testing.assert_array_equal(
        kernel(1e-9).gram(rows, X[:4])[20:], np.eye(4) + (K[:4, :4] - np.eye(4))
    )
    np.testing.assert_allclose(kernel(1e9).gram(rows), 1.0, atol=1e-8)


def test_features_without_variance_do_not_matter(X):
    constant = np.column_stack([X, np.full(20, 3.0)])
    np.testing.assert_allclose(RBF().gram(constant), RBF().gram(X), rtol=1e-13)


def test_periodic_is_positive_semidefinite_in_several_dimensions(seed):
    """One sine of the Euclidean distance, as scikit-learn has it, is not."""
    X = np.random.default_rng(seed).uniform(0, 4, size=(60, 3))
    ours = np.linalg.eigvalsh(Periodic(2.0).gram(X))[0]
    theirs = np.linalg.eigvalsh(peers.ExpSineSquared(2.0, 1.0)(X))[0]
    assert ours > -1e-10
    assert theirs < -1e-3
