"""Margin bounds: the decomposition exactly, the levels, the factor of one half."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corollary.theory import (
    margin_bound,
    margin_mistakes,
    rademacher_complexity,
    sign_class_bound,
    uniform_margin_bound,
)

seeds = st.integers(0, 2**32 - 1)


def test_curve_by_hand():
    margins = np.array([-1.0, 0.0, 0.5, 0.5, 2.0])
    levels = [-2.0, 0.0, 0.5, 0.6, 3.0]
    assert margin_mistakes(margins, levels).tolist() == [0.0, 0.2, 0.4, 0.8, 1.0]
    assert margin_mistakes(margins, 0.5) == 0.4


@given(seeds, st.floats(0.05, 2.0))
def test_error_is_at_most_small_margins_plus_the_ramp_gap(seed, gamma):
    rng = np.random.default_rng(seed)
    scores, law = rng.normal(size=(4, 6)), rng.dirichlet(np.ones(6))
    y = rng.choice([-1, 1], 6)
    rows = rng.choice(6, 5, p=law)
    margins = y * scores
    ramp = np.clip(1 - margins / gamma, 0, 1)
    gap = np.max(ramp @ law - ramp[:, rows].mean(axis=1))
    error = (margins < 0) @ law
    for f in range(4):
        assert error[f] <= margin_mistakes(margins[f, rows], gamma) + gap + 1e-12


def test_fixed_level_by_hand():
    margins = np.repeat([-0.1, 0.3, 0.9, 1.0], [5, 15, 60, 20])  # 20 of 100 below one half
    tail = math.sqrt(math.log(10) / 200)
    bound = margin_bound(margins, gamma=0.5, rademacher=0.01, delta=0.1)
    assert bound == pytest.approx(0.2 + 0.04 + tail)
    many = np.tile(margins, 100)
    loose = margin_bound(many, gamma=0.5, rademacher=0.01, delta=0.1, sharp=False)
    tail = 2 * math.sqrt(2 * math.log(10) / 10_000)
    assert loose == pytest.approx(0.2 + 0.04 + tail)
    assert margin_bound([1.0], gamma=0.5, rademacher=0.0, delta=0.1) == 1.0


def test_uniform_bound_pays_for_its_choice_and_no_more():
    rng = np.random.default_rng(0)
    margins = rng.normal(0.6, 0.2, size=5000)
    best = uniform_margin_bound(margins, rademacher=0.005, delta=0.05)
    assert best.gamma in 2.0 ** -np.arange(60)
    fixed = margin_bound(margins, gamma=best.gamma, rademacher=0.005, delta=0.05)
    k = 1 - math.log2(best.gamma)
    tail = math.sqrt(math.log(math.pi**2 * k**2 / (6 * 0.05)) / 10_000)
    by_hand = margin_mistakes(margins, best.gamma) + 0.01 / best.gamma + tail
    assert best.bound == pytest.approx(by_hand)
    assert fixed < best.bound < fixed + 0.02
    loose = uniform_margin_bound(margins, rademacher=0.005, delta=0.05, sharp=False)
    assert best.bound < loose.bound
    # By hand at the level that was found.
    price = math.log(20) + math.log(math.pi**2 / 6) + 2 * math.log(math.log2(2 / loose.gamma))
    by_hand = (
        margin_mistakes(margins, loose.gamma) + 0.02 / loose.gamma + 2 * math.sqrt(2 * price / 5000)
    )
    assert loose.bound == pytest.approx(by_hand)
    # Sixty levels are tried, down to 2^-59.
    lowest = uniform_margin_bound(np.full(5000, 2.0**-59), rademacher=0.0, delta=0.05)
    assert lowest.gamma == 2.0**-59
    assert uniform_margin_bound(np.full(5000, 2.0**-60), rademacher=0.0, delta=0.05).bound == 1.0


@pytest.mark.parametrize("empirical", [False, True])
@pytest.mark.parametrize("delta", [0.01, 0.3, 0.5, 0.9, 0.999])
def test_loose_forms_are_never_below_the_sharp_ones(delta, empirical):
    margins = np.linspace(-0.1, 0.99, 4000)
    how = {"rademacher": 0.001, "delta": delta, "empirical": empirical}
    sharp = margin_bound(margins, gamma=0.4, **how)
    assert sharp < margin_bound(margins, gamma=0.4, **how, sharp=False) < 1
    best = uniform_margin_bound(margins, **how)
    loose = uniform_margin_bound(margins, **how, sharp=False)
    assert best.bound < loose.bound < 1


def test_labels_have_twice_the_complexity_of_their_mistakes():
    rng = np.random.default_rng(0)
    labels = rng.choice([-1.0, 1.0], size=(6, 5))
    y = rng.choice([-1.0, 1.0], 5)
    mistakes = (labels != y).astype(float)
    signs = rademacher_complexity(labels).value
    assert rademacher_complexity(mistakes).value == pytest.approx(signs / 2)
    bound = sign_class_bound(0.1, rademacher=0.05, n_samples=1000, delta=0.05)
    assert bound == pytest.approx(0.1 + 0.05 + math.sqrt(math.log(20) / 2000))
    assert sign_class_bound(0.9, rademacher=0.5, n_samples=10, delta=0.05) == 1.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: margin_mistakes([], 0.1), "one number per row"),
        (lambda: margin_mistakes([math.nan], 0.1), "NaN"),
        (lambda: margin_bound([1.0], gamma=0.0, rademacher=0.1, delta=0.1), "'gamma' parameter"),
        (lambda: uniform_margin_bound([1.0], rademacher=0.1, delta=2.0), "'delta' parameter"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_loose_form_with_the_complexity_of_the_sample_by_hand():
    margins = np.full(10_000, 0.7)
    found = margin_bound(
        margins, rademacher=0.01, gamma=0.5, delta=0.1, empirical=True, sharp=False
    )
    assert found == pytest.approx(2 * 0.01 / 0.5 + 6 * math.sqrt(2 * math.log(20) / 10_000))
