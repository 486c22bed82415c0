import numpy as np
import pytest

from corollary.kernels.models import _cholesky as cholesky
from corollary.kernels.models._cholesky import factor_in_place, restore, solve_factored


@pytest.fixture
def K(seed):
    A = np.random.default_rng(seed).normal(size=(53, 60))
    return A @ A.T


@pytest.mark.parametrize("block", [8, 53, 384])
def test_factor_and_solve(K, block, seed, monkeypatch):
    monkeypatch.setattr(cholesky, "BLOCK", block)
    y = np.random.default_rng(seed).normal(size=(53, 2))
    work = K.copy()
    assert factor_in_place(work)
    np.testing.assert_allclose(np.tril(work), np.linalg.cholesky(K), rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(np.triu(work, 1), np.triu(K, 1))  # the other triangle is kept
    np.testing.assert_allclose(K @ solve_factored(work, y), y, atol=1e-8)
    restore(work, np.diag(K))
    np.testing.assert_allclose(work, K, rtol=1e-14)


@pytest.mark.parametrize("at", [0, 20, 52])
def test_what_is_not_positive_definite_is_noticed_and_restored(K, at, monkeypatch):
    monkeypatch.setattr(cholesky, "BLOCK", 8)
    K[at, at] = -1.0
    work = K.copy()
    assert not factor_in_place(work)
    restore(work, np.diag(K))
    np.testing.assert_allclose(work, K, rtol=1e-14)


def test_threads_do_not_change_a_bit(K, monkeypatch):
    monkeypatch.setattr(cholesky, "BLOCK", 8)
    many, one = K.copy(), K.copy()
    monkeypatch.setattr("corollary.core.parallel.threads.available_cores", lambda: 3)
    factor_in_place(many)
    monkeypatch.setattr("corollary.core.parallel.threads.available_cores", lambda: 1)
    factor_in_place(one)
    np.testing.assert_array_equal(many, one)
