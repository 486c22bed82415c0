import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from corollary.theory import (
    binomial_tail_inversion,
    clopper_pearson_interval,
    clopper_pearson_lower,
    clopper_pearson_upper,
    quantile_rows_needed,
    quantile_upper_bound,
)


@given(n=st.integers(1, 2000), share=st.floats(0, 1), delta=st.floats(1e-6, 0.5))
def test_bounds_are_the_roots_of_the_binomial_tails(n, share, delta):
    errors = round(n * share)
    upper = clopper_pearson_upper(errors, n, delta)
    lower = clopper_pearson_lower(errors, n, delta)
    assert lower <= errors / n <= upper
    if errors < n:
        assert binom.cdf(errors, n, upper) == pytest.approx(delta, rel=1e-6)
    else:
        assert upper == 1.0
    if errors > 0:
        assert binom.sf(errors - 1, n, lower) == pytest.approx(delta, rel=1e-6)
    else:
        assert lower == 0.0


@pytest.mark.parametrize(("errors", "n"), [(0, 1), (0, 30), (2, 143), (141, 143), (5, 5)])
def test_interval_agrees_with_scipy(errors, n):
    peer = binomtest(errors, n).proportion_ci(confidence_level=0.9, method="exact")
    assert clopper_pearson_interval(errors, n, 0.1) == pytest.approx((peer.low, peer.high))


def test_known_values():
    assert clopper_pearson_upper(0, 100, 0.05) == pytest.approx(1 - 0.05 ** (1 / 100))
    assert clopper_pearson_lower(7, 7, 0.05) == pytest.approx(0.05 ** (1 / 7))
    assert binomial_tail_inversion(3, 20, 0.1) == clopper_pearson_upper(3, 20, 0.1)
    # Tiny delta does not lose its digits to 1 - delta.
    assert clopper_pearson_upper(0, 10, 1e-30) == pytest.approx(1 - 1e-3)


def test_arrays_broadcast():
    bounds = clopper_pearson_upper(np.array([0, 1, 2]), 10, 0.05)
    assert bounds.shape == (3,)
    assert bounds[2] == clopper_pearson_upper(2, 10, 0.05)
    assert isinstance(clopper_pearson_upper(2, 10, 0.05), float)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 10, 30, 100])
def test_coverage_is_exact_for_every_rate(n):
    """The failure probability, summed over all counts, never exceeds delta and comes close."""
    delta, counts = 0.1, np.arange(n + 1)
    upper = clopper_pearson_upper(counts, n, delta)
    lower = clopper_pearson_lower(counts, n, delta)
    worst = 0.0
    # Just above an attainable bound is where a bound fails most often.
    for p in np.unique(np.r_[np.linspace(0, 1, 201), np.minimum(upper + 1e-9, 1)]):
        law = binom.pmf(counts, n, p)
        fails = law[upper < p].sum()
        assert fails <= delta + 1e-9
        assert law[lower > p].sum() <= delta + 1e-9
        worst = max(worst, fails)
    assert worst == pytest.approx(delta, abs=1e-6)


@pytest.mark.parametrize("n", [1, 5, 28, 29, 30, 90, 300])
@pytest.mark.parametrize("level", [0.5, 0.9])
def test_quantile_bound_has_the_smallest_valid_rank(n, level):
    """For uniform draws, the k-th smallest is below the quantile iff Bin(n, level) >= k."""
    delta = 0.05
    bound = quantile_upper_bound(np.arange(1, n + 1), level, delta)
    if math.isinf(bound):
        assert level**n > delta
        assert n < quantile_rows_needed(level, delta)
        return
    rank = int(bound)
    assert binom.sf(rank - 1, n, level) <= delta * (1 + 1e-9)
    assert rank == 1 or binom.sf(rank - 2, n, level) > delta


@pytest.mark.parametrize(("level", "delta"), [(0.9, 0.05), (0.5, 0.05), (0.5, 0.25), (0.99, 1e-6)])
def test_quantile_rows_needed_is_the_smallest(level, delta):
    n = quantile_rows_needed(level, delta)
    assert level**n <= delta * (1 + 1e-9)
    assert n == 1 or level ** (n - 1) > delta
    assert math.isfinite(quantile_upper_bound(np.arange(n), level, delta))
    if n > 1:
        assert math.isinf(quantile_upper_bound(np.arange(n - 1), level, delta))


def test_quantile_bound_holds_with_ties_and_skew(seed):
    from corollary.core.simulate import assert_bound_holds

    rng = np.random.default_rng(seed)
    delta, level, repetitions = 0.2, 0.7, 1500
    for n in (1, 5, 8, 40):
        broken = 0
        for _ in range(repetitions):
            values = rng.geometric(0.3, size=n)
            bound = quantile_upper_bound(values, level, delta)
            # At least 70% of the population must lie at or below the bound.
            broken += math.isfinite(bound) and 1 - 0.7**bound < level
        assert_bound_holds(broken, repetitions, delta)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: clopper_pearson_upper(5, 4, 0.1), "between 0 and 'n_samples'"),
        (lambda: clopper_pearson_upper(-1, 4, 0.1), "between 0 and 'n_samples'"),
        (lambda: clopper_pearson_upper(0, 0, 0.1), "n_samples"),
        (lambda: clopper_pearson_upper([0.5], 4, 0.1), "must be whole numbers"),
        (lambda: clopper_pearson_lower(1, 4, 1.0), "'delta' parameter of clopper_pearson_lower"),
        (lambda: quantile_upper_bound([], 0.9, 0.1), "not empty"),
        (lambda: quantile_upper_bound([math.nan], 0.9, 0.1), "with 1 NaN"),
        (lambda: quantile_upper_bound([1.0], 1.0, 0.1), "'level' parameter"),
    ],
)
def test_errors_say_what_is_required(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_limits_too_small_to_invert_are_the_trivial_ones():
    assert clopper_pearson_lower(2, 10**12, 1e-300) == 0
    assert clopper_pearson_upper(0, 10**12, 1e-300) == pytest.approx(300 * math.log(10) / 10**12)
