"""The elastic net whose penalty is chosen by cross-validation."""

import numpy as np
import pytest
from scipy import sparse
from sklearn import linear_model as peer

from corollary.linear import ElasticNet, ElasticNetCV, LassoCV, enet_path, lasso_path


@pytest.fixture
def data(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 10)) + 1.0
    return X, X[:, :3] @ [3.0, -2.0, 1.0] + rng.normal(size=80)


@pytest.mark.parametrize("l1_ratio", [0.3, [0.1, 0.5, 0.9]])
@pytest.mark.parametrize("alphas", [15, [0.001, 0.1, 1.0]])
def test_equals_the_peer(data, l1_ratio, alphas):
    options = {"l1_ratio": l1_ratio, "alphas": alphas, "cv": 4, "tol": 1e-11}
    ours, theirs = ElasticNetCV(**options).fit(*data), peer.ElasticNetCV(**options).fit(*data)
    assert (ours.alpha_, ours.l1_ratio_) == pytest.approx((theirs.alpha_, theirs.l1_ratio_))
    assert ours.alphas_.shape == theirs.alphas_.shape
    np.testing.assert_allclose(ours.alphas_, theirs.alphas_, rtol=1e-10)
    assert ours.mse_path_.shape == theirs.mse_path_.shape
    np.testing.assert_allclose(ours.mse_path_, theirs.mse_path_, rtol=1e-4)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)


def test_the_choice_is_fitted_to_all_rows_with_their_weights(data, seed):
    X, y = data
    w = np.random.default_rng(seed).exponential(size=len(y))
    options = {"positive": True, "fit_intercept": False, "tol": 1e-12}
    model = ElasticNetCV(l1_ratio=[0.2, 0.8], alphas=10, **options)
    model.fit(sparse.csr_matrix(X), y, sample_weight=w)
    again = ElasticNet(model.alpha_, l1_ratio=model.l1_ratio_, **options)
    np.testing.assert_allclose(model.coef_, again.fit(X, y, sample_weight=w).coef_, atol=1e-5)
    assert model.coef_.min() == 0.0


def test_a_share_of_one_is_the_lasso(data):
    ours = ElasticNetCV(l1_ratio=1.0, alphas=12).fit(*data)
    lasso = LassoCV(alphas=12).fit(*data)
    np.testing.assert_array_equal(ours.mse_path_, lasso.mse_path_)
    np.testing.assert_array_equal(ours.coef_, lasso.coef_)


def test_paths_are_methods_as_in_the_peer(data):
    X, y = data
    ours = ElasticNetCV.path(X, y, l1_ratio=0.5, alphas=5, precompute=False, check_input=True)
    theirs = peer.ElasticNetCV.path(X, y, l1_ratio=0.5, alphas=5)
    np.testing.assert_allclose(ours[0], theirs[0])
    np.testing.assert_allclose(ours[1], theirs[1], atol=1e-2)
    assert ElasticNet.path is enet_path
    assert LassoCV.path is lasso_path
    with pytest.raises(TypeError, match="unexpected keyword argument 'precompile'"):
        enet_path(X, y, precompile=True)


def test_without_an_l1_share_penalties_must_be_given(data):
    with pytest.raises(ValueError, match="grid generation is not supported for l1_ratio=0"):
        ElasticNetCV(l1_ratio=0.0).fit(*data)
    model = ElasticNetCV(l1_ratio=0.0, alphas=[0.01, 1.0], tol=1e-10).fit(*data)
    ridge = peer.Ridge(model.alpha_ * len(data[1])).fit(*data)
    np.testing.assert_allclose(model.coef_, ridge.coef_, atol=1e-4)
    with pytest.raises(ValueError, match="'l1_ratio' parameter of ElasticNetCV must be"):
        ElasticNetCV(l1_ratio=[0.5, 1.5]).fit(*data)
