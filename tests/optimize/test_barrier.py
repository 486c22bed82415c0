"""The barrier method: its path by hand, its gap at every centre, its stages, and its two phases."""

import math

import numpy as np
import pytest
from scipy.optimize import linprog

from corollary.optimize import (
    Barrier,
    Function,
    Infeasible,
    Program,
    Quadratic,
    Unbounded,
    barrier,
    barrier_stages,
    function_inequality,
    iterate,
    kkt_residuals,
    linear_equality,
    linear_inequality,
    norm_inequality,
    solve,
    trace_points,
)


def above(limit):
    return linear_inequality([-1.0], -limit, name="floor")


def random_program(rng, n, m, *, rank=0, n_equations=0):
    """A program whose feasible set is bounded and has the origin, or a point near it, inside."""
    root, G, c = rng.normal(size=(rank, n)), rng.normal(size=(m, n)), 0.1 * rng.normal(size=n)
    box = np.vstack([np.eye(n), -np.eye(n)])
    constraints = [
        linear_inequality(G, G @ c + rng.exponential(size=m), name="rows"),
        linear_inequality(box, np.ones(2 * n), name="box"),
    ]
    if n_equations:
        A = rng.normal(size=(n_equations, n))
        constraints.insert(1, linear_equality(A, A @ c, name="equations"))
    return Program(Quadratic(root.T @ root, rng.normal(size=n)), constraints), c


@pytest.mark.parametrize("mu", [4.0, 1.0, 0.01])
def test_centres_by_hand(mu):
    def centre(program, start):
        state, info = Barrier(program, weight=mu, factor=0.25).step(
            Barrier(program, weight=mu, factor=0.25).init(start)
        )
        assert state.weight == mu / 4
        return state, info

    # x over x >= 1: 1 - mu / (x - 1) = 0.
    state, info = centre(Program([1.0], [above(1.0)]), [5.0])
    assert state.x == pytest.approx([1 + mu])
    assert state.dual["floor"] == pytest.approx([1.0])
    assert info.value == pytest.approx(1 + mu)
    assert info.step == pytest.approx(abs(4 - mu))
    assert info.gap == pytest.approx(mu)
    # x^2 / 2 over x >= 1: x - mu / (x - 1) = 0.
    state, info = centre(Program(Quadratic([[1.0]]), [above(1.0)]), [3.0])
    x = (1 + math.sqrt(1 + 4 * mu)) / 2
    assert state.x == pytest.approx([x], rel=1e-6)
    assert state.dual["floor"] == pytest.approx([mu / (x - 1)], rel=1e-5)
    assert info.gap == pytest.approx(mu, rel=1e-5)
    # x over x^2 <= 1: 1 + 2 mu x / (1 - x^2) = 0.
    disc = function_inequality(Quadratic([[2.0]], r=-1.0), name="disc")
    state, info = centre(Program([1.0], [disc]), [0.5])
    x = mu - math.sqrt(mu**2 + 1)
    assert state.x == pytest.approx([x], rel=1e-6)
    assert state.dual["disc"] == pytest.approx([mu / (1 - x**2)], rel=1e-5)
    assert info.gap == pytest.approx(mu, rel=1e-5)
    # x2 over the simplex in the plane: the two slacks give -1 - mu / t + mu / (1 - t) = 0.
    simplex = [
        linear_inequality(-np.eye(2), np.zeros(2), name="sign"),
        linear_equality([1.0, 1.0], 1.0, name="sum"),
    ]
    state, info = centre(Program([0.0, 1.0], simplex), [0.5, 0.5])
    t = (1 - 2 * mu + math.sqrt(1 + 4 * mu**2)) / 2
    assert state.x == pytest.approx([t, 1 - t], rel=1e-6)
    assert state.dual["sign"] == pytest.approx([mu / t, mu / (1 - t)], rel=1e-5)
    assert state.dual["sum"] == pytest.approx([mu / t], rel=1e-5)  # 0 - mu / t + nu = 0
    assert info.gap == pytest.approx(2 * mu, rel=1e-5)


@pytest.mark.parametrize("rank", [0, 2, 4])
@pytest.mark.parametrize("n_equations", [0, 2])
def test_the_gap_at_each_centre_is_the_number_of_inequalities_times_the_weight(rank, n_equations):
    rng = np.random.default_rng(rank)
    program, start = random_program(rng, 4, 7, rank=rank, n_equations=n_equations)
    method = Barrier(program, weight=2.0, factor=0.2)
    run = iterate(method, start, max_iter=9)
    weights = 2.0 * 0.2 ** np.arange(9)
    assert run.history.gap == pytest.approx(15 * weights, rel=1e-5)
    best = solve(program, tol=1e-9).value
    points = trace_points(method, start, 9)[1:]
    for x, gap in zip(points, run.history.gap):
        assert program.value(x) - best <= gap + 1e-8
        assert program.is_feasible(x)
    x, dual = run.state.x, run.state.dual
    for name in ("rows", "box"):
        slack = next(c for c in program.constraints if c.name == name).slack(x)
        assert dual[name] * slack == pytest.approx(weights[-1], rel=1e-4)
    assert kkt_residuals(program, x, dual).stationarity < 1e-8


@pytest.mark.parametrize("rank", [0, 3])
def test_solutions_agree_with_other_solvers(rank):
    rng = np.random.default_rng(rank)
    for n_equations in (0, 1, 2):
        program, _ = random_program(rng, 3, 5, rank=rank, n_equations=n_equations)
        solution = barrier(program, rng.normal(size=3))
        assert solution.status == "optimal"
        assert solution.gap <= 1e-6 * max(1.0, abs(solution.value))
        assert solution.value == pytest.approx(solve(program, tol=1e-9).value, abs=2e-6)
        assert solution.certificate.violation < 1e-9
        if rank == 0:
            rows, *equations, box = program.constraints
            least = linprog(
                program.objective.q,
                A_ub=np.vstack([rows.G, box.G]),
                b_ub=np.concatenate([rows.h, box.h]),
                A_eq=equations[0].G if equations else None,
                b_eq=equations[0].h if equations else None,
                bounds=(None, None),
            ).fun
            assert solution.value == pytest.approx(least, abs=2e-6)
            assert solution.certificate.lower_bound <= least + 1e-9


def test_stages_by_hand():
    assert barrier_stages(100, gap=1e-6) == 8  # 100, 10, 1, ..., 1e-6
    assert barrier_stages(101, gap=1e-6) == 9
    assert barrier_stages(100, gap=1e-6, factor=0.5) == 27  # 2^26 < 1e8 <= 2^27
    assert barrier_stages(3, gap=1.5, weight=4.0, factor=0.5) == 3  # 12, 6, 3, 1.5
    assert barrier_stages(3, gap=1.5, weight=4.1, factor=0.5) == 4
    assert barrier_stages(1, gap=2.0) == 0
    assert barrier_stages(1, gap=1.0) == 0
    with pytest.raises(ValueError, match=r"range \(0.0, 1.0\)"):
        barrier_stages(1, gap=1.0, factor=1.0)


@pytest.mark.parametrize("m", [1, 2, 3, 10, 28])
@pytest.mark.parametrize(("weight", "factor"), [(1.0, 0.1), (5.0, 0.5), (0.3, 0.02)])
def test_as_many_stages_as_the_bound_says_reach_the_gap(m, weight, factor):
    rng = np.random.default_rng(m)
    wanted = 1e-4
    program, start = random_program(rng, 1, m, rank=m % 2)
    n_stages = barrier_stages(m + 2, gap=wanted, weight=weight, factor=factor)
    run = iterate(Barrier(program, weight, factor), start, max_iter=1 + n_stages)
    assert run.history.gap[-1] <= wanted * (1 + 1e-6)
    # The gap of the centres is exact, so that no smaller number of stages is enough.
    assert (run.history.gap[:-1] > wanted * (1 - 1e-6)).all()
    solution = barrier(program, start, weight=weight, factor=factor, tol=wanted)
    assert solution.status == "optimal"
    assert solution.n_iter <= solution.planned <= n_stages + 2
    assert program.value(run.state.x) - solve(program, tol=1e-9).value <= wanted


def test_the_first_phase_finds_the_inside():
    # A thin triangle far from the start.
    G, h = [[-1.0, 0.0], [0.0, -1.0], [1.0, 1.0]], [-30.0, -40.0, 70.01]
    program = Program([1.0, 1.0], [linear_inequality(G, h, name="triangle")])
    solution = barrier(program, [-5.0, 5.0])
    assert solution.status == "optimal"
    assert solution.value == pytest.approx(70.0, abs=1e-4)
    # The disc round (3, 0) and the half plane x1 <= 2.5 share points, the start is in neither.
    disc = function_inequality(Quadratic(2 * np.eye(2), [-6.0, 0.0], 8.0), name="disc")
    cut = linear_inequality([1.0, 0.0], 2.5, name="cut")
    solution = barrier(Program([0.0, 1.0], [disc, cut]), [9.0, 9.0])
    assert solution.status == "optimal"
    assert solution.value == pytest.approx(-math.sqrt(0.75), abs=2e-6)
    assert solution.x == pytest.approx([2.5, -math.sqrt(0.75)], abs=1e-4)
    # A start inside is where the first stage begins: the centre of x >= 1 for the weight 1 is 2.
    assert barrier(Program([1.0], [above(1.0)]), [5.0]).history.step[0] == pytest.approx(3.0)
    # Unbounded sets, and sets whose room is larger than what is looked for.
    assert barrier(Program([1.0], [above(100.0)])).value == pytest.approx(100.0, abs=1e-4)


def test_what_has_no_solution_is_proved_so():
    rng = np.random.default_rng(0)
    for _ in range(5):
        G, h, weights = rng.normal(size=(12, 3)), rng.normal(size=12), rng.exponential(size=11)
        G[11], h[11] = -weights @ G[:11], -weights @ h[:11] - 1.0
        solution = barrier(Program(rng.normal(size=3), [linear_inequality(G, h, name="rows")]))
        assert solution.status == "infeasible"
        assert isinstance(solution.certificate, Infeasible)
        ray = solution.certificate.ray["rows"]
        assert (ray >= 0).all()
        assert np.abs(G.T @ ray).max() < 1e-12
        assert h @ ray == pytest.approx(-1.0)
        assert (solution.value, solution.n_iter) == (math.inf, 0)
        assert np.isnan(solution.x).tolist() == [True] * 3
    twice = linear_equality([[1.0, 1.0], [2.0, 2.0]], [1.0, 3.0], name="twice")
    cap = linear_inequality([1.0, 0.0], 1.0, name="cap")
    solution = barrier(Program([1.0, 0.0], [cap, twice]))
    assert solution.certificate.conflict == ("twice[0]", "twice[1]")
    # Along a direction that no inequality sees, and along one that leads away from all of them.
    for n_stages, constraint in (
        (0, linear_inequality([0.0, 1.0], 1.0, name="cap")),
        (1, linear_inequality(-np.eye(2), [0.0, 0.0], name="sign")),
    ):
        solution = barrier(Program([-1.0, 0.0], [constraint]))
        assert solution.n_iter == n_stages
        assert (solution.status, solution.value) == ("unbounded", -math.inf)
        assert isinstance(solution.certificate, Unbounded)
        assert solution.certificate.direction[0] == pytest.approx(1.0)
        assert np.isnan(solution.x).tolist() == [True, True]


def test_without_a_proof_nothing_is_claimed():
    point = linear_inequality([[1.0], [-1.0]], [1.0, -1.0], name="point")
    solution = barrier(Program([2.0], [point]), [3.0])
    assert (solution.status, solution.n_iter, solution.gap) == ("failed", 0, math.inf)
    assert (solution.value, solution.x.tolist()) == (6.0, [3.0])
    assert "satisfies all inequalities strictly" in solution.reason
    assert "equations" not in solution.reason
    assert solution.certificate.violation == 2.0
    line = linear_equality([1.0], 1.0, name="line")
    assert "and the equations" in barrier(Program([1.0], [point, line])).reason
    empty = function_inequality(Quadratic([[2.0]], r=1.0), name="empty")
    assert barrier(Program([1.0], [empty])).status == "failed"
    # Convex by its owner's word, without constants: the gap is not proved at rough centres.
    flat = Function(
        lambda x: float(np.logaddexp(0, x).sum()),
        lambda x: 1 / (1 + np.exp(-x)),
        lambda x: np.diag(np.exp(-x) / (1 + np.exp(-x)) ** 2),
    )
    solution = barrier(Program(flat, [above(0.0)]), [1.0])
    assert solution.status == "stopped"
    assert solution.gap == math.inf
    assert solution.planned is None
    assert solution.x == pytest.approx([0.0], abs=1e-5)
    rough = barrier(Program([1.0], [above(0.0)]), [1.0], max_iter=2)
    assert (rough.status, rough.n_iter, rough.planned) == ("out of steps", 2, 8)
    assert rough.gap == pytest.approx(0.1)


def test_programs_without_inequalities_need_one_stage():
    bowl = Quadratic(np.diag([1.0, 3.0]))
    line = linear_equality([1.0, 1.0], 4.0, name="line")
    solution = barrier(Program(bowl, [line]))
    assert (solution.status, solution.n_iter, solution.planned) == ("optimal", 1, 1)
    assert solution.x == pytest.approx([3.0, 1.0])
    assert solution.dual["line"] == pytest.approx([-3.0])
    assert solution.state.n_newton == 1


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="business of solve"):
        barrier(Program([1.0], [norm_inequality([[1.0]], [0.0], [0.0], 1.0, name="ball")]))
    with pytest.raises(ValueError, match="convex"):
        barrier(Program(Quadratic([[-1.0]]), [above(0.0)]))
    with pytest.raises(ValueError, match="needs a start"):
        barrier(Program(Function(lambda x: x @ x)))
    with pytest.raises(ValueError, match="finite"):
        barrier(Program([1.0], [above(0.0)]), [np.nan])
    with pytest.raises(ValueError, match="least slack of 0 "):
        Barrier(Program([1.0], [above(1.0)])).init([1.0])
    line = linear_equality([1.0], 1.0, name="line")
    with pytest.raises(ValueError, match="miss by 1"):
        Barrier(Program([1.0], [line])).init([2.0])
    for numbers in ({"weight": 0.0}, {"factor": 1.0}):
        with pytest.raises(ValueError, match="factor in the range"):
            Barrier(Program([1.0], [above(1.0)]), **numbers)
