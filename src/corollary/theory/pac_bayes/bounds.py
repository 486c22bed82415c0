r"""Bounds for models that are drawn: PAC-Bayes.

A prior :math:`\pi` over models is fixed before the rows are seen; a posterior :math:`\rho` may
depend on them in any way. The average risk under the posterior is bounded by the average training
risk and the divergence :math:`\mathrm{KL}(\rho\|\pi)`, at once for all posteriors. Losses lie
between `low` and `high`.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from corollary.core.estimator import (
    AnyReal,
    Count,
    Fraction,
    NonNegative,
    Positive,
    Probability,
    checked,
)
from corollary.theory.concentration.kl_inverse import kl_upper_inverse
from corollary.theory.pac_bayes.gibbs import gibbs_erm
from corollary.theory.pac_bayes.variational import log_moment


@checked
def pac_bayes_bound(
    risk: AnyReal,
    *,
    divergence: NonNegative,
    n_samples: Count,
    delta: Probability,
    temperature: Positive,
    low: AnyReal = 0.0,
    high: AnyReal = 1.0,
) -> float:
    r"""Bound the average risk of a posterior at a temperature fixed beforehand (Catoni).

    .. math:: E_\rho L \le E_\rho\hat L_n + \frac{\lambda(b-a)^2}{8n}
              + \frac{\mathrm{KL}(\rho\|\pi)+\log(1/\delta)}\lambda

    Parameters
    ----------
    risk : float
        Average training risk of the posterior.
    divergence : float
        KL divergence of the posterior from the prior.
    n_samples : int
        Number n of independent rows.
    delta : float
        Probability of failure.
    temperature : float
        :math:`\lambda`, chosen before the rows are seen. One that depends on them is not allowed:
        use :func:`pac_bayes_range_bound`.
    low : float, default=0.0
        Smallest possible loss, a.
    high : float, default=1.0
        Largest possible loss, b.

    Returns
    -------
    bound : float
        For all posteriors at once.

    See Also
    --------
    pac_bayes_kl_bound : Tighter for losses in [0, 1], without a temperature.
    gibbs_posterior : The posterior with the smallest bound.

    Notes
    -----
    Guarantee: checked by ``tests/guarantees/pac_bayes.py`` with the worst posterior.

    Examples
    --------
    >>> from corollary.theory import pac_bayes_bound
    >>> round(pac_bayes_bound(
    ...     0.1, divergence=5.0, n_samples=1000, delta=0.05, temperature=200.0), 4)
    0.165
    """
    width = _width("pac_bayes_bound", risk, low, high)
    price = (divergence + math.log(1 / delta)) / temperature
    return risk + temperature * width**2 / (8 * n_samples) + price


@checked
def pac_bayes_fixed_divergence_bound(
    risk: AnyReal,
    *,
    divergence: NonNegative,
    n_samples: Count,
    delta: Probability,
    low: AnyReal = 0.0,
    high: AnyReal = 1.0,
) -> float:
    r"""Bound the average risk of posteriors whose divergence is known before the rows are seen.

    Parameters
    ----------
    risk : float
        Average training risk of the posterior.
    divergence : float
        KL divergence, the same for every posterior that could have been chosen, such as log N for
        single hypotheses under a uniform prior.
    n_samples : int
        Number n of independent rows.
    delta : float
        Probability of failure.
    low : float, default=0.0
        Smallest possible loss, a.
    high : float, default=1.0
        Largest possible loss, b.

    Returns
    -------
    bound : float
        :math:`E_\rho\hat L_n+(b-a)\sqrt{(\mathrm{KL}+\log(1/\delta))/(2n)}`, the bound at the best
        temperature. It is not valid for posteriors of different divergence at once.

    See Also
    --------
    finite_class_bound : The special case of one hypothesis out of N.

    Examples
    --------
    >>> from math import log
    >>> from corollary.theory import pac_bayes_fixed_divergence_bound
    >>> round(pac_bayes_fixed_divergence_bound(
    ...     0.0, divergence=log(1000), n_samples=500, delta=0.05), 4)
    0.0995
    """
    width = _width("pac_bayes_fixed_divergence_bound", risk, low, high)
    return risk + width * math.sqrt((divergence + math.log(1 / delta)) / (2 * n_samples))


class RangeBound(NamedTuple):
    """A bound at the best temperature of a range.

    Parameters
    ----------
    bound : float
        The bound.
    temperature : float
        Where it is reached.
    """

    bound: float
    temperature: float


@checked
def pac_bayes_range_bound(
    risk: AnyReal,
    *,
    divergence: NonNegative,
    n_samples: Count,
    delta: Probability,
    smallest: Positive,
    largest: Positive,
    low: AnyReal = 0.0,
    high: AnyReal = 1.0,
    sharp: bool = True,
) -> RangeBound:
    r"""Bound the average risk of a posterior at the best temperature of a range.

    Parameters
    ----------
    risk : float
        Average training risk of the posterior.
    divergence : float
        KL divergence of the posterior from the prior.
    n_samples : int
        Number n of independent rows.
    delta : float
        Probability of failure.
    smallest : float
        Smallest temperature :math:`\alpha`, fixed before the rows are seen.
    largest : float
        Largest temperature :math:`\beta`, too.
    low : float, default=0.0
        Smallest possible loss.
    high : float, default=1.0
        Largest possible loss.
    sharp : bool, default=True
        True for the smallest bound over the grid :math:`\alpha e^j`, each point with an equal share
        of delta; False for the closed form over all temperatures, with
        :math:`\tfrac e\lambda[\mathrm{KL}+\log\tfrac{\lfloor\log(\beta/\alpha)\rfloor+1}\delta]`.

    Returns
    -------
    outcome : RangeBound
        Bound and temperature, for all posteriors at once.

    Notes
    -----
    Guarantee: checked by ``tests/guarantees/pac_bayes.py``.

    Examples
    --------
    >>> from corollary.theory import pac_bayes_range_bound
    >>> round(pac_bayes_range_bound(0.1, divergence=5.0, n_samples=1000, delta=0.05,
    ...                             smallest=10.0, largest=1000.0).bound, 4)
    0.1729
    """
    if not smallest <= largest:
        raise ValueError(
            "pac_bayes_range_bound needs smallest <= largest. Got "
            f"smallest={smallest!r} and largest={largest!r}."
        )
    width = _width("pac_bayes_range_bound", risk, low, high)
    points = math.floor(math.log(largest / smallest)) + 1
    price = divergence + math.log(points / delta)
    if sharp:
        temperatures, factor = smallest * np.exp(np.arange(points)), 1.0
    else:
        # The right side is convex in the temperature; its minimum may lie outside of the range.
        best = math.sqrt(8 * n_samples * math.e * price) / width
        temperatures, factor = np.array([min(max(best, smallest), largest)]), math.e
    bounds = risk + temperatures * width**2 / (8 * n_samples) + factor * price / temperatures
    best_index = int(np.argmin(bounds))
    return RangeBound(float(bounds[best_index]), float(temperatures[best_index]))


@checked
def pac_bayes_kl_bound(
    risk: Fraction, *, divergence: NonNegative, n_samples: Count, delta: Probability
) -> float:
    r"""Bound the average risk of a posterior by an inverse relative entropy (Seeger, Maurer).

    .. math:: \mathrm{kl}(E_\rho\hat L_n\,\|\,E_\rho L) \le
              \frac{\mathrm{KL}(\rho\|\pi)+\log(2\sqrt n/\delta)}n

    Parameters
    ----------
    risk : float
        Average training risk of the posterior, for losses in [0, 1].
    divergence : float
        KL divergence of the posterior from the prior.
    n_samples : int
        Number n of independent rows.
    delta : float
        Probability of failure.

    Returns
    -------
    bound : float
        The largest average risk that the inequality allows, for all posteriors at once.

    See Also
    --------
    mcallester_bound : Its weaker square-root form.

    Notes
    -----
    Guarantee: checked by ``tests/guarantees/pac_bayes.py`` with the worst posterior. The constant
    holds for every n.

    References
    ----------
    Maurer, A. (2004). A note on the PAC-Bayesian theorem.

    Examples
    --------
    >>> from corollary.theory import pac_bayes_kl_bound
    >>> round(pac_bayes_kl_bound(0.02, divergence=5.0, n_samples=1000, delta=0.05), 4)
    0.05
    """
    return kl_upper_inverse(risk, _seeger(divergence, n_samples, delta))


@checked
def mcallester_bound(
    risk: AnyReal,
    *,
    divergence: NonNegative,
    n_samples: Count,
    delta: Probability,
    low: AnyReal = 0.0,
    high: AnyReal = 1.0,
) -> float:
    r"""Bound the average risk of a posterior by a square root (McAllester).

    Parameters
    ----------
    risk : float
        Average training risk of the posterior.
    divergence : float
        KL divergence of the posterior from the prior.
    n_samples : int
        Number n of independent rows.
    delta : float
        Probability of failure.
    low : float, default=0.0
        Smallest possible loss.
    high : float, default=1.0
        Largest possible loss.

    Returns
    -------
    bound : float
        :math:`E_\rho\hat L_n+(b-a)\sqrt{(\mathrm{KL}+\log(2\sqrt n/\delta))/(2n)}`, for all
        posteriors at once.

    Examples
    --------
    >>> from corollary.theory import mcallester_bound
    >>> round(mcallester_bound(0.02, divergence=5.0, n_samples=1000, delta=0.05), 4)
    0.0979
    """
    width = _width("mcallester_bound", risk, low, high)
    return risk + width * math.sqrt(_seeger(divergence, n_samples, delta) / 2)


class GibbsPosterior(NamedTuple):
    """The posterior with the smallest bound.

    Parameters
    ----------
    law : ndarray of shape (n_hypotheses,)
        Its probabilities.
    value : float
        Smallest average training risk plus divergence over temperature.
    """

    law: np.ndarray
    value: float


def gibbs_posterior(prior: Any, risks: Any, *, temperature: float) -> GibbsPosterior:
    r"""Return the posterior that minimises the bound at a fixed temperature.

    Parameters
    ----------
    prior : array-like of shape (n_hypotheses,)
        Probabilities before the rows are seen.
    risks : array-like of shape (n_hypotheses,)
        Training risks.
    temperature : float
        :math:`\lambda`, positive.

    Returns
    -------
    posterior : GibbsPosterior
        Law proportional to :math:`\pi e^{-\lambda\hat L_n}` and the minimum
        :math:`-\tfrac1\lambda\log E_\pi e^{-\lambda\hat L_n}`.

    Examples
    --------
    >>> from corollary.theory import gibbs_posterior
    >>> posterior = gibbs_posterior([0.5, 0.5], [0.1, 0.4], temperature=20.0)
    >>> posterior.law.round(4)
    array([0.9975, 0.0025])
    """
    if not temperature > 0:
        raise ValueError(
            "The 'temperature' parameter of gibbs_posterior must be positive. Got "
            f"{temperature!r} instead."
        )
    law = gibbs_erm(risks, temperature, prior=prior)
    value = -log_moment(prior, -temperature * np.asarray(risks, dtype=float)) / temperature
    return GibbsPosterior(law, value)


def gaussian_shift_divergence(weights: Any, prior_weights: Any, *, std: float) -> float:
    r"""Compute the divergence of Gaussian noise around weights from that around prior weights.

    Parameters
    ----------
    weights : array-like
        Centre :math:`\theta` of the posterior.
    prior_weights : array-like
        Centre :math:`\mu` of the prior, of the same shape or a number.
    std : float
        Common standard deviation :math:`\sigma` of all weights.

    Returns
    -------
    divergence : float
        :math:`\|\theta-\mu\|^2/(2\sigma^2)`.

    See Also
    --------
    corollary.risk.kl_gaussian : Different spreads.

    Examples
    --------
    >>> from corollary.theory import gaussian_shift_divergence
    >>> gaussian_shift_divergence([3.0, 4.0], 0.0, std=5.0)
    0.5
    """
    if not std > 0:
        raise ValueError(
            f"The 'std' parameter of gaussian_shift_divergence must be positive. Got {std!r}."
        )
    shift = np.asarray(weights, dtype=float) - np.asarray(prior_weights, dtype=float)
    return float(np.sum(shift**2)) / (2 * std**2)


def noisy_linear_errors(weights: Any, X: Any, y: Any, *, std: float) -> np.ndarray:
    r"""Compute the error probability of a linear classifier with Gaussian weights at each row.

    Parameters
    ----------
    weights : array-like of shape (n_features,)
        Centre :math:`\theta`.
    X : array-like of shape (n_samples, n_features)
        Inputs; append a constant column for an offset.
    y : array-like of shape (n_samples,)
        Labels -1 and +1.
    std : float
        Standard deviation :math:`\sigma` of every weight.

    Returns
    -------
    error : ndarray of shape (n_samples,)
        :math:`\Phi(-y\langle x,\theta\rangle/(\sigma\|x\|))`, exact: no weights need be drawn. A
        row of zeros has 0 for label +1 and 1 for -1, as sign(0) = +1.

    Examples
    --------
    >>> from corollary.theory import noisy_linear_errors
    >>> noisy_linear_errors([1.0], [[2.0], [-3.0]], [1, 1], std=1.0).round(4)
    array([0.1587, 0.8413])
    """
    from scipy.special import ndtr

    weights, X, y = (np.asarray(part, dtype=float) for part in (weights, X, y))
    if not std > 0 or X.ndim != 2 or weights.shape != (X.shape[1],) or y.shape != (len(X),):
        raise ValueError(
            "noisy_linear_errors needs a positive std, one weight per column and one label per "
            f"row. Got std={std!r}, shapes {weights.shape}, {X.shape} and {y.shape}."
        )
    if not np.all(np.abs(y) == 1):
        raise ValueError(
            "noisy_linear_errors needs labels -1 and +1. Got "
            f"{np.unique(y[np.abs(y) != 1])[:5].tolist()}; encode y as 2 * y - 1 if it is 0 and 1."
        )
    length = std * np.linalg.norm(X, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        margin = np.where(length > 0, y * (X @ weights) / length, np.where(y > 0, np.inf, -np.inf))
    return ndtr(-margin)


def _width(who: str, risk: float, low: float, high: float) -> float:
    if not -math.inf < low < high < math.inf:
        raise ValueError(f"{who} needs low < high. Got low={low!r} and high={high!r} instead.")
    # A mean of losses at an end of their range may be rounded beyond it.
    slack = 1e-9 * (high - low)
    if not low - slack <= risk <= high + slack:
        raise ValueError(
            f"The 'risk' parameter of {who} must lie between low={low!r} and high={high!r}. "
            f"Got {risk!r} instead."
        )
    return high - low


def _seeger(divergence: float, n_samples: int, delta: float) -> float:
    return (divergence + math.log(2 * math.sqrt(n_samples) / delta)) / n_samples
