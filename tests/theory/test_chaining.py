"""Chaining bounds lie above exact complexities, and each form above the finer one."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

from corollary.core.simulate import fit_slope
from corollary.theory import (
    covering_number,
    dudley_bound,
    dudley_sum,
    empirical_seminorm,
    gaussian_ball_complexity,
    greedy_entropy,
    linear_chaining_bound,
    linear_class_scale,
    lipschitz_cube_bound,
    lipschitz_cube_complexity,
    lipschitz_parameter_bound,
    one_step_bound,
    rademacher_complexity,
)

seeds = st.integers(0, 2**32 - 1)


def ball(d, scale=1.0):
    return lambda epsilon: d * math.log1p(2 * scale / epsilon)


@given(seeds, st.integers(2, 40))
@settings(max_examples=25)
def test_bounds_hold_for_finite_classes(seed, functions):
    values = np.random.default_rng(seed).normal(size=(functions, 8))
    exact = rademacher_complexity(values).value
    entropy, scale = greedy_entropy(values), float(empirical_seminorm(values).max())
    how = {"scale": scale, "n_samples": 8}
    assert exact <= one_step_bound(entropy, **how)
    assert exact <= dudley_bound(entropy, **how) + 1e-12
    assert exact <= dudley_sum(entropy, **how)
    assert dudley_bound(entropy, **how) <= dudley_bound(entropy, truncate=False, **how) + 1e-12
    assert dudley_bound(entropy, **how) <= dudley_bound(entropy, sharp=False, **how) + 1e-12


def test_one_step_by_hand():
    # A class of eight functions at any radius: the smallest radius of the grid is the best.
    eight = one_step_bound(lambda epsilon: math.log(8), scale=2.5, n_samples=9)
    assert eight == pytest.approx(2.5 * (1e-6 + math.sqrt(2 * math.log(8) / 9)))
    # One function from the radius 1/2 on: its cover alone, to the width of the grid.
    coarse = one_step_bound(lambda e: 0.0 if e >= 0.5 else 1e9, scale=1.0, n_samples=9)
    assert 0.5 <= coarse <= 0.52
    # Two functions at the root mean square 2.
    entropy = greedy_entropy([[0.0] * 4, [2.0] * 4])
    assert (entropy(2.0), entropy(1.9)) == (0.0, math.log(2))
    # A ball, by a search of its own.
    best = min(a + 3 * math.sqrt(2 * ball(4, 3.0)(a) / 500) for a in np.linspace(0.001, 3, 20_000))
    found = one_step_bound(ball(4, 3.0), scale=3.0, n_samples=500)
    assert best * (1 - 1e-9) <= found <= best * 1.001


@given(seeds)
@settings(max_examples=15)
def test_greedy_entropy_is_never_below_the_true_one(seed):
    values = np.random.default_rng(seed).normal(size=(9, 4))
    entropy = greedy_entropy(values)
    for epsilon in (0.2, 0.6, 1.2, 3.0):
        exact = covering_number(values / 2.0, epsilon)
        assert math.log(exact) <= entropy(epsilon) + 1e-12
        assert entropy(epsilon) <= math.log(9)


def test_seminorms():
    X = np.random.default_rng(0).normal(size=(50, 3))
    assert empirical_seminorm(X[:, 0]) == pytest.approx(math.sqrt(np.mean(X[:, 0] ** 2)))
    scale = linear_class_scale(X)
    units = np.random.default_rng(1).normal(size=(2000, 3))
    units /= np.linalg.norm(units, axis=1)[:, None]
    reached = empirical_seminorm(units @ X.T).max()
    assert 0.99 * scale < reached <= scale + 1e-12


def test_integral_is_rounded_upwards_and_nearly_exact():
    d, n = 5, 10_000
    exact = 12 * quad(lambda e: math.sqrt(ball(d)(e) / n), 0, 0.5, limit=200)[0]
    plain = dudley_bound(ball(d), scale=1.0, n_samples=n, truncate=False)
    assert exact <= plain <= 1.02 * exact
    whole = dudley_bound(ball(d), scale=1.0, n_samples=n, truncate=False, sharp=False)
    exact_whole = 12 * quad(lambda e: math.sqrt(ball(d)(e) / n), 0, 1.0, limit=200)[0]
    assert exact_whole <= whole <= 1.02 * exact_whole


def test_truncation_helps_where_the_entropy_is_not_integrable():
    steep = lambda epsilon: (1 / epsilon) ** 4  # noqa: E731
    plain = dudley_bound(steep, scale=1.0, n_samples=1000, truncate=False)
    assert plain > 1e6
    assert dudley_bound(steep, scale=1.0, n_samples=1000) < 3.0


def test_linear_class_three_ways():
    d, n = 4, 10_000
    integral = quad(lambda e: math.sqrt(math.log1p(2 / e)), 0, 1)[0]
    assert integral == pytest.approx(1.35258, abs=5e-6)
    assert 12 * integral == pytest.approx(16.24, abs=0.02)
    chained = linear_chaining_bound(n_samples=n, n_features=d)
    assert chained == pytest.approx(12 * integral * math.sqrt(d / n))
    assert linear_chaining_bound(n_samples=n, n_features=d, sharp=False) == pytest.approx(
        24 * math.sqrt(d / n)
    )
    direct = gaussian_ball_complexity(n_samples=n, n_features=d)
    one = one_step_bound(ball(d), scale=1.0, n_samples=n)
    assert direct < min(chained, one)
    # One step loses a root of a logarithm: its ratio to sqrt(d / n) grows, chaining's does not.
    sizes = [10**3, 10**5, 10**7]
    steps = [one_step_bound(ball(d), scale=1.0, n_samples=n) * math.sqrt(n / d) for n in sizes]
    assert steps[0] < steps[1] < steps[2]
    slope = fit_slope(sizes, [linear_chaining_bound(n_samples=n, n_features=d) for n in sizes])
    assert slope.slope == pytest.approx(-0.5)


def test_lipschitz_parameters():
    n, d = 1000, 7
    for BL in (0.5, 1.0, 30.0):
        exact = 12 * quad(lambda e, BL=BL: math.sqrt(d * math.log1p(2 * BL / e) / n), 0, 1)[0]
        bound = lipschitz_parameter_bound(n_samples=n, n_parameters=d, radius=BL, lipschitz=1.0)
        assert exact <= bound <= 2 * exact
    # With BL = 1 a bound of the form sqrt(d log(BL) / n) would be zero, and the class is not.
    assert lipschitz_parameter_bound(n_samples=100, n_parameters=3, radius=1.0, lipschitz=1.0) > 0


def test_lipschitz_functions_on_the_cube():
    rng = np.random.default_rng(0)
    # One point: the function is free to follow its sign. Copies of a point share their value.
    assert lipschitz_cube_complexity([[0.3, 0.1]], [[1.0], [-1.0]]) == pytest.approx(1.0)
    assert lipschitz_cube_complexity(np.zeros((2, 2)), [[1.0, -1.0]]) == pytest.approx(0.0)
    # Two points at distance 0.5: values +-0.25.
    assert lipschitz_cube_complexity([[0.0], [0.5]], [[1.0, -1.0]]) == pytest.approx(0.25)
    sizes, found = [10, 20, 40, 80], []
    for n in sizes:
        draws = [
            lipschitz_cube_complexity(
                rng.uniform(-1, 1, size=(n, 3)), rng.choice([-1.0, 1.0], size=(4, n))
            )
            for _ in range(4)
        ]
        found.append(np.mean(draws))
    assert all(v <= lipschitz_cube_bound(n_samples=n, n_features=3) for v, n in zip(found, sizes))
    slope = fit_slope(sizes, found)
    assert slope.slope == pytest.approx(-1 / 3, abs=0.12)


def test_cube_bound_by_hand():
    bound = lipschitz_cube_bound(n_samples=10**12, n_features=4, entropy_constant=2.0)
    assert bound == pytest.approx(2 * (4 + 12) * 1e-3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: empirical_seminorm([]), "one or more functions"),
        (lambda: linear_class_scale([1.0]), "one per row"),
        (lambda: greedy_entropy([1.0]), "n_functions, n_points"),
        (lambda: dudley_bound(ball(2), scale=0.0, n_samples=3), "'scale' parameter"),
        (lambda: lipschitz_cube_bound(n_samples=3, n_features=2), "'n_features' parameter"),
        (lambda: lipschitz_cube_complexity([[0.0]], [[1.0, 1.0]]), "one sign for each"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_chains_by_hand():
    # Eight functions at any radius, a thousand points: the sum of all the links.
    root = math.sqrt(math.log(8) / 1000)
    eight = {"entropy": lambda epsilon: math.log(8), "scale": 2.5, "n_samples": 1000}
    assert dudley_sum(**eight) == pytest.approx(6 * 2.5 * root)
    assert dudley_bound(**eight) == pytest.approx(6 * 2.5 * root)
    assert dudley_bound(sharp=False, **eight) == pytest.approx(12 * 2.5 * root)
    # Two functions 2 apart at each of four points.
    pair = greedy_entropy([[2.0] * 4, [0.0] * 4])
    assert [pair(1.9), pair(2.1)] == pytest.approx([math.log(2), 0.0])
    # Too many functions for one point: the scale itself.
    assert dudley_bound(lambda epsilon: 1e9, scale=2.5, n_samples=1) == pytest.approx(4 * 1.25)
    assert dudley_sum(lambda epsilon: 1e9, scale=2.5, n_samples=1) == 2.5
    simple = linear_chaining_bound(n_samples=100, n_features=4, scale=3.0, sharp=False)
    assert simple == pytest.approx(24 * 3 * 0.2)
    parameters = lipschitz_parameter_bound(n_samples=100, n_parameters=4, radius=0.5, lipschitz=3.0)
    assert parameters == pytest.approx(2.4 * (math.sqrt(math.log(4)) + math.sqrt(math.pi) / 2))
    assert lipschitz_cube_bound(n_samples=1, n_features=3) == 1.0
    assert empirical_seminorm([3.0, 4.0]) == pytest.approx(math.sqrt(12.5))
    assert linear_class_scale([[3.0, 0.0], [0.0, 4.0]]) == pytest.approx(4 / math.sqrt(2))
