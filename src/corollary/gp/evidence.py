r"""The evidence of a Gaussian process, its gradient and its maximisation.

With :math:`K_y=K+\mathrm{diag}(s)` the targets have the density
:math:`\log p(y)=-\tfrac12y^\top K_y^{-1}y-\tfrac12\log\det K_y-\tfrac n2\log2\pi`. One Cholesky
factorisation gives the value; the inverse it leads to gives all derivatives at once, since
:math:`\partial\log p=\langle W,\partial K_y\rangle` with
:math:`W=\tfrac12(aa^\top-K_y^{-1})`, :math:`a=K_y^{-1}y`.

Rows with equal inputs make :math:`K` singular and repeat work. They are merged exactly: m
observations of one point with noise variances :math:`s_i` count like one observation, their mean
weighted by precision, with noise variance :math:`1/\sum_i1/s_i`, and a factor that does not
depend on the kernel.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.linalg.blas import dger
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs

from corollary.core.schema import Array, Schema
from corollary.kernels import Kernel

LOG_2PI = float(np.log(2.0 * np.pi))

TILE = 128  # rows of a square that fits in cache
# Jitter is tried as these shares of the mean of the diagonal.
JITTER = (0.0, 1e-14, 1e-12, 1e-10, 1e-8, 1e-6, 1e-4)


class Factor(NamedTuple):
    """A Cholesky factor and what had to be added to find it.

    Parameters
    ----------
    lower : ndarray of shape (n, n)
        Lower triangular factor; what is above the diagonal is not defined.
    jitter : float
        Number added to the diagonal; 0 for a matrix that is safely positive definite.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.gp import factorise
    >>> factorise(np.ones((2, 2)), 0.0).jitter > 0
    True
    """

    lower: np.ndarray
    jitter: float


def factorise(K: np.ndarray, noise: Any) -> Factor:
    """Factorise a Gram matrix plus noise on its diagonal.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Symmetric positive semi-definite matrix; not changed.
    noise : float or ndarray of shape (n,)
        Non-negative numbers to add to the diagonal.

    Returns
    -------
    factor : Factor
        The factor, with the smallest jitter of a short list (shares of the mean of the diagonal)
        that makes the factorisation succeed.

    Raises
    ------
    numpy.linalg.LinAlgError
        If even a ten-thousandth of the mean of the diagonal is not enough: the kernel is not
        positive semi-definite.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.gp import factorise
    >>> factorise(np.array([[3.0]]), 1.0)
    Factor(lower=array([[2.]]), jitter=0.0)
    """
    diagonal = np.diag(K) + noise
    if not np.isfinite(diagonal).all():
        raise np.linalg.LinAlgError("The kernel matrix is not finite on its diagonal.")
    scale = float(diagonal.mean()) if len(diagonal) else 1.0
    smallest = len(diagonal) * float(np.finfo(float).eps) * float(diagonal.max(initial=0.0))
    for share in JITTER:
        A = K.copy()
        np.fill_diagonal(A, diagonal + share * scale)
        # LAPACK works in place on columns; the transpose of a symmetric matrix is itself.
        lower, failed = dpotrf(A.T, lower=1, clean=0, overwrite_a=1)
        # A pivot that is nothing but rounding is no better than a negative one.
        if not failed and float(np.diag(lower).min(initial=np.inf)) ** 2 > smallest:
            return Factor(lower, share * scale)
    raise np.linalg.LinAlgError(
        "The kernel matrix is not positive semi-definite: adding "
        f"{JITTER[-1] * scale:.2g} to its diagonal does not help."
    )


def solve(factor: Factor, B: np.ndarray) -> np.ndarray:
    """Solve with a factorised matrix.

    Parameters
    ----------
    factor : Factor
        From :func:`factorise`.
    B : ndarray of shape (n,) or (n, m)
        Right-hand sides.

    Returns
    -------
    solution : ndarray of shape (n,) or (n, m)
        The solution.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.gp import factorise, solve
    >>> solve(factorise(np.array([[3.0]]), 1.0), np.array([2.0]))
    array([0.5])
    """
    return dpotrs(factor.lower, B, lower=1)[0]


def inverse(factor: Factor, *, overwrite: bool = False) -> np.ndarray:
    """Invert a factorised matrix.

    Parameters
    ----------
    factor : Factor
        From :func:`factorise`.
    overwrite : bool, default=False
        Whether the factor may be destroyed, which saves memory.

    Returns
    -------
    inverse : ndarray of shape (n, n)
        The whole symmetric inverse.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.gp import factorise, inverse
    >>> inverse(factorise(np.array([[3.0]]), 1.0))
    array([[0.25]])
    """
    # LAPACK fills the lower triangle of columns, which is the upper one of rows. Squares that fit
    # in cache are mirrored one by one: a whole transpose would read memory across.
    C = dpotri(factor.lower, lower=1, overwrite_c=overwrite)[0].T
    n = len(C)
    for i in range(0, n, TILE):
        block = C[i : i + TILE, i : i + TILE]
        block[:] = np.triu(block) + np.triu(block, 1).T
        for j in range(i + TILE, n, TILE):
            C[j : j + TILE, i : i + TILE] = C[i : i + TILE, j : j + TILE].T
    return C


def log_evidence(K: Any, y: Any, noise: Any) -> float:
    r"""Return the log density of targets under a Gaussian process.

    Parameters
    ----------
    K : array-like of shape (n, n)
        Gram matrix.
    y : array-like of shape (n,)
        Targets, of mean zero.
    noise : float or array-like of shape (n,)
        Noise variance, one or one for each target.

    Returns
    -------
    value : float
        :math:`-\tfrac12y^\top K_y^{-1}y-\tfrac12\log\det K_y-\tfrac n2\log2\pi`.

    Examples
    --------
    >>> from corollary.gp import log_evidence
    >>> round(log_evidence([[0.5]], [0.0], 0.5), 6)  # the standard normal density at 0
    -0.918939
    """
    K, y = np.asarray(K, dtype=float), np.asarray(y, dtype=float)
    return _log_density(factorise(K, np.asarray(noise, dtype=float)), y)[0]


def _log_density(factor: Factor, y: np.ndarray) -> tuple[float, np.ndarray]:
    a = solve(factor, y)
    log_root = float(np.log(np.diag(factor.lower)).sum())
    return -0.5 * float(y @ a) - log_root - 0.5 * len(y) * LOG_2PI, a


class Merged(NamedTuple):
    """Observations of distinct points that count like the ones given.

    Parameters
    ----------
    y : ndarray of shape (m,)
        Means weighted by precision.
    noise : ndarray of shape (m,)
        Their noise variances.
    precision : ndarray of shape (n,)
        Precision of each single observation.
    log_factor : float
        What the merged log evidence lacks.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.gp import Observations
    >>> seen = Observations.of(np.zeros((2, 1)), np.array([1.0, 3.0]))
    >>> seen.merged(0.5).y, seen.merged(0.5).noise
    (array([2.]), array([0.25]))
    """

    y: np.ndarray
    noise: np.ndarray
    precision: np.ndarray
    log_factor: float


@dataclass(frozen=True)
class Observations:
    """Noisy values of a function, with equal inputs gathered.

    Parameters
    ----------
    X : ndarray of shape (m, d)
        Distinct inputs.
    group : ndarray of shape (n,)
        Row of X for each observation.
    y : ndarray of shape (n,)
        Values, with the prior mean subtracted.
    noise : ndarray of shape (n,)
        Known noise variance of each, added to the common one.
    weight : ndarray of shape (n,)
        Positive; an observation of weight k counts like k equal ones.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.gp import Observations
    >>> seen = Observations.of(np.array([[0.0], [1.0], [0.0]]), np.array([1.0, 2.0, 3.0]))
    >>> seen.X.ravel(), seen.group
    (array([0., 1.]), array([0, 1, 0]))
    """

    X: np.ndarray
    group: np.ndarray
    y: np.ndarray
    noise: np.ndarray
    weight: np.ndarray
    _schema = Schema(
        X=Array("f", "m", "d"),
        group=Array("i", "n", low=0, below="m"),
        y=Array("f", "n"),
        noise=Array("f", "n", low=0),
        weight=Array("f", "n", low=0),
    )

    @classmethod
    def of(cls, X: np.ndarray, y: np.ndarray, noise: Any = None, weight: Any = None) -> Self:
        """Gather observations with equal inputs.

        Parameters
        ----------
        X : ndarray of shape (n, d)
            Inputs.
        y : ndarray of shape (n,)
            Values.
        noise : ndarray of shape (n,) or None, default=None
            Known noise variances; None for zeros.
        weight : ndarray of shape (n,) or None, default=None
            Positive weights; None for ones.

        Returns
        -------
        observations : Observations
            Distinct inputs in increasing order.
        """
        n = len(X)
        X = X + 0.0  # minus zero equals zero
        # Sorted, so that the order of the rows does not even change the rounding of the search.
        points, group = np.unique(X, axis=0, return_inverse=True)
        return cls(
            points,
            group.ravel(),
            y,
            np.zeros(n) if noise is None else noise,
            np.ones(n) if weight is None else weight,
        )

    def take(self, points: np.ndarray) -> Self:
        """Keep the observations of some points.

        Parameters
        ----------
        points : ndarray of int
            Rows of ``X``.

        Returns
        -------
        observations : Observations
            A part.
        """
        place = np.full(len(self.X), -1)
        place[points] = np.arange(len(points))
        keep = place[self.group] >= 0
        parts = (place[self.group], self.y, self.noise, self.weight)
        return type(self)(self.X[points], *(part[keep] for part in parts))

    def merged(self, variance: float) -> Merged:
        """Merge the observations of each point.

        Parameters
        ----------
        variance : float
            Common noise variance.

        Returns
        -------
        merged : Merged
            One observation for each point.
        """
        q, m = 1.0 / (variance + self.noise), len(self.X)
        wq = self.weight * q
        precision = np.bincount(self.group, wq, m)
        y = np.bincount(self.group, wq * self.y, m) / precision
        residual = self.y - y[self.group]
        log_factor = (
            0.5 * float(self.weight @ np.log(q))
            - 0.5 * float(np.log(precision).sum())
            - 0.5 * float(wq @ residual**2)
            - 0.5 * (float(self.weight.sum()) - m) * LOG_2PI
        )
        return Merged(y, 1.0 / precision, q, log_factor)


def evidence_of(
    observations: Observations, kernel: Kernel, variance: float, *, gradient: bool = False
) -> tuple[float, np.ndarray]:
    """Return the log evidence of observations and its gradient.

    Parameters
    ----------
    observations : Observations
        What was seen.
    kernel : Kernel
        Covariance of the function.
    variance : float
        Common noise variance.
    gradient : bool, default=False
        Whether the gradient is wanted; without, the second result is empty.

    Returns
    -------
    value : float
        Log density of all observations, merged or not.
    gradient : ndarray of shape (p + 1,)
        Derivatives in the kernel's parameters, on the scale of ``kernel.with_parameters``, and in
        the logarithm of the noise variance.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.gp import Observations, evidence_of
    >>> from corollary.kernels import RBF
    >>> seen = Observations.of(np.array([[0.0], [2.0]]), np.array([1.0, -1.0]))
    >>> value, gradient = evidence_of(seen, RBF(), 0.1, gradient=True)
    >>> round(value, 4), gradient.round(4)
    (-2.9622, array([-0.5202,  0.0152]))
    """
    X, group = observations.X, observations.group
    if gradient:
        K, pull = kernel.gram_with_gradient(X)
    else:
        K = kernel.gram(X)
    y, noise, q, log_factor = observations.merged(variance)
    factor = factorise(K, noise)
    value, a = _log_density(factor, y)
    if not gradient:
        return value + log_factor, np.empty(0)
    W = inverse(factor, overwrite=True)
    W *= -0.5
    W = dger(0.5, a, a, a=W.T, overwrite_a=1).T  # in place: LAPACK sees rows as columns
    precision, residual = 1.0 / noise, observations.y - y[group]
    by_precision = observations.weight * (
        -(np.diag(W) * noise**2)[group]
        - (a / precision)[group] * residual
        + 0.5 / q
        - 0.5 * noise[group]
        - 0.5 * residual**2
    )
    by_noise = -variance * float(by_precision @ q**2)
    return value + log_factor, np.append(pull(W)[0], by_noise)
