"""Scores of anomalies against closed forms, brute force and scikit-learn."""

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import roc_auc_score
from sklearn.mixture import GaussianMixture as SklearnMixture

from corollary.anomaly import (
    cluster_distances,
    density_score,
    gaussian_score,
    reconstruction_scores,
    score_threshold,
)
from corollary.cluster import KMeans
from corollary.core.simulate import assert_share_equals
from corollary.mixture import GaussianMixture


@pytest.fixture
def law(seed):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(3, 3))
    return rng, rng.normal(size=3), A @ A.T + 0.1 * np.eye(3)


def test_density_score_is_minus_the_log_density_of_any_model(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 2)) + np.repeat([[-4.0, 0.0], [4.0, 0.0]], 100, axis=0)
    outliers = rng.uniform(-12, 12, size=(40, 2)) + [0.0, 15.0]
    ours = GaussianMixture(2, random_state=0).fit(X)
    theirs = SklearnMixture(2, random_state=0).fit(X)
    for model in (ours, theirs):
        scores = density_score(model, np.vstack([X, outliers]))
        truth = np.log(
            sum(
                w * stats.multivariate_normal(m, c).pdf(np.vstack([X, outliers]))
                for w, m, c in zip(model.weights_, model.means_, model.covariances_)
            )
        )
        np.testing.assert_allclose(scores[:200], -truth[:200], rtol=1e-9)
        assert roc_auc_score(np.arange(240) >= 200, scores) > 0.999
    with pytest.raises(TypeError, match="KMeans has none"):
        density_score(KMeans(2), X)


def test_one_gaussian_is_half_a_squared_distance_and_a_constant(law):
    rng, mean, covariance = law
    X = rng.multivariate_normal(mean, covariance, 50)
    parts = gaussian_score(X, mean, covariance)
    away = X - mean
    squares = np.einsum("ij,jk,ik->i", away, np.linalg.inv(covariance), away)
    np.testing.assert_allclose(parts.half_squares, squares / 2, rtol=1e-8)
    truth = -stats.multivariate_normal(mean, covariance).logpdf(X)
    np.testing.assert_allclose(parts.score, truth, rtol=1e-8)
    assert parts.constant == pytest.approx(
        0.5 * np.log(np.linalg.det(2 * np.pi * covariance)), rel=1e-9
    )


def test_squared_distances_have_the_chi_square_law(law):
    rng, mean, covariance = law
    X = rng.multivariate_normal(mean, covariance, 4000)
    squares = 2 * gaussian_score(X, mean, covariance).half_squares
    for level in (0.1, 0.5, 0.95):
        beyond = int((squares > stats.chi2(3).ppf(level)).sum())
        assert_share_equals(beyond, 4000, 1 - level)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[1.0, 2.0]], [0.0], np.eye(2)), "equally many columns"),
        (([1.0, 2.0], [0.0, 0.0], np.eye(2)), "equally many columns"),
        (([[1.0, 2.0]], [0.0, 0.0], np.zeros((2, 2))), "positive definite"),
        (([[1.0, 2.0]], [[0.0, 0.0]], np.eye(2)), "equally many columns"),
    ],
)
def test_gaussian_score_refuses(arguments, message):
    with pytest.raises(ValueError, match=message):
        gaussian_score(*arguments)


def test_reconstruction_scores_are_squared_distances_from_the_subspace(seed):
    rng = np.random.default_rng(seed)
    X, mean = rng.normal(size=(30, 4)), rng.normal(size=4)
    V = np.linalg.qr(rng.normal(size=(4, 2)))[0].T
    nearest = [mean + np.linalg.lstsq(V.T, x - mean, rcond=None)[0] @ V for x in X]
    truth = ((X - nearest) ** 2).sum(axis=1)
    np.testing.assert_allclose(reconstruction_scores(X, mean, V), truth, rtol=1e-9)
    along = mean + rng.normal(size=(5, 2)) @ V
    np.testing.assert_allclose(reconstruction_scores(along, mean, V), 0, atol=1e-24)
    # The score of what a projection drops is the one that a projection cannot see.
    step = V[0] - V[0] @ V.T @ V + np.linalg.svd(V)[2][-1]
    np.testing.assert_allclose(reconstruction_scores([mean + 3 * step], mean, V), 9.0)


def test_reconstruction_scores_refuse():
    with pytest.raises(ValueError, match="equally many columns"):
        reconstruction_scores([[1.0, 2.0]], [0.0, 0.0], [[1.0]])
    with pytest.raises(ValueError, match="length one"):
        reconstruction_scores([[1.0, 2.0]], [0.0, 0.0], [[1.0, 1.0]])


def test_cluster_distances_equal_brute_force(seed):
    rng = np.random.default_rng(seed)
    X, centers = rng.normal(size=(40, 3)), rng.normal(size=(5, 3))
    truth = np.linalg.norm(X[:, None] - centers, axis=2).min(axis=1)
    np.testing.assert_allclose(cluster_distances(X, centers), truth, rtol=1e-9)


@pytest.mark.parametrize("n", [1, 2, 5, 10, 37])
@pytest.mark.parametrize("contamination", [0.01, 0.1, 0.2, 0.5])
def test_threshold_is_the_least_that_a_share_exceeds(n, contamination, seed):
    rng = np.random.default_rng([seed, n])
    scores, weights = rng.normal(size=n).round(1), rng.integers(0, 4, size=n) + 0.0
    weights[0] = 1.0
    for weight in (None, weights):
        threshold = score_threshold(scores, contamination, sample_weight=weight)
        counted = np.ones(n) if weight is None else weight
        shares = {t: counted[scores > t].sum() / counted.sum() for t in scores}
        truth = min(t for t, share in shares.items() if share <= contamination + 1e-9)
        assert threshold == truth
    repeated = np.repeat(scores, weights.astype(int))
    assert score_threshold(repeated, contamination) == score_threshold(
        scores, contamination, sample_weight=weights
    )


@pytest.mark.parametrize("contamination", [0.0, -0.1, 0.51, 1.5])
def test_threshold_refuses_shares_out_of_range(contamination):
    with pytest.raises(ValueError, match="contamination"):
        score_threshold([1.0, 2.0], contamination)


def test_quantile_rule_has_the_false_alarm_rate_of_its_share(seed):
    rng = np.random.default_rng(seed)
    normal = rng.normal(size=(4000, 2)) + np.repeat([[0.0, 0.0], [9.0, 0.0]], 2000, axis=0)
    centers = KMeans(2, random_state=0).fit(normal).cluster_centers_
    threshold = score_threshold(cluster_distances(normal, centers), 0.1)
    fresh = rng.normal(size=(4000, 2)) + np.repeat([[0.0, 0.0], [9.0, 0.0]], 2000, axis=0)
    rate = float(np.mean(cluster_distances(fresh, centers) > threshold))
    assert abs(rate - 0.1) < 0.03
