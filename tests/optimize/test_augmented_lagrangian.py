"""Equality constraints by multipliers."""

import numpy as np
import pytest

from corollary.optimize import (
    AugmentedLagrangian,
    EmpiricalRisk,
    Function,
    Quadratic,
    augmented_lagrangian,
    certify_equality,
    iterate,
)


def program(seed, n=5, m=2):
    """Return a strongly convex quadratic, constraints, and the solution by linear algebra."""
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(n + 2, n))
    f, A, b = (
        Quadratic(B.T @ B, rng.normal(size=n), 1.0),
        rng.normal(size=(m, n)),
        rng.normal(size=m),
    )
    kkt = np.block([[f.P, A.T], [A, np.zeros((m, m))]])
    both = np.linalg.solve(kkt, np.append(-f.q, b))
    return f, A, b, both[:n], both[n:]


@pytest.mark.parametrize("seed", range(3))
def test_the_closed_form_of_an_equality_program(seed):
    f, A, b, x, multipliers = program(seed)
    solution = augmented_lagrangian(f, np.zeros(5), A, b, rho=10.0, tol=1e-9)
    assert solution.status == "optimal"
    assert solution.x == pytest.approx(x, abs=1e-6)
    assert solution.dual["equality"] == pytest.approx(multipliers, abs=1e-6)
    assert solution.certificate.violation <= 1e-9 * max(1, abs(solution.value))
    assert solution.value == f.value(solution.x)
    # Plain dual ascent, with a step below 2m/|A|^2.
    rate = f.strong_convexity / np.linalg.norm(A, 2) ** 2
    ascent = augmented_lagrangian(f, np.zeros(5), A, b, rho=0.0, rate=rate, max_iter=20000)
    assert ascent.status == "optimal"
    assert ascent.x == pytest.approx(x, abs=1e-3)
    assert ascent.n_iter > solution.n_iter


def test_a_step_by_hand():
    # x^2 / 2 + nu (2x - 2) + (2x - 2)^2: x = 8/9, and nu = 2 (16/9 - 2) = -4/9.
    run = iterate(
        AugmentedLagrangian(Quadratic([[1.0]]), [[2.0]], [2.0], rho=2.0), [0.0], max_iter=1
    )
    assert run.state.x == pytest.approx([8 / 9])
    assert run.state.multipliers == pytest.approx([-4 / 9])
    assert run.history.value[0] == pytest.approx(32 / 81)
    assert run.history.step[0] == pytest.approx(8 / 9)
    assert run.history.primal[0] == pytest.approx(2 / 9)
    assert run.history.dual[0] == pytest.approx(0.0, abs=1e-12)
    # The violation falls by 3 / 23 in a step, and each one is looked at.
    solution = augmented_lagrangian(
        Quadratic(np.diag([1.0, 3.0])), [0.0, 0.0], [[1.0, 1.0]], [4.0], rho=5.0, tol=1e-6
    )
    assert solution.history.primal == pytest.approx(4 * (3 / 23.0) ** np.arange(1, 10))
    # With another step of the multipliers the second condition is not met at once.
    half = iterate(
        AugmentedLagrangian(Quadratic([[1.0]]), [[2.0]], [2.0], 2.0, 1.0), [0.0], max_iter=1
    )
    assert half.state.multipliers == pytest.approx([-2 / 9])
    assert half.history.dual[0] == pytest.approx(4 / 9)
    # The same through Newton's method, for a function that hides that it is quadratic.
    hidden = Function(lambda x: 0.5 * float(x @ x), lambda x: x, lambda x: np.eye(1))
    other = iterate(AugmentedLagrangian(hidden, [[2.0]], [2.0], rho=2.0), [0.0], max_iter=1)
    assert other.state.x == pytest.approx([8 / 9])
    two = iterate(AugmentedLagrangian(hidden, [[2.0]], [2.0], rho=2.0), [0.0], max_iter=2)
    same = iterate(
        AugmentedLagrangian(Quadratic([[1.0]]), [[2.0]], [2.0], rho=2.0), [0.0], max_iter=2
    )
    assert two.state.x == pytest.approx(same.state.x)


def test_a_linear_function_where_dual_ascent_fails():
    # x1 + x2 on x1 + x2 = 3 is 3 everywhere; the Lagrangian has no minimum unless nu = -1.
    line = Quadratic(np.zeros((2, 2)), [1.0, 1.0])
    failed = augmented_lagrangian(line, [0.0, 0.0], [[1.0, 1.0]], [3.0], rho=0.0, rate=0.1)
    assert failed.status == "diverged"
    solution = augmented_lagrangian(line, [0.0, 0.0], [[1.0, 1.0]], [3.0])
    assert solution.status == "optimal"
    assert solution.value == pytest.approx(3.0)
    assert solution.dual["equality"] == pytest.approx([-1.0])
    # x1 alone is not bounded below there.
    free = augmented_lagrangian(
        Quadratic(np.zeros((2, 2)), [1.0, 0.0]), [0.0, 0.0], [[1.0, 1.0]], [3.0], max_iter=20
    )
    assert free.status == "diverged"
    assert free.gap == np.inf


def test_smooth_functions_that_are_not_quadratic():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(30, 4))
    risk = EmpiricalRisk(X, np.where(X[:, 0] > 0, 1, -1), alpha=0.1)
    solution = augmented_lagrangian(risk, np.zeros(4), np.ones((1, 4)), [1.0], tol=1e-8)
    assert solution.status == "optimal"
    assert solution.certificate.proof == "strong convexity"
    assert solution.x.sum() == pytest.approx(1.0)
    slope = risk.gradient(solution.x)
    assert slope == pytest.approx(np.full(4, slope.mean()), abs=1e-6)
    assert solution.dual["equality"] == pytest.approx([-slope.mean()], abs=1e-5)
    # e^x1 + e^x2 with x1 = x2 = 1: convex, and the gradient is a combination of the rows.
    grows = Function(
        lambda x: float(np.exp(x).sum()), np.exp, lambda x: np.diag(np.exp(x)), convex=True
    )
    at = certify_equality(grows, [1.0, 1.0], np.eye(2), [1.0, 1.0])
    assert at.gap == pytest.approx(0.0, abs=1e-12)
    assert at.proof == "duality"
    beside = certify_equality(grows, [1.0, 0.0], np.eye(2), [1.0, 1.0])
    assert beside.violation == 1.0
    assert beside.lower_bound == pytest.approx(np.e + 2)  # e + 1 + 1 (1 - 0)


def test_no_bound_exceeds_the_least_value():
    rng = np.random.default_rng(2)
    for seed in range(5):
        f, A, b, x, _ = program(seed)
        least = f.value(x)
        hidden = Function(f.value, f.gradient, f.hessian, strong_convexity=f.strong_convexity)
        for scale in (0.0, 0.01, 1.0):
            trial = x + scale * rng.normal(size=5)
            for function in (f, hidden):
                certificate = certify_equality(function, trial, A, b)
                assert certificate.lower_bound <= least + 1e-9
                if scale == 0.0:
                    assert certificate.lower_bound == pytest.approx(least, abs=1e-6)
    # x1^2 / 2 + x2^2 with x1 + x2 = 3 at (1, 1): strong convexity with m = 1 by hand.
    bowl = Function(
        lambda x: 0.5 * x[0] ** 2 + x[1] ** 2,
        lambda x: np.array([x[0], 2 * x[1]]),
        strong_convexity=1.0,
    )
    at = certify_equality(bowl, [1.0, 1.0], [[1.0, 1.0]], [3.0])
    # d = (1/2, 1/2): 3/2 + 3/2 + 1/4, less |(-1/2, 1/2)|^2 / 2 = 1/4; the least value is 3.
    assert at.lower_bound == pytest.approx(3.0)
    assert at.residuals["stationarity"] == pytest.approx(np.sqrt(0.5))
    assert at.violation == 1.0
    # The exact dual of a quadratic whose curvature is missing where the constraint is.
    thin = Quadratic(np.diag([1.0, 0.0]))
    exact = certify_equality(thin, [0.0, 2.0], [[0.0, 1.0]], [2.0])
    assert exact.gap == pytest.approx(0.0, abs=1e-12)


def test_bad_input_is_told():
    f = Quadratic(np.eye(2))
    with pytest.raises(ValueError, match=r"Got shapes \(1, 2\) and \(2,\)"):
        augmented_lagrangian(f, [0.0, 0.0], [[1.0, 1.0]], [1.0, 2.0])
    with pytest.raises(ValueError, match="finite numbers"):
        certify_equality(f, [0.0, 0.0], [[1.0, np.nan]], [1.0])
    with pytest.raises(ValueError, match="each of 2 columns"):
        augmented_lagrangian(f, [0.0], [[1.0, 1.0]], [1.0])
    for rho, rate in ((-1.0, None), (0.0, None), (1.0, 0.0), (np.inf, 1.0), (1.0, np.nan)):
        with pytest.raises(ValueError, match="rho in the range"):
            AugmentedLagrangian(f, [[1.0, 1.0]], [1.0], rho, rate)
    # Constraints that no point meets: no claim.
    conflict = augmented_lagrangian(
        f, [0.0, 0.0], [[1.0, 0.0], [1.0, 0.0]], [0.0, 1.0], max_iter=50
    )
    assert conflict.status == "out of steps"
    assert conflict.gap == np.inf
    # A row of zeros binds nothing, or cannot be met.
    assert augmented_lagrangian(f, [1.0, 1.0], [[0.0, 0.0]], [0.0]).status == "optimal"
    assert augmented_lagrangian(f, [1.0, 1.0], [[0.0, 0.0]], [1.0], max_iter=9).gap == np.inf
    # No convexity, and NaN: nothing is proved.
    saddle = certify_equality(Quadratic(np.diag([1.0, -1.0])), [0.0, 1.0], [[0.0, 1.0]], [1.0])
    assert saddle.gap == np.inf
    broken = Function(lambda x: np.nan, lambda x: x * np.nan, lambda x: np.eye(2), convex=True)
    lost = augmented_lagrangian(broken, [0.0, 0.0], [[1.0, 1.0]], [1.0])
    assert lost.status == "diverged"
    assert lost.gap == np.inf
