"""How far the mean of bounded observations can lie from its expectation.

Each inequality is one function that returns a radius around the empirical mean, so that
``mean + radius`` is an upper confidence bound on the expectation. Ranges are written ``low`` and
``high``, the failure probability ``delta``; ``sides=2`` asks that both directions hold at once.
"""

import math
from typing import Any, Literal

import numpy as np

from corollary.core.estimator import AnyReal, ArrayLike, Count, Positive, Probability, checked


@checked
def hoeffding_bound(
    *,
    n_samples: Count | None = None,
    delta: Probability | None = None,
    radius: Positive | None = None,
    low: AnyReal | ArrayLike = 0.0,
    high: AnyReal | ArrayLike = 1.0,
    sides: Literal[1, 2] = 1,
) -> float:
    r"""Solve Hoeffding's inequality for its radius, its probability or its sample size.

    Independent observations :math:`X_i \in [a_i, b_i]` with mean :math:`\bar X` satisfy

    .. math:: P\{\bar X - E\bar X \ge r\} \le \exp\Big(-\frac{2 n^2 r^2}{\sum_i (b_i - a_i)^2}\Big)

    and the same below. Here :math:`n` is `n_samples`, :math:`r` is `radius`, :math:`a, b` are
    `low` and `high`, and the right side, times `sides`, is `delta`. Give two of the three
    quantities and the third is returned.

    Parameters
    ----------
    n_samples : int or None, default=None
        Number of observations. Left out when `low` or `high` lists one end per observation.
    delta : float or None, default=None
        Probability of failure, strictly between 0 and 1.
    radius : float or None, default=None
        Distance between the empirical mean and its expectation, positive.
    low : float or array-like of shape (n_samples,), default=0.0
        Smallest possible value, common to all observations or one for each.
    high : float or array-like of shape (n_samples,), default=1.0
        Largest possible value.
    sides : {1, 2}, default=1
        1 for one direction (an upper or a lower bound), 2 for both at once.

    Returns
    -------
    answer : float
        The quantity that was left out. A probability is at most 1, where the inequality is
        vacuous; a sample size is a whole number, the smallest that suffices.

    Raises
    ------
    ValueError
        If not exactly one quantity is left out, or an interval is empty.

    See Also
    --------
    empirical_bernstein_radius : Shorter when the observations vary little.
    clopper_pearson_upper : Exact when they are 0 or 1.

    Notes
    -----
    Guarantee: with probability at least 1 - delta the expectation is below mean + radius. The
    observations must be independent and their ranges known before they are seen; they need not
    have the same law. Checked by ``tests/theory/test_concentration.py``.

    References
    ----------
    Hoeffding, W. (1963). Probability inequalities for sums of bounded random variables. Journal
    of the American Statistical Association 58, theorem 2.

    Examples
    --------
    >>> from corollary.theory import hoeffding_bound
    >>> round(hoeffding_bound(n_samples=100, delta=0.05), 4)
    0.1224
    >>> hoeffding_bound(radius=0.1, delta=0.05)
    150.0
    >>> round(hoeffding_bound(n_samples=100, radius=0.1), 4)
    0.1353
    """
    low, high = np.asarray(low, dtype=float), np.asarray(high, dtype=float)
    width = high - low
    if not (np.all(np.isfinite(width)) and np.all(width > 0)):
        raise ValueError(
            "The 'low' and 'high' parameters of hoeffding_bound must be finite with low < high. "
            f"Got low={low.tolist()} and high={high.tolist()} instead."
        )
    if width.ndim > 1:
        raise ValueError(
            "The 'low' and 'high' parameters of hoeffding_bound must be numbers or hold one number "
            f"per observation. Got shape {width.shape} instead."
        )
    if width.ndim == 1:
        if n_samples is not None or (delta is None) == (radius is None):
            raise ValueError(
                "hoeffding_bound with one range per observation takes 'n_samples' from their "
                "number: give exactly one of 'delta' and 'radius'."
            )
        n_samples = len(width)
        squares = float(np.sum(width**2))
    else:
        n_declared = sum(value is not None for value in (n_samples, delta, radius))
        if n_declared != 2:
            raise ValueError(
                "hoeffding_bound needs exactly two of 'n_samples', 'delta' and 'radius' and "
                f"returns the third. Got {n_declared} of them."
            )
        if n_samples is None:
            assert delta is not None
            assert radius is not None
            return float(_smallest_sample(radius, delta, float(width), sides))
        squares = n_samples * float(width) ** 2
    if radius is None:
        assert delta is not None
        return math.sqrt(squares * math.log(sides / delta) / 2) / n_samples
    return min(1.0, sides * math.exp(-2 * (n_samples * radius) ** 2 / squares))


def _smallest_sample(radius: float, delta: float, width: float, sides: int) -> int:
    n = max(1, math.ceil(width**2 * math.log(sides / delta) / (2 * radius**2) - 1e-6))
    # The logarithm may round either way; the answer is defined by the inequality itself.
    while sides * math.exp(-2 * n * (radius / width) ** 2) > delta * (1 + 1e-12):
        n += 1
    return n


@checked
def empirical_bernstein_radius(
    losses: ArrayLike,
    delta: Probability,
    *,
    low: AnyReal = 0.0,
    high: AnyReal = 1.0,
    sides: Literal[1, 2] = 1,
) -> Any:
    r"""Bound the distance of a mean from its expectation by the observed variance.

    With :math:`n` losses :math:`X_i \in [a, b]` and their sample variance
    :math:`V = \frac{1}{n-1}\sum_i (X_i - \bar X)^2` the radius is

    .. math:: \sqrt{\frac{2 V \log(m/\delta)}{n}} + \frac{7 (b - a) \log(m/\delta)}{3 (n - 1)},

    where :math:`m` counts the events that must hold together: one for the variance and one for
    each side. Here :math:`a, b` are `low` and `high`.

    Parameters
    ----------
    losses : array-like of shape (n_samples,) or (n_samples, n_columns)
        Independent observations in the rows. The variance is taken over rows, always; each
        column gets a radius of its own that is valid for this column alone.
    delta : float
        Probability of failure, strictly between 0 and 1.
    low : float, default=0.0
        Smallest possible value.
    high : float, default=1.0
        Largest possible value.
    sides : {1, 2}, default=1
        1 for one direction (an upper or a lower bound), 2 for both at once.

    Returns
    -------
    radius : float or ndarray of shape (n_columns,)
        Distance around the mean; infinite for a single observation, which has no variance.

    Raises
    ------
    ValueError
        If a loss is not a number or lies outside the range.

    See Also
    --------
    hoeffding_bound : Needs no variance; shorter when the variance is large.

    Notes
    -----
    Guarantee: with probability at least 1 - delta the expectation is below mean + radius, for
    independent and identically distributed losses whose range was known before they were seen.
    Checked by ``tests/theory/test_concentration.py``.

    References
    ----------
    Maurer, A. and Pontil, M. (2009). Empirical Bernstein bounds and sample variance penalization.
    Conference on Learning Theory, theorem 4.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.theory import empirical_bernstein_radius
    >>> losses = np.zeros(1000)
    >>> losses[:10] = 1
    >>> round(empirical_bernstein_radius(losses, delta=0.05), 4)
    0.0172
    """
    losses = check_losses(losses, low, high, who="empirical_bernstein_radius")
    n = len(losses)
    if n < 2:
        radius = np.full(losses.shape[1:], np.inf)
    else:
        confidence_term = math.log((1 + sides) / delta)
        variance = losses.var(axis=0, ddof=1)
        radius = np.sqrt(2 * variance * confidence_term / n) + 7 * (
            high - low
        ) * confidence_term / (3 * (n - 1))
    return float(radius) if losses.ndim == 1 else radius


def check_losses(losses: Any, low: float, high: float, *, who: str) -> np.ndarray:
    """Verify that losses are numbers within their declared range.

    Parameters
    ----------
    losses : array-like of shape (n_samples,) or (n_samples, n_columns)
        The losses.
    low : float
        Smallest possible loss.
    high : float
        Largest possible loss.
    who : str
        Name of the caller, for the message.

    Returns
    -------
    losses : ndarray
        The losses as an array; what rounding put beyond an end of the range is put back.

    Raises
    ------
    ValueError
        If a loss is missing or out of range, or the range is none.

    Examples
    --------
    >>> from corollary.theory import check_losses
    >>> check_losses([0.0, 2.0], 0.0, 1.0, who="mean_loss")
    Traceback (most recent call last):
        ...
    ValueError: The losses given to mean_loss must lie in [0, 1], or its theorem does not apply. ...
    """
    losses = np.asarray(losses, dtype=float)
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise ValueError(
            f"The 'low' and 'high' parameters of {who} must be finite with low < high. "
            f"Got low={low} and high={high} instead."
        )
    if losses.ndim not in (1, 2) or len(losses) == 0:
        raise ValueError(
            f"The 'losses' parameter of {who} must hold at least one observation in one or two "
            f"dimensions. Got shape {losses.shape} instead."
        )
    smallest, largest = losses.min(), losses.max()
    # A weighted mean of losses at an end of the range may be rounded beyond it.
    slack = 1e-12 * (high - low)
    # Written so that NaN, for which every comparison is false, is refused too.
    if not (smallest >= low - slack and largest <= high + slack):
        raise ValueError(
            f"The losses given to {who} must lie in [{low:g}, {high:g}], or its theorem does not "
            f"apply. Got values from {smallest:g} to {largest:g}. Widen the range or clip the "
            "loss; do not choose either after seeing these losses."
        )
    return losses if smallest >= low and largest <= high else np.clip(losses, low, high)
