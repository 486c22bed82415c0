import numpy as np
import pytest
from scipy import stats

import corollary
from corollary.decomposition import (
    PCA,
    ProbabilisticPCA,
    latent_posterior,
    probabilistic_pca,
    probabilistic_pca_em,
)


def rows(seed, n=80, d=5, k=2):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, k)) @ rng.normal(size=(k, d)) * 2 + rng.normal(size=(n, d)) + 3


def test_the_closed_form_is_the_likelihood_of_its_gaussian(seed):
    X = rows(seed)
    S = np.cov(X.T, ddof=0)
    model = probabilistic_pca(S, 2)
    law = stats.multivariate_normal(
        X.mean(axis=0), model.loadings @ model.loadings.T + model.noise * np.eye(5)
    )
    assert model.log_likelihood == pytest.approx(law.logpdf(X).mean())
    assert model.noise == pytest.approx(np.sort(np.linalg.eigvalsh(S))[:3].mean())


def test_nothing_near_is_more_likely(seed):
    X = rows(seed)
    S = np.cov(X.T, ddof=0)
    best, rng = probabilistic_pca(S, 2), np.random.default_rng(seed)
    for _ in range(20):
        W = best.loadings + 0.1 * rng.normal(size=(5, 2))
        noise = best.noise * np.exp(0.1 * rng.normal())
        law = stats.multivariate_normal(X.mean(axis=0), W @ W.T + noise * np.eye(5))
        assert law.logpdf(X).mean() < best.log_likelihood


def test_em_climbs_to_the_closed_form(seed):
    S = np.cov(rows(seed).T, ddof=0)
    run = probabilistic_pca_em(S, 2, max_iter=20_000, tol=1e-14, random_state=seed)
    best = probabilistic_pca(S, 2)
    assert (np.diff(run.history) >= -1e-12).all()
    assert run.history[-1] == pytest.approx(best.log_likelihood, rel=1e-8)
    assert run.model.log_likelihood == run.history[-1]
    assert run.model.noise == pytest.approx(best.noise, rel=1e-3)
    # Up to a rotation of the latent variables.
    gram = run.model.loadings @ run.model.loadings.T
    np.testing.assert_allclose(gram, best.loadings @ best.loadings.T, atol=5e-3)
    assert len(probabilistic_pca_em(S, 2, max_iter=3, tol=0.0).history) == 4


def test_a_bound_with_the_exact_posterior_is_the_likelihood(seed):
    X = rows(seed)
    S = np.cov(X.T, ddof=0)
    W, noise, likelihood = probabilistic_pca(S, 2)
    Z = X - X.mean(axis=0)
    mean, C = latent_posterior(Z, W, noise)
    # E log p(x | z) - KL(q | prior), averaged over rows, with q the posterior.
    residual = np.sum((Z - mean @ W.T) ** 2, axis=1) + np.trace(W @ C @ W.T)
    fit = -0.5 * (5 * np.log(2 * np.pi * noise) + residual / noise)
    divergence = 0.5 * (np.trace(C) + np.sum(mean**2, axis=1) - 2 - np.linalg.slogdet(C)[1])
    assert np.mean(fit - divergence) == pytest.approx(likelihood, rel=1e-12)


def test_the_posterior_by_conditioning_the_joint_gaussian(seed):
    rng = np.random.default_rng(seed)
    W, noise, x = rng.normal(size=(4, 2)), 0.3, rng.normal(size=(3, 4))
    C = W @ W.T + noise * np.eye(4)
    mean, covariance = latent_posterior(x, W, noise)
    np.testing.assert_allclose(mean, x @ np.linalg.solve(C, W), atol=1e-10)
    np.testing.assert_allclose(covariance, np.eye(2) - W.T @ np.linalg.solve(C, W), atol=1e-10)


def test_the_estimator_is_the_closed_form(seed):
    X = rows(seed)
    model = ProbabilisticPCA(2).fit(X)
    form = probabilistic_pca(np.cov(X.T, ddof=0), 2)
    np.testing.assert_allclose(model.loadings_, form.loadings, atol=1e-9)
    assert model.score(X) == pytest.approx(form.log_likelihood) == model.log_likelihood_
    posterior = model.posterior(X)
    expected = latent_posterior(X - X.mean(axis=0), form.loadings, form.noise)
    np.testing.assert_allclose(posterior.mean, expected.mean, atol=1e-9)
    np.testing.assert_allclose(posterior.covariance, expected.covariance, atol=1e-9)
    np.testing.assert_array_equal(model.transform(X), posterior.mean)
    np.testing.assert_allclose(
        model.inverse_transform(posterior.mean), posterior.mean @ form.loadings.T + X.mean(axis=0)
    )
    np.testing.assert_allclose(
        model.get_covariance(), form.loadings @ form.loadings.T + form.noise * np.eye(5), atol=1e-9
    )


def test_without_noise_it_becomes_principal_component_analysis(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 2)) @ rng.normal(size=(2, 4)) + 1e-6 * rng.normal(size=(60, 4))
    model, pca = ProbabilisticPCA(2).fit(X), PCA(2).fit(X)
    back = model.inverse_transform(model.transform(X))
    np.testing.assert_allclose(back, pca.inverse_transform(pca.transform(X)), atol=1e-8)


def test_draws_have_the_moments_of_the_model(seed):
    model = ProbabilisticPCA(2, random_state=seed).fit(rows(seed))
    draws = model.sample(20_000)
    error = 6 * model.get_covariance().diagonal().max() / np.sqrt(20_000)
    np.testing.assert_allclose(draws.mean(axis=0), model.mean_, atol=error)
    np.testing.assert_allclose(np.cov(draws.T), model.get_covariance(), atol=2 * error)
    np.testing.assert_array_equal(draws[:0], model.sample(0))
    np.testing.assert_array_equal(model.sample(3, random_state=1), model.sample(3, random_state=1))


def test_weights_and_sources_and_files(seed, tmp_path):
    X = rows(seed)
    weight = np.random.default_rng(seed).integers(1, 4, size=80)
    one = ProbabilisticPCA(2).fit(X, sample_weight=weight)
    many = ProbabilisticPCA(2).fit(np.repeat(X, weight, axis=0))
    np.testing.assert_allclose(one.loadings_, many.loadings_, atol=1e-9)
    chunks = ProbabilisticPCA(2).fit_source([(X[:30],), (X[30:],)])
    np.testing.assert_array_equal(chunks.loadings_, ProbabilisticPCA(2).fit(X).loadings_)
    corollary.save(one, tmp_path / "model")
    np.testing.assert_array_equal(
        corollary.load(tmp_path / "model").score_samples(X), one.score_samples(X)
    )


def test_values_by_hand():
    model = probabilistic_pca(np.diag([5.0, 1.5, 0.5]), 1)
    assert model.noise == 1.0
    assert model.loadings.ravel().tolist() == [2.0, 0.0, 0.0]
    assert model.log_likelihood == pytest.approx(-0.5 * (3 * np.log(2 * np.pi) + np.log(5) + 3))
    assert probabilistic_pca(np.diag([2.0, 0.0]), 1).log_likelihood == np.inf


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda X: ProbabilisticPCA(5).fit(X), "fewer components than features"),
        (lambda X: ProbabilisticPCA(2).fit(X[:3]), "no noise"),
        (lambda X: ProbabilisticPCA(2).fit(X).inverse_transform(X), "2 columns"),
        (lambda X: probabilistic_pca(np.eye(2), 2), "between 0 and 1"),
        (lambda X: probabilistic_pca_em(np.eye(2), 2), "between 0 and 1"),
    ],
)
def test_bad_input_is_told(call, words, seed):
    with pytest.raises(ValueError, match=words):
        call(rows(seed))
