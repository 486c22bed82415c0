"""Nystroem features: a kernel seen through some of the training rows."""

from collections.abc import Callable
from dataclasses import KW_ONLY
from typing import Any, ClassVar, Literal

import numpy as np
from scipy import sparse

from corollary.core.estimator import Count, NoEffect, Positive, fitted
from corollary.core.parallel import one_blas_thread, row_products
from corollary.core.schema import Array, Instance, Nullable, Optional, Sparse
from corollary.kernels._arrays import generator
from corollary.kernels.base import Kernel
from corollary.kernels.features._base import FeatureMap, Seed
from corollary.kernels.named import KernelName, chosen_kernel


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
    with one_blas_thread():
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
    kernel : Kernel, {"linear", "rbf", "poly", "polynomial", "laplacian", "sigmoid", "cosine", \
"chi2", "additive_chi2", "precomputed"} or callable, default="rbf"
        Any kernel of this library, or object of scikit-learn's ``gaussian_process.kernels``; a name
        of scikit-learn's; "precomputed", when X holds kernel values with the training rows; or a
        function of two rows (:class:`PairwiseFunction`), with which the model cannot be saved. It
        must be positive semi-definite on the landmarks.
    gamma : float or None, default=None
        For named kernels, see :func:`check_kernel`.
    coef0 : float or None, default=None
        For the named polynomial and sigmoid kernels; None for 1.
    degree : int or None, default=None
        For the named polynomial kernel; None for 3.
    kernel_params : dict or None, default=None
        Further arguments of a function that is given as kernel.
    n_components : int, default=100
        Number of landmarks, at most that of the rows. The features may be fewer, if the landmarks
        span fewer dimensions.
    random_state : int, Generator, RandomState or None, default=None
        Seed or generator of the draw of landmarks.
    n_jobs : int or None, default=None
        Not used: all cores compute kernels, and the result is the same.

    Attributes
    ----------
    landmarks_ : ndarray or sparse matrix of shape (n_landmarks, n_features)
        Rows drawn without replacement; ``components_`` by scikit-learn's name.
    component_indices_ : ndarray of int of shape (n_landmarks,)
        Their numbers among the training rows.
    normalization_ : ndarray of shape (n_features_out, n_landmarks)
        The transpose of ``projection_``.
    projection_ : ndarray of shape (n_landmarks, n_features_out)
        Matrix R with ``R R' = K^+`` for the landmarks' Gram matrix K.
    kernel_ : Kernel or None
        The kernel used; None if it is "precomputed".
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

    kernel: Kernel | Literal[KernelName, "precomputed"] | Callable[..., Any] = "rbf"
    _: KW_ONLY
    gamma: Positive | None = None
    coef0: float | None = None
    degree: Count | None = None
    kernel_params: dict[str, Any] | None = None
    n_components: Count = 100
    random_state: Seed = None
    n_jobs: NoEffect = None

    landmarks_: Any = fitted(Array("f", "m", "d") | Sparse("m", "d"))
    component_indices_: np.ndarray = fitted(Optional(Array("i", "m", low=0)))
    projection_: np.ndarray = fitted(Array("f", "m", "r"))
    kernel_: Any = fitted(Nullable(Instance("gram")))
    discarded_: float = fitted()

    _rows: ClassVar[dict[str, Any]] = {"accept_sparse": "csr"}
    _training_rows: ClassVar[dict[str, Any]] = {"finite_squares": True}

    @property
    def components_(self) -> Any:
        """The landmarks."""
        return self.landmarks_

    @property
    def normalization_(self) -> np.ndarray:
        """The transpose of the projection."""
        return self.projection_.T

    @property
    def _is_precomputed(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def _fits_together(self) -> str | None:
        if (self.kernel_ is None) != self._is_precomputed:
            return "a kernel must be there unless the matrix is precomputed"
        places = getattr(self, "component_indices_", None)
        if self.kernel_ is None and (places is None or (places >= self.n_features_in_).any()):
            return "a landmark is not a training row"
        return None if self.kernel_ is None else self.kernel_.problem_with(self.landmarks_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is_precomputed
        return tags

    def _fit(self, X: Any, sample_weight: np.ndarray | None) -> None:
        others = (self.gamma, self.coef0, self.degree)
        named = isinstance(self.kernel, str | Kernel) and not self._is_precomputed
        if not named and any(value is not None for value in others):
            raise ValueError(
                "Don't pass gamma, coef0 or degree to Nystroem if using a callable or precomputed "
                "kernel. Give a callable its arguments by kernel_params."
            )
        self.kernel_ = None if self._is_precomputed else chosen_kernel(self, X.shape[1])
        order = generator(self.random_state).permutation(X.shape[0])
        self.component_indices_ = np.sort(order[: self.n_components])
        self.landmarks_ = X[self.component_indices_]
        self.projection_ = nystroem_projection(self._values(self.landmarks_))
        places = np.sort(order[:1000])
        some = X[places]
        diagonal = X[places, places] if self.kernel_ is None else self.kernel_.diag(some)
        total = float(np.sum(diagonal))
        kept = float(np.sum(self._transform(some) ** 2))
        self.discarded_ = 1.0 - kept / total if total else 0.0

    def _values(self, X: Any) -> np.ndarray:
        """Return kernel values of rows with the landmarks."""
        if self.kernel_ is None:
            K = X[:, self.component_indices_]
            return K.toarray() if sparse.issparse(K) else K
        return self.kernel_.gram(X, self.landmarks_)

    def _transform(self, X: Any) -> np.ndarray:
        return row_products(self._values(X), self.projection_)

    @property
    def _n_features_out(self) -> int:
        return int(self.projection_.shape[1])
