r"""Laplace's approximation for a Gaussian process seen through yes-or-no answers.

Labels :math:`t\in\{0,1\}` have probability :math:`\sigma(f)^t(1-\sigma(f))^{1-t}`. The posterior of
f is not normal; Laplace's approximation is the normal law at its mode, with the curvature there.
The mode is found by Newton's method, each step one Cholesky factorisation of
:math:`B=I+W^{1/2}KW^{1/2}`, whose eigenvalues are at least one.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg.lapack import dtrtrs
from scipy.special import expit, ndtr

from corollary.gp.exact._factor import Factor, factorise, inverse, solve


class LaplaceMode(NamedTuple):
    """The mode of a posterior and what predictions need of it.

    Parameters
    ----------
    f : ndarray of shape (n,)
        Latent values at the mode.
    slope : ndarray of shape (n,)
        Gradient of the log likelihood there; the mode is ``K @ slope``.
    root : ndarray of shape (n,)
        Square roots of the curvature W of the negative log likelihood.
    factor : Factor
        Of ``I + W^(1/2) K W^(1/2)``.
    log_evidence : float
        Approximate log evidence.
    converged : bool
        Whether Newton's method ended by its tolerance.
    """

    f: np.ndarray
    slope: np.ndarray
    root: np.ndarray
    factor: Factor
    log_evidence: float
    converged: bool


def laplace_mode(
    K: np.ndarray,
    t: np.ndarray,
    weight: Any = None,
    *,
    start: np.ndarray | None = None,
    max_iter: int = 100,
    tol: float = 1e-10,
) -> LaplaceMode:
    r"""Find the mode of the posterior of a Gaussian process under the logistic likelihood.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Kernel matrix.
    t : ndarray of shape (n,)
        Labels 0 or 1, or shares of ones between.
    weight : ndarray of shape (n,) or None, default=None
        Non-negative weights; a row of weight k counts like k equal rows. None for ones.
    start : ndarray of shape (n,) or None, default=None
        Where Newton's method starts, ``K @ start``: the slope at the mode of a similar kernel saves
        steps. None, or one that is worse than zero, for zero.
    max_iter : int, default=100
        Newton steps at most.
    tol : float, default=1e-10
        Improvement of the log posterior, per row, below which the search ends.

    Returns
    -------
    mode : LaplaceMode
        The mode, with the approximate evidence
        :math:`\log p(t\mid\hat f)-\tfrac12\hat f^\top K^{-1}\hat f-\tfrac12\log\det B`.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.gp import laplace_mode
    >>> mode = laplace_mode(np.array([[1.0]]), np.array([1.0]))
    >>> mode.converged, bool(np.isclose(mode.f[0], mode.slope[0]))  # f = K slope
    (True, True)
    """
    n = len(t)
    weight = np.ones(n) if weight is None else weight

    def log_likelihood(f: np.ndarray) -> float:
        return float(weight @ (t * f - np.logaddexp(0.0, f)))

    f, a, converged = np.zeros(n), np.zeros(n), False
    value = log_likelihood(f)
    if start is not None:
        near = K @ start
        reached = log_likelihood(near) - 0.5 * float(start @ near)
        if reached > value:
            f, a, value = near, start, reached
    for _ in range(max_iter):
        p = expit(f)
        root = np.sqrt(weight * p * (1.0 - p))
        factor = factorise(root[:, None] * K * root, 1.0)
        b = root**2 * f + weight * (t - p)
        step = b - root * solve(factor, root * (K @ b)) - a
        # The log posterior is concave, so that half steps, quarter steps, ... must improve.
        length = 1.0
        while True:
            new_a = a + length * step
            new_f = K @ new_a
            new = log_likelihood(new_f) - 0.5 * float(new_a @ new_f)
            if new >= value or length < 1e-6:
                break
            length /= 2.0
        gain = new - value
        if new > value:
            f, a, value = new_f, new_a, new
        if gain <= tol * n:
            converged = True
            break
    p = expit(f)
    root = np.sqrt(weight * p * (1.0 - p))
    factor = factorise(root[:, None] * K * root, 1.0)
    evidence = value - float(np.log(np.diag(factor.lower)).sum())
    return LaplaceMode(f, weight * (t - p), root, factor, evidence, converged)


def laplace_evidence_gradient(K: np.ndarray, mode: LaplaceMode, weight: Any = None) -> np.ndarray:
    r"""Return the symmetric matrix V whose inner products with dK are those of the evidence.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Kernel matrix.
    mode : LaplaceMode
        From :func:`laplace_mode`.
    weight : ndarray of shape (n,) or None, default=None
        The weights it was found with.

    Returns
    -------
    V : ndarray of shape (n, n)
        :math:`\partial\log q(t)=\sum_{ij}V_{ij}\,\partial K_{ij}`, including the change of the
        mode.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.gp import laplace_evidence_gradient, laplace_mode
    >>> K = np.array([[2.0]])
    >>> V = laplace_evidence_gradient(K, laplace_mode(K, np.array([1.0])))
    >>> after = laplace_mode(K + 1e-5, np.array([1.0])).log_evidence
    >>> before = laplace_mode(K - 1e-5, np.array([1.0])).log_evidence
    >>> bool(np.isclose(V[0, 0], (after - before) / 2e-5))
    True
    """
    p = expit(mode.f)
    weight = np.ones(len(p)) if weight is None else weight
    root = mode.root
    R = root[:, None] * inverse(mode.factor) * root  # (K + W^-1)^-1
    half = dtrtrs(mode.factor.lower, root[:, None] * K, lower=1)[0]
    variance = np.diag(K) - np.einsum("ij,ij->j", half, half)  # of the approximate posterior
    third = -weight * p * (1.0 - p) * (1.0 - 2.0 * p)  # of the log likelihood
    # Through the mode: d log q / d f, carried back by df = (I + K W)^-1 dK slope.
    s = 0.5 * variance * third
    back = s - R @ (K @ s)
    through = np.outer(back, mode.slope)
    explicit = np.outer(mode.slope, mode.slope) - R
    return 0.5 * explicit + 0.5 * (through + through.T)


def logistic_normal_mean(mean: Any, variance: Any) -> np.ndarray:
    r"""Return the expectation of the logistic function of a normal variable.

    Parameters
    ----------
    mean : array-like
        Means.
    variance : array-like
        Variances.

    Returns
    -------
    probability : ndarray
        :math:`E\,\sigma(Z)`, exact to ten digits.

    Notes
    -----
    For small variances by Gauss-Hermite quadrature. For others as :math:`P(L<Z)` with L logistic,
    :math:`E_L\,\Phi((\mu-L)/s)`, whose trapezoidal sums converge exponentially.

    Examples
    --------
    >>> from corollary.gp import logistic_normal_mean
    >>> logistic_normal_mean([0.0, 3.0], [9.0, 0.0]).round(4)
    array([0.5   , 0.9526])
    """
    mean, variance = np.broadcast_arrays(np.asarray(mean, float), np.asarray(variance, float))
    s = np.sqrt(variance)
    narrow = s < 1.0
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    small, wide = np.zeros(mean.shape), np.zeros(mean.shape)
    for node, share in zip(nodes, weights / weights.sum()):
        small += share * expit(mean + s * node)
    divisor = np.where(narrow, 1.0, s)
    for node in np.arange(-74, 75) / 2.0:
        wide += 0.5 * expit(node) * expit(-node) * ndtr((mean - node) / divisor)
    return np.clip(np.where(narrow, small, wide), 0.0, 1.0)
