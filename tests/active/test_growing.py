"""Conditioning one point at a time gives what conditioning at once gives."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corollary.active import GrowingPosterior, Prior
from corollary.gp import GaussianProcessRegressor, gp_posterior
from corollary.kernels import RBF, Linear, Matern, Sigmoid

KERNELS = [RBF(0.7), 2.0 * Matern([0.5, 1.0], nu=1.5), Linear() + 0.5 * RBF()]


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_growing_equals_a_fit_from_scratch(kernel, seed):
    rng = np.random.default_rng(seed)
    X, new = rng.normal(size=(40, 2)), rng.normal(size=(30, 2))
    y = rng.normal(size=40)
    posterior = GrowingPosterior(Prior(kernel, noise=0.1, mean=0.3), 2)
    view = posterior.view(new)
    for i in range(0, 40, 8):
        posterior.observe(X[i : i + 8], y[i : i + 8])
        law = gp_posterior(
            kernel.gram(X[: i + 8]),
            y[: i + 8] - 0.3,
            0.1,
            kernel.gram(new, X[: i + 8]),
            kernel.gram(new),
        )
        mean, std = posterior.predict(new)
        np.testing.assert_allclose(mean, law.mean + 0.3, atol=1e-9)
        np.testing.assert_allclose(std**2, np.diag(law.covariance), atol=1e-9)
        np.testing.assert_allclose(view.mean, law.mean + 0.3, atol=1e-9)
        np.testing.assert_allclose(view.variance(), np.diag(law.covariance), atol=1e-9)
        block = view.covariance(slice(None), [3, 4])
        np.testing.assert_allclose(block, law.covariance[:, [3, 4]], atol=1e-9)
    K = kernel.gram(X)
    expected = 0.5 * np.linalg.slogdet(np.eye(40) + K / 0.1)[1]
    assert posterior.information() == pytest.approx(expected, rel=1e-9)
    np.testing.assert_allclose(posterior.L @ posterior.L.T, K + 0.1 * np.eye(40), atol=1e-9)


def test_prior_of_a_fitted_regressor_gives_its_predictions(seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 5, size=(25, 1))
    y = 40.0 + 7.0 * np.sin(X[:, 0]) + 0.3 * rng.normal(size=25)
    model = GaussianProcessRegressor(random_state=0).fit(X, y)
    posterior = GrowingPosterior(Prior.from_regressor(model), 1)
    posterior.observe(X, y)
    new = np.linspace(-1, 6, 20)[:, None]
    for ours, theirs in zip(posterior.predict(new), model.predict(new, return_std=True)):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-6)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=12), st.floats(1e-8, 1.0))
def test_repeated_points_are_no_trouble(places, noise):
    X = np.array(places, dtype=float)[:, None]
    posterior = GrowingPosterior(Prior(RBF(3.0), noise), 1)
    posterior.observe(X, np.sin(X[:, 0]))
    mean, std = posterior.predict(np.linspace(-1, 5, 13)[:, None])
    assert np.isfinite(mean).all()
    assert ((std >= 0) & (std <= 1 + 1e-12)).all()


def test_imagined_observations_shrink_variances_as_real_ones_do(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(20, 2))
    posterior = GrowingPosterior(Prior(RBF(), 0.2), 2)
    posterior.observe(X[:3], [1.0, 2.0, 3.0])
    view = posterior.view(X)
    before_mean, before = view.mean, view.variance()
    for i in (5, 9, 5):
        view.imagine(i)
    real = GrowingPosterior(Prior(RBF(), 0.2), 2)
    real.observe(X[[0, 1, 2, 5, 9, 5]], rng.normal(size=6))
    np.testing.assert_allclose(view.variance(imagined=True), real.predict(X).std ** 2, atol=1e-12)
    np.testing.assert_array_equal(view.variance(), before)
    np.testing.assert_array_equal(view.mean, before_mean)
    view.forget()
    np.testing.assert_array_equal(view.variance(imagined=True), before)
    view.imagine(0)
    posterior.observe(X[[7]], [0.0])  # a real observation forgets what was imagined
    np.testing.assert_array_equal(view.variance(imagined=True), view.variance())


def test_wrong_input_is_named():
    posterior = GrowingPosterior(Prior(RBF(), 0.1), 2)
    with pytest.raises(ValueError, match=r"rows of 2 finite features\. Got an array of shape"):
        posterior.observe([[1.0]], [1.0])
    with pytest.raises(ValueError, match="with NaN or infinity"):
        posterior.predict([[np.nan, 0.0]])
    with pytest.raises(ValueError, match="needs 1 finite values"):
        posterior.observe([[1.0, 2.0]], [np.nan])
    assert len(posterior) == 0
    with pytest.raises(ValueError, match="'noise' parameter of Prior must be a finite positive"):
        Prior(RBF(), 0.0)
    with pytest.raises(ValueError, match="'mean' parameter of Prior"):
        Prior(RBF(), 0.1, mean=np.inf)
    with pytest.raises(ValueError, match="positive semi-definite Kernel"):
        Prior(Sigmoid(), 0.1)
    with pytest.raises(ValueError, match="positive semi-definite Kernel"):
        Prior("rbf", 0.1)
