r"""The collapsed evidence bound of a Gaussian process seen through inducing points.

Values :math:`u=f(Z)` at m inducing points stand for the whole function: the posterior is sought
among the laws :math:`p(f\mid u)\,q(u)`. With :math:`Q=K_{nm}K_{mm}^{-1}K_{mn}` the best q has the
bound [1]_

.. math:: \log p(y)\;\ge\;F=\log N(y;0,Q+\sigma^2I)-\frac1{2\sigma^2}\mathrm{tr}(K_{nn}-Q),

which depends on the rows through few sums. With :math:`K_{mm}=LL^\top` and the whitened features
:math:`v_i=L^{-1}k(Z,x_i)` these are :math:`A=\sum_iw_iv_iv_i^\top`, :math:`b=\sum_iw_iy_iv_i`,
:math:`\sum_iw_iy_i^2` and what the points do not explain of the prior's variance,
:math:`\sum_iw_i(k(x_i,x_i)-|v_i|^2)`; features that were not whitened would lose the digits that
nearly equal inducing points need. With :math:`B=I+A/\sigma^2` the mean of :math:`f(x)` is
:math:`k(x,Z)\,L^{-\top}B^{-1}b/\sigma^2`. Both the sums and the gradient of F are Summaries over
blocks of rows: time n m^2, memory block x m, and the same bits for any number of threads.

References
----------
.. [1] M. Titsias (2009). Variational learning of inducing variables in sparse Gaussian processes.
   AISTATS.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np
from scipy.linalg.lapack import dpotri, dtrtrs

from corollary.core.summary import Chunk, Summary, reduce_blocks
from corollary.gp.sparse._blocks import row_blocks
from corollary.gp.sparse.sums import JITTER, InducingSums, inducing_law
from corollary.kernels import Kernel


@dataclass(frozen=True)
class _GradientSums(Summary):
    """Gradient of a linear function of sums of ``k k'``, ``y k`` and the diagonal."""

    kernel: Kernel
    Z: np.ndarray
    by_products: np.ndarray
    by_moment: np.ndarray
    by_trace: float
    by_parameters: np.ndarray
    by_points: np.ndarray

    def empty(self) -> Self:
        return replace(
            self,
            by_parameters=np.zeros_like(self.by_parameters),
            by_points=np.zeros_like(self.by_points),
        )

    def update(self, chunk: Chunk) -> Self:
        X, y, w = chunk
        K, pull = self.kernel.gram_with_gradient(self.Z, X)
        W = (2.0 * self.by_products) @ K
        w = np.ones(len(y)) if w is None else w
        W += self.by_moment[:, None] * y
        if chunk[2] is not None:
            W *= w
        by_parameters, by_points = pull(W)
        by_trace = self.by_trace * self.kernel.diag_gradient(X, w)
        return replace(
            self,
            by_parameters=self.by_parameters + by_parameters + by_trace,
            by_points=self.by_points + by_points,
        )

    def merge(self, other: Self) -> Self:
        return replace(
            self,
            by_parameters=self.by_parameters + other.by_parameters,
            by_points=self.by_points + other.by_points,
        )


class CollapsedBound(NamedTuple):
    """The collapsed bound and its gradient.

    Parameters
    ----------
    value : float
        Lower bound of the log evidence.
    by_parameters : ndarray of shape (p,)
        Gradient in the vector of ``kernel.with_parameters``; empty if not asked for.
    by_log_variance : float
        Gradient in the logarithm of the noise variance.
    by_points : ndarray of shape (m, d)
        Gradient in the inducing points; empty if not asked for.
    """

    value: float
    by_parameters: np.ndarray
    by_log_variance: float
    by_points: np.ndarray


def collapsed_bound(
    kernel: Kernel,
    variance: float,
    Z: np.ndarray,
    X: np.ndarray,
    y: np.ndarray,
    weight: np.ndarray | None = None,
    *,
    gradient: bool = False,
    jitter: float = JITTER,
    n_jobs: int | None = None,
) -> CollapsedBound:
    r"""Return the collapsed lower bound of the log evidence and its gradient.

    Parameters
    ----------
    kernel : Kernel
        Covariance of f.
    variance : float
        Noise variance :math:`\sigma^2`.
    Z : ndarray of shape (m, d)
        Inducing points.
    X : ndarray of shape (n, d)
        Inputs.
    y : ndarray of shape (n,)
        Targets, with the prior mean subtracted.
    weight : ndarray of shape (n,) or None, default=None
        Non-negative; a row of weight k counts like k equal rows. None for ones.
    gradient : bool, default=False
        Whether the gradient is wanted, which doubles the work.
    jitter : float, default=1e-8
        Share of the mean of its diagonal that is added to the kernel matrix of the points.
    n_jobs : int or None, default=None
        Threads; None means one per available core. The result does not depend on it.

    Returns
    -------
    bound : CollapsedBound
        Value and gradient.

    Notes
    -----
    Guarantee: the value is at most the log evidence, for any Z, and equal to it if Z contains all
    distinct rows of X and the jitter is zero; checked by
    ``tests/gp/test_collapsed.py::test_bound_never_exceeds_the_evidence``.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.gp import collapsed_bound, log_evidence
    >>> from corollary.kernels import RBF
    >>> X, y = np.array([[0.0], [1.0], [3.0]]), np.array([0.5, -0.5, 1.0])
    >>> exact = log_evidence(RBF().gram(X), y, 0.1)
    >>> bool(collapsed_bound(RBF(), 0.1, X[:2], X, y).value < exact)
    True
    >>> bool(abs(collapsed_bound(RBF(), 0.1, X, X, y).value - exact) < 1e-6)
    True
    """
    blocks = row_blocks(len(Z), X, y, weight)
    sums = reduce_blocks(InducingSums.at(kernel, Z, jitter=jitter), blocks, n_jobs=n_jobs)
    law = inducing_law(sums, variance)
    if not gradient:
        return CollapsedBound(law.bound, np.empty(0), 0.0, np.empty((0, Z.shape[1])))
    A, mean, a = sums.products, law.mean, law.weights
    inner_inverse = dpotri(law.inner_root, lower=1)[0]
    inner_inverse = np.tril(inner_inverse) + np.tril(inner_inverse, -1).T
    D = np.eye(len(Z)) - inner_inverse - np.outer(mean, mean)
    by_kernel = 0.5 * _unwhitened(sums.root, D - A / variance)
    start = _GradientSums(
        kernel,
        Z,
        0.5 * _unwhitened(sums.root, D) / variance,
        a / variance,
        -0.5 / variance,
        np.zeros(len(kernel.parameters().values)),
        np.zeros_like(Z),
    )
    rest = reduce_blocks(start, row_blocks(len(Z), X, y, weight), n_jobs=n_jobs)
    _, pull = kernel.gram_with_gradient(Z, Z)
    by_parameters, by_points = pull(by_kernel)
    # The jitter is a share of the diagonal, and moves with it.
    share = np.full(len(Z), jitter * float(np.trace(by_kernel)) / len(Z))
    by_parameters = by_parameters + kernel.diag_gradient(Z, share)
    misfit = float(mean @ A @ mean) - 2.0 * float(mean @ sums.moment) + sums.square
    spread = float(np.vdot(inner_inverse, A)) + sums.left
    return CollapsedBound(
        law.bound,
        rest.by_parameters + by_parameters,
        -0.5 * sums.weight + 0.5 * (misfit + spread) / variance,
        rest.by_points + 2.0 * by_points,
    )


def _unwhitened(L: np.ndarray, D: np.ndarray) -> np.ndarray:
    half = dtrtrs(L, D, lower=1, trans=1)[0]
    full = dtrtrs(L, half.T, lower=1, trans=1)[0]
    return 0.5 * (full + full.T)
