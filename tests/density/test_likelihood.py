"""Maxima of likelihoods and posteriors against closed forms, SciPy and conjugacy."""

import math

import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats
from scipy.optimize import brentq
from scipy.special import digamma, polygamma

from corollary.core.summary import Moments, open_source
from corollary.density import (
    Bernoulli,
    BetaPrior,
    DiscreteUniform,
    Estimate,
    Exponential,
    Gamma,
    GammaPrior,
    LogDensity,
    ModelPosterior,
    Normal,
    NormalPrior,
    NormalVector,
    Poisson,
    Uniform,
    maximum_a_posteriori,
    maximum_likelihood,
    profile_interval,
)

RNG = np.random.default_rng(0)
X = {
    "normal": RNG.normal(3, 2, 40),
    "bernoulli": (RNG.random(40) < 0.3).astype(float),
    "poisson": RNG.poisson(3.0, 40).astype(float),
    "exponential": RNG.exponential(2.0, 40),
    "gamma": RNG.gamma(3.0, 2.0, 40),
}
FAMILIES = {
    "normal": Normal(),
    "bernoulli": Bernoulli(),
    "poisson": Poisson(),
    "exponential": Exponential(),
    "gamma": Gamma(),
}


@pytest.mark.parametrize(
    ("name", "formula", "errors"),
    [
        ("normal", lambda x: [x.mean(), x.var()], lambda t, n: [t[1] / n, 2 * t[1] ** 2 / n]),
        ("bernoulli", lambda x: [x.mean()], lambda t, n: [t[0] * (1 - t[0]) / n]),
        ("poisson", lambda x: [x.mean()], lambda t, n: [t[0] / n]),
        ("exponential", lambda x: [1 / x.mean()], lambda t, n: [t[0] ** 2 / n]),
    ],
)
def test_closed_forms_their_errors_and_the_search(name, formula, errors):
    family, x = FAMILIES[name], X[name]
    closed = maximum_likelihood(family, x)
    np.testing.assert_allclose(closed.theta, formula(x), rtol=1e-12)
    np.testing.assert_allclose(closed.standard_errors**2, errors(closed.theta, 40), rtol=1e-8)
    assert closed.log_likelihood == pytest.approx(family.log_density(x, closed.theta).sum())
    assert closed.n_samples == 40
    found = maximum_likelihood(family, x, numeric=True)
    np.testing.assert_allclose(found.theta, closed.theta, rtol=1e-7)
    np.testing.assert_allclose(found.covariance, closed.covariance, rtol=1e-5, atol=1e-10)


def test_gamma_against_scipy_and_its_equations():
    x = X["gamma"]
    estimate = maximum_likelihood(Gamma(), x)
    shape, rate = estimate.theta
    theirs = stats.gamma.fit(x, floc=0)
    np.testing.assert_allclose([shape, 1 / rate], [theirs[0], theirs[2]], rtol=1e-4)
    assert shape / rate == pytest.approx(x.mean(), rel=1e-9)
    assert math.log(rate) == pytest.approx(digamma(shape) - np.log(x).mean(), abs=1e-8)
    by_hand = 40 * np.array([[polygamma(1, shape), -1 / rate], [-1 / rate, shape / rate**2]])
    np.testing.assert_allclose(estimate.information, by_hand, rtol=1e-8)
    (four,) = [maximum_likelihood(Gamma(), [1.0, 2.0, 3.0, 6.0]).theta]
    np.testing.assert_allclose(four[0], stats.gamma.fit([1, 2, 3, 6], floc=0)[0], rtol=1e-4)


def test_vectors_and_families_of_the_user():
    covariance = np.array([[2.0, 0.5], [0.5, 1.0]])
    rows = RNG.normal(size=(30, 2))
    estimate = maximum_likelihood(NormalVector(covariance), rows)
    np.testing.assert_allclose(estimate.theta, rows.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(estimate.covariance, covariance / 30, rtol=1e-9)

    def logistic(x, theta):  # of two parameters, one of them between limits
        z = (x - theta[0]) / theta[1]
        return -z - 2 * jnp.log1p(jnp.exp(-z)) - jnp.log(theta[1])

    x = X["normal"]
    family = LogDensity(logistic, ("place", "scale"), ((-math.inf, 50.0), (0.0, 30.0)))
    estimate = maximum_likelihood(family, x, start=[2.0, 2.0])
    np.testing.assert_allclose(estimate.theta, stats.logistic.fit(x), rtol=1e-4)


def test_weights_count_copies_and_zero_leaves_out():
    weight = np.arange(40) % 3
    for name, family in FAMILIES.items():
        x = X[name]
        weighted = maximum_likelihood(family, x, sample_weight=weight)
        copied = maximum_likelihood(family, np.repeat(x, weight))
        np.testing.assert_allclose(weighted.theta, copied.theta, rtol=1e-8)
        np.testing.assert_allclose(weighted.covariance, copied.covariance, 1e-6, 1e-12)
        assert weighted.log_likelihood == pytest.approx(copied.log_likelihood)
        assert weighted.n_samples == copied.n_samples == weight.sum()
    assert maximum_likelihood(Uniform(), [1.0, 5.0], sample_weight=[1, 0]).theta[0] == 1.0


def test_families_that_are_not_regular_have_no_errors():
    for family, x in ((Uniform(), [0.5, 2.0]), (DiscreteUniform(), [3, 9, 2])):
        estimate = maximum_likelihood(family, x)
        assert estimate.theta[0] == max(x)
        with pytest.raises(ValueError, match="no standard errors: the family is not regular"):
            _ = estimate.standard_errors
        assert str(estimate).startswith(f"{family.names[0]} = {max(x):g}, log likelihood")
        with pytest.raises(ValueError, match="needs a regular family"):
            profile_interval(family, x)


def test_an_edge_of_the_domain_has_no_errors():
    estimate = maximum_likelihood(Bernoulli(), [1, 1, 1])
    assert estimate.theta[0] == 1.0
    assert estimate.log_likelihood == 0.0
    assert estimate.information is None
    assert math.isnan(estimate.to_frame()["standard error"][0])
    two = Estimate(("a", "b"), np.zeros(2), 0.0, None, 3.0)
    assert two.to_frame()["standard error"].isna().tolist() == [True, True]
    with pytest.raises(ValueError, match="no maximum inside the domain of Bernoulli"):
        maximum_likelihood(Bernoulli(), [1, 1, 1], numeric=True)


def test_parameters_that_cannot_be_told_apart_have_no_errors():
    family = LogDensity(lambda x, t: -((x - t[0] - t[1]) ** 2), ("a", "b"))
    estimate = maximum_likelihood(family, [1.0, 3.0])
    assert estimate.theta.sum() == pytest.approx(2.0)
    with pytest.raises(ValueError, match="flat in a direction"):
        _ = estimate.covariance


def test_transformed_parameters():
    estimate = maximum_likelihood(Exponential(), X["exponential"])
    scale = estimate.transform(lambda t: 1 / t, ("scale",))
    mean = X["exponential"].mean()
    assert scale.theta[0] == pytest.approx(mean, rel=1e-12)
    assert scale.standard_errors[0] == pytest.approx(mean / math.sqrt(40))
    assert scale.names == ("scale",)
    assert (scale.log_likelihood, scale.n_samples) == (estimate.log_likelihood, 40)
    both = maximum_likelihood(Normal(), X["normal"]).transform(
        lambda t: jnp.stack([t[0], jnp.sqrt(t[1])]), ("mean", "std")
    )
    std = X["normal"].std()
    np.testing.assert_allclose(both.standard_errors, [std / 40**0.5, std / 80**0.5])
    uniform = maximum_likelihood(Uniform(), [2.0, 3.0]).transform(lambda t: t**2, ("square",))
    assert uniform.theta[0] == 9.0
    assert uniform.information is None
    with pytest.raises(ValueError, match="needs a function to 1 values"):
        estimate.transform(lambda t: jnp.stack([t[0], t[0]]), ("a", "b"))


def test_profile_intervals_by_hand():
    x = np.array([1.0, 2.0, 3.0])

    def drop(rate):  # 2 (n log(rate_hat / rate) - n + rate sum x)
        return 2 * (3 * math.log(0.5 / rate) - 3 + 6 * rate) - stats.chi2(1).ppf(0.95)

    by_hand = brentq(drop, 0.01, 0.5), brentq(drop, 0.5, 3)
    np.testing.assert_allclose(profile_interval(Exponential(), x), by_hand, rtol=1e-8)

    # The mean of a normal law with unknown variance: n log(1 + (mean - m)^2 / variance) <= q.
    x = X["normal"]
    half = math.sqrt(x.var() * math.expm1(stats.chi2(1).ppf(0.9) / 40))
    interval = profile_interval(Normal(), x, 0, confidence=0.9)
    np.testing.assert_allclose(interval, [x.mean() - half, x.mean() + half], rtol=1e-7)


def test_profile_intervals_do_not_depend_on_parameters_and_stay_inside():
    x = X["exponential"]
    rate = profile_interval(Exponential(), x)
    by_scale = LogDensity(lambda x, t: -x / t[0] - jnp.log(t[0]), ("scale",), ((0.0, math.inf),))
    scale = profile_interval(by_scale, x)
    np.testing.assert_allclose(scale, [1 / rate[1], 1 / rate[0]], rtol=1e-8)
    lower, upper = profile_interval(Bernoulli(), np.ones(5))  # p^5 >= exp(-q / 2)
    assert lower == pytest.approx(math.exp(-stats.chi2(1).ppf(0.95) / 10), rel=1e-6)
    assert upper == 1.0
    lower, upper = profile_interval(Poisson(), np.zeros(4))
    assert lower == 0.0
    assert upper == pytest.approx(stats.chi2(1).ppf(0.95) / 8, rel=1e-6)


def test_moments_of_files_and_clusters_give_the_same_parameters():
    x = X["poisson"][:, None]
    chunks = open_source([(x[:15],), (x[15:],)])
    moments = chunks.reduce(Moments.of_width(1))
    for family in (Normal(), Poisson(), Exponential(), Normal(std=1.0)):
        expected = maximum_likelihood(family, x[:, 0]).theta
        np.testing.assert_allclose(family.from_moments(moments), expected, rtol=1e-13)


def test_far_from_zero_the_variance_is_kept():
    x = 1e9 + np.array([0.0, 1.0, 2.0])
    assert maximum_likelihood(Normal(), x).theta[1] == pytest.approx(2 / 3, rel=1e-9)


def test_bad_draws_are_told():
    with pytest.raises(ValueError, match=r"draw 1, 0\.5, has density zero under every Poisson law"):
        maximum_likelihood(Poisson(), [1.0, 0.5])
    with pytest.raises(ValueError, match="needs one draw or more"):
        maximum_likelihood(Poisson(), [])
    with pytest.raises(ValueError, match="maximum_a_posteriori: draw 0"):
        maximum_a_posteriori(Gamma(), [-1.0], lambda t: 0.0)
    with pytest.raises(ValueError, match="one of its 1 parameters"):
        profile_interval(Poisson(), [1.0], 1)


# -- priors ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("family", "x", "prior", "expected"),
    [
        (Bernoulli(), X["bernoulli"], BetaPrior(3, 2), BetaPrior),
        (Poisson(), X["poisson"], GammaPrior(4, 2), GammaPrior),
        (Exponential(), X["exponential"], GammaPrior(4, 2), GammaPrior),
        (Normal(std=2.0), X["normal"], NormalPrior(0.0, 0.5), NormalPrior),
    ],
)
def test_conjugate_modes_equal_the_search(family, x, prior, expected):
    posterior = prior.posterior(family, x)
    assert isinstance(posterior, expected)
    found = maximum_a_posteriori(family, x, prior.log_density)
    assert found.theta[0] == pytest.approx(posterior.mode, rel=1e-7)
    assert found.n_samples == 40
    weight = np.arange(40) % 3
    weighted = prior.posterior(family, x, weight)
    copied = prior.posterior(family, np.repeat(x, weight))
    assert weighted.mode == pytest.approx(copied.mode)
    found = maximum_a_posteriori(family, x, prior.log_density, sample_weight=weight)
    assert found.theta[0] == pytest.approx(weighted.mode, rel=1e-7)


def test_modes_by_hand():
    heads, n = X["bernoulli"].sum(), 40
    posterior = BetaPrior(3, 2).posterior(Bernoulli(), X["bernoulli"])
    assert posterior.mode == pytest.approx((3 + heads - 1) / (3 + 2 + n - 2))
    assert GammaPrior(0.5, 2.0).mode == 0.0
    assert GammaPrior(5.0, 2.0).mode == 2.0
    x = X["normal"]
    ridge = x.sum() / (n + 4 / 0.5)  # sum over n plus noise variance over prior variance
    assert NormalPrior(0.0, 0.5).posterior(Normal(std=2.0), x).mode == pytest.approx(ridge)
    assert NormalPrior(0.0, 0.5).posterior(Normal(std=2.0), x).variance == pytest.approx(1 / 12)


def test_log_densities_of_priors_are_scipys_up_to_a_constant():
    points = np.array([0.2, 0.5, 0.9])
    for prior, law in (
        (BetaPrior(3, 2), stats.beta(3, 2)),
        (GammaPrior(3, 2), stats.gamma(3, scale=0.5)),
        (NormalPrior(1.0, 4.0), stats.norm(1, 2)),
    ):
        ours = np.array([float(prior.log_density(np.array([t]))) for t in points])
        np.testing.assert_allclose(np.diff(ours), np.diff(law.logpdf(points)), rtol=1e-5)


def test_a_flat_prior_changes_nothing_and_a_posterior_has_its_curvature():
    x = X["gamma"]
    flat = maximum_a_posteriori(Gamma(), x, lambda t: 0.0 * t[0])
    plain = maximum_likelihood(Gamma(), x)
    np.testing.assert_allclose(flat.theta, plain.theta, rtol=1e-7)
    np.testing.assert_allclose(flat.information, plain.information, rtol=1e-5)
    pulled = maximum_a_posteriori(Normal(std=2.0), X["normal"], NormalPrior(0.0, 0.5).log_density)
    assert pulled.information[0, 0] == pytest.approx(40 / 4 + 1 / 0.5)
    value = Normal(std=2.0).log_density(X["normal"], pulled.theta).sum() - pulled.theta[0] ** 2
    assert pulled.log_likelihood == pytest.approx(value)


def test_priors_refuse_other_families_and_numbers():
    with pytest.raises(TypeError, match=r"BetaPrior\.posterior has a closed form for Bernoulli\."):
        BetaPrior(1, 1).posterior(Poisson(), [1])
    with pytest.raises(ValueError, match="standard deviation is known"):
        NormalPrior(0, 1).posterior(Normal(), [1.0])
    with pytest.raises(ValueError, match="'b' parameter of BetaPrior must be positive"):
        BetaPrior(1, 0)
    with pytest.raises(ValueError, match="no mode inside"):
        _ = BetaPrior(1, 2).mode
    with pytest.raises(ValueError, match="'variance' parameter of NormalPrior"):
        NormalPrior(0, -1)


# -- Bayes' rule -----------------------------------------------------------------------------


def test_bayes_rule_by_hand_batch_and_sequential():
    likelihood = np.array([[0.5, 0.1, 0.0], [0.5, 0.6, 0.2]])  # of two draws under three models
    prior = np.array([0.2, 0.3, 0.5])
    joint = prior * likelihood.prod(axis=0)
    with np.errstate(divide="ignore"):
        logs = np.log(likelihood)
    batch = ModelPosterior(prior).update(logs.sum(axis=0))
    np.testing.assert_allclose(batch.probabilities, joint / joint.sum(), rtol=1e-13)
    assert batch.log_evidence == pytest.approx(math.log(joint.sum()))
    sequential = ModelPosterior(prior).update(logs[0]).update(logs[1])
    np.testing.assert_allclose(sequential.probabilities, batch.probabilities, rtol=1e-13)
    assert sequential.log_evidence == pytest.approx(batch.log_evidence)
    assert batch.probabilities.sum() == pytest.approx(1.0)
    assert batch.probabilities[2] == 0.0


def test_bayes_rule_does_not_underflow_and_agrees_with_conjugacy():
    x = np.tile(X["bernoulli"], 100)
    grid = np.linspace(0.0005, 0.9995, 1000)
    logs = np.array([Bernoulli().log_density(x, [p]).sum() for p in grid])
    posterior = ModelPosterior(np.full(1000, 1e-3)).update(logs)
    exact = BetaPrior(1, 1).posterior(Bernoulli(), x)
    assert posterior.probabilities @ grid == pytest.approx(
        stats.beta(exact.a, exact.b).mean(), abs=1e-9
    )


def test_impossible_data_are_told():
    with pytest.raises(ValueError, match="no model of positive probability allows"):
        ModelPosterior([1.0, 0.0]).update([-math.inf, 0.0])
    with pytest.raises(ValueError, match="needs 2 log likelihoods"):
        ModelPosterior([0.5, 0.5]).update([0.0])
    with pytest.raises(ValueError, match="must hold probabilities"):
        ModelPosterior([0.5, 0.6])


@pytest.mark.parametrize("unit", [1e-12, 1e-8, 1e8, 1e12])
def test_profile_intervals_have_the_units_of_the_draws(unit):
    x = np.array([1.0, 2.0, 4.0])
    plain, scaled = profile_interval(Normal(), x), profile_interval(Normal(), unit * x)
    np.testing.assert_allclose(np.array(scaled) / unit, plain, rtol=1e-7)
    # With the variance at its best, n log(1 + (t - mean)^2 / s^2) is the quantile.
    half = x.std() * math.sqrt(math.expm1(stats.chi2(1).ppf(0.95) / 3))
    np.testing.assert_allclose(plain, [x.mean() - half, x.mean() + half], rtol=1e-7)


def test_equal_draws_have_no_maximum():
    with pytest.raises(ValueError, match="the likelier the larger the shape"):
        maximum_likelihood(Gamma(), [2.0, 2.0, 2.0])
    for family in (Normal(), Exponential()):
        equal = np.zeros(3)
        assert maximum_likelihood(family, equal).log_likelihood == math.inf
        with pytest.raises(ValueError, match="has none: give draws that vary"):
            profile_interval(family, equal)
    prior = GammaPrior(2.0, 1.0)  # of the shape, with the rate known: that has a maximum
    estimate = maximum_a_posteriori(
        Gamma(), [2.0, 2.0], lambda t: prior.log_density(t[:1]) + prior.log_density(t[1:])
    )
    assert 0 < estimate.theta[0] < 100


def test_a_search_that_rests_on_a_minimum_is_told():
    """(t^2 - 1)^2 is flat at the start 0, which is the least likely point between the maxima."""
    family = LogDensity(lambda x, theta: 0 * x - (theta[0] ** 2 - 1) ** 2, ("t",))
    with pytest.raises(ValueError, match="found no maximum inside the domain"):
        maximum_likelihood(family, [1.0, 2.0])
    best = maximum_likelihood(family, [1.0, 2.0], start=[0.5])
    np.testing.assert_allclose(np.abs(best.theta), [1.0], rtol=1e-8)


def test_a_transformation_that_loses_a_parameter_is_told():
    estimate = maximum_likelihood(Normal(), [1.0, 2.0, 4.0])
    with pytest.raises(ValueError, match="one-to-one near the estimate"):
        estimate.transform(lambda theta: jnp.array([theta[0], theta[0]]), ("a", "b"))
