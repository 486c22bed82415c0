r"""How unusual is a score among calibration scores? A p-value, valid for every law.

Of n + 1 exchangeable scores the last is equally likely to have any rank, so that its rank from
above, divided by n + 1, is a p-value. Under covariate shift rows count by the ratio of densities
instead. Many new rows share their calibration rows: the p-values depend on each other positively,
which the procedure of Benjamini and Hochberg allows for (Bates et al. 2023); weighted ones need a
procedure of their own, :func:`weighted_selection`.
"""

import numpy as np

from corollary.conformal._checks import check_scores, check_weights
from corollary.core.estimator import ArrayLike, Probability, checked

#: Share by which sums of weights may miss a level by rounding alone.
_ROUNDING = 1e-12
#: Largest power of two of weights of which any number of rows has a finite sum.
_EXPONENT = 900


@checked
def conformal_p_values(
    calibration_scores: ArrayLike,
    scores: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    new_weights: ArrayLike | None = None,
) -> np.ndarray:
    r"""Return for each new score how often a calibration row, or the row itself, scores as high.

    .. math:: p(x) = \frac{\sum_i w_i\,1\{s_i \ge s(x)\} + w(x)}{\sum_i w_i + w(x)}

    Parameters
    ----------
    calibration_scores : array-like of shape (n_calibration,)
        Scores of calibration rows, large for unusual rows; infinities allowed.
    scores : array-like of shape (n_new,)
        Scores of new rows.
    weights : array-like of shape (n_calibration,) or None, default=None
        How much calibration rows count: the density of normal new rows over that of calibration
        rows, or how often they occurred. None counts each once.
    new_weights : array-like of shape (n_new,) or None, default=None
        The same of the new rows, infinite where calibration rows cannot be; None counts each once.

    Returns
    -------
    p_values : ndarray of shape (n_new,)
        At least 1 / (n + 1) without weights; 1 where no row has any weight.

    See Also
    --------
    conformal_quantile : The score beyond which p-values are at most a level.
    weighted_selection : Which of many weighted p-values are small enough.

    Notes
    -----
    Guarantee: if a new row is exchangeable with the calibration rows, or has another density whose
    true ratio the weights are, its p-value is at most u with probability at most u, for every u.
    Checked by ``tests/guarantees/anomaly.py``.

    References
    ----------
    Bates, S., Candes, E., Lei, L., Romano, Y. and Sesia, M. (2023). Testing for outliers with
    conformal p-values. Annals of Statistics 51.
    Jin, Y. and Candes, E. (2023). Model-free selective inference under covariate shift via weighted
    conformal p-values.

    Examples
    --------
    >>> from corollary.conformal import conformal_p_values
    >>> conformal_p_values([1.0, 2.0, 3.0], [2.0, 5.0])
    array([0.75, 0.25])
    >>> conformal_p_values([1.0, 2.0, 3.0], [2.0], weights=[1.0, 1.0, 3.0], new_weights=[5.0])
    array([0.9])
    """
    who = "conformal_p_values"
    calibration, scores = check_scores(calibration_scores, who), check_scores(scores, who)
    weight = np.ones(len(calibration)) if weights is None else weights
    weight = check_weights(weight, len(calibration), who=who)
    new = np.ones(len(scores)) if new_weights is None else new_weights
    new = check_weights(new, len(scores), who=who, infinite=True)
    weight, new = _moderate(weight, new)
    above, total = _weight_above(calibration, weight, scores)
    with np.errstate(invalid="ignore"):
        shares = (above + new) / (total + new)
    # Infinite mass at the new row, or no mass at all, says nothing against it.
    return np.where(np.isnan(shares), 1.0, np.minimum(shares, 1.0))


@checked
def weighted_selection(
    calibration_scores: ArrayLike,
    scores: ArrayLike,
    level: Probability,
    *,
    weights: ArrayLike,
    new_weights: ArrayLike,
) -> np.ndarray:
    r"""Choose new rows whose weighted p-values are small, at a rate of false discoveries.

    Each row j is tested against the number :math:`R_j` that the procedure of Benjamini and Hochberg
    would choose if j were the most unusual and weighed among the calibration rows; of those with
    :math:`p_j \le \alpha R_j / m` as many are kept as there are with no larger :math:`R_j`. With
    equal weights it is the procedure of Benjamini and Hochberg.

    Parameters
    ----------
    calibration_scores : array-like of shape (n_calibration,)
        Scores of calibration rows, large for unusual rows.
    scores : array-like of shape (n_new,)
        Scores of new rows.
    level : float
        Expected share of normal rows among those chosen, at most.
    weights : array-like of shape (n_calibration,)
        Density of normal new rows over that of calibration rows, at calibration rows.
    new_weights : array-like of shape (n_new,)
        The same at the new rows, finite.

    Returns
    -------
    chosen : ndarray of bool of shape (n_new,)
        The discoveries.

    See Also
    --------
    corollary.validation.benjamini_hochberg : For p-values without weights.

    Notes
    -----
    Guarantee: the expected share of normal rows among those chosen is at most `level`, if rows are
    independent and the weights are the true ratio. Checked by ``tests/guarantees/anomaly.py``.

    References
    ----------
    Jin, Y. and Candes, E. (2023). Model-free selective inference under covariate shift via weighted
    conformal p-values. Algorithm 1, with deterministic pruning.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.conformal import weighted_selection
    >>> even, new = np.ones(19), np.ones(3)
    >>> weighted_selection(np.arange(19.0), [5.0, 30.0, 40.0], 0.1, weights=even, new_weights=new)
    array([False,  True,  True])
    """
    who = "weighted_selection"
    calibration, scores = check_scores(calibration_scores, who), check_scores(scores, who)
    weight = check_weights(weights, len(calibration), who=who)
    weight, new = _moderate(weight, check_weights(new_weights, len(scores), who=who))
    p_values = conformal_p_values(calibration, scores, weights=weight, new_weights=new)
    m, slack = len(scores), 1 + _ROUNDING
    order = np.argsort(-scores, kind="stable")
    above, total = _weight_above(calibration, weight, scores)
    above, ranks, sorted_scores = above[order], np.arange(1, m + 1), scores[order]
    counts = np.full(m, m + 1)  # none: not chosen
    for place, j in enumerate(order):
        if p_values[j] > level * slack:
            continue
        mass = above + new[j] * (scores[j] >= sorted_scores)
        taken = ranks + (ranks <= place)  # row j itself goes first
        passed = mass <= level * slack * taken / m * (total + new[j])
        passed[place] = False
        count = max(1, int(taken[passed].max(initial=1)))
        if p_values[j] <= level * slack * count / m:
            counts[j] = count
    # The largest r of which at least r rows have counts up to r.
    ordered = np.sort(counts[counts <= m])
    enough = np.flatnonzero(np.searchsorted(ordered, ranks, side="right") >= ranks)
    return counts <= (ranks[enough[-1]] if len(enough) else 0)


def _moderate(weight: np.ndarray, new: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Divide weights by a power of two where their sums would overflow; shares stay the same."""
    largest = np.concatenate([weight, new[np.isfinite(new)]]).max(initial=0.0)
    excess = int(np.frexp(largest)[1]) - _EXPONENT
    return (weight, new) if excess <= 0 else (np.ldexp(weight, -excess), np.ldexp(new, -excess))


def _weight_above(
    calibration: np.ndarray, weight: np.ndarray, scores: np.ndarray
) -> tuple[np.ndarray, float]:
    """Return the weight of calibration rows with at least each score, and that of all."""
    order = np.argsort(calibration, kind="stable")
    # Sums from the top, so that small ones are not differences of large ones.
    tail = np.concatenate([np.cumsum(weight[order][::-1])[::-1], [0.0]])
    return tail[np.searchsorted(calibration[order], scores, side="left")], float(tail[0])
