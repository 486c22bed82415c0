"""Every certificate against a reference solution from elsewhere, early and at the end of a run."""

import math

import numpy as np
import pytest
from scipy.optimize import lsq_linear
from sklearn.linear_model import Lasso

from corollary.optimize import (
    L1,
    Box,
    EmpiricalRisk,
    Optimality,
    Program,
    Quadratic,
    admm,
    augmented_lagrangian,
    bfgs,
    certify_minimum,
    conjugate_gradients,
    consensus,
    coordinate_descent,
    gradient_descent,
    lbfgs,
    linear_equality,
    minimize,
    nesterov,
    newton,
    projected_gradient,
    proximal_gradient,
    row_blocks,
    solve,
    stochastic_gradient,
    subgradient_method,
)

RNG = np.random.default_rng(7)
X = RNG.normal(size=(20, 4)) * [1.0, 2.0, 0.5, 1.0]
Y = X @ [1.0, -0.5, 0.0, 2.0] + RNG.normal(size=20)
A, B = np.array([[1.0, 1.0, 1.0, 1.0]]), np.array([1.0])
START = np.zeros(4)
#: The sum of squared residuals, halved.
F = Quadratic(X.T @ X, -X.T @ Y, Y @ Y / 2)
RISK = EmpiricalRisk(X, Y, "square")
CORNERS = {"low": np.full(4, -0.25), "high": np.full(4, 0.75)}
BOX = Box(CORNERS["low"], CORNERS["high"])


def half_squares(w):
    return float(np.sum((Y - X @ w) ** 2)) / 2


def references():
    free = np.linalg.lstsq(X, Y)[0]
    lasso = Lasso(alpha=3.0 / 20, fit_intercept=False, tol=1e-14, max_iter=10**6).fit(X, Y).coef_
    boxed = lsq_linear(X, Y, (CORNERS["low"], CORNERS["high"]), method="bvls", tol=1e-14).x
    kkt = np.block([[X.T @ X, A.T], [A, np.zeros((1, 1))]])
    equal = np.linalg.solve(kkt, np.append(X.T @ Y, B))[:4]
    return {
        "free": half_squares(free),
        "mean": half_squares(free) / 10,
        "lasso": half_squares(lasso) + 3.0 * np.abs(lasso).sum(),
        "box": half_squares(boxed),
        "equation": half_squares(equal),
    }


REFERENCES = references()
EQUATION = linear_equality(A, B, name="equation")
BLOCKS, SHARES = row_blocks(X, Y, "square", n_blocks=3)

#: Solver with a budget of steps, and which reference its value must not lie below.
CASES = {
    "gradient_descent": ("free", lambda k: gradient_descent(F, START, max_iter=k)),
    "nesterov": ("free", lambda k: nesterov(F, START, max_iter=k)),
    "newton": ("free", lambda k: newton(F, START, max_iter=k)),
    "bfgs": ("free", lambda k: bfgs(F, START, max_iter=k)),
    "lbfgs": ("free", lambda k: lbfgs(F, START, max_iter=k)),
    "solve": ("free", lambda k: solve(Program(F), max_iter=k)),
    "solve, equation": ("equation", lambda k: solve(Program(F, [EQUATION]), max_iter=k)),
    "consensus": (
        "mean",
        lambda k: consensus(BLOCKS, START, weights=SHARES, rho=2.0, max_iter=k),
    ),
    "stochastic_gradient": (
        "mean",
        lambda k: stochastic_gradient(RISK, START, rate=0.02, max_iter=min(k, 60), random_state=0),
    ),
    "proximal_gradient": ("lasso", lambda k: proximal_gradient(F, START, L1(3.0), max_iter=k)),
    "coordinate_descent": ("lasso", lambda k: coordinate_descent(X, Y, 3.0, max_iter=k)),
    "admm": ("lasso", lambda k: admm(F, START, L1(3.0), rho=10.0, max_iter=k)),
    "projected_gradient": ("box", lambda k: projected_gradient(F, START, BOX, max_iter=k)),
    "subgradient_method": (
        "box",
        lambda k: subgradient_method(F, START, BOX, max_iter=min(k, 3000), tol=0.5),
    ),
    "augmented_lagrangian": (
        "equation",
        lambda k: augmented_lagrangian(F, START, A, B, rho=50.0, max_iter=k),
    ),
    "minimize": ("free", lambda k: minimize(F, START, method="newton", max_iter=k)),
    "minimize, box": ("box", lambda k: minimize(F, START, bounds=[(-0.25, 0.75)] * 4)),
    "minimize, equation": (
        "equation",
        lambda k: minimize(
            F, START, constraints=EQUATION, method="sequential quadratic", max_iter=k
        ),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_no_certificate_excludes_the_reference(name):
    problem, run = CASES[name]
    best = REFERENCES[problem]
    for budget in (1, 4, 10000):
        solution = run(budget)
        certificate = solution.certificate
        assert isinstance(certificate, Optimality)
        slack = 1e-9 * best
        assert certificate.lower_bound <= best + slack
        assert solution.value == pytest.approx(certificate.value)
        if certificate.violation <= 1e-12:
            assert best - slack <= solution.value <= best + solution.gap + slack
        if solution.status == "optimal":
            assert (
                certificate.gap <= (0.5 if name == "subgradient_method" else 1e-3) * solution.value
            )
    # The noise of single rows does not go away at a constant step.
    assert (solution.status == "optimal") != (name == "stochastic_gradient")
    assert math.isfinite(solution.gap)


def test_conjugate_gradients_bound_their_error_against_the_solution():
    best, least = np.linalg.solve(F.P, -F.q), np.linalg.eigvalsh(F.P)[0]
    for budget in (1, 2, 4):
        solution = conjugate_gradients(F.P, -F.q, least_eigenvalue=least, max_iter=budget)
        excess = F.value(solution.x) - F.value(best)
        assert math.inf > solution.gap >= excess - 1e-9
    assert solution.status == "optimal"
    assert solution.x == pytest.approx(best)


def test_certificates_of_points_that_no_solver_returned():
    rng = np.random.default_rng(0)
    for _ in range(50):
        x = rng.normal(size=4)
        certificate = certify_minimum(F, x)
        assert certificate.lower_bound <= REFERENCES["free"] + 1e-9
        assert certify_minimum(F, x, L1(3.0)).lower_bound <= REFERENCES["lasso"] + 1e-9
        assert certify_minimum(F, BOX.project(x), BOX).lower_bound <= REFERENCES["box"] + 1e-9
