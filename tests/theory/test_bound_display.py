"""Simulated curves of bounds and their picture."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from corollary.theory import BoundCurve, BoundDisplay, bound_curve, hoeffding_bound


def coins(n, rng):
    return rng.binomial(n, 0.5) / n + hoeffding_bound(n_samples=n, delta=0.1), 0.5


def gap(n, rng):
    return hoeffding_bound(n_samples=n, delta=0.1), 0.5 - rng.binomial(n, 0.5) / n


def test_curve_keeps_every_draw_and_repeats_itself(seed):
    curve = bound_curve(coins, [5, 500], delta=0.1, repetitions=40, random_state=seed)
    again = bound_curve(coins, [5, 500], delta=0.1, repetitions=40, random_state=seed)
    np.testing.assert_array_equal(curve.bounds, again.bounds)
    assert curve.bounds.shape == curve.truths.shape == (2, 40)
    assert np.median(curve.bounds[0]) > np.median(curve.bounds[1])
    # The same seed gives another trial the same draws.
    other = bound_curve(gap, [5, 500], delta=0.1, repetitions=40, random_state=seed)
    np.testing.assert_allclose(other.bounds - other.truths, curve.bounds - curve.truths)


def test_violations_and_the_smallest_honest_bound():
    truths = np.arange(10.0)[None]
    curve = BoundCurve(np.array([3]), np.full((1, 10), 6.5), truths, 0.1)
    assert curve.violations == pytest.approx([0.3])
    # Nine tenths of 0..9 are at most 8 or 9, whichever is the safe side.
    assert curve.attained in (8.0, 9.0)
    assert np.mean(truths > curve.attained) <= 0.1


def test_picture_shows_medians_and_names(seed):
    curves = {
        "one": bound_curve(gap, [5, 50], repetitions=9, random_state=seed),
        "two": bound_curve(gap, [5, 50], repetitions=9, random_state=seed),
    }
    display = BoundDisplay(curves, quantity="gap").plot()
    for name, line in display.bounds_.items():
        np.testing.assert_array_equal(line.get_ydata(), np.median(curves[name].bounds, axis=1))
    np.testing.assert_array_equal(
        display.truth_.get_ydata(), np.median(curves["one"].truths, axis=1)
    )
    assert display.truth_.get_label() == "gap"
    assert display.figure_ is display.ax_.figure
    _, ax = plt.subplots()
    assert BoundDisplay.from_trial(gap, [5], repetitions=2, ax=ax, random_state=0).ax_ is ax
    plt.close("all")


def test_messages():
    with pytest.raises(ValueError, match="positive whole numbers"):
        bound_curve(coins, [5.5])
    with pytest.raises(ValueError, match="positive whole numbers"):
        bound_curve(coins, [0, 3])
    with pytest.raises(ValueError, match="at least one curve"):
        BoundDisplay({}).plot()
