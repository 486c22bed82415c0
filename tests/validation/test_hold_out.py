"""Hold-out estimates and their limits against exact worlds."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator

from corollary.core.simulate import assert_bound_holds
from corollary.risk import FiniteWorld, minimise_threshold
from corollary.validation import (
    cross_validate,
    hold_out,
    hold_out_interval,
    look_price,
)
from tests.validation.majority import LABELS, ROWS, Majority


def test_hold_out_is_unbiased_on_a_finite_world():
    world = FiniteWorld([[0.4, 0.1], [0.2, 0.3]], outcomes=[-1, 1])

    class Threshold(BaseEstimator):
        def fit(self, X, y):
            self.rule_ = minimise_threshold(np.asarray(X)[:, 0], y)
            return self

        def predict(self, X):
            return self.rule_.predict(X)

    gaps = []
    for seed in range(300):
        X, y = world.sample(24, seed)
        found = hold_out(Threshold(), X, y, random_state=seed)
        gaps.append(found.risk - world.risk(found.model.predict))
        assert len(found.losses) == len(found.rows) == 6
    assert abs(np.mean(gaps)) < 4 * np.std(gaps) / math.sqrt(300)


@pytest.mark.parametrize(
    "frame", [np.asarray, pd.DataFrame, pl.DataFrame], ids=["numpy", "pandas", "polars"]
)
def test_held_out_rows_are_never_seen_and_frames_stay_frames(frame):
    X = frame(ROWS) if frame is not pl.DataFrame else pl.DataFrame({"x": ROWS[:, 0]})
    found = hold_out(Majority(), X, LABELS, random_state=0)
    assert found.risk == pytest.approx(np.mean(LABELS[found.rows] != 0))
    outcome = cross_validate(Majority(), X, LABELS, cv=4, random_state=0)
    assert outcome.risk == pytest.approx(0.25)
    assert not np.isnan(outcome.losses).any()


@pytest.mark.parametrize("method", ["exact", "hoeffding", "bernstein", "auto"])
@pytest.mark.parametrize("n", [1, 5, 60])
def test_limits_hold(method, n):
    rng = np.random.default_rng(0)
    for sides in (1, 2):
        misses = 0
        for _ in range(300):
            losses = (rng.random(n) < 0.2).astype(float)
            low, high = hold_out_interval(losses, 0.2, sides=sides, method=method)
            misses += not low <= 0.2 <= high
            assert 0 <= low <= losses.mean() <= high <= 1
        assert_bound_holds(misses, 300, 0.2)


def test_limits_by_hand():
    losses = np.array([0.2, 0.4, 0.9])
    low, high = hold_out_interval(losses, 0.1, high=2.0)
    radius = 2 * math.sqrt(math.log(20) / 6)
    assert (low, high) == pytest.approx((0.0, min(2.0, 0.5 + radius)))
    exact = hold_out_interval([0.0, 0.0, 2.0], 0.1, high=2.0, sides=1, method="exact")
    assert exact[0] == 0.0
    # Clopper and Pearson: the upper limit p of 1 error in 3 solves P(Bin(3, p) <= 1) = 0.1.
    p = exact[1] / 2
    assert (1 - p) ** 3 + 3 * p * (1 - p) ** 2 == pytest.approx(0.1)


def test_price_of_looks():
    assert look_price(n_samples=50, looks=1, delta=0.1) == 0
    price = look_price(n_samples=50, looks=10, delta=0.1)
    assert price == pytest.approx(math.sqrt(math.log(100) / 100) - math.sqrt(math.log(10) / 100))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: hold_out(Majority(), ROWS[:1], LABELS[:1]), "at least two rows"),
        (lambda: hold_out_interval([0.5, 2.0], 0.1), "must lie in"),
        (lambda: hold_out_interval([0.5], 0.1, method="exact"), "one of the two ends"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_at_least_one_row_is_kept_on_either_side():
    rows, labels = ROWS[:4], LABELS[:4]
    sizes = {0.01: 1, 0.5: 2, 0.99: 3}
    for share, held in sizes.items():
        outcome = hold_out(Majority(), rows, labels, test_size=share, random_state=0)
        assert len(outcome.rows) == held
    owners = hold_out(Majority(), rows, labels, groups=[0, 0, 1, 1], random_state=0)
    assert owners.rows.tolist() in ([0, 1], [2, 3])


def test_sides_methods_and_units_by_hand():
    losses = [0.5] * 50
    both, upper = math.sqrt(math.log(20) / 100), math.sqrt(math.log(10) / 100)
    assert hold_out_interval(losses, 0.1) == pytest.approx((0.5 - both, 0.5 + both))
    assert hold_out_interval(losses, 0.1, sides=1) == pytest.approx((0.0, 0.5 + upper))
    assert hold_out_interval([1.0], 0.1) == pytest.approx((0.05, 1.0))
    # From below the limit is the mirror image of the one from above.
    low, high = hold_out_interval([0.75] * 50, 0.1, method="betting")
    assert (1 - high, 1 - low) == pytest.approx(
        hold_out_interval([0.25] * 50, 0.1, method="betting")
    )
    assert 0.5 < low < 0.75
    units = np.repeat(np.arange(50), 2)
    assert hold_out_interval([1.0, 0.5] * 50, 0.1, units=units) == pytest.approx((low, high))
