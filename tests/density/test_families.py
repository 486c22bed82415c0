"""Families of densities against SciPy, their scores and informations against closed forms."""

import math

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

from corollary.density import (
    Bernoulli,
    DiscreteUniform,
    Exponential,
    Gamma,
    LogDensity,
    Normal,
    NormalVector,
    Poisson,
    Uniform,
)

COVARIANCE = np.array([[2.0, 0.5], [0.5, 1.0]])
# family, parameters, SciPy's law, information of one draw by hand
CASES = {
    "normal": (Normal(), [1.0, 4.0], stats.norm(1, 2), [[0.25, 0], [0, 1 / 32]]),
    "mean": (Normal(std=2.0), [1.0], stats.norm(1, 2), [[0.25]]),
    "bernoulli": (Bernoulli(), [0.2], stats.bernoulli(0.2), [[6.25]]),
    "poisson": (Poisson(), [4.0], stats.poisson(4), [[0.25]]),
    "exponential": (Exponential(), [0.5], stats.expon(scale=2), [[4.0]]),
    "gamma": (
        Gamma(),
        [3.0, 2.0],
        stats.gamma(3, scale=0.5),
        [[math.pi**2 / 6 - 1.25, -0.5], [-0.5, 0.75]],
    ),
}
LAWS = {
    **{name: case[:3] for name, case in CASES.items()},
    "uniform": (Uniform(), [3.0], stats.uniform(0, 3)),
    "discrete uniform": (DiscreteUniform(), [7.0], stats.randint(1, 8)),
}


@pytest.mark.parametrize("name", LAWS)
def test_log_densities_are_those_of_scipy(name):
    family, theta, law = LAWS[name]
    x = np.array([-1.5, -1.0, 0.0, 0.5, 1.0, 2.0, 3.5, 7.0, 8.0])
    assert family.log_density([np.inf], theta) == -np.inf
    if name == "gamma":
        x = x[x != 0]  # a gamma law's density at zero is a matter of taste
    theirs = law.logpmf(x) if hasattr(law.dist, "logpmf") else law.logpdf(x)
    np.testing.assert_allclose(family.log_density(x, theta), theirs, rtol=1e-12)


@pytest.mark.parametrize("name", LAWS)
def test_finite_laws_have_the_moments_of_the_family(name):
    family, theta, law = LAWS[name]
    points, probability = family.law(theta)
    assert probability.sum() == pytest.approx(1, abs=1e-12)
    for power in (1, 2, 3, 4):
        assert probability @ points**power == pytest.approx(law.moment(power), rel=1e-10)


@pytest.mark.parametrize("name", LAWS)
def test_draws_follow_the_law(name):
    family, theta, law = LAWS[name]
    x = family.sample(4000, theta, random_state=0)
    assert abs(x.mean() - law.mean()) < 5 * law.std() / math.sqrt(4000)
    assert x.var() == pytest.approx(law.var(), rel=0.15)
    np.testing.assert_array_equal(x, family.sample(4000, theta, random_state=0))
    assert np.isfinite(family.log_density(x, theta)).all()
    # The distribution function at the median tells scale from rate.
    share = np.mean(x <= law.median())
    assert abs(share - law.cdf(law.median())) < 0.04


@pytest.mark.parametrize("name", CASES)
def test_informations_by_hand_by_scores_and_by_curvature(name):
    family, theta, _, by_hand = CASES[name]
    np.testing.assert_allclose(family.fisher_information(theta), by_hand, rtol=1e-12)
    points, probability = family.law(theta)
    if name == "gamma":  # logarithms are no polynomials: integrals in place of nodes
        law = stats.gamma(3, scale=0.5)
        score = np.array(
            [
                [
                    quad(
                        lambda x, i=i, j=j: (
                            law.pdf(x)
                            * family.score([x], theta)[0, i]
                            * family.score([x], theta)[0, j]
                        ),
                        0,
                        30,
                        epsabs=1e-6,
                    )[0]
                    for j in range(2)
                ]
                for i in range(2)
            ]
        )
        np.testing.assert_allclose(score, by_hand, rtol=1e-4)
    else:
        score = family.score(points, theta)
        np.testing.assert_allclose(score.T @ (probability[:, None] * score), by_hand, atol=1e-10)
    curvature = np.tensordot(probability, family.curvature(points, theta), 1)
    np.testing.assert_allclose(-curvature, by_hand, atol=1e-9)


@pytest.mark.parametrize("name", CASES)
def test_scores_are_differences_of_log_densities(name):
    family, theta, law, _ = CASES[name]
    x = np.asarray(law.rvs(5, random_state=1), dtype=float)
    step = 1e-5
    for k in range(len(theta)):
        shift = step * np.eye(len(theta))[k]
        difference = family.log_density(x, theta + shift) - family.log_density(x, theta - shift)
        np.testing.assert_allclose(
            family.score(x, theta)[:, k], difference / (2 * step), rtol=1e-6, atol=1e-8
        )


def test_information_is_additive():
    rng_scores = (
        Poisson()
        .score(Poisson().sample(5 * 40_000, [3.0], random_state=0), [3.0])
        .reshape(40_000, 5)
    )
    of_five = rng_scores.sum(axis=1)
    assert Poisson().fisher_information([3.0], 5)[0, 0] == pytest.approx(5 / 3)
    error = 5 / 3 * math.sqrt(2 / 40_000)
    assert abs(np.mean(of_five**2) - 5 / 3) < 5 * error


def test_information_without_a_closed_form_is_a_sum_over_the_law():
    class Shifted(Normal):
        _information = Normal.__mro__[1]._information

    np.testing.assert_allclose(
        Shifted().fisher_information([0.5, 2.0], 3), [[1.5, 0], [0, 0.375]], atol=1e-12
    )


def test_vectors():
    family = NormalVector(COVARIANCE)
    law = stats.multivariate_normal([1.0, -1.0], COVARIANCE)
    x = family.sample(2000, [1.0, -1.0], random_state=0)
    np.testing.assert_allclose(family.log_density(x, [1.0, -1.0]), law.logpdf(x), rtol=1e-12)
    np.testing.assert_allclose(np.cov(x.T), COVARIANCE, atol=0.2)
    np.testing.assert_allclose(x.mean(axis=0), [1, -1], atol=0.15)
    np.testing.assert_allclose(
        family.fisher_information([0.0, 0.0], 7) @ COVARIANCE, 7 * np.eye(2), atol=1e-12
    )
    np.testing.assert_allclose(
        family.score(x[:2], [0.0, 0.0]), x[:2] @ np.linalg.inv(COVARIANCE), rtol=1e-12
    )
    assert family.names == ("mean0", "mean1")


def test_what_no_family_can_do_is_refused():
    with pytest.raises(ValueError, match="Uniform has no Fisher information: its support depends"):
        Uniform().fisher_information([1.0])
    with pytest.raises(ValueError, match=r"Normal needs mean in .* variance in \(0.0, inf\)"):
        Normal().log_density([0.0], [0.0, -1.0])
    with pytest.raises(ValueError, match="Poisson needs"):
        Poisson().score([1], [1.0, 2.0])
    with pytest.raises(ValueError, match="positive standard deviation"):
        Normal(std=0.0)
    with pytest.raises(ValueError, match="positive definite"):
        NormalVector([[1.0, 2.0], [2.0, 1.0]])
    with pytest.raises(TypeError, match="Gamma has no closed form"):
        Gamma().from_moments(None)
    user = LogDensity(lambda x, t: -((x - t[0]) ** 2), ("place",))
    assert user.domain == ((-math.inf, math.inf),)
    with pytest.raises(TypeError, match="no sampler"):
        user.sample(1, [0.0])
    with pytest.raises(TypeError, match="no finite law"):
        user.law([0.0])


def test_edges_of_the_domain_have_infinite_information():
    assert Bernoulli().fisher_information([1.0])[0, 0] == math.inf
    assert Poisson().fisher_information([0.0])[0, 0] == math.inf
    assert Exponential().fisher_information([0.0])[0, 0] == math.inf
    assert Bernoulli().log_density([1, 0], [1.0]).tolist() == [0.0, -math.inf]
    assert Poisson().log_density([0, 1], [0.0]).tolist() == [0.0, -math.inf]
