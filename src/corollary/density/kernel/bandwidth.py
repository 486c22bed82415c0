r"""How wide the kernels of a density estimate should be.

The normal reference is best, in integrated squared error, if the density is normal and the kernel
Gaussian: for variance one it is :math:`h=(4/((d+2)n))^{1/(d+4)}`, and the error falls like
:math:`n^{-4/(d+4)}`. Where nothing is assumed, the likelihood of each row under the density of the
others says how good a bandwidth is.

References
----------
D. W. Scott (1992). Multivariate Density Estimation. Wiley.
B. W. Silverman (1986). Density Estimation for Statistics and Data Analysis. Chapman and Hall.
"""

import math
from typing import Any

import numpy as np

from corollary.core.estimator import Count, Positive, checked
from corollary.density.kernel._rows import moments_of, weighted_rows
from corollary.density.kernel.kernel_sum import KernelSum
from corollary.density.kernel.profiles import KernelName, log_kernel_integral


@checked
def scott_bandwidth(n_samples: Positive, n_features: Count) -> float:
    """Return Scott's factor ``n ** (-1 / (d + 4))`` for columns of variance one.

    Here n is the number of rows, or their weight, and d is ``n_features``. See
    :func:`reference_bandwidth`.

    Examples
    --------
    >>> from corollary.density import scott_bandwidth
    >>> scott_bandwidth(32, 1)
    0.5
    """
    return float(n_samples ** (-1 / (n_features + 4)))


@checked
def silverman_bandwidth(n_samples: Positive, n_features: Count) -> float:
    """Return the normal reference ``(4 / ((d + 2) n)) ** (1 / (d + 4))`` for variance one.

    See :func:`scott_bandwidth` for n and d.

    Examples
    --------
    >>> from corollary.density import silverman_bandwidth
    >>> silverman_bandwidth(32, 2) == (1 / 32) ** (1 / 6)
    True
    """
    return float((4 / ((n_features + 2) * n_samples)) ** (1 / (n_features + 4)))


def reference_bandwidth(X: Any, sample_weight: Any = None) -> np.ndarray:
    """Return the normal reference of each column: its standard deviation times Silverman's factor.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Rows, none of whose columns is constant.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Non-negative weights; a row of weight k counts like k equal rows.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.density import reference_bandwidth
    >>> X = np.random.default_rng(0).normal(scale=[1.0, 10.0], size=(1000, 2))
    >>> reference_bandwidth(X).round(2)
    array([0.32, 3.1 ])
    """
    moments = moments_of("reference_bandwidth", X, sample_weight)
    spread = np.sqrt(np.diag(moments.covariance(ddof=1)))
    if not spread.min() > 0:
        raise ValueError(
            "A reference bandwidth needs columns that vary. Constant: columns "
            f"{np.flatnonzero(spread <= 0).tolist()}. Leave them out, or give bandwidths."
        )
    return spread * silverman_bandwidth(moments.weight, len(spread))


def leave_one_out_log_likelihood(
    X: Any, bandwidth: Any, *, kernel: KernelName = "gaussian", sample_weight: Any = None
) -> float:
    """Return the sum of log densities of rows, each under the kernels of the others.

    It is minus infinity if a row is out of reach of all others.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Two rows or more.
    bandwidth : float or array-like of shape (n_features,)
        One for all columns, or one for each.
    kernel : {"gaussian", "tophat", "epanechnikov", "exponential", "linear", "cosine"}, \
            default="gaussian"
        The kernel.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Non-negative weights; a row of weight k counts like k equal rows, of which one is left out
        at a time.

    Examples
    --------
    >>> from corollary.density import leave_one_out_log_likelihood
    >>> X = [[0.0], [1.0]]  # each under a normal law around the other
    >>> round(leave_one_out_log_likelihood(X, 1.0), 6)
    -2.837877
    """
    X, weight = weighted_rows("leave_one_out_log_likelihood", X, sample_weight)
    h = np.broadcast_to(np.asarray(bandwidth, dtype=float), X.shape[1:])
    if not (np.isfinite(h).all() and h.min() > 0):
        raise ValueError(
            "leave_one_out_log_likelihood needs positive bandwidths, one or one for each of "
            f"{X.shape[1]} columns. Got {bandwidth!r}."
        )
    kernels = KernelSum((X - X.mean(axis=0)) / h, weight, kernel=kernel)
    others = kernels.log_leave_one_out()
    with np.errstate(divide="ignore"):  # of k equal rows k - 1 remain, at distance zero
        others = np.logaddexp(others, np.log(np.maximum(weight - 1, 0)))
    norm = log_kernel_integral(kernel, X.shape[1]) + np.log(h).sum() + math.log(weight.sum() - 1)
    return float(weight @ (others - norm))


def likelihood_bandwidth(
    X: Any, *, kernel: KernelName = "gaussian", sample_weight: Any = None, factors: Any = None
) -> np.ndarray:
    """Return the multiple of the reference bandwidths under which left-out rows are likeliest.

    See :class:`KernelDensity`; the parameters are those of :func:`leave_one_out_log_likelihood`,
    and ``factors`` are the multiples to try, by default 25 from 1/8 to 8, evenly spaced in their
    logarithms. If no multiple reaches every row from another, or the best one is the smallest
    because rows are equal, the likelihood has no maximum, which raises a ValueError.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.density import likelihood_bandwidth, reference_bandwidth
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(-5, 0.5, (200, 1)), rng.normal(5, 0.5, (200, 1))])
    >>> bool(likelihood_bandwidth(X)[0] < reference_bandwidth(X)[0] / 4)  # two peaks
    True
    """
    X, weight = weighted_rows("likelihood_bandwidth", X, sample_weight)
    base = reference_bandwidth(X, weight)
    multiples = np.geomspace(1 / 8, 8, 25) if factors is None else np.sort(factors)
    options: Any = {"kernel": kernel, "sample_weight": weight}
    values = [leave_one_out_log_likelihood(X, base * c, **options) for c in multiples]
    best = int(np.argmax(values))
    equal = len(np.unique(X, axis=0)) < len(X) or weight.max() > 1
    if not np.isfinite(values[best]) or (best == 0 and equal):
        raise ValueError(
            "likelihood_bandwidth needs rows that differ and reach each other: equal rows make "
            "ever smaller bandwidths better, and a row out of reach makes all impossible. Use "
            "'reference', or a Gaussian kernel."
        )
    return base * multiples[best]


@checked
def neighbor_bandwidths(X: Any, n_neighbors: Count) -> np.ndarray:
    """Return for each row its distance to the k-th of the other rows.

    As bandwidths they are narrow where rows are dense, and wide in the tails.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Rows.
    n_neighbors : int
        k, below the number of rows, and not below that of rows that equal one.

    Examples
    --------
    >>> from corollary.density import neighbor_bandwidths
    >>> neighbor_bandwidths([[0.0], [1.0], [5.0]], 1)
    array([1., 1., 4.])
    """
    from scipy.spatial import KDTree

    X, _ = weighted_rows("neighbor_bandwidths", X, None)
    if n_neighbors >= len(X):
        raise ValueError(
            f"neighbor_bandwidths needs more rows than neighbours. Got {len(X)} rows and "
            f"n_neighbors={n_neighbors}."
        )
    distances = KDTree(X).query(X, k=[n_neighbors + 1])[0][:, 0]
    if not distances.min() > 0:
        raise ValueError(
            f"neighbor_bandwidths needs fewer equal rows than neighbours. More than {n_neighbors} "
            f"rows equal row {int(np.argmin(distances))}: raise n_neighbors."
        )
    return distances
