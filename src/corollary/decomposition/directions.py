r"""One principal direction after the other: power iteration and deflation.

Multiplying a vector by the covariance again and again turns it towards the leading eigenvector, at
the rate :math:`(\lambda_2/\lambda_1)^t`. Taking that direction out of the rows,
:math:`x\mapsto x-(u^\top x)u`, turns the covariance into :math:`(I-uu^\top)\Sigma(I-uu^\top)`,
whose leading eigenvector is the second one, and so on.
"""

import warnings
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from corollary.core.estimator import ArrayLike, Count, CountFromZero, Positive, RandomSeed, checked
from corollary.decomposition._linalg import second_moment, up_to, with_signs


class PowerIteration(NamedTuple):
    """The leading eigenvector with its eigenvalue, the residual and the number of products."""

    value: float
    vector: np.ndarray
    residual: float
    n_iter: int


class Deflation(NamedTuple):
    """Principal directions, one after the other."""

    values: np.ndarray
    vectors: np.ndarray
    n_iter: np.ndarray


@checked
def power_iteration(
    matrix: ArrayLike,
    *,
    tol: Positive = 1e-9,
    max_iter: Count = 10_000,
    random_state: RandomSeed = 0,
) -> PowerIteration:
    r"""Find the leading eigenvector by repeated multiplication.

    The result has as ``vector`` a direction u of length one with a positive entry of largest
    absolute value, its ``value`` :math:`\lambda=u^\top\Sigma u`, the ``residual``
    :math:`\|\Sigma u-\lambda u\|`, at most which an eigenvalue is away from the value, and
    ``n_iter``, the number of products.

    The iteration ends when the residual is at most the share ``tol`` of the eigenvalue. A
    ConvergenceWarning tells that ``max_iter`` products were not enough, as happens when two
    eigenvalues nearly agree. The ``random_state`` determines the first vector. See
    :func:`leading_eigenspace` for the matrix.

    Examples
    --------
    >>> from corollary.decomposition import power_iteration
    >>> result = power_iteration([[2.0, 1.0], [1.0, 2.0]])
    >>> round(result.value, 6), result.vector.round(6)
    (3.0, array([0.707107, 0.707107]))
    """
    S = second_moment("power_iteration", matrix)
    start = check_random_state(random_state).standard_normal(len(S))
    return _power_iteration(S, start, tol, max_iter)


def _power_iteration(S: np.ndarray, u: np.ndarray, tol: float, max_iter: int) -> PowerIteration:
    """Multiply until the residual is small; a vector that is mapped to zero is an eigenvector."""
    u, n_iter, residual = u / np.linalg.norm(u), 0, np.inf
    while n_iter < max_iter:
        n_iter += 1
        image = S @ u
        value = float(u @ image)
        residual = float(np.linalg.norm(image - value * u))
        if residual <= tol * value:
            break
        u = image / np.linalg.norm(image)
    else:
        warnings.warn(
            f"power_iteration reached max_iter={max_iter} with a residual of {residual:.2g}; the "
            "two largest eigenvalues nearly agree. Raise max_iter or tol.",
            ConvergenceWarning,
            stacklevel=3,
        )
    return PowerIteration(value, with_signs(u[None])[0], residual, n_iter)


def deflate(matrix: Any, direction: Any) -> np.ndarray:
    r"""Take a direction of any length but zero out of a covariance or second moment.

    What is left, :math:`(I-uu^\top)\Sigma(I-uu^\top)` for u of length one, is the covariance of
    :math:`x-(u^\top x)u`. See :func:`deflation`.

    Examples
    --------
    >>> from corollary.decomposition import deflate
    >>> deflate([[3.0, 1.0], [1.0, 2.0]], [1.0, 0.0])
    array([[0., 0.],
           [0., 2.]])
    """
    S, u = second_moment("deflate", matrix), np.asarray(direction, dtype=np.float64)
    if u.shape != S.shape[:1] or not np.linalg.norm(u) > 0:
        raise ValueError(
            f"deflate needs a direction of {len(S)} numbers that are not all zero. "
            f"Got {direction!r}."
        )
    return _deflated(S, u / np.linalg.norm(u))


def _deflated(S: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Take a direction of length one out."""
    keep = np.eye(len(S)) - np.outer(u, u)
    return keep @ S @ keep


@checked
def deflation(
    matrix: ArrayLike,
    n_components: CountFromZero,
    *,
    tol: Positive = 1e-9,
    max_iter: Count = 10_000,
    random_state: RandomSeed = 0,
) -> Deflation:
    """Find ``n_components`` principal directions one after the other, by power iteration.

    The result has the ``values``, variances along orthonormal directions, these as rows of
    ``vectors``, and ``n_iter``, the products of each power iteration. Where no variance is left,
    directions are any that are orthogonal to the earlier ones. :func:`leading_eigenspace` has all
    at once. See :func:`power_iteration` for the other parameters.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.decomposition import deflation
    >>> deflation(np.diag([5.0, 3.0, 1.0]), 2).values.round(6)
    array([5., 3.])
    """
    S = second_moment("deflation", matrix)
    k, random = up_to("deflation", n_components, len(S)), check_random_state(random_state)
    vectors, values, counts = np.zeros((k, len(S))), np.zeros(k), np.zeros(k, dtype=np.int64)
    nothing = len(S) * np.finfo(float).eps * np.trace(S)
    for place in range(k):
        earlier = vectors[:place]
        start = random.standard_normal(len(S))
        start -= earlier.T @ (earlier @ start)
        if np.trace(S) <= nothing:
            vectors[place] = with_signs(start[None] / np.linalg.norm(start))[0]
            continue
        result = _power_iteration(S, start, tol, max_iter)
        vectors[place], values[place], counts[place] = result.vector, result.value, result.n_iter
        S = _deflated(S, result.vector)
    return Deflation(values, vectors, counts)
