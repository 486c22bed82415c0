"""Crowds and AdaBoost's training error."""

import numpy as np

from corollary.ensemble import AdaBoostClassifier, majority_error_bound
from tests.guarantees.registry import guarantee


def _crowd(rng, bound):
    n, edge, elections = 21, 0.1, 200
    wrong = rng.binomial(n, 0.5 + edge, size=elections) * 2 < n
    return bound(n, edge), wrong.mean()


@guarantee(
    "ensemble.crowd",
    "200 elections of 21 voters, each right in 60%",
    delta=None,
    faults={
        "three times the edge": lambda rng: _crowd(
            rng, lambda n, g: majority_error_bound(n, 3 * g, form="hoeffding")
        )
    },
)
def crowd(rng):
    return _crowd(rng, lambda n, g: majority_error_bound(n, g, form="hoeffding"))


def _boosted(rng, bound):
    n = int(rng.integers(4, 31))
    X = rng.normal(size=(n, 2))
    y = rng.integers(2, size=n)
    y[:2] = [0, 1]
    model = AdaBoostClassifier(n_estimators=int(rng.integers(1, 9))).fit(X, y)
    return bound(model), float(np.mean(model.predict(X) != y))


@guarantee(
    "ensemble.adaboost-training-error",
    "coin labels of 4 to 30 rows, 1 to 8 stumps",
    delta=0,
    repetitions=200,
    verify=4_000,
    faults={
        "weights of the log-odds convention": lambda rng: _boosted(
            rng, lambda m: float(np.exp(-8 * ((0.5 - m.estimator_errors_) ** 2).sum()))
        )
    },
)
def adaboost(rng):
    return _boosted(rng, lambda m: float(min(m.training_bounds_[-1], m.edge_bounds_[-1])))
