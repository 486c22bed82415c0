import itertools
import math

import numpy as np
import pytest

from corollary.core.simulate import (
    LEVEL,
    assert_bound_holds,
    assert_rate,
    assert_share_equals,
    count_violations,
    fit_slope,
)


def upper_tail(count, n, p):
    return sum(math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(count, n + 1))


def fails(assertion, *arguments, **named):
    try:
        assertion(*arguments, **named)
    except AssertionError:
        return True
    return False


@pytest.mark.parametrize("n", [1, 10, 60, 200])
@pytest.mark.parametrize("delta", [0.01, 0.1, 0.5])
@pytest.mark.parametrize("level", [1e-6, 0.01])
def test_bound_is_called_broken_exactly_when_the_tail_is_below_the_level(n, delta, level):
    for violations in range(n + 1):
        broken = fails(assert_bound_holds, violations, n, delta, level=level)
        assert broken == (upper_tail(violations, n, delta) <= level)


def test_false_alarms_are_as_rare_as_stated():
    """Summed over all counts, a bound that uses up its delta is called broken at most so often."""
    n, delta, level = 300, 0.1, 0.02
    alarm = sum(
        math.comb(n, k) * delta**k * (1 - delta) ** (n - k)
        for k in range(n + 1)
        if fails(assert_bound_holds, k, n, delta, level=level)
    )
    assert level / 3 < alarm <= level


def test_share_is_wrong_on_both_sides_with_the_stated_false_alarm():
    n, p, level = 200, 0.3, 0.02
    called = [fails(assert_share_equals, k, n, p, level=level) for k in range(n + 1)]
    # One unbroken range is accepted, and it holds the expected count.
    assert [key for key, _ in itertools.groupby(called)] == [True, False, True]
    assert not called[60]
    alarm = sum(math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1) if called[k])
    assert level / 3 < alarm <= level


def test_messages_name_the_numbers():
    with pytest.raises(AssertionError, match=r"90 violations in 200 .* allowed share 0.05"):
        assert_bound_holds(90, 200, 0.05)
    with pytest.raises(AssertionError, match=r"share is wrong: 0 of 100, claimed 0.5"):
        assert_share_equals(0, 100, 0.5)


def test_certain_claims():
    assert_bound_holds(0, 10, 0.0)
    assert_bound_holds(10, 10, 1.0)
    with pytest.raises(AssertionError, match="bound broken"):
        assert_bound_holds(1, 10**6, 0.0)
    assert_share_equals(10, 10, 1.0)
    with pytest.raises(AssertionError, match="share is wrong"):
        assert_share_equals(9, 10, 1.0)


@pytest.mark.parametrize("assertion", [assert_bound_holds, assert_share_equals])
@pytest.mark.parametrize(
    ("count", "repetitions", "probability"),
    [(0, 0, 0.1), (-1, 10, 0.1), (11, 10, 0.1), (1, 10, 1.1), (1, 10, math.nan), (1, 10, -0.1)],
)
def test_assertions_refuse_what_they_cannot_judge(assertion, count, repetitions, probability):
    with pytest.raises(ValueError, match="at least one repetition"):
        assertion(count, repetitions, probability)


def test_the_level_is_shared_by_all_assertions():
    assert LEVEL == 1e-6
    # 13 of 20 at one half is nothing; 20 of 20 has probability 1e-6.
    assert_bound_holds(13, 20, 0.5)
    with pytest.raises(AssertionError):
        assert_bound_holds(20, 20, 0.5)
    assert_bound_holds(19, 19, 0.5)


def test_violations_are_counted_with_generators_of_their_own(seed):
    seen = []

    def trial(random_state):
        draw = random_state.random_sample()
        seen.append(draw)
        return draw < 0.3

    violations = count_violations(trial, 500, seed)
    assert violations == sum(draw < 0.3 for draw in seen)
    assert len(set(seen)) == 500
    assert_share_equals(violations, 500, 0.3)
    assert count_violations(trial, 500, seed) == violations
    # A repetition does not depend on how much the one before it drew.
    first = list(seen[:500])
    seen.clear()

    def greedy(random_state):
        seen.append(random_state.random_sample())
        random_state.random_sample(1000)
        return False

    assert count_violations(greedy, 500, seed) == 0
    assert seen == first


def test_slope_by_hand(seed):
    sizes = np.array([10.0, 20.0, 50.0, 100.0, 400.0])
    exact = fit_slope(sizes, 3 * sizes**-0.5)
    assert exact.slope == pytest.approx(-0.5)
    assert exact.standard_error == pytest.approx(0, abs=1e-7)
    noise = np.random.default_rng(seed).normal(scale=0.1, size=5)
    found = fit_slope(sizes, np.exp(noise) * sizes**-1.0)
    x, y = np.log(sizes) - np.log(sizes).mean(), np.log(np.exp(noise) / sizes)
    slope = x @ y / (x @ x)
    residual = y - y.mean() - slope * x
    assert found.slope == pytest.approx(slope)
    assert found.standard_error == pytest.approx(math.sqrt(residual @ residual / 3 / (x @ x)))


def test_rates(seed):
    sizes = np.array([10, 30, 100, 300, 1000, 3000])
    rng = np.random.default_rng(seed)
    noisy = np.exp(0.02 * rng.normal(size=6)) / np.sqrt(sizes)
    assert_rate(sizes, noisy, -0.5, width=40)
    assert_rate(sizes, 1 / sizes, -1)
    with pytest.raises(AssertionError, match=r"measured order -0\.\d+ .* claimed -1"):
        assert_rate(sizes, noisy, -1)
    with pytest.raises(AssertionError, match=r"claimed 0\.5"):
        assert_rate(sizes, noisy, 0.5)
    with pytest.raises(AssertionError, match=r"claimed -0\.52"):
        assert_rate(sizes, noisy, -0.52, width=0.01)


def test_rates_of_impossible_errors_fail():
    with np.errstate(invalid="ignore"), pytest.raises((AssertionError, ValueError)):
        assert_rate([10, 100, 1000], [0.1, -0.01, 0.001], -1)
