import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corollary.decomposition import (
    leading_eigenspace,
    least_reconstruction_error,
    orthogonal_projector,
    reconstruction_error,
    trace_inequality,
)


def psd(rng, d=5):
    root = rng.normal(size=(d, d))
    return root @ root.T


@given(st.integers(0, 10**6), st.integers(0, 5))
def test_the_error_of_the_leading_eigenspace_is_the_tail(seed, k):
    rng = np.random.default_rng(seed)
    S = psd(rng)
    tail = np.sort(np.linalg.eigvalsh(S))[: 5 - k].sum()
    assert least_reconstruction_error(S, k) == pytest.approx(tail, rel=1e-10, abs=1e-10)
    if k:
        space = leading_eigenspace(S, k)
        error = reconstruction_error(space.basis, S)
        assert error == pytest.approx(tail, rel=1e-8, abs=1e-8 * np.trace(S))
        np.testing.assert_allclose(S @ space.basis, space.basis * space.values, atol=1e-9)
        np.testing.assert_allclose(space.basis.T @ space.basis, np.eye(k), atol=1e-12)


@given(st.integers(0, 10**6), st.integers(1, 4))
def test_no_subspace_is_better(seed, k):
    rng = np.random.default_rng(seed)
    S = psd(rng)
    least = least_reconstruction_error(S, k)
    for _ in range(5):
        assert reconstruction_error(rng.normal(size=(5, k)), S) >= least - 1e-9 * np.trace(S)


@given(st.integers(0, 10**6))
def test_von_neumann(seed):
    rng = np.random.default_rng(seed)
    A, B = psd(rng), psd(rng) - 2 * np.eye(5)
    sides = trace_inequality(A, B)
    assert sides.trace == pytest.approx(np.trace(A @ B))
    assert sides.bound == pytest.approx(
        np.sort(np.linalg.eigvalsh(A)) @ np.sort(np.linalg.eigvalsh(B))
    )
    assert sides.trace <= sides.bound + 1e-9 * abs(sides.bound)


def test_the_trace_inequality_proves_optimality(seed):
    rng = np.random.default_rng(seed)
    S = psd(rng)
    space = leading_eigenspace(S, 2)
    for basis in (rng.normal(size=(5, 2)), space.basis):
        sides = trace_inequality(orthogonal_projector(basis), S)
        assert sides.bound == pytest.approx(space.values.sum())
    assert sides.trace == pytest.approx(sides.bound)


def test_values_by_hand():
    S = np.diag([3.0, 1.0, 2.0])
    space = leading_eigenspace(S, 2)
    assert space.values.tolist() == [3.0, 2.0]
    assert np.abs(space.basis).tolist() == [[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]]
    assert space.basis.max(axis=0).tolist() == [1.0, 1.0]
    assert least_reconstruction_error(S, 1) == 3.0
    assert least_reconstruction_error(S, 0) == 6.0
    assert least_reconstruction_error(S, 3) == 0.0
    assert leading_eigenspace(S, 1).unique
    assert leading_eigenspace(np.diag([3.0, 1.0, 1.0]), 1).unique
    assert not leading_eigenspace(np.diag([3.0, 3.0, 1.0]), 1).unique
    assert leading_eigenspace(np.diag([3.0, 3.0, 1.0]), 2).unique
    assert leading_eigenspace(np.eye(2), 2).unique
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(9, 9)))[0]
    for factor, unique in ((1e-10, True), (0.0, False)):
        S = (Q * np.repeat([2e5, 1e5, 1e5 - 2e5 * factor, 1.0], [1, 3, 1, 4])) @ Q.T
        assert leading_eigenspace((S + S.T) / 2, 4).unique is unique
    assert leading_eigenspace(np.eye(2), 0).unique


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: leading_eigenspace(np.eye(2), 3), "between 0 and 2"),
        (lambda: leading_eigenspace(np.eye(2), -1), "between 0 and 2"),
        (lambda: least_reconstruction_error(np.eye(2), 3), "between 0 and 2"),
        (lambda: leading_eigenspace(-np.eye(2), 1), "positive semi-definite"),
        (lambda: leading_eigenspace(np.ones((2, 3)), 1), "square"),
        (lambda: least_reconstruction_error([[1.0, 2.0], [0.0, 1.0]], 1), "symmetric"),
        (lambda: trace_inequality(np.eye(2), np.eye(3)), "one size"),
    ],
)
def test_bad_input_is_told(call, words):
    with pytest.raises(ValueError, match=words):
        call()
