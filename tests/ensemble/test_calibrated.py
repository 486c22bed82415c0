"""Calibrated probabilities: against scikit-learn, against frequencies, and in model files."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from sklearn.calibration import CalibratedClassifierCV as Peer
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import LeaveOneOut, ShuffleSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC as PeerMachine

import corollary
from corollary.core.files import ModelFileError, pack, unpack
from corollary.ensemble import (
    CalibratedClassifierCV,
    CalibratedPair,
    IsotonicMap,
    SigmoidMap,
    TemperatureMap,
    temperature_scaling,
)
from corollary.linear import LogisticRegression
from corollary.svm import LinearSVC


def table(n_classes, n=240):
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(n, 3))
    codes = (X @ rng.normal(size=(3, n_classes)) + 2 * rng.gumbel(size=(n, n_classes))).argmax(1)
    return X, np.array(["ape", "bee", "cat"])[codes], rng.uniform(0.5, 2.0, n)


@pytest.mark.parametrize("method", ["sigmoid", "isotonic", "temperature"])
@pytest.mark.parametrize("ensemble", [True, False])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("member", [PeerMachine(), GaussianNB()])
def test_probabilities_are_scikit_learns(method, ensemble, n_classes, member):
    X, y, w = table(n_classes)
    options = {"method": method, "ensemble": ensemble, "cv": 3}
    ours = CalibratedClassifierCV(member, **options).fit(X, y, sample_weight=w)
    theirs = Peer(member, **options).fit(X, y, sample_weight=w)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=2e-5)
    assert len(ours.calibrated_classifiers_) == len(theirs.calibrated_classifiers_)
    names = {"sigmoid": "a_", "isotonic": "X_thresholds_", "temperature": "beta_"}
    pairs = zip(ours.calibrated_classifiers_, theirs.calibrated_classifiers_)
    for one, other in pairs:
        assert len(one.calibrators) == len(other.calibrators)
        assert all(hasattr(c, names[method]) for c in (one.calibrators[0], other.calibrators[0]))


def test_the_temperature_minimises_the_log_loss():
    rng = np.random.default_rng(0)
    z, codes, w = rng.normal(size=(50, 3)), rng.integers(0, 3, 50), rng.uniform(size=50)
    z[np.arange(50), codes] += 1.0

    def loss(beta):
        scores = beta * z
        return w @ (np.log(np.exp(scores).sum(axis=1)) - scores[np.arange(50), codes])

    best = minimize_scalar(loss, bounds=(0, 20), method="bounded", options={"xatol": 1e-10}).x
    assert temperature_scaling(z, codes, w) == pytest.approx(best, rel=1e-6)


def test_scores_that_are_always_right_or_say_nothing_reach_the_ends():
    scores = np.array([[1.0, -1.0], [-1.0, 1.0]])
    assert temperature_scaling(scores, [0, 1]) == pytest.approx(np.exp(10))
    assert temperature_scaling(scores, [1, 0]) == pytest.approx(np.exp(-10))
    assert temperature_scaling(0 * scores, [0, 1]) == pytest.approx(np.exp(10))  # any will do
    impossible = np.array([[0.0, -np.inf], [np.log(9.0), 0.0], [np.log(9.0), 0.0]])
    codes = np.array([1, 0, 1])  # the first row does not count; of the others one is right
    assert temperature_scaling(impossible, codes) == pytest.approx(np.exp(-10))


def test_every_decision_outlives_a_temperature():
    X, y, _ = table(3)
    machine = LinearSVC().fit(X, y)
    model = CalibratedClassifierCV(FrozenEstimator(machine), method="temperature").fit(X, y)
    np.testing.assert_array_equal(model.predict(X), machine.predict(X))
    assert len(model.calibrated_classifiers_) == 1


@pytest.mark.parametrize("method", ["sigmoid", "isotonic", "temperature"])
def test_what_is_called_80_percent_happens_in_80_percent(method):
    """Of 20,000 fresh rows in ten bins every share is within 4 standard errors and 2 points."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(24_000, 2))
    y = rng.random(24_000) < 1 / (1 + np.exp(-1.5 * X[:, 0] - X[:, 1]))
    model = CalibratedClassifierCV(LinearSVC(), method=method).fit(X[:4_000], y[:4_000])
    p, truth = model.predict_proba(X[4_000:])[:, 1], y[4_000:]
    for low in np.arange(0, 1, 0.1):
        inside = (p >= low) & (p < low + 0.1)
        error = truth[inside].mean() - p[inside].mean()
        assert abs(error) < 0.02 + 4 * np.sqrt(0.25 / inside.sum())


def test_a_class_that_a_fold_lacks_is_impossible_there():
    X, y, _ = table(3)
    y[:] = np.where(np.arange(len(y)) < 160, np.where(X[:, 0] > 0, "ape", "bee"), y)
    folds = [(np.arange(160), np.arange(160, 240)), (np.arange(80, 240), np.arange(80))]
    for method in ("sigmoid", "isotonic", "temperature"):
        model = CalibratedClassifierCV(GaussianNB(), method=method, cv=folds).fit(X, y)
        first = model.calibrated_classifiers_[0].predict_proba(X)
        assert (first[:, 2] == 0).all()
        np.testing.assert_allclose(first.sum(axis=1), 1.0)
        once = [(np.arange(160), np.arange(160, 240)), (np.arange(80, 240), np.arange(160))]
        whole = CalibratedClassifierCV(GaussianNB(), method=method, cv=once, ensemble=False)
        assert np.isfinite(whole.fit(X, y).predict_proba(X)).all()


class _Silent(GaussianNB):
    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)


def test_a_fit_that_returns_nothing_is_enough():
    X, y, _ = table(2)
    for ensemble in (True, False):
        model = CalibratedClassifierCV(_Silent(), ensemble=ensemble).fit(X, y)
        like = CalibratedClassifierCV(GaussianNB(), ensemble=ensemble).fit(X, y)
        np.testing.assert_array_equal(model.predict_proba(X), like.predict_proba(X))


def test_folds_that_do_not_suit_are_refused():
    X, y, _ = table(2)
    for cv in (LeaveOneOut(), 200):
        with pytest.raises(ValueError, match="every class among the held-out rows"):
            CalibratedClassifierCV(LinearSVC(), cv=cv).fit(X, y)
    cv = ShuffleSplit(3, random_state=0)
    with pytest.raises(ValueError, match="every row held out once"):
        CalibratedClassifierCV(LinearSVC(), cv=cv, ensemble=False).fit(X, y)
    CalibratedClassifierCV(LinearSVC(), cv=cv).fit(X, y)


@pytest.mark.parametrize("method", ["sigmoid", "isotonic", "temperature"])
def test_it_goes_through_a_model_file(method, tmp_path):
    X, y, _ = table(3)
    model = CalibratedClassifierCV(LogisticRegression(), method=method, cv=2).fit(X, y)
    corollary.save(model, tmp_path / "m.corollary")
    again = corollary.load(tmp_path / "m.corollary")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_pairs_that_do_not_fit_are_not_loaded():
    X, y, _ = table(3)
    machine = LinearSVC().fit(X, y)
    sigmoid, steps = SigmoidMap(-1.0, 0.0), IsotonicMap(np.zeros(2), np.array([0.0, 2.0]))
    pairs = (
        CalibratedPair(machine, [sigmoid] * 2, machine.classes_),
        CalibratedPair(machine, [sigmoid, sigmoid, TemperatureMap(1.0)], machine.classes_),
        CalibratedPair(machine, [steps] * 3, machine.classes_),
        CalibratedPair(machine, [sigmoid] * 3, machine.classes_[:2]),
    )
    for pair in pairs:
        with pytest.raises((ModelFileError, TypeError, ValueError)):
            unpack(pack(pair))
