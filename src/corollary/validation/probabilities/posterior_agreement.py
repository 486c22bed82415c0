r"""Whether two samples of one source lead to the same posterior.

A Gibbs posterior :math:`P(\theta|X)\propto e^{-\beta R(\theta,X)}` is too vague at small beta and
follows noise at large beta. Two independent samples tell: what they agree on is signal. Both scores
here are losses to be minimised over beta, a model or an algorithm.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp

from corollary.risk import check_law


def posterior_log_loss(posterior: Any, other: Any) -> float:
    r"""Compute the log loss of one sample's posterior at draws from another's.

    Parameters
    ----------
    posterior : array-like of shape (n_hypotheses,)
        Posterior given the first sample, from which hypotheses are drawn.
    other : array-like of shape (n_hypotheses,)
        Posterior given the second sample, which is scored.

    Returns
    -------
    loss : float
        :math:`-\sum_\theta P(\theta|X')\log P(\theta|X'')`: the entropy of the first plus its
        divergence from the second; infinite if the second rules out what the first allows.

    See Also
    --------
    posterior_agreement : Never larger.

    Examples
    --------
    >>> from corollary.validation import posterior_log_loss
    >>> round(posterior_log_loss([0.5, 0.5], [0.5, 0.5]), 4)
    0.6931
    """
    p, q = _two("posterior_log_loss", posterior, other)
    with np.errstate(divide="ignore"):
        return float(-np.sum(p[p > 0] * np.log(q[p > 0])))


def posterior_agreement(posterior: Any, other: Any) -> float:
    r"""Compute how little two posteriors agree.

    Parameters
    ----------
    posterior : array-like of shape (n_hypotheses,)
        Posterior given the first sample.
    other : array-like of shape (n_hypotheses,)
        Posterior given the second sample.

    Returns
    -------
    loss : float
        :math:`-\log\sum_\theta P(\theta|X')P(\theta|X'')`: the same for both orders, 0 if both are
        sure of the same hypothesis, the log of their number if both know nothing, infinite if they
        exclude each other.

    Examples
    --------
    >>> from corollary.validation import posterior_agreement
    >>> posterior_agreement([1.0, 0.0], [1.0, 0.0])
    0.0
    """
    p, q = _two("posterior_agreement", posterior, other)
    with np.errstate(divide="ignore"):
        return float(-np.log(p @ q)) + 0.0


class AgreementCurve(NamedTuple):
    """Agreement of Gibbs posteriors over inverse temperatures.

    Parameters
    ----------
    inverse_temperatures : ndarray of shape (n,)
        Values of beta.
    agreement : ndarray of shape (n,)
        Mean :func:`posterior_agreement` over pairs of samples.
    log_loss : ndarray of shape (n,)
        Mean :func:`posterior_log_loss`.
    """

    inverse_temperatures: np.ndarray
    agreement: np.ndarray
    log_loss: np.ndarray

    @property
    def best(self) -> float:
        """The inverse temperature with the smallest agreement loss."""
        return float(self.inverse_temperatures[int(np.argmin(self.agreement))])


def agreement_curve(costs: Any, other_costs: Any, inverse_temperatures: Any) -> AgreementCurve:
    """Choose an inverse temperature by what two samples agree on.

    Parameters
    ----------
    costs : array-like of shape (n_hypotheses,) or (n_pairs, n_hypotheses)
        Costs R of the hypotheses on first samples.
    other_costs : array-like of the same shape
        Costs on independent second samples.
    inverse_temperatures : array-like of shape (n,)
        Values of beta, at least 0.

    Returns
    -------
    curve : AgreementCurve
        Mean losses over the pairs; algorithms and models are compared by their smallest values.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.validation import agreement_curve
    >>> rng = np.random.default_rng(0)
    >>> truth = np.arange(6.0)
    >>> first, second = truth + rng.normal(size=(2, 200, 6))
    >>> 0 < agreement_curve(first, second, [0.0, 1.0, 100.0]).best < 100
    True
    """
    first, second = np.atleast_2d(costs), np.atleast_2d(other_costs)
    betas = np.atleast_1d(np.asarray(inverse_temperatures, dtype=float))
    if first.shape != second.shape or first.ndim != 2 or not np.all(betas >= 0):
        raise ValueError(
            "agreement_curve needs costs of the same shape for both samples and inverse "
            f"temperatures that are not negative. Got shapes {first.shape} and {second.shape}."
        )
    agreement, log_loss = [], []
    for beta in betas:
        p, q = (_log_gibbs(-beta * np.asarray(part, dtype=float)) for part in (first, second))
        agreement.append(float(np.mean(-logsumexp(p + q, axis=1))))
        log_loss.append(float(np.mean(-np.sum(np.exp(p) * q, axis=1))))
    return AgreementCurve(betas, np.array(agreement), np.array(log_loss))


def _log_gibbs(exponent: np.ndarray) -> np.ndarray:
    return exponent - logsumexp(exponent, axis=1, keepdims=True)


def _two(who: str, posterior: Any, other: Any) -> tuple[np.ndarray, np.ndarray]:
    p, q = check_law(who, "posterior", posterior), check_law(who, "other", other)
    if len(p) != len(q):
        raise ValueError(
            f"{who} compares posteriors on the same hypotheses. Got {len(p)} and {len(q)}."
        )
    return p, q
