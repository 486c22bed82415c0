"""Moments against exact arithmetic."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from corollary.core.summary import Moments, reduce


def exact(X, w):
    """Mean and scatter in rational arithmetic."""
    rows = [[Fraction(float(v)) for v in row] for row in X]
    weights = [Fraction(float(v)) for v in w]
    total = sum(weights)
    d = len(rows[0])
    mean = [sum(a * r[j] for a, r in zip(weights, rows)) / total for j in range(d)]
    scatter = [
        [
            float(sum(a * (r[i] - mean[i]) * (r[j] - mean[j]) for a, r in zip(weights, rows)))
            for j in range(d)
        ]
        for i in range(d)
    ]
    return np.array([float(m) for m in mean]), np.array(scatter)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("offset", [0.0, 1e4, 1e8])
def test_large_means_do_not_spoil_the_scatter(offset, weighted, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 3)) + offset
    w = rng.exponential(size=200) if weighted else np.ones(200)
    found = reduce(Moments.of_width(3), (X, w) if weighted else (X,))
    mean, scatter = exact(X, w)
    np.testing.assert_allclose(found.mean, mean, rtol=1e-14, atol=1e-15)
    np.testing.assert_allclose(found.scatter, scatter, rtol=1e-10, atol=1e-10)
    assert found.n_rows == 200
    assert found.weight == pytest.approx(w.sum(), rel=1e-14)


def test_first_rows_far_from_the_rest_do_not_spoil_the_scatter(monkeypatch, seed):
    monkeypatch.setattr("corollary.core.summary.moments.BUFFER_BYTES", 8 * 64 * 2)
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(1000, 2)) + 1e9
    X[:64] = 0.0  # all the rows that choose the shift
    found = Moments.of_width(2).update((X,))
    _, scatter = exact(X, np.ones(1000))
    np.testing.assert_allclose(found.scatter, scatter, rtol=1e-13)


def test_merging_blocks_of_different_means_is_stable(seed):
    rng = np.random.default_rng(seed)
    parts = [rng.normal(size=(50, 2)) + 1e7 * k for k in range(4)]
    total = Moments.of_width(2)
    for part in parts:
        total = total.update((part,))
    mean, scatter = exact(np.concatenate(parts), np.ones(200))
    np.testing.assert_allclose(total.mean, mean, rtol=1e-14)
    np.testing.assert_allclose(total.scatter, scatter, rtol=1e-12)


@given(st.integers(0, 10_000))
def test_weight_is_repetition(example):
    rng = np.random.default_rng(example)
    X, k = rng.normal(size=(12, 3)), rng.integers(0, 4, 12)
    if k.sum() == 0:
        return
    weighted = Moments.of_width(3).update((X, k.astype(float)))
    repeated = Moments.of_width(3).update((np.repeat(X, k, axis=0),))
    np.testing.assert_allclose(weighted.mean, repeated.mean, atol=1e-12)
    np.testing.assert_allclose(weighted.scatter, repeated.scatter, atol=1e-12)
    assert weighted.weight == repeated.weight


def test_rows_of_weight_zero_do_not_exist():
    X = np.array([[1e300, 1.0], [1.0, 2.0], [3.0, 5.0]])
    w = np.array([0.0, 1.0, 1.0])
    found = Moments.of_width(2).update((X, w))
    np.testing.assert_array_equal(found.mean, [2.0, 3.5])
    np.testing.assert_array_equal(found.scatter, [[2.0, 3.0], [3.0, 4.5]])
    assert found.n_rows == 2
    nothing = Moments.of_width(2).update((X, np.zeros(3)))
    assert (nothing.n_rows, nothing.weight) == (0, 0.0)


def test_layout_and_precision_leave_no_trace(seed):
    X = np.random.default_rng(seed).normal(size=(5000, 7)).astype(np.float32)
    copies = [X, X.astype(float), np.asfortranarray(X.astype(float)), np.repeat(X, 2, 1)[:, ::2]]
    results = [reduce(Moments.of_width(7), (copy,)) for copy in copies]
    assert len({r.scatter.tobytes() + r.mean.tobytes() for r in results}) == 1


@pytest.mark.parametrize("density", [0.01, 0.5])
@pytest.mark.parametrize("weighted", [False, True])
def test_sparse_equals_dense(density, weighted, seed):
    X = sparse.random(400, 6, density=density, format="csr", random_state=seed)
    w = np.random.default_rng(seed).integers(0, 3, 400).astype(float)
    extra = (w,) if weighted else ()
    thin = reduce(Moments.of_width(6), (X, *extra))
    dense = reduce(Moments.of_width(6), (X.toarray(), *extra))
    np.testing.assert_allclose(thin.mean, dense.mean, atol=1e-14)
    np.testing.assert_allclose(thin.scatter, dense.scatter, atol=1e-12)


def test_covariance_is_numpys(seed):
    X = np.random.default_rng(seed).normal(size=(50, 3))
    found = Moments.of_width(3).update((X,))
    np.testing.assert_allclose(found.covariance(ddof=1), np.cov(X.T), rtol=1e-12)
    np.testing.assert_allclose(found.covariance(), np.cov(X.T, ddof=0), rtol=1e-12)


def test_covariance_needs_enough_rows():
    one = Moments.of_width(1).update((np.ones((1, 1)),))
    with pytest.raises(ValueError, match=r"ddof=1 needs a total weight above 1. Got 1.0 from 1"):
        one.covariance(ddof=1)
