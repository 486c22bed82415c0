"""Limits of risks and reliability bands."""

import numpy as np

from corollary.validation import hold_out_interval, reliability_curve
from tests.guarantees.registry import guarantee

DELTA = 0.1


@guarantee("validation.hold-out-bound", "15 losses, one-sided, exact", delta=DELTA)
def exact(rng):
    losses = (rng.random(15) < 0.1).astype(float)
    return hold_out_interval(losses, DELTA, sides=1)[1], 0.1


@guarantee("validation.hold-out-bound", "15 uniform losses, one-sided", delta=DELTA)
def hoeffding(rng):
    return hold_out_interval(rng.random(15), DELTA, sides=1)[1], 0.5


@guarantee("validation.reliability-curve", "a band of 40 rows around 0.7", delta=DELTA)
def band(rng):
    outcomes = (rng.random(40) < 0.7).astype(int)
    curve = reliability_curve(outcomes, np.full(40, 0.5), confidence=1 - DELTA)
    # Distance of the truth from the middle of the band against half its length.
    middle, half = (curve.lower[0] + curve.upper[0]) / 2, (curve.upper[0] - curve.lower[0]) / 2
    return float(half), float(abs(0.7 - middle))
