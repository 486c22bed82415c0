"""What kernels need from arrays: one code for NumPy, SciPy's sparse matrices and JAX.

A kernel first *prepares* its inputs (scales them, computes norms, applies a map); what comes out
is an array with one row per input, or nested tuples of such  Then it *evaluates* pairs of
prepared inputs. In NumPy the Gram matrix is assembled from tiles that stay in a core's cache, in
threads; temporaries are as large as a tile. In JAX it is evaluated whole, for the compiler to fuse.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from corollary.core.parallel import one_blas_thread, ordered_map, row_products

# Tiles of this many rows and columns (1 MiB) stay in cache and amortise the overhead of Python.
TILE_ROWS, TILE_COLUMNS = 288, 512
TILE_SQUARE = 384
# Beyond this absolute error in r^2, distances come from differences, not from inner products.
ROUNDING = 1e-10


def is_traced(value: Any) -> bool:
    """Tell whether a value is a JAX tracer, which has no number to be checked yet."""
    if isinstance(value, np.ndarray | np.generic) or not hasattr(value, "__array_namespace__"):
        return False
    from jax.core import Tracer  # what comes here is an array, but not one of NumPy's

    return isinstance(value, Tracer)


def namespace(prepared: Any) -> Any:
    """Return the array namespace of prepared inputs: NumPy for sparse matrices."""
    while isinstance(prepared, tuple):
        prepared = prepared[0]
    return np if sparse.issparse(prepared) else prepared.__array_namespace__()


def vectors(name: str, X: Any, *, allow_sparse: bool = False) -> Any:
    """Check that inputs are finite real vectors and return them as a matrix."""
    if sparse.issparse(X):
        if not allow_sparse:
            raise TypeError(f"{name} needs a dense array. Got a sparse matrix; use X.toarray().")
        X = sparse.csr_matrix(X, dtype=np.float64)
        finite = np.isfinite(X.data).all()
    elif hasattr(X, "__array_namespace__") and not isinstance(X, np.ndarray | np.generic):
        xp = X.__array_namespace__()
        if X.ndim > 2:
            raise ValueError(f"{name} needs rows of numbers: at most 2 dimensions. Got {X.ndim}.")
        X = xp.reshape(X, (-1, 1)) if X.ndim < 2 else X
        return X if xp.isdtype(X.dtype, "real floating") else X * 1.0
    else:
        # One layout, so that a data frame and an array give the same bits.
        X = np.asarray(X, dtype=np.float64, order="C")
        if X.ndim > 2:
            raise ValueError(f"{name} needs rows of numbers: at most 2 dimensions. Got {X.ndim}.")
        X = X.reshape(-1, 1) if X.ndim < 2 else X
        finite = np.isfinite(X).all()
    if not finite:
        raise ValueError(f"{name} needs finite numbers. The input contains NaN or infinity.")
    return X


def vector_pair(name: str, X: Any, Y: Any, *, allow_sparse: bool = False) -> tuple[Any, Any]:
    """Check two sets of vectors with the same number of features."""
    X = vectors(name, X, allow_sparse=allow_sparse)
    if Y is None:
        return X, X
    Y = vectors(name, Y, allow_sparse=allow_sparse)
    if X.shape[1] != Y.shape[1]:
        raise ValueError(
            f"{name} compares vectors of one length. Got X with {X.shape[1]} features and Y with "
            f"{Y.shape[1]}."
        )
    if namespace(X) is not namespace(Y):  # one of them is from JAX: so be the other
        like = Y if namespace(X) is np else X
        X, Y = (namespace(like).asarray(Z, dtype=like.dtype) for Z in (X, Y))
    return X, Y


def both(prepare: Callable[[Any], Any], X: Any, Y: Any) -> tuple[Any, Any]:
    """Apply a function to two inputs, once if they are the same object."""
    P = prepare(X)
    return P, P if Y is X else prepare(Y)


def per_feature(value: Any, X: Any) -> Any:
    """Return a number, or one number for each feature, as an array that multiplies rows of X."""
    if np.ndim(value) and value.shape[0] != X.shape[1]:
        raise ValueError(
            f"One parameter for each feature is required. Got {value.shape[0]} parameters and "
            f"rows with {X.shape[1]} features."
        )
    if sparse.issparse(X) or isinstance(value, int | float):
        return value
    return X.__array_namespace__().asarray(value, dtype=X.dtype)


def divide(X: Any, scale: Any) -> Any:
    """Divide the columns of X by a number each."""
    scale = per_feature(scale, X)
    if sparse.issparse(X):
        return X.multiply(1.0 / np.asarray(scale)).tocsr() if np.ndim(scale) else X / scale
    return X / scale


def dot(P: Any, Q: Any) -> Any:
    """Return the inner products of rows as a dense matrix."""
    if isinstance(P, np.ndarray) and isinstance(Q, np.ndarray) and P is not Q:
        return row_products(P, Q.T)
    product = P @ Q.T
    return product.toarray() if sparse.issparse(product) else product


def squares(X: Any) -> Any:
    """Return the squared norms of rows."""
    if sparse.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    if isinstance(X, np.ndarray):
        return np.einsum("ij,ij->i", X, X)
    return (X * X).sum(axis=1)


def with_diagonal(K: Any, value: Any) -> Any:
    """Return a square matrix with another diagonal (in NumPy the same matrix, changed)."""
    if isinstance(K, np.ndarray):
        np.fill_diagonal(K, value)
        return K
    xp = K.__array_namespace__()
    return xp.where(xp.eye(K.shape[0], dtype=bool), value, K)


def apply(function: str, K: Any) -> Any:
    """Apply a function entry by entry, in place in NumPy."""
    if isinstance(K, np.ndarray):
        return getattr(np, function)(K, out=K)
    return getattr(K.__array_namespace__(), function)(K)


def safe_sqrt(K: Any) -> Any:
    """Return square roots whose derivative at zero is zero instead of infinite."""
    if isinstance(K, np.ndarray):
        return np.sqrt(K, out=K)
    xp = K.__array_namespace__()
    positive = K > 0
    return xp.where(positive, xp.sqrt(xp.where(positive, K, 1.0)), 0.0)


def refine(K: np.ndarray, where: np.ndarray, exact: Callable[[Any, Any], Any]) -> None:
    """Replace some entries of a matrix, in place."""
    if not where.any():
        return
    rows, columns = np.nonzero(where)
    for a in range(0, len(rows), 4096):  # usually few; if all rows are equal, many
        i, j = rows[a : a + 4096], columns[a : a + 4096]
        K[i, j] = exact(i, j)


def n_prepared(prepared: Any) -> int:
    """Return the number of prepared inputs."""
    while isinstance(prepared, tuple):
        prepared = prepared[0]
    return int(prepared.shape[0])


def take(prepared: Any, which: Any) -> Any:
    """Return some of the prepared inputs, by a slice or by indices."""
    if isinstance(prepared, tuple):
        return tuple(take(part, which) for part in prepared)
    return prepared[which]


def assemble(evaluate: Callable[[Any, Any, bool], Any], P: Any, Q: Any) -> Any:
    """Evaluate all pairs of prepared inputs."""
    same = Q is P
    if namespace(P) is not np or namespace(Q) is not np:
        return evaluate(P, Q, same)
    n, m = n_prepared(P), n_prepared(Q)
    small = n * m <= TILE_ROWS * TILE_COLUMNS
    if small and (same or m <= TILE_COLUMNS):
        with one_blas_thread():
            K = evaluate(P, Q, same)
        return _mirrored(K) if same and isinstance(K, np.ndarray) else K
    K = np.empty((n, m))
    rows, columns = (TILE_SQUARE, TILE_SQUARE) if same else (TILE_ROWS, TILE_COLUMNS)

    def work(tile: tuple[int, int]) -> None:
        i, j = tile
        a, b = min(i + rows, n), min(j + columns, m)
        if same and i == j:
            K[i:a, j:b] = _mirrored(evaluate(part := take(P, slice(i, a)), part, True))
            return
        values = evaluate(take(P, slice(i, a)), take(Q, slice(j, b)), False)
        K[i:a, j:b] = values
        if same:
            K[j:b, i:a] = values.T

    tiles = [(i, j) for i in range(0, n, rows) for j in range(i if same else 0, m, columns)]
    in_threads(work, tiles, workers=1 if small else None)
    return K


def _mirrored(K: np.ndarray) -> np.ndarray:
    """Copy the upper triangle to the lower one: rounding may have made them differ."""
    lower = np.tri(K.shape[0], k=-1, dtype=bool)
    return np.where(lower, K.T, K)


def in_row_blocks(work: Callable[[int, int], None], n: int, width: int) -> None:
    """Run ``work(start, stop)`` on fixed blocks of rows, in threads with one BLAS thread each."""
    step = max(16, TILE_ROWS * TILE_COLUMNS // max(1, width))
    in_threads(lambda a: work(a, min(a + step, n)), range(0, n, step))


def in_threads(
    work: Callable[[Any], Any], items: Sequence[Any], workers: int | None = None
) -> list[Any]:
    """Do pieces of work in threads, each with one BLAS thread.

    Nested threads would fight for cores, and a matrix product split by BLAS may round differently
    from one that is not.
    """
    with one_blas_thread():
        return list(ordered_map(work, items, workers=workers if len(items) > 1 else 1))


def squared_distances(P: Any, Q: Any, same: bool, *, for_roots: bool = False) -> Any:
    """Return squared Euclidean distances of rows that come with their squared norms."""
    (X, x), (Y, y) = P, Q
    dense = isinstance(X, np.ndarray) and isinstance(Y, np.ndarray)
    far = np.zeros(0, dtype=bool)
    if dense:
        # By rows, so that what is done for one does not depend on the others.
        largest = np.maximum(x, y.max(initial=0.0))
        far = largest * np.finfo(float).eps > ROUNDING
        if far.all():
            return _by_differences(X, Y)
    products = dot(X, Y)
    if isinstance(products, np.ndarray):
        products *= -2.0
        products += x[:, None]
        products += y[None, :]
        np.maximum(products, 0.0, out=products)
        if for_roots and products.size and dense:
            close = products < 1e-8 * np.square(largest)[:, None]
            refine(products, close, lambda i, j: squares(X[i] - Y[j]))
        if far.any():
            products[far] = _by_differences(X[far], Y)
    else:
        xp = products.__array_namespace__()
        products = xp.maximum(x[:, None] + y[None, :] - 2.0 * products, 0.0)
    return with_diagonal(products, 0.0) if same else products


def _by_differences(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    from scipy.spatial.distance import cdist

    return cdist(X, Y, "sqeuclidean")


def whole_power(base: Any, degree: int) -> Any:
    """Raise entries to a whole power by repeated squaring, which is faster than ``**``."""
    result = None
    while degree:
        if degree & 1:
            result = base if result is None else result * base
        degree >>= 1
        if degree:
            base = base * base
    return result


def generator(random_state: Any) -> np.random.Generator:
    """Return a generator for scikit-learn's convention of seeds."""
    if isinstance(random_state, np.random.RandomState):
        random_state = int(random_state.randint(np.iinfo(np.int32).max))
    return np.random.default_rng(random_state)
