"""Conditioning of Gaussian vectors, and the Schur complement it rests on."""

from typing import Any, NamedTuple

import numpy as np
import scipy.linalg


class GaussianLaw(NamedTuple):
    """A Gaussian vector.

    Parameters
    ----------
    mean : ndarray of shape (n,)
        Mean.
    covariance : ndarray of shape (n, n)
        Covariance, positive semi-definite.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.gp import GaussianLaw
    >>> GaussianLaw(np.zeros(1), np.eye(1)).covariance
    array([[1.]])
    """

    mean: np.ndarray
    covariance: np.ndarray


class SchurBlocks(NamedTuple):
    """The four blocks of the inverse of a matrix.

    Parameters
    ----------
    aa : ndarray of shape (p, p)
        Upper left block, the inverse of the Schur complement.
    ab : ndarray of shape (p, q)
        Upper right block.
    ba : ndarray of shape (q, p)
        Lower left block.
    bb : ndarray of shape (q, q)
        Lower right block.
    """

    aa: np.ndarray
    ab: np.ndarray
    ba: np.ndarray
    bb: np.ndarray


def condition_gaussian(mean: Any, covariance: Any, observed: Any, values: Any) -> GaussianLaw:
    r"""Condition a Gaussian vector on some of its coordinates.

    With a the coordinates that are not observed and b those that are, the law of a given b is
    normal with mean :math:`\mu_a+\Sigma_{ab}\Sigma_{bb}^{-1}(b-\mu_b)` and covariance
    :math:`\Sigma_{aa}-\Sigma_{ab}\Sigma_{bb}^{-1}\Sigma_{ba}`, which does not depend on the values.

    Parameters
    ----------
    mean : array-like of shape (n,)
        Mean of the whole vector.
    covariance : array-like of shape (n, n)
        Its covariance, symmetric and positive semi-definite.
    observed : array-like of int
        Indices of the observed coordinates, all different.
    values : array-like of float
        What was observed, in the order of ``observed``.

    Returns
    -------
    law : GaussianLaw
        Law of the other coordinates, in increasing order of their index.

    Notes
    -----
    Observed coordinates whose covariance is singular are conditioned by the pseudo-inverse, which
    is right as long as the values are possible ones.

    Examples
    --------
    >>> from corollary.gp import condition_gaussian
    >>> law = condition_gaussian([0.0, 0.0], [[1.0, 0.5], [0.5, 1.0]], [1], [2.0])
    >>> law.mean, law.covariance
    (array([1.]), array([[0.75]]))
    """
    mean, covariance = np.asarray(mean, dtype=float), np.asarray(covariance, dtype=float)
    n = _square("condition_gaussian", covariance)
    observed = np.atleast_1d(np.asarray(observed, dtype=np.intp))
    values = np.atleast_1d(np.asarray(values, dtype=float))
    if mean.shape != (n,) or observed.ndim != 1 or values.shape != observed.shape:
        raise ValueError(
            "condition_gaussian needs a mean of length n, a covariance of shape (n, n) and one "
            f"value for each observed index. Got shapes {mean.shape}, {covariance.shape}, "
            f"{observed.shape} and {values.shape}."
        )
    if len(set(observed.tolist())) < len(observed) or not np.isin(observed, np.arange(n)).all():
        raise ValueError(
            f"The 'observed' parameter of condition_gaussian must hold different indices from 0 "
            f"to {n - 1}. Got {observed.tolist()} instead."
        )
    if not np.allclose(covariance, covariance.T, rtol=1e-8, atol=1e-12):
        raise ValueError("condition_gaussian needs a symmetric covariance. Got one that is not.")
    rest = np.setdiff1d(np.arange(n), observed)
    cross = covariance[np.ix_(rest, observed)]
    weights = _solve_symmetric(covariance[np.ix_(observed, observed)], cross.T).T
    law = covariance[np.ix_(rest, rest)] - weights @ cross.T
    return GaussianLaw(mean[rest] + weights @ (values - mean[observed]), (law + law.T) / 2)


def schur_complement(M: Any, size: int) -> np.ndarray:
    r"""Return the Schur complement of the lower right block.

    For :math:`M=\begin{pmatrix}A&B\\C&D\end{pmatrix}` it is :math:`S=A-BD^{-1}C`;
    :math:`\det M=\det D\det S`, and S inherits positive (semi-)definiteness from a symmetric M.

    Parameters
    ----------
    M : array-like of shape (n, n)
        A matrix whose lower right block D is invertible.
    size : int
        Number of rows of the upper left block A.

    Returns
    -------
    S : ndarray of shape (size, size)
        The complement.

    Examples
    --------
    >>> from corollary.gp import schur_complement
    >>> schur_complement([[1.0, 0.5], [0.5, 1.0]], 1)
    array([[0.75]])
    """
    A, B, C, D = _blocks("schur_complement", M, size)
    return A - B @ np.linalg.solve(D, C)


def block_inverse(M: Any, size: int) -> SchurBlocks:
    """Invert a matrix by blocks, through the Schur complement of its lower right block.

    Parameters
    ----------
    M : array-like of shape (n, n)
        An invertible matrix whose lower right block D is invertible.
    size : int
        Number of rows of the upper left block A.

    Returns
    -------
    inverse : SchurBlocks
        The blocks of the inverse.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.gp import block_inverse
    >>> blocks = block_inverse([[2.0, 1.0], [1.0, 1.0]], 1)
    >>> np.block([[blocks.aa, blocks.ab], [blocks.ba, blocks.bb]])
    array([[ 1., -1.],
           [-1.,  2.]])
    """
    _, B, C, D = _blocks("block_inverse", M, size)
    inverse = np.linalg.inv(schur_complement(M, size))
    left, right = np.linalg.solve(D, C), np.linalg.solve(D.T, B.T).T
    return SchurBlocks(
        inverse,
        -inverse @ right,
        -left @ inverse,
        np.linalg.inv(D) + left @ inverse @ right,
    )


def _square(who: str, M: np.ndarray) -> int:
    if M.ndim != 2 or M.shape[0] != M.shape[1]:
        raise ValueError(f"{who} needs a square matrix. Got an array of shape {M.shape}.")
    return M.shape[0]


def _blocks(who: str, M: Any, size: int) -> tuple[np.ndarray, ...]:
    M = np.asarray(M, dtype=float)
    n = _square(who, M)
    if not 0 < size < n:
        raise ValueError(
            f"The 'size' parameter of {who} must be an int in the range [1, {n}). "
            f"Got {size!r} instead."
        )
    return M[:size, :size], M[:size, size:], M[size:, :size], M[size:, size:]


def _solve_symmetric(S: np.ndarray, B: np.ndarray) -> np.ndarray:
    try:
        factor = scipy.linalg.cho_factor(S, lower=True)
        pivots = np.diag(factor[0])
        # A pivot that is rounding would blow the answer up instead of failing.
        if pivots.size == 0 or pivots.min() > 1e-7 * pivots.max():
            return scipy.linalg.cho_solve(factor, B)
    except np.linalg.LinAlgError:
        pass
    return np.linalg.pinv(S, hermitian=True) @ B
