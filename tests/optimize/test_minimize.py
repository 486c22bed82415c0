"""The one entrance: methods, certificates against reference solutions, and bad input."""

import math
from functools import partial

import jax.numpy as jnp
import numpy as np
import pytest
from scipy import optimize as scipy_optimize

from corollary.optimize import (
    L1,
    Box,
    EmpiricalRisk,
    Function,
    Infeasible,
    Interrupted,
    Optimality,
    Program,
    Quadratic,
    certify_program,
    function_inequality,
    kkt_multipliers,
    kkt_residuals,
    linear_equality,
    linear_inequality,
    matrix_inequality,
    minimize,
    newton,
    norm_inequality,
    quadratic_inequality,
    solve,
)


def bowl(x):
    """Strongly convex with constant 2, smallest where 2 (x - 1) + 1 / (1 + e^-x) = 0."""
    return jnp.sum((x - 1) ** 2) + jnp.logaddexp(0, x[0])


def plain(x):
    return float(np.sum((x - 1) ** 2) + np.logaddexp(0, x[0]))


def slope(x):
    return 2 * (x - 1) + np.array([1 / (1 + np.exp(-x[0])), 0.0])


#: The same with derivatives, which spares the tests their compilation.
bottom = partial(
    minimize,
    plain,
    jac=slope,
    hess=lambda x: np.diag([2 + 0.25 / np.cosh(x[0] / 2) ** 2, 2.0]),
)


def valley(x):
    return (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2


CENTRE = scipy_optimize.brentq(lambda t: 2 * (t - 1) + 1 / (1 + math.exp(-t)), 0, 1, xtol=1e-15)
LEAST = (CENTRE - 1) ** 2 + math.log1p(math.exp(CENTRE))
#: On x + y = 1: 2 (t - 1) + 1 / (1 + e^-t) = 2 (1 - t - 1).
CAPPED = scipy_optimize.brentq(lambda t: 4 * t - 2 + 1 / (1 + math.exp(-t)), 0, 1, xtol=1e-15)
CAPPED_LEAST = (CAPPED - 1) ** 2 + CAPPED**2 + math.log1p(math.exp(CAPPED))


# -- methods -----------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["auto", "newton", "bfgs", "lbfgs"])
def test_every_method_proves_its_distance_from_the_least_value(method):
    solution = minimize(bowl, [3.0, -2.0], strong_convexity=2.0, method=method)
    assert solution.success
    assert solution.status == "optimal"
    assert 0 <= solution.fun - LEAST + 1e-15 <= solution.gap + 1e-15 <= 1e-6
    assert solution.certificate.lower_bound <= LEAST + 1e-12
    assert solution.x == pytest.approx([CENTRE, 1.0], abs=1e-3)
    assert solution.nit == solution.n_iter > 0
    assert "strong convexity prove it. Assumed: The function is strongly convex" in solution.message


def test_gradients_come_in_every_form():
    for options in (
        {"fun": plain, "jac": slope},
        {"fun": plain, "jac": "3-point"},
        {"fun": lambda x: (plain(x), slope(x)), "jac": True},
        {"fun": bowl, "hess": lambda x: np.diag([2.25, 2.0])},
        {"fun": bowl, "jac": lambda x: 2 * (x - 1) + jnp.array([1 / (1 + jnp.exp(-x[0])), 0.0])},
    ):
        solution = minimize(x0=[0.0, 0.0], strong_convexity=2.0, tol=1e-9, **options)
        assert solution.status == "optimal"
        assert solution.x == pytest.approx([CENTRE, 1.0], abs=1e-4)
        differences = "central differences" in solution.message
        assert differences == (options.get("jac") == "3-point")


def test_a_gradient_alone_proves_nothing():
    solution = minimize(bowl, [0.0, 0.0])
    assert (solution.status, solution.success, solution.gap) == ("stopped", False, math.inf)
    assert solution.certificate.residuals["gradient"] <= 1e-6
    assert "Nothing is proved about the value" in solution.message
    rosen = minimize(valley, [-1.2, 1.0])
    assert rosen.status == "stopped"
    assert rosen.x == pytest.approx([1.0, 1.0], abs=1e-5)
    assert rosen.curvature.strong_convexity < 0 < 802 < rosen.curvature.smoothness
    # A radius makes a proof of convexity and the gradient.
    flat = minimize(
        lambda x: jnp.logaddexp(0, x[0]) - x[0] / 2, [4.0], convex=True, radius=4.5, tol=1e-4
    )
    assert flat.status == "optimal"
    assert flat.value - math.log(2) <= flat.gap <= 1e-4


def test_constants_are_computed_or_estimated_with_their_error():
    exact = minimize(EmpiricalRisk([[1.0], [2.0], [-1.0]], [1, -1, 1], alpha=0.1), [0.0])
    assert exact.curvature == pytest.approx((0.6, 0.1, 0.0, 1.0))
    assert "The curvature lies between 0.1 and 0.6." in str(exact)
    seen = minimize(bowl, [0.0, 0.0]).curvature
    assert 2.2 < seen.smoothness <= 2.25
    assert seen.strong_convexity == pytest.approx(2.0)
    assert seen.exceeded == pytest.approx(2 * (1 - 0.025 ** (1 / 100)))
    assert "at most 7.2% of their box lie outside, with 95% confidence." in str(seen)
    assert minimize(bowl, np.zeros(51)).curvature is None


def test_bounds_and_penalties_go_to_proximal_gradient():
    boxed = bottom([0.0, 0.0], convex=True, bounds=[(0, 0.5), (None, 0.25)])
    assert boxed.x == pytest.approx([0.5, 0.25], abs=1e-6)
    assert boxed.status == "optimal"  # the gradient points into the bounds
    half = bottom([0.0, 0.0], convex=True, bounds=[(0, 0.5), (0, None)])
    assert half.status == "stopped"  # the support function is infinite where a slope is left
    for bounds in ([(0, 0.5), (-1, 0.25)], scipy_optimize.Bounds([0, -1], [0.5, 0.25])):
        boxed = bottom([0.0, 0.0], convex=True, bounds=bounds)
        assert (boxed.status, boxed.certificate.proof) == ("optimal", "duality")
        assert boxed.value == pytest.approx(0.25 + 0.75**2 + math.log1p(math.exp(0.5)), abs=1e-6)
    lasso = minimize(Quadratic([[2.0, 1.0], [1.0, 2.0]], [-3.0, 0.0]), [0.0, 0.0], penalty=L1(1.0))
    assert (lasso.status, lasso.value) == ("optimal", pytest.approx(-1.0, abs=1e-6))
    same = bottom([0.0, 0.0], convex=True, penalty=Box([0, -1], [0.5, 0.25]))
    assert same.x == pytest.approx(boxed.x)
    # Where convexity is not known, what is left of the gradient is that of the projected step.
    corner = minimize(Quadratic(np.diag([1.0, -1.0])), [1.0, 0.1], bounds=[(-1, 1), (-1, 1)])
    assert (corner.status, corner.gap) == ("stopped", math.inf)
    assert corner.certificate.residuals["gradient"] == pytest.approx(0.0, abs=1e-9)


CAP = linear_inequality([1.0, 1.0], 1.0, name="cap")
#: The cap in every form that callers of SciPy write.
CAPS = {
    "ours": CAP,
    "list": [CAP],
    "dictionary": {"type": "ineq", "fun": lambda x: 1 - x[0] - x[1]},
    "equation": {"type": "eq", "fun": lambda x: np.sum(x) - 1.0},
    "linear": scipy_optimize.LinearConstraint([[1, 1]], -np.inf, 1),
    "rows": scipy_optimize.LinearConstraint([[1, 1], [1, 0]], [1, -5], [1, 5]),
    "function": scipy_optimize.NonlinearConstraint(lambda x: x[0] + x[1], -np.inf, 1.0),
}


@pytest.mark.parametrize("form", CAPS)
def test_constraints_in_every_form_are_solved_and_proved(form):
    solution = bottom([0.0, 0.0], strong_convexity=2.0, constraints=CAPS[form])
    assert solution.status == "optimal"
    assert solution.x == pytest.approx([CAPPED, 1 - CAPPED], abs=1e-5)
    assert solution.certificate.lower_bound <= CAPPED_LEAST + 1e-9
    assert solution.value == pytest.approx(CAPPED_LEAST, abs=1e-6)
    price = max(abs(z).max() for z in solution.dual.values())
    assert price == pytest.approx(2 * CAPPED, abs=1e-4)
    assert ("random points" in str(solution.certificate)) == (form not in ("ours", "list"))


def test_constraints_that_are_not_linear():
    # The nearest point of a disc to (2, 2), as functions in three forms.
    def inside(x):
        return 2 - x[0] ** 2 - x[1] ** 2

    f = Quadratic(2 * np.eye(2), [-4.0, -4.0], 8.0)
    vouched = Function(lambda x: x @ x - 2, strong_convexity=2.0, smoothness=2.0)
    disc = function_inequality(vouched, name="disc")
    proved = minimize(f, [0.0, 0.0], constraints=disc)
    assert (proved.status, proved.value) == ("optimal", pytest.approx(2.0, abs=1e-6))
    assert proved.dual["disc"] == pytest.approx([1.0], abs=1e-4)  # 2 (x - 2) + 2 z x = 0
    for constraint in (
        {"type": "ineq", "fun": inside},
        {"type": "ineq", "fun": inside, "jac": lambda x: -2 * x},
        scipy_optimize.NonlinearConstraint(lambda x: x @ x, -np.inf, 2.0, jac=lambda x: 2 * x),
        {"type": "ineq", "fun": lambda x: jnp.stack([inside(x), 9 - x[0] ** 2])},
    ):
        solution = minimize(f, [0.0, 0.0], constraints=constraint)
        assert solution.x == pytest.approx([1.0, 1.0], abs=1e-4)
        assert solution.status == "stopped"  # nobody said that the function is convex
        assert "the KKT conditions hold up to" in solution.reason
        assert max(solution.certificate.residuals.values()) < 1e-4
    names = list(solution.dual)
    assert names == ["constraint 0[0]", "constraint 0[1]"]
    # The same as a second-order cone goes to the conic solver.
    cone = quadratic_inequality(2 * np.eye(2), [0.0, 0.0], -2.0, name="disc")
    assert minimize(f, [0.0, 0.0], constraints=cone).status == "optimal"


def test_bounded_variables_prove_without_strong_convexity():
    solution = bottom([0.0, 0.0], convex=True, bounds=[(0, 0.9), (0, 0.9)], constraints=CAP)
    assert (solution.status, solution.certificate.proof) == ("optimal", "duality")
    assert solution.certificate.lower_bound <= CAPPED_LEAST + 1e-12
    assert solution.value == pytest.approx(CAPPED_LEAST, abs=1e-6)
    assert set(solution.dual) == {"cap", "upper", "lower"}
    half = bottom([0.0, 0.0], convex=True, bounds=[(0.5, None), (0, 0.9)], constraints=CAP)
    assert set(half.dual) == {"cap", "upper[1]", "lower"}
    assert half.dual["lower"][0] > 0.1  # the bound at 1/2 costs something
    assert half.status == "optimal"


def test_programs_go_to_the_conic_solver_and_agree_with_it():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(6, 4))
    f = Quadratic(A.T @ A, rng.normal(size=4))
    budget = linear_equality(np.ones(4), 1.0, name="budget")
    solution = minimize(f, np.zeros(4), constraints=budget, bounds=[(0, 0.6)] * 4)
    sides = [
        linear_inequality(np.eye(4), np.full(4, 0.6), name="upper"),
        linear_inequality(-np.eye(4), np.zeros(4), name="lower"),
    ]
    program = Program(f, [budget, *sides])
    reference = solve(program)
    assert (solution.status, solution.value) == ("optimal", reference.value)
    assert list(solution.dual) == ["budget", "upper", "lower"]
    assert minimize(program).value == reference.value  # the start is not needed
    # The sequential method and SciPy's own find the same point.
    other = minimize(program, np.full(4, 0.25), method="sequential quadratic")
    assert other.status == "optimal"
    assert other.value == pytest.approx(reference.value, abs=1e-7)
    assert other.x == pytest.approx(reference.x, abs=1e-4)


def test_multipliers_of_a_point_from_elsewhere():
    rng = np.random.default_rng(1)
    for _ in range(5):
        A, G, h = rng.normal(size=(5, 3)), rng.normal(size=(4, 3)), rng.exponential(size=4)
        program = Program(
            Quadratic(A.T @ A, 3 * rng.normal(size=3)),
            [linear_inequality(G, h, name="rows"), linear_equality([1.0, 2.0, 3.0], 0.5, name="e")],
        )
        best = solve(program, tol=1e-9)
        dual = kkt_multipliers(program, best.x)
        for name, z in dual.items():
            assert z == pytest.approx(best.dual[name], abs=1e-4)
        assert kkt_residuals(program, best.x, dual).worst() < 1e-5
        assert certify_program(program, best.x, dual).is_optimal(1e-6)
        # Elsewhere no multipliers fit, and the bound says by how much.
        away = best.x + [0.3, 0.0, -0.1]
        certificate = certify_program(program, away, kkt_multipliers(program, away))
        assert certificate.lower_bound <= best.value + 1e-7
    assert kkt_multipliers(Program([1.0]), [0.0]) == {}
    ball = norm_inequality(np.eye(2), np.zeros(2), np.zeros(2), 1.0, name="ball")
    with pytest.raises(ValueError, match="norms and matrices are the business of solve"):
        kkt_multipliers(Program([1.0, 0.0], [ball]), [0.0, 0.0])
    lost = Function(lambda x: x[0], lambda x: np.full(1, np.nan))
    floor = linear_inequality([[-1.0], [-2.0]], [0.0, 0.0], name="floor")
    assert kkt_multipliers(Program(lost, [floor]), [1.0])["floor"].tolist() == [0.0, 0.0]


# -- the driver --------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["newton", "bfgs", "lbfgs", "sequential quadratic"])
def test_a_callback_sees_the_points_and_ends_the_run(method):
    seen = []

    def watch(x):
        seen.append(np.array(x))
        if len(seen) == 3:
            raise StopIteration

    solution = minimize(valley, [-1.2, 1.0], method=method, callback=watch)
    assert (solution.status, solution.n_iter, len(seen)) == ("stopped", 3, 3)
    assert solution.x == pytest.approx(seen[-1])
    assert not solution.success
    assert "callback" in solution.reason


def test_a_run_goes_on_where_it_ended_or_was_interrupted():
    whole = minimize(valley, [-1.2, 1.0], method="bfgs")
    first = minimize(valley, [-1.2, 1.0], method="bfgs", max_iter=7)
    assert (first.status, first.n_iter) == ("out of steps", 7)
    assert first.reason.startswith("the last step lowered the value by")
    again = minimize(valley, [-1.2, 1.0], method="bfgs", state=first.state)
    assert np.array_equal(whole.x, again.x)
    assert whole.n_iter == again.n_iter

    def impatient(x):
        raise KeyboardInterrupt

    with pytest.raises(Interrupted) as caught:
        minimize(valley, [-1.2, 1.0], method="bfgs", callback=impatient)
    resumed = minimize(valley, [-1.2, 1.0], method="bfgs", state=caught.value.run.state)
    assert np.array_equal(whole.x, resumed.x)


# -- bad input: status in words, never a wrong "optimal" -----------------------------------------


def test_infeasible_problems_are_proved_so():
    low = linear_inequality([1.0, 0.0], 0.0, name="low")
    high = linear_inequality([-1.0, 0.0], -1.0, name="high")
    idle = linear_inequality([0.0, 1.0], 9.0, name="idle")
    for solver in (bottom, partial(minimize, Quadratic(np.eye(2)))):
        solution = solver([0.0, 0.3], constraints=[low, idle, high])
        assert (solution.status, solution.value) == ("infeasible", math.inf)
        assert solution.certificate.conflict == ("low", "high")
        assert np.isnan(solution.x).all()
    # Discs of radius 1 round 0 and (3, 3): their tangents contradict each other.
    ray = solution.certificate.ray
    assert ray["low"] - ray["high"] == pytest.approx(0.0, abs=1e-12)
    discs = [
        function_inequality(Function(lambda x, c=c: (x - c) @ (x - c) - 1, convex=True), name=name)
        for name, c in (("here", 0.0), ("there", 3.0))
    ]
    solution = bottom([0.0, 0.3], constraints=discs)
    assert solution.status == "infeasible"
    assert isinstance(solution.certificate, Infeasible)
    assert solution.certificate.conflict == ("here", "there")
    assert solution.certificate.reach > 1e6
    assert "if the functions of here, there are convex, as was said" in str(solution)
    # Without convexity nothing is proved, and nothing is called solved.
    unknown = bottom([0.0, 0.3], constraints={"type": "ineq", "fun": lambda x: -x @ x - 1})
    assert unknown.status == "failed"
    assert unknown.reason == "no point was found that satisfies constraint 0"


@pytest.mark.parametrize("seed", range(6))
def test_ellipsoids_are_infeasible_exactly_if_they_do_not_meet(seed):
    rng = np.random.default_rng(seed)
    centres, roots = rng.normal(size=(2, 2)), rng.normal(size=(2, 2, 2))
    shapes = [B.T @ B + 0.1 * np.eye(2) for B in roots]

    def worst(x):
        return max((x - c) @ Q @ (x - c) for c, Q in zip(centres, shapes))

    # The least level at which they meet, on the curve of points where their normals are opposed.
    weights = np.linspace(0, 1, 20001)[1:-1, None, None]
    mixed = weights * shapes[0] + (1 - weights) * shapes[1]
    pulls = weights[..., 0] * (shapes[0] @ centres[0])
    pulls = pulls + (1 - weights[..., 0]) * (shapes[1] @ centres[1])
    meet = min(map(worst, np.linalg.solve(mixed, pulls[..., None])[..., 0]))
    for level, status in ((0.99 * meet, {"infeasible"}), (1.01 * meet, {"optimal"})):
        constraints = [
            function_inequality(Quadratic(2 * Q, -2 * Q @ c, c @ Q @ c - level), name=f"{i}")
            for i, (c, Q) in enumerate(zip(centres, shapes))
        ]
        solution = bottom([0.0, 0.0], strong_convexity=2.0, constraints=constraints)
        assert {solution.status} == status


def test_unbounded_problems_never_converge():
    proved = minimize(Quadratic(np.diag([1.0, 0.0]), [0.0, 2.0]), [0.0, 0.0])
    assert (proved.status, proved.value) == ("unbounded", -math.inf)
    assert proved.certificate.direction == pytest.approx([0.0, -0.5])
    for fun, start in (
        (lambda x: x[0] + x[1], [1.0, 0.0]),
        (lambda x: -jnp.exp(x[0]), [1.0]),
        (lambda x: -(x[0] ** 4), [1.0]),
    ):
        solution = minimize(fun, start)
        assert solution.status in ("out of steps", "diverged")
        assert "Nothing is proved" in str(solution)
    assert "may have no least one" in solution.reason
    saddle = minimize(Quadratic(np.diag([1.0, -1.0])), [1.0, 1.0])
    assert saddle.status == "out of steps"
    assert "may have no least one" in saddle.reason


def test_wrong_claims_withdraw_the_proof():
    wave = minimize(lambda x: jnp.cos(x[0]), [1.0], convex=True)
    assert (wave.status, wave.gap) == ("failed", math.inf)
    assert wave.reason.startswith("the function is not convex: a tangent lies")
    steep = minimize(lambda x: x[0] ** 2 / 2, [1.0], strong_convexity=2.0)
    assert (steep.status, steep.certificate.assumptions) == ("failed", ())
    assert "not strongly convex with constant 2" in steep.reason
    fast = minimize(lambda x: 4 * x[0] ** 2, [1.0], convex=True, smoothness=2.0)
    assert "the gradient of the function changes faster" in fast.reason
    ring = Function(lambda x: 1 - x @ x, convex=True)
    solution = bottom([0.1, 0.0], constraints=function_inequality(ring, name="ring"))
    assert (solution.status, solution.gap) == ("failed", math.inf)
    assert "the function of 'ring' is not convex" in solution.reason
    far = function_inequality(Function(lambda x: 5 + jnp.cos(x[0]), convex=True), name="far")
    denied = bottom([0.1, 0.0], constraints=far, max_iter=20)
    assert denied.status == "failed"  # and not "infeasible" by tangents that are none
    with pytest.raises(ValueError, match="negative eigenvalue"):
        minimize(Quadratic(np.diag([1.0, -1.0])), [1.0, 1.0], method="conic")


def test_numbers_that_are_not_finite_never_converge():
    for fun, jac, start in (
        (lambda x: jnp.sqrt(x[0]), None, -1.0),
        (lambda x: float(x @ x), lambda x: np.full(1, np.nan), 1.0),
    ):
        solution = minimize(fun, [start], jac=jac, strong_convexity=1.0)
        assert (solution.status, solution.gap) == ("diverged", math.inf)
        assert solution.reason == "the value or the gradient is not finite"
    cliff = minimize(lambda x: jnp.where(x[0] < 0, jnp.nan, (x[0] + 1) ** 2), [1.0])
    assert cliff.status == "failed"
    assert "no step lowers the value, though the gradient is 2" in cliff.reason
    edge = bottom([0.0, 0.0], constraints={"type": "ineq", "fun": lambda x: jnp.log(x[0])})
    assert edge.status == "failed"


def test_rows_of_zeros_are_idle_or_contradict_themselves():
    idle = linear_inequality([[0.0, 0.0]], [1.0], name="idle")
    never = linear_inequality([[0.0, 0.0]], [-1.0], name="never")
    nothing = linear_equality([[0.0, 0.0]], [1.0], name="nothing")
    f = Quadratic(np.eye(2), [-1.0, 0.0])
    assert minimize(f, [0.0, 0.0], constraints=idle).value == pytest.approx(-0.5, abs=1e-6)
    for constraint in (never, nothing):
        solution = minimize(f, [0.0, 0.0], constraints=[idle, constraint])
        assert solution.status == "infeasible"
        assert solution.certificate.conflict == (constraint.name,)
    solution = bottom([0.0, 0.0], strong_convexity=2.0, constraints=never, max_iter=20)
    assert solution.status == "infeasible"
    with pytest.raises(ValueError, match="at least one row"):
        linear_inequality(np.zeros((0, 2)), [], name="none")


def test_programs_without_a_strict_point_are_told_apart():
    # x^2 + y^2 <= 0 has one point, and no multiplier holds there: 1 + 2 z x = 0 at x = 0.
    point = function_inequality(Function(lambda x: x @ x, convex=True), name="point")
    solution = minimize(lambda x: x[0], [1.0, 1.0], convex=True, constraints=point)
    assert solution.status == "failed"
    assert "no point satisfies the constraints strictly" in solution.reason
    # A matrix that is semidefinite only for x1 = 0; the least value 0 and the best bound differ.
    F1 = [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    gap = matrix_inequality(np.diag([0.0, 0.0, 1.0]), [F1, np.diag([0.0, 1.0, 0.0])], name="m")
    solution = minimize(Program([1.0, 0.0], [gap]))
    assert solution.status == "failed"
    assert "no point satisfies the constraints strictly" in solution.reason
    # Linear constraints need none.
    pinned = linear_inequality([[1.0], [-1.0]], [1.0, -1.0], name="pinned")
    assert minimize(Program([2.0], [pinned])).value == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"x0": [[0.0, 0.0]]}, ValueError, "a vector of finite numbers. Got shape"),
        ({"x0": []}, ValueError, "a vector of finite numbers"),
        ({"x0": [np.nan, 0.0]}, ValueError, "with NaN or infinity"),
        ({"x0": None}, ValueError, "needs a start x0"),
        ({"fun": 3.0}, TypeError, "needs a function, a Smooth or a Program. Got float"),
        ({"fun": lambda x: x}, TypeError, "must return one number"),
        ({"fun": lambda x: x, "jac": lambda x: x}, TypeError, "must return one number"),
        ({"fun": lambda x: float(np.exp(x).sum())}, TypeError, "written with jax.numpy"),
        ({"jac": lambda x: np.ones(3)}, ValueError, "gradient must have shape"),
        ({"jac": "2-point"}, ValueError, "'jac' parameter of minimize must be"),
        ({"bounds": [(0, 1)]}, ValueError, r"one pair \(low, high\) of bounds for each of 2"),
        ({"bounds": [(0, 1), (1, 0)]}, ValueError, "at most the upper ones"),
        ({"bounds": [(0, 1)] * 2, "penalty": L1(1.0)}, ValueError, "a penalty or bounds"),
        ({"constraints": CAP, "method": "newton"}, ValueError, "not for this problem"),
        ({"method": "conic"}, ValueError, "not for this problem"),
        ({"method": "downhill"}, ValueError, "'method' parameter of minimize must be"),
        ({"tol": 0.0}, ValueError, "'tol' parameter of minimize must be"),
        ({"state": 1, "method": "lbfgs"}, ValueError, "takes no state"),
        ({"fun": Quadratic(np.eye(2)), "callback": print}, ValueError, "takes no callback"),
        ({"fun": Quadratic(np.eye(2)), "convex": True}, ValueError, "Leave out"),
        ({"constraints": 3}, TypeError, "must be one of corollary.optimize"),
        ({"constraints": {"type": "le", "fun": np.sum}}, ValueError, "'eq' or 'ineq'"),
        ({"constraints": {"type": "eq", "fun": lambda x: x @ x - 1}}, ValueError, "linear"),
        ({"constraints": linear_inequality([1.0] * 3, 1.0, name="c")}, ValueError, "3 entries"),
        (
            {"constraints": norm_inequality(np.eye(2), [0, 0], [0, 0], 1.0, name="n")},
            ValueError,
            "only with a convex quadratic objective",
        ),
        ({"radius": 0.0}, ValueError, "positive 'radius'. Got 0.0"),
        ({"konvex": True}, ValueError, r"Got \['konvex'\]"),
        ({"strong_convexity": 2.0, "smoothness": 1.0}, ValueError, "strong_convexity <="),
    ],
)
def test_what_does_not_fit_is_refused(options, error, words):
    with pytest.raises(error, match=words):
        minimize(**{"fun": bowl, "x0": [0.0, 0.0], **options})


def test_one_result_type_with_a_sentence():
    solution = minimize(Quadratic(np.eye(2), [-1.0, 0.0]), [0.0, 0.0])
    assert isinstance(solution.certificate, Optimality)
    assert str(solution.certificate).startswith("The value -0.5 is at most")
    reference = newton(Quadratic(np.eye(2), [-1.0, 0.0]), [0.0, 0.0])
    assert solution.x == pytest.approx(reference.x)
    assert solution.fun == solution.value
    assert "<table>" in solution._repr_html_()


def test_a_constraint_that_is_not_defined_at_a_point_is_violated_there():
    root = Function(lambda x: -jnp.sqrt(x[0] - 1), convex=True)
    program = Program(Quadratic([[2.0]]), [function_inequality(root, name="root")])
    assert program.violations([0.0]) == {"root": math.inf}
    assert not program.is_feasible([0.0], 1e300)
    assert kkt_residuals(program, [0.0], {}).worst() == math.inf
    assert not certify_program(program, [0.0], {}).is_optimal(1e300)
    solution = minimize(program, [3.0])
    assert solution.status == "failed" or (
        solution.certificate.violation == 0 and solution.x[0] >= 1
    )


def test_a_floor_that_values_lie_below_is_doubted():
    solution = minimize(lambda x: (x[0] - 1) ** 2, [5.0], convex=True, floor=1.0, penalty=L1(0.1))
    assert solution.status == "failed"
    assert "falls below 1" in solution.reason
    assert solution.certificate.gap == math.inf
