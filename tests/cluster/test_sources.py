"""Fits to files, chunks and clusters: the bits of memory, whatever happens to a worker."""

import os
import socket
import subprocess
import sys
from contextlib import suppress
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from corollary.cluster import KMeans
from corollary.decomposition import PCA
from corollary.density import GaussianDensity
from corollary.mixture import GaussianMixture

STARTS = ["k-means||", "random", "array"]


@pytest.fixture
def small_blocks(monkeypatch):
    """Let a small table have several blocks."""
    monkeypatch.setattr("corollary.core.summary.summary.BLOCK_BYTES", 2**13)


def rows(n=3000, d=4):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d)) + 6 * rng.integers(0, 3, (n, 1))
    return X, rng.integers(0, 3, n).astype(float)


def kmeans(start, **options):
    init = rows()[0][:6] if start == "array" else start
    return KMeans(6, init=init, n_init=2 if start != "array" else 1, random_state=0, **options)


def assert_same(one, other):
    assert np.array_equal(one.cluster_centers_, other.cluster_centers_)
    assert np.array_equal(one.labels_, other.labels_)
    assert (one.inertia_, one.n_iter_) == (other.inertia_, other.n_iter_)


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("weighted", [False, True])
def test_chunks_and_files_have_the_bits_of_memory(start, weighted, tmp_path, small_blocks):
    X, weight = rows()
    w = weight if weighted else None
    memory = kmeans(start).fit(X, sample_weight=w)
    cuts = [0, 1, 700, 701, 2999, 3000]
    chunks = [(X[a:b], None, None if w is None else w[a:b]) for a, b in pairwise(cuts)]
    assert_same(memory, kmeans(start).fit_source(chunks))
    frame = pd.DataFrame(X, columns=list("abcd")).assign(w=weight)
    path, name = tmp_path / "rows.parquet", "w" if weighted else None
    frame.to_parquet(path, row_group_size=500)
    options = {"columns": list("abcd"), "sample_weight": name}
    file = kmeans(start).fit_source(path, **options)
    assert_same(memory, file)
    assert list(file.feature_names_in_) == list("abcd")
    without = kmeans(start).fit_source(frame, labels=False, **options)
    assert not hasattr(without, "labels_")
    assert without.inertia_ == memory.inertia_


def test_an_emptied_cluster_is_refilled_the_same_way(small_blocks):
    X, _ = rows()
    init = np.vstack([X[:3], np.full((2, 4), 1e3)])
    memory = KMeans(5, init=init, random_state=1).fit(X)
    assert len(set(memory.labels_)) == 5
    assert_same(memory, KMeans(5, init=init, random_state=1).fit_source([(X[:50],), (X[50:],)]))


def die_once(block, mark, count):
    """Kill the process that computes the first block after so many."""
    with open(mark, "ab") as file:
        file.write(b".")
        size = file.tell()
    if size == count:
        os.kill(os.getpid(), 9)
    return block


@pytest.fixture(scope="module")
def two_processes():
    """Start one cluster for all tests; a worker that dies is replaced."""
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster),
    ):
        yield


MODELS = {
    "k-means||": KMeans(4, init="k-means||", max_iter=3, random_state=0),
    "centres": KMeans(4, init=rows(900)[0][:4], max_iter=3),
    "mixture": GaussianMixture(
        2, max_iter=3, tol=0, init_params="random_from_data", random_state=0
    ),
    "PCA": PCA(2, svd_solver="covariance_eigh"),
    "density": GaussianDensity(),
}


def learnt(model):
    """Return the numbers that a model has learnt."""
    values = {name: value for name, value in vars(model).items() if name.endswith("_")}
    return {name: value for name, value in values.items() if np.asarray(value).dtype.kind in "if"}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", MODELS)
def test_a_cluster_of_two_processes_and_one_that_dies(name, tmp_path, small_blocks, two_processes):
    da = pytest.importorskip("dask.array")
    X, weight = rows(900)
    memory = clone(MODELS[name]).fit(X)
    weighted = clone(MODELS[name]).fit(X, sample_weight=weight)
    lazy = da.from_array(X, (430, 2)), None, da.from_array(weight, 277)
    mark, count = tmp_path / "blocks", 3 if name in ("PCA", "density") else 8
    dying = da.from_array(X, (225, -1)).map_blocks(
        die_once, mark, count, dtype=X.dtype, meta=np.empty((0, 0))
    )
    for expected, data in ((weighted, lazy), (memory, dying)):
        numbers = learnt(clone(MODELS[name]).fit_source(data))
        assert len(numbers) >= 3
        for key, value in numbers.items():
            np.testing.assert_array_equal(value, getattr(expected, key), err_msg=key)
    assert mark.stat().st_size > count  # in the middle of the fit


def test_a_scheduler_that_is_gone_is_named():
    distributed, da = pytest.importorskip("distributed"), pytest.importorskip("dask.array")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    start = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--no-dashboard"]
    scheduler = subprocess.Popen(
        [*start, "--host", "127.0.0.1", "--port", str(port)], stderr=subprocess.DEVNULL
    )
    try:
        client = distributed.Client(f"tcp://127.0.0.1:{port}", timeout=30)
        client._timeout = 0.5
        scheduler.kill()
        scheduler.wait()
        # Its own client, also where another test's cluster would take its place.
        gone = pytest.raises(ConnectionError, match="scheduler cannot be reached")
        with client.as_current(), gone:
            KMeans(2, random_state=0).fit_source(da.from_array(rows()[0], (500, -1)))
        with suppress(TimeoutError):
            client.close(timeout=0.5)
    finally:
        scheduler.kill()


def test_bad_input_is_told():
    X, _ = rows(20)
    with pytest.raises(ValueError, match="can be read once"):
        KMeans(2).fit_source((chunk,) for chunk in (X[:10], X[10:]))
    with pytest.raises(ValueError, match="cannot hand rows to a function"):
        KMeans(2, init=lambda X, k, random_state: X[:k]).fit_source([(X,)])
    with pytest.raises(ValueError, match="n_samples=20 should be >= n_clusters=21"):
        KMeans(21).fit_source([(X,)])
    with pytest.raises(ValueError, match="positive weight"):
        KMeans(2).fit_source([(X, None, np.zeros(20))])
    with pytest.raises(ValueError, match="NaN"):
        KMeans(2).fit_source([(X * np.nan,)])
