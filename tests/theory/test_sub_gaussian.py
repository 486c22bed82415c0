"""The sub-Gaussian calculus against closed forms, grids and quadrature."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import gamma

from corollary.theory import (
    combine_parameters,
    expected_gaussian_maximum,
    gaussian_poincare_bound,
    maximal_bound,
    range_parameter,
    sub_gaussian_moment,
    sub_gaussian_parameter,
    sub_gaussian_tail,
)

seeds = st.integers(0, 2**32 - 1)


def log_moment(lam, x, p):
    x = x - p @ x
    return math.log(p @ np.exp(lam * x))


@given(seeds)
@settings(max_examples=40)
def test_parameter_is_the_smallest_that_dominates_on_a_grid(seed):
    rng = np.random.default_rng(seed)
    x, p = rng.normal(size=4), rng.dirichlet(np.ones(4))
    sigma = sub_gaussian_parameter(x, p)
    grid = np.concatenate([-np.geomspace(0.01, 30, 200), np.geomspace(0.01, 30, 200)])
    ratios = [2 * log_moment(lam, x, p) / lam**2 for lam in grid]
    assert max(ratios) <= sigma**2 * (1 + 1e-9)
    assert max(ratios) >= sigma**2 * (1 - 1e-3)
    spread = math.sqrt(p @ (x - p @ x) ** 2)
    assert spread * (1 - 1e-9) <= sigma <= range_parameter(x.min(), x.max()) * (1 + 1e-9)


@pytest.mark.parametrize("p", [0.01, 0.2, 0.5, 0.9])
def test_two_point_laws_have_their_known_parameter(p):
    # Kearns and Saul: (1 - 2p) / (2 log((1 - p) / p)) is the squared parameter of Bernoulli(p).
    known = 0.25 if p == 0.5 else (1 - 2 * p) / (2 * math.log((1 - p) / p))
    assert sub_gaussian_parameter([0.0, 1.0], [1 - p, p]) ** 2 == pytest.approx(known, rel=1e-6)
    # Hoeffding's lemma: half the range, which the fair coin at its ends needs.
    assert range_parameter([0.0, -1.0], [1.0, 4.0]).tolist() == [0.5, 2.5]
    assert math.sqrt(known) <= range_parameter(0.0, 1.0)


def test_calculus():
    x, p = np.array([0.0, 1.0, 5.0]), np.array([0.5, 0.3, 0.2])
    sigma = sub_gaussian_parameter(x, p)
    assert sub_gaussian_parameter(-3 * x + 7, p) == pytest.approx(3 * sigma, rel=1e-6)
    assert sub_gaussian_parameter([4.0, 4.0]) == 0.0
    assert sub_gaussian_parameter([-1.0, 1.0]) == pytest.approx(1.0)
    assert combine_parameters([1.0, 2.0], [-3.0, 0.5]) == pytest.approx(math.sqrt(10))
    # A sum of two independent copies, by enumeration.
    sums, weights = np.add.outer(x, x).ravel(), np.outer(p, p).ravel()
    assert sub_gaussian_parameter(sums, weights) <= combine_parameters([sigma, sigma]) + 1e-9


def test_tail_solved_both_ways():
    for sides in (1, 2):
        radius = sub_gaussian_tail(sigma=2.0, delta=0.03, sides=sides)
        assert sub_gaussian_tail(sigma=2.0, radius=radius, sides=sides) == pytest.approx(0.03)
    assert sub_gaussian_tail(sigma=1.0, radius=0.01, sides=2) == 1.0


@pytest.mark.parametrize("order", [1, 1.5, 2, 3, 7, 40])
def test_moments_of_a_normal_law_lie_below(order):
    normal = (2 ** (order / 2) * gamma((order + 1) / 2) / math.sqrt(math.pi)) ** (1 / order)
    sharp, simple = sub_gaussian_moment(order), sub_gaussian_moment(order, sharp=False)
    assert normal <= sharp <= simple
    assert sub_gaussian_moment(order, sigma=3.0) == pytest.approx(3 * sharp)


def test_gamma_inequality_behind_the_simple_constant():
    s = np.linspace(0.5, 60, 500)
    assert np.all(gamma(s) <= 3 * s**s)
    p = np.linspace(1, 60, 1000)
    assert np.max((3 * p) ** (1 / p)) == pytest.approx(3.0)


@pytest.mark.parametrize("absolute", [False, True])
def test_expected_maximum_by_simulation_and_below_its_bound(absolute):
    rng = np.random.default_rng(0)
    for n in (1, 2, 10, 200):
        draws = rng.normal(size=(20_000, n))
        seen = (np.abs(draws) if absolute else draws).max(axis=1)
        exact = expected_gaussian_maximum(n, absolute=absolute)
        assert abs(seen.mean() - exact) < 5 * seen.std() / math.sqrt(20_000)
        assert exact <= maximal_bound(n, absolute=absolute) + 1e-12
    assert expected_gaussian_maximum(1) == pytest.approx(0.0, abs=1e-9)
    assert expected_gaussian_maximum(1, absolute=True) == pytest.approx(math.sqrt(2 / math.pi))


def test_maximal_bound_is_sharp_in_the_limit():
    ratios = [expected_gaussian_maximum(n) / maximal_bound(n) for n in (10, 10**3, 10**6, 10**9)]
    assert np.all(np.diff(ratios) > 0)
    assert 0.9 < ratios[-1] < 1


def test_poincare_is_equal_for_linear_functions_and_dimension_free_for_the_norm():
    rng = np.random.default_rng(0)
    a = np.array([1.0, -2.0, 0.5])
    assert gaussian_poincare_bound(np.tile(a, (10, 1))) == pytest.approx(a @ a)
    for width in (2, 50):
        g = rng.normal(size=(20_000, width))
        norms = np.linalg.norm(g, axis=1)
        bound = gaussian_poincare_bound(g / norms[:, None])
        assert bound == pytest.approx(1.0)
        assert norms.var() < bound


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sub_gaussian_parameter([]), "finite numbers"),
        (lambda: sub_gaussian_parameter([1.0, 2.0], [1.0]), "one probability per value"),
        (lambda: range_parameter(1.0, 0.0), "low <= high"),
        (lambda: combine_parameters([-1.0]), "must not be negative"),
        (lambda: sub_gaussian_tail(sigma=1.0), "exactly one"),
        (lambda: gaussian_poincare_bound([1.0]), "finite matrix"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_tails_moments_and_maxima_by_hand():
    assert sub_gaussian_tail(sigma=2.0, delta=0.1) == pytest.approx(2 * math.sqrt(2 * math.log(10)))
    assert sub_gaussian_tail(sigma=2.0, radius=6.0, sides=2) == pytest.approx(2 * math.exp(-4.5))
    assert sub_gaussian_moment(4, sigma=2.0, sharp=False) == pytest.approx(12.0)
    # 4 times the integral of t^3 times the tail 2 exp(-t^2 / 2) is 16.
    assert sub_gaussian_moment(4) == pytest.approx(2.0)
    assert maximal_bound(8, sigma=3.0) == pytest.approx(3 * math.sqrt(6 * math.log(2)))
    assert maximal_bound(8, absolute=True) == pytest.approx(math.sqrt(8 * math.log(2)))
    assert expected_gaussian_maximum(2) == pytest.approx(1 / math.sqrt(math.pi))
    assert expected_gaussian_maximum(3) == pytest.approx(1.5 / math.sqrt(math.pi))
    assert combine_parameters([3.0, 4.0]) == 5.0
    assert gaussian_poincare_bound([[3.0, 4.0], [0.0, 1.0]]) == 13.0
