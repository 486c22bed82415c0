"""Exact regression against scikit-learn, closed forms, its laws and its coverage."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.gaussian_process import GaussianProcessRegressor as Peer
from sklearn.gaussian_process import kernels as peers
from sklearn.kernel_ridge import KernelRidge

import corollary
from corollary.core.simulate import assert_share_equals
from corollary.gp import (
    GaussianProcessRegressor,
    condition_gaussian,
    gp_posterior,
    leave_one_out,
)
from corollary.kernels import RBF, Linear, Matern, Sigmoid


def fixed(kernel, alpha, **more):
    return GaussianProcessRegressor(kernel, alpha=alpha, optimizer=None, normalize_y=False, **more)


@pytest.fixture
def data(seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(40, 2))
    return X, np.sin(2 * X[:, 0]) + 0.3 * X[:, 1] + 0.1 * rng.normal(size=40) + 5.0


PAIRS = [
    (2.0 * RBF([0.8, 1.5]), 2.0 * peers.RBF([0.8, 1.5])),
    (0.5 * Matern(1.2, nu=1.5), 0.5 * peers.Matern(1.2, nu=1.5)),
    (Matern([1.0, 3.0], nu=2.5), peers.Matern([1.0, 3.0], nu=2.5)),
]


@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
@pytest.mark.parametrize("normalize", [False, True])
def test_posterior_and_evidence_equal_scikit_learns(data, ours, theirs, normalize):
    X, y = data
    new = np.linspace(-3, 3, 14).reshape(7, 2)
    model = GaussianProcessRegressor(ours, alpha=0.05, optimizer=None, normalize_y=normalize)
    model.fit(X, y)
    peer = Peer(theirs, alpha=0.05, optimizer=None, normalize_y=normalize).fit(X, y)
    mean, std = model.predict(new, return_std=True)
    expected_mean, expected_std = peer.predict(new, return_std=True)
    np.testing.assert_allclose(mean, expected_mean, rtol=1e-8)
    np.testing.assert_allclose(std, expected_std, rtol=1e-7)
    _, cov = model.predict(new, return_cov=True)
    np.testing.assert_allclose(cov, peer.predict(new, return_cov=True)[1], rtol=1e-6, atol=1e-10)
    expected = peer.log_marginal_likelihood_value_
    assert model.log_marginal_likelihood_value_ == pytest.approx(expected, rel=1e-8)
    value, gradient = model.log_marginal_likelihood(ours.parameters().vector, eval_gradient=True)
    theta = peer.kernel_.theta
    assert value == pytest.approx(peer.log_marginal_likelihood(theta), rel=1e-8)
    _, expected_gradient = peer.log_marginal_likelihood(theta, eval_gradient=True)
    np.testing.assert_allclose(gradient, expected_gradient, rtol=1e-6, atol=1e-8)


def test_learnt_evidence_is_at_least_scikit_learns(data):
    X, y = data
    y = (y - y.mean()) / y.std()
    model = GaussianProcessRegressor(random_state=0).fit(X, y)
    kernel = peers.ConstantKernel(1.0) * peers.RBF([1.0, 1.0]) + peers.WhiteKernel(0.1)
    peer = Peer(kernel, alpha=0.0).fit(X, y)
    expected = peer.log_marginal_likelihood_value_
    assert model.log_marginal_likelihood_value_ >= expected - 1e-4 * abs(expected)


def test_prediction_is_gaussian_conditioning(data):
    X, y = data
    kernel, new = 1.5 * RBF(1.0), np.array([[0.0, 0.0], [1.0, -1.0]])
    model = fixed(kernel, 0.2).fit(X, y)
    mean, cov = model.predict(new, return_cov=True)
    both = np.concatenate([X, new])
    joint = kernel.gram(both) + np.diag([0.2] * 40 + [0.0] * 2)
    law = condition_gaussian(np.zeros(42), joint, np.arange(40), y)
    np.testing.assert_allclose(mean, law.mean, rtol=1e-9)
    np.testing.assert_allclose(cov, law.covariance, atol=1e-10)
    direct = gp_posterior(kernel.gram(X), y, 0.2, kernel.gram(new, X), kernel.gram(new))
    np.testing.assert_allclose(mean, direct.mean, rtol=1e-9)
    np.testing.assert_allclose(cov, direct.covariance, atol=1e-10)
    # a new observation has the noise in addition
    noisy = model.predict(new, return_std=True, noisy=True)[1]
    np.testing.assert_allclose(noisy**2, np.diag(law.covariance) + 0.2, rtol=1e-9)
    noisy_cov = model.predict(new, return_cov=True, noisy=True)[1]
    np.testing.assert_allclose(noisy_cov, cov + 0.2 * np.eye(2), rtol=1e-9)


def test_mean_is_kernel_ridge_and_interpolates_without_noise(data):
    X, y = data
    new = np.random.default_rng(1).normal(size=(6, 2))
    model = fixed(RBF(1.0), 0.3).fit(X, y)
    ridge = KernelRidge(alpha=0.3, kernel="rbf", gamma=0.5).fit(X, y)
    np.testing.assert_allclose(model.predict(new), ridge.predict(new), rtol=1e-8)
    exact = fixed(Matern(1.0, nu=0.5), 1e-10).fit(X, y)
    mean, std = exact.predict(X, return_std=True)
    np.testing.assert_allclose(mean, y, rtol=1e-6)
    assert std.max() < 1e-3
    far, spread = exact.predict([[100.0, 100.0]], return_std=True)  # back to the prior
    np.testing.assert_allclose((far[0], spread[0]), (0.0, 1.0), atol=1e-12)


def test_linear_kernel_is_bayesian_linear_regression(data):
    from corollary.linear import BayesianLinearRegression

    X, y = data
    function = fixed((1 / 2.0) * Linear(), 0.4).fit(X, y)
    weights = BayesianLinearRegression(
        prior_precision=2.0, noise_variance=0.4, fit_intercept=False
    ).fit(X, y)
    new = np.array([[1.0, 2.0], [-3.0, 0.5]])
    mean, std = function.predict(new, return_std=True, noisy=True)
    expected_mean, expected_std = weights.predict(new, return_std=True)
    np.testing.assert_allclose(mean, expected_mean, rtol=1e-8)
    np.testing.assert_allclose(std, expected_std, rtol=1e-8)
    expected = weights.log_evidence_
    assert function.log_marginal_likelihood_value_ == pytest.approx(expected, rel=1e-8)


# -- noise, weights, duplicates ----------------------------------------------------------------


def test_noise_of_each_row(data):
    X, y = data
    noise = np.random.default_rng(0).uniform(0.01, 1.0, size=40)
    model = fixed(RBF(1.0), 0.1).fit(X, y, noise=noise)
    peer = Peer(peers.RBF(1.0), alpha=0.1 + noise, optimizer=None).fit(X, y)
    np.testing.assert_allclose(model.predict(X), peer.predict(X), rtol=1e-8)
    scaled = GaussianProcessRegressor(RBF(1.0), alpha=0.1, optimizer=None).fit(X, y, noise=noise)
    # in units of the target, whatever it is standardised to
    again = GaussianProcessRegressor(RBF(1.0), alpha=0.1, optimizer=None)
    again.fit(X, 10 * y, noise=100 * noise)
    np.testing.assert_allclose(again.predict(X), 10 * scaled.predict(X), rtol=1e-8)
    assert again.noise_variance_ == pytest.approx(100 * scaled.noise_variance_)


@given(st.integers(0, 10**6))
def test_weights_and_duplicates_agree(seed):
    rng = np.random.default_rng(seed)
    X, y, weight = rng.normal(size=(8, 1)), rng.normal(size=8), rng.integers(0, 4, size=8)
    weight[0] = 1
    rows = np.repeat(np.arange(8), weight)
    new = np.linspace(-2, 2, 5)[:, None]
    a = GaussianProcessRegressor(random_state=0).fit(X, y, sample_weight=weight)
    b = GaussianProcessRegressor(random_state=0).fit(X[rows], y[rows])
    for first, second in zip(a.predict(new, return_std=True), b.predict(new, return_std=True)):
        np.testing.assert_allclose(first, second, rtol=1e-4, atol=1e-4)


def test_near_duplicates_do_not_stop_it(data):
    X, y = data
    X, y = np.concatenate([X, X + 1e-13]), np.concatenate([y, y + 0.01])
    model = GaussianProcessRegressor(random_state=0).fit(X, y)
    assert model.jitter_ == 0.0
    assert np.abs(model.predict(X) - y).mean() < 0.3
    with pytest.warns(UserWarning, match=r"was added to its diagonal \(jitter_\)"):
        hard = fixed(RBF(3.0), 1e-16).fit(X, y)
    assert hard.jitter_ > 0
    assert np.isfinite(hard.predict(X)).all()


# -- laws --------------------------------------------------------------------------------------


@given(
    st.integers(0, 10**6),
    st.integers(1, 30),
    st.sampled_from([1e-12, 1e-6, 0.1]),
    st.floats(0.01, 100.0),
)
@pytest.mark.filterwarnings("ignore:The kernel matrix is singular")
def test_variance_is_never_negative(seed, n, alpha, scale):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, 2)).round(1)
    model = fixed(RBF(scale), alpha).fit(X, rng.normal(size=n))
    _, std = model.predict(np.concatenate([X, X + 1e-9, 3 * X]), return_std=True)
    assert (std >= 0).all()
    assert (std <= 1 + 1e-9).all()  # data never add uncertainty
    _, cov = model.predict(X, return_cov=True)
    assert (np.diag(cov) >= 0).all()


def test_rounding_cannot_make_a_variance_negative(data):
    X, y = data
    model = fixed(RBF(1.0), 1e-10).fit(X, y)
    model.L_ = model.L_ * (1 - 1e-7)  # more rounding than any machine has
    _, std = model.predict(X, return_std=True)
    assert (std == 0).any()
    assert (std >= 0).all()
    assert (np.diag(model.predict(X, return_cov=True)[1]) >= 0).all()


@settings(max_examples=10)
@given(st.integers(0, 10**6), st.floats(0.01, 100.0), st.floats(-100.0, 100.0))
def test_affine_changes_of_data_change_predictions_alike(seed, factor, shift):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(20, 2)), rng.normal(size=20)
    new = rng.normal(size=(5, 2))
    a = GaussianProcessRegressor(random_state=0).fit(X, y)
    b = GaussianProcessRegressor(random_state=0).fit(factor * X + shift, factor * y + shift)
    mean, std = a.predict(new, return_std=True)
    mean_b, std_b = b.predict(factor * new + shift, return_std=True)
    np.testing.assert_allclose(mean_b, factor * mean + shift, rtol=1e-3, atol=1e-2 * factor)
    np.testing.assert_allclose(std_b, factor * std, rtol=1e-2, atol=1e-2 * factor)


def test_same_bits_for_any_number_of_threads(seed):
    from threadpoolctl import threadpool_limits

    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(300, 3)), rng.normal(size=300)
    answers = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            model = GaussianProcessRegressor(random_state=0, max_iter=30).fit(X, y)
            answers.append(model.predict(X[:50], return_std=True))
    assert np.array_equal(answers[0], answers[1])


# -- coverage ----------------------------------------------------------------------------------


def coverage(repetitions, n, seed):
    rng = np.random.default_rng(seed)
    kernel, hits = 1.5 * RBF(1.86), 0
    for _ in range(repetitions):
        X = rng.uniform(-5, 5, size=(n + 1, 1))
        cov = kernel.gram(X) + 1e-10 * np.eye(n + 1)
        y = np.linalg.cholesky(cov) @ rng.normal(size=n + 1) + 0.3 * rng.normal(size=n + 1)
        model = fixed(kernel, 0.09).fit(X[:n], y[:n])
        mean, std = model.predict(X[n:], return_std=True, noisy=True)
        hits += abs(y[n] - mean[0]) <= 1.959964 * std[0]
    return int(hits)


@pytest.mark.parametrize("n", [1, 5, 30])
def test_bands_cover_draws_from_the_prior(n, seed):
    assert_share_equals(coverage(800, n, seed), 800, 0.95)


@pytest.mark.verify
def test_bands_cover_draws_from_the_prior_precisely(seed):
    assert_share_equals(coverage(10_000, 10, seed), 10_000, 0.95)


# -- draws and leave-one-out -------------------------------------------------------------------


def test_draws_have_the_posterior_law(data):
    X, y = data
    new = np.array([[0.0, 0.0], [0.3, 0.1], [3.0, 3.0]])
    model = fixed(2.0 * RBF(1.0), 0.1).fit(X, y)
    mean, cov = model.predict(new, return_cov=True)
    std = np.sqrt(np.diag(cov))
    draws = model.sample_y(new, 6000, random_state=0)
    paths = model.sample_paths(6000, n_frequencies=2000, random_state=0)(new)
    for values, slack in ((draws, 0.0), (paths, 0.05)):
        assert values.shape == (3, 6000)
        assert (np.abs(values.mean(axis=1) - mean) < (6 / np.sqrt(6000) + slack) * std).all()
        np.testing.assert_allclose(np.cov(values), cov, atol=(0.1 + slack) * std.max() ** 2)
    noisy = model.sample_y(new, 6000, random_state=0, noisy=True)
    assert noisy[0].var() == pytest.approx(cov[0, 0] + 0.1, rel=0.12)


def test_paths_have_the_posterior_law_under_much_noise():
    X = np.array([[0.0], [0.5], [3.0]])
    model = fixed(2.0 * RBF(1.0), 1.0).fit(X, [1.0, -1.0, 2.0])
    mean, cov = model.predict(X, return_cov=True)
    paths = model.sample_paths(8000, n_frequencies=1000, random_state=0)(X)
    np.testing.assert_allclose(paths.mean(axis=1), mean, atol=0.1)
    np.testing.assert_allclose(np.cov(paths), cov, atol=0.1)


def test_paths_are_functions(data):
    X, y = data
    model = fixed(2.0 * Matern(1.0, nu=2.5), 1e-8).fit(X, y)
    paths = model.sample_paths(3, random_state=1)
    np.testing.assert_allclose(paths(X[:5]), paths(X)[:5], rtol=1e-10)
    np.testing.assert_allclose(paths(X), np.repeat(y[:, None], 3, axis=1), atol=1e-2)
    with pytest.raises(ValueError, match="rows of 2 features"):
        paths(np.zeros((2, 3)))
    with pytest.raises(TypeError, match="spectral measure"):
        fixed(Linear(), 0.1).fit(X, y).sample_paths()
    with pytest.raises(ValueError, match="n_paths=0"):
        model.sample_paths(0)


def test_leave_one_out_equals_brute_force(seed):
    rng = np.random.default_rng(seed)
    X = np.array([[0.0], [0.0], [0.4], [1.0], [1.0], [1.0], [2.5]])
    y, noise = rng.normal(size=7), rng.uniform(0.0, 0.3, size=7)
    kernel = 1.2 * RBF(0.8)
    found = fixed(kernel, 0.2).fit(X, y, noise=noise).leave_one_out()
    pure = leave_one_out(kernel.gram(X), y, noise + 0.2)
    for i in range(7):
        rest = np.arange(7) != i
        model = fixed(kernel, 0.2).fit(X[rest], y[rest], noise=noise[rest])
        mean, std = model.predict(X[i : i + 1], return_std=True)
        spread = np.sqrt(std[0] ** 2 + 0.2 + noise[i])
        for mean_i, std_i in ((found.mean[i], found.std[i]), (pure.mean[i], pure.std[i])):
            np.testing.assert_allclose((mean_i, std_i), (mean[0], spread), rtol=1e-10)


def test_leave_one_out_takes_one_copy_of_a_weighted_row(data):
    X, y = data
    a = fixed(RBF(1.0), 0.1).fit(X, y, sample_weight=np.where(np.arange(40) < 3, 2.0, 1.0))
    rows = np.concatenate([np.arange(40), np.arange(3)])
    b = fixed(RBF(1.0), 0.1).fit(X[rows], y[rows])
    np.testing.assert_allclose(a.leave_one_out().mean, b.leave_one_out().mean[:40], rtol=1e-9)


# -- bad and unusual input ---------------------------------------------------------------------


def test_one_row():
    model = GaussianProcessRegressor().fit([[1.0, 2.0]], [3.0])
    mean, std = model.predict([[1.0, 2.0], [50.0, 2.0]], return_std=True)
    assert mean == pytest.approx([3.0, 3.0])
    assert 0 < std[0] < std[1]


def test_constant_target_and_constant_feature(data):
    X, y = data
    model = GaussianProcessRegressor(random_state=0).fit(X, np.full(40, 7.1))
    mean, std = model.predict(X, return_std=True)
    np.testing.assert_allclose(mean, 7.1)
    assert (std < 0.1).all()
    wide = np.column_stack([X, np.full(40, 1e6)])
    a = GaussianProcessRegressor(random_state=0).fit(wide, y).predict(wide)
    b = GaussianProcessRegressor(random_state=0).fit(X, y).predict(X)
    np.testing.assert_allclose(a, b, atol=0.02)


def test_errors(data):
    X, y = data
    with pytest.raises(ValueError, match="NaN"):
        GaussianProcessRegressor().fit(np.where(X > 1.9, np.nan, X + np.nan), y)
    with pytest.raises(ValueError, match="positive semi-definite kernel"):
        GaussianProcessRegressor(Sigmoid()).fit(X, y)
    with pytest.raises(ValueError, match="give alpha a number"):
        GaussianProcessRegressor(RBF(), alpha="evidence", optimizer=None).fit(X, y)
    with pytest.raises(ValueError, match="40 finite non-negative variances"):
        GaussianProcessRegressor().fit(X, y, noise=-np.ones(40))
    with pytest.raises(ValueError, match="at least one non-zero"):
        GaussianProcessRegressor().fit(X, y, sample_weight=np.zeros(40))
    with pytest.raises(RuntimeError, match="Got both"):
        fixed(RBF(), 0.1).fit(X, y).predict(X, return_std=True, return_cov=True)
    with pytest.raises(ValueError, match="needs 2 hyper-parameters"):
        GaussianProcessRegressor(RBF()).fit(X, y).log_marginal_likelihood([1.0])
    with pytest.raises(NotFittedError):
        GaussianProcessRegressor().leave_one_out()
    with pytest.warns(ConvergenceWarning, match="Raise max_iter"):
        GaussianProcessRegressor(max_iter=1).fit(X, y)


def test_saved_and_loaded(data, tmp_path):
    X, y = data
    frame = pd.DataFrame(X, columns=["a", "b"])
    model = GaussianProcessRegressor(2.0 * Matern([1.0, 2.0]), random_state=0).fit(frame, y)
    corollary.save(model, tmp_path / "gp.corollary")
    again = corollary.load(tmp_path / "gp.corollary")
    for a, b in zip(again.predict(frame, return_std=True), model.predict(frame, return_std=True)):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(again.leave_one_out().mean, model.leave_one_out().mean)
    assert again.kernel_ == model.kernel_


def test_log_marginal_likelihood_at_the_models_own_parameters(data):
    X, y = data
    model = GaussianProcessRegressor(random_state=0).fit(X, y)
    variance = model.noise_variance_ / model.y_scale_**2
    theta = np.append(model.kernel_.parameters().vector, np.log(variance))
    assert model.log_marginal_likelihood(theta) == pytest.approx(model.log_marginal_likelihood())
    _, gradient = model.log_marginal_likelihood(eval_gradient=True)
    assert np.abs(gradient).max() < 0.1


@pytest.mark.parametrize("weight", [1e-310, 1e300])
def test_weights_of_any_size(seed, weight):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(12, 2)), rng.normal(size=12)
    model = GaussianProcessRegressor(random_state=0)
    prediction = model.fit(X, y, sample_weight=np.full(12, weight)).predict(X)
    # Rows that weigh nothing leave the prior mean; heavy ones are met.
    np.testing.assert_allclose(prediction, y if weight > 1 else y.mean(), atol=1e-3)
