import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn import gaussian_process, kernel_ridge
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import kernels as sklearn_kernels
from sklearn.linear_model import Ridge

import corollary
from corollary.kernels import (
    RBF,
    KernelRidge,
    Linear,
    Matern,
    Polynomial,
    Sigmoid,
    kernel_ridge_solution,
    monomial_map,
    polynomial_map,
)


@pytest.fixture
def data(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 3))
    return X, np.sin(X[:, 0]) + 0.1 * rng.normal(size=40)


@pytest.mark.parametrize("name", ["linear", "rbf", "polynomial", "laplacian"])
@pytest.mark.parametrize("alpha", [0.1, 2.0])
def test_peer_agrees(name, alpha, data):
    X, y = data
    options = {"alpha": alpha, "kernel": name, "gamma": 0.3, "degree": 2, "coef0": 0.5}
    ours, peer = KernelRidge(**options).fit(X, y), kernel_ridge.KernelRidge(**options).fit(X, y)
    np.testing.assert_allclose(ours.predict(X + 1), peer.predict(X + 1), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(ours.dual_coef_, peer.dual_coef_, rtol=1e-7, atol=1e-9)
    assert ours.jitter_ == 0.0
    weight = np.random.default_rng(0).random(40)
    ours.fit(X, y, weight)
    peer.fit(X, y, weight)
    np.testing.assert_allclose(ours.predict(X), peer.predict(X), rtol=1e-7, atol=1e-9)


def test_linear_kernel_is_ridge(data):
    X, y = data
    ours = KernelRidge(alpha=0.7, kernel=Linear()).fit(X, y)
    ridge = Ridge(alpha=0.7, fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), ridge.predict(X), rtol=1e-9)
    np.testing.assert_allclose(X.T @ ours.dual_coef_, ridge.coef_, rtol=1e-8)


def test_ridge_on_features_is_kernel_ridge(data):
    X, y = data
    Phi = monomial_map(X, 2)
    w = np.linalg.solve(Phi.T @ Phi + 0.3 * np.eye(10), Phi.T @ y)
    ours = KernelRidge(alpha=0.3, kernel="precomputed").fit(Phi @ Phi.T, y)
    np.testing.assert_allclose(ours.predict(Phi @ Phi.T), Phi @ w, rtol=1e-7, atol=1e-9)


def test_interpolation(data):
    X, y = data
    model = KernelRidge(alpha=0.0, kernel=Matern(2.0)).fit(X, y)
    np.testing.assert_allclose(model.predict(X), y, atol=1e-8)
    assert model.rank_ == 40
    gp = gaussian_process.GaussianProcessRegressor(
        gaussian_process.kernels.Matern(2.0, nu=1.5), alpha=1e-10, optimizer=None
    ).fit(X, y)
    np.testing.assert_allclose(model.predict(X + 0.3), gp.predict(X + 0.3), atol=1e-5)


def test_interpolation_is_the_smallest_norm_fit_in_weighted_monomials(data):
    """With fewer points than monomials: the pseudo-inverse solution in the kernel's features."""
    X, y = data
    X, y = X[:6], y[:6]
    model = KernelRidge(alpha=0.0, kernel=Polynomial(2)).fit(X, y)
    w = np.linalg.pinv(polynomial_map(X, 2)) @ y
    new = data[0][6:]
    np.testing.assert_allclose(model.predict(new), polynomial_map(new, 2) @ w, rtol=1e-6, atol=1e-8)
    # More points than features: least squares.
    X, y = data
    model = KernelRidge(alpha=0.0, kernel=Linear()).fit(X, y)
    assert model.rank_ == 3
    w = np.linalg.lstsq(X, y, rcond=None)[0]
    np.testing.assert_allclose(model.predict(X), X @ w, atol=1e-8)


def test_small_penalty_tends_to_interpolation(data):
    X, y = data
    zero = KernelRidge(alpha=0.0, kernel=Matern(2.0)).fit(X, y).predict(X + 0.2)
    near = KernelRidge(alpha=1e-10, kernel=Matern(2.0)).fit(X, y).predict(X + 0.2)
    np.testing.assert_allclose(near, zero, atol=1e-6)


def test_several_targets_are_fitted_one_by_one(data):
    X, y = data
    Y = np.column_stack([y, 2 * y - 1])
    both = KernelRidge(kernel=RBF()).fit(X, Y)
    assert both.predict(X).shape == (40, 2)
    for j in range(2):
        one = KernelRidge(kernel=RBF()).fit(X, Y[:, j])
        np.testing.assert_allclose(both.predict(X)[:, j], one.predict(X), rtol=1e-9)


@given(
    counts=st.lists(st.integers(0, 3), min_size=6, max_size=6), alpha=st.sampled_from([0.1, 1.0])
)
def test_weight_k_is_k_copies(counts, alpha):
    if sum(counts) == 0:
        return
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(6, 2)), rng.normal(size=6)
    weighted = KernelRidge(alpha=alpha, kernel=RBF()).fit(X, y, np.array(counts, dtype=float))
    repeated = KernelRidge(alpha=alpha, kernel=RBF()).fit(
        np.repeat(X, counts, axis=0), np.repeat(y, counts)
    )
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), atol=1e-10)


@given(a=st.floats(-3, 3), b=st.floats(-3, 3))
def test_predictions_are_linear_in_the_targets(a, b):
    rng = np.random.default_rng(4)
    X, y, z = rng.normal(size=(8, 2)), rng.normal(size=8), rng.normal(size=8)

    def predict(t):
        return KernelRidge(alpha=0.2, kernel=RBF()).fit(X, t).predict(X)

    np.testing.assert_allclose(predict(a * y + b * z), a * predict(y) + b * predict(z), atol=1e-10)


def test_duplicate_rows(data):
    X, y = data
    rows, targets = np.vstack([X, X]), np.r_[y, y + 1.0]
    for alpha in (0.0, 1e-3):
        model = KernelRidge(alpha=alpha, kernel=Matern(2.0)).fit(rows, targets)
        np.testing.assert_allclose(model.predict(X), y + 0.5, atol=0.05)
    assert KernelRidge(alpha=0.0, kernel=Matern(2.0)).fit(rows, targets).rank_ == 40


def test_one_row_constant_features_and_tiny_scales():
    model = KernelRidge(alpha=1.0, kernel=RBF()).fit([[2.0]], [3.0])
    assert model.predict([[2.0]])[0] == pytest.approx(1.5)
    X = np.column_stack([np.arange(5.0), np.full(5, 7.0)])
    y = np.arange(5.0)
    one = KernelRidge(kernel=RBF()).fit(X, y).predict(X)
    np.testing.assert_allclose(one, KernelRidge(kernel=RBF()).fit(X[:, :1], y).predict(X[:, :1]))
    tiny = KernelRidge(alpha=1.0, kernel=RBF(1e-9)).fit(X, y)
    np.testing.assert_allclose(tiny.predict(X), y / 2)


def test_matrices_that_are_no_gram_matrix_are_refused(data):
    y = np.ones(3)
    K = Sigmoid().gram([[1.0], [2.0], [3.0]])
    with pytest.raises(ValueError, match=r"eigenvalue of -0.139, and alpha is 0.1"):
        KernelRidge(alpha=0.1, kernel="precomputed").fit(K, y)
    with pytest.raises(ValueError, match=r"eigenvalue of -0.139; use a kernel"):
        KernelRidge(alpha=0.0, kernel="precomputed").fit(K, y)
    with pytest.raises(ValueError, match="symmetric Gram matrix"):
        KernelRidge(kernel="precomputed").fit(np.triu(np.ones((3, 3))), y)
    with pytest.raises(ValueError, match="square Gram matrix"):
        KernelRidge(kernel="precomputed").fit(np.ones((3, 2)), y)
    with pytest.raises(ValueError, match="NaN"):
        KernelRidge(kernel="precomputed").fit(np.full((3, 3), np.nan), y)
    # The user's matrix is not written to.
    G = RBF().gram(data[0])
    before = G.copy()
    KernelRidge(kernel="precomputed").fit(G, data[1], np.full(40, 2.0))
    np.testing.assert_array_equal(G, before)


def test_jitter_is_never_silent():
    x = np.linspace(0, 1e-3, 60)[:, None]
    y = x.ravel()
    with pytest.warns(ConvergenceWarning, match=r"added .* to the diagonal"):
        model = KernelRidge(alpha=1e-18, kernel=RBF(1.0)).fit(x, y)
    assert 0 < model.jitter_ < 1e-10
    assert np.isfinite(model.predict(x)).all()


def test_sparse_rows(data):
    X, y = data
    X = X * (np.abs(X) > 0.5)
    dense, thin = (KernelRidge(kernel=RBF()).fit(Z, y) for Z in (X, sparse.csr_matrix(X)))
    np.testing.assert_allclose(thin.predict(sparse.csr_matrix(X)), dense.predict(X), rtol=1e-9)


def test_predictions_in_blocks(data, monkeypatch):
    from corollary.kernels.models import _expansion as module

    X, y = data
    model = KernelRidge(kernel=RBF()).fit(X, y)
    whole = model.predict(X)
    monkeypatch.setattr(module, "VALUES_AT_ONCE", 100)
    np.testing.assert_allclose(model.predict(X), whole, rtol=1e-12)


def test_saved(data, tmp_path):
    X, y = data
    for model in (
        KernelRidge(kernel=2.0 * RBF([1.0, 2.0, 3.0]) + Linear()).fit(X, y),
        KernelRidge(kernel="poly").fit(sparse.csr_matrix(X), np.column_stack([y, y])),
    ):
        corollary.save(model, tmp_path / "model")
        again = corollary.load(tmp_path / "model")
        np.testing.assert_array_equal(again.predict(X), model.predict(X))
    K = RBF().gram(X)
    model = KernelRidge(kernel="precomputed").fit(K, y)
    corollary.save(model, tmp_path / "model")
    np.testing.assert_array_equal(corollary.load(tmp_path / "model").predict(K), model.predict(K))


def test_function_errors():
    with pytest.raises(ValueError, match="one target for each row"):
        kernel_ridge_solution(np.eye(2), [1.0])
    with pytest.raises(ValueError, match="'alpha' parameter of kernel_ridge_solution"):
        kernel_ridge_solution(np.eye(2), [1.0, 2.0], alpha=-1.0)


def _shared(x, y, power=1):
    return np.minimum(x, y).sum() ** power


@pytest.mark.parametrize(
    "options",
    [
        {"kernel": "cosine"},
        {"kernel": "chi2", "gamma": 0.5},
        {"kernel": sklearn_kernels.Matern(0.7) + sklearn_kernels.ConstantKernel(0.3)},
        {"kernel": _shared, "kernel_params": {"power": 2}},
        {"kernel": "rbf", "alpha": [0.1, 2.0]},
    ],
)
def test_every_kernel_and_penalty_of_scikit_learn(options, seed):
    from sklearn.kernel_ridge import KernelRidge as Peer

    rng = np.random.default_rng(seed)
    X, y, weight = rng.random((25, 3)), rng.normal(size=(25, 2)), rng.uniform(0.5, 2.0, size=25)
    ours, theirs = (cls(**options).fit(X, y, weight) for cls in (KernelRidge, Peer))
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-8)


def test_penalties_must_fit_the_targets():
    for alpha in ([1.0, 2.0, 3.0], [1.0, -2.0]):
        with pytest.raises(ValueError, match="one for each of the 2 targets"):
            KernelRidge(alpha=alpha).fit(np.eye(3), np.ones((3, 2)))
