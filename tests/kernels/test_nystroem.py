import numpy as np
import pytest
from scipy import sparse
from sklearn import kernel_approximation

import corollary
from corollary.kernels import RBF, Linear, Matern, Nystroem, Sigmoid, nystroem_projection


@pytest.fixture
def X(seed):
    return np.random.default_rng(seed).normal(size=(60, 3))


def test_exact_between_landmarks_and_below_on_the_diagonal(X, seed):
    kernel = Matern(1.5)
    model = Nystroem(kernel, n_components=20, random_state=seed).fit(X)
    Z = model.transform(model.landmarks_)
    np.testing.assert_allclose(Z @ Z.T, kernel.gram(model.landmarks_), atol=1e-9)
    rows = model.transform(X)
    assert ((rows**2).sum(axis=1) <= kernel.diag(X) + 1e-9).all()
    # The approximation is the projection K_xm K_mm^-1 K_mx.
    K = kernel.gram(X, model.landmarks_)
    wanted = K @ np.linalg.solve(kernel.gram(model.landmarks_), K.T)
    np.testing.assert_allclose(rows @ rows.T, wanted, atol=1e-8)
    assert model.discarded_ == pytest.approx(1 - np.trace(wanted) / 60)


def test_all_rows_as_landmarks_give_the_kernel(X):
    Z = Nystroem(RBF(1.0), n_components=500, random_state=0).fit_transform(X)
    np.testing.assert_allclose(Z @ Z.T, RBF(1.0).gram(X), atol=1e-7)


def test_peer_agrees_on_the_same_landmarks(X):
    ours = Nystroem(gamma=0.3, n_components=60).fit_transform(X)
    peer = kernel_approximation.Nystroem(gamma=0.3, n_components=60).fit_transform(X)
    np.testing.assert_allclose(ours @ ours.T, peer @ peer.T, atol=1e-6)


def test_rank_is_found(X):
    model = Nystroem(Linear(), n_components=20, random_state=0).fit(X)
    assert model.transform(X).shape == (60, 3)
    assert len(model.get_feature_names_out()) == 3
    assert model.discarded_ == pytest.approx(0.0, abs=1e-10)
    same = Nystroem(RBF(), n_components=10).fit(np.ones((20, 2)))
    assert same.transform(np.ones((2, 2))).shape == (2, 1)


def test_saved(X, tmp_path):
    model = Nystroem(2.0 * RBF() + Linear(), n_components=9, random_state=1).fit(X)
    corollary.save(model, tmp_path / "model")
    np.testing.assert_array_equal(
        corollary.load(tmp_path / "model").transform(X), model.transform(X)
    )


def test_names_of_scikit_learn(X):
    model = Nystroem(gamma=0.3, n_components=9, random_state=0, n_jobs=2).fit(X)
    np.testing.assert_array_equal(model.components_, X[model.component_indices_])
    K = RBF((2 * 0.3) ** -0.5).gram(X, model.components_)
    np.testing.assert_allclose(K @ model.normalization_.T, model.transform(X), atol=1e-10)


def test_functions_matrices_and_sparse_rows(X, tmp_path):
    expected = Nystroem(gamma=0.3, n_components=9, random_state=0).fit(X)
    theirs = kernel_approximation.Nystroem(gamma=0.3, n_components=9).fit(X)
    K = RBF((2 * 0.3) ** -0.5).gram(X)
    matrix = Nystroem("precomputed", n_components=9, random_state=0).fit(K)
    np.testing.assert_allclose(matrix.transform(K), expected.transform(X), atol=1e-7)
    assert matrix.discarded_ == pytest.approx(expected.discarded_)
    corollary.save(matrix, tmp_path / "model")
    loaded = corollary.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.transform(K), matrix.transform(K))

    def bump(x, y, width):
        return np.exp(-0.3 * np.sum((x - y) ** 2) / width)

    function = Nystroem(bump, kernel_params={"width": 1.0}, n_components=9, random_state=0).fit(X)
    np.testing.assert_allclose(function.transform(X), expected.transform(X), atol=1e-7)
    thin = Nystroem(gamma=0.3, n_components=9, random_state=0).fit(sparse.csr_matrix(X))
    np.testing.assert_allclose(
        thin.transform(sparse.csr_matrix(X)), expected.transform(X), atol=1e-7
    )
    assert theirs.transform(X).shape == expected.transform(X).shape
    with pytest.raises(ValueError, match="Don't pass gamma"):
        Nystroem(bump, gamma=2.0).fit(X)


def test_what_is_no_kernel_is_refused():
    with pytest.raises(ValueError, match="need a positive semi-definite kernel"):
        Nystroem(Sigmoid(), n_components=3).fit([[1.0], [2.0], [3.0]])
    assert nystroem_projection(np.zeros((2, 2))).shape == (2, 0)
