"""Stumps against brute force over every feature, threshold and sign."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeRegressor

from corollary.ensemble import Stump, StumpClassifier, StumpRegressor, best_stump


def table(seed, n, d, values=4):
    rng = np.random.default_rng(seed)
    return rng, rng.integers(values, size=(n, d)).astype(float), rng.choice([-1, 1], size=n)


def smallest_error(X, y, w):
    """Try every function s * sign(x_j - t)."""
    best = np.inf
    for j in range(X.shape[1]):
        for t in [-np.inf, *(np.unique(X[:, j]) - 0.5)]:
            for s in (-1, 1):
                h = s * np.where(X[:, j] >= t, 1, -1)
                best = min(best, w[h != y].sum() / w.sum())
    return best


@given(st.integers(0, 10**6), st.integers(1, 12), st.integers(1, 3))
def test_best_stump_is_the_best_of_all(seed, n, d):
    rng, X, y = table(seed, n, d)
    w = rng.integers(0, 4, size=n).astype(float)
    w[0] = 1.0
    stump = best_stump(X, y, sample_weight=w)
    assert stump.error == pytest.approx(smallest_error(X, y, w), abs=1e-12)
    assert stump.error <= 0.5
    wrong = stump.predict(X) != y
    assert w[wrong].sum() / w.sum() == pytest.approx(stump.error, abs=1e-12)


@given(st.integers(0, 10**6), st.integers(2, 10), st.integers(2, 4))
def test_classes_against_brute_force(seed, n, k):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(4, size=(n, 2)).astype(float), rng.integers(k, size=n)
    w = rng.uniform(0.1, 1.0, size=n)
    model = StumpClassifier().fit(X, y, sample_weight=w)
    best = np.inf
    for j in range(2):
        for t in [-np.inf, 0.5, 1.5, 2.5]:
            up = X[:, j] >= t
            for a in range(k):
                for b in range(k):
                    best = min(best, w[np.where(up, b, a) != y].sum() / w.sum())
    assert model.error_ == pytest.approx(best, abs=1e-12)
    shares = model.predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert w[model.predict(X) != y].sum() / w.sum() == pytest.approx(best, abs=1e-12)


@given(st.integers(0, 10**6))
def test_weight_is_repetition_and_order_does_not_matter(seed):
    rng, X, y = table(seed, 9, 2)
    w = rng.integers(0, 4, size=9)
    w[0] = 2
    weighted = best_stump(X, y, sample_weight=w)
    repeated = best_stump(np.repeat(X, w, axis=0), np.repeat(y, w))
    assert weighted[:3] == repeated[:3]
    shuffle = rng.permutation(9)
    assert best_stump(X[shuffle], y[shuffle], sample_weight=w[shuffle])[:3] == weighted[:3]
    assert best_stump(X, y, sample_weight=w * 1e300)[:3] == weighted[:3]
    assert best_stump(X, y, sample_weight=w * 1e-300)[:3] == weighted[:3]


@given(st.integers(0, 10**6))
def test_flipped_labels_flip_the_sign(seed):
    _, X, y = table(seed, 8, 2)
    first, second = best_stump(X, y), best_stump(X, -y)
    assert first.error == pytest.approx(second.error)
    if first.threshold > -np.inf:
        assert first[:2] == second[:2]
        assert first.sign == -second.sign


def test_thresholds_lie_between_values():
    assert best_stump([[1.0], [3.0]], [-1, 1]) == Stump(0, 2.0, 1, 0.0)
    low = 1.0
    high = np.nextafter(low, 2.0)
    stump = best_stump([[low], [high]], [-1, 1])
    assert stump.predict([[low], [high]]).tolist() == [-1, 1]
    huge = best_stump([[-1.5e308], [1.5e308]], [-1, 1])
    assert huge.threshold == 0.0


def test_a_constant_wins_where_nothing_helps():
    assert best_stump([[1.0], [1.0], [1.0]], [1, 1, -1]) == Stump(0, -np.inf, 1, 1 / 3)
    assert best_stump([[1.0], [2.0]], [-1, -1])[1:] == (-np.inf, -1, 0.0)
    one = StumpClassifier().fit([[1.0]], ["a"])
    assert one.predict([[5.0]]).tolist() == ["a"]
    assert one.feature_importances_.tolist() == [0.0]


@given(st.integers(0, 10**6), st.integers(2, 15))
def test_regression_against_a_peer(seed, n):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, 2)), rng.normal(size=n)
    w = rng.uniform(0.1, 2, size=n)
    ours = StumpRegressor().fit(X, y, sample_weight=w)
    peer = DecisionTreeRegressor(max_depth=1, random_state=0).fit(X, y, sample_weight=w)

    def risk(model):
        return w @ (y - model.predict(X)) ** 2

    assert risk(ours) <= risk(peer) + 1e-12


def test_regression_of_a_constant_and_of_zero_weights():
    model = StumpRegressor().fit([[1.0], [2.0]], [3.0, 3.0])
    assert model.threshold_ == -np.inf
    assert model.predict([[0.0]]).tolist() == [3.0]
    model = StumpRegressor().fit([[0.0], [1.0], [9.0]], [0.0, 1.0, 5.0], [1, 1, 0])
    assert model.leaf_values_.tolist() == [0.0, 1.0]
    assert model.threshold_ == 0.5


@pytest.mark.parametrize("scale", [2.0**1000, 2.0**-1000])
def test_the_unit_of_targets_does_not_matter(seed, scale):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(20, 2)), rng.normal(size=20)
    wanted = StumpRegressor().fit(X, y)
    model = StumpRegressor().fit(X, scale * y)
    assert model.threshold_ == wanted.threshold_
    assert model.leaf_values_.tolist() == (scale * wanted.leaf_values_).tolist()


def test_errors():
    with pytest.raises(ValueError, match="NaN or infinity"):
        best_stump([[np.nan]], [1])
    with pytest.raises(ValueError, match="labels -1 and"):
        best_stump([[1.0]], [0])
    with pytest.raises(ValueError, match="needs 1 labels"):
        best_stump([[1.0]], [1, 1])
    with pytest.raises(ValueError, match="at least one of each"):
        best_stump(np.empty((0, 2)), [])
    with pytest.raises(ValueError, match="at least one non-zero number"):
        StumpClassifier().fit([[1.0], [2.0]], [0, 1], [0.0, 0.0])
