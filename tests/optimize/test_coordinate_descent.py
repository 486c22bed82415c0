"""Coordinate descent for the lasso, its gap, and sweeps over boxes."""

import numpy as np
import pytest
from scipy import sparse

from corollary.optimize import (
    CoordinateDescent,
    Quadratic,
    box_sweep,
    certify_elastic_net,
    coordinate_descent,
    dual_sweep,
    elastic_net_gap,
    iterate,
)


def rows(seed, n=30, d=8):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, X @ np.r_[3.0, -2.0, np.zeros(d - 2)] + rng.normal(size=n)


def objective(X, y, w, l1, l2=0.0):
    return 0.5 * np.sum((y - X @ w) ** 2) + l1 * np.abs(w).sum() + 0.5 * l2 * np.sum(w**2)


@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("l2", [0.0, 4.0])
def test_the_minimum_of_scikit_learn(l2, positive):
    from sklearn.linear_model import ElasticNet

    X, y = rows(0)
    alpha, l1 = (5.0 + l2) / 30, 5.0
    peer = ElasticNet(
        alpha,
        l1_ratio=l1 / (l1 + l2),
        fit_intercept=False,
        positive=positive,
        tol=1e-14,
        max_iter=10**5,
    ).fit(X, y)
    plain = iterate(CoordinateDescent(X, y, l1, l2, positive), np.zeros(8), max_iter=300).state.x
    for container in (np.asarray, sparse.csr_matrix, sparse.csc_array):
        solution = coordinate_descent(container(X), y, l1, l2, positive=positive, tol=1e-12)
        assert solution.status == "optimal"
        assert solution.x == pytest.approx(peer.coef_, abs=1e-5)
        assert solution.value == pytest.approx(objective(X, y, solution.x, l1, l2))
    assert plain == pytest.approx(peer.coef_, abs=1e-5)


def test_no_sweep_raises_the_objective_and_the_conditions_hold():
    X, y = rows(1)
    run = iterate(CoordinateDescent(X, y, 5.0), np.ones(8), max_iter=200)
    values = run.history.value
    assert np.all(np.diff(values) <= 1e-10)
    w = run.state.x
    assert values[-1] == pytest.approx(objective(X, y, w, 5.0))
    slope = X.T @ (y - X @ w)
    assert np.abs(slope).max() <= 5.0 + 1e-8
    assert slope[w != 0] == pytest.approx(5.0 * np.sign(w[w != 0]))
    assert run.state.residual == pytest.approx(y - X @ w)
    # One sweep by hand: the second coordinate sees the first one's new value.
    once = iterate(
        CoordinateDescent([[1.0, 1.0], [0.0, 1.0]], [4.0, 2.0], 1.0, 1.0), [0.0, 0.0], max_iter=1
    )
    assert once.state.x == pytest.approx([1.5, 3.5 / 3])  # (4-1)/2, then (6-1.5-1)/3
    assert once.history.step[0] == pytest.approx(np.hypot(1.5, 3.5 / 3))
    assert once.history.value[0] == pytest.approx(
        objective(
            np.array([[1.0, 1.0], [0.0, 1.0]]),
            np.array([4.0, 2.0]),
            np.array([1.5, 3.5 / 3]),
            1.0,
            1.0,
        )
    )


@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("l2", [0.0, 4.0])
def test_gaps_bound_what_is_missing(l2, positive):
    X, y = rows(2)
    best = coordinate_descent(X, y, 5.0, l2, positive=positive, tol=1e-13).value
    rng = np.random.default_rng(0)
    for scale in (0.0, 0.01, 1.0):
        w = np.maximum(rng.normal(size=8), 0) * scale
        certificate = certify_elastic_net(X, y, w, 5.0, l2, positive=positive)
        assert certificate.value == pytest.approx(objective(X, y, w, 5.0, l2))
        assert certificate.gap >= certificate.value - best - 1e-9
    start = certify_elastic_net(X, y, np.full(8, -1.0), 5.0, positive=True)
    assert start.violation == 1.0
    early = coordinate_descent(X, y, 5.0, l2, positive=positive, tol=1e-13, max_iter=1)
    assert early.status in ("out of steps", "optimal")


def test_gaps_by_hand():
    # X = 1, y = 2, l1 = 1: the best value is 3/2 at w = 1. At 0 the residual is scaled by 1/2.
    assert elastic_net_gap(4.0, 4.0, np.array([2.0]), np.zeros(1), 1.0) == 0.5
    # With l2 = 1 the minimum at 1/2 is 7/4. The unconstrained dual gives 2 - 1/2.
    assert elastic_net_gap(4.0, 4.0, np.array([2.0]), np.zeros(1), 1.0, 1.0) == 0.5
    at = elastic_net_gap(2.25, 3.0, np.array([1.5]), np.array([0.5]), 1.0, 1.0)
    assert at == pytest.approx(0.0, abs=1e-15)
    # At w = 1 the value is 2; the dual without constraints gives 2 - 1/2, the other one 1.
    assert elastic_net_gap(1.0, 2.0, np.array([1.0]), np.ones(1), 1.0, 1.0) == 0.5
    # Non-negative: a negative correlation binds nothing.
    assert elastic_net_gap(4.0, 4.0, np.array([-2.0]), np.zeros(1), 1.0, 0.0, True) == 0.0
    assert elastic_net_gap(4.0, 4.0, np.array([-2.0]), np.zeros(1), 1.0, 1.0, True) == 0.0
    assert elastic_net_gap(4.0, 4.0, np.zeros(0), np.zeros(0), 1.0) == 0.0
    assert elastic_net_gap(4.0, 4.0, np.array([2.0]), np.zeros(1), 0.0) == 2.0
    assert elastic_net_gap(4.0, -4.0, np.array([2.0]), np.zeros(1), 1.0) == 2.0
    certificate = certify_elastic_net([[1.0]], [2.0], [0.0], 1.0)
    assert certificate.residuals["conditions"] == 1.0
    certificate = certify_elastic_net([[1.0]], [2.0], [0.25], 1.0, 1.0)
    assert certificate.residuals["conditions"] == pytest.approx(0.5)  # 1.75 - 0.25 - 1
    assert certify_elastic_net([[1.0]], [-9.0], [0.0], 1.0, positive=True).residuals == {
        "conditions": 0.0
    }


def test_zero_columns_rows_and_targets():
    X, y = rows(3)
    X[:, 2], X[5] = 0.0, 0.0
    solution = coordinate_descent(X, y, 5.0)
    assert solution.status == "optimal"
    assert solution.x[2] == 0.0
    assert iterate(CoordinateDescent(X, y, 5.0), np.zeros(8), max_iter=5).state.x[2] == 0.0
    nothing = coordinate_descent(X, np.zeros(30), 5.0)
    assert (nothing.status, nothing.value) == ("optimal", 0.0)
    assert (nothing.x == 0).all()
    again = coordinate_descent(X, y, 5.0, start=solution.x)
    assert again.status == "optimal"
    assert again.x == pytest.approx(solution.x, abs=1e-3)
    # A value far below |y|^2 asks for more sweeps than a share of that norm does.
    X[:, 1:] += 3 * X[:, :1]
    small = coordinate_descent(X, 100 * X @ np.arange(8.0), 0.001, tol=1e-5)
    assert small.value < 1e-6 * np.sum((100 * X @ np.arange(8.0)) ** 2)
    assert (small.status, small.gap <= 1e-5 * max(1.0, small.value)) == ("optimal", True)
    positive = CoordinateDescent(X, y, 5.0, positive=True).init(-np.ones(8))
    assert (positive.x == 0).all()


@pytest.mark.parametrize(
    "solve",
    [
        coordinate_descent,
        CoordinateDescent,
        lambda X, y, *strengths: certify_elastic_net(X, y, np.zeros(1), *strengths),
    ],
)
def test_bad_input_is_refused(solve):
    for X, y in (([1.0], [1.0]), ([[1.0]], [1.0, 2.0]), (np.zeros((0, 1)), [])):
        with pytest.raises(ValueError, match="one target for each row"):
            solve(X, y, 1.0)
    for X, y in (([[np.nan]], [1.0]), ([[1.0]], [np.inf]), (sparse.csr_matrix([[np.inf]]), [1.0])):
        with pytest.raises(ValueError, match="finite numbers"):
            solve(X, y, 1.0)
    for strengths in ((-1.0,), (1.0, -1.0), (np.inf,), (1.0, np.nan)):
        with pytest.raises(ValueError, match="strengths in the range"):
            solve([[1.0]], [1.0], *strengths)


def test_starts_of_another_shape_are_refused():
    with pytest.raises(ValueError, match=r"start of shape \(1,\)"):
        coordinate_descent([[1.0]], [1.0], 1.0, start=[1.0, 2.0])
    with pytest.raises(ValueError, match=r"start of shape \(1,\)"):
        CoordinateDescent([[1.0]], [1.0], 1.0).init([1.0, 2.0])
    with pytest.raises(ValueError, match=r"w of shape \(1,\)"):
        certify_elastic_net([[1.0]], [1.0], [1.0, 2.0], 1.0)


def test_box_sweeps_reach_the_constrained_minimum():
    rng = np.random.default_rng(4)
    A = rng.normal(size=(6, 5))
    K, b = A.T @ A, rng.normal(size=5)
    a, u = np.zeros(5), np.zeros(5)
    while box_sweep(K, b, 0.1, np.full(5, -0.3), np.full(5, 0.3), a, u) > 1e-13:
        pass
    assert u == pytest.approx(K @ a)
    f = Quadratic(K, -b)
    least = f.value(a) + 0.1 * np.abs(a).sum()
    for _ in range(300):
        trial = np.clip(a + 0.1 * rng.normal(size=5), -0.3, 0.3)
        assert f.value(trial) + 0.1 * np.abs(trial).sum() >= least - 1e-12


def test_dual_sweeps_are_the_same_for_dense_and_sparse_rows():
    X, y = rows(5)
    labels = np.where(y > 0, 1.0, -1.0)
    n, squares = len(X), np.sum(X**2, axis=1)
    states = []
    for container in (np.ascontiguousarray, sparse.csr_matrix):
        # One visit of the row 2 by hand: the slope is -1, and 1 / 4 the minimum.
        one, state = np.ones(1), (np.zeros(1), np.zeros(1))
        row = container(np.array([[2.0]]))
        assert dual_sweep(row, one, one, np.arange(1), 4 * one, 0 * one, one, *state) == (-1, -1)
        assert (state[0], state[1]) == (0.25, 0.5)
        alpha, w = np.zeros(n), np.zeros(8)
        for _ in range(3000):
            largest, least = dual_sweep(
                container(X),
                labels,
                np.ones(n),
                np.arange(n),
                squares + 0.5,
                np.full(n, 0.5),
                np.ones(n),
                alpha,
                w,
            )
        states.append(alpha)
        assert max(largest, -least) < 1e-6
        assert w == pytest.approx(X.T @ (alpha * labels))
    assert states[0] == pytest.approx(states[1])
    # The conditions of the box.
    slope = labels * (X @ w) + 0.5 * states[0] - 1
    assert np.all(slope[states[0] == 0] >= -1e-6)
    assert np.all(slope[states[0] == 1] <= 1e-6)
    inside = (states[0] > 0) & (states[0] < 1)
    assert slope[inside] == pytest.approx(0, abs=1e-6)
