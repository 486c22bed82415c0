"""Normal equations and the triangular factor against plain products."""

import numpy as np
import pytest
from scipy import sparse

from corollary.core.summary import reduce
from corollary.linear import NormalEquations
from corollary.linear.squares._triangular_factor import TriangularFactor


@pytest.fixture
def data(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, 4)) + 2.0
    return X, rng.normal(size=(300, 2)) - 1.0, rng.integers(0, 4, 300).astype(float)


@pytest.mark.parametrize("centred", [True, False])
@pytest.mark.parametrize("sparse_input", [True, False])
def test_products_are_those_of_the_definition(data, centred, sparse_input):
    X, y, w = data
    given = sparse.csr_matrix(X) if sparse_input else X
    found = reduce(NormalEquations.for_data(X, y), (given, y, w))
    m = (w @ X / w.sum(), w @ y / w.sum()) if centred else (np.zeros(4), np.zeros(2))
    A, B = X - m[0], y - m[1]
    np.testing.assert_allclose(found.gram(centred=centred), A.T @ (w[:, None] * A), rtol=1e-10)
    np.testing.assert_allclose(
        found.cross(centred=centred), A.T @ (w[:, None] * B), rtol=1e-9, atol=1e-9
    )
    np.testing.assert_allclose(found.target_squares(centred=centred), w @ B**2, rtol=1e-10)
    np.testing.assert_allclose(found.x_mean, w @ X / w.sum())
    np.testing.assert_allclose(found.y_mean, w @ y / w.sum())
    assert found.weight == w.sum()
    assert found.n_rows == (w > 0).sum()


def test_one_target_may_be_flat(data):
    X, y, _ = data
    flat = reduce(NormalEquations.for_data(X, y[:, 0]), (X, y[:, 0]))
    column = reduce(NormalEquations.for_data(X, y[:, :1]), (X, y[:, :1]))
    assert flat.cross().tobytes() == column.cross().tobytes()


@pytest.mark.parametrize("n", [1, 3, 300])
def test_triangular_factor_has_the_products_of_the_rows(data, n):
    X, y, w = (a[:n] for a in data)
    shift = np.arange(6.0)
    R = reduce(TriangularFactor.of_shift(shift), (X, y, w)).R
    Z = (np.column_stack([X, y]) - shift) * np.sqrt(w)[:, None]
    assert R.shape[0] <= 6
    np.testing.assert_allclose(R.T @ R, Z.T @ Z, atol=1e-9)
    np.testing.assert_array_equal(np.tril(R, -1), 0.0)


def test_triangular_factor_keeps_small_singular_values(seed):
    # kappa = 1e10: the products of the columns would lose the smallest singular value entirely.
    rng = np.random.default_rng(seed)
    U, _ = np.linalg.qr(rng.normal(size=(2000, 3)))
    V, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    X = U * [1.0, 1e-5, 1e-10] @ V
    blocks = [(X[i : i + 100], np.zeros(100)) for i in range(0, 2000, 100)]
    R = reduce(TriangularFactor.of_shift(np.zeros(4)), blocks).R
    s = np.linalg.svd(R[:, :3], compute_uv=False)
    np.testing.assert_allclose(s, [1.0, 1e-5, 1e-10], rtol=1e-4)
