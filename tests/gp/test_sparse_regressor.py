"""Sparse regression: bounds, agreement with the exact model, coverage, laws and messages."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

import corollary
from corollary.core.simulate import assert_share_equals
from corollary.gp import (
    GaussianProcessRegressor,
    SparseGaussianProcessRegressor,
    log_evidence,
    normal_scores,
)
from corollary.kernels import RBF, Matern, Sigmoid


def fixed(kernel, alpha, **more):
    return SparseGaussianProcessRegressor(
        kernel, alpha=alpha, optimizer=None, normalize_y=False, **more
    )


@pytest.fixture
def data(seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(300, 2))
    return X, np.sin(2 * X[:, 0]) + 0.3 * X[:, 1] + 0.1 * rng.normal(size=300) + 5.0


@pytest.mark.parametrize("kernel", [2.0 * RBF([0.8, 1.5]), 0.5 * Matern(1.2, nu=1.5)])
def test_with_all_rows_it_is_the_exact_model(data, kernel):
    X, y = data[0][:60], data[1][:60] - 5.0
    sparse = fixed(kernel, 0.05).fit(X, y)
    exact = GaussianProcessRegressor(kernel, alpha=0.05, optimizer=None, normalize_y=False)
    exact.fit(X, y)
    new = np.linspace(-3, 3, 14).reshape(7, 2)
    for noisy in (False, True):
        ours = sparse.predict(new, return_std=True, noisy=noisy)
        theirs = exact.predict(new, return_std=True, noisy=noisy)
        np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=2e-4)
        _, cov = sparse.predict(new, return_cov=True, noisy=noisy)
        expected = exact.predict(new, return_cov=True, noisy=noisy)[1]
        np.testing.assert_allclose(cov, expected, rtol=1e-3, atol=1e-4)
    evidence = exact.log_marginal_likelihood_value_
    assert sparse.elbo_ == pytest.approx(evidence, rel=1e-4)
    assert sparse.elbo_ <= evidence + 1e-8 * abs(evidence)


def test_learnt_with_all_rows_it_is_nearly_the_exact_model(data):
    X, y = data[0][:80], data[1][:80]
    sparse = SparseGaussianProcessRegressor(random_state=0, tol=1e-7).fit(X, y)
    exact = GaussianProcessRegressor(random_state=0).fit(X, y)
    assert sparse.elbo_ == pytest.approx(exact.log_marginal_likelihood_value_, abs=0.1)
    np.testing.assert_allclose(sparse.predict(X), exact.predict(X), atol=0.02)


@given(st.integers(0, 2**32 - 1), st.integers(1, 30))
@settings(max_examples=25, deadline=None)
def test_elbo_is_at_most_the_evidence(entropy, n_inducing):
    rng = np.random.default_rng(entropy)
    X, y = rng.normal(size=(30, 2)), rng.normal(size=30)
    kernel = float(rng.uniform(0.3, 3)) * RBF(rng.uniform(0.3, 2, size=2))
    model = fixed(kernel, 0.2, n_inducing=n_inducing, random_state=0).fit(X, y)
    exact = log_evidence(kernel.gram(X), y, 0.2)
    assert model.elbo_ <= exact + 1e-8 * abs(exact)
    mean, std = model.predict(np.concatenate([X, 10 * X]), return_std=True)
    assert np.isfinite(mean).all()
    assert (std >= 0).all()


def test_few_points_suffice_for_a_smooth_function(data):
    X, y = data
    sparse = SparseGaussianProcessRegressor(n_inducing=40, random_state=0).fit(X, y)
    exact = GaussianProcessRegressor(random_state=0).fit(X, y)
    new = np.random.default_rng(9).uniform(-2, 2, size=(200, 2))
    truth = np.sin(2 * new[:, 0]) + 0.3 * new[:, 1] + 5.0
    ours, theirs = (
        normal_scores(truth, *model.predict(new, return_std=True, noisy=True))
        for model in (sparse, exact)
    )
    assert ours.log_density == pytest.approx(theirs.log_density, abs=0.05)
    assert sparse.noise_variance_ == pytest.approx(0.01, rel=0.3)
    assert sparse.inducing_points_.shape == (40, 2)
    evidence = GaussianProcessRegressor(
        sparse.kernel_, alpha=sparse.noise_variance_ / sparse.y_scale_**2, optimizer=None
    ).fit(X, y)
    assert sparse.elbo_ <= evidence.log_marginal_likelihood_value_ + 1e-6


def test_bands_cover_draws_from_the_prior():
    rng = np.random.default_rng(0)
    kernel, inside, repetitions = 1.0 * RBF(0.5), 0, 400
    X = rng.uniform(0, 3, size=(150, 1))
    new = np.array([[1.37]])
    root = np.linalg.cholesky(kernel.gram(np.concatenate([X, new])) + 1e-10 * np.eye(151))
    model = fixed(kernel, 0.09, n_inducing=25, random_state=0)
    for _ in range(repetitions):
        f = root @ rng.normal(size=151)
        model.fit(X, f[:-1] + 0.3 * rng.normal(size=150))
        mean, std = model.predict(new, return_std=True)
        inside += int(abs(f[-1] - mean[0]) <= 1.959964 * std[0])
    assert_share_equals(inside, repetitions, 0.95)


def test_draws_have_the_posterior_s_moments(data):
    X, y = data
    model = SparseGaussianProcessRegressor(n_inducing=20, random_state=0).fit(X, y)
    mean, covariance = model.predict(X[:3], return_cov=True)
    draws = model.sample_y(X[:3], n_samples=20_000, random_state=1)
    assert draws.shape == (3, 20_000)
    np.testing.assert_allclose(draws.mean(axis=1), mean, atol=5 * np.sqrt(covariance.max() / 2e4))
    np.testing.assert_allclose(np.cov(draws), covariance, atol=0.05 * covariance.max())
    noisy = model.sample_y(X[:1], 20_000, random_state=1, noisy=True)
    expected = covariance[0, 0] + model.noise_variance_
    assert noisy.var() == pytest.approx(expected, rel=0.05)


def test_mini_batches_come_close_to_the_same_bound(data):
    X, y = data
    full = SparseGaussianProcessRegressor(n_inducing=15, random_state=0).fit(X, y)
    batches = SparseGaussianProcessRegressor(
        n_inducing=15,
        optimizer="adam",
        batch_size=100,
        learning_rate=0.03,
        max_iter=400,
        random_state=0,
    ).fit(X, y)
    start = SparseGaussianProcessRegressor(
        1.0 * RBF(np.sqrt(2) * X.std(axis=0)), n_inducing=15, alpha=0.1, optimizer=None
    ).fit(X, y)
    # Small steps with noisy gradients end a little below.
    assert full.elbo_ > batches.elbo_ > full.elbo_ - 0.12 * 300
    assert batches.elbo_ > start.elbo_ + 0.3 * 300
    with pytest.warns(ConvergenceWarning, match="max_iter=1 passes over the rows"):
        first = batches.set_params(max_iter=1).fit(X, y).elbo_
    with pytest.warns(ConvergenceWarning):
        assert batches.fit(X, y).elbo_ == first


def test_units_of_inputs_and_target_do_not_matter(data):
    X, y = data
    one = SparseGaussianProcessRegressor(n_inducing=20, random_state=0).fit(X, y)
    scale = np.array([1000.0, 0.001])
    other = SparseGaussianProcessRegressor(n_inducing=20, random_state=0).fit(
        X * scale, 50.0 * y - 7.0
    )
    np.testing.assert_allclose(
        other.predict(X[:9] * scale), 50.0 * one.predict(X[:9]) - 7.0, rtol=1e-3
    )
    assert other.elbo_ == pytest.approx(one.elbo_, abs=1.0)


def test_weights_count_like_repeated_rows(data):
    X, y = data[0][:50], data[1][:50]
    times = np.arange(50) % 3
    a = SparseGaussianProcessRegressor(random_state=0).fit(X, y, sample_weight=times)
    b = SparseGaussianProcessRegressor(random_state=0).fit(
        np.repeat(X, times, axis=0), np.repeat(y, times)
    )
    np.testing.assert_allclose(a.predict(X), b.predict(X), rtol=1e-5)
    assert a.elbo_ == pytest.approx(b.elbo_, rel=1e-5)


def test_frames_names_and_files(data, tmp_path):
    X, y = data
    frame = pd.DataFrame(X, columns=["a", "b"])
    model = SparseGaussianProcessRegressor(n_inducing=10, random_state=0).fit(frame, y)
    assert list(model.feature_names_in_) == ["a", "b"]
    corollary.save(model, tmp_path / "m.corollary")
    loaded = corollary.load(tmp_path / "m.corollary")
    for a, b in zip(
        model.predict(frame, return_std=True), loaded.predict(frame, return_std=True), strict=True
    ):
        np.testing.assert_array_equal(a, b)


def test_same_bits_with_one_core(data, monkeypatch):
    X, y = data
    X, y = np.tile(X, (8, 1)), np.tile(y, 8)
    X = X + 1e-3 * np.arange(len(X))[:, None]
    results = []
    warnings.simplefilter("ignore", ConvergenceWarning)
    for cores in (1, 2):
        monkeypatch.setattr(
            "corollary.core.summary.summary.available_cores", lambda cores=cores: cores
        )
        model = SparseGaussianProcessRegressor(n_inducing=200, max_iter=2, random_state=0)
        results.append(model.fit(X, y))
    np.testing.assert_array_equal(results[0].predict(X[:50]), results[1].predict(X[:50]))
    assert results[0].elbo_ == results[1].elbo_


@pytest.mark.parametrize("n", [1, 2, 3])
def test_tiny_and_degenerate_data(n):
    X = np.arange(2.0 * n).reshape(n, 2)
    model = SparseGaussianProcessRegressor().fit(X, np.arange(float(n)))
    assert np.isfinite(model.predict(X)).all()
    flat = SparseGaussianProcessRegressor(n_inducing=2).fit(np.ones((20, 3)), np.full(20, 4.0))
    mean, std = flat.predict(np.ones((2, 3)), return_std=True)
    np.testing.assert_allclose(mean, 4.0)
    assert (std < 1.0).all()


def test_messages(data):
    X, y = data
    with pytest.raises(ValueError, match="positive semi-definite kernel"):
        SparseGaussianProcessRegressor(Sigmoid()).fit(X, y)
    with pytest.raises(ValueError, match="SparseGaussianProcessRegressor with optimizer=None"):
        SparseGaussianProcessRegressor(optimizer=None).fit(X, y)
    with pytest.raises(ValueError, match="The 'n_inducing' parameter of SparseGaussian"):
        SparseGaussianProcessRegressor(n_inducing=0).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="max_iter=1 steps. Raise max_iter"):
        model = SparseGaussianProcessRegressor(n_inducing=10, max_iter=1).fit(X, y)
    with pytest.raises(RuntimeError, match="At most one of return_std or return_cov"):
        model.predict(X, return_std=True, return_cov=True)


@pytest.mark.verify
def test_fifty_thousand_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50_000, 4))
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=50_000)
    model = SparseGaussianProcessRegressor(n_inducing=128, random_state=0).fit(X[:-5000], y[:-5000])
    mean, std = model.predict(X[-5000:], return_std=True, noisy=True)
    residual = y[-5000:] - mean
    assert np.sqrt(np.mean(residual**2)) < 0.33
    assert np.mean(np.abs(residual) <= 1.96 * std) == pytest.approx(0.95, abs=0.01)
