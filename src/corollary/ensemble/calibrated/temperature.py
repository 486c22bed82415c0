"""One temperature for all scores: the mildest way to mend probabilities."""

from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import softmax

from corollary.core.estimator import ArrayLike, checked

#: Logarithms of the inverse temperatures that are tried.
_RANGE = 10.0


@checked
def temperature_scaling(logits: ArrayLike, codes: ArrayLike, sample_weight: Any = None) -> float:
    r"""Return the inverse temperature at which probabilities have the least log loss.

    Of :math:`p_\beta(k \mid x) \propto e^{\beta z_k(x)}` the log loss is convex in
    :math:`\beta`, and its slope is the mean of :math:`E_{p_\beta}[z(x)] - z_y(x)`. The order of
    the classes stays as it is for every :math:`\beta > 0`, and so does every decision.

    Parameters
    ----------
    logits : array-like of shape (n_samples, n_classes)
        Scores z of rows that the classifier was not trained on; -inf for impossible classes.
    codes : array-like of int of shape (n_samples,)
        The place of each row's class among the columns.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Non-negative weights.

    Returns
    -------
    beta : float
        Between :math:`e^{-10}`, where scores say nothing or the opposite, and :math:`e^{10}`, where
        they are never wrong.

    References
    ----------
    .. [1] C. Guo, G. Pleiss, Y. Sun, K. Weinberger (2017). On calibration of modern neural
       networks. ICML.

    Examples
    --------
    Three of four rows are of the class that has the odds 9:1, so that 3:1 is right:

    >>> import numpy as np
    >>> from corollary.ensemble import temperature_scaling
    >>> beta = temperature_scaling(np.log([[0.9, 0.1]] * 4), [0, 0, 0, 1])
    >>> round(float(9**beta), 6)
    3.0
    """
    z, codes = np.asarray(logits, dtype=np.float64), np.asarray(codes, dtype=np.intp)
    w = np.ones(len(z)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    truth = z[np.arange(len(z)), codes]
    kept = np.isfinite(truth)  # a class that was called impossible is not mended by any temperature
    z, truth, w = z[kept], truth[kept], w[kept]
    finite = np.where(np.isfinite(z), z, 0.0)

    def slope(log_beta: float) -> float:
        p = softmax(np.exp(log_beta) * z, axis=1)
        return float(w @ ((p * finite).sum(axis=1) - truth))

    if slope(_RANGE) <= 0:
        return float(np.exp(_RANGE))
    return float(np.exp(-_RANGE if slope(-_RANGE) >= 0 else brentq(slope, -_RANGE, _RANGE)))
