"""The mean risk of the hypotheses of an online run, by the losses of the run."""

from typing import Literal

import numpy as np

from corollary.core.estimator import AnyReal, ArrayLike, Probability, checked
from corollary.theory.concentration.bounded_differences import azuma_bound
from corollary.theory.concentration.bounded_losses import check_losses
from corollary.theory.concentration.confidence_sequence import stitched_sequence


@checked
def run_risk_bound(
    losses: ArrayLike,
    delta: Probability,
    *,
    low: AnyReal = 0.0,
    high: AnyReal = 1.0,
    method: Literal["azuma", "bernoulli", "empirical-bernstein"] = "azuma",
) -> float:
    r"""Bound the mean risk of the hypotheses of an online run by its losses.

    Parameters
    ----------
    losses : array-like of shape (n_rounds,)
        Loss of every round, of the hypothesis *before* it learnt from the row.
    delta : float
        Probability of failure, strictly between 0 and 1.
    low : float, default=0.0
        Smallest possible loss.
    high : float, default=1.0
        Largest possible loss.
    method : str, default="azuma"
        "azuma" uses the range, "bernoulli" is sharper for losses near an end of it, such as few
        mistakes, "empirical-bernstein" for losses that vary little. The latter two hold after
        every round at once. Choose before looking.

    Returns
    -------
    bound : float
        Upper bound on :math:`\frac1n\sum_t R(h_{t-1})`, at most `high`.

    See Also
    --------
    corollary.online.online_to_batch_bound : From a mistake bound, in expectation.
    stitched_sequence : What the sharper methods are.

    Notes
    -----
    Guarantee: with probability at least 1 - delta over the rows, which must be independent draws
    of one law; nothing is asked of the learner but that it predicts before it learns. Checked by
    ``tests/guarantees/online_to_batch.py``.

    References
    ----------
    Cesa-Bianchi, N., Conconi, A. and Gentile, C. (2004). On the generalization ability of on-line
    learning algorithms. IEEE Transactions on Information Theory 50, proposition 1.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.theory import run_risk_bound
    >>> mistakes = np.arange(2000) < 20
    >>> round(run_risk_bound(mistakes, 0.05), 4)
    0.0374
    >>> round(run_risk_bound(mistakes, 0.05, method="bernoulli"), 4)
    0.0206
    """
    losses = check_losses(losses, low, high, who="run_risk_bound")
    if losses.ndim != 1:
        raise ValueError(
            "The 'losses' parameter of run_risk_bound must be one-dimensional. "
            f"Got shape {losses.shape} instead."
        )
    n = len(losses)
    if method == "azuma":
        # An increment that lies in an interval of length w is sub-Gaussian with w / 2.
        radius = azuma_bound(np.full(n, (high - low) / 2), delta=delta) / n
        return float(min(high, losses.mean() + radius))
    limits = stitched_sequence(
        losses, delta, kind=method, low=low, high=high, sides=1, running=False
    )
    return float(limits.upper[-1])
