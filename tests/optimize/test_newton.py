"""Newton's method, pure and damped."""

import numpy as np
import pytest

from corollary.optimize import EmpiricalRisk, Function, Newton, Quadratic, iterate, newton

# log(e^x + e^-x), whose derivatives are tanh and 1 - tanh^2.
SOFT_MODULUS = Function(
    lambda x: float(np.logaddexp(x, -x)[0]),
    np.tanh,
    lambda x: np.diag(1 - np.tanh(x) ** 2),
    convex=True,
)


def logistic(seed, n=40, d=3, alpha=0.1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return EmpiricalRisk(X, np.where(X[:, 0] + rng.normal(size=n) > 0, 1, -1), alpha=alpha)


@pytest.mark.parametrize("solver", ["cholesky", "conjugate gradients"])
def test_a_quadratic_is_solved_in_one_step(solver):
    rng = np.random.default_rng(0)
    A = rng.normal(size=(8, 5))
    f = Quadratic(A.T @ A, rng.normal(size=5))
    run = iterate(Newton(f, solver=solver), np.ones(5), max_iter=1)
    tol = 1e-9 if solver == "cholesky" else 1e-2  # the equations are solved to a share
    assert run.state.x == pytest.approx(np.linalg.solve(f.P, -f.q), rel=tol, abs=tol)
    assert run.history.gradient[0] == pytest.approx(np.linalg.norm(f.gradient(np.ones(5))))
    assert run.history.step[0] == pytest.approx(np.linalg.norm(run.state.x - 1))
    solution = newton(f, np.ones(5), solver=solver)
    assert solution.status == "optimal"
    assert solution.value == pytest.approx(f.floor, abs=1e-7)
    if solver == "cholesky":
        assert solution.n_iter == 1  # it is certified after each step
        # Small curvatures are not raised where the Hessian is positive definite.
        thin = Quadratic(np.diag([1.0, 1e-10]), [1.0, 1e-10])
        exact = iterate(Newton(thin), [0.0, 0.0], max_iter=1).state.x
        assert exact == pytest.approx([-1.0, -1.0])


def test_digits_double_near_the_minimum():
    f = logistic(0)
    best = newton(f, np.zeros(3), tol=1e-15).x
    errors = [
        np.linalg.norm(iterate(Newton(f), np.zeros(3), max_iter=k).state.x - best)
        for k in (2, 3, 4)
    ]
    assert errors[1] < 2 * errors[0] ** 2
    assert errors[2] < max(2 * errors[1] ** 2, 1e-15)
    chain = iterate(Newton(f, solver="conjugate gradients"), np.zeros(3), max_iter=6)
    assert chain.state.x == pytest.approx(best, abs=1e-9)


def test_the_pure_method_diverges_where_the_damped_one_converges():
    # The step from x is x - sinh(2x)/2, which is -x at the edge 1.0886.
    inside = iterate(Newton(SOFT_MODULUS, damped=False), [1.08], max_iter=30).state.x
    assert abs(inside[0]) < 1e-12
    once = iterate(Newton(SOFT_MODULUS, damped=False), [1.1], max_iter=1).state.x
    assert once[0] == pytest.approx(1.1 - np.sinh(2.2) / 2)
    lost = newton(SOFT_MODULUS, [1.1], damped=False, max_iter=20)
    assert lost.status in ("diverged", "out of steps")
    assert not abs(lost.x[0]) < 1.1
    damped = newton(SOFT_MODULUS, [1.1], tol=1e-10)
    assert abs(damped.x[0]) < 1e-8
    # Convexity alone proves nothing about the value, unless the gradient is 0 to the last bit.
    assert damped.status == "optimal"
    assert newton(SOFT_MODULUS, [1.1], max_iter=2).gap == np.inf
    # From 3 the full step leads to -98; halved until it descends, it is 101 / 32 long.
    away = np.sinh(6.0) / 2
    first = iterate(Newton(SOFT_MODULUS), [3.0], max_iter=1)
    length = next(
        0.5**k
        for k in range(20)
        if np.logaddexp(3 - 0.5**k * away, 0.5**k * away - 3)
        <= np.logaddexp(3, -3) - 1e-4 * 0.5**k * away * np.tanh(3)
    )
    assert first.state.x[0] == pytest.approx(3 - length * away)


def test_certificates_hold_at_the_returned_point():
    f = logistic(1)
    best = newton(f, np.zeros(3), tol=1e-14).value
    for max_iter in range(1, 5):
        solution = newton(f, np.ones(3), max_iter=max_iter)
        assert solution.value == pytest.approx(f.value(solution.x), abs=1e-15)
        assert 0 <= solution.value - best <= solution.gap + 1e-15
        assert solution.gap == pytest.approx(np.sum(f.gradient(solution.x) ** 2) / 0.2, rel=1e-6)
    assert newton(f, np.ones(3), max_iter=1).status == "out of steps"
    onward = newton(f, None, state=newton(f, np.ones(3), max_iter=2).state, max_iter=1)
    assert onward.x == pytest.approx(newton(f, np.ones(3), max_iter=3).x, abs=1e-15)
    assert onward.n_iter == 3


def test_singular_and_indefinite_hessians_still_descend():
    # One flat direction: the minimum is a line.
    flat = Quadratic([[1.0, 1.0], [1.0, 1.0]], [-2.0, -2.0])
    solution = newton(flat, [5.0, 0.0])
    assert solution.x.sum() == pytest.approx(2.0)
    assert solution.x == pytest.approx([3.5, -1.5], abs=1e-6)
    # (x^2 - 1)^2 bends down at 0.1, where Newton's own step would climb towards 0.
    wells = Function(
        lambda x: float((x[0] ** 2 - 1) ** 2),
        lambda x: 4 * x * (x**2 - 1),
        lambda x: np.array([[12 * x[0] ** 2 - 4]]),
    )
    for solver in ("cholesky", "conjugate gradients"):
        found = newton(wells, [0.1], solver=solver)
        assert abs(found.x[0]) == pytest.approx(1.0)
        assert found.status == "stopped"
    step = iterate(Newton(wells), [0.1], max_iter=1).state.x[0] - 0.1
    assert step == pytest.approx(0.396 / 3.88)  # minus the gradient over the modulus
    # Linear: nothing to stop at, and no claim.
    line = Quadratic(np.zeros((1, 1)), [1.0])
    assert iterate(Newton(line), [0.0], max_iter=1).state.x == pytest.approx([-1.0])
    assert newton(line, [0.0], max_iter=5).status == "out of steps"
    # A curvature far below the others is raised to 1e-8 of the largest.
    slope = iterate(Newton(Quadratic(np.diag([4.0, 0.0]), [0.0, 1.0])), [0.0, 0.0], max_iter=1)
    assert slope.state.x == pytest.approx([0.0, -1 / 4e-8])


def test_nan_is_no_solution():
    for broken in (
        Function(lambda x: float(x @ x), lambda x: x * np.nan, lambda x: np.eye(1), convex=True),
        Function(lambda x: np.nan, lambda x: 2 * x, lambda x: np.eye(1), convex=True),
        Function(
            lambda x: float(x @ x),
            lambda x: 2 * x,
            lambda x: np.full((1, 1), np.nan),
            strong_convexity=1.0,
        ),
    ):
        solution = newton(broken, [1.0])
        assert solution.status == "diverged"
        assert solution.n_iter == 1
    with pytest.raises(ValueError, match="must be 'cholesky' or"):
        Newton(SOFT_MODULUS, solver="lu")
    with pytest.raises(TypeError, match="no Hessian"):
        newton(Function(lambda x: float(x @ x), lambda x: 2 * x), [1.0])
    # A value that falls for ever away from its gradient: no length is accepted.
    liar = Function(lambda x: float(x @ x), lambda x: -2 * x, lambda x: np.eye(1))
    stuck = newton(liar, [1.0])
    assert (stuck.status, stuck.n_iter, stuck.x[0]) == ("stopped", 1, 1.0)
    assert stuck.gap == np.inf
