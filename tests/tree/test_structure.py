"""Flat trees against a walk written out in Python."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corollary.tree import Tree, Trees, pack_categories, unpack_categories


def random_tree(rng, n_features=3, n_splits=12, n_outputs=2, categorical=(2,)):
    feature, threshold, left, missing, categories, bitsets = [-1], [0.0], [-1], [False], [-1], []
    leaves = [0]
    for _ in range(n_splits):
        node = leaves.pop(rng.integers(len(leaves)))
        feature[node] = int(rng.integers(n_features))
        missing[node] = bool(rng.integers(2))
        if feature[node] in categorical:
            categories[node] = len(bitsets)
            bitsets.append(pack_categories(np.flatnonzero(rng.integers(0, 2, 256))))
        else:
            threshold[node] = float(rng.normal())
        left[node] = len(left)
        leaves += [len(left), len(left) + 1]
        for values, empty in [
            *((feature, -1), (threshold, 0.0), (left, -1), (missing, False), (categories, -1))
        ]:
            values += [empty, empty]
    n = len(left)
    return Tree.from_arrays(
        feature=feature,
        threshold=threshold,
        left=left,
        missing_left=missing,
        value=rng.normal(size=(n, n_outputs)),
        gain=np.where(np.array(left) >= 0, rng.uniform(size=n), 0.0),
        weight=rng.uniform(size=n),
        n_features=n_features,
        categories=categories if bitsets else (),
        bitsets=np.array(bitsets) if bitsets else None,
    )


def walk(tree, x):
    path = [0]
    while tree.left[path[-1]] >= 0:
        node = path[-1]
        v = x[tree.feature[node]]
        category = tree.categories[node] if len(tree.categories) else -1
        if np.isnan(v):
            goes_left = tree.missing_left[node]
        elif category >= 0:
            known = 0 <= v < 256 and v == int(v)
            inside = int(v) in unpack_categories(tree.bitsets[category]) if known else False
            goes_left = inside if known else tree.missing_left[node]
        else:
            goes_left = v <= tree.threshold[node]
        path.append(int(tree.left[node]) + (0 if goes_left else 1))
    return path


def rows(rng, n=200):
    X = rng.normal(size=(n, 3))
    X[:, 2] = rng.integers(-1, 258, n)
    X[rng.uniform(size=X.shape) < 0.1] = np.nan
    X[0, 2] = 3.5  # no category at all
    return X


@pytest.fixture
def forest(seed):
    rng = np.random.default_rng(seed)
    trees = [random_tree(rng), random_tree(rng, categorical=()), random_tree(rng, n_splits=0)]
    return trees, rows(rng)


def test_rows_walk_as_written(forest):
    trees, X = forest
    joined = Trees.join(trees)
    paths = [[walk(tree, x) for x in X] for tree in trees]
    leaves = np.array([[p[-1] for p in own] for own in paths]).T
    assert np.array_equal(joined.apply(X), leaves)
    total = sum(tree.value[leaf] for tree, leaf in zip(trees, leaves.T))
    np.testing.assert_allclose(joined.predict_values(X), total, rtol=1e-14)
    indicator = joined.decision_path(X).toarray()
    for t, own in enumerate(paths):
        for i, path in enumerate(own):
            passed = np.flatnonzero(indicator[i, joined.offsets[t] : joined.offsets[t + 1]])
            assert passed.tolist() == sorted(path)


def test_joined_trees_come_apart(forest):
    trees, X = forest
    joined = Trees.join(trees)
    assert len(joined) == 3
    for t, tree in enumerate(trees):
        assert np.array_equal(joined[t].apply(X), tree.apply(X))
        assert np.array_equal(joined[t].parent, tree.parent)
    with pytest.raises(IndexError, match="There are 3 trees"):
        joined[3]


def test_trees_are_dealt_to_groups_and_start_somewhere(forest):
    trees, X = forest
    joined = Trees.join(trees)
    own = [tree.predict_values(X) for tree in trees]
    dealt = joined.predict_values(X, groups=3, start=np.arange(6.0))
    np.testing.assert_allclose(dealt, np.hstack(own) + np.arange(6.0))
    np.testing.assert_array_equal(joined.predict_values(X, first=1, stop=2), own[1])


def test_threads_do_not_change_bits(seed):
    rng = np.random.default_rng(seed)
    joined = Trees.join([random_tree(rng) for _ in range(20)])
    X = np.tile(rows(rng), (15, 1))
    one = joined.predict_values(X, n_jobs=1)
    assert one.tobytes() == joined.predict_values(X, n_jobs=3).tobytes()
    # Single precision, another order or a read-only array are the same rows.
    X.flags.writeable = False
    assert one.tobytes() == joined.predict_values(np.asfortranarray(X)).tobytes()


def test_depth_leaves_and_gains(forest):
    tree = forest[0][0]
    depth = [len(walk_up(tree, node)) for node in range(tree.n_nodes)]
    assert tree.depth.tolist() == depth
    assert tree.max_depth == max(depth)
    assert tree.n_leaves == (tree.left < 0).sum()
    assert tree.right[0] == tree.left[0] + 1
    by_feature = Trees.join([tree]).gain_by_feature()[0]
    for j in range(3):
        assert by_feature[j] == pytest.approx(tree.gain[tree.feature == j].sum())


def walk_up(tree, node):
    path = []
    while node > 0:
        node = tree.parent[node]
        path.append(node)
    return path


STUMP = {
    "feature": [0, -1, -1],
    "threshold": [0.5, 0.0, 0.0],
    "left": [1, -1, -1],
    "value": [[2.0], [1.0], [3.0]],
    "n_features": 1,
}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"left": [0, -1, -1]}, "children must follow"),
        ({"left": [2, -1, -1]}, "children must follow"),
        ({"left": [-1, -1, -1]}, "one parent"),
        ({"left": [-2, -1, -1]}, "left"),
        ({"feature": [1, -1, -1]}, "existing features"),
        ({"feature": [-1, -1, -1]}, "existing features"),
        ({"value": np.zeros((3, 0))}, "values"),
        ({"categories": [0, -1, -1]}, "categories"),
        ({"categories": [0]}, "categories"),
        ({"threshold": [0.5]}, "threshold"),
    ],
)
def test_arrays_that_make_no_tree(change, message):
    with pytest.raises(ValueError, match=message):
        Tree.from_arrays(**{**STUMP, **change})


def test_wrong_rows_are_refused():
    with pytest.raises(ValueError, match="rows of 1 columns"):
        Tree.from_arrays(**STUMP).predict_values(np.zeros((2, 3)))


@settings(max_examples=25, deadline=None)
@given(st.sets(st.integers(0, 255)))
def test_bitsets_hold_any_set(codes):
    assert set(unpack_categories(pack_categories(sorted(codes))).tolist()) == codes


def test_bitsets_have_an_end():
    with pytest.raises(ValueError, match="from 0 to 255"):
        pack_categories([256])
