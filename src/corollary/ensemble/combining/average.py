r"""Bias and variance of an average of learners.

For :math:`f=\sum_bp_bf_b` the bias is the average bias and

.. math:: \mathrm{Var} f=\sum_{b,b'}p_bp_{b'}\mathrm{Cov}(f_b,f_{b'}),

which for equal weights, variances :math:`\sigma^2` and pairwise correlations :math:`\rho` is
:math:`\rho\sigma^2+(1-\rho)\sigma^2/B`: more members help down to the floor
:math:`\rho\sigma^2`, and only less correlated ones lower the floor.
"""

from numbers import Real
from typing import Annotated, Any, NamedTuple

import numpy as np

from corollary.core.compat import Interval
from corollary.core.estimator import Count, NonNegative, checked
from corollary.ensemble.combining.vote import convex_weights


class AverageMoments(NamedTuple):
    """Bias and variance of members and of their average, over training sets.

    Parameters
    ----------
    bias : ndarray of shape (n_points,)
        Bias of the average; NaN without a truth.
    variance : ndarray of shape (n_points,)
        Variance of the average.
    member_biases : ndarray of shape (n_members, n_points)
        Bias of each member; NaN without a truth.
    covariance : ndarray of shape (n_points, n_members, n_members)
        Covariances of members.
    correlation : float
        Mean covariance of two members divided by the mean variance of one, over all points.
    """

    bias: np.ndarray
    variance: np.ndarray
    member_biases: np.ndarray
    covariance: np.ndarray
    correlation: float


def average_bias(biases: Any, weights: Any = None) -> np.ndarray:
    r"""Return the bias of an average.

    Parameters
    ----------
    biases : array-like of shape (n_members, ...)
        Bias of each member.
    weights : array-like of shape (n_members,) or None, default=None
        Non-negative weights :math:`p_b`, divided by their sum; None for equal ones.

    Returns
    -------
    bias : ndarray of shape (...)
        :math:`\sum_bp_b\,\mathrm{bias}(f_b)`: averaging does not remove a shared bias.

    Examples
    --------
    >>> from corollary.ensemble import average_bias
    >>> float(average_bias([1.0, 3.0]))
    2.0
    """
    values = np.asarray(biases, dtype=float)
    if values.ndim < 1:
        raise ValueError("average_bias needs one bias per member. Got a number.")
    return np.tensordot(convex_weights(weights, len(values)), values, axes=1)


def average_variance(covariance: Any, weights: Any = None) -> np.ndarray:
    r"""Return the variance of an average of correlated members.

    Parameters
    ----------
    covariance : array-like of shape (..., n_members, n_members)
        Covariances of the members, symmetric.
    weights : array-like of shape (n_members,) or None, default=None
        Non-negative weights :math:`p_b`, divided by their sum; None for equal ones.

    Returns
    -------
    variance : ndarray of shape (...)
        :math:`\sum_{b,b'}p_bp_{b'}C_{bb'}`.

    See Also
    --------
    equicorrelated_variance : The closed form for equal variances and correlations.

    Examples
    --------
    >>> from corollary.ensemble import average_variance
    >>> float(average_variance([[4.0, 2.0], [2.0, 4.0]]))
    3.0
    """
    C = np.asarray(covariance, dtype=float)
    if C.ndim < 2 or C.shape[-1] != C.shape[-2]:
        raise ValueError(
            "average_variance needs a covariance of shape (..., n_members, n_members). Got shape "
            f"{C.shape}."
        )
    if not np.allclose(C, np.swapaxes(C, -1, -2)):
        raise ValueError("average_variance needs a symmetric covariance. Got one that is not.")
    p = convex_weights(weights, C.shape[-1])
    return (C @ p) @ p


@checked
def equicorrelated_variance(
    variance: NonNegative,
    correlation: Annotated[float, Interval(Real, -1, 1, closed="both")],
    n_members: Count,
) -> float:
    r"""Return the variance of the mean of equally correlated members.

    Parameters
    ----------
    variance : float
        :math:`\sigma^2`, variance of each member.
    correlation : float
        :math:`\rho`, correlation of each pair; at least :math:`-1/(B-1)`, since a variance cannot
        be negative.
    n_members : int
        B.

    Returns
    -------
    variance : float
        :math:`\rho\sigma^2+(1-\rho)\sigma^2/B`.

    Raises
    ------
    ValueError
        If that many members cannot be so negatively correlated.

    Examples
    --------
    >>> from corollary.ensemble import equicorrelated_variance
    >>> equicorrelated_variance(1.0, 0.5, 10)
    0.55
    """
    if n_members > 1 and correlation < -1 / (n_members - 1) * (1 + 1e-12):
        raise ValueError(
            f"The 'correlation' of {n_members} members must be at least -1/{n_members - 1}. "
            f"Got {correlation} instead."
        )
    rho = float(correlation) if n_members > 1 else 1.0
    return max(0.0, rho * variance + (1 - rho) * variance / n_members)


def average_moments(predictions: Any, truth: Any = None, *, weights: Any = None) -> AverageMoments:
    r"""Measure bias, variance and correlation of members fitted on several training sets.

    Parameters
    ----------
    predictions : array-like of shape (n_sets, n_members, n_points)
        Prediction of every member at every point, for each training set.
    truth : array-like of shape (n_points,) or None, default=None
        The function that is estimated; None if it is not known.
    weights : array-like of shape (n_members,) or None, default=None
        Weights of the members; None for equal ones.

    Returns
    -------
    moments : AverageMoments
        Moments over training sets, with divisor n_sets, so that the identities of
        :func:`average_bias` and :func:`average_variance` hold exactly.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.ensemble import average_moments
    >>> common, own = np.random.default_rng(0).normal(size=(2, 4000, 2, 1))
    >>> moments = average_moments(common[:, :1] + own)
    >>> round(moments.correlation, 1), moments.variance.round(1)
    (0.5, array([1.5]))
    """
    values = np.asarray(predictions, dtype=float)
    if values.ndim != 3 or 0 in values.shape:
        raise ValueError(
            "average_moments needs predictions of shape (n_sets, n_members, n_points). Got shape "
            f"{values.shape}."
        )
    means = values.mean(axis=0)
    centred = values - means
    covariance = np.einsum("sbx,scx->xbc", centred, centred) / len(values)
    target = np.nan if truth is None else np.asarray(truth, dtype=float)
    biases = means - target
    n_members = values.shape[1]
    single = float(np.einsum("xbb->", covariance)) / n_members
    pairs = float(covariance.sum()) - n_members * single
    with np.errstate(invalid="ignore", divide="ignore"):
        correlation = np.float64(pairs / max(1, n_members * (n_members - 1))) / np.float64(single)
    return AverageMoments(
        bias=average_bias(biases, weights),
        variance=average_variance(covariance, weights),
        member_biases=biases,
        covariance=covariance,
        correlation=float(correlation) if n_members > 1 else 1.0,
    )
