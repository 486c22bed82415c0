"""Refuters and constants: exact ones against spectra, estimates with their stated error."""

import numpy as np
import pytest

from corollary.optimize import (
    Average,
    EmpiricalRisk,
    Function,
    Quadratic,
    estimate_curvature,
    refute_convexity,
    refute_smoothness,
)

BOX = [-2.0, -1.0], [1.0, 3.0]
BOWL = Quadratic([[2.0, 1.0], [1.0, 2.0]], [1.0, 0.0])
SADDLE = Quadratic(np.diag([1.0, -1.0]))


def rows(seed, n=12, d=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.where(rng.random(n) < 0.5, 1, -1)


@pytest.mark.parametrize("test", ["chord", "tangent", "hessian"])
def test_quadratics_are_judged_by_their_least_eigenvalue(test):
    def found(m, function=BOWL):
        return refute_convexity(
            function, *BOX, strong_convexity=m, test=test, n_pairs=200, random_state=0
        )

    assert found(0.0) is None
    assert found(1.0) is None
    violation = found(1.05)
    # The violation is one: its excess is recomputed by hand.
    x, y, w, excess = violation
    bend = 1.05 / 2 * (x - y) @ (x - y)
    f = BOWL.value
    by_hand = {
        "chord": f(w * x + (1 - w) * y) - w * f(x) - (1 - w) * f(y) + w * (1 - w) * bend,
        "tangent": f(x) + BOWL.gradient(x) @ (y - x) + bend - f(y),
        "hessian": 1.05 - 1.0,
    }[test]
    assert excess == pytest.approx(by_hand, rel=1e-9)
    assert excess > 0
    assert test == "chord" or w == 1.0
    assert found(0.0, SADDLE) is not None
    assert all((np.array(BOX[0]) <= p).all() and (p <= np.array(BOX[1])).all() for p in (x, y))


def test_the_worst_violation_is_returned():
    few = refute_convexity(SADDLE, *BOX, n_pairs=5, random_state=1)
    many = refute_convexity(SADDLE, *BOX, n_pairs=500, random_state=1)
    assert many.excess > few.excess > 0


@pytest.mark.parametrize(
    ("loss", "convex"),
    [("hinge", True), ("square_margin", True), ("exponential", True), ("logistic", True)],
)
def test_losses_are_convex(loss, convex):
    X, y = rows(0)
    f = EmpiricalRisk(X, y, loss)
    assert (refute_convexity(f, [-2] * 3, [2] * 3, random_state=0, n_pairs=300) is None) == convex


def test_the_zero_one_loss_is_refuted_and_strictness_is_told():
    def errors(x):
        return float(x[0] < 0)

    assert refute_convexity(errors, [-1.0], [1.0], random_state=0) is not None
    line = Function(np.sum, np.ones_like)
    assert refute_convexity(line, *BOX, random_state=0) is None
    assert refute_convexity(line, *BOX, strict=True, random_state=0) is not None
    assert refute_convexity(line, *BOX, strict=True, test="tangent", random_state=0) is not None
    assert refute_convexity(BOWL, *BOX, strict=True, random_state=0) is None


def test_smoothness_of_a_quadratic_is_its_largest_eigenvalue():
    assert refute_smoothness(BOWL, *BOX, smoothness=3.0, random_state=0) is None
    x, y, weight, excess = refute_smoothness(BOWL, *BOX, smoothness=2.9, random_state=0)
    change = np.linalg.norm(BOWL.P @ (x - y))
    assert excess == pytest.approx(change - 2.9 * np.linalg.norm(x - y))
    assert weight == 1.0
    # The top eigenvector attains it.
    v = np.array([1.0, 1.0])
    assert np.linalg.norm(BOWL.gradient(v) - BOWL.gradient(-v)) == pytest.approx(
        3 * np.linalg.norm(2 * v)
    )


def test_pairs_are_drawn_as_described_and_every_other_one_is_close():
    seen = []
    rough = Function(lambda x: float(x @ x), lambda x: seen.append(x) or 2 * x)
    refute_smoothness(rough, [-1.0, 0.0], [1.0, 2.0], smoothness=2.0, n_pairs=4, random_state=3)
    random = np.random.RandomState(3)
    for i in range(4):
        x, y = random.uniform([-1, 0], [1, 2]), random.uniform([-1, 0], [1, 2])
        random.uniform(0.05, 0.95)
        assert np.array_equal(seen[2 * i], x)
        assert seen[2 * i + 1] == pytest.approx(x + 0.01 * (y - x) if i % 2 else y)
    assert len(seen) == 8
    # The one violation of a hat, with its weight.
    violation = refute_convexity(lambda x: -(x[0] ** 2), [-1.0], [1.0], n_pairs=1, random_state=3)
    random = np.random.RandomState(3)
    x, y, weight = random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(0.05, 0.95)
    assert (violation.x[0], violation.y[0], violation.weight) == (x, y, weight)
    assert violation.excess == pytest.approx(weight * (1 - weight) * (x - y) ** 2)


@pytest.mark.parametrize(("loss", "beta"), [("logistic", 0.25), ("square_margin", 2.0)])
def test_constants_of_empirical_risks_are_the_extreme_eigenvalues_at_zero(loss, beta):
    X, y = rows(1)
    f = EmpiricalRisk(X, y, loss, alpha=0.3)
    spectrum = np.linalg.eigvalsh(X.T @ X / len(X))
    assert f.smoothness == pytest.approx(beta * spectrum[-1] + 0.3)
    assert f.smoothness == pytest.approx(np.linalg.eigvalsh(f.hessian(np.zeros(3)))[-1])
    least = 2 * spectrum[0] if loss == "square_margin" else 0.0
    assert f.strong_convexity == pytest.approx(least + 0.3)
    box = [-3.0] * 3, [3.0] * 3
    assert refute_smoothness(f, *box, smoothness=f.smoothness, random_state=0) is None
    assert refute_smoothness(f, [-0.1] * 3, [0.1] * 3, smoothness=0.95 * f.smoothness,
                             n_pairs=2000, random_state=0)  # fmt: skip
    assert refute_convexity(f, *box, strong_convexity=f.strong_convexity, random_state=0) is None


def test_risks_by_hand():
    f = EmpiricalRisk([[1.0, 2.0], [3.0, 0.0]], [1.0, 2.0], "square", alpha=2.0)
    # predictions 3 and 3: residuals -2 and -1
    assert f.value([1.0, 1.0]) == pytest.approx((4 + 1) / 2 + 2)
    assert f.term_gradients([1.0, 1.0]) == pytest.approx(np.array([[6.0, 10.0], [8.0, 2.0]]))
    assert f.gradient([1.0, 1.0]) == pytest.approx([7.0, 6.0])
    assert f.batch_gradient([1.0, 1.0], [1, 1, 0]) == pytest.approx([22 / 3, 14 / 3])
    value, gradient = f.value_and_gradient([1.0, 1.0])
    assert (value, list(gradient)) == (pytest.approx(4.5), pytest.approx([7.0, 6.0]))
    assert f.hessian([1.0, 1.0]) == pytest.approx(np.array([[12.0, 2.0], [2.0, 6.0]]))
    assert EmpiricalRisk([[3.0, 4.0], [0.0, 1.0]], [1, -1], "hinge").lipschitz == 3.0
    assert EmpiricalRisk([[3.0]], [1], "hinge", alpha=0.1).lipschitz == np.inf
    assert EmpiricalRisk([[3.0]], [1], "hinge").smoothness == np.inf
    wide = EmpiricalRisk([[1.0, 1.0]], [1.0], "square")
    assert wide.strong_convexity == 0.0
    assert EmpiricalRisk([[0.0]], [1], "hinge", alpha=2.0).smoothness == 2.0


def test_an_average_is_the_mean_of_its_terms():
    f = Average([Quadratic([[1.0]], [1.0]), Quadratic([[5.0]], [-3.0], 2.0)])
    assert f.value([2.0]) == pytest.approx(((2 + 2) + (10 - 6 + 2)) / 2)
    assert f.gradient([2.0]) == pytest.approx([5.0])
    assert f.hessian([0.0]) == pytest.approx(np.array([[3.0]]))
    assert (f.smoothness, f.strong_convexity, f.convex) == (3.0, 3.0, True)
    mixed = Average([Quadratic([[1.0]]), Quadratic([[-5.0]])])
    assert (mixed.smoothness, mixed.strong_convexity, mixed.convex) == (3.0, 0.0, None)


def test_estimated_curvature_states_its_error():
    # The second derivative x^2 is uniform enough: the share of the box above the largest one seen.
    f = Function(lambda x: x[0] ** 4 / 12, lambda x: x**3 / 3, lambda x: np.diag(x**2))
    misses = 0
    for seed in range(200):
        seen = estimate_curvature(f, [0.0], [1.0], n_points=20, confidence=0.8, random_state=seed)
        outside = (1 - np.sqrt(seen.smoothness)) + np.sqrt(seen.strong_convexity)
        misses += outside > seen.exceeded
    assert seen.exceeded == pytest.approx(2 * (1 - 0.1 ** (1 / 20)))
    assert 0 < misses <= 0.2 * 200
    exact = estimate_curvature(SADDLE, *BOX, n_points=3, random_state=0)
    assert exact[:2] == (1.0, -1.0)
    assert exact.confidence == 0.95


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="low < high"):
        refute_convexity(BOWL, [0.0, 0.0], [1.0, 0.0])
    with pytest.raises(TypeError, match="needs derivatives"):
        refute_convexity(np.sum, *BOX, test="tangent")
    with pytest.raises(ValueError, match="does not decide strict"):
        refute_convexity(BOWL, *BOX, test="hessian", strict=True)
    with pytest.raises(ValueError, match="one truth for each row"):
        EmpiricalRisk([[1.0]], [1, 1])
    with pytest.raises(ValueError, match="X holds NaN"):
        EmpiricalRisk([[np.nan]], [1])
    with pytest.raises(ValueError, match="y holds NaN"):
        EmpiricalRisk([[1.0]], [np.nan], "square")
    with pytest.raises(ValueError, match="'alpha' parameter of EmpiricalRisk"):
        EmpiricalRisk([[1.0]], [1], alpha=-1.0)
    with pytest.raises(ValueError, match="at least one function"):
        Average([])
