r"""Learners that no single row can move much, and what that gives them.

A learner is epsilon-uniformly stable if replacing one of its n training rows changes its loss at
any point by at most epsilon, on average over its own randomness. Its expected generalisation gap is
then at most epsilon, whatever the class it searches; with high probability it is not much more.
"""

import math
from numbers import Real
from typing import Any, Literal

import numpy as np

from corollary.core.estimator import (
    AnyReal,
    ArrayLike,
    Count,
    NonNegative,
    Positive,
    Probability,
    checked,
)
from corollary.risk import LossLike, as_learner, check_loss
from corollary.theory.concentration.bounded_differences import mcdiarmid_bound


def empirical_stability(
    learner: Any,
    X: Any,
    y: Any,
    X_new: Any,
    y_new: Any,
    *,
    loss: LossLike = "zero_one",
    method: str = "predict",
) -> float:
    """Measure how much replacing one row changes a learner's losses.

    Parameters
    ----------
    learner : estimator, callable, or list of them
        See :func:`corollary.risk.as_learner`. A random learner is a list of the same learner with
        different seeds, each fixed: its losses are averaged over the list, as the definition
        averages over its randomness.
    X : array-like of shape (n_samples, n_features)
        Training inputs.
    y : array-like of shape (n_samples,)
        Training outputs.
    X_new : array-like of shape (n_new, n_features)
        Rows that take the place of training rows, and at which losses are compared.
    y_new : array-like of shape (n_new,)
        Their outputs.
    loss : str, Loss or callable, default="zero_one"
        The loss.
    method : str, default="predict"
        Which method of an estimator predicts.

    Returns
    -------
    epsilon : float
        Largest change of a loss over all replacements that were tried: a lower bound on the
        uniform stability, which is about every data set and every row. For a list the stability
        is that of drawing one of its learners at random: an estimate, if the list is a sample of
        the seeds. A learner that ignores its rows has 0.

    See Also
    --------
    ridge_stability : An upper bound for ridge regression.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.theory import empirical_stability
    >>> constant = lambda X, y: (lambda Z: np.zeros(len(Z)))
    >>> empirical_stability(constant, np.eye(3), np.ones(3), np.eye(3), np.ones(3), loss="square")
    0.0

    A learner that picks one of two rows at random, with one seed for each:

    >>> pick = [lambda X, y, i=i: (lambda Z: np.full(len(Z), y[i])) for i in range(2)]
    >>> empirical_stability(pick, np.eye(2), [0, 0], np.eye(2), [1, 1], loss="absolute")
    0.5
    """
    X, X_new = _one_type("X", X, X_new)
    y, y_new = _one_type("y", y, y_new)
    measure = check_loss(loss)
    learners = learner if isinstance(learner, list | tuple) else [learner]
    if not learners:
        raise ValueError("empirical_stability needs a learner. Got an empty list.")
    runs = [as_learner(part, method=method) for part in learners]

    def losses(X: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.mean([measure(y_new, run(X, y)(X_new)) for run in runs], axis=0)

    before, worst = losses(X, y), 0.0
    for i in range(len(X)):
        for k in range(len(X_new)):
            after = losses(_replace(X, i, X_new[k]), _replace(y, i, y_new[k]))
            worst = max(worst, float(np.max(np.abs(after - before))))
    return worst


def _one_type(name: str, training: Any, fresh: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return arrays of a type that holds the rows of both unchanged."""
    training, fresh = np.asarray(training), np.asarray(fresh)
    if (training.dtype.kind in "US") != (fresh.dtype.kind in "US"):
        raise ValueError(
            f"Rows that take each other's place must be of one kind. Got {name} of type "
            f"{training.dtype} and {name}_new of type {fresh.dtype}."
        )
    common = np.result_type(training, fresh)
    return training.astype(common), fresh.astype(common)


def _replace(rows: np.ndarray, i: int, row: Any) -> np.ndarray:
    """Return rows of which one is another."""
    changed = rows.copy()
    changed[i] = row
    return changed


def replace_one_gap(
    learner: Any,
    X: Any,
    y: Any,
    X_new: Any,
    y_new: Any,
    *,
    loss: LossLike = "zero_one",
    method: str = "predict",
) -> float:
    r"""Estimate a learner's expected generalisation gap by replacing rows one at a time.

    .. math:: E[L(A(S))-\hat L_S(A(S))] = E\Bigl[\frac1n\sum_i \ell(A(S^{(i)}),z_i)
              -\ell(A(S),z_i)\Bigr]

    where :math:`S^{(i)}` has row i replaced by a fresh one.

    Parameters
    ----------
    learner : estimator or callable
        See :func:`corollary.risk.as_learner`; it is trained n + 1 times.
    X : array-like of shape (n_samples, n_features)
        Training inputs.
    y : array-like of shape (n_samples,)
        Training outputs.
    X_new : array-like of shape (n_samples, n_features)
        As many fresh rows of the same law.
    y_new : array-like of shape (n_samples,)
        Their outputs.
    loss : str, Loss or callable, default="zero_one"
        The loss.
    method : str, default="predict"
        Which method of an estimator predicts.

    Returns
    -------
    gap : float
        The average inside the expectation: without bias for the expected gap.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.theory import replace_one_gap
    >>> constant = lambda X, y: (lambda Z: np.zeros(len(Z)))
    >>> replace_one_gap(constant, np.eye(3), np.ones(3), np.eye(3), np.ones(3), loss="square")
    0.0
    """
    X, X_new = _one_type("X", X, X_new)
    y, y_new = _one_type("y", y, y_new)
    if len(X_new) != len(X):
        raise ValueError(
            "replace_one_gap needs as many fresh rows as training rows. Got "
            f"{len(X_new)} for {len(X)}."
        )
    learn, measure = as_learner(learner, method=method), check_loss(loss)
    here = measure(y, learn(X, y)(X))
    gaps = []
    for i in range(len(X)):
        predict = learn(_replace(X, i, X_new[i]), _replace(y, i, y_new[i]))
        away = measure(y[i : i + 1], predict(X[i : i + 1]))
        gaps.append(float(away[0]) - float(here[i]))
    return float(np.mean(gaps))


@checked
def stability_bound(
    epsilon: NonNegative | ArrayLike,
    *,
    n_samples: Count,
    delta: Probability,
    low: AnyReal = 0.0,
    high: AnyReal = 1.0,
    sharp: bool = True,
) -> float:
    r"""Bound the generalisation gap of a stable learner with high probability.

    .. math:: L(A(S)) - \hat L_S(A(S)) \le \epsilon
              + (2\epsilon n + b - a)\sqrt{\frac{\log(1/\delta)}{2n}}

    with probability at least :math:`1-\delta` over the training rows. If row i in particular moves
    no loss by more than :math:`\epsilon_i`, the gap is at most
    :math:`\tfrac1n\sum_i\epsilon_i
    +\sqrt{\tfrac12\log\tfrac1\delta\sum_i(2\epsilon_i+\tfrac{b-a}n)^2}`.

    Parameters
    ----------
    epsilon : float or array-like of shape (n_samples,)
        Uniform stability, or that of every row. In expectation the gap is at most its mean.
    n_samples : int
        Number n of independent training rows.
    delta : float
        Probability of failure.
    low : float, default=0.0
        Smallest possible loss, a.
    high : float, default=1.0
        Largest possible loss, b.
    sharp : bool, default=True
        False for a last term twice as large.

    Returns
    -------
    gap : float
        Useful when epsilon is of the order 1/n.

    Notes
    -----
    To replace row i moves the risk by at most :math:`\epsilon_i` and the training risk by that and
    (b - a) / n, so that the gap is a function of independent rows with bounded differences
    :math:`2\epsilon_i+(b-a)/n`: :func:`mcdiarmid_bound` gives its deviation from its mean, and that
    is at most the mean of the :math:`\epsilon_i` (see :func:`replace_one_gap`).

    For a learner with internal randomness the risks are averages over it. The same bound holds for
    its drawn model, jointly over rows and randomness, if the learner is stable for every value of
    its randomness: :func:`reshuffled_sgd_stability` is of that kind.

    Guarantee: checked by ``tests/guarantees/stability.py``.

    Examples
    --------
    >>> from corollary.theory import stability_bound
    >>> round(stability_bound(0.001, n_samples=1000, delta=0.05), 4)
    0.1171
    """
    if not high > low:
        raise ValueError(f"stability_bound needs low < high. Got low={low!r} and high={high!r}.")
    if isinstance(epsilon, Real):
        width = 2 * float(epsilon) * n_samples + (high - low)
        tail = width * math.sqrt(math.log(1 / delta) / (2 * n_samples))
        return float(epsilon) + tail * (1 if sharp else 2)
    epsilon = np.asarray(epsilon, dtype=float)
    if epsilon.shape != (n_samples,) or not np.all(np.isfinite(epsilon) & (epsilon >= 0)):
        raise ValueError(
            "The 'epsilon' parameter of stability_bound must be one number, or one for each of the "
            f"{n_samples} rows, finite and not negative. Got shape {epsilon.shape}."
        )
    tail = mcdiarmid_bound(2 * epsilon + (high - low) / n_samples, delta=delta)
    return float(epsilon.mean()) + tail * (1 if sharp else 2)


def linear_system_perturbation(A: Any, b: Any, A_other: Any, b_other: Any) -> float:
    r"""Bound how far the solutions of two linear systems are apart.

    Parameters
    ----------
    A : array-like of shape (d, d)
        First matrix.
    b : array-like of shape (d,)
        First right side.
    A_other : array-like of shape (d, d)
        Second matrix.
    b_other : array-like of shape (d,)
        Second right side.

    Returns
    -------
    bound : float
        :math:`\frac{\|b_1-b_2\|}{\sigma_{\min}(A_1)}
        +\frac{\|A_1-A_2\|\,\|b_2\|}{\sigma_{\min}(A_1)\,\sigma_{\min}(A_2)}`; infinite for a
        singular matrix.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.theory import linear_system_perturbation
    >>> linear_system_perturbation(np.eye(2), [1.0, 0.0], np.eye(2), [0.0, 0.0])
    1.0
    """
    A, b, A_other, b_other = (np.asarray(part, dtype=float) for part in (A, b, A_other, b_other))
    if A.ndim != 2 or A.shape[0] != A.shape[1] or A.shape != A_other.shape or not A.size:
        raise ValueError(
            "linear_system_perturbation needs two square matrices of one size. Got shapes "
            f"{A.shape} and {A_other.shape}."
        )
    if b.shape != A.shape[:1] or b_other.shape != b.shape:
        raise ValueError(
            f"linear_system_perturbation needs right sides of length {len(A)}. Got shapes "
            f"{b.shape} and {b_other.shape}."
        )
    least, least_other = (np.linalg.svd(M, compute_uv=False)[-1] for M in (A, A_other))
    if least == 0 or least_other == 0:
        return math.inf
    change = np.linalg.norm(A - A_other, 2) * np.linalg.norm(b_other) / least_other
    return float((np.linalg.norm(b - b_other) + change) / least)


@checked
def ridge_norm_bound(alpha: Positive) -> float:
    r"""Bound the length of the weights of ridge regression on rows of the unit ball.

    Parameters
    ----------
    alpha : float
        Penalty :math:`\lambda`, per row, as in :func:`ridge_stability`.

    Returns
    -------
    bound : float
        :math:`\rho=1/(2\sqrt\lambda)` up to :math:`\lambda=1` and :math:`1/(1+\lambda)` beyond,
        for rows with :math:`\|x\|\le1` and :math:`|y|\le1`: along a direction in which the
        table, divided by :math:`\sqrt n`, has the singular value s, at most 1, the weights are
        :math:`s/(s^2+\lambda)` times a part of :math:`y/\sqrt n`. So predictions lie between
        -rho and rho, and absolute errors are at most :math:`1+\rho`.

    Examples
    --------
    >>> from corollary.theory import ridge_norm_bound
    >>> ridge_norm_bound(0.25), ridge_norm_bound(1.0), ridge_norm_bound(9.0)
    (1.0, 0.5, 0.1)
    """
    # s / (s^2 + lambda) grows up to s = sqrt(lambda), and s is at most one.
    return 1 / (1 + alpha) if alpha >= 1 else 1 / (2 * math.sqrt(alpha))


@checked
def ridge_stability(
    *,
    n_samples: Count,
    alpha: Positive,
    loss: Literal["absolute", "square"] = "absolute",
    sharp: bool = True,
) -> float:
    r"""Bound the uniform stability of ridge regression on rows of the unit ball.

    The learner minimises
    :math:`\tfrac1n\sum_i(\langle x_i,\theta\rangle-y_i)^2+\lambda\|\theta\|^2` for rows with
    :math:`\|x\|\le1` and :math:`|y|\le1`; that is :class:`corollary.linear.Ridge` without intercept
    and with its ``alpha`` equal to :math:`\lambda n`.

    Parameters
    ----------
    n_samples : int
        Number n of training rows.
    alpha : float
        Penalty :math:`\lambda`, per row.
    loss : {"absolute", "square"}, default="absolute"
        The loss that is compared.
    sharp : bool, default=True
        True for :math:`\tfrac1{\lambda n}(2+\rho)` in the absolute loss, where
        :math:`\rho\le1/\lambda` is :func:`ridge_norm_bound`; False for
        :math:`\tfrac2{\lambda n}(1+\tfrac1\lambda)`. The square loss costs the factor
        :math:`2(1+\rho)`, or :math:`2(1+1/\lambda)`.

    Returns
    -------
    epsilon : float
        For :func:`stability_bound`, whose losses then lie between 0 and :math:`1+\rho`, or its
        square.

    Notes
    -----
    The normal equations of two tables that differ in one row differ by
    :math:`\tfrac1n(xx^\top-x'x'^\top)`, of norm at most 1/n, and by
    :math:`\tfrac1n(yx-y'x')`, of length at most 2/n; their least eigenvalue is at least lambda.

    Examples
    --------
    >>> from corollary.theory import ridge_stability
    >>> ridge_stability(n_samples=1000, alpha=1.0)
    0.0025
    """
    norm = ridge_norm_bound(alpha) if sharp else 1 / alpha
    epsilon = (2 + (1 if sharp else 2) * norm) / (alpha * n_samples)
    return epsilon * (2 * (1 + norm) if loss == "square" else 1.0)
