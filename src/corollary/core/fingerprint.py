"""A compact memory of the rows a model was trained on.

A held-out certificate computed on training rows would be false. Our estimators therefore keep a
bottom-k sketch of the hashes of their training rows: the k smallest distinct hashes with their
multiplicities. Up to k distinct rows the memory is exact; beyond, it is a uniform sample of the
distinct rows, and a new row is looked up only when its hash falls below the sketch's largest.

Rows are compared to the digits of single precision, so that a copy in that precision is known
again.

Discrete data repeat rows by nature. The share of training rows that occur more than once
estimates the chance that a fresh row has been seen before (Good and Turing); an overlap is called
suspicious only when it exceeds what that chance explains. Rows that were repeated by hand, to
balance classes for instance, would inflate the chance; but a population that repeats so many
training rows repeats new ones as well, and if the new rows hardly repeat each other, repetition
explains nothing.
"""

import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import sparse

from corollary.core.schema import Array, Integer, Schema
from corollary.core.summary import Chunk, Summary

# 8192 hashes are 64 kB in a model file, and 1,000 rows taken from a million training rows still
# meet the sketch about eight times.
SKETCH_SIZE = 8192

# Standard deviations by which repeats fall short of their expectation once in a thousand times.
FAR_BELOW = 3.1

# Two buffers of this size stay in a core's second-level cache; larger temporaries are fetched from
# the system page by page, which made hashing seven times slower.
BUFFER_BYTES = 2**19

# From so many values on a compiled loop, which is ten times as fast, is worth loading the compiler.
COMPILED_SIZE = 2**20


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
    """Hash every row to 64 bits; equal rows have equal hashes on every machine."""
    if sparse.issparse(X):
        return _scramble(_sparse_sums(X.tocsr()))
    X = np.asarray(X)
    return _scramble(_dense_sums(X.reshape(X.shape[0], math.prod(X.shape[1:]))))


def _dense_sums(X: np.ndarray) -> np.ndarray:
    """Sum the coded values of every row times the multipliers of its columns, modulo 2**64."""
    multipliers = _multipliers(X.shape[1])
    sums = np.empty(X.shape[0], dtype=np.uint64)
    plain = X.dtype == np.float64 and X.flags.c_contiguous
    if plain and X.size >= COMPILED_SIZE:
        from corollary.core._loops.fingerprint import dense_sums

        dense_sums(X.view(np.uint64), multipliers, sums)
        return sums
    step = max(64, BUFFER_BYTES // (8 * max(1, X.shape[1])))
    values = np.empty((min(step, X.shape[0]), X.shape[1]))
    spare = np.empty(values.shape, dtype=np.uint64)
    for start in range(0, X.shape[0], step):
        rows = X[start : start + step]
        size = len(rows)
        words = _words(rows, values[:size], spare[:size])
        np.einsum("ij,j->i", words, multipliers, out=sums[start : start + size])
    return sums


def _sparse_sums(X: sparse.csr_matrix) -> np.ndarray:
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    data = X.data
    words = _words(data, np.empty(len(data)), np.empty(len(data), dtype=np.uint64))
    # Differences of running sums: both wrap around at 2**64, which cancels.
    running = np.zeros(len(data) + 1, dtype=np.uint64)
    np.cumsum(words * _multipliers(X.shape[1])[X.indices], out=running[1:])
    return running[X.indptr[1:]] - running[X.indptr[:-1]]


def _words(values: np.ndarray, double: np.ndarray, spare: np.ndarray) -> np.ndarray:
    """Code values as 64-bit words, zero as 0, using the two buffers given."""
    # Adding 0.0 turns -0.0 into 0.0, whose bits are 0: an absent entry of a sparse row.
    bits = np.add(values, 0.0, out=double, casting="unsafe").view(np.uint64)
    # Rounded to 24 digits, a number and its copy in single precision are the same. What is left
    # are 35 bits; dropping the others keeps the words small, so that small integers, whose last
    # digits are zeros, still reach 45 bits of the sum and more.
    np.add(bits, np.uint64(2**28), out=spare)
    return np.right_shift(spare, np.uint64(29), out=spare)


def _multipliers(n: int) -> np.ndarray:
    return _scramble(np.arange(1, n + 1, dtype=np.uint64)) | np.uint64(1)


def _scramble(z: np.ndarray) -> np.ndarray:
    """SplitMix64's finaliser: a bijection of 64-bit words in which every bit depends on all."""
    z = (z + np.uint64(0x9E3779B97F4A7C15)).astype(np.uint64)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def _smallest(hashes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return at least the SKETCH_SIZE smallest distinct hashes, if there are so many."""
    size = 2 * SKETCH_SIZE
    if len(hashes) > 2 * size:  # selecting is cheaper than sorting
        largest = np.partition(hashes, size)[size]
        distinct, counts = np.unique(hashes[hashes <= largest], return_counts=True)
        if len(distinct) >= SKETCH_SIZE:
            return distinct, counts
    return np.unique(hashes, return_counts=True)


def _fits_together(memory: "Fingerprint") -> str | None:
    if memory.hashes.dtype != np.uint64 or memory.counts.dtype != np.int64:
        return "hashes and counts must have 64 bits"
    if len(memory.hashes) > SKETCH_SIZE or not np.all(memory.hashes[:-1] < memory.hashes[1:]):
        return "the hashes are not ascending"
    if memory.n_rows < len(memory.hashes) or memory.counts.max(initial=0) > memory.n_rows:
        return "there are more rows than were counted"
    return None


def _repeated_by_hand(counts: np.ndarray, hashes: np.ndarray) -> bool:
    """Say whether new rows repeat each other far less than the training rows suggest.

    If training rows are independent draws, each pair of rows is equal with a probability that
    their repeats estimate, and so is each pair of new rows. The variances allow for values that
    are far more frequent than others.
    """
    n, m = float(counts.sum()), float(len(hashes))
    if n < 3 or m < 2:
        return False
    c = counts.astype(np.float64)
    two = float(c @ (c - 1)) / (n * (n - 1))
    three = float((c * (c - 1)) @ (c - 2)) / (n * (n - 1) * (n - 2))
    common = max(0.0, three - two**2)

    def variance_of_pairs(rows: float) -> float:
        triples = rows * (rows - 1) * (rows - 2)
        return rows * (rows - 1) / 2 * two * (1 - two) + triples * common

    pairs = m * (m - 1) / 2
    repeats = np.unique(hashes, return_counts=True)[1].astype(np.float64)
    found = float(repeats @ (repeats - 1)) / 2
    variance = variance_of_pairs(m) + (pairs / (n * (n - 1) / 2)) ** 2 * variance_of_pairs(n)
    return pairs * two - found > FAR_BELOW * math.sqrt(variance)


@dataclass(frozen=True)
class Fingerprint(Summary):
    """Bottom-k sketch of training rows.

    Parameters
    ----------
    hashes : ndarray of dtype uint64, default=no hashes
        The smallest distinct row hashes, ascending.
    counts : ndarray of dtype int64, default=no counts
        How often each occurred.
    n_rows : int, default=0
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

    _schema = Schema(
        _fits_together, hashes=Array("u", "k"), counts=Array("i", "k", low=1), n_rows=Integer(0)
    )

    def empty(self) -> Self:
        """Return a fingerprint of no rows."""
        return type(self)()

    def update(self, chunk: Chunk) -> Self:
        """Add the rows of ``chunk[0]``."""
        hashes = hash_rows(chunk[0])
        distinct, counts = _smallest(hashes)
        part = type(self)(distinct[:SKETCH_SIZE], counts[:SKETCH_SIZE], len(hashes))
        return part if self.n_rows == 0 else self.merge(part)

    def merge(self, other: Self) -> Self:
        """Unite two sketches and keep the smallest hashes."""
        both = np.concatenate([self.hashes, other.hashes])
        # Two ascending runs: the stable sort merges them in linear time.
        order = np.argsort(both, kind="stable")
        both = both[order]
        first = np.flatnonzero(np.append(True, both[1:] != both[:-1])[: len(both)])
        counts = np.add.reduceat(np.concatenate([self.counts, other.counts])[order], first)
        hashes = both[first]
        n_rows = self.n_rows + other.n_rows
        return type(self)(hashes[:SKETCH_SIZE], counts[:SKETCH_SIZE], n_rows)

    def union(self, other: Self) -> Self:
        """Unite two sketches, counting rows that both have as often as the one that has more."""
        both = self.merge(other)
        counts = np.zeros_like(both.counts)
        for part in (self, other):
            place = np.searchsorted(both.hashes, part.hashes)
            inside = place < len(both.hashes)
            place, known = place[inside], part.counts[inside]
            counts[place] = np.maximum(counts[place], known)
        same = np.array_equal(self.hashes, other.hashes)
        return type(self)(
            both.hashes, counts, max(self.n_rows, other.n_rows) if same else both.n_rows
        )

    def overlap(self, X: Any) -> Overlap:
        """Look rows up."""
        from scipy.stats import binom

        hashes = hash_rows(X)
        if len(self.hashes) == SKETCH_SIZE:
            hashes = hashes[hashes <= self.hashes[-1]]
        seen = int(np.isin(hashes, self.hashes).sum())
        repeated = int(self.counts[self.counts > 1].sum())
        if seen and repeated and _repeated_by_hand(self.counts, hashes):
            repeated = 0
        chance = (repeated + 0.5) / (self.counts.sum() + 1)
        p_value = float(binom.sf(seen - 1, len(hashes), chance)) if seen else 1.0
        return Overlap(seen, len(hashes), float(chance), p_value)
