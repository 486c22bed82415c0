"""Moments of averages and weights of boosting, by hand."""

import math

import numpy as np
import pytest

from corollary.ensemble import (
    average_bias,
    average_moments,
    average_variance,
    boosting_distribution,
    classifier_weight,
    equicorrelated_variance,
    majority_error,
    normaliser,
    reweight,
)


def test_averages():
    assert equicorrelated_variance(4.0, 0.5, 8) == pytest.approx(2 + 0.25)
    assert equicorrelated_variance(4.0, 0.5, 1) == 4.0
    assert average_bias([1.0, 3.0], [0.25, 0.75]) == pytest.approx(2.5)
    assert average_variance([[4.0, 1.0], [1.0, 2.0]]) == pytest.approx(2.0)
    # One member that says 1 and 3 of a truth of 1.
    one = average_moments(np.array([[[1.0]], [[3.0]]]), [1.0])
    assert (one.bias.item(), one.variance.item(), one.correlation) == (1.0, 1.0, 1.0)
    # Two members that always err on opposite sides.
    two = average_moments(np.array([[[1.0], [-1.0]], [[-1.0], [1.0]]]), [0.0])
    assert (two.bias.item(), two.variance.item(), two.correlation) == (0.0, 0.0, -1.0)
    # Three members, of which two agree: pairs correlate by 1, -1 and -1.
    three = average_moments(np.array([[[1.0], [1.0], [-1.0]], [[-1.0], [-1.0], [1.0]]]))
    assert three.correlation == pytest.approx(-1 / 3)
    assert three.variance.item() == pytest.approx(1 / 9)


def test_boosting():
    # A quarter of the weight is wrong: odds of 3.
    assert classifier_weight(0.25) == pytest.approx(math.log(3) / 2)
    assert classifier_weight(0.25, convention="log_odds") == pytest.approx(math.log(3))
    assert classifier_weight(0.25, n_classes=3) == pytest.approx(math.log(6) / 2)
    after = reweight([0.25] * 4, np.array([True, False, False, False]), math.log(3) / 2)
    assert after == pytest.approx([1 / 2, 1 / 6, 1 / 6, 1 / 6])
    assert normaliser(0.25) == pytest.approx(math.sqrt(3) / 2)
    assert normaliser(0.25, math.log(2)) == pytest.approx(0.25 * 2 + 0.75 / 2)
    scores = np.array([-math.log(2), math.log(3)])
    # Weights 2 and 1/3.
    assert boosting_distribution([1, 1], scores) == pytest.approx([6 / 7, 1 / 7])
    # A row without weight, however wrong, keeps none.
    some = boosting_distribution([1, 1, 1], [-800.0, 0.0, math.log(3)], initial=[0.0, 0.5, 0.5])
    assert some == pytest.approx([0.0, 0.75, 0.25])


def test_crowds():
    # One, two and three voters who are right in three of four cases; a tie is tossed.
    assert [majority_error(n, 0.75) for n in (1, 2)] == pytest.approx([0.25, 0.25])
    three = 0.25**3 + 3 * 0.75 * 0.25**2
    assert [majority_error(n, 0.75) for n in (3, 4)] == pytest.approx([three, three])
    five = 0.25**5 + 5 * 0.75 * 0.25**4 + 10 * 0.75**2 * 0.25**3
    assert [majority_error(n, 0.75) for n in (5, 6)] == pytest.approx([five, five])
