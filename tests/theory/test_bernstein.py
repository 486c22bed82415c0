"""Bennett's and Bernstein's inequalities, solved three ways."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from corollary.theory import bernstein_bound, clt_radius, hoeffding_bound


def bennett_tail(n, variance, largest, radius):
    u = largest * radius / variance
    return math.exp(-n * variance / largest**2 * ((1 + u) * math.log(1 + u) - u))


def test_the_formulae():
    got = bernstein_bound(n_samples=50, variance=0.2, radius=0.3, largest=2.0)
    assert got == pytest.approx(bennett_tail(50, 0.2, 2.0, 0.3))
    got = bernstein_bound(n_samples=50, variance=0.2, radius=0.3, largest=2.0, sharp=False)
    assert got == pytest.approx(math.exp(-50 * 0.09 / (2 * 0.2 + 2 * 2 * 0.3 / 3)))
    both = bernstein_bound(n_samples=50, variance=0.2, radius=0.3, sides=2)
    assert both == pytest.approx(2 * bernstein_bound(n_samples=50, variance=0.2, radius=0.3))


@pytest.mark.parametrize("sharp", [True, False])
@given(
    variance=st.floats(1e-6, 0.25),
    n=st.integers(1, 10**6),
    delta=st.floats(1e-9, 0.99),
    largest=st.floats(0.5, 20),
)
def test_radius_tail_and_sample_size_agree(sharp, variance, n, delta, largest):
    how = {"variance": variance, "largest": largest, "sharp": sharp}
    radius = bernstein_bound(n_samples=n, delta=delta, **how)
    assert bernstein_bound(n_samples=n, radius=radius, **how) == pytest.approx(delta, rel=1e-6)
    size = bernstein_bound(radius=radius * (1 + 1e-7), delta=delta, **how)
    assert size <= n
    assert bernstein_bound(n_samples=int(size), radius=radius * (1 + 1e-7), **how) <= delta * (
        1 + 1e-9
    )
    if size > 1:
        fewer = bernstein_bound(n_samples=int(size) - 1, radius=radius * (1 + 1e-7), **how)
        assert fewer > delta


@given(variance=st.floats(1e-9, 0.25), n=st.integers(1, 10**9), delta=st.floats(1e-9, 0.5))
def test_bennett_is_never_larger_than_bernstein(variance, n, delta):
    sharp = bernstein_bound(n_samples=n, variance=variance, delta=delta)
    assert sharp <= bernstein_bound(n_samples=n, variance=variance, delta=delta, sharp=False)


def test_exact_binomial_tails_are_below():
    """P(Bin(n, p) >= n (p + r)) summed exactly, n = 1 included, both tails."""
    for n in (1, 2, 7, 40, 300):
        for p in (0.01, 0.2, 0.5, 0.9):
            k = np.arange(n + 1)
            for radius in (0.02, 0.1, 0.3):
                above = binom.pmf(k[k >= n * (p + radius) - 1e-9], n, p).sum()
                below = binom.pmf(k[k <= n * (p - radius) + 1e-9], n, p).sum()
                up = {"n_samples": n, "variance": p * (1 - p), "radius": radius}
                assert above <= bernstein_bound(**up, largest=1 - p) + 1e-12
                assert below <= bernstein_bound(**up, largest=p) + 1e-12
                assert above + below <= bernstein_bound(**up, sides=2) + 1e-12


def test_small_variance_beats_hoeffding_and_large_samples_reach_the_normal_rate():
    how = {"n_samples": 1000, "delta": 0.05}
    assert bernstein_bound(variance=0.01, **how) < 0.25 * hoeffding_bound(**how)
    # sqrt(2 log(1/delta)) against a normal quantile, the price of an exponential moment.
    ratio = bernstein_bound(variance=0.04, n_samples=10**12, delta=0.05) / clt_radius(
        std=0.2, n_samples=10**12, delta=0.05, sides=1
    )
    assert ratio == pytest.approx(math.sqrt(2 * math.log(20)) / 1.6448536, rel=1e-4)


def test_corners():
    assert bernstein_bound(variance=0.0, n_samples=3, delta=0.05) == 0
    assert bernstein_bound(variance=0.0, n_samples=3, radius=0.1) == 0
    assert bernstein_bound(variance=0.0, radius=0.1, delta=0.05) == 1
    assert bernstein_bound(variance=0.25, n_samples=1, radius=1e-9) <= 1
    tiny = bernstein_bound(variance=0.25, n_samples=10**12, delta=1 - 1e-12)
    assert 0 < tiny < 1e-11
    assert bernstein_bound(variance=0.25, n_samples=1, delta=1e-300) > 1
    assert math.isinf(bernstein_bound(variance=1.0, radius=1e-160, delta=0.05))


def test_messages():
    with pytest.raises(ValueError, match=r"exactly two of .* Got 1 of them"):
        bernstein_bound(variance=0.1, delta=0.05)
    with pytest.raises(ValueError, match=r"variance of at most 1\. Got variance=4"):
        bernstein_bound(variance=4.0, n_samples=3, delta=0.05, sides=2)
    with pytest.raises(ValueError, match="'variance' parameter of bernstein_bound"):
        bernstein_bound(variance=math.inf, n_samples=3, delta=0.05)
    with pytest.raises(ValueError, match="'delta' parameter of bernstein_bound"):
        bernstein_bound(variance=0.1, n_samples=3, delta=1.0)
    with pytest.raises(ValueError, match="'variance' parameter of bernstein_bound"):
        bernstein_bound(variance=float("nan"), n_samples=3, delta=0.1)
