"""Scores as objects: values against peers, splits among columns, the blind spot and its cure."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.decomposition import PCA as SklearnPCA  # noqa: N811
from sklearn.metrics import roc_auc_score
from sklearn.mixture import GaussianMixture as SklearnMixture

from corollary.anomaly import (
    AnomalyDetector,
    ClusterDistance,
    Mahalanobis,
    ModelScore,
    PCAMixture,
    Reconstruction,
    gaussian_score,
    reconstruction_scores,
)
from corollary.density import GaussianDensity, KernelDensity

NAMES = ["mixture", "pca-mixture", "mahalanobis", "clusters", "density"]


@pytest.fixture
def rows(seed):
    """Two clusters near a plane of five columns."""
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(rng.normal(size=(5, 5)))[0]
    spread = rng.normal(size=(600, 5)) * [1.0, 1.0, 0.1, 0.1, 0.1]
    spread[:300, 0] += 8.0
    return rng, spread @ basis, basis


def fitted(measure, X, **options):
    options = {"calibration_size": 0.0, "standardize": False, "random_state": 0} | options
    return AnomalyDetector(measure, **options).fit(X)


def scores_of(model, X):
    return -model.score_samples(X)


def test_the_pipeline_equals_scikit_learns(rows):
    rng, X, _ = rows
    pca = SklearnPCA(2).fit(X)
    mixture = SklearnMixture(2, random_state=0, tol=1e-9, max_iter=500).fit(pca.transform(X))
    ours = fitted(PCAMixture(2, 2, residual=False), X)
    new = X[:50] + 0.3 * rng.normal(size=(50, 5))
    theirs = -mixture.score_samples(pca.transform(new))
    np.testing.assert_allclose(scores_of(ours, new), theirs, atol=0.05)


def test_one_component_of_all_directions_ranks_like_mahalanobis(rows):
    rng, X, _ = rows
    new = X[:100] + rng.normal(size=(100, 5))
    pipeline, distance = fitted(PCAMixture(None, 1), X), fitted(Mahalanobis(0.0), X)
    parts = gaussian_score(new, X.mean(axis=0), np.cov(X.T, ddof=0))
    np.testing.assert_allclose(scores_of(distance, new), parts.half_squares, rtol=1e-8)
    np.testing.assert_allclose(scores_of(pipeline, new), parts.score, rtol=1e-3)


def test_cured_score_is_a_density_on_the_whole_space(rows):
    rng, X, _ = rows
    model = fitted(PCAMixture(2, 2), X)
    score, new = model.measure_, X[:20] + rng.normal(size=(20, 5))
    blind = scores_of(fitted(PCAMixture(2, 2, residual=False), X), new)
    across = reconstruction_scores(new, score.pca.mean_, score.pca.components_)
    noise = np.linalg.eigvalsh(np.cov(X.T))[:3].mean()
    truth = blind + across / (2 * noise) + 1.5 * np.log(2 * np.pi * noise)
    np.testing.assert_allclose(scores_of(model, new), truth, rtol=1e-8)
    # exp(-score) integrates to one: across the plane by brute force, along it by the mixture.
    t = np.linspace(-2, 2, 81)
    grid = np.stack(np.meshgrid(t, t, t, indexing="ij"), -1).reshape(-1, 3)
    null = np.linalg.svd(score.pca.components_)[2][2:]
    along = X[0] - score.pca.mean_
    foot = score.pca.mean_ + score.pca.components_.T @ (score.pca.components_ @ along)
    mass = np.exp(-scores_of(model, foot + grid @ null)).sum() * (t[1] - t[0]) ** 3
    assert mass == pytest.approx(
        float(np.exp(-scores_of(fitted(PCAMixture(2, 2, residual=False), X), [foot]))[0]), rel=1e-3
    )


def test_blind_spot_and_its_cure(rows):
    _, X, basis = rows
    normal = X[:200] + 0.0
    outside = normal + 1.0 * basis[4]  # ten standard deviations across the kept plane
    truth = np.arange(400) >= 200
    asked = np.vstack([normal, outside])
    blind = fitted(PCAMixture(2, 2, residual=False), X)
    np.testing.assert_allclose(scores_of(blind, outside), scores_of(blind, normal), atol=0.6)
    assert abs(roc_auc_score(truth, scores_of(blind, asked)) - 0.5) < 0.1
    for cure in (PCAMixture(2, 2), Reconstruction(2), Mahalanobis()):
        assert roc_auc_score(truth, scores_of(fitted(cure, X), asked)) > 0.99


@pytest.mark.parametrize("score", [PCAMixture(2, 3), Mahalanobis(), Reconstruction(2)])
def test_exact_splits_sum_to_the_score_up_to_a_height(rows, score):
    rng, X, _ = rows
    model, new = fitted(score, X), X[:30] + rng.normal(size=(30, 5))
    found, total = model.contributions(new), scores_of(model, new)
    if not isinstance(score, PCAMixture):
        np.testing.assert_allclose(found.sum(axis=1), total, rtol=1e-8)
        return
    law, pca = model.measure_.mixture.to_law(), model.measure_.pca
    joint = law.log_joint(pca.transform(new))
    r = np.exp(joint - np.logaddexp.reduce(joint, axis=1, keepdims=True))
    heights = np.log(law.weights) - 0.5 * np.linalg.slogdet(2 * np.pi * law.covariances)[1]
    entropy = -np.where(r > 0, r * np.log(np.where(r > 0, r, 1)), 0).sum(axis=1)
    rest = -(r @ heights) - entropy + 1.5 * np.log(2 * np.pi * model.measure_.noise)
    np.testing.assert_allclose(found.sum(axis=1) + rest, total, rtol=1e-7)


def test_shapley_values_of_one_gaussian(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, 3)) @ rng.normal(size=(3, 3))
    model, x = fitted(Mahalanobis(0.0), X), rng.normal(size=3) * 3
    mean = X.mean(axis=0)

    def value(columns):
        return scores_of(model, [np.where(np.isin([0, 1, 2], columns), x, mean)])[0]

    orders = [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)]
    shapley = np.zeros(3)
    for order in orders:
        for k, j in enumerate(order):
            shapley[j] += (value(order[: k + 1]) - value(order[:k])) / 6
    np.testing.assert_allclose(model.contributions([x])[0], shapley, rtol=1e-7, atol=1e-9)


def test_cluster_contributions_sum_to_the_distance(rows):
    rng, X, _ = rows
    model, new = fitted(ClusterDistance(2), X), X[:30] + rng.normal(size=(30, 5))
    np.testing.assert_allclose(model.contributions(new).sum(axis=1), scores_of(model, new))
    np.testing.assert_allclose(
        scores_of(model, model.measure_.kmeans.cluster_centers_), 0, atol=1e-12
    )
    assert (model.contributions(model.measure_.kmeans.cluster_centers_) == 0).all()


def test_replacement_takes_off_what_a_gaussian_says(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(400, 3)) @ rng.normal(size=(3, 3))
    model = fitted(ModelScore(GaussianDensity()), X)
    new = X[:10] + rng.normal(size=(10, 3))
    Q, away = np.linalg.inv(np.cov(X.T, ddof=0)), new - X.mean(axis=0)
    # -log density less the same where a column is its conditional mean: (Qz)_j^2 / 2 Q_jj.
    truth = (away @ Q) ** 2 / (2 * np.diag(Q))
    np.testing.assert_allclose(model.contributions(new), truth, rtol=1e-6)


@pytest.mark.parametrize("measure", [*NAMES, "one-class", Reconstruction(1)])
def test_the_guilty_column_contributes_most(measure, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(400, 1)) + 0.5 * rng.normal(size=(400, 6))
    planted = X[:12] * 0.3
    guilty = np.arange(12) % 6
    planted[np.arange(12), guilty] += 4.0
    found = AnomalyDetector(measure, random_state=0).fit(X).contributions(planted).argmax(axis=1)
    assert (found == guilty).mean() >= 0.9


def test_auto_takes_as_many_components_as_the_rows_have(rows):
    _, X, _ = rows
    assert fitted(PCAMixture(2), X).measure_.mixture.n_components == 2
    assert fitted(PCAMixture(2), X[:300]).measure_.mixture.n_components == 1
    assert fitted(PCAMixture(2), X[::60]).measure_.mixture.n_components == 1  # too few rows
    assert fitted(PCAMixture(2, 4), X).measure_.mixture.n_components == 4


def test_shrinkage_is_scikit_learns(seed):
    from sklearn.covariance import OAS

    for shape in ((5, 20), (60, 4)):
        X = np.random.default_rng(seed).normal(size=shape) * np.arange(1, shape[1] + 1)
        model = fitted(Mahalanobis(), X)
        np.testing.assert_allclose(model.measure_.covariance, OAS().fit(X).covariance_, rtol=1e-8)
        assert np.isfinite(model.contributions(X)).all()


def test_breast_cancer_benign_as_normal():
    X, y = load_breast_cancer(return_X_y=True)
    benign = X[y == 1]
    asked, areas = np.vstack([benign[250:], X[y == 0]]), {}
    for measure in ("pca-mixture", "mixture", "mahalanobis"):
        model = AnomalyDetector(measure, random_state=0).fit(benign[:250])
        truth = np.arange(len(asked)) >= len(benign) - 250
        areas[measure] = roc_auc_score(truth, scores_of(model, asked))
    assert 0.9 < areas["pca-mixture"] < areas["mixture"]
    assert areas["mahalanobis"] > 0.94


def test_digits_without_one_class():
    X, y = load_digits(return_X_y=True)
    normal = X[y != 0]
    score = PCAMixture(20, 8)
    model = AnomalyDetector(score, standardize=False, random_state=0).fit(normal[::2])
    scores = scores_of(model, np.vstack([normal[1::2], X[y == 0]]))
    assert roc_auc_score(np.arange(len(scores)) >= len(normal[1::2]), scores) > 0.9


def test_scores_by_kernels_need_rows_in_memory():
    chunks = [(np.eye(3),), (np.eye(3) + 1,)]
    with pytest.raises(ValueError, match="KernelDensity needs all rows in memory"):
        AnomalyDetector(ModelScore(KernelDensity())).fit_source(chunks)


def test_reconstruction_needs_a_direction_to_drop(seed):
    X = np.random.default_rng(seed).normal(size=(50, 3))
    for d in (2, 3):
        score = fitted(Reconstruction(0.99), X[:, :d]).measure_
        assert (score.n_directions, score.pca.n_components_) == (0.99, d - 1)
    for score, rows in ((Reconstruction(3), X), (Reconstruction(), X[:, :1])):
        with pytest.raises(ValueError, match="direction to drop"):
            fitted(score, rows)
