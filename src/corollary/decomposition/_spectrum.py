"""Variances and directions of rows, by five ways to the same eigenvectors."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import svds

from corollary.core.parallel import one_blas_thread
from corollary.core.summary import Moments, reduce
from corollary.decomposition._krylov import CentredRows, leading_triplets
from corollary.decomposition._linalg import eigenpairs, with_signs

# What the residual of a randomised component may be, as a share of the largest singular value.
_RESIDUAL = 2e-3
# Steps of the randomised solver, if not told.
_STEPS = 6


@dataclass(frozen=True)
class Spectrum:
    """What principal component analysis needs of rows, whole or leading parts of it."""

    values: np.ndarray  # variances in descending order
    vectors: np.ndarray  # directions as rows, with fixed signs
    mean: np.ndarray
    total: float  # variance of all directions
    n_rows: int  # rows of positive weight
    freedom: float  # total weight, less one if a mean was estimated

    @property
    def rank(self) -> int:
        """The largest number of directions that the rows can have."""
        return min(self.n_rows, len(self.mean))


def _freedom_of(weight: float, n_rows: int, centre: bool) -> float:
    """Return what sums of squares are divided by."""
    freedom = weight - centre
    if not freedom > 0:
        raise ValueError(
            "PCA divides by the total weight less one, as a row of weight k counts like k rows, "
            f"and needs it above one. Got {weight:g} from {n_rows} rows with n_samples = {n_rows}. "
            "Give more rows, or multiply the weights."
        )
    return freedom


def of_moments(moments: Moments, centre: bool) -> Spectrum:
    """Decompose the covariance or, without centring, the second moment about zero."""
    freedom = _freedom_of(moments.weight, moments.n_rows, centre)
    scatter, mean = moments.scatter, moments.mean
    if not centre:
        scatter, mean = scatter + moments.weight * np.outer(mean, mean), np.zeros(len(mean))
    values, vectors = eigenpairs(scatter / freedom)
    values, kept = values.clip(min=0.0), min(moments.n_rows, len(mean))
    total = float(values.sum())
    return Spectrum(values[:kept], vectors[:kept], mean, total, moments.n_rows, freedom)


class Rows:
    """Training rows, which are centred and weighted once."""

    def __init__(self, X: Any, weight: np.ndarray | None, *, centre: bool) -> None:
        if weight is not None and not np.all(weight > 0):
            X, weight = X[weight > 0], weight[weight > 0]
        if not sparse.issparse(X):
            X = np.ascontiguousarray(X)  # sums have other last bits in memory by columns
        self.n_rows = X.shape[0]
        total = float(self.n_rows) if weight is None else float(weight.sum())
        self.freedom = _freedom_of(total, self.n_rows, centre)
        mean, squares = _mean_and_squares(X, weight, total)
        self.mean = mean if centre else np.zeros(X.shape[1])
        roots = None if weight is None else np.sqrt(weight)
        if sparse.issparse(X):
            self.total = (squares - total * float(self.mean @ self.mean)) / self.freedom
        else:
            X = X - self.mean
            if roots is not None:
                X *= roots[:, None]
            self.total = float(np.einsum("ij,ij->", X, X)) / self.freedom
        self._X, self._centred = X, CentredRows(X, self.mean, roots)

    def full(self) -> Spectrum:
        """Decompose all of the rows by LAPACK."""
        X = self._X
        with one_blas_thread():
            if X.shape[0] > X.shape[1]:
                X = np.linalg.qr(X, mode="r")
            values, vectors = np.linalg.svd(X, full_matrices=False)[1:]
        return self._spectrum(values, vectors)

    def randomized(
        self, k: int, *, oversamples: int, steps: int | None, random: np.random.RandomState
    ) -> Spectrum:
        """Find leading directions from products with random vectors."""
        width = min(k + oversamples, *self._X.shape)
        start = random.standard_normal((self._X.shape[0], width))
        max_steps = _STEPS if steps is None else steps + 1
        tol = _RESIDUAL if steps is None else np.finfo(float).eps
        triplets = leading_triplets(self._centred, k, start=start, max_steps=max_steps, tol=tol)
        return self._spectrum(*triplets)

    def arpack(self, k: int, *, tol: float, random: np.random.RandomState) -> Spectrum:
        """Find leading directions by ARPACK."""
        v0 = random.uniform(-1, 1, size=min(self._X.shape))
        with one_blas_thread():
            _, values, vectors = svds(self._centred, k=k, tol=tol, v0=v0)
        order = np.argsort(-values, kind="stable")
        return self._spectrum(values[order], vectors[order])

    def _spectrum(self, values: np.ndarray, vectors: np.ndarray) -> Spectrum:
        known = self.mean, self.total, self.n_rows, self.freedom
        return Spectrum(values**2 / self.freedom, with_signs(vectors), *known)


def _mean_and_squares(X: Any, weight: np.ndarray | None, total: float) -> tuple[np.ndarray, float]:
    """Return the weighted mean and, of sparse rows, the weighted sum of squares."""
    w = np.ones(X.shape[0]) if weight is None else weight
    with one_blas_thread():
        mean = np.asarray(X.T @ w, dtype=np.float64).ravel() / total
    if not sparse.issparse(X):
        return mean, 0.0
    return mean, float(w @ np.asarray(X.multiply(X).sum(axis=1)).ravel())


def moments_of(X: Any, weight: np.ndarray | None, start: Moments | None = None) -> Moments:
    """Summarise rows, on top of those that a summary has seen."""
    start = Moments.of_width(X.shape[1]) if start is None else start
    return reduce(start, (X,) if weight is None else (X, None, weight))
