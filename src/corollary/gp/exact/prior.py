"""Draws from the prior of a Gaussian process."""

from typing import Any

import numpy as np

from corollary.gp.exact.posterior import draw_gaussian
from corollary.kernels import Kernel


def sample_prior(
    kernel: Kernel,
    X: Any,
    n_samples: int = 1,
    *,
    mean: Any = 0.0,
    noise: Any = 0.0,
    random_state: Any = None,
) -> np.ndarray:
    r"""Draw values of functions from a Gaussian process.

    At points X the values have the law :math:`\mathcal N(m(X),K+\mathrm{diag}(\sigma^2))`.

    Parameters
    ----------
    kernel : Kernel
        Covariance.
    X : array-like of shape (n, d)
        Where.
    n_samples : int, default=1
        How many functions.
    mean : float or array-like of shape (n,), default=0.0
        Mean of the process at the points.
    noise : float or array-like of shape (n,), default=0.0
        Variance of independent noise to add; 0 draws the function itself.
    random_state : int, RandomState instance or None, default=None
        Seed or generator.

    Returns
    -------
    draws : ndarray of shape (n, n_samples)
        One function per column.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.gp import sample_prior
    >>> from corollary.kernels import RBF
    >>> sample_prior(RBF(), np.linspace(0, 1, 5)[:, None], 3, random_state=0).shape
    (5, 3)
    """
    from sklearn.utils import check_random_state

    if n_samples < 1:
        raise ValueError(
            "The 'n_samples' parameter of sample_prior must be an int in the range [1, inf). "
            f"Got {n_samples!r} instead."
        )
    K = np.array(kernel.gram(X))
    noise = np.broadcast_to(np.asarray(noise, dtype=float), (len(K),))
    if not (noise >= 0).all():
        raise ValueError("sample_prior needs noise variances that are not negative.")
    K[np.diag_indices(len(K))] += noise
    mean = np.broadcast_to(np.asarray(mean, dtype=float), (len(K),))
    return draw_gaussian(mean, K, n_samples, check_random_state(random_state))
