"""Nearest covariance and correlation matrices: closed forms, projections and program agree."""

import math

import numpy as np
import pytest

from corollary.optimize import covariance_program, kkt_residuals, nearest_covariance, solve


def indefinite(n, seed=0):
    rng = np.random.default_rng(seed)
    B = np.clip(rng.normal(size=(n, n)), -1, 1)
    S = (B + B.T) / 2
    np.fill_diagonal(S, 1.0)
    return S


def test_without_a_diagonal_eigenvalues_are_clipped():
    S = indefinite(5)
    values, vectors = np.linalg.eigh(S)
    assert values[0] < 0
    for least in (0.0, 0.3):
        solution = nearest_covariance(S, least=least)
        clipped = (vectors * np.maximum(values, least)) @ vectors.T
        assert solution.x == pytest.approx(clipped)
        assert solution.value == pytest.approx(np.sum(np.minimum(values - least, 0) ** 2))
        assert (solution.status, solution.gap, solution.n_iter) == ("optimal", 0.0, 0)
        program = solve(covariance_program(S, least=least))
        assert program.value == pytest.approx(solution.value, abs=1e-6)


def test_the_matrix_of_higham():
    # Higham (2002), section 5: a tridiagonal matrix of ones, whose nearest correlation matrix has
    # 0.7607 and 0.1573 off the diagonal, at a distance of 0.5278.
    S = [[1.0, 1.0, 0.0], [1.0, 1.0, 1.0], [0.0, 1.0, 1.0]]
    solution = nearest_covariance(S, diagonal=1.0, tol=1e-10)
    assert solution.x[0, 1] == pytest.approx(0.7607, abs=5e-5)
    assert solution.x[0, 2] == pytest.approx(0.1573, abs=5e-5)
    assert math.sqrt(solution.value) == pytest.approx(0.5278, abs=5e-5)
    # [[1, 2], [2, 1]] becomes all ones: nothing else has a unit diagonal and is as near.
    pair = nearest_covariance([[1.0, 2.0], [2.0, 1.0]], diagonal=1.0, tol=1e-10)
    assert pair.x == pytest.approx(np.ones((2, 2)), abs=1e-4)
    assert pair.value == pytest.approx(2.0, abs=1e-8)


@pytest.mark.parametrize("diagonal", [1.0, [1.0, 2.0, 0.5, 1.5]])
@pytest.mark.parametrize("least", [0.0, 0.2])
def test_methods_agree_and_the_certificate_holds(diagonal, least):
    S = 1.5 * indefinite(4, seed=1)
    options = {"diagonal": diagonal, "least": least, "tol": 1e-8}
    answers = [
        nearest_covariance(S, method=method, **options)
        for method in ("accelerated", "projections", "program")
    ]
    best = solve(covariance_program(S, diagonal=diagonal, least=least), tol=1e-9)
    for solution in answers:
        assert solution.status == "optimal"
        assert solution.gap <= 1e-8 * max(1.0, solution.value)
        assert solution.value == pytest.approx(best.value, rel=1e-7)
        assert solution.value == pytest.approx(np.sum((solution.x - S) ** 2), rel=1e-7)
        assert solution.certificate.lower_bound <= best.value + 1e-8
        assert solution.x == pytest.approx(answers[0].x, abs=1e-3)
        assert np.diag(solution.x) == pytest.approx(np.broadcast_to(diagonal, 4), abs=1e-7)
        assert np.linalg.eigvalsh(solution.x)[0] > least - 1e-7
        # What is left of S by the diagonal is a multiple of the missing cone: X - S - y in it.
        multipliers = np.diag(solution.dual["diagonal"])
        rest = 2 * (solution.x - S) + multipliers
        assert np.linalg.eigvalsh(rest)[0] > -1e-3
        assert np.sum(rest * (solution.x - least * np.eye(4))) == pytest.approx(0.0, abs=1e-3)
    assert kkt_residuals(
        covariance_program(S, diagonal=diagonal, least=least), best.x, best.dual
    ).worst() < 1e-4  # fmt: skip


def test_plain_steps_are_alternating_projections():
    S = indefinite(6, seed=2)
    Y, correction = S.copy(), np.zeros_like(S)
    for _ in range(10):  # Higham's algorithm 3.3, with Dykstra's correction
        R = Y - correction
        values, vectors = np.linalg.eigh(R)
        X = (vectors * np.maximum(values, 0)) @ vectors.T
        correction = X - R
        Y = X.copy()
        np.fill_diagonal(Y, 1.0)
    solution = nearest_covariance(S, diagonal=1.0, method="projections", max_iter=10, tol=1e-15)
    assert solution.status == "out of steps"
    # Ten rounds leave S less the correction where ten steps leave S and the multipliers.
    y = -solution.dual["diagonal"] / 2
    assert S + np.diag(y) == pytest.approx(Y - correction)
    values, vectors = np.linalg.eigh(S + np.diag(y))
    X = (vectors * np.maximum(values, 0)) @ vectors.T
    scale = 1 / np.sqrt(np.diag(X))
    assert solution.x == pytest.approx(scale[:, None] * X * scale)
    residual = np.abs(np.diag(X) - 1).max()
    assert solution.certificate.residuals["diagonal"] == pytest.approx(residual)
    bound = np.sum(S**2) - np.sum(X**2) + 2 * y.sum()
    assert solution.certificate.lower_bound == pytest.approx(bound)


def test_what_is_a_correlation_matrix_is_returned_unchanged():
    rng = np.random.default_rng(3)
    C = np.corrcoef(rng.normal(size=(5, 20)))
    solution = nearest_covariance(C, diagonal=1.0)
    assert solution.x == pytest.approx(C, abs=1e-12)
    assert solution.value == pytest.approx(0.0, abs=1e-12)
    assert nearest_covariance(C).x == pytest.approx(C, abs=1e-12)
    # A variable without a share in the cone keeps its variance and loses its correlations.
    lost = nearest_covariance(np.diag([1.0, -5.0]), diagonal=[1.0, 2.0], max_iter=1)
    assert lost.x == pytest.approx(np.diag([1.0, 2.0]))


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="symmetric"):
        nearest_covariance([[1.0, 2.0], [0.0, 1.0]])
    for S in ([1.0, 2.0], [[1.0, np.nan], [np.nan, 1.0]], np.zeros((0, 0)), np.ones((2, 3))):
        with pytest.raises(ValueError, match="finite"):
            nearest_covariance(S)
    for diagonal in ([1.0, 1.0], -1.0, [1.0, np.inf, 1.0]):
        with pytest.raises(ValueError, match="one positive number"):
            nearest_covariance(np.eye(3), diagonal=diagonal)
    with pytest.raises(ValueError, match="Lower 'least'"):
        covariance_program(np.eye(3), diagonal=1.0, least=2.0)
