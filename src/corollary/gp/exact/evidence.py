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

from corollary.core.schema import Array, Schema
from corollary.gp.exact._factor import Factor, factorise, inverse, solve
from corollary.kernels import Kernel

LOG_2PI = float(np.log(2.0 * np.pi))


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


class _Merged(NamedTuple):
    """Observations of distinct points that count like the ones given."""

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
    def of(
        cls,
        X: np.ndarray,
        y: np.ndarray,
        noise: Any = None,
        weight: Any = None,
        *,
        gather: bool = True,
    ) -> Self:
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
        gather : bool, default=True
            Whether equal inputs are gathered, or each row is a point of its own.

        Returns
        -------
        observations : Observations
            Distinct inputs in increasing order, or all of them in theirs.
        """
        n = len(X)
        if gather:
            X = X + 0.0  # minus zero equals zero
            # Sorted, so that the order of the rows does not change the rounding of the search.
            points, group = np.unique(X, axis=0, return_inverse=True)
        else:
            points, group = X, np.arange(n)
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

    def merged(self, variance: float) -> _Merged:
        """Merge the observations of each point.

        Parameters
        ----------
        variance : float
            Common noise variance.

        Returns
        -------
        merged : named tuple
            For each point the mean target ``y``, the ``noise`` of that mean, the precisions ``q``
            of single rows, and the ``log_factor`` that the density of the means lacks.
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
        return _Merged(y, 1.0 / precision, q, log_factor)


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
