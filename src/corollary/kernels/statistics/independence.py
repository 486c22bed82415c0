"""Hilbert-Schmidt independence criterion: dependence of two variables of any kind.

``HSIC = tr(K H L H) / n^2`` with Gram matrices K and L of the two variables and H the centring
matrix: the squared norm of the cross-covariance of their features. Its permutation test pairs the
rows anew at random, within strata for conditional independence given a discrete variable.
"""

from typing import Any

import numpy as np

from corollary.core.parallel import one_blas_thread
from corollary.kernels import _arrays as arrays
from corollary.kernels._arrays import generator
from corollary.kernels._parametrised import check_whole
from corollary.kernels.base import Kernel
from corollary.kernels.named import median_length_scale
from corollary.kernels.statistics._permutations import (
    PermutationTest,
    permutation_result,
    stratum_rows,
)
from corollary.kernels.vectors.dot_product import Linear
from corollary.kernels.vectors.radial import RBF

MAX_RANK = 512


def centred_gram(K: Any) -> np.ndarray:
    """Return ``H K H``, the Gram matrix of features from which their mean is taken.

    Parameters
    ----------
    K : array-like of shape (n, n)
        Symmetric Gram matrix.

    Returns
    -------
    centred : ndarray of shape (n, n)
        Rows and columns sum to zero.

    Examples
    --------
    >>> from corollary.kernels import centred_gram
    >>> centred_gram([[4.0, 0.0], [0.0, 0.0]])
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    K = np.array(K, dtype=np.float64)
    if K.ndim != 2 or K.shape[0] != K.shape[1]:
        raise ValueError(f"centred_gram needs a square matrix. Got shape {K.shape}.")
    means = K.mean(axis=0)
    K -= means[None, :]
    K -= (means - means.mean())[:, None]
    return K


def hsic(X: Any, Y: Any, kernel_x: Kernel | None = None, kernel_y: Kernel | None = None) -> float:
    """Return the Hilbert-Schmidt independence criterion of paired rows.

    Parameters
    ----------
    X : array-like of shape (n, d), (n,), or the kernel's own kind of inputs
        First variable.
    Y : array-like of shape (n, c), (n,), or the kernel's own kind of inputs
        Second variable.
    kernel_x : Kernel or None, default=None
        Kernel of X. None for RBF with the median distance; labels that are not numbers are
        compared by equality.
    kernel_y : Kernel or None, default=None
        Kernel of Y, as that of X.

    Returns
    -------
    hsic : float
        ``tr(K H L H) / n^2``, zero if there is one row.

    Examples
    --------
    >>> from corollary.kernels import hsic, Linear
    >>> hsic([-1.0, 1.0], [-1.0, 1.0], Linear(), Linear())  # the squared covariance
    1.0
    """
    K, L = _grams("hsic", X, Y, kernel_x, kernel_y)
    return float(np.einsum("ij,ij->", centred_gram(K), L)) / len(K) ** 2


def hsic_test(
    X: Any,
    Y: Any,
    kernel_x: Kernel | None = None,
    kernel_y: Kernel | None = None,
    *,
    n_permutations: int = 999,
    strata: Any = None,
    random_state: Any = None,
) -> PermutationTest:
    """Test whether two variables are independent, or independent given a stratum.

    Parameters
    ----------
    X : array-like of shape (n, d), (n,), or the kernel's own kind of inputs
        First variable.
    Y : array-like of shape (n, c), (n,), or the kernel's own kind of inputs
        Second variable.
    kernel_x : Kernel or None, default=None
        Kernel of X, see :func:`hsic`.
    kernel_y : Kernel or None, default=None
        Kernel of Y.
    n_permutations : int, default=999
        Random pairings.
    strata : array-like of shape (n,) or None, default=None
        A discrete variable to condition on: pairings are permuted within its values, and the
        statistic is the average of the strata's, weighted by their sizes.
    random_state : int, Generator, RandomState or None, default=None
        Seed or generator of the permutations.

    Returns
    -------
    result : PermutationTest
        Statistic, p-value and the statistics of random pairings.

    Notes
    -----
    Guarantee: ``P(p_value <= delta) <= delta`` under the hypothesis, for every delta and every n;
    simulated in ``tests/kernels/test_independence.py::test_level``.

    References
    ----------
    .. [1] A. Gretton, K. Fukumizu, C. H. Teo, L. Song, B. Schoelkopf and A. Smola, "A kernel
       statistical test of independence", Advances in Neural Information Processing Systems 20,
       2007.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.kernels import hsic_test
    >>> x = np.random.default_rng(0).normal(size=80)
    >>> hsic_test(x, x**2, random_state=0).p_value  # uncorrelated, yet dependent
    0.001
    """
    check_whole("hsic_test", "n_permutations", n_permutations, 1)
    K, L = _grams("hsic_test", X, Y, kernel_x, kernel_y)
    n = len(K)
    rng = generator(random_state)
    total = np.zeros(n_permutations + 1)
    for rows in stratum_rows("hsic_test", strata, n):
        part = slice(None) if len(rows) == n else np.ix_(rows, rows)
        order = np.tile(np.arange(len(rows)), (n_permutations + 1, 1))
        order[1:] = rng.permuted(order[1:], axis=1)
        total += _permuted(K[part], L[part], order) / (len(rows) * n)
    return permutation_result(total)


def _permuted(K: np.ndarray, L: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Return ``sum_ij (H K H)[i, j] L[p[i], p[j]]`` for every row p of order."""
    n = len(K)
    # Features of r and s columns cost n r s for a permutation, the matrices themselves n^2 slow
    # gathers. Either way K depends on X alone and L on Y alone, and the level is exact.
    with one_blas_thread():
        left = _low_rank_factor(K, min(n, MAX_RANK))
        right = None if left is None else _low_rank_factor(L, min(n, MAX_RANK))
    if left is None or right is None or left.shape[1] * right.shape[1] > 30 * n:
        from corollary.kernels._loops.hsic import permuted_products

        both = centred_gram(K), np.ascontiguousarray(L)
        parts = np.array_split(order, 1 + len(order) * n * n // 2_000_000)
        return np.concatenate(arrays.in_threads(lambda part: permuted_products(*both, part), parts))
    centred = np.ascontiguousarray((left - left.mean(axis=0)).T)

    def work(part: np.ndarray) -> list[float]:
        return [float(np.sum((centred @ right[p]) ** 2)) for p in part]

    return np.concatenate(
        arrays.in_threads(work, [*np.array_split(order, 1 + len(order) * n // 20_000)])
    )


def _low_rank_factor(K: np.ndarray, max_rank: int, tol: float = 1e-10) -> np.ndarray | None:
    """Return features of a Gram matrix by pivoted Cholesky, if few are enough."""
    left = np.diag(K).copy()
    largest = float(left.max(initial=0.0))
    features = np.zeros((len(K), max_rank), order="F")
    for k in range(max_rank + 1):
        pivot = int(left.argmax())
        if left[pivot] <= tol * largest:
            return np.ascontiguousarray(features[:, :k])
        if k == max_rank:
            break
        column = K[:, pivot] - features[:, :k] @ features[pivot, :k]
        features[:, k] = column / np.sqrt(left[pivot])
        left -= features[:, k] ** 2
        left[pivot] = 0.0
    return None


def _grams(
    who: str, X: Any, Y: Any, kernel_x: Kernel | None, kernel_y: Kernel | None
) -> tuple[np.ndarray, np.ndarray]:
    K, L = _gram(X, kernel_x), _gram(Y, kernel_y)
    if len(K) != len(L) or not len(K):
        raise ValueError(
            f"{who} needs pairs: as many rows of X as of Y, and at least one. "
            f"Got {len(K)} and {len(L)}."
        )
    return K, L


def _gram(X: Any, kernel: Kernel | None) -> np.ndarray:
    if kernel is not None:
        if not isinstance(kernel, Kernel):
            raise TypeError(f"The kernel must be a Kernel or None. Got {kernel!r} instead.")
        return np.asarray(kernel.gram(X), dtype=np.float64)
    labels = np.asarray(X)
    if labels.dtype.kind in "iuf":
        return RBF(median_length_scale(X)).gram(X)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise ValueError("Labels must be one for each row. Encode several columns as numbers.")
    values, codes = np.unique(labels.astype(str), return_inverse=True)
    return Linear().gram(np.eye(len(values))[codes])
