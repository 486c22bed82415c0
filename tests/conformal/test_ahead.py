"""How often thresholds for a stretch to come hold, where levels wander and where they do not."""

import numpy as np
import pytest

from corollary.conformal import (
    ahead_quantile,
    calibrate_intervals_ahead,
    conformal_quantile,
    slow_errors,
)

#: Rows of a stretch, stretches that are over, and paths.
LENGTH, STRETCHES, REPEATS = 100, 2, 200


def walks(r: np.random.Generator, n: int) -> np.ndarray:
    """Levels that walk, one path to a row."""
    return 0.2 * np.cumsum(r.normal(size=(REPEATS, n)), axis=1)


def with_memory(r: np.random.Generator, n: int) -> np.ndarray:
    """Levels that forget a twentieth of themselves at each step."""
    shocks = 0.35 * r.normal(size=(REPEATS, n))
    for i in range(1, n):
        shocks[:, i] += 0.95 * shocks[:, i - 1]
    return shocks


def still(r: np.random.Generator, n: int) -> np.ndarray:
    """No level."""
    return np.zeros((REPEATS, n))


def reached(levels, *, seed: int = 0) -> tuple[float, float, float]:
    """How often 90% of the last stretch is held, by stretches and by rows, and at what width."""
    r = np.random.default_rng(seed)
    n = (STRETCHES + 2) * LENGTH
    y = levels(r, n) + 0.7 * r.normal(size=(REPEATS, n))
    starts = LENGTH * np.arange(1, STRETCHES + 1)
    stretches = np.repeat(np.arange(STRETCHES), LENGTH)
    by_stretches, by_rows, widths = [], [], []
    for path in y:
        errors = np.concatenate([path[s : s + LENGTH] - path[:s].mean() for s in starts])
        last = np.abs(path[-LENGTH:] - path[:-LENGTH].mean())
        threshold = ahead_quantile(errors, stretches, np.repeat(starts, LENGTH), n - LENGTH, 0.9)
        by_stretches.append(np.mean(last <= threshold) >= 0.9)
        by_rows.append(np.mean(last <= conformal_quantile(np.abs(errors), 0.9)) >= 0.9)
        widths.append(threshold / np.quantile(last, 0.9))
    return float(np.mean(by_stretches)), float(np.mean(by_rows)), float(np.median(widths))


@pytest.mark.parametrize("levels", [walks, with_memory, still])
def test_the_share_is_reached_in_most_repeats(levels):
    by_stretches, by_rows, _ = reached(levels)
    assert by_stretches >= 0.93
    assert by_rows < by_stretches - 0.15


def test_rows_drawn_alike_lose_little():
    assert reached(still)[2] < 1.7
    assert reached(walks)[2] < 4.0


def test_the_formula_by_hand():
    # One part of a stretch: the mean is slow. Two stretches have Student's law of two degrees.
    errors = np.array([1.0, 3.0] * 5 + [0.5, 1.5] * 5)
    stretches, trained = np.repeat([0, 1], 10), np.repeat([10, 20], 10)
    factors = 4.302652729 / 1.959963985 * np.sqrt(30 / np.array([10, 20]))
    expected = max(2 * factors[0] + 1, 1 * factors[1] + 0.5)
    found = ahead_quantile(errors, stretches, trained, 30, 0.9)
    assert found == pytest.approx(expected)
    # The order of stretches and their names say nothing.
    names = np.repeat(["b", "a"], 10)
    assert ahead_quantile(errors, names, trained, 30, 0.9) == found


def test_slow_errors_are_those_of_eighths():
    errors = np.repeat([5.0, -5.0], 64)  # a level that turns: the mean is 0, that of eighths is not
    stretches, trained = np.zeros(128), np.full(128, 128)
    student = 12.70620474 / 1.959963985
    assert ahead_quantile(errors, stretches, trained, 128, 0.9) == pytest.approx(5 * student)


def test_few_rows_are_pooled_and_fewer_have_no_quantile():
    errors, stretches = np.tile([-1.0, 1.0], 8), np.repeat([0, 1], 8)
    assert ahead_quantile(errors, stretches, np.full(16, 8), 24, 0.9) == 1.0
    assert ahead_quantile(errors[:8], stretches[:8], np.full(8, 8), 24, 0.9) == np.inf
    assert ahead_quantile([], [], [], 24, 0.9) == np.inf


@pytest.mark.parametrize(
    ("errors", "stretches", "trained", "message"),
    [
        ([1.0, 2.0], [0], [5, 5], "one stretch and one number of rows"),
        ([1.0, np.inf], [0, 0], [5, 5], "finite errors"),
        ([1.0, 2.0], [0, 0], [5, 0], "positive numbers of rows"),
    ],
)
def test_what_cannot_be_meant_is_refused(errors, stretches, trained, message):
    with pytest.raises(ValueError, match=message):
        ahead_quantile(errors, stretches, trained, 10, 0.9)


def test_intervals_follow_difficulty_and_logarithms():
    r = np.random.default_rng(1)
    x = r.uniform(1, 3, size=(400, 1))
    prediction = np.exp(x[:, 0])
    y = prediction * np.exp(0.2 * x[:, 0] * r.normal(size=400))
    stretches = np.repeat([0, 1], 200)
    calibration = calibrate_intervals_ahead(
        x,
        y,
        prediction,
        0.9,
        stretches=stretches,
        trained=200 + 200 * stretches,
        n_train=600,
        log=True,
    )
    low, high = calibration.intervals(x, prediction)
    assert np.mean((low <= y) & (y <= high)) >= 0.9
    ratio = np.log(high / prediction)
    assert ratio[x[:, 0] > 2.5].min() > ratio[x[:, 0] < 1.5].max()
    assert low.min() > 0


def test_sizes_of_errors_are_learnt_from_what_slow_errors_leave():
    r = np.random.default_rng(2)
    stretches, moment = np.repeat([0, 1], 200), np.arange(400.0)
    level = 8 * np.abs(np.sin(moment / 60))  # large errors at some moments, the same noise at all
    y = level + r.normal(size=400)
    how = {"stretches": stretches, "trained": 200 + 200 * stretches, "n_train": 600}
    found = calibrate_intervals_ahead(moment[:, None], y, np.zeros(400), 0.9, **how)
    sizes = found.difficulty(moment[:, None], np.zeros(400))
    assert sizes.max() < 1.5 * sizes.min()
    assert np.abs(slow_errors(y, stretches) - level).mean() < 1.0
