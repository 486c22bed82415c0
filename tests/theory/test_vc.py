"""VC bounds: exact integers, round trips, the counter-example to the textbook form."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from corollary.core.simulate import assert_rate
from corollary.theory import (
    invert_log,
    log_growth_bound,
    realizable_rates,
    vc_bound,
    vc_dimension,
    vc_of_margin_halfspaces,
    vc_of_union,
    vc_sample_size,
)


def test_binomial_sums_in_exact_integers():
    for n in range(1, 61):
        total = 0
        for d in range(n + 1):
            total += math.comb(n, d)
            assert log_growth_bound(n, d) == pytest.approx(math.log(total), rel=1e-12)
            if d:
                assert math.log(total) <= log_growth_bound(n, d, sharp=False)


def test_margin_bound_is_reached_by_orthonormal_points():
    d = 4
    X = np.linalg.qr(np.random.default_rng(0).normal(size=(d, d)))[0]
    norms = []
    for labels in product([-1, 1], repeat=d):
        Z = np.array(labels)[:, None] * X
        shortest = minimize(
            lambda w: w @ w,
            np.ones(d),
            jac=lambda w: 2 * w,
            constraints={"type": "ineq", "fun": lambda w, Z=Z: Z @ w - 1, "jac": lambda w, Z=Z: Z},
            method="SLSQP",
        )
        norms.append(float(np.linalg.norm(shortest.x)))
    assert norms == pytest.approx([math.sqrt(d)] * 2**d, rel=1e-3)
    assert vc_of_margin_halfspaces(norm=math.sqrt(d), radius=1.0) == d
    assert vc_of_margin_halfspaces(norm=math.sqrt(d) * 0.999, radius=1.0) == d - 1


@given(st.integers(0, 2**32 - 1), st.integers(1, 4))
@settings(max_examples=40)
def test_union_of_small_classes(seed, k):
    rng = np.random.default_rng(seed)
    classes = [rng.choice([-1, 1], size=(rng.integers(1, 12), 6)) for _ in range(k)]
    d = max(vc_dimension(table) for table in classes)
    bound = vc_of_union(dimension=d, n_classes=k)
    assert vc_dimension(np.concatenate(classes)) <= bound
    if d:
        assert bound <= vc_of_union(dimension=d, n_classes=k, sharp=False)


def test_union_constants():
    assert vc_of_union(dimension=10, n_classes=1) == 10
    assert vc_of_union(dimension=100, n_classes=1, sharp=False) == pytest.approx(1590, abs=5)
    assert vc_of_union(dimension=0, n_classes=8) == 3  # constants: k hypotheses in all


def test_bound_by_hand_and_in_its_loose_form():
    n, d, delta = 500, 2, 0.05
    total = 1 + n + n * (n - 1) / 2
    by_hand = math.sqrt(2 * math.log(total) / n) + math.sqrt(math.log(20) / (2 * n))
    assert vc_bound(n_samples=n, dimension=d, delta=delta) == pytest.approx(by_hand)
    loose = math.sqrt(2 * d * math.log(math.e * n / d) / n) + 2 * math.sqrt(2 * math.log(20) / n)
    assert vc_bound(n_samples=n, dimension=d, delta=delta, sharp=False) == pytest.approx(loose)
    assert vc_bound(n_samples=3, dimension=50, delta=0.1) == 1.0


def test_the_textbook_logarithm_fails_near_n_equal_d():
    # All labellings of d points, uniform law, n = d + 1 rows: the gap is the unseen share, about
    # 1/e, whereas a bound with log(n / d) tends to 0 with d. Ours does not.
    for d in (1000, 4000):
        n = d + 1
        unseen = (1 - 1 / d) ** n
        wrong = math.sqrt(2 * d * math.log(n / d) / n) + math.sqrt(math.log(20) / (2 * n))
        assert wrong < unseen < vc_bound(n_samples=n, dimension=d, delta=0.05)


@pytest.mark.parametrize(
    ("d", "epsilon", "delta"), [(1, 0.1, 0.05), (5, 0.3, 0.2), (20, 0.05, 0.01)]
)
def test_sample_size_is_the_first_that_suffices(d, epsilon, delta):
    def excess(n):
        return 2 * (
            math.sqrt(2 * log_growth_bound(n, d) / n) + math.sqrt(math.log(2 / delta) / (2 * n))
        )

    n = vc_sample_size(dimension=d, epsilon=epsilon, delta=delta)
    assert excess(n) <= epsilon < excess(n - 1)
    loose = vc_sample_size(dimension=d, epsilon=epsilon, delta=delta, sharp=False)
    assert n <= loose
    big = math.sqrt(2 * d * math.log(math.e * loose / d) / loose)
    assert 2 * big + 4 * math.sqrt(2 * math.log(2 / delta) / loose) <= epsilon


def test_rates_of_the_fundamental_theorem():
    rates = realizable_rates(dimension=4, epsilon=0.1, delta=0.05)
    assert rates.lower == pytest.approx((4 + math.log(20)) / 0.1)
    assert rates.upper == pytest.approx((4 * math.log(10) + math.log(20)) / 0.1)
    scaled = realizable_rates(
        dimension=4, epsilon=0.1, delta=0.05, lower_constant=2.0, upper_constant=3.0
    )
    assert scaled == pytest.approx((2 * rates.lower, 3 * rates.upper))
    # Thresholds, whose dimension is 1, learn at the rate 1 / n: the gap next to the threshold.
    rng, sizes = np.random.default_rng(0), [20, 80, 320, 1280]
    errors = [np.mean([np.min(np.abs(rng.random(n) - 0.5)) for _ in range(2000)]) for n in sizes]
    assert_rate(sizes, errors, -1.0)


@given(st.floats(0.01, 1e4), st.floats(0.01, 1e4))
def test_inverse_logarithm(b, c):
    root = invert_log(b, c)
    if b * c < math.e:
        # Below e every n satisfies it: the smallest slack, at n = b, is not negative.
        assert root == 0
        assert b >= b * math.log(c * b) - 1e-9
    if b * c >= math.e * 1.001:
        assert root == pytest.approx(b * math.log(c * root), rel=1e-6)
        assert 1.01 * root > b * math.log(1.01 * c * root)
    if b * c >= 1:
        simple = invert_log(b, c, sharp=False)
        assert simple >= root * (1 - 1e-12)
        assert simple >= b * math.log(c * simple) - 1e-9


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: log_growth_bound(3, 5, sharp=False), "1 <= dimension <= n_points"),
        (lambda: invert_log(0.1, 0.1, sharp=False), "b \\* c >= 1"),
        (lambda: vc_bound(n_samples=0, dimension=1, delta=0.1), "'n_samples' parameter"),
        (lambda: vc_sample_size(dimension=1, epsilon=1.0, delta=0.1), "'epsilon' parameter"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("n", [10, 10**6, 10**12, 10**18])
def test_growth_of_huge_samples_keeps_its_digits(n):
    for d in (1, 3, 9):
        exact = math.log(sum(math.comb(n, i) for i in range(d + 1)))
        assert log_growth_bound(n, d) == pytest.approx(exact, rel=1e-10)


def test_sample_size_beyond_whole_numbers_of_64_bits():
    n = vc_sample_size(dimension=1, epsilon=1e-9, delta=1e-300)
    assert n > 2**63


def test_simple_forms_by_hand():
    assert log_growth_bound(8, 2, sharp=False) == pytest.approx(2 * (1 + math.log(4)))
    assert log_growth_bound(3, 7) == pytest.approx(3 * math.log(2))
    assert vc_of_union(dimension=0, n_classes=1) == 0
    assert vc_of_union(dimension=0, n_classes=1000, sharp=False) == 19  # twice 9.97
    assert vc_of_union(dimension=2, n_classes=2, sharp=False) == 31  # twice 15.9
    few = vc_sample_size(dimension=3, epsilon=0.5, delta=0.9, sharp=False)
    assert few == math.ceil(768 * (1 + math.log(256)))
    sure = vc_sample_size(dimension=1, epsilon=0.5, delta=1e-300, sharp=False)
    assert sure == math.ceil(512 * (math.log(2) + 300 * math.log(10)))
    assert invert_log(2.0, 3.0, sharp=False) == pytest.approx(4 * math.log(12))
    assert vc_bound(n_samples=2, dimension=1, delta=0.1, sharp=False) == 1.0


@pytest.mark.parametrize("epsilon", [0.11, 0.13, 0.17, 0.23, 0.31, 0.43, 0.59, 0.97])
def test_sample_size_by_search(epsilon):
    def excess(n):
        growth = math.log1p(n)  # of a class of dimension 1
        return 2 * (math.sqrt(2 * growth / n) + math.sqrt(math.log(40) / (2 * n)))

    n = vc_sample_size(dimension=1, epsilon=epsilon, delta=0.05)
    assert excess(n) <= epsilon < excess(n - 1)
