"""Passive-aggressive updates: optimality, peers, mistake bounds."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from corollary.datasets import SeparableMargin
from corollary.online import (
    OnlineGradientDescent,
    PassiveAggressive,
    passive_aggressive_bound,
    passive_aggressive_step,
)


@given(st.integers(0, 10_000), st.floats(0.05, 5.0))
def test_pa_i_minimises_the_proximal_objective(seed, lam):
    rng = np.random.default_rng(seed)
    w, x, y = rng.normal(size=3), rng.normal(size=3), float(rng.choice([-1, 1]))

    def objective(tau):
        new = w + tau * y * x
        return max(0.0, 1 - y * new @ x) + lam * ((new - w) ** 2).sum()

    best = minimize_scalar(objective, bounds=(-1, 3 / lam + 5), options={"xatol": 1e-11})
    grid = np.linspace(0, 1 / lam, 2001)
    loss = max(0.0, 1 - y * w @ x)
    tau = float(passive_aggressive_step(loss, x @ x, C=1 / (2 * lam)))
    assert objective(tau) <= best.fun + 1e-9
    assert objective(tau) <= min(objective(t) for t in grid) + 1e-12
    # The linearised step is the solution exactly if the loss is large.
    linear = float(passive_aggressive_step(loss, x @ x, variant="linearised", C=1 / (2 * lam)))
    if loss >= x @ x / (2 * lam):
        assert linear == tau
    elif loss > 0:
        assert objective(linear) > objective(tau)


def stream(seed, m=100):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 4))
    return X, np.where(X @ [1, -1, 0.5, 0] + rng.normal(size=m) > 0, 1.0, -1.0)


@pytest.mark.parametrize(("variant", "loss"), [("pa-i", "hinge"), ("pa-ii", "squared_hinge")])
def test_scikit_learn_agrees(variant, loss, seed):
    from sklearn.linear_model import PassiveAggressiveClassifier

    X, y = stream(seed)
    C = 0.3
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the peer is to be removed from scikit-learn
        peer = PassiveAggressiveClassifier(
            C=C, loss=loss, fit_intercept=False, max_iter=1, tol=None, shuffle=False
        ).fit(X, y)
    learner = PassiveAggressive(variant, C=C).partial_fit(X, y)
    np.testing.assert_allclose(learner.weights_, peer.coef_[0], rtol=1e-9)


@pytest.mark.parametrize("variant", ["pa", "pa-i", "pa-ii", "linearised"])
def test_definition(variant, seed):
    X, y = stream(seed)
    w = np.zeros(4)
    for x, label in zip(X, y):
        loss = max(0.0, 1 - label * w @ x)
        w = w + passive_aggressive_step(loss, x @ x, variant=variant, C=0.4) * label * x
    learner = PassiveAggressive(variant, C=0.4).partial_fit(X, y)
    np.testing.assert_allclose(learner.weights_, w, rtol=1e-9)
    if variant == "pa":  # the last round's loss is mended whole
        assert y[-1] * (w @ X[-1]) >= 1 - 1e-12


def test_the_linearised_rule_is_gradient_descent(seed):
    X, y = stream(seed)
    first, second = PassiveAggressive("linearised", C=0.1), OnlineGradientDescent(eta=0.1)
    u = np.array([1.0, -1.0, 0.5, 0.0])
    a, b = first.run((X, y), comparator=u), second.run((X, y), comparator=u)
    np.testing.assert_allclose(first.weights_, second.weights_, rtol=1e-12)
    np.testing.assert_allclose(a.bound, b.bound, rtol=1e-12)
    assert a.measure == "regret"


@given(
    st.integers(0, 10_000),
    st.sampled_from(["pa", "pa-i", "pa-ii", "linearised"]),
    st.floats(0.05, 5),
)
def test_mistake_bounds_hold(seed, variant, C):
    rng = np.random.default_rng(seed)
    X, y = stream(seed, m=60)
    u = rng.normal(size=4)
    if seed % 2:  # separable rounds, and a comparator with margin 1
        world = SeparableMargin(rng.normal(size=4), margin=0.2)
        X, y = world.sample(60, random_state=seed)
        u = world.unit / 0.2 * (1 + 1e-9)
    if seed % 3 == 0:
        X, y = np.repeat(X[:1], 60, axis=0), 1.0 - 2.0 * (np.arange(60) % 2)
    record = PassiveAggressive(variant, C=C).run((X, y), comparator=u)
    assert record.holds
    if seed % 2 and seed % 3:
        assert np.isfinite(record.bound).all()
    if variant in ("pa", "pa-ii"):  # the theorems bound the squared losses, too
        assert (np.cumsum(record.losses**2) <= record.bound * (1 + 1e-9)).all()


def test_formulas():
    np.testing.assert_allclose(passive_aggressive_step(1.0, 2.0, variant="pa"), 0.5)
    np.testing.assert_allclose(passive_aggressive_step(1.0, 2.0, variant="pa-ii", C=0.5), 1 / 3)
    assert passive_aggressive_step(1.0, 0.0, variant="pa") == 0.0
    assert passive_aggressive_bound(0.0, 2.0, 3.0, variant="pa") == 36.0
    assert passive_aggressive_bound(0.1, 2.0, 3.0, variant="pa") == np.inf
    assert passive_aggressive_bound(1.0, 2.0, 1.0, variant="pa-ii", C=0.5) == 10.0
    assert passive_aggressive_bound(3.0, 2.0, 1.0, C=0.5) == 14.0  # max(1, 2) (4 + 2 / 2 x 3)
    assert passive_aggressive_bound(3.0, 2.0, 3.0, C=2.0) == 144.0  # 9 (4 + 4 x 3)
    np.testing.assert_allclose(passive_aggressive_step(3.0, 2.0, variant="pa-ii", C=2.0), 4 / 3)
    np.testing.assert_allclose(passive_aggressive_step([0.0, 1.0, 9.0], 2.0, C=2.0), [0, 0.5, 2])
    with pytest.raises(ValueError, match="use ogd_second_order_bound"):
        passive_aggressive_bound(0.0, 1.0, 1.0, variant="linearised")
    for bad in [(-5.0, 1.0, 1.0), (0.0, -1.0, 1.0), (0.0, 1.0, -1.0)]:
        with pytest.raises(ValueError, match="that are not negative"):
            passive_aggressive_bound(*bad)


@given(st.integers(0, 10_000), st.floats(0.05, 5.0))
def test_pa_ii_minimises_its_proximal_objective(seed, C):
    rng = np.random.default_rng(seed)
    x, loss = rng.normal(size=3), float(rng.uniform(0, 4))

    def objective(tau):  # half the squared step, and C times the squared loss after it
        return tau**2 * (x @ x) / 2 + C * max(0.0, loss - tau * (x @ x)) ** 2

    tau = float(passive_aggressive_step(loss, x @ x, variant="pa-ii", C=C))
    for other in (0.9 * tau, 1.1 * tau, tau + 1e-3, tau - 1e-3):
        assert objective(tau) <= objective(other) + 1e-12


@pytest.mark.parametrize(("name", "value"), [("variant", "pa-iii"), ("C", 0.0)])
def test_parameters_are_checked(name, value):
    with pytest.raises(ValueError, match=f"'{name}' parameter of PassiveAggressive"):
        PassiveAggressive(**{name: value})
