"""Bounds on the mean of fresh observations."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from corollary.certificates import error_quantile_certificate, learning_curve
from corollary.theory import clopper_pearson_upper, empirical_bernstein_radius, hoeffding_bound
from tests.guarantees.registry import guarantee

DELTA = 0.1


def beta_losses(rng, n=30):
    return rng.beta(0.3, 1.2, size=n), 0.2


def hoeffding(rng):
    losses, truth = beta_losses(rng)
    return losses.mean() + hoeffding_bound(n_samples=len(losses), delta=DELTA), truth


def bernoulli_hoeffding(rng):
    losses = rng.random(200) < 0.5
    return losses.mean() + hoeffding_bound(n_samples=200, delta=DELTA), 0.5


def wrong_constant(rng):
    losses = rng.random(200) < 0.5
    return losses.mean() + 0.5 * hoeffding_bound(n_samples=200, delta=DELTA), 0.5


def lost_root(rng):
    losses = rng.random(200) < 0.5
    return losses.mean() + hoeffding_bound(n_samples=200, delta=DELTA) ** 2, 0.5


guarantee("theory.hoeffding", "30 Beta(0.3, 1.2) losses", delta=DELTA)(hoeffding)
guarantee(
    "theory.hoeffding",
    "200 fair coins",
    delta=DELTA,
    repetitions=4000,
    faults={"half the radius": wrong_constant, "a lost square root": lost_root},
)(bernoulli_hoeffding)


def bernstein(rng):
    losses = (rng.random((300, 3)) < 0.03).astype(float)
    radius = empirical_bernstein_radius(losses, DELTA)
    return losses.mean(axis=0)[0] + radius[0], 0.03


def bernstein_over_the_wrong_axis(rng):
    losses = (rng.random((300, 3)) < 0.03).astype(float)
    wrong = losses.mean(axis=0).var(ddof=1)
    return losses.mean(axis=0)[0] + np.sqrt(2 * wrong * np.log(2 / DELTA) / 300), 0.03


guarantee(
    "theory.empirical-bernstein",
    "300 rows, three columns of rare ones",
    delta=DELTA,
    faults={"a variance over the wrong axis": bernstein_over_the_wrong_axis},
)(bernstein)


@guarantee("theory.clopper-pearson", "40 coins of 0.1", delta=DELTA)
def clopper_pearson(rng):
    return clopper_pearson_upper(int(rng.binomial(40, 0.1)), 40, DELTA), 0.1


SIZES = [5, 10, 15, 20, 25]


class Patch(ClassifierMixin, BaseEstimator):
    """Wrong on a patch of the unit interval that depends on the number of training rows."""

    def fit(self, X, y):
        self.classes_, self.start_ = np.array([False, True]), SIZES.index(len(y)) / 5
        return self

    def predict(self, X):
        x = np.asarray(X)[:, 0]
        return ~((x >= self.start_) & (x < self.start_ + 0.15))


def curve(simultaneous):
    """All labels are true, so that each model errs on a patch of 0.15; the worst of five counts."""

    def trial(rng):
        found = learning_curve(
            Patch(),
            rng.random((60, 1)),
            np.ones(60, dtype=bool),
            sizes=SIZES,
            test_share=0.5,
            confidence=1 - DELTA,
            simultaneous=simultaneous,
            random_state=int(rng.integers(2**31)),
        )
        return found.bound.min(), 0.15

    return trial


guarantee(
    "theory.learning-curve",
    "all of five sizes, 30 rows kept aside",
    delta=DELTA,
    repetitions=150,
    verify=3000,
    faults={"the level of each for all": curve(False)},
)(curve(True))


def exponential_errors(rng, n=60):
    """Errors of a skewed law, without an upper end; their 90% quantile is log 10."""
    return rng.exponential(size=n), np.log(10)


@guarantee(
    "theory.error-quantile",
    "60 exponential errors, nine in ten",
    delta=DELTA,
    repetitions=2000,
    faults={
        "the quantile of the rows": lambda rng: (
            np.quantile(exponential_errors(rng)[0], 0.9, method="inverted_cdf"),
            np.log(10),
        )
    },
)
def error_quantile(rng):
    errors, truth = exponential_errors(rng)
    return error_quantile_certificate(errors, 0.9, confidence=1 - DELTA).bound, truth
