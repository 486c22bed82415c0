r"""Unbiased estimators, where the likeliest value is not one.

The mean of a sample is unbiased for the mean of every law that has one. Of draws from
:math:`\{1,\dots,\theta\}` the largest, m, is the likeliest :math:`\theta` and always too small: for
one draw its mean is :math:`(\theta+1)/2`, and :math:`2x-1` is unbiased. For n draws

.. math:: \frac{m^{n+1}-(m-1)^{n+1}}{m^n-(m-1)^n}

is the one unbiased function of m, and so the unbiased estimator of least variance.
"""

from typing import Any

import numpy as np

from corollary.core.estimator import ArrayLike, checked


@checked
def sample_mean(samples: ArrayLike) -> np.ndarray:
    """Return the mean of each sample, unbiased for the mean of the law.

    Parameters
    ----------
    samples : array-like of shape (n_outcomes, n_samples)
        Samples as rows.

    Examples
    --------
    >>> from corollary.density import sample_mean
    >>> sample_mean([[1.0, 3.0], [2.0, 2.0]])
    array([2., 2.])
    """
    return np.asarray(samples, dtype=float).mean(axis=1)


@checked
def likeliest_range(samples: ArrayLike) -> np.ndarray:
    """Return the largest draw of each sample, the likeliest end of a uniform law.

    Parameters
    ----------
    samples : array-like of shape (n_outcomes, n_samples)
        Draws from {1, ..., theta} or from the interval (0, theta).

    Examples
    --------
    >>> from corollary.density import likeliest_range
    >>> likeliest_range([[3, 1], [2, 4]])
    array([3., 4.])
    """
    return np.asarray(samples, dtype=float).max(axis=1)


def unbiased_range(samples: Any) -> np.ndarray:
    """Return the unbiased estimate of theta from each sample of draws of {1, ..., theta}.

    Parameters
    ----------
    samples : array-like of shape (n_outcomes, n_samples)
        Whole numbers from 1 on; anything else is refused.

    Examples
    --------
    >>> from corollary.density import unbiased_range
    >>> unbiased_range([[7]]), unbiased_range([[3, 1]])
    (array([13.]), array([3.8]))
    """
    x = np.asarray(samples, dtype=float)
    if x.ndim != 2 or not ((x >= 1) & (x == np.floor(x))).all():
        raise ValueError(
            "unbiased_range needs samples of whole numbers from 1 on, one in each row. Got "
            f"shape {x.shape}."
        )
    m, n = likeliest_range(x), x.shape[1]
    below = (1 - 1 / m) ** n  # powers relative to those of m, which would overflow
    return m * (1 - below * (1 - 1 / m)) / (1 - below)
