"""What each world knows, by hand, and the moments of what it draws."""

import math

import numpy as np
import pytest

from corollary.datasets import (
    AdditiveNoise,
    Circle,
    Confounded,
    Equicorrelated,
    Feedback,
    GaussianShift,
    HighDimensionalLogistic,
    Hypercube,
    LinearGaussian,
    RareEvent,
    ReverseCausation,
    Rings,
    Shortcut,
    Sinusoid,
    SinusoidTasks,
    Xor,
    degenerate_pair,
    design_with_singular_values,
    kolmogorov_distance,
    lloyd_trap,
    ols_total_variance,
    partial_correlation,
)
from corollary.kernels import monomial_map

ROWS = 4000


def assert_mean(values, truth):
    """The mean of independent draws lies within five standard errors of its expectation."""
    assert len(values) == ROWS
    error = np.std(values) / math.sqrt(ROWS)
    assert abs(np.mean(values) - truth) <= 5 * error + 1e-12, (np.mean(values), truth, error)


def assert_noise(values, scale):
    """Independent normal draws of this scale: mean, variance, and no memory."""
    assert_mean(values, 0.0)
    assert_mean(values**2, scale**2)
    assert abs(np.mean(values[1:] * values[:-1])) <= 5 * scale**2 / math.sqrt(ROWS)


def draw(world, n_features):
    X, y = world.sample(ROWS, random_state=1)
    assert X.shape == (ROWS, n_features)
    assert y.shape == (ROWS,)
    return X, y


def test_linear_gaussian():
    world = LinearGaussian(
        np.array([1.0, -2.0]), 0.5, 0.7, covariance=np.array([[2.0, 0.5], [0.5, 1.0]])
    )
    assert world.bayes_rule(np.array([[1.0, 1.0], [0.0, 2.0]])).tolist() == [-0.5, -3.5]
    assert world.bayes_risk == pytest.approx(0.49)
    assert world.risk([2.0, -2.0], 1.0) == pytest.approx(0.49 + 2.0 + 0.25)
    assert world.risk([2.0, -1.0]) == pytest.approx(0.49 + 2 + 1 + 2 * 0.5 + 0.25)
    assert world.risk([1.0, -2.0], 2.5) == pytest.approx(0.49 + 4.0)
    plain = LinearGaussian(np.array([1.0, -2.0]))
    assert plain.risk([3.0, 0.0]) == pytest.approx(1 + 8)
    there = world.logdensity(np.array([[1.0, 1.0]]), np.array([-0.5 + 1.4]))
    assert there == pytest.approx([-2 - math.log(0.7 * math.sqrt(2 * math.pi))])
    X, y = draw(world, 2)
    for i, j, value in [(0, 0, 2.0), (0, 1, 0.5), (1, 1, 1.0)]:
        assert_mean(X[:, i] * X[:, j], value)
    assert_noise(y - X @ [1.0, -2.0] - 0.5, 0.7)
    assert_noise(draw(plain, 2)[0][:, 0], 1.0)


def test_additive_noise():
    world = AdditiveNoise(lambda X: 2 * X[:, 0] - X[:, 1], 0.3, n_features=2, low=-1.0, high=3.0)
    points = np.array([[1.0, 1.0], [0.0, 2.0], [3.0, 0.0]])
    assert world.bayes_rule(points).tolist() == [1.0, -2.0, 6.0]
    assert world.noise_at(points).tolist() == [0.3] * 3
    uneven = AdditiveNoise(lambda X: X[:, 0], lambda X: 1 + X[:, 0])
    assert uneven.noise_at(points[:, :1]).tolist() == [2.0, 1.0, 4.0]
    X, y = draw(world, 2)
    assert -1 <= X.min() < -0.95
    assert 2.95 < X.max() <= 3
    assert_mean(X[:, 1], 1.0)
    assert_noise(y - 2 * X[:, 0] + X[:, 1], 0.3)
    X, y = draw(uneven, 1)
    assert_noise((y - X[:, 0]) / (1 + X[:, 0]), 1.0)


def test_collinear():
    world = Equicorrelated(np.array([1.0, 2.0]), correlation=0.75, noise=2.0)
    linear = world.linear
    assert linear.covariance.tolist() == [[1.0, 0.75], [0.75, 1.0]]
    assert (linear.coef.tolist(), linear.intercept, linear.noise) == ([1.0, 2.0], 0.0, 2.0)
    X, y = draw(world, 2)
    for i, j, value in [(0, 0, 1.0), (0, 1, 0.75), (1, 1, 1.0)]:
        assert_mean(X[:, i] * X[:, j], value)
    assert_noise(X[:, 0], 1.0)
    assert_noise(y - X @ [1.0, 2.0], 2.0)
    assert ols_total_variance(np.diag([1.0, 0.5]), noise=2.0) == pytest.approx(4 * (1 + 4))
    assert ols_total_variance(np.ones((1, 2))) == math.inf
    assert ols_total_variance(np.ones((2, 2))) == math.inf
    design = design_with_singular_values(5, np.array([3.0, 2.0, 0.5]), random_state=0)
    assert design.shape == (5, 3)
    assert np.linalg.svd(design, compute_uv=False) == pytest.approx([3.0, 2.0, 0.5])
    square = design_with_singular_values(3, np.array([3.0, 2.0, 0.0]), random_state=0)
    assert np.linalg.svd(square, compute_uv=False) == pytest.approx([3.0, 2.0, 0.0])


def test_high_dimensional_logistic():
    world = HighDimensionalLogistic(ratio=0.1, strength=3.0, density=0.2)
    X, y, coef = world.draw(200, random_state=0)
    assert (X.shape, y.shape, coef.shape) == ((200, 20), (200,), (20,))
    assert np.sort(np.abs(coef)) == pytest.approx([0.0] * 16 + [1.5] * 4)
    coefs = np.concatenate([world.draw(200, random_state=seed)[2] for seed in range(9)])
    assert set(np.round(coefs, 9)) == {-1.5, 0.0, 1.5}
    assert set(y) == {-1, 1}
    # A score of standard deviation 3 leaves the sign right in 84% of rows, by quadrature.
    z = np.linspace(-8, 8, 4001)
    right = np.average(1 / (1 + np.exp(-3 * np.abs(z))), weights=np.exp(-(z**2) / 2))
    wide, labels, _ = HighDimensionalLogistic(ratio=1 / ROWS, strength=3.0).draw(ROWS, 0)
    assert wide.shape == (ROWS, 1)
    assert_noise(wide[:, 0], 1.0)
    agree = np.sign(wide[:, 0]) == labels
    assert_mean(agree if agree.mean() > 0.5 else ~agree, right)
    X, _, coef = world.draw(1, random_state=0)
    assert (X.shape, np.abs(coef).tolist()) == ((1, 1), [3.0])


def test_projections():
    X, along = draw(Hypercube(3), 3)
    edge = math.sqrt(3)
    assert -edge <= X.min() < -edge + 0.01
    assert edge - 0.01 < X.max() <= edge
    for column in X.T:
        assert_noise(column, 1.0)
    assert along == pytest.approx(X.sum(axis=1) / edge)
    tilted = draw(Hypercube(3, np.array([0.0, 3.0, 4.0])), 3)
    assert tilted[1] == pytest.approx(tilted[0] @ [0.0, 0.6, 0.8])
    # Half of the mass lies below -1 of two points, 16% of a normal law.
    below = 0.5 * math.erfc(1 / math.sqrt(2))
    assert kolmogorov_distance(np.array([-1.0, 1.0])) == pytest.approx(0.5 - below)
    assert kolmogorov_distance(np.array([0.0, 0.0, 0.0])) == pytest.approx(0.5)


def test_degenerate_pairs():
    pairs = {name: degenerate_pair(name) for name in "abc"}
    assert pairs["a"].X.tolist() == pairs["b"].X.tolist() == [[0.0, 1.0], [0.0, -1.0]]
    assert pairs["c"].X.tolist() == [[0.0, 0.0], [0.0, 1.0]]
    assert [pairs[name].y.tolist() for name in "abc"] == [[1, 1], [-1, -1], [1, -1]]
    assert [pairs[name].facts["separable"] for name in "abc"] == [True, False, True]
    assert all(pair.facts["margin"] == 0.0 for pair in pairs.values())


def test_circle():
    world = Circle(1.5)
    # 1, x1, x2, x1^2, x1 x2, x2^2: the squared norm less one.
    assert world.separator.tolist() == [-1.0, 0.0, 0.0, 1.0, 0.0, 1.0]
    points = np.array([[0.0, 0.0], [1.0, 0.0], [0.7, 0.7], [0.8, 0.7]])
    assert world.bayes_rule(points).tolist() == [-1, 1, -1, 1]
    assert monomial_map([[2.0, 3.0]], 2).tolist() == [[1.0, 2.0, 3.0, 4.0, 6.0, 9.0]]
    X, y = draw(world, 2)
    assert -1.5 <= X.min() < -1.48
    assert 1.48 < X.max() <= 1.5
    assert_mean(y == -1, math.pi / 9)
    assert np.array_equal(y == 1, np.hypot(*X.T) >= 1)


def test_xor_and_rings():
    X, y = draw(Xor(0.2), 2)
    corners = np.sign(X)
    assert np.array_equal(y, corners[:, 0] * corners[:, 1])
    assert_mean(y, 0.0)
    assert_mean(corners[:, 0], 0.0)
    for column in (X - corners).T:
        assert_noise(column, 0.2)
    X, y = draw(Rings(inner=2.0, outer=5.0, spread=0.25), 2)
    assert set(y) == {-1, 1}
    assert_mean(y, 0.0)
    assert_noise(np.hypot(*X.T) - np.where(y == 1, 5.0, 2.0), 0.25)
    angle = np.arctan2(X[:, 1], X[:, 0]) % (2 * math.pi)
    for quarter in range(4):
        assert_mean((angle // (math.pi / 2)) == quarter, 0.25)


def test_rare_event():
    world = RareEvent(0.2)
    assert world.bayes_rule(np.array([[0.0], [1.0]])).tolist() == [-1, 1]
    assert RareEvent(0.2, label=-1).bayes_rule(np.array([[0.0], [1.0]])).tolist() == [-1, -1]
    assert world.probability_unseen(3) == pytest.approx(0.512)
    assert world.bayes_risk == 0.0
    X, y = draw(world, 1)
    assert set(X[:, 0]) == {0.0, 1.0}
    assert_mean(X[:, 0], 0.2)
    assert np.array_equal(y, 2 * X[:, 0] - 1)


def test_lloyd_traps():
    empty = lloyd_trap("empty")
    assert empty.X.tolist() == [[-1.0], [1.0], [0.0]]
    assert (empty.start.tolist(), empty.best.tolist()) == ([0, 0, 1], [0, 1, 0])
    assert (empty.start_cost, empty.best_cost) == pytest.approx((2.0, 0.5))
    rectangle = lloyd_trap("rectangle")
    assert rectangle.X.tolist() == [[0, 1], [2, 1], [0, 0], [2, 0]]
    assert (rectangle.start.tolist(), rectangle.best.tolist()) == ([0, 0, 1, 1], [0, 1, 0, 1])
    assert (rectangle.start_cost, rectangle.best_cost) == pytest.approx((4.0, 1.0))
    triangle = lloyd_trap("triangle")
    assert triangle.X.tolist() == [[-5, 1], [5, 1], [0, -2]]
    assert (triangle.start.tolist(), triangle.best.tolist()) == ([0, 0, 1], [0, 1, 0])
    # (-5, 1) and (0, -2) are 34 apart in squares, of which a pair costs half.
    assert (triangle.start_cost, triangle.best_cost) == pytest.approx((50.0, 17.0))


def test_causes():
    X, y = draw(ReverseCausation(effect=2.0, noise=3.0), 1)
    assert_noise(y, 1.0)
    assert_noise(X[:, 0] - 2 * y, 3.0)
    assert_noise(ReverseCausation(effect=2.0).intervene(5.0, ROWS, random_state=0), 1.0)
    X, y = draw(Confounded(effect=2.0, noise=3.0), 1)
    assert_mean(X[:, 0] ** 2, 13.0)
    assert_mean(y**2, 13.0)
    assert_mean(X[:, 0] * y, 4.0)
    X_all, y_all, z = Confounded(effect=2.0, noise=3.0).sample_all(ROWS, random_state=1)
    assert np.array_equal(X, X_all)
    assert np.array_equal(y, y_all)
    assert_noise(z, 1.0)
    assert_noise(X[:, 0] - 2 * z, 3.0)
    assert_noise(y - 2 * z, 3.0)
    moved = Confounded(effect=2.0, noise=3.0).intervene(9.0, ROWS, random_state=0)
    assert_mean(moved, 0.0)
    assert_mean(moved**2, 13.0)
    # x = (e + a f) / (1 - a^2) with a = 1/2: the variances of 2 e's are 4 (1 + 1/4) (16/9).
    world = Feedback(effect=0.5, noise=2.0)
    X, y = draw(world, 1)
    assert_mean(X[:, 0] ** 2, 80 / 9)
    assert_mean(y**2, 80 / 9)
    assert_mean(X[:, 0] * y, 64 / 9)
    assert_noise(X[:, 0] - 0.5 * y, 2.0)
    assert world.slope == pytest.approx(0.8)
    assert_noise(world.intervene(3.0, ROWS, random_state=0) - 1.5, 2.0)
    # Residuals e and e + f of orthogonal e and f with squares 4 and 20.
    z, e, f = np.array([[0.0, 1.0, 2.0, 3.0], [1.0, -1.0, -1.0, 1.0], [1.0, -3.0, 3.0, -1.0]])
    found = partial_correlation(5 + z + e, 2 * z + e + f, z)
    assert found == pytest.approx(4 / math.sqrt(4 * 24))


def test_domain_shift():
    world = GaussianShift(np.array([1.0, -1.0]), curvature=2.0, noise=0.5)
    points = np.array([[1.0, 2.0], [2.0, 0.0]])
    assert world.bayes_rule(points).tolist() == [6.0, 6.0]
    assert world.bayes_risk == pytest.approx(0.25)
    other = GaussianShift(np.array([2.0, -1.0]))
    ratio = world.density_ratio(other, np.array([[1.5, 7.0], [2.5, 0.0]]))
    assert ratio == pytest.approx([1.0, math.e])
    X, y = draw(world, 2)
    assert_noise(X[:, 0] - 1, 1.0)
    assert_noise(X[:, 1] + 1, 1.0)
    assert_noise(y - (X**2).sum(axis=1) - X[:, 0], 0.5)


def test_shortcut():
    world = Shortcut(0.75, signal=1.0, strength=1.0, background_noise=1.0)
    # At b = log(3) / 2 the mixture leans to 3/4: log of (9 + 1) / (3 + 3).
    b = math.log(3) / 2
    assert world._background_log_odds(np.array([b, 0.0])) == pytest.approx([math.log(5 / 3), 0.0])
    rows = np.array([[-0.25, b], [-0.26, b], [0.25, -b], [0.26, -b]])
    assert world.bayes_rule(rows).tolist() == [1, -1, -1, 1]
    tail = [0.5 * math.erfc(t / math.sqrt(2)) for t in (1.0, 2.0, 3.0)]
    assert world.error_of_cause == pytest.approx(tail[0])
    assert Shortcut(0.75, signal=2.0).error_of_cause == pytest.approx(tail[1])
    steady = Shortcut(0.75, strength=1.5, background_noise=0.5)
    assert steady.error_of_background == pytest.approx(0.75 * tail[2] + 0.25 * (1 - tail[2]))
    X, y = draw(Shortcut(0.75, signal=2.0, strength=1.5, background_noise=0.1), 2)
    assert set(y) == {-1, 1}
    assert_mean(y, 0.0)
    assert_noise(X[:, 0] - 2 * y, 1.0)
    agrees = np.sign(X[:, 1]) == y
    assert_mean(agrees, 0.75)
    assert_noise(X[:, 1] - np.where(agrees, 1.5, -1.5) * y, 0.1)


def test_sinusoids():
    X, y = draw(Sinusoid(2.0, 0.5), 1)
    assert -5 <= X.min() < -4.95
    assert 4.95 < X.max() <= 5
    assert_mean(X[:, 0], 0.0)
    assert y == pytest.approx(2 * np.sin(X[:, 0] + 0.5))
    assert Sinusoid(2.0, 0.5).bayes_risk == 0.0
    tasks = SinusoidTasks(low=1.0, high=2.0)
    drawn = tasks.draw(ROWS, random_state=0)
    assert_mean([task.amplitude for task in drawn], 1.5)
    assert_mean([task.amplitude**2 for task in drawn], 7 / 3)
    assert_mean([task.phase for task in drawn], math.pi / 2)
    assert_mean([task.phase**2 for task in drawn], math.pi**2 / 3)
    assert tasks.mean_function(np.array([[0.0], [math.pi]])) == pytest.approx(
        [3 / math.pi, -3 / math.pi]
    )
    assert tasks.risk_of_zero == pytest.approx(7 / 6)
    # The mean of cos^2 on [-5, 5] is 1/2 + sin(10) / 20.
    known = (3 / math.pi) ** 2 * (0.5 + math.sin(10) / 20)
    assert tasks.risk_without_task == pytest.approx(7 / 6 - known)
