"""Serial correlation against its definition and law; stretches of moments."""

import numpy as np
import pytest
import scipy.stats

from corollary.core.simulate import assert_share_equals
from corollary.validation import serial_correlation, stretches


def test_correlation_is_that_of_ranks_of_neighbours():
    x = np.random.default_rng(0).normal(size=40).cumsum()
    ranks = scipy.stats.rankdata(x)
    expected = scipy.stats.pearsonr(ranks[1:], ranks[:-1]).statistic
    correlation, p_value = serial_correlation(x)
    assert correlation == pytest.approx(expected)
    assert p_value == pytest.approx(2 * scipy.stats.norm.sf(abs(expected) * np.sqrt(40)))
    assert serial_correlation(np.exp(x))[0] == pytest.approx(expected)


def test_level_holds():
    rng = np.random.default_rng(0)
    below = sum(serial_correlation(rng.standard_cauchy(80))[1] < 0.05 for _ in range(2000))
    assert_share_equals(below, 2000, 0.05)


def test_missing_and_constant_values():
    assert serial_correlation([1.0, np.nan, 1.0, 1.0]) == (0.0, 1.0)
    assert serial_correlation([]) == (0.0, 1.0)
    assert serial_correlation([1.0, np.nan, 2.0, 3.0, 4.0])[0] == pytest.approx(1.0)


def test_stretches_keep_neighbours_and_equal_moments_together():
    moments = np.random.default_rng(0).integers(0, 90, 600).astype(float)
    codes = stretches(moments)
    assert codes.max() + 1 == 48
    ordered = codes[np.argsort(moments, kind="stable")]
    assert (np.diff(ordered) != 0).sum() == codes.max()
    assert all(len(set(codes[moments == m])) == 1 for m in np.unique(moments))
    assert codes[0] == 0
    moments[:5] = np.nan
    assert len(set(stretches(moments)[:5])) == 1


def test_few_rows_have_few_stretches():
    assert stretches(np.arange(24.0)).max() + 1 == 2
    assert stretches(np.arange(5.0)).max() == 0
    assert stretches(np.arange(600.0), most=10).max() + 1 == 10
