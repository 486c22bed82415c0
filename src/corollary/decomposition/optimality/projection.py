r"""Projections: what they keep of a mean and a covariance, and what they lose of a row.

For a direction u the numbers :math:`u^\top x_i` have mean :math:`u^\top\bar x` and variance
:math:`u^\top\Sigma u`. A subspace W with orthonormal basis P has the projector
:math:`P_W=PP^\top`, the nearest point of W to x, and what it loses is on average
:math:`\mathbb E\|x-P_Wx\|^2=\mathrm{tr}\,\Sigma-\mathrm{tr}(P_W\Sigma)` with the second moment
:math:`\Sigma=\mathbb E[xx^\top]`; about the mean it is the covariance that stands there.
"""

from typing import Any, NamedTuple

import numpy as np

from corollary.decomposition._linalg import symmetric


class ProjectionMoments(NamedTuple):
    """Mean and covariance of projected rows."""

    mean: Any
    covariance: Any


def projection_moments(directions: Any, mean: Any, covariance: Any) -> ProjectionMoments:
    r"""Return ``mean`` and ``covariance`` of :math:`u^\top x` from those of x.

    They are :math:`u^\top\bar x` and :math:`u^\top\Sigma u`, for one direction numbers.

    Parameters
    ----------
    directions : array-like of shape (n_features,) or (n_features, k)
        A direction u, or several as columns; they need not have length one.
    mean : array-like of shape (n_features,)
        Mean of the rows.
    covariance : array-like of shape (n_features, n_features)
        Their covariance, symmetric; the divisor, n or n - 1, is also that of the result.

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
    dimension can have is :func:`least_reconstruction_error`.

    Parameters
    ----------
    basis : array-like of shape (n_features, k)
        Linearly independent columns that span the subspace.
    second_moment : array-like of shape (n_features, n_features)
        :math:`\Sigma=\mathbb E[xx^\top]`; the covariance, if rows are centred before and the mean
        is added after the projection.

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
