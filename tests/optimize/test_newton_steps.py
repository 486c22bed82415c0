"""Newton's method: steps, backtracking, chord steps, and the l1 penalty."""

import numpy as np
import pytest

from corollary.optimize import (
    l1_violation,
    newton_minimise,
    newton_step,
    proximal_newton,
    soft_threshold,
)
from corollary.optimize.second_order.proximal_newton import _model_minimiser, _working_set


def quadratic(A, b):
    return lambda x, hessian: (0.5 * x @ A @ x - b @ x, A @ x - b, A if hessian else None)


def random_definite(rng, n):
    A = rng.normal(size=(n, n))
    return A @ A.T + 0.1 * np.eye(n)


def test_quadratics_are_solved_in_one_step(seed):
    rng = np.random.default_rng(seed)
    A, b = random_definite(rng, 6), rng.normal(size=6)
    found = newton_minimise(quadratic(A, b), rng.normal(size=6), tol=1e-10)
    assert found.converged
    assert found.n_iter == 1
    np.testing.assert_allclose(found.x, np.linalg.solve(A, b), rtol=1e-9)


def test_step_is_invariant_to_the_scale_of_the_variables(seed):
    rng = np.random.default_rng(seed)
    A, g = random_definite(rng, 4), rng.normal(size=4)
    scale = np.array([1e-8, 1.0, 1e3, 1e8])
    step = newton_step(A * np.outer(scale, scale), g * scale)
    np.testing.assert_allclose(step * scale, -np.linalg.solve(A, g), rtol=1e-8)


def test_singular_hessians_give_a_step_that_solves_the_equations(seed):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(3, 5))
    H, g = Z.T @ Z, Z.T @ rng.normal(size=3)
    np.testing.assert_allclose(H @ newton_step(H, g), -g, atol=1e-8)
    assert (newton_step(np.zeros((2, 2)), np.zeros(2)) == 0).all()


def test_backtracking_converges_where_full_steps_diverge():
    def terms(x, hessian):  # sqrt(1 + x^2): full Newton steps map x to -x^3
        root = np.sqrt(1 + x**2)
        return root.sum(), x / root, np.diag(root**-3)

    found = newton_minimise(terms, np.array([5.0]), tol=1e-10)
    assert found.converged
    assert abs(found.x[0]) < 1e-9


def test_short_steps_reuse_the_hessian(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 3))
    y = rng.random(200) < 0.4
    asked = []

    def terms(w, hessian):
        asked.append(hessian)
        p = 1 / (1 + np.exp(-X @ w))
        value = np.mean(np.log1p(np.exp(X @ w)) - y * (X @ w))
        return value, X.T @ (p - y) / 200, (X.T * (p * (1 - p))) @ X / 200

    found = newton_minimise(terms, np.zeros(3), tol=1e-10)
    assert found.converged
    assert asked[0]
    assert not asked[-1]
    assert np.abs(terms(found.x, False)[1]).max() < 1e-10


def test_the_cap_is_reported():
    def terms(x, hessian):  # exp(-x) has no minimiser
        return np.exp(-x).sum(), -np.exp(-x), np.diag(np.exp(-x))

    found = newton_minimise(terms, np.zeros(1), tol=1e-12, max_iter=4)
    assert not found.converged
    assert found.n_iter == 4


def test_small_variables_do_not_stop_the_method_early():
    scale = 1e-6

    def terms(x, hessian):  # u - log u in u = scale x, smallest at u = 1
        u = scale * x
        return (u - np.log(u)).sum(), scale * (1 - 1 / u), np.diag(scale**2 / u**2)

    # The gradient is below tol at the start, but the decrement says how much is left to gain.
    found = newton_minimise(terms, np.array([0.1 / scale]), tol=1e-4)
    assert found.n_iter > 1
    np.testing.assert_allclose(scale * found.x, [1.0], rtol=1e-6)


@pytest.mark.parametrize("small", [2, 256])
def test_proximal_newton_meets_the_optimality_conditions(seed, small):
    rng = np.random.default_rng(seed)
    A, b = random_definite(rng, 8), 3 * rng.normal(size=8)
    l1 = np.full(8, 4.0)
    l1[0] = 0.0
    groups = np.arange(8) - 1

    def terms(x, features):
        value, gradient, _ = quadratic(A, b)(x, False)
        if features is None:
            return value, gradient, None
        inside = np.flatnonzero((groups < 0) | np.isin(groups, features))
        return value, gradient, A[np.ix_(inside, inside)]

    found = proximal_newton(terms, np.zeros(8), l1, groups=groups, tol=1e-9, small=small)
    assert found.converged
    x = found.x
    gradient = A @ x - b
    active = x != 0
    assert 0 < (~active).sum() < 8
    np.testing.assert_allclose(gradient[active], -(l1 * np.sign(x))[active], atol=1e-8)
    assert (np.abs(gradient[~active]) <= l1[~active] + 1e-8).all()


def test_orthonormal_designs_are_soft_thresholded():
    b = np.array([3.0, -0.5, -2.0])
    l1 = np.ones(3)

    def terms(x, features):
        return 0.5 * x @ x - b @ x, x - b, np.eye(3)

    found = proximal_newton(terms, np.zeros(3), l1, groups=np.arange(3), tol=1e-12)
    assert found.n_iter == 1
    np.testing.assert_allclose(found.x, [2.0, 0.0, -1.0], atol=1e-12)
    np.testing.assert_allclose(soft_threshold(b, 1.0), [2.0, 0.0, -1.0])

    def in_part(x, features):  # only the Hessian of the working set, first of the first coordinate
        return *terms(x, None)[:2], np.eye(0 if features is None else len(features))

    found = proximal_newton(in_part, np.zeros(3), l1, groups=np.array([1, 2, 0]), small=1)
    np.testing.assert_allclose(found.x, [2.0, 0.0, -1.0], atol=1e-12)


def test_proximal_steps_are_full_and_then_halved():
    tried = []

    def terms(x, features):  # sqrt(1 + x^2): full Newton steps map x to -x^3
        tried.append(float(x[0]))
        root = np.sqrt(1 + x**2)
        return root.sum(), x / root, np.diag(root**-3)

    found = proximal_newton(terms, np.array([2.0]), np.zeros(1), groups=np.arange(1), tol=1e-8)
    assert found.converged
    # To -8, half of the way, and a quarter, where the value is below that of the start.
    np.testing.assert_allclose(tried[:4], [2.0, -8.0, -3.0, -0.5])


def test_ill_conditioned_models_are_solved_to_the_tolerance(seed):
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.normal(size=(30, 30)))[0]
    H = Q @ np.diag(np.logspace(-7, 0, 30)) @ Q.T
    g, x, l1 = 0.02 * rng.normal(size=30), rng.normal(size=30), np.full(30, 1e-2)
    l1[:3] = 0
    u = _model_minimiser(H, g, x, l1, tol=1e-10)
    assert l1_violation(u, g + H @ (u - x), l1).max() <= 1e-10
    assert (u == 0).any()
    assert (u[3:] != 0).any()


def test_violation_is_zero_only_at_the_minimum():
    l1 = np.array([1.0, 1.0, 0.0])
    assert (l1_violation(np.array([0, -1, 2.0]), np.array([1, 1, 0.0]), l1) == 0).all()
    away = l1_violation(np.array([0, -1, 2.0]), np.array([-1.5, -1, 0.3]), l1)
    np.testing.assert_allclose(away, [0.5, 2.0, 0.3])


def test_working_sets_keep_what_is_in_use_and_add_the_worst():
    x = np.array([9.0, 0, 0, 1, 0, 0])
    violation = np.array([0.0, 0, 5, 0, 1, 7])
    groups = np.array([-1, 0, 1, 2, 3, 4])
    assert _working_set(x, violation, groups, 5, 2).tolist() == [2, 4]
    assert _working_set(x, violation, groups, 5, 3).tolist() == [1, 2, 4]
    x[2] = 1.0  # two features in use: the set has at least four
    assert _working_set(x, violation, groups, 5, 1).tolist() == [1, 2, 3, 4]
