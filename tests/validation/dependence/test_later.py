"""Later rows: quarters to compare them with, and the forest that measures, against its peer."""

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor

from corollary.validation import find_dependence
from corollary.validation.dependence._folds import TREES, pose_problem
from corollary.validation.dependence._later import _dealt_within, _strata
from tests.validation.dependence.worlds import called, draw


@pytest.mark.parametrize("seed", [28, 101])
def test_few_earlier_rows_of_a_season_are_no_effect_of_time(seed):
    name = "season that a feature explains"
    X, y = draw(name, seed)
    dependence = find_dependence(X, y, random_state=seed)
    (unit,) = (unit for unit in dependence.units if unit.kind == "time")
    assert unit.effect.later > 0.1  # the second halves of years were seen once, not twice
    assert not called(name, dependence)


def test_marks_are_dealt_within_strata():
    rng = np.random.default_rng(0)
    strata, marks = rng.integers(0, 4, 200), rng.random(200) < 0.3
    dealt = np.array([_dealt_within(strata, marks, rng) for _ in range(2000)])
    for k in range(4):
        assert (dealt[:, strata == k].sum(axis=1) == marks[strata == k].sum()).all()
        # Every row of a stratum is as likely to be marked as any other: five standard errors.
        share = marks[strata == k].mean()
        error = 5 * np.sqrt(share * (1 - share) / len(dealt))
        assert np.abs(dealt[:, strata == k].mean(axis=0) - share).max() < error


def test_strata_hold_rows_that_are_equally_likely_to_be_late():
    rng = np.random.default_rng(1)
    columns, rows = rng.normal(size=(900, 3)), np.sort(rng.permutation(900)[:800])
    late = rng.random(900) < np.where(columns[:, 0] > 0, 0.5, 0.02)
    strata = _strata(columns, rows, late[rows], 0, rng)
    side = columns[rows, 0] > 0
    assert np.bincount(strata, minlength=8).max() < 150
    assert side[strata >= 6].mean() > 0.95
    assert side[strata <= 1].mean() < 0.2


@pytest.mark.parametrize("classes", [False, True])
def test_the_forest_is_that_of_the_peer(classes):
    rng = np.random.default_rng(2)
    X, n = rng.normal(size=(200, 4)), 200
    y = np.digitize(X[:, 0], [-0.5, 0.9]) if classes else X[:, 0] + rng.normal(size=n)
    problem = pose_problem(X, y, np.arange(n), is_classes=classes, model=None, seed=7)
    test = np.arange(n) % 4 == 0
    residual = problem.out_of_fold(np.arange(n), np.where(test, 0, -1)).residual
    assert not residual[~test].any()
    forest = (ExtraTreesClassifier if classes else ExtraTreesRegressor)(
        TREES, max_features=0.5, random_state=7
    ).fit(X[~test], problem.target[~test])
    if not classes:
        expected = problem.target[test] - forest.predict(X[test])
        np.testing.assert_allclose(residual[test, 0], expected, rtol=1e-12, atol=1e-12)
        return
    expected = np.eye(3)[problem.target[test]] - forest.predict_proba(X[test])
    # Splits of equal worth may fall otherwise, by rounding.
    assert np.mean(np.abs(residual[test] - expected) < 1e-9) > 0.9
    np.testing.assert_allclose(residual.sum(axis=1), 0, atol=1e-12)
