"""The majority of independent voters."""

from math import comb, exp

import numpy as np
import pytest

from corollary.core.simulate import assert_bound_holds, assert_share_equals
from corollary.ensemble import majority_error, majority_error_bound


def by_hand(T, gamma):
    p = 0.5 + gamma
    n = 2 * T + 1
    return sum(comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(T + 1))


@pytest.mark.parametrize("T", [0, 1, 2, 10, 40])
@pytest.mark.parametrize("gamma", [0.0, 0.01, 0.2, 0.5])
def test_the_sum_starts_at_zero(T, gamma):
    assert majority_error(2 * T + 1, 0.5 + gamma) == pytest.approx(by_hand(T, gamma), rel=1e-10)


def test_even_crowds_throw_a_coin():
    p = 0.7
    tie = comb(4, 2) * p**2 * (1 - p) ** 2
    wrong = sum(comb(4, i) * p**i * (1 - p) ** (4 - i) for i in range(2)) + tie / 2
    assert majority_error(4, p) == pytest.approx(wrong)
    assert majority_error(4, p) == majority_error(3, p)


@pytest.mark.parametrize("form", ["chernoff", "simple", "hoeffding"])
def test_bounds_are_above_the_exact_error(form):
    for T in range(60):
        for gamma in np.linspace(0.0, 0.5, 26):
            bound = majority_error_bound(2 * T + 1, gamma, form=form)
            assert by_hand(T, gamma) <= bound * (1 + 1e-12)
            assert bound <= 1


def test_the_forms_are_as_stated_and_ordered():
    T, g = 7, 0.2
    excess = 0.5 + 2 * T * g + g
    chernoff = exp(-(excess**2) / (2 * (T + excess)))
    assert majority_error_bound(15, g) == pytest.approx(chernoff)
    assert majority_error_bound(15, g, form="simple") == pytest.approx(exp(-0.8 * g * g * T))
    assert majority_error_bound(15, g, form="hoeffding") == pytest.approx(exp(-2 * g * g * 15))
    for T in range(1, 60):
        for g in np.linspace(0.01, 0.5, 20):
            n = 2 * T + 1
            assert majority_error_bound(n, g) <= majority_error_bound(n, g, form="simple")


@pytest.mark.parametrize(("n", "p"), [(1, 0.6), (3, 0.6), (11, 0.7), (25, 0.55)])
def test_simulated_elections(seed, n, p):
    rng = np.random.default_rng(seed)
    elections = 20_000
    wrong = int((rng.binomial(n, p, size=elections) * 2 < n).sum())
    assert_share_equals(wrong, elections, majority_error(n, p))
    for form in ("chernoff", "simple", "hoeffding"):
        assert_bound_holds(wrong, elections, majority_error_bound(n, p - 0.5, form=form))


def test_errors():
    with pytest.raises(ValueError, match="must be an odd int"):
        majority_error_bound(4, 0.1)
    with pytest.raises(ValueError, match="'edge' parameter of majority_error_bound"):
        majority_error_bound(3, 0.6)
    with pytest.raises(ValueError, match="'accuracy' parameter of majority_error"):
        majority_error(3, 1.2)
    with pytest.raises(ValueError, match="'form' parameter"):
        majority_error_bound(3, 0.1, form="exact")
