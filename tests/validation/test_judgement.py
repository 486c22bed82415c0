"""Scores, reliability, tests, comparisons, reuse and agreement of posteriors."""

import math

import matplotlib as mpl
import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression, Ridge

from corollary.core.simulate import assert_bound_holds, assert_share_equals
from corollary.datasets import HighDimensionalLogistic, LogisticWorld
from corollary.gp import normal_scores
from corollary.linear import LogisticRegression
from corollary.risk import kl_divergence
from corollary.validation import (
    ReliabilityDisplay,
    agreement_curve,
    best_of_guesses,
    brier_score,
    compare_learners,
    crps_normal,
    crps_sample,
    exact_p_value,
    log_score,
    monte_carlo_p_value,
    optimism_scale,
    permutation_test,
    posterior_agreement,
    posterior_log_loss,
    reliability_curve,
    reuse_experiment,
    wald_test,
)

mpl.use("Agg")
seeds = st.integers(0, 2**32 - 1)


@given(seeds)
def test_scores_are_proper(seed):
    rng = np.random.default_rng(seed)
    truth, other = rng.dirichlet(np.ones(4), size=2)
    classes = np.arange(4)
    for score in (brier_score, log_score):
        honest = truth @ score(classes, np.tile(truth, (4, 1)))
        assert honest <= truth @ score(classes, np.tile(other, (4, 1))) + 1e-12


def test_scores_by_hand():
    p = np.array([[0.2, 0.3, 0.5], [1.0, 0.0, 0.0]])
    assert brier_score([2, 0], p) == pytest.approx([0.04 + 0.09 + 0.25, 0.0])
    assert brier_score([1, 0], [0.7, 0.1]) == pytest.approx([0.09, 0.01])
    assert log_score([2, 1], p).tolist() == [pytest.approx(math.log(2)), math.inf]
    two = np.array([0.3, 0.8])
    both = np.stack([1 - two, two], axis=1)
    assert brier_score([1, 0], both) == pytest.approx(2 * brier_score([1, 0], two))
    assert log_score([1, 0], both) == pytest.approx(log_score([1, 0], two))


@pytest.mark.parametrize(
    ("y", "mean", "std"), [(0.0, 0.0, 1.0), (2.0, -1.0, 0.5), (-3.0, 1.0, 2.0)]
)
def test_crps_is_its_integral(y, mean, std):
    F = scipy.stats.norm(mean, std).cdf
    below = quad(lambda t: F(t) ** 2, -40, y)[0]
    above = quad(lambda t: (1 - F(t)) ** 2, y, 40)[0]
    value = crps_normal([y], [mean], [std])[0]
    assert value == pytest.approx(below + above, abs=1e-7)
    assert value == pytest.approx(normal_scores([y], [mean], [std]).crps)
    draws = np.random.default_rng(0).normal(mean, std, size=(1, 200_000))
    assert crps_sample([y], draws)[0] == pytest.approx(value, abs=0.01)


@given(seeds)
def test_crps_of_draws_is_its_double_sum_and_the_fair_one_unbiased(seed):
    x = np.random.default_rng(seed).normal(size=5)
    pairs = np.abs(x[:, None] - x).sum()
    first = np.mean(np.abs(x - 0.3))
    assert crps_sample([0.3], [x], fair=False)[0] == pytest.approx(first - pairs / 50)
    assert crps_sample([0.3], [x])[0] == pytest.approx(first - pairs / 40)


def test_reliability_by_hand_and_with_pooling():
    y = np.array([0, 1, 0, 1, 1, 1])
    p = np.array([0.1, 0.1, 0.4, 0.6, 0.9, 0.9])
    curve = reliability_curve(y, p, n_bins=2, strategy="uniform", min_rows=1)
    assert curve.rows.tolist() == [3, 3]
    assert curve.observed == pytest.approx([1 / 3, 1.0])
    assert curve.predicted == pytest.approx([0.2, 0.8])
    assert curve.expected_error == pytest.approx(0.5 * (1 / 3 - 0.2) + 0.5 * 0.2)
    pooled = reliability_curve(y, p, n_bins=5, strategy="uniform", min_rows=4)
    assert pooled.rows.sum() == 6
    assert pooled.rows.min() >= 4
    # One exact interval, by SciPy.
    exact = scipy.stats.binomtest(3, 3).proportion_ci(0.95)
    assert (curve.lower[1], curve.upper[1]) == pytest.approx((exact.low, exact.high))


def test_reliability_does_not_depend_on_the_order_of_rows():
    rng = np.random.default_rng(0)
    p = rng.choice([0.1, 0.3, 0.30001, 0.8], 200)
    y = (rng.random(200) < p).astype(int)
    order = rng.permutation(200)
    one, two = reliability_curve(y, p), reliability_curve(y[order], p[order])
    assert all(np.allclose(a, b) for a, b in zip(one, two))


def test_logistic_regression_with_many_features_is_too_sure():
    X, y, coef = HighDimensionalLogistic().draw(600, random_state=0)
    world = LogisticWorld(coef)
    X_new, y_new = world.sample(4000, 1)
    model = LogisticRegression(C=1e6, max_iter=1000).fit(X, y)
    happened = (y_new == 1).astype(int)
    curve = reliability_curve(happened, model.predict_proba(X_new)[:, 1])
    assert curve.overconfidence > 0.15
    honest = reliability_curve(happened, world.posterior(X_new))
    assert abs(honest.overconfidence) < 0.08
    inside = (honest.lower <= honest.predicted) & (honest.predicted <= honest.upper)
    assert inside.mean() >= 0.8


def test_reliability_picture():
    rng = np.random.default_rng(0)
    p = rng.random(300)
    display = ReliabilityDisplay.from_predictions(rng.random(300) < p, p, name="model")
    assert display.ax_.get_legend() is not None
    assert len(display.ax_.lines) >= 2
    mpl.pyplot.close("all")


def test_exact_p_values_and_both_definitions():
    values, law = np.arange(6), scipy.stats.binom.pmf(np.arange(6), 5, 0.5)
    for t in values:
        p = exact_p_value(t, values, law)
        assert p == pytest.approx(scipy.stats.binom.sf(t - 1, 5, 0.5))
        sizes = [law[values >= c].sum() for c in values if t >= c]
        assert p == pytest.approx(min(sizes))
    # A composite null takes its worst law.
    other = scipy.stats.binom.pmf(values, 5, 0.3)
    assert exact_p_value(4, values, [law, other]) == pytest.approx(law[values >= 4].sum())


@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_levels_hold_for_few_draws_and_permutations(alpha):
    rng = np.random.default_rng(0)
    drawn = sum(
        monte_carlo_p_value(rng.normal(), rng.normal(size=19)) <= alpha for _ in range(2000)
    )
    assert_share_equals(drawn, 2000, alpha)

    def statistic(x, y):
        return abs(x[y == 1].mean() - x[y == 0].mean())

    labels = np.repeat([0, 1], 6)
    rejected = sum(
        permutation_test(statistic, rng.normal(size=12), labels, n_permutations=19, random_state=i)
        <= alpha
        for i in range(400)
    )
    assert_bound_holds(rejected, 400, alpha)


def test_permutations_are_enumerated_when_few_and_find_an_effect():
    x, y = np.array([1.0, 2.0, 10.0, 11.0]), np.array([0, 0, 1, 1])

    def statistic(x, y):
        return x[y == 1].mean() - x[y == 0].mean()

    # 4 of 24 orders keep the two large values in group 1.
    assert permutation_test(statistic, x, y) == pytest.approx(4 / 24)
    x = np.r_[np.zeros(30), np.ones(30)] + np.random.default_rng(0).normal(size=60)
    assert permutation_test(statistic, x, np.repeat([0, 1], 30), random_state=0) <= 0.01


def test_wald():
    test = wald_test(1.5, 0.25)
    assert test.statistic == pytest.approx(9.0)
    assert test.p_value == pytest.approx(2 * scipy.stats.norm.sf(3.0))
    A = np.array([[2.0, 0.5], [0.5, 1.0]])
    vector = wald_test([1.0, -1.0], A, null=[0.5, 0.5])
    shift = np.array([0.5, -1.5])
    assert vector.statistic == pytest.approx(shift @ np.linalg.solve(A, shift))
    assert vector.degrees == 2
    rng = np.random.default_rng(0)
    rejected = 0
    for _ in range(400):
        X = np.column_stack([np.ones(200), rng.normal(size=200)])
        y = rng.normal(size=200)
        beta = np.linalg.lstsq(X, y, rcond=None)[0]
        s2 = np.sum((y - X @ beta) ** 2) / 198
        rejected += wald_test(beta[1], s2 * np.linalg.inv(X.T @ X)[1, 1]).p_value <= 0.05
        inside = abs(beta[1]) <= 1.959964 * math.sqrt(s2 * np.linalg.inv(X.T @ X)[1, 1])
        assert inside == (wald_test(beta[1], s2 * np.linalg.inv(X.T @ X)[1, 1]).p_value >= 0.05)
    assert_share_equals(rejected, 400, 0.05)


def test_learners_are_compared_on_the_same_folds_with_the_right_variance():
    X, y = load_diabetes(return_X_y=True)
    found = compare_learners(Ridge(50.0), LinearRegression(), X, y, loss="square")
    assert found.difference > 0
    assert found.distinguishable
    swapped = compare_learners(LinearRegression(), Ridge(50.0), X, y, loss="square")
    assert swapped.difference == pytest.approx(-found.difference)
    assert swapped.p_value == pytest.approx(found.p_value)
    same = compare_learners(Ridge(1.0), Ridge(1.0), X, y, loss="square")
    assert same.p_value == 1.0
    assert not same.distinguishable


def test_equal_learners_are_rarely_told_apart():
    # Two learners that are equally good by symmetry: one ignores the first column, one the second.
    class Half(Ridge):
        def __init__(self, column=0):
            super().__init__(alpha=1e-3)
            self.column = column

        def fit(self, X, y):
            return super().fit(X[:, [self.column]], y)

        def predict(self, X):
            return super().predict(X[:, [self.column]])

    rng = np.random.default_rng(0)
    rejections = 0
    for seed in range(80):
        X = rng.normal(size=(60, 2))
        y = X.sum(axis=1) + rng.normal(size=60)
        found = compare_learners(Half(0), Half(1), X, y, loss="square", random_state=seed)
        rejections += found.p_value <= 0.05
    assert_bound_holds(rejections, 80, 0.06)


def test_best_of_guesses_exactly():
    # Two models, two rows: the smallest of two Bin(2, 1/2).
    pmf = {0: 0.25, 1: 0.5, 2: 0.25}
    brute = sum(pa * pb * min(a, b) for a, pa in pmf.items() for b, pb in pmf.items()) / 2
    assert best_of_guesses(n_models=2, n_samples=2) == pytest.approx(brute)
    exact = best_of_guesses(n_models=50, n_samples=40)
    outcome = reuse_experiment(n_models=50, n_samples=40, n_repeats=600, random_state=0)
    assert outcome.reported.mean() == pytest.approx(exact, abs=0.01)
    assert outcome.fresh.mean() == pytest.approx(0.5, abs=0.02)
    assert outcome.optimism <= optimism_scale(n_models=50, n_samples=40) + 0.02
    assert 0.5 - exact <= optimism_scale(n_models=50, n_samples=40)
    big = 0.5 - best_of_guesses(n_models=10_000, n_samples=10_000)
    assert big == pytest.approx(optimism_scale(n_models=10_000, n_samples=10_000), rel=0.12)


@given(seeds)
def test_agreement_of_posteriors(seed):
    rng = np.random.default_rng(seed)
    p, q = rng.dirichlet(np.ones(5), size=2)
    loss = posterior_log_loss(p, q)
    entropy = -np.sum(p * np.log(p))
    assert loss == pytest.approx(entropy + kl_divergence(p, q))
    assert posterior_agreement(p, q) == pytest.approx(posterior_agreement(q, p))
    assert posterior_agreement(p, q) <= loss + 1e-12
    # For a Gibbs posterior the loss is mean cost plus log partition, which may not be dropped.
    cost, beta = rng.random(5), 3.0
    other = np.exp(-beta * cost)
    by_parts = beta * (p @ cost) + math.log(other.sum())
    assert posterior_log_loss(p, other / other.sum()) == pytest.approx(by_parts)


def test_temperatures_of_agreement():
    rng = np.random.default_rng(0)
    truth = np.linspace(0, 3, 8)
    first, second = truth + rng.normal(size=(2, 400, 8))
    curve = agreement_curve(first, second, np.array([0.0, 0.5, 1.0, 2.0, 20.0, 200.0]))
    assert curve.agreement[0] == pytest.approx(math.log(8))
    assert 0 < curve.best < 20
    assert np.all(curve.agreement <= curve.log_loss + 1e-9)
    assert posterior_agreement([0.0, 1.0], [0.0, 1.0]) == 0.0
    assert posterior_agreement([0.0, 1.0], [1.0, 0.0]) == math.inf
    assert posterior_log_loss([0.5, 0.5], [1.0, 0.0]) == math.inf


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: brier_score([3], [[0.5, 0.5]]), "whole numbers from 0 to 1"),
        (lambda: brier_score(["a"], [[0.5, 0.5]]), "whole numbers"),
        (lambda: log_score([0], [[0.5, 0.6]]), "sum to 1"),
        (lambda: log_score([0], [1.5]), "between 0 and 1"),
        (lambda: crps_normal([0.0], [0.0], [0.0]), "must be positive"),
        (lambda: crps_sample([0.0], [[1.0]]), "at least two per row"),
        (lambda: reliability_curve([0, 2], [0.1, 0.2]), "0 or 1"),
        (lambda: reliability_curve([0, 1], [0.1, 1.2]), "lie in"),
        (lambda: reliability_curve(["no", "yes"], [0.1, 0.2]), "which one is the event"),
        (lambda: exact_p_value(1, [0, 1], [1.0]), "one probability per value"),
        (lambda: monte_carlo_p_value(math.nan, [1.0]), "none NaN"),
        (lambda: permutation_test(max, [1], [1], n_permutations=0), "at least one permutation"),
        (lambda: wald_test([1.0, 2.0], [[1.0]]), "covariance"),
        (lambda: wald_test(1.0, 0.0), "positive definite"),
        (lambda: posterior_agreement([1.0], [0.5, 0.5]), "same hypotheses"),
        (lambda: agreement_curve([1.0], [1.0], [-1.0]), "not negative"),
        (
            lambda: compare_learners(Ridge(), Ridge(), [[1.0]], [1.0], random_state=None),
            "must be an int",
        ),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
