"""Primal-dual steps: solutions of other solvers, steps by hand, and programs without a solution."""

import math

import numpy as np
import pytest

from corollary.optimize import (
    Infeasible,
    PrimalDual,
    Program,
    Quadratic,
    barrier,
    iterate,
    kkt_residuals,
    linear_equality,
    linear_inequality,
    norm_inequality,
    primal_dual,
    solve,
)
from corollary.optimize.interior.primal_dual import PrimalDualState


def random_program(seed, n, m, *, rank=0, n_equations=0):
    rng = np.random.default_rng(seed)
    root, G, c = rng.normal(size=(rank, n)), rng.normal(size=(m, n)), rng.normal(size=n)
    q = rng.normal(size=n) if rank == n else -G.T @ rng.exponential(size=m)
    constraints = [linear_inequality(G, G @ c + rng.exponential(size=m), name="rows")]
    if n_equations:
        A = rng.normal(size=(n_equations, n))
        constraints.append(linear_equality(A, A @ c, name="equations"))
    return Program(Quadratic(root.T @ root, q), constraints)


@pytest.mark.parametrize("rank", [0, 3, 6])
@pytest.mark.parametrize("n_equations", [0, 2])
@pytest.mark.parametrize("m", [1, 5, 20])
def test_solutions_agree_with_other_solvers(rank, n_equations, m):
    program = random_program(rank + m, 6, m, rank=rank, n_equations=n_equations)
    solution = primal_dual(program)
    assert (solution.status, solution.reason) == ("optimal", "")
    assert solution.value == pytest.approx(solve(program, tol=1e-9).value, rel=1e-6, abs=1e-6)
    assert solution.gap <= 1e-6 * max(1.0, abs(solution.value))
    assert kkt_residuals(program, solution.x, solution.dual).worst() < 1e-5
    assert solution.n_iter < 20


def test_the_path_of_the_barrier_has_the_same_end():
    program = random_program(3, 4, 9, rank=4, n_equations=1)
    ours, path = primal_dual(program), barrier(program)
    assert ours.value == pytest.approx(path.value, abs=2e-6)
    for name in ("rows", "equations"):
        assert ours.dual[name] == pytest.approx(path.dual[name], abs=1e-3)


def test_a_start_and_a_step_by_hand():
    # x^2 / 2 - 2 x over x <= 1. The start minimises x^2 / 2 - 2 x + (x - 1)^2 / 2: x = 3/2, beyond
    # the limit by 1/2; the slack -1/2 is moved to 1, the multiplier is 1/2.
    program = Program(Quadratic([[1.0]], [-2.0]), [linear_inequality([1.0], 1.0, name="cap")])
    method = PrimalDual(program)
    state = method.init()
    assert state.x == pytest.approx([1.5])
    assert state.slack == pytest.approx([1.0])
    assert state.multipliers == pytest.approx([0.5])
    # apart = 1.5, pull = 0. Predictor: (1 + 1/2) dx = -(1/2 3/2 - 1/2) = -1/4, dx = -1/6,
    # ds = -3/2 + 1/6 = -4/3, dz = 1/4 - 1/12 = 1/6; it goes 3/4 of the way, where s = 0: the
    # predicted mu is 0. Corrector: products 1/2 + ds dz = 5/18, shift = 3/4 - 5/18 = 17/36,
    # dx = -17/54, ds = -3/2 + 17/54 = -32/27, dz = 17/36 - 17/108 = 17/54.
    length = 0.995 * 27 / 32
    following, info = method.step(state)
    assert following.x == pytest.approx([1.5 - length * 17 / 54])
    assert following.slack == pytest.approx([1 - length * 32 / 27])
    assert following.multipliers == pytest.approx([0.5 + length * 17 / 54])
    x, s, z = (float(v[0]) for v in following)
    assert info.value == pytest.approx(x**2 / 2 - 2 * x)
    assert info.step == pytest.approx(length * 17 / 54)
    assert info.primal == pytest.approx((x + s - 1) / 2)
    assert info.dual == pytest.approx(
        max(abs(x - 2 + z) / (1 + abs(x - 2)), s * z / (1 + abs(info.value)))
    )
    # From x = 0, s = 1, z = 3 the predictor (1/2, -1/2, -3/2) could go twice as far, but goes once:
    # mu falls from 3 to 3/4, the target is 3/64, and the corrector goes its whole way, too.
    state = PrimalDualState(np.array([0.0]), np.array([1.0]), np.array([3.0]))
    following, _ = method.step(state)
    assert np.concatenate(following) == pytest.approx([173 / 256, 83 / 256, 339 / 256])


def test_the_predicted_products_set_the_target():
    # Newton's equations for point, slacks and multipliers at once, without elimination.
    program = Program(
        Quadratic([[2.0]], [-3.0]), [linear_inequality([[1.0], [-1.0]], [1.0, 4.0], name="pair")]
    )
    G, h = np.array([[1.0], [-1.0]]), np.array([1.0, 4.0])
    method = PrimalDual(program)
    for state in (
        method.init(),
        PrimalDualState(np.array([0.5]), np.array([0.5, 4.5]), np.array([2.0, 0.1])),
        PrimalDualState(np.array([0.9]), np.array([0.2, 5.0]), np.array([1.0, 1.0])),
    ):
        x, s, z = state
        residuals = np.concatenate([2 * x - 3 + G.T @ z, G @ x + s - h])
        matrix = np.zeros((5, 5))
        matrix[0, 0], matrix[0, 3:], matrix[1:3, :1], matrix[1:3, 1:3] = 2.0, G.T, G, np.eye(2)
        matrix[3:, 1:3], matrix[3:, 3:] = np.diag(z), np.diag(s)

        d = np.linalg.solve(matrix, -np.concatenate([residuals, s * z]))
        a = min(1.0, 1 / (-d[1:] / np.concatenate([s, z])).max())
        mu, predicted = s @ z / 2, (s + a * d[1:3]) @ (z + a * d[3:]) / 2
        products = s * z + d[1:3] * d[3:] - (predicted / mu) ** 3 * mu
        d = np.linalg.solve(matrix, -np.concatenate([residuals, products]))
        a = min(1.0, 0.995 / (-d[1:] / np.concatenate([s, z])).max())
        following, info = method.step(state)
        assert np.concatenate(following) == pytest.approx(np.concatenate(state) + a * d)
        x, s, z = following
        assert info.primal == pytest.approx(np.abs(G @ x + s - h).max() / 5, abs=1e-15)
        pull, value = float(np.abs(2 * x - 3 + G.T @ z)[0]), float(x[0] ** 2 - 3 * x[0])
        residual = max(pull / (1 + abs(2 * x[0] - 3)), s @ z / (1 + abs(value)))
        assert info.dual == pytest.approx(residual)


def test_starts_keep_the_equations():
    program = random_program(1, 5, 8, rank=5, n_equations=2)
    A, b = program.constraints[1].G, program.constraints[1].h
    assert PrimalDual(program).init(np.ones(5)).x == pytest.approx(PrimalDual(program).init().x)
    for start in (None, np.ones(5)):
        run = iterate(PrimalDual(program), start, max_iter=5)
        assert A @ run.state.x == pytest.approx(b)
        assert (run.state.slack > 0).all()
        assert (run.state.multipliers > 0).all()


def test_what_has_no_solution_is_proved_so():
    rng = np.random.default_rng(0)
    for _ in range(5):
        G, h, weights = rng.normal(size=(12, 3)), rng.normal(size=12), rng.exponential(size=11)
        G[11], h[11] = -weights @ G[:11], -weights @ h[:11] - 1.0
        solution = primal_dual(Program(rng.normal(size=3), [linear_inequality(G, h, name="r")]))
        assert (solution.status, solution.value) == ("infeasible", math.inf)
        assert isinstance(solution.certificate, Infeasible)
        assert np.abs(G.T @ solution.certificate.ray["r"]).max() < 1e-12
        assert h @ solution.certificate.ray["r"] == pytest.approx(-1.0)
        assert np.isnan(solution.x).tolist() == [True] * 3
    cap = linear_inequality([0.0, 1.0], 1.0, name="cap")
    slope = primal_dual(Program([-1.0, 0.0], [cap]))
    assert (slope.status, slope.value) == ("unbounded", -math.inf)
    assert slope.certificate.direction[0] == pytest.approx(1.0)
    twice = linear_equality([[1.0, 1.0], [2.0, 2.0]], [1.0, 3.0], name="twice")
    assert primal_dual(Program([1.0, 0.0], [cap, twice])).status == "infeasible"


def test_dependent_equations_and_flat_directions_are_solved():
    rows = linear_inequality([[1.0, 0.0, 0.0]], [1.0], name="cap")
    twice = linear_equality([[1.0, 1.0, 0.0], [2.0, 2.0, 0.0]], [1.0, 2.0], name="twice")
    # The third variable occurs nowhere.
    solution = primal_dual(Program([-1.0, 0.0, 0.0], [rows, twice]))
    assert solution.status == "optimal"
    assert solution.x[:2] == pytest.approx([1.0, 0.0], abs=1e-6)
    free = primal_dual(Program(Quadratic(np.diag([2.0, 4.0]), [-2.0, 4.0])))
    assert (free.status, free.value) == ("optimal", pytest.approx(-3.0))


def test_bad_input_is_refused():
    ball = norm_inequality(np.eye(2), np.zeros(2), np.zeros(2), 1.0, name="ball")
    with pytest.raises(ValueError, match="business of solve"):
        primal_dual(Program([1.0, 0.0], [ball]))
    cap = linear_inequality([1.0], 1.0, name="cap")
    with pytest.raises(ValueError, match="negative eigenvalue"):
        primal_dual(Program(Quadratic([[-1.0]]), [cap]))
    with pytest.raises(ValueError, match="at least one inequality"):
        PrimalDual(Program(Quadratic([[1.0]])))


def test_residuals_by_hand():
    # x^2 - 4 x subject to x <= 1.
    program = Program(Quadratic([[2.0]], [-4.0]), [linear_inequality([1.0], 1.0, name="cap")])
    method = PrimalDual(program)

    def info(*state):
        return method._info(PrimalDualState(*(np.array([value]) for value in state)), 0.0)

    assert info(0.0, 1.5, 0.1).primal == pytest.approx(0.5 / 2.0)  # x + s - 1 over 1 + 1
    assert info(0.0, 1.5, 0.1).dual == pytest.approx(3.9 / 5.0)  # -4 + z over 1 + 4
    # The gradient vanishes, and s z is left, over 1 + 3.
    assert info(1.0, 1.5, 2.0).dual == pytest.approx(3.0 / 4.0)
