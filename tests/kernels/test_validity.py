import numpy as np
import pytest

from corollary.kernels import (
    ANOVA,
    RBF,
    Laplacian,
    Linear,
    Matern,
    Periodic,
    Polynomial,
    Sigmoid,
    gram_features,
    invariance_test,
    psd_test,
)
from tests.kernels.kernels_at_hand import FORMULAS

REFUTED = {
    "tanh": lambda x, y: np.tanh(x @ y),
    "minus distance": lambda x, y: -np.linalg.norm(x - y),
    "minus squared distance": lambda x, y: -np.sum((x - y) ** 2),
    "difference": lambda x, y: RBF()(x, y) - 0.9,
}


@pytest.mark.parametrize("name", [n for n in FORMULAS if n != "sigmoid"])
def test_kernels_pass(name, seed):
    result = psd_test(FORMULAS[name][0], n_features=3, random_state=seed)
    assert result.passed
    assert result.witness is None
    assert result.smallest_eigenvalue > -1e-8


@pytest.mark.parametrize("name", REFUTED)
def test_what_is_no_kernel_is_refuted_by_a_witness(name, seed):
    k = REFUTED[name]
    result = psd_test(k, random_state=seed)
    assert not result.passed
    c, Z = result.weights, result.witness
    value = sum(c[i] * c[j] * k(Z[i], Z[j]) for i in range(len(c)) for j in range(len(c)))
    assert value < 0


def test_sigmoid_is_refuted(seed):
    assert not psd_test(Sigmoid(), random_state=seed).passed
    assert not psd_test(Sigmoid(), [[1.0], [2.0], [3.0]]).passed


def test_asymmetry_is_refuted(seed):
    result = psd_test(lambda x, y: x[0] - y[1] + 5, random_state=seed)
    assert not result.passed
    assert result.weights is None


def test_nan_is_no_answer():
    with pytest.raises(ValueError, match="NaN or infinity"):
        psd_test(lambda x, y: np.nan, random_state=0)


@pytest.mark.parametrize("method", ["eigen", "cholesky"])
def test_features_reproduce_the_gram_matrix(method, seed):
    X = np.random.default_rng(seed).normal(size=(15, 2))
    for kernel, rank in ((RBF(), 15), (Linear(), 2), (Polynomial(2), 6), (ANOVA(), 4)):
        K = kernel.gram(X)
        found = gram_features(K, method=method)
        np.testing.assert_allclose(found.features @ found.features.T, K, atol=1e-7 * K.max())
        if kernel != RBF():
            assert found.rank == found.features.shape[1] == rank
    # c' K c is the squared norm of the combined features.
    c = np.random.default_rng(seed).normal(size=15)
    assert c @ K @ c == pytest.approx(np.sum((c @ found.features) ** 2), rel=1e-6)


@pytest.mark.parametrize("method", ["eigen", "cholesky"])
def test_indefinite_matrices_have_no_features(method):
    with pytest.raises(ValueError, match=r"positive semi-definite.*eigenvalue of -1"):
        gram_features([[0.0, 1.0], [1.0, 0.0]], method=method)
    with pytest.raises(ValueError, match="symmetric"):
        gram_features([[1.0, 1.0], [0.0, 1.0]], method=method)
    with pytest.raises(ValueError, match="finite"):
        gram_features([[np.nan]], method=method)
    assert gram_features(np.zeros((3, 3)), method=method).rank == 0
    assert gram_features([[4.0]], method=method).features.tolist() == [[2.0]]
    # What counts as nothing is measured by the matrix itself.
    assert gram_features(4e-300 * np.eye(2), method=method).rank == 2


def test_bad_method_is_refused():
    with pytest.raises(ValueError, match="'method' parameter of gram_features"):
        gram_features([[1.0]], method="lu")


@pytest.mark.parametrize(
    ("kernel", "stationary", "rotation"),
    [
        (RBF(0.7), True, True),
        (Matern(nu=1.5), True, True),
        (RBF([1.0, 2.0, 3.0]), True, False),
        (Laplacian(), True, False),
        (Periodic(), True, False),
        (Linear(), False, True),
        (Polynomial(3), False, True),
        (ANOVA(), False, False),
    ],
)
def test_invariances(kernel, stationary, rotation, seed):
    result = invariance_test(kernel, random_state=seed)
    assert result.stationary == stationary == kernel.stationary
    assert result.rotation_invariant == rotation
    assert result.isotropic == (stationary and rotation)


def test_invariances_of_a_function(seed):
    result = invariance_test(lambda x, y: np.exp(-np.linalg.norm(x - y)), random_state=seed)
    assert result.isotropic
    with pytest.raises(ValueError, match="at least 2 features"):
        invariance_test(RBF(), n_features=1)
