"""Hashing of strings and tables."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import corollary
from corollary.online import HashingEncoder, OnlineClassifier, hash_strings

MASK = 2**64 - 1


def plain_hash(text, salt=0):
    """FNV-1a of the UTF-8 bytes, then SplitMix64's finaliser."""
    z = 0xCBF29CE484222325 ^ salt
    for byte in text.encode():
        z = (z ^ byte) * 0x100000001B3 & MASK
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & MASK
    return z ^ (z >> 31)


WORDS = ["", "a", "red", "grün", "日本", "a longer string with spaces", "red"]


@pytest.mark.parametrize("salt", [0, 5, 2**63 + 1])
def test_hashes_follow_their_definition(salt):
    expected = [plain_hash(word, salt) for word in WORDS]
    assert hash_strings(WORDS, salt=salt).tolist() == expected
    assert hash_strings(np.array(WORDS, dtype=object), salt=salt).tolist() == expected
    assert hash_strings(pd.Series(WORDS), salt=salt).tolist() == expected
    assert hash_strings([]).tolist() == []
    assert hash_strings([None, "a"])[0] == 0


def test_slices_of_arrow_arrays():
    part = pa.array(WORDS)[2:5]
    assert hash_strings(part).tolist() == [plain_hash(word) for word in WORDS[2:5]]


def expected_row(row, names, n, signed=True):
    out = np.zeros(n)
    for name, value in zip(names, row):
        salt = plain_hash(str(name))
        if isinstance(value, str):
            code = plain_hash(value, salt)
            out[code % n] += (1 - 2 * (code >> 63)) if signed else 1
        elif value is not None:
            out[salt % n] += value
    return out


@pytest.mark.parametrize("signed", [True, False])
def test_rows_follow_their_definition(signed):
    frame = pd.DataFrame(
        {"colour": ["red", "blue", None, "red"], "size": [1.5, 0.0, -2.0, 3.0], "n": [1, 2, 3, 4]}
    )
    encoder = HashingEncoder(n_features=7, alternate_sign=signed)  # small: collisions happen
    rows = encoder.transform(frame)
    listed = [
        [None if isinstance(v, float) and np.isnan(v) else v for v in row]
        for row in frame.astype(object).to_numpy().tolist()
    ]
    expected = [expected_row(row, frame.columns, 7, signed) for row in listed]
    np.testing.assert_allclose(rows.toarray(), expected)
    assert rows.has_canonical_format


def test_every_kind_of_table_gives_the_same_rows():
    frame = pd.DataFrame({"a": ["x", "y", "x"], "b": ["u", "v", "w"], "c": [1.0, 2.0, 3.0]})
    expected = HashingEncoder().transform(frame).toarray()
    categories = frame.assign(a=frame["a"].astype("category"))
    tables = (pl.from_pandas(frame), pl.from_pandas(frame).lazy(), pa.Table.from_pandas(frame))
    for table in (categories, frame.astype({"b": object}), *tables):
        rows = HashingEncoder().fit(table).transform(table)
        np.testing.assert_array_equal(rows.toarray(), expected)
    # Arrays have no names: their columns are called 0, 1, 2.
    strings = frame[["a", "b"]].to_numpy(dtype=str)
    named = frame[["a", "b"]].set_axis(["0", "1"], axis=1)
    np.testing.assert_array_equal(
        HashingEncoder().transform(strings).toarray(), HashingEncoder().transform(named).toarray()
    )
    np.testing.assert_array_equal(
        HashingEncoder().transform(strings.astype(object)).toarray(),
        HashingEncoder().transform(named).toarray(),
    )


def test_missing_categories_count_for_nothing():
    frame = pd.DataFrame({"a": pd.Categorical(["x", None, "x"])})
    rows = HashingEncoder(n_features=8).transform(frame)
    np.testing.assert_array_equal(np.diff(rows.indptr), [1, 0, 1])
    empty = pd.DataFrame({"a": [None, None]})
    assert HashingEncoder(n_features=8).transform(empty).nnz == 0


def test_signs_make_inner_products_unbiased(seed):
    # Different strings meet in few places; with signs the mean of their products is zero.
    rng = np.random.default_rng(seed)
    first = pd.DataFrame({"a": rng.integers(0, 10**9, 20_000).astype(str)})
    second = pd.DataFrame({"a": rng.integers(0, 10**9, 20_000).astype(str)})
    signed, plain = HashingEncoder(n_features=4), HashingEncoder(n_features=4, alternate_sign=False)
    products = signed.transform(first).multiply(signed.transform(second)).sum(axis=1)
    assert abs(products.mean()) < 5 * np.sqrt(0.25 / 20_000)
    products = plain.transform(first).multiply(plain.transform(second)).sum(axis=1)
    assert products.mean() == pytest.approx(0.25, abs=0.02)


def test_places_are_uniform():
    rows = HashingEncoder(n_features=64).transform(
        pd.DataFrame({"a": [f"value {i}" for i in range(64_000)]})
    )
    counts = np.bincount(rows.indices, minlength=64)
    assert np.abs(counts - 1000).max() < 6 * np.sqrt(1000)


def test_a_stream_of_strings_is_learnt(seed):
    rng = np.random.default_rng(seed)
    cities = np.array(["Rome", "Oslo", "Bern", "Riga"])
    frame = pd.DataFrame({"city": rng.choice(cities, 4000), "x": rng.normal(size=4000)})
    y = np.where(frame["city"].isin(["Rome", "Riga"]), "warm", "cold")
    encoder, model = HashingEncoder(n_features=2**10), OnlineClassifier()
    for i in range(0, 4000, 500):
        chunk = frame.iloc[i : i + 500]
        model.partial_fit(encoder.transform(chunk), y[i : i + 500], classes=["cold", "warm"])
    assert (model.predict(encoder.transform(frame)) == y).mean() > 0.99


def test_errors_and_files(tmp_path):
    with pytest.raises(ValueError, match="NaN or infinity in column 'a'"):
        HashingEncoder().transform(pd.DataFrame({"a": [1.0, np.nan]}))
    with pytest.raises(ValueError, match="has type timestamp"):
        HashingEncoder().transform(pd.DataFrame({"a": pd.to_datetime(["2020-01-01"])}))
    with pytest.raises(ValueError, match="not of both"):
        HashingEncoder().transform(pd.DataFrame({"a": ["x", 1.0]}, dtype=object))
    with pytest.raises(ValueError, match="'n_features' parameter"):
        HashingEncoder(n_features=0).transform(pd.DataFrame({"a": ["x"]}))
    with pytest.raises(ValueError, match="at least one row"):
        HashingEncoder().transform(pd.DataFrame({"a": []}))
    encoder = HashingEncoder(n_features=32)
    corollary.save(encoder, tmp_path / "encoder.corollary")
    again = corollary.load(tmp_path / "encoder.corollary")
    frame = pd.DataFrame({"a": ["x", "y"]})
    np.testing.assert_array_equal(
        again.transform(frame).toarray(), encoder.transform(frame).toarray()
    )


def test_whole_numbers_beyond_double_precision():
    rows = HashingEncoder(n_features=16).transform(np.array([[10**18 + 1], [5]]))
    np.testing.assert_array_equal(rows.data, [1e18, 5.0])
