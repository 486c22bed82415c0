"""The Dvoretzky-Kiefer-Wolfowitz band against the exact law of the Kolmogorov statistic."""

import math

import numpy as np
import pytest
from scipy.stats import ksone, kstwo, kstwobign

from corollary.theory import cdf_band, dkw_bound


@pytest.mark.parametrize("n", [1, 2, 10, 200])
@pytest.mark.parametrize("radius", [0.05, 0.2, 0.6])
def test_exact_tails_of_the_kolmogorov_statistic_lie_below(n, radius):
    assert kstwo.sf(radius, n) <= dkw_bound(n_samples=n, radius=radius) + 1e-12
    assert ksone.sf(radius, n) <= dkw_bound(n_samples=n, radius=radius, sides=1) + 1e-12


def test_constant_is_the_limiting_one():
    radius = dkw_bound(n_samples=10**6, delta=0.01)
    assert kstwobign.sf(radius * 1000) == pytest.approx(0.01, rel=1e-3)


def test_solved_for_each_quantity():
    radius = dkw_bound(n_samples=500, delta=0.05)
    assert radius == pytest.approx(math.sqrt(math.log(40) / 1000))
    assert dkw_bound(n_samples=500, radius=radius) == pytest.approx(0.05)
    assert dkw_bound(delta=0.05, radius=radius) == 500


def test_band_by_hand_with_ties():
    band = cdf_band([2.0, 1.0, 2.0, 4.0], delta=0.5)
    radius = math.sqrt(math.log(4) / 8)
    assert band.points.tolist() == [1.0, 2.0, 2.0, 4.0]
    assert band.value.tolist() == [0.25, 0.75, 0.75, 1.0]
    assert band.lower == pytest.approx(np.maximum(band.value - radius, 0))
    assert band.upper == pytest.approx(np.minimum(band.value + radius, 1))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: dkw_bound(delta=0.1), "exactly two"),
        (lambda: dkw_bound(n_samples=5, delta=0.7, sides=1), "up to 0.5"),
        (lambda: cdf_band([], 0.1), "one or more numbers"),
        (lambda: cdf_band([math.nan], 0.1), "NaN"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_probabilities_by_hand():
    assert dkw_bound(n_samples=50, radius=0.2) == pytest.approx(2 * math.exp(-4))
    assert dkw_bound(n_samples=50, radius=0.2, sides=1) == pytest.approx(math.exp(-4))
    assert dkw_bound(n_samples=1, radius=0.8) == pytest.approx(2 * math.exp(-1.28))
    # One side is proved for probabilities of at most a half only.
    assert dkw_bound(n_samples=1, radius=0.5, sides=1) == 1.0
    assert dkw_bound(n_samples=1, radius=0.1) == 1.0
    assert dkw_bound(delta=0.05, radius=0.1) == math.ceil(50 * math.log(40))
    assert dkw_bound(delta=0.05, radius=0.1, sides=1) == math.ceil(50 * math.log(20))
    assert dkw_bound(delta=0.9, radius=0.99) == 1.0
