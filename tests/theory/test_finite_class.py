"""Finite classes by enumeration and simulation."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from corollary.core.simulate import assert_rate
from corollary.theory import (
    agnostic_sample_size,
    countable_class_radius,
    erm_excess_bound,
    finite_class_bound,
    float32_class_radius,
    hoeffding_bound,
    realizable_bound,
    realizable_expected_risk,
    uniform_deviation,
)

seeds = st.integers(0, 2**32 - 1)


@given(seeds, st.integers(1, 8), st.integers(1, 12))
def test_excess_risk_is_at_most_twice_the_deviation_on_every_sample(seed, hypotheses, n):
    rng = np.random.default_rng(seed)
    table, law = rng.random((hypotheses, 5)), rng.dirichlet(np.ones(5))
    risks = table @ law
    empirical = table[:, rng.choice(5, n, p=law)].mean(axis=1)
    excess = risks[np.argmin(empirical)] - risks.min()
    deviation = uniform_deviation(risks, empirical)
    assert excess <= erm_excess_bound(deviation) + 1e-12
    assert uniform_deviation(risks, empirical, sides=1) <= deviation
    assert deviation == pytest.approx(
        max(
            uniform_deviation(risks, empirical, sides=1),
            uniform_deviation(empirical, risks, sides=1),
        )
    )


def test_twice_is_needed():
    # The best hypothesis looks worse and a bad one better, each by the whole deviation.
    risks, empirical = np.array([0.3, 0.5 - 1e-9]), np.array([0.4, 0.4 - 1e-9])
    excess = risks[np.argmin(empirical)] - risks.min()
    assert excess == pytest.approx(erm_excess_bound(uniform_deviation(risks, empirical)))


def test_values_by_hand():
    radius = finite_class_bound(n_hypotheses=20, n_samples=100, delta=0.05, sides=2)
    assert radius == pytest.approx(math.sqrt((math.log(20) - math.log(0.05 / 2)) / 200))
    # Losses of size at most one: the range is two.
    wide = finite_class_bound(n_hypotheses=20, n_samples=100, delta=0.05, low=-1, high=1)
    assert wide == pytest.approx(math.sqrt(2 * math.log(20 / 0.05) / 100))
    assert finite_class_bound(n_hypotheses=1, n_samples=77, delta=0.1) == pytest.approx(
        hoeffding_bound(n_samples=77, delta=0.1)
    )
    size = math.ceil(math.log(2 * 50 / 0.1) / (2 * 0.05**2))
    assert finite_class_bound(n_hypotheses=50, radius=0.05, delta=0.1, sides=2) == size
    assert agnostic_sample_size(n_hypotheses=50, epsilon=0.1, delta=0.1) == math.ceil(
        2 * math.log(2 * 50 / 0.1) / 0.1**2
    )


@given(st.integers(1, 10_000), st.floats(0, 700), st.floats(1e-9, 0.99), st.sampled_from([1, 2]))
def test_round_trips(n, log_size, delta, sides):
    how = {"n_hypotheses": math.exp(log_size), "sides": sides}
    radius = finite_class_bound(n_samples=n, delta=delta, **how)
    assert finite_class_bound(n_samples=n, radius=radius, **how) == pytest.approx(delta, rel=1e-6)
    assert finite_class_bound(delta=delta, radius=radius, **how) == pytest.approx(n, abs=1)


def test_a_class_larger_than_the_largest_float_ratio_does_not_overflow():
    assert math.isfinite(finite_class_bound(n_hypotheses=1e308, n_samples=10, delta=1e-300))


def test_rates_of_both_settings():
    sizes = np.array([100, 1000, 10_000, 100_000])
    agnostic = [finite_class_bound(n_hypotheses=50, n_samples=int(n), delta=0.1) for n in sizes]
    perfect = [realizable_bound(n_hypotheses=50, n_samples=int(n), delta=0.1) for n in sizes]
    assert_rate(sizes, agnostic, -0.5)
    assert_rate(sizes[1:], perfect[1:], -1.0, width=50)


def test_float32_counting():
    # 2 * 32 log 2 = 44 rows per parameter in the loose constant, a quarter of it in the sharp one.
    n, d = 11_100, 1000
    assert float32_class_radius(n_parameters=d, n_samples=n, delta=0.05) < 1
    assert float32_class_radius(n_parameters=d, n_samples=n - 120, delta=0.05) > 1
    exact = math.sqrt((3 * math.log(2**32 - 2**24 - 1) + math.log(20)) / 200)
    assert float32_class_radius(n_parameters=3, n_samples=100, delta=0.05) == pytest.approx(exact)
    patterns = np.arange(0, 2**32, 65_537, dtype=np.uint64).astype(np.uint32).view(np.float32)
    share = np.isfinite(patterns).mean()
    assert share == pytest.approx((2**32 - 2**24 - 1) / 2**32, abs=1e-3)


def test_countable_classes_share_delta_by_basel():
    radii = [countable_class_radius(index=k, n_samples=100, delta=0.1) for k in range(1, 4000)]
    shares = np.exp(-200 * np.square(radii))
    assert shares.sum() == pytest.approx(0.1, rel=1e-3)
    for k in (1, 2, 30):
        # In the form c0 sqrt(log(c1 k / delta) / n) for losses of size at most one.
        loose = 2 * math.sqrt(math.log(math.pi / math.sqrt(6) * k / 0.1) / 100)
        assert 2 * countable_class_radius(index=k, n_samples=100, delta=0.1) <= loose + 1e-12


@given(st.integers(1, 5000), st.floats(0, 50), st.floats(1e-9, 0.99), st.booleans())
def test_realizable_round_trips(n, log_size, delta, sharp):
    how = {"n_hypotheses": math.exp(log_size), "sharp": sharp}
    epsilon = realizable_bound(n_samples=n, delta=delta, **how)
    assert 0 < epsilon <= 1
    if epsilon < 1 - 1e-9:
        assert realizable_bound(n_samples=n, epsilon=epsilon, **how) == pytest.approx(
            delta, rel=1e-5
        )
        assert realizable_bound(delta=delta, epsilon=epsilon, **how) == pytest.approx(n, abs=1)
    assert realizable_bound(n_samples=n, delta=delta, n_hypotheses=how["n_hypotheses"]) <= (
        realizable_bound(n_samples=n, delta=delta, n_hypotheses=how["n_hypotheses"], sharp=False)
    )


def test_one_bad_hypothesis_reaches_the_exact_form():
    # A single wrong hypothesis looks perfect with probability (1 - L)^n, no less.
    assert realizable_bound(n_hypotheses=1, n_samples=20, epsilon=0.1) == pytest.approx(0.9**20)


@pytest.mark.parametrize(("size", "n"), [(1, 5), (30, 5), (1000, 200), (1000, 3)])
def test_expected_risk_is_the_integral_of_the_tail(size, n):
    value = realizable_expected_risk(n_hypotheses=size, n_samples=n)
    points = [min(1.0, math.log(size) / n)]
    integral = quad(lambda e: min(1.0, size * math.exp(-n * e)), 0, 1, points=points, epsabs=1e-12)[
        0
    ]
    assert value == pytest.approx(integral, rel=1e-6)
    assert value <= (1 + math.log(size)) / n


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: uniform_deviation([0.1], [0.1, 0.2]), "for each hypothesis"),
        (lambda: erm_excess_bound(-0.1), "must not be negative"),
        (lambda: finite_class_bound(n_hypotheses=3, delta=0.1), "exactly two"),
        (lambda: finite_class_bound(n_hypotheses=0, n_samples=3, delta=0.1), "'n_hypotheses'"),
        (lambda: realizable_bound(n_hypotheses=3), "exactly two"),
        (lambda: countable_class_radius(index=0, n_samples=3, delta=0.1), "'index'"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("ends", [(np.nan, 1.0), (0.0, np.inf), (1.0, 1.0)])
def test_ranges_must_be_finite(ends):
    with pytest.raises(ValueError, match="must be finite with low < high"):
        finite_class_bound(n_hypotheses=2, n_samples=9, delta=0.1, low=ends[0], high=ends[1])


def test_deviation_by_hand():
    risks, empirical = [0.3, 0.5], [0.4, 0.1]
    assert uniform_deviation(risks, empirical) == pytest.approx(0.4)
    assert uniform_deviation(risks, empirical, sides=1) == pytest.approx(0.4)
    assert uniform_deviation(empirical, risks) == pytest.approx(0.4)
    assert uniform_deviation(empirical, risks, sides=1) == pytest.approx(0.1)
    assert erm_excess_bound(0.4) == pytest.approx(0.8)


def test_sizes_and_probabilities_by_hand():
    wide = finite_class_bound(n_hypotheses=50, radius=0.1, delta=0.1, low=-1, high=2)
    assert wide == math.ceil(450 * math.log(500))
    small = finite_class_bound(n_hypotheses=5, n_samples=500, radius=0.3, low=-1, high=2, sides=2)
    assert small == pytest.approx(10 * math.exp(-10))
    assert finite_class_bound(n_hypotheses=5, n_samples=1, radius=0.1) == 1.0
    assert finite_class_bound(n_hypotheses=1, delta=0.9, radius=5.0) == 1.0
    assert realizable_bound(n_hypotheses=1, delta=0.9, epsilon=0.9) == 1.0
    # 20 (1/2)^n <= 1/10 first at n = 8; the simple form exp(-n/2) at n = 11.
    assert realizable_bound(n_hypotheses=20, delta=0.1, epsilon=0.5) == 8
    assert realizable_bound(n_hypotheses=20, delta=0.1, epsilon=0.5, sharp=False) == 11
    assert realizable_bound(n_hypotheses=20, n_samples=8, epsilon=0.5) == pytest.approx(20 / 256)
    assert realizable_bound(n_hypotheses=2, n_samples=1, epsilon=0.1) == 1.0
    loose = realizable_bound(n_hypotheses=20, n_samples=50, delta=0.1, sharp=False)
    assert loose == pytest.approx(math.log(200) / 50)
    assert realizable_bound(n_hypotheses=20, n_samples=1, delta=0.1, sharp=False) == 1.0
    sharp = realizable_bound(n_hypotheses=20, n_samples=50, delta=0.1)
    assert sharp == pytest.approx(1 - 200 ** (-1 / 50))
    assert realizable_expected_risk(n_hypotheses=1000, n_samples=5) == 1.0
    mean = realizable_expected_risk(n_hypotheses=10, n_samples=20)
    assert mean == pytest.approx((math.log(10) + 1 - 10 * math.exp(-20)) / 20)
