"""Measured orders against declared ones, on functions where they are attained."""

import math

import numpy as np
import pytest

from corollary.core.simulate import fit_slope
from corollary.optimize import (
    Average,
    ConstantRate,
    Function,
    GradientDescent,
    Nesterov,
    ProximalGradient,
    Quadratic,
    StochasticGradient,
    Subgradient,
    acceleration_worst_case,
    conjugate_gradient_bound,
    conjugate_gradients,
    descent_worst_case,
    first_order_bound,
    gradient_norm_bound,
    iterate,
    subgradient_worst_case,
)

SIZES = [32, 64, 128, 256]


def descent(n):
    return iterate(GradientDescent(descent_worst_case(n_steps=n)), [1.0], max_iter=n).state.value


def proximal(n):
    method = ProximalGradient(descent_worst_case(n_steps=n), accelerated=False)
    return float(iterate(method, [1.0], max_iter=n).history.value[-1])


def fista(n):
    method = ProximalGradient(acceleration_worst_case(n_steps=n), restart=False)
    return float(iterate(method, [1.0], max_iter=n).history.value[-1])


def subgradient(n):
    f = subgradient_worst_case(n_steps=n)
    method = Subgradient(f, 1 / math.sqrt(n))
    least = f.value(np.full(n, -1 / math.sqrt(n)))
    return iterate(method, np.zeros(n), max_iter=n).state.value - least


def stochastic(n):
    f = subgradient_worst_case(n_steps=n)
    method = StochasticGradient(Average([f]), ConstantRate(1 / math.sqrt(n)))
    least = f.value(np.full(n, -1 / math.sqrt(n)))
    return f.value(iterate(method, np.zeros(n), max_iter=n).state.x) - least


@pytest.mark.parametrize(
    ("run", "name", "order"),
    [
        (descent, "gradient descent", -1.0),
        (proximal, "proximal gradient", -1.0),
        (fista, "fista", -2.0),
        (subgradient, "subgradient", -0.5),
        (stochastic, "subgradient", -0.5),
    ],
)
def test_measured_orders_are_the_declared_ones(run, name, order):
    ends = [run(n) for n in SIZES]
    assert fit_slope(SIZES, ends).slope == pytest.approx(order, abs=0.08)
    constants = {"lipschitz": 1.0} if name == "subgradient" else {"smoothness": 1.0}
    bounds = [first_order_bound(name, n, radius=1.0, **constants) for n in SIZES]
    assert fit_slope(SIZES, bounds).slope == pytest.approx(order, abs=0.07)
    assert all(end <= bound * (1 + 1e-12) for end, bound in zip(ends, bounds))
    if run in (descent, subgradient):
        assert ends == pytest.approx(bounds, rel=1e-9)  # the constant is tight


def test_the_constant_of_gradient_descent_is_tight():
    for n in SIZES:
        assert descent(n) == pytest.approx(1 / (4 * n + 2), rel=1e-12)
        assert first_order_bound("gradient descent", n, radius=1.0, smoothness=1.0) == (
            pytest.approx(1 / (4 * n + 2), rel=1e-12)
        )


def test_gradients_shrink_in_the_declared_order():
    # With an excess of 1, T steps along a line of slope g lead to where the parabola begins:
    # T g^2 + g^2 / 2 = 1, and all gradients are of length g.
    seen = []
    for T in SIZES:
        g = math.sqrt(1 / (T + 0.5))
        f = Function(
            lambda x, g=g: float(np.where(abs(x[0]) > g, g * abs(x[0]) - g**2 / 2, x @ x / 2)),
            lambda x, g=g: np.clip(x, -g, g),
            smoothness=1.0,
        )
        start = [(T + 1) * g]
        assert f.value(start) == pytest.approx(1.0)
        gradients = iterate(GradientDescent(f), start, max_iter=T).history.gradient
        seen.append(float(gradients.min() ** 2))
        bound = gradient_norm_bound(n_steps=T, rate=1.0, smoothness=1.0, excess=1.0)
        assert bound / 2.1 <= seen[-1] <= bound
    assert fit_slope(SIZES, seen).slope == pytest.approx(-1.0, abs=0.02)


@pytest.mark.parametrize(
    ("name", "make", "order"),
    [("gradient descent", GradientDescent, 1.0), ("nesterov", Nesterov, 0.5)],
)
def test_steps_grow_with_the_condition_number_as_declared(name, make, order):
    conditions, steps = [64.0, 256.0, 1024.0], []
    for condition in conditions:
        # Curvatures down to the least one, in the middle of which nothing is easy.
        f = Quadratic(np.diag(np.geomspace(1 / condition, 1.0, 12)))
        start = 1 / np.sqrt(np.diag(f.P))  # an excess of 1/2 in each direction
        values = iterate(make(f), start, max_iter=int(12 * condition**order)).history.value
        steps.append(int(np.argmax(values <= 1e-6 * f.value(start))) + 1)
        assert values[-1] <= 1e-6 * f.value(start)
    assert fit_slope(conditions, steps).slope == pytest.approx(order, abs=0.08)


def test_conjugate_gradients_fall_like_the_root_of_the_condition_number():
    conditions, steps = [64.0, 256.0, 1024.0], []
    for condition in conditions:
        # Nodes of Chebyshev between 1 / condition and 1 are the hardest curvatures.
        angles = (np.arange(200) + 0.5) * math.pi / 200
        low = 1 / condition
        P = np.diag((1 + low) / 2 + (1 - low) / 2 * np.cos(angles))
        b = np.sqrt(np.diag(P))
        first = float(b @ np.linalg.solve(P, b))
        errors = []
        for k in range(1, 400):
            x = conjugate_gradients(P, b, max_iter=k, tol=0.0).x
            away = x - np.linalg.solve(P, b)
            errors.append(float(away @ P @ away) / first)
            assert errors[-1] <= conjugate_gradient_bound(condition, k) ** 2 * (1 + 1e-9)
            if errors[-1] <= 1e-6:
                break
        steps.append(len(errors))
    assert fit_slope(conditions, steps).slope == pytest.approx(0.5, abs=0.08)
