"""What a sparse process needs to know of the rows, and the best law of its inducing values."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.linalg.blas import dtrsm
from scipy.linalg.lapack import dpotrf, dtrtrs

from corollary.core.summary import Chunk, Summary
from corollary.gp.exact.evidence import LOG_2PI
from corollary.kernels import Kernel

# Share of the mean of its diagonal that is added to the kernel matrix of the inducing points. They
# then stand for slightly noisy values of f, for which the bound is as valid.
JITTER = 1e-8


@dataclass(frozen=True)
class InducingSums(Summary):
    r"""What the collapsed bound needs to know of the rows.

    Parameters
    ----------
    kernel : Kernel
        Covariance of f.
    Z : ndarray of shape (m, d)
        Inducing points.
    root : ndarray of shape (m, m)
        Lower Cholesky factor L of their kernel matrix.
    jitter : float
        Number that was added to the diagonal of that matrix.
    weight : float
        Sum of the weights, the number of rows without any.
    products : ndarray of shape (m, m)
        :math:`A=\sum_iw_iv_iv_i^\top`.
    moment : ndarray of shape (m,)
        :math:`b=\sum_iw_iy_iv_i`.
    square : float
        :math:`\sum_iw_iy_i^2`.
    left : float
        :math:`\sum_iw_i(k(x_i,x_i)-|v_i|^2)`.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.gp import InducingSums
    >>> from corollary.kernels import RBF
    >>> sums = InducingSums.at(RBF(), np.zeros((1, 1)), jitter=0.0)
    >>> sums.update((np.zeros((3, 1)), np.array([1.0, 2.0, 3.0]), None)).moment
    array([6.])
    """

    kernel: Kernel
    Z: np.ndarray
    root: np.ndarray
    jitter: float
    weight: float
    products: np.ndarray
    moment: np.ndarray
    square: float
    left: float

    @classmethod
    def at(cls, kernel: Kernel, Z: np.ndarray, *, jitter: float = JITTER) -> Self:
        """Return the sums of no rows.

        Parameters
        ----------
        kernel : Kernel
            Covariance of f.
        Z : ndarray of shape (m, d)
            Inducing points.
        jitter : float, default=1e-8
            Share of the mean of its diagonal that is added to the kernel matrix.

        Returns
        -------
        sums : InducingSums
            Zeros.

        Raises
        ------
        numpy.linalg.LinAlgError
            If the kernel matrix is not positive definite even so.
        """
        K = kernel.gram(Z)
        added = jitter * float(np.diag(K).mean())
        return cls(kernel, Z, _cholesky(K, added), added, *cls._zeros(len(Z)))

    @staticmethod
    def _zeros(m: int) -> Any:
        return 0.0, np.zeros((m, m)), np.zeros(m), 0.0, 0.0

    def empty(self) -> Self:
        """Return the sums of no rows for the same kernel and points."""
        return type(self)(
            self.kernel, self.Z, self.root, self.jitter, *self._zeros(len(self.moment))
        )

    def update(self, chunk: Chunk) -> Self:
        """Add rows ``(X, y, weight)``; the weights may be None."""
        X, y, w = chunk
        K, _ = self.kernel.gram_with_gradient(self.Z, X)
        # In place: LAPACK sees the rows of K as the columns of its transpose.
        V = dtrsm(1.0, self.root, K.T, side=1, lower=1, trans_a=1, overwrite_b=1).T
        # What the points leave of the prior's variance is not negative, but may be rounded so.
        left = np.maximum(self.kernel.diag(X) - np.einsum("ij,ij->j", V, V), 0.0)
        w = np.ones(len(y)) if w is None else w
        moment = V @ (w * y)
        if chunk[2] is not None:
            V *= np.sqrt(w)
        one = replace(
            self,
            weight=float(w.sum()),
            products=V @ V.T,
            moment=moment,
            square=float(w @ y**2),
            left=float(w @ left),
        )
        return self.merge(one) if self.weight else one

    def merge(self, other: Self) -> Self:
        """Add the sums of other rows."""
        return replace(
            self,
            weight=self.weight + other.weight,
            products=self.products + other.products,
            moment=self.moment + other.moment,
            square=self.square + other.square,
            left=self.left + other.left,
        )


class InducingLaw(NamedTuple):
    r"""The best law of the values at the inducing points, in the form that predictions use.

    Parameters
    ----------
    bound : float
        Lower bound of the log evidence.
    weights : ndarray of shape (m,)
        The mean of f at x is ``k(x, Z) @ weights``.
    mean : ndarray of shape (m,)
        Mean :math:`B^{-1}b/\sigma^2` of the whitened values :math:`L^{-1}f(Z)`; their covariance
        is :math:`B^{-1}`.
    inner_root : ndarray of shape (m, m)
        Lower Cholesky factor of :math:`B=I+A/\sigma^2`.
    """

    bound: float
    weights: np.ndarray
    mean: np.ndarray
    inner_root: np.ndarray


def inducing_law(sums: InducingSums, variance: float) -> InducingLaw:
    """Return the best law of the values at the inducing points, and its bound.

    Parameters
    ----------
    sums : InducingSums
        Sums over the rows.
    variance : float
        Noise variance.

    Returns
    -------
    law : InducingLaw
        Bound, weights and factor.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.gp import InducingSums, inducing_law
    >>> from corollary.kernels import RBF
    >>> sums = InducingSums.at(RBF(), np.zeros((1, 1)))
    >>> sums = sums.update((np.zeros((1, 1)), np.zeros(1), None))
    >>> round(inducing_law(sums, 1.0).bound, 6)  # the density of N(0, 2) at 0
    -1.265512
    """
    inner = _cholesky(sums.products / variance, 1.0)
    c = dtrtrs(inner, sums.moment, lower=1)[0] / variance
    mean = dtrtrs(inner, c, lower=1, trans=1)[0]
    bound = (
        -0.5 * sums.weight * (LOG_2PI + float(np.log(variance)))
        - float(np.log(np.diag(inner)).sum())
        - 0.5 * (sums.square + sums.left) / variance
        + 0.5 * float(c @ c)
    )
    return InducingLaw(bound, dtrtrs(sums.root, mean, lower=1, trans=1)[0], mean, inner)


def _cholesky(A: np.ndarray, addition: float) -> np.ndarray:
    A = A.copy(order="F")
    if not np.isfinite(A).all():
        raise np.linalg.LinAlgError("The kernel matrix of the inducing points is not finite.")
    A[np.diag_indices(len(A))] += addition
    lower, failed = dpotrf(A, lower=1, clean=1, overwrite_a=1)
    if failed:
        raise np.linalg.LinAlgError(
            "The kernel matrix of the inducing points is not positive definite; raise the jitter."
        )
    return lower
