"""Fingerprints: equal rows are found, fresh rows are not, and hashes never change."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator

from corollary.core.estimator import remember_rows
from corollary.core.fingerprint import SKETCH_SIZE, Fingerprint, hash_rows
from corollary.core.simulate import assert_bound_holds
from corollary.core.summary import reduce


def naive_hash(row):
    """The definition, in Python's integers."""
    mask = 2**64 - 1

    def scramble(z):
        z = (z + 0x9E3779B97F4A7C15) & mask
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        return z ^ (z >> 31)

    total = 0
    for j, value in enumerate(row):
        bits = int(np.array(value + 0.0).view(np.uint64))
        bits = ((bits + 2**28) & mask) >> 29  # to the 24 digits of single precision
        total += bits * (scramble(j + 1) | 1)
    return scramble(total & mask)


def test_hash_follows_its_definition(seed):
    X = np.random.default_rng(seed).normal(size=(5, 7))
    X[1, 2], X[2, 2] = 0.0, -0.0
    assert hash_rows(X).tolist() == [naive_hash(row) for row in X]


def test_the_compiled_hash_has_the_same_bits(seed, monkeypatch):
    import numba  # noqa: F401 - loaded, the compiled loop is taken

    from corollary.core import fingerprint

    X = np.random.default_rng(seed).normal(size=(300, 7))
    X[1, 2], X[2, 2], X[3, 3], X[4, 4] = 0.0, -0.0, np.inf, np.nan
    monkeypatch.setattr(fingerprint, "COMPILED_SIZE", 10**9)
    expected = hash_rows(X)
    monkeypatch.setattr(fingerprint, "COMPILED_SIZE", 1)
    monkeypatch.setattr(fingerprint, "_words", None)  # what the other way needs
    np.testing.assert_array_equal(hash_rows(X), expected)
    assert hash_rows(X[:3]).tolist() == [naive_hash(row) for row in X[:3]]


def test_hash_does_not_depend_on_layout_or_dtype(seed):
    X = np.random.default_rng(seed).integers(-5, 5, size=(3000, 40))
    expected = hash_rows(X.astype(float))
    for same in (X, X.astype(np.float32), np.asfortranarray(X), np.repeat(X, 2, 1)[:, ::2]):
        np.testing.assert_array_equal(hash_rows(same), expected)
    np.testing.assert_array_equal(hash_rows(sparse.csr_matrix(X.astype(float))), expected)
    np.testing.assert_array_equal(hash_rows(sparse.csc_matrix(X.astype(float))), expected)


def test_sparse_duplicates_are_summed_first():
    once = sparse.csr_matrix(np.array([[0.0, 3.0]]))
    twice = sparse.csr_matrix(([1.0, 2.0], ([0, 0], [1, 1])), shape=(1, 2))
    twice = sparse.csr_matrix((np.array([1.0, 2.0]), np.array([1, 1]), np.array([0, 2])), (1, 2))
    np.testing.assert_array_equal(hash_rows(once), hash_rows(twice))


def test_small_integers_do_not_collide():
    grid = np.stack(np.meshgrid(*[np.arange(60.0)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    assert len(np.unique(hash_rows(grid))) == len(grid)


def test_hashes_are_uniform(seed):
    hashes = hash_rows(np.arange(100_000.0).reshape(-1, 1))
    share = np.mean(hashes < 2**60)
    assert abs(share - 1 / 16) < 5 * np.sqrt(1 / 16 / 100_000)


def test_no_rows_and_no_columns():
    assert hash_rows(np.empty((0, 3))).shape == (0,)
    assert len(set(hash_rows(np.empty((3, 0))).tolist())) == 1
    assert Fingerprint().update((np.empty((0, 3)),)).n_rows == 0


def test_sketch_keeps_the_smallest_distinct_hashes_with_counts(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 15_000, size=(60_000, 1)).astype(float)
    found = reduce(Fingerprint(), [(X[:100],), (X[100:50_000],), (X[50_000:],)])
    distinct, counts = np.unique(hash_rows(X), return_counts=True)
    assert len(distinct) > SKETCH_SIZE
    np.testing.assert_array_equal(found.hashes, distinct[:SKETCH_SIZE])
    np.testing.assert_array_equal(found.counts, counts[:SKETCH_SIZE])
    assert found.n_rows == 60_000


def test_remembering_does_not_depend_on_the_cut(seed):
    class Model(BaseEstimator):
        pass

    X = np.random.default_rng(seed).normal(size=(30_000, 2))
    whole, pieces = Model(), Model()
    remember_rows(whole, X)
    for part in np.array_split(X, 7):
        remember_rows(pieces, part, more=True)
    np.testing.assert_array_equal(whole.fingerprint_.hashes, pieces.fingerprint_.hashes)
    np.testing.assert_array_equal(whole.fingerprint_.counts, pieces.fingerprint_.counts)
    remember_rows(pieces, X[:10])
    assert pieces.fingerprint_.n_rows == 10


@pytest.mark.parametrize("n", [100, 50_000])
def test_training_rows_are_recognised(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    memory = reduce(Fingerprint(), (X,))
    seen = memory.overlap(X[: n // 2])
    assert seen.seen == seen.compared > 0
    assert seen.p_value < 1e-6
    fresh = memory.overlap(rng.normal(size=(n, 3)))
    assert (fresh.seen, fresh.p_value) == (0, 1.0)


def test_data_that_repeat_by_nature_do_not_raise_an_alarm(seed):
    rng = np.random.RandomState(seed)
    alarms = 0
    for _ in range(200):
        draw = rng.randint(0, 4, size=(300, 2)).astype(float)
        memory = Fingerprint().update((draw[:200],))
        alarms += memory.overlap(draw[200:]).p_value < 0.01
    assert_bound_holds(alarms, 200, 0.01)


def test_single_precision_copies_are_the_same_rows(seed):
    X = np.random.default_rng(seed).normal(size=(500, 4)) * [1.0, 1e-20, 1e20, 1e5]
    np.testing.assert_array_equal(hash_rows(X), hash_rows(X.astype(np.float32)))
    assert len(np.unique(hash_rows(X))) == 500
    extreme = np.array([[np.inf], [-np.inf], [1e300], [1.7e308], [-1e-320], [np.nan]])
    assert len(np.unique(hash_rows(extreme))) == 6


@pytest.mark.parametrize("how", ["repeated", "bootstrap"])
def test_rows_repeated_by_hand_do_not_hide_themselves(how, seed):
    # A population that repeats so many training rows would repeat rows among new ones, too.
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 3))
    rows = np.repeat(np.arange(200), 3) if how == "repeated" else rng.integers(0, 200, 600)
    memory = Fingerprint().update((X[rows],))
    assert memory.overlap(X).p_value < 1e-6
    assert memory.overlap(rng.normal(size=(200, 3))).p_value == 1.0


def test_uneven_repetition_by_nature_does_not_raise_an_alarm(seed):
    # One value in two rows, the others rare: repeats among 100 rows vary far more than if each
    # pair were equal by a coin of its own.
    rng = np.random.RandomState(seed)
    alarms = 0
    for _ in range(400):
        draw = np.where(rng.rand(500) < 0.5, 0.0, rng.randint(1, 5000, 500)).reshape(-1, 1)
        memory = Fingerprint().update((draw[:400],))
        alarms += memory.overlap(draw[400:]).p_value < 0.01
    assert_bound_holds(alarms, 400, 0.01)


def test_a_union_counts_rows_once(seed):
    X = np.random.default_rng(seed).normal(size=(30, 2))
    first, second = (Fingerprint().update((part,)) for part in (X[:20], X[10:]))
    both = first.union(second)
    np.testing.assert_array_equal(both.hashes, np.unique(hash_rows(X)))
    assert both.counts.tolist() == [1] * 30
    same = first.union(first)
    np.testing.assert_array_equal(same.hashes, first.hashes)
    assert (same.n_rows, same.counts.max()) == (20, 1)


def test_data_frames_are_numbers_too():
    frame = pd.DataFrame({"a": [1, 2], "b": [0.5, -0.0]})
    np.testing.assert_array_equal(hash_rows(frame), hash_rows([[1.0, 0.5], [2.0, 0.0]]))
