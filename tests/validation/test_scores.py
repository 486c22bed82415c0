"""Proper scores against their definitions."""

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from corollary.gp import normal_scores
from corollary.validation import (
    brier_score,
    crps_normal,
    crps_sample,
    log_score,
)

seeds = st.integers(0, 2**32 - 1)


@given(seeds)
def test_scores_are_proper(seed):
    rng = np.random.default_rng(seed)
    truth, other = rng.dirichlet(np.ones(4), size=2)
    classes = np.arange(4)
    for score in (brier_score, log_score):
        honest = truth @ score(classes, np.tile(truth, (4, 1)))
        assert honest <= truth @ score(classes, np.tile(other, (4, 1))) + 1e-12
        # Near the truth, too: an improper score such as (1 - p_y)^2 moves towards the likeliest.
        for step in (0.02, -0.02):
            near = truth + step * (np.eye(4)[truth.argmax()] - truth)
            assert honest <= truth @ score(classes, np.tile(near, (4, 1))) + 1e-12


def test_scores_by_hand():
    p = np.array([[0.2, 0.3, 0.5], [1.0, 0.0, 0.0]])
    assert brier_score([2, 0], p) == pytest.approx([0.04 + 0.09 + 0.25, 0.0])
    assert brier_score([1, 0], [0.7, 0.1]) == pytest.approx([0.09, 0.01])
    assert log_score([2, 1], p).tolist() == [pytest.approx(math.log(2)), math.inf]
    two = np.array([0.3, 0.8])
    both = np.stack([1 - two, two], axis=1)
    assert brier_score([1, 0], both) == pytest.approx(2 * brier_score([1, 0], two))
    assert log_score([1, 0], both) == pytest.approx(log_score([1, 0], two))


@pytest.mark.parametrize(
    ("y", "mean", "std"), [(0.0, 0.0, 1.0), (2.0, -1.0, 0.5), (-3.0, 1.0, 2.0)]
)
def test_crps_is_its_integral(y, mean, std):
    F = scipy.stats.norm(mean, std).cdf
    below = quad(lambda t: F(t) ** 2, -40, y)[0]
    above = quad(lambda t: (1 - F(t)) ** 2, y, 40)[0]
    value = crps_normal([y], [mean], [std])[0]
    assert value == pytest.approx(below + above, abs=1e-7)
    assert value == pytest.approx(normal_scores([y], [mean], [std]).crps)
    draws = np.random.default_rng(0).normal(mean, std, size=(1, 200_000))
    assert crps_sample([y], draws)[0] == pytest.approx(value, abs=0.01)


@given(seeds)
def test_crps_of_draws_is_its_double_sum_and_the_fair_one_unbiased(seed):
    x = np.random.default_rng(seed).normal(size=5)
    pairs = np.abs(x[:, None] - x).sum()
    first = np.mean(np.abs(x - 0.3))
    assert crps_sample([0.3], [x], fair=False)[0] == pytest.approx(first - pairs / 50)
    assert crps_sample([0.3], [x])[0] == pytest.approx(first - pairs / 40)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: brier_score([3], [[0.5, 0.5]]), "whole numbers from 0 to 1"),
        (lambda: brier_score([2], [0.5]), "whole numbers from 0 to 1"),
        (lambda: brier_score(["a"], [[0.5, 0.5]]), "whole numbers"),
        (lambda: log_score([0], [[0.5, 0.6]]), "sum to 1"),
        (lambda: log_score([0], [1.5]), "between 0 and 1"),
        (lambda: crps_normal([0.0], [0.0], [0.0]), "must be positive"),
        (lambda: crps_sample([0.0], [[1.0]]), "at least two per row"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
