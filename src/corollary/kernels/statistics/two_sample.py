"""Maximum mean discrepancy: how far apart two samples are in the space of a kernel.

The squared discrepancy is ``|mean phi(X) - mean phi(Y)|^2``. Its permutation test compares it with
what random reassignments of the pooled rows to the two samples give; it is exact in level for any
sample sizes, because under the null hypothesis all assignments are equally likely. All
assignments are evaluated together, tile by tile of the Gram matrix, which is never stored.
"""

from typing import Any

import numpy as np

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
from corollary.kernels.vectors.radial import RBF


def squared_mmd(X: Any, Y: Any, kernel: Kernel | None = None, *, unbiased: bool = False) -> float:
    """Return the squared maximum mean discrepancy of two samples.

    Parameters
    ----------
    X : array-like of shape (n, d), or the kernel's own kind of inputs
        First sample.
    Y : array-like of shape (m, d), or the kernel's own kind of inputs
        Second sample.
    kernel : Kernel or None, default=None
        The kernel; None for RBF with the median distance of the pooled rows.
    unbiased : bool, default=False
        Whether pairs of equal rows are left out, which makes the estimate unbiased, and possibly
        negative. Otherwise it is the squared distance of the two sample means.

    Returns
    -------
    mmd : float
        The squared discrepancy.

    Examples
    --------
    >>> from corollary.kernels import Linear, squared_mmd
    >>> squared_mmd([[0.0], [2.0]], [[4.0]], kernel=Linear())  # means 1 and 4
    9.0
    """
    pooled, n, m = _pool("squared_mmd", X, Y)
    _check_sizes("squared_mmd", n, m, unbiased)
    z = np.concatenate([np.ones(n), np.zeros(m)])[:, None]
    return float(_discrepancies(_kernel_of(kernel, pooled), pooled, z, unbiased)[0])


def mmd_test(
    X: Any,
    Y: Any,
    kernel: Kernel | None = None,
    *,
    n_permutations: int = 999,
    strata: Any = None,
    unbiased: bool = False,
    random_state: Any = None,
) -> PermutationTest:
    """Test whether two samples come from one distribution.

    Parameters
    ----------
    X : array-like of shape (n, d), or the kernel's own kind of inputs
        First sample.
    Y : array-like of shape (m, d), or the kernel's own kind of inputs
        Second sample.
    kernel : Kernel or None, default=None
        The kernel; None for RBF with the median distance of the pooled rows.
    n_permutations : int, default=999
        Random assignments.
    strata : array-like of shape (n + m,) or None, default=None
        Groups of the rows of X, then of Y. With strata, assignments are permuted within them, and
        the hypothesis is that the two samples have one distribution *given the stratum*; the
        statistic is the average of the strata's, weighted by their sizes.
    unbiased : bool, default=False
        Which estimate is the statistic, see :func:`squared_mmd`.
    random_state : int, Generator, RandomState or None, default=None
        Seed or generator of the permutations.

    Returns
    -------
    result : PermutationTest
        Statistic, p-value and the statistics of random assignments.

    Notes
    -----
    Guarantee: ``P(p_value <= delta) <= delta`` under the hypothesis, for every delta and every
    sample size; simulated in ``tests/kernels/test_two_sample.py::test_level``.

    References
    ----------
    .. [1] A. Gretton, K. Borgwardt, M. Rasch, B. Schoelkopf and A. Smola, "A kernel two-sample
       test", Journal of Machine Learning Research 13, 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.kernels import mmd_test
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.normal(size=(60, 2)), rng.normal(size=(50, 2)) * 2.0
    >>> mmd_test(X, Y, random_state=0).p_value
    0.001
    """
    check_whole("mmd_test", "n_permutations", n_permutations, 1)
    pooled, n, m = _pool("mmd_test", X, Y)
    rng = generator(random_state)
    kernel = _kernel_of(kernel, pooled)
    first = np.arange(n + m) < n
    total = np.zeros(n_permutations + 1)
    used = False
    for rows in stratum_rows("mmd_test", strata, n + m):
        here = first[rows]
        if here.all() or not here.any():
            continue  # one sample only: nothing to compare
        used = True
        _check_sizes("mmd_test", int(here.sum()), int((~here).sum()), unbiased)
        Z = np.empty((len(rows), n_permutations + 1))
        Z[:, 0] = here
        Z[:, 1:] = rng.permuted(np.tile(here, (n_permutations, 1)), axis=1).T
        part = pooled if strata is None else _take(pooled, rows)
        total += len(rows) / (n + m) * _discrepancies(kernel, part, Z, unbiased)
    if not used:
        raise ValueError("mmd_test needs a stratum with rows of both samples. Got none.")
    return permutation_result(total)


def _kernel_of(kernel: Kernel | None, X: Any) -> Kernel:
    if kernel is None:
        return RBF(median_length_scale(X))
    if not isinstance(kernel, Kernel):
        raise TypeError(f"The kernel must be a Kernel or None. Got {kernel!r} instead.")
    return kernel


def _pool(who: str, X: Any, Y: Any) -> tuple[Any, int, int]:
    """Stack two samples; what is not numbers stays a list."""
    n, m = len(X), len(Y)
    if not n or not m:
        raise ValueError(f"{who} needs two samples with at least one row each. Got {n} and {m}.")
    left, right = np.asarray(X), np.asarray(Y)
    if left.dtype.kind not in "biuf" or right.dtype.kind not in "biuf":
        return [*X, *Y], n, m
    if left.ndim <= 2 and right.ndim <= 2:
        left, right = arrays.vector_pair(who, left, right)
    return np.concatenate([left, right]), n, m


def _take(pooled: Any, rows: np.ndarray) -> Any:
    return pooled[rows] if isinstance(pooled, np.ndarray) else [pooled[i] for i in rows]


def _check_sizes(who: str, n: int, m: int, unbiased: bool) -> None:
    if unbiased and min(n, m) < 2:
        raise ValueError(
            f"{who} with unbiased=True needs two rows of each sample, in every stratum that has "
            f"both. Got {n} and {m}; use unbiased=False."
        )


def _discrepancies(kernel: Kernel, X: Any, Z: np.ndarray, unbiased: bool) -> np.ndarray:
    """Return the squared discrepancy for every column of Z, which marks the first sample."""
    inner, sums, diagonal = _forms(kernel, X, Z)
    n, m = Z[:, 0].sum(), (1.0 - Z[:, 0]).sum()
    first, cross = inner, sums @ Z - inner
    second = sums.sum() - first - 2.0 * cross
    if not unbiased:
        return first / n**2 + second / m**2 - 2.0 * cross / (n * m)
    inside = diagonal @ Z
    first, second = first - inside, second - (diagonal.sum() - inside)
    return first / (n * (n - 1)) + second / (m * (m - 1)) - 2.0 * cross / (n * m)


def _forms(kernel: Kernel, X: Any, Z: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return ``z' K z`` for every column z, the row sums and the diagonal of K, without K."""
    P, _ = kernel._prepare(X, None)
    n, step = arrays.n_prepared(P), arrays.TILE_SQUARE

    def work(i: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        a = min(i + step, n)
        rows = arrays.take(P, slice(i, a))
        K = kernel._evaluate(rows, rows, True)
        diagonal = np.diag(K).copy()
        sums = np.zeros(n)
        sums[i:a] += K.sum(axis=1)
        product = K @ Z[i:a]
        for j in range(a, n, step):
            b = min(j + step, n)
            K = kernel._evaluate(rows, arrays.take(P, slice(j, b)), False)
            sums[i:a] += K.sum(axis=1)
            sums[j:b] += K.sum(axis=0)
            product += 2.0 * (K @ Z[j:b])  # the tile and its mirror image
        return np.einsum("ij,ij->j", Z[i:a], product), sums, diagonal

    parts = arrays.in_threads(work, range(0, n, step))
    inner = np.sum([part[0] for part in parts], axis=0)
    sums = np.sum([part[1] for part in parts], axis=0)
    return inner, sums, np.concatenate([part[2] for part in parts])
