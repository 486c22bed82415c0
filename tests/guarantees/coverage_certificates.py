"""What calibration rows prove about the wrapper that they calibrated.

A trial's truth is the miss rate of one wrapper over its whole population, which is known.
"""

import warnings

import numpy as np
from scipy.special import ndtr
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyRegressor

from corollary import certify
from corollary.certificates import coverage_certificates
from corollary.conformal import (
    CVPlusRegressor,
    SplitConformalClassifier,
    SplitConformalRegressor,
    naive_coverage,
)
from corollary.theory import clopper_pearson_upper
from tests.guarantees.registry import guarantee

DELTA, ALPHA = 0.1, 0.2
LAW = "conformal.coverage-law"


def zero():
    return DummyRegressor(strategy="constant", constant=0.0).fit([[0.0]], [0.0])


def split(rng, n=22, groups=None):
    """Normal targets around zero: the miss rate of [-q, q] is twice a normal tail."""
    scale = np.ones(n) if groups is None else np.where(groups, 10.0, 1.0)
    X = np.zeros((n, 1)) if groups is None else groups[:, None].astype(float)
    how = {} if groups is None else {"partition": lambda X: X[:, 0].astype(int)}
    model = SplitConformalRegressor(zero(), prefit=True, confidence=1 - ALPHA, **how)
    return model.fit(X, scale * rng.normal(size=n))


def bound_of(model, place=0):
    return coverage_certificates(model, confidence=1 - DELTA)[place].bound


def normal_tails(rng):
    model = split(rng)
    return bound_of(model), 2 * ndtr(-model.thresholds_[0])


def without_the_one_more(rng, n=22):
    """The rank of the plain quantile, which is one lower, sold at the law of the right one."""
    model = split(rng, n)
    assert naive_coverage(n, ALPHA) < 1 - ALPHA
    rank = model.calibration_cells()[0].rank
    lower = np.sort(model.scores_)[rank - 2]
    return bound_of(model), 2 * ndtr(-lower)


def misses_of_calibration(rng, n=22):
    """One allowed miss fewer than the threshold leaves."""
    model = split(rng, n)
    rank = model.calibration_cells()[0].rank
    return clopper_pearson_upper(n - rank - 1, n, DELTA), 2 * ndtr(-model.thresholds_[0])


guarantee(
    LAW,
    "22 normal calibration rows",
    delta=DELTA,
    repetitions=1000,
    faults={
        "a rank without the one more row": without_the_one_more,
        "one miss too few": misses_of_calibration,
        "the level for the law": lambda rng: (ALPHA, normal_tails(rng)[1]),
    },
)(normal_tails)


@guarantee(LAW, "5 normal calibration rows, certified with further rows", delta=DELTA, verify=5000)
def few_rows(rng):
    model = split(rng, 5)
    found = certify(
        model, np.zeros((3, 1)), rng.normal(size=3), confidence=1 - DELTA, kept_aside=True
    )
    return found[0].bound, 2 * ndtr(-model.thresholds_[0])


def lattice(rng, seen=False):
    """Targets of few values: scores tie, and fewer lie beyond the threshold than its rank says."""
    values, mass = np.arange(5) / 4, np.array([0.3, 0.2, 0.15, 0.15, 0.2])
    model = SplitConformalRegressor(zero(), prefit=True, confidence=1 - ALPHA)
    model.fit(np.zeros((40, 1)), rng.choice(values, 40, p=mass))
    truth = float(mass[values > model.thresholds_[0]].sum())
    return (float(model.calibration_cells()[0].beyond) / 40 if seen else bound_of(model)), truth


guarantee(
    LAW,
    "40 rows on a lattice",
    delta=DELTA,
    repetitions=400,
    verify=5000,
    faults={"the share of misses seen": lambda rng: lattice(rng, seen=True)},
)(lattice)


@guarantee(LAW, "60 rows, the noisier of two groups", delta=DELTA, repetitions=400, verify=5000)
def noisy_group(rng):
    groups = rng.random(60) < 0.5
    model = split(rng, 60, groups)
    return bound_of(model, -1), 2 * ndtr(-model.thresholds_[-1] / 10)


class Known(ClassifierMixin, BaseEstimator):
    """Knows two classes and takes them for equally likely, up to a hair."""

    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        return self

    def predict_proba(self, X):
        second = 0.5 + 1e-3 * np.asarray(X)[:, 0]
        return np.column_stack([1 - second, second])

    def predict(self, X):
        return np.ones(len(X), dtype=int)


def unknown_labels(rng, believed=False):
    """Three in ten labels are of a class that the model does not know: sets never hold them."""
    n = 40
    X, y = rng.normal(size=(n, 1)), np.where(rng.random(n) < 0.3, 2, rng.integers(0, 2, n))
    model = SplitConformalClassifier(Known().fit(X, y), prefit=True, confidence=1 - ALPHA)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    cell = model.calibration_cells()[0]
    if believed:
        return clopper_pearson_upper(n - cell.rank, n, DELTA), 0.3
    # A finite threshold leaves out known labels, too; then at least three in ten are missed.
    return bound_of(model), 0.3


guarantee(
    LAW,
    "40 rows, three in ten of an unknown class",
    delta=DELTA,
    repetitions=400,
    verify=5000,
    faults={"an infinite threshold believed": lambda rng: unknown_labels(rng, believed=True)},
)(unknown_labels)


def held_out(rng):
    """Sixty further rows, counted."""
    model = split(rng)
    X, y = np.zeros((60, 1)), rng.normal(size=60)
    found = certify(model, X, y, confidence=1 - DELTA, kept_aside=True)
    (one,) = [c for c in found if c.theorem == "theory.clopper-pearson"]
    return one.bound, 2 * ndtr(-model.thresholds_[0])


def share_alone(rng):
    model = split(rng)
    misses = model.misses(np.zeros((60, 1)), rng.normal(size=60))
    return float(misses.mean()), 2 * ndtr(-model.thresholds_[0])


guarantee(
    "theory.clopper-pearson",
    "60 further rows of a conformal wrapper, certified",
    delta=DELTA,
    repetitions=400,
    verify=5000,
    faults={"the share of misses": share_alone},
)(held_out)


def folds(rng, n=120):
    """The mean of normal targets in three folds; intervals are the same for all rows."""
    X, y = np.zeros((n, 1)), rng.normal(size=n)
    model = CVPlusRegressor(DummyRegressor(), cv=3, confidence=1 - ALPHA, random_state=0)
    low, high = model.fit(X, y).predict_interval([[0.0]])[0]
    return bound_of(model), ndtr(low) + ndtr(-high)


guarantee(
    "conformal.cv-plus-given-rows",
    "mean of 120 normal rows in 3 folds",
    delta=DELTA,
    repetitions=150,
    verify=2000,
    faults={"the level for the bound": lambda rng: (ALPHA, folds(rng)[1])},
)(folds)
