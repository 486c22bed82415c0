"""Bayesian linear regression: posterior, predictive law, evidence."""

import numpy as np
import pytest
from scipy import integrate, sparse, stats
from sklearn import linear_model as peer

import corollary
from corollary.linear import (
    BayesianLinearRegression,
    Ridge,
    gaussian_posterior,
    log_evidence,
    marginal_covariance,
    ridge_solution,
)
from corollary.linear.bayesian._evidence import maximise_evidence

PRECISION = np.array([[2.0, 0.5], [0.5, 1.0]])


@pytest.fixture
def data(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(15, 2))
    return X, X @ [1.0, -2.0] + 0.5 * rng.normal(size=15)


# -- formulas ----------------------------------------------------------------------------------


def test_posterior_is_gaussian_conditioning(data):
    X, y = data
    sigma2, prior = 0.25, np.linalg.inv(PRECISION)
    joint = X @ prior @ X.T + sigma2 * np.eye(15)
    gain = prior @ X.T @ np.linalg.inv(joint)
    found = gaussian_posterior(X, y, PRECISION, sigma2)
    np.testing.assert_allclose(found.mean, gain @ y, rtol=1e-9)
    np.testing.assert_allclose(found.covariance, prior - gain @ X @ prior, atol=1e-12)
    np.testing.assert_allclose(found.precision @ found.covariance, np.eye(2), atol=1e-10)


def test_posterior_in_one_dimension_is_that_of_quadrature():
    x, y, sigma2, precision = np.array([1.0, -2.0, 0.5]), np.array([0.3, -1.0, 1.0]), 0.4, 3.0

    def density(b):
        fit = stats.norm(b * x, np.sqrt(sigma2)).pdf(y).prod()
        return fit * stats.norm(0, precision**-0.5).pdf(b)

    mass = integrate.quad(density, -10, 10)[0]
    mean = integrate.quad(lambda b: b * density(b), -10, 10)[0] / mass
    second = integrate.quad(lambda b: b**2 * density(b), -10, 10)[0] / mass
    found = gaussian_posterior(x[:, None], y, precision, sigma2)
    assert found.mean[0] == pytest.approx(mean)
    assert found.covariance[0, 0] == pytest.approx(second - mean**2)
    assert log_evidence(x[:, None], y, precision, sigma2) == pytest.approx(np.log(mass))


def test_gaussian_prior_is_ridge(data):
    X, y = data
    sigma2, tau2 = 0.3, 2.0
    found = gaussian_posterior(X, y, 1 / tau2, sigma2)
    np.testing.assert_allclose(found.mean, ridge_solution(X, y, sigma2 / tau2), rtol=1e-10)


def test_batches_one_after_the_other_equal_all_at_once(data):
    X, y = data
    step = gaussian_posterior(X[:4], y[:4], PRECISION, 0.3)
    for rows in (slice(4, 5), slice(5, 15)):
        step = gaussian_posterior(X[rows], y[rows], step.precision, 0.3, prior_mean=step.mean)
    whole = gaussian_posterior(X, y, PRECISION, 0.3)
    np.testing.assert_allclose(step.mean, whole.mean, rtol=1e-10)
    np.testing.assert_allclose(step.covariance, whole.covariance, rtol=1e-10)


def test_uncertainty_never_grows_with_rows(data):
    X, y = data
    variances = [
        np.diag(gaussian_posterior(X[:n], y[:n], 1.0, 0.3).covariance) for n in range(1, 16)
    ]
    assert np.all(np.diff(variances, axis=0) <= 1e-15)


def test_evidence_is_the_density_of_the_targets(data):
    X, y = data
    for prior in (1.5, [1.0, 4.0], PRECISION):
        covariance = marginal_covariance(X, prior, 0.4)
        law = stats.multivariate_normal(np.zeros(15), covariance)
        assert log_evidence(X, y, prior, 0.4) == pytest.approx(law.logpdf(y))
    expected = X @ np.linalg.inv(PRECISION) @ X.T + 0.4 * np.eye(15)
    np.testing.assert_allclose(marginal_covariance(X, PRECISION, 0.4), expected)


def test_evidence_obeys_bayes_rule_at_any_coefficients(data, seed):
    X, y = data
    posterior = gaussian_posterior(X, y, PRECISION, 0.4)
    for b in np.random.default_rng(seed).normal(size=(3, 2)):
        likelihood = stats.norm(X @ b, np.sqrt(0.4)).logpdf(y).sum()
        prior = stats.multivariate_normal(np.zeros(2), np.linalg.inv(PRECISION)).logpdf(b)
        after = stats.multivariate_normal(posterior.mean, posterior.covariance).logpdf(b)
        assert log_evidence(X, y, PRECISION, 0.4) == pytest.approx(likelihood + prior - after)


def test_evidence_is_the_average_likelihood_over_the_prior(seed):
    rng = np.random.default_rng(seed)
    X, y = np.array([[1.0], [0.5]]), np.array([0.4, -0.2])
    draws = rng.normal(size=(200_000, 1)) / np.sqrt(2.0)
    values = stats.norm(draws @ X.T, 0.7).pdf(y).prod(axis=1)
    exact = np.exp(log_evidence(X, y, 2.0, 0.49))
    assert abs(values.mean() - exact) < 5 * values.std() / np.sqrt(len(values))


def test_targets_drawn_from_the_model_have_the_marginal_covariance(seed):
    rng = np.random.default_rng(seed)
    X, repetitions = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 2.0]]), 50_000
    betas = rng.multivariate_normal(np.zeros(2), np.linalg.inv(PRECISION), size=repetitions)
    y = betas @ X.T + np.sqrt(0.3) * rng.normal(size=(repetitions, 3))
    covariance = marginal_covariance(X, PRECISION, 0.3)
    scale = np.sqrt(np.outer(np.diag(covariance), np.diag(covariance)))
    assert np.all(np.abs(np.cov(y.T) - covariance) < 5 * scale * np.sqrt(2 / repetitions))


@pytest.mark.parametrize(
    ("prior", "match"),
    [
        ([1.0, 2.0, 3.0], r"have shape \(2,\) or \(2, 2\). Got shape \(3,\)"),
        ([1.0, -1.0], "symmetric and positive definite"),
        ([[1.0, 2.0], [0.0, 1.0]], "symmetric and positive definite"),
    ],
)
def test_priors_are_checked(data, prior, match):
    with pytest.raises(ValueError, match=match):
        gaussian_posterior(*data, prior, 1.0)


# -- the estimator -----------------------------------------------------------------------------


def test_weight_space_equals_function_space(data, seed):
    X, y = data
    new = np.random.default_rng(seed).normal(size=(4, 2))
    model = BayesianLinearRegression(
        prior_precision=PRECISION, noise_variance=0.4, fit_intercept=False
    ).fit(X, y)
    mean, std = model.predict(new, return_std=True)
    prior = np.linalg.inv(PRECISION)
    K = X @ prior @ X.T + 0.4 * np.eye(15)
    k = new @ prior @ X.T
    np.testing.assert_allclose(mean, k @ np.linalg.solve(K, y), rtol=1e-8)
    variance = np.diag(new @ prior @ new.T + 0.4 * np.eye(4) - k @ np.linalg.solve(K, k.T))
    np.testing.assert_allclose(std, np.sqrt(variance), rtol=1e-8)
    assert model.log_evidence_ == pytest.approx(log_evidence(X, y, PRECISION, 0.4))
    found = gaussian_posterior(X, y, PRECISION, 0.4)
    np.testing.assert_allclose(model.covariance_, found.covariance, rtol=1e-9)


def test_the_intercept_has_a_flat_prior(data):
    X, y = data
    model = BayesianLinearRegression(prior_precision=2.0, noise_variance=0.4).fit(X, y)
    nearly_flat = np.diag([2.0, 2.0, 1e-9])
    A = np.column_stack([X, np.ones(15)])
    found = gaussian_posterior(A, y, nearly_flat, 0.4)
    np.testing.assert_allclose(model.coef_, found.mean[:2], rtol=1e-6)
    assert model.intercept_ == pytest.approx(found.mean[2], rel=1e-6)
    np.testing.assert_allclose(model.covariance_, found.covariance[:2, :2], rtol=1e-6)
    new = np.array([[5.0, -3.0, 1.0]])
    _, std = model.predict(new[:, :2], return_std=True)
    np.testing.assert_allclose(std**2, 0.4 + new @ found.covariance @ new[0], rtol=1e-6)
    ridge = Ridge(alpha=0.8).fit(X, y)
    np.testing.assert_allclose(model.coef_, ridge.coef_, rtol=1e-9)
    # The evidence is that of contrasts orthogonal to the constant.
    contrasts = np.linalg.qr(np.column_stack([np.ones(15), np.eye(15)[:, 1:]]))[0][:, 1:].T
    expected = log_evidence(contrasts @ X, contrasts @ y, 2.0, 0.4)
    assert model.log_evidence_ == pytest.approx(expected)


@pytest.mark.parametrize("learn", ["both", "prior", "noise"])
def test_learnt_hyper_parameters_maximise_the_evidence(learn, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 5))
    y = X @ rng.normal(size=5) + 0.7 * rng.normal(size=60)
    prior = 1.7 if learn == "noise" else "evidence"
    noise = 0.6 if learn == "prior" else "evidence"
    model = BayesianLinearRegression(
        prior_precision=prior, noise_variance=noise, fit_intercept=False
    ).fit(X, y)
    precision, variance = model.prior_precision_[0, 0], model.noise_variance_
    top = log_evidence(X, y, precision, variance)
    assert model.log_evidence_ == pytest.approx(top)
    for factor in (0.9, 0.999, 1.001, 1.1):
        if learn != "noise":
            assert log_evidence(X, y, precision * factor, variance) <= top + 1e-10
        if learn != "prior":
            assert log_evidence(X, y, precision, variance * factor) <= top + 1e-10
    # The truth is 0.49; 55 degrees of freedom put five standard errors at a factor of about 2.6.
    assert learn == "prior" or 0.49 / 2.6 < variance < 0.49 * 2.6


def test_learnt_hyper_parameters_are_the_peers(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(100, 4)) + 2.0
    y = X @ [1.0, 0.0, -1.0, 0.5] + 3.0 + 0.5 * rng.normal(size=100)
    flat = {"alpha_1": 0, "alpha_2": 0, "lambda_1": 0, "lambda_2": 0}
    theirs = peer.BayesianRidge(tol=1e-12, max_iter=10_000, **flat).fit(X, y)
    ours = BayesianLinearRegression().fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-3)
    # The peer counts n instead of n - 1 rows after centring.
    assert ours.noise_variance_ == pytest.approx(1 / theirs.alpha_, rel=0.02)


def test_a_matrix_prior_and_learnt_noise(data):
    X, y = data
    model = BayesianLinearRegression(prior_precision=PRECISION, fit_intercept=False).fit(X, y)
    grid = np.geomspace(0.01, 10, 2000)
    best = grid[np.argmax([log_evidence(X, y, PRECISION, v) for v in grid])]
    assert model.noise_variance_ == pytest.approx(best, rel=0.01)


@pytest.mark.parametrize("noise", [0.3, "evidence"])
def test_partial_fit_equals_fit(data, noise):
    X, y = data
    whole = BayesianLinearRegression(noise_variance=noise).fit(X, y)
    parts = BayesianLinearRegression(noise_variance=noise)
    for rows in (slice(0, 6), slice(6, 7), slice(7, 15)):
        parts.partial_fit(X[rows], y[rows])
    np.testing.assert_allclose(parts.coef_, whole.coef_, rtol=1e-8)
    np.testing.assert_allclose(parts.covariance_, whole.covariance_, rtol=1e-8)
    assert parts.log_evidence_ == pytest.approx(whole.log_evidence_)
    np.testing.assert_array_equal(parts.fingerprint_.hashes, whole.fingerprint_.hashes)
    assert parts.fingerprint_.n_rows == 15


def test_predictive_intervals_cover(seed):
    # Truth drawn from the prior: central 90 % intervals hold exactly in the long run.
    from corollary.core.simulate import assert_share_equals

    rng = np.random.default_rng(seed)
    hits, repetitions = 0, 500
    for _ in range(repetitions):
        X = rng.normal(size=(5, 3))
        beta = rng.normal(size=3) / np.sqrt(2.0)
        y = X @ beta + np.sqrt(0.5) * rng.normal(size=5)
        model = BayesianLinearRegression(
            prior_precision=2.0, noise_variance=0.5, fit_intercept=False
        ).fit(X[:4], y[:4])
        mean, std = model.predict(X[4:], return_std=True)
        hits += abs(y[4] - mean[0]) <= 1.6448536269514722 * std[0]
    assert_share_equals(hits, repetitions, 0.9)


def test_sparse_sources_and_files(data, tmp_path):
    X, y = data
    dense = BayesianLinearRegression().fit(X, y)
    thin = BayesianLinearRegression().fit(sparse.csr_matrix(X), y)
    np.testing.assert_allclose(thin.coef_, dense.coef_, rtol=1e-8)
    _, std = thin.predict(sparse.csr_matrix(X), return_std=True)
    np.testing.assert_allclose(std, dense.predict(X, return_std=True)[1], rtol=1e-8)
    streamed = BayesianLinearRegression().fit_source([(X[:5], y[:5]), (X[5:], y[5:])])
    np.testing.assert_array_equal(streamed.coef_, dense.coef_)
    corollary.save(dense, tmp_path / "model")
    again = corollary.load(tmp_path / "model").partial_fit(X, y)
    np.testing.assert_allclose(again.coef_, dense.partial_fit(X, y).coef_)
    with pytest.raises(ValueError, match=r"needs one target. Got 2; fit one model for each"):
        BayesianLinearRegression().fit_source([(X, np.column_stack([y, y]))])


def test_exact_fits_and_constant_targets_stay_finite(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(20, 3))
    exact = BayesianLinearRegression().fit(X, X @ [1.0, 2.0, 3.0] + 1.0)
    np.testing.assert_allclose(exact.coef_, [1.0, 2.0, 3.0], rtol=1e-6)
    flat = BayesianLinearRegression().fit(X, np.full(20, 2.5))
    np.testing.assert_allclose(flat.predict(X), 2.5)
    assert np.isfinite(flat.log_evidence_)


def test_one_row_cannot_teach_the_noise():
    with pytest.raises(ValueError, match=r"needs more rows. Got a total weight of 1"):
        BayesianLinearRegression().fit([[1.0]], [2.0])
    model = BayesianLinearRegression(prior_precision=1.0, noise_variance=1.0).fit([[1.0]], [2.0])
    assert model.predict([[3.0]])[0] == pytest.approx(2.0)


def test_given_hyper_parameters_are_returned():
    found = maximise_evidence(np.eye(2), np.ones(2), 3.0, 5, 2.0, 0.5)
    np.testing.assert_array_equal(found.prior_precision, 2.0 * np.eye(2))
    assert found.noise_variance == 0.5
