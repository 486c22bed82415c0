"""Trees beside scikit-learn's: the same splits, arrays under the same names, several targets."""

import pickle

import numpy as np
import pytest
from sklearn import tree as peer
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_diabetes, load_wine
from sklearn.utils import resample

import corollary
from corollary.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
    GrowthProblem,
    GrowthRules,
    Tree,
    grow_exact,
)

X, y = load_diabetes(return_X_y=True)
COUNTS = np.random.default_rng(0).poisson(np.exp(9 * X[:, 2]))
TARGETS = np.column_stack([y, y**2 / 100, 1000 * X[:, 2]])
W, wine = load_wine(return_X_y=True)
LABELS = np.column_stack([wine, W[:, 0] > 13])


def in_pairs(ours, theirs):
    """Nodes of both trees in the order of a walk from the root."""
    pairs, open_ = [], [(0, 0)]
    while open_:
        a, b = open_.pop()
        pairs.append((a, b))
        assert (ours.children_left[a] < 0) == (theirs.children_left[b] < 0)
        if ours.children_left[a] >= 0:
            open_.append((ours.children_left[a], theirs.children_left[b]))
            open_.append((ours.children_right[a], theirs.children_right[b]))
    return np.array(pairs).T


@pytest.mark.parametrize(
    ("target", "criterion"),
    [(y, "squared_error"), (TARGETS, "squared_error"), (COUNTS, "poisson"), (y, "absolute_error")],
    ids=["one", "several", "counts", "medians"],
)
def test_arrays_of_regression_trees_are_the_peers(target, criterion):
    settings = {"max_depth": 3, "criterion": criterion, "min_samples_leaf": 8}
    ours = DecisionTreeRegressor(**settings).fit(X, target)
    theirs = peer.DecisionTreeRegressor(**settings, random_state=0).fit(X, target)
    a, b = in_pairs(ours.tree_, theirs.tree_)
    for name in ("feature", "n_node_samples", "weighted_n_node_samples"):
        assert np.array_equal(getattr(ours.tree_, name)[a], getattr(theirs.tree_, name)[b]), name
    for name in ("threshold", "value", "impurity"):
        first, second = getattr(ours.tree_, name)[a], getattr(theirs.tree_, name)[b]
        assert first.shape == second.shape
        assert np.allclose(first, second, rtol=1e-6, atol=1e-9), name
    assert np.allclose(ours.predict(X), theirs.predict(X))
    assert ours.n_outputs_ == theirs.n_outputs_
    for name in ("node_count", "n_leaves", "max_depth", "max_n_classes", "n_features"):
        assert getattr(ours.tree_, name) == getattr(theirs.tree_, name), name
    shares = ours.tree_.compute_feature_importances(normalize=False)
    assert np.allclose(shares, theirs.tree_.compute_feature_importances(normalize=False))


@pytest.mark.parametrize("criterion", ["gini", "entropy", "log_loss"])
@pytest.mark.parametrize("labels", [wine, LABELS], ids=["one", "several"])
def test_arrays_of_classification_trees_are_the_peers(labels, criterion):
    # Of a sample with repetitions, where no two columns split alike.
    rows, truth = resample(W, labels, random_state=5)
    settings = {"max_depth": 3, "criterion": criterion, "min_impurity_decrease": 0.05}
    ours = DecisionTreeClassifier(**settings).fit(rows, truth)
    theirs = peer.DecisionTreeClassifier(**settings, random_state=0).fit(rows, truth)
    a, b = in_pairs(ours.tree_, theirs.tree_)
    for name in ("feature", "n_node_samples"):
        assert np.array_equal(getattr(ours.tree_, name)[a], getattr(theirs.tree_, name)[b]), name
    for name in ("value", "impurity"):
        assert np.allclose(getattr(ours.tree_, name)[a], getattr(theirs.tree_, name)[b]), name
    assert np.array_equal(ours.predict(rows), theirs.predict(rows))
    first, second = ours.predict_proba(rows), theirs.predict_proba(rows)
    assert len(first) == len(second)
    assert all(np.allclose(p, q) for p, q in zip(first, second))
    assert np.array_equal(ours.n_classes_, theirs.n_classes_)


def test_pictures_of_the_peer_show_our_trees():
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    ours = DecisionTreeRegressor(max_depth=2).fit(X, y)
    theirs = peer.DecisionTreeRegressor(max_depth=2).fit(X, y)
    assert peer.export_text(ours) == peer.export_text(theirs)
    words = [note.get_text() for note in peer.plot_tree(ours)]
    assert words == [note.get_text() for note in peer.plot_tree(theirs)]
    pyplot.close("all")


@pytest.mark.parametrize("ours", [DecisionTreeClassifier(), ExtraTreeRegressor()])
def test_trees_are_introduced_to_the_peer_however_they_were_made(ours):
    theirs = peer.DecisionTreeClassifier if is_classifier(ours) else peer.DecisionTreeRegressor
    for tree in (ours, clone(ours), pickle.loads(pickle.dumps(ours))):
        assert isinstance(tree, theirs)


def test_several_labels_keep_their_kinds():
    names = np.column_stack([np.array(["a", "b", "c"])[wine], np.array(["x", "y"])[LABELS[:, 1]]])
    model = DecisionTreeClassifier().fit(W, names)
    assert (model.predict(W) == names).all()
    assert [list(labels) for labels in model.classes_] == [["a", "b", "c"], ["x", "y"]]
    heavy = DecisionTreeClassifier(max_depth=1, class_weight=[{"a": 100.0, "b": 1.0, "c": 1.0}, {}])
    assert "a" in heavy.fit(W, names).predict(W)[:, 0]


def test_several_targets_survive_a_file(tmp_path):
    for model, target in ((DecisionTreeClassifier(), LABELS), (DecisionTreeRegressor(), W[:, :2])):
        corollary.save(model.fit(W, target), tmp_path / "model.corollary")
        loaded = corollary.load(tmp_path / "model.corollary")
        assert np.array_equal(loaded.predict(W), model.predict(W))
        assert np.array_equal(loaded.tree_.impurity, model.tree_.impurity)


def test_a_drawn_cut_lies_evenly_between_the_extremes():
    rows = np.array([[0.0], [1.0], [10.0]])
    problem = GrowthProblem(np.array([0.0, 1.0, 2.0]), "squared_error", 0)
    cuts = [
        grow_exact(rows, problem, GrowthRules(max_depth=1), at_random=True, seed=seed).threshold[0]
        for seed in range(2000)
    ]
    # Evenly drawn from 0 to 10: mean 5, deviation 10 / sqrt(12), each a tenth below 1.
    assert min(cuts) >= 0.0
    assert max(cuts) < 10.0
    assert abs(np.mean(cuts) - 5.0) < 4 * 10 / np.sqrt(12 * 2000)
    assert abs(np.mean(np.array(cuts) < 1.0) - 0.1) < 4 * np.sqrt(0.09 / 2000)


@pytest.mark.parametrize("kind", [ExtraTreeClassifier, ExtraTreeRegressor])
def test_randomised_trees_end_pure_and_depend_on_their_seed(kind):
    target = wine if kind is ExtraTreeClassifier else W[:, 3]
    rows = W.copy()
    rows[::7, 0] = np.nan
    rows[:, 1] = rows[:, 1].round()
    models = [kind(random_state=s, categorical_features=[1]).fit(rows, target) for s in (0, 0, 1)]
    assert (models[0].predict(rows) == target).all()
    assert np.array_equal(models[0].tree_.threshold, models[1].tree_.threshold, equal_nan=True)
    sizes = [model.tree_.node_count for model in models]
    assert sizes[0] != sizes[2] or (models[0].tree_.feature != models[2].tree_.feature).any()


def test_what_several_targets_cannot_have_is_said():
    with pytest.raises(ValueError, match="is for one target"):
        DecisionTreeRegressor(criterion="absolute_error").fit(X, TARGETS)
    with pytest.raises(ValueError, match="needs targets that are counts"):
        DecisionTreeRegressor(criterion="poisson").fit(X, -y)
    with pytest.raises(ValueError, match="second of two classes"):
        DecisionTreeClassifier(monotonic_cst=[1] + [0] * 12).fit(W, LABELS)


def test_nodes_of_older_files_have_no_impurity():
    nodes = Tree.from_arrays(feature=[-1], threshold=[0.0], left=[-1], value=[[1.0]], n_features=1)
    model = DecisionTreeRegressor().fit([[0.0]], [1.0])
    model.nodes_ = nodes
    assert np.isnan(model.tree_.impurity).all()
    assert (model.tree_.n_node_samples == -1).all()
