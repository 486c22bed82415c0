"""Ordinary least squares: definition, peers, accuracy, minimum norm, sources."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.linalg
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn import linear_model as peer

from corollary.linear import LinearRegression, Ridge, gaussian_log_likelihood, least_squares
from corollary.linear.squares._solve import LeastSquaresProblem


def conditioned(n, d, kappa, rng):
    """A design with singular values from 1 to 1 / kappa."""
    U, _ = np.linalg.qr(rng.normal(size=(n, d)))
    V, _ = np.linalg.qr(rng.normal(size=(d, d)))
    return U * np.geomspace(1.0, 1.0 / kappa, d) @ V


def refined(A, y):
    """Least squares to about extended precision: QR with residuals in long double."""
    _, R = np.linalg.qr(A)
    wide = A.astype(np.longdouble)
    x = np.linalg.lstsq(A, y, rcond=None)[0].astype(np.longdouble)
    for _ in range(10):
        g = (wide.T @ (y - wide @ x)).astype(float)
        x += scipy.linalg.solve_triangular(R, scipy.linalg.solve_triangular(R, g, trans="T"))
    return x.astype(float)


@pytest.fixture
def data(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 5)) * [1.0, 10.0, 0.1, 1.0, 5.0] + [0.0, 100.0, 3.0, -1.0, 0.0]
    return X, X @ [1.0, -2.0, 3.0, 0.0, 0.5] + 4.0 + rng.normal(size=200)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_equals_lstsq(data, fit_intercept):
    X, y = data
    A = np.column_stack([X, np.ones(len(X))]) if fit_intercept else X
    expected = np.linalg.lstsq(A, y, rcond=None)[0]
    model = LinearRegression(fit_intercept=fit_intercept).fit(X, y)
    found = np.append(model.coef_, model.intercept_) if fit_intercept else model.coef_
    np.testing.assert_allclose(found, expected, rtol=1e-10)
    assert fit_intercept or model.intercept_ == 0.0


def test_solves_the_bordered_system(data):
    X, y = data
    m = len(X)
    ones = np.ones(m)
    bordered = np.block([[X.T @ X, (X.T @ ones)[:, None]], [(ones @ X)[None], np.array([[m]])]])
    w = np.linalg.solve(bordered, np.append(X.T @ y, ones @ y))
    model = LinearRegression().fit(X, y)
    np.testing.assert_allclose(np.append(model.coef_, model.intercept_), w, rtol=1e-8)


def test_residual_is_orthogonal_to_the_columns(data):
    X, y = data
    model = LinearRegression().fit(X, y)
    residual = y - model.predict(X)
    lengths = np.linalg.norm(X, axis=0) * np.linalg.norm(residual)
    assert np.all(np.abs(X.T @ residual) <= 1e-12 * lengths)
    assert abs(residual.sum()) <= 1e-10 * np.abs(residual).sum()


@pytest.mark.parametrize("kappa", [1e0, 1e2, 1e4, 1e5, 1e6, 1e8, 1e10])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_is_as_accurate_as_lstsq_on_badly_conditioned_data(kappa, fit_intercept, seed):
    rng = np.random.default_rng(seed)
    X = conditioned(600, 8, kappa, rng)
    y = X @ rng.normal(size=8) + 1e-3 * rng.normal(size=600)
    A = np.column_stack([X, np.ones(600)]) if fit_intercept else X
    truth = refined(A, y)
    found = least_squares(X, y, fit_intercept=fit_intercept)
    ours = np.append(found.coef, found.intercept) if fit_intercept else found.coef
    theirs = np.linalg.lstsq(A, y, rcond=None)[0]
    error = np.linalg.norm(ours - truth) / np.linalg.norm(truth)
    error_of_lstsq = np.linalg.norm(theirs - truth) / np.linalg.norm(truth)
    assert error <= 50 * error_of_lstsq + 1e-14
    assert found.rank == 8
    if kappa != 1e5:  # which is on the border between the two
        assert found.solver == ("cholesky" if kappa < 1e5 else "svd")


def test_columns_in_different_units_are_no_problem(seed):
    rng = np.random.default_rng(seed)
    X, beta = rng.normal(size=(100, 3)), np.array([1.0, 2.0, 3.0])
    y = X @ beta + rng.normal(size=100)
    units = np.array([1e-9, 1.0, 1e9])
    base = LinearRegression().fit(X, y)
    scaled = LinearRegression().fit(X * units, y)
    np.testing.assert_allclose(scaled.coef_ * units, base.coef_, rtol=1e-10)
    assert scaled.rank_ == 3


def test_equations_that_can_be_read_once_warn_when_ill_conditioned(seed):
    rng = np.random.default_rng(seed)
    X = conditioned(500, 4, 1e9, rng)
    y = rng.normal(size=500)
    with pytest.warns(scipy.linalg.LinAlgWarning, match=r"ill-conditioned .* read only once"):
        model = LinearRegression().fit_source(iter([(X, y)]))
    assert model.solver_ == "eigen"
    again = LinearRegression().fit_source([(X, y)])
    assert again.solver_ == "svd"
    np.testing.assert_array_equal(again.coef_, LinearRegression().fit(X, y).coef_)


@pytest.mark.parametrize(("n", "d"), [(4, 9), (9, 9), (30, 9)])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("sparse_input", [True, False])
def test_smallest_norm_when_there_are_many_solutions(n, d, fit_intercept, sparse_input, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) @ rng.normal(size=(3, d))  # rank 3
    y = rng.normal(size=n)
    given = sparse.csr_matrix(X) if sparse_input else X
    found = least_squares(given, y, fit_intercept=fit_intercept)
    if fit_intercept:
        expected = np.linalg.pinv(X - X.mean(axis=0), rcond=1e-10) @ (y - y.mean())
    else:
        expected = np.linalg.pinv(X, rcond=1e-10) @ y
    np.testing.assert_allclose(found.coef, expected, atol=1e-10)
    assert found.rank == 3


def test_interpolates_when_rows_are_few(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(6, 20)), rng.normal(size=6)
    found = least_squares(X, y, fit_intercept=False)
    np.testing.assert_allclose(X @ found.coef, y, atol=1e-12)
    np.testing.assert_allclose(found.coef, X.T @ np.linalg.solve(X @ X.T, y), atol=1e-12)


def test_constant_and_duplicated_columns(seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=50)
    X = np.column_stack([x, np.full(50, 0.1), x, np.zeros(50)])
    model = LinearRegression().fit(X, 3 * x + 1)
    np.testing.assert_allclose(model.coef_, [1.5, 0.0, 1.5, 0.0], atol=1e-12)
    assert model.intercept_ == pytest.approx(1.0)
    assert model.rank_ == 1
    only_constant = LinearRegression().fit(np.ones((5, 2)), np.arange(5.0))
    np.testing.assert_array_equal(only_constant.coef_, 0.0)
    assert only_constant.intercept_ == 2.0


@pytest.mark.parametrize("value", [0.1, 1 / 3, 1e6 / 7])
def test_columns_constant_up_to_rounding(value, seed, monkeypatch):
    # The means of blocks differ in their last bits; scaled up, these would look like data.
    monkeypatch.setattr("corollary.core.summary.summary.BLOCK_BYTES", 2**12)
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=5000), np.full(5000, value)])
    model = LinearRegression().fit(X, rng.normal(size=5000), rng.exponential(size=5000))
    assert model.coef_[1] == 0.0
    assert model.rank_ == 1


@given(st.integers(0, 10_000), st.booleans())
def test_weight_is_repetition(example, fit_intercept):
    rng = np.random.default_rng(example)
    X, y, k = rng.normal(size=(15, 3)), rng.normal(size=15), rng.integers(0, 4, 15)
    if (k > 0).sum() < 5:
        return
    options = {"fit_intercept": fit_intercept}
    weighted = LinearRegression(**options).fit(X, y, sample_weight=k)
    repeated = LinearRegression(**options).fit(np.repeat(X, k, axis=0), np.repeat(y, k))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-9)
    np.testing.assert_allclose(weighted.intercept_, repeated.intercept_, atol=1e-9)


@given(st.integers(0, 10_000))
def test_permuting_rows_and_columns_and_shifting_targets(example):
    rng = np.random.default_rng(example)
    X, y = rng.normal(size=(20, 4)), rng.normal(size=20)
    base = LinearRegression().fit(X, y)
    rows, columns = rng.permutation(20), rng.permutation(4)
    moved = LinearRegression().fit(X[rows][:, columns], 2 * y[rows] + 5)
    np.testing.assert_allclose(moved.coef_, 2 * base.coef_[columns], atol=1e-10)
    np.testing.assert_allclose(moved.intercept_, 2 * base.intercept_ + 5, atol=1e-10)


def test_several_targets_are_several_fits(data, seed):
    X, y = data
    Y = np.column_stack([y, np.random.default_rng(seed).normal(size=len(y))])
    together = LinearRegression().fit(X, Y)
    assert together.coef_.shape == (2, 5)
    assert together.predict(X).shape == Y.shape
    for k in range(2):
        alone = LinearRegression().fit(X, Y[:, k])
        np.testing.assert_allclose(together.coef_[k], alone.coef_, rtol=1e-9)
        assert together.intercept_[k] == pytest.approx(alone.intercept_)
    theirs = peer.LinearRegression().fit(X, Y)
    np.testing.assert_allclose(together.coef_, theirs.coef_, rtol=1e-8)


@pytest.mark.parametrize("model", [LinearRegression(), Ridge(alpha=0.5)])
@pytest.mark.parametrize("density", [0.02, 0.5])
def test_sparse_input_equals_dense(model, density, seed):
    rng = np.random.default_rng(seed)
    X = sparse.random(500, 12, density=density, format="csc", random_state=seed)
    y, w = rng.normal(size=500), rng.integers(0, 3, 500)
    thin = model.fit(X, y, sample_weight=w)
    coef, intercept = thin.coef_, thin.intercept_
    predicted = thin.predict(X)
    dense = model.fit(X.toarray(), y, sample_weight=w)
    np.testing.assert_allclose(coef, dense.coef_, rtol=1e-8, atol=1e-10)
    assert intercept == pytest.approx(dense.intercept_, abs=1e-10)
    np.testing.assert_allclose(predicted, dense.predict(X.toarray()), atol=1e-9)


def test_threads_do_not_change_a_bit(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(200_000, 3)), rng.normal(size=200_000)
    coefs = {LinearRegression(n_jobs=j).fit(X, y).coef_.tobytes() for j in (1, 2, 3, None)}
    assert len(coefs) == 1


def test_single_precision_is_not_copied_to_double_first(data):
    X, y = data
    small = LinearRegression().fit(X.astype(np.float32), y)
    large = LinearRegression().fit(X.astype(np.float32).astype(float), y)
    np.testing.assert_array_equal(small.coef_, large.coef_)
    assert small.coef_.dtype == np.float64


@pytest.mark.parametrize("library", [pd, pl])
def test_names_are_kept(library):
    frame = library.DataFrame({"b": [1.0, 2.0, 4.0], "a": [0.0, 1.0, 0.0]})
    model = LinearRegression().fit(frame, [1.0, 2.0, 3.0])
    assert model.feature_names_in_.tolist() == ["b", "a"]
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame[["a", "b"]])


def test_fit_source_equals_fit(data, tmp_path):
    X, y = data
    frame = pd.DataFrame(X, columns=list("abcde")).assign(y=y, w=np.arange(200) % 3)
    frame.to_parquet(tmp_path / "data.parquet")
    expected = LinearRegression().fit(frame[list("abcde")], y, sample_weight=frame["w"])
    found = LinearRegression().fit_source(tmp_path / "data.parquet", target="y", sample_weight="w")
    np.testing.assert_array_equal(found.coef_, expected.coef_)
    assert found.intercept_ == expected.intercept_
    assert found.feature_names_in_.tolist() == list("abcde")
    assert found.n_features_in_ == 5
    np.testing.assert_array_equal(found.fingerprint_.hashes, expected.fingerprint_.hashes)
    np.testing.assert_array_equal(
        found.predict(frame[list("abcde")]), expected.predict(frame[list("abcde")])
    )
    nameless = found.fit_source([(X, y)])
    assert not hasattr(nameless, "feature_names_in_")


def test_fit_source_needs_targets(data):
    with pytest.raises(ValueError, match=r"LinearRegression.fit_source needs targets. Name the"):
        LinearRegression().fit_source([(data[0],)])


def test_parameters_are_checked(data):
    X, y = data
    with pytest.raises(ValueError, match=r"'alpha' parameter of least_squares .* Got -1"):
        least_squares(X, y, alpha=-1)
    with pytest.raises(ValueError, match="'solver' parameter of least_squares must be one of"):
        least_squares(X, y, solver="magic")
    with pytest.raises(ValueError, match=r"[Ww]eights"):
        least_squares(X, y, sample_weight=np.zeros(len(y)))
    for A in (X, X[:3]):
        with pytest.raises(ValueError, match="needs rows of positive weight"):
            LeastSquaresProblem().solve_arrays(A, y[: len(A)], np.zeros(len(A)))


def test_squared_loss_and_gaussian_likelihood_have_one_optimum(data):
    X, y = data
    best = least_squares(X, y, fit_intercept=False).coef
    rng = np.random.default_rng(0)
    for variance in (0.3, 7.0):
        top = gaussian_log_likelihood(X, y, best, variance)
        for _ in range(20):
            other = best + 1e-3 * rng.normal(size=5)
            rss, best_rss = (float(np.sum((y - X @ b) ** 2)) for b in (other, best))
            value = gaussian_log_likelihood(X, y, other, variance)
            assert value < top
            assert top - value == pytest.approx((rss - best_rss) / (2 * variance), rel=1e-6)


def test_conditional_mean_is_the_best_predictor_of_a_finite_law():
    joint = np.array([[0.1, 0.2, 0.1], [0.3, 0.0, 0.3]])  # rows x, columns y
    values = np.array([-1.0, 0.5, 2.0])
    rows, columns = np.indices(joint.shape).reshape(2, -1)
    X = np.eye(2)[rows]
    fit = least_squares(X, values[columns], sample_weight=joint.ravel(), fit_intercept=False)
    mean = joint @ values / joint.sum(axis=1)
    np.testing.assert_allclose(fit.coef, mean, atol=1e-12)
    other = np.array([0.7, -0.3])
    risk = [float(np.sum(joint * (values - f[:, None]) ** 2)) for f in (other, mean)]
    excess = float(joint.sum(axis=1) @ (other - mean) ** 2)
    assert risk[0] - risk[1] == pytest.approx(excess)


@pytest.mark.parametrize("n", [2, 4])
def test_fewer_rows_than_columns_far_from_the_origin(n):
    # The rounded mean leaves a common shift in every row, which is not a direction of the data:
    # centred rows have rank n - 1 at most, and the solution the smallest norm.
    for k in range(20):
        rng = np.random.default_rng(k)
        Z, y, w = rng.normal(size=(n, 6)), rng.normal(size=n), rng.random(n)
        X = Z + 1e4
        model = LinearRegression().fit(X, y, sample_weight=w)
        assert model.rank_ == n - 1
        centred = X - np.average(X, axis=0, weights=w)
        root = np.sqrt(w)[:, np.newaxis]
        shortest = np.linalg.lstsq(
            centred * root, (y - np.average(y, weights=w)) * root[:, 0], rcond=1e-9
        )[0]
        np.testing.assert_allclose(model.coef_, shortest, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(model.predict(X), y, atol=1e-8)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("shape", [(40, 6), (6, 40), (20, 20), (1, 3)])
def test_singular_values_and_smallest_norm_equal_the_peer(shape, fit_intercept, seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=shape) + 3.0, rng.normal(size=(shape[0], 2))
    w = rng.exponential(size=shape[0])
    ours = LinearRegression(fit_intercept=fit_intercept).fit(X, y, sample_weight=w)
    theirs = peer.LinearRegression(fit_intercept=fit_intercept).fit(X, y, sample_weight=w)
    assert ours.singular_.shape == theirs.singular_.shape
    np.testing.assert_allclose(ours.singular_, theirs.singular_, rtol=1e-7, atol=1e-6)
    assert ours.rank_ == theirs.rank_
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-7, atol=1e-9)


def test_wide_designs_need_no_decomposition_unless_rows_are_dependent(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(12, 50)) + 100.0, rng.normal(size=12)
    model = LinearRegression().fit(X, y)
    assert model.solver_ == "dual"
    np.testing.assert_allclose(model.predict(X), y, atol=1e-9)
    twice = LinearRegression().fit(np.vstack([X, X]), np.concatenate([y, y]))
    assert (twice.solver_, twice.rank_) == ("svd", 11)
    np.testing.assert_allclose(twice.coef_, model.coef_, rtol=1e-8, atol=1e-10)
