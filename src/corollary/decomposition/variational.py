r"""Principal components as variational inference, and what the prior's variance decides.

The model is :math:`z\sim N(0,\beta I_k)`, :math:`x\mid z\sim N(Uz,I_d)` with orthonormal columns
:math:`U^\top U=I_k`, the variational law :math:`q_U(z\mid x)=N(U^\top x,I_k)`. Averaged over rows
with second moment :math:`\Sigma=\mathbb E[xx^\top]` the evidence lower bound is

.. math::

    L[U]=-\tfrac12\Big[\mathrm{tr}\,\Sigma-\big(1-\tfrac1\beta\big)\mathrm{tr}(UU^\top\Sigma)\Big]+C,
    \qquad C=-\tfrac k2-\tfrac d2\log 2\pi-\tfrac12\big(\tfrac k\beta-k+k\log\beta\big).

The factor of :math:`\mathrm{tr}(UU^\top\Sigma)` is positive for :math:`\beta>1`, where the leading
eigenspace is the maximiser, zero for :math:`\beta=1`, where all subspaces are equally good, and
negative for :math:`\beta<1`, where the *last* eigenspace is: a narrow prior pays for what it keeps.
"""

from typing import NamedTuple

import numpy as np

from corollary.core.estimator import ArrayLike, CountFromZero, Positive, checked
from corollary.decomposition._linalg import eigenpairs, orthonormal, second_moment, up_to


class PCABound(NamedTuple):
    """The evidence lower bound of a subspace and its parts, averaged over rows."""

    reconstruction: float
    divergence: float
    gap: float

    @property
    def bound(self) -> float:
        """The evidence lower bound."""
        return self.reconstruction - self.divergence

    @property
    def evidence(self) -> float:
        r"""The mean log-density of the rows under :math:`N(0,I+\beta UU^\top)`."""
        return self.bound + self.gap


@checked
def pca_bound(basis: ArrayLike, matrix: ArrayLike, *, beta: Positive) -> PCABound:
    r"""Return the evidence lower bound of a subspace, its parts, and its distance to the evidence.

    They are averages over rows: ``reconstruction``, the log-likelihood of a row given its code;
    ``divergence`` of the code's law from the prior, which ``bound`` takes off; and ``gap``, its
    divergence from the exact posterior, which ``evidence`` adds to the bound.

    The basis has orthonormal columns U, the matrix is the second moment of the rows (their
    covariance, if they were centred), and ``beta`` the variance of the prior. See :class:`PCA`.

    Notes
    -----
    The exact posterior is :math:`N(\rho\,U^\top x,\rho I)` with :math:`\rho=\beta/(1+\beta)`, so
    that the gap is half of :math:`k/\beta-k\log(1+1/\beta)` and
    :math:`\mathrm{tr}(UU^\top\Sigma)/(\beta(1+\beta))` together. It vanishes as the prior becomes
    flat.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.decomposition import pca_bound
    >>> parts = pca_bound([[1.0], [0.0]], np.diag([3.0, 1.0]), beta=2.0)
    >>> round(parts.bound, 4), round(parts.evidence, 4)
    (-3.6845, -3.3872)
    """
    S = second_moment("pca_bound", matrix)
    U = orthonormal("pca_bound", basis, len(S))
    d, k = U.shape
    total, kept = float(np.trace(S)), float(np.sum((U.T @ S) * U.T))
    reconstruction = -0.5 * (total - kept) - k / 2 - d / 2 * np.log(2 * np.pi)
    divergence = 0.5 * (k / beta + kept / beta - k + k * np.log(beta))
    gap = 0.5 * (k / beta - k * np.log1p(1 / beta) + kept / (beta * (1 + beta)))
    return PCABound(float(reconstruction), float(divergence), float(gap))


class BestSubspace(NamedTuple):
    """The subspace of largest evidence lower bound."""

    basis: np.ndarray
    which: str
    bound: float


@checked
def best_pca_subspace(
    matrix: ArrayLike, n_components: CountFromZero, *, beta: Positive
) -> BestSubspace:
    """Return the subspace that maximises the evidence lower bound, of ``n_components`` dimensions.

    The result has a ``basis`` of orthonormal columns, the ``bound`` there, and ``which`` it is: the
    "leading" eigenspace for `beta` above 1, which is principal component analysis; "any" subspace
    for 1, of which the leading one is returned; the "last" eigenspace below 1. See
    :func:`pca_bound`.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.decomposition import best_pca_subspace
    >>> [best_pca_subspace(np.diag([3.0, 1.0]), 1, beta=b).which for b in (2.0, 1.0, 0.5)]
    ['leading', 'any', 'last']
    """
    S = second_moment("best_pca_subspace", matrix)
    k = up_to("best_pca_subspace", n_components, len(S))
    rows = eigenpairs(S)[1]
    basis = (rows[:k] if beta >= 1 else rows[len(S) - k :]).T
    which = "leading" if beta > 1 else "any" if beta == 1 else "last"
    return BestSubspace(basis, which, pca_bound(basis, S, beta=beta).bound)
