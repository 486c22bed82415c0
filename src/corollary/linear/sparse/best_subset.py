r"""Best subset: the linear predictor with few non-zero coefficients and the smallest error.

Minimises :math:`\sum_i s_i (y_i - b - w^\top x_i)^2` over :math:`\|w\|_0 \le s` and, if asked,
:math:`\|w\|_2 \le B`, by solving least squares on every support. Embedding a support's
coefficients among zeros keeps their norm, so the constraint is that of each small problem. The
number of supports grows like :math:`\binom{d}{s}`: the answer is exact, the cost exponential.
"""

from collections.abc import Iterator
from dataclasses import KW_ONLY
from itertools import combinations, islice
from math import comb
from typing import Any

import numpy as np

from corollary.core.estimator import Count, Positive, fitted
from corollary.core.parallel import one_blas_thread
from corollary.core.progress import track
from corollary.core.schema import Array, Integer, Number
from corollary.linear._regressor import LinearRegressor
from corollary.linear.sparse._records import BallLeastSquares

# Supports solved at once: their eigenvectors stay in cache.
_BATCH = 2048


def least_squares_in_ball(gram: Any, Xy: Any, max_norm: float) -> BallLeastSquares:
    r"""Minimise :math:`w^\top G w - 2 g^\top w` over :math:`\|w\|_2 \le B`, many at once.

    If the solution of least norm is inside the ball it is the answer. Otherwise the answer is
    :math:`(G + \mu I)^{-1} g` with the one :math:`\mu > 0` that makes its norm B. On the
    eigenvectors of G the norm is explicit in :math:`\mu`, and Newton's method on its reciprocal,
    which is concave and increasing, approaches the root from one side.

    Parameters
    ----------
    gram : array-like of shape (n_problems, k, k)
        Matrices :math:`G = X^\top X`.
    Xy : array-like of shape (n_problems, k)
        Vectors :math:`g = X^\top y`.
    max_norm : float
        Radius B, positive; infinite for no constraint.

    Returns
    -------
    solutions : named tuple
        ``coef`` of shape (n_problems, k); ``loss``, the sums of squares less that of the target;
        ``multiplier`` of the constraint, the ridge penalty that gives the same coefficients, zero
        where the constraint does not bind.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.linear import least_squares_in_ball
    >>> solutions = least_squares_in_ball(np.eye(2)[None], np.array([[3.0, 4.0]]), 1.0)
    >>> solutions.coef.round(12), solutions.multiplier.round(12)
    (array([[0.6, 0.8]]), array([4.]))
    """
    if not max_norm > 0.0:
        raise ValueError(
            "The 'max_norm' parameter of least_squares_in_ball must be a float in the range "
            f"(0.0, inf]. Got {max_norm} instead."
        )
    gram, Xy = np.asarray(gram, dtype=np.float64), np.asarray(Xy, dtype=np.float64)
    values, vectors = np.linalg.eigh(gram)
    values = np.maximum(values, 0.0)
    along = np.einsum("nij,ni->nj", vectors, Xy)
    # Directions that are zero up to rounding carry no information: least norm leaves them out.
    used = values > 1e-12 * values[:, -1:]
    along = np.where(used, along, 0.0)
    values = np.where(used, values, 1.0)
    multiplier = np.zeros(len(values))
    norm = np.linalg.norm(along / values, axis=1)
    outside = np.flatnonzero(norm > max_norm)
    if len(outside):
        c, d, mu = along[outside], values[outside], np.zeros(len(outside))
        for _ in range(100):
            shrunk = c / (d + mu[:, None])
            size = np.linalg.norm(shrunk, axis=1)
            slope = np.sum(shrunk**2 / (d + mu[:, None]), axis=1) / size**3  # of 1 / size
            change = (1.0 / max_norm - 1.0 / size) / slope
            mu = np.maximum(mu + change, 0.0)
            if np.all(np.abs(change) <= 1e-14 * (mu + d[:, -1])):
                break
        multiplier[outside] = mu
    rotated = along / (values + multiplier[:, None])
    coef = np.einsum("nij,nj->ni", vectors, rotated)
    loss = np.sum(np.where(used, values, 0.0) * rotated**2 - 2.0 * along * rotated, axis=1)
    return BallLeastSquares(coef, loss, multiplier)


def _batches(n_features: int, size: int) -> Iterator[np.ndarray]:
    supports = combinations(range(n_features), size)
    while batch := list(islice(supports, _BATCH)):
        yield np.array(batch)


class BestSubset(LinearRegressor):
    r"""Fit least squares on the best of all supports of limited size.

    Parameters
    ----------
    max_size : int, default=3
        Largest number s of non-zero coefficients.
    max_norm : float or None, default=None
        Largest Euclidean norm B of the coefficients; None for no constraint.
    fit_intercept : bool, default=True
        Whether to fit an intercept, which counts neither as a coefficient nor in the norm.
    max_supports : int, default=2000000
        Refuse to begin when there are more supports than this.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Coefficients.
    intercept_ : float
        Intercept.
    support_ : ndarray of int
        Columns with a coefficient, ascending; of equally good supports the smallest, then the
        first in dictionary order.
    loss_ : float
        Weighted sum of squares.
    n_supports_ : int
        Supports compared.

    See Also
    --------
    Lasso : Selects features at a polynomial cost, with shrinkage.
    least_squares_in_ball : The problem on each support.

    Notes
    -----
    Guarantee: the sum of squares is the smallest over all predictors allowed, checked by
    ``tests/linear/test_best_subset.py::test_equals_brute_force``.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.linear import BestSubset
    >>> X = np.random.default_rng(0).normal(size=(50, 6))
    >>> y = 2.0 * X[:, 1] - X[:, 4]
    >>> BestSubset(max_size=2).fit(X, y).support_
    array([1, 4])
    """

    _: KW_ONLY
    max_size: Count = 3
    max_norm: Positive | None = None
    fit_intercept: bool = True
    max_supports: Count = 2000000

    support_: np.ndarray = fitted(Array("i", "*", low=0, below="d"))
    loss_: float = fitted(Number(0.0))
    n_supports_: int = fitted(Integer(0))

    def _fit(self, X: np.ndarray, y: np.ndarray, sample_weight: np.ndarray | None) -> None:
        from corollary.optimize import prepare_columns

        n, p = X.shape
        sizes = range(1, min(self.max_size, p) + 1)
        self.n_supports_ = sum(comb(p, k) for k in sizes)
        if self.n_supports_ > self.max_supports:
            raise ValueError(
                f"BestSubset would compare {self.n_supports_} supports of up to {sizes[-1]} of {p} "
                f"columns; max_supports is {self.max_supports}. Lower max_size, drop columns "
                "(Lasso selects some quickly), or raise max_supports."
            )
        with one_blas_thread():
            prepared = prepare_columns(X, y[:, None], sample_weight, self.fit_intercept)
            Z, target = prepared.design.X, prepared.Y[:, 0]
            support, coef = self._search(Z, target, sizes)
        self.coef_ = np.zeros(p)
        self.coef_[support] = coef
        self.support_ = np.asarray(support)
        residual = target - Z[:, support] @ coef
        # `prepare` made weights average one.
        total = n if sample_weight is None else sample_weight.sum()
        self.loss_ = float(residual @ residual) * float(total) / n
        self.intercept_ = float(prepared.Y_mean[0] - prepared.X_mean @ self.coef_)

    def _search(
        self, Z: np.ndarray, target: np.ndarray, sizes: range
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the best support of these sizes and its coefficients."""
        gram, Zy, yy = Z.T @ Z, Z.T @ target, float(target @ target)
        radius = np.inf if self.max_norm is None else float(self.max_norm)
        best, support, coef = 0.0, np.zeros(0, dtype=np.int64), np.zeros(0)
        with track("best subset", total=self.n_supports_) as step:
            for size in sizes:
                for batch in _batches(Z.shape[1], size):
                    grams = gram[batch[:, :, None], batch[:, None, :]]
                    solutions = least_squares_in_ball(grams, Zy[batch], radius)
                    first = int(np.argmin(solutions.loss))
                    # A larger support must be better by more than rounding.
                    if solutions.loss[first] < best - 1e-12 * yy:
                        best, support = float(solutions.loss[first]), batch[first]
                        coef = solutions.coef[first]
                    step(len(batch))
        return support, coef
