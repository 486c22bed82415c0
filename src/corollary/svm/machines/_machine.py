"""What every kernel machine shares: kernel, training matrix, support vectors, scores."""

import warnings
from collections.abc import Callable
from numbers import Integral
from typing import Annotated, Any, Literal

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from corollary.core.compat import Interval
from corollary.core.estimator import Learner, Positive, fitted
from corollary.core.parallel import row_products
from corollary.core.schema import Array, Instance, Integer, List, Number, Optional, Sparse
from corollary.kernels import (
    GramTiles,
    Kernel,
    Linear,
    PrecomputedTiles,
    as_kernel,
    check_kernel,
)
from corollary.svm.dual._descent import default_max_iter

# Predictions hold this many kernel values at a time.
_VALUES_AT_ONCE = 2**23

KernelLike = (
    Kernel | Literal["linear", "poly", "rbf", "sigmoid", "precomputed"] | Callable[[Any, Any], Any]
)
Gamma = Literal["scale", "auto"] | Positive
# -1 for a number that depends on the rows.
Steps = Annotated[int, Interval(Integral, -1, None, closed="left")]


class KernelMachine(Learner):
    """A function ``sum_i a_i k(x_i, x) + b`` of s support vectors.

    Subclasses declare ``kernel``, its three parameters, ``tol`` and ``max_iter``.
    """

    support_: np.ndarray = fitted(Array("i", "s", low=0))
    support_vectors_: Any = fitted(Optional(Array("f", "s", "d") | Sparse("s", "d")))
    kernel_: Any = fitted(Optional(Instance("gram")))
    dual_coef_: Any = fitted(Array("f", "q", "s") | Sparse("q", "s"))
    dual_gap_: float = fitted(Number(infinite=True))
    kkt_violation_: float = fitted(Number(0, infinite=True))
    objective_: float = fitted(Number(infinite=True))
    n_iter_: Any = fitted(Integer(0) | Array("i", "p", low=0))
    shape_fit_: tuple[int, ...] = fitted(Optional(List(Integer(0))))

    @property
    def fit_status_(self) -> int:
        """0 if the problem was solved to `tol`, else 1."""
        return int(self.kkt_violation_ > self.tol)

    @property
    def coef_(self) -> Any:
        """Weights of the features, if the kernel is linear."""
        if not isinstance(getattr(self, "kernel_", None), Linear):
            raise AttributeError(
                f"{type(self).__name__} has a coef_ only when it is fitted with a linear kernel."
            )
        coef = self._plane_weights() @ self.support_vectors_
        if sparse.issparse(self.support_vectors_):
            return sparse.csr_matrix(coef)
        coef.flags.writeable = False
        return coef

    def _plane_weights(self) -> np.ndarray:
        """Return the weights of the support vectors in each function, one row for each."""
        return self._weights()

    def _weights(self) -> np.ndarray:
        """Return ``dual_coef_`` as a dense array."""
        return self.dual_coef_.toarray() if sparse.issparse(self.dual_coef_) else self.dual_coef_

    def _fits_together(self) -> str | None:
        """Say what is wrong with the kernel and the support vectors of a loaded machine."""
        if _is_precomputed(self.kernel):
            if getattr(self, "kernel_", None) is not None:
                return "it has a kernel besides a precomputed one"
            if np.any(self.support_ >= self.n_features_in_):
                return "a support vector is not a training row"
            return None
        if not isinstance(getattr(self, "kernel_", None), Kernel):
            return "it has no kernel"
        vectors = getattr(self, "support_vectors_", None)
        if vectors is None:
            return "it has no support vectors"
        return self.kernel_.problem_with(vectors)

    def _row_checks(self) -> dict[str, Any]:
        return {"accept_sparse": False if _is_precomputed(self.kernel) else "csr"}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = _is_precomputed(self.kernel)
        return tags

    def _choose_kernel(self, X: Any, weight: np.ndarray | None) -> None:
        """Set ``kernel_``: None for a precomputed matrix, which is checked."""
        if _is_precomputed(self.kernel):
            self.kernel_ = None
            _check_precomputed(type(self).__name__, X)
            return
        if isinstance(self.kernel, Kernel) or callable(self.kernel):
            self.kernel_ = _understood(self.kernel, X.shape[1])
            return
        gamma = self.gamma
        if gamma == "auto":
            gamma = 1.0 / X.shape[1]
        elif gamma == "scale":
            gamma = _scale_gamma(type(self).__name__, X, weight)
        self.kernel_ = check_kernel(
            self.kernel, gamma=gamma, degree=self.degree, coef0=self.coef0, n_features=X.shape[1]
        )

    def _gram_of(self, X: Any, rows: np.ndarray) -> GramTiles:
        """Return the Gram matrix of some training rows."""
        if self.kernel_ is None:
            return PrecomputedTiles(X if len(rows) == len(X) else X[np.ix_(rows, rows)])
        part = X if len(rows) == X.shape[0] else X[rows]
        if not isinstance(self.kernel_, Kernel):
            return PrecomputedTiles(self._kernel_values(part, part))
        return self.kernel_.tiles(part)

    def _has_tiles(self) -> bool:
        """Tell whether any part of the Gram matrix can be had without the rest of it."""
        return self.kernel_ is None or isinstance(self.kernel_, Kernel)

    def _keep_support(self, X: Any, support: np.ndarray, coef: np.ndarray) -> None:
        self.support_ = support.astype(np.int32)
        self.support_vectors_ = None if self.kernel_ is None else X[support]
        self.dual_coef_ = sparse.csr_matrix(coef) if sparse.issparse(X) else coef
        self.shape_fit_ = tuple(X.shape)

    def _cross(self, X: Any, rows: np.ndarray, others: np.ndarray) -> np.ndarray:
        """Return the kernel of some training rows with others."""
        if self.kernel_ is None:
            return X[np.ix_(rows, others)]
        return self._kernel_values(X[rows], X[others])

    def _kernel_values(self, X: Any, Y: Any) -> np.ndarray:
        if isinstance(self.kernel_, Kernel):
            return self.kernel_.gram(X, Y)
        K = _values(self.kernel_(X, Y))
        if K.shape != (X.shape[0], Y.shape[0]):
            raise ValueError(
                f"The function given to {type(self).__name__} as kernel must return a number for "
                "each pair of rows; in fit X.shape[0] should be equal to X.shape[1] for the matrix "
                f"X that it returns. Got shape {K.shape} for {X.shape[0]} and {Y.shape[0]} rows."
            )
        return K

    def _expand(self, X: Any, coef: np.ndarray, some: slice = slice(None)) -> np.ndarray:
        """Return ``sum_i coef[i] k(support_i, x)`` over some support vectors, block by block."""
        values = np.zeros((X.shape[0], *coef.shape[1:]))
        step = max(1, _VALUES_AT_ONCE // max(1, len(coef)))
        for i in range(0, X.shape[0] if len(coef) else 0, step):
            part = X[i : i + step]
            if self.kernel_ is None:
                K = part[:, self.support_[some]]
            else:
                K = self._kernel_values(part, self.support_vectors_[some])
            values[i : i + step] = row_products(K, coef)
        return values

    def _report(self, results: list[Any], gaps: list[float], dual: float) -> None:
        """Store what the solver reached, and warn if that is not what was asked for."""
        self.dual_gap_ = float(sum(gaps))
        self.kkt_violation_ = float(max(result.violation for result in results))
        self.objective_ = float(dual)
        if all(result.converged for result in results):
            return
        steps = sum(result.n_iter for result in results)
        most = max(results, key=lambda result: result.n_iter)
        reached = (
            f"{type(self).__name__} stopped after {steps} steps with a KKT violation of "
            f"{self.kkt_violation_:.2g} (tol={self.tol:.2g}) and a duality gap of "
            f"{self.dual_gap_:.2g} (objective {self.objective_:.4g})."
        )
        if self.max_iter < 0 and most.n_iter >= default_max_iter(len(most.beta)):
            repair = f"Scale the features, increase tol, or set max_iter above {most.n_iter}."
        elif 0 <= self.max_iter <= most.n_iter:
            repair = f"Increase max_iter={self.max_iter} or tol, or scale the features."
        else:
            repair = "Rounding allows no more: increase tol, scale the features, or lower C."
        warnings.warn(f"{reached} {repair}", ConvergenceWarning, stacklevel=4)


def _understood(kernel: Any, n_features: int) -> Any:
    """Return a kernel of ours for one of scikit-learn's objects, and functions as they are."""
    if isinstance(kernel, Kernel) or not hasattr(kernel, "clone_with_theta"):
        return kernel
    try:
        return as_kernel(kernel, n_features=n_features)
    except ValueError:  # it has no counterpart, and is a function
        return kernel


def _values(K: Any) -> np.ndarray:
    """Return what a function of two sets of rows gave as a matrix of numbers."""
    K = K.toarray() if sparse.issparse(K) else K
    return np.ascontiguousarray(K, dtype=np.float64)


def _is_precomputed(kernel: Any) -> bool:
    return isinstance(kernel, str) and kernel == "precomputed"


def _scale_gamma(who: str, X: Any, weight: np.ndarray | None) -> float:
    """Return one over the number of features times the variance, one for equal numbers."""
    with np.errstate(over="ignore", divide="ignore"):
        gamma = float(np.float64(1.0) / (X.shape[1] * _variance(X, weight)))
    if 0 < gamma < np.inf:
        return gamma
    rows = X if weight is None else X[weight > 0]
    least, most = float(rows.min()), float(rows.max())
    if least == most:
        return 1.0
    raise ValueError(
        f"{who} with gamma='scale' needs features whose variance neither overflows nor vanishes. "
        f"Got values from {least:.3g} to {most:.3g}; scale the features."
    )


def _variance(X: Any, weight: np.ndarray | None) -> float:
    """Return the variance of all entries, rows counted by their weights."""
    weight = np.ones(X.shape[0]) if weight is None else weight
    share = weight / (weight.sum() * X.shape[1])
    mean = float(share @ np.asarray(X.sum(axis=1)).ravel())
    if sparse.issparse(X):
        return float(share @ np.asarray(X.multiply(X).sum(axis=1)).ravel()) - mean * mean
    return float(share @ np.square(X - mean).sum(axis=1))


def _check_precomputed(who: str, K: np.ndarray) -> None:
    if K.shape[0] != K.shape[1]:
        raise ValueError(
            f"With kernel='precomputed', the X of {who}.fit must be the square Gram matrix of the "
            f"training rows. Got shape {K.shape}."
        )
    size = max(float(K.max()), -float(K.min()))
    if not _is_symmetric(K, 1e-8 * size):
        raise ValueError(
            f"With kernel='precomputed', the X of {who}.fit must be symmetric. Got a matrix that "
            "differs from its transpose."
        )
    # A principal submatrix that is not positive semi-definite proves that the matrix is not.
    some = np.unique(np.linspace(0, len(K) - 1, min(len(K), 1000)).astype(int))
    part = K[np.ix_(some, some)].copy()
    part[np.arange(len(some)), np.arange(len(some))] += 1e-9 * len(some) * size + 1e-300
    try:
        np.linalg.cholesky(part)
    except np.linalg.LinAlgError:
        warnings.warn(
            f"The precomputed matrix given to {who} is not positive semi-definite: the problem is "
            "not convex, and a stationary point is returned, which may depend on the order of the "
            "rows. Use a kernel, or add a multiple of the identity.",
            UserWarning,
            stacklevel=4,
        )


def _is_symmetric(K: np.ndarray, tolerance: float) -> bool:
    """Compare a matrix with its transpose in squares that stay in a core's cache."""
    n, side = len(K), 256
    for i in range(0, n, side):
        for j in range(i, n, side):
            square, mirror = K[i : i + side, j : j + side], K[j : j + side, i : i + side]
            if np.abs(square - mirror.T).max() > tolerance:
                return False
    return True
