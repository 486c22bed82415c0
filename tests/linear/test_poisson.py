"""Poisson regression: the peer, the equations of the minimum, weights, and what is refused."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import PoissonRegressor as Peer

from corollary.linear import PoissonRegressor


@pytest.fixture
def data(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(150, 4))
    y = rng.poisson(np.exp(X @ [0.5, -0.3, 0.0, 0.2] + 1.0)).astype(float)
    return X, y, rng.exponential(size=150)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("alpha", [0.0, 0.3])
def test_equals_the_peer(data, alpha, fit_intercept):
    X, y, w = data
    options = {"alpha": alpha, "fit_intercept": fit_intercept}
    theirs = Peer(solver="newton-cholesky", tol=1e-12, **options).fit(X, y, w)
    for rows in (X, sparse.csr_matrix(X)):
        ours = PoissonRegressor(tol=1e-9, **options).fit(rows, y, w)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-8)
        assert ours.intercept_ == pytest.approx(theirs.intercept_, abs=1e-8)
        np.testing.assert_allclose(ours.predict(rows), theirs.predict(X), rtol=1e-7)
        assert ours.score(rows, y, w) == pytest.approx(theirs.score(X, y, w))


def test_fitted_means_balance_the_counts(data):
    """The derivative in the intercept vanishes: predictions have the mean of the counts."""
    X, y, w = data
    model = PoissonRegressor(alpha=2.0, tol=1e-10).fit(X, y, w)
    assert w @ model.predict(X) == pytest.approx(w @ y, rel=1e-9)
    residual = w * (y - model.predict(X))
    np.testing.assert_allclose(X.T @ residual / w.sum(), 2.0 * model.coef_, atol=1e-9)


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


def test_refusals_and_warnings(data):
    X, y, _ = data
    with pytest.raises(ValueError, match="needs targets of at least 0"):
        PoissonRegressor().fit(X, y - 10.0)
    with pytest.warns(ConvergenceWarning, match="stopped after max_iter=1 steps") as record:
        PoissonRegressor(max_iter=1).fit(X, y)
    assert record[0].filename == __file__
