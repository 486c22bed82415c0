"""Programs, their Lagrangians, duality, optimality conditions and sensitivities."""

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import linprog

from corollary.optimize import (
    Function,
    Program,
    Quadratic,
    certify_program,
    dual_function,
    dual_program,
    function_inequality,
    kkt_residuals,
    lagrangian,
    linear_equality,
    linear_inequality,
    matrix_inequality,
    norm_inequality,
    quadratic_inequality,
    repair_dual,
    sensitivities,
    solve,
)


def random_program(rng, *, rank=3, n=3, m=5):
    """A feasible, bounded program with linear constraints; rank 0 is a linear program."""
    A = rng.normal(size=(rank, n))
    G = rng.normal(size=(m, n))
    x = rng.normal(size=n)
    h = G @ x + rng.exponential(size=m)
    q = -G.T @ rng.exponential(size=m) - A.T @ A @ x
    return Program(Quadratic(A.T @ A, q, 0.5), [linear_inequality(G, h, name="rows")])


def vertices(G, h):
    """All corners of {x : G x <= h}."""
    n = G.shape[1]
    for rows in itertools.combinations(range(len(G)), n):
        x = np.linalg.solve(G[list(rows)], h[list(rows)])
        if (G @ x <= h + 1e-9).all():
            yield x


HALF_LINE = Program(Quadratic([[2.0]]), [linear_inequality([-1.0], -1.0, name="floor")])


def test_a_program_knows_value_and_violations():
    program = Program(
        Quadratic(np.diag([2.0, 4.0]), [1.0, 0.0], 3.0),
        [
            linear_equality([[1.0, 1.0], [1.0, -1.0]], [1.0, 0.0], name="equations"),
            linear_inequality([[2.0, 0.0], [0.0, 1.0]], [1.0, 2.0], name="caps"),
            norm_inequality(np.eye(2), [0.0, 1.0], [1.0, 0.0], 0.5, name="norm"),
            quadratic_inequality(np.diag([2.0, 0.0]), [0.0, 1.0], -3.0, name="bowl"),
            matrix_inequality(
                np.zeros((2, 2)), [np.diag([1.0, 0.0]), np.diag([0.0, 1.0])], name="matrix"
            ),
            function_inequality(Quadratic(np.diag([2.0, 2.0]), r=-4.0), name="disc"),
        ],
    )
    assert program.value([1.0, 2.0]) == pytest.approx(1.0 + 8.0 + 1.0 + 3.0)
    x = np.array([2.0, 3.0])
    broken = program.violations(x)
    assert broken["equations"] == pytest.approx(4.0)
    assert broken["caps"] == pytest.approx(3.0)
    assert broken["norm"] == pytest.approx(np.hypot(2, 4) - 2.5)
    # x1^2 + x2 - 3 = 4, t = 3 - x2 = 0, and |(2 x1, t - 1)| - (t + 1) = sqrt(17) - 1.
    assert broken["bowl"] == pytest.approx(math.sqrt(17.0) - 1.0)
    assert broken["matrix"] == 0.0
    assert broken["disc"] == pytest.approx(9.0)
    assert not program.is_feasible(x)
    assert program.violations([-1.0, 2.0])["matrix"] == pytest.approx(1.0)
    assert program.is_feasible([0.5, 0.5], tol=1.0)
    assert program.convex is True
    assert not program.is_conic
    assert program.constraints[0].labels() == ["equations[0]", "equations[1]"]
    assert program.constraints[2].labels() == ["norm"]
    assert Program([1.0, 2.0]).value([3.0, 4.0]) == 11.0


def test_quadratic_inequalities_are_their_quadratics():
    rng = np.random.default_rng(0)
    A, q, r = rng.normal(size=(2, 3)), rng.normal(size=3), -1.0
    P = A.T @ A
    constraint = quadratic_inequality(P, q, r, name="bowl")
    inside = 0
    for _ in range(200):
        x = rng.normal(size=3)
        excess = 0.5 * x @ P @ x + q @ x + r
        assert (constraint.violation(x) == 0.0) == (excess <= 0.0)
        inside += excess <= 0.0
    assert 20 < inside < 180


def test_programs_refuse_what_is_no_program():
    cap = linear_inequality([1.0, 0.0], 1.0, name="cap")
    with pytest.raises(ValueError, match=r"different names .* Twice: \['cap'\]"):
        Program([1.0, 1.0], [cap, cap])
    with pytest.raises(ValueError, match="as many variables"):
        Program([1.0], [cap])
    with pytest.raises(ValueError, match=r"Got shape \(1, 1\)"):
        Program([[1.0]])
    with pytest.raises(ValueError, match="'cap' needs a matrix"):
        linear_inequality([[1.0, 0.0]], [1.0, 2.0], name="cap")
    with pytest.raises(ValueError, match="holds NaN or infinity"):
        linear_inequality([1.0, np.nan], 1.0, name="cap")
    with pytest.raises(ValueError, match="least eigenvalue is -1"):
        quadratic_inequality([[-1.0]], [0.0], 1.0, name="hole")
    with pytest.raises(ValueError, match="symmetric matrices of one shape"):
        matrix_inequality([[0.0, 1.0], [0.0, 0.0]], [np.eye(2)], name="matrix")
    program = Program([1.0, 1.0], [cap])
    assert repr(program) == "<Program of 2 variables, constraints: cap>"
    with pytest.raises(ValueError, match="a vector with 2 entries"):
        program.value([1.0])
    with pytest.raises(ValueError, match=r"No constraint is called \['cup'\]"):
        program.pack({"cup": 1.0})
    with pytest.raises(ValueError, match="must have 1 finite entries"):
        program.pack({"cap": [1.0, 2.0]})
    with pytest.raises(ValueError, match="must have 1 finite entries"):
        program.pack({"cap": np.nan})


def test_the_lagrangian_by_hand():
    f = Function(lambda x: x @ x, lambda x: 2 * x, lambda x: 2 * np.eye(2), convex=True)
    constraints = [
        linear_inequality([1.0, 0.0], 2.0, name="cap"),
        linear_equality([1.0, 1.0], 3.0, name="sum"),
        function_inequality(Quadratic(np.diag([2.0, 0.0]), [0.0, 1.0], -1.0), name="bowl"),
    ]
    dual = {"cap": 2.0, "sum": -1.0, "bowl": 3.0}
    x = np.array([1.0, 4.0])
    # x'x = 17, 2 (1 - 2) = -2, -(5 - 3) = -2, 3 (1 + 4 - 1) = 12.
    general = lagrangian(Program(f, constraints), dual)
    closed = lagrangian(Program(Quadratic(2 * np.eye(2)), constraints), dual)
    assert isinstance(closed, Quadratic)
    for L in (general, closed):
        assert L.value(x) == pytest.approx(25.0)
        assert L.gradient(x) == pytest.approx([2 + 2 - 1 + 6, 8 - 1 + 3])
        assert L.hessian(x) == pytest.approx(np.diag([8.0, 2.0]))
    # Strong convexity adds up: 1 of the objective and three times 2.
    bowl = Function(lambda x: x @ x / 2, lambda x: x, strong_convexity=1.0, smoothness=1.0)
    disc = function_inequality(Quadratic(2 * np.eye(2)), name="disc")
    L = lagrangian(Program(bowl, [disc]), {"disc": 3.0})
    assert (L.strong_convexity, L.smoothness, L.convex) == (7.0, 7.0, True)
    assert len(L.assumptions) == 2
    unknown = Function(lambda x: x @ x, lambda x: 2 * x)
    assert lagrangian(Program(unknown, [disc]), {}).convex is None


def test_dual_functions_in_closed_form():
    # x^2 with x >= 1: g(m) = m - m^2 / 4, largest at 2 with value 1.
    for m in (0.0, 0.5, 2.0, 7.0):
        assert dual_function(HALF_LINE, {"floor": m}) == pytest.approx(m - m**2 / 4)
    # A linear program: -h'z if G'z = -q, else -inf.
    line = Program([3.0], [linear_inequality([-1.0], -2.0, name="floor")])
    assert dual_function(line, {"floor": 3.0}) == pytest.approx(6.0)
    assert dual_function(line, {"floor": 3.0001}) == -math.inf
    # Equations: the quadratic x'x/2 with a'x = b has g(v) = -v^2 |a|^2 / 2 - b v.
    plane = Program(Quadratic(np.eye(2), r=1.0), [linear_equality([3.0, 4.0], 5.0, name="plane")])
    assert dual_function(plane, {"plane": -0.2}) == pytest.approx(1.0 - 0.5 + 1.0)
    # A concave objective has no finite dual value on an interval, though it has a Slater point...
    interval = linear_inequality([[1.0], [-1.0]], [1.0, 1.0], name="interval")
    hill = Program(Quadratic([[-2.0]]), [interval])
    assert dual_function(hill, {"interval": [1.0, 1.0]}) == -math.inf
    # ...unless the constraint is curved: -x^2 with x^2 <= 1 has g(2) = inf x^2 - 2 = -2 <= -1.
    disc = Program(Quadratic([[-2.0]]), [function_inequality(Quadratic([[2.0]], r=-1.0), name="d")])
    assert dual_function(disc, {"d": 2.0}) == pytest.approx(-2.0)
    assert dual_function(disc, {"d": 1.0}) == pytest.approx(-1.0)
    assert dual_function(disc, {"d": 0.5}) == -math.inf
    with pytest.raises(ValueError, match="'floor' is outside by 1"):
        dual_function(line, {"floor": -1.0})


def test_the_dual_of_a_smooth_program_is_bounded_at_a_point():
    f = Function(lambda x: float(x @ x), lambda x: 2 * x, strong_convexity=2.0)
    program = Program(f, [linear_inequality([-1.0], -1.0, name="floor")])
    assert dual_function(program, {"floor": 2.0}) == -math.inf
    # At x = 1 the Lagrangian x^2 + 2 (1 - x) is at its minimum 1; at 1.5 it is 1.25 with slope 1.
    assert dual_function(program, {"floor": 2.0}, near=[1.0]) == pytest.approx(1.0)
    assert dual_function(program, {"floor": 2.0}, near=[1.5]) == pytest.approx(1.25 - 1 / 4)
    certificate = certify_program(program, [1.0], {"floor": 2.0})
    assert certificate.gap == pytest.approx(0.0)
    assert "strongly convex with constant 2" in str(certificate)


@pytest.mark.parametrize("rank", [0, 2, 3])
def test_weak_duality_on_random_programs(rank):
    rng = np.random.default_rng(rank)
    for _ in range(20):
        program = random_program(rng, rank=rank)
        rows = program.constraints[0]
        best = solve(program)
        feasible = [best.x + s * (np.linalg.pinv(rows.G) @ -np.ones(5)) for s in (0.0, 0.1, 1.0)]
        values = [program.value(x) for x in feasible if program.is_feasible(x, 1e-7)]
        for size in (0.0, 1e-3, 0.1, 1.0):
            z = best.dual["rows"] + size * rng.normal(size=5)
            dual = repair_dual(program, {"rows": z})
            bound = dual_function(program, dual)
            assert (dual["rows"] >= 0).all()
            assert bound <= min(values) + 1e-7
            if size <= 1e-3:
                assert bound > best.value - 1.0
            x = feasible[0] + size * rng.normal(size=3)
            certificate = certify_program(program, x, dual)
            assert certificate.lower_bound == pytest.approx(bound)
            assert certificate.violation == pytest.approx(max(0.0, (rows.G @ x - rows.h).max()))
            if program.is_feasible(x):
                assert certificate.gap >= program.value(x) - best.value - 1e-7


def test_weak_duality_without_convexity_and_for_games():
    rng = np.random.default_rng(5)
    disc = function_inequality(Quadratic(2 * np.eye(2), r=-1.0), name="disc")
    for _ in range(20):
        M = rng.normal(size=(2, 2))
        saddle = Quadratic(M + M.T, rng.normal(size=2))
        program = Program(saddle, [disc])
        grid = np.linspace(-1, 1, 41)
        points = [(a, b) for a in grid for b in grid if a**2 + b**2 <= 1]
        least = min(saddle.value(x) for x in points)
        bounds = [dual_function(program, {"disc": w}) for w in np.linspace(0, 8, 200)]
        assert max(bounds) <= least + 1e-9
        assert max(bounds) > least - 0.2  # a single quadratic constraint leaves no gap
        # min max >= max min, entry by entry.
        A = rng.normal(size=(4, 5))
        assert A.max(axis=1).min() >= A.min(axis=0).max()


def test_the_dual_function_is_concave():
    rng = np.random.default_rng(1)
    program = random_program(rng)
    for _ in range(50):
        a, b, t = rng.exponential(size=5), rng.exponential(size=5), rng.uniform()
        chord = [dual_function(program, {"rows": z}) for z in (a, b, t * a + (1 - t) * b)]
        assert chord[2] >= t * chord[0] + (1 - t) * chord[1] - 1e-9


@pytest.mark.parametrize("rank", [0, 2, 3])
def test_the_dual_program_attains_the_best_bound(rank):
    rng = np.random.default_rng(10 + rank)
    for _ in range(5):
        program = random_program(rng, rank=rank)
        dual = dual_program(program)
        primal_value, dual_value = solve(program).value, -solve(dual).value
        assert primal_value == pytest.approx(dual_value, abs=1e-6)
        assert len(dual.objective.q) == rank + 5
        back = dual_program(dual)
        assert solve(back).value == pytest.approx(primal_value, abs=1e-6)
    with pytest.raises(ValueError, match="dual_program needs a convex quadratic"):
        dual_program(Program(Quadratic([[-1.0]])))


def test_the_dual_program_of_all_cones():
    rng = np.random.default_rng(3)
    C = rng.normal(size=(3, 3))
    program = Program(
        [1.0, 0.5],
        [
            matrix_inequality(-C - C.T, [np.eye(3), np.diag([1.0, 0, 0])], name="matrix"),
            norm_inequality([[0.0, 1.0]], [0.0], [0.0, 0.0], 2.0, name="norm"),
            linear_equality([1.0, 2.0], 9.0, name="equation"),
        ],
    )
    best = solve(program)
    assert best.status == "optimal"
    assert -solve(dual_program(program)).value == pytest.approx(best.value, abs=1e-6)
    assert best.dual["matrix"].shape == (3, 3)
    assert dual_function(program, best.dual) == pytest.approx(best.value, abs=1e-6)


def test_kkt_residuals_by_hand():
    program = Program(
        Quadratic(np.eye(2)),
        [
            linear_inequality([[-1.0, 0.0], [0.0, -1.0]], [-1.0, 5.0], name="floor"),
            linear_equality([0.0, 1.0], 2.0, name="height"),
        ],
    )
    exact = kkt_residuals(program, [1.0, 2.0], {"floor": [1.0, 0.0], "height": -2.0})
    assert exact.worst() == 0.0
    # x = (3, 1), floor (2, -1), height 0.5: slacks (2, 6), equation off by 1, and the gradient
    # (3, 1) + (-2, 1) + (0, 0.5).
    off = kkt_residuals(program, [3.0, 1.0], {"floor": [2.0, -1.0], "height": 0.5})
    assert off == pytest.approx((1.0, 1.0, 2.5, 6.0))
    assert off.worst() == pytest.approx(6.0)
    assert kkt_residuals(Program(Quadratic([[2.0]])), [3.0], {}) == (0.0, 0.0, 6.0, 0.0)
    # A feasible pair that is not optimal shows it, without a gap of 0.
    slack = certify_program(HALF_LINE, [2.0], {})
    assert slack.residuals == {"primal": 0, "dual": 0, "stationarity": 4.0, "complementarity": 0}
    assert slack.gap == 4.0


def test_small_residuals_are_no_proof():
    # exp(-x) with x >= 0 has no minimiser: residuals vanish far out, and nothing is proved.
    f = Function(lambda x: np.exp(-x[0]), lambda x: -np.exp(-x), convex=True)
    program = Program(f, [linear_inequality([-1.0], 0.0, name="sign")])
    certificate = certify_program(program, [40.0], {})
    assert max(certificate.residuals.values()) < 1e-15
    assert not certificate.is_optimal()
    nowhere = certify_program(HALF_LINE, [np.nan], {})
    assert not nowhere.is_optimal()


def test_kkt_holds_at_solutions_and_fails_nearby():
    rng = np.random.default_rng(2)
    for rank in (0, 3):
        program = random_program(rng, rank=rank)
        best = solve(program)
        assert kkt_residuals(program, best.x, best.dual).worst() < 1e-6
        assert kkt_residuals(program, best.x + 0.1, best.dual).worst() > 1e-3
        moved = {"rows": best.dual["rows"] + 0.1}
        assert kkt_residuals(program, best.x, moved).worst() > 1e-3


def test_repaired_multipliers_solve_their_equations():
    rng = np.random.default_rng(4)
    for rank in (0, 1):
        program = random_program(rng, rank=rank)
        rows, q, P = program.constraints[0], program.objective.q, program.objective.P
        z = solve(program).dual["rows"] * (1 + 1e-4 * rng.normal(size=5))
        flat = np.linalg.svd(P)[0][:, rank:]
        assert np.abs(flat.T @ (q + rows.G.T @ z)).max() > 1e-6
        repaired = repair_dual(program, {"rows": z})["rows"]
        assert np.abs(flat.T @ (q + rows.G.T @ repaired)).max() < 1e-12
        assert repaired == pytest.approx(z, abs=0.1)
    # Where no multipliers solve them, the dual function says so.
    endless = Program([-1.0], [linear_inequality([-1.0], 0.0, name="sign")])
    assert dual_function(endless, repair_dual(endless, {"sign": 1.0})) == -math.inf


def test_prices_are_derivatives_of_the_least_value():
    rng = np.random.default_rng(7)
    A, G = rng.normal(size=(4, 4)), rng.normal(size=(6, 4))
    h, e = rng.exponential(size=6), rng.normal(size=4)

    def program(loose=0.0, row=0, shift=0.0, room=0.0, lift=0.0):
        sides = h + loose * np.eye(6)[row]
        return Program(
            Quadratic(A.T @ A, 3 * rng_q),
            [
                linear_inequality(G, sides, name="rows"),
                linear_equality(e, 0.3 + shift, name="equation"),
                norm_inequality(np.eye(4), np.zeros(4), np.zeros(4), 0.8 + room, name="ball"),
                matrix_inequality(
                    np.diag([0.05, 1.0]) + lift * np.eye(2),
                    [np.eye(2), *(0.1 * np.ones((2, 2)) for _ in range(3))],
                    name="matrix",
                ),
            ],
        )

    rng_q = rng.normal(size=4)
    base = solve(program())
    table = sensitivities(program(), base.dual)
    step = 1e-4

    def slope(**change):
        up = {name: step if name != "row" else v for name, v in change.items()}
        down = {name: -step if name != "row" else v for name, v in change.items()}
        return (solve(program(**up)).value - solve(program(**down)).value) / (2 * step)

    assert slope(shift=1) == pytest.approx(-table.prices["equation"], abs=1e-3)
    assert slope(room=1) == pytest.approx(-table.prices["ball"], abs=1e-3)
    assert slope(lift=1) == pytest.approx(-table.prices["matrix"], abs=1e-3)
    for row in (0, 3):
        assert slope(loose=1, row=row) == pytest.approx(-table.prices[f"rows[{row}]"], abs=1e-3)
    assert max(table.prices.values()) > 0.1
    # The bound holds for changes of any size.
    for _ in range(10):
        loose, room = rng.uniform(-0.2, 1.0), rng.uniform(-0.1, 0.5)
        changed = solve(program(loose=loose, row=3, room=room))
        if changed.status == "optimal":
            u = {"rows": loose * np.eye(6)[3], "ball": [room, 0, 0, 0, 0]}
            assert table.bound(u) <= changed.value + 1e-6
    frame = table.to_frame()
    assert list(frame.columns) == ["constraint", "price"]
    assert len(frame) == 9


def test_prices_by_hand():
    # min 2x + y with x + y >= 4 and x >= 1: prices 1 and 1, the least value 5.
    program = Program(
        [2.0, 1.0], [linear_inequality([[-1.0, -1.0], [-1.0, 0.0]], [-4.0, -1.0], name="need")]
    )
    table = sensitivities(program, solve(program).dual)
    assert table.prices == pytest.approx({"need[0]": 1.0, "need[1]": 1.0})
    assert table.bound({}) == pytest.approx(5.0)
    assert table.bound({"need": [-2.0, 1.0]}) == pytest.approx(6.0)
    assert "need[0] 1" in str(table)
    with pytest.raises(ValueError, match="sensitivities needs a quadratic objective"):
        sensitivities(Program(Function(lambda x: x @ x)), {})


def test_linear_programs_agree_with_vertices_and_another_solver():
    rng = np.random.default_rng(8)
    for _ in range(20):
        program = random_program(rng, rank=0, m=6)
        q, rows = program.objective.q, program.constraints[0]
        best = solve(program)
        corners = min(program.value(x) for x in vertices(rows.G, rows.h))
        other = linprog(q, A_ub=rows.G, b_ub=rows.h, bounds=(None, None))
        assert best.status == "optimal"
        assert best.value == pytest.approx(corners, abs=1e-6)
        assert best.value == pytest.approx(other.fun + 0.5, abs=1e-6)
        assert best.certificate.lower_bound <= corners + 1e-9
        assert best.gap < 1e-6 * max(1.0, abs(best.value))
