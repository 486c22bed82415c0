"""Conformity scores as functions of numbers: how badly a target fits a prediction.

Any score gives valid coverage; a good one makes regions small where prediction is easy. Scores of
intervals are inverted in closed form; scores of sets are computed for every class at once.
"""

from typing import Any

import numpy as np

from corollary.conformal._intervals import distance_outside
from corollary.conformal.scores._ranking import ranked_scores, ranked_sets
from corollary.core.estimator import AnyReal, ArrayLike, CountFromZero, NonNegative, checked


@checked
def absolute_score(y: ArrayLike, prediction: ArrayLike) -> np.ndarray:
    """Compute the absolute error, which gives intervals of one width.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Targets.
    prediction : array-like of shape (n_samples,)
        Predictions.

    Returns
    -------
    scores : ndarray of shape (n_samples,)
        ``|y - prediction|``.

    Examples
    --------
    >>> from corollary.conformal import absolute_score
    >>> absolute_score([1.0, 2.0], [1.5, 0.0])
    array([0.5, 2. ])
    """
    y, prediction = _check_columns("absolute_score", y=y, prediction=prediction)
    return np.abs(y - prediction)


@checked
def normalised_score(y: ArrayLike, prediction: ArrayLike, scale: ArrayLike) -> np.ndarray:
    """Compute the absolute error in units of its expected size, so that widths follow difficulty.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Targets.
    prediction : array-like of shape (n_samples,)
        Predictions.
    scale : array-like of shape (n_samples,)
        Positive expected size of the error.

    Returns
    -------
    scores : ndarray of shape (n_samples,)
        ``|y - prediction| / scale``.

    Raises
    ------
    ValueError
        If a scale is not positive.

    Examples
    --------
    >>> from corollary.conformal import normalised_score
    >>> normalised_score([1.0, 2.0], [1.5, 0.0], [0.5, 4.0])
    array([1. , 0.5])
    """
    y, prediction, scale = _check_columns(
        "normalised_score", y=y, prediction=prediction, scale=scale
    )
    if not np.all(scale > 0):
        raise ValueError("The 'scale' parameter of normalised_score must be positive everywhere.")
    return np.abs(y - prediction) / scale


@checked
def quantile_score(y: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> np.ndarray:
    r"""Compute how far a target lies outside an interval, negative inside.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Targets.
    lower : array-like of shape (n_samples,)
        Lower quantile :math:`f_{\alpha/2}(x)`.
    upper : array-like of shape (n_samples,)
        Upper quantile :math:`f_{1-\alpha/2}(x)`.

    Returns
    -------
    scores : ndarray of shape (n_samples,)
        ``max(lower - y, y - upper)``, the score of conformalised quantile regression.

    References
    ----------
    Romano, Y., Patterson, E. and Candes, E. (2019). Conformalized quantile regression. Advances
    in Neural Information Processing Systems 32.

    Examples
    --------
    >>> from corollary.conformal import quantile_score
    >>> quantile_score([1.0, 5.0], [0.0, 0.0], [3.0, 3.0])
    array([-1.,  2.])
    """
    y, lower, upper = _check_columns("quantile_score", y=y, lower=lower, upper=upper)
    return distance_outside(y, lower, upper)


def reach(threshold: Any, unit: Any = None) -> np.ndarray:
    """Return how far ends must move so that no target within a threshold is lost to rounding.

    A score is a rounded difference, an end of an interval a rounded sum, and the one need not undo
    the other: 0.2 + (0.9 - 0.2) is less than 0.9. With targets on a lattice, as prices are, many
    rows may sit on just that end.

    Parameters
    ----------
    threshold : float or ndarray of shape (n_samples,)
        Largest scores.
    unit : ndarray of shape (n_samples,) or None, default=None
        The unit of scores, such as the scale of :func:`normalised_score`; None for 1.

    Returns
    -------
    distance : float or ndarray of shape (n_samples,)
        The threshold times the unit, or a hair more.

    Examples
    --------
    >>> from corollary.conformal import absolute_score, reach
    >>> threshold = absolute_score([0.9], [0.2])
    >>> bool(0.2 + threshold[0] >= 0.9), bool(0.2 + reach(threshold)[0] >= 0.9)
    (False, True)
    """
    if unit is None:
        return np.nextafter(threshold, np.inf)
    return threshold * (1 + 2.0**-50) * unit


@checked
def lac_score(probabilities: ArrayLike) -> np.ndarray:
    """Compute one minus the probability of each class.

    Parameters
    ----------
    probabilities : array-like of shape (n_samples, n_classes)
        Class probabilities.

    Returns
    -------
    scores : ndarray of shape (n_samples, n_classes)
        Score of each class as a candidate; gives the smallest sets on average, some of them empty.

    Examples
    --------
    >>> from corollary.conformal import lac_score
    >>> lac_score([[0.75, 0.25]])
    array([[0.25, 0.75]])
    """
    return 1 - np.asarray(probabilities, dtype=float)


@checked
def aps_score(probabilities: ArrayLike, uniform: ArrayLike | None = None) -> np.ndarray:
    r"""Compute the probability of all classes at least as likely as each class.

    With classes sorted by decreasing probability, class :math:`\pi_k` has the score
    :math:`\sum_{j \le k} p_{\pi_j}`; with `uniform` u its own probability counts u times.

    Parameters
    ----------
    probabilities : array-like of shape (n_samples, n_classes)
        Class probabilities. Equal ones keep the order of the classes.
    uniform : array-like of shape (n_samples,) or None, default=None
        Uniform random numbers, one per row, for randomised scores without atoms.

    Returns
    -------
    scores : ndarray of shape (n_samples, n_classes)
        Score of each class as a candidate.

    See Also
    --------
    aps_sets : Sets from these scores.

    References
    ----------
    Romano, Y., Sesia, M. and Candes, E. (2020). Classification with valid and adaptive coverage.
    Advances in Neural Information Processing Systems 33.

    Examples
    --------
    >>> from corollary.conformal import aps_score
    >>> aps_score([[0.25, 0.75]])
    array([[1.  , 0.75]])
    >>> aps_score([[0.25, 0.75]], uniform=[0.0])
    array([[0.75, 0.  ]])
    """
    probabilities, uniform = _check_ranked("aps_score", probabilities, uniform)
    return ranked_scores(probabilities, uniform=uniform)


@checked
def raps_score(
    probabilities: ArrayLike,
    uniform: ArrayLike | None = None,
    *,
    penalty: NonNegative = 0.01,
    free_classes: CountFromZero = 1,
) -> np.ndarray:
    r"""Add a price to the score of `aps_score` for every class beyond the first few.

    The class at place k has the score of :func:`aps_score` plus
    :math:`\lambda (k - k_{free})_+`.

    Parameters
    ----------
    probabilities : array-like of shape (n_samples, n_classes)
        Class probabilities. Equal ones keep the order of the classes.
    uniform : array-like of shape (n_samples,) or None, default=None
        Uniform random numbers, one per row, for randomised scores without atoms.
    penalty : float, default=0.01
        The price :math:`\lambda`, not negative.
    free_classes : int, default=1
        Number :math:`k_{free}` of classes without a price.

    Returns
    -------
    scores : ndarray of shape (n_samples, n_classes)
        Score of each class as a candidate.

    See Also
    --------
    aps_score : Without a price.

    References
    ----------
    Angelopoulos, A., Bates, S., Malik, J. and Jordan, M. (2021). Uncertainty sets for image
    classifiers using conformal prediction. International Conference on Learning Representations.

    Examples
    --------
    >>> from corollary.conformal import raps_score
    >>> raps_score([[0.25, 0.5, 0.25]], penalty=0.5)
    array([[1.25, 0.5 , 2.  ]])
    """
    probabilities, uniform = _check_ranked("raps_score", probabilities, uniform)
    return ranked_scores(probabilities, uniform=uniform, penalty=penalty, free_classes=free_classes)


@checked
def aps_sets(probabilities: ArrayLike, threshold: ArrayLike | AnyReal) -> np.ndarray:
    r"""Take classes in decreasing probability until their sum reaches a threshold.

    Parameters
    ----------
    probabilities : array-like of shape (n_samples, n_classes)
        Class probabilities.
    threshold : float or array-like that broadcasts to (n_samples, n_classes)
        Conformal threshold of the scores of :func:`aps_score`.

    Returns
    -------
    sets : ndarray of bool of shape (n_samples, n_classes)
        Never empty; contains every class whose score is at most the threshold, so coverage is
        kept. All classes for an infinite threshold.

    See Also
    --------
    aps_score : The scores.

    Notes
    -----
    The class at place k belongs to the set if k = 1, if the classes before it sum to less than
    the threshold, or if its own score is at most the threshold. The last matters for classes of
    probability zero whose predecessors sum to exactly the threshold.

    Examples
    --------
    >>> from corollary.conformal import aps_sets
    >>> aps_sets([[0.25, 0.5, 0.25], [0.0, 0.875, 0.125]], 0.75)
    array([[ True,  True, False],
           [False,  True, False]])
    """
    probabilities, _ = _check_ranked("aps_sets", probabilities)
    threshold = np.asarray(threshold, dtype=float)
    return ranked_sets(probabilities, threshold, reach=threshold)


def _check_columns(who: str, **columns: Any) -> list[np.ndarray]:
    """Return lists of numbers as arrays, or say that they differ in length."""
    arrays = {name: np.asarray(column, dtype=float) for name, column in columns.items()}
    shapes = {array.shape for array in arrays.values()}
    if len(shapes) > 1 or len(next(iter(shapes))) != 1:
        got = ", ".join(f"{name} of shape {array.shape}" for name, array in arrays.items())
        raise ValueError(f"{who} needs one number for each row in all its parts. Got {got}.")
    return list(arrays.values())


def _check_ranked(
    who: str, probabilities: Any, uniform: Any = None
) -> tuple[np.ndarray, np.ndarray | None]:
    probabilities = np.asarray(probabilities, dtype=float)
    if probabilities.ndim != 2:
        raise ValueError(
            f"{who} needs probabilities of shape (n_samples, n_classes). "
            f"Got shape {probabilities.shape}."
        )
    if uniform is None:
        return probabilities, None
    uniform = np.asarray(uniform, dtype=float)
    if uniform.shape != probabilities.shape[:1]:
        raise ValueError(
            f"{who} needs one random number for each of {len(probabilities)} rows. "
            f"Got shape {uniform.shape}."
        )
    return probabilities, uniform
