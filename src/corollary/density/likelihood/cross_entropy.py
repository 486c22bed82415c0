r"""What the negative log likelihood measures: cross-entropy, entropy and divergence.

.. math:: -E_p\log q = -E_p\log p + \mathrm{KL}(p\,\|\,q)

Of the expected negative log likelihood of a model q only the divergence depends on q: the likeliest
model is the nearest one.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg
from scipy.special import entr, xlogy

from corollary.density.likelihood.family import Family
from corollary.risk import check_law, kl_divergence, kl_gaussian


class CrossEntropy(NamedTuple):
    """Expected negative log likelihood, and what it is made of; in nats.

    Parameters
    ----------
    cross_entropy, entropy, divergence : float
        Expected negative log likelihood of the model; that of the truth, which no model goes below
        and which may be negative for a density; and what the model adds.

    Examples
    --------
    >>> from corollary.density import finite_cross_entropy
    >>> parts = finite_cross_entropy([0.5, 0.5], [0.25, 0.75])
    >>> round(parts.cross_entropy, 6), round(parts.entropy + parts.divergence, 6)
    (0.836988, 0.836988)
    """

    cross_entropy: float
    entropy: float
    divergence: float


def finite_cross_entropy(p: Any, q: Any) -> CrossEntropy:
    """Return the cross-entropy of a model of a law on finitely many points.

    It is infinite if the model excludes what can happen.

    Parameters
    ----------
    p, q : array-like of shape (n_points,)
        Probabilities of the truth, and of the model.

    Examples
    --------
    >>> from corollary.density import finite_cross_entropy
    >>> round(finite_cross_entropy([0.5, 0.5], [0.25, 0.75]).cross_entropy, 6)
    0.836988
    """
    divergence = kl_divergence(p, q)
    p = check_law("finite_cross_entropy", "p", p)
    with np.errstate(divide="ignore"):
        cross = -float(xlogy(p, np.asarray(q, dtype=float)).sum())
    return CrossEntropy(cross, float(entr(p).sum()), divergence)


def gaussian_cross_entropy(
    mean_p: Any, covariance_p: Any, mean_q: Any, covariance_q: Any
) -> CrossEntropy:
    r"""Return the cross-entropy of a normal model of a normal law.

    .. math:: \tfrac12\bigl(d\log2\pi+\log\det\Sigma_q+\operatorname{tr}(\Sigma_q^{-1}\Sigma_p)
              +\|\mu_p-\mu_q\|^2_{\Sigma_q^{-1}}\bigr)

    Parameters
    ----------
    mean_p, covariance_p : array-like of shape (n_features,) and (n_features, n_features)
        Mean of the truth, and its covariance, positive definite.
    mean_q, covariance_q : array-like of shape (n_features,) and (n_features, n_features)
        The same of the model.

    Examples
    --------
    >>> from corollary.density import gaussian_cross_entropy
    >>> parts = gaussian_cross_entropy([0.0], [[1.0]], [1.0], [[1.0]])
    >>> round(parts.cross_entropy, 6), round(parts.entropy, 6), parts.divergence
    (1.918939, 1.418939, 0.5)
    """
    divergence = kl_gaussian(mean_p, covariance_p, mean_q, covariance_q)
    P, Q = np.asarray(covariance_p, dtype=float), np.asarray(covariance_q, dtype=float)
    shift = np.asarray(mean_p, dtype=float) - np.asarray(mean_q, dtype=float)
    spread = np.trace(linalg.solve(Q, P + np.outer(shift, shift), assume_a="pos"))
    cross = 0.5 * (np.linalg.slogdet(2 * np.pi * Q)[1] + spread)
    entropy = 0.5 * np.linalg.slogdet(2 * np.pi * math.e * P)[1]
    return CrossEntropy(float(cross), float(entropy), divergence)


def family_cross_entropy(
    family: Family, theta: Any, model: Family, model_theta: Any
) -> CrossEntropy:
    """Return the cross-entropy of a model of a law of a family, by the law's finite form.

    Parameters
    ----------
    family, theta : Family and array-like of shape (n_parameters,)
        Of the truth, and its parameters.
    model, model_theta : Family and array-like of shape (n_model_parameters,)
        Of the model, and its parameters.

    Examples
    --------
    >>> from corollary.density import Exponential, family_cross_entropy
    >>> parts = family_cross_entropy(Exponential(), [1.0], Exponential(), [2.0])
    >>> round(parts.cross_entropy, 6)  # 2 - log 2
    1.306853
    """
    points, probability = family.law(theta)
    truth, guess = family.log_density(points, theta), model.log_density(points, model_theta)
    some = probability > 0
    probability, truth, guess = probability[some], truth[some], guess[some]
    cross, entropy = -float(probability @ guess), -float(probability @ truth)
    return CrossEntropy(cross, entropy, float(probability @ (truth - guess)))
