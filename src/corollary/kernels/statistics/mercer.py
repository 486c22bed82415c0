r"""Mercer's expansion of a kernel, by the eigenvectors of a Gram matrix.

A kernel on a space with a law P has eigenvalues :math:`\mu_i` and eigenfunctions :math:`\phi_i`,
which are orthonormal in :math:`L_2(P)`, with :math:`k(x,y)=\sum_i\mu_i\phi_i(x)\phi_i(y)` and
:math:`\sum_i\mu_i=\mathbb E\,k(x,x)`. Of a sample from P, or a grid for it, the eigenvalues of
:math:`K/n` estimate the former, and Nyström's extension of its eigenvectors the latter.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from corollary.core.parallel import row_products
from corollary.kernels.base import Kernel


@dataclass(frozen=True, eq=False)
class MercerExpansion:
    """Leading eigenvalues and eigenfunctions of a kernel under a law.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    rows : ndarray of shape (n_samples, n_features)
        Rows that stand for the law.
    eigenvalues : ndarray of shape (n_components,)
        Eigenvalues in descending order.
    vectors : ndarray of shape (n_samples, n_components)
        Values of the eigenfunctions at the rows; their squares have mean one.
    trace : float
        Mean of k(x, x) over the rows, the sum of all eigenvalues.

    See Also
    --------
    mercer_expansion : Computes one.

    Examples
    --------
    >>> from corollary.kernels import Linear, mercer_expansion
    >>> expansion = mercer_expansion(Linear(), [[1.0], [3.0]])
    >>> expansion.eigenvalues.round(6), expansion.eigenfunctions([[5.0]]).round(4)
    (array([5.]), array([[2.2361]]))
    """

    kernel: Kernel
    rows: np.ndarray
    eigenvalues: np.ndarray
    vectors: np.ndarray
    trace: float

    def eigenfunctions(self, X: Any) -> np.ndarray:
        r"""Return the values of the eigenfunctions, one column for each, at any rows.

        They are :math:`\phi_i(x)=\frac1{n\mu_i}\sum_jk(x,x_j)\phi_i(x_j)`, by Nyström's extension.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Rows.
        """
        scale = len(self.rows) * self.eigenvalues
        return row_products(self.kernel.gram(X, self.rows), self.vectors / scale)

    def gram(self, X: Any, Y: Any = None) -> np.ndarray:
        r"""Return the truncated kernel :math:`\sum_i\mu_i\phi_i(x)\phi_i(y)` of all pairs of rows.

        See :class:`Kernel`, whose :meth:`Kernel.gram` has the same parameters.
        """
        left = self.eigenfunctions(X)
        right = left if Y is None else self.eigenfunctions(Y)
        return (left * self.eigenvalues) @ right.T


def mercer_expansion(
    kernel: Kernel, X: Any, n_components: int | None = None, *, tol: float = 1e-12
) -> MercerExpansion:
    """Expand a kernel in eigenfunctions under the law of a sample.

    Their values of largest modulus at the rows are positive.

    Parameters
    ----------
    kernel : Kernel
        A positive semi-definite kernel.
    X : array-like of shape (n_samples, n_features)
        A sample of the law, or a grid with equal weights.
    n_components : int or None, default=None
        How many terms; None for all whose eigenvalue is not zero.
    tol : float, default=1e-12
        Eigenvalues of at most this share of the largest are zero.

    Raises
    ------
    ValueError
        If the kernel is not positive semi-definite on the rows, or has fewer terms.

    See Also
    --------
    gram_features : Features of a Gram matrix without an extension to other rows.
    corollary.theory.ellipsoid_bound : The complexity of the functions that the expansion spans.

    References
    ----------
    C. Williams and M. Seeger (2000). The effect of the input density distribution on kernel-based
    classifiers. ICML 17.

    Examples
    --------
    Brownian motion's kernel min(s, t) on the unit interval has the eigenvalues
    1 / ((i - 1/2) pi)^2:

    >>> import numpy as np
    >>> from corollary.kernels import PairwiseFunction, mercer_expansion
    >>> grid = (np.arange(200)[:, None] + 0.5) / 200
    >>> expansion = mercer_expansion(PairwiseFunction(lambda s, t: min(s[0], t[0])), grid, 3)
    >>> expansion.eigenvalues.round(4), (((np.arange(3) + 0.5) * np.pi) ** -2.0).round(4)
    (array([0.4053, 0.045 , 0.0162]), array([0.4053, 0.045 , 0.0162]))
    """
    K = np.asarray(kernel.gram(X), dtype=np.float64)
    n = len(K)
    values, vectors = np.linalg.eigh(K / n)
    largest = max(-values[0], values[-1])
    if values[0] < -1e-8 * largest:
        raise ValueError(
            "mercer_expansion needs a positive semi-definite kernel. The Gram matrix over n has an "
            f"eigenvalue of {values[0]:.3g}."
        )
    keep = np.flatnonzero(values > tol * largest)[::-1]
    if n_components is not None and not 1 <= n_components <= len(keep):
        raise ValueError(
            f"The 'n_components' parameter of mercer_expansion must be between 1 and {len(keep)}, "
            f"the rank of the Gram matrix. Got {n_components!r} instead."
        )
    keep = keep[:n_components]
    columns = vectors[:, keep] * np.sqrt(n)
    strongest = np.abs(columns).argmax(axis=0)
    columns = columns * np.sign(columns[strongest, np.arange(len(keep))])
    return MercerExpansion(kernel, X, values[keep], columns, float(np.trace(K)) / n)
