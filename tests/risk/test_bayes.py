"""Bayes rules against all rules of small worlds, and against closed forms."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

from corollary.risk import (
    CostLoss,
    FiniteWorld,
    PinballLoss,
    bayes_error,
    bayes_regressor,
    conditional_quantile,
    cost_sensitive_rule,
    cost_sensitive_sign,
    cost_threshold,
    gaussian_bayes_error,
    map_rule,
    ml_rule,
    posterior_probabilities,
)


def random_world(rng, n_inputs, outcomes):
    joint = rng.dirichlet(np.ones(n_inputs * len(outcomes))).reshape(n_inputs, -1)
    return FiniteWorld(joint, outcomes)


def all_classifiers(n_inputs, outcomes):
    for labels in product(outcomes, repeat=n_inputs):
        yield np.array(labels)


# -- regression ------------------------------------------------------------------------------


def test_conditional_mean_is_best_and_the_excess_is_a_distance(seed):
    rng = np.random.default_rng(seed)
    world = random_world(rng, 4, [-1.0, 0.5, 2.0, 7.0])
    best = bayes_regressor(world.posterior, world.outcomes)
    np.testing.assert_allclose(world.bayes_rule(world.inputs, "square"), best)
    by_hand = [(world.joint[i] * world.outcomes).sum() / world.joint[i].sum() for i in range(4)]
    np.testing.assert_allclose(best, by_hand)

    def risk(f):
        return (world.joint * (world.outcomes - f[:, None]) ** 2).sum()

    assert np.isclose(world.bayes_risk("square"), risk(best))
    for i in range(4):
        for step in (-0.1, 0.1):
            assert risk(best + step * np.eye(4)[i]) > risk(best)
    f = rng.normal(size=4)
    assert np.isclose(risk(f) - risk(best), world.marginal @ (f - best) ** 2)


def test_squared_loss_minimiser_is_the_maximum_likelihood_estimate(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(30, 2)), rng.normal(size=30)
    candidates = [rng.normal(size=2) for _ in range(200)]
    candidates.append(np.linalg.lstsq(X, y, rcond=None)[0])
    rss = [np.sum((y - X @ w) ** 2) for w in candidates]
    likelihood = [norm.logpdf(y, X @ w, 1.7).sum() for w in candidates]
    assert np.argmin(rss) == np.argmax(likelihood) == 200
    # A proper prior moves the maximum: plain least squares is not the MAP estimate.
    posterior = [p + norm.logpdf(w, 0, 0.1).sum() for p, w in zip(likelihood, candidates)]
    ridge = np.linalg.solve(X.T @ X + (1.7 / 0.1) ** 2 * np.eye(2), X.T @ y)
    best = norm.logpdf(y, X @ ridge, 1.7).sum() + norm.logpdf(ridge, 0, 0.1).sum()
    assert best > posterior[200] + 1e-6


def test_quantile_minimises_pinball_risk_of_a_constant_model(seed):
    sample = np.random.default_rng(seed).normal(size=101)
    for q in (0.05, 0.5, 0.9):
        best = conditional_quantile(np.full((1, 101), 1 / 101), sample, q)[0]
        assert best == np.quantile(sample, q, method="inverted_cdf")
        risk = PinballLoss(q)(sample, np.full(101, best)).mean()
        for other in sample:
            assert risk <= PinballLoss(q)(sample, np.full(101, other)).mean() + 1e-12
        # The other sign of the residual would give the (1 - q)-quantile.
        turned = [PinballLoss(q)(np.full(101, f), sample).mean() for f in np.sort(sample)]
        wrong = np.sort(sample)[np.argmin(turned)]
        assert abs(np.mean(sample <= wrong) - (1 - q)) < 0.02


def test_quantile_levels_hit_exactly_are_not_lost_to_rounding():
    tenths = np.full((1, 10), 0.1)
    for k in range(1, 10):
        assert conditional_quantile(tenths, np.arange(10), k / 10)[0] == k - 1


# -- classification --------------------------------------------------------------------------


def test_map_rule_beats_every_classifier(seed):
    rng = np.random.default_rng(seed)
    world = random_world(rng, 4, ["a", "b", "c"])
    rule = map_rule(world.posterior, world.outcomes)
    errors = [
        1 - sum(world.joint[i, "abc".index(label)] for i, label in enumerate(labels))
        for labels in all_classifiers(4, "abc")
    ]
    assert np.isclose(world.bayes_risk(), min(errors))
    assert np.isclose(world.risk(lambda X: rule), min(errors))
    assert np.isclose(bayes_error(world.posterior, world.marginal), min(errors))
    assert np.isclose(min(errors), 1 - (world.marginal * world.posterior.max(axis=1)).sum())
    np.testing.assert_array_equal(world.bayes_rule(world.inputs), rule)
    # Any positive multiple of the rows will do.
    np.testing.assert_array_equal(map_rule(world.joint, world.outcomes), rule)


def test_map_equals_ml_for_equal_priors_only(seed):
    rng = np.random.default_rng(seed)
    x = np.linspace(-3, 3, 601)
    log_likelihood = np.stack([norm.logpdf(x, -1), norm.logpdf(x, 1)], axis=1)
    ml = ml_rule(log_likelihood, [-1, 1])
    equal = map_rule(posterior_probabilities(log_likelihood, [0.5, 0.5]), [-1, 1])
    np.testing.assert_array_equal(ml, equal)
    # The threshold is the midpoint of the means.
    assert np.all(ml[x < -1e-9] == -1)
    assert np.all(ml[x > 1e-9] == 1)
    skewed = map_rule(posterior_probabilities(log_likelihood, [0.9, 0.1]), [-1, 1])
    threshold = np.log(9) / 2
    np.testing.assert_array_equal(skewed, np.where(x > threshold, 1, -1))
    world = random_world(rng, 5, [0, 1, 2])
    product_form = world.likelihood * world.prior
    np.testing.assert_array_equal(map_rule(product_form), map_rule(world.posterior))


@pytest.mark.parametrize("prior", [0.5, 0.2, 0.97])
def test_gaussian_error_equals_quadrature(prior):
    x = np.linspace(-12, 14, 400_001)
    densities = [(1 - prior) * norm.pdf(x, 0, 1.5), prior * norm.pdf(x, 2, 1.5)]
    integral = np.minimum(*densities).sum() * (x[1] - x[0])
    assert np.isclose(gaussian_bayes_error([0.0], [2.0], [[2.25]], prior=prior), integral)


def test_gaussian_error_is_phi_of_minus_half_the_mahalanobis_distance(seed):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(3, 3))
    covariance, gap = root @ root.T + np.eye(3), rng.normal(size=3)
    distance = np.sqrt(gap @ np.linalg.inv(covariance) @ gap)
    error = gaussian_bayes_error(np.zeros(3), gap, covariance)
    assert np.isclose(error, norm.cdf(-distance / 2))
    # and the posterior route agrees on a large sample
    n = 100_000
    y = rng.integers(2, size=n)
    X = rng.multivariate_normal(np.zeros(3), covariance, n) + np.outer(y, gap)
    logs = [multivariate_normal(m, covariance).logpdf(X) for m in (np.zeros(3), gap)]
    posterior = posterior_probabilities(np.stack(logs, axis=1), [0.5, 0.5])
    spread = np.std(posterior.max(axis=1)) / np.sqrt(n)
    assert abs(bayes_error(posterior) - error) < 5 * spread
    assert abs(np.mean(map_rule(posterior) != y) - error) < 5 * np.sqrt(error / n)
    assert gaussian_bayes_error([1.0], [1.0], [[1.0]], prior=0.3) == 0.3


# -- costs -----------------------------------------------------------------------------------


def test_cost_rule_beats_every_classifier(seed):
    rng = np.random.default_rng(seed)
    for _ in range(10):
        world = random_world(rng, 5, [-1, 1])
        # l(1, -1) > l(-1, -1) and l(-1, 1) > l(1, 1), not symmetric, diagonal not zero
        costs = np.array([[0.3, 0.3 + rng.exponential()], [0.1 + rng.exponential(), 0.1]])
        expected = [
            sum(world.joint[i, k] * costs[k, labels[i]] for i in range(5) for k in range(2))
            for labels in all_classifiers(5, [0, 1])
        ]
        rule = cost_sensitive_sign(world.posterior[:, 1], costs)
        loss = CostLoss(costs, [-1, 1])
        assert np.isclose(world.risk(lambda X, r=rule: r, loss), min(expected))
        assert np.isclose(world.bayes_risk(loss), min(expected))
        np.testing.assert_array_equal(cost_sensitive_rule(world.posterior, costs, [-1, 1]), rule)
        ratio = (costs[0, 1] - costs[0, 0]) / (costs[1, 0] - costs[1, 1])
        by_ratio = world.posterior[:, 1] - ratio * world.posterior[:, 0]
        np.testing.assert_array_equal(rule, np.where(by_ratio >= 0, 1, -1))


def test_cost_rule_for_many_classes(seed):
    rng = np.random.default_rng(seed)
    world, costs = random_world(rng, 3, [0, 1, 2]), rng.uniform(size=(3, 3))
    expected = [
        sum(world.joint[i, k] * costs[k, labels[i]] for i in range(3) for k in range(3))
        for labels in all_classifiers(3, [0, 1, 2])
    ]
    rule = cost_sensitive_rule(world.posterior, costs)
    assert np.isclose(world.risk(lambda X: rule, CostLoss(costs, [0, 1, 2])), min(expected))


def test_ties_go_to_the_positive_class():
    assert cost_threshold([[0, 1], [1, 0]]) == 0.5
    assert cost_sensitive_sign(0.5, [[0, 1], [1, 0]]) == 1
    assert cost_sensitive_rule([[0.5, 0.5]], [[0, 1], [1, 0]], ["no", "yes"]).tolist() == ["yes"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cost_threshold([[1, 0], [1, 0]]), "every mistake to cost more.*-1 and 1"),
        (lambda: cost_threshold([[0, 1]]), r"shape \(2, 2\). Got \(1, 2\)"),
        (lambda: map_rule([[0.5, 0.5]], [1]), "one class for each column. Got 1 classes and 2"),
        (lambda: map_rule([0.5, 0.5]), r"table of shape \(n_samples, n_classes\)"),
        (lambda: bayes_error([[0.5, 0.6]]), "summing to 1"),
        (lambda: bayes_error([[0.5, 0.5]], [0.5, 0.5]), "one marginal probability for each row"),
        (lambda: bayes_error([[0.5, 0.5]], [0.7]), "non-negative and sum to 1"),
        (
            lambda: gaussian_bayes_error([0], [1], [[1]], prior=1),
            r"'prior' parameter .* \(0.0, 1.0\)",
        ),
        (lambda: conditional_quantile([[1.0]], [1], 0), "'quantile' parameter of conditional_quan"),
        (
            lambda: posterior_probabilities([[0.0, 0.0], [-np.inf, 0.0]], [1.0, 0.0]),
            "Row 1 has none under any class of positive prior",
        ),
    ],
)
def test_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_errors_of_gaussians_by_hand():
    assert gaussian_bayes_error(1.0, 1.0, 2.0, prior=0.3) == pytest.approx(0.3)
    assert gaussian_bayes_error(1.0, 1.0, 2.0, prior=0.8) == pytest.approx(0.2)
    # Two standard deviations apart: the normal tail at 1.
    assert gaussian_bayes_error(0.0, 4.0, 4.0) == pytest.approx(0.158655, abs=1e-6)
    assert bayes_error([[0.5, 0.5], [0.9, 0.1]], [0.25, 0.75]) == pytest.approx(0.2)
    assert bayes_error([[0.5, 0.5], [0.9, 0.1]]) == pytest.approx(0.3)
    assert cost_threshold([[0.0, 3.0], [1.0, 0.0]]) == 0.75
    assert bayes_regressor([[0.5, 0.5]], [0.0, 3.0]) == pytest.approx([1.5])
