r"""Least squares with at least as many columns as rows, and for large sparse inputs.

With fewer rows than columns the solution is found on the side of the rows: the push-through
identity :math:`(X^\top X+\alpha I)^{-1}X^\top = X^\top(XX^\top+\alpha I)^{-1}` turns a system of
size n_features into one of size n_samples. Without penalty its limit is the solution of smallest
norm, provided that the rows are independent. Centred rows never are, for their weighted sum is
zero; a reflection brings that one dependence into the last row, which is left out.
"""

import warnings
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from corollary.core.parallel import in_blocks
from corollary.linear.squares._factorisation import (
    DECOMPOSE_BELOW,
    ScaledCholesky,
    gram_singular_values,
    refinements,
    solve_factor,
    svd_values,
)
from corollary.linear.squares._nonnegative import solve_nonnegative
from corollary.linear.squares._records import LeastSquares, shaped

# Sparse inputs are iterated upon when the smaller side exceeds this: the products of its rows or
# columns would be a dense matrix of 128 MB.
LARGE_SIDE = 4096


def is_large(X: Any) -> bool:
    """Tell whether X is sparse and both of its sides are large."""
    return bool(sparse.issparse(X) and min(X.shape) > LARGE_SIDE)


def solve_wide(
    X: Any,
    y: np.ndarray,
    sample_weight: np.ndarray | None,
    alpha: float,
    fit_intercept: bool,
    *,
    decompose: bool = False,
    positive: bool = False,
    singular: bool = False,
) -> LeastSquares:
    """Solve least squares on the side of the rows.

    By singular values if ``decompose``, over coefficients that are not negative if ``positive``;
    singular values are returned if ``singular``.
    """
    x_mean, y_mean, root = _centre(X, y, sample_weight, fit_intercept)
    target = (y.reshape(len(y), -1) - y_mean) * root
    if alpha > 0 and not (decompose or positive):
        K = _row_products(X, x_mean, root)
        factor = ScaledCholesky.of(K, alpha)
        if factor is not None and factor.rcond >= DECOMPOSE_BELOW:
            dual = factor.solve(target)
            coef = X.T @ (root * dual) - np.outer(x_mean, (root * dual).sum(axis=0))
            intercept = y_mean - x_mean @ coef
            return shaped(
                coef, intercept, y.ndim, fit_intercept, min(X.shape), factor.rcond, "dual"
            )
    Z = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64) - x_mean
    if fit_intercept:
        # The rounding of a large mean would stay in every row and look like one more direction.
        slip = (root[:, 0] ** 2) @ Z / (root**2).sum()
        Z -= slip
        x_mean = x_mean + slip
    Z *= root
    solver, rank, rcond, values, independent = "svd", min(Z.shape), 0.0, None, None
    if alpha == 0 and not (decompose or positive):
        independent = _solve_independent_rows(Z, target, root if fit_intercept else None)
    if positive:
        solver, coef = "nnls", solve_nonnegative(Z, target, alpha)
    elif independent is not None:
        solver, (coef, rank, rcond) = "dual", independent
    else:
        coef, rank = solve_factor(Z, target, alpha)
    if singular and not positive:
        values = gram_singular_values(Z @ Z.T) if solver == "dual" else svd_values(Z)
    solution = shaped(coef, y_mean - x_mean @ coef, y.ndim, fit_intercept, rank, rcond, solver)
    return solution._replace(singular_values=values)


def _solve_independent_rows(
    Z: np.ndarray, target: np.ndarray, root: np.ndarray | None
) -> tuple[np.ndarray, int, float] | None:
    """Return the solution of smallest norm, its rank and condition; None if rows are dependent.

    ``root`` is the vector that centred rows are orthogonal to, None for rows that are not centred.
    """
    if root is not None:
        mirror = root / np.linalg.norm(root)
        mirror[-1] += 1.0 if mirror[-1] >= 0 else -1.0
        mirror /= np.linalg.norm(mirror)
        Z, target = (A[:-1] - 2.0 * mirror[:-1] * (mirror.T @ A) for A in (Z, target))
    if len(Z) == 0:
        return None
    factor = ScaledCholesky.of(Z @ Z.T)
    if factor is None or factor.rcond < DECOMPOSE_BELOW:
        return None
    dual = factor.solve(target)
    for _ in range(refinements(factor.rcond)):
        dual += factor.solve(target - Z @ (Z.T @ dual))
    return Z.T @ dual, len(Z), factor.rcond


def solve_iteratively(
    X: Any,
    y: np.ndarray,
    sample_weight: np.ndarray | None,
    alpha: float,
    fit_intercept: bool,
    tol: float,
    max_iter: int | None,
) -> LeastSquares:
    """Solve least squares by LSQR, which touches X only through products with vectors."""
    from scipy.sparse.linalg import LinearOperator, lsqr

    x_mean, y_mean, root = _centre(X, y, sample_weight, fit_intercept)
    target = (y.reshape(len(y), -1) - y_mean) * root
    w = root[:, 0]
    design = LinearOperator(
        X.shape,
        matvec=lambda v: w * (X @ v.ravel() - x_mean @ v.ravel()),
        rmatvec=lambda u: X.T @ (w * u.ravel()) - x_mean * (w @ u.ravel()),
        dtype=np.float64,
    )
    limit = 10 * min(X.shape) if max_iter is None else max_iter
    coef = np.empty((X.shape[1], target.shape[1]))
    n_iter = np.zeros(target.shape[1], dtype=np.int32)
    for k in range(target.shape[1]):
        coef[:, k], stopped, n_iter[k], *_ = lsqr(
            design, target[:, k], damp=np.sqrt(alpha), atol=tol, btol=tol, conlim=0, iter_lim=limit
        )
        if stopped == 7:  # the limit of iterations
            warnings.warn(
                f"LSQR stopped after {limit} iterations before it reached tol={tol:g}. Raise "
                "max_iter or tol, or scale the columns.",
                ConvergenceWarning,
                stacklevel=9,
            )
    intercept = y_mean - x_mean @ coef
    solution = shaped(coef, intercept, y.ndim, fit_intercept, min(X.shape), 0.0, "lsqr")
    return solution._replace(n_iter=n_iter)


def _centre(
    X: Any, y: np.ndarray, sample_weight: np.ndarray | None, fit_intercept: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the means to subtract and the square roots of the weights as a column."""
    n = X.shape[0]
    w = np.ones(n) if sample_weight is None else sample_weight
    total = w.sum()
    if not total > 0:
        raise ValueError("Least squares needs rows of positive weight. All weights are zero.")
    targets = y.reshape(n, -1)
    if fit_intercept:
        x_mean, y_mean = np.asarray(X.T @ w) / total, targets.T @ w / total
    else:
        x_mean, y_mean = np.zeros(X.shape[1]), np.zeros(targets.shape[1])
    return x_mean, y_mean, np.sqrt(w)[:, np.newaxis]


def _row_products(X: Any, x_mean: np.ndarray, root: np.ndarray) -> np.ndarray:
    if not sparse.issparse(X):
        Z = (X - x_mean) * root
        K = np.empty((len(Z), len(Z)))

        def work(start: int, stop: int) -> None:
            # Of the blocks on either side of the diagonal one is copied.
            K[start:stop, :stop] = Z[start:stop] @ Z[:stop].T
            K[:start, start:stop] = K[start:stop, :start].T

        in_blocks(work, len(Z), 128)
        return K
    # Centring implicitly keeps X sparse: (x_i - m)(x_j - m) = x_i x_j - x_i m - x_j m + m m.
    K = (X @ X.T).toarray()
    u = X @ x_mean
    K += x_mean @ x_mean - u - u[:, np.newaxis]
    return K * root * root.T
