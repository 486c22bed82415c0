"""Regret bounds as functions of the theorem's quantities.

Each states whether it bounds an expectation, every single run, or all runs but a share delta.
"""

from typing import Any

import numpy as np

from corollary.bandit._checks import check_array
from corollary.core.estimator import ArrayLike, Count, NonNegative, Positive, Probability, checked


@checked
def exp3_learning_rate(n_arms: Count, horizon: Count) -> float:
    r"""Compute the rate of EXP3 for a known horizon, :math:`\eta = \sqrt{2 \ln n / (m n)}`.

    Parameters
    ----------
    n_arms : int
        Number of arms :math:`n`.
    horizon : int
        Number of rounds :math:`m`.

    Returns
    -------
    learning_rate : float
        The rate; 0 for a single arm.

    Examples
    --------
    >>> from corollary.bandit import exp3_learning_rate
    >>> round(exp3_learning_rate(10, 1000), 5)
    0.02146
    """
    return float(np.sqrt(2 * np.log(n_arms) / (horizon * n_arms)))


@checked
def exp3_regret_bound(
    rounds: ArrayLike | Count, n_arms: Count, *, learning_rate: Positive | None = None
) -> Any:
    r"""Bound the expected regret of EXP3 against an oblivious adversary.

    .. math:: E[L_A] - \min_i L_i \le \frac{\ln n}{\eta} + \frac{\eta}{2} m n,

    which is :math:`\sqrt{2 m n \ln n}` for the best rate.

    Parameters
    ----------
    rounds : int or array-like of int
        Rounds :math:`m`.
    n_arms : int
        Number of arms :math:`n`.
    learning_rate : float or None, default=None
        The rate :math:`\eta`; None for the best one for each number of rounds.

    Returns
    -------
    bound : float or ndarray
        The bound after those rounds.

    See Also
    --------
    exp3_anytime_bound : Without a horizon.
    exp3_pathwise_bound : For every run.

    Notes
    -----
    Guarantee: an expectation over the learner's draws, for losses in [0, 1] that were fixed
    before the game. Checked by ``tests/bandit/test_exp3.py``.

    Examples
    --------
    >>> from corollary.bandit import exp3_regret_bound
    >>> round(exp3_regret_bound(1000, 10), 2)
    214.6
    """
    m = _rounds("exp3_regret_bound", rounds)
    if learning_rate is None:
        return _plain(np.sqrt(2 * m * n_arms * np.log(n_arms)))
    return _plain(np.log(n_arms) / learning_rate + 0.5 * learning_rate * m * n_arms)


@checked
def exp3_anytime_bound(rounds: ArrayLike | Count, n_arms: Count) -> Any:
    r"""Bound the expected regret of EXP3 without a horizon, at every number of rounds.

    The rate of round :math:`t` is :math:`\eta_t = \sqrt{\ln n / (n \tau_t)}`, where
    :math:`\tau_t \ge t` moves in steps of a sixteenth, and

    .. math:: E[L_A] - \min_i L_i \le \frac{\ln n}{\eta_m} + \frac n2 \sum_{t \le m} \eta_t,

    about :math:`2 \sqrt{m n \ln n}`.

    Parameters
    ----------
    rounds : int or array-like of int
        Rounds :math:`m`.
    n_arms : int
        Number of arms :math:`n`.

    Returns
    -------
    bound : float or ndarray
        The bound after those rounds.

    Notes
    -----
    Guarantee: as :func:`exp3_regret_bound`, for all numbers of rounds with one algorithm. Checked
    by ``tests/bandit/test_exp3.py``.

    References
    ----------
    Bubeck, S. and Cesa-Bianchi, N. (2012). Regret analysis of stochastic and nonstochastic
    multi-armed bandit problems. Foundations and Trends in Machine Learning 5, theorem 3.1.

    Examples
    --------
    >>> from corollary.bandit import exp3_anytime_bound
    >>> round(exp3_anytime_bound(1000, 10), 2)
    298.88
    """
    m = _rounds("exp3_anytime_bound", rounds)
    if n_arms == 1:
        return _plain(np.zeros(m.shape))
    ends = [0]  # last round of each stretch of one rate
    while ends[-1] < m.max():
        first = ends[-1] + 1
        ends.append(first + first // 16)
    end = np.array(ends)
    rate = np.sqrt(np.log(n_arms) / (n_arms * end[1:]))
    total = np.concatenate([[0.0], np.cumsum(rate * np.diff(end))])
    part = np.searchsorted(end, m) - 1
    so_far = total[part] + rate[part] * (m - end[part])
    return _plain(np.log(n_arms) / rate[part] + 0.5 * n_arms * so_far)


def exp3_pathwise_bound(
    losses: Any, probabilities: Any, *, n_arms: int, learning_rate: float
) -> float:
    r"""Bound the regret of one run of EXP3 in hallucinated losses.

    For every sequence of draws and every law :math:`u` on the arms

    .. math:: \sum_t v_t^\top l^h_t - \sum_t u^\top l^h_t
              \le \frac{\ln n}{\eta} + \frac{\eta}{2} \sum_t \sum_i v_{t,i} (l^h_{t,i})^2,

    and the inner sum is :math:`l_t^2 / v_t` of the arm that was played.

    Parameters
    ----------
    losses : array-like of shape (n_rounds,)
        Losses :math:`l_t` paid, none negative.
    probabilities : array-like of shape (n_rounds,)
        Probabilities :math:`v_t` of the arms that were played, when they were.
    n_arms : int
        Number of arms :math:`n`.
    learning_rate : float
        The rate :math:`\eta`.

    Returns
    -------
    bound : float
        The right-hand side, which holds without exception.

    Examples
    --------
    >>> from corollary.bandit import exp3_pathwise_bound
    >>> round(exp3_pathwise_bound([1.0, 0.0], [0.5, 0.4], n_arms=2, learning_rate=0.5), 4)
    1.8863
    """
    # exp(-z) <= 1 - z + z^2 / 2, on which it rests, needs z >= 0.
    losses = check_array("exp3_pathwise_bound", "losses", losses, ndim=(1,), low=0)
    v = check_array("exp3_pathwise_bound", "probabilities", probabilities, ndim=(1,), low=0, high=1)
    if losses.shape != v.shape or v.min() <= 0 or learning_rate <= 0:
        raise ValueError(
            "exp3_pathwise_bound needs one positive probability for each loss and a positive "
            f"learning_rate. Got {len(losses)} losses, {len(v)} probabilities from {v.min():g} "
            f"on, and learning_rate={learning_rate!r}."
        )
    return float(np.log(n_arms) / learning_rate + 0.5 * learning_rate * (losses**2 / v).sum())


def ucb_regret_bound(rounds: Any, mean: Any) -> Any:
    r"""Bound the expected pseudo-regret of UCB1.

    With gaps :math:`\Delta_i = \mu_i - \min_j \mu_j`,

    .. math:: 8 \sum_{i: \Delta_i > 0} \frac{\ln m}{\Delta_i}
              + \Bigl(1 + \frac{\pi^2}{3}\Bigr) \sum_i \Delta_i.

    Parameters
    ----------
    rounds : int or array-like of int
        Rounds :math:`m`.
    mean : array-like of shape (n_arms,)
        Mean losses :math:`\mu_i` in [0, 1].

    Returns
    -------
    bound : float or ndarray
        The bound after those rounds.

    Notes
    -----
    Guarantee: an expectation, for independent losses in [0, 1] of the same law in every round.
    Checked by ``tests/bandit/test_ucb.py``.

    References
    ----------
    Auer, P., Cesa-Bianchi, N. and Fischer, P. (2002). Finite-time analysis of the multiarmed
    bandit problem. Machine Learning 47, theorem 1.

    Examples
    --------
    >>> from corollary.bandit import ucb_regret_bound
    >>> round(ucb_regret_bound(1000, [0.2, 0.7]), 2)
    112.67
    """
    m = _rounds("ucb_regret_bound", rounds)
    mean = check_array("ucb_regret_bound", "mean", mean, ndim=(1,), low=0, high=1)
    gaps = mean - mean.min()
    gaps = gaps[gaps > 0]
    return _plain(8 * np.log(m) * (1 / gaps).sum() + (1 + np.pi**2 / 3) * gaps.sum())


@checked
def thompson_bayes_regret_bound(rounds: ArrayLike | Count, n_arms: Count) -> Any:
    r"""Bound the pseudo-regret of Thompson sampling on average over its prior.

    .. math:: E[R_m] \le \sqrt{\tfrac12 m n \ln n}

    Parameters
    ----------
    rounds : int or array-like of int
        Rounds :math:`m`.
    n_arms : int
        Number of arms :math:`n`.

    Returns
    -------
    bound : float or ndarray
        The bound after those rounds.

    Notes
    -----
    Guarantee: an expectation over arms drawn from the very prior the learner uses, for losses in
    [0, 1]. For one given set of arms it says nothing. Checked by
    ``tests/bandit/test_thompson.py``.

    References
    ----------
    Russo, D. and Van Roy, B. (2016). An information-theoretic analysis of Thompson sampling.
    Journal of Machine Learning Research 17, proposition 3 with corollary 1.

    Examples
    --------
    >>> from corollary.bandit import thompson_bayes_regret_bound
    >>> round(thompson_bayes_regret_bound(1000, 10), 2)
    107.3
    """
    m = _rounds("thompson_bayes_regret_bound", rounds)
    return _plain(np.sqrt(0.5 * m * n_arms * np.log(n_arms)))


@checked
def linucb_regret_bound(
    rounds: ArrayLike | Count,
    n_arms: Count,
    n_features: Count,
    *,
    regularisation: Positive = 1.0,
    noise: NonNegative = 0.5,
    norm: NonNegative = 1.0,
    delta: Probability = 0.05,
) -> Any:
    r"""Bound the regret of LinUCB with the theorem's radius, for contexts of at most unit length.

    With :math:`\beta = \sqrt\lambda S + \sigma \sqrt{2 \ln(n/\delta) + d \ln(1 + m/(d\lambda))}`,

    .. math:: R_m \le 2 \beta \sqrt{2 m n d \ln(1 + \tfrac{m}{n d \lambda})}.

    Parameters
    ----------
    rounds : int or array-like of int
        Rounds :math:`m`.
    n_arms : int
        Arms :math:`n`, each with coefficients of its own.
    n_features : int
        Length :math:`d` of a context.
    regularisation : float, default=1.0
        The penalty :math:`\lambda`, at least 1.
    noise : float, default=0.5
        Sub-Gaussian scale :math:`\sigma` of the losses around their mean; 0.5 for losses in
        [0, 1].
    norm : float, default=1.0
        Largest length :math:`S` of an arm's coefficients.
    delta : float, default=0.05
        Probability of failure :math:`\delta`.

    Returns
    -------
    bound : float or ndarray
        The bound after those rounds.

    Notes
    -----
    Guarantee: with probability at least 1 - delta for all rounds at once. The sum of twice the
    confidence widths, which :func:`play` records, is smaller and holds on the same event. Checked
    by ``tests/bandit/test_linear.py``.

    References
    ----------
    Abbasi-Yadkori, Y., Pal, D. and Szepesvari, C. (2011). Improved algorithms for linear
    stochastic bandits. Advances in Neural Information Processing Systems 24, theorems 2 and 3.

    Examples
    --------
    >>> from corollary.bandit import linucb_regret_bound
    >>> round(linucb_regret_bound(1000, 2, 3), 1)
    1730.8
    """
    m = _rounds("linucb_regret_bound", rounds)
    if regularisation < 1:
        raise ValueError(
            "linucb_regret_bound needs regularisation >= 1, the largest squared length of a "
            f"context. Got {regularisation} instead."
        )
    growth = 2 * np.log(n_arms / delta) + n_features * np.log1p(m / (n_features * regularisation))
    radius = np.sqrt(regularisation) * norm + noise * np.sqrt(growth)
    size = n_arms * n_features
    potential = 2 * size * np.log1p(m / (size * regularisation))
    return _plain(2 * radius * np.sqrt(m * potential))


def _rounds(who: str, rounds: Any) -> np.ndarray:
    m = np.asarray(rounds)
    if m.dtype.kind not in "iu" or m.size == 0 or m.min() < 1:
        raise ValueError(
            f"The 'rounds' parameter of {who} must be whole numbers, at least 1. Got {rounds!r} "
            "instead."
        )
    return m.astype(float)


def _plain(values: Any) -> Any:
    return float(values) if np.ndim(values) == 0 else values
