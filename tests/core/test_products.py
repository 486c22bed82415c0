"""Products whose rows do not depend on the rows beside them."""

import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_limits

from corollary.core.parallel import row_products


@pytest.mark.parametrize("width", [1, 3, 20, 50, 300, 784, 3000])
@pytest.mark.parametrize("columns", [None, 1, 3, 10, 300])
def test_a_row_alone_has_the_bits_that_it_has_among_others(width, columns, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(211, width))
    W = rng.normal(size=width if columns is None else (columns, width)).T
    together = row_products(X, W)
    np.testing.assert_allclose(together, X @ W, rtol=1e-9, atol=1e-9)
    for rows in (slice(0, 1), slice(95, 96), slice(130, 131), slice(210, 211), slice(3, 207)):
        np.testing.assert_array_equal(row_products(X[rows], W), together[rows])
    np.testing.assert_array_equal(row_products(np.asfortranarray(X), W), together)
    with threadpool_limits(2):
        np.testing.assert_array_equal(row_products(X, W), together)


def test_blas_alone_would_not_do(seed):
    rng = np.random.default_rng(seed)
    X, W = rng.normal(size=(200, 300)), rng.normal(size=(300, 10))
    assert any(np.any((X[i : i + 1] @ W)[0] != (X @ W)[i]) for i in range(200))


@pytest.mark.parametrize("shape", [(0, 4), (5, 0), (96, 2)])
def test_empty_and_whole_blocks(shape):
    product = row_products(np.ones(shape), np.ones((shape[1], 3)))
    np.testing.assert_array_equal(product, np.full((shape[0], 3), float(shape[1])))


def test_sparse_rows_and_sparse_weights(seed):
    X = sparse.random(30, 8, 0.5, format="csr", random_state=seed)
    W = np.arange(16.0).reshape(8, 2)
    for rows, weights in ((X, W), (X, sparse.csr_array(W)), (X.toarray(), sparse.csr_array(W))):
        product = row_products(rows, weights)
        assert isinstance(product, np.ndarray)
        np.testing.assert_allclose(product, X.toarray() @ W)
