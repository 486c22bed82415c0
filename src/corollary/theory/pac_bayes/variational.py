r"""The variational formula of Donsker and Varadhan, read in both directions.

For laws p and q and a function g,

.. math:: \mathrm{KL}(p\,\|\,q) \ge E_p g - \log E_q e^g,

with a gap of exactly :math:`\mathrm{KL}(p\,\|\,\pi)`, where :math:`\pi \propto q e^g` is the Gibbs
measure. Read as a supremum over g it bounds a divergence from below by what samples show; read as
a supremum over p it is the step on which PAC-Bayes bounds stand.
"""

from typing import Any

import numpy as np
from scipy.special import logsumexp, softmax

from corollary.risk import check_law


def gibbs_measure(q: Any, g: Any) -> np.ndarray:
    """Tilt a law on a finite alphabet by the exponential of a function.

    Parameters
    ----------
    q : array-like of shape (n,)
        Probabilities.
    g : array-like of shape (n,)
        Values of the function; minus infinity removes a point.

    Returns
    -------
    pi : ndarray of shape (n,)
        ``q exp(g)`` with sum 1: the law that maximises ``E_p g - KL(p || q)``.

    See Also
    --------
    log_moment : The maximum.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.theory import gibbs_measure
    >>> gibbs_measure([0.5, 0.5], np.log([1.0, 3.0]))
    array([0.25, 0.75])
    """
    q, g = _law_and_values("gibbs_measure", "q", q, g)
    with np.errstate(divide="ignore"):
        return softmax(np.log(q) + np.where(q > 0, g, 0.0))


def log_moment(q: Any, g: Any) -> float:
    """Compute ``log E_q exp(g)`` without overflow.

    Parameters
    ----------
    q : array-like of shape (n,)
        Probabilities.
    g : array-like of shape (n,)
        Values of the function.

    Returns
    -------
    value : float
        The largest value of ``E_p g - KL(p || q)`` over laws p.

    Examples
    --------
    >>> from corollary.theory import log_moment
    >>> round(log_moment([0.5, 0.5], [1000.0, 1000.0]), 6)
    1000.0
    """
    q, g = _law_and_values("log_moment", "q", q, g)
    return float(logsumexp(g[q > 0], b=q[q > 0]))


def donsker_varadhan(p: Any, q: Any, g: Any) -> float:
    """Compute the lower bound on ``KL(p || q)`` that one function gives.

    Parameters
    ----------
    p : array-like of shape (n,)
        Probabilities of the first law.
    q : array-like of shape (n,)
        Probabilities of the second law.
    g : array-like of shape (n,)
        Values of the function.

    Returns
    -------
    bound : float
        ``E_p g - log E_q exp(g)``. It falls short of the divergence by exactly
        ``KL(p || gibbs_measure(q, g))`` and reaches it at ``g = log(p / q)``.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.theory import donsker_varadhan
    >>> p, q = np.array([0.5, 0.5]), np.array([0.25, 0.75])
    >>> round(donsker_varadhan(p, q, np.log(p / q)), 4)
    0.1438
    """
    p, g = _law_and_values("donsker_varadhan", "p", p, g)
    return float(p[p > 0] @ g[p > 0]) - log_moment(q, g)


def kl_lower_bound(
    features_p: Any, features_q: Any, *, weights_p: Any = None, weights_q: Any = None
) -> tuple[float, np.ndarray]:
    r"""Bound a divergence from below over a linear class of functions.

    Maximises :math:`E_p g - \log E_q e^g` over :math:`g = \langle\theta, \phi\rangle`, a concave
    problem, where the laws are weighted points.

    Parameters
    ----------
    features_p : array-like of shape (n, k)
        Features phi at the points of the first law.
    features_q : array-like of shape (m, k)
        Features at the points of the second law.
    weights_p : array-like of shape (n,) or None, default=None
        Probabilities of the points of the first law; None for equal ones.
    weights_q : array-like of shape (m,) or None, default=None
        Probabilities of the points of the second law.

    Returns
    -------
    bound : float
        The maximum; infinite if a direction of theta separates the points of p from those of q.
    theta : ndarray of shape (k,)
        Where it is reached, or a direction along which the value grows without end.

    Notes
    -----
    For the weighted points themselves the value is a true lower bound of their divergence. For
    samples it is the plug-in estimate for the class, which leans upwards when k is not small
    against the numbers of points: evaluate `theta` on fresh draws for an honest value.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.theory import kl_lower_bound
    >>> p, q = [0.5, 0.5], [0.25, 0.75]
    >>> bound, theta = kl_lower_bound(np.eye(2), np.eye(2), weights_p=p, weights_q=q)
    >>> round(bound, 4)
    0.1438
    """
    from scipy.optimize import linprog, minimize

    clouds, laws = [], []
    for name, features, weights in (("p", features_p, weights_p), ("q", features_q, weights_q)):
        features = np.asarray(features, dtype=float)
        if features.ndim != 2 or not features.size or not np.all(np.isfinite(features)):
            raise ValueError(
                f"The 'features_{name}' parameter of kl_lower_bound must be a finite matrix, one "
                f"row per point. Got shape {features.shape}."
            )
        weights = np.full(len(features), 1 / len(features)) if weights is None else weights
        law = check_law("kl_lower_bound", f"weights_{name}", weights)
        if len(law) != len(features):
            raise ValueError(
                f"kl_lower_bound needs one weight per point. Got {len(law)} weights for "
                f"{len(features)} points of {name}."
            )
        clouds.append(features[law > 0])
        laws.append(law[law > 0])
    (phi_p, phi_q), (p, q) = clouds, laws
    mean = p @ phi_p
    # The value is unbounded exactly when some theta puts the mean of p above every point of q.
    width = phi_q.shape[1]
    outside = linprog(
        -np.append(np.zeros(width), 1.0),
        A_ub=np.column_stack([phi_q - mean, np.ones(len(phi_q))]),
        b_ub=np.zeros(len(phi_q)),
        bounds=[(-1.0, 1.0)] * width + [(None, None)],
        method="highs",
    )
    scale = max(1.0, float(np.abs(phi_q - mean).max()))
    if outside.status == 0 and outside.x[-1] > 1e-9 * scale:
        return np.inf, outside.x[:-1]

    def loss(theta: np.ndarray) -> tuple[float, np.ndarray]:
        g = phi_q @ theta
        tilted = softmax(np.log(q) + g)
        return float(logsumexp(g, b=q) - mean @ theta), tilted @ phi_q - mean

    minimum = minimize(loss, np.zeros(width), jac=True, method="BFGS", options={"gtol": 1e-9})
    return max(0.0, -float(minimum.fun)), minimum.x


def _law_and_values(who: str, name: str, law: Any, g: Any) -> tuple[np.ndarray, np.ndarray]:
    law, g = check_law(who, name, law), np.asarray(g, dtype=float)
    if g.shape != law.shape or np.any(np.isnan(g)):
        raise ValueError(
            f"The 'g' parameter of {who} must hold one value per point, none of them NaN. Got "
            f"shape {g.shape} for {len(law)} points."
        )
    return law, g
