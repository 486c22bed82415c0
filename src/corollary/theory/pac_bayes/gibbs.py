"""Hypotheses drawn with a preference for small training risk: stable without convexity."""

import math
from typing import Any

import numpy as np

from corollary.core.estimator import Count, NonNegative, Positive, checked
from corollary.theory.pac_bayes.variational import gibbs_measure


def gibbs_erm(risks: Any, inverse_temperature: float, *, prior: Any = None) -> np.ndarray:
    r"""Return the law of a learner that prefers small training risk without insisting on it.

    Parameters
    ----------
    risks : array-like of shape (n_hypotheses,)
        Training risks.
    inverse_temperature : float
        :math:`\beta`, at least 0: 0 ignores the rows, infinity is empirical risk minimisation.
    prior : array-like of shape (n_hypotheses,) or None, default=None
        Law of the hypotheses before any row is seen; None for equal probabilities.

    Returns
    -------
    law : ndarray of shape (n_hypotheses,)
        Proportional to :math:`\pi(w)e^{-\beta\hat L(w)}`.

    See Also
    --------
    gibbs_stability : It is stable without convexity.
    gibbs_posterior : The same law as the best PAC-Bayes posterior.

    Examples
    --------
    >>> from corollary.theory import gibbs_erm
    >>> gibbs_erm([0.1, 0.3], 0.0)
    array([0.5, 0.5])
    """
    risks = np.asarray(risks, dtype=float)
    if not inverse_temperature >= 0:
        raise ValueError(
            "The 'inverse_temperature' parameter of gibbs_erm must not be negative. Got "
            f"{inverse_temperature!r} instead."
        )
    prior = np.full(len(risks), 1 / len(risks)) if prior is None else prior
    if math.isinf(inverse_temperature):
        possible = np.where(np.asarray(prior) > 0, risks, np.inf)
        best = np.where(possible == possible.min(), prior, 0.0)
        return best / best.sum()
    return gibbs_measure(prior, -inverse_temperature * risks)


@checked
def gibbs_stability(
    *, inverse_temperature: NonNegative, n_samples: Count, size: Positive = 1.0, sharp: bool = True
) -> float:
    r"""Bound the uniform stability of Gibbs sampling of hypotheses.

    Parameters
    ----------
    inverse_temperature : float
        :math:`\beta`.
    n_samples : int
        Number n of training rows.
    size : float, default=1.0
        M with all losses between -M and M.
    sharp : bool, default=True
        True for :math:`2M\tanh(\beta M/n)`, which two hypotheses reach; False for
        :math:`M(e^{4\beta M/n}-1)`.

    Returns
    -------
    epsilon : float
        About :math:`2\beta M^2/n`.

    Examples
    --------
    >>> from corollary.theory import gibbs_stability
    >>> round(gibbs_stability(inverse_temperature=10.0, n_samples=1000), 4)
    0.02
    """
    exponent = inverse_temperature * size / n_samples
    if sharp:
        # Log-odds move by at most 4 exponents, hence probabilities by tanh of one at most.
        return 2 * size * math.tanh(exponent)
    return size * math.expm1(min(4 * exponent, 700.0))
