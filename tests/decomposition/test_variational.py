import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from corollary.decomposition import best_pca_subspace, leading_eigenspace, pca_bound


def setting(seed, d=4, k=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, d)) * np.arange(1, d + 1)
    U = np.linalg.qr(rng.normal(size=(d, k)))[0]
    return X, U, X.T @ X / len(X)


@given(st.integers(0, 10**6), st.floats(0.1, 20))
def test_parts_are_the_means_over_rows(seed, beta):
    X, U, S = setting(seed)
    k, d = 2, 4
    parts = pca_bound(U, S, beta=beta)
    codes = X @ U
    lost = np.sum((X - codes @ U.T) ** 2, axis=1)
    reconstruction = np.mean(-lost / 2 - k / 2 - d / 2 * np.log(2 * np.pi))
    squares = np.sum(codes**2, axis=1)
    divergence = np.mean((k / beta + squares / beta - k + k * np.log(beta)) / 2)
    assert parts.reconstruction == pytest.approx(reconstruction)
    assert parts.divergence == pytest.approx(divergence)
    assert parts.bound == pytest.approx(reconstruction - divergence)


@given(st.integers(0, 10**6), st.floats(0.1, 20))
def test_the_evidence_is_the_mean_log_density(seed, beta):
    X, U, S = setting(seed)
    parts = pca_bound(U, S, beta=beta)
    law = stats.multivariate_normal(np.zeros(4), np.eye(4) + beta * U @ U.T)
    assert parts.evidence == pytest.approx(law.logpdf(X).mean())
    # The gap is the mean relative entropy of two Gaussians in each of k coordinates.
    variance = beta / (1 + beta)
    shift = X @ U / (1 + beta)
    divergence = np.sum(1 / variance - 1 + np.log(variance) + shift**2 / variance, axis=1) / 2
    assert parts.gap == pytest.approx(divergence.mean())
    assert parts.gap >= 0


@given(st.integers(0, 10**6), st.floats(0.05, 5), st.integers(1, 3))
def test_no_subspace_has_a_larger_bound(seed, beta, k):
    _, _, S = setting(seed)
    rng = np.random.default_rng(seed)
    best = best_pca_subspace(S, k, beta=beta)
    assert best.bound == pytest.approx(pca_bound(best.basis, S, beta=beta).bound)
    for _ in range(5):
        U = np.linalg.qr(rng.normal(size=(4, k)))[0]
        assert pca_bound(U, S, beta=beta).bound <= best.bound + 1e-9


def test_the_prior_decides_between_the_first_and_the_last_eigenvectors():
    S = np.diag([4.0, 3.0, 2.0, 1.0])
    above = best_pca_subspace(S, 2, beta=1.1)
    assert above.which == "leading"
    np.testing.assert_array_equal(above.basis, leading_eigenspace(S, 2).basis)
    below = best_pca_subspace(S, 2, beta=0.9)
    assert below.which == "last"
    np.testing.assert_array_equal(np.abs(below.basis), [[0, 0], [0, 0], [1, 0], [0, 1]])
    flat = best_pca_subspace(S, 2, beta=1.0)
    assert flat.which == "any"
    other = np.linalg.qr(np.random.default_rng(0).normal(size=(4, 2)))[0]
    assert pca_bound(other, S, beta=1.0).bound == pytest.approx(flat.bound)


def test_a_value_by_hand():
    # d = 2, k = 1, U the first axis, Sigma = diag(3, 1), beta = 2.
    parts = pca_bound([[1.0], [0.0]], np.diag([3.0, 1.0]), beta=2.0)
    assert parts.reconstruction == pytest.approx(-0.5 - 0.5 - np.log(2 * np.pi))
    assert parts.divergence == pytest.approx((0.5 + 1.5 - 1 + np.log(2)) / 2)
    assert parts.gap == pytest.approx((0.5 - np.log(1.5) + 0.5) / 2)


def test_a_flat_prior_closes_the_gap(seed):
    _, U, S = setting(seed)
    gaps = [pca_bound(U, S, beta=b).gap for b in (1, 10, 100, 1e6)]
    assert np.all(np.diff(gaps) < 0)
    assert gaps[-1] < 1e-5


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: pca_bound([[2.0], [0.0]], np.eye(2), beta=2.0), "orthonormal"),
        (lambda: pca_bound([[1.0]], np.eye(2), beta=2.0), "2 rows"),
        (lambda: pca_bound([[1.0], [0.0]], np.eye(2), beta=0.0), "beta"),
        (lambda: best_pca_subspace(np.eye(2), 3, beta=1.0), "between 0 and 2"),
    ],
)
def test_bad_input_is_told(call, words):
    with pytest.raises(ValueError, match=words):
        call()
