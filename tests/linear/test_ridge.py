"""Ridge regression: its forms agree with each other, the definition and the peer."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import approx_fprime
from sklearn import linear_model as peer
from sklearn.exceptions import ConvergenceWarning

import corollary
from corollary.linear import (
    Ridge,
    RidgeCV,
    least_squares,
    ridge_dual,
    ridge_gradient,
    ridge_objective,
    ridge_operator,
    ridge_path,
    ridge_solution,
)


@pytest.fixture
def data(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 4)) + [0.0, 2.0, -1.0, 0.0]
    return X, X @ [1.0, -1.0, 0.0, 2.0] + 3.0 + rng.normal(size=60)


# -- the formulas ------------------------------------------------------------------------------


@pytest.mark.parametrize("penalty", ["sum", "mean"])
def test_gradient_is_the_derivative_of_the_objective(data, penalty, seed):
    X, y = data
    coef = np.random.default_rng(seed).normal(size=4)
    numeric = approx_fprime(coef, lambda b: ridge_objective(X, y, b, 0.7, penalty=penalty), 1e-6)
    exact = ridge_gradient(X, y, coef, 0.7, penalty=penalty)
    np.testing.assert_allclose(exact, numeric, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("penalty", ["sum", "mean"])
@pytest.mark.parametrize("n", [60, 3])
def test_gradient_is_zero_at_the_solution(data, penalty, n):
    X, y = data[0][:n], data[1][:n]
    coef = ridge_solution(X, y, 0.7, penalty=penalty)
    np.testing.assert_allclose(ridge_gradient(X, y, coef, 0.7, penalty=penalty), 0, atol=1e-10)
    np.testing.assert_allclose(
        coef, X.T @ (y - X @ coef) / (0.7 if penalty == "sum" else 0.7 * n), atol=1e-10
    )


def test_objective_is_a_sum_not_a_mean():
    X, y, b = np.array([[1.0], [2.0]]), np.array([3.0, 5.0]), np.array([1.0])
    assert ridge_objective(X, y, b, 2.0) == (2**2 + 3**2) + 2.0
    assert ridge_objective(X, y, b, 2.0, penalty="mean") == 13 / 4 + 1.0


def test_solution_equals_augmented_least_squares(data):
    X, y = data
    augmented = np.vstack([X, np.sqrt(2.5) * np.eye(4)])
    expected = np.linalg.lstsq(augmented, np.append(y, np.zeros(4)), rcond=None)[0]
    np.testing.assert_allclose(ridge_solution(X, y, 2.5), expected, rtol=1e-10)


def test_mean_penalty_is_n_times_the_sum_penalty(data):
    X, y = data
    expected = peer.Ridge(alpha=60 * 0.3, fit_intercept=False).fit(X, y).coef_
    np.testing.assert_allclose(ridge_solution(X, y, 0.3, penalty="mean"), expected, rtol=1e-9)


@pytest.mark.parametrize("shape", [(30, 5), (5, 30), (7, 7)])
@pytest.mark.parametrize("alpha", [1e-3, 1.0, 1e3])
def test_primal_equals_dual(shape, alpha, seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=shape), rng.normal(size=shape[0])
    dual = ridge_dual(X, y, alpha)
    primal = np.linalg.solve(X.T @ X + alpha * np.eye(shape[1]), X.T @ y)
    np.testing.assert_allclose(dual.coef, primal, rtol=1e-7, atol=1e-10)
    np.testing.assert_allclose(dual.coef, ridge_solution(X, y, alpha), rtol=1e-7, atol=1e-10)
    np.testing.assert_allclose(dual.dual_coef, (y - X @ dual.coef) / alpha, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("shape", [(6, 3), (3, 6)])
def test_push_through_and_its_limit(shape, seed):
    X = np.random.default_rng(seed).normal(size=shape)
    for alpha in (1e-4, 1.0, 100.0):
        primal = ridge_operator(X, alpha)
        dual = ridge_operator(X, alpha, form="dual")
        np.testing.assert_allclose(primal, dual, atol=1e-9)
        inverse = np.linalg.inv(X.T @ X + alpha * np.eye(shape[1])) @ X.T
        np.testing.assert_allclose(primal, inverse, atol=1e-8)
    pinv = np.linalg.pinv(X)
    np.testing.assert_allclose(ridge_operator(X, 0.0), pinv, atol=1e-12)
    gaps = [np.abs(ridge_operator(X, a, form="dual") - pinv).max() for a in (1e-2, 1e-4, 1e-6)]
    assert gaps[0] > 50 * gaps[1] > 2500 * gaps[2]


def test_ridge_on_features_is_kernel_ridge(seed):
    from sklearn.kernel_ridge import KernelRidge

    rng = np.random.default_rng(seed)
    features, y = rng.normal(size=(20, 35)), rng.normal(size=20)
    new = rng.normal(size=(5, 35))
    kernel = KernelRidge(alpha=0.8, kernel="linear").fit(features, y)
    np.testing.assert_allclose(new @ ridge_solution(features, y, 0.8), kernel.predict(new))


@given(st.integers(0, 10_000), st.sampled_from([0.01, 0.5, 2.0, 50.0]))
def test_norm_is_bounded_by_the_penalty(example, penalty):
    rng = np.random.default_rng(example)
    n, d = rng.integers(1, 12), rng.integers(1, 6)
    X = rng.normal(size=(n, d))
    X /= np.maximum(1.0, np.linalg.norm(X, axis=1))[:, None]
    y = rng.uniform(-1, 1, n)
    norm = np.linalg.norm(ridge_solution(X, y, penalty, penalty="mean"))
    assert norm <= min(1 / penalty, 1 / np.sqrt(penalty)) + 1e-12


def test_invalid_arguments():
    with pytest.raises(ValueError, match=r"'alpha' parameter of ridge_solution .* Got 0 instead"):
        ridge_solution([[1.0]], [1.0], 0)
    with pytest.raises(ValueError, match="'penalty' parameter of ridge_objective"):
        ridge_objective([[1.0]], [1.0], [1.0], 1.0, penalty="median")
    with pytest.raises(ValueError, match="'form' parameter of ridge_operator"):
        ridge_operator([[1.0]], 1.0, form="both")


# -- the estimator -----------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["auto", "cholesky", "svd", "lsqr"])
@pytest.mark.parametrize("n", [60, 3])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("sparse_input", [True, False])
def test_equals_the_peer(data, solver, n, fit_intercept, sparse_input, seed):
    X, y = data[0][:n], np.column_stack([data[1][:n], data[0][:n, 0]])
    w = np.random.default_rng(seed).exponential(size=n)
    given = sparse.csr_matrix(X) if sparse_input else X
    options = {"alpha": 0.6, "fit_intercept": fit_intercept}
    ours = Ridge(solver=solver, tol=1e-12, **options).fit(given, y, sample_weight=w)
    theirs = peer.Ridge(solver="svd", **options).fit(X, y, sample_weight=w)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-6, atol=1e-8)
    used = {"svd": "svd", "lsqr": "lsqr"}.get(solver, "cholesky" if n == 60 else "dual")
    assert ours.solver_ == used


def test_no_penalty_is_least_squares_and_a_huge_one_is_the_mean(data):
    X, y = data
    np.testing.assert_allclose(Ridge(alpha=0).fit(X, y).coef_, least_squares(X, y).coef)
    flat = Ridge(alpha=1e12).fit(X, y)
    np.testing.assert_allclose(flat.coef_, 0, atol=1e-8)
    np.testing.assert_allclose(flat.predict(X), y.mean(), atol=1e-6)


@pytest.mark.parametrize("n", [200, 10])
def test_tiny_penalties_on_collinear_columns(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)) @ rng.normal(size=(2, 20))
    y = rng.normal(size=n)
    U, s, Vt = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    kept = s > 1e-10 * s[0]
    for alpha in (1e-14, 1e-8, 1e-2):
        factors = s[kept] / (s[kept] ** 2 + alpha)
        expected = Vt[kept].T @ (factors * (U[:, kept].T @ (y - y.mean())))
        np.testing.assert_allclose(Ridge(alpha=alpha).fit(X, y).coef_, expected, atol=1e-5)


def test_refinement_minds_the_penalty(seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=300)
    X = np.column_stack([x, x + 1e-3 * rng.normal(size=300), rng.normal(size=300)])
    y = rng.normal(size=300)
    U, s, Vt = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    expected = Vt.T @ (s / (s**2 + 1e-4) * (U.T @ (y - y.mean())))
    model = Ridge(alpha=1e-4).fit(X, y)
    assert model.solver_ == "cholesky"
    np.testing.assert_allclose(model.coef_, expected, rtol=1e-10)


def test_large_sparse_input_is_never_made_dense(seed, monkeypatch):
    monkeypatch.setattr("corollary.linear.squares._wide.LARGE_SIDE", 100)
    X = sparse.random(400, 300, density=0.02, format="csr", random_state=seed)
    monkeypatch.setattr(sparse.csr_matrix, "toarray", None)
    rng = np.random.default_rng(seed)
    y = X @ rng.normal(size=300) + 1.0 + 0.1 * rng.normal(size=400)
    model = Ridge(alpha=1.0, tol=1e-10).fit(X, y)
    assert model.solver_ == "lsqr"
    assert model.n_iter_ > 1
    # Optimality, computed without the solver: gradient in coefficients and in the intercept.
    residual = y - model.predict(X)
    np.testing.assert_allclose(X.T @ residual, model.coef_, atol=1e-6)
    assert abs(residual.sum()) < 1e-6


def test_iterations_that_do_not_suffice_warn(data):
    with pytest.warns(ConvergenceWarning, match=r"LSQR stopped after 1 iterations .* max_iter"):
        Ridge(alpha=0.1, solver="lsqr", max_iter=1).fit(*data)


def test_fit_source_equals_fit(data):
    X, y = data
    found = Ridge(alpha=3.0).fit_source([(X[:7], y[:7]), (X[7:], y[7:])])
    np.testing.assert_array_equal(found.coef_, Ridge(alpha=3.0).fit(X, y).coef_)


@pytest.mark.parametrize("targets", [1, 2])
@pytest.mark.parametrize("model", [Ridge(), RidgeCV()])
def test_model_files_keep_the_model(data, targets, model, tmp_path):
    X, y = data
    model.fit(X, y if targets == 1 else np.column_stack([y, -y]))
    corollary.save(model, tmp_path / "model")
    again = corollary.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert again.fingerprint_.overlap(X).seen == len(X)


# -- path and choice of the penalty ------------------------------------------------------------


@pytest.mark.parametrize("n", [60, 3])
@pytest.mark.parametrize("weighted", [True, False])
def test_path_is_a_fit_for_every_penalty(data, n, weighted, seed):
    X, y = data[0][:n], data[1][:n]
    w = np.random.default_rng(seed).integers(1, 3, n).astype(float) if weighted else None
    alphas = np.geomspace(1e-3, 1e3, 7)
    path = ridge_path(X, y, alphas, sample_weight=w)
    for k, alpha in enumerate(alphas):
        model = Ridge(alpha=alpha).fit(X, y, sample_weight=w)
        np.testing.assert_allclose(path.coefs[:, k], model.coef_, rtol=1e-7, atol=1e-10)
        np.testing.assert_allclose(path.intercepts[k], model.intercept_, rtol=1e-7)
    assert np.all(np.diff(path.dof) < 0)


def test_path_never_reaches_zero_but_may_cross_it():
    rng = np.random.default_rng(0)
    z = rng.normal(size=400)
    X = np.column_stack([z + 0.3 * rng.normal(size=400), z + 0.3 * rng.normal(size=400)])
    y = X @ [2.0, -0.5] + 0.1 * rng.normal(size=400)
    path = ridge_path(X, y, np.geomspace(1e-2, 1e6, 200))
    assert np.all(path.coefs != 0)
    assert path.coefs[1, 0] < 0 < path.coefs[1, -1]


def test_path_of_several_targets(data):
    X, y = data
    path = ridge_path(X, np.column_stack([y, X[:, 0]]), [1.0, 2.0, 3.0])
    assert path.coefs.shape == (2, 4, 3)
    np.testing.assert_allclose(path.coefs[0], ridge_path(X, y, [1.0, 2.0, 3.0]).coefs)


@pytest.mark.parametrize("alphas", [[], [0.0], [1.0, -1.0], [np.inf], [[1.0]]])
def test_penalties_must_be_positive(data, alphas):
    with pytest.raises(ValueError, match="'alphas' parameter of ridge_path must be"):
        ridge_path(*data, alphas)
    with pytest.raises(ValueError, match="'alphas' parameter of RidgeCV must be"):
        RidgeCV(alphas=alphas).fit(*data)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("shape", [(12, 3), (6, 9)])
def test_leave_one_out_equals_leaving_rows_out(shape, fit_intercept, weighted, seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=shape) + 1.0, rng.normal(size=shape[0])
    w = rng.exponential(size=shape[0]) if weighted else np.ones(shape[0])
    alphas = [0.1, 3.0, 40.0]
    model = RidgeCV(alphas=alphas, fit_intercept=fit_intercept).fit(
        X, y, sample_weight=w if weighted else None
    )
    for error, alpha in zip(model.loo_errors_, alphas):
        squares = 0.0
        for i in range(len(y)):
            rest = np.arange(len(y)) != i
            fit = peer.Ridge(alpha=alpha, fit_intercept=fit_intercept, solver="svd").fit(
                X[rest], y[rest], sample_weight=w[rest]
            )
            squares += w[i] * (y[i] - fit.predict(X[i : i + 1])[0]) ** 2
        assert error == pytest.approx(squares / w.sum(), rel=1e-8)
    assert model.alpha_ == alphas[int(np.argmin(model.loo_errors_))]
    assert model.best_score_ == -model.loo_errors_.min()
    expected = Ridge(alpha=model.alpha_, fit_intercept=fit_intercept).fit(X, y, sample_weight=w)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-8)
    np.testing.assert_allclose(model.predict(X), expected.predict(X), rtol=1e-7, atol=1e-10)


def test_choice_of_several_targets_and_sparse_input(data):
    X, y = data
    Y = np.column_stack([y, X[:, 0]])
    alphas = np.geomspace(0.01, 100, 9)
    ours = RidgeCV(alphas=alphas).fit(sparse.csr_matrix(X), Y)
    theirs = peer.RidgeCV(alphas=alphas).fit(X, Y)
    assert ours.alpha_ == theirs.alpha_
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-8)


@pytest.mark.parametrize("solver", ["auto", "svd", "cholesky", "lsqr", "sparse_cg", "sag", "saga"])
def test_every_solver_reaches_the_minimum_for_one_penalty_per_target(data, solver):
    X, y = data
    Y, alphas = np.column_stack([y, X[:, 0], 2.0 * y]), [0.1, 5.0, 0.1]
    model = Ridge(alphas, solver=solver, tol=1e-12).fit(X, Y)
    for k, alpha in enumerate(alphas):
        expected = peer.Ridge(alpha, solver="svd").fit(X, Y[:, k])
        np.testing.assert_allclose(model.coef_[k], expected.coef_, rtol=1e-7, atol=1e-10)
        assert model.intercept_[k] == pytest.approx(expected.intercept_, rel=1e-7)
    iterates = solver in ("lsqr", "sparse_cg")
    assert (model.n_iter_ is not None) == iterates
    assert not iterates or model.n_iter_.shape == (3,)
    chunks = [(X[:20], Y[:20]), (X[20:], Y[20:])]
    again = Ridge(alphas).fit_source(chunks)
    np.testing.assert_allclose(again.coef_, model.coef_, rtol=1e-7, atol=1e-10)


@pytest.mark.parametrize("alpha", [[1.0, 2.0], [-1.0], [np.nan, 1.0, 1.0]])
def test_penalties_must_belong_to_targets(data, alpha):
    X, y = data
    with pytest.raises(ValueError, match="'alpha' parameter of Ridge must be"):
        Ridge(alpha).fit(X, np.column_stack([y, y, y]))


@pytest.mark.parametrize("scoring", [None, "neg_mean_absolute_error", "r2"])
@pytest.mark.parametrize("per_target", [False, True])
def test_choice_by_any_score_equals_the_peer(data, scoring, per_target, seed):
    X, y = data
    rng = np.random.default_rng(seed)
    Y = np.column_stack([y, rng.normal(size=len(y))])
    options = {
        "alphas": np.geomspace(0.01, 1000, 7),
        "scoring": scoring,
        "store_cv_results": True,
        "alpha_per_target": per_target,
    }
    for targets in (Y,) if per_target else (Y, y):
        ours = RidgeCV(**options).fit(X, targets)
        theirs = peer.RidgeCV(**options).fit(X, targets)
        np.testing.assert_allclose(ours.alpha_, theirs.alpha_)
        np.testing.assert_allclose(ours.best_score_, theirs.best_score_, rtol=1e-7)
        assert ours.cv_results_.shape == theirs.cv_results_.shape
        np.testing.assert_allclose(ours.cv_results_, theirs.cv_results_, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-7, atol=1e-10)
        np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-7)


def test_weighted_scores_of_rows_left_out_equal_the_peer(data, seed):
    X, y = data
    w = np.random.default_rng(seed).exponential(size=len(y))
    options = {"alphas": [0.1, 1.0, 50.0], "scoring": "r2", "store_cv_results": True}
    ours = RidgeCV(**options).fit(X, y, sample_weight=w)
    theirs = peer.RidgeCV(**options).fit(X, y, sample_weight=w)
    assert (ours.alpha_, ours.best_score_) == pytest.approx((theirs.alpha_, theirs.best_score_))
    np.testing.assert_allclose(ours.cv_results_, theirs.cv_results_, rtol=1e-7)


def test_choice_by_folds_equals_the_peer(data, seed):
    X, y = data
    w = np.random.default_rng(seed).exponential(size=len(y))
    options = {"alphas": [0.0, 1.0, 50.0, 1e4], "cv": 4}
    ours = RidgeCV(**options).fit(X, y, sample_weight=w)
    theirs = peer.RidgeCV(**options).fit(X, y, sample_weight=w)
    assert (ours.alpha_, ours.best_score_) == pytest.approx((theirs.alpha_, theirs.best_score_))
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-7)
    assert hasattr(ours, "fingerprint_")
    assert not hasattr(ours, "loo_errors_")
    for name in ("store_cv_results", "alpha_per_target"):
        with pytest.raises(ValueError, match=f"cv!=None and {name}=True are incompatible"):
            RidgeCV(**options, **{name: True}).fit(X, y)


def test_wide_tables_of_several_blocks_have_a_zero_gradient():
    # Products of rows are computed in blocks of 128, of which those above the diagonal are copies.
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(300, 400)), rng.normal(size=300)
    model = Ridge(alpha=2.0).fit(X, y)
    residual = y - model.predict(X)
    np.testing.assert_allclose(X.T @ residual, 2.0 * model.coef_, atol=1e-9)
    assert abs(residual.sum()) < 1e-9
