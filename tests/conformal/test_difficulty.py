"""Sets and intervals: they hold as often as wanted, by band too, and say when they cannot."""

import numpy as np
import pytest

from corollary.conformal import calibrate_intervals, calibrate_sets, learn_difficulty
from corollary.conformal.predicted.intervals import _errors_of as errors_of
from corollary.core.simulate import assert_bound_holds


def _heteroscedastic(rng, n):
    """Errors that grow with the mean, as prices do."""
    x = rng.uniform(1, 10, n)
    return x[:, None], x + 0.2 * x * rng.normal(size=n)


def _calibrated(rng, n_train, n_calibration, coverage=0.9, log=False):
    X, y = _heteroscedastic(rng, n_train)
    difficulty = learn_difficulty(X, y, X[:, 0], log=log)
    Z, w = _heteroscedastic(rng, n_calibration)
    return calibrate_intervals(difficulty, X[:, 0], Z, w, Z[:, 0], coverage)


def test_coverage_within_every_band(seed):
    rng = np.random.default_rng(seed)
    calibration = _calibrated(rng, 2000, 2000)
    X, y = _heteroscedastic(rng, 20_000)
    low, high = calibration.intervals(X, X[:, 0])
    inside = (low <= y) & (y <= high)
    # 2,000 calibration rows: the coverage of all rows has standard deviation 0.7%.
    assert inside.mean() == pytest.approx(0.9, abs=0.025)
    bands = calibration.bands(X[:, 0])
    assert len(calibration.thresholds) == 5
    for band in range(5):
        # 400 calibration rows per band: coverage has standard deviation 1.5% around 90%.
        assert inside[bands == band].mean() == pytest.approx(0.9, abs=0.06)
    width = high - low
    assert width[X[:, 0] > 9].mean() > 3 * width[X[:, 0] < 2].mean()


@pytest.mark.parametrize("n_calibration", [9, 12, 30])
def test_marginal_coverage_over_many_calibrations(n_calibration):
    missed = 0
    repetitions = 200
    for k in range(repetitions):
        rng = np.random.default_rng(k)
        calibration = _calibrated(rng, 60, n_calibration)
        X, y = _heteroscedastic(rng, 1)
        low, high = calibration.intervals(X, X[:, 0])
        missed += int(not low[0] <= y[0] <= high[0])
    assert_bound_holds(missed, repetitions, 0.1)


def test_sets_cover_over_many_calibrations():
    missed = 0
    repetitions = 1000
    for k in range(repetitions):
        rng = np.random.default_rng(k)
        truth = rng.dirichlet(np.ones(3), size=21)
        y = np.array([rng.choice(3, p=p) for p in truth])
        sharp = truth**2 / (truth**2).sum(axis=1, keepdims=True)  # an overconfident model
        sets = calibrate_sets(sharp[:20], y[:20], 0.9).sets(sharp[20:])
        missed += int(not sets[0, y[20]])
    assert_bound_holds(missed, repetitions, 0.1)


def test_too_few_rows_give_everything():
    probability = np.full((5, 3), 1 / 3)
    calibration = calibrate_sets(probability, np.zeros(5, int), 0.9)
    assert calibration.sets(probability).all()
    assert calibrate_sets(probability[:0], np.zeros(0, int), 0.9).sets(probability).all()
    rng = np.random.default_rng(0)
    low, high = _calibrated(rng, 60, 8).intervals(np.ones((2, 1)), np.ones(2))
    assert np.isinf(low).all()
    assert np.isinf(high).all()
    low, high = _calibrated(rng, 60, 0).intervals(np.ones((2, 1)), np.ones(2))
    assert np.isinf(high).all()


def test_the_most_probable_class_is_always_in_the_set():
    probability = np.array([[0.4, 0.35, 0.25], [0.98, 0.01, 0.01]])
    sure = np.tile([0.99, 0.005, 0.005], (50, 1))
    sets = calibrate_sets(sure, np.zeros(50, int), 0.9).sets(probability)
    assert sets.tolist() == [[True, False, False], [True, False, False]]


def test_log_scale_intervals_are_positive_and_cover(seed):
    rng = np.random.default_rng(seed)

    def draw(n):
        x = rng.uniform(0, 3, n)
        return x[:, None], np.exp(x + 0.4 * rng.normal(size=n))

    X, y = draw(500)
    difficulty = learn_difficulty(X, y, np.exp(X[:, 0]), log=True)
    Z, w = draw(500)
    calibration = calibrate_intervals(difficulty, np.exp(X[:, 0]), Z, w, np.exp(Z[:, 0]), 0.9)
    Z, w = draw(5000)
    low, high = calibration.intervals(Z, np.exp(Z[:, 0]))
    assert (low > 0).all()
    assert ((low <= w) & (w <= high)).mean() == pytest.approx(0.9, abs=0.05)


def test_errors_on_the_log_scale_by_hand():
    errors = errors_of(np.array([np.e, -1.0]), np.array([1.0, 1.0]), True)
    assert errors.tolist() == [1.0, -np.inf]


def test_constant_errors_and_tiny_training_sets_are_survived():
    X = np.arange(60.0)[:, None]
    difficulty = learn_difficulty(X, X[:, 0], X[:, 0])
    calibration = calibrate_intervals(difficulty, X[:, 0], X, X[:, 0], X[:, 0], 0.9)
    low, high = calibration.intervals(X, X[:, 0])
    assert (low <= high).all()
    small = learn_difficulty(X[:10], X[:10, 0] + 1, X[:10, 0])
    assert not small.weights[1:].any()


def test_rows_predicted_to_the_last_digit_get_no_interval_of_no_width():
    rng = np.random.default_rng(0)
    easy = rng.random(3000) < 0.7
    X = np.column_stack([rng.normal(size=3000), easy])
    y = 20 + 5 * X[:, 0]
    # Right but for rounding where it is easy, as a table of rates predicted by their grade.
    prediction = y + np.where(easy, 1e-14, 0.2) * rng.normal(size=3000)
    difficulty = learn_difficulty(X[:1500], y[:1500], prediction[:1500])
    size = difficulty.difficulty(X, prediction)
    mean = np.abs(y - prediction).mean()
    assert size.min() >= 0.001 * mean
    assert np.median(size[~easy]) > 10 * np.median(size[easy])
