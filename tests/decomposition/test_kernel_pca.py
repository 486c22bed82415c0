import numpy as np
import pytest
from scipy import sparse
from sklearn.decomposition import KernelPCA as Peer
from sklearn.exceptions import NotFittedError

import corollary
from corollary.decomposition import PCA, KernelPCA
from corollary.kernels import RBF, Matern


def rows(seed, n=40, d=3):
    return np.random.default_rng(seed).normal(size=(n, d))


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "cosine"])
@pytest.mark.parametrize("solver", ["dense", "arpack", "randomized"])
def test_agreement_with_scikit_learn(kernel, solver, seed):
    X, new = rows(seed), rows(seed + 1)
    peer = Peer(3, kernel=kernel, fit_inverse_transform=True, eigen_solver="dense").fit(X)
    ours = KernelPCA(
        3, kernel=kernel, fit_inverse_transform=True, eigen_solver=solver, random_state=0
    ).fit(X)
    np.testing.assert_allclose(ours.eigenvalues_, peer.eigenvalues_, rtol=1e-8)
    np.testing.assert_allclose(np.abs(ours.eigenvectors_), np.abs(peer.eigenvectors_), atol=1e-6)
    Z = ours.transform(new)
    np.testing.assert_allclose(np.abs(Z), np.abs(peer.transform(new)), atol=1e-6)
    signs = np.sign(np.sum(Z * peer.transform(new), axis=0))
    np.testing.assert_allclose(
        ours.inverse_transform(Z), peer.inverse_transform(Z * signs), atol=1e-6
    )


def test_the_linear_kernel_is_principal_component_analysis(seed):
    X, new = rows(seed), rows(seed + 1)
    ours, pca = KernelPCA(2).fit(X), PCA(2).fit(X)
    np.testing.assert_allclose(np.abs(ours.transform(new)), np.abs(pca.transform(new)), atol=1e-9)
    np.testing.assert_allclose(ours.eigenvalues_ / 39, pca.explained_variance_)
    assert KernelPCA().fit(X).eigenvalues_.shape == (3,)  # the rank


def test_projections_have_the_geometry_of_the_feature_space(seed):
    X = rows(seed)
    K = RBF(1.5).gram(X)
    Z = KernelPCA(kernel=RBF(1.5)).fit(X).transform(X)
    squares = np.diag(K)[:, None] + np.diag(K) - 2 * K
    np.testing.assert_allclose(((Z[:, None] - Z) ** 2).sum(axis=2), squares, atol=1e-8)
    np.testing.assert_allclose(Z.mean(axis=0), 0, atol=1e-9)


def test_a_row_of_weight_k_counts_like_k_rows(seed):
    X, new = rows(seed), rows(seed + 1)
    weight = np.random.default_rng(seed).integers(0, 4, size=len(X))
    options = {"n_components": 3, "kernel": Matern(2.0, nu=1.5), "fit_inverse_transform": True}
    one = KernelPCA(**options).fit(X, sample_weight=weight)
    many = KernelPCA(**options).fit(np.repeat(X, weight, axis=0))
    np.testing.assert_allclose(one.eigenvalues_, many.eigenvalues_, rtol=1e-9)
    np.testing.assert_allclose(np.abs(one.transform(new)), np.abs(many.transform(new)), atol=1e-8)
    np.testing.assert_allclose(
        one.inverse_transform(one.transform(new)),
        many.inverse_transform(many.transform(new)),
        atol=1e-6,
    )


def test_precomputed_sparse_callable_and_files(seed, tmp_path):
    X, new = rows(seed), rows(seed + 1)
    kernel = RBF(2.0)
    model = KernelPCA(2, kernel=kernel).fit(X)
    gram = KernelPCA(2, kernel="precomputed").fit(kernel.gram(X))
    np.testing.assert_allclose(gram.transform(kernel.gram(new, X)), model.transform(new), atol=1e-9)
    thin = KernelPCA(2, kernel=kernel).fit(sparse.csr_array(X))
    np.testing.assert_allclose(
        thin.transform(sparse.csr_array(new)), model.transform(new), atol=1e-9
    )
    called = KernelPCA(2, kernel=lambda x, y: float(x @ y)).fit(X)
    np.testing.assert_allclose(called.transform(new), KernelPCA(2).fit(X).transform(new), atol=1e-9)
    for name, one in (("kernel", model), ("gram", gram)):
        corollary.save(one, tmp_path / name)
        loaded = corollary.load(tmp_path / name)
        data = new if name == "kernel" else kernel.gram(new, X)
        np.testing.assert_array_equal(loaded.transform(data), one.transform(data))


def test_directions_without_variance(seed):
    X = rows(seed, d=2)
    with_zeros = KernelPCA(4).fit(X)
    np.testing.assert_array_equal(with_zeros.eigenvalues_[2:], 0)
    np.testing.assert_array_equal(with_zeros.transform(X)[:, 2:], 0)
    assert KernelPCA(4, remove_zero_eig=True).fit(X).eigenvalues_.shape == (2,)


@pytest.mark.parametrize(
    ("n", "k", "solver"), [(201, 9, "arpack"), (201, 10, "dense"), (200, 9, "dense")]
)
def test_the_solver_is_chosen_by_size(n, k, solver):
    X = rows(0, n=n, d=12)
    options = {"n_components": k, "kernel": "rbf", "random_state": 0}
    chosen, asked = (KernelPCA(**options, eigen_solver=s).fit(X) for s in ("auto", solver))
    np.testing.assert_array_equal(chosen.eigenvectors_, asked.eigenvectors_)
    other = KernelPCA(**options, eigen_solver="dense" if solver == "arpack" else "arpack").fit(X)
    assert not np.array_equal(chosen.eigenvectors_, other.eigenvectors_)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda X: KernelPCA(kernel="precomputed").fit(X), "symmetric Gram matrix"),
        (lambda X: KernelPCA(kernel="precomputed").fit(np.triu(np.ones((3, 3)))), "transpose"),
        (lambda X: KernelPCA(kernel="precomputed").fit(-X @ X.T), "positive semi-definite"),
        (
            lambda X: KernelPCA(kernel="precomputed", fit_inverse_transform=True).fit(X @ X.T),
            "Cannot fit_inverse_transform",
        ),
    ],
)
def test_bad_input_is_told(call, words, seed):
    with pytest.raises(ValueError, match=words):
        call(rows(seed))


def test_an_inverse_that_was_not_learnt(seed):
    with pytest.raises(NotFittedError, match="fit_inverse_transform=True"):
        KernelPCA(2).fit(rows(seed)).inverse_transform([[0.0, 0.0]])
    with pytest.raises(NotImplementedError, match="sparse"):
        KernelPCA(2, fit_inverse_transform=True).fit(sparse.csr_array(rows(seed)))
