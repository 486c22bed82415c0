"""Information of queries against determinants and dense formulas."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corollary.active import (
    GrowingPosterior,
    Prior,
    conditional_variance,
    mutual_information,
    query_information,
)
from corollary.kernels import RBF, Matern

KERNEL, NOISE = Matern(0.8, nu=0.5), 0.05


def posterior_covariance(kernel, D, points, noise):
    """Straight from the formula, with a plain inverse."""
    K = kernel.gram(points)
    if not len(D):
        return K
    cross = kernel.gram(points, D)
    return K - cross @ np.linalg.inv(kernel.gram(D) + noise * np.eye(len(D))) @ cross.T


@given(st.integers(0, 6), st.integers(1, 6), st.integers(0, 1000))
def test_information_is_symmetric(n_seen, n_targets, seed):
    """The ratio of variances at the query is the ratio of determinants at the targets."""
    rng = np.random.default_rng(seed)
    D, A, x = (rng.normal(size=(k, 2)) for k in (n_seen, n_targets, 1))
    posterior = GrowingPosterior(Prior(KERNEL, NOISE), 2)
    posterior.observe(D, rng.normal(size=n_seen))
    (found,) = mutual_information(posterior, x, A)
    before = posterior_covariance(KERNEL, D, A, NOISE)
    after = posterior_covariance(KERNEL, np.concatenate([D, x]), A, NOISE)
    expected = 0.5 * (np.linalg.slogdet(before)[1] - np.linalg.slogdet(after)[1])
    assert found == pytest.approx(expected, abs=1e-8)
    # And the formula with the posterior kernel as it is written.
    joint = posterior_covariance(KERNEL, D, np.concatenate([x, A]), NOISE)
    k, K = joint[0, 1:], joint[1:, 1:]
    ratio = (joint[0, 0] + NOISE) / (joint[0, 0] - k @ np.linalg.solve(K, k) + NOISE)
    assert found == pytest.approx(0.5 * np.log(ratio), abs=1e-8)


def test_inside_the_target_set_only_noise_is_left(seed):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(50, 1))  # so close together that they determine each other
    posterior = GrowingPosterior(Prior(RBF(), 0.01), 1)
    posterior.observe([[0.3]], [1.0])
    found = mutual_information(posterior, A, A)
    expected = 0.5 * np.log(1 + posterior.predict(A).std ** 2 / 0.01)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    # Also without being told that they are the same points.
    near = mutual_information(posterior, A + 1e-13, A)
    np.testing.assert_allclose(near, expected, atol=1e-6)


@given(st.integers(0, 1000))
def test_more_targets_cannot_tell_less(seed):
    rng = np.random.default_rng(seed)
    queries, A = rng.normal(size=(8, 2)), rng.normal(size=(6, 2))
    posterior = GrowingPosterior(Prior(RBF(), 0.1), 2)
    few, many = (mutual_information(posterior, queries, A[:k]) for k in (3, 6))
    assert (few >= 0).all()
    assert (many >= few - 1e-9).all()
    order = np.array([4, 2, 0, 5, 1, 3])
    np.testing.assert_allclose(mutual_information(posterior, queries, A[order]), many, atol=1e-7)
    backwards = mutual_information(posterior, queries[::-1], A)
    np.testing.assert_allclose(backwards, many[::-1], rtol=1e-12)


def test_information_does_not_depend_on_values():
    two = []
    for y in ([0.0, 0.0], [5.0, -7.0]):
        posterior = GrowingPosterior(Prior(RBF(), 0.1, mean=len(two)), 1)
        posterior.observe([[0.0], [1.0]], y)
        two.append(mutual_information(posterior, [[0.5], [2.0]], [[3.0]]))
    np.testing.assert_array_equal(*two)


def test_targets_that_determine_each_other_lose_nothing():
    """A third equal target, or none at all, changes nothing."""
    K, k = np.ones((3, 3)), np.full((3, 1), 0.5)
    np.testing.assert_allclose(conditional_variance(K, k, [1.0]), [0.75])
    np.testing.assert_array_equal(
        conditional_variance(np.empty((0, 0)), np.empty((0, 1)), [2.0]), [2.0]
    )
    np.testing.assert_array_equal(conditional_variance([[0.0]], [[0.0]], [2.0]), [2.0])


def test_wrong_input_is_named():
    with pytest.raises(ValueError, match="'noise' parameter of query_information must be a posit"):
        query_information([1.0], [0.0], 0.0)
    with pytest.raises(ValueError, match=r"shapes \(t, t\), \(t, m\) and \(m,\)"):
        conditional_variance(np.eye(2), np.ones((3, 1)), [1.0])
