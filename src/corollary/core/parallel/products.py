"""Products whose rows are the same bits alone and among others.

BLAS rounds a product by the shape of its matrices: the row of a large batch differs in its last
bits from the same row asked about alone. Here all products have one shape.
"""

from contextlib import nullcontext
from typing import Any

import numpy as np

from corollary.core.parallel.blas import one_blas_thread

#: Products up to this many numbers are not worth the search for BLAS's threads.
_SMALL = 2**18
#: Numbers of a block of rows, whose count is a multiple of 24: kernels of BLAS take 4, 8 or 24 rows
#: at once and round what is left over otherwise.
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
    rows = min(96, max(24, _BLOCK // max(1, width) // 24 * 24))
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
