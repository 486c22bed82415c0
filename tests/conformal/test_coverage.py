import math

import numpy as np
import pytest
from scipy.stats import kstest

from corollary.conformal import (
    conformal_quantile,
    coverage_dkw,
    coverage_law,
    coverage_score,
    empirical_quantile,
    mean_size,
    naive_coverage,
    trivial_sets,
)
from corollary.core.simulate import LEVEL, assert_bound_holds, assert_share_equals


def test_coverage_law_known_values():
    law = coverage_law(1000, 0.1)
    assert law.args == (901, 100)
    assert law.mean() == pytest.approx(0.9001, abs=5e-5)
    assert law.std() == pytest.approx(0.00947, abs=5e-6)
    assert law.cdf(0.88) == pytest.approx(0.0209, abs=5e-5)
    assert law.ppf(0.05) == pytest.approx(0.8841, abs=5e-5)
    assert law.ppf(0.01) == pytest.approx(0.8769, abs=5e-5)


@pytest.mark.parametrize(("n", "alpha"), [(1, 0.5), (9, 0.1), (30, 0.1), (50, 0.25)])
def test_coverage_given_calibration_follows_the_beta_law(n, alpha, seed):
    """For uniform scores the coverage of a threshold is the threshold."""
    rng = np.random.default_rng([seed, n])
    coverage = [conformal_quantile(rng.random(n), 1 - alpha) for _ in range(2000)]
    assert kstest(coverage, coverage_law(n, alpha).cdf).pvalue > LEVEL


def test_coverage_law_refuses_too_few_rows():
    with pytest.raises(ValueError, match=r"coverage is 1. At least 4 more rows are needed"):
        coverage_law(5, 0.1)


def test_dkw_known_value_and_order():
    assert coverage_dkw(1000, 0.1, 0.05) == pytest.approx(0.8571, abs=5e-5)
    for n in (20, 100, 1000):
        for delta in (0.01, 0.1):
            assert coverage_dkw(n, 0.1, delta) < coverage_law(n, 0.1).ppf(delta)
    assert coverage_dkw(1, 0.5, 0.01) == 0.0


def test_dkw_holds_with_ties(seed):
    rng = np.random.default_rng(seed)
    n, alpha, delta, repetitions = 25, 0.3, 0.3, 2000
    bound = coverage_dkw(n, alpha, delta)
    broken = 0
    for _ in range(repetitions):
        threshold = conformal_quantile(rng.geometric(0.4, size=n), 1 - alpha)
        broken += 1 - 0.6**threshold < bound
    assert_bound_holds(broken, repetitions, delta)


@pytest.mark.parametrize(("n", "expected"), [(20, 0.857), (10, 0.818), (19, 0.9)])
def test_naive_threshold_under_covers(n, expected, seed):
    assert naive_coverage(n, 0.1) == pytest.approx(expected, abs=5e-4)
    rng = np.random.default_rng([seed, n])
    repetitions = 4000
    covered = 0
    for scores in rng.normal(size=(repetitions, n + 1)):
        covered += scores[-1] <= empirical_quantile(scores[:-1], 0.9)
    assert_share_equals(covered, repetitions, math.ceil(0.9 * n) / (n + 1))


def test_measures_of_intervals_and_sets():
    intervals = np.array([[0.0, 1.0], [2.0, 1.0], [-np.inf, np.inf]])
    assert coverage_score([1.0, 1.5, 9.0], intervals) == pytest.approx(2 / 3)
    assert mean_size(intervals[:2]) == 0.5
    assert mean_size(intervals) == np.inf
    sets = np.array([[True, False, True], [False, False, False]])
    assert coverage_score(["c", "a"], sets, classes=["a", "b", "c"]) == 0.5
    assert coverage_score(["z", "z"], sets, classes=["a", "b", "c"]) == 0.0
    assert mean_size(sets) == 1.0


def test_measures_refuse_what_does_not_fit():
    with pytest.raises(ValueError, match="one region per target"):
        coverage_score([1.0], np.zeros((2, 2)))
    with pytest.raises(ValueError, match="needs 'classes'"):
        coverage_score([1], np.zeros((1, 3), dtype=bool))


def test_trivial_sets_cover_and_say_nothing(seed):
    n, classes, confidence = 5000, 7, 0.8
    sets = trivial_sets(n, classes, confidence=confidence, random_state=seed)
    y = np.random.default_rng(seed).integers(0, classes, size=n)
    covered = round(n * coverage_score(y, sets, classes=np.arange(classes)))
    assert_share_equals(covered, n, confidence)
    assert mean_size(sets) == pytest.approx(classes * covered / n)
    assert set(sets.sum(axis=1).tolist()) == {0, classes}
