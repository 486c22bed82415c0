"""No free lunch, by enumeration over every labelling and every training set."""

import math

import numpy as np
import pytest

from corollary.theory import (
    memoriser_error,
    no_free_lunch,
    no_free_lunch_points,
    reverse_markov_bound,
)


def memorise(guess):
    def learner(X, y):
        known = dict(zip(X[:, 0], y))
        return lambda Z: np.array([known.get(z, guess) for z in Z[:, 0]])

    return learner


def majority(X, y):
    label = 1 if y.sum() >= 0 else -1
    return lambda Z: np.full(len(Z), label)


def nearest(X, y):
    return lambda Z: y[np.abs(Z - X.T).argmin(axis=1)]


@pytest.mark.parametrize("n", [1, 2, 3])
def test_memoriser_has_its_exact_errors(n):
    outcome = no_free_lunch(memorise(1), n)
    assert outcome.mean_error == pytest.approx(0.5 * (1 - 1 / (2 * n)) ** n)
    assert outcome.mean_error == pytest.approx(memoriser_error(n, 2 * n))
    assert outcome.worst_error == pytest.approx((1 - 1 / (2 * n)) ** n)
    assert np.all(outcome.worst_labels == -1)


def test_known_values():
    values = [memoriser_error(n, 2 * n) for n in (1, 2, 3)]
    assert values == pytest.approx([0.25, 0.28125, 0.28935], abs=5e-6)
    assert memoriser_error(10_000, 20_000) == pytest.approx(math.exp(-0.5) / 2, rel=1e-4)
    assert memoriser_error(10, 10**9) == pytest.approx(0.5)


@pytest.mark.parametrize(
    "learner", [memorise(-1), majority, nearest], ids=["memory", "vote", "1nn"]
)
@pytest.mark.parametrize("n", [1, 2])
def test_both_inequalities_hold_for_every_learner(learner, n):
    outcome = no_free_lunch(learner, n)
    assert outcome.mean_error >= 1 / 4 - 1e-12
    assert outcome.worst_error >= outcome.mean_error - 1e-12
    assert outcome.worst_tail >= reverse_markov_bound(1 / 4, 1 / 8) - 1e-12


def test_enough_points_make_every_learner_fail():
    n, epsilon, probability = 5, 0.4, 0.9
    size = no_free_lunch_points(n_samples=n, epsilon=epsilon, probability=probability)
    rng = np.random.default_rng(0)
    failures = []
    for _ in range(2000):
        labels = rng.choice([-1, 1], size)
        rows = rng.integers(0, size, n)
        predicted = memorise(1)(rows[:, None], labels[rows])(np.arange(size)[:, None])
        failures.append(np.mean(predicted != labels) >= epsilon)
    # The bound counts n seen points as surely right; a memoriser is right on about as many.
    assert np.mean(failures) >= probability - 0.03
    smaller = no_free_lunch_points(n_samples=n, epsilon=0.2, probability=0.5)
    assert smaller < size


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: no_free_lunch(majority, 4), "must be 1, 2 or 3"),
        (lambda: memoriser_error(0, 3), "positive numbers"),
        (lambda: no_free_lunch_points(n_samples=3, epsilon=0.5, probability=0.5), "epsilon < 1/2"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(("n", "epsilon", "p"), [(1, 0.25, 0.5), (2, 0.3, 0.8), (5, 0.0, 0.9)])
def test_number_of_points_by_enumeration(n, epsilon, p):
    def fails(size):
        unseen = size - n
        wrong = range(math.ceil(epsilon * size), unseen + 1)
        return sum(math.comb(unseen, k) for k in wrong) / 2**unseen >= p

    size = no_free_lunch_points(n_samples=n, epsilon=epsilon, probability=p)
    assert size == next(size for size in range(n + 1, 1000) if fails(size))


def test_tail_by_enumeration():
    # Six points, three drawn: only after the first point alone is the learner nearly right.
    def learner(X, y):
        if np.all(X == 0):
            return lambda Z: np.where(Z[:, 0] == 5, 1, -1)
        return memorise(1)(X, y)

    outcome = no_free_lunch(learner, 3)
    assert np.all(outcome.worst_labels == -1)
    # 5/6 of the points are wrong after that draw otherwise, 1/6 with this learner.
    assert outcome.worst_error == pytest.approx((5 / 6) ** 3 - (5 / 6 - 1 / 6) / 216)
    assert outcome.worst_tail == 1.0  # 1/6 is at least 1/8
