"""Schedules: values by hand, the two sums, and PyTorch's."""

import math

import numpy as np
import pytest

from corollary.optimize import (
    ConstantRate,
    CosineRate,
    CyclicRate,
    GradientDescent,
    PowerRate,
    Quadratic,
    StepRate,
    WarmUpRate,
    as_schedule,
    expand_descent,
    trace_points,
)


@pytest.mark.parametrize(
    ("schedule", "rates"),
    [
        (ConstantRate(0.3), [0.3, 0.3, 0.3, 0.3, 0.3]),
        (PowerRate(2.0), [2.0, 2 / math.sqrt(2), 2 / math.sqrt(3), 1.0, 2 / math.sqrt(5)]),
        (PowerRate(3.0, 1.0), [3.0, 1.5, 1.0, 0.75, 0.6]),
        (StepRate(8.0, every=2, factor=0.25), [8.0, 8.0, 2.0, 2.0, 0.5]),
        (CyclicRate(1.0, 2.0, rise=4), [1.0, 1.25, 1.5, 1.75, 2.0, 1.75, 1.5, 1.25, 1.0, 1.25]),
        (CosineRate(3.0, 4, low=1.0), [3.0, 2 + math.sqrt(0.5), 2.0, 2 - math.sqrt(0.5), 1.0, 1.0]),
        (WarmUpRate(ConstantRate(2.0), 4), [0.5, 1.0, 1.5, 2.0, 2.0]),
        (WarmUpRate(PowerRate(1.0, 1.0), 2), [0.5, 0.5, 1 / 3]),
        (as_schedule(0.5), [0.5, 0.5]),
        (as_schedule(PowerRate(0.5, 1.0)), [0.5, 0.25]),
    ],
)
def test_schedules_by_hand(schedule, rates):
    assert schedule(np.arange(len(rates))) == pytest.approx(rates, rel=1e-14)
    assert float(schedule(1)) == pytest.approx(rates[1])


def test_only_powers_between_a_half_and_one_average_noise_out():
    t = np.arange(2**16)
    for power, both in [(0.4, False), (0.5, False), (0.6, True), (1.0, True), (1.1, False)]:
        assert PowerRate(1.0, power).averages_noise_out is both
        assert WarmUpRate(PowerRate(1.0, power), 3).averages_noise_out is both
        # Doubling the number of steps adds a share of the sum that falls only if the sum is finite.
        rates = PowerRate(1.0, power)(t)
        last, before = rates[2**15 :], rates[2**14 : 2**15]
        endless = last.sum() > 0.999 * before.sum()
        averaged = (last**2).sum() < 0.95 * (before**2).sum()
        assert (endless and averaged) == both
    assert not ConstantRate(1.0).averages_noise_out


def test_gradient_descent_follows_a_schedule():
    f = Quadratic([[1.0]])
    path = trace_points(GradientDescent(f, PowerRate(0.5, 1.0)), [8.0], 3)
    assert path[:, 0] == pytest.approx([8.0, 4.0, 3.0, 2.5])
    assert path == pytest.approx(expand_descent(f, [8.0], rates=[1 / 2, 1 / 4, 1 / 6]).points)


def test_bad_rates_are_refused():
    for make in (
        lambda: ConstantRate(0.0),
        lambda: PowerRate(-1.0),
        lambda: PowerRate(1.0, power=0.0),
        lambda: StepRate(1.0, every=0),
        lambda: StepRate(1.0, every=3, factor=-0.5),
        lambda: CyclicRate(0.0, 1.0, rise=2),
        lambda: CosineRate(1.0, 0),
        lambda: WarmUpRate(ConstantRate(1.0), 0),
        lambda: as_schedule(math.nan),
    ):
        with pytest.raises(ValueError, match="must be positive and finite"):
            make()
    with pytest.raises(ValueError, match="0 <= low <= high"):
        CosineRate(1.0, 3, low=2.0)
