"""Confidence sequences: against naive games, closed forms and their own laws."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corollary.core.simulate import assert_bound_holds, fit_slope
from corollary.theory import (
    betting_sequence,
    clopper_pearson_upper,
    empirical_bernstein_radius,
    hoeffding_bound,
    stitched_boundary,
    stitched_sequence,
)

KINDS = ("bernoulli", "empirical-bernstein", "sub-gaussian")


def play(x, mean, delta, horizon):
    """Capital of one gambler who bets that observations are larger than a mean, round by round."""
    capital, total, squares, past = 1.0, 0.5, 0.25, []
    for t, value in enumerate(x, start=1):
        variance = squares / t
        stake = math.sqrt(2 * math.log(1 / delta) / (horizon * variance))
        capital *= 1 + min(stake, 0.75 / mean) * (value - mean)
        past.append(capital)
        total += value
        squares += (value - total / (t + 1)) ** 2
    return np.array(past)


def test_betting_limit_is_where_a_gambler_becomes_rich(seed):
    x = np.random.default_rng(seed).beta(2, 5, size=60)
    lower = betting_sequence(x, 0.1, sides=1, horizon=40).lower[-1]
    assert lower > 0
    assert play(x, lower, 0.1, 40).max() >= 10
    assert play(x, lower + 0.02 * abs(x.mean() - lower) + 1e-3, 0.1, 40).max() < 10


def test_betting_limit_that_may_move_back_looks_at_the_present_capital(seed):
    x = (np.random.default_rng(seed).random(150) < 0.3).astype(float)
    lower = betting_sequence(x, 0.1, sides=1, horizon=40, running=False).lower
    at = [t for t in (50, 100, 149) if lower[t] > 0]
    assert at
    for t in at:
        assert play(x, lower[t], 0.1, 40)[t] >= 10
        assert play(x, lower[t] + 0.005, 0.1, 40)[t] < 10


def test_mixture_of_strategies_is_the_weighted_capital(seed):
    x = np.random.default_rng(seed).beta(2, 5, size=60)
    lower = betting_sequence(x, 0.1, sides=1).lower[-1]

    def total(mean):
        return sum(w * play(x, mean, 0.1 * w, h) for w, h in ((1 / 2, 8), (1 / 6, 64))).max()

    assert total(lower) >= 10
    assert total(lower + 0.02 * abs(x.mean() - lower) + 1e-3) < 10


@pytest.mark.parametrize("sequence", [betting_sequence, stitched_sequence])
@settings(max_examples=15, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=40))
def test_limits_enclose_turn_over_and_only_move_inwards(sequence, values):
    x = np.array(values)
    limits = sequence(x, 0.1)
    assert np.all((limits.lower >= 0) & (limits.upper <= 1))
    assert np.all(np.diff(limits.lower) >= 0)
    assert np.all(np.diff(limits.upper) <= 0)
    mirrored = sequence(1 - x, 0.1)
    np.testing.assert_allclose(mirrored.lower, 1 - limits.upper, atol=2e-3)
    np.testing.assert_allclose(mirrored.upper, 1 - limits.lower, atol=2e-3)


@pytest.mark.parametrize("kind", KINDS)
def test_limits_scale_with_the_range_and_one_side_is_half_the_level(kind, seed):
    x = np.random.default_rng(seed).random(50)
    plain = stitched_sequence(x, 0.1, kind=kind)
    wide = stitched_sequence(3 * x - 1, 0.1, kind=kind, low=-1, high=2)
    np.testing.assert_allclose(wide.upper, 3 * plain.upper - 1, atol=1e-12)
    np.testing.assert_allclose(wide.lower, 3 * plain.lower - 1, atol=1e-12)
    one = stitched_sequence(x, 0.05, kind=kind, sides=1)
    np.testing.assert_array_equal(one.upper, plain.upper)


def test_betting_scales_with_the_range(seed):
    x = np.random.default_rng(seed).random(50)
    plain, wide = betting_sequence(x, 0.1), betting_sequence(3 * x - 1, 0.1, low=-1, high=2)
    np.testing.assert_allclose(wide.upper, 3 * plain.upper - 1, atol=1e-6)


def test_earlier_limits_hardly_depend_on_later_observations(seed):
    """More candidates and more strategies come in; they move limits by their resolution only."""
    x = (np.random.default_rng(seed).random(400) < 0.2).astype(float)
    early, late = betting_sequence(x[:100], 0.1), betting_sequence(x, 0.1)
    np.testing.assert_allclose(late.upper[:100], early.upper, atol=0.006)
    for kind in KINDS:
        np.testing.assert_array_equal(
            stitched_sequence(x, 0.1, kind=kind).upper[:100],
            stitched_sequence(x[:100], 0.1, kind=kind).upper,
        )


def test_the_bernoulli_line_solves_its_inequality(seed):
    x = np.random.default_rng(seed).random(30)
    upper = stitched_sequence(x, 0.1, sides=1, running=False).upper
    zeta = sum(k**-1.4 for k in range(1, 10**6)) + 2.5 * (10**6 - 0.5) ** -0.4
    for t in (12, 30):
        assert upper[t - 1] < 1
        excess = []
        for k in range(8):
            level = math.log((k + 1) ** 1.4 * zeta / 0.1)
            rate = math.sqrt(2 * level / (0.25 * 2 ** (k + 0.5)))
            moment = math.log(1 - upper[t - 1] + upper[t - 1] * math.exp(-rate))
            excess.append(-rate * x[:t].sum() - t * moment - level)
        # On the limit one supermartingale reaches its level and no other has.
        assert max(excess) == pytest.approx(0, abs=1e-4)


@pytest.mark.parametrize("scale", [0.0, 0.5, 1.0])
def test_closed_form_is_above_the_lowest_line_and_not_far(scale):
    v = np.geomspace(0.01, 1e9, 200)
    sharp = stitched_boundary(v, 0.05, scale=scale)
    closed = stitched_boundary(v, 0.05, scale=scale, sharp=False)
    assert np.all(sharp <= closed * (1 + 1e-12))
    late = v > 100
    assert np.all(closed[late] < 1.2 * sharp[late])


def test_closed_form_is_the_published_one():
    """1.7 sqrt(v (log log 2v + 0.72 log(5.2 / alpha))), rounded up as published."""
    v = np.geomspace(1, 1e8, 50)
    published = 1.7 * np.sqrt(v * (np.log(np.log(2 * v)) + 0.72 * math.log(5.2 / 0.05)))
    closed = stitched_boundary(v, 0.05, sharp=False)
    assert np.all(closed <= published * 1.001)
    assert np.all(closed >= 0.99 * published)


def test_boundary_grows_like_the_root_up_to_logarithms():
    v = np.geomspace(1e3, 1e12, 30)
    slope = fit_slope(v, stitched_boundary(v, 0.05)).slope
    assert 0.5 < slope < 0.53


def test_width_falls_like_one_over_root_n(seed):
    x = (np.random.default_rng(seed).random(20_000) < 0.5).astype(float)
    times = np.array([200, 600, 2000, 6000, 20_000])
    for limits in (betting_sequence(x, 0.05), stitched_sequence(x, 0.05, running=False)):
        width = (limits.upper - limits.lower)[times - 1]
        slope = fit_slope(times, width).slope
        assert -0.6 < slope < -0.4


def test_price_of_all_times_is_small_against_one_time(seed):
    """At 5,000 rows the betting limit is below twice Hoeffding's radius at that one time."""
    rng = np.random.default_rng(seed)
    n = 5000
    coins = (rng.random(n) < 0.5).astype(float)
    limit = betting_sequence(coins, 0.05, sides=1).upper[-1]
    assert limit - coins.mean() < 2 * hoeffding_bound(n_samples=n, delta=0.05)
    narrow = rng.beta(10, 30, size=n)
    limit = betting_sequence(narrow, 0.05, sides=1).upper[-1]
    assert limit - narrow.mean() < 1.2 * empirical_bernstein_radius(narrow, 0.05)
    assert limit - narrow.mean() < 0.5 * hoeffding_bound(n_samples=n, delta=0.05)
    zeros = betting_sequence(np.zeros(n), 0.05, sides=1).upper[-1]
    assert zeros < 1.5 * clopper_pearson_upper(0, n, 0.05)


def test_both_limits_hold_at_all_times(seed):
    """Two sides at once, on skewed losses, with looks after every row."""
    rng = np.random.default_rng(seed)
    misses = dict.fromkeys(("betting", *KINDS), 0)
    repetitions = 60
    for _ in range(repetitions):
        x = rng.beta(0.2, 1.8, size=150)
        for name in misses:
            how = {} if name == "betting" else {"kind": name}
            limits = (betting_sequence if name == "betting" else stitched_sequence)(x, 0.2, **how)
            misses[name] += limits.lower[-1] > 0.1 or limits.upper[-1] < 0.1
    for count in misses.values():
        assert_bound_holds(count, repetitions, 0.2)


@pytest.mark.parametrize("sequence", [betting_sequence, stitched_sequence])
def test_corner_cases(sequence):
    for x in ([0.0], [1.0], [0.5], np.zeros(3), np.ones(3)):
        for delta in (1e-12, 0.05, 0.999):
            limits = sequence(np.asarray(x), delta)
            assert np.all(np.isfinite(limits.lower))
            assert np.all(limits.lower <= np.mean(x) + 1e-12)
            assert np.all(limits.upper >= np.mean(x) - 1e-12)
    ones = sequence(np.ones(2000), 0.05)
    assert ones.upper[-1] == 1
    assert ones.lower[-1] > 0.99


@pytest.mark.parametrize("sequence", [betting_sequence, stitched_sequence])
def test_observations_outside_their_range_are_refused(sequence):
    name = sequence.__name__
    with pytest.raises(ValueError, match=f"{name} must lie in"):
        sequence([0.2, 1.2], 0.1)
    with pytest.raises(ValueError, match=f"{name} must lie in"):
        sequence([0.2, np.nan], 0.1)
    with pytest.raises(ValueError, match="one-dimensional"):
        sequence(np.zeros((2, 2)), 0.1)
    with pytest.raises(ValueError, match=f"'delta' parameter of {name}"):
        sequence([0.5], 0.0)


def test_boundary_needs_a_time():
    with pytest.raises(ValueError, match="must be finite and not negative"):
        stitched_boundary([1.0, -1.0], 0.05)
    with pytest.raises(ValueError, match="must be finite and not negative"):
        stitched_boundary(np.nan, 0.05)
    assert stitched_boundary(0.0, 0.05) > 0
