"""The best split against all splits."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeRegressor as PeerTree

from corollary.tree import (
    BinnedTable,
    GrowthProblem,
    GrowthRules,
    best_split,
    find_bins,
    grow_histogram,
)

CLASSIFICATION = ("gini", "entropy", "misclassification")
REGRESSION = ("squared_error", "absolute_error")


def criterion_sum(y, w, criterion):
    """Criterion of a node as a sum over rows, from its definition."""
    if w.sum() == 0:
        return 0.0
    if criterion == "squared_error":
        return float(w @ (y - np.average(y, weights=w)) ** 2)
    if criterion == "absolute_error":
        return min(float(w @ np.abs(y - c)) for c in y)
    p = np.array([w[y == k].sum() for k in np.unique(y)]) / w.sum()
    p = p[p > 0]
    by_name = {
        "gini": (p * (1 - p)).sum(),
        "entropy": -(p * np.log2(p)).sum(),
        "misclassification": 1 - p.max(),
    }
    return float(w.sum() * by_name[criterion])


def all_gains(X, y, w, criterion, categorical=()):
    """Gain of every split of every column, missing values on both sides."""
    whole = criterion_sum(y, w, criterion)
    for j in range(X.shape[1]):
        x = X[:, j]
        lost = np.isnan(x)
        values = np.unique(x[~lost])
        if j in categorical:
            sets = [set(c) for r in range(len(values) + 1) for c in combinations(values, r)]
            sides = [np.isin(x, list(s)) for s in sets]
        else:
            sides = [x <= v for v in values]
        for side in sides:
            for left in (side & ~lost, side | lost):
                held = w > 0
                if not (left & held).any() or not (~left & held).any():
                    continue
                after = criterion_sum(y[left], w[left], criterion)
                yield whole - after - criterion_sum(y[~left], w[~left], criterion)


def problem_rows(seed, n=25, missing=0.15, classes=3):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, 3)), 1)
    X[rng.uniform(size=X.shape) < missing] = np.nan
    y = np.round(rng.normal(size=n) + np.nan_to_num(X[:, 0]), 2)
    labels = rng.integers(0, classes, n).astype(float)
    return X, y, labels, rng.integers(0, 4, n).astype(float)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("missing", [0.0, 0.15])
@pytest.mark.parametrize("criterion", [*CLASSIFICATION, *REGRESSION])
def test_no_split_is_better(seed, criterion, missing, weighted):
    for trial in range(4):
        X, numbers, labels, w = problem_rows([seed, trial], missing=missing)
        y = labels if criterion in CLASSIFICATION else numbers
        w = w if weighted else np.ones(len(y))
        split = best_split(X, y, criterion=criterion, sample_weight=w)
        assert split.gain == pytest.approx(max(all_gains(X, y, w, criterion)), abs=1e-9)
        # The split has the gain that it claims.
        x = X[:, split.feature]
        left = np.where(np.isnan(x), split.missing_left, x <= split.threshold)
        after = criterion_sum(y[left], w[left], criterion)
        after += criterion_sum(y[~left], w[~left], criterion)
        assert criterion_sum(y, w, criterion) - after == pytest.approx(split.gain, abs=1e-9)


@pytest.mark.parametrize("criterion", [*CLASSIFICATION, "squared_error"])
def test_histograms_find_the_same_split(seed, criterion):
    for trial in range(6):
        X, numbers, labels, w = problem_rows([seed, trial, 1], n=20 + 40 * trial)
        y = labels if criterion in CLASSIFICATION else numbers
        n_classes = 3 if criterion in CLASSIFICATION else 0
        if trial % 2:
            y, n_classes = (labels > 0).astype(float), 2 if n_classes else 0
        bins = find_bins(X)
        table = BinnedTable(bins, bins.transform(X))
        tree = grow_histogram(
            table, GrowthProblem(y, criterion, n_classes), GrowthRules(max_depth=1), sample_weight=w
        )
        split = best_split(X, y, criterion=criterion, sample_weight=w)
        assert tree.gain[0] == pytest.approx(split.gain, abs=1e-9)
        assert tree.feature[0] == split.feature


def test_a_good_split_is_not_taken_for_a_perfect_one():
    y = np.repeat([0.0, 1.0], 40)
    nearly, exactly = y.copy(), y.copy()
    nearly[0] = 1.0
    X = np.column_stack([nearly, exactly])
    bins = find_bins(X)
    table = BinnedTable(bins, bins.transform(X))
    for weight in (None, np.linspace(0.1, 3.0, 80)):
        tree = grow_histogram(
            table, GrowthProblem(y, "gini", 2), GrowthRules(), sample_weight=weight
        )
        assert tree.feature.tolist() == [1, -1, -1]


@pytest.mark.parametrize("classes", [0, 2])
@pytest.mark.parametrize("criterion", ["gini", "entropy", "misclassification", "squared_error"])
def test_categories_are_split_optimally(seed, criterion, classes):
    if (criterion == "squared_error") != (classes == 0):
        return
    rng = np.random.default_rng(seed)
    for _ in range(5):
        X = rng.integers(0, 5, size=(40, 1)).astype(float)
        X[rng.uniform(size=X.shape) < 0.1] = np.nan
        effect = rng.normal(size=5)
        y = effect[np.nan_to_num(X[:, 0]).astype(int)] + rng.normal(size=40)
        y = (y > 0).astype(float) if classes else y
        w = np.ones(40)
        split = best_split(X, y, criterion=criterion, categorical=[True])
        best = max(all_gains(X, y, w, criterion, categorical=(0,)))
        assert split.gain == pytest.approx(best, abs=1e-9)
        assert split.categories is not None
        bins = find_bins(X, categorical=np.array([True]))
        table = BinnedTable(bins, bins.transform(X))
        tree = grow_histogram(table, GrowthProblem(y, criterion, classes), GrowthRules(max_depth=1))
        assert tree.gain[0] == pytest.approx(best, abs=1e-9)


def test_missing_values_join_categories():
    X = np.array([[3.0], [3.0], [7.0], [7.0], [np.nan], [np.nan]])
    split = best_split(X, [0.0, 0.0, 3.0, 3.0, 0.0, 0.0], categorical=[True])
    assert split.missing_left
    # Codes that did not occur go with the missing values.
    assert split.categories.tolist() == [code for code in range(255) if code != 7]
    assert split.gain == pytest.approx(12.0)  # 2 + 4 rows, of mean 1
    y = np.array([0.0, 0.0, 3.0, 3.0, 0.0, 3.0])
    split = best_split(np.column_stack([X[:, 0], y]), y, categorical=[True, False])
    assert (split.feature, split.threshold, split.categories) == (1, 1.5, None)


def test_entropy_is_in_bits():
    # Four rows of one bit each are told apart entirely.
    X, y = np.arange(4.0)[:, None], np.array([0.0, 0.0, 1.0, 1.0])
    assert best_split(X, y, criterion="entropy").gain == pytest.approx(4.0, rel=1e-12)


def test_agrees_with_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(200, 4)).astype(np.float32).astype(float), rng.normal(size=200)
    split = best_split(X, y)
    peer = PeerTree(max_depth=1).fit(X, y).tree_
    assert split.feature == peer.feature[0]
    assert split.threshold == pytest.approx(peer.threshold[0], rel=1e-6)
    drop = peer.impurity[0] * 200 - peer.impurity[1:] @ peer.n_node_samples[1:]
    assert split.gain == pytest.approx(drop)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 6), st.integers(-3, 3), st.integers(0, 3)), min_size=2, max_size=20
    ),
    st.sampled_from(REGRESSION),
)
def test_weights_are_copies(rows, criterion):
    x, y, w = (np.array(column, dtype=float) for column in zip(*rows))
    if not w.any():
        w = w + 1
    copies = np.repeat(np.arange(len(y)), w.astype(int))
    one = best_split(x[:, None], y, criterion=criterion, sample_weight=w)
    two = best_split(x[copies, None], y[copies], criterion=criterion)
    assert (one is None) == (two is None)
    if one is not None:
        assert one.gain == pytest.approx(two.gain, abs=1e-9)


def test_far_from_zero_and_huge_numbers():
    x, y = np.arange(8.0)[:, None], np.array([0.0, 0, 0, 0, 1, 1, 1, 1])
    assert best_split(x, 1e9 + y).threshold == 3.5
    assert best_split(x, 1e200 * y).threshold == 3.5
    # Between neighbouring floating-point numbers the threshold is the lower one.
    pair = np.array([[1.0], [np.nextafter(1.0, 2.0)]])
    assert best_split(pair, [0.0, 1.0]).threshold == 1.0


def test_no_split_without_reason():
    assert best_split([[0.0], [1.0]], [2.0, 2.0]) is None
    assert best_split([[1.0], [1.0]], [0.0, 2.0]) is None
    assert best_split([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0], min_samples_leaf=2) is None
    split = best_split([[0.0], [1.0], [np.nan]], [0.0, 0.0, 3.0])
    assert split.threshold == np.inf
    assert not split.missing_left


def test_errors():
    with pytest.raises(ValueError, match="'criterion' parameter of best_split"):
        best_split([[0.0], [1.0]], [0.0, 1.0], criterion="variance")
    with pytest.raises(ValueError, match="Negative values in data"):
        best_split([[0.0], [1.0]], [0.0, 1.0], sample_weight=[1.0, -1.0])
