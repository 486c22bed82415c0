"""Stability: brute force over small data sets, identities, ridge."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corollary.theory import (
    empirical_stability,
    linear_system_perturbation,
    replace_one_gap,
    ridge_norm_bound,
    ridge_stability,
    stability_bound,
)

seeds = st.integers(0, 2**32 - 1)


def mean_learner(X, y):
    return lambda Z: np.full(len(Z), y.mean())


def ridge_learner(alpha):
    def learn(X, y):
        n, d = X.shape
        theta = np.linalg.solve(X.T @ X / n + alpha * np.eye(d), X.T @ y / n)
        return lambda Z: Z @ theta

    return learn


def test_mean_has_its_known_stability():
    # Replacing one of n outputs in [0, 1] moves the mean by at most 1 / n.
    X, y = np.zeros((4, 1)), np.array([0.0, 0.0, 0.0, 0.0])
    found = empirical_stability(
        mean_learner, X, y, np.zeros((2, 1)), np.array([0.0, 1.0]), loss="absolute"
    )
    assert found == pytest.approx(1 / 4)
    constant = empirical_stability(
        lambda X, y: lambda Z: np.ones(len(Z)), X, y, np.zeros((2, 1)), [0.0, 1.0], loss="absolute"
    )
    assert constant == 0.0


def test_every_row_is_replaced_and_rows_keep_their_type():
    # A learner that looks at one row only: replacing another would show nothing.
    X, fresh = np.zeros((4, 1)), np.zeros((1, 1))
    for i in range(4):
        look = lambda X, y, i=i: lambda Z: np.full(len(Z), y[i])  # noqa: E731
        assert empirical_stability(look, X, np.zeros(4), fresh, [1.0], loss="absolute") == 1.0
    # Whole numbers among the training rows do not round what takes their place,
    for y in (np.zeros(4, int), np.zeros(4), [0, 0, 0, 0]):
        moved = empirical_stability(mean_learner, X, y, fresh, [0.9], loss="absolute")
        assert moved == pytest.approx(0.9 / 4)
    follow = lambda X, y: lambda Z: np.full(len(Z), X.mean())  # noqa: E731
    whole = empirical_stability(
        follow, np.zeros((2, 1), int), [0, 0], [[0.5]], [0.0], loss="absolute"
    )
    assert whole == pytest.approx(0.25)
    # and short labels do not cut long ones.
    last = lambda X, y: lambda Z: np.full(len(Z), y[-1])  # noqa: E731
    assert empirical_stability(last, X[:2], ["a", "b"], fresh, ["long"]) == 1.0
    with pytest.raises(ValueError, match=r"of one kind\. Got y of type"):
        empirical_stability(last, X[:2], ["a", "b"], fresh, [1.0])


def test_random_learners_are_averaged_over_their_seeds():
    # It picks one of four rows; seed i picks row i, so that the list is all of its randomness.
    X, y, fresh = np.zeros((4, 1)), np.zeros(4), np.zeros((1, 1))
    picks = [lambda X, y, i=i: lambda Z: np.full(len(Z), y[i]) for i in range(4)]
    assert empirical_stability(picks, X, y, fresh, [1.0], loss="absolute") == 1 / 4
    assert empirical_stability(picks[:1], X, y, fresh, [1.0], loss="absolute") == 1.0
    with pytest.raises(ValueError, match="empty list"):
        empirical_stability([], X, y, fresh, [1.0])


def test_replaced_rows_of_the_gap_keep_their_type():
    # Outputs 0, 1 and fresh 0.5, 0.25: means 0.75 and 0.125 instead of 0.5.
    for y in (np.array([0, 1]), np.array([0.0, 1.0])):
        gap = replace_one_gap(
            mean_learner, np.zeros((2, 1)), y, np.zeros((2, 1)), [0.5, 0.25], loss="absolute"
        )
        assert gap == pytest.approx(((0.75 - 0.5) + (0.875 - 0.5)) / 2)


def test_replace_one_identity_and_expectation_bound_by_full_enumeration():
    # Outputs 0 and 1 with P(1) = 0.3, three rows, the mean learner and the square loss.
    p, n = 0.3, 3
    law = {0.0: 1 - p, 1.0: p}
    gap = identity = 0.0
    worst = 0.0
    X = np.zeros((n, 1))
    for y in product(law, repeat=n):
        weight = math.prod(law[v] for v in y)
        y = np.array(y)
        train = np.mean((y - y.mean()) ** 2)
        risk = sum(law[v] * (v - y.mean()) ** 2 for v in law)
        gap += weight * (risk - train)
        stability = empirical_stability(
            mean_learner, X, y, np.zeros((2, 1)), np.array([0.0, 1.0]), loss="square"
        )
        worst = max(worst, stability)
        for fresh in product(law, repeat=n):
            both = weight * math.prod(law[v] for v in fresh)
            identity += both * replace_one_gap(
                mean_learner, X, y, X, np.array(fresh), loss="square"
            )
    assert identity == pytest.approx(gap, abs=1e-12)
    assert 0 < gap <= worst
    # Of three zeros one becomes 1: the loss at 1 falls from 1 to 4/9.
    assert worst == pytest.approx(5 / 9)
    assert gap == pytest.approx(2 * p * (1 - p) / n)


@given(seeds)
@settings(max_examples=40)
def test_linear_systems_move_at_most_by_their_bound(seed):
    rng = np.random.default_rng(seed)
    A, B = rng.normal(size=(2, 3, 3)) + 2 * np.eye(3)
    b, c = rng.normal(size=(2, 3))
    moved = np.linalg.norm(np.linalg.solve(A, b) - np.linalg.solve(B, c))
    assert moved <= linear_system_perturbation(A, b, B, c) * (1 + 1e-9)
    inverse = np.linalg.inv(A) - np.linalg.inv(B)
    assert inverse == pytest.approx(-np.linalg.inv(B) @ (A - B) @ np.linalg.inv(A), abs=1e-8)


def test_perturbation_is_attained_and_by_hand():
    # Matrices a I and c I, where every norm is a number.
    for a, c, b, other in [(2.0, 1.0, [3.0, 4.0], [0.0, 0.0]), (2.0, 4.0, [0.0, 6.0], [0.0, -3.0])]:
        moved = np.linalg.norm(np.array(b) / a - np.array(other) / c)
        bound = linear_system_perturbation(a * np.eye(2), b, c * np.eye(2), other)
        change = abs(a - c) * np.linalg.norm(other) / c
        assert bound == pytest.approx((np.linalg.norm(np.subtract(b, other)) + change) / a)
        assert moved <= bound
    same = linear_system_perturbation(2 * np.eye(2), [3.0, 4.0], np.eye(2), [0.0, 0.0])
    assert same == pytest.approx(2.5)
    # The change of the matrix alone: solutions 1/2 and -1 of 2 x = 1 and -x = 1.
    assert linear_system_perturbation([[2.0]], [1.0], [[-1.0]], [1.0]) == pytest.approx(1.5)


def test_singular_systems_have_no_bound():
    assert linear_system_perturbation(np.zeros((2, 2)), [0, 0], np.eye(2), [0, 0]) == math.inf


@given(seeds, st.sampled_from([0.1, 0.5, 2.0]), st.sampled_from(["absolute", "square"]))
@settings(max_examples=20)
def test_ridge_never_moves_more_than_its_stability(seed, alpha, loss):
    rng = np.random.default_rng(seed)

    def rows(n):
        X = rng.normal(size=(n, 2))
        X /= np.maximum(1, np.linalg.norm(X, axis=1))[:, None]
        return X, rng.choice([-1.0, 1.0], n)

    (X, y), (X_new, y_new) = rows(6), rows(5)
    found = empirical_stability(ridge_learner(alpha), X, y, X_new, y_new, loss=loss)
    sharp = ridge_stability(n_samples=6, alpha=alpha, loss=loss)
    assert found <= sharp <= ridge_stability(n_samples=6, alpha=alpha, loss=loss, sharp=False)


@given(seeds, st.sampled_from([0.001, 0.05, 0.9, 1.0, 3.0, 20.0]))
def test_ridge_weights_are_no_longer_than_their_bound(seed, alpha):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(5, 3)) * rng.choice([0.1, 1.0])
    X /= np.maximum(1, np.linalg.norm(X, axis=1))[:, None]
    y = rng.choice([-1.0, 1.0], 5)
    theta = np.linalg.solve(X.T @ X / 5 + alpha * np.eye(3), X.T @ y / 5)
    assert np.linalg.norm(theta) <= ridge_norm_bound(alpha) * (1 + 1e-12)


@pytest.mark.parametrize("alpha", [0.01, 0.5, 1.0, 7.0])
def test_the_bound_on_ridge_weights_is_attained(alpha):
    # One row whose square is the penalty, or as near to it as the unit ball allows.
    x = min(1.0, math.sqrt(alpha))
    assert x / (x**2 + alpha) == pytest.approx(ridge_norm_bound(alpha))


def test_ridge_values_by_hand():
    norm = math.sqrt(0.5)  # 1 / (2 sqrt(0.5))
    assert ridge_stability(n_samples=50, alpha=0.5) == pytest.approx((4 + 2 * norm) / 50)
    assert ridge_stability(n_samples=50, alpha=5.0) == pytest.approx((2 + 1 / 6) / 5 / 50)
    assert ridge_stability(n_samples=50, alpha=0.5, sharp=False) == pytest.approx(2 * (2 + 4) / 50)
    assert ridge_stability(n_samples=50, alpha=0.5, loss="square") == pytest.approx(
        (4 + 2 * norm) / 50 * 2 * (1 + norm)
    )
    # More penalty: more stable, less able to fit.
    values = [ridge_stability(n_samples=50, alpha=a) for a in (0.1, 1.0, 10.0)]
    assert values[0] > values[1] > values[2]


def test_bound_by_hand():
    sharp = stability_bound(0.01, n_samples=100, delta=0.05, low=-1, high=1)
    assert sharp == pytest.approx(0.01 + (0.01 * 100 + 1) * math.sqrt(2 * math.log(20) / 100))
    loose = stability_bound(0.01, n_samples=100, delta=0.05, low=-1, high=1, sharp=False)
    assert loose == pytest.approx(0.01 + 2 * (sharp - 0.01))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: replace_one_gap(mean_learner, np.eye(2), [0, 1], np.eye(3), [0, 1, 0]), "as many"),
        (lambda: stability_bound(0.1, n_samples=3, delta=0.1, low=1, high=0), "low < high"),
        (lambda: ridge_stability(n_samples=3, alpha=0.0), "'alpha' parameter"),
        (
            lambda: linear_system_perturbation(np.ones((3, 2)), [1] * 3, np.ones((3, 2)), [1] * 3),
            r"square matrices of one size. Got shapes \(3, 2\)",
        ),
        (
            lambda: linear_system_perturbation(np.eye(2), [1, 0], np.eye(2), [1, 0, 0]),
            "right sides of length 2",
        ),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_rows_of_unequal_stability():
    same = stability_bound(np.full(50, 0.01), n_samples=50, delta=0.05, low=-1, high=2)
    assert same == pytest.approx(stability_bound(0.01, n_samples=50, delta=0.05, low=-1, high=2))
    epsilon = np.array([0.3, 0.1, 0.0])
    squares = sum((2 * e + 2 / 3) ** 2 for e in epsilon)
    by_hand = 0.4 / 3 + math.sqrt(math.log(1 / 0.1) / 2 * squares)
    found = stability_bound(epsilon, n_samples=3, delta=0.1, low=-1, high=1)
    assert found == pytest.approx(by_hand)
    # One unstable row among many stable ones is not as bad as all unstable.
    few = np.zeros(1000)
    few[0] = 0.1
    assert stability_bound(few, n_samples=1000, delta=0.1) < 0.3
    assert stability_bound(0.1, n_samples=1000, delta=0.1) > 5
    with pytest.raises(ValueError, match=r"one for each of the 3 rows.*Got shape \(2,\)"):
        stability_bound([0.1, 0.1], n_samples=3, delta=0.1)


def test_equal_rows_are_one_number():
    for sharp in (True, False):
        rows = stability_bound([0.01] * 50, n_samples=50, delta=0.1, sharp=sharp)
        assert rows == pytest.approx(stability_bound(0.01, n_samples=50, delta=0.1, sharp=sharp))
