"""Complete likelihoods, the function Q, their maximisers and gradients, and the hard limit."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from corollary.mixture import (
    MixtureLaw,
    complete_log_likelihood,
    complete_maximiser,
    gaussian_gradient,
    gaussian_m_step,
    log_det_gradient,
    mixture_q_function,
    simplex_log_maximum,
    soft_lloyd_step,
    trace_inverse_gradient,
)
from tests.mixture.examples import random_law


def test_all_labellings_together_are_the_likelihood():
    rng = np.random.default_rng(0)
    law, X = random_law(rng), rng.normal(size=(4, 2))
    total = sum(np.exp(complete_log_likelihood(X, z, law)) for z in product(range(3), repeat=4))
    assert np.log(total) == pytest.approx(law.logdensity(X).sum(), rel=1e-12)
    one = complete_log_likelihood(X[:1], [2], law)
    normal = multivariate_normal(law.means[2], law.covariances[2]).logpdf(X[0])
    assert one == pytest.approx(np.log(law.weights[2]) + normal, rel=1e-12)


def test_the_complete_maximiser_is_a_fit_of_each_class():
    rng = np.random.default_rng(1)
    X, z = rng.normal(size=(30, 2)), np.repeat([0, 1, 2], [5, 10, 15])
    best = complete_maximiser(X, z)
    np.testing.assert_allclose(best.weights, [5 / 30, 10 / 30, 15 / 30])
    for j in range(3):
        np.testing.assert_allclose(best.means[j], X[z == j].mean(axis=0))
        np.testing.assert_allclose(best.covariances[j], np.cov(X[z == j].T, bias=True))
    value = complete_log_likelihood(X, z, best)
    for seed in range(20):
        other = random_law(np.random.default_rng(seed))
        assert complete_log_likelihood(X, z, other) < value


def test_q_is_the_mean_of_complete_likelihoods_and_largest_at_the_m_step():
    rng = np.random.default_rng(2)
    law, X = random_law(rng), rng.normal(size=(3, 2))
    r = rng.dirichlet(np.ones(3), size=3)
    mean = sum(
        np.prod([r[i, z[i]] for i in range(3)]) * complete_log_likelihood(X, z, law)
        for z in product(range(3), repeat=3)
    )
    assert mixture_q_function(X, r, law) == pytest.approx(mean, rel=1e-12)
    X = rng.normal(size=(40, 2))
    r = rng.dirichlet(np.ones(3), size=40)
    best = gaussian_m_step(X, r)
    value = mixture_q_function(X, r, best)
    for seed in range(30):
        step = np.random.default_rng(seed)
        near = MixtureLaw(
            0.9 * best.weights + 0.1 * step.dirichlet(np.ones(3)),
            best.means + 0.1 * step.normal(size=(3, 2)),
            best.covariances * step.uniform(0.8, 1.2, size=(3, 1, 1)),
        )
        assert mixture_q_function(X, r, near) < value
    for j in range(3):
        gradient = gaussian_gradient(X, r[:, j], best.means[j], best.covariances[j])
        np.testing.assert_allclose(gradient.mean, 0, atol=1e-10)
        np.testing.assert_allclose(gradient.covariance, 0, atol=1e-10)


def test_the_m_step_by_hand():
    best = gaussian_m_step([[0.0], [2.0], [4.0]], [[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]])
    np.testing.assert_allclose(best.weights, [0.5, 0.5])
    np.testing.assert_allclose(best.means.ravel(), [2 / 3, 10 / 3])
    np.testing.assert_allclose(best.covariances.ravel(), [8 / 9, 8 / 9])
    with pytest.raises(ValueError, match="positive sum"):
        gaussian_m_step([[0.0]], [[1.0, 0.0]])


def test_the_floor_gives_the_best_covariance_above_it():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(50, 2)) * [1.0, 0.01]
    r = np.ones((50, 1))
    best = gaussian_m_step(X, r, floor=0.04)
    values = np.linalg.eigvalsh(best.covariances[0])
    assert values[0] == pytest.approx(0.04)
    assert values[1] == pytest.approx(np.linalg.eigvalsh(np.cov(X.T, bias=True))[1])
    top = mixture_q_function(X, r, best)
    for seed in range(40):
        A = np.random.default_rng(seed).normal(size=(2, 2)) * 0.2
        other = MixtureLaw([1.0], best.means, [best.covariances[0] + A @ A.T])
        assert mixture_q_function(X, r, other) < top
        other = MixtureLaw([1.0], best.means, [A @ A.T + 0.04 * np.eye(2)])
        assert mixture_q_function(X, r, other) < top
    np.testing.assert_array_equal(
        gaussian_m_step(X, r, floor=1e-9).covariances, gaussian_m_step(X, r).covariances
    )


def test_frequencies_maximise_logs_on_the_simplex():
    rng = np.random.default_rng(4)
    r = np.array([1.0, 2.0, 0.0, 5.0])
    maximum = simplex_log_maximum(r)
    np.testing.assert_allclose(maximum.weights, [1 / 8, 2 / 8, 0, 5 / 8])
    assert maximum.multiplier == -8
    there = maximum.weights > 0
    np.testing.assert_allclose(r[there] / maximum.weights[there] + maximum.multiplier, 0)
    top = np.sum(r[there] * np.log(maximum.weights[there]))
    points = rng.dirichlet(np.ones(4), size=500)
    assert (np.log(points) @ r < top).all()
    for bad in ([-1.0, 2.0], [0.0, 0.0], [[1.0]], [np.inf, 1.0]):
        with pytest.raises(ValueError, match="non-negative"):
            simplex_log_maximum(bad)


def differences(function, A, h=1e-6):
    """Derivatives in symmetric directions, which a symmetric gradient gives by entries."""
    gradient = np.zeros_like(A)
    for i in range(len(A)):
        for j in range(len(A)):
            E = np.zeros_like(A)
            E[i, j] += 0.5
            E[j, i] += 0.5
            gradient[i, j] = (function(A + h * E) - function(A - h * E)) / (2 * h)
    return gradient


def test_matrix_gradients_equal_differences():
    rng = np.random.default_rng(5)
    B, M = rng.normal(size=(3, 3)), rng.normal(size=(3, 3))
    A, M = B @ B.T + np.eye(3), M + M.T
    np.testing.assert_allclose(
        trace_inverse_gradient(A, M),
        differences(lambda A: np.trace(np.linalg.inv(A) @ M), A),
        atol=1e-7,
    )
    np.testing.assert_allclose(
        log_det_gradient(A), differences(lambda A: np.linalg.slogdet(A)[1], A), atol=1e-7
    )
    X, r, mean = rng.normal(size=(6, 3)), rng.uniform(size=6), rng.normal(size=3)
    gradient = gaussian_gradient(X, r, mean, A)
    np.testing.assert_allclose(
        gradient.covariance,
        differences(lambda A: r @ multivariate_normal(mean, A).logpdf(X), A),
        atol=1e-6,
    )
    slopes = [
        (
            r @ multivariate_normal(mean + h, A).logpdf(X)
            - r @ multivariate_normal(mean - h, A).logpdf(X)
        )
        / 2e-6
        for h in 1e-6 * np.eye(3)
    ]
    np.testing.assert_allclose(gradient.mean, slopes, atol=1e-7)
    for wrong in ([[1.0, 2.0], [0.0, 1.0]], [1.0], [[1.0, 2.0]]):
        with pytest.raises(ValueError, match="symmetric"):
            log_det_gradient(wrong)


def lloyd_step(X, means):
    labels = ((X[:, None] - means) ** 2).sum(axis=2).argmin(axis=1)
    return np.array([X[labels == j].mean(axis=0) for j in range(len(means))])


@pytest.mark.parametrize("seed", range(4))
def test_equal_round_components_tend_to_lloyd(seed):
    rng = np.random.default_rng(seed)
    X, means = rng.normal(size=(40, 2)), rng.normal(size=(3, 2))
    hard = lloyd_step(X, means)
    np.testing.assert_allclose(soft_lloyd_step(X, means, 0.0).means, hard)
    gaps = [np.abs(soft_lloyd_step(X, means, s).means - hard).max() for s in (1.0, 0.1, 1e-2, 1e-6)]
    assert gaps[0] > gaps[1] > gaps[2]
    assert gaps[3] < 1e-6
    # The step is that of EM: responsibilities of the mixture, and its M-step for the means.
    law = MixtureLaw(np.full(3, 1 / 3), means, np.tile(0.3 * np.eye(2), (3, 1, 1)))
    soft = soft_lloyd_step(X, means, 0.3)
    np.testing.assert_allclose(soft.r, law.responsibilities(X), rtol=1e-9)
    np.testing.assert_allclose(soft.means, gaussian_m_step(X, soft.r).means)
    squares = ((X[:, None] - means) ** 2).sum(axis=2)
    excess = squares - squares.min(axis=1, keepdims=True)
    assert (soft.r <= np.exp(-excess / 0.6) + 1e-15).all()


def test_the_hard_step_by_hand():
    step = soft_lloyd_step([[0.0], [1.0], [2.0]], [[0.0], [2.0], [9.0]], 0.0)
    np.testing.assert_allclose(step.r, [[1, 0, 0], [0.5, 0.5, 0], [0, 1, 0]])
    np.testing.assert_allclose(step.means.ravel(), [0.5 / 1.5, 2.5 / 1.5, 9.0])
    step = soft_lloyd_step([[0.0], [1.0], [5.0]], [[0.0], [4.0]], 0.0)
    np.testing.assert_allclose(step.means.ravel(), [0.5, 5.0])
