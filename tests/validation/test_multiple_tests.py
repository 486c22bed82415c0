"""Benjamini and Hochberg's procedure against its definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from corollary.validation import benjamini_hochberg

P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=12)


@given(P_VALUES, st.floats(0.01, 0.5))
def test_rejections_equal_the_definition(p_values, level):
    p = np.array(p_values)
    m, ordered = len(p), np.sort(p)
    k = max((i for i in range(1, m + 1) if ordered[i - 1] * m / i <= level), default=0)
    expected = p <= ordered[k - 1] if k else np.zeros(m, dtype=bool)
    assert (benjamini_hochberg(p) <= level).tolist() == expected.tolist()


@given(P_VALUES)
def test_adjusted_values_equal_scipys(p_values):
    expected = stats.false_discovery_control(p_values)
    np.testing.assert_allclose(benjamini_hochberg(p_values), expected, rtol=1e-12)


def test_no_tests_and_refusals():
    assert benjamini_hochberg([]).shape == (0,)
    with pytest.raises(ValueError, match="benjamini_hochberg needs a list"):
        benjamini_hochberg([0.5, 1.5])
