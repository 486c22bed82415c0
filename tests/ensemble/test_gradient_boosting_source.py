"""Gradient boosting from chunks, files and Dask: the models of memory."""

import gc
import itertools
import os
import subprocess
import sys
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from corollary.ensemble import (
    BinnedRows,
    GradientHistogram,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from corollary.ensemble.boosting import _binned_rows, _estimator
from corollary.ensemble.boosting._blocks import passes as by_passes
from corollary.ensemble.boosting._blocks import scratch, stores
from corollary.ensemble.boosting._blocks.passes import PassGrower
from corollary.tree import find_bins
from tests.ensemble.test_gradient_boosting import bits, table


@pytest.mark.parametrize("kind", ["parquet", "chunks", "dask"])
def test_a_source_gives_the_model_of_memory(seed, kind, tmp_path):
    X, y = table(seed, n=3000)
    X = np.round(X, 2)
    labels = np.where(y > 0.5, "high", "low")
    w = np.random.default_rng(seed).integers(0, 3, 3000).astype(float)
    memory = HistGradientBoostingClassifier(max_iter=5).fit(X, labels, w)
    source = HistGradientBoostingClassifier(max_iter=5)
    if kind == "parquet":
        frame = pd.DataFrame(X, columns=list("abcd")).assign(label=labels, w=w)
        frame.to_parquet(tmp_path / "rows.parquet")
        source.fit_source(tmp_path / "rows.parquet", target="label", sample_weight="w")
        assert list(source.feature_names_in_) == list("abcd")
    elif kind == "chunks":
        cuts = [0, 10, 1500, 1501, 3000]
        source.fit_source([(X[a:b], labels[a:b], w[a:b]) for a, b in itertools.pairwise(cuts)])
    else:
        da = pytest.importorskip("dask.array")
        arrays = [da.from_array(a, chunks=(700, *a.shape[1:])) for a in (X, labels, w)]
        source.fit_source(tuple(arrays))
    assert bits(source) == bits(memory)
    np.testing.assert_array_equal(source.classes_, ["high", "low"])


def test_categorical_codes_in_a_source(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 5, size=(500, 2)).astype(float)
    y = rng.permutation(5)[X[:, 1].astype(int)].astype(float)
    options = {"max_iter": 3, "categorical_features": [1]}
    memory = HistGradientBoostingRegressor(**options).fit(X, y)
    source = HistGradientBoostingRegressor(**options).fit_source([(X, y)])
    assert bits(memory) == bits(source)
    np.testing.assert_array_equal(memory.predict(X), source.predict(X))


@pytest.mark.parametrize("kind", ["chunks", "parquet", "csv", "dask"])
def test_missing_values_of_a_source_are_those_of_memory(seed, kind, tmp_path):
    rng = np.random.default_rng(seed)
    X, y = table(seed, n=500)
    X = np.round(X, 2)
    X[rng.random(X.shape) < 0.2] = np.nan
    options = {"max_iter": 5, "early_stopping": False}
    memory = HistGradientBoostingRegressor(**options).fit(X, y)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=y)
    source = HistGradientBoostingRegressor(**options)
    if kind == "parquet":
        frame.astype({"a": "Float64"}).to_parquet(tmp_path / "rows.parquet")
        source.fit_source(tmp_path / "rows.parquet", target="y")
    elif kind == "csv":
        frame.to_csv(tmp_path / "rows.csv", index=False)
        source.fit_source(tmp_path / "rows.csv", target="y")
    elif kind == "dask":
        arrays = pytest.importorskip("dask.array")
        source.fit_source((arrays.from_array(X, chunks=(90, 4)), arrays.from_array(y, chunks=90)))
    else:
        source.fit_source([(X[:300], y[:300]), (X[300:], y[300:])])
    assert bits(source) == bits(memory)


def test_a_source_without_targets_or_with_infinity_is_refused(seed):
    X, y = table(seed, n=50)
    X[7, 2] = np.inf
    with pytest.raises(ValueError, match="infinity in column 2 of X"):
        HistGradientBoostingRegressor().fit_source([(X, y)])
    y[3] = np.nan
    with pytest.raises(ValueError, match="NaN or infinity in y"):
        HistGradientBoostingRegressor().fit_source([(np.nan_to_num(X, posinf=0.0), y)])


def test_binned_rows_keep_their_order(seed):
    X, y = table(seed, n=100)
    bins = find_bins(X)
    parts = [BinnedRows(bins).update((X[a : a + 30], y[a : a + 30])) for a in range(0, 100, 30)]
    joined = parts[0].merge(parts[1]).merge(parts[2].merge(parts[3]))
    codes, targets, weight = joined.merge(joined.empty()).join()
    np.testing.assert_array_equal(codes, bins.transform(X))
    np.testing.assert_array_equal(targets, y)
    assert weight is None


# -- beyond the memory budget ------------------------------------------------------------------


@pytest.fixture
def small_blocks(monkeypatch):
    """Several blocks from a small table, and histograms that do not all fit in one pass."""
    monkeypatch.setattr(_binned_rows, "BLOCK_BYTES", 4 * 301)


def messy(seed, n=1200):
    """Missing values, few and many distinct ones, categories, a constant, weights that may be 0."""
    rng = np.random.default_rng(seed)
    X, y = table(seed, n=n)
    X = np.round(X, 1)
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:, 3] = rng.integers(0, 7, n)
    X[:, 2] = np.where(X[:, 2] > 0, 1.0, X[:, 2])
    return X, y + 0.3 * (X[:, 3] % 3), rng.integers(0, 3, n).astype(float)


REGRESSION = {
    "squares": {},
    "absolute": {"loss": "absolute_error"},
    "quantile": {"loss": "quantile", "quantile": 0.8, "subsample": 0.7},
    "quantiles": {"loss": "quantile", "quantile": [0.1, 0.5, 0.9]},
    "normal": {"loss": "normal"},
    "poisson": {"loss": "poisson"},
    "monotone": {"monotonic_cst": [1, 0, -1, 0]},
    "categories": {"categorical_features": [3], "l2_regularization": 2.0},
    "columns": {"max_features": 0.5},
    "rows": {"subsample": 0.5},
    "all leaves": {"max_leaf_nodes": None, "min_samples_leaf": 5},
    "many leaves": {"max_leaf_nodes": 150, "min_samples_leaf": 2, "max_features": 0.6},
    "two leaves": {"max_leaf_nodes": 2},
    "shallow": {"max_depth": 3},
    "held out": {"early_stopping": True, "n_iter_no_change": 2, "max_iter": 30,
                 "learning_rate": 0.8},
    "training loss": {"early_stopping": True, "validation_fraction": None, "tol": 0.05,
                      "n_iter_no_change": 2, "max_iter": 30},
    "everything": {"loss": "absolute_error", "early_stopping": True, "subsample": 0.8,
                   "max_features": 0.7, "categorical_features": [3]},
}  # fmt: skip
CLASSIFICATION = {
    "logistic": {},
    "exponential": {"loss": "exponential"},
    "balanced": {"class_weight": "balanced", "early_stopping": True},
}


def assert_same(model, source):
    assert bits(model) == bits(source)
    np.testing.assert_array_equal(model.train_score_, source.train_score_)
    np.testing.assert_array_equal(model.validation_score_, source.validation_score_)


def pieces(*arrays):
    arrays = [a for a in arrays if a is not None]
    cuts = [0, 10, 700, 701, len(arrays[0])]
    return [tuple(a[i:j] for a in arrays) for i, j in itertools.pairwise(cuts)]


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", REGRESSION)
def test_trees_from_the_disk_are_those_of_memory(seed, name, weighted):
    X, y, w = messy(seed)
    y, w = (np.abs(y) if name == "poisson" else y), (w if weighted else None)
    options = {"max_iter": 3, "random_state": 0, **REGRESSION[name]}
    memory = HistGradientBoostingRegressor(**options).fit(X, y, w)
    source = HistGradientBoostingRegressor(**options)
    source.fit_source(pieces(X, y, w), memory_budget=0, n_jobs=2 if weighted else 1)
    assert memory.n_iter_ < 30
    assert_same(memory, source)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize(
    ("name", "n_classes"),
    [("logistic", 2), ("logistic", 3), ("exponential", 2), ("balanced", 2), ("balanced", 3)],
)
def test_classes_from_the_disk_are_those_of_memory(seed, name, n_classes):
    X, y, w = messy(seed)
    labels = np.array(["a", "b", "c"])[np.digitize(y, [0.0, 1.0][: n_classes - 1])]
    options = {"max_iter": 3, "random_state": 0, **CLASSIFICATION[name]}
    memory = HistGradientBoostingClassifier(**options).fit(X, labels, w)
    source = HistGradientBoostingClassifier(**options).fit_source(
        pieces(X, labels, w), memory_budget=0
    )
    assert_same(memory, source)
    np.testing.assert_array_equal(memory.classes_, source.classes_)


def test_rounding_by_position_goes_on_across_blocks(seed, monkeypatch):
    monkeypatch.setattr(_binned_rows, "BLOCK_BYTES", 4 * 999)
    X, y = table(seed, n=5000)  # so many rows that the rounding of a row depends on its place
    X = np.round(X, 2)
    memory = HistGradientBoostingRegressor(max_iter=3).fit(X, y)
    source = HistGradientBoostingRegressor(max_iter=3).fit_source([(X, y)], memory_budget=0)
    assert_same(memory, source)


@pytest.mark.usefixtures("small_blocks")
def test_room_for_histograms_does_not_change_a_bit(seed, monkeypatch):
    X, y, _ = messy(seed)
    options = {"max_iter": 2, "max_leaf_nodes": None, "min_samples_leaf": 5}
    memory = HistGradientBoostingRegressor(**options).fit(X, y)
    monkeypatch.setattr(by_passes, "HISTOGRAM_BYTES", 3 * 16 * 4 * 60)
    source = HistGradientBoostingRegressor(**options).fit_source([(X, y)], memory_budget=0)
    assert_same(memory, source)


@pytest.fixture
def passes(monkeypatch):
    """Passes that every tree took, and how many rows its histograms were made of."""
    found = []
    grow, run = PassGrower.grow, stores.ScratchBlocks.run

    def counted(self, *given):
        found.append([0, 0])
        grown = grow(self, *given)
        found[-1][0] = self.n_passes
        return grown

    def summed(self, step, merge=None, rows=None):
        total = run(self, step, merge, rows)
        if isinstance(total, GradientHistogram):
            found[-1][1] += sum(
                total.read(place, int(total.columns["feature"][0]))[2].sum()
                for place in np.flatnonzero(total.slots >= 0)
            )
        return total

    monkeypatch.setattr(PassGrower, "grow", counted)
    monkeypatch.setattr(stores.ScratchBlocks, "run", summed)
    return found


@pytest.mark.parametrize("max_leaf_nodes", [8, 31, None])
def test_a_tree_takes_as_many_passes_as_it_is_deep(seed, max_leaf_nodes, passes):
    X, y = table(seed, n=4000)
    model = HistGradientBoostingRegressor(max_iter=3, max_leaf_nodes=max_leaf_nodes)
    model.fit_source([(np.round(X, 2), y)], memory_budget=0)
    for tree, (n_passes, n_rows) in zip(model.trees_, passes):
        depth = np.zeros(len(tree.left), dtype=int)
        for node in np.flatnonzero(tree.left >= 0):
            depth[tree.left[node] : tree.left[node] + 2] = depth[node] + 1
        assert n_passes <= depth.max() + 1
        # Sibling subtraction: below the root no level is made of more than half of the rows.
        assert n_rows <= 4000 * (1 + (n_passes - 1) / 2)


def test_within_the_budget_rows_stay_in_memory(seed, monkeypatch):
    X, y = table(seed, n=100)
    monkeypatch.setattr(_estimator, "open_blocks", None)
    HistGradientBoostingRegressor(max_iter=1).fit_source([(X, y)], memory_budget=400)
    with pytest.raises(TypeError):
        HistGradientBoostingRegressor(max_iter=1).fit_source([(X, y)], memory_budget=399)


@pytest.mark.parametrize("error", [KeyboardInterrupt, FloatingPointError, None])
def test_scratch_files_vanish(seed, error, monkeypatch, tmp_path):
    X, y = table(seed, n=300)
    seen, before = [], len(os.listdir("/proc/self/fd"))
    boost_blocks = _estimator.boost_blocks

    def stopped(*given, **options):
        seen.append((os.listdir(tmp_path), len(os.listdir("/proc/self/fd"))))
        if error is not None:
            raise error
        return boost_blocks(*given, **options)

    monkeypatch.setattr(_estimator, "boost_blocks", stopped)
    model = HistGradientBoostingRegressor(max_iter=1)
    with nullcontext() if error is None else pytest.raises(error):
        model.fit_source([(X, y)], memory_budget=0, scratch_directory=tmp_path)
    assert seen[0][0] == []  # no name even while it is in use
    assert seen[0][1] > before
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) == before
    assert os.listdir(tmp_path) == []


def test_wrong_budgets_folders_and_disks_are_refused(seed, monkeypatch, tmp_path):
    X, y = table(seed, n=100)
    model = HistGradientBoostingRegressor()
    with pytest.raises(ValueError, match=r"'memory_budget' .* must be an int in the .* Got -1"):
        model.fit_source([(X, y)], memory_budget=-1)
    with pytest.raises(FileNotFoundError, match="no folder"):
        model.fit_source([(X, y)], memory_budget=0, scratch_directory=tmp_path / "none")
    with pytest.raises(ValueError, match="Got a generator, which can be read once"):
        model.fit_source(iter([(X, y)]), memory_budget=0)
    usage = SimpleNamespace(free=399)
    monkeypatch.setattr(scratch.shutil, "disk_usage", lambda _: usage)
    with pytest.raises(OSError, match=r"The disk is full.*Choose a scratch_directory"):
        model.fit_source([(X, y)], memory_budget=0)


@pytest.mark.parametrize("budget", [0, 2**20])
def test_rows_without_weight_alone_are_refused(seed, budget):
    X, y = table(seed, n=20)
    with pytest.raises(ValueError, match="needs a row of positive weight"):
        HistGradientBoostingRegressor().fit_source([(X, y, np.zeros(20))], memory_budget=budget)


MEMORY = """
import numpy as np
from corollary.core.summary import summary
from corollary.ensemble import HistGradientBoostingRegressor
from corollary.ensemble.boosting import _binned_rows

ROWS, COLUMNS, CHUNKS = 200, 200, 2

class Chunks:
    def __iter__(self):
        for k in range(CHUNKS):
            rng = np.random.default_rng(k)
            X = rng.integers(0, 8, size=(ROWS, COLUMNS), dtype=np.uint8).astype(float)
            yield X, X[:, 0] - X[:, 1] * (X[:, 2] > 3)

def peak():
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))

def grown(budget):
    model = HistGradientBoostingRegressor(max_iter=2, early_stopping=False, n_jobs=1)
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # forget the peak so far
    before = peak()
    model.fit_source(Chunks(), memory_budget=budget)
    return peak() - before

summary.BLOCK_BYTES = 2**18
_binned_rows.BLOCK_BYTES = 2**20
grown(0), grown(2**40)  # compile
CHUNKS = {chunks}
print(grown({budget}))
"""


def peak_of_memory(chunks, budget):
    """How far memory grows in a fit to chunks of 200 x 200."""
    script = MEMORY.format(chunks=chunks, budget=budget)
    command = [sys.executable, "-c", script]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


needs_linux = pytest.mark.skipif(
    not os.path.exists("/proc/self/clear_refs"), reason="The peak is forgotten on Linux only."
)


@needs_linux
def test_memory_does_not_grow_with_the_bins():
    bins = 400 * 200 * 200
    assert peak_of_memory(400, budget=2**20) < 0.6 * bins


@pytest.mark.verify
@needs_linux
def test_memory_grows_with_rows_by_the_stated_bytes():
    rows = 200 * 2000
    assert peak_of_memory(2000, budget=2**30) > rows * 200
    few, many = peak_of_memory(500, budget=2**20), peak_of_memory(2000, budget=2**20)
    assert many - few < 0.75 * rows * (32 + 16) * 1.2


# -- on Dask -----------------------------------------------------------------------------------


def dask_arrays(*arrays):
    da = pytest.importorskip("dask.array")
    return tuple(da.from_array(a, chunks=(500, *a.shape[1:])) for a in arrays if a is not None)


@pytest.mark.parametrize("scheduler", ["synchronous", "threads"])
@pytest.mark.parametrize("name", ["squares", "everything", "normal"])
def test_trees_from_workers_are_those_of_memory(seed, name, scheduler):
    dask = pytest.importorskip("dask")
    X, y, w = messy(seed)
    w[500:1000] = 0.0  # a partition without rows
    options = {"max_iter": 2, "random_state": 0, "max_leaf_nodes": 10, **REGRESSION[name]}
    memory = HistGradientBoostingRegressor(**options).fit(X, y, w)
    with dask.config.set(scheduler=scheduler):
        source = HistGradientBoostingRegressor(**options)
        source.fit_source(dask_arrays(X, y, w), memory_budget=0)
    assert_same(memory, source)


def test_the_driver_sees_histograms_and_not_rows(seed, monkeypatch):
    dask = pytest.importorskip("dask")
    X, y = table(seed, n=3000)
    X = np.round(X, 1)
    results, compute = [], dask.compute

    def watched(*given, **options):
        found = compute(*given, **options)
        results.extend(found)
        return found

    monkeypatch.setattr(dask, "compute", watched)
    model = HistGradientBoostingRegressor(max_iter=2, max_leaf_nodes=6)
    with dask.config.set(scheduler="synchronous"):
        model.fit_source(dask_arrays(X, y), memory_budget=0)
    histograms = [r for r in results if isinstance(r, GradientHistogram)]
    assert 4 <= len(histograms) <= 2 * 6  # one for each level of a tree, not for each partition
    targets = [r for r in results if isinstance(r, tuple)]
    assert sum(len(part) for part, _ in targets) == 3000  # these come once
    for other in results:
        if isinstance(other, np.ndarray):
            assert other.size < 100  # peaks of derivatives, sums of leaves


@pytest.mark.verify
def test_a_cluster_gives_the_model_of_memory(seed):
    distributed = pytest.importorskip("distributed")
    X, y, w = messy(seed)
    options = {"max_iter": 2, "random_state": 0, **REGRESSION["everything"]}
    memory = HistGradientBoostingRegressor(**options).fit(X, y, w)
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster),
    ):
        source = HistGradientBoostingRegressor(**options)
        source.fit_source(dask_arrays(X, y, w), memory_budget=0)
    assert_same(memory, source)
