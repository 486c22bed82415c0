r"""Subspaces: what projections keep of rows, what they lose, and why eigenvectors are best.

For a direction u the numbers :math:`u^\top x_i` have mean :math:`u^\top\bar x` and variance
:math:`u^\top\Sigma u`. A subspace W with orthonormal basis P has the projector
:math:`P_W=PP^\top`, the nearest point of W to x, and what it loses is on average
:math:`\mathbb E\|x-P_Wx\|^2=\mathrm{tr}\,\Sigma-\mathrm{tr}(P_W\Sigma)` with the second moment
:math:`\Sigma=\mathbb E[xx^\top]`; about the mean it is the covariance that stands there.

Among all subspaces of dimension k the one spanned by the k leading eigenvectors keeps the most,
:math:`\sum_{i\le k}\lambda_i`, and loses the least, the tail :math:`\sum_{i>k}\lambda_i`. The proof
is von Neumann's trace inequality :math:`\mathrm{tr}(AB)\le\sum_i\lambda_i(A)\lambda_i(B)` with a
projector for A.

References
----------
I. T. Jolliffe (2002). Principal Component Analysis, second edition. Springer.
J. von Neumann (1937). Some matrix-inequalities and metrization of matric-space.
C. M. Theobald (1975). An inequality for the trace of the product of two symmetric matrices.
"""

from typing import Any, NamedTuple

import numpy as np

from corollary.decomposition._linalg import eigenpairs, second_moment, symmetric, up_to


class ProjectionMoments(NamedTuple):
    """Mean and covariance of projected rows."""

    mean: Any
    covariance: Any


def projection_moments(directions: Any, mean: Any, covariance: Any) -> ProjectionMoments:
    r"""Return ``mean`` and ``covariance`` of :math:`u^\top x` from those of x.

    They are :math:`u^\top\bar x` and :math:`u^\top\Sigma u`, numbers for one direction u and arrays
    for several, given as columns; directions need not have length one. The divisor of the
    covariance, n or n - 1, is also that of the result. See :func:`reconstruction_error`.

    Examples
    --------
    >>> from corollary.decomposition import projection_moments
    >>> projection_moments([3.0, 4.0], [1.0, 1.0], [[1.0, 0.0], [0.0, 2.0]])
    ProjectionMoments(mean=7.0, covariance=41.0)
    """
    S = symmetric("projection_moments", covariance)
    u, m = np.asarray(directions, dtype=np.float64), np.asarray(mean, dtype=np.float64)
    if m.shape != S.shape[:1] or u.ndim not in (1, 2) or u.shape[:1] != m.shape:
        raise ValueError(
            "projection_moments needs directions, a mean and a covariance of equally many "
            f"features. Got shapes {u.shape}, {m.shape} and {S.shape}."
        )
    projected, spread = u.T @ m, u.T @ S @ u
    if u.ndim == 1:
        return ProjectionMoments(float(projected), float(spread))
    return ProjectionMoments(projected, spread)


def orthogonal_projector(basis: Any) -> np.ndarray:
    r"""Return the matrix that takes a row to the nearest point of a subspace.

    That is the matrix P with :math:`P^2=P=P^\top` and Pv = v for v in the subspace. The columns of
    the basis are linearly independent, but need not be orthonormal. See
    :func:`reconstruction_error`.

    Examples
    --------
    >>> from corollary.decomposition import orthogonal_projector
    >>> orthogonal_projector([[1.0], [1.0]])
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """
    B = np.asarray(basis, dtype=np.float64)
    if B.ndim != 2 or not B.size or not np.isfinite(B).all():
        raise ValueError(
            "orthogonal_projector needs a matrix of finite numbers with a column for each "
            f"direction. Got shape {B.shape}."
        )
    rank = int(np.linalg.matrix_rank(B))
    if rank < B.shape[1]:
        raise ValueError(
            f"orthogonal_projector needs linearly independent columns. Got {B.shape[1]} columns of "
            f"rank {rank}; drop those that others determine."
        )
    Q = np.linalg.qr(B)[0]
    return Q @ Q.T


def reconstruction_error(basis: Any, second_moment: Any) -> float:
    r"""Return the expected squared distance between a row and its projection on a subspace.

    It is :math:`\mathrm{tr}\,\Sigma-\mathrm{tr}(P_W\Sigma)`; the smallest that a subspace of this
    dimension can have is :func:`least_reconstruction_error`. Linearly independent columns of the
    basis span the subspace. Where rows are centred before and the mean is added after the
    projection, the covariance takes the place of the second moment. See :func:`leading_eigenspace`.

    Examples
    --------
    >>> from corollary.decomposition import reconstruction_error
    >>> reconstruction_error([[1.0], [0.0]], [[3.0, 1.0], [1.0, 2.0]])
    2.0
    """
    S, P = symmetric("reconstruction_error", second_moment), orthogonal_projector(basis)
    if len(P) != len(S):
        raise ValueError(
            f"reconstruction_error needs a basis with {len(S)} rows, one for each feature. "
            f"Got {len(P)}."
        )
    return float(np.trace(S) - np.sum(P * S))


class Eigenspace(NamedTuple):
    """The span of leading eigenvectors."""

    values: np.ndarray
    basis: np.ndarray
    unique: bool


def leading_eigenspace(matrix: Any, n_components: int) -> Eigenspace:
    """Return the subspace that loses least of rows with a given second moment.

    The result has ``values``, the k leading eigenvalues in descending order, ``basis`` with
    eigenvectors as columns, each with a positive entry of largest absolute value, and ``unique``:
    whether no other subspace is as good, since the next eigenvalue is smaller by more than 1e-12 of
    the largest.

    Parameters
    ----------
    matrix : array-like of shape (n_features, n_features)
        Second moment or covariance, symmetric positive semi-definite.
    n_components : int
        Dimension k of the subspace.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.decomposition import leading_eigenspace
    >>> space = leading_eigenspace([[2.0, 1.0], [1.0, 2.0]], 1)
    >>> space.values.round(6), space.basis.ravel().round(6)
    (array([3.]), array([0.707107, 0.707107]))
    """
    S = second_moment("leading_eigenspace", matrix)
    k = up_to("leading_eigenspace", n_components, len(S))
    values, vectors = eigenpairs(S)
    unique = k in (0, len(S)) or values[k - 1] - values[k] > 1e-12 * values[0]
    return Eigenspace(values[:k], vectors[:k].T, bool(unique))


def least_reconstruction_error(matrix: Any, n_components: int) -> float:
    r"""Return the least expected squared distance between rows and a subspace.

    It is the tail :math:`\sum_{i>k}\lambda_i`, which the leading eigenspace attains;
    :func:`reconstruction_error` is that of any subspace. See :func:`leading_eigenspace`.

    Examples
    --------
    >>> from corollary.decomposition import least_reconstruction_error
    >>> least_reconstruction_error([[3.0, 0.0], [0.0, 2.0]], 1)
    2.0
    """
    S = second_moment("least_reconstruction_error", matrix)
    k = up_to("least_reconstruction_error", n_components, len(S))
    return float(np.linalg.eigvalsh(S)[: len(S) - k].clip(min=0.0).sum())


class TraceInequality(NamedTuple):
    """Both sides of von Neumann's trace inequality."""

    trace: float
    bound: float


def trace_inequality(A: Any, B: Any) -> TraceInequality:
    r"""Return both sides of von Neumann's inequality, a ``trace`` and its ``bound``.

    :math:`\mathrm{tr}(AB)` and :math:`\sum_i\lambda_i(A)\lambda_i(B)` are equal when both symmetric
    matrices have the same eigenvectors in the same order. With the projector on a subspace of
    dimension k for A the bound is the sum of the k largest eigenvalues of B: no subspace keeps more
    than the leading one. See :func:`leading_eigenspace`.

    Examples
    --------
    >>> from corollary.decomposition import trace_inequality
    >>> trace_inequality([[2.0, 0.0], [0.0, 1.0]], [[3.0, 0.0], [0.0, 5.0]])
    TraceInequality(trace=11.0, bound=13.0)
    """
    A, B = symmetric("trace_inequality", A), symmetric("trace_inequality", B)
    if A.shape != B.shape:
        raise ValueError(
            f"trace_inequality needs two matrices of one size. Got shapes {A.shape} and {B.shape}."
        )
    bound = np.linalg.eigvalsh(A) @ np.linalg.eigvalsh(B)
    return TraceInequality(float(np.sum(A * B)), float(bound))
