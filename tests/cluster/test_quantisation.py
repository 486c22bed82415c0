"""Vector quantisation: round trips, codes and distortion."""

import numpy as np
import pytest
from scipy import sparse

from corollary.cluster import VectorQuantizer, nearest_centers

X = np.random.default_rng(0).normal(size=(300, 3))


def test_a_round_trip_gives_the_nearest_entry():
    index = VectorQuantizer(10, random_state=0).fit(X)
    codes = index.transform(X)
    assert codes.shape == (300, 1)
    assert np.array_equal(codes[:, 0], nearest_centers(X, index.codebook_))
    back = index.inverse_transform(codes)
    assert np.array_equal(back, index.codebook_[codes[:, 0]])
    assert ((X - back) ** 2).sum(axis=1).mean() == pytest.approx(index.distortion_)
    assert np.array_equal(index.transform(back), codes)
    assert list(index.get_feature_names_out()) == ["vectorquantizer0"]


def test_one_hot_codes_name_the_same_entry():
    index = VectorQuantizer(10, random_state=0).fit(X)
    hot = VectorQuantizer(10, encoding="one-hot", random_state=0).fit(X)
    table = hot.transform(X)
    assert set(np.unique(table)) == {0.0, 1.0}
    assert (table.sum(axis=1) == 1).all()
    assert np.array_equal(table.argmax(axis=1), index.transform(X)[:, 0])
    assert np.array_equal(hot.inverse_transform(table), index.inverse_transform(index.transform(X)))
    thin = hot.set_params(sparse_output=True).transform(X)
    assert sparse.issparse(thin)
    assert np.array_equal(thin.toarray(), table)
    assert np.array_equal(hot.inverse_transform(thin), hot.inverse_transform(table))
    assert len(hot.get_feature_names_out()) == 10


def test_distortion_falls_with_the_codes_and_weighs_rows():
    falls = [VectorQuantizer(k, n_init=5, random_state=0).fit(X).distortion_ for k in (1, 2, 8, 64)]
    assert sorted(falls, reverse=True) == falls
    assert falls[0] == pytest.approx(X.var(axis=0).sum())
    weight = np.random.default_rng(1).uniform(size=300)
    one = VectorQuantizer(1).fit(X, sample_weight=weight)
    mean = np.average(X, axis=0, weights=weight)
    assert one.distortion_ == pytest.approx(
        np.average(((X - mean) ** 2).sum(axis=1), weights=weight)
    )
    assert VectorQuantizer(300, random_state=0).fit(X).distortion_ == 0.0


def test_bad_input_is_told():
    model = VectorQuantizer(4, random_state=0).fit(X)
    for codes in ([[4]], [[-1]], [[0.5]]):
        with pytest.raises(ValueError, match="whole numbers from 0 to 3"):
            model.inverse_transform(codes)
    with pytest.raises(ValueError, match="should be >="):
        VectorQuantizer(301).fit(X)
