"""The conjugate law: posterior, evidence, predictive law and draws."""

import numpy as np
import pytest
from scipy import stats

from corollary.mixture import NormalInverseWishart

LAW = NormalInverseWishart([0.3, -0.2], 0.5, 4.5, [[1.0, 0.3], [0.3, 0.8]])


def test_the_posterior_by_hand():
    law = NormalInverseWishart([1.0], 2.0, 3.0, [[4.0]]).posterior([[4.0], [6.0]])
    # Mean (2 * 1 + 4 + 6) / 4; scale 4 + scatter 2 + (2 * 2 / 4) * (5 - 1)^2.
    np.testing.assert_allclose(law.mean, [3.0])
    np.testing.assert_allclose(law.scale, [[22.0]])
    assert (law.mean_precision, law.degrees_of_freedom) == (4.0, 5.0)
    np.testing.assert_allclose(LAW.posterior(np.empty((0, 2))).scale, LAW.scale)


def test_the_predictive_law_is_students():
    X = np.random.default_rng(0).normal(size=(5, 2))
    nu = 4.5 - 2 + 1
    right = stats.multivariate_t(LAW.mean, LAW.scale * 1.5 / (0.5 * nu), df=nu).logpdf(X)
    np.testing.assert_allclose(LAW.log_predictive(X), right)


def test_the_evidence_is_a_product_of_predictive_densities():
    X = np.random.default_rng(1).normal(size=(4, 2))
    product = sum(LAW.posterior(X[:i]).log_predictive(X[i : i + 1])[0] for i in range(4))
    assert LAW.log_evidence(X) == pytest.approx(product, rel=1e-10)
    # One row, one column, by quadrature over mean and variance.
    law = NormalInverseWishart([0.5], 2.0, 3.0, [[1.5]])
    variances = np.exp(np.linspace(-9, 9, 2001))
    prior = stats.invgamma(1.5, scale=0.75).pdf(variances)
    given = stats.norm(0.5, np.sqrt(variances * 1.5)).pdf(1.2)
    value = np.trapezoid(prior * given * variances, np.log(variances))
    assert law.log_evidence([[1.2]]) == pytest.approx(np.log(value), rel=1e-5)


def test_known_spreads_are_a_limit():
    # Cluster spread 1, spread of means 3: the posterior of a mean in closed form.
    law = NormalInverseWishart([0.0], 1 / 9, 1e9, [[1e9]])
    X = np.array([[1.0], [2.0], [4.0]])
    v = 1 / (1 / 9 + 3)
    m = v * X.sum()
    after = law.posterior(X)
    np.testing.assert_allclose(after.mean, [m])
    right = stats.norm(m, np.sqrt(1 + v)).logpdf(0.7)
    assert after.log_predictive([[0.7]])[0] == pytest.approx(right, rel=1e-6)
    assert law.log_predictive([[0.7]])[0] == pytest.approx(
        stats.norm(0, np.sqrt(10)).logpdf(0.7), rel=1e-6
    )


def test_draws_have_the_moments_of_the_law():
    law = NormalInverseWishart([1.0, 2.0], 4.0, 12.0, [[2.0, 0.5], [0.5, 1.0]])
    random = np.random.RandomState(0)
    draws = [law.sample(random) for _ in range(4000)]
    means = np.array([mean for mean, _ in draws])
    covariances = np.array([covariance for _, covariance in draws])
    expected = law.scale / (12 - 2 - 1)
    np.testing.assert_allclose(covariances.mean(axis=0), expected, rtol=0.05, atol=0.004)
    peer = stats.invwishart(12, law.scale).rvs(4000, random_state=1)
    np.testing.assert_allclose(covariances.var(axis=0), peer.var(axis=0), rtol=0.3)
    np.testing.assert_allclose(means.mean(axis=0), law.mean, atol=0.03)
    np.testing.assert_allclose(np.cov(means.T), expected / 4, rtol=0.12, atol=0.005)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.0], 1.0, 2.0, [[1.0, 0.0]]), "symmetric scale"),
        (([0.0, 0.0], 1.0, 2.0, [[1.0, 0.5], [0.0, 1.0]]), "symmetric scale"),
        (([0.0], 0.0, 2.0, [[1.0]]), "positive mean_precision"),
        (([0.0, 0.0], 1.0, 1.0, np.eye(2)), "more than 1 degrees"),
        (([0.0], 1.0, 2.0, [[-1.0]]), "positive definite"),
    ],
)
def test_bad_laws_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        NormalInverseWishart(*arguments)
