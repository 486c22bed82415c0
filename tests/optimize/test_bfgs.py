"""BFGS and L-BFGS."""

import numpy as np
import pytest
from scipy.optimize import minimize

from corollary.optimize import (
    BFGS,
    Function,
    Quadratic,
    bfgs,
    bfgs_inverse_update,
    bfgs_update,
    iterate,
    lbfgs,
    two_loop,
)

VALLEY = Function(
    lambda x: float((1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2),
    lambda x: np.array(
        [2 * (x[0] - 1) - 400 * x[0] * (x[1] - x[0] ** 2), 200 * (x[1] - x[0] ** 2)]
    ),
)


def bowl(seed, d=6):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(2 * d, d))
    return Quadratic(A.T @ A, rng.normal(size=d))


def test_updates_satisfy_the_secant_equation_and_are_inverses():
    rng = np.random.default_rng(0)
    for _ in range(5):
        A, s, y = rng.normal(size=(4, 4)), rng.normal(size=4), rng.normal(size=4)
        y = y if s @ y > 0 else -y
        B = A @ A.T + np.eye(4)
        updated = bfgs_update(B, s, y)
        assert updated @ s == pytest.approx(y)
        assert np.linalg.eigvalsh(updated)[0] > 0
        inverse = bfgs_inverse_update(np.linalg.inv(B), s, y)
        assert inverse @ updated == pytest.approx(np.eye(4), abs=1e-8)
        assert inverse == pytest.approx(inverse.T)
    # By hand: what is orthogonal to the step and its image is kept.
    assert bfgs_update(np.diag([2.0, 7.0]), [1.0, 0.0], [5.0, 0.0]) == pytest.approx(
        np.diag([5.0, 7.0])
    )
    for update in (bfgs_update, bfgs_inverse_update):
        with pytest.raises(ValueError, match=f"{update.__name__} needs .* y's = -1"):
            update(np.eye(1), [1.0], [-1.0])
    with pytest.raises(ValueError, match="two_loop needs"):
        two_loop([1.0], [(np.ones(1), np.zeros(1))])


def test_exact_line_searches_end_after_as_many_steps_as_unknowns():
    f = bowl(1)
    x, H = np.ones(6), np.eye(6)
    for _ in range(6):
        direction = -H @ f.gradient(x)
        length = -(f.gradient(x) @ direction) / (direction @ f.P @ direction)
        step = length * direction
        H = bfgs_inverse_update(H, step, f.P @ step)
        x = x + step
    assert x == pytest.approx(f.minimiser(), abs=1e-8)
    assert pytest.approx(np.linalg.inv(f.P), abs=1e-6) == H


def test_the_two_loops_multiply_by_the_matrix_of_bfgs():
    rng = np.random.default_rng(2)
    P = bowl(2).P
    pairs = [(s, P @ s) for s in rng.normal(size=(3, 6))]
    g = rng.normal(size=6)
    s, y = pairs[-1]
    H = (s @ y) / (y @ y) * np.eye(6)
    for s, y in pairs:
        H = bfgs_inverse_update(H, s, y)
    assert two_loop(g, pairs) == pytest.approx(H @ g)
    assert two_loop(g, []) == pytest.approx(g)


def test_bfgs_agrees_with_scipy_and_is_superlinear():
    f = bowl(3)
    solution = bfgs(f, np.ones(6))
    peer = minimize(f.value, np.ones(6), jac=f.gradient, method="BFGS", tol=1e-10)
    assert solution.status == "optimal"
    assert solution.value == pytest.approx(peer.fun, abs=1e-8)
    assert solution.gap == pytest.approx(
        np.sum(f.gradient(solution.x) ** 2) / (2 * f.strong_convexity), abs=1e-12
    )
    valley = bfgs(VALLEY, [-1.2, 1.0], tol=1e-10)
    assert valley.x == pytest.approx([1.0, 1.0], abs=1e-9)
    assert valley.status == "stopped"  # nobody claims that it is convex
    history = valley.history.gradient
    assert len(history) < 60
    assert history[-1] / history[-2] < 0.05  # each step divides the gradient by more and more
    assert np.all(np.diff(valley.history.value) <= 1e-15)


def test_steps_obey_wolfe_and_the_matrix_learns():
    # The first direction is the gradient, divided by its norm where that exceeds 1.
    f = Quadratic([[4.0]], [-8.0])
    state = BFGS(f).init([0.0])
    assert state.inverse == pytest.approx(np.array([[1 / 8]]))
    after = iterate(BFGS(f), [0.0], max_iter=1)
    assert after.state.x == pytest.approx([1.0])  # slope -4 is less steep than 0.9 times -8
    assert after.state.inverse == pytest.approx(np.array([[0.25]]))
    assert (after.history.step[0], after.history.gradient[0]) == (1.0, 8.0)
    assert after.history.value[0] == -6.0
    assert BFGS(Quadratic([[4.0]], [-0.5])).init([0.0]).inverse == 1.0
    # Too short a step is doubled until the slope has fallen: 1/100 x^2 from 10.
    slow = iterate(BFGS(Quadratic([[0.02]])), [10.0], max_iter=1).state.x[0]
    assert slow == pytest.approx(10 - 8 * 0.2)  # slopes .196, .192, .184, .168 <= .18
    # Too long a step is halved: x^2 / 2 * 10 from 0.05 has the step 0.5, which overshoots.
    fast = iterate(BFGS(Quadratic([[10.0]])), [0.05], max_iter=1).state.x[0]
    assert fast == pytest.approx(0.05 - 0.5 / 8)


def test_lbfgs_is_certified_after_scipy_has_ended():
    f = bowl(4)
    solution = lbfgs(f, np.ones(6))
    assert solution.status == "optimal"
    assert solution.value == pytest.approx(f.floor, abs=1e-8)
    assert solution.value == f.value(solution.x)
    early = lbfgs(f, np.ones(6), max_iter=2)
    assert early.status == "out of steps"
    assert early.n_iter == 2
    assert early.value - f.floor <= early.gap
    assert lbfgs(VALLEY, [-1.2, 1.0]).status == "stopped"
    short = lbfgs(VALLEY, [-1.2, 1.0], memory=1)
    assert short.x == pytest.approx([1.0, 1.0], abs=1e-6)
    assert short.n_iter != lbfgs(VALLEY, [-1.2, 1.0]).n_iter
    # A gradient of the wrong sign: SciPy gives up, and so do we.
    liar = Function(lambda x: float(x @ x), lambda x: -2 * x, convex=True)
    assert lbfgs(liar, [1.0]).status == "failed"


@pytest.mark.parametrize("solve", [bfgs, lbfgs])
def test_nan_is_no_solution(solve):
    for broken in (
        Function(lambda x: float(x @ x), lambda x: x * np.nan, strong_convexity=1.0),
        Function(lambda x: np.nan, lambda x: 2 * x, strong_convexity=1.0),
    ):
        solution = solve(broken, [1.0])
        assert solution.status == "diverged"
        assert solution.gap == np.inf
    below = Quadratic([[0.0]], [-1.0])
    assert solve(below, [1.0], max_iter=5).status in ("diverged", "out of steps", "failed")
