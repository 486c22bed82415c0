r"""Maxima of likelihoods and of posterior densities, and intervals by their profile.

.. math:: \hat\theta\in\arg\max_\theta\;\log\pi(\theta)+\sum_iw_i\log p(x_i\mid\theta)

Without a prior this is maximum likelihood. Closed forms are taken where there are any; otherwise
Newton's method runs over all numbers, to which the parameters' domain is mapped, with derivatives
by JAX in double precision.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from corollary.core.estimator import CountFromZero, Probability, checked
from corollary.density.likelihood._domain import bound_to, free_from
from corollary.density.likelihood._draws import check_draws
from corollary.density.likelihood.estimate import Estimate
from corollary.density.likelihood.family import Family
from corollary.optimize import Function, newton

LogPrior = Callable[[Any], Any]

#: Numbers so far out are mapped to the edges of a domain.
_FAR = 30.0


def maximum_likelihood(
    family: Family,
    x: Any,
    *,
    sample_weight: Any = None,
    start: Any = None,
    numeric: bool = False,
) -> Estimate:
    """Return the parameters under which draws are likeliest.

    Parameters
    ----------
    family : Family
        The densities.
    x : array-like of shape (n_samples,) or (n_samples, n_features)
        Draws.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Non-negative weights; a draw of weight k counts like k equal draws.
    start : array-like of shape (n_parameters,) or None, default=None
        Where a search begins; None for the family's own choice.
    numeric : bool, default=False
        Whether to search even where there is a closed form.

    Returns
    -------
    estimate : Estimate
        Parameters, maximum and observed information.

    Raises
    ------
    ValueError
        If a draw is impossible under the family, or the search finds no maximum inside the domain.

    See Also
    --------
    profile_interval : Intervals that need no normal limit of the estimate itself.

    Notes
    -----
    Where the log likelihood is not concave, as for mixtures, the search ends at a maximum near its
    start; other starts may find higher ones.

    Examples
    --------
    >>> from corollary.density import Gamma, maximum_likelihood
    >>> estimate = maximum_likelihood(Gamma(), [1.0, 2.0, 3.0, 6.0])
    >>> estimate.theta.round(4)
    array([2.621 , 0.8737])
    >>> float((estimate.theta[0] / estimate.theta[1]).round(6))  # the mean of the draws
    3.0
    """
    x, weight = check_draws("maximum_likelihood", family, x, sample_weight)
    theta = None if numeric else family._likeliest(x, weight)
    if theta is None:
        theta = _search("maximum_likelihood", family, x, weight, None, start)
    return _estimate(family, x, weight, None, theta)


def maximum_a_posteriori(
    family: Family,
    x: Any,
    log_prior: LogPrior,
    *,
    sample_weight: Any = None,
    start: Any = None,
) -> Estimate:
    """Return the parameters of the highest posterior density.

    Parameters
    ----------
    family : Family
        The densities.
    x : array-like of shape (n_samples,) or (n_samples, n_features)
        Draws.
    log_prior : callable
        ``log_prior(theta)`` is the log density of the prior, up to a constant, written with
        ``jax.numpy``; ``log_density`` of a conjugate prior is one.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Non-negative weights; a draw of weight k counts like k equal draws.
    start : array-like of shape (n_parameters,) or None, default=None
        Where the search begins; None for the family's own choice.

    Returns
    -------
    estimate : Estimate
        Parameters, maximum of the log posterior up to a constant, and its curvature.

    Raises
    ------
    ValueError
        If a draw is impossible under the family, or the search finds no maximum inside the domain.

    See Also
    --------
    BetaPrior, GammaPrior, NormalPrior : Conjugate priors, whose posterior has a closed form.

    Examples
    --------
    >>> from corollary.density import Bernoulli, BetaPrior, maximum_a_posteriori
    >>> prior, throws = BetaPrior(2, 2), [1, 1, 1, 0]
    >>> maximum_a_posteriori(Bernoulli(), throws, prior.log_density).theta.round(6)
    array([0.666667])
    >>> round(prior.posterior(Bernoulli(), throws).mode, 6)
    0.666667
    """
    x, weight = check_draws("maximum_a_posteriori", family, x, sample_weight)
    theta = _search("maximum_a_posteriori", family, x, weight, log_prior, start)
    return _estimate(family, x, weight, log_prior, theta)


@checked
def profile_interval(
    family: Any,
    x: Any,
    parameter: CountFromZero = 0,
    *,
    confidence: Probability = 0.95,
    sample_weight: Any = None,
    start: Any = None,
) -> tuple[float, float]:
    r"""Return the values of one parameter that the likelihood does not reject.

    Those with :math:`2(\ell(\hat\theta)-\max_{\theta:\theta_j=t}\ell(\theta))\le q`, where q is
    the quantile of the chi-squared law with one degree of freedom. Unlike intervals from standard
    errors they stay inside the domain and do not depend on how the family is parametrised.

    Parameters
    ----------
    family : Family
        The densities, regular.
    x : array-like of shape (n_samples,) or (n_samples, n_features)
        Draws.
    parameter : int, default=0
        Which parameter.
    confidence : float, default=0.95
        Share of samples whose interval holds the truth, in the limit of many draws.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Non-negative weights; a draw of weight k counts like k equal draws.
    start : array-like of shape (n_parameters,) or None, default=None
        Where searches begin.

    Returns
    -------
    lower : float
        Lower end; an end of the domain if the likelihood never falls so far.
    upper : float
        Upper end.

    References
    ----------
    S. S. Wilks (1938). The large-sample distribution of the likelihood ratio for testing composite
    hypotheses. Annals of Mathematical Statistics 9(1), 60-62.

    Examples
    --------
    >>> from corollary.density import Exponential, profile_interval
    >>> lower, upper = profile_interval(Exponential(), [1.0, 2.0, 3.0])
    >>> round(lower, 4), round(upper, 4)
    (0.1243, 1.2965)
    """
    from scipy.optimize import brentq
    from scipy.special import chdtri

    draws, weight = check_draws("profile_interval", family, x, sample_weight)
    if not family.regular or parameter >= len(family.names):
        raise ValueError(
            f"profile_interval needs a regular family and one of its {len(family.names)} "
            f"parameters. Got {type(family).__name__} and parameter={parameter}."
        )
    best = maximum_likelihood(family, draws, sample_weight=weight, start=start)
    drop = float(chdtri(1, 1 - confidence)) / 2

    def excess(free: float) -> float:
        """Say by how much the profile lies below what is not rejected."""
        fixed = (parameter, float(free))
        theta = _search("profile_interval", family, draws, weight, None, best.theta, fixed)
        return best.log_likelihood - _value(family, draws, weight, None, theta) - drop

    interval = family.domain[parameter]
    at = best.theta[parameter]
    ends = []
    for sign, edge in zip((-1, 1), interval):
        if at == edge:
            ends.append(edge)
            continue
        # A maximum on the other edge is as good as one far out towards it.
        origin = -sign * _FAR if at in interval else float(free_from([at], [interval])[0])
        step = 0.1
        while step < 2 * _FAR and excess(origin + sign * step) < 0:
            step *= 2
        if step >= 2 * _FAR:
            ends.append(edge)
            continue
        free = brentq(excess, origin, origin + sign * step, xtol=1e-11)
        ends.append(float(bound_to([free], [interval])[0][0]))
    return ends[0], ends[1]


def _value(family: Family, x: Any, weight: Any, log_prior: Any, theta: np.ndarray) -> float:
    """Return the log likelihood, with that of the prior."""
    logs = family.log_density(x, theta)
    value = float(logs.sum() if weight is None else weight[weight > 0] @ logs[weight > 0])
    if log_prior is None:
        return value
    import jax

    with jax.enable_x64(True):
        return value + float(log_prior(theta))


def _search(
    who: str,
    family: Family,
    x: np.ndarray,
    weight: Any,
    log_prior: LogPrior | None,
    start: Any,
    fixed: tuple[int, float] | None = None,
) -> np.ndarray:
    """Maximise over the parameters, all or all but one that is fixed, by Newton's method."""
    first = family._start(x) if start is None else family.check(start)
    moving = [k for k in range(len(first)) if fixed is None or k != fixed[0]]
    free = np.zeros(len(first))
    free[moving] = free_from(first[moving], [family.domain[k] for k in moving])
    if fixed is not None:
        free[fixed[0]] = fixed[1]
    total = len(x) if weight is None else float(weight.sum())

    def placed(u: np.ndarray) -> tuple[np.ndarray, ...]:
        everywhere = free.copy()
        everywhere[moving] = u
        return bound_to(everywhere, family.domain)

    def value(u: np.ndarray) -> float:
        return -_value(family, x, weight, log_prior, placed(u)[0]) / total

    def gradient(u: np.ndarray) -> np.ndarray:
        theta, speed, _ = placed(u)
        return -(_slope(family, x, weight, log_prior, theta) * speed)[moving] / total

    def hessian(u: np.ndarray) -> np.ndarray:
        theta, speed, bend = placed(u)
        curvature = _curvature(family, x, weight, log_prior, theta)
        slope = _slope(family, x, weight, log_prior, theta)
        chained = curvature * np.outer(speed, speed) + np.diag(slope * bend)
        return -chained[np.ix_(moving, moving)] / total

    if moving:
        function = Function(value, gradient, hessian)
        free[moving] = newton(function, free[moving], tol=1e-10, max_iter=200).x
    theta = bound_to(free, family.domain)[0]
    if moving and not _is_inside(family, x, weight, log_prior, theta, moving):
        raise ValueError(
            f"{who} found no maximum inside the domain of {type(family).__name__}: the search "
            f"ended at {theta.tolist()}. Give another start, or more draws: the likelihood may "
            "grow towards the edge."
        )
    return theta


def _is_inside(
    family: Family, x: Any, weight: Any, log_prior: Any, theta: np.ndarray, moving: list[int]
) -> bool:
    """Say whether a point is a maximum by its parameters, not by being far out of reach."""
    low, high = np.array(family.domain, dtype=float).T
    room = np.minimum(theta - low, high - theta)[moving]
    slope = _slope(family, x, weight, log_prior, theta)[moving]
    curvature = _curvature(family, x, weight, log_prior, theta)[np.ix_(moving, moving)]
    if not (np.isfinite(slope).all() and np.isfinite(curvature).all()):
        return False
    step = np.linalg.lstsq(-curvature, slope, rcond=1e-12)[0]
    return bool((np.abs(step) <= 1e-3 * np.minimum(room, 1 + np.abs(theta[moving]))).all())


def _slope(family: Family, x: Any, weight: Any, log_prior: Any, theta: np.ndarray) -> np.ndarray:
    """Return the derivatives of the log likelihood, with those of the prior."""
    scores = family.score(x, theta)
    slope = scores.sum(axis=0) if weight is None else weight @ scores
    return slope + _of_prior(log_prior, theta, 1)


def _curvature(
    family: Family, x: Any, weight: Any, log_prior: Any, theta: np.ndarray
) -> np.ndarray:
    """Return the second derivatives of the log likelihood, with those of the prior."""
    each = family.curvature(x, theta)
    curvature = each.sum(axis=0) if weight is None else np.tensordot(weight, each, 1)
    return curvature + _of_prior(log_prior, theta, 2)


def _of_prior(log_prior: LogPrior | None, theta: np.ndarray, order: int) -> Any:
    """Return first or second derivatives of the log density of a prior."""
    if log_prior is None:
        return 0.0
    import jax

    with jax.enable_x64(True):
        return np.asarray((jax.grad if order == 1 else jax.hessian)(log_prior)(theta))


def _estimate(
    family: Family, x: np.ndarray, weight: Any, log_prior: LogPrior | None, theta: np.ndarray
) -> Estimate:
    """Return the estimate with its observed information."""
    information = None
    inside = all(low < t < high for t, (low, high) in zip(theta, family.domain))
    if family.regular and inside:
        information = -_curvature(family, x, weight, log_prior, theta)
    total = len(x) if weight is None else float(weight.sum())
    value = _value(family, x, weight, log_prior, theta)
    return Estimate(tuple(family.names), theta, value, information, total)
