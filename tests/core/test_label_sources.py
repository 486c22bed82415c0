"""Class labels in files, data frames and Dask collections: text, whole numbers, truth values."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import corollary
from corollary.core.summary import open_source
from corollary.linear import LogisticRegression, Ridge

N = 600


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(rng.normal(size=(N, 2)), columns=["a", "b"])
    score = frame["a"] + 0.5 * rng.logistic(size=N)
    frame["word"] = np.where(score > 0.7, "höher", np.where(score > -0.7, "mid", "low"))
    frame["number"] = np.where(score > 0, 7, -3)
    frame["truth"] = score > 0
    frame["weight"] = rng.integers(0, 3, N).astype(float)
    return frame


TARGETS = ["word", "number", "truth"]


def as_parquet(table, tmp_path):
    path = tmp_path / "table.parquet"
    table.to_parquet(path, row_group_size=100)
    return path


def as_folder(table, tmp_path):
    folder = tmp_path / "parts"
    folder.mkdir()
    for part in range(3):
        table.iloc[part * 200 : (part + 1) * 200].to_parquet(folder / f"{part}.parquet")
    return folder


def as_csv(table, tmp_path):
    path = tmp_path / "table.csv"
    table.to_csv(path, index=False)
    return path


def as_frame(table, tmp_path):
    return table


def as_polars(table, tmp_path):
    return pl.from_pandas(table)


def as_categories(table, tmp_path):
    return table.astype(dict.fromkeys(TARGETS, "category"))


def as_categories_in_parquet(table, tmp_path):
    return as_parquet(as_categories(table, tmp_path), tmp_path)


def as_objects(table, tmp_path):
    return table.astype(dict.fromkeys(TARGETS, object))


def as_frames(table, tmp_path):
    return [table.iloc[:50], table.iloc[50:]]


def as_dask(table, tmp_path):
    dd = pytest.importorskip("dask.dataframe")
    return dd.from_pandas(table, npartitions=4)


FORMS = [as_parquet, as_folder, as_csv, as_frame, as_polars, as_categories]
FORMS += [as_categories_in_parquet, as_objects, as_frames, as_dask]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("form", FORMS)
def test_labels_keep_their_type(table, tmp_path, form, target):
    model = LogisticRegression(tol=1e-10).fit_source(
        form(table, tmp_path), target=target, columns=["a", "b"], sample_weight="weight"
    )
    X, y = table[["a", "b"]], table[target]
    expected = LogisticRegression(tol=1e-10).fit(X, y, sample_weight=table["weight"])
    assert model.classes_.tolist() == expected.classes_.tolist()
    assert model.classes_.dtype.kind == expected.classes_.dtype.kind
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-6, atol=1e-9)
    assert model.predict(X).tolist() == expected.predict(X).tolist()
    path = tmp_path / "model.corollary"
    corollary.save(model, path)
    assert corollary.load(path).predict(X).tolist() == expected.predict(X).tolist()


def test_a_mapping_of_class_weights(table, tmp_path):
    weights = {"höher": 1.0, "mid": 2.0, "low": 0.5}
    columns = ["a", "b"]
    model = LogisticRegression(class_weight=weights, tol=1e-10)
    model.fit_source(as_csv(table, tmp_path), target="word", columns=columns)
    expected = LogisticRegression(class_weight=weights, tol=1e-10)
    expected.fit(table[columns], table["word"])
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-6, atol=1e-9)


def test_chunks_of_text(table):
    X, y = table[["a", "b"]].to_numpy(), table["word"].to_numpy(dtype=object)
    model = LogisticRegression().fit_source([(X[:100], y[:100]), (X[100:], y[100:])])
    assert model.classes_.tolist() == ["höher", "low", "mid"]


def test_the_rest_stays_numeric(table, tmp_path):
    path = as_parquet(table, tmp_path)
    with pytest.raises(ValueError, match=r"Column 'word' of table.parquet .* numbers are needed"):
        LogisticRegression().fit_source(path, target="number")
    with pytest.raises(ValueError, match=r"Column 'word' of table.parquet .* numbers are needed"):
        Ridge().fit_source(path, target="word", columns=["a"])


@pytest.mark.parametrize("form", [as_parquet, as_csv, as_frame, as_frames, as_polars, as_dask])
def test_a_missing_label_is_named(table, tmp_path, form):
    holes = table.copy()
    holes.loc[N - 1, "word"] = None
    with pytest.raises(ValueError, match="missing"):
        LogisticRegression().fit_source(form(holes, tmp_path), target="word", columns=["a", "b"])


def test_labels_of_two_kinds(table, tmp_path):
    mixed = table.astype({"word": object})
    mixed.loc[5, "word"] = 3
    match = "either strings or numbers"
    with pytest.raises(ValueError, match=match):
        LogisticRegression().fit_source(mixed, target="word", columns=["a", "b"])
    X = table[["a", "b"]].to_numpy()
    halves = [(X[:300], np.array(["u"] * 300)), (X[300:], np.zeros(300))]
    with pytest.raises(ValueError, match=match):
        LogisticRegression().fit_source(halves)
    folder = as_folder(table, tmp_path)
    table.assign(word=1).to_parquet(folder / "9.parquet")
    with pytest.raises(ValueError, match=r"Column 'word' of 9.parquet has type int64"):
        LogisticRegression().fit_source(folder, target="word", columns=["a", "b"])
    late = tmp_path / "late.csv"
    late.write_text("a,y\n" + "1,2\n0,1\n" * 700_000 + "1,oops\n")
    with pytest.raises(ValueError, match=r"late.csv holds a value that is not .*oops"):
        LogisticRegression().fit_source(late, target="y")


def test_continuous_labels_are_refused_as_in_memory(table, tmp_path):
    path = as_parquet(table, tmp_path)
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        LogisticRegression().fit_source(path, target="b", columns=["a"])


def test_a_source_of_labels_has_one_target(table):
    source = open_source(table, target="word", columns=["a"], labels=True)
    assert (source.n_targets, source.target_ndim) == (1, 1)
    with pytest.raises(ValueError, match="one column of labels"):
        open_source(table, target=["word", "truth"], columns=["a"], labels=True)


# -- broken files ------------------------------------------------------------------------------


def test_a_truncated_parquet_file_is_named(table, tmp_path):
    path = as_parquet(table, tmp_path)
    whole = path.read_bytes()
    for size in (3, 100, len(whole) - 1):
        path.write_bytes(whole[:size])
        with pytest.raises(ValueError, match=r"table.parquet cannot be read"):
            Ridge().fit_source(path, target="number", columns=["a"])


def test_a_damaged_page_is_named(tmp_path):
    path = tmp_path / "table.parquet"
    values = np.random.default_rng(0).normal(size=20_000)
    pq.write_table(pa.table({"a": values, "y": values}), path, compression="zstd")
    whole = bytearray(path.read_bytes())
    whole[2_000:90_000] = bytes(88_000)
    path.write_bytes(bytes(whole))
    with pytest.raises(ValueError, match=r"table.parquet cannot be read"):
        Ridge().fit_source(path, target="y")


@pytest.mark.parametrize(
    "content",
    [
        b"a,y\n1,2\n3\n",
        b"a,y\n1,2\n3,4,5\n",
        b'a,y\n1,"2\n3,4\n',
        b"a,\xff\n1,2\n",
        b"\x1f\x8b\x00",
    ],
    ids=["short row", "long row", "open quote", "not text", "not gzip"],
)
def test_a_broken_csv_file_is_named(tmp_path, content):
    path = tmp_path / ("table.csv.gz" if content[:2] == b"\x1f\x8b" else "table.csv")
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"table.csv"):
        Ridge().fit_source(path, target="y", columns=["a"])


def test_a_missing_number_in_the_last_batch(tmp_path):
    path = tmp_path / "late.parquet"
    values = np.arange(200_000.0)
    holes = pa.array([*values[:-1], None])
    pq.write_table(pa.table({"a": holes, "y": values}), path, row_group_size=50_000)
    with pytest.raises(ValueError, match=r"Column 'a' .* missing value in row 199999"):
        Ridge().fit_source(path, target="y")


def test_columns_may_stand_in_another_order(table, tmp_path):
    folder = tmp_path / "parts"
    folder.mkdir()
    table[["a", "b", "number"]].iloc[:300].to_parquet(folder / "1.parquet")
    table[["number", "b", "a"]].iloc[300:].to_parquet(folder / "2.parquet")
    model = Ridge().fit_source(folder, target="number")
    expected = Ridge().fit(table[["a", "b"]], table["number"])
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-9)
