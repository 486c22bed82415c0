"""Missing numbers against the conditional mean of a normal distribution, and in the encoder."""

import numpy as np
import pandas as pd
import pytest

import corollary
from corollary.core.files import ModelFileError
from corollary.representation import TableEncoder
from corollary.representation.table import _fill
from corollary.representation.table._fill import Moments, learn_moments, predict_missing


def correlated(rng, d):
    root = rng.normal(size=(d, d))
    covariance = root @ root.T + np.eye(d)
    return rng.normal(size=d), covariance


def test_predictions_are_conditional_means(seed, monkeypatch):
    monkeypatch.setattr(_fill, "_BATCH", 30)  # several parts for one number of missing values
    rng = np.random.default_rng(seed)
    mean, covariance = correlated(rng, 5)
    spread = np.sqrt(np.diag(covariance))
    X = rng.multivariate_normal(mean, covariance, size=60)
    X[rng.random(X.shape) < 0.4] = np.nan
    X[0], X[1] = np.nan, 1.0
    precision = np.linalg.inv(covariance / np.outer(spread, spread))
    filled, unexplained = predict_missing(X, Moments(mean, spread, precision))
    for row, found, share in zip(X, filled, unexplained):
        m, o = np.isnan(row), ~np.isnan(row)
        gain = covariance[np.ix_(m, o)] @ np.linalg.inv(covariance[np.ix_(o, o)])
        left = covariance[np.ix_(m, m)] - gain @ covariance[np.ix_(o, m)]
        np.testing.assert_array_equal(found[o], row[o])
        np.testing.assert_allclose(found[m], mean[m] + gain @ (row[o] - mean[o]), atol=1e-9)
        np.testing.assert_allclose(share[m], np.diag(left) / spread[m] ** 2, atol=1e-9)
        assert not share[o].any()


def test_moments_are_those_of_the_rows(seed):
    rng = np.random.default_rng(seed)
    mean, covariance = correlated(rng, 3)
    X = np.column_stack([rng.multivariate_normal(mean, covariance, size=90), np.full(90, 7.0)])
    moments = learn_moments(np.vstack([X, np.full((5, 4), np.nan)]))
    np.testing.assert_allclose(moments.mean, X.mean(axis=0))
    np.testing.assert_allclose(moments.spread, np.append(X[:, :3].std(axis=0), 1.0), atol=1e-12)
    shrunk = np.eye(4)
    shrunk[:3, :3] += (90 / 94) * (np.corrcoef(X[:, :3], rowvar=False) - np.eye(3))
    np.testing.assert_allclose(np.linalg.inv(moments.precision), shrunk, atol=1e-12)


def test_moments_are_learnt_where_no_row_is_complete(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(4000, 1)) + 0.5 * rng.normal(size=(4000, 12))
    truth = X.copy()
    X[rng.random(X.shape) < 0.4] = np.nan
    X[np.arange(4000), rng.integers(0, 12, 4000)] = np.nan
    moments = learn_moments(X)
    filled, unexplained = predict_missing(X, moments)
    missing = np.isnan(X)
    error = (filled - truth)[missing]
    # Six others, of noise 0.25 each, leave about 0.25 + 0.25 / 6 of a variance of 1.25.
    assert 0.25 < np.mean(error**2) < 0.35
    assert np.mean(unexplained[missing]) == pytest.approx(np.mean(error**2) / 1.25, rel=0.1)


def test_contradicting_correlations_are_shrunk(seed):
    # a and b agree, b and c agree, a and c are opposites: no three numbers are like that.
    z = np.random.default_rng(seed).normal(size=(60, 1))
    gap = np.full((60, 1), np.nan)
    X = np.vstack([np.hstack([z, z, gap]), np.hstack([gap, z, z]), np.hstack([z, gap, -z])])
    moments = learn_moments(X)
    values = np.linalg.eigvalsh(np.linalg.inv(moments.precision))
    assert values[0] == pytest.approx(3 / 63, rel=1e-6)


def test_moments_need_two_rows_per_feature_in_each_pair():
    X = np.random.default_rng(0).normal(size=(8, 4))
    assert learn_moments(X) is not None
    X[0, 0] = np.nan
    assert learn_moments(X) is None
    assert learn_moments(np.empty((5, 0))) is None


def stones(seed, n=500):
    """Lengths of three sides, a skewed weight that follows from them, and a column of noise."""
    rng = np.random.default_rng(seed)
    x = rng.lognormal(1.7, 0.25, size=n)
    sides = {"x": x, "y": 1.1 * x + rng.normal(0.0, 0.02, n), "z": 0.6 * x}
    weight = 0.006 * x**3 * rng.lognormal(0.0, 0.03, n)
    return pd.DataFrame({**sides, "weight": weight, "noise": rng.normal(size=n) ** 3})


def decoded(encoder, frame):
    features = encoder.transform(frame) * encoder.scale_ + encoder.centre_
    return dict(zip(encoder.get_feature_names_out(), features.T))


def test_a_number_that_others_tell_is_filled_by_them(seed):
    table = stones(seed)
    encoder = TableEncoder().fit(table)
    at = int(table["weight"].argsort().iloc[-20])  # a large stone, far from every median
    row = table.iloc[[at]]
    one = decoded(encoder, row.assign(z=np.nan))
    np.testing.assert_allclose(one["z"], row["z"], rtol=0.05)
    # All sides missing at once: the weight alone must tell them.
    three = decoded(encoder, row.assign(x=np.nan, y=np.nan, z=np.nan))
    for side in "xyz":
        np.testing.assert_allclose(three[side], row[side], rtol=0.1)
    # A skewed number is predicted by its logarithm, and both features say the same.
    light = table.nsmallest(60, "x").tail(20)
    found = decoded(encoder, light.assign(weight=np.nan))
    np.testing.assert_allclose(found["weight"], light["weight"], rtol=0.25)
    np.testing.assert_allclose(found["weight log"], np.log(found["weight"]))
    # Nothing tells the noise.
    np.testing.assert_allclose(
        decoded(encoder, row.assign(noise=np.nan))["noise"], table["noise"].median()
    )


def test_a_prediction_stays_within_the_training_range(seed):
    table = stones(seed)
    encoder = TableEncoder().fit(table)
    far = table.iloc[[0]].assign(y=1.9 * table["y"].max(), z=1.9 * table["z"].max(), x=np.nan)
    assert decoded(encoder, far)["x"] == pytest.approx(table["x"].max())


def test_rows_are_filled_one_by_one_and_in_training_alike(seed):
    table = stones(seed)
    rng = np.random.default_rng(seed)
    for name in ("x", "z", "weight"):
        table.loc[rng.random(len(table)) < 0.1, name] = np.nan
    encoder = TableEncoder()
    features = encoder.fit_transform(table)
    assert np.isfinite(features).all()
    np.testing.assert_allclose(encoder.transform(table), features, atol=1e-10)
    np.testing.assert_allclose(encoder.transform(table.iloc[[7]]), features[[7]], atol=1e-10)


def test_words_among_numbers_keep_the_median(seed):
    table = stones(seed).astype(object)
    table.loc[table.index % 10 == 0, "x"] = "unknown"
    encoder = TableEncoder().fit(table)
    row = table.iloc[[int(table["weight"].astype(float).argmax())]]
    found = decoded(encoder, row.assign(x="unknown"))
    numbers = pd.to_numeric(table["x"], errors="coerce")
    assert found["x=unknown"] == 1.0
    assert found["x"] == pytest.approx(numbers.median())


def test_few_rows_and_many_columns_keep_the_median(seed):
    rng = np.random.default_rng(seed)
    few = pd.DataFrame(np.outer(np.arange(1.0, 12.0), np.ones(6)), columns=list("abcdef"))
    many = pd.DataFrame(rng.normal(size=(1500, 101)) + rng.normal(size=(1500, 1)) * 9)
    for table in (few, many.rename(columns=str)):
        encoder = TableEncoder().fit(table)
        assert encoder.moments_ is None
        name = table.columns[0]
        row = table.iloc[[-1]].assign(**{name: np.nan})
        assert decoded(encoder, row)[name] == pytest.approx(table[name].median())


def test_huge_numbers_are_filled(seed):
    table = stones(seed) * 1e300
    found = decoded(TableEncoder().fit(table), table.iloc[[3]].assign(z=np.nan))
    np.testing.assert_allclose(found["z"], table["z"].iloc[3], rtol=0.05)


@pytest.mark.parametrize(
    "fault",
    [
        lambda m: m.update(mean=m["mean"][1:]),
        lambda m: m.update(precision=-m["precision"]),
        lambda m: m.update(precision=np.triu(m["precision"])),
        lambda m: m.update(spread=0.0 * m["spread"]),
        lambda m: m.pop("spread"),
        lambda m: m.update({k: v[..., 1:][1:] if v.ndim > 1 else v[1:] for k, v in m.items()}),
    ],
)
def test_forged_moments_are_refused(seed, fault, tmp_path, monkeypatch):
    encoder = TableEncoder().fit(stones(seed))
    corollary.save(encoder, tmp_path / "good.corollary")
    again = corollary.load(tmp_path / "good.corollary")
    rows = stones(seed).assign(x=np.nan)
    np.testing.assert_array_equal(again.transform(rows), encoder.transform(rows))
    fault(encoder.moments_)
    schema = type(encoder)._schema
    with monkeypatch.context() as patch:
        patch.setattr(type(schema), "problem", lambda *args: None)
        patch.setattr(schema, "check", None)
        corollary.save(encoder, tmp_path / "bad.corollary")
    with pytest.raises(ModelFileError, match="TableEncoder does not fit"):
        corollary.load(tmp_path / "bad.corollary")
