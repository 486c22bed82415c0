"""The mean conditional risk of a fixed model over one period, by its losses there."""

from typing import Literal

import numpy as np

from corollary.core.estimator import AnyReal, ArrayLike, Probability, checked
from corollary.theory.concentration.betting_mean import betting_mean_bound
from corollary.theory.concentration.bounded_differences import azuma_bound
from corollary.theory.concentration.bounded_losses import check_losses


@checked
def period_risk_bound(
    losses: ArrayLike,
    delta: Probability,
    *,
    low: AnyReal = 0.0,
    high: AnyReal = 1.0,
    method: Literal["betting", "azuma"] = "betting",
) -> float:
    r"""Bound the mean risk that a fixed model had in a period, each row given those before it.

    Let :math:`L_t` be the loss of row t, in the order of time. What can be proved without any
    assumption about how rows depend on each other is about

    .. math:: \bar r=\frac1T\sum_{t=1}^TE[L_t\,|\,\text{everything before row }t].

    Parameters
    ----------
    losses : array-like of shape (n_rows,)
        Losses of the rows of the period, of a model that was fixed before the first of them.
    delta : float
        Probability of failure, strictly between 0 and 1.
    low : float, default=0.0
        Smallest possible loss.
    high : float, default=1.0
        Largest possible loss.
    method : {"betting", "azuma"}, default="betting"
        "azuma" adds :math:`(b-a)\sqrt{\log(1/\delta)/(2T)}` to the mean loss, for losses in
        [a, b]; "betting" is sharper for losses near an end of their range, such as few errors, and
        wider by a seventh or so in the middle. Choose before looking.

    Returns
    -------
    bound : float
        Upper bound on :math:`\bar r`, at most `high`.

    Raises
    ------
    ValueError
        If a loss is not a number or lies outside the range.

    See Also
    --------
    run_risk_bound : For a model that learns from the rows, which must then be independent.

    Notes
    -----
    Guarantee: with probability at least 1 - delta over what happens in the period, under any
    dependence, drift and trend: :math:`L_t-E[L_t\,|\,\text{past}]` are martingale differences.
    Nothing follows for later rows. Checked by ``tests/guarantees/dependent_rows.py``.

    References
    ----------
    Azuma, K. (1967). Weighted sums of certain dependent random variables. Tohoku Mathematical
    Journal 19.

    Cesa-Bianchi, N., Conconi, A. and Gentile, C. (2004). On the generalization ability of on-line
    learning algorithms. IEEE Transactions on Information Theory 50, proposition 1.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.theory import period_risk_bound
    >>> mistakes = np.arange(200) < 6
    >>> round(period_risk_bound(mistakes, 0.05), 4)
    0.0755
    >>> round(period_risk_bound(mistakes, 0.05, method="azuma"), 4)
    0.1165
    """
    losses = check_losses(losses, low, high, who="period_risk_bound")
    if losses.ndim != 1:
        raise ValueError(
            "The 'losses' parameter of period_risk_bound must be one-dimensional. "
            f"Got shape {losses.shape} instead."
        )
    if method == "betting":
        return betting_mean_bound(losses, delta, low=low, high=high)
    n = len(losses)
    # A difference that lies in an interval of length w is sub-Gaussian with w / 2.
    radius = azuma_bound(np.full(n, (high - low) / 2), delta=delta) / n
    return float(min(high, losses.mean() + radius))
