"""The continuous ranked probability score of normal predictions."""

from typing import Any

import numpy as np
from scipy.special import ndtr


def crps_normal(y: Any, mean: Any, std: Any) -> np.ndarray:
    r"""Compute the continuous ranked probability score of normal predictions.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        What happened.
    mean : array-like of shape (n_samples,)
        Predicted means.
    std : array-like of shape (n_samples,)
        Predicted standard deviations, positive.

    Returns
    -------
    score : ndarray of shape (n_samples,)
        :math:`\int(F(t)-1\{y\le t\})^2dt`, in the units of y; with :math:`z=(y-\mu)/\sigma` it is
        :math:`\sigma\bigl(z(2\Phi(z)-1)+2\varphi(z)-1/\sqrt\pi\bigr)`.

    See Also
    --------
    corollary.validation.crps_sample : Predictions given by draws.
    corollary.gp.normal_scores : Mean scores of normal predictions.

    Examples
    --------
    >>> from corollary.validation import crps_normal
    >>> crps_normal([0.0], [0.0], [1.0]).round(4)
    array([0.2337])
    """
    y, mean, std = np.broadcast_arrays(*(np.asarray(a, dtype=float) for a in (y, mean, std)))
    if not np.all(std > 0):
        raise ValueError(
            "The 'std' parameter of crps_normal must be positive. Got values from "
            f"{np.min(std):g}; a sure prediction is scored by its absolute error."
        )
    z = (y - mean) / std
    with np.errstate(over="ignore"):  # far out the density is zero
        density = np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi)
    return std * (z * (2 * ndtr(z) - 1) + 2 * density - 1 / np.sqrt(np.pi))
