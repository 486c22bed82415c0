"""Stopping at a random time: the error is the expected mistakes over m."""

import numpy as np
import pytest

from corollary.core.simulate import assert_bound_holds
from corollary.datasets import SeparableMargin
from corollary.online import (
    OnlinePerceptron,
    Winnow,
    disjunction,
    online_to_batch_bound,
    stop_at_random,
    winnow_mistake_bound,
)


def trial(learner, X, y, random):
    """Return whether a fresh row is mislabelled, and the mistakes in rounds 2 to m + 1."""
    m = len(y) - 2  # the last row is the fresh one
    rule = stop_at_random(learner, X[:m], y[:m], random_state=random).learner
    mistakes = type(learner)().run((X[:-1], y[:-1])).mistakes
    return rule.predict(X[-1:])[0] != y[-1], int(mistakes[1:].sum())


def separable(n, random):
    return SeparableMargin(np.array([0.6, 0.8]), margin=0.3).sample(n, random_state=random)


def boolean(n, random):
    X = random.randint(0, 2, size=(n, 8))
    return X, disjunction(2, 5)(X)


CASES = {
    "perceptron": (OnlinePerceptron(), separable, 1 / 0.3**2),
    "winnow": (Winnow(), boolean, winnow_mistake_bound(2, 8)),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("m", [5, 60])
def test_error_is_at_most_b_over_m(name, m, seed):
    learner, draw, B = CASES[name]
    random = np.random.RandomState(seed)
    repetitions = 400
    X, y = draw(repetitions * (m + 2), random)
    X, y = X.reshape(repetitions, m + 2, -1), y.reshape(repetitions, m + 2)
    found = np.array([trial(learner, rows, truths, random) for rows, truths in zip(X, y)])
    bound = online_to_batch_bound(B, m)
    assert_bound_holds(int(found[:, 0].sum()), repetitions, bound)
    # The error equals the expected mistakes over m: a difference of means, five standard errors.
    errors, expected = found[:, 0].astype(float), found[:, 1] / m
    allowed = 5 * np.sqrt((errors.var() + expected.var() + 1e-3) / repetitions)
    assert abs(errors.mean() - expected.mean()) <= allowed
    assert expected.mean() <= bound


def test_the_time_is_uniform_and_the_learner_untouched(seed):
    random = np.random.RandomState(seed)
    learner = OnlinePerceptron()
    X, y = np.eye(4), np.ones(4)
    times = [stop_at_random(learner, X, y, random_state=random).stopping_time for _ in range(2000)]
    counts = np.bincount(times, minlength=5)
    assert counts[0] == 0
    assert np.abs(counts[1:] - 500).max() < 5 * np.sqrt(500)
    assert learner.n_rounds_ == 0
    stopped = stop_at_random(learner, X, y, random_state=seed)
    np.testing.assert_array_equal(stopped.learner.weights_, np.arange(4) < stopped.stopping_time)


def test_bound_is_a_probability():
    assert online_to_batch_bound(30, 10) == 1.0
    assert online_to_batch_bound(np.inf, 10) == 1.0
    with pytest.raises(ValueError, match="at least one row"):
        stop_at_random(OnlinePerceptron(), np.empty((0, 2)), [])
