"""EM of equal round components, which becomes Lloyd's iteration as their variance vanishes."""

from typing import Any, NamedTuple

import numpy as np

from corollary.core.estimator import NonNegative, checked


class SoftStep(NamedTuple):
    """New means of equal round components, and the responsibilities under the old ones."""

    means: np.ndarray
    r: np.ndarray


@checked
def soft_lloyd_step(X: Any, means: Any, variance: NonNegative) -> SoftStep:
    r"""Take a step of EM with components :math:`\mathcal N(\mu_j,sI)` of equal weight.

    Responsibilities are :math:`r_{ij}\propto e^{-\|x_i-\mu_j\|^2/(2s)}`, and that of a component
    whose squared distance exceeds the least one by g is at most :math:`e^{-g/(2s)}`. As s tends to
    0 the nearest mean takes all, and the step is Lloyd's.

    Parameters
    ----------
    X, means : array-like of shape (n_samples, n_features) and (n_components, n_features)
        Rows, and the means of the components.
    variance : float
        The variance s, fixed; 0 is the limit, Lloyd's step, where means at equal distance share a
        row.

    Returns
    -------
    step : SoftStep
        The new ``means``, and the responsibilities ``r`` under the old ones. A mean without any row
        stays where it is.

    Examples
    --------
    >>> from corollary.mixture import soft_lloyd_step
    >>> X = [[0.0], [1.0], [5.0]]
    >>> soft_lloyd_step(X, [[0.0], [4.0]], 0.0).means.ravel()
    array([0.5, 5. ])
    >>> soft_lloyd_step(X, [[0.0], [4.0]], 1.0).means.ravel().round(4)
    array([0.4956, 4.9277])
    """
    X, means = np.asarray(X, dtype=float), np.asarray(means, dtype=float)
    squares = ((X[:, None] - means) ** 2).sum(axis=2)
    excess = squares - squares.min(axis=1, keepdims=True)
    r = np.exp(-excess / (2 * variance)) if variance > 0 else (excess == 0).astype(float)
    r /= r.sum(axis=1, keepdims=True)
    totals = r.sum(axis=0)
    moved, has_rows = means.copy(), totals > 0
    moved[has_rows] = (r.T @ X)[has_rows] / totals[has_rows, None]
    return SoftStep(moved, r)
