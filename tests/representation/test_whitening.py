import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import sqrtm
from sklearn.decomposition import PCA

import corollary
from corollary.representation import Whitener, whitening_matrix

METHODS = ["zca", "pca", "cholesky"]


def rows(seed, n=80):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 3)) @ rng.normal(size=(3, 3)) + [1e3, 0, -5]


@pytest.mark.parametrize("method", METHODS)
def test_covariance_is_the_identity(method, seed):
    X = rows(seed)
    whitener = Whitener(method=method).fit(X)
    Z = whitener.transform(X)
    np.testing.assert_allclose(Z.mean(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(np.cov(Z.T, ddof=0), np.eye(3), atol=1e-8)
    np.testing.assert_allclose(whitener.inverse_transform(Z), X, rtol=1e-8)


@given(st.sampled_from(METHODS), st.integers(0, 10**6))
def test_matrix_whitens(method, seed):
    root = np.random.default_rng(seed).normal(size=(4, 4))
    S = root @ root.T + 0.1 * np.eye(4)
    W = whitening_matrix(S, method=method)
    np.testing.assert_allclose(W @ S @ W.T, np.eye(4), atol=1e-8)
    if method == "zca":
        np.testing.assert_allclose(W, np.linalg.inv(sqrtm(S)), atol=1e-7)
    if method == "cholesky":
        assert np.all(np.triu(W, 1) == 0)
        np.testing.assert_allclose(W, np.linalg.inv(np.linalg.cholesky(S)), atol=1e-7)


def test_principal_components_agree_with_scikit_learn(seed):
    X = rows(seed)
    peer = PCA(whiten=True).fit_transform(X)  # divides by n - 1
    ours = Whitener(method="pca").fit_transform(X)
    signs = np.sign((ours * peer).sum(axis=0))
    np.testing.assert_allclose(ours * np.sqrt(79 / 80), peer * signs, atol=1e-8)


def test_singular_covariance(seed):
    X = rows(seed)
    X = np.column_stack([X, X[:, 0] + X[:, 1]])
    Z = Whitener(method="pca").fit_transform(X)
    assert Z.shape == (80, 3)
    np.testing.assert_allclose(np.cov(Z.T, ddof=0), np.eye(3), atol=1e-7)
    whitener = Whitener(method="zca").fit(X)
    covariance = np.cov(whitener.transform(X).T, ddof=0)
    np.testing.assert_allclose(np.linalg.eigvalsh(covariance), [0, 1, 1, 1], atol=1e-6)
    np.testing.assert_allclose(whitener.inverse_transform(whitener.transform(X)), X, rtol=1e-6)
    with pytest.raises(ValueError, match=r"singular.*use method 'zca' or 'pca'"):
        Whitener(method="cholesky").fit(X)
    Whitener(method="cholesky", shrinkage=0.1).fit(X)


def test_shrinkage_and_weights(seed):
    X = rows(seed)
    shrunk = Whitener(shrinkage=0.3).fit(X)
    S = np.cov(X.T, ddof=0)
    expected = 0.7 * S + 0.3 * np.trace(S) / 3 * np.eye(3)
    np.testing.assert_allclose(shrunk.covariance_, expected)
    weights = np.random.default_rng(seed).integers(0, 3, 80)
    weighted = Whitener().fit(X, sample_weight=weights)
    repeated = Whitener().fit(np.repeat(X, weights, axis=0))
    np.testing.assert_allclose(weighted.whitening_, repeated.whitening_, rtol=1e-7)


def test_names_output_and_saving(tmp_path, seed):
    frame = pd.DataFrame(rows(seed), columns=list("abc"))
    whitener = Whitener().set_output(transform="pandas").fit(frame)
    assert list(whitener.transform(frame).columns) == list("abc")
    assert Whitener(method="pca").fit(frame).get_feature_names_out().tolist() == [
        "whitener0",
        "whitener1",
        "whitener2",
    ]
    assert Whitener().fit(rows(seed)).get_feature_names_out().tolist() == ["x0", "x1", "x2"]
    with pytest.raises(ValueError, match="not equal to feature_names_in_"):
        whitener.get_feature_names_out(list("xyz"))
    plain = Whitener().fit(frame)
    corollary.save(plain, tmp_path / "whitener.corollary")
    loaded = corollary.load(tmp_path / "whitener.corollary")
    np.testing.assert_array_equal(loaded.transform(frame), plain.transform(frame))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: whitening_matrix([[1.0]], method="ica"), "'method' parameter of whitening_matrix"),
        (lambda: whitening_matrix([[1.0, 2.0]]), "symmetric covariance"),
        (lambda: whitening_matrix([[1.0, 2.0], [2.0, 1.0]]), "positive semi-definite.*eigenvalue"),
        (lambda: Whitener(shrinkage=2).fit([[1.0], [2.0]]), "'shrinkage' parameter of Whitener"),
        (lambda: Whitener().fit([[1.0]]), "1 sample"),
        (
            lambda: Whitener().fit([[1.0], [2.0]]).inverse_transform([[1.0, 2.0]]),
            "has 1 components. Got 2 columns",
        ),
    ],
)
def test_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_squares_that_overflow_are_refused():
    X = np.array([[1.0, 1e200], [2.0, -1e200], [3.0, np.pi]])
    with pytest.raises(ValueError, match="Whitener needs features whose squares have a finite sum"):
        Whitener().fit(X)
    assert np.isfinite(Whitener().fit_transform(X * 1e-60)).all()
