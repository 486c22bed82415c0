"""Draws from the prior have its mean and covariance."""

import numpy as np
import pytest

from corollary.gp import sample_prior
from corollary.kernels import RBF, Linear


def test_moments_and_marginalisation(seed):
    X, kernel = np.array([[0.0], [0.5], [2.0], [2.0]]), 2.0 * RBF(1.0)
    mean = np.array([1.0, 0.0, -1.0, -1.0])
    draws = sample_prior(kernel, X, 40_000, mean=mean, random_state=seed)
    np.testing.assert_allclose(draws.mean(axis=1), mean, atol=6 * np.sqrt(2 / 40_000))
    np.testing.assert_allclose(np.cov(draws), kernel.gram(X), atol=0.1)
    np.testing.assert_allclose(draws[2], draws[3], atol=1e-6)  # one function, one value
    part = sample_prior(kernel, X[1:3], 40_000, mean=mean[1:3], random_state=seed + 1)
    np.testing.assert_allclose(np.cov(part), np.cov(draws[1:3]), atol=0.15)


def test_noise_and_the_linear_kernel(seed):
    X = np.array([[1.0, 0.0], [0.0, 2.0]])
    draws = sample_prior(Linear(), X, 40_000, noise=0.5, random_state=seed)
    # the marginal law of the outputs of a linear model: X X' + noise
    np.testing.assert_allclose(np.cov(draws), np.diag([1.5, 4.5]), atol=0.2)


def test_errors_and_seed():
    X = np.zeros((2, 1))
    with pytest.raises(ValueError, match=r"range \[1, inf\)"):
        sample_prior(RBF(), X, 0)
    with pytest.raises(ValueError, match="not negative"):
        sample_prior(RBF(), X, noise=-1.0)
    a, b = (sample_prior(RBF(), X, 2, random_state=3) for _ in range(2))
    assert np.array_equal(a, b)
