"""Bounds for rows of owners and rows of a period, by hand, by formula and by enumeration."""

import math
from itertools import product

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import chi2

from corollary.theory import (
    betting_mean_bound,
    betting_sequence,
    one_row_per_unit,
    period_risk_bound,
    run_risk_bound,
    unit_means,
    unit_medians,
)


def formula(x, delta):
    """Solve the defining equation in plain floating point."""
    x = np.asarray(x, dtype=float)
    smallest = min(0.9, 2 * math.sqrt(math.log(1 / delta) / len(x)))
    bets = smallest ** (1 - np.arange(9) / 8)

    def excess(mean):
        return np.mean([np.prod((1 - b * x) / (1 - b * mean)) for b in bets]) - 1 / delta

    above = next(mean for mean in np.linspace(0, 1 - 1e-11, 1001) if excess(mean) > 0)
    return brentq(excess, 0, above, xtol=1e-13)


@pytest.mark.parametrize("delta", [0.01, 0.05, 0.3])
@pytest.mark.parametrize("n", [1, 2, 5, 40, 300])
def test_betting_solves_its_equation(n, delta, seed):
    x = np.random.default_rng([seed, n]).beta(0.4, 1.6, size=n)
    assert betting_mean_bound(x, delta) == pytest.approx(formula(x, delta), abs=1e-8)


def test_betting_without_any_loss_lies_between_the_best_bound_and_one_gambler():
    # Nobody does better than 1 - delta^(1/n); the boldest of nine owns a ninth of the capital.
    for n in (1, 2, 5, 20, 100):
        bound = betting_mean_bound(np.zeros(n), 0.05)
        assert 1 - 0.05 ** (1 / n) < bound < 1 - (0.05 / 9) ** (1 / n)


def test_betting_says_nothing_if_all_is_lost_and_little_if_much_is():
    assert betting_mean_bound([1.0], 0.05) == 1.0
    assert betting_mean_bound(np.ones(50), 0.05) == 1.0
    assert betting_mean_bound([1.0, 1.0, 0.99], 0.05) == 1.0
    assert betting_mean_bound([1.0, 0.0, 1.0, 0.0, 0.0], 0.05) < 0.95


def test_betting_does_not_depend_on_order_and_follows_the_range(seed):
    x = np.random.default_rng(seed).random(30)
    bound = betting_mean_bound(x, 0.1)
    assert betting_mean_bound(x[::-1], 0.1) == pytest.approx(bound, abs=1e-12)
    assert betting_mean_bound(3 * x - 1, 0.1, low=-1, high=2) == pytest.approx(3 * bound - 1)
    assert x.mean() < bound < betting_mean_bound(x, 0.01) < 1
    sequence = betting_sequence(x, 0.1, sides=1, horizon=30).upper[-1]
    assert abs(bound - sequence) < 0.1


@pytest.mark.parametrize("delta", [0.05, 0.2, 0.5])
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_betting_holds_by_enumeration(n, delta, seed):
    """All outcomes of n draws of laws on 0, 1/2 and 1."""
    rng = np.random.default_rng(seed)
    values = np.array([0.0, 0.5, 1.0])
    outcomes = list(product(range(3), repeat=n))
    bounds = {tuple(sorted(o)): betting_mean_bound(values[list(o)], delta) for o in set(outcomes)}
    worst = 0.0
    for weights in [*rng.dirichlet([0.3, 0.3, 0.3], size=60), *np.eye(3) * 0.98 + 0.02 / 3]:
        weights = weights / weights.sum()
        mean = float(weights @ values)
        fails = [o for o in outcomes if bounds[tuple(sorted(o))] < mean - 1e-12]
        worst = max(worst, sum(float(np.prod(weights[list(o)])) for o in fails))
    assert worst <= delta + 1e-12
    if n == 4 and delta == 0.5:
        assert worst > delta / 10  # the bound is not empty


@pytest.mark.parametrize("method", ["betting", "azuma"])
@pytest.mark.parametrize("delta", [0.1, 0.4])
def test_a_period_holds_by_enumeration_under_any_dependence(method, delta, seed):
    """Four zeros and ones, whose chances depend on everything before: all 16 outcomes."""
    rng = np.random.default_rng(seed)
    outcomes = list(product((0, 1), repeat=4))
    bounds = {o: period_risk_bound(np.array(o, float), delta, method=method) for o in outcomes}
    for _ in range(300):
        chance = {o[:t]: rng.beta(0.3, 0.3) for o in outcomes for t in range(4)}
        fails = 0.0
        for o in outcomes:
            risks = [chance[o[:t]] for t in range(4)]
            probability = math.prod(r if hit else 1 - r for r, hit in zip(risks, o))
            fails += probability * (bounds[o] < np.mean(risks) - 1e-12)
        assert fails <= delta + 1e-12


def test_a_period_by_hand():
    # log(1/delta) = 4 and T = 8: the radius is sqrt(4 / 16) = 1/2.
    losses = [1.0, 0, 0, 0, 1.0, 0, 0, 0]
    assert period_risk_bound(losses, math.exp(-4), method="azuma") == pytest.approx(0.75)
    scaled = period_risk_bound(np.array(losses) * 6, math.exp(-4), high=6, method="azuma")
    assert scaled == pytest.approx(4.5)
    assert period_risk_bound([1.0], 0.05, method="azuma") == 1.0
    assert period_risk_bound(losses, 0.05) == betting_mean_bound(losses, 0.05)
    # For a model that does not learn the bound of an online run has the same form.
    assert period_risk_bound(losses, 0.1, method="azuma") == run_risk_bound(losses, 0.1)


def test_owners_by_loops(seed):
    rng = np.random.default_rng(seed)
    groups = rng.choice(["a", "bb", "c", "d", "e"], size=60)
    values = rng.normal(size=60)
    owners = sorted(set(groups))
    means = [values[groups == owner].mean() for owner in owners]
    np.testing.assert_allclose(unit_means(values, groups), means)
    medians = [np.median(values[groups == owner]) for owner in owners]
    np.testing.assert_allclose(unit_medians(values, groups), medians)
    rows = one_row_per_unit(groups, random_state=seed)
    assert list(groups[rows]) == owners
    np.testing.assert_array_equal(rows, one_row_per_unit(groups, random_state=seed))


def test_each_row_of_an_owner_is_drawn_as_often_as_any_other(seed):
    groups = [0, 1, 1, 1, 1, 0, 0, 2]
    drawn = np.array([one_row_per_unit(groups, random_state=seed + i) for i in range(3000)])
    for column, rows in ((0, [0, 5, 6]), (1, [1, 2, 3, 4])):
        counts = np.array([(drawn[:, column] == row).sum() for row in rows])
        assert counts.sum() == 3000
        expected = 3000 / len(rows)
        assert ((counts - expected) ** 2 / expected).sum() < chi2.ppf(1 - 1e-6, len(rows) - 1)
    assert (drawn[:, 2] == 7).all()


def test_what_is_no_observation_is_refused():
    with pytest.raises(ValueError, match=r"must lie in \[0, 1\]"):
        betting_mean_bound([0.5, 1.5], 0.05)
    with pytest.raises(ValueError, match="one-dimensional"):
        betting_mean_bound([[0.5]], 0.05)
    with pytest.raises(ValueError, match="one-dimensional"):
        period_risk_bound([[0.5]], 0.05)
    with pytest.raises(ValueError, match="Got shape \\(2,\\)"):
        unit_means([0.5, 0.1], ["a"])
    with pytest.raises(ValueError, match="1 of the numbers missing"):
        unit_medians([0.5, np.nan], ["a", "b"])
    with pytest.raises(ValueError, match="one owner for every row"):
        one_row_per_unit([])
