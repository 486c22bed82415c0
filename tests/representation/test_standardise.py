import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn import preprocessing
from sklearn.linear_model import LinearRegression

import corollary
from corollary.representation import StandardScaler, feature_moments, standardise


def rows(seed, n=60):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 4)) * [1, 100, 1e-3, 5] + [0, 1e6, 3, -2]


def test_unit_variances_and_agreement_with_scikit_learn(seed):
    X = rows(seed)
    peer = preprocessing.StandardScaler().fit(X)
    ours = StandardScaler().fit(X)
    np.testing.assert_allclose(ours.mean_, peer.mean_)
    np.testing.assert_allclose(ours.scale_, peer.scale_)
    Z = ours.transform(X)
    np.testing.assert_allclose(Z, peer.transform(X), atol=1e-8)
    np.testing.assert_allclose(Z.mean(axis=0), 0, atol=1e-8)
    np.testing.assert_allclose(Z.std(axis=0), 1)
    np.testing.assert_allclose(standardise(X), Z, atol=1e-12)
    np.testing.assert_allclose(ours.inverse_transform(Z), X)


@pytest.mark.parametrize("with_mean", [True, False])
@pytest.mark.parametrize("with_std", [True, False])
def test_each_step_alone(with_mean, with_std, seed):
    X = rows(seed)
    peer = preprocessing.StandardScaler(with_mean=with_mean, with_std=with_std).fit(X)
    ours = StandardScaler(with_mean=with_mean, with_std=with_std).fit(X)
    np.testing.assert_allclose(ours.transform(X), peer.transform(X), atol=1e-8)
    np.testing.assert_allclose(ours.inverse_transform(ours.transform(X)), X)


def test_predictions_of_least_squares_do_not_change_and_the_condition_number_drops(seed):
    X = rows(seed)
    y = np.random.default_rng(seed).normal(size=60)
    scaler = StandardScaler().fit(X)
    raw, scaled = LinearRegression().fit(X, y), LinearRegression().fit(scaler.transform(X), y)
    np.testing.assert_allclose(raw.predict(X), scaled.predict(scaler.transform(X)), atol=1e-6)
    assert np.linalg.cond(scaler.transform(X)) < 1e-3 * np.linalg.cond(X)


def test_scaling_does_not_decorrelate(seed):
    X = rows(seed)
    X[:, 1] += 200 * X[:, 0]
    assert np.isclose(np.corrcoef(standardise(X).T)[0, 1], np.corrcoef(X.T)[0, 1])
    assert abs(np.corrcoef(standardise(X).T)[0, 1]) > 0.5


@given(st.lists(st.integers(0, 3), min_size=6, max_size=6).filter(lambda w: sum(w) > 1))
def test_a_weight_is_a_repetition(weights):
    X = np.array([[1.0, 5.0], [2.0, 5.0], [4.0, 0.0], [8.0, 1.0], [0.0, 2.0], [3.0, 9.0]])
    weighted = StandardScaler().fit(X, sample_weight=weights)
    repeated = StandardScaler().fit(np.repeat(X, weights, axis=0))
    np.testing.assert_allclose(weighted.mean_, repeated.mean_)
    np.testing.assert_allclose(weighted.scale_, repeated.scale_)
    np.testing.assert_allclose(
        standardise(X, sample_weight=weights), weighted.transform(X), atol=1e-12
    )


@given(st.integers(1, 59))
def test_partial_fits_equal_one_fit(cut):
    X = rows(cut)
    X[cut // 2, 1] = np.nan
    whole = StandardScaler().fit(X)
    parts = StandardScaler().partial_fit(X[:cut]).partial_fit(X[cut:])
    np.testing.assert_allclose(parts.mean_, whole.mean_)
    np.testing.assert_allclose(parts.var_, whole.var_, rtol=1e-6)
    np.testing.assert_allclose(parts.scale_, whole.scale_, rtol=1e-6)
    assert parts.fingerprint_.n_rows == 60


def test_missing_values_are_ignored_and_stay():
    X = np.array([[1.0, np.nan], [3.0, np.nan], [np.nan, np.nan]])
    scaler = StandardScaler().fit(X)
    assert scaler.mean_[0] == 2
    assert np.isnan(scaler.mean_[1])
    assert scaler.scale_.tolist() == [1, 1]
    np.testing.assert_array_equal(scaler.transform(X)[:, 0], [-1, 1, np.nan])
    later = scaler.partial_fit([[2.0, 4.0], [2.0, 8.0]])
    assert later.mean_.tolist() == [2, 6]


def test_constant_features_become_zero():
    for value in (0.1, 1e9 + 0.3, -1e-9):
        X = np.full((1000, 1), value)
        assert np.all(StandardScaler().fit_transform(X) == 0)
        weights = np.linspace(0.1, 2, 1000)
        assert StandardScaler().fit(X, sample_weight=weights).scale_[0] == 1
        halves = StandardScaler().partial_fit(X[:300]).partial_fit(X[300:])
        assert halves.scale_[0] == 1
        assert StandardScaler(with_mean=False).fit(sparse.csr_matrix(X)).scale_[0] == 1
    # A small but real spread on a large mean is kept.
    X = 1e8 + np.arange(5.0)[:, None]
    assert np.isclose(StandardScaler().fit(X).scale_[0], np.sqrt(2))


def test_sparse_input_without_centring(seed):
    X = rows(seed) * (np.random.default_rng(seed).uniform(size=(60, 4)) > 0.6)
    thin = sparse.csr_matrix(X)
    ours = StandardScaler(with_mean=False).fit(thin)
    dense = StandardScaler(with_mean=False).fit(X)
    np.testing.assert_allclose(ours.scale_, dense.scale_)
    Z = ours.transform(thin)
    assert sparse.issparse(Z)
    np.testing.assert_allclose(Z.toarray(), dense.transform(X))
    np.testing.assert_allclose(ours.inverse_transform(Z).toarray(), X)
    for method in (StandardScaler().fit, StandardScaler().partial_fit):
        with pytest.raises(ValueError, match="use with_mean=False"):
            method(thin)
    with pytest.raises(ValueError, match="use with_mean=False"):
        StandardScaler().fit(X).transform(thin)


def test_missing_values_in_sparse_rows(seed):
    X = rows(seed) * (np.random.default_rng(seed).uniform(size=(60, 4)) > 0.3)
    X[:, 3] = rows(seed)[:, 3]  # a column that is all stored
    X[:20:3, 1], X[4, 3] = np.nan, np.nan
    weights = np.random.default_rng(seed).uniform(size=60)
    ours = StandardScaler(with_mean=False).fit(sparse.csr_matrix(X), sample_weight=weights)
    dense = StandardScaler(with_mean=False).fit(X, sample_weight=weights)
    for name in ("weight_", "mean_", "var_", "scale_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(dense, name), err_msg=name)


def test_what_is_not_asked_for_is_none(tmp_path, seed):
    X = rows(seed)
    for with_mean in (True, False):
        peer = preprocessing.StandardScaler(with_mean=with_mean, with_std=False)
        ours = StandardScaler(with_mean=with_mean, with_std=False)
        for part in (X[:10], X[10:]):
            peer.partial_fit(part)
            ours.partial_fit(part)
        assert (ours.var_, ours.scale_) == (None, None) == (peer.var_, peer.scale_)
        assert (ours.mean_ is None) == (peer.mean_ is None) == (not with_mean)
        assert ours.n_samples_seen_ == 60
        corollary.save(ours, tmp_path / "scaler.corollary")
        loaded = corollary.load(tmp_path / "scaler.corollary")
        np.testing.assert_allclose(loaded.transform(X), peer.transform(X), atol=1e-8)


@pytest.mark.parametrize("spread", [1e-15, 1e-13, 1e-11])
@pytest.mark.parametrize("n", [10, 1000, 100_000])
def test_the_same_features_are_constant_as_in_scikit_learn(n, spread):
    X = 1 + spread * np.where(np.arange(n) % 2, 1.0, -1.0)[:, None]
    peer = preprocessing.StandardScaler(with_mean=False).fit(X)
    for form in (X, sparse.csr_matrix(X)):
        np.testing.assert_allclose(StandardScaler(with_mean=False).fit(form).scale_, peer.scale_)


def test_frames_names_and_output(seed):
    X = rows(seed)
    frame = pd.DataFrame(X, columns=list("abcd"))
    scaler = StandardScaler().set_output(transform="pandas").fit(frame)
    Z = scaler.transform(frame)
    assert list(Z.columns) == list("abcd")
    assert scaler.get_feature_names_out().tolist() == list("abcd")
    out = StandardScaler().set_output(transform="polars").fit_transform(pl.DataFrame(frame))
    np.testing.assert_allclose(out.to_numpy(), Z.to_numpy())
    assert frame["b"].iloc[0] == X[0, 1]  # the input is left alone


def test_copy_false_overwrites_and_float32_stays(seed):
    X = rows(seed)
    Z = StandardScaler(copy=False).fit(X).transform(X)
    assert Z is X or np.shares_memory(Z, X)
    small = rows(seed).astype(np.float32)
    assert StandardScaler().fit_transform(small).dtype == np.float32


def test_saving(tmp_path, seed):
    scaler = StandardScaler().fit(rows(seed))
    corollary.save(scaler, tmp_path / "scaler.corollary")
    loaded = corollary.load(tmp_path / "scaler.corollary")
    np.testing.assert_array_equal(loaded.transform(rows(seed)), scaler.transform(rows(seed)))


def test_moments_of_columns_with_large_means():
    X = 1e9 + np.array([[0.0], [1.0], [2.0]])
    weight, mean, variance = feature_moments(X)
    assert (weight[0], mean[0]) == (3, 1e9 + 1)
    assert np.isclose(variance[0], 2 / 3)
    # A row of weight zero changes nothing, whatever it holds.
    again = feature_moments(np.append(X, [[1e300]], axis=0), np.array([1, 1, 1, 0]))
    assert again[1][0] == mean[0]
    with pytest.raises(ValueError, match="expecting 1 features"):
        StandardScaler().fit(X).inverse_transform([[1.0, 2.0]])


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_squares_that_overflow_are_refused(kind):
    X = np.array([[1.0, 1e200], [2.0, -1e200], [3.0, np.pi]])
    scaler = StandardScaler(with_mean=False)
    with pytest.raises(ValueError, match=r"Feature 1 has values .* Divide the feature by"):
        scaler.fit(kind(X))
    with pytest.raises(ValueError, match="Feature 1 has values"):
        feature_moments(kind(X))
    assert scaler.fit(kind(X * [1.0, 1e-60])).var_[1] == pytest.approx(2 / 3 * 1e280)
    scaler = StandardScaler(with_mean=False).partial_fit(kind(np.full((2, 2), 1e160)))
    with pytest.raises(ValueError, match="Feature 0 has values"):
        scaler.partial_fit(kind(np.full((2, 2), -1e160)))
    assert scaler.mean_.tolist() == [1e160, 1e160]  # as it was


def test_rows_seen_are_counted_as_in_the_peer(seed):
    X = np.random.default_rng(seed).normal(size=(7, 3))
    with_gap = X.copy()
    with_gap[0, 1] = np.nan
    weight = np.arange(7) / 4.0
    for rows, options in ((X, {}), (with_gap, {}), (X, {"sample_weight": weight})):
        ours, theirs = (
            StandardScaler().fit(rows, **options),
            preprocessing.StandardScaler().fit(rows, **options),
        )
        np.testing.assert_allclose(ours.n_samples_seen_, theirs.n_samples_seen_)
        assert np.ndim(ours.n_samples_seen_) == np.ndim(theirs.n_samples_seen_)
    assert not hasattr(StandardScaler(), "n_samples_seen_")
