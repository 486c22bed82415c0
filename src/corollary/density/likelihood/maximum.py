r"""Maxima of likelihoods and of posterior densities, and intervals by their profile.

.. math:: \hat\theta\in\arg\max_\theta\;\log\pi(\theta)+\sum_iw_i\log p(x_i\mid\theta)

Without a prior this is maximum likelihood. Closed forms are taken where there are any; otherwise
Newton's method runs over all numbers, to which the parameters' domain is mapped, with derivatives
by JAX in double precision.
"""

import math
from typing import Any

from corollary.core.estimator import CountFromZero, Probability, checked
from corollary.density.likelihood._domain import bound_to, free_from
from corollary.density.likelihood._objective import LogPrior, Objective
from corollary.density.likelihood.estimate import Estimate
from corollary.density.likelihood.family import Family

#: Numbers so far out are mapped to the edges of a domain.
_FAR = 30.0
#: Standard errors within which the ends of an interval are looked for.
_FARTHEST = 1e9


def maximum_likelihood(
    family: Family, x: Any, *, sample_weight: Any = None, start: Any = None, numeric: bool = False
) -> Estimate:
    """Return the parameters under which draws are likeliest.

    Where the log likelihood is not concave, as for mixtures, the search ends at a maximum near its
    start; other starts may find higher ones. Besides standard errors there are the intervals of
    :func:`profile_interval`, which need no normal limit.

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

    Raises
    ------
    ValueError
        If a draw is impossible under the family, or the search finds no maximum inside the domain.

    Examples
    --------
    >>> from corollary.density import Gamma, maximum_likelihood
    >>> estimate = maximum_likelihood(Gamma(), [1.0, 2.0, 3.0, 6.0])
    >>> estimate.theta.round(4)
    array([2.621 , 0.8737])
    >>> float((estimate.theta[0] / estimate.theta[1]).round(6))  # the mean of the draws
    3.0
    """
    likelihood = Objective.of("maximum_likelihood", family, x, sample_weight)
    theta = None if numeric else family._likeliest(likelihood.x, likelihood.weight)
    return likelihood.estimate(likelihood.search(start) if theta is None else theta)


def maximum_a_posteriori(
    family: Family, x: Any, log_prior: LogPrior, *, sample_weight: Any = None, start: Any = None
) -> Estimate:
    """Return the parameters of the highest posterior density.

    See :class:`Estimate`, and :func:`maximum_likelihood` for the other parameters. The function
    ``log_prior(theta)`` is the log density of the prior, up to a constant, written with
    ``jax.numpy``; ``log_density`` of :class:`BetaPrior`, :class:`GammaPrior` and
    :class:`NormalPrior`, whose posterior has a closed form, is one.

    Examples
    --------
    >>> from corollary.density import Bernoulli, BetaPrior, maximum_a_posteriori
    >>> prior, throws = BetaPrior(2, 2), [1, 1, 1, 0]
    >>> maximum_a_posteriori(Bernoulli(), throws, prior.log_density).theta.round(6)
    array([0.666667])
    >>> round(prior.posterior(Bernoulli(), throws).mode, 6)
    0.666667
    """
    posterior = Objective.of("maximum_a_posteriori", family, x, sample_weight, log_prior)
    return posterior.estimate(posterior.search(start))


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
    errors they stay inside the domain and do not depend on how the family is parametrised. The ends
    are those of the domain if the likelihood never falls so far.

    The family is regular, and ``parameter`` is the number of one of its parameters. See
    :func:`wald_interval` for ``confidence`` and :func:`maximum_likelihood` for the others.
    See :class:`Estimate` for intervals from standard errors.

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

    likelihood = Objective.of("profile_interval", family, x, sample_weight)
    if not family.regular or parameter >= len(family.names):
        raise ValueError(
            f"profile_interval needs a regular family and one of its {len(family.names)} "
            f"parameters. Got {type(family).__name__} and parameter={parameter}."
        )
    best = maximum_likelihood(family, x, sample_weight=sample_weight, start=start)
    if not math.isfinite(best.log_likelihood):
        raise ValueError(
            "profile_interval needs a likelihood with a maximum. That of these draws under "
            f"{type(family).__name__} has none: give draws that vary."
        )
    drop = float(chdtri(1, 1 - confidence)) / 2

    def excess(free: float) -> float:
        """Say by how much the profile lies below what is not rejected."""
        theta = likelihood.search(best.theta, (parameter, float(free)))
        return best.log_likelihood - likelihood.value(theta) - drop

    interval = family.domain[parameter]
    at = best.theta[parameter]
    unit, far = 1.0, 2 * _FAR
    if math.isinf(interval[0]) and math.isinf(interval[1]):  # in units of the draws
        unit, far = _spread(best, parameter), _FARTHEST
    ends = []
    for sign, edge in zip((-1, 1), interval):
        if at == edge:
            ends.append(edge)
            continue
        # A maximum on the other edge is as good as one far out towards it.
        origin = -sign * _FAR if at in interval else float(free_from([at], [interval])[0])
        step = 0.1
        while step < far and excess(origin + sign * step * unit) < 0:
            step *= 2
        if step >= far:
            ends.append(edge)
            continue
        free = brentq(excess, origin, origin + sign * step * unit, xtol=1e-11 * unit)
        ends.append(float(bound_to([free], [interval])[0][0]))
    return ends[0], ends[1]


def _spread(best: Estimate, parameter: int) -> float:
    """Return the standard error of a parameter, or 1 where there is none."""
    try:
        error = float(best.standard_errors[parameter])
    except ValueError:
        return 1.0
    return error if 0 < error < math.inf else 1.0
