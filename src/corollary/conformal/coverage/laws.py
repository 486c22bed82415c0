"""What coverage means, how it varies, and how it is measured."""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from corollary.conformal._checks import held_labels
from corollary.conformal._order import round_up
from corollary.conformal.quantile import conformal_rank, smallest_calibration_size
from corollary.core.estimator import ArrayLike, Count, Probability, RandomSeed, checked


@checked
def coverage_law(n_calibration: Count, alpha: Probability) -> Any:
    r"""Return the law of the coverage given the calibration rows.

    With n calibration rows and :math:`\ell = \lfloor (n + 1) \alpha \rfloor` the coverage
    :math:`P\{y \in C(x) \mid \text{calibration rows}\}` has the law
    :math:`\mathrm{Beta}(n + 1 - \ell, \ell)` as the calibration rows vary.

    Parameters
    ----------
    n_calibration : int
        Number of calibration rows.
    alpha : float
        Allowed share of misses, 1 - confidence.

    Returns
    -------
    law : frozen distribution of scipy.stats
        With ``mean()``, ``std()``, ``cdf(x)``, ``ppf(q)``, ``pdf(x)`` and ``rvs(n)``.

    Raises
    ------
    ValueError
        If rows are too few for a finite threshold; then coverage is 1 and has no density.

    See Also
    --------
    corollary.certificates.coverage_certificates : The quantile of it, for a fitted wrapper.
    coverage_dkw : A lower limit that also holds with ties.
    smallest_calibration_size : How many rows make the law narrow enough.

    Notes
    -----
    Guarantee: exact for exchangeable scores without ties, that is for independent rows and
    continuous scores; with ties coverage is stochastically larger. Checked by
    ``tests/conformal/test_coverage.py``.

    Examples
    --------
    >>> from corollary.conformal import coverage_law
    >>> law = coverage_law(1000, alpha=0.1)
    >>> print(f"{law.mean():.4f} {law.std():.5f} {law.ppf(0.05):.4f} {law.cdf(0.88):.4f}")
    0.9001 0.00947 0.8841 0.0209
    """
    from scipy.stats import beta

    rank = conformal_rank(n_calibration, 1 - alpha)
    if rank > n_calibration:
        needed = smallest_calibration_size(1 - alpha)
        raise ValueError(
            f"coverage_law has no density for {n_calibration} calibration rows and alpha={alpha}: "
            "prediction sets hold everything and coverage is 1. At least "
            f"{needed - n_calibration} more rows are needed."
        )
    return beta(rank, n_calibration + 1 - rank)


@checked
def coverage_dkw(n_calibration: Count, alpha: Probability, delta: Probability) -> float:
    r"""Bound the coverage given the calibration rows from below, ties allowed.

    .. math:: 1 - \alpha - \sqrt{\log(2 / \delta) / (2n)}

    Parameters
    ----------
    n_calibration : int
        Number n of calibration rows.
    alpha : float
        Allowed share of misses, 1 - confidence.
    delta : float
        Probability that the calibration rows are bad luck.

    Returns
    -------
    bound : float
        Coverage is at least this with probability 1 - delta; 0 where the bound is vacuous.

    See Also
    --------
    coverage_law : The exact law, sharper, for scores without ties.

    Notes
    -----
    Follows from the Dvoretzky-Kiefer-Wolfowitz inequality with Massart's constant: the empirical
    distribution function of the scores is uniformly close to the true one. Guarantee checked by
    ``tests/conformal/test_coverage.py``.

    Examples
    --------
    >>> from corollary.conformal import coverage_dkw
    >>> round(coverage_dkw(1000, alpha=0.1, delta=0.05), 4)
    0.8571
    """
    from corollary.theory import dkw_bound

    return max(0.0, 1 - alpha - dkw_bound(n_samples=n_calibration, delta=delta))


@checked
def naive_coverage(n_calibration: Count, alpha: Probability) -> float:
    r"""Return what the plain empirical quantile covers, which is usually too little.

    A threshold at the :math:`1 - \alpha` quantile of n continuous scores covers the next with
    probability :math:`\lceil n (1 - \alpha) \rceil / (n + 1)`.

    Parameters
    ----------
    n_calibration : int
        Number n of calibration rows.
    alpha : float
        Wanted share of misses.

    Returns
    -------
    coverage : float
        Exact probability for scores without ties.

    See Also
    --------
    conformal_quantile : The quantile that does cover.

    Examples
    --------
    >>> from corollary.conformal import naive_coverage
    >>> round(naive_coverage(20, alpha=0.1), 3), round(naive_coverage(10, alpha=0.1), 3)
    (0.857, 0.818)
    """
    return round_up(n_calibration * (1 - alpha), n_calibration) / (n_calibration + 1)


@checked
def coverage_score(y: ArrayLike, region: ArrayLike, *, classes: ArrayLike | None = None) -> float:
    """Measure which share of targets lies in its prediction interval or set.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Targets.
    region : array-like of shape (n_samples, 2) or boolean of shape (n_samples, n_classes)
        Intervals, lower end first, or sets as booleans per class.
    classes : array-like of shape (n_classes,) or None, default=None
        Labels of the columns of a set; needed for sets.

    Returns
    -------
    coverage : float
        Share of targets covered; both ends of an interval belong to it.

    See Also
    --------
    mean_size : How much room that took.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.conformal import coverage_score
    >>> coverage_score([1.0, 5.0], [[0.0, 2.0], [0.0, 2.0]])
    0.5
    >>> coverage_score(["a", "b"], np.array([[True, False], [True, True]]), classes=["a", "b"])
    1.0
    """
    y, region = np.asarray(y), np.asarray(region)
    if len(y) != len(region) or region.ndim != 2 or len(y) == 0:
        raise ValueError(
            "coverage_score needs one region per target, in two dimensions. "
            f"Got {len(y)} targets and regions of shape {region.shape}."
        )
    if region.dtype != bool and (region.shape[1] != 2 or classes is not None):
        raise ValueError(
            "coverage_score needs intervals with two columns and no classes, or sets of type bool. "
            f"Got shape {region.shape} and type {region.dtype}."
        )
    if region.dtype != bool:
        if y.dtype.kind not in "biufO":
            raise ValueError(
                "coverage_score needs targets that are numbers to look for in intervals. "
                f"Got {y[0]!r} of type {y.dtype}."
            )
        return float(np.mean((region[:, 0] <= y) & (y <= region[:, 1])))
    if classes is None or len(classes) != region.shape[1]:
        raise ValueError(
            "coverage_score needs 'classes', one label per column of the sets "
            f"({region.shape[1]} columns), to look targets up."
        )
    return float(np.mean(held_labels(y, region, np.asarray(classes), who="coverage_score")))


@checked
def mean_size(region: ArrayLike) -> float:
    """Measure how much room prediction intervals or sets take on average.

    Parameters
    ----------
    region : array-like of shape (n_samples, 2) or boolean of shape (n_samples, n_classes)
        Intervals, lower end first, or sets as booleans per class.

    Returns
    -------
    size : float
        Mean width of intervals (an empty interval has width 0), or mean number of classes.

    See Also
    --------
    coverage_score : What it buys.

    Examples
    --------
    >>> from corollary.conformal import mean_size
    >>> mean_size([[0.0, 2.0], [1.0, 2.0]]), mean_size([[True, False], [True, True]])
    (1.5, 1.5)
    """
    region = np.asarray(region)
    if region.ndim != 2 or not len(region) or (region.dtype != bool and region.shape[1] != 2):
        raise ValueError(
            "mean_size needs intervals of shape (n_samples, 2), or sets of type bool. Got shape "
            f"{region.shape} and type {region.dtype}."
        )
    if region.dtype == bool:
        return float(region.sum(axis=1).mean())
    low, high = region.T
    # Two equal ends, infinite ones too, are no width apart.
    return float(np.subtract(high, low, out=np.zeros(len(low)), where=high > low).mean())


@checked
def trivial_sets(
    n_samples: Count,
    n_classes: Count,
    *,
    confidence: Probability = 0.9,
    random_state: RandomSeed = None,
) -> np.ndarray:
    """Draw prediction sets that cover exactly and say nothing.

    With probability `confidence` a set holds every class, otherwise none: coverage alone does
    not make sets useful.

    Parameters
    ----------
    n_samples : int
        Number of sets.
    n_classes : int
        Number of classes.
    confidence : float, default=0.9
        Coverage.
    random_state : int, RandomState instance or None, default=None
        Seed or generator.

    Returns
    -------
    sets : ndarray of bool of shape (n_samples, n_classes)
        Full or empty sets.

    See Also
    --------
    SplitConformalClassifier : Sets that depend on the row.

    Examples
    --------
    >>> from corollary.conformal import trivial_sets
    >>> trivial_sets(3, 2, confidence=0.5, random_state=0).tolist()
    [[False, False], [False, False], [False, False]]
    """
    full = check_random_state(random_state).random_sample(n_samples) < confidence
    return np.repeat(full[:, None], n_classes, axis=1)
