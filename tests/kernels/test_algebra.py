import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corollary.kernels import (
    RBF,
    ArcCosine,
    Constant,
    Kernel,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    Product,
    Spectrum,
    Sum,
    from_feature_map,
    psd_test,
)


@pytest.fixture
def X(seed):
    return np.random.default_rng(seed).normal(size=(10, 2))


def test_gram_of_a_composite_is_the_composite_of_grams(X):
    a, b = RBF(0.7), Polynomial(2)
    A, B = a.gram(X), b.gram(X)
    cases = {
        "sum": (a + b, A + B),
        "sum with number": (a + 2.0, A + 2.0),
        "number with sum": (2.0 + a, A + 2.0),
        "product": (a * b, A * B),
        "scaled": (3.0 * a, 3 * A),
        "scaled from the right": (a * 3, 3 * A),
        "power": (b**3, B**3),
        "exp": (a.exp(), np.exp(A)),
        "polynomial": (a.polynomial([1.0, 0.0, 2.0]), 1 + 2 * A**2),
        "normalised": (b.normalised(), B / np.sqrt(np.outer(np.diag(B), np.diag(B)))),
        "mapped": (a.with_inputs(np.tanh), a.gram(np.tanh(X))),
    }
    for name, (kernel, wanted) in cases.items():
        assert isinstance(kernel, Kernel)
        np.testing.assert_allclose(kernel.gram(X), wanted, rtol=1e-10, err_msg=name)
        np.testing.assert_allclose(kernel.gram(X, X[:3]), wanted[:, :3], rtol=1e-10, err_msg=name)
        np.testing.assert_allclose(kernel.diag(X), np.diag(wanted), rtol=1e-10, err_msg=name)
        assert kernel(X[0], X[1]) == pytest.approx(wanted[0, 1], rel=1e-10), name


def test_sums_and_products_are_flat():
    a, b, c = RBF(), Linear(), Constant()
    assert (a + b) + c == Sum((a, b, c))
    assert a * (b * c) == Product((a, b, c))
    assert (a + b) * c == Product((Sum((a, b)), c))


LEAVES = st.sampled_from(
    [RBF(0.5), RBF([1.0, 2.0]), Matern(nu=0.5), Laplacian(), Linear(), Polynomial(2), ArcCosine()]
)


def grow(children):
    return st.one_of(
        st.tuples(children, children).map(lambda k: k[0] + k[1]),
        st.tuples(children, children).map(lambda k: k[0] * k[1]),
        children.map(lambda k: 0.3 * k),
        children.map(lambda k: k**2),
        children.map(lambda k: k.normalised()),
        children.map(lambda k: k.normalised().exp()),
        children.map(lambda k: k.polynomial([0.1, 1.0, 0.5])),
    )


@given(kernel=st.recursive(LEAVES, grow, max_leaves=4), seed=st.integers(0, 999))
def test_random_composites_are_positive_semidefinite(kernel, seed):
    X = np.random.default_rng(seed).normal(size=(12, 2))
    K = kernel.gram(X)
    values = np.linalg.eigvalsh(K)
    assert values[0] >= -1e-9 * max(1.0, values[-1])
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_allclose(np.diag(K), kernel.diag(X), rtol=1e-10)


def test_a_difference_of_kernels_can_fail(X):
    """Which is why there is no minus."""
    with pytest.raises(TypeError, match="unsupported operand"):
        RBF() - Linear()
    result = psd_test(lambda x, y: RBF()(x, y) - Linear()(x, y), random_state=0)
    assert not result.passed


def test_negative_multiples_and_coefficients_are_refused():
    with pytest.raises(ValueError, match=r"'scale' parameter of Scaled.*\[0.0, inf\)"):
        -1.0 * RBF()
    with pytest.raises(ValueError, match="'coefficients' parameter of PolynomialOf"):
        RBF().polynomial([1.0, -1.0])
    with pytest.raises(ValueError, match="'degree' parameter of Power must be an int"):
        RBF() ** 0.5
    with pytest.raises(TypeError):
        RBF() + "linear"
    with pytest.raises(TypeError, match="must be a Kernel"):
        Sum((RBF(), 3.0))
    with pytest.raises(ValueError, match="at least one kernel"):
        Product(())
    with pytest.raises(TypeError, match="must be callable"):
        RBF().with_inputs(3)


def test_normalised_diagonal_is_one(X):
    K = Polynomial(3).normalised().gram(X)
    np.testing.assert_array_equal(np.diag(K), 1.0)
    assert np.abs(K).max() <= 1 + 1e-12
    # An input without features has no direction: zero with all.
    rows = np.vstack([X, np.zeros(2)])
    K = Linear().normalised().gram(rows)
    np.testing.assert_array_equal(K[-1], 0.0)


def test_product_features_are_products_of_features(X):
    phi = lambda Z: np.column_stack([Z[:, 0], Z[:, 1] ** 2])  # noqa: E731
    psi = lambda Z: np.column_stack([np.ones(len(Z)), np.sin(Z[:, 0]), Z[:, 1]])  # noqa: E731
    outer = lambda Z: np.einsum("ni,nj->nij", phi(Z), psi(Z)).reshape(len(Z), -1)  # noqa: E731
    product = from_feature_map(phi) * from_feature_map(psi)
    np.testing.assert_allclose(product.gram(X), outer(X) @ outer(X).T, rtol=1e-10, atol=1e-12)


def test_an_orthogonal_change_of_features_gives_the_same_kernel(X, seed):
    phi = lambda Z: np.column_stack([Z, Z**2, np.cos(Z)])  # noqa: E731
    rng = np.random.default_rng(seed)
    U = np.linalg.qr(rng.normal(size=(6, 6)))[0]
    K = from_feature_map(phi).gram(X)
    np.testing.assert_allclose(from_feature_map(lambda Z: phi(Z) @ U.T).gram(X), K, atol=1e-10)
    # A map that is not orthogonal does not.
    V = rng.normal(size=(6, 6))
    assert np.abs(from_feature_map(lambda Z: phi(Z) @ V.T).gram(X) - K).max() > 0.1


def test_input_maps_of_strings():
    lower = Spectrum(2).with_inputs(lambda texts: [t.lower() for t in texts])
    assert lower("ABAB", "abab") == Spectrum(2)("abab", "abab")


def test_stationarity_is_known():
    assert (2.0 * RBF() * Matern() + 1.0).stationary
    assert not (RBF() + Linear()).stationary
    assert not RBF().with_inputs(np.tanh).stationary
