"""Products and solutions whose rows are the same bits alone and among others.

BLAS rounds a product by the shape of its matrices: the row of a large batch differs in its last
bits from the same row asked about alone. Here all products have one shape, and all solutions are of
a number of rows that leaves none over.
"""

from contextlib import nullcontext
from typing import Any

import numpy as np

from corollary.core.parallel.blas import one_blas_thread

#: Products up to this many numbers are not worth the search for BLAS's threads.
_SMALL = 2**18
#: Kernels of BLAS take 4, 8 or 24 rows at once and round what is left over otherwise.
_ROWS = 24
#: Numbers of a block of rows.
_BLOCK = 2**14


def row_products(X: Any, W: Any) -> np.ndarray:
    """Return ``X @ W``, where a row of the result depends on its row of X alone.

    Rows are multiplied in blocks of a size that depends on their width only; the last one is filled
    up with zeros.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.core.parallel import row_products
    >>> rng = np.random.default_rng(0)
    >>> X, W = rng.normal(size=(1000, 20)), rng.normal(size=(20, 3))
    >>> bool((row_products(X, W)[7] == row_products(X[7:8], W)[0]).all())
    True
    """
    if not isinstance(X, np.ndarray) or not isinstance(W, np.ndarray):
        product = X @ W  # sparse products are sums along each row already
        return product.toarray() if hasattr(product, "toarray") else np.asarray(product)
    n, width = X.shape
    if width == 0 or W.size == 0:
        return np.zeros((n, *W.shape[1:]), dtype=np.result_type(X, W))
    rows = min(4 * _ROWS, max(_ROWS, _BLOCK // max(1, width) // _ROWS * _ROWS))
    whole = n // rows * rows
    X = np.ascontiguousarray(X)
    product = np.empty((n, *W.shape[1:]), dtype=np.result_type(X, W))
    with one_blas_thread() if rows * W.size > _SMALL else nullcontext():
        if whole:
            blocks = product[:whole].reshape(-1, rows, *W.shape[1:])
            np.matmul(X[:whole].reshape(-1, rows, width), W, out=blocks)
        if whole < n:
            last = np.zeros((rows, width), dtype=X.dtype)
            last[: n - whole] = X[whole:]
            product[whole:] = (last @ W)[: n - whole]
    return product


def row_solves(L: np.ndarray, X: np.ndarray) -> np.ndarray:
    """Return for each row x of X the solution v of ``L v = x``, which depends on that row alone.

    L is lower triangular. Rows are filled up with zeros to a multiple of 24.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.core.parallel import row_solves
    >>> rng = np.random.default_rng(0)
    >>> L, X = np.eye(20) + np.tril(rng.normal(size=(20, 20)), -1) / 20, rng.normal(size=(100, 20))
    >>> V = row_solves(L, X)
    >>> bool(np.allclose(V @ L.T, X)), bool((V[7] == row_solves(L, X[7:8])[0]).all())
    (True, True)
    """
    from scipy.linalg.lapack import dtrtrs

    n, width = X.shape
    if X.size == 0:
        return np.zeros((n, width))
    filled = np.zeros((-(-n // _ROWS) * _ROWS, width))
    filled[:n] = X
    with one_blas_thread() if filled.size > _SMALL else nullcontext():
        return dtrtrs(L, filled.T, lower=1, overwrite_b=1)[0].T[:n]
