"""Is it a kernel, and of which kind? Numerical tests that give a witness when the answer is no.

A function is a kernel when every Gram matrix is symmetric and positive semi-definite. No finite
number of points proves that, but a few can refute it. The same holds for invariances.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from corollary.kernels._arrays import generator
from corollary.kernels.base import Kernel


class PSDTest(NamedTuple):
    """Outcome of :func:`psd_test`.

    Parameters
    ----------
    passed : bool
        Whether no Gram matrix had an eigenvalue below the tolerance, nor was asymmetric.
    smallest_eigenvalue : float
        The smallest eigenvalue met, relative to the largest in absolute value of its matrix.
    witness : ndarray of shape (n, d) or None
        Points whose Gram matrix refutes the kernel.
    weights : ndarray of shape (n,) or None
        Weights c with ``c' K c < 0`` on the witness; None if it is refuted by asymmetry.
    """

    passed: bool
    smallest_eigenvalue: float
    witness: np.ndarray | None
    weights: np.ndarray | None


class GramFeatures(NamedTuple):
    """Explicit features of a Gram matrix.

    Parameters
    ----------
    features : ndarray of shape (n, r)
        Rows whose inner products are the Gram matrix.
    rank : int
        The number r of features.
    smallest_eigenvalue : float
        Smallest eigenvalue of the Gram matrix ("eigen"), or the part of its trace that was not
        factored ("cholesky").
    """

    features: np.ndarray
    rank: int
    smallest_eigenvalue: float


class InvarianceTest(NamedTuple):
    """Outcome of :func:`invariance_test`.

    Parameters
    ----------
    stationary : bool
        Whether shifting both inputs changed nothing.
    rotation_invariant : bool
        Whether rotating (or reflecting) both inputs changed nothing.
    isotropic : bool
        Whether both hold: the kernel depends on the distance only.
    largest_change : dict of str to float
        Largest relative change under shifts and under rotations.
    """

    stationary: bool
    rotation_invariant: bool
    isotropic: bool
    largest_change: dict[str, float]


def _gram(kernel: Any, X: Any, Y: Any = None) -> np.ndarray:
    """Return the Gram matrix of a kernel, or of a function of two single inputs."""
    if isinstance(kernel, Kernel) or hasattr(kernel, "gram"):
        return np.asarray(kernel.gram(X, Y), dtype=float)
    Y = X if Y is None else Y
    return np.array([[kernel(x, y) for y in Y] for x in X], dtype=float)


def psd_test(
    kernel: Kernel | Callable[[Any, Any], float],
    X: Any = None,
    *,
    n_features: int = 2,
    n_points: int = 20,
    n_trials: int = 30,
    tol: float = 1e-8,
    random_state: Any = None,
) -> PSDTest:
    """Test whether a function is symmetric and positive semi-definite, and give a witness if not.

    Parameters
    ----------
    kernel : Kernel or callable
        A kernel, or any function ``k(x, y)`` of two single inputs.
    X : sequence of inputs or None, default=None
        Points to test on; None to draw sets of points from normal laws of several widths.
    n_features : int, default=2
        Length of drawn points.
    n_points : int, default=20
        Points in a drawn set.
    n_trials : int, default=30
        Sets drawn.
    tol : float, default=1e-8
        Eigenvalues above minus this share of the largest one count as zero.
    random_state : int, Generator, RandomState or None, default=None
        Seed or generator.

    Returns
    -------
    result : PSDTest
        Whether it passed and, if not, points and weights that refute it.

    Notes
    -----
    Passing is no proof. ``c' K c < 0`` for the returned weights is: features phi with
    ``k(x, y) = <phi(x), phi(y)>`` would make it the square of a norm.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.kernels import psd_test, RBF
    >>> psd_test(RBF(), random_state=0).passed
    True
    >>> psd_test(lambda x, y: -np.linalg.norm(x - y), random_state=0).passed
    False
    """
    rng = generator(random_state)
    smallest = np.inf
    widths = (0.1, 1.0, 3.0)
    trials = 1 if X is not None else n_trials
    for trial in range(trials):
        points = X
        if points is None:
            # Small sets too: few points are the easier witness to look at.
            size = max(2, n_points if trial % 2 else n_points // 4)
            points = widths[trial % 3] * rng.standard_normal((size, n_features))
        K = _gram(kernel, points)
        if not np.isfinite(K).all():
            raise ValueError("psd_test met a Gram matrix with NaN or infinity.")
        size = np.abs(K).max(initial=0.0)
        # Kernels mirror their Gram matrix, so that asymmetry shows between two sets only.
        if not np.allclose(K, _gram(kernel, points, points).T, rtol=0, atol=1e-8 * size):
            return PSDTest(False, smallest, np.asarray(points), None)
        values, vectors = np.linalg.eigh((K + K.T) / 2)
        largest = max(abs(values[0]), abs(values[-1]), np.finfo(float).tiny)
        smallest = min(smallest, float(values[0] / largest))
        if values[0] < -tol * largest:
            return PSDTest(False, smallest, np.asarray(points), vectors[:, 0])
    return PSDTest(True, smallest, None, None)


def gram_features(K: Any, *, method: str = "eigen", tol: float = 1e-10) -> GramFeatures:
    """Return explicit features whose inner products are a given Gram matrix.

    Parameters
    ----------
    K : array-like of shape (n, n)
        Symmetric positive semi-definite matrix.
    method : {"eigen", "cholesky"}, default="eigen"
        ``U sqrt(Lambda)`` of the eigendecomposition, orthogonal and in descending order of
        size; or the pivoted Cholesky factor, which is cheaper when the rank is low.
    tol : float, default=1e-10
        Eigenvalues (or remaining diagonal entries) of at most this share of the largest are zero.

    Returns
    -------
    result : GramFeatures
        Features, rank and what was left.

    Raises
    ------
    ValueError
        If the matrix is not symmetric or not positive semi-definite.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.kernels import gram_features, RBF
    >>> K = RBF().gram([[0.0], [1.0], [3.0]])
    >>> features = gram_features(K).features
    >>> np.allclose(features @ features.T, K)
    True
    """
    K = _symmetric("gram_features", K)
    if method not in ("eigen", "cholesky"):
        raise ValueError(
            "The 'method' parameter of gram_features must be a str among {'cholesky', 'eigen'}. "
            f"Got {method!r} instead."
        )
    return _eigen_features(K, tol) if method == "eigen" else _cholesky_features(K, tol)


def _eigen_features(K: np.ndarray, tol: float) -> GramFeatures:
    values, vectors = np.linalg.eigh(K)
    largest = max(float(values.max(initial=0.0)), 0.0)
    smallest = float(values.min(initial=0.0))
    if smallest < -max(tol, 1e-8) * max(largest, -smallest):
        _refuse(smallest)
    keep = np.flatnonzero(values > tol * largest)[::-1]
    return GramFeatures(vectors[:, keep] * np.sqrt(values[keep]), len(keep), smallest)


def _cholesky_features(K: np.ndarray, tol: float) -> GramFeatures:
    from scipy.linalg.lapack import dpstrf

    n = len(K)
    largest = float(np.diag(K).max(initial=0.0))
    factor, pivots, rank, _ = dpstrf(K, tol=tol * largest, lower=1) if n else (K, K, 0, 0)
    features = np.zeros((n, rank))
    if rank:
        features[pivots - 1] = np.tril(factor)[:, :rank]
    left = K - features @ features.T
    # A positive semi-definite remainder is no larger than its diagonal.
    if np.abs(left).max(initial=0.0) > max(10 * tol, 1e-8) * max(largest, np.abs(K).max(initial=0)):
        _refuse(float(np.linalg.eigvalsh(K)[0]))
    return GramFeatures(features, int(rank), float(np.trace(left)))


def _symmetric(who: str, K: Any) -> np.ndarray:
    K = np.asarray(K, dtype=np.float64)
    if K.ndim != 2 or K.shape[0] != K.shape[1] or not np.isfinite(K).all():
        raise ValueError(f"{who} needs a square matrix of finite numbers. Got shape {K.shape}.")
    if not np.allclose(K, K.T, rtol=0, atol=1e-8 * np.abs(K).max(initial=0.0)):
        raise ValueError(f"{who} needs a symmetric matrix. Got one that differs from K.T.")
    return K


def _refuse(eigenvalue: float) -> None:
    raise ValueError(
        "gram_features needs a positive semi-definite matrix. Got one with an eigenvalue of "
        f"{eigenvalue:.3g}: it is no matrix of inner products."
    )


def invariance_test(
    kernel: Kernel | Callable[[Any, Any], float],
    *,
    n_features: int = 3,
    n_points: int = 8,
    n_trials: int = 10,
    tol: float = 1e-8,
    random_state: Any = None,
) -> InvarianceTest:
    """Test whether a kernel of vectors is stationary, rotation invariant and isotropic.

    Parameters
    ----------
    kernel : Kernel or callable
        A kernel, or any function ``k(x, y)`` of two vectors.
    n_features : int, default=3
        Length of the vectors drawn; at least 2, for rotations to exist.
    n_points : int, default=8
        Points in a set.
    n_trials : int, default=10
        Sets drawn, each with its own shift and rotation.
    tol : float, default=1e-8
        Changes of at most this share of the largest value count as rounding.
    random_state : int, Generator, RandomState or None, default=None
        Seed or generator.

    Returns
    -------
    result : InvarianceTest
        What was not refuted.

    Examples
    --------
    >>> from corollary.kernels import invariance_test, Laplacian, RBF
    >>> invariance_test(RBF(), random_state=0).isotropic
    True
    >>> laplacian = invariance_test(Laplacian(), random_state=0)
    >>> laplacian.stationary, laplacian.rotation_invariant
    (True, False)
    """
    if n_features < 2:
        raise ValueError(f"invariance_test needs at least 2 features to rotate. Got {n_features}.")
    rng = generator(random_state)
    change = {"shift": 0.0, "rotation": 0.0}
    for _ in range(n_trials):
        X = rng.standard_normal((n_points, n_features))
        rotation = np.linalg.qr(rng.standard_normal((n_features, n_features)))[0]
        moved = {"shift": X + rng.standard_normal(n_features), "rotation": X @ rotation}
        K = _gram(kernel, X)
        size = max(np.abs(K).max(), np.finfo(float).tiny)
        for name, Z in moved.items():
            change[name] = max(change[name], float(np.abs(_gram(kernel, Z) - K).max() / size))
    stationary, rotation_invariant = (change[name] <= tol for name in ("shift", "rotation"))
    return InvarianceTest(stationary, rotation_invariant, stationary and rotation_invariant, change)
