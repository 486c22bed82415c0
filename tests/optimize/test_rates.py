"""Rates: values by hand, tightness on worst-case functions, and no run above its bound."""

import math

import numpy as np
import pytest

from corollary.optimize import (
    EmpiricalRisk,
    Function,
    GradientDescent,
    batch_noise,
    descent_worst_case,
    first_order_bound,
    first_order_steps,
    gradient_noise,
    gradient_norm_bound,
    gradient_norm_steps,
    iterate,
    nesterov_worst_case,
    sgd_gradient_norm_bound,
    sgd_high_probability_bound,
    sgd_sqrt_rate,
    subgradient_bound,
    subgradient_worst_case,
    trace_points,
)

L, M, R = 8.0, 2.0, 3.0


@pytest.mark.parametrize(
    ("method", "constants", "k", "bound"),
    [
        ("gradient descent", {}, 0, 36.0),
        ("gradient descent", {}, 4, 72 / 18),
        ("gradient descent", {"strong_convexity": M}, 4, 0.75**8 * 36),
        ("gradient descent", {"strong_convexity": M, "excess": 5.0}, 2, 0.75**4 * 5),
        ("gradient descent", {"strong_convexity": 0.01}, 4, 72 / 18),
        ("projected gradient", {}, 4, 9.0),
        ("proximal gradient", {"strong_convexity": M}, 8, 0.75**8 * 36),
        ("proximal gradient", {"strong_convexity": 0.01, "excess": 7.0}, 4, 9.0),
        ("proximal gradient", {"excess": 7.0}, 0, 7.0),
        ("nesterov", {}, 5, 2 * 72 / 36),
        ("fista", {}, 5, 2 * 72 / 36),
        ("fista", {"excess": 7.0}, 0, 7.0),
        ("nesterov", {"strong_convexity": M}, 3, 0.5**3 * (36 + 9)),
        ("fista", {"strong_convexity": M, "excess": 5.0}, 3, 0.5**3 * (5 + 9)),
        ("conjugate gradients", {"strong_convexity": M}, 3, 4 * (1 / 3) ** 6 * 36),
        ("conjugate gradients", {"strong_convexity": M}, 0, 36.0),
    ],
)
def test_bounds_by_hand(method, constants, k, bound):
    got = first_order_bound(method, k, radius=R, smoothness=L, **constants)
    assert got == pytest.approx(bound)


def test_subgradient_bounds_by_hand():
    assert first_order_bound("subgradient", 9, radius=R, lipschitz=2.0) == pytest.approx(2.0)
    assert first_order_bound("subgradient", 0, radius=R, lipschitz=2.0) == math.inf
    steps = np.array([0.5, 0.25])
    got = subgradient_bound(step_sizes=steps, radius=R, lipschitz=2.0)
    assert got == pytest.approx((9 + 4 * 0.3125) / 1.5)
    tuned = np.full(9, R / (2.0 * 3))
    assert subgradient_bound(step_sizes=tuned, radius=R, lipschitz=2.0) == pytest.approx(2.0)


@pytest.mark.parametrize("method", ["gradient descent", "projected gradient", "nesterov", "fista"])
@pytest.mark.parametrize("m", [0.0, 0.5])
@pytest.mark.parametrize("accuracy", [40.0, 1.0, 1e-3])
def test_steps_invert_the_bound(method, m, accuracy):
    constants = {"radius": R, "smoothness": L, "strong_convexity": m, "excess": 60.0}
    k = first_order_steps(method, accuracy, **constants)
    assert first_order_bound(method, k, **constants) <= accuracy
    assert k == 0 or first_order_bound(method, k - 1, **constants) > accuracy


def test_an_accuracy_that_nothing_promises_needs_endless_steps():
    assert first_order_steps("nesterov", 0.1, radius=1.0) == math.inf
    assert first_order_steps("subgradient", 0.5, radius=1.0, lipschitz=1.0) == 4


@pytest.mark.parametrize("n", [0, 1, 2, 7, 30])
def test_gradient_descent_attains_its_bound_on_hubers_function(n):
    f = descent_worst_case(n_steps=n, smoothness=L, radius=R)
    x = trace_points(GradientDescent(f), [R, 0.0], n)[-1]
    tight = first_order_bound("gradient descent", n, radius=R, smoothness=L)
    assert f.value(x) == pytest.approx(tight, rel=1e-12)
    assert f.value(x) == pytest.approx(L * R**2 / (4 * n + 2), rel=1e-12)
    assert f.value([0.0, 0.0]) == 0.0
    # Slope and value are continuous where the parabola ends.
    bend = R / (2 * n + 1)
    assert f.value([1.0001 * bend]) - f.value([0.9999 * bend]) == pytest.approx(
        0.0002 * bend * f.gradient([bend])[0], rel=1e-3
    )


def test_gradient_descent_attains_its_linear_rate_on_the_flattest_parabola():
    f = Function(lambda x: M / 2 * x @ x, lambda x: M * x, smoothness=L, strong_convexity=M)
    values = iterate(GradientDescent(f), [R], max_iter=6).history.value
    for k, value in enumerate(values, start=1):
        start = M * R**2 / 2
        bound = first_order_bound(
            "gradient descent", k, radius=R, smoothness=L, strong_convexity=M, excess=start
        )
        assert value == pytest.approx(bound, rel=1e-12)


@pytest.mark.parametrize("k", [1, 3, 10])
def test_subgradient_steps_attain_their_bound_on_the_largest_entry(k):
    f = subgradient_worst_case(n_steps=k, lipschitz=2.0)
    points = trace_points(GradientDescent(f, rate=R / (2 * math.sqrt(k))), np.zeros(k), k)
    best = min(f.value(x) for x in points[:k])
    least = f.value(np.full(k, -R / math.sqrt(k)))
    bound = first_order_bound("subgradient", k, radius=R, lipschitz=2.0)
    assert best - least == pytest.approx(bound)


def test_no_first_order_method_is_fast_on_the_chain():
    f = nesterov_worst_case(n_features=21, smoothness=L)
    x = f.minimiser()
    assert x == pytest.approx(1 - np.arange(1, 22) / 22)
    radius = np.linalg.norm(x)
    points = trace_points(GradientDescent(f, rate=1 / L), np.zeros(21), 10)
    excess = f.value(points[10]) - f.value(x)
    assert excess >= 3 * L * radius**2 / (32 * (10 + 1) ** 2)
    for k in range(1, 11):
        assert (points[k][k:] == 0).all()


def sigmoid_regression():
    """A smooth loss that is not convex: squared error of a sigmoid."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 3)), rng.integers(0, 2, 20)

    def value(w):
        return float(np.mean((1 / (1 + np.exp(-X @ w)) - y) ** 2) / 2)

    def gradient(w):
        p = 1 / (1 + np.exp(-X @ w))
        return X.T @ ((p - y) * p * (1 - p)) / len(X)

    # |d/ds ((p - y) p (1 - p))| <= 1/16 + 1/10
    smoothness = (1 / 16 + 0.1) * np.linalg.eigvalsh(X.T @ X / len(X))[-1]
    return Function(value, gradient, smoothness=smoothness)


@pytest.mark.parametrize("relative", [1.0, 0.3])
def test_gradients_of_a_loss_that_is_not_convex_fall_as_promised(relative):
    f = sigmoid_regression()
    rate = relative / f.smoothness
    run = iterate(GradientDescent(f, rate=rate), [3.0, -3.0, 3.0], max_iter=60)
    values = np.append(f.value([3.0, -3.0, 3.0]), run.history.value)
    squares = run.history.gradient**2
    assert (values[1:] <= values[:-1] - rate / 2 * squares + 1e-15).all()
    for T in (1, 5, 60):
        numbers = {"n_steps": T, "rate": rate, "smoothness": f.smoothness}
        sharp = gradient_norm_bound(**numbers, excess=values[0] - values[T])
        loose = gradient_norm_bound(**numbers, excess=values[0])
        assert squares[:T].min() <= squares[:T].mean() <= sharp <= loose


def test_gradient_norm_rates_by_hand():
    numbers = {"rate": 0.5, "smoothness": 2.0, "excess": 3.0}
    assert gradient_norm_bound(n_steps=4, **numbers) == pytest.approx(3.0)
    assert gradient_norm_steps(3.0, **numbers) == 4
    assert gradient_norm_steps(2.9, **numbers) == 5
    assert gradient_norm_steps(1e9, **numbers) == 1
    steps = {"step_sizes": [0.5, 0.25], "smoothness": 2.0, "excess": 3.0, "noise": 1.6}
    assert sgd_gradient_norm_bound(**steps) == pytest.approx((6 + 2 * 1.6 * 0.3125) / 0.75)
    high = sgd_high_probability_bound(**steps, delta=math.exp(-2))
    assert high == pytest.approx((12 + 4 * 1.6 * 0.3125 + 8 * 1.6 * 0.5 * 2) / 0.75)
    rate = sgd_sqrt_rate(n_steps=4, smoothness=2.0, excess=3.0, noise=1.6)
    assert rate == pytest.approx((12 + 1.6 * (math.log(4) + 1)) / 2)


@pytest.mark.parametrize("T", [1, 2, 10, 1000])
def test_the_rate_of_falling_steps_follows_from_the_bound_for_any_steps(T):
    steps = 1 / (2.0 * np.sqrt(np.arange(1, T + 1)))
    assert (steps**2).sum() <= (math.log(T) + 1) / 4
    assert steps.sum() >= math.sqrt(T) / 2 * (1 - 1e-12)
    numbers = {"smoothness": 2.0, "excess": 3.0, "noise": 1.6}
    assert sgd_gradient_norm_bound(step_sizes=steps, **numbers) <= (
        sgd_sqrt_rate(n_steps=T, **numbers) * (1 + 1e-12)
    )


def test_noise_by_hand_and_of_batches_by_enumeration():
    from itertools import combinations, product

    rng = np.random.default_rng(0)
    f = EmpiricalRisk(rng.normal(size=(5, 2)), [1, -1, 1, 1, -1])
    table = f.term_gradients([0.3, -0.2])
    noise = gradient_noise(table)
    mean = f.gradient([0.3, -0.2])
    assert table.mean(axis=0) == pytest.approx(mean)
    assert noise == pytest.approx((table**2).sum() / 5 - mean @ mean)
    for b in (1, 2, 3):
        for draws, n in ((product(range(5), repeat=b), 0), (combinations(range(5), b), 5)):
            batches = np.array([f.batch_gradient([0.3, -0.2], rows) for rows in draws])
            assert batches.mean(axis=0) == pytest.approx(mean)
            variance = ((batches - mean) ** 2).sum(axis=1).mean()
            assert variance == pytest.approx(batch_noise(noise, batch_size=b, n_terms=n))
    assert batch_noise(2.0, batch_size=1, n_terms=1) == 0.0
    assert batch_noise(2.0, batch_size=1, n_terms=2) == 2.0
    a = rng.normal(size=(6, 2))
    assert gradient_noise(5.0 - a) == pytest.approx(np.trace(np.cov(a.T, bias=True)))


def test_what_lies_outside_the_assumptions_is_refused():
    with pytest.raises(ValueError, match=r"none longer than 0\.5"):
        gradient_norm_bound(n_steps=3, rate=0.6, smoothness=2.0, excess=1.0)
    with pytest.raises(ValueError, match=r"none longer than 0\.5"):
        gradient_norm_steps(1.0, rate=0.6, smoothness=2.0, excess=1.0)
    for bound, more in (
        (sgd_gradient_norm_bound, {}),
        (sgd_high_probability_bound, {"delta": 0.1}),
    ):
        for steps in ([0.6], [], [-0.1], [np.nan]):
            with pytest.raises(ValueError, match="at least one step size"):
                bound(step_sizes=steps, smoothness=2.0, excess=1.0, noise=1.0, **more)
    with pytest.raises(ValueError, match="strong_convexity <= smoothness"):
        first_order_bound("nesterov", 3, radius=1.0, smoothness=1.0, strong_convexity=2.0)
    with pytest.raises(ValueError, match="'method' parameter of first_order_bound"):
        first_order_bound("magic", 3)
    with pytest.raises(ValueError, match="'radius' parameter of subgradient_bound"):
        subgradient_bound(step_sizes=[1.0], radius=-1.0, lipschitz=1.0)
    with pytest.raises(ValueError, match="at most n_terms=3"):
        batch_noise(1.0, batch_size=4, n_terms=3)
    with pytest.raises(ValueError, match="one term in each row"):
        gradient_noise([1.0])


@pytest.mark.parametrize("method", ["gradient descent", "nesterov", "fista", "conjugate gradients"])
def test_without_a_first_excess_nothing_is_bounded(method):
    assert first_order_bound(method, 3, smoothness=1.0, strong_convexity=1.0) == math.inf


@pytest.mark.parametrize("method", ["nesterov", "proximal gradient"])
def test_a_start_that_is_good_enough_needs_no_steps(method):
    """After one step the bound is larger: 5 and 0.1 before it."""
    constants = {"radius": 1.0, "smoothness": 10.0, "excess": 0.1}
    assert first_order_bound(method, 1, **constants) > first_order_bound(method, 0, **constants)
    assert first_order_steps(method, 0.2, **constants) == 0
