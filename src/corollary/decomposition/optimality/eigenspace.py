r"""The eigenvectors of the largest eigenvalues span the best subspace.

Among all subspaces of dimension k the one spanned by the k leading eigenvectors of
:math:`\Sigma=\mathbb E[xx^\top]` keeps the most, :math:`\sum_{i\le k}\lambda_i`, and loses the
least, the tail :math:`\sum_{i>k}\lambda_i`. The proof is von Neumann's trace inequality
:math:`\mathrm{tr}(AB)\le\sum_i\lambda_i(A)\lambda_i(B)` with a projector for A.

References
----------
I. T. Jolliffe (2002). Principal Component Analysis, second edition. Springer.
J. von Neumann (1937). Some matrix-inequalities and metrization of matric-space.
C. M. Theobald (1975). An inequality for the trace of the product of two symmetric matrices.
"""

from typing import Any, NamedTuple

import numpy as np

from corollary.decomposition._linalg import eigenpairs, second_moment, symmetric, up_to


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
