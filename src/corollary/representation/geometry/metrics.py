"""Checkers for distances and scalar products on finitely many points.

A metric d is non-negative, zero exactly on equal points, symmetric and satisfies the triangle
inequality; an ultrametric satisfies the stronger ``d(x, z) <= max(d(x, y), d(y, z))``. A distance
matrix D belongs to points of a Euclidean space if and only if ``-J D^2 J / 2`` is positive
semi-definite, with entrywise square and centring matrix ``J = I - 11'/n``.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from corollary.representation.geometry.axioms import SATISFIED, AxiomCheck


@dataclass(frozen=True, eq=False)
class EuclideanCheck:
    """Whether a distance matrix is Euclidean, and the points if it is.

    It counts as true exactly if the matrix is Euclidean.

    Parameters
    ----------
    holds : bool
        Whether points with these distances exist in a Euclidean space.
    eigenvalues : ndarray of shape (n_points,)
        Eigenvalues of ``-J D^2 J / 2``, descending; a clearly negative one is the witness.
    dimension : int
        Smallest dimension of such a space; -1 if there is none.
    points : ndarray of shape (n_points, dimension) or None
        Centred points with these distances; None if there are none.

    Examples
    --------
    >>> from corollary.representation import check_euclidean
    >>> check = check_euclidean([[0, 3, 4], [3, 0, 5], [4, 5, 0]])
    >>> check.holds, check.dimension
    (True, 2)
    """

    holds: bool
    eigenvalues: np.ndarray
    dimension: int
    points: np.ndarray | None

    def __bool__(self) -> bool:
        return self.holds


def check_metric(distances: Any, *, tol: float = 1e-9) -> AxiomCheck:
    """Check the axioms of a metric on a distance matrix.

    Parameters
    ----------
    distances : array-like of shape (n_points, n_points)
        ``distances[i, j]`` is the distance from point i to point j; points are distinct.
    tol : float, default=1e-9
        Violations up to this share of the largest distance count as rounding.

    Returns
    -------
    check : AxiomCheck
        The first failing axiom among non-negativity, identity, symmetry and triangle, with the
        indices of the points.

    Examples
    --------
    >>> from corollary.representation import check_metric
    >>> check_metric([[0, 1, 4], [1, 0, 1], [4, 1, 0]]).message
    'd(0, 2) = 4 exceeds d(0, 1) + d(1, 2) = 2.'
    """
    D, slack = _check_square("check_metric", distances, tol)
    found = _basic_axioms(D, slack)
    if found is not None:
        return found
    for middle in range(len(D)):
        excess = D - (D[:, [middle]] + D[[middle], :])
        if excess.max() > slack:
            i, k = _position(excess.argmax(), len(D))
            detour = D[i, middle] + D[middle, k]
            return AxiomCheck(
                False,
                "triangle",
                (i, middle, k),
                f"d({i}, {k}) = {D[i, k]:.6g} exceeds d({i}, {middle}) + d({middle}, {k}) = "
                f"{detour:.6g}.",
            )
    return SATISFIED


def check_ultrametric(distances: Any, *, tol: float = 1e-9) -> AxiomCheck:
    """Check the axioms of an ultrametric on a distance matrix.

    Parameters
    ----------
    distances : array-like of shape (n_points, n_points)
        ``distances[i, j]`` is the distance from point i to point j; points are distinct.
    tol : float, default=1e-9
        Violations up to this share of the largest distance count as rounding.

    Returns
    -------
    check : AxiomCheck
        The first failing axiom among non-negativity, identity, symmetry and ultrametric.

    Examples
    --------
    >>> from corollary.representation import check_ultrametric
    >>> bool(check_ultrametric([[0, 1, 3], [1, 0, 3], [3, 3, 0]]))
    True
    >>> check_ultrametric([[0, 1, 2], [1, 0, 1], [2, 1, 0]]).witness
    (0, 1, 2)
    """
    D, slack = _check_square("check_ultrametric", distances, tol)
    found = _basic_axioms(D, slack)
    if found is not None:
        return found
    for middle in range(len(D)):
        excess = D - np.maximum(D[:, [middle]], D[[middle], :])
        if excess.max() > slack:
            i, k = _position(excess.argmax(), len(D))
            return AxiomCheck(
                False,
                "ultrametric",
                (i, middle, k),
                f"d({i}, {k}) = {D[i, k]:.6g} exceeds max(d({i}, {middle}), d({middle}, {k})) = "
                f"{max(D[i, middle], D[middle, k]):.6g}.",
            )
    return SATISFIED


def check_euclidean(distances: Any, *, tol: float = 1e-9) -> EuclideanCheck:
    """Tell whether a distance matrix belongs to points of a Euclidean space.

    Parameters
    ----------
    distances : array-like of shape (n_points, n_points)
        Symmetric, non-negative, with zero diagonal.
    tol : float, default=1e-9
        Eigenvalues above minus this share of the largest one count as zero.

    Returns
    -------
    check : EuclideanCheck
        The answer, the eigenvalues, and the points if they exist.

    Raises
    ------
    ValueError
        If the matrix is not even symmetric and non-negative with zero diagonal.

    Examples
    --------
    >>> from corollary.representation import check_euclidean
    >>> check_euclidean([[0, 1, 1, 1], [1, 0, 2, 2], [1, 2, 0, 2], [1, 2, 2, 0]]).holds
    False
    """
    D, slack = _check_square("check_euclidean", distances, tol)
    if np.any(-slack > D) or np.abs(D - D.T).max() > slack or np.abs(np.diag(D)).max() > slack:
        raise ValueError(
            "check_euclidean needs a symmetric, non-negative matrix with zero diagonal. "
            "check_metric says which of these fails."
        )
    squared = D**2
    # Centring rows and columns is multiplication by J on both sides, without forming J.
    centred = squared - squared.mean(axis=0) - squared.mean(axis=1)[:, None] + squared.mean()
    values, vectors = np.linalg.eigh(-(centred + centred.T) / 4)
    values, vectors = values[::-1], vectors[:, ::-1]
    limit = tol * len(D) * max(np.abs(values).max(), np.finfo(float).tiny)
    if values[-1] < -limit:
        return EuclideanCheck(False, values, -1, None)
    dimension = int((values > limit).sum())
    points = vectors[:, :dimension] * np.sqrt(values[:dimension])
    return EuclideanCheck(True, values, dimension, points)


def check_scalar_product(
    form: Any,
    *,
    dimension: int | None = None,
    n_trials: int = 20,
    tol: float = 1e-9,
    random_state: Any = None,
) -> AxiomCheck:
    """Check that a form on vectors is bilinear, symmetric and positive definite.

    Parameters
    ----------
    form : array-like of shape (n, n) or callable
        The matrix A of ``(x, y) -> x' A y``, or a function of two vectors.
    dimension : int or None, default=None
        Length of the vectors a function takes; needed for functions only.
    n_trials : int, default=20
        Random pairs of vectors on which the bilinearity of a function is tried.
    tol : float, default=1e-9
        Violations up to this share of the largest entry count as rounding.
    random_state : int, RandomState instance or None, default=None
        Seed or generator of those vectors.

    Returns
    -------
    check : AxiomCheck
        The first failing axiom among bilinearity, symmetry and positive definiteness, with
        vectors as witnesses.

    Examples
    --------
    >>> from corollary.representation import check_scalar_product
    >>> bool(check_scalar_product([[2, 1], [1, 2]]))
    True
    >>> check = check_scalar_product(lambda x, y: max(x * y), dimension=2, random_state=0)
    >>> check.axiom
    'bilinearity'
    """
    if not callable(form):
        A, slack = _check_square("check_scalar_product", form, tol)
        return _matrix_axioms(A, slack)
    if dimension is None or dimension < 1:
        raise ValueError(
            "check_scalar_product needs the dimension of the vectors that a function takes. "
            f"Got dimension={dimension!r}."
        )
    basis = np.eye(dimension)
    A = np.array([[float(form(e, f)) for f in basis] for e in basis])
    slack = tol * max(float(np.abs(A).max()), np.finfo(float).tiny)
    rng = check_random_state(random_state)
    # A bilinear form is determined by its values on a basis.
    for _ in range(n_trials):
        x, y = rng.normal(size=(2, dimension))
        found, expected = float(form(x, y)), float(x @ A @ y)
        size = 1 + np.linalg.norm(x) * np.linalg.norm(y)
        if not abs(found - expected) <= slack * dimension * size:
            return AxiomCheck(
                False,
                "bilinearity",
                (x, y),
                f"The form is {found:.6g} where bilinearity makes it {expected:.6g}.",
            )
    return _matrix_axioms(A, slack)


def induced_norm(x: Any, form: Any = None) -> np.ndarray:
    """Return the norm ``sqrt(x' A x)`` that a scalar product induces.

    Parameters
    ----------
    x : array-like of shape (n_features,) or (n_samples, n_features)
        A vector, or rows of vectors.
    form : array-like of shape (n_features, n_features), callable or None, default=None
        The scalar product: a positive definite matrix A, a function of two vectors, or None for
        the standard one.

    Returns
    -------
    norm : float or ndarray of shape (n_samples,)
        The norms.

    Raises
    ------
    ValueError
        If the form is not a scalar product on these vectors.

    Examples
    --------
    >>> from corollary.representation import induced_norm
    >>> float(induced_norm([3.0, 4.0]))
    5.0
    >>> float(induced_norm([1.0, 1.0], [[2.0, 1.0], [1.0, 5.0]]))
    3.0
    """
    x = np.asarray(x, dtype=float)
    if form is None:
        squares = (x**2).sum(axis=-1)
    elif callable(form):
        squares = np.apply_along_axis(lambda v: float(form(v, v)), -1, x)
    else:
        A, slack = _check_square("induced_norm", form, 1e-9)
        check = _matrix_axioms(A, slack)
        if not check:
            raise ValueError(f"induced_norm needs a scalar product. {check.message}")
        squares = np.einsum("...i,ij,...j->...", x, A, x)
    if np.any(squares < 0):
        raise ValueError(
            "induced_norm needs a scalar product. The form of a vector with itself is negative: "
            f"{np.min(squares):.6g}."
        )
    return np.sqrt(squares)


def discrete_metric(n_points: int) -> np.ndarray:
    """Return the distances of the discrete metric: 1 between any two points.

    Parameters
    ----------
    n_points : int
        How many points.

    Returns
    -------
    distances : ndarray of shape (n_points, n_points)
        Ones off the diagonal.

    Examples
    --------
    >>> from corollary.representation import discrete_metric
    >>> discrete_metric(2)
    array([[0., 1.],
           [1., 0.]])
    """
    return 1 - np.eye(n_points)


def _basic_axioms(D: np.ndarray, slack: float) -> AxiomCheck | None:
    n = len(D)
    if D.min() < -slack:
        i, j = _position(D.argmin(), n)
        text = f"d({i}, {j}) = {D[i, j]:.6g} is negative."
        return AxiomCheck(False, "non-negativity", (i, j), text)
    diagonal = np.abs(np.diag(D))
    if diagonal.max() > slack:
        i = int(diagonal.argmax())
        text = f"d({i}, {i}) = {D[i, i]:.6g} is not zero."
        return AxiomCheck(False, "identity", (i, i), text)
    gap = np.abs(D - D.T)
    if gap.max() > slack:
        i, j = _position(gap.argmax(), n)
        text = f"d({i}, {j}) = {D[i, j]:.6g} differs from d({j}, {i}) = {D[j, i]:.6g}."
        return AxiomCheck(False, "symmetry", (i, j), text)
    off = D + np.diag(np.full(n, np.inf))
    if n > 1 and off.min() <= slack:
        i, j = _position(off.argmin(), n)
        text = f"d({i}, {j}) is zero for two different points."
        return AxiomCheck(False, "identity", (i, j), text)
    return None


def _matrix_axioms(A: np.ndarray, slack: float) -> AxiomCheck:
    basis = np.eye(len(A))
    gap = np.abs(A - A.T)
    if gap.max() > slack:
        i, j = _position(gap.argmax(), len(A))
        text = f"The form of basis vectors {i} and {j} is {A[i, j]:.6g}, turned {A[j, i]:.6g}."
        return AxiomCheck(False, "symmetry", (basis[i], basis[j]), text)
    values, vectors = np.linalg.eigh((A + A.T) / 2)
    if values[0] <= slack:
        text = f"A unit vector has the form {values[0]:.6g} with itself, which is not positive."
        return AxiomCheck(False, "positive definiteness", (vectors[:, 0],), text)
    return SATISFIED


def _position(flat: Any, n: int) -> tuple[int, int]:
    return int(flat) // n, int(flat) % n


def _check_square(name: str, matrix: Any, tol: float) -> tuple[np.ndarray, float]:
    matrix = np.asarray(matrix, dtype=float)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.size == 0:
        raise ValueError(f"{name} needs a square matrix. Got shape {matrix.shape}.")
    if not np.isfinite(matrix).all():
        raise ValueError(f"{name} needs a matrix without NaN and infinity.")
    return matrix, tol * max(float(np.abs(matrix).max()), np.finfo(float).tiny)
