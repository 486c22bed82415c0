"""The path: breakpoints, linearity, monotone slack and norm."""

import numpy as np
import pytest

from corollary.kernels import RBF
from corollary.svm import svm_pair, svm_path


def data(seed, n=24):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = np.where(X[:, 0] + rng.normal(size=n) > 0, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return RBF(1.0).gram(X) + 0.1 * X @ X.T, y


@pytest.mark.parametrize("seed", range(6))
def test_path_agrees_with_single_solutions(seed):
    K, y = data(seed)
    path = svm_path(K, y, 0.02, 50.0)
    assert len(path.Cs) > 10
    for C in np.geomspace(0.021, 49.0, 25):
        beta, intercept = path.at(C)
        alone = svm_pair(K, y, C=C, tol=1e-10)
        np.testing.assert_allclose(beta, alone.beta, atol=1e-5 * C)
        alpha = y * alone.beta
        if ((alpha > 1e-9 * C) & (alpha < C * (1 - 1e-9))).any():  # else it is not unique
            assert intercept == pytest.approx(alone.intercept, abs=1e-5)


def test_weights_are_linear_in_the_price_between_breakpoints():
    # Second differences on a grid, by single solutions, vanish except around breakpoints.
    K, y = data(0)
    path = svm_path(K, y, 0.05, 5.0)
    grid = np.linspace(0.05, 5.0, 400)
    betas = np.array([svm_pair(K, y, C=C, tol=1e-11).beta for C in grid])
    bend = np.abs(np.diff(betas, 2, axis=0)).max(axis=1) > 1e-7
    crossed = np.array(
        [((path.Cs > a - 1e-6) & (path.Cs < b + 1e-6)).any() for a, b in zip(grid, grid[2:])]
    )
    assert bend.any()
    assert not (bend & ~crossed).any()


def test_slack_falls_and_norm_rises_along_the_path():
    K, y = data(1)
    path = svm_path(K, y, 0.02, 50.0)
    norms = [beta @ K @ beta for beta in path.betas]
    slack = [
        np.maximum(0, 1 - y * (K @ beta + b)).sum() for beta, b in zip(path.betas, path.intercepts)
    ]
    assert (np.diff(norms) >= -1e-7).all()
    assert (np.diff(slack) <= 1e-6).all()


def test_two_points_have_one_breakpoint():
    x, y = np.array([[-0.5], [0.5]]), np.array([-1.0, 1.0])
    path = svm_path(x @ x.T, y, 0.1, 10.0)
    np.testing.assert_allclose(path.Cs, [0.1, 2.0, 10.0])
    np.testing.assert_allclose(path.betas[:, 1], [0.1, 2.0, 2.0])
    assert path.at(1.0)[1] == pytest.approx(0.0)  # by symmetry


def test_bad_input():
    K, y = data(0)
    with pytest.raises(ValueError, match="needs 0 < C_min < C_max < inf"):
        svm_path(K, y, 2.0, 1.0)
    with pytest.raises(ValueError, match="found max_points=3 breakpoints"):
        svm_path(K, y, 0.01, 10.0, max_points=3)
    with pytest.raises(ValueError, match="The path goes from"):
        svm_path(K, y, 0.1, 0.2).at(1.0)
