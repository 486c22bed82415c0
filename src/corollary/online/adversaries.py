"""Streams that force a learner to its bound, or near it; each is a construction, not a search."""

from typing import Any

import numpy as np

from corollary.online.boolean.functions import DNF

Stream = tuple[np.ndarray, np.ndarray]


def halving_adversary(n_experts: int) -> Stream:
    r"""Make Halving err :math:`\lfloor \log_2 n \rfloor` times while one expert is always right.

    In every round half of the experts that are left (rounded down) say 0, the others 1, and the
    truth is 0.

    Parameters
    ----------
    n_experts : int
        n, number of experts.

    Returns
    -------
    advice : ndarray of shape (n_rounds, n_experts)
        Zeros and ones.
    y : ndarray of shape (n_rounds,)
        Zeros.

    Examples
    --------
    >>> from corollary.online import Halving, halving_adversary
    >>> int(Halving().run(halving_adversary(20)).mistakes.sum())
    4
    """
    _check("halving_adversary", "n_experts", n_experts, 1)
    rounds = int(n_experts).bit_length() - 1
    advice, left = np.ones((rounds, n_experts)), n_experts
    for t in range(rounds):
        left //= 2
        advice[t, :left] = 0.0
    return advice, np.zeros(rounds)


def weighted_majority_adversary(n_experts: int, beta: float) -> Stream:
    r"""Make weighted majority err in every round while one expert is always right.

    The experts other than the perfect one are split so that the wrong side is just as heavy as
    the right one, or a little heavier, as long as that is possible.

    Parameters
    ----------
    n_experts : int
        n, number of experts; the first is perfect.
    beta : float
        Factor for a mistake, in [0, 1).

    Returns
    -------
    advice : ndarray of shape (n_rounds, n_experts)
        Zeros and ones.
    y : ndarray of shape (n_rounds,)
        Zeros.

    Examples
    --------
    >>> from corollary.online import weighted_majority_adversary
    >>> len(weighted_majority_adversary(256, 0.5)[1])
    17
    """
    _check("weighted_majority_adversary", "n_experts", n_experts, 1)
    if not 0 <= beta < 1:
        raise ValueError(
            "The 'beta' parameter of weighted_majority_adversary must be a float in the range "
            f"[0.0, 1.0). Got {beta} instead."
        )
    weights, rows = np.ones(n_experts), []
    # A tie is a mistake only if both sides are summed exactly, as powers of a half are.
    margin = 0.0 if beta == 0 or np.frexp(beta)[0] == 0.5 else 1e-9
    while True:
        half, wrong = (1 + margin) * weights.sum() / 2, np.zeros(n_experts, dtype=bool)
        total = 0.0
        for i in 1 + np.argsort(-weights[1:], kind="stable"):
            if total + weights[i] <= half:
                wrong[i], total = True, total + weights[i]
        if total < half:
            rest = np.flatnonzero(~wrong[1:]) + 1
            if len(rest) == 0 or weights[rest].min() + total < half:
                break
            wrong[rest[np.argmin(weights[rest])]] = True
        weights[wrong] *= beta
        rows.append(wrong.astype(float))
    return np.array(rows).reshape(-1, n_experts), np.zeros(len(rows))


def hedge_adversary(n_rounds: int) -> np.ndarray:
    """Return losses of two choices that alternate, half a loss ahead.

    Whoever follows the leader loses every round; with too large a rate, Hedge does.

    Parameters
    ----------
    n_rounds : int
        Number of rounds.

    Returns
    -------
    losses : ndarray of shape (n_rounds, 2)
        (1/2, 0), then (0, 1), (1, 0), (0, 1) and so on.

    Examples
    --------
    >>> from corollary.online import Hedge, hedge_adversary
    >>> record = Hedge(horizon=400).run(hedge_adversary(400))
    >>> round(float(record.regret[-1]), 2), round(float(record.bound[-1]), 1)
    (3.19, 17.7)
    """
    _check("hedge_adversary", "n_rounds", n_rounds, 1)
    losses = np.zeros((n_rounds, 2))
    losses[1::2, 1] = losses[2::2, 0] = 1.0
    losses[0, 0] = 0.5
    return losses


def perceptron_adversary(n_features: int) -> Stream:
    r"""Return rounds on which the perceptron attains :math:`(R / \gamma)^2`.

    The unit vectors, all positive: each is orthogonal to what was learnt before. Here R = 1 and
    the largest margin is :math:`1 / \sqrt n`.

    Parameters
    ----------
    n_features : int
        n, number of features and rounds.

    Returns
    -------
    X : ndarray of shape (n_features, n_features)
        The identity.
    y : ndarray of shape (n_features,)
        Ones.

    Examples
    --------
    >>> from corollary.online import OnlinePerceptron, perceptron_adversary
    >>> int(OnlinePerceptron().run(perceptron_adversary(7)).mistakes.sum())
    7
    """
    _check("perceptron_adversary", "n_features", n_features, 1)
    return np.eye(n_features), np.ones(n_features)


def ogd_adversary(n_rounds: int, radius: float = 1.0) -> Stream:
    r"""Return one row with alternating labels, half of the regret bound of gradient descent.

    With step :math:`U / (R \sqrt m)` the weights swing between 0 and one step, and the regret to
    u = 0 on the hinge loss is :math:`\frac12 U R \sqrt m`.

    Parameters
    ----------
    n_rounds : int
        m, number of rounds.
    radius : float, default=1.0
        R, length of the row.

    Returns
    -------
    X : ndarray of shape (n_rounds, 1)
        R in every round.
    y : ndarray of shape (n_rounds,)
        1, -1, 1, -1 and so on.

    Examples
    --------
    >>> from corollary.online import OnlineGradientDescent, ogd_adversary, ogd_rate
    >>> learner = OnlineGradientDescent(eta=ogd_rate(1.0, 1.0, 100))
    >>> record = learner.run(ogd_adversary(100), comparator=[0.0])
    >>> round(float(record.regret[-1]), 6)
    5.0
    """
    _check("ogd_adversary", "n_rounds", n_rounds, 1)
    return np.full((n_rounds, 1), float(radius)), 1.0 - 2.0 * (np.arange(n_rounds) % 2)


def winnow_adversary(target: DNF, n_features: int, n_rounds: int = 10_000) -> Stream:
    """Return rounds, labelled by a monotone disjunction, on each of which Winnow errs.

    Greedy: a positive round shows one relevant input whose weight is still below the threshold,
    with as many irrelevant ones as leave the score below it, so that they are promoted, too; when
    the irrelevant inputs are heavy enough together, a negative round shows them.

    Parameters
    ----------
    target : DNF
        A monotone disjunction.
    n_features : int
        n, inputs.
    n_rounds : int, default=10000
        Most rounds to make; the construction ends by itself much earlier.

    Returns
    -------
    X : ndarray of shape (n_mistakes, n_features)
        Zeros and ones.
    y : ndarray of shape (n_mistakes,)
        Labels 0 and 1.

    Examples
    --------
    >>> from corollary.online import Winnow, disjunction, winnow_adversary
    >>> X, y = winnow_adversary(disjunction(1, 2), 64)
    >>> bool(Winnow().run((X, y)).mistakes.all()), len(y)
    (True, 27)
    """
    relevant = target.literals(n_features) > 0
    weights = np.ones(n_features)
    rows: list[np.ndarray] = []
    labels: list[float] = []
    while len(rows) < n_rounds:
        x = np.zeros(n_features)
        if weights[~relevant].sum() >= n_features:
            # The lightest set that is still heavy enough, so that little is demoted.
            order = np.argsort(-weights + 2 * n_features * relevant, kind="stable")
            needed = int(np.searchsorted(np.cumsum(weights[order]), n_features)) + 1
            x[order[:needed]] = 1.0
            label, factor = 0.0, 0.5
        else:
            light = np.flatnonzero(relevant & (weights < n_features))
            if len(light) == 0:
                break
            first = light[np.argmin(weights[light])]
            x[first], total = 1.0, weights[first]
            for i in np.argsort(weights, kind="stable"):
                if not relevant[i] and total + weights[i] < n_features:
                    x[i], total = 1.0, total + weights[i]
            label, factor = 1.0, 2.0
        weights[x > 0] *= factor
        rows.append(x)
        labels.append(label)
    return np.array(rows).reshape(-1, n_features), np.array(labels)


def _check(who: str, name: str, value: Any, low: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < low:
        raise ValueError(
            f"The {name!r} parameter of {who} must be an int in the range [{low}, inf). "
            f"Got {value!r} instead."
        )
