"""Scaling of variables and constraints."""

import numpy as np
import pytest

from corollary.optimize import (
    EmpiricalRisk,
    GradientDescent,
    Quadratic,
    Stop,
    certify_minimum,
    equilibrate,
    iterate,
    jacobi_scaling,
    newton,
    refute_convexity,
    refute_smoothness,
    rescale,
    solve_by,
)


def stretched(seed, d=5):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(3 * d, d)) * np.geomspace(1, 100, d)
    return Quadratic(A.T @ A, rng.normal(size=d))


@pytest.mark.parametrize("seed", range(3))
def test_the_same_optimum_in_fewer_steps(seed):
    f = stretched(seed)
    d = jacobi_scaling(f.P)
    g = rescale(f, d)
    assert np.diag(g.P) == pytest.approx(np.ones(5))
    assert g.value(np.ones(5) / d) == pytest.approx(f.value(np.ones(5)))
    assert d * g.minimiser() == pytest.approx(f.minimiser(), rel=1e-6)
    condition = g.smoothness / g.strong_convexity
    assert condition < f.smoothness / f.strong_convexity / 100
    run = iterate(GradientDescent(g), np.zeros(5), stop=Stop(gradient=1e-8), max_iter=2000)
    assert run.status == "converged"
    assert d * run.state.x == pytest.approx(f.minimiser(), abs=1e-6)
    plain = iterate(GradientDescent(f), np.zeros(5), stop=Stop(gradient=1e-8), max_iter=2000)
    assert plain.n_iter > 4 * run.n_iter


def test_no_scaling_is_better_by_more_than_the_order():
    rng = np.random.default_rng(0)
    for seed in range(5):
        P = stretched(seed, d=3).P
        ours = np.linalg.cond(rescale(Quadratic(P), jacobi_scaling(P)).P)
        for _ in range(50):
            d = np.exp(rng.normal(size=3)) * jacobi_scaling(P)
            assert ours <= 3 * np.linalg.cond(d[:, None] * P * d) * (1 + 1e-9)


def test_scaled_functions_keep_valid_constants():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(30, 3)) * [1.0, 10.0, 0.1]
    f = EmpiricalRisk(X, np.where(X[:, 0] > 0, 1, -1), alpha=0.5)
    d = np.array([2.0, 0.1, 5.0])
    g = rescale(f, d)
    z = rng.normal(size=3)
    assert g.value(z) == f.value(d * z)
    assert g.value_and_gradient(z)[0] == f.value(d * z)
    h = 1e-6
    slopes = [(g.value(z + h * e) - g.value(z - h * e)) / (2 * h) for e in np.eye(3)]
    assert g.gradient(z) == pytest.approx(slopes, abs=1e-7)
    assert g.value_and_gradient(z)[1] == pytest.approx(slopes, abs=1e-7)
    bends = [(g.gradient(z + h * e) - g.gradient(z - h * e)) / (2 * h) for e in np.eye(3)]
    assert g.hessian(z) == pytest.approx(np.array(bends), abs=1e-6)
    assert g.smoothness == pytest.approx(25 * f.smoothness)
    assert g.strong_convexity == pytest.approx(0.01 * 0.5)
    assert (g.convex, g.floor, g.assumptions) == (f.convex, f.floor, f.assumptions)
    box = (-np.ones(3), np.ones(3))
    assert refute_convexity(g, *box, random_state=0) is None
    assert refute_smoothness(g, *box, smoothness=g.smoothness, random_state=0) is None
    best = newton(f, np.zeros(3), tol=1e-12)
    assert d * newton(g, np.zeros(3), tol=1e-12).x == pytest.approx(best.x, abs=1e-6)
    certified = solve_by(GradientDescent(g), z, lambda v: certify_minimum(g, v), max_iter=10)
    assert certified.value - best.value <= certified.gap


def test_rows_and_columns_become_one():
    rng = np.random.default_rng(2)
    A = rng.normal(size=(4, 3)) * np.geomspace(1e-4, 1e4, 4)[:, None]
    A[1] = 0.0
    rows, columns = equilibrate(A)
    scaled = np.abs(rows[:, None] * A * columns)
    assert scaled.max(axis=0) == pytest.approx(np.ones(3), rel=1e-4)
    assert np.delete(scaled, 1, axis=0).max(axis=1) == pytest.approx(np.ones(3), rel=1e-4)
    assert rows[1] == 1.0
    # One round by hand: roots of the largest moduli.
    rows, columns = equilibrate([[4.0, 1.0], [0.0, 9.0]], n_rounds=1)
    assert rows == pytest.approx([1 / 2, 1 / 3])
    assert columns == pytest.approx([1 / 2, 1 / 3])
    # The solution of scaled equations is mapped back by the columns.
    B, b = rng.normal(size=(3, 3)) * [1.0, 1e3, 1e-3], rng.normal(size=3)
    rows, columns = equilibrate(B)
    back = columns * np.linalg.solve(rows[:, None] * B * columns, rows * b)
    assert back == pytest.approx(np.linalg.solve(B, b))


def test_bad_input_is_refused():
    assert jacobi_scaling([[0.0, 0.0], [0.0, 4.0]]) == pytest.approx([1.0, 0.5])
    assert jacobi_scaling([[0.25]]) == pytest.approx([2.0])
    for P in ([[-1.0]], [[np.nan]], [[np.inf]], np.ones((2, 3)), [1.0]):
        with pytest.raises(ValueError, match="jacobi_scaling needs"):
            jacobi_scaling(P)
    for A in ([1.0], [[np.inf]]):
        with pytest.raises(ValueError, match="equilibrate needs"):
            equilibrate(A)
    for d in ([0.0, 1.0], [np.inf, 1.0], 1.0):
        with pytest.raises(ValueError, match="one positive, finite factor"):
            rescale(Quadratic(np.eye(2)), d)
    with pytest.raises(ValueError, match="each of 2 variables"):
        rescale(Quadratic(np.eye(2)), np.ones(3))
