"""p-values against exact laws."""

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from corollary.core.simulate import assert_bound_holds, assert_share_equals
from corollary.validation import (
    exact_p_value,
    holm,
    monte_carlo_p_value,
    permutation_test,
    wald_test,
)


def test_exact_p_values_and_both_definitions():
    values, law = np.arange(6), scipy.stats.binom.pmf(np.arange(6), 5, 0.5)
    for t in values:
        p = exact_p_value(t, values, law)
        assert p == pytest.approx(scipy.stats.binom.sf(t - 1, 5, 0.5))
        sizes = [law[values >= c].sum() for c in values if t >= c]
        assert p == pytest.approx(min(sizes))
    # A composite null takes its worst law.
    other = scipy.stats.binom.pmf(values, 5, 0.3)
    assert exact_p_value(4, values, [law, other]) == pytest.approx(law[values >= 4].sum())


@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_levels_hold_for_few_draws_and_permutations(alpha):
    rng = np.random.default_rng(0)
    drawn = sum(
        monte_carlo_p_value(rng.normal(), rng.normal(size=19)) <= alpha for _ in range(2000)
    )
    assert_share_equals(drawn, 2000, alpha)

    def statistic(x, y):
        return abs(x[y == 1].mean() - x[y == 0].mean())

    labels = np.repeat([0, 1], 6)
    rejected = sum(
        permutation_test(statistic, rng.normal(size=12), labels, n_permutations=19, random_state=i)
        <= alpha
        for i in range(400)
    )
    assert_bound_holds(rejected, 400, alpha)


def test_permutations_are_enumerated_when_few_and_find_an_effect():
    x, y = np.array([1.0, 2.0, 10.0, 11.0]), np.array([0, 0, 1, 1])

    def statistic(x, y):
        return x[y == 1].mean() - x[y == 0].mean()

    # 4 of 24 orders keep the two large values in group 1.
    assert permutation_test(statistic, x, y) == pytest.approx(4 / 24)
    x = np.r_[np.zeros(30), np.ones(30)] + np.random.default_rng(0).normal(size=60)
    assert permutation_test(statistic, x, np.repeat([0, 1], 30), random_state=0) <= 0.01


def test_wald():
    test = wald_test(1.5, 0.25)
    assert test.statistic == pytest.approx(9.0)
    assert test.p_value == pytest.approx(2 * scipy.stats.norm.sf(3.0))
    A = np.array([[2.0, 0.5], [0.5, 1.0]])
    vector = wald_test([1.0, -1.0], A, null=[0.5, 0.5])
    shift = np.array([0.5, -1.5])
    assert vector.statistic == pytest.approx(shift @ np.linalg.solve(A, shift))
    assert vector.degrees == 2
    rng = np.random.default_rng(0)
    rejected = 0
    for _ in range(400):
        X = np.column_stack([np.ones(200), rng.normal(size=200)])
        y = rng.normal(size=200)
        beta = np.linalg.lstsq(X, y, rcond=None)[0]
        s2 = np.sum((y - X @ beta) ** 2) / 198
        rejected += wald_test(beta[1], s2 * np.linalg.inv(X.T @ X)[1, 1]).p_value <= 0.05
        inside = abs(beta[1]) <= 1.959964 * math.sqrt(s2 * np.linalg.inv(X.T @ X)[1, 1])
        assert inside == (wald_test(beta[1], s2 * np.linalg.inv(X.T @ X)[1, 1]).p_value >= 0.05)
    assert_share_equals(rejected, 400, 0.05)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_equals_its_definition(p_values):
    p_values = np.array(p_values)
    m = len(p_values)
    adjusted = holm(p_values)
    for level in (0.01, 0.05, 0.3):
        rejected = set()
        for step, i in enumerate(np.argsort(p_values, kind="stable")):
            if p_values[i] * (m - step) > level:
                break
            rejected.add(int(i))
        assert rejected == set(np.flatnonzero(adjusted <= level).tolist())


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: exact_p_value(1, [0, 1], [1.0]), "one probability per value"),
        (lambda: monte_carlo_p_value(math.nan, [1.0]), "none NaN"),
        (lambda: permutation_test(max, [1], [1], n_permutations=0), "at least one permutation"),
        (lambda: wald_test([1.0, 2.0], [[1.0]]), "covariance"),
        (lambda: wald_test(1.0, 0.0), "positive definite"),
        (lambda: holm([0.5, 1.5]), "p-values between 0 and 1"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_p_values_by_hand():
    # Three labels in six orders; the statistic is at least that observed in two of them.
    x, y = np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 3.0])
    assert permutation_test(lambda x, y: float(x @ y), x, y) == pytest.approx(1 / 6)
    assert permutation_test(lambda x, y: float(x @ y), x, y[::-1]) == 1.0
    assert permutation_test(lambda x, y: float(y[0]), x, y[[1, 0, 2]]) == pytest.approx(4 / 6)
    # Two owners of two rows whose labels are their own: two orders.
    owned = np.array([0.0, 0.0, 1.0, 1.0])
    found = permutation_test(lambda x, y: float(x @ y), np.arange(4.0), owned, groups=[0, 0, 1, 1])
    assert found == 0.5
    assert monte_carlo_p_value(2.0, [1.0, 2.0, 3.0]) == 0.75
    assert exact_p_value(2.0, [1.0, 2.0, 3.0], [0.5, 0.3, 0.2]) == pytest.approx(0.5)
    # With two degrees of freedom the tail of the chi-squared law at s is exp(-s / 2).
    test = wald_test([3.0, 4.0], np.diag([9.0, 4.0]))
    assert test == pytest.approx((5.0, 2, math.exp(-2.5)))
