r"""How wide bands must be for a promise: the multiplier :math:`\sqrt\beta` and what it rests on.

A band is :math:`[\mu-\sqrt\beta\sigma,\mu+\sqrt\beta\sigma]`. Three promises, three multipliers:

* *queries*: f is drawn from the Gaussian process. A query is chosen by what was seen, and given
  that, f there is normal with the posterior's mean and variance. If its lower bound is at the
  threshold or above, it is unsafe with probability at most :math:`\Phi(-\sqrt\beta)`; a union over
  queries (and constraints) is all that is needed.
* *grid*: f is drawn from the Gaussian process, and all bands at all points of a finite pool are to
  hold at every round together: a union over points as well, on both sides.
* *rkhs*: f is fixed, its norm in the kernel's Hilbert space is at most B, and the noise is
  conditionally R-sub-Gaussian. All bands hold everywhere and for ever, for a multiplier that grows
  with the information gained.
"""

import numpy as np
from scipy.special import ndtri

from corollary.core.estimator import Count, NonNegative, Positive, Probability, checked


@checked
def round_delta(delta: Probability, t: Count, *, horizon: Count | None = None) -> float:
    r"""Return the part of a failure probability that round t may use up.

    Parameters
    ----------
    delta : float
        Failure probability of all rounds together.
    t : int
        The round, from 1.
    horizon : int or None, default=None
        How many rounds there will be, each with an equal part; None for any number, with parts
        :math:`6\delta/(\pi^2t^2)` that sum to delta.

    Returns
    -------
    part : float
        The round's own failure probability.

    Examples
    --------
    >>> from corollary.active import round_delta
    >>> round_delta(0.1, 3, horizon=20)
    0.005
    >>> round(sum(round_delta(0.1, t) for t in range(1, 10_000)), 3)
    0.1
    """
    if horizon is None:
        return 6.0 * delta / (np.pi * t) ** 2
    if t > horizon:
        raise ValueError(
            f"round_delta divides delta among horizon={horizon} rounds. Got round {t}."
        )
    return delta / horizon


@checked
def query_multiplier(
    delta: Probability, t: Count, *, horizon: Count | None = None, n_constraints: Count = 1
) -> float:
    r"""Return the multiplier with which queries stay safe, for a function from the prior.

    :math:`\sqrt{\beta_t}=\Phi^{-1}(1-\delta_t/q)` with :math:`\delta_t` from :func:`round_delta`
    and q constraints.

    Parameters
    ----------
    delta : float
        Probability that any query at all is unsafe, at most.
    t : int
        Number of the query, from 1.
    horizon : int or None, default=None
        How many queries there will be; None for any number.
    n_constraints : int, default=1
        How many functions must stay above their thresholds.

    Returns
    -------
    multiplier : float
        Standard deviations below the mean.

    Notes
    -----
    Guarantee: checked by
    ``tests/active/test_safe.py::test_queries_stay_safe_at_the_stated_rate``.

    Examples
    --------
    >>> from corollary.active import query_multiplier
    >>> round(query_multiplier(0.05, 1, horizon=1), 3)
    1.645
    """
    part = round_delta(delta, t, horizon=horizon) / n_constraints
    return max(0.0, float(-ndtri(part)))


@checked
def grid_multiplier(
    delta: Probability,
    t: Count,
    n_points: Count,
    *,
    horizon: Count | None = None,
    n_functions: Count = 1,
) -> float:
    r"""Return the multiplier with which all bands of a finite pool hold at once.

    :math:`\sqrt{\beta_t}=\Phi^{-1}(1-\delta_t/(2mk))` for m points and k functions, which is below
    the usual :math:`\sqrt{2\log(mk/\delta_t)}`.

    Parameters
    ----------
    delta : float
        Probability that any band ever fails, at most.
    t : int
        The round, from 1.
    n_points : int
        Size m of the pool.
    horizon : int or None, default=None
        How many rounds there will be; None for any number.
    n_functions : int, default=1
        How many functions have bands.

    Returns
    -------
    multiplier : float
        Half the width of a band in standard deviations.

    Notes
    -----
    Guarantee: checked by ``tests/active/test_confidence.py::test_grid_bands_hold_at_once``.

    References
    ----------
    .. [1] N. Srinivas et al., Gaussian process optimization in the bandit setting, ICML 2010,
       lemma 5.1.

    Examples
    --------
    >>> from corollary.active import grid_multiplier
    >>> round(grid_multiplier(0.05, 1, 100), 2)
    3.61
    """
    part = round_delta(delta, t, horizon=horizon)
    return float(-ndtri(part / (2.0 * n_points * n_functions)))


@checked
def rkhs_multiplier(
    delta: Probability,
    norm_bound: NonNegative,
    noise_bound: NonNegative,
    information: NonNegative,
    noise: Positive,
) -> float:
    r"""Return the multiplier with which all bands hold for a fixed function of bounded norm.

    With :math:`\|f\|_k\le B`, noise that is conditionally R-sub-Gaussian, posterior noise
    variance :math:`\lambda` and :math:`I_n=\tfrac12\log\det(I+K_n/\lambda)`,

    .. math:: \sqrt{\beta_n}=B+\frac R{\sqrt\lambda}\sqrt{2I_n+2\log(1/\delta)}.

    Parameters
    ----------
    delta : float
        Probability that any band ever fails, at most.
    norm_bound : float
        Bound B on the norm of f minus its prior mean.
    noise_bound : float
        Sub-Gaussian constant R of the noise; its standard deviation if it is normal.
    information : float
        Information :math:`I_n` of the observations so far, :meth:`GrowingPosterior.information`.
    noise : float
        Noise variance :math:`\lambda` that the posterior is computed with; any positive number.

    Returns
    -------
    multiplier : float
        Half the width of a band in standard deviations.

    Notes
    -----
    Guarantee: with probability at least 1 - delta, for all numbers of observations and all x,
    :math:`|f(x)-\mu_n(x)|\le\sqrt{\beta_n}\sigma_n(x)`, however the points are chosen. Checked by
    ``tests/active/test_confidence.py::test_rkhs_bands_hold_for_ever``.

    References
    ----------
    .. [1] Y. Abbasi-Yadkori, Online learning for linearly parametrized control problems, PhD
       thesis, University of Alberta, 2012, theorem 3.11.

    Examples
    --------
    >>> from corollary.active import rkhs_multiplier
    >>> round(rkhs_multiplier(0.05, 1.0, 0.1, 0.0, 0.01), 3)
    3.448
    """
    wide = 2.0 * information + 2.0 * np.log(1.0 / delta)
    return float(norm_bound + noise_bound / np.sqrt(noise) * np.sqrt(wide))
