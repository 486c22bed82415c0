import math

import numpy as np
import pytest
from scipy.stats import binomtest, ttest_rel

from corollary.core.simulate import assert_bound_holds
from corollary.theory import compare_losses


def test_student_agrees_with_scipy(seed):
    rng = np.random.default_rng(seed)
    first, second = rng.normal(size=(2, 40)) + rng.normal(size=40)
    ours = compare_losses(first, second, confidence=0.9)
    peer = ttest_rel(first, second)
    interval = peer.confidence_interval(0.9)
    assert ours.method == "t"
    assert ours.p_value == pytest.approx(peer.pvalue)
    assert (ours.lower, ours.upper) == pytest.approx((interval.low, interval.high))
    assert ours.difference == pytest.approx(np.mean(first - second))


def test_pairing_matters(seed):
    """A shared difficulty of rows cancels; an unpaired interval would be ten times wider."""
    rng = np.random.default_rng(seed)
    difficulty = 10 * rng.random(200)
    ours = compare_losses(difficulty, difficulty + 0.1 + 0.01 * rng.normal(size=200))
    assert ours.distinguishable
    assert ours.upper - ours.lower < 0.01


def test_exact_p_value_is_the_sign_test():
    first = np.r_[np.ones(12), np.zeros(88)]
    second = np.r_[np.zeros(12), np.ones(3), np.zeros(85)]
    ours = compare_losses(first, second)
    assert ours.method == "exact"
    assert ours.p_value == pytest.approx(binomtest(12, 15).pvalue)
    assert ours.difference == pytest.approx(0.09)
    mirrored = compare_losses(second, first)
    assert (mirrored.lower, mirrored.upper) == pytest.approx((-ours.upper, -ours.lower))


def test_equal_models_are_indistinguishable():
    same = compare_losses(np.zeros(50), np.zeros(50))
    assert same.p_value == 1.0
    assert not same.distinguishable
    assert same.lower == -same.upper < 0
    one = compare_losses([0.3], [0.7])
    assert (one.lower, one.upper, one.p_value) == (-math.inf, math.inf, 1.0)
    flat = compare_losses([0.5, 0.5, 0.5], [0.2, 0.2, 0.2])
    assert flat.p_value == 0.0
    assert compare_losses([0.5, 0.5], [0.5, 0.5]).p_value == 1.0


@pytest.mark.parametrize("n", [1, 3, 10, 30, 120])
@pytest.mark.parametrize(("worse", "better"), [(0.02, 0.01), (0.3, 0.1), (0.5, 0.5)])
def test_exact_interval_covers(n, worse, better, seed):
    rng = np.random.default_rng([seed, n, int(100 * worse)])
    delta, repetitions, broken = 0.2, 250, 0
    for _ in range(repetitions):
        which = rng.choice(3, p=[worse, better, 1 - worse - better], size=n)
        ours = compare_losses(which == 0, which == 1, confidence=1 - delta, method="exact")
        broken += not ours.lower <= worse - better <= ours.upper
    assert_bound_holds(broken, repetitions, delta)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: compare_losses([1.0], [1.0, 2.0]), r"Got shapes \(1,\) and \(2,\)"),
        (lambda: compare_losses([], []), "one loss per row"),
        (lambda: compare_losses([math.nan], [1.0]), "finite losses"),
        (lambda: compare_losses([0.5], [1.0], method="exact"), "use method='t'"),
        (lambda: compare_losses([0.5], [1.0], confidence=2.0), "'confidence' parameter"),
    ],
)
def test_errors_say_what_is_required(call, message):
    with pytest.raises(ValueError, match=message):
        call()
