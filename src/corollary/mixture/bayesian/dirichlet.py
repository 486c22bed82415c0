"""Beta and Dirichlet laws: densities, updates by counts, and draws by breaking a stick."""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from corollary.core.estimator import Count, Positive, Probability, RandomSeed, checked


@checked
def beta_log_density(x: Any, a: Positive, b: Positive) -> np.ndarray:
    r"""Return the logarithm of :math:`x^{a-1}(1-x)^{b-1}/B(a,b)`.

    From a uniform prior it is the law of a coin's probability after a - 1 heads and b - 1 tails.

    Parameters
    ----------
    x : array-like
        Numbers; the density is zero outside the unit interval.
    a, b : float
        Positive.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.mixture import beta_log_density
    >>> np.exp(beta_log_density([0.25, 0.5], 2.0, 2.0)).round(3)
    array([1.125, 1.5  ])
    """
    from scipy.special import betaln, xlog1py, xlogy

    x = np.asarray(x, dtype=float)
    inside = (x >= 0) & (x <= 1)
    value, y = np.full(x.shape, -np.inf), x[inside]
    value[inside] = xlogy(a - 1, y) + xlog1py(b - 1, -y) - betaln(a, b)
    return value


def dirichlet_log_density(x: Any, alpha: Any) -> np.ndarray:
    r"""Return the logarithm of :math:`\prod_kx_k^{\alpha_k-1}/B(\alpha)` on the simplex.

    Parameters
    ----------
    x : array-like of shape (..., n_categories)
        Points of the simplex: non-negative, of sum one.
    alpha : array-like of shape (n_categories,)
        Positive.

    Returns
    -------
    log_density : ndarray
        Relative to the first coordinates but the last.

    Examples
    --------
    >>> from corollary.mixture import dirichlet_log_density
    >>> dirichlet_log_density([0.2, 0.3, 0.5], [1.0, 1.0, 1.0]).round(4)  # 2, everywhere
    np.float64(0.6931)
    """
    from scipy.special import gammaln, xlogy

    alpha, x = _positive(alpha), np.asarray(x, dtype=float)
    if x.shape[-1:] != alpha.shape or (x < 0).any() or np.abs(x.sum(axis=-1) - 1).max() > 1e-8:
        raise ValueError(
            f"x must be a point of the simplex, {len(alpha)} non-negative numbers of sum one. Got "
            f"shape {x.shape} with sums from {x.sum(axis=-1).min():g}."
        )
    log_beta = gammaln(alpha).sum() - gammaln(alpha.sum())
    return xlogy(alpha - 1, x).sum(axis=-1) - log_beta


def dirichlet_posterior(alpha: Any, counts: Any) -> np.ndarray:
    """Return the parameters of a Dirichlet law after categories have been counted.

    With two categories it is the update of a Beta law by heads and tails.

    Parameters
    ----------
    alpha : array-like of shape (n_categories,)
        Parameters before; positive.
    counts : array-like of shape (n_categories,)
        How often each category was drawn; non-negative.

    Examples
    --------
    >>> from corollary.mixture import dirichlet_posterior
    >>> dirichlet_posterior([1.0, 1.0], [3, 0])
    array([4., 1.])
    """
    alpha, counts = _positive(alpha), np.asarray(counts, dtype=float)
    if counts.shape != alpha.shape or not (counts >= 0).all():
        raise ValueError(
            f"counts must be {len(alpha)} non-negative numbers like alpha. Got {counts.tolist()}."
        )
    return alpha + counts


def stick_weights(shares: Any) -> np.ndarray:
    r"""Return the pieces :math:`\rho_i=\beta_i\prod_{j<i}(1-\beta_j)` of a stick of length one.

    Their sum is one less what is left of the stick.

    Parameters
    ----------
    shares : array-like of shape (..., n_breaks)
        The share of what is left that each break takes, from 0 to 1.

    Examples
    --------
    >>> from corollary.mixture import stick_weights
    >>> stick_weights([0.5, 0.5, 1.0])
    array([0.5 , 0.25, 0.25])
    """
    shares = np.asarray(shares, dtype=float)
    if not ((shares >= 0) & (shares <= 1)).all():
        raise ValueError("shares must be numbers from 0 to 1. Got others.")
    left = np.cumprod(1 - shares, axis=-1)
    before = np.concatenate([np.ones_like(left[..., :1]), left[..., :-1]], axis=-1)
    return shares * before


@checked
def dirichlet_by_sticks(
    alpha: Any, n_samples: Count = 1, random_state: RandomSeed = None
) -> np.ndarray:
    r"""Draw from a Dirichlet law by breaking a stick.

    The share of break i is :math:`\mathrm{Beta}(\alpha_i,\sum_{k>i}\alpha_k)`; the last break takes
    all that is left. What is left, renormalised, is again a Dirichlet law.

    Parameters
    ----------
    alpha : array-like of shape (n_categories,)
        Positive.
    n_samples : int, default=1
        Number of draws.
    random_state : int, RandomState instance or None, default=None
        Seed or generator.

    Returns
    -------
    weights : ndarray of shape (n_samples, n_categories)
        Rows sum to one.

    Examples
    --------
    >>> from corollary.mixture import dirichlet_by_sticks
    >>> dirichlet_by_sticks([0.5, 2.0, 3.0], 20_000, random_state=0).mean(axis=0).round(2)
    array([0.09, 0.36, 0.55])
    """
    alpha = _positive(alpha)
    tails = alpha.sum() - np.cumsum(alpha)
    random = check_random_state(random_state)
    shares = np.ones((n_samples, len(alpha)))
    shares[:, :-1] = random.beta(alpha[:-1], tails[:-1], size=(n_samples, len(alpha) - 1))
    return stick_weights(shares)


@checked
def gem_weights(
    concentration: Positive, tol: Probability = 1e-10, random_state: RandomSeed = None
) -> np.ndarray:
    r"""Draw the weights of a Dirichlet process: Griffiths, Engen and McCloskey's law, truncated.

    Shares are :math:`\mathrm{Beta}(1,\alpha)`. The stick is broken until less than ``tol`` of it is
    left, which the last piece takes; on average :math:`1+\alpha\log(1/\mathrm{tol})` breaks.

    Parameters
    ----------
    concentration : float
        The concentration :math:`\alpha`.
    tol : float, default=1e-10
        Length of the stick that is not broken any more.
    random_state : int, RandomState instance or None, default=None
        Seed or generator.

    Examples
    --------
    >>> from corollary.mixture import gem_weights
    >>> gem_weights(1.0, tol=0.1, random_state=1).round(3)
    array([0.287, 0.215, 0.408, 0.091])
    """
    random = check_random_state(random_state)
    # The logarithm of what is left falls by exponential numbers of mean 1/alpha: its values are the
    # events of a Poisson process, and the first one below log(tol) is as far below it as any fall.
    end = -np.log(tol)
    events = np.sort(random.uniform(0.0, end, size=random.poisson(concentration * end)))
    falls = np.diff(events, prepend=0.0, append=end + random.exponential() / concentration)
    return stick_weights(np.append(-np.expm1(-falls), 1.0))


def _positive(alpha: Any) -> np.ndarray:
    """Return parameters of a Dirichlet law, or refuse them."""
    alpha = np.asarray(alpha, dtype=float)
    if alpha.ndim != 1 or alpha.size == 0 or not ((alpha > 0) & (alpha < np.inf)).all():
        raise ValueError(f"alpha must be a vector of positive numbers. Got {alpha.tolist()}.")
    return alpha
