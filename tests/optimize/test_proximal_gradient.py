"""ISTA, FISTA and projected gradient."""

import numpy as np
import pytest

from corollary.optimize import (
    L1,
    Ball,
    Box,
    Certified,
    Function,
    GradientDescent,
    NuclearNorm,
    ProximalGradient,
    Quadratic,
    Simplex,
    Stop,
    certify_minimum,
    iterate,
    projected_gradient,
    proximal_gradient,
    solve_by,
)


def lasso(seed, n=20, d=6):
    rng = np.random.default_rng(seed)
    A, b = rng.normal(size=(n, d)) * np.logspace(0, -1.5, d), rng.normal(size=n)
    return A, b, Quadratic(A.T @ A, -A.T @ b, 0.5 * b @ b)


@pytest.mark.parametrize("seed", range(3))
def test_the_lasso_agrees_with_scikit_learn(seed):
    from sklearn.linear_model import Lasso

    A, b, f = lasso(seed)
    solution = proximal_gradient(f, np.zeros(6), L1(0.3), tol=1e-12)
    peer = Lasso(alpha=0.3 / len(b), fit_intercept=False, tol=1e-14, max_iter=100000).fit(A, b)
    assert solution.status == "optimal"
    assert solution.x == pytest.approx(peer.coef_, abs=2e-5)
    # The conditions of optimality, by hand.
    slope = A.T @ (b - A @ solution.x)
    assert np.abs(slope).max() <= 0.3 + 1e-5
    active = solution.x != 0
    assert slope[active] == pytest.approx(0.3 * np.sign(solution.x[active]), abs=1e-5)


@pytest.mark.parametrize("accelerated", [False, True])
def test_no_step_violates_its_rate(accelerated):
    for seed in range(5):
        _, _, f = lasso(seed, n=5)
        h = L1(0.1)
        best = proximal_gradient(f, np.zeros(6), h, tol=1e-13, max_iter=100000)
        R2 = np.sum(best.x**2)
        method = ProximalGradient(f, h, accelerated=accelerated, restart=False)
        values = iterate(method, np.zeros(6), max_iter=200).history.value
        t = np.arange(1, 201)
        L = f.smoothness
        bound = 2 * L * R2 / (t + 1) ** 2 if accelerated else L * R2 / (2 * t)
        assert np.all(values - best.value <= bound + 1e-12)
        if not accelerated:
            assert np.all(np.diff(values) <= 1e-12)


def test_acceleration_and_restarts_pay():
    _, _, f = lasso(0)
    plain = proximal_gradient(f, np.zeros(6), L1(0.01), accelerated=False, tol=1e-9)
    fast = proximal_gradient(f, np.zeros(6), L1(0.01), tol=1e-9)
    assert fast.n_iter < plain.n_iter / 4
    never = ProximalGradient(f, L1(0.01), restart=False)
    slow = solve_by(never, np.zeros(6), lambda x: certify_minimum(f, x, L1(0.01)), tol=1e-9)
    assert fast.n_iter < slow.n_iter


def test_the_first_accelerated_steps_by_hand():
    # f = x^2 / 2 with rate 1/2: x1 = 1/2; the second momentum is 0, x2 = 1/4; the third step
    # begins at x2 + ((t - 1) / t') (x2 - x1) with t = (1 + sqrt 5) / 2.
    method = ProximalGradient(Quadratic([[1.0]]), rate=0.5, restart=False)
    t = (1 + np.sqrt(5)) / 2
    push = (t - 1) / ((1 + np.sqrt(1 + 4 * t**2)) / 2)
    expected = 0.5 * (0.25 + push * -0.25)
    assert iterate(method, [1.0], max_iter=2).state.x == pytest.approx([0.25])
    assert iterate(method, [1.0], max_iter=3).state.x == pytest.approx([expected])
    # x^2 / 4 - x has L = 1/2: a step of 2 is exact.
    assert iterate(ProximalGradient(Quadratic([[0.5]], [-1.0])), [0.0], max_iter=1).state.x == [2.0]


def test_unknown_smoothness_is_searched():
    f = Function(lambda x: 50 * x @ x - 100 * x[0], lambda x: 100 * x - np.eye(2)[0] * 100)
    method = ProximalGradient(f, accelerated=False)
    run = iterate(method, [3.0, 1.0], stop=Stop(gradient=1e-9), max_iter=500)
    assert run.status == "converged"
    assert run.state.x == pytest.approx([1.0, 0.0], abs=1e-9)
    # A step of at most 1/L, and not a quarter of it.
    assert 1 / 200 < run.state.rate <= 1 / 100


def test_projected_gradient_on_three_sets():
    f = Quadratic(np.eye(2), [-3.0, -4.0])
    for within, expected in [
        (Ball(1.0), [0.6, 0.8]),
        (Box(0.0, [1.0, 9.0]), [1.0, 4.0]),
        (Simplex(), [0.0, 1.0]),
    ]:
        solution = projected_gradient(f, [0.0, 0.0], within, tol=1e-10)
        assert solution.status == "optimal"
        assert solution.x == pytest.approx(expected, abs=1e-5)
        assert within.contains(solution.x)
        assert solution.value == pytest.approx(f.value(solution.x), rel=1e-12)


def test_matrices_are_points_like_any_other():
    target = np.diag([3.0, 1.0, 0.2])
    f = Function(
        lambda X: 0.5 * np.sum((X - target) ** 2), lambda X: X - target, strong_convexity=1.0
    )
    solution = proximal_gradient(f, np.zeros((3, 3)), NuclearNorm(0.5), tol=1e-12)
    assert solution.x == pytest.approx(np.diag([2.5, 0.5, 0.0]), abs=1e-6)


def test_a_status_is_optimal_only_with_a_proof():
    f = Function(lambda x: (x @ x) ** 2, lambda x: 4 * (x @ x) * x)
    solution = proximal_gradient(f, [1.0, 1.0], tol=1e-6)
    assert solution.status == "stopped"
    assert solution.gap == np.inf
    short = proximal_gradient(lasso(0)[2], np.zeros(6), L1(0.3), tol=1e-12, max_iter=3)
    assert short.status == "out of steps"
    assert short.gap < np.inf
    assert short.value == pytest.approx(
        lasso(0)[2].value(short.x) + 0.3 * np.abs(short.x).sum(), rel=1e-12
    )


def test_a_run_goes_on_from_its_state():
    _, _, f = lasso(1)
    whole = proximal_gradient(f, np.zeros(6), L1(0.3), tol=0.0, max_iter=50)
    first = proximal_gradient(f, np.zeros(6), L1(0.3), tol=0.0, max_iter=20)
    second = proximal_gradient(f, None, L1(0.3), tol=0.0, max_iter=30, state=first.state)
    assert np.array_equal(whole.x, second.x)
    assert second.n_iter == whole.n_iter == 50


def test_gaps_are_reported_every_few_steps():
    bowl = Quadratic(np.diag([1.0, 4.0]))
    method = Certified(GradientDescent(bowl), lambda x: certify_minimum(bowl, x), every=3)
    gaps = iterate(method, [1.0, 1.0], max_iter=7).history.gap
    assert np.isnan(gaps).tolist() == [True, True, False, True, True, False, True]
    # After three steps the first entry is (3/4)^3: gap g^2 / (2 m) with m = 1.
    assert gaps[2] == pytest.approx(0.75**6 / 2)


def test_bad_steps_are_refused():
    with pytest.raises(ValueError, match="positive, finite step"):
        iterate(ProximalGradient(Quadratic([[1.0]]), rate=-1.0), [0.0])
