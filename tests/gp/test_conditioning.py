"""Gaussian conditioning and the Schur complement against densities and direct inverses."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

from corollary.gp import block_inverse, condition_gaussian, schur_complement


def random_law(rng, n):
    G = rng.normal(size=(n, n + 2))
    return rng.normal(size=n), G @ G.T


@given(st.integers(0, 10**6), st.integers(2, 6), st.data())
def test_joint_density_is_marginal_times_conditional(seed, n, data):
    rng = np.random.default_rng(seed)
    mean, cov = random_law(rng, n)
    observed = rng.permutation(n)[: data.draw(st.integers(1, n - 1))]
    rest = np.setdiff1d(np.arange(n), observed)
    z = rng.normal(size=n)
    law = condition_gaussian(mean, cov, observed, z[observed])
    joint = multivariate_normal(mean, cov).logpdf(z)
    marginal = multivariate_normal(mean[observed], cov[np.ix_(observed, observed)])
    conditional = multivariate_normal(law.mean, law.covariance)
    assert joint == pytest.approx(
        marginal.logpdf(z[observed]) + conditional.logpdf(z[rest]), rel=1e-6, abs=1e-6
    )


def test_precision_form(seed):
    mean, cov = random_law(np.random.default_rng(seed), 5)
    law = condition_gaussian(mean, cov, [1, 4], [0.3, -2.0])
    precision = np.linalg.inv(cov)
    rest, seen = [0, 2, 3], [1, 4]
    block = np.linalg.inv(precision[np.ix_(rest, rest)])
    shift = block @ precision[np.ix_(rest, seen)] @ (np.array([0.3, -2.0]) - mean[seen])
    np.testing.assert_allclose(law.covariance, block, rtol=1e-8)
    np.testing.assert_allclose(law.mean, mean[rest] - shift, rtol=1e-7, atol=1e-9)


def test_order_of_observed_indices_belongs_to_the_values(seed):
    mean, cov = random_law(np.random.default_rng(seed), 4)
    a = condition_gaussian(mean, cov, [3, 0], [1.0, 2.0])
    b = condition_gaussian(mean, cov, [0, 3], [2.0, 1.0])
    np.testing.assert_allclose(a.mean, b.mean)


def test_conditional_law_by_rejection(seed):
    rng = np.random.default_rng(seed)
    cov = np.array([[1.0, 0.8], [0.8, 1.0]])
    draws = rng.multivariate_normal([0, 0], cov, size=400_000)
    near = draws[np.abs(draws[:, 1] - 1.0) < 0.02, 0]
    law = condition_gaussian([0, 0], cov, [1], [1.0])
    assert abs(near.mean() - law.mean[0]) < 6 * near.std() / np.sqrt(len(near)) + 0.001
    assert near.var() == pytest.approx(law.covariance[0, 0], rel=0.2)


def test_singular_observations_are_conditioned_by_the_pseudo_inverse():
    cov = np.ones((3, 3)) + np.diag([1.0, 0.0, 0.0])  # coordinates 1 and 2 are equal
    twice = condition_gaussian(np.zeros(3), cov, [1, 2], [2.0, 2.0])
    once = condition_gaussian(np.zeros(2), cov[:2, :2], [1], [2.0])
    np.testing.assert_allclose(twice.mean, once.mean)
    np.testing.assert_allclose(twice.covariance, once.covariance, atol=1e-12)


@pytest.mark.parametrize("size", [1, 2, 4])
def test_schur_complement(seed, size):
    rng = np.random.default_rng(seed)
    M = rng.normal(size=(5, 5))
    S = schur_complement(M, size)
    assert np.linalg.det(M) == pytest.approx(
        np.linalg.det(M[size:, size:]) * np.linalg.det(S), rel=1e-8
    )
    blocks = block_inverse(M, size)
    whole = np.block([[blocks.aa, blocks.ab], [blocks.ba, blocks.bb]])
    np.testing.assert_allclose(whole @ M, np.eye(5), atol=1e-8)
    G = rng.normal(size=(5, 5))
    assert np.linalg.eigvalsh(schur_complement(G @ G.T, size)).min() > 0
    # the covariance of a conditional law is the complement of the observed block
    law = condition_gaussian(np.zeros(5), G @ G.T, np.arange(size, 5), np.zeros(5 - size))
    np.testing.assert_allclose(law.covariance, schur_complement(G @ G.T, size), rtol=1e-6)


def test_errors():
    with pytest.raises(ValueError, match="different indices from 0 to 1"):
        condition_gaussian([0, 0], np.eye(2), [1, 1], [0, 0])
    with pytest.raises(ValueError, match="one value for each observed index"):
        condition_gaussian([0, 0], np.eye(2), [1], [0, 0])
    with pytest.raises(ValueError, match="symmetric"):
        condition_gaussian([0, 0], [[1, 0.5], [0, 1]], [1], [0])
    with pytest.raises(ValueError, match=r"in the range \[1, 2\)"):
        schur_complement(np.eye(2), 2)
    with pytest.raises(ValueError, match="square"):
        block_inverse(np.ones((2, 3)), 1)
