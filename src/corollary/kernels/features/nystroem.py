"""Nystroem features: a kernel seen through some of the training rows."""

from dataclasses import KW_ONLY
from typing import Any

import numpy as np

from corollary.core.estimator import Count, Positive, fitted
from corollary.core.schema import Array, Instance
from corollary.kernels._arrays import generator
from corollary.kernels.base import Kernel
from corollary.kernels.features._base import FeatureMap, Seed
from corollary.kernels.named import KernelName, check_kernel


def nystroem_projection(K: Any, *, tol: float = 1e-12) -> np.ndarray:
    """Return a matrix R with ``R R' = K^+``, which turns kernel values into features.

    Parameters
    ----------
    K : array-like of shape (m, m)
        Gram matrix of the landmarks.
    tol : float, default=1e-12
        Eigenvalues of at most this share of the largest are zero.

    Returns
    -------
    projection : ndarray of shape (m, r)
        With one column for each of the r other eigenvalues, the largest first.

    Examples
    --------
    >>> from corollary.kernels import nystroem_projection
    >>> nystroem_projection([[4.0, 0.0], [0.0, 0.0]])
    array([[0.5],
           [0. ]])
    """
    values, vectors = np.linalg.eigh(np.asarray(K, dtype=np.float64))
    largest = float(values.max(initial=0.0))
    if values.min(initial=0.0) < -1e-8 * max(largest, -float(values.min(initial=0.0))):
        raise ValueError(
            "Nystroem features need a positive semi-definite kernel. The landmarks' Gram matrix "
            f"has an eigenvalue of {values[0]:.3g}."
        )
    keep = np.flatnonzero(values > tol * largest)[::-1]
    columns = vectors[:, keep]
    # Eigenvectors are given up to their sign; fix it, so that other libraries change nothing.
    strongest = np.abs(columns).argmax(axis=0)
    columns = columns * np.sign(columns[strongest, np.arange(len(keep))])
    return columns / np.sqrt(values[keep])


class Nystroem(FeatureMap):
    """Features of a kernel from its values at some training rows, the landmarks.

    Parameters
    ----------
    kernel : Kernel or {"linear", "rbf", "poly", "polynomial", "laplacian", "sigmoid"}, \
default="rbf"
        Any kernel of this library, or scikit-learn's name of one.
    gamma : float or None, default=None
        For named kernels, see :func:`check_kernel`.
    degree : int, default=3
        For the named polynomial kernel.
    coef0 : float, default=1.0
        For the named polynomial and sigmoid kernels.
    n_components : int, default=100
        Number of landmarks, at most that of the rows. The features may be fewer, if the landmarks
        span fewer dimensions.
    random_state : int, Generator, RandomState or None, default=None
        Seed or generator of the draw of landmarks.

    Attributes
    ----------
    landmarks_ : ndarray of shape (n_landmarks, n_features)
        Rows drawn without replacement.
    projection_ : ndarray of shape (n_landmarks, n_features_out)
        Matrix R with ``R R' = K^+`` for the landmarks' Gram matrix K.
    kernel_ : Kernel
        The kernel used.
    discarded_ : float
        Trace of the training rows' kernel that the features do not represent, as a share; an
        estimate from at most 1,000 rows.

    See Also
    --------
    RandomFourierFeatures : Features that do not look at the data.

    Notes
    -----
    Inner products of the features are the kernel's projection on the span of the landmarks:
    exact between landmarks, and never above ``k(x, x)`` on the diagonal.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.kernels import Nystroem, RBF
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> Z = Nystroem(RBF(2.0), n_components=50, random_state=0).fit_transform(X)
    >>> bool(np.abs(Z @ Z.T - RBF(2.0).gram(X)).mean() < 1e-3)
    True
    """

    kernel: Kernel | KernelName = "rbf"
    _: KW_ONLY
    gamma: Positive | None = None
    degree: Count = 3
    coef0: float = 1.0
    n_components: Count = 100
    random_state: Seed = None

    landmarks_: np.ndarray = fitted(Array("f", "m", "d"))
    projection_: np.ndarray = fitted(Array("f", "m", "r"))
    kernel_: Kernel = fitted(Instance("gram"))
    discarded_: float = fitted()

    def _fits_together(self) -> str | None:
        return self.kernel_.problem_with(self.landmarks_)

    def _fit(self, X: np.ndarray, sample_weight: np.ndarray | None) -> None:
        self.kernel_ = check_kernel(
            self.kernel,
            gamma=self.gamma,
            degree=self.degree,
            coef0=self.coef0,
            n_features=X.shape[1],
        )
        order = generator(self.random_state).permutation(len(X))
        self.landmarks_ = X[np.sort(order[: self.n_components])]
        self.projection_ = nystroem_projection(self.kernel_.gram(self.landmarks_))
        some = X[np.sort(order[:1000])]
        total = float(np.sum(self.kernel_.diag(some)))
        kept = float(np.sum(self._transform(some) ** 2))
        self.discarded_ = 1.0 - kept / total if total else 0.0

    def _transform(self, X: np.ndarray) -> np.ndarray:
        return self.kernel_.gram(X, self.landmarks_) @ self.projection_

    @property
    def _n_features_out(self) -> int:
        return int(self.projection_.shape[1])
