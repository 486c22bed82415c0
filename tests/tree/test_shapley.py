"""Shapley values of trees against all subsets, and their laws."""

import itertools
from math import factorial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corollary.tree import Tree, Trees, expected_values, pack_categories, tree_contributions


def random_tree(rng, n_features, n_splits, outputs=1, categorical=False):
    """A random tree with node weights that add up; rarely used features repeat on ways."""
    left, feature, threshold, weight = [-1], [-1], [0.0], [float(rng.integers(50, 100))]
    categories, bitsets, missing = [-1], [], [False]
    leaves = [0]
    for _ in range(n_splits):
        node = leaves.pop(int(rng.integers(len(leaves))))
        child = len(left)
        left[node], feature[node] = child, int(rng.integers(n_features))
        threshold[node], missing[node] = float(rng.normal()), bool(rng.integers(2))
        if categorical and rng.random() < 0.5:
            categories[node] = len(bitsets)
            bitsets.append(pack_categories(np.flatnonzero(rng.integers(0, 2, 4))))
        share = rng.uniform(0.1, 0.9)
        weight += [weight[node] * share, weight[node] * (1 - share)]
        left += [-1, -1]
        feature += [-1, -1]
        threshold += [0.0, 0.0]
        categories += [-1, -1]
        missing += [False, False]
        leaves += [child, child + 1]
    return Tree.from_arrays(
        feature=feature,
        threshold=threshold,
        left=left,
        value=rng.normal(size=(len(left), outputs)),
        weight=weight,
        missing_left=missing,
        n_features=n_features,
        categories=categories if bitsets else (),
        bitsets=bitsets or None,
    )


def expectation(tree, x, known, node=0):
    child = tree.left[node]
    if child < 0:
        return tree.value[node]
    if tree.feature[node] in known:
        one = Tree.from_arrays(  # the walk itself decides, on this split alone
            feature=[tree.feature[node], -1, -1],
            threshold=[tree.threshold[node], 0, 0],
            left=[1, -1, -1],
            value=[[0.0], [0.0], [1.0]],
            missing_left=[tree.missing_left[node], False, False],
            n_features=tree.n_features,
            categories=[0, -1, -1] if len(tree.categories) and tree.categories[node] >= 0 else (),
            bitsets=tree.bitsets[[tree.categories[node]]]
            if len(tree.categories) and tree.categories[node] >= 0
            else None,
        )
        return expectation(tree, x, known, child + int(one.predict_values(x[None])[0, 0]))
    a, b = tree.weight[child], tree.weight[child + 1]
    return (a * expectation(tree, x, known, child) + b * expectation(tree, x, known, child + 1)) / (
        a + b
    )


def by_subsets(tree, x):
    d = tree.n_features
    phi = np.zeros((d, tree.value.shape[1]))
    for j in range(d):
        others = [k for k in range(d) if k != j]
        for size in range(d):
            factor = factorial(size) * factorial(d - size - 1) / factorial(d)
            for known in itertools.combinations(others, size):
                gain = expectation(tree, x, {*known, j}) - expectation(tree, x, set(known))
                phi[j] += factor * gain
    return phi


@pytest.mark.parametrize("categorical", [False, True])
@pytest.mark.parametrize("outputs", [1, 2])
def test_contributions_equal_brute_force_over_subsets(seed, categorical, outputs):
    rng = np.random.default_rng(seed)
    for n_features, n_splits in ((1, 3), (3, 6), (4, 9)):
        tree = random_tree(rng, n_features, n_splits, outputs, categorical)
        X = rng.normal(size=(3, n_features))
        if categorical:
            X = rng.integers(-1, 5, size=(3, n_features)).astype(float)
        X[0, 0] = np.nan
        found = tree_contributions(tree, X)
        for x, phi in zip(X, found):
            np.testing.assert_allclose(phi, by_subsets(tree, x), atol=1e-12)


@settings(max_examples=20)
@given(st.integers(0, 2**31), st.integers(1, 12), st.integers(0, 60))
def test_contributions_add_up(seed, n_features, n_splits):
    rng = np.random.default_rng(seed)
    trees = Trees.join([random_tree(rng, n_features, n_splits) for _ in range(4)])
    X = rng.normal(size=(5, n_features))
    for groups in (1, 2):
        phi = tree_contributions(trees, X, groups=groups)
        total = phi.sum(axis=1) + expected_values(trees, groups=groups)
        np.testing.assert_allclose(total, trees.predict_values(X, groups=groups), atol=1e-10)


def test_a_deep_chain_stays_exact(seed):
    rng = np.random.default_rng(seed)
    n = 40
    arrays = {"left": [], "feature": [], "threshold": [], "weight": []}
    weight = 1.0
    for i in range(n):
        arrays["left"] += [2 * i + 1] if i == 0 else [-1, 2 * i + 1]
        arrays["feature"] += [i] if i == 0 else [-1, i]
        arrays["threshold"] += [0.0] if i == 0 else [0.0, 0.0]
        arrays["weight"] += [weight] if i == 0 else [weight, weight]
        weight *= 0.5
    arrays["left"] += [-1, -1]
    arrays["feature"] += [-1, -1]
    arrays["threshold"] += [0.0, 0.0]
    arrays["weight"] += [weight, weight]
    tree = Tree.from_arrays(**arrays, value=rng.normal(size=(len(arrays["left"]), 1)), n_features=n)
    assert tree.max_depth == n
    X = rng.normal(size=(20, n))
    total = tree_contributions(tree, X).sum(axis=1) + expected_values(tree)
    np.testing.assert_allclose(total, tree.predict_values(X), atol=1e-10)


def test_an_unused_feature_contributes_nothing_and_equal_ones_equally():
    stump = {"threshold": [0, 0, 0], "left": [1, -1, -1], "weight": [2, 1, 1]}
    trees = Trees.join(
        Tree.from_arrays(feature=[j, -1, -1], value=[[0], [0], [1]], n_features=3, **stump)
        for j in (0, 1)
    )
    phi = tree_contributions(trees, np.array([[1.0, 1.0, 1.0]]))[0, :, 0]
    np.testing.assert_allclose(phi, [0.5, 0.5, 0.0])


def test_threads_do_not_change_a_bit(seed):
    rng = np.random.default_rng(seed)
    trees = Trees.join([random_tree(rng, 5, 15) for _ in range(10)])
    X = rng.normal(size=(2000, 5))
    one, two = (tree_contributions(trees, X, n_jobs=n) for n in (1, 2))
    np.testing.assert_array_equal(one, two)


def test_rows_must_fit_the_trees(seed):
    tree = random_tree(np.random.default_rng(seed), 3, 2)
    with pytest.raises(ValueError, match="rows of 3 columns"):
        tree_contributions(tree, np.zeros((2, 4)))


@pytest.mark.parametrize("name", ["DecisionTreeRegressor", "RandomForestRegressor"])
def test_regressors_attribute_their_predictions(seed, name):
    X, y = table_with_gaps(seed)
    model = grown(name, X, y)
    found = model.contributions(X)
    assert found.shape == X.shape
    np.testing.assert_allclose(
        model.expected_value_ + found.sum(axis=1), model.predict(X), atol=1e-10
    )
    # A column the target does not depend on gets next to nothing, and a constant one nothing.
    size = np.abs(found).mean(axis=0)
    assert size[0] > 3 * size[1]
    assert size[3] == 0


@pytest.mark.parametrize("name", ["DecisionTreeClassifier", "RandomForestClassifier"])
def test_classifiers_attribute_their_probabilities(seed, name):
    X, y = table_with_gaps(seed)
    labels = np.array(["low", "middle", "high"])[np.digitize(y, [-0.5, 0.5])]
    model = grown(name, X, labels)
    found = model.contributions(X)
    assert found.shape == (*X.shape, 3)
    np.testing.assert_allclose(
        model.expected_value_ + found.sum(axis=1), model.predict_proba(X), atol=1e-10
    )
    np.testing.assert_allclose(found.sum(axis=2), 0.0, atol=1e-10)
    np.testing.assert_allclose(model.expected_value_.sum(), 1.0)


def test_a_forest_attributes_the_mean_of_its_trees(seed):
    X, y = table_with_gaps(seed)
    forest = grown("RandomForestRegressor", X, y)
    each = [tree.contributions(X[:20]) for tree in forest.estimators_]
    np.testing.assert_allclose(forest.contributions(X[:20]), np.mean(each, axis=0), atol=1e-12)


def table_with_gaps(seed, n=300):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=(n, 3)), np.ones(n)])
    y = X[:, 0] + 0.5 * X[:, 2] + 0.1 * rng.normal(size=n)
    X[rng.random((n, 4)) < 0.05] = np.nan
    X[:, 3] = 1.0
    return X, y


def grown(name, X, y):
    from corollary import ensemble, tree

    if name.startswith("Random"):
        return getattr(ensemble, name)(20, min_samples_leaf=3, random_state=0).fit(X, y)
    return getattr(tree, name)(min_samples_leaf=5, random_state=0).fit(X, y)
