"""Sources: files, chunks and clusters give the bits of arrays in memory, or a clear error."""

import os
import subprocess
import sys
import textwrap

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from packaging.version import Version
from scipy import sparse

from corollary.core.summary import Moments, open_source, reduce
from corollary.linear import LinearRegression, NormalEquations, Ridge

NAMES = ["height", "width", "depth"]
STARTS = range(0, 20_000, 900)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(7)
    frame = pd.DataFrame(rng.normal(size=(20_000, 3)) + [0.0, 5.0, -2.0], columns=NAMES)
    frame["weight"] = rng.integers(0, 3, 20_000)
    frame["price"] = frame[NAMES] @ [1.0, -2.0, 0.5] + rng.normal(size=20_000)
    frame["rank"] = rng.normal(size=20_000)
    frame["colour"] = "red"
    return frame


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    # Several blocks from a small table, and several batches from a small file.
    monkeypatch.setattr("corollary.core.summary.summary.BLOCK_BYTES", 2**16)
    monkeypatch.setattr("corollary.core.summary.file_source.BATCH_BYTES", 2**17)


@pytest.fixture
def memory(table):
    data = (table[NAMES].to_numpy(), table["price"].to_numpy(), table["weight"].to_numpy(float))
    return reduce(NormalEquations.of_width(3), data)


def bits_of_moments(moments):
    return moments.mean.tobytes() + moments.scatter.tobytes()


def bits(equations):
    return bits_of_moments(equations.moments)


OPTIONS = {"columns": NAMES, "target": "price", "sample_weight": "weight"}


def summarise(data, n_jobs=None, **options):
    source = open_source(data, **options)
    assert (source.n_features, source.n_targets) == (3, 1)
    return source.reduce(NormalEquations.of_width(3), n_jobs=n_jobs)


# -- the same bits -----------------------------------------------------------------------------


@pytest.mark.parametrize("row_group", [20_000, 777])
@pytest.mark.parametrize("n_jobs", [1, 2, None])
def test_parquet_gives_the_bits_of_memory(table, memory, tmp_path, row_group, n_jobs):
    path = tmp_path / "table.parquet"
    table.to_parquet(path, row_group_size=row_group)
    assert bits(summarise(path, n_jobs, **OPTIONS)) == bits(memory)
    assert bits(reduce(NormalEquations.of_width(3), str(path), **OPTIONS)) == bits(memory)


def test_a_folder_of_parquet_files_is_read_in_order(table, memory, tmp_path):
    for i, part in enumerate(np.array_split(np.arange(20_000), 3)):
        table.iloc[part].to_parquet(tmp_path / f"part-{i}.parquet")
    assert bits(summarise(tmp_path, **OPTIONS)) == bits(memory)


@pytest.mark.parametrize("name", ["table.csv", "table.csv.gz", "table.tsv"])
def test_csv_gives_the_bits_of_memory(table, memory, tmp_path, name):
    path = tmp_path / name
    table.to_csv(path, index=False, sep="\t" if "tsv" in name else ",")
    assert bits(summarise(path, **OPTIONS)) == bits(memory)


def test_csv_integers_may_turn_into_decimals_later(tmp_path):
    path = tmp_path / "late.csv"
    rows = ["x,y"] + ["1,2"] * 100_000 + ["1.5,2.5"]
    path.write_text("\n".join(rows))
    found = open_source(path, target="y").reduce(NormalEquations.of_width(1))
    assert found.x_mean[0] == pytest.approx((100_000 + 1.5) / 100_001)


def test_data_frames_and_chunks_of_them(table, memory):
    for data in (
        table,
        pl.from_pandas(table),
        [table[:9000], table[9000:]],
        (table[i : i + 500] for i in range(0, 20_000, 500)),
    ):
        assert bits(summarise(data, **OPTIONS)) == bits(memory)


def test_chunks_of_sparse_rows(seed):
    X = sparse.random(3000, 4, density=0.3, format="csr", random_state=seed)
    y = np.arange(3000.0)
    whole = reduce(NormalEquations.of_width(4), (X, y))
    chunks = [(X[i : i + 999], y[i : i + 999]) for i in range(0, 3000, 999)]
    assert bits(reduce(NormalEquations.of_width(4), chunks)) == bits(whole)


@pytest.mark.parametrize("partitions", [1, 7])
def test_dask_collections_give_the_bits_of_memory(table, memory, partitions):
    da, dd = pytest.importorskip("dask.array"), pytest.importorskip("dask.dataframe")
    frame = dd.from_pandas(table[[*NAMES, "price", "weight"]], npartitions=partitions)
    assert bits(summarise(frame, **OPTIONS)) == bits(memory)
    arrays = tuple(
        da.from_array(table[c].to_numpy(float), chunks=20_000 // partitions)
        for c in (NAMES, "price", "weight")
    )
    assert bits(summarise(arrays)) == bits(memory)
    unknown = frame[NAMES].to_dask_array(), frame["price"].to_dask_array(), arrays[2]
    assert bits(summarise(unknown)) == bits(memory)
    lazy_and_not = arrays[0], table["price"].to_numpy(), arrays[2]
    assert bits(reduce(NormalEquations.of_width(3), lazy_and_not)) == bits(memory)


def test_several_targets(table, tmp_path):
    path = tmp_path / "table.parquet"
    table.to_parquet(path)
    source = open_source(path, columns=NAMES, target=["price", "rank"])
    assert (source.n_targets, source.target_ndim) == (2, 2)
    found = source.reduce(NormalEquations.of_width(3, 2))
    y = table[["price", "rank"]].to_numpy()
    assert bits(found) == bits(reduce(NormalEquations.of_width(3, 2), (table[NAMES].to_numpy(), y)))


def test_other_columns_are_features_by_default(table, tmp_path):
    path = tmp_path / "table.parquet"
    table.drop(columns="colour").to_parquet(path)
    source = open_source(path, target="price", sample_weight="weight")
    assert source.feature_names == [*NAMES, "rank"]


def test_a_generator_can_be_read_once():
    chunks = [(np.ones((2, 1)), np.ones(2))]
    assert open_source(chunks).rereadable
    assert not open_source(iter(chunks)).rereadable


def test_columns_that_are_not_asked_for_are_not_read(table, tmp_path, monkeypatch):
    path = tmp_path / "table.parquet"
    table.to_parquet(path)
    asked = []
    original = pq.ParquetFile.iter_batches

    def spy(self, *args, columns=None, **kwargs):
        asked.append(columns)
        return original(self, *args, columns=columns, **kwargs)

    monkeypatch.setattr(pq.ParquetFile, "iter_batches", spy)
    summarise(path, **OPTIONS)
    assert asked == [[*NAMES, "price", "weight"]]


# -- clear errors ------------------------------------------------------------------------------


@pytest.fixture
def path(table, tmp_path):
    path = tmp_path / "table.parquet"
    table.to_parquet(path)
    return path


def fails(match, data, summary=None, **options):
    with pytest.raises(ValueError, match=match):
        open_source(data, **options).reduce(summary or NormalEquations.of_width(3))


def test_a_missing_column_is_named_with_its_neighbours(path, table):
    match = "Column 'pirce' is not in table.parquet. Did you mean 'price'"
    fails(match, path, target="pirce")
    fails("Column 'heigth' is not in .* Did you mean 'height'", path, columns=["heigth"])
    fails("Column 'pirce' is not in the data frame", table, target="pirce")
    dd = pytest.importorskip("dask.dataframe")
    fails("is not in the Dask data frame", dd.from_pandas(table, npartitions=2), target="pirce")


def test_words_are_not_numbers(path, table, tmp_path):
    match = "Column 'colour' of table.parquet has type .*string; numbers are needed. Encode"
    fails(match, path, target="price")
    fails("Column 'colour' of the data frame has type", table, target="price")
    late = tmp_path / "late.csv"
    late.write_text("x,y\n" + "1,2\n" * 100_000 + "oops,3\n")
    fails("late.csv holds a value that is not a number.*oops", late, target="y")
    dd = pytest.importorskip("dask.dataframe")
    fails("Column 'colour' of the Dask data frame", dd.from_pandas(table, 2), target="price")


def test_no_rows(tmp_path):
    empty = tmp_path / "empty.csv"
    empty.write_text("")
    fails("empty.csv is empty", empty, target="y")
    empty.write_text("x,y\n")
    fails("empty.csv is empty", empty, target="y")
    pq.write_table(pa.table({"x": pa.array([], pa.float64())}), tmp_path / "empty.parquet")
    fails("empty.parquet is empty", tmp_path / "empty.parquet", Moments.of_width(1))
    fails("stream of chunks is empty", [])
    da = pytest.importorskip("dask.array")
    fails("Dask collection is empty", (da.zeros((0, 3)), da.zeros(0)))


def test_missing_and_infinite_values(table, tmp_path):
    holes = table[NAMES].copy()
    holes.loc[12_345, "width"] = np.nan
    path = tmp_path / "holes.csv"
    holes.to_csv(path, index=False)
    match = "Column 'width' of holes.csv has a missing value in row 12345. Fill or drop"
    fails(match, path, Moments.of_width(3))
    fails("NaN or infinity in column 1 of X", [(holes.to_numpy(),)], Moments.of_width(3))
    pq.write_table(pa.table({"a": [1.0, np.inf], "b": [1.0, 2.0]}), tmp_path / "infinite.parquet")
    fails("NaN or infinity in column 'a'", tmp_path / "infinite.parquet", Moments.of_width(2))
    fails("NaN or infinity in y", [(np.ones((2, 3)), np.array([1.0, np.nan]))])


def test_files_of_other_kinds(tmp_path):
    other = tmp_path / "table.xlsx"
    other.write_text("?")
    fails("type of table.xlsx is unknown. Files are read if their name ends in .parquet", other)
    (tmp_path / "folder").mkdir()
    fails("folder is a folder without Parquet files", tmp_path / "folder")
    with pytest.raises(FileNotFoundError, match=r"There is no file .*absent.csv"):
        open_source(tmp_path / "absent.csv")
    fails("needs a path, a data frame, .* Got int instead", 7)


def test_parts_of_a_folder_must_agree(tmp_path):
    pq.write_table(pa.table({"a": [1.0], "y": [1.0]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"b": [1.0], "y": [1.0]}), tmp_path / "2.parquet")
    fails("Column 'a' is not in 2.parquet, though it is in 1.parquet", tmp_path, target="y")


def test_chunks_must_agree():
    X, y = np.ones((5, 3)), np.ones(5)
    fails("Every chunk must have 3 columns like the first. Chunk 1", [(X, y), (X[:, :2], y)])
    fails("equally many rows. Chunk 0 has", [(X, y[:4])])
    fails("A chunk must be an array X with rows and columns", [[1.0, 2.0]])
    fails("by name in files and data frames only", [(X, y)], target="y")
    fails("sample_weight must not be negative", [(X, y, -y)])
    da = pytest.importorskip("dask.array")
    fails("equally many rows. Got", (da.ones((5, 3)), da.ones(4)))
    fails("by name in files and data frames only", (da.ones((5, 3)), da.ones(5)), target="y")


def test_a_column_has_one_part(path):
    fails("'price' in two parts", path, columns=["price", "width"], target="price")
    fails(
        "no column left", path, columns=None, target=[*NAMES, "weight", "price", "rank", "colour"]
    )
    twice = pd.DataFrame(np.ones((2, 2)), columns=["a", "a"])
    fails("must be distinct. Got 'a' more than once", twice)


# -- larger than memory, and on a cluster ------------------------------------------------------

CAPPED = """
    import resource, sys
    import numpy as np, pyarrow.parquet as pq
    from corollary.linear import LinearRegression

    path, megabytes, way = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    # Warm up: what the libraries themselves need does not count.
    LinearRegression(n_jobs=1).fit(np.random.default_rng(0).normal(size=(50, 3)), np.arange(50.0))
    pq.read_schema(path)
    with open("/proc/self/statm") as file:
        data = int(file.read().split()[5]) * resource.getpagesize()
    limit = data + megabytes * 2**20
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    if way == "whole":
        # One thread: with several, Arrow may wait for ever for one that found no memory.
        frame = pq.ParquetFile(path, pre_buffer=False).read(use_threads=False).to_pandas()
        model = LinearRegression(n_jobs=1).fit(frame.drop(columns="y"), frame["y"])
    else:
        model = LinearRegression().fit_source(path, target="y", n_jobs=1)
    np.save(sys.argv[4], np.append(model.coef_, model.intercept_))
"""


def capped(path, out, way, megabytes):
    # Allocators that reserve address space ahead would count it before it is used.
    environment = {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "ARROW_DEFAULT_MEMORY_POOL": "system",
        "MALLOC_ARENA_MAX": "1",
    }
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(CAPPED), path, str(megabytes), way, out],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )


@pytest.mark.skipif(sys.platform != "linux", reason="the cap on memory is Linux's")
@pytest.mark.skipif(
    Version(pa.__version__) < Version("23.0.1"), reason="pyarrow's own buffers exceed the cap"
)
def test_a_file_larger_than_memory(tmp_path):
    rng = np.random.default_rng(3)
    path, out = tmp_path / "large.parquet", tmp_path / "coef.npy"
    n, d = 400_000, 40  # 128 MB of numbers, against a cap of 96 MB
    X = rng.normal(size=(n, d))
    y = X @ rng.normal(size=d) + 1.0 + rng.normal(size=n)
    table = pa.table({**{f"x{j}": X[:, j] for j in range(d)}, "y": y})
    pq.write_table(table, path, row_group_size=n, use_dictionary=False, compression="none")
    streamed = capped(path, out, "stream", 96)
    assert streamed.returncode == 0, streamed.stderr
    model = LinearRegression().fit(X, y)
    expected = np.append(model.coef_, model.intercept_)
    np.testing.assert_allclose(np.load(out), expected, rtol=1e-8)
    loaded_whole = capped(path, out, "whole", 96)
    assert "MemoryError" in loaded_whole.stderr, "the cap does not bind: this test cannot fail"


def test_a_cluster_of_two_processes(seed):
    distributed = pytest.importorskip("distributed")
    da = pytest.importorskip("dask.array")
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(50_000, 4))
    y = X @ [1.0, 2.0, 3.0, 4.0] + rng.normal(size=50_000)
    lazy = da.from_array(X, chunks=(9000, 2)), da.from_array(y, chunks=9000)
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster),
    ):
        model = Ridge(alpha=2.0).fit_source(lazy)
    expected = Ridge(alpha=2.0).fit(X, y)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-8)
    np.testing.assert_allclose(model.intercept_, expected.intercept_, rtol=1e-8, atol=1e-10)
    np.testing.assert_array_equal(model.fingerprint_.hashes, expected.fingerprint_.hashes)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_chunks_without_targets_may_be_plain_arrays(table, form):
    X = table[NAMES].to_numpy()
    expected = bits_of_moments(reduce(Moments.of_width(3), (X,)))
    for data in ([form(X[:7000]), form(X[7000:])], form(X), (form(X[i : i + 900]) for i in STARTS)):
        assert bits_of_moments(open_source(data).reduce(Moments.of_width(3))) == expected
    with pytest.raises(ValueError, match=r"Ridge.fit_source needs targets"):
        Ridge().fit_source([X])
    with pytest.raises(ValueError, match=r"Got ndarray of shape \(3,\) instead"):
        open_source([X[0]])
