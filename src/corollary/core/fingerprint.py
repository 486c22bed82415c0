"""A compact memory of the rows a model was trained on.

A held-out certificate computed on training rows would be false. Our estimators therefore keep a
bottom-k sketch of the hashes of their training rows: the k smallest distinct hashes with their
multiplicities. Up to k distinct rows the memory is exact; beyond, it is a uniform sample of the
distinct rows, and a new row is looked up only when its hash falls below the sketch's largest.

Discrete data repeat rows by nature. The share of training rows that occur more than once
estimates the chance that a fresh row has been seen before (Good and Turing); an overlap is called
suspicious only when it exceeds what that chance explains.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import sparse

from corollary.core.summary import Chunk, Summary

# 8192 hashes are 64 kB in a model file, and 1,000 rows taken from a million training rows still
# meet the sketch about eight times.
SKETCH_SIZE = 8192

# Temporaries of this many words stay in cache; larger ones are fetched from the system page by
# page, which made hashing seven times slower.
CACHED_WORDS = 8192


class Overlap(NamedTuple):
    """How many rows a model seems to have been trained on.

    Parameters
    ----------
    seen : int
        Rows found among the training rows.
    compared : int
        Rows that could be looked up.
    chance : float
        Estimated probability that a fresh row equals some training row.
    p_value : float
        Probability of at least ``seen`` matches among ``compared`` fresh rows.
    """

    seen: int
    compared: int
    chance: float
    p_value: float


def hash_rows(X: Any) -> np.ndarray:
    """Hash every row to 64 bits; equal rows have equal hashes on every machine.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Numeric rows; compared as double precision, with -0.0 equal to 0.0.

    Returns
    -------
    hashes : ndarray of shape (n_samples,), dtype=uint64
        The hashes.
    """
    if sparse.issparse(X):
        X = X.tocsr()
        coded = sparse.csr_matrix(X, copy=True)
        multipliers = _multipliers(X.shape[1])
        words = _words(coded.data.astype(np.float64)) * multipliers[coded.indices]
        hashes = np.zeros(X.shape[0], dtype=np.uint64)
        np.add.at(hashes, np.repeat(np.arange(X.shape[0]), np.diff(coded.indptr)), words)
        return _scramble(hashes)
    X = np.asarray(X, dtype=np.float64)
    X = X.reshape(X.shape[0], int(np.prod(X.shape[1:])))
    multipliers = _multipliers(X.shape[1])
    hashes = np.empty(len(X), dtype=np.uint64)
    step = max(1, CACHED_WORDS // max(1, X.shape[1]))
    for start in range(0, len(X), step):
        hashes[start : start + step] = _words(X[start : start + step]) @ multipliers
    return _scramble(hashes)


def _words(values: np.ndarray) -> np.ndarray:
    # Adding 0.0 turns -0.0 into 0.0, whose bits are 0: an absent entry of a sparse row.
    bits = np.ascontiguousarray(values + 0.0).view(np.uint64)
    return bits ^ (bits >> np.uint64(32))


def _multipliers(n: int) -> np.ndarray:
    return _scramble(np.arange(1, n + 1, dtype=np.uint64)) | np.uint64(1)


def _scramble(z: np.ndarray) -> np.ndarray:
    """SplitMix64's finaliser: a bijection of 64-bit words in which every bit depends on all."""
    z = (z + np.uint64(0x9E3779B97F4A7C15)).astype(np.uint64)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@dataclass(frozen=True)
class Fingerprint(Summary):
    """Bottom-k sketch of training rows.

    Parameters
    ----------
    hashes : ndarray of dtype uint64
        The smallest distinct row hashes, ascending.
    counts : ndarray of dtype int64
        How often each occurred.
    n_rows : int
        Rows summarised.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.core.fingerprint import Fingerprint
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> memory = Fingerprint().update((X,))
    >>> memory.overlap(X[:10]).seen
    10
    >>> memory.overlap(X + 1).seen
    0
    """

    hashes: np.ndarray = field(default_factory=lambda: np.empty(0, np.uint64))
    counts: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    n_rows: int = 0

    def empty(self) -> Self:
        """Return a fingerprint of no rows."""
        return type(self)()

    def update(self, chunk: Chunk) -> Self:
        """Add the rows of ``chunk[0]``."""
        hashes = hash_rows(chunk[0])
        distinct, counts = np.unique(hashes, return_counts=True)
        part = type(self)(distinct[:SKETCH_SIZE], counts[:SKETCH_SIZE], len(hashes))
        return part if self.n_rows == 0 else self.merge(part)

    def merge(self, other: Self) -> Self:
        """Unite two sketches and keep the smallest hashes."""
        hashes, where = np.unique(
            np.concatenate([self.hashes, other.hashes]), return_inverse=True
        )
        counts = np.bincount(
            where, weights=np.concatenate([self.counts, other.counts]), minlength=len(hashes)
        ).astype(np.int64)
        n_rows = self.n_rows + other.n_rows
        return type(self)(hashes[:SKETCH_SIZE], counts[:SKETCH_SIZE], n_rows)

    def overlap(self, X: Any) -> Overlap:
        """Look rows up.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows in the form the estimator was fitted on.

        Returns
        -------
        overlap : Overlap
            Matches, and how surprising they are for fresh rows.
        """
        from scipy.stats import binom

        hashes = hash_rows(X)
        if len(self.hashes) == SKETCH_SIZE:
            hashes = hashes[hashes <= self.hashes[-1]]
        seen = int(np.isin(hashes, self.hashes).sum())
        repeated = int(self.counts[self.counts > 1].sum())
        chance = (repeated + 0.5) / (self.counts.sum() + 1)
        p_value = float(binom.sf(seen - 1, len(hashes), chance)) if seen else 1.0
        return Overlap(seen, len(hashes), float(chance), p_value)
