"""Summaries: their laws, and the same bits however the rows are cut."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corollary.cluster.means._rows import Assignment, ClusterSums, Spread
from corollary.core.fingerprint import Fingerprint
from corollary.core.summary import (
    BLOCK_BYTES,
    MergeTree,
    Moments,
    Together,
    block_rows,
    n_rows,
    reblock,
    reduce,
    reduce_blocks,
    slice_rows,
)
from corollary.ensemble import GradientHistogram
from corollary.linear import NormalEquations
from corollary.linear.squares._refinement import ResidualProducts
from corollary.linear.squares._triangular_factor import TriangularFactor
from corollary.tree import find_bins

WIDTH = 4


def numbers(summary):
    """All the arrays and numbers of a summary, flattened."""
    if isinstance(summary, Together):
        return np.concatenate([numbers(part) for part in summary.parts])
    if isinstance(summary, TriangularFactor):
        return (summary.R.T @ summary.R).ravel()  # R itself is determined up to signs
    if isinstance(summary, GradientHistogram):
        return summary.sums.ravel().astype(float)
    parts = []
    for value in vars(summary).values():
        if isinstance(value, Moments):
            parts.append(numbers(value))
        else:
            parts.append(np.ravel(np.asarray(value, dtype=float)))
    return np.concatenate(parts)


def bits(summary):
    if isinstance(summary, TriangularFactor):
        return summary.R.tobytes()
    return numbers(summary).tobytes()


SUMMARIES = {
    "Moments": Moments.of_width(WIDTH),
    "NormalEquations": NormalEquations.of_width(WIDTH),
    "TriangularFactor": TriangularFactor.of_shift(np.arange(5.0)),
    "ResidualProducts": ResidualProducts(
        np.ones(WIDTH), np.ones(1), np.ones((WIDTH, 1)), np.zeros((WIDTH, 1))
    ),
    "Fingerprint": Fingerprint(),
    "GradientHistogram": GradientHistogram.of(
        find_bins(np.arange(9.0)[:, None] * np.ones(WIDTH)),
        n_rows=100_000,
        peaks=(1.0, 1.0),
        nodes=[0, 2],
    ),
    "ClusterSums": ClusterSums.of(np.arange(12.0).reshape(3, WIDTH)),
    "Assignment": Assignment(np.arange(12.0).reshape(3, WIDTH), keep=False, counts=np.zeros(3)),
    "Spread": Spread(mean=np.zeros(WIDTH), squares=np.zeros(WIDTH)),
    "Together": Together((NormalEquations.of_width(WIDTH), Fingerprint())),
}


def chunk(summary, n, seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, WIDTH)) + 3.0, rng.normal(size=n)
    if isinstance(summary, GradientHistogram):
        codes = rng.integers(0, 10, size=(n, WIDTH), dtype=np.uint8)
        return codes, summary.pack(rng.uniform(0.0, 1.0, size=(n, 2))), rng.integers(0, 3, n)
    return (X,) if isinstance(summary, Moments) else (X, y, rng.integers(1, 4, n).astype(float))


@pytest.fixture(params=sorted(SUMMARIES))
def summary(request):
    return SUMMARIES[request.param]


def test_merge_is_associative(summary, seed):
    a, b, c = (summary.empty().update(chunk(summary, n, seed + n)) for n in (3, 17, 40))
    left, right = a.merge(b).merge(c), a.merge(b.merge(c))
    np.testing.assert_allclose(numbers(left), numbers(right), rtol=1e-12, atol=1e-9)


def test_empty_is_neutral(summary, seed):
    a = summary.empty().update(chunk(summary, 20, seed))
    for merged in (a.merge(summary.empty()), summary.empty().merge(a)):
        np.testing.assert_allclose(numbers(merged), numbers(a), rtol=1e-13)


def test_update_equals_merge_with_the_chunk(summary, seed):
    first, second = chunk(summary, 20, seed), chunk(summary, 30, seed + 1)
    start = summary.empty().update(first)
    updated = start.update(second)
    merged = start.merge(summary.empty().update(second))
    np.testing.assert_allclose(numbers(updated), numbers(merged), rtol=1e-12, atol=1e-9)


def test_update_and_merge_leave_their_arguments_alone(summary, seed):
    a = summary.empty().update(chunk(summary, 20, seed))
    b = summary.empty().update(chunk(summary, 20, seed + 1))
    before = bits(a), bits(b)
    a.merge(b)
    a.update(chunk(summary, 5, seed))
    assert (bits(a), bits(b)) == before


def test_threads_do_not_change_a_bit(summary, seed):
    data = chunk(summary, 3 * 65536 // 2, seed)
    results = {bits(reduce(summary, data, n_jobs=jobs)) for jobs in (1, 2, 3, None)}
    assert len(results) == 1


@pytest.mark.parametrize("sizes", [[1000] * 40, [39_999, 1], [7, 39_993], [40_000]])
def test_how_chunks_are_cut_does_not_change_a_bit(summary, sizes, seed, monkeypatch):
    monkeypatch.setattr("corollary.core.summary.summary.BLOCK_BYTES", BLOCK_BYTES // 64)
    data = chunk(summary, 40_000, seed)
    whole = reduce(summary, data)
    starts = np.cumsum([0, *sizes])
    chunks = [slice_rows(data, a, b) for a, b in pairwise(starts)]
    assert bits(reduce(summary, chunks)) == bits(whole)
    assert bits(reduce(summary, iter(chunks), n_jobs=2)) == bits(whole)


def test_reduce_starts_from_what_it_is_given(seed):
    data = chunk(Moments.of_width(WIDTH), 100, seed)
    start = Moments.of_width(WIDTH).update(slice_rows(data, 0, 60))
    total = reduce(start, slice_rows(data, 60, 100))
    np.testing.assert_allclose(total.mean, data[0].mean(axis=0))
    assert total.n_rows == 100


@given(st.lists(st.integers(0, 30), min_size=1, max_size=8), st.integers(1, 20))
def test_reblock_keeps_rows_and_order(sizes, rows):
    total = sum(sizes)
    X = np.arange(2.0 * total).reshape(total, 2)
    starts = np.cumsum([0, *sizes])
    blocks = list(reblock([(X[a:b], None) for a, b in pairwise(starts)], rows))
    assert all(n_rows(block) == rows for block in blocks[:-1])
    assert all(block[1] is None for block in blocks)
    if total:
        np.testing.assert_array_equal(np.concatenate([block[0] for block in blocks]), X)
    else:
        assert blocks == []


def test_reblock_joins_sparse_chunks():
    from scipy import sparse

    X = sparse.random(10, 3, density=0.5, format="csr", random_state=0)
    blocks = list(reblock([(X[:4],), (X[4:],)], 7))
    assert [block[0].shape[0] for block in blocks] == [7, 3]
    assert (sparse.vstack([block[0] for block in blocks]) != X).nnz == 0


@given(st.integers(1, 40))
def test_merge_tree_pairs_neighbours(n):
    tree = MergeTree(lambda left, right: (left, right))
    for i in range(n):
        tree.push(i)

    def oracle(parts):
        if len(parts) == 1:
            return parts[0]
        half = 1 << ((len(parts) - 1).bit_length() - 1)
        return (oracle(parts[:half]), oracle(parts[half:]))

    assert tree.result() == oracle(list(range(n)))


def test_merge_tree_of_nothing():
    assert MergeTree(lambda left, right: left).result() is None
    empty = Moments.of_width(2)
    assert reduce_blocks(empty, []) is empty


def test_blocks_depend_on_the_width_alone():
    wide, tall = np.zeros((10, 100)), np.zeros((100_000, 1))
    assert block_rows((wide,)) == block_rows((wide[:3],))
    assert block_rows((wide,)) == block_rows((wide.astype(np.float32), None))
    assert block_rows((tall,)) == 65536
    assert block_rows((np.empty((1, 10**6)),)) == 256
