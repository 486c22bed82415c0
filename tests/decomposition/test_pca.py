import numpy as np
import pandas as pd
import pytest
from scipy import sparse, stats
from sklearn import decomposition as peers
from sklearn.datasets import load_digits

import corollary
from corollary.decomposition import (
    PCA,
    least_reconstruction_error,
    subspace_log_density,
)

SOLVERS = ["full", "covariance_eigh", "arpack", "randomized"]


def rows(seed, n=60, d=6):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + 10 * np.arange(d)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("whiten", [False, True])
def test_all_solvers_agree_with_scikit_learn(solver, whiten, seed):
    X = rows(seed)
    peer = peers.PCA(3, svd_solver="full", whiten=whiten).fit(X)
    ours = PCA(3, svd_solver=solver, whiten=whiten, random_state=seed).fit(X)
    for name in (
        *("components_", "explained_variance_", "explained_variance_ratio_", "singular_values_"),
        *("mean_", "noise_variance_", "n_components_", "n_samples_"),
    ):
        np.testing.assert_allclose(
            getattr(ours, name), getattr(peer, name), rtol=1e-7, atol=1e-9, err_msg=name
        )
    np.testing.assert_allclose(ours.transform(X), peer.transform(X), atol=1e-7)
    Z = ours.transform(X)
    np.testing.assert_allclose(ours.inverse_transform(Z), peer.inverse_transform(Z), atol=1e-7)
    assert ours.svd_solver_ == solver


def test_the_density_is_the_gaussian_model(seed):
    X = rows(seed)
    peer, ours = peers.PCA(2, svd_solver="full").fit(X), PCA(2).fit(X)
    np.testing.assert_allclose(ours.get_covariance(), peer.get_covariance(), rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(
        ours.get_precision(), np.linalg.inv(ours.get_covariance()), atol=1e-8
    )
    law = stats.multivariate_normal(ours.mean_, ours.get_covariance())
    np.testing.assert_allclose(ours.score_samples(X), law.logpdf(X), rtol=1e-9)
    assert ours.score(X) == pytest.approx(peer.score(X))
    whole = PCA().fit(X)
    law = stats.multivariate_normal(X.mean(axis=0), np.cov(X.T))
    np.testing.assert_allclose(whole.score_samples(X), law.logpdf(X), rtol=1e-9)
    np.testing.assert_allclose(whole.get_precision(), np.linalg.inv(np.cov(X.T)), rtol=1e-6)
    none = PCA(0).fit(X)
    law = stats.multivariate_normal(X.mean(axis=0), np.cov(X.T).trace() / 6 * np.eye(6))
    np.testing.assert_allclose(none.score_samples(X), law.logpdf(X), rtol=1e-9)


def test_subspace_density_by_hand():
    # d = 3, variances 4 along the first axis and 1/4 across; x = (2, 1, 0).
    value = subspace_log_density([[2.0, 1.0, 0.0]], [0, 0, 0], [[1.0, 0, 0]], [4.0], 0.25)
    expected = -0.5 * (3 * np.log(2 * np.pi) + np.log(4) + 2 * np.log(0.25) + 1 + 4)
    assert value[0] == pytest.approx(expected)
    for variance, noise in ((0.0, 1.0), (1.0, 0.0)):
        with pytest.raises(ValueError, match="positive variances"):
            subspace_log_density([[0.0, 0.0]], [0, 0], [[1.0, 0]], [variance], noise)


def test_the_error_of_reconstruction_is_the_tail_of_eigenvalues(seed):
    X = rows(seed)
    for centre, moment in ((True, np.cov(X.T, ddof=0)), (False, X.T @ X / len(X))):
        pca = PCA(2, centre=centre).fit(X)
        lost = X - pca.inverse_transform(pca.transform(X))
        tail = least_reconstruction_error(moment, 2)
        assert np.mean(np.sum(lost**2, axis=1)) == pytest.approx(tail, rel=1e-8)


@pytest.mark.parametrize("solver", SOLVERS)
def test_without_centring_the_directions_are_those_of_the_second_moment(solver, seed):
    X = rows(seed)
    pca = PCA(2, centre=False, svd_solver=solver, random_state=0).fit(X)
    _, sizes, right = np.linalg.svd(X, full_matrices=False)
    np.testing.assert_allclose(pca.explained_variance_, sizes[:2] ** 2 / len(X), rtol=1e-7)
    np.testing.assert_allclose(np.abs(pca.components_), np.abs(right[:2]), atol=1e-6)
    np.testing.assert_array_equal(pca.mean_, 0)
    np.testing.assert_allclose(
        pca.explained_variance_ratio_, sizes[:2] ** 2 / np.sum(sizes**2), rtol=1e-7
    )
    np.testing.assert_allclose(pca.transform(X), X @ pca.components_.T, atol=1e-9)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_row_of_weight_k_counts_like_k_rows(solver, seed):
    X = rows(seed)
    weight = np.random.default_rng(seed).integers(0, 4, size=len(X))
    one = PCA(3, svd_solver=solver, random_state=0).fit(X, sample_weight=weight)
    many = PCA(3, svd_solver=solver, random_state=0).fit(np.repeat(X, weight, axis=0))
    for name in ("components_", "explained_variance_", "mean_", "noise_variance_"):
        np.testing.assert_allclose(getattr(one, name), getattr(many, name), rtol=1e-6, atol=1e-8)
    assert one.n_samples_ == np.count_nonzero(weight)


@pytest.mark.parametrize("solver", ["covariance_eigh", "arpack", "randomized", "auto"])
@pytest.mark.parametrize("shape", [(200, 30), (30, 200)])
def test_sparse_rows_are_not_filled_and_give_the_same(solver, shape, seed):
    X = sparse.random_array(shape, density=0.1, rng=np.random.default_rng(seed), format="csr")
    weight = np.arange(shape[0]) % 3
    dense = PCA(4, svd_solver="full").fit(X.toarray(), sample_weight=weight)
    thin = PCA(4, svd_solver=solver, random_state=0, iterated_power=12).fit(X, sample_weight=weight)
    np.testing.assert_allclose(thin.explained_variance_, dense.explained_variance_, rtol=1e-6)
    np.testing.assert_allclose(
        thin.explained_variance_ratio_, dense.explained_variance_ratio_, rtol=1e-6
    )
    np.testing.assert_allclose(
        np.abs(thin.transform(X)), np.abs(dense.transform(X.toarray())), atol=1e-4
    )


def test_a_large_offset_costs_no_precision(seed):
    X = rows(seed)
    far = X + 1e8
    for solver in ("full", "covariance_eigh"):
        near, moved = (PCA(svd_solver=solver).fit(data) for data in (X, far))
        np.testing.assert_allclose(
            moved.explained_variance_, near.explained_variance_, rtol=1e-5, atol=1e-5
        )


def test_the_randomised_solver_is_at_least_as_good_as_subspace_iteration(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(600, 550))  # no gap anywhere
    exact = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)[:5] ** 2 / 599
    ours = PCA(5, svd_solver="randomized", random_state=0).fit(X).explained_variance_
    peer = peers.PCA(5, svd_solver="randomized", random_state=0).fit(X).explained_variance_
    assert (ours <= exact * (1 + 1e-10)).all()
    assert ours.sum() > peer.sum()
    assert ours.sum() > 0.99 * exact.sum()


def test_the_randomised_solver_ends_where_the_rows_have_no_more_directions():
    X = load_digits().data  # three pixels are always white
    exact, ours = (PCA(30, svd_solver=s, random_state=0).fit(X) for s in ("full", "randomized"))
    np.testing.assert_allclose(ours.explained_variance_, exact.explained_variance_, rtol=1e-9)
    assert ours.noise_variance_ == pytest.approx(exact.noise_variance_)


def test_partial_fits_equal_one_fit(seed):
    X, weight = rows(seed), np.random.default_rng(seed).uniform(0.5, 2, size=60)
    whole = PCA(2).fit(X, sample_weight=weight)
    parts = PCA(2)
    for some in (slice(0, 20), slice(20, 21), slice(21, 60)):
        parts.partial_fit(X[some], sample_weight=weight[some])
    for name in ("components_", "explained_variance_", "mean_", "noise_variance_", "n_samples_"):
        np.testing.assert_allclose(getattr(parts, name), getattr(whole, name), rtol=1e-9, atol=1e-9)
    later = PCA(2).fit(X[:30]).partial_fit(X[30:])
    np.testing.assert_allclose(later.explained_variance_, PCA(2).fit(X).explained_variance_)
    assert later.fingerprint_.n_rows == 60


def test_files_and_streams_give_the_bits_of_memory(seed, tmp_path):
    X = rows(seed, n=500)
    weight = np.random.default_rng(seed).uniform(0.5, 2, size=500)
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(w=weight)
    frame.to_parquet(tmp_path / "rows.parquet")
    memory = PCA(3).fit(frame[list("abcdef")], sample_weight=weight)
    disk = PCA(3).fit_source(tmp_path / "rows.parquet", sample_weight="w")
    stream = PCA(3).fit_source(
        [(X[i : i + 90], None, weight[i : i + 90]) for i in range(0, 500, 90)]
    )
    for name in ("components_", "explained_variance_", "mean_"):
        np.testing.assert_array_equal(getattr(disk, name), getattr(memory, name))
        np.testing.assert_array_equal(getattr(stream, name), getattr(memory, name))
    assert disk.feature_names_in_.tolist() == list("abcdef")
    assert disk.get_feature_names_out().tolist() == ["pca0", "pca1", "pca2"]


def test_files_keep_a_model(tmp_path, seed):
    X = rows(seed)
    model = PCA(2, whiten=True).fit(X)
    corollary.save(model, tmp_path / "model")
    loaded = corollary.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.transform(X), model.transform(X))
    np.testing.assert_array_equal(
        loaded.partial_fit(X[:9]).components_, model.partial_fit(X[:9]).components_
    )


def test_the_affine_map_is_the_transform(seed):
    X = rows(seed)
    for whiten in (False, True):
        model = PCA(3, whiten=whiten).fit(X)
        matrix, offset = model.as_affine()
        many = np.tile(X, (1200, 1))  # more than a block of rows
        np.testing.assert_allclose(many @ matrix.T + offset, model.transform(many), atol=1e-9)


def test_whitened_projections_have_variance_one(seed):
    Z = PCA(3, whiten=True).fit_transform(rows(seed))
    np.testing.assert_allclose(np.cov(Z.T), np.eye(3), atol=1e-9)


def test_solvers_are_chosen_by_shape():
    rng = np.random.default_rng(0)
    assert PCA(2).fit(rng.normal(size=(50, 5))).svd_solver_ == "covariance_eigh"
    assert PCA(2).fit(rng.normal(size=(5, 50))).svd_solver_ == "full"
    assert PCA(2).fit(rng.normal(size=(20, 600))).svd_solver_ == "randomized"
    assert PCA(18).fit(rng.normal(size=(20, 600))).svd_solver_ == "full"
    assert PCA(0.9).fit(rng.normal(size=(20, 600))).svd_solver_ == "full"


def test_constant_rows_have_no_direction():
    model = PCA(1).fit(np.ones((5, 3)))
    assert model.explained_variance_.tolist() == model.explained_variance_ratio_.tolist() == [0.0]
    np.testing.assert_allclose(model.transform(np.ones((2, 3))), 0, atol=1e-12)
    with pytest.raises(ValueError, match="no density"):
        model.score(np.ones((2, 3)))
    with pytest.raises(ValueError, match="no density"):
        model.get_precision()


def test_digits_are_compressed():
    X = load_digits().data
    model = PCA(0.95).fit(X)
    assert model.n_components_ == peers.PCA(0.95, svd_solver="full").fit(X).n_components_ == 29


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda X: PCA(7).fit(X), "between 0 and 6"),
        (lambda X: PCA(6, svd_solver="arpack").fit(X), "between 1 and 5"),
        (lambda X: PCA(0, svd_solver="randomized").fit(X), "between 1 and 6"),
        (lambda X: PCA(0.5, svd_solver="randomized").fit(X), "that is told"),
        (lambda X: PCA("mle").fit(X.T), "n_samples >= n_features"),
        (lambda X: PCA("elbow").fit(X), "n_components"),
        (lambda X: PCA(2).fit(X, sample_weight=np.full(60, 1 / 60)), "needs it above one"),
        (lambda X: PCA(1).fit(X[:1]), "n_samples = 1"),
        (lambda X: PCA(2, svd_solver="full").fit_source([(X,)]), "PCA.fit_source decomposes"),
        (lambda X: PCA(2, svd_solver="full").partial_fit(X), "PCA.partial_fit decomposes"),
        (lambda X: PCA(2).fit(X.T).partial_fit(X.T), "does not keep"),
        (lambda X: PCA(2).fit(X).inverse_transform(X), "2 columns"),
        (lambda X: PCA(2).fit(np.full((3, 3), 1e200)), "squares have a finite sum"),
        (lambda X: PCA(2).fit_source([(np.full((3, 3), np.nan),)]), "NaN or infinity"),
    ],
)
def test_bad_input_is_told(call, words, seed):
    with pytest.raises(ValueError, match=words):
        call(rows(seed))


def test_the_full_solver_refuses_sparse_rows(seed):
    with pytest.raises(TypeError, match="needs dense rows"):
        PCA(2, svd_solver="full").fit(sparse.csr_array(rows(seed)))


@pytest.mark.parametrize("solver", ["full", "arpack", "randomized", "covariance_eigh"])
def test_rows_have_the_same_bits_however_they_lie_in_memory(solver):
    X = np.random.default_rng(8).normal(size=(60, 5))
    fit = PCA(2, svd_solver=solver, random_state=0).fit
    components = fit(X).components_
    for same in (np.asfortranarray(X), np.repeat(X, 2, axis=1)[:, ::2]):
        assert np.array_equal(fit(same).components_, components)
