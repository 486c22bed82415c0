"""Inverse relative entropies: round trips, outward rounding, order of bounds."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corollary.risk import binary_kl
from corollary.theory import (
    clopper_pearson_upper,
    hoeffding_bound,
    kl_confidence_limit,
    kl_lower_inverse,
    kl_upper_inverse,
)

shares, radii = st.floats(0, 1), st.floats(0, 20)


@given(shares, radii)
def test_roots_bracket_the_share_and_lie_outside_the_exact_ones(q, radius):
    upper, lower = kl_upper_inverse(q, radius), kl_lower_inverse(q, radius)
    assert 0 <= lower <= q <= upper <= 1
    # Outward rounding: just beyond the root the divergence is no smaller than the radius.
    if upper < 1:
        assert binary_kl(q, upper) >= radius * (1 - 1e-9) - 1e-12
        assert binary_kl(q, max(upper - 1e-6, q)) <= radius + 1e-12
    if lower > 0:
        assert binary_kl(q, lower) >= radius * (1 - 1e-9) - 1e-12
        assert binary_kl(q, min(lower + 1e-6, q)) <= radius + 1e-12


def test_closed_forms_at_the_ends():
    assert kl_upper_inverse(0.0, 0.2) == pytest.approx(1 - math.exp(-0.2))
    assert kl_lower_inverse(1.0, 0.2) == pytest.approx(math.exp(-0.2))
    assert kl_upper_inverse(0.3, 0.0) == pytest.approx(0.3)
    assert kl_upper_inverse([0.1, 0.2], 0.1).shape == (2,)


@given(st.integers(0, 50), st.floats(1e-6, 0.5))
def test_limit_lies_between_the_exact_and_hoeffdings(errors, delta):
    limit = kl_confidence_limit(errors / 50, n_samples=50, delta=delta)
    assert clopper_pearson_upper(errors, 50, delta) <= limit + 1e-9
    assert limit <= min(1, errors / 50 + hoeffding_bound(n_samples=50, delta=delta)) + 1e-9


def test_lower_limit_mirrors_the_upper_one():
    lower = kl_confidence_limit(0.9, n_samples=80, delta=0.1, side="lower")
    assert lower == pytest.approx(1 - kl_confidence_limit(0.1, n_samples=80, delta=0.1))


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="between 0 and 1"):
        kl_upper_inverse(np.nan, 0.1)
    with pytest.raises(ValueError, match="must not be negative"):
        kl_lower_inverse(0.5, -0.1)
    with pytest.raises(ValueError, match="'delta' parameter"):
        kl_confidence_limit(0.5, n_samples=10, delta=0.0)


def exact_divergence(q, p):
    """Divergence of Bernoulli laws in so many digits that 1 - 1e-308 is not 1."""
    with localcontext() as context:
        context.prec = 700
        q, p = Decimal(q), Decimal(p)
        first = q * (q / p).ln() if q else Decimal(0)
        return first + ((1 - q) * ((1 - q) / (1 - p)).ln() if q < 1 else Decimal(0))


@given(
    st.one_of(shares, st.floats(-15, 0).map(lambda power: 10**power)),
    st.floats(-18, 1).map(lambda power: 10**power),
)
def test_roots_are_never_inside_the_exact_ones(q, radius):
    """Not by a single bit: shares near an end and tiny radii included."""
    upper, lower = kl_upper_inverse(q, radius), kl_lower_inverse(q, radius)
    if upper < 1:
        assert exact_divergence(q, upper) >= Decimal(radius)
    if lower > 0:
        assert exact_divergence(q, lower) >= Decimal(radius)
