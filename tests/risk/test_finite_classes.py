"""Exact empirical risk minimisation against enumeration of every labelling."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corollary.risk import (
    empirical_risk,
    minimise_finite,
    minimise_interval,
    minimise_rectangle,
    minimise_threshold,
)

SMALL = st.integers(0, 4)
LABELS = st.sampled_from([-1, 1])
ROWS_1D = st.lists(st.tuples(SMALL, LABELS, st.integers(0, 3)), min_size=1, max_size=8).filter(
    lambda rows: any(w for _, _, w in rows)
)
ROWS_2D = st.lists(st.tuples(SMALL, SMALL, LABELS), min_size=1, max_size=9)


def test_finite_class_by_brute_force(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(30, 2)), rng.choice([-1, 1], 30)
    directions = rng.normal(size=(50, 2))
    hypotheses = [lambda X, w=w: np.where(X @ w >= 0, 1, -1) for w in directions]
    errors = [np.mean(np.where(X @ w >= 0, 1, -1) != y) for w in directions]
    found = minimise_finite(hypotheses, X, y)
    assert found.risk == min(errors)
    assert found.position == errors.index(min(errors))  # the first of equals
    assert found.hypothesis is hypotheses[found.position]
    np.testing.assert_allclose(found.risks, errors)


def test_a_memoriser_reaches_zero_on_any_labels(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(20, 1)), rng.choice([-1, 1], 20)
    table = dict(zip(X[:, 0], y))
    memoriser = lambda X: np.array([table.get(v, 1) for v in X[:, 0]])  # noqa: E731
    constant = lambda X: np.ones(len(X), int)  # noqa: E731
    assert minimise_finite([constant, memoriser], X, y).risk == 0
    fresh = rng.normal(size=(2000, 1))
    coin = rng.choice([-1, 1], 2000)
    assert abs(empirical_risk(coin, memoriser(fresh)) - 0.5) < 5 * 0.5 / np.sqrt(2000)


@given(ROWS_1D)
def test_threshold_by_enumeration(rows):
    x, y, w = (np.array(column, dtype=float) for column in zip(*rows))
    cuts = [-0.5, 0.5, 1.5, 2.5, 3.5, 4.5]
    errors = [
        empirical_risk(y, np.where(d * (x - t) >= 0, 1, -1), sample_weight=w)
        for t, d in product(cuts, [-1, 1])
    ]
    found = minimise_threshold(x, y, sample_weight=w)
    assert np.isclose(found.risk, min(errors))
    assert np.isclose(empirical_risk(y, found.predict(x), sample_weight=w), found.risk)


def test_threshold_between_neighbouring_floats():
    low, high = 1.0, np.nextafter(1.0, 2)
    for labels in ([-1, 1], [1, -1]):
        found = minimise_threshold([low, high], labels)
        assert found.risk == 0
        np.testing.assert_array_equal(found.predict([low, high]), labels)


def test_threshold_ties():
    assert minimise_threshold([0.0, 1.0], [1, 1]) == (-np.inf, 1, 0.0)
    assert minimise_threshold([0.0, 1.0], [-1, -1]) == (-np.inf, -1, 0.0)
    assert minimise_threshold([0.0, 0.0], [1, -1]).direction == 1


@given(ROWS_1D, st.sampled_from([-1, 1]))
def test_one_direction_by_enumeration(rows, direction):
    x, y, w = (np.array(column, dtype=float) for column in zip(*rows))
    errors = [
        empirical_risk(y, np.where(direction * (x - t) >= 0, 1, -1), sample_weight=w)
        for t in (-0.5, 0.5, 1.5, 2.5, 3.5, 4.5)
    ]
    found = minimise_threshold(x, y, direction=direction, sample_weight=w)
    assert found.direction == direction
    assert np.isclose(found.risk, min(errors))
    assert np.isclose(empirical_risk(y, found.predict(x), sample_weight=w), found.risk)


def test_one_direction_may_be_worse():
    assert minimise_threshold([1.0, 2.0], [-1, 1], direction=-1).risk == 0.5
    assert minimise_threshold([1.0, 2.0], [1, 1], direction=-1) == (np.inf, -1, 0.0)
    assert minimise_threshold([1.0, 2.0], [-1, -1], direction=1) == (np.inf, 1, 0.0)
    with pytest.raises(ValueError, match="must be 1, -1 or None"):
        minimise_threshold([1.0], [1], direction=2)


@given(ROWS_1D)
def test_interval_by_enumeration(rows):
    x, y, w = (np.array(column, dtype=float) for column in zip(*rows))
    errors = [empirical_risk(y, -np.ones(len(x)), sample_weight=w)]
    for low, high in product(range(5), repeat=2):
        inside = np.where((x >= low) & (x <= high), 1, -1)
        errors.append(empirical_risk(y, inside, sample_weight=w))
    found = minimise_interval(x, y, sample_weight=w)
    assert np.isclose(found.risk, min(errors))
    assert np.isclose(empirical_risk(y, found.predict(x), sample_weight=w), found.risk)


@given(ROWS_2D)
@settings(max_examples=60)
def test_rectangle_by_enumeration(rows):
    X, y = np.array([r[:2] for r in rows], dtype=float), np.array([r[2] for r in rows])
    errors = [np.mean(y == 1)]
    for a, b, c, d in product(range(5), repeat=4):
        inside = (X[:, 0] >= a) & (X[:, 0] <= b) & (X[:, 1] >= c) & (X[:, 1] <= d)
        errors.append(np.mean(np.where(inside, 1, -1) != y))
    found = minimise_rectangle(X, y)
    assert np.isclose(found.risk, min(errors))
    assert np.isclose(np.mean(found.predict(X) != y), found.risk)


def test_rectangle_in_three_dimensions(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, size=(40, 3)).astype(float)
    y = rng.choice([-1, 1], 40)
    best = np.mean(y == 1)
    for ends in product([(a, b) for a in range(3) for b in range(a, 3)], repeat=3):
        lower, upper = np.array(ends).T
        inside = np.all((lower <= X) & (upper >= X), axis=1)
        best = min(best, np.mean(np.where(inside, 1, -1) != y))
    assert np.isclose(minimise_rectangle(X, y).risk, best)


def test_rectangle_of_separable_rows_is_the_tightest_box(seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(300, 3))
    inside = np.all(np.abs(X) <= 1.2, axis=1)
    found = minimise_rectangle(X, np.where(inside, 1, -1))
    assert found.risk == 0
    np.testing.assert_array_equal(found.lower, X[inside].min(axis=0))
    np.testing.assert_array_equal(found.upper, X[inside].max(axis=0))


def test_order_of_rows_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 6, size=(30, 2)).astype(float), rng.choice([-1, 1], 30)
    order = rng.permutation(30)
    one, two = minimise_rectangle(X, y), minimise_rectangle(X[order], y[order])
    np.testing.assert_array_equal(one.lower, two.lower)
    np.testing.assert_array_equal(one.upper, two.upper)


def test_empty_box():
    found = minimise_interval([0.0, 1.0], [-1, -1])
    assert found.risk == 0
    assert found.predict([0.0, 5.0]).tolist() == [-1, -1]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: minimise_finite([], [[1]], [1]), "Got an empty class"),
        (lambda: minimise_threshold([1.0], [0]), r"needs labels -1 and \+1"),
        (lambda: minimise_threshold([np.nan], [1]), "finite values"),
        (lambda: minimise_threshold([], np.array([], int)), "at least one"),
        (lambda: minimise_rectangle([1.0], [1]), r"Got shape \(1,\)"),
        (lambda: minimise_rectangle([[np.inf]], [1]), "needs finite X"),
    ],
)
def test_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()
