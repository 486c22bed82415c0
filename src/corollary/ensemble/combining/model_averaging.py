r"""Bayesian model averaging: mixtures of predictive laws.

.. math:: p(y^*\mid x^*,X,y)=\int p(y^*\mid x^*,\theta)\,p(\theta\mid X,y)\,d\theta

averages *predictive laws*, not parameters. With finitely many models the integral is a sum with
the posterior probabilities of the models, :math:`p(M_b\mid X,y)\propto p(y\mid X,M_b)\,p(M_b)`;
with draws of :math:`\theta` from its posterior it is a mean over the draws.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp, ndtr

from corollary.ensemble.combining.vote import convex_weights


class MixtureMoments(NamedTuple):
    """Mean and variance of a mixture of predictive laws.

    Parameters
    ----------
    mean : ndarray of shape (n_samples,)
        Mean of the mixture.
    variance : ndarray of shape (n_samples,)
        Its variance: the sum of the next two.
    within : ndarray of shape (n_samples,)
        Mean variance of the members: noise that no choice of model removes.
    between : ndarray of shape (n_samples,)
        Variance of the members' means: doubt about the model.
    """

    mean: np.ndarray
    variance: np.ndarray
    within: np.ndarray
    between: np.ndarray


def model_probabilities(log_evidence: Any, prior: Any = None) -> np.ndarray:
    r"""Return the posterior probabilities of models.

    Parameters
    ----------
    log_evidence : array-like of shape (n_models,)
        :math:`\log p(y\mid X,M_b)` of the same data under each model.
    prior : array-like of shape (n_models,) or None, default=None
        Prior probabilities, divided by their sum; None for equal ones.

    Returns
    -------
    probabilities : ndarray of shape (n_models,)
        :math:`p(M_b\mid X,y)`.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.ensemble import model_probabilities
    >>> model_probabilities(np.log([1.0, 3.0]) - 5000.0)
    array([0.25, 0.75])
    """
    logs = np.asarray(log_evidence, dtype=float)
    if logs.ndim != 1 or not len(logs) or np.isnan(logs).any() or not (logs < np.inf).all():
        raise ValueError(
            "model_probabilities needs one log evidence per model, below infinity. Got "
            f"{logs.tolist()}."
        )
    with np.errstate(divide="ignore"):
        logs = logs + np.log(convex_weights(prior, len(logs)))
    if not np.isfinite(logs.max()):
        raise ValueError(
            "model_probabilities: every model has evidence or prior zero; none is possible."
        )
    return np.exp(logs - logsumexp(logs))


def average_log_density(log_density: Any, weights: Any = None) -> np.ndarray:
    r"""Return the log density of a mixture of predictive laws.

    Parameters
    ----------
    log_density : array-like of shape (n_members, ...)
        :math:`\log p(y\mid x,\theta_b)` of the same outcomes under each member: a model, or a
        draw of the parameters from their posterior.
    weights : array-like of shape (n_members,) or None, default=None
        Probabilities of the members, as from :func:`model_probabilities`; None for draws, which
        count equally.

    Returns
    -------
    log_density : ndarray of shape (...)
        :math:`\log\sum_bp_b\,p(y\mid x,\theta_b)`, without underflow.

    See Also
    --------
    mixture_moments : Mean and variance of the mixture.
    mixture_quantile : Quantiles of a mixture of normal laws.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.ensemble import average_log_density
    >>> np.exp(average_log_density(np.log([[0.2], [0.6]])))
    array([0.4])
    """
    logs = np.asarray(log_density, dtype=float)
    if logs.ndim < 1 or np.isnan(logs).any():
        raise ValueError(
            "average_log_density needs one row of log densities per member, none of them NaN. Got "
            f"shape {logs.shape}."
        )
    p = convex_weights(weights, len(logs)).reshape(-1, *[1] * (logs.ndim - 1))
    # A member of weight zero does not count, even if its density is infinite.
    logs, p = logs[p.ravel() > 0], p[p.ravel() > 0]
    return logsumexp(logs + np.log(p), axis=0)


def mixture_moments(means: Any, variances: Any, weights: Any = None) -> MixtureMoments:
    r"""Return mean and variance of a mixture of predictive laws.

    Parameters
    ----------
    means : array-like of shape (n_members, n_samples)
        Predictive means :math:`m_b`.
    variances : array-like of shape (n_members, n_samples) or float
        Predictive variances :math:`v_b`.
    weights : array-like of shape (n_members,) or None, default=None
        Probabilities of the members; None for equal ones.

    Returns
    -------
    moments : MixtureMoments
        :math:`m=\sum_bp_bm_b` and :math:`\sum_bp_bv_b+\sum_bp_b(m_b-m)^2`.

    Examples
    --------
    >>> from corollary.ensemble import mixture_moments
    >>> mixture_moments([[0.0], [2.0]], [[1.0], [3.0]]).variance
    array([3.])
    """
    m, v, p = _members("mixture_moments", means, variances, weights)
    mean, within = p @ m, p @ v
    between = p @ (m - mean) ** 2
    return MixtureMoments(mean, within + between, within, between)


def mixture_quantile(
    means: Any, variances: Any, probability: float, weights: Any = None
) -> np.ndarray:
    """Return a quantile of a mixture of normal predictive laws.

    Parameters
    ----------
    means : array-like of shape (n_members, n_samples)
        Predictive means.
    variances : array-like of shape (n_members, n_samples) or float
        Predictive variances; zero for a member that is certain.
    probability : float
        Level strictly between 0 and 1.
    weights : array-like of shape (n_members,) or None, default=None
        Probabilities of the members; None for equal ones.

    Returns
    -------
    quantile : ndarray of shape (n_samples,)
        Smallest value with at least that much probability below or at it, by bisection to the
        last digits.

    Notes
    -----
    The quantile of a mixture is not the average of quantiles: between two members that disagree,
    an interval has to cover both.

    Examples
    --------
    >>> from corollary.ensemble import mixture_quantile
    >>> mixture_quantile([[-5.0], [5.0]], 1.0, 0.975).round(3)
    array([6.645])
    """
    from scipy.special import ndtri

    if not 0 < probability < 1:
        raise ValueError(
            "The 'probability' parameter of mixture_quantile must be a float in the range "
            f"(0.0, 1.0). Got {probability!r} instead."
        )
    m, v, p = _members("mixture_quantile", means, variances, weights)
    m, v, p = m[p > 0], v[p > 0], p[p > 0]
    spread = np.sqrt(v)
    # The quantile of a mixture lies between the extreme quantiles of its members.
    single = m + spread * ndtri(probability)
    low, high = single.min(axis=0), single.max(axis=0)
    safe = np.where(spread > 0, spread, 1.0)

    def below(x: np.ndarray) -> np.ndarray:
        steps = np.where(spread > 0, ndtr((x - m) / safe), x >= m)
        return p @ steps

    for _ in range(200):
        middle = low + (high - low) / 2
        enough = below(middle) >= probability
        if np.all((middle <= low) | (middle >= high)):
            break
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return np.where(below(low) >= probability, low, high)


def _members(
    name: str, means: Any, variances: Any, weights: Any
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    m = np.asarray(means, dtype=float)
    if m.ndim != 2:
        raise ValueError(f"{name} needs means of shape (n_members, n_samples). Got {m.shape}.")
    v = np.asarray(variances, dtype=float)
    if v.ndim and v.shape != m.shape:
        raise ValueError(
            f"{name} needs as many variances as means. Got shapes {v.shape} and {m.shape}."
        )
    v = np.broadcast_to(v, m.shape)
    if not np.isfinite(m).all() or not np.isfinite(v).all() or np.any(v < 0):
        raise ValueError(f"{name} needs finite means and finite, non-negative variances.")
    return m, v, convex_weights(weights, len(m))
