r"""The bandit game: what is seen, what is paid, and what an arm's observed losses say.

In round :math:`t` the learner chooses an arm :math:`\hat y_t \in \{0, \dots, n - 1\}` and sees
:math:`l_{t, \hat y_t}` alone. The losses of the other arms stay hidden.
"""

from typing import Any, NamedTuple

import numpy as np

from corollary.bandit._checks import check_array
from corollary.core.estimator import ArrayLike, Probability, checked


def regret(losses: Any, arms: Any) -> np.ndarray:
    r"""Compute the regret after each round against the best single arm in hindsight.

    .. math:: R_t = \sum_{s \le t} l_{s, \hat y_s} - \min_i \sum_{s \le t} l_{s, i}

    Parameters
    ----------
    losses : array-like of shape (n_rounds, n_arms)
        The whole loss matrix :math:`l`, which the learner does not know.
    arms : array-like of int of shape (n_rounds,)
        Chosen arms :math:`\hat y`.

    Returns
    -------
    regret : ndarray of shape (n_rounds,)
        May be negative: a learner that changes arms can beat every single one.

    See Also
    --------
    play : Simulates the game.

    Examples
    --------
    >>> from corollary.bandit import regret
    >>> regret([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]], [0, 1, 0])
    array([1., 1., 0.])
    """
    losses = check_array("regret", "losses", losses, ndim=(2,))
    arms = _check_arms("regret", arms, *losses.shape)
    paid = np.cumsum(losses[np.arange(len(losses)), arms])
    return paid - np.cumsum(losses, axis=0).min(axis=1)


class ArmMeans(NamedTuple):
    """What was seen of each arm.

    Parameters
    ----------
    mean : ndarray of shape (n_arms,)
        Mean of the losses seen; NaN for an arm that was never played.
    pulls : ndarray of int of shape (n_arms,)
        How often each arm was played.
    """

    mean: np.ndarray
    pulls: np.ndarray


def arm_means(arms: Any, losses: Any, *, n_arms: int) -> ArmMeans:
    r"""Average the losses seen of each arm: :math:`\hat\mu_i = \sum_{s \in S_i} l_{s, i} / |S_i|`.

    Parameters
    ----------
    arms : array-like of int of shape (n_rounds,)
        Chosen arms; :math:`S_i` are the rounds with arm i.
    losses : array-like of shape (n_rounds,)
        The losses seen.
    n_arms : int
        Number of arms.

    Returns
    -------
    means : ArmMeans
        Means and numbers of plays.

    See Also
    --------
    arm_mean_radius : How far such a mean may be off.

    Notes
    -----
    The mean is an unbiased estimate only if the rounds of an arm were chosen without looking at
    its losses. A learner that leaves an arm after bad luck stops its mean where it is bad: means
    of losses are too large on average (``tests/bandit/test_protocol.py`` measures it).

    Examples
    --------
    >>> from corollary.bandit import arm_means
    >>> arm_means([0, 1, 0], [1.0, 0.0, 0.0], n_arms=2)
    ArmMeans(mean=array([0.5, 0. ]), pulls=array([2, 1]))
    """
    losses = check_array("arm_means", "losses", losses, ndim=(1,))
    arms = _check_arms("arm_means", arms, len(losses), n_arms)
    pulls = np.bincount(arms, minlength=n_arms)
    totals = np.bincount(arms, weights=losses, minlength=n_arms)
    with np.errstate(invalid="ignore"):
        return ArmMeans(totals / pulls, pulls)


def mean_so_far(means: Any) -> np.ndarray:
    r"""Compute the target of a drifting arm, :math:`\mu_{t,i} = \frac1t \sum_{j \le t} E[l_{j,i}]`.

    Parameters
    ----------
    means : array-like of shape (n_rounds, n_arms)
        Expected losses of each round.

    Returns
    -------
    target : ndarray of shape (n_rounds, n_arms)
        Their running averages.

    Examples
    --------
    >>> from corollary.bandit import mean_so_far
    >>> mean_so_far([[0.0], [1.0]]).ravel()
    array([0. , 0.5])
    """
    means = check_array("mean_so_far", "means", means, ndim=(2,))
    return np.cumsum(means, axis=0) / np.arange(1, len(means) + 1)[:, None]


@checked
def arm_mean_radius(pulls: ArrayLike | int, delta: Probability) -> Any:
    r"""Bound the error of an arm's mean loss, whatever made the learner play it so often.

    Hoeffding's inequality holds for a number of plays fixed in advance. A learner chooses this
    number by looking at losses, so the failure probability is spread over all numbers,
    :math:`\delta / (s (s + 1))` for :math:`s` plays:

    .. math:: |\hat\mu - \mu| \le \sqrt{\frac{\ln(2 s (s + 1) / \delta)}{2 s}}.

    Parameters
    ----------
    pulls : int or array-like of int
        Plays :math:`s` of the arm.
    delta : float
        Probability of failure :math:`\delta` for one arm, over all numbers of plays together.

    Returns
    -------
    radius : float or ndarray
        Infinite for an arm that was never played.

    Notes
    -----
    Guarantee: with probability at least 1 - delta the bound holds after every play of the arm at
    once, for independent losses in [0, 1] with the same mean. Checked by
    ``tests/bandit/test_protocol.py``.

    Examples
    --------
    >>> from corollary.bandit import arm_mean_radius
    >>> round(arm_mean_radius(100, delta=0.05), 3)
    0.254
    """
    counts = np.asarray(pulls)
    if counts.dtype.kind not in "iu" or (counts.size and counts.min() < 0):
        raise ValueError(
            "The 'pulls' parameter of arm_mean_radius must be whole numbers, at least 0. "
            f"Got {pulls!r} instead."
        )
    s = np.maximum(counts, 1).astype(float)
    radius = np.sqrt(np.log(2 * s * (s + 1) / delta) / (2 * s))
    radius = np.where(counts == 0, np.inf, radius)
    return float(radius) if radius.ndim == 0 else radius


def _check_arms(who: str, arms: Any, n_rounds: int, n_arms: int) -> np.ndarray:
    arms = np.asarray(arms)
    if arms.shape != (n_rounds,) or arms.dtype.kind not in "iu":
        raise ValueError(
            f"The 'arms' parameter of {who} must be {n_rounds} whole numbers, one for each "
            f"round. Got shape {arms.shape} and dtype {arms.dtype} instead."
        )
    if n_rounds and not 0 <= arms.min() <= arms.max() < n_arms:
        raise ValueError(
            f"The 'arms' parameter of {who} must lie in 0 to {n_arms - 1}. Got values from "
            f"{arms.min()} to {arms.max()} instead."
        )
    return arms
