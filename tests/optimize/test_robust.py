"""Robust inequalities against sampled and worst coefficients; common Lyapunov matrices."""

import math

import numpy as np
import pytest
from scipy import linalg

from corollary.optimize import (
    Function,
    Program,
    Quadratic,
    common_lyapunov,
    linear_equality,
    linear_inequality,
    norm_inequality,
    robust_program,
    solve,
    worst_coefficients,
)


def nominal(rng, m=3, n=2):
    """Maximise a sum of goods under rows with positive coefficients."""
    rows = linear_inequality(rng.uniform(1, 2, size=(m, n)), np.ones(m), name="rows")
    sign = linear_inequality(-np.eye(n), np.zeros(n), name="sign")
    return Program(-rng.uniform(1, 2, size=n), [rows, sign])


def test_robust_solutions_by_hand():
    # Maximise x with a x <= 6 for all a in [1 - 1/2, 1 + 1/2].
    cap = Program([-1.0], [linear_inequality([1.0], 6.0, name="cap")])
    for uncertainty in ({"ellipsoids": {"cap": [[0.5]]}}, {"boxes": {"cap": [0.5]}}):
        best = solve(robust_program(cap, **uncertainty))
        assert best.x[0] == pytest.approx(4.0, abs=1e-5)
        assert best.value == pytest.approx(-4.0, abs=1e-5)
    # Maximise x1 + x2 with (a, 1)'x <= 1 for |a - (1, 1)| <= r: (1 + r / sqrt 2)(x1 + x2) <= 1.
    plane = Program([-1.0, -1.0], [linear_inequality([1.0, 1.0], 1.0, name="plane"),
                                   linear_inequality([[1.0, -1.0], [-1.0, 1.0]], [0.0, 0.0],
                                                     name="same")])  # fmt: skip
    best = solve(robust_program(plane, ellipsoids={"plane": 0.8 * np.eye(2)}))
    assert -best.value == pytest.approx(1 / (1 + 0.8 / math.sqrt(2)), abs=1e-6)
    # With a box of the same half-width: (1 + r)(x1 + x2) <= 1.
    best = solve(robust_program(plane, boxes={"plane": [0.8, 0.8]}))
    assert -best.value == pytest.approx(1 / 1.8, abs=1e-6)


def test_worst_coefficients_by_hand():
    assert worst_coefficients([1.0, 2.0], [3.0, 4.0], ellipsoid=np.eye(2)) == pytest.approx(
        [1.6, 2.8]
    )
    P = [[2.0], [0.0]]
    assert worst_coefficients([1.0, 2.0], [-3.0, 4.0], ellipsoid=P) == pytest.approx([-1.0, 2.0])
    assert worst_coefficients([1.0, 2.0], [0.0, 4.0], ellipsoid=P) == pytest.approx([1.0, 2.0])
    assert worst_coefficients([1.0, 2.0], [-3.0, 4.0], box=[0.5, 0.25]) == pytest.approx(
        [0.5, 2.25]
    )
    rng = np.random.default_rng(0)
    a, x, P = rng.normal(size=3), rng.normal(size=3), rng.normal(size=(3, 2))
    u = rng.normal(size=(2, 500))
    samples = a[:, None] + P @ (u / np.linalg.norm(u, axis=0))
    worst = worst_coefficients(a, x, ellipsoid=P)
    assert (x @ samples).max() <= worst @ x + 1e-12
    assert (x @ samples).max() == pytest.approx(worst @ x, rel=1e-2)
    assert worst @ x == pytest.approx(a @ x + np.linalg.norm(P.T @ x))


@pytest.mark.parametrize("kind", ["ellipsoids", "boxes"])
@pytest.mark.parametrize("each", [True, False])
def test_robust_points_survive_what_breaks_nominal_ones(kind, each):
    rng = np.random.default_rng(1)
    program = nominal(rng)
    rows = program.constraints[0]
    shape = (2, 2) if kind == "ellipsoids" else (2,)
    spread = rng.uniform(0.1, 0.3, size=(3, *shape) if each else shape)
    robust = solve(robust_program(program, **{kind: {"rows": spread}}))
    plain = solve(program)
    assert robust.status == plain.status == "optimal"
    assert robust.value > plain.value + 1e-3
    x = robust.x[:2]
    name = "ellipsoid" if kind == "ellipsoids" else "box"

    def worst(x):
        spreads = spread if each else [spread] * 3
        values = [worst_coefficients(a, x, **{name: s}) @ x for a, s in zip(rows.G, spreads)]
        return np.array(values) - rows.h

    assert worst(x).max() == pytest.approx(0.0, abs=1e-6)  # a row is just held
    assert worst(plain.x).max() > 1e-2
    # No feasible point for all corners, or for many directions, is better.
    spreads = np.array(spread if each else [spread] * 3)
    if kind == "boxes":
        signs = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]])
        G = np.vstack([rows.G + sign * spreads for sign in signs])
    else:
        angles = np.linspace(0, 2 * np.pi, 400)
        u = np.stack([np.cos(angles), np.sin(angles)])
        G = np.vstack([(a[:, None] + P @ u).T for a, P in zip(rows.G, spreads)])
    sampled = Program(
        program.objective, [linear_inequality(G, np.ones(len(G)), name="s"), program.constraints[1]]
    )
    assert solve(sampled).value == pytest.approx(robust.value, abs=1e-4)


def test_both_kinds_and_other_constraints_live_together():
    program = Program(
        Quadratic(np.eye(2), [-3.0, -3.0], 1.0),
        [
            linear_inequality([1.0, 0.0], 1.0, name="first"),
            linear_inequality([0.0, 1.0], 1.0, name="second"),
            linear_equality([1.0, -1.0], 0.0, name="same"),
            norm_inequality(np.eye(2), np.zeros(2), np.zeros(2), 9.0, name="ball"),
        ],
    )
    robust = robust_program(
        program, ellipsoids={"first": [[1.0], [0.0]]}, boxes={"second": [0.0, 0.25]}
    )
    names = [c.name for c in robust.constraints]
    assert names == ["first", "second", "same", "ball", "modulus"]
    # x1 + |x1| <= 1 and 1.25 |x2| <= 1: both are 1/2, and the value 1/4 - 3 + 1.
    best = solve(robust)
    assert best.x[:2] == pytest.approx([0.5, 0.5], abs=1e-4)
    assert best.value == pytest.approx(-1.75, abs=1e-5)
    assert robust_program(program).n_variables == 2


def test_bad_uncertainty_is_refused():
    program = nominal(np.random.default_rng(0))
    with pytest.raises(ValueError, match=r"Not among them: \['nobody'\]"):
        robust_program(program, boxes={"nobody": [0.1, 0.1]})
    with pytest.raises(ValueError, match=r"both mappings: \['rows'\]"):
        robust_program(program, boxes={"rows": [0.1, 0.1]}, ellipsoids={"rows": np.eye(2)})
    for widths in ([0.1], [-0.1, 0.1], np.ones((2, 2)), [np.nan, 1.0]):
        with pytest.raises(ValueError, match="half-width"):
            robust_program(program, boxes={"rows": widths})
    with pytest.raises(ValueError, match="a matrix with a row"):
        robust_program(program, ellipsoids={"rows": np.eye(3)})
    with pytest.raises(ValueError, match="linear or quadratic"):
        robust_program(Program(Function(lambda x: x @ x)))
    line = linear_equality([1.0], 1.0, name="line")
    with pytest.raises(ValueError, match="Equations"):
        robust_program(Program([1.0], [line]), boxes={"line": [0.1]})
    with pytest.raises(ValueError, match="not both"):
        worst_coefficients([1.0], [1.0])


def test_one_plant_has_a_lyapunov_matrix_if_it_is_stable():
    rng = np.random.default_rng(0)
    for _ in range(5):
        A = rng.normal(size=(3, 3))
        A -= (np.linalg.eigvals(A).real.max() + 0.3) * np.eye(3)
        common = common_lyapunov([A])
        assert common.exists is True
        P = common.matrix
        fall = -(A.T @ P + P @ A)
        assert min(np.linalg.eigvalsh(P)[0], np.linalg.eigvalsh(fall)[0]) > 1 - 1e-6
        # It solves the Lyapunov equation for its own right-hand side, and decay is that promised.
        assert linalg.solve_continuous_lyapunov(A.T, -fall) == pytest.approx(P)
        assert common.rate == pytest.approx(linalg.eigvals(fall, P).real.min() / 2)
        assert common.rate <= -np.linalg.eigvals(A).real.max() + 1e-9
        shift = 0.2 - np.linalg.eigvals(A).real.max()
        B = A + shift * np.eye(3)
        other = common_lyapunov([B])
        assert other.exists is False
        assert math.isnan(other.rate)
        ray = other.solution.certificate.ray
        Z = ray["plant 0"]
        assert np.abs(B @ Z + Z @ B.T - ray["positive"]).max() < 1e-6
        assert np.trace(Z) + np.trace(ray["positive"]) == pytest.approx(1.0)
        assert min(np.linalg.eigvalsh(Z)[0], np.linalg.eigvalsh(ray["positive"])[0]) > -1e-9


def test_common_matrices_by_hand_and_in_simulation():
    # The least p with p >= 1, p / 2 >= 1 and 3 p >= 1 is 2; the rate is that of the slower plant.
    slow = common_lyapunov([[[-0.25]], [[-1.5]]])
    assert slow.matrix == pytest.approx(np.full((1, 1), 2.0))
    assert slow.rate == pytest.approx(0.25)
    swinging = [np.array([[-1.0, 2.0], [0.0, -1.0]]), np.array([[-1.0, 0.0], [-1.0, -1.0]])]
    common = common_lyapunov(swinging)
    assert common.exists is True
    rng = np.random.default_rng(0)
    x, time = rng.normal(size=2), 0.0
    first = size = math.sqrt(x @ common.matrix @ x)
    for _ in range(50):  # switch at random times
        dt = rng.exponential(0.3)
        x, time = linalg.expm(dt * swinging[rng.integers(2)]) @ x, time + dt
        new = math.sqrt(x @ common.matrix @ x)
        assert new <= size * (1 + 1e-12)
        assert new <= first * math.exp(-common.rate * time) * (1 + 1e-9)
        size = new
    # Each is stable, but switching well makes the state grow: no common matrix.
    apart = [np.array([[-0.1, 1.0], [-10.0, -0.1]]), np.array([[-0.1, 10.0], [-1.0, -0.1]])]
    assert all(common_lyapunov([A]).exists for A in apart)
    assert common_lyapunov(apart).exists is False
    # Nothing falls where nothing moves, nor at a plant of which one part does not.
    assert common_lyapunov([np.zeros((2, 2))]).exists is False
    assert common_lyapunov([np.diag([-1.0, 0.0])]).exists is False
    for plants in ([], [np.ones((2, 3))], [np.eye(2), np.eye(3)], [[[np.nan]]]):
        with pytest.raises(ValueError, match="square matrices"):
            common_lyapunov(plants)
