"""Principal components in the feature space of a kernel."""

from collections.abc import Callable
from dataclasses import KW_ONLY
from typing import Any, ClassVar, Literal

import numpy as np
from scipy.linalg import eigh
from scipy.sparse.linalg import eigsh
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array

from corollary.core.estimator import (
    Count,
    CountFromZero,
    NoEffect,
    NonNegative,
    Positive,
    RandomSeed,
    Transformer,
    fitted,
)
from corollary.core.parallel import one_blas_thread, row_products
from corollary.core.schema import Array, Instance, Nullable, Optional, Sparse
from corollary.decomposition._krylov import CentredRows, leading_triplets
from corollary.decomposition._linalg import symmetric, with_signs
from corollary.kernels import Kernel, chosen_kernel, kernel_ridge_solution

# Eigenvalues of at most this share of the largest are zero.
_ZERO = 1e-12
# Transforms hold this many kernel values at a time.
_VALUES_AT_ONCE = 2**23


class KernelPCA(ClassNamePrefixFeaturesOutMixin, Transformer):
    """Project rows on the directions along which their images in a feature space vary most.

    Parameters
    ----------
    n_components : int or None, default=None
        How many directions; None for all that have a variance.
    kernel : Kernel, {"linear", "poly", "rbf", "sigmoid", "cosine", "precomputed"} or callable, \
default="linear"
        Any kernel of this library, or object of scikit-learn's ``gaussian_process.kernels``; a name
        of scikit-learn's; "precomputed", when X is a Gram matrix; or a function of two rows, with
        which the model cannot be saved.
    gamma : float or None, default=None
        For named kernels, see :func:`corollary.kernels.check_kernel`.
    degree : int, default=3
        For the named polynomial kernel.
    coef0 : float, default=1
        For the named polynomial and sigmoid kernels.
    kernel_params : dict or None, default=None
        Further arguments of a function that is given as kernel.
    alpha : float, default=1.0
        Penalty of the ridge regression that learns the inverse.
    fit_inverse_transform : bool, default=False
        Whether to learn the way back, by kernel ridge regression of the rows on their projections.
    eigen_solver : {"auto", "dense", "arpack", "randomized"}, default="auto"
        "auto" takes ARPACK for fewer than 10 components of more than 200 rows, else LAPACK.
    tol : float, default=0
        Tolerance of ARPACK; 0 for the precision of the machine.
    max_iter : int or None, default=None
        Steps of ARPACK; None for its own choice.
    iterated_power : int or "auto", default="auto"
        Steps of the randomised solver after the first; "auto" for at most 7.
    remove_zero_eig : bool, default=False
        Whether to drop directions without variance, if `n_components` asks for them.
    random_state : int, RandomState instance or None, default=None
        Seed or generator of ARPACK and of the randomised solver.
    copy_X : bool, default=True
        Whether the training rows that are kept are a copy, which later changes of X do not reach.
    n_jobs : int or None, default=None
        Not used: all cores compute kernels, and the result is the same.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of the centred Gram matrix in descending order: sums of squares along the
        directions.
    eigenvectors_ : ndarray of shape (n_samples, n_components)
        Its eigenvectors as columns; of rows times the roots of their weights.
    projection_ : ndarray of shape (n_samples, n_components)
        The directions, as sums of the images of training rows.
    offset_ : ndarray of shape (n_components,)
        What the mean in feature space takes off.
    X_fit_ : ndarray or sparse matrix of shape (n_samples, n_features)
        Training rows; None if the kernel is "precomputed".
    kernel_ : Kernel
        The kernel used; None if it is "precomputed".
    dual_coef_ : ndarray of shape (n_samples, n_features)
        Coefficients of the inverse; only with `fit_inverse_transform`.
    X_transformed_fit_ : ndarray of shape (n_samples, n_components)
        Projections of the training rows; only with `fit_inverse_transform`.

    Notes
    -----
    For the linear kernel :class:`PCA` needs no matrix of rows by rows, and for many rows
    :class:`corollary.kernels.Nystroem` none so large. :func:`corollary.kernels.mercer_expansion`
    has the eigenfunctions without centring.

    References
    ----------
    B. Schölkopf, A. Smola and K.-R. Müller (1998). Nonlinear component analysis as a kernel
    eigenvalue problem. Neural Computation 10, 1299-1319.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.decomposition import KernelPCA
    >>> from corollary.kernels import RBF
    >>> angles = np.linspace(0.0, 6.0, 40)
    >>> ring = np.column_stack([np.cos(angles), np.sin(angles)])
    >>> X = np.vstack([ring, 4 * ring])
    >>> Z = KernelPCA(1, kernel=RBF(2.0)).fit_transform(X)[:, 0]
    >>> bool(Z[:40].min() > Z[40:].max() or Z[:40].max() < Z[40:].min())
    True
    """

    n_components: Count | None = None
    _: KW_ONLY
    kernel: (
        Kernel
        | Literal["linear", "poly", "rbf", "sigmoid", "cosine", "precomputed"]
        | Callable[..., Any]
    ) = "linear"
    gamma: Positive | None = None
    degree: Count = 3
    coef0: float = 1
    kernel_params: dict[str, Any] | None = None
    alpha: NonNegative = 1.0
    fit_inverse_transform: bool = False
    eigen_solver: Literal["auto", "dense", "arpack", "randomized"] = "auto"
    tol: NonNegative = 0
    max_iter: Count | None = None
    iterated_power: Literal["auto"] | CountFromZero = "auto"
    remove_zero_eig: bool = False
    random_state: RandomSeed = None
    copy_X: bool = True
    n_jobs: NoEffect = None

    eigenvalues_: np.ndarray = fitted(Array("f", "k", low=0))
    eigenvectors_: np.ndarray = fitted(Array("f", "n", "k"))
    projection_: np.ndarray = fitted(Array("f", "n", "k"))
    offset_: np.ndarray = fitted(Array("f", "k"))
    X_fit_: Any = fitted(Nullable(Array("f", "n", "d") | Sparse("n", "d")))
    kernel_: Any = fitted(Nullable(Instance("gram")))
    dual_coef_: np.ndarray = fitted(Optional(Array("f", "n", "d")))
    X_transformed_fit_: np.ndarray = fitted(Optional(Array("f", "n", "k")))

    _rows: ClassVar[dict[str, Any]] = {"accept_sparse": "csr"}
    _training_rows: ClassVar[dict[str, Any]] = {"finite_squares": True}

    @property
    def gamma_(self) -> float:
        """The factor of named kernels."""
        return 1 / self.n_features_in_ if self.gamma is None else self.gamma

    @property
    def _is_precomputed(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def _fits_together(self) -> str | None:
        if (self.kernel_ is None) != self._is_precomputed:
            return "a kernel must be there unless the matrix is precomputed"
        if (self.kernel_ is None) != (self.X_fit_ is None):
            return "the kernel and its rows must both be there, or neither"
        if self.kernel_ is None:
            same = len(self.projection_) == self.n_features_in_
            return None if same else "a precomputed matrix has a column for each training row"
        return self.kernel_.problem_with(self.X_fit_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is_precomputed
        return tags

    def _fit(self, X: Any, sample_weight: np.ndarray | None) -> None:
        for name in ("dual_coef_", "X_transformed_fit_"):
            self.__dict__.pop(name, None)
        w = np.ones(X.shape[0]) if sample_weight is None else sample_weight
        K = self._training_gram(X)
        share, roots = w / w.sum(), np.sqrt(w)
        means = K @ share
        M = (K - means[:, None] - means + share @ means) * roots[:, None] * roots
        values, vectors = self._eigenpairs(M, int(np.count_nonzero(w)))
        if self.remove_zero_eig or self.n_components is None:
            values, vectors = values[values > 0], vectors[:, values > 0]
        self.eigenvalues_, self.eigenvectors_ = values, vectors
        scale = np.where(values > 0, 1 / np.sqrt(np.where(values > 0, values, 1.0)), 0.0)
        # These sum to zero over rows, so that of the centring only the means are left.
        self.projection_ = roots[:, None] * vectors * scale
        self.offset_ = means @ self.projection_
        if self.fit_inverse_transform:
            self._learn_inverse(X, w)

    def _training_gram(self, X: Any) -> np.ndarray:
        """Choose the kernel and return the Gram matrix of the training rows."""
        self.kernel_ = self.X_fit_ = None
        if not self._is_precomputed:
            self.kernel_ = chosen_kernel(self, X.shape[1])
            self.X_fit_ = X.copy() if self.copy_X else X
            return self.kernel_.gram(X)
        if self.fit_inverse_transform:
            raise ValueError(
                "Cannot fit_inverse_transform with a precomputed kernel: KernelPCA does not see "
                "the rows. Give the kernel and the rows."
            )
        who = "With kernel='precomputed', X is the symmetric Gram matrix of the rows. KernelPCA"
        return symmetric(who, X.toarray() if hasattr(X, "toarray") else X)

    def _eigenpairs(self, M: np.ndarray, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
        """Return leading eigenvalues in descending order and eigenvectors as columns."""
        n = len(M)
        k = min(n_rows, self.n_components or n_rows)
        solver, random = self.eigen_solver, check_random_state(self.random_state)
        if solver == "auto":
            solver = "arpack" if n > 200 and k < 10 else "dense"
        with one_blas_thread():
            if solver == "dense":
                values, vectors = eigh(M, subset_by_index=(n - k, n - 1))
            elif solver == "arpack":
                how = {"tol": self.tol, "maxiter": self.max_iter, "v0": random.uniform(-1, 1, n)}
                values, vectors = eigsh(M, k, which="LA", **how)
            else:
                steps = 8 if self.iterated_power == "auto" else int(self.iterated_power) + 1
                start = random.standard_normal((n, min(n, k + 10)))
                rows = CentredRows(M, np.zeros(n), None)
                vectors = leading_triplets(rows, k, start=start, max_steps=steps, tol=1e-12)[1].T
                values = np.einsum("ij,ij->j", vectors, M @ vectors)
        order = np.argsort(-values, kind="stable")
        values, vectors = values[order], with_signs(vectors[:, order].T).T
        largest = float(values.max(initial=0.0))
        if values.min(initial=0.0) < -1e-5 * max(largest, np.finfo(float).tiny):
            raise ValueError(
                "KernelPCA needs a positive semi-definite kernel. The centred Gram matrix has an "
                f"eigenvalue of {values.min():.3g}."
            )
        return np.where(values > _ZERO * largest, values, 0.0), vectors

    def _learn_inverse(self, X: Any, weight: np.ndarray) -> None:
        """Regress the rows on their projections."""
        if hasattr(X, "toarray"):
            raise NotImplementedError(
                "KernelPCA learns no inverse for sparse rows: the rows that it returns are dense. "
                "Give X.toarray()."
            )
        self.X_transformed_fit_ = Z = self._transform(X)
        how: Any = {"sample_weight": weight, "overwrite_K": True}
        solution = kernel_ridge_solution(self.kernel_.gram(Z), X, self.alpha, **how)
        self.dual_coef_ = solution.dual_coef

    def _transform(self, X: Any) -> np.ndarray:
        if self.kernel_ is None:
            return row_products(X, self.projection_) - self.offset_
        step = max(1, _VALUES_AT_ONCE // max(1, len(self.projection_)))
        starts = range(0, X.shape[0], step)
        parts = (self.kernel_.gram(X[i : i + step], self.X_fit_) for i in starts)
        return np.concatenate([row_products(K, self.projection_) for K in parts]) - self.offset_

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Return rows whose projections are near to X, by the ridge regression that was learnt.

        Without `fit_inverse_transform` it raises a NotFittedError. See :class:`KernelPCA`.
        """
        if not hasattr(self, "X_transformed_fit_"):
            raise NotFittedError(
                "KernelPCA has learnt no inverse. Set fit_inverse_transform=True and fit again."
            )
        X = check_array(X, dtype=np.float64, input_name="X")
        return row_products(self.kernel_.gram(X, self.X_transformed_fit_), self.dual_coef_)

    @property
    def _n_features_out(self) -> int:
        return int(self.projection_.shape[1])
