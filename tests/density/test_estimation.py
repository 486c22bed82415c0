"""What is true of all estimators: moments, score identities, Cramér-Rao, consistency."""

import math

import numpy as np
import pytest
from scipy import stats

from corollary.core.simulate import assert_bound_holds, assert_share_equals
from corollary.density import (
    Bernoulli,
    ConsistencyCurve,
    DiscreteUniform,
    Exponential,
    Gamma,
    Normal,
    NormalVector,
    Poisson,
    Uniform,
    bias_jacobian,
    consistency_curve,
    cramer_rao_bound,
    cramer_rao_matrix,
    draw_outcomes,
    efficiency,
    estimator_moments,
    likeliest_range,
    list_outcomes,
    maximum_likelihood,
    sample_mean,
    score_moments,
    unbiased_range,
    wald_interval,
)

BERNOULLI, MEAN = Bernoulli(), Normal(std=2.0)


def shrunk(c):
    return lambda x: c * x.mean(axis=1)


# -- outcomes and moments --------------------------------------------------------------------


def test_all_samples_of_a_coin():
    outcomes = list_outcomes(BERNOULLI, [0.3], 4)
    assert outcomes.samples.shape == (16, 4)
    assert outcomes.exact
    heads = outcomes.samples.sum(axis=1)
    np.testing.assert_allclose(outcomes.probability, 0.3**heads * 0.7 ** (4 - heads), rtol=1e-13)
    with pytest.raises(ValueError, match="at most a million samples"):
        list_outcomes(BERNOULLI, [0.3], 21)


def test_moments_of_an_estimator_by_hand():
    moments = estimator_moments(shrunk(0.5), list_outcomes(BERNOULLI, [0.3], 4))
    assert moments.mean[0] == pytest.approx(0.15)
    assert moments.bias[0] == pytest.approx(-0.15)
    assert moments.covariance[0, 0] == pytest.approx(0.25 * 0.21 / 4)
    assert moments.mean_squared_error[0, 0] == pytest.approx(0.25 * 0.21 / 4 + 0.15**2)
    assert moments.standard_error[0] == 0.0


def test_simulated_moments_have_standard_errors():
    outcomes = draw_outcomes(Poisson(), [3.0], 5, 4000, random_state=0)
    assert not outcomes.exact
    moments = estimator_moments(sample_mean, outcomes)
    assert moments.standard_error[0] == pytest.approx(math.sqrt(0.6 / 4000), rel=0.1)
    assert abs(moments.bias[0]) < 5 * moments.standard_error[0]
    again = draw_outcomes(Poisson(), [3.0], 5, 4000, random_state=0)
    np.testing.assert_array_equal(outcomes.samples, again.samples)


def test_error_splits_into_covariance_and_bias_for_several_values():
    def both(x):
        return np.stack([x.mean(axis=1) + 1, x.var(axis=1)], axis=1)

    moments = estimator_moments(both, list_outcomes(Normal(), [1.0, 4.0], 3))
    np.testing.assert_allclose(moments.bias, [1.0, -4 / 3], rtol=1e-10)
    np.testing.assert_allclose(
        moments.mean_squared_error,
        moments.covariance + np.outer(moments.bias, moments.bias),
        atol=1e-9,
    )
    np.testing.assert_allclose(np.diag(moments.covariance), [4 / 3, 2 * 16 * 2 / 9], rtol=1e-9)
    assert moments.standard_error.tolist() == [0.0, 0.0]


def test_estimators_of_wrong_shape_are_told():
    outcomes = list_outcomes(BERNOULLI, [0.3], 2)
    with pytest.raises(ValueError, match="one value, or one row of values, for each"):
        estimator_moments(lambda x: x.mean(), outcomes)
    with pytest.raises(ValueError, match="as many values as parameters"):
        estimator_moments(lambda x: x, outcomes)


# -- moments of the score --------------------------------------------------------------------


@pytest.mark.parametrize(
    "estimator",
    [shrunk(1.0), shrunk(0.3), lambda x: x.max(axis=1), lambda x: 0 * x[:, 0] + 7],
    ids=["mean", "shrunk", "largest", "constant"],
)
def test_score_identities_hold_exactly_for_any_estimator(estimator):
    n, p, step = 4, 0.3, 1e-5
    mean, covariance, cross = score_moments(estimator, list_outcomes(BERNOULLI, [p], n))
    assert mean[0] == pytest.approx(0, abs=1e-12)
    assert covariance[0, 0] == pytest.approx(n / (p * (1 - p)))
    ahead, behind = (
        estimator_moments(estimator, list_outcomes(BERNOULLI, [q], n)).bias[0]
        for q in (p + step, p - step)
    )
    slope = (ahead - behind) / (2 * step)
    assert cross[0, 0] == pytest.approx(1 + slope, abs=1e-8)
    assert bias_jacobian(estimator, BERNOULLI, [p], n)[0, 0] == pytest.approx(slope, abs=1e-6)
    # Cauchy and Schwarz: the squared covariance is at most the product of the variances.
    variance = estimator_moments(estimator, list_outcomes(BERNOULLI, [p], n)).covariance[0, 0]
    assert cross[0, 0] ** 2 <= covariance[0, 0] * variance + 1e-12


@pytest.mark.parametrize(
    ("family", "theta"), [(Normal(), [1.0, 2.0]), (Poisson(), [2.0]), (Exponential(), [1.5])]
)
def test_scores_of_other_families_have_mean_zero(family, theta):
    outcomes = list_outcomes(family, theta, 2)
    mean, covariance, _ = score_moments(sample_mean, outcomes)
    np.testing.assert_allclose(mean, 0, atol=1e-9)
    np.testing.assert_allclose(covariance, family.fisher_information(theta, 2), atol=1e-8)


def test_several_parameters():
    def both(x):
        return np.stack([x.mean(axis=1), x.var(axis=1)], axis=1)

    _, _, cross = score_moments(both, list_outcomes(Normal(), [1.0, 4.0], 3))
    np.testing.assert_allclose(cross, np.diag([1, 2 / 3]), atol=1e-9)
    jacobian = bias_jacobian(both, Normal(), [1.0, 4.0], 3)
    np.testing.assert_allclose(jacobian, np.diag([0, -1 / 3]), atol=1e-6)


def test_the_identities_fail_where_the_support_moves():
    outcomes = list_outcomes(Uniform(), [2.0], 3)
    mean, _, cross = score_moments(likeliest_range, outcomes)
    assert mean[0] == pytest.approx(-3 / 2)  # -1 / theta for each draw
    assert cross[0, 0] == pytest.approx(0, abs=1e-12)  # not 1 + b' = 3/4


# -- Cramér and Rao --------------------------------------------------------------------------


@pytest.mark.parametrize("c", [1.0, 0.5, 0.0, -1.0, 1.7])
def test_multiples_of_a_normal_mean_reach_the_biased_bound(c):
    n, theta = 3, 1.5
    moments = estimator_moments(shrunk(c), list_outcomes(MEAN, [theta], n))
    information = MEAN.fisher_information([theta], n)[0, 0]
    bound = cramer_rao_bound(information, bias=(c - 1) * theta, bias_slope=c - 1)
    assert bound.variance == pytest.approx(c**2 * 4 / n, abs=1e-14)
    assert bound.mean_squared_error == pytest.approx(c**2 * 4 / n + (c - 1) ** 2 * theta**2)
    assert moments.covariance[0, 0] == pytest.approx(bound.variance, abs=1e-12)
    assert moments.mean_squared_error[0, 0] == pytest.approx(bound.mean_squared_error)


def test_values_by_hand():
    assert cramer_rao_bound(4.0) == (0.25, 0.25)
    assert cramer_rao_bound(4.0, bias=3.0, bias_slope=-0.5) == (0.0625, 9.0625)
    with pytest.raises(ValueError, match="'information' parameter of cramer_rao_bound"):
        cramer_rao_bound(0.0)


@pytest.mark.parametrize("p", [0.1, 0.5, 0.8])
@pytest.mark.parametrize(
    "estimator",
    [shrunk(1.0), lambda x: np.median(x, axis=1), lambda x: (x.sum(axis=1) + 1) / (x.shape[1] + 2)],
    ids=["mean", "median", "laplace"],
)
def test_no_estimator_of_a_coin_beats_the_bound(estimator, p):
    n = 5
    moments = estimator_moments(estimator, list_outcomes(BERNOULLI, [p], n))
    slope = bias_jacobian(estimator, BERNOULLI, [p], n)[0, 0]
    information = BERNOULLI.fisher_information([p], n)[0, 0]
    bound = cramer_rao_bound(information, bias=moments.bias[0], bias_slope=slope)
    assert moments.covariance[0, 0] >= bound.variance - 1e-8
    assert moments.mean_squared_error[0, 0] >= bound.mean_squared_error - 1e-8


def test_a_shift_changes_the_error_and_not_the_variance():
    def shifted(x):
        return x.mean(axis=1) + 1

    moments = estimator_moments(shifted, list_outcomes(MEAN, [0.0], 2))
    bound = cramer_rao_bound(0.5, bias=1.0)
    assert moments.covariance[0, 0] == pytest.approx(bound.variance)
    assert moments.covariance[0, 0] < bound.mean_squared_error


def test_efficient_estimators_reach_the_bound_in_simulation():
    for family, theta in ((Poisson(), 3.0), (BERNOULLI, 0.4), (MEAN, -1.0)):
        outcomes = draw_outcomes(family, [theta], 20, 5000, random_state=1)
        error = estimator_moments(sample_mean, outcomes).mean_squared_error[0, 0]
        bound = cramer_rao_bound(family.fisher_information([theta], 20)[0, 0]).variance
        assert error == pytest.approx(bound, rel=5 * math.sqrt(2 / 5000))


def test_without_regularity_nothing_holds_the_error_back():
    n, theta = 20, 2.0
    outcomes = draw_outcomes(Uniform(), [theta], n, 20_000, random_state=0)
    moments = estimator_moments(lambda x: (n + 1) / n * x.max(axis=1), outcomes)
    assert abs(moments.bias[0]) < 5 * moments.standard_error[0]
    variance = theta**2 / (n * (n + 2))
    assert moments.covariance[0, 0] == pytest.approx(variance, rel=0.1)
    assert variance < theta**2 / n / 12  # what scores alone would suggest is far larger


def test_linear_maps_of_a_normal_mean_reach_the_matrix_bound():
    covariance, theta, n = np.array([[2.0, 0.5], [0.5, 1.0]]), np.array([1.0, -2.0]), 4
    A = np.array([[0.5, 0.2], [-0.3, 1.2]])
    family = NormalVector(covariance)
    bound = cramer_rao_matrix(
        family.fisher_information(theta, n), bias=A @ theta - theta, bias_jacobian=A - np.eye(2)
    )
    np.testing.assert_allclose(bound.variance, A @ covariance @ A.T / n, rtol=1e-12)
    b = (A - np.eye(2)) @ theta
    np.testing.assert_allclose(
        bound.mean_squared_error, A @ covariance @ A.T / n + np.outer(b, b), rtol=1e-12
    )
    plain = cramer_rao_matrix(family.fisher_information(theta, n))
    np.testing.assert_allclose(plain.variance, covariance / n, rtol=1e-12)
    np.testing.assert_allclose(plain.mean_squared_error, covariance / n, rtol=1e-12)


def test_mean_and_variance_of_a_normal_law_obey_the_matrix_bound():
    def both(x):
        return np.stack([x.mean(axis=1), x.var(axis=1)], axis=1)

    theta, n = [1.0, 4.0], 3
    moments = estimator_moments(both, list_outcomes(Normal(), theta, n))
    bound = cramer_rao_matrix(
        Normal().fisher_information(theta, n),
        bias=moments.bias,
        bias_jacobian=bias_jacobian(both, Normal(), theta, n),
    )
    assert np.linalg.eigvalsh(moments.covariance - bound.variance).min() > -1e-6
    excess = moments.mean_squared_error - bound.mean_squared_error
    assert np.linalg.eigvalsh(excess).min() > -1e-6
    # Of the variance 2 v^2 (n - 1) / n^2 the bound is 2 v^2 (1 - 1/n)^2 / n.
    assert bound.variance[1, 1] == pytest.approx(32 * 4 / 27, rel=1e-5)
    assert moments.covariance[1, 1] == pytest.approx(32 * 2 / 9)


def test_the_matrix_of_one_parameter_is_the_scalar():
    scalar = cramer_rao_bound(5.0, bias=0.3, bias_slope=-0.2)
    matrix = cramer_rao_matrix([[5.0]], bias=[0.3], bias_jacobian=[[-0.2]])
    assert matrix.variance[0, 0] == pytest.approx(scalar.variance)
    assert matrix.mean_squared_error[0, 0] == pytest.approx(scalar.mean_squared_error)
    with pytest.raises(ValueError, match="positive definite information"):
        cramer_rao_matrix([[1.0, 1.0], [1.0, 1.0]])
    with pytest.raises(ValueError, match="of one size"):
        cramer_rao_matrix([[1.0]], bias=[1.0, 2.0])


# -- efficiency and consistency --------------------------------------------------------------


def test_efficiency_of_mean_and_median():
    assert efficiency(0.5, 4.0) == 0.5
    n = 101
    outcomes = draw_outcomes(Normal(std=1.0), [0.0], n, 4000, random_state=0)
    information = Normal(std=1.0).fisher_information([0.0], n)[0, 0]
    of_mean, of_median = (
        efficiency(estimator_moments(e, outcomes).mean_squared_error[0, 0], information)
        for e in (sample_mean, lambda x: np.median(x, axis=1))
    )
    assert of_mean == pytest.approx(1.0, abs=0.12)
    assert of_median == pytest.approx(2 / math.pi, abs=0.08)
    exact = estimator_moments(sample_mean, list_outcomes(BERNOULLI, [0.2], 6))
    share = efficiency(exact.mean_squared_error[0, 0], BERNOULLI.fisher_information([0.2], 6)[0, 0])
    assert share == pytest.approx(1.0)
    with pytest.raises(ValueError, match="'mean_squared_error' parameter of efficiency"):
        efficiency(0.0, 1.0)  # a constant that happens to be true


def test_consistency_of_a_normal_mean_follows_its_law():
    sizes, eps = [1, 4, 16, 64], 0.5
    curve = consistency_curve(
        sample_mean, MEAN, [1.0], sizes, tolerance=eps, repetitions=2000, random_state=0
    )
    for size, off in zip(sizes, curve.off):
        probability = 2 * stats.norm.cdf(-eps * math.sqrt(size) / 2)
        assert_share_equals(int(off), 2000, probability)
    np.testing.assert_allclose(curve.share, curve.off / 2000)
    np.testing.assert_array_equal(curve.sizes, sizes)
    assert curve.smallest_size(0.1) == 64
    assert curve.smallest_size(0.9) == 1


def test_the_first_draw_alone_is_not_consistent():
    curve = consistency_curve(
        lambda x: x[:, 0], MEAN, [0.0], [1, 100], tolerance=1.0, repetitions=500, random_state=0
    )
    assert curve.smallest_size(0.05) is None
    for off in curve.off:
        assert_share_equals(int(off), 500, 2 * stats.norm.cdf(-0.5))


def test_limits_on_the_curve_are_binomial():
    curve = ConsistencyCurve(np.array([1, 2, 3, 4]), np.array([100, 7, 0, 99]), 100)
    upper = curve.upper(0.95)
    assert upper[0] == 1.0
    assert stats.binom.cdf(7, 100, upper[1]) == pytest.approx(0.05)
    assert upper[2] == pytest.approx(1 - 0.05 ** (1 / 100))
    assert upper[3] == pytest.approx(0.95 ** (1 / 100))
    # A size counts only if all later ones are good, too.
    assert ConsistencyCurve(np.array([1, 2, 3]), np.array([0, 90, 0]), 100).smallest_size(0.1) == 3
    with pytest.raises(ValueError, match="ascending sizes"):
        consistency_curve(sample_mean, MEAN, [0.0], [4, 2], tolerance=1.0)


# -- unbiased estimators ---------------------------------------------------------------------


@pytest.mark.parametrize("theta", [1, 2, 5, 9])
def test_one_draw_of_a_discrete_uniform_law(theta):
    outcomes = list_outcomes(DiscreteUniform(), [theta], 1)
    likeliest = estimator_moments(likeliest_range, outcomes)
    assert likeliest.mean[0] == pytest.approx((theta + 1) / 2)
    unbiased = estimator_moments(unbiased_range, outcomes)
    assert unbiased.mean[0] == pytest.approx(theta)
    np.testing.assert_allclose(
        unbiased_range(outcomes.samples), 2 * outcomes.samples[:, 0] - 1, rtol=1e-12
    )


@pytest.mark.parametrize("n", [2, 3, 4])
def test_more_draws_stay_unbiased_and_spread_less(n):
    outcomes = list_outcomes(DiscreteUniform(), [6], n)
    moments = estimator_moments(unbiased_range, outcomes)
    assert moments.bias[0] == pytest.approx(0, abs=1e-12)
    # Twice the mean less one is unbiased as well, with a larger variance.
    other = estimator_moments(lambda x: 2 * x.mean(axis=1) - 1, outcomes)
    assert other.bias[0] == pytest.approx(0, abs=1e-12)
    assert moments.covariance[0, 0] < other.covariance[0, 0]
    assert estimator_moments(likeliest_range, outcomes).bias[0] < 0


def test_the_mean_is_unbiased_whatever_the_law():
    for family, theta, mean in (
        (Poisson(), [2.5], 2.5),
        (Exponential(), [0.5], 2.0),
        (DiscreteUniform(), [6], 3.5),
        (Gamma(), [3.0, 2.0], 1.5),
    ):
        moments = estimator_moments(sample_mean, list_outcomes(family, theta, 2), truth=[mean])
        assert moments.bias[0] == pytest.approx(0, abs=1e-10)


def test_many_draws_do_not_overflow_and_others_are_refused():
    assert unbiased_range(np.full((1, 5000), 10**6))[0] == pytest.approx(10**6 + 200, rel=1e-4)
    with pytest.raises(ValueError, match="whole numbers from 1 on"):
        unbiased_range([[0.5]])


# -- the limit of the maximum of the likelihood ------------------------------------------------


def test_errors_in_units_of_the_information_are_normal():
    n, rate = 200, 0.7
    outcomes = draw_outcomes(Exponential(), [rate], n, 3000, random_state=0)
    estimates = 1 / sample_mean(outcomes.samples)
    z = np.sqrt(Exponential().fisher_information([rate], n)[0, 0]) * (estimates - rate)
    assert abs(z.mean() - math.sqrt(1 / n)) < 0.1  # the bias of the rate is rate / (n - 1)
    assert z.var() == pytest.approx(1.0, abs=0.12)
    assert stats.kstest(z, "norm").statistic < 0.06


def test_information_times_variance_tends_to_one_from_above():
    ratios = []
    for n in (5, 20, 100):  # the variance of 1 / mean is rate^2 n^2 / ((n - 1)^2 (n - 2))
        variance = n**2 / ((n - 1) ** 2 * (n - 2))
        ratios.append(Exponential().fisher_information([1.0], n)[0, 0] * variance)
    assert ratios[0] > ratios[1] > ratios[2] > 1
    assert ratios[2] == pytest.approx(1, abs=0.05)


def test_intervals_by_hand_and_their_coverage():
    interval = wald_interval([0.5, 2.0], np.diag([0.04, 0.25]), 0.9)
    z = stats.norm.ppf(0.95)
    np.testing.assert_allclose(interval, [[0.5 - 0.2 * z, 0.5 + 0.2 * z], [2 - z / 2, 2 + z / 2]])
    outcomes = draw_outcomes(Poisson(), [4.0], 50, 2000, random_state=0)
    means = sample_mean(outcomes.samples)
    covered = sum(
        bool(low <= 4.0 <= high)
        for mean in means
        for low, high in wald_interval([mean], [[mean / 50]])
    )
    assert_bound_holds(2000 - covered, 2000, 0.06)  # in the limit 5%
    assert_share_equals(covered, 2000, 0.945)
    estimate = maximum_likelihood(Poisson(), outcomes.samples[0])
    np.testing.assert_allclose(
        estimate.interval(0.95), wald_interval([means[0]], [[means[0] / 50]]), rtol=1e-9
    )


def test_the_limit_fails_where_the_support_moves():
    n = 300
    outcomes = draw_outcomes(Uniform(), [1.0], n, 3000, random_state=0)
    scaled = n * (1 - likeliest_range(outcomes.samples))  # exponential, at the rate n
    assert stats.kstest(scaled, "expon").statistic < 0.04
    assert stats.kstest(scaled, "norm").statistic > 0.3
