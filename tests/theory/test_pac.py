"""The PAC criterion: learners that ask for rows, curves, rectangles."""

import itertools
import math

import numpy as np
import pytest

from corollary.core.world import World
from corollary.risk import FiniteWorld, minimise_rectangle, minimise_threshold
from corollary.theory import (
    PACLearner,
    agnostic_sample_size,
    least_sample_size,
    pac_curve,
    realizable_bound,
    rectangle_bound,
    tightest_rectangle,
)


def noisy_thresholds(flip=0.0):
    """Ten points in a row, the label of each flipped with some probability."""
    up = np.arange(10) >= 4
    joint = np.where(up[:, None], [flip, 1 - flip], [1 - flip, flip]) / 10
    return FiniteWorld(joint, outcomes=[-1, 1])


def learn_threshold(X, y):
    return minimise_threshold(X[:, 0], y)


def test_learner_asks_for_its_rows_and_succeeds_often_enough():
    world = noisy_thresholds()
    learner = PACLearner(
        learn_threshold, lambda e, d: realizable_bound(n_hypotheses=22, epsilon=e, delta=d)
    )
    risks = []
    for seed in range(200):
        predictor, n = learner.learn(world, epsilon=0.15, delta=0.1, random_state=seed)
        risks.append(world.risk(predictor))
    assert n == realizable_bound(n_hypotheses=22, epsilon=0.15, delta=0.1)
    assert np.mean(np.array(risks) <= 0.15) >= 0.9


def test_curve_of_the_agnostic_setting_reaches_its_promise():
    world = noisy_thresholds(flip=0.2)
    n = agnostic_sample_size(n_hypotheses=22, epsilon=0.2, delta=0.2)
    curve = pac_curve(
        learn_threshold,
        world,
        sizes=[3, n],
        epsilon=0.2,
        best_risk=0.2,
        n_repeats=60,
        random_state=0,
    )
    assert curve.success[1] >= 0.8
    assert curve.success[0] < curve.success[1]
    assert curve.mean_excess[0] > curve.mean_excess[1] >= -1e-12
    assert np.all(curve.interval[:, 0] <= curve.success)
    assert np.all(curve.success <= curve.interval[:, 1])


def test_excess_is_counted_from_the_best_risk():
    # One point whose label is a coin of bias 0.2: every learner that says +1 has risk 0.2, which
    # is no excess over the best, and all of epsilon without it.
    world = FiniteWorld([[0.2, 0.8]], outcomes=[-1, 1])
    always = lambda X, y: lambda Z: np.ones(len(Z), int)  # noqa: E731
    how = {"sizes": [3], "epsilon": 0.1, "n_repeats": 20, "random_state": 0}
    best = pac_curve(always, world, best_risk=0.2, **how)
    assert best.success.tolist() == [1.0]
    assert best.mean_excess == pytest.approx([0.0])
    # 20 successes of 20: every share p with p^20 of at least 2.5% is possible.
    assert best.interval == pytest.approx(np.array([[0.025 ** (1 / 20), 1.0]]))
    none = pac_curve(always, world, **how)
    assert none.success.tolist() == [0.0]
    assert none.mean_excess == pytest.approx([0.2])
    size = {"epsilon": 0.1, "delta": 0.1, "n_repeats": 20, "max_samples": 8, "random_state": 0}
    assert least_sample_size(always, world, best_risk=0.2, **size) == 1
    with pytest.raises(ValueError, match="do not bring the excess risk"):
        least_sample_size(always, world, **size)


class Coin(World):
    """A label that is -1 with probability 0.2; its risks have to be simulated."""

    def sample(self, n_samples, random_state=None):
        return np.zeros((n_samples, 1)), np.where(random_state.uniform(size=n_samples) < 0.2, -1, 1)


def test_simulated_risks_are_means_over_many_rows():
    always = lambda X, y: lambda Z: np.ones(len(Z), int)  # noqa: E731
    how = {"delta": 0.1, "n_repeats": 20, "n_test": 1000, "max_samples": 2, "random_state": 0}
    assert least_sample_size(always, Coin(), epsilon=0.25, **how) == 1
    with pytest.raises(ValueError, match="do not bring the excess risk"):
        least_sample_size(always, Coin(), epsilon=0.15, **how)


def test_least_size_of_a_two_point_world_is_known():
    # The learner is right once both points were seen: 1 - 2 (1/2)^n >= 0.9 first at n = 5.
    world = FiniteWorld([[0.5, 0.0], [0.0, 0.5]], outcomes=[-1, 1])

    def both_seen(X, y):
        if len(np.unique(y)) == 2:
            return learn_threshold(X, y)
        return lambda X: np.full(len(X), y[0])

    n = least_sample_size(both_seen, world, epsilon=0.1, delta=0.1, n_repeats=800, random_state=0)
    assert n == 5
    with pytest.raises(ValueError, match="do not bring the excess risk"):
        least_sample_size(both_seen, world, epsilon=0.1, delta=0.1, max_samples=2, random_state=0)


def test_rectangle_fits_whatever_a_box_can_fit_and_lies_inside():
    rng = np.random.default_rng(0)
    for _ in range(30):
        X = rng.random((15, 2))
        y = np.where(np.all((X > 0.2) & (X < 0.8), axis=1), 1, -1)
        box = tightest_rectangle(X, y)
        assert box.risk == 0
        if (y == 1).any():
            assert np.all(box.lower > 0.2)
            assert np.all(box.upper < 0.8)
            best = minimise_rectangle(X, y)
            assert np.array_equal(best.lower, box.lower)
            assert np.array_equal(best.upper, box.upper)
    empty = tightest_rectangle([[0.0, 0.0]], [-1])
    assert empty.predict([[0.0, 0.0]]).tolist() == [-1]


def test_mean_risk_of_the_tightest_rectangle():
    n, rng = 20, np.random.default_rng(0)
    X = rng.random((20_000, n, 2))
    risks = 1 - np.prod(X.max(axis=1) - X.min(axis=1), axis=1)
    # Our learner on a few of them, the closed form on all.
    for i in range(50):
        box = tightest_rectangle(X[i], np.ones(n))
        assert 1 - np.prod(box.upper - box.lower) == pytest.approx(risks[i])
    assert risks.mean() == pytest.approx(1 - ((n - 1) / (n + 1)) ** 2, abs=4 * risks.std() / 141)
    assert 1 - ((n - 1) / (n + 1)) ** 2 == pytest.approx(0.1814, abs=5e-5)


def test_rectangle_bound_values():
    assert rectangle_bound(epsilon=0.1, delta=0.05, sharp=False) == 176
    assert rectangle_bound(epsilon=0.1, delta=0.05) <= 176
    for sharp, d in itertools.product([True, False], [1, 2, 5]):
        how = {"sharp": sharp, "n_features": d}
        epsilon = rectangle_bound(n_samples=400, delta=0.03, **how)
        assert rectangle_bound(n_samples=400, epsilon=epsilon, **how) == pytest.approx(0.03)
        assert rectangle_bound(epsilon=epsilon, delta=0.03, **how) == 400
    assert rectangle_bound(n_samples=50, epsilon=0.2) == pytest.approx(4 * 0.95**50)
    assert rectangle_bound(n_samples=1, delta=0.01) == 1.0
    assert rectangle_bound(n_samples=1, epsilon=0.1) == 1.0
    loose = math.ceil(2 * 3 / 0.1 * math.log(2 * 3 / 0.05))
    assert rectangle_bound(epsilon=0.1, delta=0.05, n_features=3, sharp=False) == loose


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tightest_rectangle([[0.0]], [2]), "label, -1 or"),
        (lambda: tightest_rectangle([[0.0], [math.nan]], [1, 1]), "1 rows with NaN"),
        (lambda: rectangle_bound(epsilon=0.1), "exactly two"),
        (lambda: pac_curve(learn_threshold, noisy_thresholds(), sizes=[], epsilon=0.1), "at least"),
        (
            lambda: PACLearner(learn_threshold, max).learn(
                noisy_thresholds(), epsilon=2, delta=0.1
            ),
            "'epsilon' parameter of PACLearner.learn",
        ),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
