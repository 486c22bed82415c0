"""Conjugate gradients: exact in few steps, with their rate."""

import numpy as np
import pytest
from scipy import sparse

from corollary.optimize import (
    ConjugateGradients,
    conjugate_gradient_bound,
    conjugate_gradients,
    iterate,
)


def system(seed, n=12, condition=100.0):
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.normal(size=(n, n)))[0]
    A = (Q * np.geomspace(1.0, condition, n)) @ Q.T
    return (A + A.T) / 2, rng.normal(size=n)


def test_the_dense_solution_in_as_many_steps_as_there_are_unknowns():
    A, b = system(0)
    exact = np.linalg.solve(A, b)
    run = iterate(ConjugateGradients(A, b), np.zeros(12), max_iter=12)
    assert run.state.x == pytest.approx(exact, abs=1e-7)
    # Three different eigenvalues: three steps.
    few = np.diag(np.repeat([1.0, 5.0, 20.0], 4))
    solution = conjugate_gradients(few, b, tol=1e-12)
    assert solution.n_iter == 3
    assert solution.x == pytest.approx(b / np.diag(few))
    # The first step is steepest descent: b'b / b'Ab along b.
    first = iterate(ConjugateGradients(A, b), np.zeros(12), max_iter=1)
    assert first.state.x == pytest.approx((b @ b) / (b @ A @ b) * b)
    x = first.state.x
    assert first.history.value[0] == pytest.approx(0.5 * x @ A @ x - b @ x)
    assert first.history.step[0] == pytest.approx(np.linalg.norm(x))
    assert first.history.gradient[0] == pytest.approx(np.linalg.norm(b - A @ x))


def test_products_and_sparse_matrices_are_enough():
    A, b = system(1)
    exact = np.linalg.solve(A, b)
    for matrix in (A, A.tolist(), sparse.csr_matrix(A), lambda v: A @ v):
        solution = conjugate_gradients(matrix, b, tol=1e-10, least_eigenvalue=0.999)
        assert solution.x == pytest.approx(exact, abs=1e-8)
        assert solution.status == "optimal"
    assert conjugate_gradients(A, b, exact).n_iter == 1


def test_no_step_violates_its_bound():
    for seed in range(5):
        A, b = system(seed)
        exact = np.linalg.solve(A, b)
        first = np.sqrt(exact @ A @ exact)
        for t in range(13):
            away = iterate(ConjugateGradients(A, b), np.zeros(12), max_iter=t).state.x - exact
            assert np.sqrt(away @ A @ away) <= conjugate_gradient_bound(100.0, t) * first + 1e-9
    # Values by hand: 2 (9/11)^t for a condition of 100.
    assert conjugate_gradient_bound(100.0, 10) == pytest.approx(2 * (9 / 11) ** 10)
    assert conjugate_gradient_bound(100.0, 0) == 1.0
    assert conjugate_gradient_bound(1.0, 1) == 0.0
    for condition in (0.5, np.inf, np.nan):
        with pytest.raises(ValueError, match="condition number in the range"):
            conjugate_gradient_bound(condition, 1)


def test_the_certificate_is_computed_at_the_point():
    A, b = system(2)
    least = -0.5 * b @ np.linalg.solve(A, b)
    for max_iter in range(1, 12, 2):
        solution = conjugate_gradients(A, b, least_eigenvalue=1.0, max_iter=max_iter)
        x = solution.x
        assert solution.value == pytest.approx(0.5 * x @ A @ x - b @ x)
        assert solution.gap == pytest.approx(np.sum((b - A @ x) ** 2) / 2)
        assert 0 <= solution.value - least <= solution.gap + 1e-9
        assert solution.certificate.residuals["residual"] == np.linalg.norm(b - A @ x)
    assert "No eigenvalue of the matrix is below 1" in str(solution.certificate)
    unknown = conjugate_gradients(A, b)
    assert unknown.status == "stopped"
    assert unknown.gap == np.inf
    assert np.linalg.norm(b - A @ unknown.x) <= 1.01e-8 * np.linalg.norm(b)
    assert conjugate_gradients(A, b, max_iter=2).status == "out of steps"
    onward = conjugate_gradients(A, b, state=conjugate_gradients(A, b, max_iter=2).state)
    assert onward.n_iter == unknown.n_iter


def test_preconditioning_is_scaling():
    A, b = system(3)
    d = np.geomspace(1.0, 1000.0, 12)
    bad = d[:, None] * A * d
    plain = conjugate_gradients(bad, b, tol=1e-6)
    better = conjugate_gradients(bad, b, tol=1e-6, preconditioner=1 / np.diag(bad))
    assert better.n_iter < plain.n_iter
    by_function = conjugate_gradients(bad, b, tol=1e-6, preconditioner=lambda r: r / np.diag(bad))
    assert by_function.x == pytest.approx(better.x)
    # The same iterates as those of the scaled system, mapped back.
    scale = 1 / np.sqrt(np.diag(bad))
    one = iterate(ConjugateGradients(bad, b, scale**2), np.zeros(12), max_iter=4).state.x
    scaled = ConjugateGradients(scale[:, None] * bad * scale, scale * b)
    assert one == pytest.approx(scale * iterate(scaled, np.zeros(12), max_iter=4).state.x)


def test_what_is_not_positive_definite_is_refused():
    with pytest.raises(ValueError, match=r"positive definite matrix.*p'Ap = -1"):
        conjugate_gradients(np.diag([1.0, -2.0]), [1.0, 1.0])
    # Singular, and without a solution: the flat direction is met.
    with pytest.raises(ValueError, match="p'Ap = 0"):
        conjugate_gradients(np.diag([1.0, 0.0]), [0.0, 1.0])
    # Singular with a solution, and a right-hand side of zeros.
    assert conjugate_gradients(np.diag([1.0, 0.0]), [2.0, 0.0]).x == pytest.approx([2.0, 0.0])
    zero = conjugate_gradients(np.eye(2), [0.0, 0.0], least_eigenvalue=1.0)
    assert (zero.status, zero.value) == ("optimal", 0.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"A": np.eye(2), "b": [[1.0]]}, "vector of finite numbers"),
        ({"A": np.eye(2), "b": [1.0, np.nan]}, "with NaN or infinity"),
        ({"A": np.eye(3), "b": [1.0, 1.0]}, r"Got shapes \(3, 3\) and \(2,\)"),
        ({"A": lambda v: v[:1], "b": [1.0, 1.0]}, r"must have shape \(2,\)"),
        ({"A": np.eye(2), "b": [1.0, 1.0], "preconditioner": [1.0, 0.0]}, "the least entry 0"),
        ({"A": np.eye(2), "b": [1.0, 1.0], "preconditioner": [1.0]}, r"shape \(1,\)"),
        ({"A": np.eye(2), "b": [1.0, 1.0], "start": [1.0]}, "start must have shape"),
        ({"A": np.eye(2), "b": [1.0, 1.0], "least_eigenvalue": 0.0}, "least_eigenvalue"),
    ],
)
def test_bad_input_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        conjugate_gradients(**arguments)
