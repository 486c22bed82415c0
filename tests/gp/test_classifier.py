"""Laplace's approximation against scikit-learn, finite differences and quadrature."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import expit
from scipy.stats import norm
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessClassifier as Peer
from sklearn.gaussian_process import kernels as peers

import corollary
from corollary.gp import (
    GaussianProcessClassifier,
    laplace_evidence_gradient,
    laplace_mode,
    logistic_normal_mean,
)
from corollary.kernels import RBF, Matern, Sigmoid


@pytest.fixture
def data(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 2))
    f = 3 * np.sin(2 * X[:, 0]) + X[:, 1]
    return X, np.where(rng.uniform(size=60) < expit(f), "yes", "no")


def test_mode_is_stationary_and_a_maximum(data):
    X, y = data
    K, t = (2.0 * RBF(1.0)).gram(X) + 1e-8 * np.eye(60), (y == "yes").astype(float)
    mode = laplace_mode(K, t)
    assert mode.converged
    np.testing.assert_allclose(mode.f, K @ mode.slope, atol=1e-5)
    np.testing.assert_allclose(mode.slope, t - expit(mode.f), atol=1e-12)

    def log_posterior(f):
        return t @ f - np.logaddexp(0, f).sum() - 0.5 * f @ np.linalg.solve(K, f)

    rng = np.random.default_rng(0)
    best = log_posterior(mode.f)
    for _ in range(20):
        assert log_posterior(mode.f + 0.1 * K @ rng.normal(size=60)) < best


def test_gradient_of_the_evidence(seed):
    rng = np.random.default_rng(seed)
    X, t = rng.normal(size=(14, 2)), (rng.uniform(size=14) < 0.5).astype(float)
    weight = rng.integers(1, 4, size=14).astype(float)
    kernel = 2.0 * RBF([1.0, 2.0])
    K, pull = kernel.gram_with_gradient(X)
    mode = laplace_mode(K, t, weight, tol=1e-15)
    gradient, _ = pull(laplace_evidence_gradient(K, mode, weight))
    vector, step = kernel.parameters().vector, 1e-5

    def value(v):
        return laplace_mode(kernel.with_parameters(v).gram(X), t, weight, tol=1e-15).log_evidence

    expected = [(value(vector + e) - value(vector - e)) / (2 * step) for e in step * np.eye(3)]
    np.testing.assert_allclose(gradient, expected, rtol=1e-4, atol=1e-6)


@settings(max_examples=15)
@given(st.floats(-20, 20), st.floats(0, 30))
def test_logistic_normal_mean(mean, std):
    points = [0.0] if std < 1e-3 else sorted({0.0, float(np.clip(-mean / std, -11, 11))})
    expected, _ = quad(
        lambda z: expit(mean + std * z) * norm.pdf(z), -12, 12, points=points, limit=400
    )
    assert float(logistic_normal_mean(mean, std**2)) == pytest.approx(expected, abs=1e-7)


def test_probabilities_equal_scikit_learns(data):
    X, y = data
    new = np.random.default_rng(1).normal(size=(20, 2))
    model = GaussianProcessClassifier(3.0 * RBF([0.8, 1.5]), optimizer=None).fit(X, y)
    peer = Peer(3.0 * peers.RBF([0.8, 1.5]), optimizer=None).fit(X, y)
    # scikit-learn approximates the average of the logistic function by five error functions
    np.testing.assert_allclose(model.predict_proba(new), peer.predict_proba(new), atol=3e-3)
    expected = peer.log_marginal_likelihood_value_
    assert model.log_marginal_likelihood_value_ == pytest.approx(expected, rel=1e-6)


def test_learnt_evidence_is_at_least_scikit_learns(data):
    X, y = data
    model = GaussianProcessClassifier(4.0 * RBF([1.0, 1.0])).fit(X, y)
    peer = Peer(peers.ConstantKernel(4.0) * peers.RBF([1.0, 1.0])).fit(X, y)
    assert model.log_marginal_likelihood_value_ >= peer.log_marginal_likelihood_value_ - 1e-3
    assert model.n_iter_ > 0


def test_several_classes(seed):
    rng = np.random.default_rng(seed)
    centres = np.array([[0, 0], [4, 0], [0, 4]])
    y = np.repeat([3, 1, 2], 20)
    X = np.repeat(centres, 20, axis=0) + rng.normal(size=(60, 2))
    model = GaussianProcessClassifier(random_state=0).fit(X, y)
    probabilities = model.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    assert len(model.kernels_) == 3
    assert model.score(X, y) > 0.9
    assert list(model.predict(centres)) == [3, 1, 2]
    far = model.predict_proba([[500.0, 500.0]])  # nothing known: nothing claimed
    np.testing.assert_allclose(far, 1 / 3, atol=0.1)


def test_weight_counts_like_copies(data):
    X, y = data
    weight = np.random.default_rng(0).integers(0, 3, size=60)
    rows = np.repeat(np.arange(60), weight)
    kernel = 2.0 * Matern(1.0)
    a = GaussianProcessClassifier(kernel, optimizer=None).fit(X, y, sample_weight=weight)
    b = GaussianProcessClassifier(kernel, optimizer=None).fit(X[rows], y[rows])
    np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(X), atol=1e-5)
    again = np.concatenate([rows, rows[:20]])
    flipped = np.concatenate([y[rows], np.where(y[rows[:20]] == "yes", "no", "yes")])
    c = GaussianProcessClassifier(kernel, optimizer=None).fit(X[again], flipped)
    t = (flipped == "yes").astype(float)
    plain = laplace_mode(kernel.gram(X[again]), t)  # without gathering equal rows
    np.testing.assert_allclose(c.latent_law(X[again])[0].ravel(), plain.f, atol=1e-4)
    assert c.log_marginal_likelihood_value_ == pytest.approx(plain.log_evidence, rel=1e-6)


def test_labels_agree_with_probabilities_and_variances_are_positive(data):
    X, y = data
    model = GaussianProcessClassifier(random_state=0).fit(X, y)
    best = model.classes_[model.predict_proba(X).argmax(axis=1)]
    assert np.array_equal(model.predict(X), best)
    assert (model.latent_law(X)[1] >= 0).all()
    model.factors_ = 0.1 * model.factors_  # more rounding than any machine has
    assert (model.latent_law(X)[1] == 0).any()
    assert np.isfinite(model.predict_proba(X)).all()


def test_separable_classes_keep_finite_certainty():
    X = np.linspace(-1, 1, 20)[:, None]
    model = GaussianProcessClassifier().fit(X, X.ravel() > 0)
    probabilities = model.predict_proba([[-1.0], [0.0], [1.0]])[:, 1]
    assert probabilities[0] < 0.2 < probabilities[1] < 0.8 < probabilities[2] < 1.0


def test_saved_and_loaded(data, tmp_path):
    X, y = data
    model = GaussianProcessClassifier(random_state=0).fit(X, y)
    corollary.save(model, tmp_path / "gpc.corollary")
    again = corollary.load(tmp_path / "gpc.corollary")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_errors(data):
    X, y = data
    with pytest.raises(ValueError, match="Got one class: 'a'"):
        GaussianProcessClassifier().fit(X, np.full(60, "a"))
    with pytest.raises(ValueError, match="positive semi-definite kernel"):
        GaussianProcessClassifier(Sigmoid()).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="Raise max_iter"):
        GaussianProcessClassifier(max_iter=1).fit(X, y)
