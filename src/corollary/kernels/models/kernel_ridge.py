"""Kernel ridge regression and, without a penalty, minimum-norm interpolation."""

import warnings
from dataclasses import KW_ONLY
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import MultiOutputMixin
from sklearn.exceptions import ConvergenceWarning

from corollary.core.estimator import ArrayLike, Count, NonNegative, Positive, Regressor, fitted
from corollary.core.schema import Array, Integer, Number
from corollary.kernels.models._cholesky import factor_in_place, restore, solve_factored
from corollary.kernels.models._expansion import KernelExpansion, KernelOrMatrix


class KernelRidgeSolution(NamedTuple):
    """Outcome of :func:`kernel_ridge_solution`.

    Parameters
    ----------
    dual_coef : ndarray of shape (n,) or (n, k)
        Coefficients a of ``f(x) = sum_i a_i k(x_i, x)``.
    jitter : float
        What had to be added to the diagonal, beside the penalty, for rounding.
    rank : int
        Rank of the system that was solved.
    """

    dual_coef: np.ndarray
    jitter: float
    rank: int


def kernel_ridge_solution(
    K: Any,
    y: Any,
    alpha: float = 1.0,
    *,
    sample_weight: Any = None,
    overwrite_K: bool = False,
) -> KernelRidgeSolution:
    """Minimise ``sum_i w_i (y_i - f(x_i))^2 + alpha |f|^2`` over the space of a kernel.

    Parameters
    ----------
    K : array-like of shape (n, n)
        Gram matrix, symmetric and positive semi-definite.
    y : array-like of shape (n,) or (n, k)
        Targets.
    alpha : float, default=1.0
        Penalty. 0 gives the function of smallest norm among those of smallest squared error: an
        interpolant, if K has full rank.
    sample_weight : array-like of shape (n,) or None, default=None
        Non-negative weights w.
    overwrite_K : bool, default=False
        Whether the memory of K may be used, so that no second n x n matrix is needed.

    Returns
    -------
    solution : KernelRidgeSolution
        Without weights, ``dual_coef = (K + alpha I)^-1 y``.

    Raises
    ------
    ValueError
        If ``K + alpha I`` is not positive definite for more than rounding.

    Notes
    -----
    O(n^3) once; then a prediction costs O(n).

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.kernels import kernel_ridge_solution, RBF
    >>> K = RBF().gram([[0.0], [1.0], [2.5]])
    >>> y = np.array([1.0, -1.0, 0.5])
    >>> np.allclose(K @ kernel_ridge_solution(K, y, alpha=0.0).dual_coef, y)
    True
    """
    K = np.array(K, dtype=np.float64, order="C", copy=None if overwrite_K else True)
    y = np.asarray(y, dtype=np.float64)
    if K.ndim != 2 or K.shape[0] != K.shape[1] or len(y) != len(K):
        raise ValueError(
            "kernel_ridge_solution needs a square Gram matrix and one target for each row. "
            f"Got shapes {K.shape} and {y.shape}."
        )
    if not alpha >= 0:
        raise ValueError(
            "The 'alpha' parameter of kernel_ridge_solution must be a float in the range "
            f"[0.0, inf). Got {alpha!r} instead."
        )
    root = None
    if sample_weight is not None:
        root = np.sqrt(np.asarray(sample_weight, dtype=np.float64))
        K *= root[:, None]
        K *= root[None, :]
        y = y * (root if y.ndim == 1 else root[:, None])
    solution = _smallest_norm(K, y) if alpha == 0 else _penalised(K, y, alpha)
    if root is None:
        return solution
    coef = solution.dual_coef * (root if y.ndim == 1 else root[:, None])
    return solution._replace(dual_coef=coef)


def _penalised(K: np.ndarray, y: np.ndarray, alpha: float) -> KernelRidgeSolution:
    n = len(K)
    diagonal = np.diag(K).copy()
    # Rounding of the Gram matrix and of the factorisation is of this size.
    step = n * np.finfo(float).eps * max(float(np.abs(diagonal).max(initial=0.0)), alpha)
    for jitter in (0.0, step, 100.0 * step):
        np.fill_diagonal(K, diagonal + (alpha + jitter))
        if factor_in_place(K):
            return KernelRidgeSolution(solve_factored(K, y), jitter, n)
        restore(K, diagonal)
    smallest = np.linalg.eigvalsh(K)[0]
    raise ValueError(
        f"K + alpha I is not positive definite: the Gram matrix has an eigenvalue of "
        f"{smallest:.3g}, and alpha is {alpha:.3g}. Use a positive semi-definite kernel, or raise "
        "alpha."
    )


def _smallest_norm(K: np.ndarray, y: np.ndarray) -> KernelRidgeSolution:
    n = len(K)
    values, vectors = np.linalg.eigh(K)
    largest = float(np.abs(values).max(initial=0.0))
    tiny = n * np.finfo(float).eps * largest
    if values.min(initial=0.0) < -max(1e-8 * largest, tiny):
        raise ValueError(
            "Kernel interpolation needs a positive semi-definite Gram matrix. Got one with an "
            f"eigenvalue of {values[0]:.3g}; use a kernel, or alpha > 0."
        )
    keep = values > tiny
    coordinates = vectors[:, keep].T @ y
    coordinates /= values[keep] if y.ndim == 1 else values[keep][:, None]
    return KernelRidgeSolution(vectors[:, keep] @ coordinates, 0.0, int(keep.sum()))


class KernelRidge(MultiOutputMixin, KernelExpansion, Regressor):
    """Ridge regression in the feature space of a kernel.

    Parameters
    ----------
    alpha : float or array-like of shape (n_targets,), default=1.0
        Penalty on the squared norm of the function, one or one for each target; 0 interpolates with
        smallest norm.
    kernel : Kernel, {"linear", "rbf", "poly", "polynomial", "laplacian", "sigmoid", "cosine", \
"chi2", "additive_chi2", "precomputed"} or callable, default="linear"
        Any kernel of this library, or object of scikit-learn's ``gaussian_process.kernels``; a name
        of scikit-learn's, with the three parameters below; "precomputed", when X is a Gram matrix;
        or a function of two rows (:class:`PairwiseFunction`), with which the model cannot be saved.
    gamma : float or None, default=None
        For named kernels, see :func:`check_kernel`.
    degree : int, default=3
        For the named polynomial kernel.
    coef0 : float, default=1.0
        For the named polynomial and sigmoid kernels.
    kernel_params : dict or None, default=None
        Further arguments of a function that is given as kernel.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n_samples,) or (n_samples, n_targets)
        Coefficients of ``f(x) = sum_i dual_coef_[i] k(X_fit_[i], x)``.
    X_fit_ : ndarray or sparse matrix of shape (n_samples, n_features)
        Training inputs; None if the kernel is "precomputed".
    kernel_ : Kernel
        The kernel used; None if the kernel is "precomputed".
    jitter_ : float
        What rounding made necessary on the diagonal beside ``alpha``; 0 in almost all cases, and
        warned about otherwise.
    rank_ : int
        Rank of the system solved; smaller than n_samples only for ``alpha=0``.

    See Also
    --------
    KernelERMRegressor : Other losses than the square.
    Nystroem : Features for many rows.

    Notes
    -----
    One n x n matrix is held, in which the system is factored, and a second one if penalties differ
    between targets; scikit-learn holds two.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.kernels import KernelRidge, RBF
    >>> x = np.linspace(0.0, 6.0, 30)[:, None]
    >>> model = KernelRidge(alpha=1e-6, kernel=RBF(1.0)).fit(x, np.sin(x).ravel())
    >>> round(float(model.predict([[1.0]])[0]), 3), round(float(np.sin(1.0)), 3)
    (0.841, 0.841)
    """

    alpha: NonNegative | ArrayLike = 1.0
    _: KW_ONLY
    kernel: KernelOrMatrix = "linear"
    gamma: Positive | None = None
    degree: Count = 3
    coef0: float = 1.0
    kernel_params: dict[str, Any] | None = None

    dual_coef_: np.ndarray = fitted(Array("f", "n") | Array("f", "n", "k"))
    jitter_: float = fitted(Number(0))
    rank_: int = fitted(Integer(0))

    _training_rows = {"multi_output": True, "finite_squares": True}

    def _fit(self, X: Any, y: np.ndarray, sample_weight: np.ndarray | None) -> None:
        K, columns = self._training_gram(X), y.reshape(len(y), -1)
        penalties = np.ravel(np.asarray(self.alpha, dtype=np.float64))
        if len(penalties) not in (1, columns.shape[1]) or not (penalties >= 0).all():
            raise ValueError(
                "The 'alpha' parameter of KernelRidge must be one number that is not negative, or "
                f"one for each of the {columns.shape[1]} targets. Got {self.alpha!r}."
            )
        every = penalties if len(np.unique(penalties)) > 1 else penalties[:1]
        self.jitter_, parts = 0.0, []
        for one, alpha in enumerate(every):
            target = y if len(every) == 1 else columns[:, one]
            solution = kernel_ridge_solution(
                K,
                target,
                float(alpha),
                sample_weight=sample_weight,
                overwrite_K=self.kernel_ is not None and len(every) == 1,
            )
            parts.append(solution.dual_coef)
            self.jitter_, self.rank_ = max(self.jitter_, solution.jitter), solution.rank
        self.dual_coef_ = parts[0] if len(parts) == 1 else np.stack(parts, axis=1)
        if self.jitter_:
            warnings.warn(
                f"KernelRidge added {self.jitter_:.2g} to the diagonal, beside alpha="
                f"{penalties.min():.2g}, because rounding made the system indefinite. Raise alpha.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _predict(self, X: Any) -> np.ndarray:
        return self._expand(X)
