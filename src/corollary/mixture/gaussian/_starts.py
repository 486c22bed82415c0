"""Where EM begins: a sample of the rows, and components made of it."""

from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np

from corollary.core.fingerprint import hash_rows
from corollary.core.summary import Chunk, Summary
from corollary.mixture.gaussian._sums import MixtureSums, maximise, read_chunk
from corollary.mixture.gaussian._whitened import Components, CovarianceType

InitParams = Literal["kmeans", "k-means++", "random", "random_from_data"]


#: Rows that starts are made of; fits to fewer rows begin with all of them.
SAMPLE_ROWS = 2**14
_LLOYD_STEPS = 20


@dataclass(frozen=True, eq=False)
class RowSample(Summary):
    """Rows of positive weight, in their order; of more than a sample those with the least hash.

    How the rows are cut changes nothing: a row is chosen by what it holds.
    """

    rows: np.ndarray
    weights: np.ndarray
    hashes: np.ndarray
    n_rows: int
    has_weights: bool
    size: int

    @classmethod
    def of_width(cls, width: int, size: int = SAMPLE_ROWS) -> Self:
        """Return the sample of no rows."""
        empty = np.empty((0, width)), np.empty(0), np.empty(0, dtype=np.uint64)
        return cls(*empty, 0, False, size)

    def empty(self) -> Self:
        """Return the sample of no rows."""
        return self.of_width(self.rows.shape[1], self.size)

    def update(self, chunk: Chunk) -> Self:
        """Add the rows of a chunk ``(X, None, sample_weight)``."""
        X, weight = read_chunk(chunk)
        has_weights = weight is not None
        if weight is None:
            weight = np.ones(len(X))
        elif (weight <= 0).any():
            X, weight = X[weight > 0], weight[weight > 0]
        hashes = hash_rows(np.ascontiguousarray(X))
        return self.merge(type(self)(X, weight, hashes, len(X), has_weights, self.size))

    def merge(self, other: Self) -> Self:
        """Unite two samples."""
        parts = (self.rows, other.rows), (self.weights, other.weights), (self.hashes, other.hashes)
        rows, weights, hashes = (np.concatenate(part) for part in parts)
        if len(rows) > self.size:
            least = np.partition(hashes, self.size - 1)[self.size - 1]
            below, equal = np.flatnonzero(hashes < least), np.flatnonzero(hashes == least)
            kept = np.sort(np.append(below, equal[: self.size - len(below)]))
            rows, weights, hashes = rows[kept], weights[kept], hashes[kept]
        n, has_weights = self.n_rows + other.n_rows, self.has_weights or other.has_weights
        return type(self)(rows, weights, hashes, n, has_weights, self.size)

    def filled(self) -> np.ndarray:
        """Return the rows with the mean of their column where a value is missing."""
        missing = np.isnan(self.rows)
        if not missing.any():
            return self.rows
        seen = ~missing * self.weights[:, None]
        totals = seen.sum(axis=0)
        if not (totals > 0).all():
            column = int(np.argmin(totals))
            raise ValueError(
                f"Every column needs a value in some row. Column {column} has none: drop it."
            )
        means = (seen * np.where(missing, 0.0, self.rows)).sum(axis=0) / totals
        return np.where(missing, means, self.rows)


def start_components(sample: RowSample, estimator: Any, random: Any) -> Components:
    """Return components to begin with, as the parameters of an estimator say.

    An assignment of rows gives those of its M-step; chosen rows become means, with the covariance
    of all rows.
    """
    X, weight, k = sample.filled(), sample.weights, estimator.n_components
    n = len(X)
    if estimator.init_params == "random":
        r = random.uniform(size=(n, k))
        return m_step(X, weight[:, None] * r / r.sum(axis=1, keepdims=True), estimator)
    if estimator.init_params == "random_from_data":
        chosen = random.choice(n, size=k, replace=False)
    else:
        chosen = _spread_rows(X, weight, k, random)
    if estimator.init_params == "kmeans":
        labels = _lloyd_labels(X, weight, X[chosen])
        return m_step(X, weight[:, None] * np.eye(k)[labels], estimator)
    return m_step(X, np.tile(weight[:, None] / k, k), estimator)._replace(means=X[chosen])


def blank_components(k: int, d: int, kind: CovarianceType) -> Components:
    """Return equal components with the mean zero and the identity as covariance."""
    eye = np.eye(d)
    covariances = {
        "full": np.tile(eye, (k, 1, 1)),
        "tied": eye,
        "diag": np.ones((k, d)),
        "spherical": np.ones(k),
    }
    return Components(np.full(k, 1 / k), np.zeros((k, d)), covariances[kind], kind)


def m_step(X: np.ndarray, r: np.ndarray, estimator: Any) -> Components:
    """Return the M-step for complete rows and weights of their components."""
    totals = r.sum(axis=0)
    means = r.T @ X / np.where(totals > 0, totals, 1.0)[:, None]
    k, d = means.shape
    old = blank_components(k, d, estimator.covariance_type)._replace(means=means)
    sums = MixtureSums.of(old)
    sums.counts[:] = totals
    for j in range(k):
        centred = X - means[j]
        sums.first[j] = r[:, j] @ centred
        sums.second[j] = (
            r[:, j] @ centred**2 if old.is_diagonal else (r[:, j, None] * centred).T @ centred
        )
    return maximise(sums, estimator.reg_covar, estimator.covariance_floor)


def _spread_rows(X: np.ndarray, weight: np.ndarray, k: int, random: Any) -> np.ndarray:
    """Return rows chosen one after the other, by chance, far from those before (k-means++)."""
    chosen = np.empty(k, dtype=np.intp)
    chances = weight.copy()
    distances = np.full(len(X), np.inf)
    for j in range(k):
        if not chances.sum() > 0:  # as many places as are left: any row that is not chosen yet
            chances = np.isin(np.arange(len(X)), chosen[:j], invert=True).astype(float)
        steps = np.cumsum(chances)
        chosen[j] = min(np.searchsorted(steps, random.uniform() * steps[-1], "right"), len(X) - 1)
        np.minimum(distances, ((X - X[chosen[j]]) ** 2).sum(axis=1), out=distances)
        chances = weight * distances
    return chosen


def _lloyd_labels(X: np.ndarray, weight: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Return the nearest centre of every row after some steps of Lloyd's iteration."""
    k = len(centres)
    centred = X - X.mean(axis=0)
    centres = centres - X.mean(axis=0)
    for _ in range(_LLOYD_STEPS):
        labels = np.argmin((centres**2).sum(axis=1) - 2 * centred @ centres.T, axis=1)
        totals = np.bincount(labels, weights=weight, minlength=k)
        members = np.zeros((k, len(X)))
        members[labels, np.arange(len(X))] = weight
        moved = members @ centred / np.where(totals > 0, totals, 1.0)[:, None]
        moved = np.where(totals[:, None] > 0, moved, centres)
        if np.array_equal(moved, centres):
            break
        centres = moved
    return labels
