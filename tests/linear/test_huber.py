"""Huber's regression: by hand, its conditions, the peer, outliers, and units."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import HuberRegressor as Peer

import corollary
from corollary.linear import HuberRegressor, LinearRegression


@pytest.fixture
def data(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(150, 4)) * [1.0, 10.0, 0.1, 1.0]
    y = X @ [1.0, -2.0, 3.0, 0.0] + 5.0 + rng.normal(size=150)
    y[:20] += 40.0 * rng.normal(size=20)
    return X, y, rng.exponential(size=150)


def objective(model, X, y, w):
    """Return what scikit-learn's class minimises, written out."""
    residual, scale, epsilon = np.abs(y - model.predict(X)), model.scale_, model.epsilon
    near = residual < epsilon * scale
    loss = np.where(near, residual**2 / scale, 2 * epsilon * residual - scale * epsilon**2)
    return w @ (scale + loss) + model.alpha * model.coef_ @ model.coef_


def test_the_scale_by_hand():
    """Four rows at distance 1 and two outliers: 6 = 4 / scale^2 + 2 epsilon^2."""
    y = np.array([-1.0, 1.0, -1.0, 1.0, 100.0, -100.0])
    model = HuberRegressor(tol=1e-10).fit(np.zeros((6, 1)), 1e3 * y + 7.0)
    assert model.scale_ == pytest.approx(1e3 * np.sqrt(4 / (6 - 2 * 1.35**2)), rel=1e-9)
    assert model.intercept_ == pytest.approx(7.0, abs=1e-6)
    assert model.outliers_.tolist() == [False] * 4 + [True] * 2


def test_without_outliers_it_is_least_squares(data):
    X, y, w = data
    model = HuberRegressor(epsilon=1e3, alpha=0.0, tol=1e-10).fit(X, y, w)
    plain = LinearRegression().fit(X, y, w)
    np.testing.assert_allclose(model.coef_, plain.coef_, rtol=1e-7)
    spread = np.average((y - plain.predict(X)) ** 2, weights=w)
    assert model.scale_ == pytest.approx(np.sqrt(spread), rel=1e-7)
    assert not model.outliers_.any()


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(("epsilon", "alpha"), [(1.35, 1e-4), (1.1, 10.0)])
def test_equals_the_peer_and_meets_the_conditions(data, epsilon, alpha, fit_intercept):
    X, y, w = data
    options = {"epsilon": epsilon, "alpha": alpha, "fit_intercept": fit_intercept}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the peer stops where values agree to nine digits
        theirs = Peer(tol=1e-12, max_iter=10_000, **options).fit(X, y, w)
    for rows in (X, sparse.csr_matrix(X)):
        ours = HuberRegressor(tol=1e-10, **options).fit(rows, y, w)
        gap = objective(ours, X, y, w) - objective(theirs, X, y, w)
        assert -1e-4 < gap <= 1e-9
        np.testing.assert_allclose(ours.predict(rows), theirs.predict(X), atol=0.02)
        assert ours.scale_ == pytest.approx(theirs.scale_, abs=1e-3)
    z = np.clip((y - ours.predict(X)) / ours.scale_, -epsilon, epsilon)
    np.testing.assert_allclose(X.T @ (w * z), alpha * ours.coef_, atol=1e-7)
    assert w @ z**2 == pytest.approx(w.sum(), rel=1e-8)


def test_outliers_do_not_turn_it_and_units_do_not_matter(data):
    X, y, _ = data
    model = HuberRegressor(alpha=0.0).fit(X, y)
    np.testing.assert_allclose(model.coef_, [1.0, -2.0, 3.0, 0.0], atol=3.0)
    far = y.copy()
    far[model.outliers_] += 1e6 * np.sign(y - model.predict(X))[model.outliers_]
    np.testing.assert_allclose(HuberRegressor(alpha=0.0).fit(X, far).coef_, model.coef_, atol=1e-3)
    small = HuberRegressor(alpha=0.0).fit(X, 1e-9 * y)
    np.testing.assert_allclose(1e9 * small.coef_, model.coef_, rtol=1e-4, atol=1e-6)
    np.testing.assert_array_equal(small.outliers_, model.outliers_)


def test_rows_that_are_fitted_exactly(data):
    X = data[0]
    y = X @ [1.0, -2.0, 3.0, 0.0] + 5.0
    y[:30] += 100.0
    model = HuberRegressor(alpha=0.0).fit(X, y)
    np.testing.assert_allclose(model.coef_, [1.0, -2.0, 3.0, 0.0], atol=1e-3)
    assert 0.0 < model.scale_ < 1e-2
    assert model.outliers_[:30].all()
    constant = HuberRegressor().fit(X, np.full(150, 3.0))
    assert constant.predict(X[:2]).tolist() == [3.0, 3.0]


def test_a_warm_start_is_short_and_a_limit_is_said(data):
    X, y, _ = data
    model = HuberRegressor(warm_start=True).fit(X, y)
    first, steps = model.coef_.copy(), model.n_iter_
    assert model.fit(X, y).n_iter_ < min(steps, 3)
    np.testing.assert_allclose(model.coef_, first, rtol=1e-3)
    with pytest.warns(ConvergenceWarning, match="stopped after max_iter=1 steps") as record:
        HuberRegressor(max_iter=1).fit(X, y)
    assert record[0].filename == __file__


def test_frames_and_files(data, tmp_path):
    X, y, _ = data
    model = HuberRegressor().fit(pd.DataFrame(X, columns=list("abcd")), y)
    assert model.feature_names_in_.tolist() == list("abcd")
    corollary.save(model, tmp_path / "model.corollary")
    loaded = corollary.load(tmp_path / "model.corollary")
    np.testing.assert_array_equal(loaded.outliers_, HuberRegressor().fit(X, y).outliers_)
