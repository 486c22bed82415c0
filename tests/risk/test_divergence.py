"""Divergences against SciPy, quadrature, brute force and their laws."""

import itertools
import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon

from corollary.risk import (
    binary_kl,
    jensen_shannon,
    jensen_shannon_density,
    kl_divergence,
    kl_from_draws,
    kl_gaussian,
    total_variation,
    total_variation_gaussian,
)

seeds = st.integers(0, 2**32 - 1)


def two_laws(seed, n=5, zeros=False):
    rng = np.random.default_rng(seed)
    p, q = rng.dirichlet(np.full(n, 0.5), size=2)
    if zeros:
        p = np.where(np.arange(n) == 0, 0.0, p)
        p /= p.sum()
    return p, q


@given(seeds)
def test_finite_divergence_is_scipys_entropy(seed):
    p, q = two_laws(seed, zeros=True)
    assert kl_divergence(p, q) == pytest.approx(scipy.stats.entropy(p, q), rel=1e-10)
    assert kl_divergence(p, p) == 0.0


def test_edges_of_the_finite_divergence():
    assert kl_divergence([1.0, 0.0], [0.0, 1.0]) == math.inf
    assert kl_divergence([0.0, 1.0], [0.5, 0.5]) == pytest.approx(math.log(2))
    for n in (2, 7):
        assert kl_divergence(np.eye(n)[0], np.full(n, 1 / n)) == pytest.approx(math.log(n))


@given(seeds)
def test_binary_divergence_is_the_finite_one_on_two_points(seed):
    (a, b), (c, d) = two_laws(seed, n=2)
    assert binary_kl(a, c) == pytest.approx(kl_divergence([a, b], [c, d]), abs=1e-12)


@given(seeds)
def test_gaussian_divergence_forms_agree_and_do_not_see_affine_maps(seed):
    rng = np.random.default_rng(seed)
    mean_p, mean_q = rng.normal(size=(2, 3))
    variance_p, variance_q = rng.gamma(2.0, size=(2, 3)) + 0.1
    diagonal = kl_gaussian(mean_p, variance_p, mean_q, variance_q)
    full = kl_gaussian(mean_p, np.diag(variance_p), mean_q, np.diag(variance_q))
    assert diagonal == pytest.approx(full, rel=1e-9, abs=1e-12)
    A = rng.normal(size=(3, 3)) + 3 * np.eye(3)
    mapped = kl_gaussian(
        A @ mean_p, A @ np.diag(variance_p) @ A.T, A @ mean_q, A @ np.diag(variance_q) @ A.T
    )
    assert mapped == pytest.approx(full, rel=1e-7)


def test_gaussian_divergence_is_the_mean_log_ratio_of_its_draws():
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(2, 2, 2))
    S_p, S_q = A @ A.T + np.eye(2), B @ B.T + np.eye(2)
    p, q = (
        scipy.stats.multivariate_normal([1, 0], S_p),
        scipy.stats.multivariate_normal([0, 1], S_q),
    )
    x = p.rvs(200_000, random_state=1)
    estimate, error = kl_from_draws(p.logpdf(x), q.logpdf(x))
    assert abs(estimate - kl_gaussian([1, 0], S_p, [0, 1], S_q)) < 5 * error
    assert 0 < error < 0.02


def test_isotropic_gaussian_against_its_closed_form():
    mu, sigma, s, width = np.array([0.3, -1.0, 2.0]), 0.7, 1.5, 3
    closed = (mu @ mu + width * sigma**2) / (2 * s**2) - width / 2 + width * math.log(s / sigma)
    assert kl_gaussian(mu, sigma**2, 0.0, s**2) == pytest.approx(closed, rel=1e-12)


def test_gaussian_divergence_is_accurate_for_nearly_equal_laws():
    ratio = 1 + 1e-9
    assert kl_gaussian(0.0, ratio, 0.0, 1.0) == pytest.approx((ratio - 1) ** 2 / 4, rel=1e-6)


@given(seeds)
def test_total_variation_is_the_largest_difference_over_events(seed):
    p, q = two_laws(seed)
    events = itertools.product([False, True], repeat=len(p))
    brute = max(abs((p - q)[list(event)].sum()) for event in events)
    assert total_variation(p, q) == pytest.approx(brute, abs=1e-12)


def test_gaussian_total_variation_by_quadrature():
    grid = np.linspace(-12, 14, 200_001)
    p, q = scipy.stats.norm.pdf(grid, 0.5, 1.3), scipy.stats.norm.pdf(grid, 2.0, 1.3)
    brute = 0.5 * np.trapezoid(np.abs(p - q), grid)
    assert total_variation_gaussian(0.5, 2.0, 1.3) == pytest.approx(brute, abs=1e-8)


@given(seeds)
def test_jensen_shannon_is_scipys_square_symmetric_and_pinsker_holds(seed):
    p, q = two_laws(seed, zeros=True)
    assert jensen_shannon(p, q) == pytest.approx(jensenshannon(p, q) ** 2, abs=1e-12)
    assert jensen_shannon(p, q) == pytest.approx(jensen_shannon(q, p), abs=1e-15)
    assert 2 * total_variation(p, q) ** 2 <= kl_divergence(p, q) + 1e-12


@pytest.mark.parametrize(
    ("mean", "value"), [(0.5, 0.030311), (1.0, 0.111421), (2.0, 0.336831), (6.0, 0.689298)]
)
def test_jensen_shannon_of_normal_laws(mean, value):
    found = jensen_shannon_density(scipy.stats.norm.logpdf, scipy.stats.norm(mean).logpdf)
    assert found == pytest.approx(value, abs=5e-7)


def test_laws_with_nothing_in_common_are_log_two_apart():
    assert jensen_shannon([0.5, 0.5, 0, 0], [0, 0, 0.5, 0.5]) == pytest.approx(math.log(2))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: kl_divergence([0.5, 0.6], [0.5, 0.5]), "must hold probabilities"),
        (lambda: kl_divergence([0.5, 0.5], [1.0]), "one alphabet"),
        (lambda: kl_divergence([math.nan, 1.0], [0.5, 0.5]), "must hold probabilities"),
        (lambda: binary_kl(1.2, 0.5), "between 0 and 1"),
        (lambda: kl_gaussian(0.0, 0.0, 0.0, 1.0), "positive variances"),
        (lambda: kl_gaussian([0, 0], np.ones((2, 2)), [0, 0], np.eye(2)), "positive definite"),
        (lambda: kl_from_draws([], []), "one or more draws"),
        (lambda: total_variation_gaussian(0, 1, 0.0), "must be positive"),
        (lambda: jensen_shannon_density(lambda x: -(x**2), lambda x: -(x**2)), "integrates to 1"),
    ],
)
def test_bad_laws_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_divergences_by_hand():
    assert kl_from_draws([1.0, 3.0], [0.0, 0.0]) == pytest.approx((2.0, 1.0))
    assert math.isnan(kl_from_draws([1.0], [0.0])[1])
    assert kl_gaussian(1.0, 1.0, 0.0, 1.0) == pytest.approx(0.5)
    assert kl_gaussian(0.0, 4.0, 0.0, 1.0) == pytest.approx(1.5 - math.log(2))
    assert kl_gaussian([1.0, 2.0], 1.0, 0.0, 1.0) == pytest.approx(2.5)
    assert kl_divergence([1.0, 0.0], [0.25, 0.75]) == pytest.approx(2 * math.log(2))
    assert binary_kl(1.0, 0.25) == pytest.approx(2 * math.log(2))
    assert binary_kl(0.5, 0.25) == pytest.approx(0.5 * math.log(4 / 3))
    assert total_variation([0.5, 0.5, 0.0], [0.2, 0.5, 0.3]) == pytest.approx(0.3)
    assert total_variation([1.0, 0.0], [0.0, 1.0]) == 1.0
    assert jensen_shannon([1.0, 0.0], [0.0, 1.0]) == pytest.approx(math.log(2))
