"""Same seed, same bits, for every estimator: threads, cores, jobs, batches, files and clusters.

No tolerance is used anywhere. What does not hold stands in ``EXCEPTIONS`` with its reason.
"""

import json
import os
import subprocess
import sys
from functools import cache

import numpy as np
import pytest
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from tests.bits import answers, bytes_of, digest, fitted, models, table

#: A detector without calibration rows, as `fit_source` leaves it, calls no row.
pytestmark = pytest.mark.filterwarnings("ignore:AnomalyDetector calls no row")
MODELS = models()
SOURCED = [name for name, model in MODELS.items() if hasattr(model, "fit_source")]
#: Methods that draw for all rows together, so that rows cannot be asked about alone.
DRAWN = frozenset(["sample_y", "predict_random"])
_THEIRS = "The estimator inside is scikit-learn's here, and its products are BLAS's."
#: law -> estimator -> why it does not hold
EXCEPTIONS: dict[str, dict[str, str]] = {
    "batches": {
        "SplitConformalClassifier": _THEIRS,
        "SplitConformalRegressor": _THEIRS,
    }
}


def holds(law):
    """Parametrise by every estimator; those on the list may fail."""
    names = SOURCED if law in ("chunks", "clusters") else MODELS
    return pytest.mark.parametrize(
        "name",
        [
            pytest.param(name, marks=pytest.mark.xfail(reason=why, strict=False))
            if (why := EXCEPTIONS.get(law, {}).get(name))
            else name
            for name in names
        ],
    )


@cache
def reference(name):
    """Return a model fitted on one thread, and its digest."""
    with threadpool_limits(1):
        model = fitted(MODELS[name])
        return model, digest(model)


@holds("threads")
def test_threads_of_blas_change_no_bit(name):
    with threadpool_limits(2):
        assert digest(fitted(MODELS[name])) == reference(name)[1]


@pytest.mark.parametrize(
    "name", [name for name, model in MODELS.items() if "n_jobs" in model.get_params(deep=False)]
)
def test_jobs_change_no_bit(name):
    with threadpool_limits(1):
        for n_jobs in (1, 2):
            assert digest(fitted(MODELS[name], n_jobs=n_jobs)) == reference(name)[1]


@holds("batches")
def test_a_row_asked_about_alone_gets_the_answer_that_it_gets_in_a_batch(name):
    model, _ = reference(name)
    X = table(model)[2]
    together = answers(model, X)
    assert together or name == "NearestNeighbors"
    for rows in (slice(0, 1), slice(17, 18), slice(40, 77)):
        for method, arrays in answers(model, X[rows]).items():
            if method in DRAWN:
                continue
            for some, every in zip(arrays, together[method]):
                assert bytes_of(some) == bytes_of(every[rows]), method


@pytest.fixture
def small_blocks(monkeypatch):
    """Let a small table have several blocks."""
    monkeypatch.setattr("corollary.core.summary.summary.BLOCK_BYTES", 2**14)


def chunked(X, y, size):
    """Return a table as a list of chunks."""
    return [(X[i : i + size], y[i : i + size]) for i in range(0, len(X), size)]


@holds("chunks")
def test_chunks_of_a_source_change_no_bit(name, small_blocks):
    model = MODELS[name]
    X, y, _ = table(model)
    forms = [(X, y), chunked(X, y, 37), chunked(X, y, 128)]
    digests = {digest(clone(model).fit_source(form)) for form in forms}
    assert digests == {digest(clone(model).fit(X, y))}


@holds("clusters")
@pytest.mark.parametrize("scheduler", ["threads", "synchronous"])
def test_partitions_of_a_cluster_change_no_bit(name, scheduler, small_blocks):
    dask, da = pytest.importorskip("dask"), pytest.importorskip("dask.array")
    model = MODELS[name]
    X, y, _ = table(model)
    with dask.config.set(scheduler=scheduler, num_workers=2):
        digests = {
            digest(clone(model).fit_source((da.from_array(X, (rows, -1)), da.from_array(y, rows))))
            for rows in (300, 41, 128)
        }
    assert digests == {digest(clone(model).fit_source((X, y)))}


def in_a_process(cores, *names):
    """Return digests of models that a process with so many cores and threads has fitted."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.bits", str(cores), *names],
        env={**os.environ, "OMP_NUM_THREADS": str(cores), "OPENBLAS_NUM_THREADS": str(cores)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_a_process_with_two_threads_gives_the_same_bits():
    names = ("Ridge", "LogisticRegression", "RandomForestClassifier", "SVR", "Whitener")
    assert in_a_process(2, *names) == {name: reference(name)[1] for name in names}


@pytest.mark.verify
def test_processes_with_one_core_and_with_two_give_the_same_bits():
    one, two = in_a_process(1), in_a_process(2)
    different = {name for name in one if one[name] != two[name]}
    assert different <= EXCEPTIONS.get("threads", {}).keys()


def die_once(block, mark):
    """Kill the process that computes the first block."""
    try:
        with open(mark, "x"):
            os.kill(os.getpid(), 9)
    except FileExistsError:
        return block


@pytest.mark.verify
@pytest.mark.parametrize("name", SOURCED)
def test_a_killed_worker_changes_no_bit(name, tmp_path, small_blocks):
    distributed, da = pytest.importorskip("distributed"), pytest.importorskip("dask.array")
    model = MODELS[name]
    X, y, _ = table(model)
    mark = tmp_path / "killed"
    rows = da.from_array(X, (41, -1)).map_blocks(
        die_once, mark, dtype=X.dtype, meta=np.empty((0, 0))
    )
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster),
    ):
        survived = digest(clone(model).fit_source((rows, da.from_array(y, 41))))
    assert mark.exists()
    assert survived == digest(clone(model).fit_source((X, y)))


def test_exceptions_name_estimators_and_reasons():
    for law, reasons in EXCEPTIONS.items():
        assert law in ("threads", "batches", "chunks", "clusters")
        assert reasons.keys() <= MODELS.keys()
        assert all(len(reason.split()) > 3 for reason in reasons.values())


def test_a_single_bit_is_seen():
    model, before = reference("Ridge")
    model = fitted(model)
    assert digest(model) == before
    model.coef_[0] = np.nextafter(model.coef_[0], np.inf)
    assert digest(model) != before
