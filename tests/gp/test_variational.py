"""The variational bound: its maximum is the collapsed one, and batches estimate it fairly."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corollary.gp import (
    InducingSums,
    Search,
    WhitenedLaw,
    collapsed_bound,
    inducing_law,
    learn_inducing,
    spread_points,
    variational_bound,
    whitened_law,
)
from corollary.gp.sparse._batches import Schedule, learn_by_batches
from corollary.kernels import RBF

KERNEL = 1.5 * RBF([0.7, 1.2])


@pytest.fixture
def data(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 2))
    return X, np.sin(2 * X[:, 0]) + 0.2 * rng.normal(size=40), rng.normal(size=(6, 2))


def best_law(X, y, Z, variance, weight=None):
    sums = InducingSums.at(KERNEL, Z).update((X, y, weight))
    return whitened_law(inducing_law(sums, variance))


def test_best_law_attains_the_collapsed_bound(data):
    X, y, Z = data
    weight = np.arange(40) % 3 + 1.0
    for w in (None, weight):
        best = best_law(X, y, Z, 0.1, w)
        value = variational_bound(KERNEL, 0.1, Z, best, X, y, w)
        assert value == pytest.approx(collapsed_bound(KERNEL, 0.1, Z, X, y, w).value, rel=1e-9)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_no_law_exceeds_the_collapsed_bound(entropy):
    rng = np.random.default_rng(entropy)
    X, Z = rng.normal(size=(12, 2)), rng.normal(size=(4, 2))
    y = rng.normal(size=12)
    law = best_law(X, y, Z, 0.3)
    moved = WhitenedLaw(
        law.mean + 0.3 * rng.normal(size=4), law.root + 0.1 * np.tril(rng.normal(size=(4, 4)))
    )
    top = collapsed_bound(KERNEL, 0.3, Z, X, y).value
    assert variational_bound(KERNEL, 0.3, Z, moved, X, y) <= top + 1e-8


def test_divergence_and_expectations_equal_monte_carlo(data):
    X, y, Z = data
    rng = np.random.default_rng(0)
    law = WhitenedLaw(rng.normal(size=6), np.tril(0.3 * rng.normal(size=(6, 6))) + 0.5 * np.eye(6))
    L = np.linalg.cholesky(KERNEL.gram(Z) + 1.5e-8 * np.eye(6))
    A = np.linalg.solve(L, KERNEL.gram(Z, X))
    v = law.mean + rng.normal(size=(50_000, 6)) @ law.root.T
    spread = KERNEL.diag(X) - (A * A).sum(axis=0)
    f = v @ A + np.sqrt(np.maximum(spread, 0)) * rng.normal(size=(len(v), 40))
    log_likelihood = (-0.5 * np.log(2 * np.pi * 0.5) - 0.5 * (y - f) ** 2 / 0.5).sum(axis=1)
    centred = np.linalg.solve(law.root, (v - law.mean).T)
    log_q = -0.5 * (centred**2).sum(axis=0) - np.log(np.abs(np.diag(law.root))).sum()
    draws = log_likelihood - 0.5 * (v**2).sum(axis=1) - log_q
    error = draws.std() / np.sqrt(len(v))
    assert abs(variational_bound(KERNEL, 0.5, Z, law, X, y) - draws.mean()) < 5 * error


def test_batches_are_unbiased_in_value_and_gradient(data):
    import jax

    X, y, Z = data
    weight = np.arange(40) % 2 + 1.0
    law = best_law(X, y, Z, 0.1)
    # Every row once, in batches of equal weight: their mean is the bound of all rows.
    order = np.concatenate([np.flatnonzero(weight == 1), np.flatnonzero(weight == 2)])
    parts = order.reshape(2, 4, 5).transpose(1, 0, 2).reshape(4, 10)

    def bound(Z, rows):
        return variational_bound(
            KERNEL, 0.1, Z, law, X[rows], y[rows], weight[rows], total=weight.sum()
        )

    values = [bound(Z, rows) for rows in parts]
    whole = variational_bound(KERNEL, 0.1, Z, law, X, y, weight)
    assert np.mean(values) == pytest.approx(whole, rel=1e-10)
    whole_slope = np.empty_like(Z)
    for at in np.ndindex(Z.shape):
        step = np.zeros_like(Z)
        step[at] = 1e-5
        ends = [variational_bound(KERNEL, 0.1, Z + t * step, law, X, y, weight) for t in (1, -1)]
        whole_slope[at] = (ends[0] - ends[1]) / 2e-5
    with jax.enable_x64(True):
        X, y, weight, law = jax.device_put((X, y, weight, law))
        slope = jax.jit(jax.grad(bound))
        gradients = [np.asarray(slope(Z, rows)) for rows in parts]
    assert gradients[0].dtype == np.float64
    np.testing.assert_allclose(np.mean(gradients, axis=0), whole_slope, rtol=1e-5, atol=1e-6)


@pytest.mark.verify
def test_batches_and_full_steps_reach_the_same_bound():
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, size=(600, 1))
    y = np.sin(2 * X.ravel()) + 0.2 * rng.normal(size=600)
    search = Search(1.0 * RBF(), 0.1, True, np.full(3, -9.0), np.full(3, 9.0))
    Z = spread_points(X, 12, random_state=0)
    full = learn_inducing(X, y, search, Z, tol=1e-6)
    kernel, variance = search.split(search.theta)
    sums = InducingSums.at(kernel, Z).update((X, y, None))
    start = whitened_law(inducing_law(sums, variance))
    schedule = Schedule(batch_size=200, learning_rate=0.02, epochs=150, tol=1e-5)
    batches = learn_by_batches(X, y, search, Z, start, schedule=schedule)
    reached = []
    for learnt in (full, batches):
        kernel, variance = search.split(learnt.theta)
        reached.append(collapsed_bound(kernel, variance, learnt.Z, X, y).value / len(y))
    assert reached[1] == pytest.approx(reached[0], abs=0.01)
    assert reached[0] > collapsed_bound(*search.split(search.theta), Z, X, y).value / len(y)


@pytest.mark.verify
def test_what_is_not_learnt_stays(data):
    X, y, Z = data
    search = Search(KERNEL, 0.1, False, np.full(3, -9.0), np.full(3, 9.0))
    start = best_law(X, y, Z, 0.1)
    learnt = learn_by_batches(
        X, y, search, Z, start, learn_points=False, scale=2.0, schedule=Schedule(epochs=3)
    )
    np.testing.assert_array_equal(learnt.Z, Z)
    assert learnt.theta.shape == (3,)
    assert not np.array_equal(learnt.theta, search.theta)


def test_spread_points_are_distinct_rows(seed):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(500, 2)), 1)
    Z = spread_points(X, 40, random_state=seed)
    assert Z.shape == (40, 2)
    assert len(np.unique(Z, axis=0)) == 40
    assert {tuple(z) for z in Z} <= {tuple(x) for x in X}
    few = spread_points(np.repeat(X[:3], 5, axis=0), 40)
    np.testing.assert_array_equal(few, np.unique(X[:3], axis=0))
