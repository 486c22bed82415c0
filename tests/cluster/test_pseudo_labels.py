"""Pseudo-labels: features that clusters train, and clusters that come to rest."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

from corollary.cluster import PseudoLabelFeatures, refill_by_splitting
from corollary.cluster.pseudo_labels import _draw_equally
from corollary.neural import init_mlp

X, Y = load_digits(return_X_y=True)


def probe(features, n_labels=100):
    """Return the accuracy of a linear classifier that is given few labels."""
    scale = features.std(axis=0) + 1e-9
    rows, labels = (features - features.mean(axis=0)) / scale, Y[: len(features)]
    model = LogisticRegression(max_iter=2000, C=0.1).fit(rows[:n_labels], labels[:n_labels])
    return model.score(rows[n_labels:], labels[n_labels:])


def test_features_serve_a_linear_classifier_and_clusters_settle():
    rows, options = X[:1200], {"n_clusters": 80, "random_state": 0}
    untrained = PseudoLabelFeatures(n_rounds=1, epochs=1, learning_rate_init=1e-9, **options)
    random = probe(untrained.fit_transform(rows))
    start = init_mlp([64, 256, 128], random_state=np.random.RandomState(0))
    for learnt, drawn in zip(untrained.coefs_, start[0::2], strict=True):
        assert learnt == pytest.approx(drawn, abs=1e-5)
    model = PseudoLabelFeatures(n_rounds=5, epochs=6, **options)
    learnt = probe(model.fit_transform(rows))
    assert learnt > random + 0.1
    assert learnt > probe(rows)  # raw pixels
    assert model.agreements_[0] < model.agreements_[1:].min()
    assert model.losses_.shape == (5,)
    assert model.losses_.max() < 0.2 * np.log(80)  # that of a guess
    assert model.transform(X[:5]).shape == (5, 128)


def test_clusters_are_drawn_equally_often():
    labels, weight = np.repeat([0, 1, 2], [90, 9, 1]), np.ones(100)
    rows = _draw_equally(labels, 3, weight, np.random.RandomState(0))
    assert np.bincount(labels[rows]).tolist() == [34, 34, 34]
    weight[:80] = 0.0
    assert (_draw_equally(labels, 3, weight, np.random.RandomState(0)) >= 80).all()


def test_empty_clusters_get_half_of_the_largest():
    rows = np.array([[0.0], [1.0], [9.0], [10.0], [50.0]])
    labels = refill_by_splitting(rows, [0, 0, 0, 0, 3], 4, random_state=0)
    assert sorted(np.bincount(labels)) == [1, 1, 1, 2]
    assert labels[4] == 3
    two = refill_by_splitting(rows, [0, 0, 0, 0, 1], 3, random_state=0)
    assert two[0] == two[1] != two[2] == two[3]
    copies = refill_by_splitting(np.zeros((4, 1)), [0, 0, 0, 0], 2)
    assert np.bincount(copies).tolist() == [2, 2]
    full = refill_by_splitting(rows, [0, 1, 2, 3, 0], 4)
    assert full.tolist() == [0, 1, 2, 3, 0]


def test_weights_of_zero_and_few_rows():
    few = X[:60]
    weight = np.r_[np.ones(50), np.zeros(10)]
    options = {"hidden_layer_sizes": (8, 4), "n_rounds": 2, "epochs": 1, "random_state": 0}
    model = PseudoLabelFeatures(5, **options).fit(few, sample_weight=weight)
    assert model.input_mean_ == pytest.approx(few[:50].mean(axis=0))
    assert model.agreements_.shape == (1,)
    with pytest.raises(ValueError, match="should be >="):
        PseudoLabelFeatures(61).fit(few)


def test_rows_that_differ_by_rounding_are_split_as_equal_ones():
    tiny = np.array([[0.0], [5e-324], [0.0], [5e-324]])
    assert set(refill_by_splitting(tiny, [0, 0, 0, 0], 3, random_state=0)) == {0, 1, 2}
