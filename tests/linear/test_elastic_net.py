"""Elastic net: closed forms, peers, and the duality gap as a certificate."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from corollary.linear import (
    ElasticNet,
    LinearRegression,
    elastic_net_dual_gap,
    elastic_net_kkt_violation,
    elastic_net_objective,
)


def problem(seed, n=40, p=60):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + rng.normal(size=p)
    return X, X[:, :3] @ [2.0, -1.0, 0.5] + 0.3 * rng.normal(size=n) + 1.0


def test_one_feature_has_a_closed_form():
    x, y = np.array([1.0, -1.0, 2.0, -2.0]), np.array([1.5, -1.0, 3.0, -3.5])
    alpha, share = 0.3, 0.4
    model = ElasticNet(alpha=alpha, l1_ratio=share, fit_intercept=False, tol=1e-15)
    model.fit(x[:, None], y)
    z, square = x @ y / 4, x @ x / 4
    assert model.coef_[0] == pytest.approx((z - alpha * share) / (square + alpha * (1 - share)))


def test_without_l1_it_is_ridge(seed):
    X, y = problem(seed, 50, 6)
    Z, alpha = X - X.mean(0), 0.7
    model = ElasticNet(alpha=alpha, l1_ratio=0.0, tol=1e-14, max_iter=10_000).fit(X, y)
    expected = np.linalg.solve(Z.T @ Z + 50 * alpha * np.eye(6), Z.T @ y)
    np.testing.assert_allclose(model.coef_, expected, atol=1e-6)


@pytest.mark.parametrize("l1_ratio", [0.05, 0.5, 0.95])
@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("shape", [(60, 20), (30, 500)])
def test_equals_scikit_learn(seed, l1_ratio, positive, shape):
    from sklearn.linear_model import ElasticNet as Peer

    X, y = problem(seed, *shape)
    options = {"alpha": 0.1, "l1_ratio": l1_ratio, "positive": positive}
    ours = ElasticNet(**options, tol=1e-13, max_iter=100_000).fit(X, y)
    peer = Peer(**options, tol=1e-13, max_iter=100_000).fit(X, y)
    np.testing.assert_allclose(ours.coef_, peer.coef_, atol=1e-5)
    again = ElasticNet(**options, tol=1e-13, max_iter=100_000).fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(again.coef_, peer.coef_, atol=1e-5)


@given(st.integers(0, 10**6), st.floats(0.01, 2.0), st.floats(0.0, 1.0), st.booleans())
def test_dual_gap_bounds_the_suboptimality(seed, alpha, share, positive):
    rng = np.random.default_rng(seed)
    X, y = problem(seed, 15, 4)
    at = {"alpha": alpha, "l1_ratio": share}
    model = ElasticNet(
        **at, positive=positive, fit_intercept=False, tol=1e-13, max_iter=100_000
    ).fit(X, y)
    best = elastic_net_objective(X, y, model.coef_, **at)
    for size in (0.0, 0.01, 1.0):
        coef = model.coef_ + size * rng.normal(size=4)
        if positive:
            coef = np.maximum(coef, 0.0)
        gap = elastic_net_dual_gap(X, y, coef, **at, positive=positive)
        assert gap >= elastic_net_objective(X, y, coef, **at) - best - 1e-9


def test_dual_gap_vanishes_at_the_solution_only(seed):
    X, y = problem(seed)
    at = {"alpha": 0.2, "l1_ratio": 0.6}
    model = ElasticNet(**at, fit_intercept=False, tol=1e-14, max_iter=100_000).fit(X, y)
    scale = y @ y / len(y)
    assert elastic_net_dual_gap(X, y, model.coef_, **at) <= 1e-13 * scale
    assert elastic_net_kkt_violation(X, y, model.coef_, **at).max() < 1e-5
    assert elastic_net_dual_gap(X, y, 1.01 * model.coef_, **at) > 1e-6 * scale
    assert elastic_net_kkt_violation(X, y, 1.01 * model.coef_, **at).max() > 1e-3


def test_kkt_violation_is_the_distance_to_the_subdifferential():
    """One row, x = (2, 3, 1), y = 5: the slopes at w = 0 are 10, 15 and 5."""
    X, y = [[2.0, 3.0, 1.0]], [5.0]
    at = {"alpha": 8.0, "l1_ratio": 0.75}  # l1 = 6, l2 = 2
    found = elastic_net_kkt_violation(X, y, [0.0, 0.0, 0.0], **at)
    np.testing.assert_allclose(found, [4.0, 9.0, 0.0])
    found = elastic_net_kkt_violation(X, y, [1.0, 0.0, -1.0], **at)  # residual 4
    np.testing.assert_allclose(found, [0.0, 6.0, abs(4.0 + 2.0 + 6.0)])
    found = elastic_net_kkt_violation(X, [-5.0], [0.0, 0.0, -1.0], **at, positive=True)
    np.testing.assert_allclose(found[:2], [0.0, 0.0])
    assert found[2] >= 1.0


@pytest.mark.parametrize("l1_ratio", [0.0, 0.3, 1.0])
def test_reported_gap_is_the_true_gap(seed, l1_ratio):
    X, y = problem(seed)
    at = {"alpha": 0.1, "l1_ratio": l1_ratio}
    rough = ElasticNet(**at, tol=1e-3).fit(X, y)
    exact = ElasticNet(**at, tol=1e-13, max_iter=100_000).fit(X, y)
    left = elastic_net_objective(
        X, y, rough.coef_, intercept=rough.intercept_, **at
    ) - elastic_net_objective(X, y, exact.coef_, intercept=exact.intercept_, **at)
    assert -1e-12 <= left <= rough.dual_gap_ <= 1e-3 * y.var()


def test_weighted_objective_counts_rows_by_weight(seed):
    X, y = problem(seed, 10, 3)
    k = np.arange(10) % 3
    coef = np.array([1.0, -0.5, 0.0])
    repeated = (np.repeat(X, k, 0), np.repeat(y, k))
    for function in (elastic_net_objective, elastic_net_dual_gap):
        assert function(X, y, coef, alpha=0.2, sample_weight=k) == pytest.approx(
            function(*repeated, coef, alpha=0.2)
        )
    np.testing.assert_allclose(
        elastic_net_kkt_violation(X, y, coef, alpha=0.2, sample_weight=k),
        elastic_net_kkt_violation(*repeated, coef, alpha=0.2),
    )


def test_correlated_columns_share_weight():
    rng = np.random.default_rng(0)
    x = rng.normal(size=100)
    X = np.column_stack([x, x])
    model = ElasticNet(alpha=0.1, l1_ratio=0.5, tol=1e-14, max_iter=10_000).fit(X, x)
    assert model.coef_[0] == pytest.approx(model.coef_[1], rel=1e-5)


def test_errors_name_the_function_and_the_range():
    with pytest.raises(ValueError, match="'l1_ratio' parameter of ElasticNet must be a float"):
        ElasticNet(l1_ratio=1.5).fit([[1.0]], [1.0])
    with pytest.raises(ValueError, match="'alpha' parameter of elastic_net_objective must be"):
        elastic_net_objective([[1.0]], [1.0], [1.0], alpha=-1.0)


@pytest.mark.parametrize("positive", [False, True])
def test_no_penalty_is_least_squares(positive, seed):
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(30, 4)), rng.normal(size=(30, 2))
    w = rng.exponential(size=30)
    expected = LinearRegression(positive=positive).fit(X, Y, sample_weight=w)
    for rows in (X, sparse.csc_matrix(X)):
        model = ElasticNet(0.0, positive=positive, selection="random", random_state=0)
        model.fit(rows, Y, w, check_input=False)
        np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-9)
        np.testing.assert_allclose(model.intercept_, expected.intercept_, atol=1e-9)
        assert model.dual_gap_.tolist() == [0.0, 0.0]
