"""The restaurant process: law of partitions, tables, and their bound."""

import math
from collections import Counter

import numpy as np
import pytest
from scipy import stats

from corollary.mixture import (
    chinese_restaurant,
    expected_tables,
    expected_tables_bound,
    partition_log_probability,
    tables_distribution,
)
from tests.mixture.partitions import in_order, partitions


def sizes(labels):
    return np.bincount(labels)


def seating_probability(labels, alpha):
    """Multiply the chances of every guest's seat, in the order of arrival."""
    value, counts = 1.0, Counter()
    for n, label in enumerate(labels):
        value *= (counts[label] or alpha) / (alpha + n)
        counts[label] += 1
    return value


@pytest.mark.parametrize("alpha", [0.3, 1.0, 4.0])
def test_the_probability_of_a_partition_is_that_of_its_seating(alpha):
    total = 0.0
    for labels in partitions(6):
        p = math.exp(partition_log_probability(sizes(labels), alpha))
        assert p == pytest.approx(seating_probability(labels, alpha), rel=1e-10)
        total += p
    assert total == pytest.approx(1, rel=1e-12)


def test_the_partition_of_ten_by_hand():
    assert math.exp(partition_log_probability([4, 3, 2, 1], 1.0)) == pytest.approx(
        3.3069e-6, rel=1e-4
    )
    for bad in ([0, 1], [1.5], [[1]]):
        with pytest.raises(ValueError, match="positive whole numbers"):
            partition_log_probability(bad, 1.0)


def test_seats_have_the_law_of_partitions():
    random, alpha, n = np.random.RandomState(0), 1.3, 4
    drawn = [tuple(chinese_restaurant(n, alpha, random).tolist()) for _ in range(6000)]
    assert all(labels == in_order(labels) for labels in drawn[:200])
    counts, law = Counter(drawn), list(partitions(n))
    observed = [counts[labels] for labels in law]
    expected = [6000 * seating_probability(labels, alpha) for labels in law]
    assert stats.chisquare(observed, expected).pvalue > 1e-4
    assert chinese_restaurant(1, alpha).tolist() == [0]


def test_expected_tables_exactly():
    assert expected_tables(100, 2.0) == pytest.approx(8.3946, abs=5e-5)
    for n, alpha in ((1, 0.5), (7, 3.0), (50, 0.01)):
        right = sum(alpha / (alpha + i) for i in range(n))
        assert expected_tables(n, alpha) == pytest.approx(right, rel=1e-9)
        law = tables_distribution(n, alpha)
        assert law.sum() == pytest.approx(1)
        assert law @ np.arange(n + 1) == pytest.approx(right, rel=1e-9)
    random = np.random.RandomState(1)
    counts = [chinese_restaurant(100, 2.0, random).max() + 1 for _ in range(1000)]
    assert np.mean(counts) == pytest.approx(8.3946, abs=5 * np.std(counts) / np.sqrt(1000))


def test_the_law_of_tables_sums_partitions():
    law = np.zeros(6)
    for labels in partitions(5):
        law[max(labels) + 1] += seating_probability(labels, 1.7)
    np.testing.assert_allclose(tables_distribution(5, 1.7), law, rtol=1e-12)


def test_the_bound_on_tables():
    # 1 + 2 log(1 + 99/2) by hand
    assert expected_tables_bound(100, 2.0) == pytest.approx(1 + 2 * math.log(50.5), rel=1e-12)
    assert expected_tables_bound(1, 3.0) == 1.0
    for alpha in (0.01, 0.5, 1.0, 3.0, 100.0):
        for n in (1, 2, 3, 10, 1000, 10**6):
            exact, bound = expected_tables(n, alpha), expected_tables_bound(n, alpha)
            assert exact <= bound * (1 + 1e-12)
            assert bound - exact <= 1  # each term of the sum is above the integral from it on
    # The order is alpha log N.
    assert expected_tables(10**9, 2.0) / (2 * math.log(10**9)) == pytest.approx(1, abs=0.06)
