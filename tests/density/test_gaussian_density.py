"""The normal density of rows, from memory, chunks and files."""

import numpy as np
import pytest
from scipy import stats

import corollary
from corollary.density import GaussianDensity

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 3)) @ np.array([[1.0, 0, 0], [0.5, 2, 0], [0, 0, 0.1]]) + [0, 5, -3]


def test_mean_covariance_and_density():
    model = GaussianDensity().fit(X)
    np.testing.assert_allclose(model.mean_, X.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(model.covariance_, np.cov(X.T, ddof=0), rtol=1e-10)
    law = stats.multivariate_normal(model.mean_, model.covariance_)
    np.testing.assert_allclose(model.score_samples(X), law.logpdf(X), rtol=1e-9)
    assert model.score(X) == pytest.approx(law.logpdf(X).mean())


def test_draws():
    model = GaussianDensity().fit(X)
    draws = model.sample(20_000, random_state=0)
    np.testing.assert_allclose(draws.mean(axis=0), model.mean_, atol=0.06)
    np.testing.assert_allclose(np.cov(draws.T), model.covariance_, rtol=0.05, atol=0.05)
    np.testing.assert_array_equal(draws, model.sample(20_000, random_state=0))


def test_weights_and_sources(tmp_path):
    weight = np.arange(200) % 3
    weighted = GaussianDensity().fit(X, sample_weight=weight)
    copied = GaussianDensity().fit(np.repeat(X, weight, axis=0))
    np.testing.assert_allclose(weighted.covariance_, copied.covariance_, rtol=1e-10)
    whole = GaussianDensity().fit(X)
    for data in ([(X[:70],), (X[70:],)], [(X, None)], [(X[:9], np.ones(9)), (X[9:], np.ones(191))]):
        chunks = GaussianDensity().fit_source(data)
        np.testing.assert_allclose(chunks.covariance_, whole.covariance_, rtol=1e-12)
        assert chunks.n_features_in_ == 3
    heavy = GaussianDensity().fit_source([(X, None, weight.astype(float))])
    np.testing.assert_allclose(heavy.covariance_, weighted.covariance_, rtol=1e-12)
    path = tmp_path / "rows.csv"
    import pandas as pd

    pd.DataFrame(X, columns=["a", "b", "c"]).assign(w=weight).to_csv(path, index=False)
    stored = GaussianDensity().fit_source(path, sample_weight="w")
    np.testing.assert_allclose(stored.covariance_, weighted.covariance_, rtol=1e-9)
    assert list(stored.feature_names_in_) == ["a", "b", "c"]


def test_planes_are_refused_or_thickened(tmp_path):
    plane = np.column_stack([X, X.sum(axis=1)])
    with pytest.raises(ValueError, match="lie in a plane, where no density exists"):
        GaussianDensity().fit(plane)
    with pytest.raises(ValueError, match=r"\(n_samples=1, 2 columns\) lie in a plane"):
        GaussianDensity().fit([[1.0, 2.0]])
    with pytest.raises(ValueError, match="squares have a finite sum"):
        GaussianDensity().fit([[1e200], [2.0], [3.0]])
    model = GaussianDensity(reg_covar=0.01).fit(plane)
    np.testing.assert_allclose(
        model.covariance_, np.cov(plane.T, ddof=0) + 0.01 * np.eye(4), rtol=1e-9
    )
    corollary.save(model, tmp_path / "model.corollary")
    loaded = corollary.load(tmp_path / "model.corollary")
    np.testing.assert_array_equal(loaded.score_samples(plane), model.score_samples(plane))
