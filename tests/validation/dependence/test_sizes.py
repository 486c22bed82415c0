"""Even sizes of units against draws of rows with whatever probabilities."""

import numpy as np
import pytest
import scipy.stats

from corollary.core.simulate import assert_bound_holds
from corollary.validation import even_sizes_p_value


def test_value_by_hand():
    # Large sizes: zeros are no matter, the variance is the mean and the law chi-square.
    sizes = np.r_[np.full(10, 95), np.full(10, 105)]
    deviation = 20 * 25 / 100
    assert even_sizes_p_value(sizes) == pytest.approx(scipy.stats.chi2.cdf(deviation, 19), rel=1e-6)


def test_variance_of_small_sizes_is_that_without_zeros():
    rate = 1.5
    counts = np.arange(1, 60)
    law = scipy.stats.poisson.pmf(counts, rate) / -np.expm1(-rate)
    mean = (law * counts).sum()
    variance = (law * (counts - mean) ** 2).sum()
    assert variance == pytest.approx(mean * (1 + rate - mean))
    # Sizes of just this mean and variance lie at the middle of the chi-square law.
    share = np.round(law * 20000).astype(int)
    sizes = np.repeat(counts, share)
    assert even_sizes_p_value(sizes) == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize("skew", [0.0, 1.0])
@pytest.mark.parametrize(("values", "rows"), [(20, 60), (60, 600), (200, 300)])
def test_independent_draws_are_seldom_called_even(skew, values, rows):
    rng, below = np.random.default_rng(values), 0
    weights = np.exp(skew * rng.normal(size=values))
    for _ in range(1000):
        sizes = rng.multinomial(rows, weights / weights.sum())
        below += even_sizes_p_value(sizes[sizes > 0]) < 0.02
    assert_bound_holds(below, 1000, 0.02)


def test_equal_probabilities_vary_least():
    # Second moments are a convex function of the mean: mixtures have larger ones.
    rates = np.linspace(0.01, 12, 2000)
    means = rates / -np.expm1(-rates)
    slopes = np.diff(means * (1 + rates)) / np.diff(means)
    assert (np.diff(slopes) > 0).all()


def test_designs_are_seen_and_small_cases_answered():
    assert even_sizes_p_value([6] * 100) < 1e-12
    assert even_sizes_p_value([2] * 15) < 0.01
    assert even_sizes_p_value([6] * 9) == 1.0
    assert even_sizes_p_value([1] * 50) == 1.0
    with pytest.raises(ValueError, match="at least 1"):
        even_sizes_p_value([3, 0, 2])
