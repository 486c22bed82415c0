"""Logistic regression has the same bits from memory, files, chunks and Dask collections."""

import numpy as np
import pandas as pd
import pytest

from corollary.core.summary.dask_source import _summarise
from corollary.linear import LogisticRegression, LogisticTerms


@pytest.fixture(scope="module")
def rows():
    """More rows than one block, so that merges and the start from a part of them matter."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(70_000, 8)) + 0.5
    scores = X @ rng.normal(size=(8, 3)) + rng.gumbel(size=(70_000, 3))
    return X, np.array(["a", "b", "c"])[scores.argmax(axis=1)], rng.exponential(size=70_000)


def assert_same_bits(one, other):
    np.testing.assert_array_equal(one.coef_, other.coef_)
    np.testing.assert_array_equal(one.intercept_, other.intercept_)
    assert one.n_iter_ == other.n_iter_


@pytest.mark.parametrize("solver", ["newton", "lbfgs"])
@pytest.mark.parametrize("weighted", [False, True])
def test_chunks_have_the_bits_of_memory(rows, solver, weighted):
    X, y, weight = rows
    if not weighted:
        y, weight = y == "a", None
    settings = {"solver": solver, "class_weight": "balanced", "max_iter": 30, "tol": 1e-2}
    memory = LogisticRegression(**settings).fit(X, y, weight)
    arrays = (X, y) if weight is None else (X, y, weight)
    for cuts in ([], [1_000, 1_003], list(range(4_321, 70_000, 4_321))):
        chunks = list(zip(*(np.split(part, cuts) for part in arrays)))
        assert_same_bits(memory, LogisticRegression(**settings).fit_source(chunks))


def test_order_in_memory_does_not_change_a_bit(rows):
    X, y = rows[0], rows[1] == "a"
    memory = LogisticRegression().fit(X, y)
    assert_same_bits(memory, LogisticRegression().fit(np.asfortranarray(X), y))
    assert_same_bits(memory, LogisticRegression().fit_source([(np.asfortranarray(X), y)]))
    assert_same_bits(memory, LogisticRegression().fit(pd.DataFrame(X), y))


def test_files_have_the_bits_of_memory(rows, tmp_path):
    table = pd.DataFrame(rows[0], columns=list("abcdefgh")).assign(y=rows[1], w=rows[2])
    table.to_parquet(tmp_path / "rows.parquet")
    memory = LogisticRegression(tol=1e-2).fit(rows[0], *rows[1:])
    file = LogisticRegression(tol=1e-2).fit_source(
        tmp_path / "rows.parquet", target="y", sample_weight="w"
    )
    assert_same_bits(memory, file)


@pytest.mark.parametrize("chunk", [70_000, 4_321])
def test_dask_has_the_bits_of_memory(rows, chunk):
    da = pytest.importorskip("dask.array")
    X, y = rows[0], rows[1] == "b"
    memory = LogisticRegression().fit(X, y)
    lazy = (da.from_array(X, chunks=(chunk, -1)), da.from_array(y, chunks=chunk))
    assert_same_bits(memory, LogisticRegression().fit_source(lazy))


def test_rows_that_travelled_to_a_worker_have_the_same_sums(rows):
    """What comes out of a message need not lie at a multiple of eight bytes."""
    X, y = rows[0][:50_000], (rows[1] == "a").astype(int)[:50_000]
    message = np.empty(X.nbytes + 4, dtype=np.uint8)
    travelled = message[4:].view(np.float64).reshape(X.shape)
    travelled[:] = X
    assert not travelled.flags.aligned
    start = LogisticTerms(np.full((1, 9), 0.1), curvature=True)
    here, there = start.update((X, y)), _summarise(start, None, False, travelled, y)
    np.testing.assert_array_equal(here.gradient, there.gradient)
    np.testing.assert_array_equal(here.hessian, there.hessian)


@pytest.mark.parametrize("solver", ["newton", "proximal"])
def test_columns_far_from_zero_in_a_source(rows, solver):
    X, y = rows[0][:5_000], rows[1][:5_000] == "a"
    settings = {"solver": solver, "l1_ratio": float(solver == "proximal"), "tol": 1e-8}
    near = LogisticRegression(**settings).fit(X, y)
    chunks = [(X[:1_234] + 1e6, y[:1_234]), (X[1_234:] + 1e6, y[1_234:])]
    far = LogisticRegression(**settings).fit_source(chunks)
    np.testing.assert_allclose(far.coef_, near.coef_, atol=1e-6)
    assert_same_bits(far, LogisticRegression(**settings).fit(X + 1e6, y))
