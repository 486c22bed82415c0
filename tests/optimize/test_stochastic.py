"""Stochastic gradient descent, its rules and its bounds, and Robbins and Monro's iteration."""

import math
from itertools import product

import numpy as np
import pytest

from corollary.core.simulate import assert_bound_holds
from corollary.optimize import (
    AdaGrad,
    Adam,
    Average,
    Ball,
    Box,
    ConstantRate,
    EmpiricalRisk,
    Function,
    GradientDescent,
    Momentum,
    PowerRate,
    Quadratic,
    RobbinsMonro,
    RowAverage,
    StochasticGradient,
    draw_rows,
    first_order_steps,
    gradient_noise,
    iterate,
    robbins_monro,
    sgd_gradient_norm_bound,
    sgd_high_probability_bound,
    sgd_sqrt_rate,
    stochastic_gradient,
    subgradient_bound,
    trace_points,
)

CENTRES = np.array([[1.0, 0.0], [-2.0, 1.0], [0.5, 3.0]])


def square(x, a):
    return ((x - a) ** 2).sum() / 2


def centres():
    """The mean of half squared distances, whose noise is the same everywhere."""
    return Average([Quadratic(np.eye(2), -a, a @ a / 2) for a in CENTRES])


def test_draws_are_what_they_are_called():
    counts = np.zeros(7)
    for epoch in range(5):
        batches = draw_rows(7, batch_size=3, draws="reshuffled", seed=1, epoch=epoch)
        assert [len(rows) for rows in batches] == [3, 3, 1]
        counts += np.bincount(np.concatenate(batches), minlength=7)
    assert (counts == 5).all()
    first, second = (draw_rows(50, draws="reshuffled", epoch=e) for e in (0, 1))
    assert np.concatenate(first).tolist() != np.concatenate(second).tolist()
    again = draw_rows(50, draws="reshuffled", epoch=1)
    assert np.array_equal(np.concatenate(second), np.concatenate(again))
    draws = np.concatenate([np.concatenate(draw_rows(4, epoch=e)) for e in range(2000)])
    # Every number is as frequent as every other, up to five standard errors.
    assert np.bincount(draws) / len(draws) == pytest.approx(0.25, abs=5 * 0.433 / math.sqrt(8000))
    assert len(draw_rows(4, batch_size=6)[0]) == 6
    assert [rows.tolist() for rows in draw_rows(3, draws="in order")] == [[0], [1], [2]]
    for size in (0, 5):
        with pytest.raises(ValueError, match="'batch_size' parameter"):
            draw_rows(4, batch_size=size, draws="reshuffled")


@pytest.mark.parametrize("averaged", [True, False])
def test_steps_by_hand(averaged):
    f = centres()
    method = StochasticGradient(f, PowerRate(0.5, 1.0), draws="in order", averaged=averaged)
    x, points, rates = np.array([4.0, 4.0]), [], [0.5, 0.25, 1 / 6, 0.125, 0.1, 1 / 12]
    for a, rate in zip(np.vstack([CENTRES, CENTRES]), rates):
        points.append(x)
        x = x - rate * (x - a)
    run = iterate(method, [4.0, 4.0], max_iter=2)
    average = np.average(points, axis=0, weights=rates)
    assert run.state.point == pytest.approx(x)
    assert run.state.average == pytest.approx(average)
    assert run.state.x == pytest.approx(average if averaged else x)
    assert (run.state.n_steps, run.state.n_epochs) == (6, 2)
    assert run.state.total == pytest.approx(sum(rates))
    assert run.history.value[-1] == pytest.approx(f.value(run.state.x))
    one = iterate(method, [4.0, 4.0], max_iter=1)
    assert run.history.step[-1] == pytest.approx(np.linalg.norm(run.state.x - one.state.x))


def test_a_batch_of_all_terms_is_gradient_descent():
    f = centres()
    method = StochasticGradient(f, 0.3, batch_size=3, draws="reshuffled", averaged=False)
    path = trace_points(GradientDescent(f, 0.3), [4.0, 4.0], 5)
    assert trace_points(method, [4.0, 4.0], 5) == pytest.approx(path)


@pytest.mark.parametrize("rule", [None, Momentum(0.8), AdaGrad(), Adam()])
@pytest.mark.parametrize("draws", ["iid", "reshuffled"])
def test_compiled_epochs_agree_with_the_loop_to_the_last_digits(rule, draws):
    compiled = RowAverage(square, CENTRES, convex=True, smoothness=1.0, strong_convexity=1.0)
    how = {"rule": rule, "draws": draws, "batch_size": 2, "seed": 3}
    runs = [
        iterate(StochasticGradient(f, PowerRate(0.4), **how), [4.0, 4.0], max_iter=4)
        for f in (centres(), compiled, compiled)
    ]
    assert runs[0].state.x == pytest.approx(runs[1].state.x, rel=1e-12)
    assert runs[0].state.point == pytest.approx(runs[1].state.point, rel=1e-12)
    assert runs[1].state.x.dtype == np.float64
    # The same seed gives the same bits; so do two runs in a row.
    assert np.array_equal(runs[1].state.x, runs[2].state.x)
    method = StochasticGradient(compiled, PowerRate(0.4), **how)
    half = iterate(method, [4.0, 4.0], max_iter=2)
    rest = iterate(method, state=half.state, max_iter=2)
    assert np.array_equal(rest.state.x, runs[1].state.x)


def test_row_averages_are_what_they_average():
    f, g = RowAverage(square, CENTRES), centres()
    x = np.array([0.3, -1.0])
    assert f.value(x) == pytest.approx(g.value(x), rel=1e-14)
    assert f.gradient(x) == pytest.approx(g.gradient(x), rel=1e-14)
    assert f.term_gradients(x) == pytest.approx(x - CENTRES, rel=1e-14)
    assert f.batch_gradient(x, [0, 0, 2]) == pytest.approx(x - CENTRES[[0, 0, 2]].mean(axis=0))
    assert (f.convex, f.n_terms) == (None, 3)
    vouched = RowAverage(square, CENTRES, smoothness=2.0, strong_convexity=1.0)
    assert (vouched.convex, vouched.smoothness, vouched.strong_convexity) == (True, 2.0, 1.0)
    assert len(vouched.assumptions) == 2
    for rows in ((), (np.zeros(0),), (np.zeros(2), np.zeros(3)), (1.0,)):
        with pytest.raises(ValueError, match="same number of rows"):
            RowAverage(square, *rows)


GRADIENTS = np.array([[3.0, -0.5], [4.0, 0.0], [-1.0, 2.0], [0.5, 1.0]])
RATES = [0.5, 0.25, 0.125, 1.0]


def follow(rule):
    x, memory = np.array([1.0, -1.0]), rule.init([1.0, -1.0])
    for gradient, rate in zip(GRADIENTS, RATES):
        x, memory = rule.apply(x, gradient, rate, memory)
    return x


@pytest.mark.parametrize("nesterov", [False, True])
def test_momentum_by_its_formula(nesterov):
    x, v = np.array([1.0, -1.0]), np.zeros(2)
    for g, rate in zip(GRADIENTS, RATES):
        v = 0.7 * v - rate * g
        x = x + (0.7 * v - rate * g if nesterov else v)
    assert follow(Momentum(0.7, nesterov)) == pytest.approx(x, rel=1e-14)
    plain = [1.0, -1.0] - (np.array(RATES)[:, None] * GRADIENTS).sum(axis=0)
    assert follow(Momentum(0.0)) == pytest.approx(plain)
    # Heavy ball on a quadratic is faster than gradient descent: tuned, |error| falls like
    # ((sqrt 25 - 1) / (sqrt 25 + 1))^t against (24 / 26)^t.
    bowl = Average([Quadratic(np.diag([1.0, 25.0]))])
    heavy = StochasticGradient(bowl, 4 / 36, rule=Momentum((4 / 6) ** 2), averaged=False)
    end = iterate(heavy, [1.0, 1.0], max_iter=60).state.x
    light = trace_points(GradientDescent(bowl, 2 / 26), [1.0, 1.0], 60)[-1]
    assert np.linalg.norm(end) < 1e-7 < 1e-3 < np.linalg.norm(light)


@pytest.mark.parametrize(("initial", "eps"), [(0.0, 0.0), (0.5, 0.1)])
def test_adagrad_by_its_formula(initial, eps):
    x, s = np.array([1.0, -1.0]), np.full(2, initial)
    for g, rate in zip(GRADIENTS, RATES):
        s = s + g**2
        x = x - rate * g / np.sqrt(s + eps)
    assert follow(AdaGrad(initial, eps)) == pytest.approx(x, rel=1e-14)
    # An entry without gradients does not move.
    rule = AdaGrad()
    assert rule.apply([1.0, 2.0], [1.0, 0.0], 0.5, rule.init([1.0, 2.0]))[0].tolist() == [0.5, 2.0]


def test_adam_by_its_formula():
    x, m, v = np.array([1.0, -1.0]), np.zeros(2), np.zeros(2)
    for t, (g, rate) in enumerate(zip(GRADIENTS, RATES), start=1):
        m, v = 0.8 * m + 0.2 * g, 0.95 * v + 0.05 * g**2
        x = x - rate * m / (1 - 0.8**t) / (np.sqrt(v / (1 - 0.95**t)) + 1e-3)
    assert follow(Adam(0.8, 0.95, 1e-3)) == pytest.approx(x, rel=1e-12)
    x, m, v = np.array([1.0, -1.0]), np.zeros(2), np.zeros(2)
    for t, (g, rate) in enumerate(zip(GRADIENTS, RATES), start=1):
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
        x = x - rate * m / (1 - 0.9**t) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
    assert follow(Adam()) == pytest.approx(x, rel=1e-9)


def test_adam_fails_on_a_convex_function_that_plain_steps_solve():
    # Reddi, Kale and Kumar: slopes 3, -1, -1 on [-1, 1]; the mean is least at -1.
    f = Average([Quadratic([[0.0]], [slope]) for slope in (3.0, -1.0, -1.0)])
    how = {"draws": "in order", "averaged": False, "within": Box(-1.0, 1.0)}
    adam = StochasticGradient(f, PowerRate(0.5), rule=Adam(0.0, 0.1), **how)
    plain = StochasticGradient(f, PowerRate(0.5), **how)
    assert iterate(adam, [0.0], max_iter=100).state.x > 0.9
    assert iterate(plain, [0.0], max_iter=100).state.x < -0.9


def test_the_expected_gradient_follows_its_recursion_and_keeps_its_bound():
    f, ends = centres(), []
    noise = gradient_noise(f.term_gradients([0.0, 0.0]))
    middle = CENTRES.mean(axis=0)
    assert noise == pytest.approx(((CENTRES - middle) ** 2).sum() / 3)
    for T in (1, 2, 5):
        for steps in (np.full(T, 1.0), np.full(T, 0.3), 1 / np.sqrt(np.arange(1, T + 1))):
            for start in (middle, middle + [3.0, 1.0]):
                squares = np.zeros(T)
                for path in product(range(3), repeat=T):  # all draws
                    x = start
                    for t, i in enumerate(path):
                        squares[t] += np.sum(f.gradient(x) ** 2) / 3**T
                        x = x - steps[t] * f.batch_gradient(x, [i])
                exact = np.sum((start - middle) ** 2)
                for t in range(T):
                    assert squares[t] == pytest.approx(exact)
                    exact = (1 - steps[t]) ** 2 * exact + steps[t] ** 2 * noise
                numbers = {"smoothness": 1.0, "excess": f.value(start), "noise": noise}
                bound = sgd_gradient_norm_bound(step_sizes=steps, **numbers)
                mean = steps @ squares / steps.sum()
                assert mean <= bound
                ends.append(mean / bound)
                if steps[-1] == 1 / math.sqrt(T):
                    assert squares.min() <= sgd_sqrt_rate(n_steps=T, **numbers)
    # Without noise, a step of 1/L on a quadratic attains it.
    still = Quadratic([[2.0]])
    bound = sgd_gradient_norm_bound(
        step_sizes=[0.5], smoothness=2.0, excess=still.value([3.0]), noise=0.0
    )
    assert bound == pytest.approx(float(still.gradient([3.0])[0] ** 2))
    assert max(ends) > 0.3


@pytest.mark.parametrize("delta", [0.5, 0.05])
def test_single_runs_keep_the_bound_with_high_probability(delta):
    rng = np.random.default_rng(0)
    runs, T = 4000, 12
    for a in (np.array([-1.0, 1.0]), np.array([-1.0, -1.0, -1.0, 3.0])):
        largest = np.max(np.abs(a - a.mean())) ** 2
        for steps in (np.full(T, 1.0), 1 / np.sqrt(np.arange(1, T + 1))):
            x, sums = np.full(runs, a.mean() + 0.5), np.zeros(runs)
            excess = float(np.mean((x[0] - a) ** 2) / 2)
            for step in steps:
                sums += step * (x - a.mean()) ** 2 / steps.sum()
                x = x - step * (x - a[rng.integers(len(a), size=runs)])
            bound = sgd_high_probability_bound(
                step_sizes=steps, smoothness=1.0, excess=excess, noise=largest, delta=delta
            )
            assert_bound_holds(int(np.sum(sums > bound)), runs, delta)
            mean = sgd_gradient_norm_bound(
                step_sizes=steps, smoothness=1.0, excess=excess, noise=np.var(a)
            )
            assert sums.mean() <= mean <= bound
            assert sums.max() > bound / 40  # the bound is not so large that nothing could break it


def test_the_average_keeps_its_bound_over_all_draws():
    slopes = np.array([1.0, -2.0, 4.0])
    terms = [
        Function(
            lambda x, s=s: abs(s * x[0] - 1), lambda x, s=s: s * np.sign(s * x - 1), convex=True
        )
        for s in slopes
    ]
    f = Average(terms)
    grid = np.linspace(-2, 2, 4001)
    values = np.mean([np.abs(s * grid - 1) for s in slopes], axis=0)
    best, least = grid[np.argmin(values)], values.min()
    G = math.sqrt(np.mean(slopes**2))
    for T in (1, 3, 5):
        for steps in (np.full(T, 0.4), PowerRate(0.2)(np.arange(T))):
            mean = 0.0
            for path in product(range(3), repeat=T):
                x, points = np.array([-1.0]), []
                for i, step in zip(path, steps):
                    points.append(x)
                    x = x - step * f.batch_gradient(x, [i])
                mean += f.value(np.average(points, axis=0, weights=steps)) / 3**T
            bound = subgradient_bound(step_sizes=steps, radius=abs(best + 1), lipschitz=G)
            assert mean - least <= bound


def test_stochastic_gradient_returns_a_certified_point():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    risk = EmpiricalRisk(X, np.where(X[:, 0] > 0, 1, -1), alpha=0.2)
    solution = stochastic_gradient(risk, [0.0, 0.0], tol=2e-3, random_state=0)
    assert solution.status == "optimal"
    assert solution.certificate.proof == "strong convexity"
    assert solution.value == pytest.approx(risk.value(solution.x), rel=1e-12)
    again = stochastic_gradient(risk, [0.0, 0.0], tol=2e-3, random_state=0)
    assert np.array_equal(solution.x, again.x)
    other = stochastic_gradient(risk, [0.0, 0.0], tol=2e-3, random_state=1)
    assert not np.array_equal(solution.x, other.x)
    # The seed is one draw of the source.
    drawn = int(np.random.RandomState(0).randint(2**31 - 1))
    one = stochastic_gradient(risk, [0.0, 0.0], rate=0.1, max_iter=1, random_state=0)
    method = StochasticGradient(risk, ConstantRate(0.1), draws="reshuffled", seed=drawn)
    assert np.array_equal(one.x, iterate(method, [0.0, 0.0], max_iter=1).state.x)
    best = stochastic_gradient(
        risk, [0.0, 0.0], rate=PowerRate(0.5), rule=Adam(), batch_size=20, tol=1e-5, averaged=False
    )
    assert solution.value - best.value <= solution.gap <= 2e-3
    # Where radius and Lipschitz constant are known, it says how many epochs are enough on average.
    f = Average(
        [
            Function(lambda x, s=s: abs(x[0] - s), lambda x, s=s: np.sign(x - s), convex=True)
            for s in (0.0, 1.0, 2.0)
        ]
    )
    planned = stochastic_gradient(
        f, [3.0], draws="iid", within=Ball(5.0), radius=2.0, lipschitz=1.0, tol=0.1, max_iter=300
    )
    assert planned.planned == math.ceil(
        first_order_steps("subgradient", 0.1, radius=2.0, lipschitz=1.0) / 3
    )
    assert planned.planned == 134
    assert planned.x == pytest.approx([1.0], abs=0.35)
    method_rate = 2.0 / math.sqrt(400)
    by_hand = stochastic_gradient(
        f,
        [3.0],
        draws="iid",
        within=Ball(5.0),
        rate=method_rate,
        tol=0.1,
        max_iter=3,
        random_state=0,
    )
    short = stochastic_gradient(
        f,
        [3.0],
        draws="iid",
        within=Ball(5.0),
        radius=2.0,
        lipschitz=1.0,
        tol=0.1,
        max_iter=3,
        random_state=0,
    )
    assert by_hand.planned is None
    assert short.status == "out of steps"
    assert short.n_iter == 3
    assert short.history.step[0] != by_hand.history.step[0]  # 9 steps of 2 / 3 instead
    exact = stochastic_gradient(
        f, [3.0], draws="iid", within=Ball(5.0), rate=2 / 3, tol=0.1, max_iter=3, random_state=0
    )
    assert np.array_equal(short.x, exact.x)


def test_what_cannot_be_run_is_refused_and_what_runs_away_never_converges():
    f = centres()
    with pytest.raises(ValueError, match="needs a 'rate' for a rule"):
        stochastic_gradient(f, [0.0, 0.0], rule=Adam())
    rough = Average([Function(lambda x: abs(x[0]), np.sign, convex=True)])
    with pytest.raises(ValueError, match="smoothness is known and positive"):
        stochastic_gradient(rough, [1.0])
    with pytest.raises(ValueError, match="must be positive and finite"):
        stochastic_gradient(f, [0.0, 0.0], rate=-1.0)
    with pytest.raises(ValueError, match="'batch_size' parameter"):
        StochasticGradient(f, 0.1, batch_size=4, draws="reshuffled")
    for make, name in (
        (lambda: Momentum(1.0), "decay"),
        (lambda: AdaGrad(-1.0), "initial"),
        (lambda: AdaGrad(eps=-1.0), "eps"),
        (lambda: Adam(1.0), "b1"),
        (lambda: Adam(0.9, -0.1), "b2"),
        (lambda: Adam(eps=-1.0), "eps"),
    ):
        with pytest.raises(ValueError, match=f"'{name}' parameter"):
            make()
    with np.errstate(all="ignore"):
        lost = stochastic_gradient(f, [1.0, 1.0], rate=50.0, max_iter=500, averaged=False)
    assert lost.status == "diverged"
    holes = Average(
        [Function(lambda x: 1.0, lambda x: np.full(1, np.nan), convex=True, smoothness=1.0)]
    )
    assert stochastic_gradient(holes, [1.0]).status == "diverged"


def test_robbins_and_monro_are_the_running_mean_and_find_roots():
    draws = [np.random.default_rng([5, t]).normal() for t in range(40)]
    mean = RobbinsMonro(lambda x, random: x - random.normal(), seed=5)
    run = iterate(mean, [9.0], max_iter=40)
    assert run.state.x == pytest.approx([np.mean(draws)])
    means = np.cumsum(draws) / np.arange(1, 41)
    assert run.state.average == pytest.approx([means.mean()])
    assert run.history.step[1] == pytest.approx(abs(means[1] - means[0]))
    first = mean.init([9.0])
    assert (first.x, first.average, first.n_steps) == (9.0, 0.0, 0)
    # The seed is one draw of the source.
    drawn = int(np.random.RandomState(3).randint(2**31 - 1))
    assert robbins_monro(mean.response, [9.0], n_steps=4, random_state=3) == pytest.approx(
        [np.mean([np.random.default_rng([drawn, t]).normal() for t in range(4)])]
    )
    # A quantile: the response is whether a draw lies below.
    share = robbins_monro(
        lambda x, random: random.random() < x,
        0.5,
        n_steps=3000,
        rate=PowerRate(1.0, 0.8),
        target=0.8,
        within=Box(0.0, 1.0),
        averaged=True,
        random_state=0,
    )
    assert share == pytest.approx(0.8, abs=0.04)
    last = robbins_monro(lambda x, random: 2 * x, 1.0, target=3.0, n_steps=400, random_state=0)
    assert last == pytest.approx(1.5, abs=1e-4)
    # One step by hand: 1 - (2 - 3) / 1, projected.
    step = robbins_monro(lambda x, random: 2 * x, 1.0, target=3.0, n_steps=1, within=Box(0.0, 1.7))
    assert step == pytest.approx(1.7)
    for rate in (ConstantRate(0.1), PowerRate(1.0, 0.5), PowerRate(1.0, 1.2)):
        with pytest.raises(ValueError, match="finite sum of squares"):
            RobbinsMonro(lambda x, random: x, rate)
    with pytest.raises(ValueError, match="must have the shape"):
        robbins_monro(lambda x, random: np.ones(3), [1.0], n_steps=1)
