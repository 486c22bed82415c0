"""Climbing inside a box, against exact maxima, in corners and in traps."""

import numpy as np
import pytest
from scipy.optimize import lsq_linear

from corollary.gp import Observations, Search, learn_hyperparameters
from corollary.gp.learning._coordinates import Coordinates
from corollary.gp.learning._maximise import maximise
from corollary.kernels import RBF
from corollary.optimize import ascend, difference_curvature

BOX = np.array([[-1.0, 1.0]] * 6)


def paraboloid(seed, p=6):
    """Return a concave quadratic function, minus its second derivatives and its root."""
    rng = np.random.default_rng(seed)
    A, b = rng.normal(size=(p + 2, p)), rng.normal(size=p + 2)

    def objective(theta):
        residual = A @ theta - b
        return -0.5 * float(residual @ residual), -A.T @ residual

    return objective, A, b


@pytest.mark.parametrize("world", range(12))
def test_maximum_of_a_paraboloid_inside_a_box(world):
    objective, A, b = paraboloid(world)
    exact = lsq_linear(A, b, bounds=tuple(BOX.T), tol=1e-14).x
    found = ascend(objective, np.full(6, 0.3), BOX, tol=1e-14)
    assert found.converged
    np.testing.assert_allclose(found.theta, exact, atol=1e-5)
    assert (found.theta >= -1.0).all()
    assert (found.theta <= 1.0).all()
    value, gradient = objective(found.theta)
    assert (found.value, list(found.gradient)) == (value, list(gradient))


def test_known_curvature_leads_there_in_one_step():
    objective, A, b = paraboloid(0)
    wide = 100.0 * BOX
    calls = []

    def counted(theta):
        return calls.append(theta) or objective(theta)

    exact = np.linalg.lstsq(A, b, rcond=None)[0]
    found = ascend(counted, exact + 0.5, wide, curvature=A.T @ A)
    np.testing.assert_allclose(found.theta, exact, atol=1e-9)
    assert len(calls) <= 3


@pytest.mark.parametrize("world", range(6))
def test_known_curvature_needs_few_steps_along_walls(world):
    objective, A, b = paraboloid(world)
    calls = []

    def counted(theta):
        return calls.append(theta) or objective(theta)

    exact = lsq_linear(A, b, bounds=tuple(0.2 * BOX.T), tol=1e-14).x
    found = ascend(counted, np.zeros(6), 0.2 * BOX, curvature=A.T @ A)
    assert np.isclose(np.abs(exact), 0.2).any()
    np.testing.assert_allclose(found.theta, exact, atol=1e-3)
    assert len(calls) <= 4


def test_curvature_is_estimated_inside_the_box():
    objective, A, _ = paraboloid(5)
    visited = []

    def looked_at(theta):
        return visited.append(theta.copy()) or objective(theta)

    found = ascend(objective, np.zeros(6), BOX)
    assert (found.theta == 1.0).any()
    curvature = difference_curvature(looked_at, found, BOX)
    exact = A.T @ A
    sizes, axes = np.linalg.eigh(exact)
    np.testing.assert_allclose(curvature, (axes * np.maximum(sizes, 1.0)) @ axes.T, rtol=1e-6)
    assert np.abs(visited).max() <= 1.0


def test_where_there_is_no_value_it_turns_back():
    def objective(theta):
        if theta[0] > 0.8:
            raise np.linalg.LinAlgError
        if theta[0] > 0.6:
            return np.nan, np.full(1, np.nan)
        return float(theta[0]) - 0.5 * float(theta[0]) ** 2, 1.0 - theta

    found = ascend(objective, np.zeros(1), np.array([[-2.0, 2.0]]), max_iter=500)
    assert 0.5 < found.theta[0] <= 0.6
    at_wall = difference_curvature(objective, found._replace(theta=np.array([0.5999])), BOX[:1])
    np.testing.assert_array_equal(at_wall, found.curvature)


def test_start_outside_and_start_without_value():
    objective, _, _ = paraboloid(2)
    assert (np.abs(ascend(objective, np.full(6, 9.0), BOX).theta) <= 1.0).all()

    def nothing(theta):
        raise np.linalg.LinAlgError

    found = ascend(nothing, np.zeros(6), BOX)
    assert (found.value, found.n_iter) == (-np.inf, 0)


def test_steps_run_out():
    objective, _, _ = paraboloid(3)
    found = ascend(objective, np.zeros(6), BOX, max_iter=1, tol=1e-14)
    assert not found.converged
    assert found.value > objective(np.zeros(6))[0]


@pytest.mark.parametrize("world", range(3))
def test_no_leap_into_noise(world, seed):
    """One feature of eight matters, and noise is half of it: a search that leaps gives up."""
    rng = np.random.default_rng([seed, world])
    X = rng.uniform(-2, 2, size=(300, 8))
    y = np.sin(2 * X[:, 0]) + 0.5 * rng.normal(size=300)
    seen = Observations.of(X, (y - y.mean()) / y.std())
    start = 1.0 * RBF(np.full(8, 8**0.5 * X.std()))
    search = Search(start, 0.1, True, np.full(10, -11.0), np.full(10, 11.0))
    learnt = learn_hyperparameters(seen, search, random_state=seed)
    truth = np.log([1.0, 1.0, *[100.0] * 7, (0.5 / y.std()) ** 2])
    assert learnt.value > search.evidence(seen, truth)[0]


def test_levels_end_as_high_as_all_points_alone(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(560, 3))
    y = np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] + 0.2 * rng.normal(size=560)
    seen = Observations.of(X, (y - y.mean()) / y.std())
    search = Search(1.0 * RBF(np.full(3, 2.0)), 0.1, True, np.full(5, -11.0), np.full(5, 11.0))
    learnt = learn_hyperparameters(seen, search, random_state=seed)
    at = Coordinates.of(search)

    def objective(u):
        theta = at.to_theta(u)
        value, gradient = search.evidence(seen, theta)
        return value, at.slope(theta) * gradient

    alone = maximise(objective, [at.from_theta(search.theta)], at.bounds, tol=1e-9)
    assert learnt.value >= alone.value - 1e-2
    assert learnt.value == pytest.approx(search.evidence(seen, learnt.theta)[0], rel=1e-12)
