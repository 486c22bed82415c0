"""Generalised linear models: the peer, the equations of the minimum, and what is refused."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn import linear_model as peers
from sklearn.exceptions import ConvergenceWarning

import corollary
from corollary.linear import GammaRegressor, PoissonRegressor, TweedieRegressor

MODELS = [
    (PoissonRegressor, {}, 1),
    (GammaRegressor, {}, 2),
    (TweedieRegressor, {}, 0),
    (TweedieRegressor, {"power": 0, "link": "log"}, 0),
    (TweedieRegressor, {"power": 1.5}, 1.5),
    (TweedieRegressor, {"power": 3}, 3),
    (TweedieRegressor, {"power": 1, "link": "identity"}, 1),
]
each = pytest.mark.parametrize(
    ("model", "options", "power"), MODELS, ids=lambda v: getattr(v, "__name__", str(v))
)


@pytest.fixture
def data(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(150, 4))
    mean = np.exp(X @ [0.5, -0.3, 0.0, 0.2] + 1.0)
    return X, rng.gamma(3.0, mean / 3.0), rng.exponential(size=150)


def targets(y, power):
    """Return targets that the law can give: counts, amounts with zeros, or positive amounts."""
    return {1: np.round(y), 1.5: y * (y > 1.0)}.get(power, y)


@each
@pytest.mark.parametrize("alpha", [0.1, 1.0])
def test_equals_the_peer(data, model, options, power, alpha):
    X, y, w = data[0], targets(data[1], power), data[2]
    options = {"alpha": alpha, **options}
    theirs = getattr(peers, model.__name__)(tol=1e-12, max_iter=10_000, **options).fit(X, y, w)
    for rows in (X, sparse.csr_matrix(X)):
        ours = model(tol=1e-10, **options).fit(rows, y, w)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-6)
        assert ours.intercept_ == pytest.approx(theirs.intercept_, abs=1e-6)
        np.testing.assert_allclose(ours.predict(rows), theirs.predict(X), rtol=1e-6)
        assert ours.score(rows, y, w) == pytest.approx(theirs.score(X, y, w), abs=1e-8)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("alpha", [0.0, 0.3])
def test_equals_the_newton_method_of_the_peer(data, alpha, fit_intercept):
    X, y, w = data
    options = {"alpha": alpha, "fit_intercept": fit_intercept}
    for model in (PoissonRegressor, GammaRegressor):
        peer = getattr(peers, model.__name__)(solver="newton-cholesky", tol=1e-12, **options)
        theirs, ours = peer.fit(X, y, w), model(tol=1e-9, **options).fit(X, y, w)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-8)
        assert ours.intercept_ == pytest.approx(theirs.intercept_, abs=1e-8)


@each
def test_the_gradient_vanishes(data, model, options, power):
    """Residuals, weighted by the slope of the mean over its variance, balance the penalty."""
    X, y, w = data[0], targets(data[1], power), data[2]
    fit = model(alpha=2.0, tol=1e-11, **options).fit(X, y, w)
    mean = fit.predict(X)
    slope = mean if fit._loss().link == "log" else 1.0
    pull = w * slope * (y - mean) / mean**power
    np.testing.assert_allclose(X.T @ pull / w.sum(), 2.0 * fit.coef_, atol=1e-9)
    assert pull.sum() == pytest.approx(0.0, abs=1e-7)


@pytest.mark.parametrize("power", [0, 1, 1.5, 2, 3])
def test_one_mean_for_each_group_by_hand(power):
    X, y = np.array([[0.0], [0.0], [1.0], [1.0]]), np.array([1.0, 3.0, 5.0, 7.0])
    model = TweedieRegressor(power=power, alpha=0.0, link="log", tol=1e-10).fit(X, y, [3, 1, 1, 1])
    np.testing.assert_allclose(model.predict([[0.0], [1.0]]), [1.5, 6.0], rtol=1e-8)
    assert model.coef_[0] == pytest.approx(np.log(4.0))


def test_a_penalised_gamma_model_by_hand():
    """One row at x = 1 without an intercept: 1 - y exp(-w) + alpha w = 0 has the root w = log 2."""
    y = 2.0 * (1.0 + 0.5 * np.log(2.0))
    model = GammaRegressor(alpha=0.5, fit_intercept=False, tol=1e-12).fit([[1.0]], [y])
    assert model.coef_[0] == pytest.approx(np.log(2.0), abs=1e-10)


def test_fitted_means_balance_the_counts(data):
    """The derivative in the intercept vanishes: predictions have the mean of the counts."""
    X, y, w = data
    model = PoissonRegressor(alpha=2.0, tol=1e-10).fit(X, y, w)
    assert w @ model.predict(X) == pytest.approx(w @ y, rel=1e-9)


def test_the_start_does_not_matter_and_a_warm_one_is_short(data):
    X, y, _ = data
    model = PoissonRegressor(alpha=0.1, warm_start=True).fit(X, y)
    first, steps = model.coef_.copy(), model.n_iter_
    assert model.fit(X, y).n_iter_ < steps
    np.testing.assert_allclose(model.coef_, first, atol=1e-4)
    far = PoissonRegressor(alpha=1e-6).fit(50.0 * X, y)  # early steps overflow and are taken back
    np.testing.assert_allclose(
        50.0 * far.coef_, PoissonRegressor(alpha=0.0).fit(X, y).coef_, atol=0.02
    )


@pytest.mark.parametrize("model", [GammaRegressor(), TweedieRegressor(power=1.5)])
def test_frames_and_files(data, model, tmp_path):
    X, y, _ = data
    frame = pd.DataFrame(X, columns=list("abcd"))
    expected = model.fit(X, y).predict(X)
    for table in (frame, pl.DataFrame(frame)):
        fit = model.fit(table, y)
        assert fit.feature_names_in_.tolist() == list("abcd")
        np.testing.assert_array_equal(fit.predict(table), expected)
    corollary.save(fit, tmp_path / "model.corollary")
    np.testing.assert_array_equal(
        corollary.load(tmp_path / "model.corollary").predict(frame), expected
    )


def test_refusals_and_warnings(data):
    X, y, _ = data
    with pytest.raises(ValueError, match="needs targets of at least 0"):
        PoissonRegressor().fit(X, y - 10.0)
    with pytest.raises(ValueError, match=r"GammaRegressor needs positive targets\. Got 0"):
        GammaRegressor().fit(X, y - y.min())
    with pytest.raises(ValueError, match="'power' parameter of TweedieRegressor must be"):
        TweedieRegressor(power=0.5).fit(X, y)
    with pytest.raises(ValueError, match="finds no mean to start from"):
        TweedieRegressor(power=1, link="identity", fit_intercept=False).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="stopped after max_iter=1 steps") as record:
        PoissonRegressor(max_iter=1).fit(X, y)
    assert record[0].filename == __file__
    with pytest.warns(ConvergenceWarning, match="stopped"):  # the objective has no minimum
        model = TweedieRegressor(power=-1).fit(X, y)
    assert np.isfinite(model.coef_).all()
