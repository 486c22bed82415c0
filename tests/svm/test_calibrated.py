"""Probabilities from margins: honest, saveable, and safe to load."""

import numpy as np
import pytest

import corollary
from corollary.linear import LogisticRegression
from corollary.svm import SVC, CalibratedMachine, calibrate_machine
from corollary.svm.machines._folds import stratified_folds
from corollary.svm.machines.calibrated import _held_out_margins

LINK = LogisticRegression(C=10.0, max_iter=200)


def _rows(seed, n=300, classes=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    cuts = np.quantile(X[:, 0], np.arange(1, classes) / classes)
    return X, np.searchsorted(cuts, X[:, 0] + rng.normal(size=n)).astype(np.int64)


@pytest.mark.parametrize("classes", [2, 3])
def test_probabilities_are_calibrated(seed, classes):
    X, y = _rows(seed, 600, classes)
    model = calibrate_machine([SVC(C=1.0)], LINK, X, y)
    new, truth = _rows(seed + 1, 4_000, classes)
    probability = model.predict_proba(new)
    np.testing.assert_allclose(probability.sum(axis=1), 1)
    sure = probability.max(axis=1)
    right = model.predict(new) == truth
    assert abs(sure.mean() - right.mean()) < 0.06


def test_margins_of_a_fold_come_from_the_others(seed):
    X, y = _rows(seed)
    fold = stratified_folds(y, 3, 0)
    margins = _held_out_margins(SVC(), X, y, fold)
    rest = fold != 1
    alone = SVC().fit(X[rest], y[rest]).decision_function(X[~rest])
    np.testing.assert_allclose(margins[~rest, 0], alone)


def test_folds_leave_no_class_behind():
    y = np.repeat([0, 1, 2], [20, 2, 3])
    fold = stratified_folds(y, 3, 0)
    for k in range(3):
        assert set(y[fold != k]) == {0, 1, 2}
    assert (np.bincount(fold) >= 7).all()


def test_the_better_machine_is_chosen(seed):
    X, y = _rows(seed)
    model = calibrate_machine([SVC(gamma=500.0), SVC(gamma=0.1)], LINK, X, y)
    assert model.machine.gamma == 0.1


def test_a_class_of_one_row_is_refused():
    X = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(ValueError, match="one row only"):
        calibrate_machine([SVC()], LINK, X, np.repeat([0, 1], [19, 1]))
    with pytest.raises(ValueError, match="at least one machine"):
        calibrate_machine([], LINK, X, np.repeat([0, 1], [10, 10]))


def test_saved_and_loaded(seed, tmp_path):
    X, y = _rows(seed, classes=3)
    model = calibrate_machine([SVC()], LINK, X, y)
    corollary.save(model, tmp_path / "m.corollary")
    again = corollary.load(tmp_path / "m.corollary")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_parts_that_do_not_fit_are_refused(seed, tmp_path):
    X, y = _rows(seed)
    link = LogisticRegression().fit(X, y)
    with pytest.raises(TypeError, match="machine and link do not fit"):
        corollary.save(CalibratedMachine(SVC().fit(X, y), link), tmp_path / "m.corollary")
