"""Mixtures of predictive laws."""

import numpy as np
import pytest
from scipy.stats import norm

from corollary.ensemble import (
    average_log_density,
    mixture_moments,
    mixture_quantile,
    model_probabilities,
)
from corollary.linear import gaussian_posterior, log_evidence


@pytest.fixture
def regression(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(12, 2))
    y = X @ [1.0, -0.5] + 0.7 * rng.normal(size=12)
    return rng, X, y


def test_draws_of_the_posterior_give_the_predictive_law(regression):
    # The predictive law of Bayesian linear regression is known in closed form.
    rng, X, y = regression
    noise = 0.5
    posterior = gaussian_posterior(X, y, 1.0, noise)
    x = np.array([0.8, 1.5])
    mean = x @ posterior.mean
    variance = x @ posterior.covariance @ x + noise
    draws = rng.multivariate_normal(posterior.mean, posterior.covariance, size=40_000)
    points = mean + np.sqrt(variance) * np.linspace(-2, 2, 5)
    logs = norm.logpdf(points, (draws @ x)[:, None], np.sqrt(noise))
    density = np.exp(average_log_density(logs))
    spread = np.exp(logs).std(axis=0) / np.sqrt(len(draws))
    truth = norm.pdf(points, mean, np.sqrt(variance))
    assert np.all(np.abs(density - truth) < 6 * spread)
    moments = mixture_moments((draws @ x)[:, None], noise)
    assert moments.mean[0] == pytest.approx(mean, abs=6 * np.sqrt(variance / len(draws)))
    assert moments.variance[0] == pytest.approx(variance, rel=0.05)
    assert moments.within[0] == pytest.approx(noise)
    # Averaging the parameters instead would leave the doubt about them out.
    assert np.abs(norm.pdf(points, mean, np.sqrt(noise)) - truth).max() > 20 * spread.max()


def test_averaging_submodels_is_the_law_of_a_joint_prior(regression):
    # Two nested models with prior 1/2 each: Bayes' rule by hand on the whole data.
    _, X, y = regression
    evidence = [log_evidence(X[:, :1], y, 1.0, 0.5), log_evidence(X, y, 1.0, 0.5)]
    p = model_probabilities(evidence)
    joint = np.exp(np.array(evidence) - max(evidence)) * 0.5
    np.testing.assert_allclose(p, joint / joint.sum())
    skewed = model_probabilities(evidence, prior=[3, 1])
    np.testing.assert_allclose(skewed[0] / skewed[1], 3 * p[0] / p[1])


def test_chain_rule_of_predictions(regression):
    # p(y_1, y_2) = p(y_1) p(y_2 | y_1) under the mixture: weights move with the evidence.
    _, X, y = regression
    columns = [[0], [0, 1]]

    def log_joint(n):
        logs = [log_evidence(X[:n, c], y[:n], 1.0, 0.5) for c in columns]
        return logs, average_log_density(np.array(logs)[:, None])[0]

    before, whole_before = log_joint(8)
    after, whole_after = log_joint(9)
    step = average_log_density(
        (np.array(after) - np.array(before))[:, None], model_probabilities(before)
    )[0]
    assert step == pytest.approx(whole_after - whole_before)


def test_no_underflow_and_no_member():
    np.testing.assert_allclose(model_probabilities([-1e5, -1e5 + np.log(3)]), [0.25, 0.75])
    np.testing.assert_allclose(model_probabilities([0.0, -np.inf]), [1.0, 0.0])
    assert average_log_density([[-2000.0], [-np.inf]])[0] == pytest.approx(-2000 - np.log(2))
    assert average_log_density([[3.0], [np.inf]], [1, 0])[0] == pytest.approx(3.0)


@pytest.mark.parametrize("probability", [0.01, 0.3, 0.5, 0.975])
def test_quantiles_invert_the_mixture(seed, probability):
    rng = np.random.default_rng(seed)
    m, s = rng.normal(size=(3, 4)) * 3, rng.uniform(0.1, 2, size=(3, 4))
    p = np.array([0.2, 0.5, 0.3])
    q = mixture_quantile(m, s**2, probability, p)
    np.testing.assert_allclose(p @ norm.cdf(q, m, s), probability, atol=1e-12)


def test_quantiles_of_members_that_are_certain():
    assert mixture_quantile([[1.0], [3.0]], 0.0, 0.5).tolist() == [1.0]
    assert mixture_quantile([[1.0], [3.0]], 0.0, 0.51).tolist() == [3.0]
    np.testing.assert_allclose(mixture_quantile([[2.0]], 4.0, 0.975), 2 + 2 * norm.ppf(0.975))


def test_moments_by_quadrature():
    m, v, p = np.array([[0.0], [3.0]]), np.array([[1.0], [0.25]]), np.array([0.3, 0.7])
    x = np.linspace(-10, 10, 20_001)
    density = p @ norm.pdf(x, m, np.sqrt(v))
    mean = np.trapezoid(x * density, x)
    variance = np.trapezoid((x - mean) ** 2 * density, x)
    moments = mixture_moments(m, v, p)
    np.testing.assert_allclose([moments.mean[0], moments.variance[0]], [mean, variance], rtol=1e-8)
    assert moments.variance[0] == pytest.approx(moments.within[0] + moments.between[0])


def test_errors():
    with pytest.raises(ValueError, match="one log evidence per model"):
        model_probabilities([np.nan])
    with pytest.raises(ValueError, match="none is possible"):
        model_probabilities([-np.inf, -np.inf])
    with pytest.raises(ValueError, match="none of them NaN"):
        average_log_density([[np.nan]])
    with pytest.raises(ValueError, match="as many variances as means"):
        mixture_moments([[0.0]], [[1.0, 2.0]])
    with pytest.raises(ValueError, match="non-negative variances"):
        mixture_moments([[0.0]], [[-1.0]])
    with pytest.raises(ValueError, match="'probability' parameter of mixture_quantile"):
        mixture_quantile([[0.0]], 1.0, 1.0)
    with pytest.raises(ValueError, match="\\(n_members, n_samples\\)"):
        mixture_moments([0.0], 1.0)
