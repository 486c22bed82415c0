r"""Probabilities from scores: a sigmoid for each pair of classes, and the pairs put together."""

from typing import Any

import numpy as np
from scipy.special import expit

from corollary.core.estimator import ArrayLike, checked


@checked
def platt_scaling(
    scores: ArrayLike, positive: ArrayLike, sample_weight: Any = None
) -> tuple[float, float]:
    r"""Fit a sigmoid :math:`1 / (1 + e^{A f + B})` to scores by Platt's regularised likelihood.

    Of :math:`n_+` positive and :math:`n_-` negative rows the targets are
    :math:`(n_+ + 1)/(n_+ + 2)` and :math:`1/(n_- + 2)` instead of one and zero, so that classes
    that scores separate keep finite odds.

    Parameters
    ----------
    scores : array-like of shape (n_samples,)
        Scores f of rows that the machine has not been trained on.
    positive : array-like of bool of shape (n_samples,)
        Whether rows are of the positive class.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Weights of the rows.

    Returns
    -------
    A : float
        Factor of the score; negative if high scores mean the positive class.
    B : float
        Offset.

    References
    ----------
    .. [1] H.-T. Lin, C.-J. Lin, R. C. Weng (2007). A note on Platt's probabilistic outputs for
       support vector machines. Machine Learning 68, 267-276.

    Examples
    --------
    >>> from corollary.svm import platt_scaling
    >>> A, B = platt_scaling([-2.0, -1.0, 1.0, 2.0], [False, False, True, True])
    >>> round(A, 3), abs(round(B, 3))
    (-0.674, 0.0)
    """
    f, positive = np.asarray(scores, dtype=float), np.asarray(positive, dtype=bool)
    weight = np.ones(len(f)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    more, fewer = float(weight[positive].sum()), float(weight[~positive].sum())
    target = np.where(positive, (more + 1.0) / (more + 2.0), 1.0 / (fewer + 2.0))
    size = max(float(np.abs(f).max(initial=0.0)), np.finfo(float).tiny)
    design = np.column_stack([f / size, np.ones(len(f))])  # whatever the units of the scores

    def loss(line: np.ndarray) -> float:
        odds = design @ line
        return float(weight @ (target * odds + np.logaddexp(0.0, -odds)))

    line = np.array([0.0, np.log((fewer + 1.0) / (more + 1.0))])
    here = loss(line)
    for _ in range(100):
        p = expit(-(design @ line))
        gradient = design.T @ (weight * (target - p))
        if np.abs(gradient).max() < 1e-10 * max(1.0, weight.sum()):
            break
        hessian = design.T @ (design * (weight * p * (1.0 - p))[:, None]) + 1e-12 * np.eye(2)
        step, length = -np.linalg.solve(hessian, gradient), 1.0
        while loss(line + length * step) > here + 1e-4 * length * float(gradient @ step):
            length *= 0.5
            if length < 1e-10:
                return float(line[0] / size), float(line[1])
        line = line + length * step
        here = loss(line)
    return float(line[0] / size), float(line[1])


@checked
def couple_pairs(pairs: ArrayLike) -> np.ndarray:
    r"""Return the class probabilities that agree best with the probabilities of pairs.

    Minimises :math:`\sum_{i \ne j} (r_{ji} p_i - r_{ij} p_j)^2` over :math:`\sum_i p_i = 1`, where
    :math:`r_{ij}` is the probability of class i among classes i and j.

    Parameters
    ----------
    pairs : array-like of shape (n_samples, n_classes, n_classes)
        Probabilities :math:`r_{ij}` with :math:`r_{ij} + r_{ji} = 1`; the diagonal is not used.

    Returns
    -------
    probability : ndarray of shape (n_samples, n_classes)
        Rows sum to one.

    References
    ----------
    .. [1] T.-F. Wu, C.-J. Lin, R. C. Weng (2004). Probability estimates for multi-class
       classification by pairwise coupling. JMLR 5, 975-1005.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.svm import couple_pairs
    >>> p = np.array([0.5, 0.3, 0.2])
    >>> couple_pairs([p[:, None] / (p[:, None] + p)]).round(6)
    array([[0.5, 0.3, 0.2]])
    """
    r = np.clip(np.asarray(pairs, dtype=float), 1e-7, 1.0 - 1e-7)  # so that one solution exists
    n, k, _ = r.shape
    system = np.zeros((n, k + 1, k + 1))
    against = np.swapaxes(r, 1, 2) * (1.0 - np.eye(k))
    system[:, :k, :k] = -against * r
    system[:, np.arange(k), np.arange(k)] = (against**2).sum(axis=2)
    system[:, :k, k] = system[:, k, :k] = 1.0
    right = np.zeros((n, k + 1, 1))
    right[:, k] = 1.0
    p = np.maximum(np.linalg.solve(system, right)[:, :k, 0], 0.0)
    return p / p.sum(axis=1, keepdims=True)
