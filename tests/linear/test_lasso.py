"""Lasso: closed forms, optimality, peers, laws, and what the user is told."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.stats import laplace, norm
from sklearn.exceptions import ConvergenceWarning

from corollary.linear import (
    Lasso,
    LinearRegression,
    laplace_map_alpha,
    lasso_alpha_max,
    lasso_dual_gap,
    lasso_kkt_violation,
    lasso_objective,
    soft_threshold,
)


def problem(seed, n=40, p=60, noise=0.5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + rng.normal(size=p)
    w = np.zeros(p)
    w[:5] = (rng.normal(size=5) * 3)[:p]
    return X, X @ w + noise * rng.normal(size=n) + 2.0


def test_soft_threshold_minimises_its_objective_on_a_grid():
    grid = np.linspace(-5, 5, 200_001)
    for z in (-2.3, -0.4, 0.0, 0.4, 3.1):
        best = grid[np.argmin(0.5 * (grid - z) ** 2 + 0.7 * np.abs(grid))]
        assert soft_threshold(z, 0.7) == pytest.approx(best, abs=1e-4)


def test_orthonormal_design_is_the_soft_threshold_of_least_squares(seed):
    rng = np.random.default_rng(seed)
    n, p = 30, 8
    Q = np.linalg.qr(rng.normal(size=(n, p)))[0]
    y = rng.normal(size=n) * 3
    lam = 1.1  # of |y - Xw|^2 + lam |w|_1
    model = Lasso(alpha=lam / (2 * n), fit_intercept=False, tol=1e-15).fit(Q, y)
    expected = np.sign(Q.T @ y) * np.maximum(np.abs(Q.T @ y) - lam / 2, 0)
    np.testing.assert_allclose(model.coef_, expected, atol=1e-12)


@pytest.mark.parametrize("shape", [(40, 10), (40, 600), (12, 300)])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_conditions_of_optimality(seed, shape, fit_intercept):
    X, y = problem(seed, *shape)
    n = len(y)
    alpha = 0.05 * lasso_alpha_max(X, y, fit_intercept=fit_intercept)
    model = Lasso(alpha=alpha, fit_intercept=fit_intercept, tol=1e-13, max_iter=50_000).fit(X, y)
    residual = y - X @ model.coef_ - model.intercept_
    correlation = X.T @ residual / n
    support = model.coef_ != 0
    assert 0 < support.sum() <= min(n, shape[1])
    scale = np.abs(X).max() * np.abs(y).max()
    assert np.all(np.abs(correlation) <= alpha + 1e-6 * scale)
    np.testing.assert_allclose(
        correlation[support], alpha * np.sign(model.coef_[support]), atol=1e-6 * scale
    )
    if fit_intercept:
        assert residual.mean() == pytest.approx(0.0, abs=1e-10)
    violation = lasso_kkt_violation(X, y, model.coef_, alpha=alpha, intercept=model.intercept_)
    assert violation.max() <= 1e-6 * scale


def test_kkt_violation_sees_a_wrong_coefficient(seed):
    X, y = problem(seed)
    model = Lasso(alpha=0.3, tol=1e-12, max_iter=10_000).fit(X, y)
    wrong = model.coef_.copy()
    wrong[np.flatnonzero(wrong)[0]] *= 0.9
    wrong_violation = lasso_kkt_violation(X, y, wrong, alpha=0.3, intercept=model.intercept_)
    assert wrong_violation.max() > 1e-2


@pytest.mark.parametrize("layout", ["dense", "sparse"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("positive", [False, True])
def test_equals_scikit_learn(seed, layout, weighted, positive):
    from sklearn.linear_model import Lasso as Peer

    rng = np.random.default_rng(seed)
    X, y = problem(seed, 50, 400)
    X[rng.random(X.shape) < 0.7] = 0.0
    weight = rng.random(50) if weighted else None
    ours = Lasso(alpha=0.2, positive=positive, tol=1e-13, max_iter=100_000)
    ours.fit(sparse.csr_matrix(X) if layout == "sparse" else X, y, sample_weight=weight)
    peer = Peer(alpha=0.2, positive=positive, tol=1e-13, max_iter=100_000)
    peer.fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(ours.coef_, peer.coef_, atol=2e-5)
    assert ours.intercept_ == pytest.approx(peer.intercept_, abs=2e-5)
    assert ours.predict(X[:3]) == pytest.approx(peer.predict(X[:3]), abs=1e-4)


@pytest.mark.parametrize("alpha", [0.01, 0.3, 3.0])
def test_reported_gap_is_the_true_gap(seed, alpha):
    """What was left to gain, found by a far more exact solve, is within the reported gap."""
    X, y = problem(seed)
    rough = Lasso(alpha=alpha, tol=1e-3).fit(X, y)
    exact = Lasso(alpha=alpha, tol=1e-14, max_iter=100_000).fit(X, y)
    at = {"alpha": alpha}
    left = lasso_objective(X, y, rough.coef_, intercept=rough.intercept_, **at) - lasso_objective(
        X, y, exact.coef_, intercept=exact.intercept_, **at
    )
    assert -1e-12 <= left <= rough.dual_gap_ <= 1e-3 * y.var()
    given = lasso_dual_gap(X - X.mean(0), y - y.mean(), rough.coef_, **at)
    assert rough.dual_gap_ == pytest.approx(given, rel=1e-6, abs=1e-12)


def test_zero_exactly_from_lambda_max_on(seed):
    X, y = problem(seed)
    top = np.abs((X - X.mean(0)).T @ (y - y.mean())).max() / len(y)
    assert lasso_alpha_max(X, y) == pytest.approx(top)
    assert not Lasso(alpha=top * (1 + 1e-9)).fit(X, y).coef_.any()
    assert np.count_nonzero(Lasso(alpha=top * 0.999, tol=1e-12).fit(X, y).coef_) == 1
    # of |y - Xw|^2 + lam |w|_1 it is 2 |X'y|_inf
    Z = X - X.mean(0)
    lam = 2 * np.abs(Z.T @ y).max()
    assert lam / (2 * len(y)) == pytest.approx(lasso_alpha_max(Z, y, fit_intercept=False))


def test_laplace_prior_gives_lambda_two_variances_over_scale():
    """The posterior density on a grid peaks where the lasso says."""
    rng = np.random.default_rng(3)
    sigma, tau, n = 0.8, 0.05, 12
    x = rng.normal(size=n)
    y = 0.6 * x + sigma * rng.normal(size=n)
    grid = np.linspace(-2, 2, 400_001)
    log_posterior = laplace.logpdf(grid, scale=tau)
    for xi, yi in zip(x, y):
        log_posterior = log_posterior + norm.logpdf(yi, loc=grid * xi, scale=sigma)
    alpha = laplace_map_alpha(sigma**2, tau, n)
    assert alpha == pytest.approx((2 * sigma**2 / tau) / (2 * n))
    model = Lasso(alpha=alpha, fit_intercept=False, tol=1e-14).fit(x[:, None], y)
    assert model.coef_[0] == pytest.approx(grid[np.argmax(log_posterior)], abs=1e-4)


@given(st.integers(0, 10**6), st.floats(0.1, 10.0))
def test_scaling_and_permutation(seed, scale):
    X, y = problem(seed, 25, 12)
    rng = np.random.default_rng(seed)
    model = Lasso(alpha=0.2, tol=1e-12, max_iter=20_000).fit(X, y)
    scaled = Lasso(alpha=0.2 * scale, tol=1e-12, max_iter=20_000).fit(X, scale * y)
    np.testing.assert_allclose(scaled.coef_, scale * model.coef_, atol=1e-4 * scale)
    rows, columns = rng.permutation(25), rng.permutation(12)
    moved = Lasso(alpha=0.2, tol=1e-12, max_iter=20_000).fit(X[np.ix_(rows, columns)], y[rows])
    np.testing.assert_allclose(moved.coef_, model.coef_[columns], atol=1e-4)


@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_weight_k_is_the_row_k_times(seed, layout):
    X, y = problem(seed, 20, 300)
    k = np.random.default_rng(seed).integers(0, 4, size=20)
    container = sparse.csc_matrix if layout == "sparse" else np.asarray
    weighted = Lasso(alpha=0.3, tol=1e-13, max_iter=50_000).fit(container(X), y, sample_weight=k)
    repeated = Lasso(alpha=0.3, tol=1e-13, max_iter=50_000).fit(np.repeat(X, k, 0), np.repeat(y, k))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-5)
    assert weighted.intercept_ == pytest.approx(repeated.intercept_, abs=1e-4)


def test_several_targets_are_fitted_one_by_one(seed):
    X, y = problem(seed)
    Y = np.column_stack([y, -2 * y + 1, np.ones(len(y))])
    model = Lasso(alpha=0.3).fit(X, Y)
    assert model.coef_.shape == (3, X.shape[1])
    assert model.predict(X[:4]).shape == (4, 3)
    np.testing.assert_allclose(model.coef_[0], Lasso(alpha=0.3).fit(X, y).coef_, rtol=1e-9)
    assert not model.coef_[2].any()
    assert model.intercept_[2] == pytest.approx(1.0)
    assert model.sparse_coef_.shape == (3, X.shape[1])


def test_constant_columns_get_no_weight(seed):
    X, y = problem(seed, 30, 5)
    X[:, 2] = 1e8 / 3.0
    for container in (np.asarray, sparse.csc_matrix):
        model = Lasso(alpha=1e-6, max_iter=20_000).fit(container(X), y)
        assert model.coef_[2] == 0.0
        assert np.isfinite(model.coef_).all()


def test_warm_start_needs_fewer_epochs(seed):
    X, y = problem(seed, 40, 300)
    model = Lasso(alpha=0.05, tol=1e-9, max_iter=50_000, warm_start=True).fit(X, y)
    first = model.n_iter_
    cold = model.coef_.copy()
    model.fit(X, y)
    assert model.n_iter_ < first
    np.testing.assert_allclose(model.coef_, cold, atol=1e-3)


def test_same_bits_for_any_number_of_blas_threads(seed):
    from threadpoolctl import threadpool_limits

    X, y = problem(seed, 300, 900)
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads, user_api="blas"):
            found.append(Lasso(alpha=0.01, tol=1e-8, max_iter=5000).fit(X, y).coef_)
    np.testing.assert_array_equal(*found)


def test_feature_names_are_kept(seed):
    import pandas as pd

    X, y = problem(seed, 30, 3)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = Lasso(alpha=0.1).fit(frame, y)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame[["b", "a", "c"]])


def test_saved_and_loaded_it_predicts_the_same(seed, tmp_path):
    import corollary

    X, y = problem(seed, 30, 3)
    model = Lasso(alpha=0.1).fit(X, y)
    corollary.save(model, tmp_path / "lasso.corollary")
    again = corollary.load(tmp_path / "lasso.corollary")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_too_few_epochs_are_reported(seed):
    X, y = problem(seed, 40, 300)
    with pytest.warns(ConvergenceWarning, match=r"stopped after 5 epochs .* Raise max_iter"):
        Lasso(alpha=0.001, max_iter=5, tol=1e-10).fit(X, y)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: Lasso(alpha=-1.0).fit([[1.0]], [1.0]),
            "'alpha' parameter of Lasso must be a float",
        ),
        (
            lambda: Lasso().fit([[1.0], [2.0]], [1.0, 2.0], sample_weight=[0.0, 0.0]),
            "at least one non-zero number",
        ),
        (
            lambda: lasso_dual_gap([[1.0]], [1.0], [1.0, 2.0], alpha=1.0),
            "coef must have one entry per column of X, 1. Got 2",
        ),
        (
            lambda: laplace_map_alpha(0.0, 1.0, 3),
            "'noise_variance' parameter of laplace_map_alpha must be a float",
        ),
        (lambda: soft_threshold([1.0], -1.0), "'threshold' parameter of soft_threshold must"),
    ],
)
def test_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_features_of_enormous_scale():
    # The penalty is nothing beside them; steps of size 1e-150 have squares that vanish.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(24, 3))
    y = X[:, 0] + 0.1 * rng.normal(size=24)
    with warnings.catch_warnings():
        # The duality gap cannot be small: the penalty is lost in the rounding of X'r.
        warnings.simplefilter("ignore", ConvergenceWarning)
        large = Lasso(alpha=0.1, tol=1e-13).fit(X * 1e150, y)
    plain = LinearRegression().fit(X, y)
    np.testing.assert_allclose(large.coef_ * 1e150, plain.coef_, rtol=1e-9)
