"""Bridge regression: closed forms at q = 1 and 2, grids elsewhere."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.exceptions import ConvergenceWarning

from corollary.linear import (
    BridgeRegression,
    Lasso,
    bridge_threshold,
    largest_modulus_penalty,
    lq_ball_boundary,
    lq_penalty,
    project_l1_ball,
)

POWERS = [0.3, 0.7, 1.0, 1.3, 2.0, 3.5, np.inf]


def problem(seed, n=40, p=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + 1.0
    return X, X @ rng.normal(size=p) + 0.5 * rng.normal(size=n) + 3.0


def objective(X, y, w, penalty, q):
    """Sum of squares with the best intercept, plus the penalty; written without the library."""
    r = y - X @ w
    r = r - r.mean()
    size = np.abs(w)
    return r @ r + penalty * (size.max() if np.isinf(q) else (size**q).sum())


@pytest.mark.parametrize("q", [q for q in POWERS if np.isfinite(q)])
@pytest.mark.parametrize("z", [-2.0, -0.3, 0.0, 0.8, 1.7, 5.0])
def test_scalar_problem_against_a_grid(q, z):
    grid = np.linspace(-6, 6, 600_001)
    values = (grid - z) ** 2 + 1.5 * np.abs(grid) ** q
    u = bridge_threshold(z, 1.5, q)
    assert (u - z) ** 2 + 1.5 * abs(u) ** q <= values.min() + 1e-9
    assert u == pytest.approx(grid[np.argmin(values)], abs=1e-3)


@pytest.mark.parametrize("q", [0.2, 0.5, 0.8])
def test_concave_penalties_jump_where_zero_stops_being_best(q):
    """Near the jump both zero and a positive local minimum exist; the lower one must win."""
    grid = np.linspace(0, 4, 40_001)
    answers = []
    for z in np.linspace(0.5, 3.0, 101):
        values = (grid - z) ** 2 + 1.5 * grid**q
        u = bridge_threshold(z, 1.5, q)
        assert (u - z) ** 2 + 1.5 * u**q <= values.min() + 1e-9
        answers.append(u)
    answers = np.array(answers)
    assert answers[0] == 0.0
    assert answers[answers > 0].min() > 0.2  # a jump, not a slope


@pytest.mark.parametrize("q", POWERS)
@pytest.mark.parametrize("penalty", [0.5, 20.0])
def test_two_features_against_a_grid(seed, q, penalty):
    X, y = problem(seed)
    model = BridgeRegression(alpha=penalty, q=q, random_state=0).fit(X, y)
    Z, t = X - X.mean(0), y - y.mean()
    a, b = np.meshgrid(np.linspace(-4, 4, 801), np.linspace(-4, 4, 801), indexing="ij")
    G, g = Z.T @ Z, Z.T @ t
    loss = t @ t - 2 * (g[0] * a + g[1] * b) + G[0, 0] * a**2 + 2 * G[0, 1] * a * b + G[1, 1] * b**2
    sizes = np.maximum(abs(a), abs(b)) if np.isinf(q) else abs(a) ** q + abs(b) ** q
    best = (loss + penalty * sizes).min()
    assert model.objective_ <= best + 1e-9
    assert model.objective_ == pytest.approx(objective(X, y, model.coef_, penalty, q))
    assert model.intercept_ == pytest.approx(np.mean(y - X @ model.coef_))


def test_q_two_is_ridge_in_closed_form(seed):
    X, y = problem(seed, p=5)
    Z = X - X.mean(0)
    expected = np.linalg.solve(Z.T @ Z + 3.0 * np.eye(5), Z.T @ y)
    for q in (2.0, 2.0 + 1e-9):  # the closed form, and descent next to it
        coef = BridgeRegression(alpha=3.0, q=q, tol=1e-12).fit(X, y).coef_
        np.testing.assert_allclose(coef, expected, rtol=1e-6)


def test_q_one_is_the_lasso(seed):
    X, y = problem(seed, p=8)
    lam = 30.0
    expected = Lasso(alpha=lam / (2 * len(y)), tol=1e-14, max_iter=10_000).fit(X, y).coef_
    np.testing.assert_allclose(
        BridgeRegression(alpha=lam, q=1).fit(X, y).coef_, expected, atol=1e-6
    )
    near = BridgeRegression(alpha=lam, q=1 + 1e-7, tol=1e-12, max_iter=100_000).fit(X, y).coef_
    np.testing.assert_allclose(near, expected, atol=1e-3)


def test_orthonormal_columns_separate(seed):
    Q = np.linalg.qr(np.random.default_rng(seed).normal(size=(20, 4)))[0]
    y = Q @ [3.0, -1.0, 0.2, 0.9]
    for q in (0.5, 1.5, 3.0):
        model = BridgeRegression(alpha=0.8, q=q, fit_intercept=False).fit(Q, y)
        expected = [bridge_threshold(z, 0.8, q) for z in Q.T @ y]
        np.testing.assert_allclose(model.coef_, expected, atol=1e-6)


def test_largest_modulus_against_a_general_solver(seed):
    from scipy.optimize import minimize

    X, y = problem(seed, p=4)
    Z, t = X - X.mean(0), y - y.mean()
    penalty = 25.0
    # Smooth with one more variable: minimise loss + penalty u subject to |w_j| <= u.
    constraints = [{"type": "ineq", "fun": lambda v, s=s: v[4] - s * v[:4]} for s in (1.0, -1.0)]
    peer = minimize(
        lambda v: np.sum((t - Z @ v[:4]) ** 2) + penalty * v[4],
        np.r_[np.zeros(4), 1.0],
        constraints=constraints,
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    coef, n_iter, converged = largest_modulus_penalty(Z.T @ Z, Z.T @ t, t @ t, penalty)
    assert converged
    assert n_iter < 10_000
    assert objective(X, y, coef, penalty, np.inf) <= peer.fun + 1e-6
    np.testing.assert_allclose(coef, peer.x[:4], atol=1e-4)


def test_multistart_beats_descent_from_zero():
    """From zero, descent for small q stays in the first minimum it meets."""
    rng = np.random.default_rng(8)
    worse = 0
    for _ in range(20):
        X = rng.normal(size=(12, 4)) @ rng.normal(size=(4, 4))
        y = X @ rng.normal(size=4) + 0.1 * rng.normal(size=12)
        one = BridgeRegression(alpha=2.0, q=0.4, n_starts=1, random_state=0).fit(X, y)
        many = BridgeRegression(alpha=2.0, q=0.4, n_starts=12, random_state=0).fit(X, y)
        assert many.objective_ <= one.objective_ + 1e-9
        worse += one.objective_ > many.objective_ + 1e-6
    assert worse > 0


def test_small_powers_find_the_best_of_all_supports(seed):
    """As q falls the penalty counts features: compare with every support."""
    from itertools import chain, combinations

    X, y = problem(seed, n=30, p=5)
    y = X[:, 0] * 3 - X[:, 3] * 2 + 0.1 * np.random.default_rng(seed).normal(size=30)
    Z, t = X - X.mean(0), y - y.mean()
    best = min(
        np.sum((t - Z[:, s] @ np.linalg.lstsq(Z[:, s], t, rcond=None)[0]) ** 2) + 1.0 * len(s)
        for s in chain.from_iterable(combinations(range(5), k) for k in range(6))
    )
    model = BridgeRegression(alpha=1.0, q=0.01, n_starts=20, random_state=0).fit(X, y)
    assert set(np.flatnonzero(model.coef_)) == {0, 3}
    assert model.objective_ == pytest.approx(best, rel=0.02)


def test_posterior_mode_of_the_power_prior():
    rng = np.random.default_rng(1)
    x, sigma, lam, q = rng.normal(size=15), 0.7, 3.0, 1.4
    y = 0.8 * x + sigma * rng.normal(size=15)
    grid = np.linspace(-2, 2, 400_001)
    posterior = -lam * np.abs(grid) ** q / (2 * sigma**2)
    for xi, yi in zip(x, y):
        posterior = posterior + norm.logpdf(yi, loc=grid * xi, scale=sigma)
    model = BridgeRegression(alpha=lam, q=q, fit_intercept=False).fit(x[:, None], y)
    assert model.coef_[0] == pytest.approx(grid[np.argmax(posterior)], abs=2e-5)


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=6), st.floats(0.0, 4.0))
def test_projection_on_the_l1_ball(z, radius):
    z = np.array(z)
    u = project_l1_ball(z, radius)
    assert np.abs(u).sum() <= radius + 1e-9
    np.testing.assert_allclose(project_l1_ball(u, radius), u, atol=1e-9)
    # nearest: the angle to every vertex of the ball is obtuse
    for vertex in np.vstack([np.eye(len(z)), -np.eye(len(z))]) * radius:
        assert (z - u) @ (vertex - u) <= 1e-8


@pytest.mark.parametrize("q", POWERS)
def test_contours_lie_on_the_unit_sphere(q):
    points = lq_ball_boundary(q, n_points=40)
    assert points.shape == (41, 2)
    np.testing.assert_allclose([lq_penalty(point, q) for point in points], 1.0, rtol=1e-9)
    np.testing.assert_allclose(points[0], [1.0, 0.0], atol=1e-12)


@pytest.mark.parametrize("q", [0.5, 1.0, 1.5, 2.0, np.inf])
def test_weight_k_is_the_row_k_times(seed, q):
    X, y = problem(seed, n=20, p=3)
    k = np.arange(20) % 3
    weighted = BridgeRegression(alpha=2.0, q=q, random_state=0).fit(X, y, sample_weight=k)
    repeated = BridgeRegression(alpha=2.0, q=q, random_state=0).fit(np.repeat(X, k, 0), y.repeat(k))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-5)
    assert weighted.objective_ == pytest.approx(repeated.objective_)


def test_too_few_iterations_are_reported(seed):
    X, y = problem(seed, p=6)
    with pytest.warns(ConvergenceWarning, match="within max_iter=2 iterations"):
        BridgeRegression(q=1.2, max_iter=2).fit(X, y)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: BridgeRegression(q=0).fit([[1.0]], [1.0]), "'q' parameter of BridgeRegression"),
        (lambda: bridge_threshold(1.0, 1.0, -1.0), "'q' parameter of bridge_threshold must be"),
        (lambda: project_l1_ball([1.0], -1.0), "'radius' parameter of project_l1_ball must be"),
    ],
)
def test_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()
