"""Elementary tails against exact laws and the laws that reach them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from corollary.theory import (
    chernoff_bound,
    chernoff_kl_bound,
    chernoff_lower_tail,
    clt_radius,
    hoeffding_bound,
    markov_bound,
    reverse_markov_bound,
    union_bound,
)

seeds = st.integers(0, 2**32 - 1)


@given(seeds, st.floats(0.05, 0.95))
def test_markov_and_its_reverse_hold_for_every_finite_law(seed, t):
    rng = np.random.default_rng(seed)
    x, p = rng.random(6), rng.dirichlet(np.ones(6))
    mean = min(float(p @ x), 1.0)
    assert p[x >= t].sum() <= markov_bound(mean, t) + 1e-12
    assert p[x > t].sum() >= reverse_markov_bound(mean, t) - 1e-12


def test_two_point_laws_reach_markov_and_its_reverse():
    share, t = 0.3, 0.8
    assert markov_bound(share * t, t) == pytest.approx(share)
    assert reverse_markov_bound(share + (1 - share) * t, t) == pytest.approx(share)
    # The constants of the no-free-lunch theorem: mean 1/4 gives error 1/8 with probability 1/7.
    assert reverse_markov_bound(1 / 4, 1 / 8) == pytest.approx(1 / 7)
    # The statement is "at least": a variable that is always 1 has equality.
    assert reverse_markov_bound(1.0, 0.5) == 1.0


@pytest.mark.parametrize("t", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("sigma", [0.5, 2.0])
def test_chernoff_of_a_normal_law(t, sigma):
    bound = chernoff_bound(t, log_mgf=lambda lam: (sigma * lam) ** 2 / 2)
    assert bound == pytest.approx(math.exp(-(t**2) / (2 * sigma**2)), rel=1e-6)


@pytest.mark.parametrize(("n", "p", "k"), [(10, 0.3, 6), (50, 0.1, 12), (5, 0.5, 5)])
def test_chernoff_of_a_binomial_law_is_the_entropy_form(n, p, k):
    numeric = chernoff_bound(
        k, log_mgf=lambda lam: n * np.logaddexp(math.log1p(-p), math.log(p) + lam)
    )
    assert numeric == pytest.approx(chernoff_kl_bound(n_samples=n, mean=p, share=k / n), rel=1e-5)
    assert binom.sf(k - 1, n, p) <= numeric


@given(st.integers(1, 60), st.floats(0.02, 0.98), st.floats(0.0, 1.0))
def test_entropy_form_lies_between_the_exact_tail_and_hoeffding(n, p, share):
    bound = chernoff_kl_bound(n_samples=n, mean=p, share=share)
    k = n * share
    tail = (
        binom.sf(math.ceil(k - 1e-9) - 1, n, p)
        if share >= p
        else binom.cdf(math.floor(k + 1e-9), n, p)
    )
    assert tail <= bound * (1 + 1e-9) + 1e-12
    if abs(share - p) > 1e-6:
        assert bound <= hoeffding_bound(n_samples=n, radius=abs(share - p)) + 1e-12


def test_pairwise_independence_is_not_enough_for_products_of_moments():
    lam = 0.7
    # X3 = X1 X2 of two fair signs: the triple sums to 3 or -1.
    true = math.log((math.exp(3 * lam) + 3 * math.exp(-lam)) / 4)
    product = 3 * math.log(math.cosh(lam))
    assert true > product + 0.1
    bound = chernoff_bound(3.0, log_mgf=lambda lam: 3 * math.log(math.cosh(lam)))
    assert bound < 0.25  # the true probability of the sum 3 breaks the wrong bound


def test_chernoff_of_a_sample_is_about_that_law():
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    for t in (0.5, 1.5, x.max()):
        assert np.mean(x >= t) <= chernoff_bound(t, sample=x) * (1 + 1e-9)
    assert chernoff_bound(x.max() + 0.1, sample=x) == 0.0
    assert chernoff_bound(x.mean() - 1, sample=x) == pytest.approx(1.0)


def test_union_bound_by_inclusion_and_exclusion():
    assert union_bound([0.3, 0.4]) == pytest.approx(0.7)
    assert union_bound([0.8, 0.7]) == 1.0
    rng = np.random.default_rng(0)
    events = rng.random((4, 1000)) < 0.1
    assert events.any(axis=0).mean() <= union_bound(events.mean(axis=1))


@given(st.integers(1, 60), st.floats(0.05, 0.95), st.floats(0.0, 1.0))
def test_lower_tail_lies_above_the_binomial_one(n, p, fraction):
    k = fraction * n * p
    assert binom.cdf(math.floor(k), n, p) <= chernoff_lower_tail(n * p, k) + 1e-12


def test_lower_tail_constant_is_needed():
    # Many rare ones: the sum is nearly Poisson, whose lower tail has this exponent to second order.
    exact, bound = binom.logcdf(800, 1_000_000, 0.001), math.log(chernoff_lower_tail(1000.0, 800.0))
    assert 1.5 * bound < exact < bound
    assert chernoff_lower_tail(10.0, 2.0) == pytest.approx(math.exp(-3.2))
    assert chernoff_lower_tail(1.0, 0.0) == pytest.approx(math.exp(-0.5))


def test_normal_interval_against_hoeffding():
    radius = clt_radius(std=0.5, n_samples=400, delta=0.05)
    assert radius == pytest.approx(1.959964 * 0.5 / 20, rel=1e-6)
    assert radius < hoeffding_bound(n_samples=400, delta=0.05, sides=2)
    coverage = np.abs(np.random.default_rng(0).binomial(400, 0.5, 20_000) / 400 - 0.5) <= radius
    assert coverage.mean() == pytest.approx(0.95, abs=0.015)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: markov_bound(-1.0, 1.0), "'mean' parameter of markov_bound"),
        (lambda: reverse_markov_bound(0.5, 1.0), "'threshold' parameter"),
        (lambda: chernoff_bound(1.0), "exactly one"),
        (lambda: chernoff_bound(1.0, sample=[]), "finite numbers"),
        (lambda: union_bound([1.5]), "between 0 and 1"),
        (lambda: chernoff_lower_tail(1.0, 2.0), "up to the expectation"),
    ],
)
def test_assumptions_are_checked(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_normal_radius_at_the_ends():
    assert clt_radius(std=0.0, n_samples=1, delta=1e-300) == 0
    assert clt_radius(std=1.0, n_samples=1, delta=1e-300) == pytest.approx(37.05, abs=0.05)
    assert clt_radius(std=1.0, n_samples=1, delta=0.9, sides=1) == 0


def test_tails_by_hand():
    assert markov_bound(3.0, 12.0) == 0.25
    assert markov_bound(3.0, 2.0) == 1.0
    assert reverse_markov_bound(0.1, 0.2) == 0.0
    # Two coins of 1/4 that are both 1: (1/4)^2.
    assert chernoff_kl_bound(n_samples=2, mean=0.25, share=1.0) == pytest.approx(1 / 16)
    # One coin of 1/4 at 1/2: inf (3/4 exp(-l/2) + 1/4 exp(l/2)) is the root of 3/4.
    assert chernoff_bound(0.5, sample=[0.0, 1.0, 0.0, 0.0]) == pytest.approx(math.sqrt(0.75))
    assert chernoff_bound(2.5, sample=[2.0, 3.0, 2.0, 2.0]) == pytest.approx(math.sqrt(0.75))
    assert chernoff_bound(1.5, sample=[0.0, 1.0]) == 0.0
    assert chernoff_bound(-1.0, log_mgf=lambda lam: lam**2 / 2) == 1.0
