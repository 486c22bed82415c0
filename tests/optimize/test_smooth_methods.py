"""Gradient descent, Nesterov's acceleration and the subgradient method, against their rates."""

import math

import numpy as np
import pytest

from corollary.core.simulate import fit_slope
from corollary.optimize import (
    L1,
    Ball,
    Box,
    EmpiricalRisk,
    Function,
    GradientDescent,
    L1Ball,
    Nesterov,
    PowerRate,
    Quadratic,
    Subgradient,
    acceleration_worst_case,
    certify_minimum,
    first_order_bound,
    first_order_steps,
    gradient_descent,
    iterate,
    nesterov,
    nesterov_worst_case,
    plan_steps,
    quadratic_descent,
    subgradient_bound,
    subgradient_method,
    subgradient_worst_case,
    trace_points,
)

L, R = 8.0, 3.0


def functions(seed):
    """Quadratics with and without strong convexity and logistic risks, with a minimiser."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(3, 4))
    flat = Quadratic(A.T @ A, -A.T @ rng.normal(size=3))
    yield flat, flat.minimiser()
    steep = Quadratic(np.diag([0.05, 1.0, 3.0, 9.0]), rng.normal(size=4))
    yield steep, steep.minimiser()
    y = np.where(rng.random(12) < 0.5, 1, -1)
    risk = EmpiricalRisk(rng.normal(size=(12, 4)), y, alpha=0.05)
    yield risk, nesterov(risk, np.zeros(4), tol=1e-14).x


@pytest.mark.parametrize("seed", range(4))
def test_no_iterate_lies_above_its_bound(seed):
    for f, best in functions(seed):
        start = best + np.array([1.0, -2.0, 0.5, 1.0])
        least, distance = f.value(best), float(np.linalg.norm(start - best))
        for name, make in (("gradient descent", GradientDescent), ("nesterov", Nesterov)):
            for share in (1.0, 0.4):
                rate = share / f.smoothness
                run = iterate(make(f, rate), start, max_iter=80)
                for k, value in enumerate(run.history.value, start=1):
                    bound = first_order_bound(
                        name,
                        k,
                        radius=distance,
                        smoothness=1 / rate,
                        strong_convexity=f.strong_convexity,
                        excess=f.value(start) - least,
                    )
                    assert value - least <= bound * (1 + 1e-9) + 1e-13


@pytest.mark.parametrize("n", [1, 2, 3, 10, 40])
def test_acceleration_attains_its_bound_up_to_lower_order_terms(n):
    f = acceleration_worst_case(n_steps=n, smoothness=L, radius=R)
    run = iterate(Nesterov(f), [R, 0.0], max_iter=n)
    attained = run.history.value[-1]
    assert attained == pytest.approx(2 * L * R**2 / ((n + 2) * (n + 3)), rel=1e-12)
    bound = first_order_bound("nesterov", n, radius=R, smoothness=L)
    assert attained / bound == pytest.approx((n + 1) ** 2 / ((n + 2) * (n + 3)))
    assert f.value([0.0, 0.0]) == 0.0


def test_measured_orders_are_the_declared_ones():
    # Each point of a curve is the worst case of its number of steps.
    sizes = [40, 80, 160, 320]
    ends = [
        iterate(Nesterov(acceleration_worst_case(n_steps=n)), [1.0], max_iter=n).state.value
        for n in sizes
    ]
    assert fit_slope(sizes, ends).slope == pytest.approx(-2.0, abs=0.06)
    # On the chain, gradient descent is of a lower order than acceleration.
    f = nesterov_worst_case(n_features=400)
    gaps = {}
    for name, make in (("plain", GradientDescent), ("accelerated", Nesterov)):
        f_star = f.value(f.minimiser())
        values = iterate(make(f, 1.0), np.zeros(400), max_iter=160).history.value - f_star
        gaps[name] = values[159]
        assert values[159] >= 3 * np.sum(f.minimiser() ** 2) / (32 * 401**2)
    assert gaps["accelerated"] < gaps["plain"] / 2


def test_steps_by_hand():
    f = Quadratic([[1.0]])  # strongly convex: push (1 - r) / (1 + r) with r = sqrt(1/4) is 1/3
    path = trace_points(Nesterov(f, 0.25), [1.0], 2)[:, 0]
    assert path == pytest.approx([1.0, 0.75, 0.75 * (0.75 - 0.25 / 3)])
    info = iterate(Nesterov(f, 0.25), [1.0], max_iter=2).history[-1]
    y = 0.75 - 0.25 / 3
    assert info.gradient == pytest.approx(y)
    assert info.step == pytest.approx(0.75 - 0.75 * y)
    assert info.value == pytest.approx((0.75 * y) ** 2 / 2)
    flat = Function(lambda x: x @ x / 2, lambda x: x, convex=True)  # pushes -1/2, 0, 1/4
    path = trace_points(Nesterov(flat, 0.5), [1.0], 4)[:, 0]
    fourth = (0.09375 + 0.4 * (0.09375 - 0.25)) / 2
    assert path == pytest.approx([1.0, 0.5, 0.25, 0.09375, fourth])
    # The closed form of gradient descent on a quadratic.
    bowl = Quadratic([[2.0, 1.0], [1.0, 2.0]], [1.0, -1.0])
    solution = gradient_descent(bowl, [3.0, 1.0], tol=1e-9)
    closed = quadratic_descent(bowl, [3.0, 1.0], rate=1 / 3, n_steps=solution.n_iter)
    assert solution.x == pytest.approx(closed, rel=1e-12)
    assert solution.value == pytest.approx(bowl.value(solution.x), rel=1e-12)
    assert solution.value == pytest.approx(-1.0)
    history = solution.history
    assert history.step == pytest.approx(history.gradient / 3)


@pytest.mark.parametrize(
    ("solve", "name"), [(gradient_descent, "gradient descent"), (nesterov, "nesterov")]
)
def test_planned_steps_are_enough(solve, name):
    bowl = Quadratic(np.diag([1.0, 4.0]), [1.0, 0.0])
    # |gradient|^2 = 5 and m = 1: excess 2.5 and radius sqrt 5 are known.
    constants = {"radius": math.sqrt(5), "smoothness": 4.0, "strong_convexity": 1.0, "excess": 2.5}
    start = [1.0, 0.25]
    plan = plan_steps(name, bowl, start)
    assert plan.constants == pytest.approx(constants)
    assert plan.bound(3) == pytest.approx(first_order_bound(name, 3, **constants))
    solution = solve(bowl, start, tol=1e-5)
    assert solution.planned == plan.steps(1e-5) == first_order_steps(name, 1e-5, **constants)
    assert solution.n_iter <= solution.planned
    assert solution.status == "optimal"
    assert f"{solution.planned} are enough by the rate" in str(solution)
    assert solution.value == pytest.approx(-0.5, abs=1e-5)
    # With convexity alone, a radius is all that the rate needs.
    flat = Function(
        lambda x: np.logaddexp(0, x[0]) - x[0] / 2,
        lambda x: 1 / (1 + np.exp(-x)) - 0.5,
        convex=True,
        smoothness=0.25,
    )
    solution = solve(flat, [4.0], radius=4.5, tol=1e-2)
    assert solution.status == "optimal"
    assert solution.planned == first_order_steps(name, 1e-2, radius=4.5, smoothness=0.25)
    assert solution.value - math.log(2) <= solution.gap <= 1e-2


def test_a_rate_proves_what_it_says_and_only_if_it_is_better():
    flat = Function(lambda x: x @ x / 2, lambda x: x, convex=True, smoothness=1.0)
    plan = plan_steps("gradient descent", flat, [2.0], radius=2.0)
    at_start = certify_minimum(flat, [2.0])
    assert at_start.gap == math.inf
    better = plan.improve(at_start, 4)  # 1 * 4 / 18
    assert (better.proof, better.gap) == ("rate", pytest.approx(4 / 18))
    assert better.value == at_start.value
    assert [a.text for a in better.assumptions][-1].startswith("A minimiser lies within 2")
    bowl = Quadratic([[1.0]])
    exact = certify_minimum(bowl, [0.0])
    assert plan_steps("gradient descent", bowl, [2.0]).improve(exact, 0) is exact


def test_plans_know_sets_and_refuse_what_is_not_known():
    bowl = Quadratic(np.zeros((2, 2)), [1.0, 0.0])
    for within, start, reach in [
        (Box(0.0, [2.0, 1.0]), [0.5, 0.5], math.hypot(1.5, 0.5)),
        (Ball(1.0), [0.0, 0.0], math.sqrt(2)),
        (Box(0.0), [1.0, 1.0], math.inf),
        (L1Ball(1.0), [3.0, 0.0], math.hypot(2, 1)),  # begins at (1, 0)
    ]:
        plan = plan_steps("projected gradient", bowl, start, within, rate=0.5)
        assert plan.constants["radius"] == pytest.approx(reach)
    assert plan.constants["smoothness"] == 2.0
    assert plan_steps("gradient descent", Quadratic([[4.0]]), [1.0], rate=0.3).steps(0.1) is None
    assert plan_steps("gradient descent", Quadratic([[-1.0]]), [1.0]).steps(0.1) is None
    assert (
        plan_steps("nesterov", Function(np.sum, np.ones_like), [1.0], radius=1.0).steps(1) is None
    )
    assert plan_steps("fista", Quadratic([[1.0]], [-3.0]), [0.0], L1(1.0)).constants == (
        pytest.approx({"radius": 2.0, "smoothness": 1.0, "strong_convexity": 1.0, "excess": 2.0})
    )
    # A start at the minimum needs no step.
    assert plan_steps("gradient descent", Quadratic([[1.0]]), [0.0]).steps(1e-9) == 0


def test_without_convexity_nothing_is_proved():
    f = Function(lambda x: float(np.cos(x[0])), lambda x: -np.sin(x), smoothness=1.0)
    for solve in (gradient_descent, nesterov):
        solution = solve(f, [1.0], tol=1e-6)
        assert (solution.status, solution.planned, solution.gap) == ("stopped", None, math.inf)
        assert solution.x == pytest.approx([math.pi], abs=1e-6)
        assert "Nothing is proved" in str(solution)
    # With short steps it shows that the first gradient of 1e-3 of the tolerance ends the run.
    seen = gradient_descent(f, [1.0], rate=0.1, tol=1e-6).history["gradient"]
    assert seen[-1] <= 1e-9 < seen[-2]


@pytest.mark.parametrize("solve", [gradient_descent, nesterov])
def test_bad_steps_are_refused_and_bad_gradients_never_converge(solve):
    bowl = Quadratic([[1.0]])
    for rate in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(ValueError, match="positive, finite step"):
            solve(bowl, [1.0], rate=rate)
    with pytest.raises(ValueError, match="positive, finite step"):
        solve(Function(np.sum, np.ones_like), [1.0])
    with pytest.raises(ValueError, match="positive, finite step"):
        solve(Quadratic([[0.0]], [1.0]), [1.0])
    lost = Function(
        lambda x: float(x @ x),
        lambda x: 2 * x if x[0] > 0.5 else np.full(1, np.nan),
        convex=True,
        smoothness=4.0,
    )
    assert solve(lost, [1.0]).status == "diverged"
    with np.errstate(over="ignore", invalid="ignore"):
        assert solve(bowl, [1.0], rate=5.0).status == "diverged"
    with pytest.raises(ValueError, match="gradient must have shape"):
        solve(Function(np.sum, lambda x: np.ones(3), smoothness=1.0), [1.0])


def kinked(seed):
    """Hinge risks and distances in the 1-norm, with bounds on subgradients and a minimiser."""
    rng = np.random.default_rng(seed)
    a = rng.normal(size=2)
    yield (
        Function(lambda x: np.abs(x - a).sum(), lambda x: np.sign(x - a), convex=True),
        math.sqrt(2),
        a,
        0.0,
    )
    X = rng.normal(size=(8, 2))
    risk = EmpiricalRisk(X, np.where(X[:, 0] > 0.2 * rng.normal(size=8), 1, -1), "hinge")
    grid = np.linspace(-6, 6, 161)
    points = np.array([[u, v] for u in grid for v in grid])
    values = np.maximum(0, 1 - risk.y * (points @ X.T)).mean(axis=1)
    yield risk, risk.lipschitz, points[np.argmin(values)], values.min()


@pytest.mark.parametrize("seed", range(3))
def test_subgradient_gaps_hold_and_never_exceed_the_bound(seed):
    for f, G, best, least in kinked(seed):
        start = np.array([2.0, -1.0])
        radius = float(np.linalg.norm(start - best))
        for rate in (PowerRate(0.5), PowerRate(1.0, 1.0), PowerRate(0.05)):
            method = Subgradient(f, rate, centre=start, radius=radius)
            state = method.init(start)
            for k in range(1, 60):
                state, info = method.step(state)
                bound = subgradient_bound(step_sizes=rate(np.arange(k)), radius=radius, lipschitz=G)
                assert state.value - least <= info.gap + 1e-12
                assert f.value(state.average) - least <= bound + 1e-12
                assert info.gap <= bound * (1 + 1e-12)
                assert f.value(state.average) - method.lower_bound(state) <= bound * (1 + 1e-12)


@pytest.mark.parametrize("k", [1, 4, 25])
def test_the_subgradient_method_attains_its_bound(k):
    f = subgradient_worst_case(n_steps=k, lipschitz=2.0)
    bound = R * 2 / math.sqrt(k)
    solution = subgradient_method(
        f, np.zeros(k), radius=R, lipschitz=2.0, max_iter=k, tol=bound * (1 - 1e-9)
    )
    least = f.value(np.full(k, -R / math.sqrt(k)))
    state = solution.state
    assert state.value - least == pytest.approx(bound)
    assert state.value == 0.0
    # The gap that is computed is as large as the theory's, and not larger.
    assert solution.history.gap[-1] == pytest.approx(bound)
    assert solution.planned == first_order_steps(
        "subgradient", bound * (1 - 1e-9), radius=R, lipschitz=2.0
    )


def test_subgradient_steps_by_hand():
    f = Function(lambda x: 2 * abs(x[0]), lambda x: 2 * np.sign(x), convex=True)
    method = Subgradient(f, 0.5, Box(-0.25, 4.0))
    state = method.init([9.0])
    assert (state.x, state.value) == (4.0, 8.0)
    states, infos = [], []
    for _ in range(5):
        state, info = method.step(state)
        states.append(state)
        infos.append(info)
    assert [s.point[0] for s in states] == [3.0, 2.0, 1.0, 0.0, 0.0]
    assert [s.value for s in states] == [8.0, 6.0, 4.0, 2.0, 0.0]
    assert states[-1].average == pytest.approx(2.0)
    assert (infos[2].step, infos[2].gradient) == (1.0, 2.0)
    # Tangents are 2x, so that the least value of their mean in the box is -1/2.
    assert infos[2].gap == pytest.approx(4.5)
    assert infos[4].gap == pytest.approx(0.8 * 0.5)
    assert method.lower_bound(method.init([1.0])) == -math.inf
    unknown = Subgradient(f, 0.5)
    assert unknown.step(unknown.init([1.0]))[1].gap is None


def test_subgradient_method_says_what_is_proved():
    f = Function(lambda x: np.abs(x - 1).sum(), lambda x: np.sign(x - 1), convex=True)
    solved = subgradient_method(f, [3.0, 0.0], radius=3.0, lipschitz=math.sqrt(2), tol=0.05)
    assert solved.status == "optimal"
    assert solved.planned == math.ceil(18 / 0.05**2)
    assert solved.n_iter <= solved.planned
    assert solved.value <= solved.gap <= 0.05
    assert f.value(solved.x) == pytest.approx(solved.value)
    boxed = subgradient_method(f, [3.0, 0.0], Box(-1.0, 4.0), tol=0.05)
    assert (boxed.status, boxed.planned) == ("optimal", None)
    assert boxed.certificate.proof == "bounded set"
    assert boxed.value == f.value(boxed.x)
    far = subgradient_method(f, [3.0, 0.0], max_iter=30)
    assert (far.status, far.gap, far.planned) == ("out of steps", math.inf, None)
    assert far.value == f.value(far.x) > 0
    # Steps of 1 over the length of the first subgradient, and falling.
    assert far.history.step[:2] == pytest.approx([1.0, 1 / math.sqrt(2)])
    odd = Function(lambda x: -abs(x[0]), lambda x: -np.sign(x))
    vouched_by_nobody = subgradient_method(odd, [1.0], Box(-1.0, 1.0), tol=0.1, max_iter=20)
    assert vouched_by_nobody.status == "out of steps"
    lost = Function(lambda x: math.nan, lambda x: x, convex=True)
    assert subgradient_method(lost, [1.0], Box(0.0, 1.0)).status == "diverged"
