"""The online perceptron: its mistakes, invariants and bounds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.linear_model import Perceptron as SklearnPerceptron

from corollary.datasets import SeparableMargin
from corollary.online import (
    OnlineGradientDescent,
    OnlinePerceptron,
    conservative_ogd_bound,
    perceptron_adversary,
    perceptron_mistake_bound,
    perceptron_trace,
)


def separable(seed, m=200, d=5, margin=0.1):
    rng = np.random.default_rng(seed)
    world = SeparableMargin(rng.normal(size=d), margin=margin)
    X, y = world.sample(m, random_state=seed)
    return X, y.astype(float), world.unit


def test_the_generator_has_the_prescribed_radius_and_margin(seed):
    X, y, unit = separable(seed)
    assert np.linalg.norm(X, axis=1).max() <= 1 + 1e-12
    assert (y * (X @ unit)).min() >= 0.1


def test_scikit_learn_agrees_in_one_pass(seed):
    X, y, _ = separable(seed)
    learner = OnlinePerceptron()
    record = learner.run((X, y))
    peer = SklearnPerceptron(
        max_iter=1, tol=None, shuffle=False, fit_intercept=False, penalty=None
    ).fit(X, y)
    np.testing.assert_allclose(learner.weights_, peer.coef_[0], rtol=1e-12)
    assert record.mistakes.sum() > 0


@pytest.mark.parametrize("eta", [0.25, 2.0, 0.3, 17.0])
def test_the_step_changes_no_prediction(eta, seed):
    X, y, _ = separable(seed)
    one, other = OnlinePerceptron(), OnlinePerceptron(eta=eta)
    first, second = one.run((X, y)), other.run((X, y))
    np.testing.assert_array_equal(first.mistakes, second.mistakes)
    if eta in (0.25, 2.0):  # powers of two scale without rounding
        np.testing.assert_array_equal(other.weights_, eta * one.weights_)


def test_conservative_gradient_descent_is_the_perceptron(seed):
    X, y, _ = separable(seed)
    expected = OnlinePerceptron().run((X, y)).mistakes
    for eta in (0.01, 1.0, 50.0):
        learner = OnlineGradientDescent(conservative=True, eta=eta)
        np.testing.assert_array_equal(learner.run((X, y)).mistakes, expected)
    ordinary = OnlineGradientDescent(eta=0.01).run((X, y)).mistakes
    assert not np.array_equal(ordinary, expected)


@given(st.integers(0, 10_000))
def test_mistake_bound_on_separable_streams(seed):
    rng = np.random.default_rng(seed)
    X, y, unit = separable(seed, m=60, d=int(rng.integers(1, 8)), margin=0.15)
    # Any order, with any repetitions.
    order = rng.integers(0, len(y), size=400)
    X, y = X[order], y[order]
    radius, margin = np.linalg.norm(X, axis=1).max(), (y * (X @ unit)).min()
    record = OnlinePerceptron().run((X, y), comparator=unit / margin)
    assert record.truth[-1] <= perceptron_mistake_bound(radius, margin)
    np.testing.assert_allclose(
        record.bound[-1], perceptron_mistake_bound(radius, margin), rtol=1e-9
    )
    assert record.holds


@pytest.mark.parametrize("n", [1, 2, 5, 40])
def test_the_adversary_attains_the_bound(n):
    record = OnlinePerceptron().run(perceptron_adversary(n), comparator=np.ones(n))
    assert record.truth[-1] == n
    assert perceptron_mistake_bound(1.0, 1 / np.sqrt(n)) == pytest.approx(n)
    assert record.tightness == pytest.approx(1.0)


@given(st.integers(0, 10_000))
def test_bound_against_any_comparator(seed):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 6))
    X, u = rng.normal(size=(80, d)), rng.normal(size=d) * rng.exponential(2)
    y = np.where(X @ u + rng.normal(size=80) > 0, 1.0, -1.0)
    record = OnlinePerceptron().run((X, y), comparator=u)
    hinge = np.maximum(0, 1 - y * (X @ u)).sum()
    R = np.linalg.norm(X, axis=1).max()
    M = record.truth[-1]
    assert hinge + np.linalg.norm(u) * R * np.sqrt(M) + 1e-9 >= M
    assert record.bound[-1] == pytest.approx(conservative_ogd_bound(hinge, np.linalg.norm(u), R))
    assert record.holds


def test_the_bound_solves_its_quadratic():
    for L, reach in [(0.0, 3.0), (2.5, 1.0), (7.0, 0.0)]:
        M = conservative_ogd_bound(L, reach, 1.0)
        assert pytest.approx(L + reach * np.sqrt(M)) == M
    with pytest.raises(ValueError, match="at least zero"):
        conservative_ogd_bound(-1.0, 1.0, 1.0)


@given(st.integers(0, 10_000))
def test_norm_invariants(seed):
    rng = np.random.default_rng(seed)
    X, y, unit = separable(seed, m=30, d=3, margin=0.1)
    order = rng.integers(0, 30, size=120)
    trace = perceptron_trace(X, y, order)
    R2, margin = (X**2).sum(axis=1).max(), (y * (X @ unit)).min()
    norms = (trace.iterates**2).sum(axis=1)
    M = trace.cumulative
    grown = norms[:-1] + (X[order] ** 2).sum(axis=1)
    assert (norms[1:][trace.mistakes] <= grown[trace.mistakes] + 1e-9).all()
    assert (norms <= M * R2 + 1e-9).all()
    assert (trace.iterates @ unit >= M * margin - 1e-9).all()
    assert (np.sqrt(norms) >= M * margin - 1e-9).all()


def test_the_trace_follows_the_definition(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-3, 4, size=(12, 3)).astype(float), rng.choice([-1.0, 1.0], 12)
    order = rng.integers(0, 12, size=50)
    w, iterates, mistakes = np.zeros(3), [np.zeros(3)], []
    for i in order:
        mistakes.append(y[i] * (w @ X[i]) <= 0)
        w = w + mistakes[-1] * y[i] * X[i]
        iterates.append(w)
    trace = perceptron_trace(X, y, order)
    np.testing.assert_array_equal(trace.iterates, iterates)
    np.testing.assert_array_equal(trace.mistakes, mistakes)
    np.testing.assert_array_equal(trace.cumulative, np.append(0, np.cumsum(mistakes)))
    with pytest.raises(ValueError, match="row numbers from 0 to 11"):
        perceptron_trace(X, y, [12])


def test_one_pass_equals_the_batch_form(seed):
    from corollary.linear import perceptron_run

    rng = np.random.default_rng(seed)  # whole numbers: no sum is rounded
    X, y = rng.integers(-9, 10, size=(50, 4)).astype(float), rng.choice([-1.0, 1.0], 50)
    batch = perceptron_run(X, y, max_passes=1)
    learner = OnlinePerceptron()
    record = learner.run((X, y))
    np.testing.assert_array_equal(learner.weights_, batch.weights)
    np.testing.assert_array_equal(record.mistakes, batch.mistakes > 0)


def test_cycling_ends_in_a_separator(seed):
    X, y, _ = separable(seed, m=40, margin=0.2)
    learner = OnlinePerceptron()
    for _ in range(30):
        if not learner.run((X, y)).mistakes.any():
            break
    np.testing.assert_array_equal(learner.predict(sparse.csr_matrix(X)), y)


def test_margin_zero_is_vacuous():
    assert perceptron_mistake_bound(1.0, 0.0) == np.inf
    with pytest.raises(ValueError, match="cannot exceed the radius"):
        perceptron_mistake_bound(1.0, 2.0)
    with pytest.raises(ValueError, match="'eta' parameter of OnlinePerceptron"):
        OnlinePerceptron(eta=0.0)
