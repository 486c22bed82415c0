"""LassoCV: against scikit-learn and against cross-validation by hand."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.model_selection import KFold, cross_val_score

from corollary.linear import Lasso, LassoCV


def problem(seed, n=60, p=30):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + 1.0
    return X, X[:, :3] @ [2.0, -1.0, 0.5] + rng.normal(size=n) + 4.0


def test_equals_scikit_learn(seed):
    from sklearn.linear_model import LassoCV as Peer

    X, y = problem(seed)
    ours = LassoCV(alphas=30, tol=1e-12, max_iter=50_000, cv=4).fit(X, y)
    peer = Peer(alphas=30, tol=1e-12, max_iter=50_000, cv=4).fit(X, y)
    np.testing.assert_allclose(ours.alphas_, peer.alphas_)
    np.testing.assert_allclose(ours.mse_path_, peer.mse_path_, rtol=1e-4)
    assert ours.alpha_ == pytest.approx(peer.alpha_)
    np.testing.assert_allclose(ours.coef_, peer.coef_, atol=1e-4)


def test_errors_are_those_of_single_fits(seed):
    X, y = problem(seed, 40, 10)
    folds = KFold(3)
    model = LassoCV(alphas=[0.5, 0.05], tol=1e-12, max_iter=10_000, cv=folds).fit(X, y)
    for k, alpha in enumerate(model.alphas_):
        single = Lasso(alpha=alpha, tol=1e-12, max_iter=10_000)
        scores = cross_val_score(single, X, y, cv=folds, scoring="neg_mean_squared_error")
        np.testing.assert_allclose(model.mse_path_[k], -scores, rtol=1e-4)


@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_does_not_depend_on_threads(seed, layout):
    X, y = problem(seed)
    X = sparse.csr_matrix(X) if layout == "sparse" else X
    one, two = (LassoCV(alphas=20, n_jobs=k).fit(X, y) for k in (1, 2))
    np.testing.assert_array_equal(one.mse_path_, two.mse_path_)
    np.testing.assert_array_equal(one.coef_, two.coef_)


def test_finds_the_features_that_matter(seed):
    X, y = problem(seed, 400, 30)
    model = LassoCV().fit(X, y)
    assert set(np.argsort(-np.abs(model.coef_))[:3]) == {0, 1, 2}
    assert model.dual_gap_ <= 1e-4 * y.var()
    assert model.score(X, y) > 0.7


def test_rows_without_weight_have_no_say(seed):
    X, y = problem(seed, 40, 10)
    weight = np.ones(40)
    weight[::4] = 0.0
    broken = y.copy()
    broken[::4] += 100.0
    folds = KFold(4)
    options = {"alphas": 15, "tol": 1e-12, "max_iter": 10_000, "cv": folds}
    first = LassoCV(**options).fit(X, y, sample_weight=weight)
    second = LassoCV(**options).fit(X, broken, sample_weight=weight)
    assert first.alpha_ == pytest.approx(second.alpha_)
    np.testing.assert_allclose(first.coef_, second.coef_, atol=1e-5)


def test_errors_name_what_was_wrong():
    with pytest.raises(ValueError, match="'eps' parameter of LassoCV must be a float"):
        LassoCV(eps=2.0).fit([[1.0], [2.0]], [1.0, 2.0])


def test_the_grid_of_a_constant_target_and_of_one_penalty():
    X = np.random.default_rng(0).normal(size=(10, 3))
    constant = LassoCV(alphas=3, cv=2).fit(X, np.full(10, 5.0))
    assert constant.alphas_.tolist() == [1e-15] * 3
    y = X @ [1.0, 2.0, 0.0]
    only = LassoCV(alphas=1, eps=1, cv=2).fit(X, y)
    assert only.alpha_ == pytest.approx(np.abs(X.T @ (y - y.mean())).max() / 10)
    assert not only.coef_.any()
