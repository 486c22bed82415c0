"""Novelty detection: a peer, the meaning of nu, weights."""

import numpy as np
import pytest
from sklearn import svm as peer

import corollary
from corollary.svm import OneClassSVM


def cloud(n=120, seed=0):
    return np.random.default_rng(seed).normal(size=(n, 3))


@pytest.mark.parametrize("nu", [0.05, 0.33, 0.8])
def test_agrees_with_scikit_learn(nu):
    X = cloud()
    ours = OneClassSVM(nu=nu, tol=1e-9).fit(X)
    theirs = peer.OneClassSVM(nu=nu, tol=1e-9).fit(X)
    np.testing.assert_allclose(ours.score_samples(X), theirs.score_samples(X), atol=1e-5)
    np.testing.assert_allclose(ours.offset_, theirs.offset_, atol=1e-5)
    np.testing.assert_array_equal(ours.support_, theirs.support_)
    assert abs(ours.dual_gap_) < 1e-5 * len(X)


@pytest.mark.parametrize("nu", [0.1, 0.5])
def test_nu_bounds_outliers_and_support_vectors(nu):
    X = cloud(200)
    model = OneClassSVM(nu=nu, tol=1e-9).fit(X)
    assert (model.decision_function(X) < -1e-6).mean() <= nu <= len(model.support_) / 200


def test_all_rows_may_be_outliers():
    # Every weight is at its bound, and the threshold is any number above all scores.
    X = cloud(50)
    model = OneClassSVM(nu=1.0).fit(X)
    assert len(model.support_) == 50
    assert model.offset_ >= model.score_samples(X).max() - 1e-9


def test_weights_are_repetitions():
    X = cloud(40)
    weight = np.random.default_rng(0).integers(0, 4, size=40)
    one = OneClassSVM(nu=0.3, tol=1e-10).fit(X, sample_weight=weight)
    other = OneClassSVM(nu=0.3, tol=1e-10).fit(np.repeat(X, weight, axis=0))
    np.testing.assert_allclose(one.decision_function(X), other.decision_function(X), atol=1e-6)


def test_one_row_and_files(tmp_path):
    model = OneClassSVM().fit([[1.0, 2.0]])
    np.testing.assert_array_equal(model.predict([[1.0, 2.0], [9.0, 9.0]]), [1, -1])
    corollary.save(model, tmp_path / "model")
    assert corollary.load(tmp_path / "model").offset_ == model.offset_
    with pytest.raises(ValueError, match="at least one non-zero"):
        OneClassSVM().fit(cloud(3), sample_weight=np.zeros(3))
