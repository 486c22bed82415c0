"""Rademacher complexity by enumeration, its calculus, and its bounds."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corollary.core.simulate import assert_bound_holds
from corollary.theory import (
    all_signs_complexity,
    contraction_bound,
    dependent_symmetrisation,
    expected_rademacher_complexity,
    growth_complexity_bound,
    lipschitz_loss_bound,
    massart_bound,
    mean_absolute_walk,
    rademacher_bound,
    rademacher_complexity,
    symmetrisation_sides,
)

seeds = st.integers(0, 2**32 - 1)


def brute(table, absolute=False):
    n = table.shape[1]
    sums = [table @ np.array(signs) for signs in product([-1, 1], repeat=n)]
    return np.mean([np.max(np.abs(s) if absolute else s) for s in sums]) / n


@given(seeds, st.integers(1, 5), st.integers(1, 7), st.booleans())
def test_enumeration_is_brute_force(seed, functions, n, absolute):
    table = np.random.default_rng(seed).normal(size=(functions, n))
    found = rademacher_complexity(table, absolute=absolute)
    assert found.value == pytest.approx(brute(table, absolute), abs=1e-12)
    assert found.exact
    assert found.upper == found.value


def test_small_classes():
    x = np.array([0.3, -1.0, 2.0, 0.7])
    assert rademacher_complexity(x[None]).value == pytest.approx(0.0, abs=1e-15)
    both = rademacher_complexity(np.stack([x, -x])).value
    assert both == pytest.approx(
        np.mean([abs(np.dot(s, x)) for s in product([-1, 1], repeat=4)]) / 4
    )
    signs = np.array(list(product([-1, 1], repeat=5)))
    assert rademacher_complexity(signs).value == 1.0


def test_drawn_signs_agree_and_their_error_is_certified():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(30, 12))
    exact = rademacher_complexity(table).value
    misses = 0
    for seed in range(200):
        drawn = rademacher_complexity(table, n_draws=40, delta=0.2, random_state=seed)
        assert not drawn.exact
        misses += drawn.upper < exact
    assert_bound_holds(misses, 200, 0.2)
    # By hand: each of the 9 x 30 signs moves the mean over draws by at most 2 / (9 x 30).
    walk = np.stack([np.ones(30), -np.ones(30)])
    drawn = rademacher_complexity(walk, n_draws=9, delta=0.2, random_state=0)
    radius = math.sqrt(9 * 30 * (2 / 270) ** 2 * math.log(5) / 2)
    assert drawn.upper - drawn.value == pytest.approx(radius)
    usual = rademacher_complexity(walk, random_state=0)  # 1000 draws, 99%
    radius = math.sqrt(1000 * 30 * (2 / 30_000) ** 2 * math.log(100) / 2)
    assert usual.upper - usual.value == pytest.approx(radius)
    many = rademacher_complexity(table, n_draws=20_000, random_state=0)
    assert many.value == pytest.approx(exact, abs=0.01)
    assert many.upper - many.value < 0.02
    again = rademacher_complexity(table, n_draws=20_000, random_state=0)
    assert again.value == many.value


def test_one_function_is_never_below_zero():
    # Rounding made its complexity -1e-18, and bounds refused it.
    x = [[0.3, -1.0, 2.0, 0.7]]
    value = rademacher_complexity(x).value
    assert 0 <= value < 1e-15
    assert rademacher_bound(value, n_samples=4, delta=0.1) == pytest.approx(
        math.sqrt(math.log(10) / 8)
    )
    for seed in range(20):
        drawn = rademacher_complexity(x, n_draws=2, random_state=seed)
        assert drawn.value >= 0
        assert drawn.upper >= 0
        assert contraction_bound(drawn.value, 2.0) >= 0


def test_supremum_of_an_infinite_class():
    X = np.random.default_rng(0).normal(size=(9, 3))
    found = rademacher_complexity(
        supremum=lambda signs: np.linalg.norm(signs @ X, axis=1),
        n_points=9,
        n_draws=4000,
        random_state=0,
        differences=np.linalg.norm(X, axis=1),
    )
    exact = np.mean([np.linalg.norm(np.array(s) @ X) for s in product([-1, 1], repeat=9)]) / 9
    assert found.value == pytest.approx(exact, rel=0.03)
    assert found.value < found.upper < math.inf
    unknown = rademacher_complexity(supremum=lambda s: s.sum(axis=1), n_points=9, n_draws=10)
    assert unknown.upper == math.inf


@given(seeds)
@settings(max_examples=25)
def test_calculus(seed):
    rng = np.random.default_rng(seed)
    F, G, f0 = rng.normal(size=(4, 6)), rng.normal(size=(3, 6)), rng.normal(size=6)

    def R(table):
        return rademacher_complexity(table).value

    assert R(F[:2]) <= R(F) + 1e-12
    assert R(-2.5 * F) == pytest.approx(2.5 * R(F))
    assert R(F + f0) == pytest.approx(R(F), abs=1e-12)
    sums = (F[:, None] + G[None]).reshape(-1, 6)
    assert R(sums) == pytest.approx(R(F) + R(G))
    mixtures = rng.dirichlet(np.ones(4), size=20) @ F
    assert R(np.concatenate([F, mixtures])) == pytest.approx(R(F), abs=1e-12)


@given(seeds)
@settings(max_examples=25)
def test_absolute_values_cost_at_most_a_factor_of_two(seed):
    rng = np.random.default_rng(seed)
    T = np.concatenate([rng.normal(size=(4, 6)), np.zeros((1, 6))])
    both = rademacher_complexity(T, absolute=True).value
    assert both <= 2 * rademacher_complexity(T).value + 1e-12
    # Without a function that follows every sign vector at least half-heartedly it fails.
    alone = T[:1]
    assert (
        rademacher_complexity(alone, absolute=True).value > 2 * rademacher_complexity(alone).value
    )


@given(seeds)
@settings(max_examples=25)
def test_contraction(seed):
    T = 2 * np.random.default_rng(seed).normal(size=(5, 6))
    before = rademacher_complexity(T).value
    maps = [
        lambda t: np.maximum(t, 0),
        np.abs,
        np.tanh,
        np.sin,
        lambda t: np.clip(t, -1, 1),
        lambda t: 1 + np.maximum(1 - t, 0),
    ]
    for phi in maps:
        assert rademacher_complexity(phi(T)).value <= contraction_bound(before, 1.0) + 1e-12
    # One coordinate at a time, with a rest that depends on the function.
    A = np.random.default_rng(seed + 1).normal(size=5)
    for phi in maps:
        inner = np.mean([np.max(A + s * phi(T[:, 0])) for s in (-1, 1)])
        assert inner <= np.mean([np.max(A + s * T[:, 0]) for s in (-1, 1)]) + 1e-12
    assert rademacher_complexity(3 * np.tanh(T)).value <= contraction_bound(before, 3.0) + 1e-12
    # A linear map attains it, whatever its slope.
    for slope in (0.25, 3.0):
        steep = rademacher_complexity(slope * T).value
        assert contraction_bound(before, slope) == pytest.approx(steep)


@given(seeds, st.integers(1, 30))
@settings(max_examples=25)
def test_massart(seed, functions):
    table = np.random.default_rng(seed).normal(size=(functions, 7))
    scale = np.sqrt((table**2).mean(axis=1)).max()
    bound = massart_bound(n_functions=functions, n_samples=7, scale=float(scale))
    assert rademacher_complexity(table).value <= bound + 1e-12
    if functions == 1:
        assert bound == 0.0


def test_massart_by_hand():
    assert massart_bound(n_functions=8, n_samples=9, scale=2.5) == pytest.approx(
        2.5 * math.sqrt(2 * math.log(8)) / 3
    )
    # All sign vectors have complexity 1; half the constant in the root would be below.
    for n in (1, 3, 10):
        assert 1 <= massart_bound(n_functions=2.0**n, n_samples=n) < 1.18


@pytest.mark.parametrize("n", [1, 2, 5, 12, 18])
def test_thresholds_lie_below_their_growth_bound(n):
    thresholds = np.where(np.arange(n + 1)[:, None] > np.arange(n), 1.0, -1.0)
    value = rademacher_complexity(thresholds).value
    bound = growth_complexity_bound(log_growth=math.log(n + 1), n_samples=n)
    assert value <= bound + 1e-12
    assert bound == pytest.approx(min(1.0, math.sqrt(2 * math.log(n + 1) / n)))


@given(seeds, st.integers(1, 4))
@settings(max_examples=25)
def test_symmetrisation_on_a_finite_class_exactly(seed, n):
    # Three points of a skewed law: every ordered sample and every sign vector.
    rng = np.random.default_rng(seed)
    table, law = rng.normal(size=(4, 3)), rng.dirichlet(np.full(3, 0.5))
    deviation = complexity = 0.0
    for r in product(range(3), repeat=n):
        chance = math.prod(law[j] for j in r)
        deviation += chance * np.max(table @ law - table[:, r].mean(axis=1))
        complexity += chance * brute(table[:, r])
    sides = symmetrisation_sides(table, n_samples=n, law=law)
    assert sides.deviation == pytest.approx(deviation, abs=1e-12)
    assert sides.bound == pytest.approx(2 * complexity, abs=1e-12)
    assert sides.deviation <= sides.bound + 1e-12
    negative = symmetrisation_sides(-table, n_samples=n, law=law)
    assert negative.deviation <= negative.bound + 1e-12


def test_symmetrisation_needs_its_factor_of_two():
    # A rare point that one function sees: the deviation is p (1 - p), the complexity p / 2.
    sides = symmetrisation_sides([[1.0, 0.0], [0.0, 0.0]], n_samples=1, law=[0.01, 0.99])
    assert sides == pytest.approx((0.0099, 0.01))
    # A fair sign and its negative: E|mean| of two rows, and twice it.
    assert symmetrisation_sides([[1.0, -1.0], [-1.0, 1.0]], n_samples=2) == (0.5, 1.0)


def test_symmetrisation_fails_for_copies_of_one_coin():
    for n, holds in [(2, True), (3, True), (4, False), (8, False)]:
        sides = dependent_symmetrisation(n)
        assert sides.bound == pytest.approx(2 * brute(np.array([np.ones(n), -np.ones(n)])))
        assert (sides.deviation <= sides.bound + 1e-12) == holds
    assert dependent_symmetrisation(4).bound == pytest.approx(0.75)
    limit = math.sqrt(8 / (math.pi * 10_000))
    assert dependent_symmetrisation(10_000).bound == pytest.approx(limit, rel=1e-3)


def test_class_of_all_functions_never_becomes_simple():
    assert all_signs_complexity(np.ones(1000, dtype=int)) == 1.0
    # With repeated points, by enumeration of the values at two points.
    table = np.array([[a, a, a, b, b] for a in (-1, 1) for b in (-1, 1)], dtype=float)
    assert all_signs_complexity([3, 2]) == pytest.approx(rademacher_complexity(table).value)
    for n in range(1, 9):
        assert mean_absolute_walk(n) == pytest.approx(
            np.mean([abs(sum(s)) for s in product([-1, 1], repeat=n)])
        )


def test_expected_complexity_averages_over_data():
    value, error = expected_rademacher_complexity(
        lambda rng: np.stack([x := rng.normal(size=6), -x]), n_repeats=400, random_state=0
    )
    assert abs(value - math.sqrt(2 / (math.pi * 6))) < 5 * error


def test_bounds_by_hand():
    tail = math.sqrt(math.log(20) / 200)
    assert rademacher_bound(0.1, n_samples=100, delta=0.05) == pytest.approx(0.2 + tail)
    wide = rademacher_bound(0.1, n_samples=100, delta=0.05, low=-1, high=1, sharp=False)
    assert wide == pytest.approx(0.2 + 2 * math.sqrt(2 * math.log(20) / 100))
    measured = rademacher_bound(0.1, n_samples=100, delta=0.05, empirical=True)
    assert measured == pytest.approx(0.2 + 3 * math.sqrt(math.log(40) / 200))
    both = rademacher_bound(0.1, n_samples=100, delta=0.05, sides=2)
    assert both == pytest.approx(0.2 + math.sqrt(math.log(40) / 200))
    assert lipschitz_loss_bound(0.1, lipschitz=3.0, n_samples=100, delta=0.05) == pytest.approx(
        0.6 + tail
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (rademacher_complexity, "exactly one"),
        (lambda: rademacher_complexity([1.0, 2.0]), "one row per function"),
        (lambda: rademacher_complexity(supremum=max), "needs 'n_points'"),
        (lambda: rademacher_complexity([[1.0]], delta=1.0), "'delta' parameter"),
        (lambda: mean_absolute_walk(0), "at least one step"),
        (lambda: symmetrisation_sides([1.0], n_samples=2), "one row per function"),
        (lambda: symmetrisation_sides([[1.0]], n_samples=2, law=[0.5]), "probability for each"),
        (lambda: symmetrisation_sides([[1.0]], n_samples=21), "at most 20 rows"),
        (lambda: all_signs_complexity([0]), "positive count"),
        (lambda: contraction_bound(-1.0, 1.0), "not negative"),
        (lambda: rademacher_bound(0.1, n_samples=5, delta=0.1, low=1, high=1), "low < high"),
        (lambda: expected_rademacher_complexity(max, n_repeats=1), "'n_repeats'"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("n", [20_000, 10**9, 10**15])
def test_mean_distance_of_long_walks_keeps_its_digits(n):
    """sqrt(2 n / pi) (1 - 1 / (4 n) + ...) by Stirling."""
    wanted = math.sqrt(2 * n / math.pi) * (1 - 1 / (4 * n))
    assert mean_absolute_walk(n) == pytest.approx(wanted, rel=1e-8)


def test_mean_and_error_over_two_samples_by_hand():
    tables = iter([[[1.0], [-1.0]], [[3.0], [-3.0]]])  # of complexity 1 and 3
    mean, error = expected_rademacher_complexity(lambda rng: next(tables), n_repeats=2)
    assert (mean, error) == pytest.approx((2.0, 1.0))
    # All signs of two points are tried: (2 + 0 + 0 + 2) / 4 / 2, whatever the sample.
    walk = [[1.0, 1.0], [-1.0, -1.0]]
    assert expected_rademacher_complexity(lambda rng: walk, n_repeats=3) == (0.5, 0.0)
