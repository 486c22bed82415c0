"""How far apart two laws are: Kullback-Leibler, total variation, Jensen-Shannon.

Natural logarithms throughout. Conventions at the edge: 0 log 0 = 0, and a divergence is infinite
where the first law puts mass that the second does not have.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg
from scipy.special import ndtr, rel_entr


def kl_divergence(p: Any, q: Any) -> float:
    r"""Compute the Kullback-Leibler divergence of two laws on a finite alphabet.

    .. math:: \mathrm{KL}(p\,\|\,q) = \sum_a p(a) \log\frac{p(a)}{q(a)}

    It is the log loss that is lost on average by predicting with q what follows p.

    Parameters
    ----------
    p : array-like of shape (n,)
        Probabilities of the first law.
    q : array-like of shape (n,)
        Probabilities of the second law.

    Returns
    -------
    divergence : float
        At least 0, infinite if q misses a point of p.

    See Also
    --------
    binary_kl : Two laws on two points, many pairs at once.
    kl_gaussian : Normal laws.
    kl_from_draws : Any laws with densities, by simulation.

    Examples
    --------
    >>> from corollary.risk import kl_divergence
    >>> round(kl_divergence([1.0, 0.0, 0.0], [1 / 3, 1 / 3, 1 / 3]), 4)
    1.0986
    """
    p, q = _two_laws("kl_divergence", p, q)
    # Rounding can leave a sum of terms of both signs just below zero.
    return max(0.0, float(rel_entr(p, q).sum()))


def binary_kl(q: Any, p: Any) -> np.ndarray:
    """Compute the divergence of Bernoulli laws, elementwise.

    Parameters
    ----------
    q : array-like
        Success probabilities of the first laws, in [0, 1]; often observed shares.
    p : array-like
        Success probabilities of the second laws.

    Returns
    -------
    divergence : ndarray
        ``q log(q / p) + (1 - q) log((1 - q) / (1 - p))`` after broadcasting.

    Examples
    --------
    >>> from corollary.risk import binary_kl
    >>> binary_kl([0.0, 0.5], 0.5).round(4)
    array([0.6931, 0.    ])
    """
    q, p = np.asarray(q, dtype=float), np.asarray(p, dtype=float)
    for name, value in (("q", q), ("p", p)):
        if not np.all((value >= 0) & (value <= 1)):
            raise ValueError(
                f"The '{name}' parameter of binary_kl must hold probabilities between 0 and 1. "
                f"Got values from {np.min(value)} to {np.max(value)}."
            )
    return np.maximum(rel_entr(q, p) + rel_entr(1 - q, 1 - p), 0.0)


def kl_gaussian(mean_p: Any, covariance_p: Any, mean_q: Any, covariance_q: Any) -> float:
    r"""Compute the divergence of two normal laws.

    .. math::

        \tfrac12\Bigl\{\operatorname{tr}(\Sigma_q^{-1}\Sigma_p) + \|\mu_q-\mu_p\|^2_{\Sigma_q^{-1}}
        - d + \log\frac{\det\Sigma_q}{\det\Sigma_p}\Bigr\}

    Parameters
    ----------
    mean_p : float or array-like of shape (d,)
        Mean of the first law; a number stands for a constant vector.
    covariance_p : float or array-like of shape (d,) or (d, d)
        Its covariance, positive definite; one or d numbers are variances of independent entries.
    mean_q : float or array-like of shape (d,)
        Mean of the second law.
    covariance_q : float or array-like of shape (d,) or (d, d)
        Its covariance.

    Returns
    -------
    divergence : float
        At least 0.

    Raises
    ------
    ValueError
        If a covariance is not positive definite, or shapes do not agree.

    Examples
    --------
    >>> from corollary.risk import kl_gaussian
    >>> kl_gaussian(1.0, 1.0, 0.0, 1.0)
    0.5
    """
    given = [np.asarray(part, dtype=float) for part in (mean_p, covariance_p, mean_q, covariance_q)]
    width = max(part.shape[0] if part.ndim else 1 for part in given)
    means = [np.broadcast_to(given[i], (width,)) for i in (0, 2)]
    shift = means[1] - means[0]
    if given[1].ndim < 2 and given[3].ndim < 2:
        variance_p, variance_q = (np.broadcast_to(given[i], (width,)) for i in (1, 3))
        _check_variances(variance_p, variance_q)
        ratio = variance_p / variance_q
        # r - 1 - log r is computed so that it stays accurate near r = 1.
        spread = (ratio - 1) - np.log1p(ratio - 1)
        return 0.5 * float(np.sum(spread + shift**2 / variance_q))
    L_p, L_q = (_factor(given[i], width) for i in (1, 3))
    whitened = scipy.linalg.solve_triangular(L_q, L_p, lower=True)
    distance = scipy.linalg.solve_triangular(L_q, shift, lower=True)
    log_ratio = 2.0 * float(np.log(np.diag(L_q)).sum() - np.log(np.diag(L_p)).sum())
    value = float((whitened**2).sum()) - width + float(distance @ distance) + log_ratio
    return max(0.0, 0.5 * value)


def kl_from_draws(log_p: Any, log_q: Any) -> tuple[float, float]:
    """Estimate the divergence of two laws from log densities at draws of the first.

    Parameters
    ----------
    log_p : array-like of shape (n,)
        Log density of the first law at n independent draws from it.
    log_q : array-like of shape (n,)
        Log density of the second law at the same draws.

    Returns
    -------
    estimate : float
        Mean of ``log_p - log_q``, without bias; a single estimate may be negative.
    standard_error : float
        Its standard error; NaN for a single draw.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.risk import kl_from_draws
    >>> x = np.random.default_rng(0).normal(1.0, 1.0, 10_000)
    >>> estimate, error = kl_from_draws(-((x - 1) ** 2) / 2, -(x**2) / 2)
    >>> abs(estimate - 0.5) < 4 * error
    True
    """
    ratio = np.asarray(log_p, dtype=float) - np.asarray(log_q, dtype=float)
    if ratio.ndim != 1 or not len(ratio):
        raise ValueError(
            "kl_from_draws needs log densities at one or more draws, one number each. "
            f"Got shape {ratio.shape}."
        )
    error = float(np.std(ratio, ddof=1) / math.sqrt(len(ratio))) if len(ratio) > 1 else math.nan
    return float(np.mean(ratio)), error


def total_variation(p: Any, q: Any) -> float:
    r"""Compute the total-variation distance of two laws on a finite alphabet.

    The largest difference of probabilities that the two laws give an event,
    :math:`\sup_A |p(A) - q(A)| = \tfrac12 \sum_a |p(a) - q(a)|`.

    Parameters
    ----------
    p : array-like of shape (n,)
        Probabilities of the first law.
    q : array-like of shape (n,)
        Probabilities of the second law.

    Returns
    -------
    distance : float
        Between 0 and 1.

    Examples
    --------
    >>> from corollary.risk import total_variation
    >>> total_variation([0.5, 0.5, 0.0], [0.25, 0.25, 0.5])
    0.5
    """
    p, q = _two_laws("total_variation", p, q)
    return min(1.0, 0.5 * float(np.abs(p - q).sum()))


def total_variation_gaussian(mean_p: float, mean_q: float, std: float = 1.0) -> float:
    """Compute the total-variation distance of two normal laws with equal spread.

    Parameters
    ----------
    mean_p : float
        Mean of the first law.
    mean_q : float
        Mean of the second law.
    std : float, default=1.0
        Their common standard deviation, positive.

    Returns
    -------
    distance : float
        ``2 Phi(|mean_p - mean_q| / (2 std)) - 1``.

    Examples
    --------
    >>> from corollary.risk import total_variation_gaussian
    >>> round(total_variation_gaussian(0.0, 2.0), 4)
    0.6827
    """
    if not std > 0:
        raise ValueError(
            f"The 'std' parameter of total_variation_gaussian must be positive. Got {std} instead."
        )
    half = abs(mean_p - mean_q) / (2 * std)
    return float(ndtr(half) - ndtr(-half))


def jensen_shannon(p: Any, q: Any) -> float:
    r"""Compute the Jensen-Shannon divergence of two laws on a finite alphabet.

    The mean divergence of the two laws from their mixture,
    :math:`\tfrac12\mathrm{KL}(p\|m)+\tfrac12\mathrm{KL}(q\|m)` with :math:`m=(p+q)/2`.

    Parameters
    ----------
    p : array-like of shape (n,)
        Probabilities of the first law.
    q : array-like of shape (n,)
        Probabilities of the second law.

    Returns
    -------
    divergence : float
        Between 0, for equal laws, and log 2, for laws with nothing in common.

    See Also
    --------
    jensen_shannon_density : Laws with densities on the line.

    Examples
    --------
    >>> from corollary.risk import jensen_shannon
    >>> round(jensen_shannon([1.0, 0.0], [0.0, 1.0]), 4)
    0.6931
    """
    p, q = _two_laws("jensen_shannon", p, q)
    middle = 0.5 * (p + q)
    value = 0.5 * float(rel_entr(p, middle).sum() + rel_entr(q, middle).sum())
    return min(max(value, 0.0), math.log(2))


def jensen_shannon_density(
    log_p: Callable[[float], float],
    log_q: Callable[[float], float],
    low: float = -math.inf,
    high: float = math.inf,
) -> float:
    """Compute the Jensen-Shannon divergence of two densities on the line by quadrature.

    Parameters
    ----------
    log_p : callable
        Log density of the first law at a point.
    log_q : callable
        Log density of the second law.
    low : float, default=-inf
        Where to begin; both laws lie between `low` and `high`.
    high : float, default=inf
        Where to end.

    Returns
    -------
    divergence : float
        Between 0 and log 2.

    Raises
    ------
    ValueError
        If a density does not integrate to 1 between the ends.

    Examples
    --------
    >>> from math import log, pi
    >>> from corollary.risk import jensen_shannon_density
    >>> def normal(mean):
    ...     return lambda x: -((x - mean) ** 2) / 2 - log(2 * pi) / 2
    >>> round(jensen_shannon_density(normal(0.0), normal(1.0)), 6)
    0.111421
    """
    from scipy.integrate import quad

    def pointwise(x: float) -> float:
        p, q = math.exp(log_p(x)), math.exp(log_q(x))
        middle = 0.5 * (p + q)
        return 0.5 * float(rel_entr(p, middle) + rel_entr(q, middle))

    for name, log_density in (("log_p", log_p), ("log_q", log_q)):
        mass = quad(lambda x, f=log_density: math.exp(f(x)), low, high, limit=200)[0]
        if abs(mass - 1) > 1e-4:
            raise ValueError(
                f"The '{name}' parameter of jensen_shannon_density must be the log of a density "
                f"that integrates to 1 between low and high. Its integral is {mass:.4g}."
            )
    value = quad(pointwise, low, high, limit=200)[0]
    return min(max(value, 0.0), math.log(2))


def check_law(who: str, name: str, p: Any) -> np.ndarray:
    """Return probabilities on a finite alphabet as an array, or say what is wrong with them.

    Parameters
    ----------
    who : str
        Who asks, for the message.
    name : str
        The parameter that holds them.
    p : array-like of shape (n_points,)
        Probabilities.

    Returns
    -------
    p : ndarray of shape (n_points,)
        Not negative, with sum 1.

    Raises
    ------
    ValueError
        If they are anything else.

    Examples
    --------
    >>> from corollary.risk import check_law
    >>> check_law("my_function", "p", [0.25, 0.75])
    array([0.25, 0.75])
    """
    p = np.asarray(p, dtype=float)
    if p.ndim != 1 or not len(p) or not np.all(p >= 0) or abs(p.sum() - 1) > 1e-8:
        raise ValueError(
            f"The '{name}' parameter of {who} must hold probabilities: one number per point, none "
            f"negative, with sum 1. Got shape {p.shape} with sum {p.sum():.10g}."
        )
    return p


def _two_laws(who: str, p: Any, q: Any) -> tuple[np.ndarray, np.ndarray]:
    p, q = check_law(who, "p", p), check_law(who, "q", q)
    if len(p) != len(q):
        raise ValueError(
            f"{who} compares laws on one alphabet. Got {len(p)} and {len(q)} probabilities: give "
            "points that one law misses probability 0."
        )
    return p, q


def _check_variances(*variances: np.ndarray) -> None:
    for variance in variances:
        if not np.all(variance > 0):
            raise ValueError(
                "kl_gaussian needs positive variances. Got a smallest one of "
                f"{float(np.min(variance))}."
            )


def _factor(covariance: np.ndarray, width: int) -> np.ndarray:
    if covariance.ndim < 2:
        _check_variances(covariance)
        return np.diag(np.sqrt(np.broadcast_to(covariance, (width,))))
    try:
        return scipy.linalg.cholesky(covariance, lower=True)
    except scipy.linalg.LinAlgError as error:
        raise ValueError(
            "kl_gaussian needs positive definite covariances. Add a small multiple of the identity "
            "if one is singular."
        ) from error
