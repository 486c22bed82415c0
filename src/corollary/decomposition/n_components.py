r"""How many components: by explained variance, by a profile likelihood, by Minka's evidence.

The share rule takes the least number that explains a share of the variance. The profile likelihood
of Zhu and Ghodsi treats the first k eigenvalues and the others as two normal samples with their own
means and one variance, and is largest at the elbow of the scree plot. Minka's evidence integrates
the probabilistic model over its directions by Laplace's method.

References
----------
M. Zhu and A. Ghodsi (2006). Automatic dimensionality selection from the scree plot via the use of
profile likelihood. Computational Statistics and Data Analysis 51, 918-930.
T. P. Minka (2000). Automatic choice of dimensionality for PCA. NIPS 13, 598-604.
"""

from typing import Any

import numpy as np
from scipy.special import gammaln

from corollary.core.estimator import ArrayLike, Positive, Probability, checked


def _spectrum(who: str, values: Any) -> np.ndarray:
    """Return eigenvalues that do not ascend and are not negative."""
    v = np.asarray(values, dtype=np.float64)
    if v.ndim != 1 or not len(v) or not (v >= 0).all() or not (np.diff(v) <= 0).all():
        raise ValueError(
            f"{who} needs eigenvalues that are not negative, in descending order. Got {values!r}."
        )
    return v


@checked
def components_for_share(values: ArrayLike, share: Probability) -> int:
    """Return the least number of components that explain more than a share of the variance.

    The ``values`` are all eigenvalues of the covariance in descending order. See :class:`PCA`.

    Examples
    --------
    >>> from corollary.decomposition import components_for_share
    >>> components_for_share([5.0, 3.0, 2.0], 0.6)
    2
    """
    v = _spectrum("components_for_share", values)
    if v[0] == 0:
        return 1
    return min(len(v), int(np.searchsorted(np.cumsum(v / v.sum()), share, side="right")) + 1)


def profile_likelihood(values: Any) -> np.ndarray:
    r"""Return the profile log-likelihood of 1 to n - 1 components, for n eigenvalues.

    The eigenvalues, in descending order, are normal before and after the cut, with two means and
    one variance, all estimated. It is infinite where that variance is zero. See :class:`PCA`.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.decomposition import profile_likelihood
    >>> 1 + int(np.argmax(profile_likelihood([9.0, 8.5, 1.0, 0.9, 0.8])))
    2
    """
    v = _spectrum("profile_likelihood", values)
    n, freedom = len(v), max(1, len(v) - 2)  # two means; two eigenvalues are fitted exactly
    cuts = range(1, n)
    squares = np.array([k * v[:k].var() + (n - k) * v[k:].var() for k in cuts])
    with np.errstate(divide="ignore"):
        return -(n * np.log(2 * np.pi * squares / freedom) + freedom) / 2


@checked
def minka_evidence(values: ArrayLike, n_samples: Positive) -> np.ndarray:
    r"""Return Minka's log-evidence of 1 to d - 1 components, by Laplace's method.

    The ``values`` are all d eigenvalues of the covariance in descending order, ``n_samples`` is the
    number of rows, or their total weight. Where a component has no variance the evidence is minus
    infinity. See :class:`PCA`.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.decomposition import minka_evidence
    >>> 1 + int(np.argmax(minka_evidence([9.0, 8.5, 1.0, 0.9, 0.8], 50)))
    2
    """
    v, N = _spectrum("minka_evidence", values), float(n_samples)
    return np.array([_laplace(v, k, N) for k in range(1, len(v))])


def _laplace(v: np.ndarray, k: int, N: float) -> float:
    """Return Minka's approximation of the log-evidence of k components."""
    d, tiny = len(v), 1e-15
    if v[k - 1] < tiny or v[k - 1] == v[k]:  # no variance, or a cut between equal eigenvalues
        return -np.inf
    noise = max(tiny, float(v[k:].mean()))
    sizes = (d - np.arange(k)) / 2
    prior = -k * np.log(2.0) + np.sum(gammaln(sizes) - sizes * np.log(np.pi))
    fit = -N / 2 * (np.log(v[:k]).sum() + (d - k) * np.log(noise))
    freedom = d * k - k * (k + 1) / 2
    fitted = np.concatenate([v[:k], np.full(d - k, noise)])
    i, j = np.triu_indices(d, 1)
    i, j = i[i < k], j[i < k]
    # Laplace's method knows no curvature zero, which rotations of equal eigenvalues have.
    curvature = (v[i] - v[j]) * (1 / fitted[j] - 1 / fitted[i])
    curvature = np.log(np.maximum(curvature, np.finfo(float).eps)) + np.log(N)
    volume = (freedom + k) / 2 * np.log(2 * np.pi) - curvature.sum() / 2 - k / 2 * np.log(N)
    return float(prior + fit + volume)
