"""Mixtures fitted to files, streams and clusters have the bits of those fitted in memory."""

import numpy as np
import pandas as pd
import pytest

from corollary.core.summary import reduce
from corollary.mixture import GaussianMixture, choose_components
from corollary.mixture.gaussian._starts import RowSample
from corollary.mixture.gaussian._sums import MixtureSums
from corollary.mixture.gaussian._whitened import Components

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def data(n=3000, missing=True):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3)) + np.repeat([[-3.0, 0, 1], [3.0, 2, 0]], n // 2, axis=0)
    if missing:
        X[rng.uniform(size=X.shape) < 0.1] = np.nan
    return X, rng.integers(0, 3, size=n).astype(float)


def same(a, b):
    for name in ("weights_", "means_", "covariances_", "lower_bounds_"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)


def model(**options):
    return GaussianMixture(2, max_iter=6, random_state=0, n_starts=2, **options)


@pytest.mark.parametrize("kind", ["full", "diag"])
def test_chunks_files_and_frames_have_the_bits_of_memory(kind, tmp_path, monkeypatch):
    # Small blocks, so that there are several.
    monkeypatch.setattr("corollary.core.summary.summary.BLOCK_BYTES", 2**14)
    X, weight = data()
    memory = model(covariance_type=kind).fit(X, sample_weight=weight)
    chunks = [(X[a : a + 777], None, weight[a : a + 777]) for a in range(0, len(X), 777)]
    for n_jobs in (1, 3):
        same(memory, model(covariance_type=kind).fit_source(chunks, n_jobs=n_jobs))
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(w=weight)
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=640)
    file = model(covariance_type=kind).fit_source(tmp_path / "rows.parquet", sample_weight="w")
    same(memory, file)
    assert file.feature_names_in_.tolist() == ["a", "b", "c"]
    assert file.fingerprint_.n_rows == len(X)


def test_a_dask_collection_has_the_bits_of_memory():
    dask = pytest.importorskip("dask.array")
    X, _ = data(missing=False)
    with __import__("dask").config.set(scheduler="synchronous"):
        same(model().fit(X), model().fit_source((dask.from_array(X, chunks=(700, 3)),)))


def test_a_generator_is_refused():
    X, _ = data(100)
    with pytest.raises(ValueError, match="reads the data several times"):
        model().fit_source((X,) for _ in range(2))


def test_the_sums_of_a_step_obey_the_laws_of_summaries():
    X, weight = data(400)
    components = Components(
        np.array([0.4, 0.6]), X[[2, 399]] * 0 + [[-1.0], [1.0]], np.ones((2, 3)), "diag"
    )
    full = components._replace(covariances=np.tile(np.eye(3), (2, 1, 1)), kind="full")
    for law in (
        components._replace(means=np.nan_to_num(components.means)),
        full._replace(means=np.ones((2, 3)) * [[-1], [1]]),
    ):
        sums = MixtureSums.of(law)
        parts = [
            sums.update((X[a:b], None, weight[a:b])) for a, b in ((0, 100), (100, 101), (101, 400))
        ]
        whole = sums.update((X, None, weight))
        left = parts[0].merge(parts[1]).merge(parts[2])
        right = parts[0].merge(parts[1].merge(parts[2]))
        updated = parts[0].update((X[100:], None, weight[100:]))
        for other in (left, right, updated, whole.merge(sums.empty()), sums.empty().merge(whole)):
            for name in ("weight", "log_likelihood", "counts", "first", "second"):
                np.testing.assert_allclose(
                    getattr(other, name), getattr(whole, name), rtol=1e-10, atol=1e-9
                )


def test_a_sample_does_not_depend_on_how_rows_are_cut():
    X, weight = data(500)
    whole = reduce(RowSample.of_width(3, 50), (X, None, weight))
    parts = RowSample.of_width(3, 50)
    for a in range(0, 500, 61):
        parts = parts.merge(parts.empty().update((X[a : a + 61], None, weight[a : a + 61])))
    np.testing.assert_array_equal(whole.rows, parts.rows)
    assert len(whole.rows) == 50
    assert whole.n_rows == (weight > 0).sum() == parts.n_rows
    assert not (whole.weights == 0).any()
    everything = reduce(RowSample.of_width(3, 1000), (X,))
    np.testing.assert_array_equal(everything.rows, X)


def test_held_out_rows_choose_the_number_of_components():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 2)) + np.repeat([[-5.0, 0], [5.0, 0]], 100, axis=0)
    choice = choose_components(GaussianMixture(random_state=0, n_starts=3), X, [1, 2, 3], cv=4)
    assert choice.n_components == 2
    assert choice.within_one_standard_error == 2
    assert choice.standard_errors[1] == 0
    frame = choice.to_frame()
    assert frame.n_components.tolist() == [1, 2, 3]
    # The score of one component, by hand.
    from sklearn.model_selection import KFold

    densities = np.empty((2, 200))
    for a, b in KFold(4, shuffle=True, random_state=0).split(X):
        for k in (1, 2):
            model = GaussianMixture(k, random_state=0, n_starts=3)
            densities[k - 1, b] = model.fit(X[a]).score_samples(X[b])
    assert choice.scores[:2] == pytest.approx(densities.mean(axis=1))
    loss = densities[1] - densities[0]
    variance = sum((loss - loss.mean()) ** 2) / 199
    assert choice.standard_errors[0] == pytest.approx((variance / 200) ** 0.5)
    assert "2 components" in str(choice)
