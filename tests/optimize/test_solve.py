"""Conic programs: solutions with recomputed certificates, and proofs that there is none."""

import math

import numpy as np
import pytest

from corollary.optimize import (
    Function,
    Infeasible,
    Program,
    Quadratic,
    Unbounded,
    function_inequality,
    linear_equality,
    linear_inequality,
    matrix_inequality,
    minimize,
    norm_inequality,
    prove_infeasible,
    prove_unbounded,
    quadratic_inequality,
    slater_point,
    solve,
)
from corollary.optimize.conic import solve as module
from corollary.optimize.program._cones import Origin, Orthant, SecondOrder, Semidefinite


def sign(n):
    return linear_inequality(-np.eye(n), np.zeros(n), name="sign")


def test_quadratic_programs_agree_with_enumeration_of_active_sets():
    rng = np.random.default_rng(0)
    for _ in range(10):
        A, G, h = rng.normal(size=(4, 3)), rng.normal(size=(4, 3)), rng.exponential(size=4)
        P, q = A.T @ A, 3 * rng.normal(size=3)
        program = Program(Quadratic(P, q), [linear_inequality(G, h, name="rows")])
        best = solve(program)
        least = math.inf
        for active in range(16):
            rows = [i for i in range(4) if active >> i & 1]
            K = np.block([[P, G[rows].T], [G[rows], np.zeros((len(rows), len(rows)))]])
            x = np.linalg.lstsq(K, np.concatenate([-q, h[rows]]))[0][:3]
            if (G @ x <= h + 1e-9).all():
                least = min(least, program.value(x))
        assert best.status == "optimal"
        assert best.value == pytest.approx(least, abs=1e-6)
        assert best.certificate.lower_bound <= least + 1e-9


def test_norms_and_matrices_in_closed_form():
    rng = np.random.default_rng(1)
    c = rng.normal(size=3)
    # c'x over a ball of radius 2 round b: c'b - 2 |c|.
    b = rng.normal(size=3)
    ball = norm_inequality(np.eye(3), -b, np.zeros(3), 2.0, name="ball")
    best = solve(Program(c, [ball]))
    assert best.value == pytest.approx(c @ b - 2 * np.linalg.norm(c), abs=1e-6)
    assert best.x == pytest.approx(b - 2 * c / np.linalg.norm(c), abs=1e-4)
    # The same ball as a quadratic inequality.
    bowl = quadratic_inequality(2 * np.eye(3), -2 * b, b @ b - 4.0, name="bowl")
    assert solve(Program(c, [bowl])).value == pytest.approx(best.value, abs=1e-6)
    # The least t with tI - C semidefinite is the largest eigenvalue.
    C = rng.normal(size=(4, 4))
    C = C + C.T
    top = solve(Program([1.0], [matrix_inequality(-C, [np.eye(4)], name="top")]))
    values, vectors = np.linalg.eigh(C)
    assert top.value == pytest.approx(values[-1], abs=1e-6)
    # Its multiplier is the projection onto the eigenvector.
    assert top.dual["top"] == pytest.approx(np.outer(vectors[:, -1], vectors[:, -1]), abs=1e-3)
    # The norm bound may depend on the point: |x| <= t, minimise t - x / 2: 0 at 0.
    cone = norm_inequality([[1.0, 0.0]], [0.0], [0.0, 1.0], 0.0, name="cone")
    assert solve(Program([-0.5, 1.0], [cone])).value == pytest.approx(0.0, abs=1e-6)


def test_programs_without_constraints():
    free = solve(Program(Quadratic(np.diag([2.0, 4.0]), [-2.0, 4.0])))
    assert (free.status, free.value) == ("optimal", pytest.approx(-3.0))
    assert free.x == pytest.approx([1.0, -1.0])
    slope = solve(Program([0.0, 2.0]))
    assert (slope.status, slope.value) == ("unbounded", -math.inf)
    assert slope.certificate.direction == pytest.approx([0.0, -0.5])


@pytest.mark.parametrize("n_equations", [0, 1, 2])
def test_infeasible_programs_are_proved_so(n_equations):
    rng = np.random.default_rng(n_equations)
    for _ in range(10):
        # The last row contradicts a combination of the others.
        G, h, weights = rng.normal(size=(12, 3)), rng.normal(size=12), rng.exponential(size=11)
        G[11], h[11] = -weights @ G[:11], -weights @ h[:11] - 1.0
        constraints = [linear_inequality(G, h, name="rows")]
        if n_equations:
            A = rng.normal(size=(n_equations, 3))
            constraints.append(linear_equality(A, np.ones(n_equations), name="equations"))
        program = Program(rng.normal(size=3), constraints)
        solution = solve(program)
        proof = solution.certificate
        assert solution.status == "infeasible"
        assert np.isnan(solution.x).all()
        assert solution.value == math.inf
        assert isinstance(proof, Infeasible)
        # The ray, checked from the data alone.
        z = np.concatenate([np.zeros(0), *(proof.ray[c.name] for c in constraints)])
        all_G = np.vstack([c.G for c in constraints])
        all_h = np.concatenate([c.h for c in constraints])
        assert (proof.ray["rows"] >= 0).all()
        assert np.abs(all_G.T @ z).max() < 1e-12
        assert all_h @ z == pytest.approx(-1.0)
        left = np.abs(all_G.T @ z).max()
        assert proof.reach == (1 / left if left else math.inf)
        assert proof.reach > 1e12
        # Every constraint of the conflict is needed: without any one the others have a point.
        labels = [label for c in constraints for label in c.labels()]
        picked = [labels.index(name) for name in proof.conflict]
        assert len(picked) <= 4
        for left in picked:
            kept = [i for i in picked if i != left]
            parts = [
                (linear_inequality if i < 12 else linear_equality)(all_G[i], all_h[i], name=str(i))
                for i in kept
            ]
            assert solve(Program(np.zeros(3), parts)).status == "optimal"


def test_a_conflict_names_its_constraints():
    program = Program(
        [1.0, 1.0],
        [
            linear_inequality([1.0, 1.0], 1.0, name="budget"),
            linear_inequality([-1.0, 0.0], -0.8, name="rent"),
            linear_inequality([0.0, -1.0], -0.5, name="food"),
            linear_inequality([0.0, 1.0], 5.0, name="idle"),
        ],
    )
    solution = solve(program)
    assert solution.certificate.conflict == ("budget", "rent", "food")
    # z = (1, 1, 1) has h'z = 1 - 0.8 - 0.5 = -0.3, scaled to -1.
    assert solution.certificate.ray["rent"] == pytest.approx([1 / 0.3])
    assert str(solution).startswith("No point satisfies the constraints after")
    assert "budget, rent, food" in str(solution)
    frame = solution.certificate.to_frame()
    assert list(frame["constraint"]) == ["budget", "rent", "food"]


def test_norms_and_matrices_can_conflict():
    ball = norm_inequality(np.eye(2), np.zeros(2), np.zeros(2), 1.0, name="ball")
    far = linear_inequality([-1.0, -1.0], -3.0, name="far")
    proof = solve(Program([1.0, 0.0], [ball, far])).certificate
    assert proof.conflict == ("ball", "far")
    t, u = proof.ray["ball"][0], proof.ray["ball"][1:]
    assert np.linalg.norm(u) <= t + 1e-12
    matrix = matrix_inequality(np.diag([-1.0, 2.0]), [np.diag([0.0, -1.0])], name="matrix")
    proof = solve(Program([1.0], [matrix])).certificate
    assert proof.conflict == ("matrix",)
    assert proof.ray["matrix"][0, 0] == pytest.approx(1.0)
    zero = linear_inequality([[0.0, 0.0]], [-1.0], name="zero row")
    assert solve(Program([1.0, 1.0], [zero])).certificate.conflict == ("zero row",)
    harmless = linear_inequality([[0.0, 0.0], [-1.0, 0.0]], [1.0, 0.0], name="harmless")
    assert solve(Program([1.0, 0.0], [harmless])).status == "optimal"


def test_rays_on_the_border_of_a_cone_are_enough():
    # P >= I and -(A'P + PA) >= I contradict each other for a plant with one unstable direction:
    # the only rays are multiples of that of its eigenvector, and no inner ray is near.
    rng = np.random.default_rng(0)
    A = rng.normal(size=(3, 3))
    A -= (np.linalg.eigvals(A).real.max() - 0.2) * np.eye(3)
    values, vectors = np.linalg.eig(A)
    v = vectors[:, values.real.argmax()].real
    basis = [
        np.outer(a, b) + np.outer(b, a) for i, a in enumerate(np.eye(3)) for b in np.eye(3)[i:]
    ]
    falls = [-(A.T @ E + E @ A) for E in basis]
    program = Program(
        np.zeros(6),
        [
            matrix_inequality(-np.eye(3), basis, name="positive"),
            matrix_inequality(-np.eye(3), falls, name="falls"),
        ],
    )
    Z = np.outer(v, v)
    proof = prove_infeasible(program, {"falls": Z, "positive": 0.4 * Z})  # A v = 0.2 v
    assert proof.reach > 1e12
    assert proof.ray["falls"] == pytest.approx(Z / 1.4)
    assert proof.ray["positive"] == pytest.approx(0.4 * Z / 1.4)
    rough = prove_infeasible(program, {"falls": Z, "positive": 0.4 * Z + 1e-9 * np.eye(3)})
    assert rough.reach > 1e7
    assert solve(program).status == "infeasible"


def test_rays_that_prove_nothing_are_refused():
    feasible = Program([0.0], [linear_inequality([[1.0], [-1.0]], [2.0, -1.0], name="x")])
    assert prove_infeasible(feasible, {"x": [1.0, 1.0]}) is None
    assert prove_infeasible(feasible, {"x": [1.0, 0.0]}) is None
    assert prove_infeasible(feasible, {}) is None
    # A short reach is said: x <= 1 and (1 + e) x >= 2 has points only beyond 1 / e.
    tilted = Program([0.0], [linear_inequality([[1.0], [-1.0 - 1e-7]], [1.0, -2.0], name="x")])
    proof = prove_infeasible(tilted, {"x": [1.0, 1.0]})
    assert proof is None or proof.reach > 1e6


def test_a_proof_with_a_short_reach_says_so():
    ray = {"a": np.ones(1)}
    text = str(Infeasible(ray=ray, conflict=("a",), reach=1e7))
    assert text.endswith("Proved for points with a sum of moduli below 1e+07.")
    assert "Proved" not in str(Infeasible(ray=ray, conflict=("a",), reach=math.inf))
    point = np.zeros(1)
    assert "up to 1e+07 units" in str(Unbounded(point=point, direction=point, reach=1e7))
    assert "Proved" not in str(Unbounded(point=point, direction=point, reach=math.inf))


def test_a_ray_that_leaves_the_cone_slowly_proves_no_unboundedness():
    # |(1e6 x, y)| <= 1e6 x leaves y = 0 only; along (x, 1) it is violated by 1 / (2e6 x).
    cone = norm_inequality([[1e6, 0.0], [0.0, 1.0]], [0.0, 0.0], [1e6, 0.0], 0.0, name="cone")
    program = Program([0.0, -1.0], [cone])
    assert solve(program).status != "unbounded"
    assert prove_unbounded(program, [0.0, 0.0], [100.0, 1.0]) is None


def test_unbounded_programs_are_proved_so():
    rng = np.random.default_rng(2)
    for rank in (0, 1):
        for _ in range(10):
            A, d = rng.normal(size=(rank, 4)), rng.normal(size=4)
            A = A - np.outer(A @ d, d) / (d @ d)
            G = rng.normal(size=(5, 4))
            G = np.where((G @ d > 0)[:, None], -G, G)
            G[0] -= (G[0] @ d) / (d @ d) * d
            q = rng.normal(size=4)
            q = q if q @ d < 0 else -q
            constraints = [linear_inequality(G, rng.exponential(size=5), name="rows")]
            program = Program(Quadratic(A.T @ A, q), constraints)
            solution = solve(program)
            proof = solution.certificate
            assert solution.status == "unbounded"
            assert isinstance(proof, Unbounded)
            assert q @ proof.direction == pytest.approx(-1.0)
            assert np.abs(A @ proof.direction).max(initial=0.0) < 1e-10
            assert (G @ proof.direction).max() < 1e-10
            far = proof.point + 1e3 * proof.direction
            assert program.is_feasible(far, 1e-6)
            assert program.value(far) == pytest.approx(program.value(proof.point) - 1e3, rel=1e-6)
            assert list(proof.to_frame().columns) == ["point", "direction"]


def test_directions_that_prove_nothing_are_refused():
    program = Program([-2.0, 0.0], [linear_inequality([0.0, 1.0], 1.0, name="cap")])
    assert prove_unbounded(program, [0.0, 0.0], [1.0, 0.0]).direction == pytest.approx([0.5, 0.0])
    assert prove_unbounded(program, [0.0, 0.0], [0.0, 0.0]) is None
    assert prove_unbounded(program, [0.0, 0.0], [0.0, -1.0]) is None
    assert prove_unbounded(program, [0.0, 0.0], [1.0, 1.0]) is None  # leaves the cap
    assert prove_unbounded(program, [0.0, 3.0], [1.0, 0.0]) is None  # from outside
    curved = Program(Quadratic(np.diag([1e-3, 0.0]), [-2.0, 0.0]))
    assert prove_unbounded(curved, [0.0, 0.0], [1.0, 0.0]) is None
    # Infeasible and falling: the contradiction comes first.
    both = Program(
        [-1.0, 0.0],
        [linear_inequality([[0.0, 1.0], [0.0, -1.0]], [0.0, -1.0], name="gap"), sign(2)],
    )
    assert solve(both).status == "infeasible"


def test_without_a_proof_nothing_is_claimed():
    # No strictly feasible point: the least value is 0, the best lower bound -1.
    F = [np.array([[0, 1.0, 0], [1, 0, 0], [0, 0, 1]]), np.diag([0.0, 1.0, 0.0])]
    gap = Program([1.0, 0.0], [matrix_inequality(np.diag([0.0, 0, 1]), F, name="matrix")])
    assert slater_point(gap) is None
    solution = solve(gap)
    assert solution.status != "optimal"
    assert "Clarabel ended with" in str(solution)
    # Nearly feasible everywhere far out, and feasible nowhere.
    weak = Program([1.0], [matrix_inequality([[0.0, 1], [1, 0]], [np.diag([1.0, 0.0])], name="m")])
    assert solve(weak).status not in ("optimal", "unbounded")
    rng = np.random.default_rng(0)
    G = rng.normal(size=(60, 20))
    hard = Program(rng.normal(size=20), [linear_inequality(G, np.ones(60), name="rows")])
    short = solve(hard, max_iter=2)
    assert short.status == "out of steps"
    assert short.n_iter == 2


def test_a_solver_that_lies_is_not_believed(monkeypatch):
    program = Program([1.0, 1.0], [sign(2)])
    honest = module._clarabel(program, 1e-6, 100)
    for answer in (
        honest._replace(x=np.array([1.0, 0.0])),  # not the best
        honest._replace(x=np.array([-0.1, 0.0])),  # not feasible
        honest._replace(dual={"sign": np.array([5.0, -3.0])}, x=np.array([2.0, 2.0])),
        honest._replace(x=np.full(2, np.nan), dual={}),
    ):
        monkeypatch.setattr(module, "_clarabel", lambda *_, answer=answer: answer)
        assert solve(program).status == "failed"


@pytest.mark.parametrize("rank", [0, 2, 4])
def test_strong_duality_under_slater(rank):
    rng = np.random.default_rng(rank)
    for _ in range(10):
        A, G, c = rng.normal(size=(rank, 4)), rng.normal(size=(6, 4)), rng.normal(size=4)
        program = Program(
            Quadratic(A.T @ A, rng.normal(size=4)),
            [
                linear_inequality(G, G @ c + rng.uniform(0.1, 1.0, size=6), name="rows"),
                linear_equality(rng.normal(size=(1, 4)) + c, [float(c @ c)], name="plane"),
                norm_inequality(np.eye(4), -c, np.zeros(4), 3.0, name="ball"),
            ],
        )
        point = slater_point(program)
        if point is None:
            continue
        slacks = [c.slack(point.x) for c in program.constraints]
        room = min(slacks[0].min(), slacks[2][0] - np.linalg.norm(slacks[2][1:]))
        assert point.margin == pytest.approx(room)
        assert point.margin > 0
        assert np.abs(slacks[1]).max() < 1e-7
        best = solve(program)
        assert best.status == "optimal"
        assert best.gap < 1e-6 * max(1.0, abs(best.value))


def test_slater_points_by_hand():
    interval = linear_inequality([[1.0], [-1.0]], [1.0, -0.5], name="interval")
    point = slater_point(Program([1.0], [interval]))
    assert point.x == pytest.approx([0.75], abs=1e-5)
    assert point.margin == pytest.approx(0.25, abs=1e-5)
    assert slater_point(Program([1.0], [sign(1)])).margin >= 1.0 - 1e-6
    # On the line x1 + x2 = 1 the ball of radius 1 has its inmost point (1/2, 1/2).
    line = linear_equality([1.0, 1.0], 1.0, name="line")
    ball = norm_inequality(np.eye(2), np.zeros(2), np.zeros(2), 1.0, name="ball")
    point = slater_point(Program([0.0, 0.0], [line, ball]))
    assert point.margin == pytest.approx(1 - math.sqrt(0.5), abs=1e-5)
    assert slater_point(Program([1.0, 0.0], [line])).margin == 1.0
    assert slater_point(Program([1.0, 0.0])).margin == 1.0
    # x <= 0 and x >= 0 meet in a point without room; x <= -1 and x >= 0 do not meet.
    for side in (0.0, -1.0):
        pair = linear_inequality([[1.0], [-1.0]], [side, 0.0], name="pair")
        assert slater_point(Program([1.0], [pair])) is None
    with pytest.raises(ValueError, match="slater_point needs"):
        slater_point(Program([1.0], [function_inequality(Quadratic([[1.0]]), name="f")]))


def test_solve_refuses_what_it_cannot_certify():
    with pytest.raises(ValueError, match="negative eigenvalue"):
        solve(Program(Quadratic([[-1.0]]), [sign(1)]))
    disc = function_inequality(Quadratic([[2.0]], r=-1.0), name="disc")
    with pytest.raises(ValueError, match="quadratic_inequality"):
        solve(Program([1.0], [disc]))
    with pytest.raises(ValueError, match="solve needs a linear or quadratic objective"):
        solve(Program(Function(lambda x: x @ x)))


@pytest.mark.parametrize("cone", [Orthant(3), Origin(3), SecondOrder(4), Semidefinite(6, 3)])
def test_cones_project_and_stretch(cone):
    rng = np.random.default_rng(0)
    centre = cone.centre()
    for _ in range(20):
        v, w = rng.normal(size=cone.size), rng.normal(size=cone.size)
        near, member = cone.project(v), cone.project(w)
        assert cone.excess(near) < 1e-12
        assert (v - near) @ near == pytest.approx(0.0, abs=1e-12)
        assert (v - near) @ member <= 1e-12
        assert cone.dual_excess(cone.project_dual(w)) < 1e-12
        assert member @ cone.project_dual(v) >= -1e-12
        assert cone.pack(cone.unpack(v)) == pytest.approx(v)
        if not isinstance(cone, Origin):
            inner = cone.project(w) + 0.1 * centre
            assert cone.stretch(inner, centre) == pytest.approx(inner)
            assert cone.excess(cone.stretch(inner, near)) < 1e-12
            assert cone.margin(v - cone.margin(v) * centre) == pytest.approx(0.0, abs=1e-12)
            columns = np.stack([v, w], axis=1)
            pair = np.stack([cone.stretch(inner, u) for u in (v, w)], axis=1)
            assert cone.stretch(inner, columns) == pytest.approx(pair)
    if isinstance(cone, Semidefinite):
        A, B = (M + M.T for M in rng.normal(size=(2, 3, 3)))
        assert cone.pack(A) @ cone.pack(B) == pytest.approx(np.sum(A * B))


@pytest.mark.parametrize("size", [1e-3, 1.0, 10.0, 1e3, 1e6])
def test_directions_that_cones_forbid_are_no_proof_of_unboundedness(size):
    """The only feasible points have first entry 0, but almost feasible ones have any."""
    corner = np.array([[0.0, size, 0.0], [size, 0.0, 0.0], [0.0, 0.0, size]])
    lower = np.diag([0.0, 1.0, 0.0])
    matrix = matrix_inequality(np.diag([0.0, 0.0, 1.0]), [-corner, -lower], name="matrix")
    assert solve(Program([1.0, 0.0], [matrix])).status != "unbounded"
    norm = norm_inequality(size * np.eye(2), [0.0, 0.0], [size, 0.0], 0.0, name="norm")
    assert solve(Program([0.0, -1.0], [norm])).status != "unbounded"
    open_norm = norm_inequality([[0.0, size]], [0.0], [size, 0.0], 0.0, name="norm")
    assert solve(Program([0.0, -1.0], [open_norm])).status == "unbounded"


def test_a_negative_curvature_beside_a_large_one_is_seen():
    """In the box the least value is -50; taken for flat, the direction would hide it."""
    P = np.diag([1e14, -1.0])
    box = linear_inequality(np.vstack([np.eye(2), -np.eye(2)]), np.full(4, 10.0), name="box")
    assert not Quadratic(P).convex
    with pytest.raises(ValueError, match="negative eigenvalue"):
        solve(Program(Quadratic(P), [box]))
    solution = minimize(Quadratic(P), [0.0, 1.0], bounds=[(-10, 10)] * 2)
    assert solution.certificate.gap >= 50 + solution.value
    rows = np.random.default_rng(0).normal(size=(4, 6)) * [1e7, 1.0, 1.0, 1e3, 1.0, 1.0]
    assert Quadratic(rows.T @ rows).convex  # its negative eigenvalues are rounding
