r"""What a noisy query tells about a function elsewhere.

For a Gaussian process, the mutual information of :math:`y_x=f(x)+\epsilon` and the values
:math:`f_A` on a target set is half the logarithm of a ratio of variances,
:math:`I(f_A;y_x\mid D)=\tfrac12\log\{\mathrm{Var}[y_x\mid D]/\mathrm{Var}[y_x\mid f_A,D]\}`. It
needs normal noise, and does not depend on the values in D. Inside the target set the
denominator is the noise variance, and the largest information is at the largest variance.
"""

from typing import Any

import numpy as np
from scipy.linalg.lapack import dpstrf, dtrtrs

from corollary.active._checks import same_rows
from corollary.active.gaussian.growing import GrowingPosterior

# Pivots below this share of the largest variance are rounding: they say nothing.
_PIVOT = 1e-12


def conditional_variance(K_targets: Any, K_cross: Any, variances: Any) -> np.ndarray:
    r"""Return what is left of variances once a Gaussian vector is known.

    With K the covariance of :math:`f_A` and k that of it with f(x) it is
    :math:`k(x,x)-k^\top K^{-1}k`. The factorisation pivots and stops where nothing but rounding
    is left, so that targets may determine each other.

    Parameters
    ----------
    K_targets : array-like of shape (t, t)
        Covariance of the values that become known.
    K_cross : array-like of shape (t, m)
        Their covariance with the others.
    variances : array-like of shape (m,)
        Variances of the others before.

    Returns
    -------
    left : ndarray of shape (m,)
        Variances after, never negative.

    Examples
    --------
    >>> from corollary.active import conditional_variance
    >>> conditional_variance([[1.0]], [[0.5]], [1.0])
    array([0.75])
    """
    K = np.array(K_targets, dtype=float, order="F")
    cross, variances = np.asarray(K_cross, dtype=float), np.asarray(variances, dtype=float)
    t = len(K)
    if K.shape != (t, t) or cross.shape != (t, len(variances)):
        raise ValueError(
            "conditional_variance needs shapes (t, t), (t, m) and (m,). "
            f"Got {K.shape}, {cross.shape} and {variances.shape}."
        )
    largest = float(np.diag(K).max(initial=0.0))
    if t == 0 or largest <= 0.0:
        return np.maximum(variances, 0.0)
    factor, order, rank, _ = dpstrf(K, tol=_PIVOT * largest, lower=1, overwrite_a=1)
    V = dtrtrs(factor[:rank, :rank], cross[order[:rank] - 1], lower=1)[0]
    return np.maximum(variances - np.einsum("ij,ij->j", V, V), 0.0)


def query_information(variance: Any, variance_given_targets: Any, noise: float) -> np.ndarray:
    r"""Return the mutual information of noisy queries and targets from two variances.

    Parameters
    ----------
    variance : array-like of float
        Variance of f(x).
    variance_given_targets : array-like of float
        Variance of f(x) once the values on the target set are known.
    noise : float
        Noise variance :math:`\rho^2`, positive.

    Returns
    -------
    information : ndarray of float
        :math:`\tfrac12\log\frac{\mathrm{Var}f(x)+\rho^2}{\mathrm{Var}[f(x)\mid f_A]+\rho^2}` in
        nats.

    Examples
    --------
    >>> from corollary.active import query_information
    >>> query_information([3.0, 3.0], [0.0, 3.0], 1.0).round(4)  # log 2 in the set, 0 far away
    array([0.6931, 0.    ])
    """
    if not noise > 0:
        raise ValueError(
            "The 'noise' parameter of query_information must be a positive float; without noise "
            f"the information inside the target set is infinite. Got {noise!r} instead."
        )
    before, after = np.asarray(variance, dtype=float), np.asarray(variance_given_targets, float)
    return 0.5 * np.log((before + noise) / (after + noise))


def mutual_information(posterior: GrowingPosterior, queries: Any, targets: Any) -> np.ndarray:
    r"""Return what each query would tell about the function on a target set.

    The mutual information :math:`I(f_A;y_x\mid D)` of one noisy observation at x and the values
    of f on the targets A, given the observations D so far.

    Parameters
    ----------
    posterior : GrowingPosterior
        What is known, with the kernel and the noise variance.
    queries : array-like of shape (m, n_features)
        Points x that might be asked.
    targets : array-like of shape (t, n_features)
        Points of interest A.

    Returns
    -------
    information : ndarray of shape (m,)
        In nats.

    See Also
    --------
    TransductiveLearner : Asks where it is largest.

    Notes
    -----
    Mutual information is symmetric: the same number is half the logarithm of the ratio of the
    determinants of the targets' covariance before and after the query.

    References
    ----------
    .. [1] J. Hübotter et al., Transductive active learning: theory and applications, NeurIPS 2024.

    Examples
    --------
    >>> from corollary.active import GrowingPosterior, Prior, mutual_information
    >>> from corollary.kernels import RBF
    >>> posterior = GrowingPosterior(Prior(RBF(), noise=0.1), n_features=1)
    >>> mutual_information(posterior, [[0.0], [1.0], [5.0]], [[0.0]]).round(3)
    array([1.199, 0.204, 0.   ])
    """
    from corollary.active.gaussian._score import information_in

    queries, targets = np.asarray(queries, dtype=float), np.asarray(targets, dtype=float)
    view = posterior.view(np.concatenate([queries, targets]))
    m = len(queries)
    information = information_in(view, np.arange(m), m + np.arange(len(targets)))
    inside = same_rows(queries, targets)
    noise = posterior.prior.noise
    return np.where(inside, query_information(view.variance()[:m], 0.0, noise), information)
