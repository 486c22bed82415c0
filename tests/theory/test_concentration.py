import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from corollary.core.simulate import assert_bound_holds
from corollary.theory import empirical_bernstein_radius, hoeffding_bound


def test_hoeffding_values_by_hand():
    assert hoeffding_bound(n_samples=200, delta=0.01) == pytest.approx(
        math.sqrt(math.log(100) / 400)
    )
    assert hoeffding_bound(n_samples=200, delta=0.01, sides=2) == pytest.approx(
        math.sqrt(math.log(200) / 400)
    )
    assert hoeffding_bound(n_samples=50, radius=0.2) == pytest.approx(math.exp(-4))
    assert hoeffding_bound(n_samples=50, radius=0.2, sides=2) == pytest.approx(2 * math.exp(-4))
    # Symmetric ranges [-a, a]: exp(-t^2 / (2 sum a_i^2)) for a deviation t of the sum.
    a = np.array([0.5, 1.0, 2.0])
    assert hoeffding_bound(radius=1.0, low=-a, high=a) == pytest.approx(
        math.exp(-(3.0**2) / (2 * np.sum(a**2)))
    )


@pytest.mark.parametrize("p", [0.05, 0.3, 0.5, 0.9])
@pytest.mark.parametrize("n", [1, 2, 7, 30, 200])
def test_exact_binomial_tails_lie_below_hoeffding(n, p):
    for radius in np.linspace(0.01, 1, 23):
        bound = hoeffding_bound(n_samples=n, radius=radius)
        # The mean exceeds p by radius when the count is at least n (p + radius).
        above = binom.sf(math.ceil(n * (p + radius) - 1e-12) - 1, n, p)
        below = binom.cdf(math.floor(n * (p - radius) + 1e-12), n, p)
        assert above <= bound + 1e-12
        assert below <= bound + 1e-12
        assert above + below <= hoeffding_bound(n_samples=n, radius=radius, sides=2) + 1e-12


def test_two_point_distributions_reach_hoeffdings_constant():
    # For fair signs P(mean >= r) = exp(-2 n r^2 (1 + o(1))) for moderate deviations: a constant
    # of 2.5 in place of 2 would be broken.
    n, p, radius = 4000, 0.5, 0.05
    tail = binom.sf(math.ceil(n * (p + radius)) - 1, n, p)
    assert tail > math.exp(-2.5 * n * radius**2)


@given(
    n=st.integers(1, 10_000),
    delta=st.floats(1e-9, 0.99),
    width=st.floats(0.01, 100),
    sides=st.sampled_from([1, 2]),
)
def test_hoeffding_solved_for_each_quantity_agrees(n, delta, width, sides):
    how = {"low": -1.0, "high": width - 1.0, "sides": sides}
    radius = hoeffding_bound(n_samples=n, delta=delta, **how)
    assert hoeffding_bound(n_samples=n, radius=radius, **how) == pytest.approx(delta, rel=1e-6)
    assert hoeffding_bound(radius=radius, delta=delta, **how) == pytest.approx(n, abs=1)
    assert hoeffding_bound(radius=radius * (1 + 1e-6), delta=delta, **how) <= n
    listed = {"low": np.full(n, -1.0), "high": np.full(n, width - 1.0), "sides": sides}
    assert hoeffding_bound(delta=delta, **listed) == pytest.approx(radius)


def test_hoeffding_sample_size_is_the_smallest():
    for radius in (0.01, 0.1, 0.3, 1.0, 5.0):
        n = hoeffding_bound(radius=radius, delta=0.05)
        assert math.exp(-2 * n * radius**2) <= 0.05 * (1 + 1e-9)
        assert n == 1 or math.exp(-2 * (n - 1) * radius**2) > 0.05


def test_hoeffding_probability_is_at_most_one():
    assert hoeffding_bound(n_samples=1, radius=1e-3, sides=2) == 1.0


def test_empirical_bernstein_by_hand():
    losses = np.array([0.0, 0.0, 1.0, 0.5])
    variance = ((losses - 0.375) ** 2).sum() / 3
    log_term = math.log(2 / 0.1)
    expected = math.sqrt(2 * variance * log_term / 4) + 7 * log_term / 9
    assert empirical_bernstein_radius(losses, 0.1) == pytest.approx(expected)
    log_term = math.log(3 / 0.1)
    expected = math.sqrt(2 * variance * log_term / 4) + 7 * log_term / 9
    assert empirical_bernstein_radius(losses, 0.1, sides=2) == pytest.approx(expected)


def test_empirical_bernstein_of_one_row_is_infinite():
    assert empirical_bernstein_radius([0.3], 0.1) == math.inf
    assert np.all(np.isinf(empirical_bernstein_radius([[0.3, 0.1]], 0.1)))


@given(scale=st.floats(0.01, 100), shift=st.floats(-10, 10))
def test_radii_scale_with_the_range_and_ignore_shifts(scale, shift):
    losses = np.array([0.0, 0.2, 0.9, 0.4, 1.0])
    moved = np.clip(shift + scale * losses, shift, shift + scale)
    expected = scale * empirical_bernstein_radius(losses, 0.1)
    assert empirical_bernstein_radius(moved, 0.1, low=shift, high=shift + scale) == pytest.approx(
        expected
    )


def test_columns_are_independent_questions():
    losses = np.random.default_rng(0).random((40, 3))
    together = empirical_bernstein_radius(losses, 0.05)
    assert together.shape == (3,)
    for column in range(3):
        assert together[column] == pytest.approx(
            empirical_bernstein_radius(losses[:, column], 0.05)
        )


def coin_flips_at_five_thresholds(radius, delta, repetitions, seed):
    """Count how often mean + radius misses 1/2 at the first of five equal thresholds."""
    rng = np.random.default_rng(seed)
    violations = 0
    for _ in range(repetitions):
        losses = np.repeat(rng.integers(0, 2, size=(1000, 1)), 5, axis=1).astype(float)
        violations += losses.mean(axis=0)[0] + np.atleast_1d(radius(losses, delta))[0] < 0.5
    return violations


def wrong_axis(losses, delta):
    # What a popular library did: the variance over thresholds instead of over observations.
    n, log_term = len(losses), math.log(2 / delta)
    variance = losses.var(axis=1, ddof=1).mean()
    return math.sqrt(2 * variance * log_term / n) + 7 * log_term / (3 * (n - 1))


def lost_square_root(losses, delta):
    n, log_term = len(losses), math.log(2 / delta)
    return 2 * losses.var(axis=0, ddof=1) * log_term / n + 7 * log_term / (3 * (n - 1))


def test_simulated_coin_flips_respect_empirical_bernstein(seed):
    violations = coin_flips_at_five_thresholds(empirical_bernstein_radius, 0.1, 300, seed)
    assert_bound_holds(violations, 300, 0.1)


@pytest.mark.parametrize("fault", [wrong_axis, lost_square_root])
def test_planted_faults_are_caught_by_simulation(fault, seed):
    violations = coin_flips_at_five_thresholds(fault, 0.1, 300, seed)
    with pytest.raises(AssertionError, match="bound broken"):
        assert_bound_holds(violations, 300, 0.1)


@pytest.mark.parametrize("skew", [0.02, 0.2, 1.0, 5.0])
def test_simulated_skewed_losses_respect_both_bounds(skew, seed):
    rng = np.random.default_rng(seed)
    delta, repetitions = 0.2, 1000
    truth = skew / (skew + 1)  # mean of Beta(skew, 1)
    bernstein = hoeffding = 0
    for n in (1, 2, 3, 10, 100):
        losses = rng.beta(skew, 1, size=(n, repetitions))
        mean = losses.mean(axis=0)
        bernstein += np.sum(mean + empirical_bernstein_radius(losses, delta) < truth)
        hoeffding += np.sum(mean + hoeffding_bound(n_samples=n, delta=delta) < truth)
    assert_bound_holds(int(bernstein), 5 * repetitions, delta)
    assert_bound_holds(int(hoeffding), 5 * repetitions, delta)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: hoeffding_bound(n_samples=10, delta=1.2),
            r"The 'delta' parameter of hoeffding_bound must be a float in the range \(0.0, 1.0\)",
        ),
        (lambda: hoeffding_bound(n_samples=0, delta=0.1), "'n_samples' parameter of hoeffding"),
        (lambda: hoeffding_bound(n_samples=10), "exactly two of .* Got 1 of them"),
        (lambda: hoeffding_bound(n_samples=1, delta=0.1, radius=1.0), "Got 3 of them"),
        (lambda: hoeffding_bound(n_samples=10, delta=0.1, low=1, high=1), "low < high"),
        (lambda: hoeffding_bound(n_samples=2, delta=0.1, low=[0, 0]), "one range per observation"),
        (lambda: hoeffding_bound(delta=0.1, low=[[0.0]]), r"Got shape \(1, 1\)"),
        (lambda: hoeffding_bound(n_samples=10, delta=0.1, sides=3), "'sides' parameter"),
        (lambda: empirical_bernstein_radius([0.0, 2.0], 0.1), r"must lie in \[0, 1\].*from 0 to 2"),
        (lambda: empirical_bernstein_radius([0.0, math.nan], 0.1), r"must lie in \[0, 1\]"),
        (lambda: empirical_bernstein_radius([], 0.1), "at least one observation"),
        (lambda: empirical_bernstein_radius([0.0], 0.1, low=2.0), "low < high"),
        (lambda: empirical_bernstein_radius([0.0], 0), "'delta' parameter of empirical_bernstein"),
    ],
)
def test_errors_say_what_is_required(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_rounding_beyond_the_range_is_cut_off_and_no_more():
    from corollary.theory.concentration.bounded_losses import check_losses

    found = check_losses([-1e-16, 0.5, 1 + 4e-16], 0.0, 1.0, who="test")
    assert found.tolist() == [0.0, 0.5, 1.0]
    with pytest.raises(ValueError, match="must lie in"):
        check_losses([1 + 1e-9], 0.0, 1.0, who="test")


def test_hoeffding_sizes_and_probabilities_by_hand():
    how = {"low": -1.0, "high": 2.0}
    assert hoeffding_bound(radius=0.3, delta=0.1, **how) == math.ceil(50 * math.log(10))
    assert hoeffding_bound(radius=0.3, delta=0.1, sides=2, **how) == math.ceil(50 * math.log(20))
    assert hoeffding_bound(n_samples=100, radius=0.3, sides=2, **how) == pytest.approx(
        2 * math.exp(-2)
    )
    assert hoeffding_bound(n_samples=1, radius=0.3, sides=2, **how) == 1.0
    assert hoeffding_bound(radius=5.0, delta=0.9) == 1
