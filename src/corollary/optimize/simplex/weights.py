r"""Convex weights of predictors: least squares and log loss over the simplex.

Both problems are solved to the last digits. Least squares uses that, for p in the simplex, the
residual is :math:`y-Fp=Rp` with :math:`R=y1^\top-F`, and that the non-negative minimiser of
:math:`\|Rp\|^2+(1-1^\top p)^2` is a multiple of the one in the simplex: with :math:`p=sq` the
best s leaves :math:`\|Rq\|^2/(1+\|Rq\|^2)`, which grows with :math:`\|Rq\|`. The log loss is
minimised by Newton's method, each step of which is such a least-squares problem.
"""

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from corollary.risk import check_weights

# Smallest probability of a label: a member that excludes what happened is not excluded for ever.
_SMALLEST_PROBABILITY = 1e-15


def simplex_least_squares(predictions: Any, y: Any, *, sample_weight: Any = None) -> np.ndarray:
    r"""Find the convex combination of predictors with the smallest squared error.

    Parameters
    ----------
    predictions : array-like of shape (n_samples, n_members)
        :math:`F_{ib}=f_b(x_i)`.
    y : array-like of shape (n_samples,)
        Targets.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Non-negative weights.

    Returns
    -------
    weights : ndarray of shape (n_members,)
        The minimiser of :math:`\sum_iw_i(y_i-\sum_bp_bF_{ib})^2` over :math:`p\ge0`,
        :math:`\sum_bp_b=1`.

    See Also
    --------
    simplex_log_loss : The same for probabilities of labels.

    Notes
    -----
    Guarantee: on the rows it is fitted to, the combination is at least as good as the best
    member; checked by ``tests/optimize/test_simplex_weights.py``.

    Examples
    --------
    >>> from corollary.optimize import simplex_least_squares
    >>> simplex_least_squares([[0.0, 4.0], [0.0, 4.0]], [1.0, 1.0])
    array([0.75, 0.25])
    """
    F, y, w = _problem("simplex_least_squares", predictions, y, sample_weight)
    R = (y[:, None] - F) * np.sqrt(w / w.max())[:, None]
    return _smallest_combination(R)


def _smallest_combination(R: np.ndarray) -> np.ndarray:
    """Return the p in the simplex with the shortest R p."""
    from scipy.optimize import nnls

    scale = np.abs(R).max()
    if scale == 0.0 or R.shape[1] == 1:
        return np.full(R.shape[1], 1 / R.shape[1])
    R = R / scale
    if R.shape[0] > R.shape[1]:  # lengths depend on the triangular factor alone
        R = np.asarray(np.linalg.qr(R, mode="r"))
    # The smallest column bounds the length of the answer: in its units both terms matter alike.
    size = np.sqrt((R**2).sum(axis=0).min())
    if size == 0.0:
        return _equal(R == 0)
    system = np.vstack([R / size, np.ones(R.shape[1])])
    target = np.zeros(len(system))
    target[-1] = 1.0
    p, _ = nnls(system, target)
    return p / p.sum()


def _equal(zero: np.ndarray) -> np.ndarray:
    perfect = zero.all(axis=0)
    return perfect / perfect.sum()


def simplex_log_loss(
    likelihoods: Any, *, sample_weight: Any = None, max_iter: int = 200, tol: float = 1e-12
) -> np.ndarray:
    r"""Find the mixture of predictive laws with the smallest log loss.

    Parameters
    ----------
    likelihoods : array-like of shape (n_samples, n_members)
        :math:`L_{ib}`, the probability that member b gives to what happened in row i. Those
        below 1e-15 are raised to it.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Non-negative weights.
    max_iter : int, default=200
        Most Newton steps.
    tol : float, default=1e-12
        Wanted distance from the smallest mean log loss, in nats; it is certified.

    Returns
    -------
    weights : ndarray of shape (n_members,)
        The minimiser of :math:`-\sum_iw_i\log\sum_bp_bL_{ib}` over :math:`p\ge0`,
        :math:`\sum_bp_b=1`.

    Notes
    -----
    By convexity the mean loss at p exceeds the smallest one by at most
    :math:`\max_b\sum_iw_iL_{ib}/(Lp)_i-1` for weights that sum to one; this is the stopping rule.

    Examples
    --------
    >>> from corollary.optimize import simplex_log_loss
    >>> simplex_log_loss([[0.9, 0.1], [0.9, 0.1], [0.1, 0.9]]).round(3)
    array([0.708, 0.292])
    """
    L = np.asarray(likelihoods, dtype=float)
    if L.ndim != 2 or 0 in L.shape or not np.all(L >= 0) or not np.isfinite(L).all():
        raise ValueError(
            "simplex_log_loss needs finite, non-negative likelihoods of shape (n_samples, "
            f"n_members). Got shape {L.shape}."
        )
    w = check_weights("simplex_log_loss", sample_weight, len(L))
    w = np.ones(len(L)) if w is None else w / w.max()
    L, w = np.maximum(L[w > 0], _SMALLEST_PROBABILITY), w[w > 0] / w.sum()
    p = np.full(L.shape[1], 1 / L.shape[1])
    gap = np.inf
    for _ in range(max_iter):
        mixture = L @ p
        gap = float((w @ (L / mixture[:, None])).max() - 1)
        if gap <= tol:
            return p
        # Newton's model of the loss at p is ||A q - 2 sqrt(w)||^2 / 2 with these rows:
        root = np.sqrt(w)
        A = root[:, None] * L / mixture[:, None]
        q = _smallest_combination(2 * root[:, None] - A)
        step, before = 1.0, float(w @ np.log(mixture))
        while step > 1e-10:
            trial = p + step * (q - p)
            if float(w @ np.log(L @ trial)) >= before:
                break
            step /= 2
        else:
            break  # no further digit to gain
        if np.array_equal(trial, p):
            break
        p = trial / trial.sum()
    mixture = L @ p
    gap = float((w @ (L / mixture[:, None])).max() - 1)
    if gap > max(tol, 1e-8):
        warnings.warn(
            f"simplex_log_loss stopped {gap:.1e} nats above the smallest mean log loss at most. "
            f"Increase max_iter={max_iter}.",
            ConvergenceWarning,
            stacklevel=2,
        )
    return p


def _problem(
    name: str, predictions: Any, y: Any, sample_weight: Any
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    F, y = np.asarray(predictions, dtype=float), np.asarray(y, dtype=float)
    if F.ndim != 2 or 0 in F.shape or y.shape != F.shape[:1]:
        raise ValueError(
            f"{name} needs predictions of shape (n_samples, n_members) and one target per row. "
            f"Got shapes {F.shape} and {y.shape}."
        )
    if not np.isfinite(F).all() or not np.isfinite(y).all():
        raise ValueError(f"{name} needs finite predictions and targets. Got NaN or infinity.")
    w = check_weights(name, sample_weight, len(y))
    w = np.ones(len(y)) if w is None else w
    return F[w > 0], y[w > 0], w[w > 0]
