"""Filter and smoother against brute-force conditioning of all states and observations."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from corollary.gp import StateSpaceModel, condition_gaussian, kalman_filter, kalman_smoother


def world(seed, k=2, d=2, n=5):
    rng = np.random.default_rng(seed)

    def spd(m):
        G = rng.normal(size=(m, m))
        return G @ G.T + 0.1 * np.eye(m)

    model = StateSpaceModel(
        0.8 * rng.normal(size=(k, k)), spd(k), rng.normal(size=(d, k)), spd(d),
        rng.normal(size=k), spd(k),
    )  # fmt: skip
    return model, rng.normal(size=(n, d))


def joint(model, n):
    """Mean and covariance of (x_1 .. x_n, y_1 .. y_n), by writing all of it as one linear map."""
    F, H = model.transition, model.observation
    k, d = len(F), len(H)
    means, cov = [model.initial_mean], [model.initial_covariance]
    for _ in range(n - 1):
        means.append(F @ means[-1])
        cov.append(F @ cov[-1] @ F.T + model.transition_noise)
    C = np.zeros((n * k, n * k))
    for s in range(n):
        for t in range(s, n):
            block = np.linalg.matrix_power(F, t - s) @ cov[s]
            C[t * k : (t + 1) * k, s * k : (s + 1) * k] = block
            C[s * k : (s + 1) * k, t * k : (t + 1) * k] = block.T
    A = np.kron(np.eye(n), H)
    R = np.kron(np.eye(n), model.observation_noise)
    mean = np.concatenate(means)
    whole = np.block([[C, C @ A.T], [A @ C, A @ C @ A.T + R]])
    return np.concatenate([mean, A @ mean]), (whole + whole.T) / 2, n * k, d


def brute(model, y, t, until):
    """Law of state t given the observed numbers of steps before ``until``."""
    mean, cov, offset, d = joint(model, len(y))
    k = len(model.transition)
    observed = [offset + s * d + j for s in range(until) for j in range(d) if not np.isnan(y[s, j])]
    law = condition_gaussian(mean, cov, observed, y[:until][~np.isnan(y[:until])])
    place = slice(t * k, (t + 1) * k)  # states come first, so they keep their places
    return law.mean[place], law.covariance[place, place]


@pytest.mark.parametrize("shape", [(1, 1), (2, 1), (2, 2), (1, 2), (3, 2)])
@pytest.mark.parametrize("gaps", [False, True])
def test_filter_and_smoother_are_conditioning(shape, gaps, seed):
    model, y = world(seed, *shape)
    if gaps:
        y[1], y[3, 0] = np.nan, np.nan
    filtered, smoothed = kalman_filter(model, y), kalman_smoother(model, y)
    for t in range(len(y)):
        for states, until in ((filtered, t + 1), (smoothed, len(y))):
            mean, cov = brute(model, y, t, until)
            np.testing.assert_allclose(states.mean[t], mean, rtol=1e-6, atol=1e-7)
            np.testing.assert_allclose(states.covariance[t], cov, rtol=1e-6, atol=1e-7)
    mean, cov, offset, _ = joint(model, len(y))
    seen = offset + np.flatnonzero(~np.isnan(y.ravel()))
    expected = multivariate_normal(mean[seen], cov[np.ix_(seen, seen)]).logpdf(
        y.ravel()[seen - offset]
    )
    assert filtered.log_likelihood == pytest.approx(expected, rel=1e-7)
    assert smoothed.log_likelihood == filtered.log_likelihood


def test_exponential_kernel_is_an_autoregression(seed):
    # f with covariance exp(-|t - s| / l) is Markov: filter and smoother are its regression.
    from corollary.gp import GaussianProcessRegressor
    from corollary.kernels import Matern

    rng = np.random.default_rng(seed)
    y, a = rng.normal(size=12), np.exp(-1 / 2.5)
    model = StateSpaceModel([[a]], [[1 - a**2]], [[1.0]], [[0.3]], [0.0], [[1.0]])
    smoothed = kalman_smoother(model, y)
    gp = GaussianProcessRegressor(Matern(2.5, nu=0.5), alpha=0.3, optimizer=None, normalize_y=False)
    times = np.arange(12.0)[:, None]
    gp.fit(times, y)
    mean, std = gp.predict(times, return_std=True)
    np.testing.assert_allclose(smoothed.mean.ravel(), mean, atol=1e-6)
    np.testing.assert_allclose(smoothed.covariance.ravel(), std**2, atol=1e-6)
    assert smoothed.log_likelihood == pytest.approx(gp.log_marginal_likelihood(), rel=1e-6)


def test_errors():
    model, y = world(0)
    with pytest.raises(ValueError, match="rows of 2 numbers"):
        kalman_filter(model, y[:, :1])
    with pytest.raises(ValueError, match="with infinity"):
        kalman_filter(model, np.full((2, 2), np.inf))
    with pytest.raises(ValueError, match=r"'transition' of StateSpaceModel must have shape \(1, 1"):
        StateSpaceModel(np.eye(2), [[1.0]], [[1.0]], [[1.0]], [0.0], [[1.0]])
    with pytest.raises(np.linalg.LinAlgError, match="singular law"):
        kalman_filter(StateSpaceModel([[1]], [[0]], [[0]], [[0]], [0], [[0]]), [1.0])
