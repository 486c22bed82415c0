"""Random forests: bagged trees, threads, out-of-bag predictions."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.ensemble import RandomForestClassifier as PeerForest
from sklearn.ensemble import RandomForestRegressor as PeerRegressor
from sklearn.model_selection import cross_val_score

from corollary.ensemble import RandomForestClassifier, RandomForestRegressor
from corollary.tree import DecisionTreeClassifier, DecisionTreeRegressor, TreeDisplay


def labels(seed, n=300, classes=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    score = X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * rng.normal(size=n)
    return X, np.digitize(score, np.linspace(-0.7, 0.7, classes - 1) if classes > 2 else [0.0])


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_with_all_columns_it_is_bagged_trees(seed, classes, criterion):
    X, y = labels(seed, classes=classes)
    forest = RandomForestClassifier(
        8, max_features=None, criterion=criterion, max_depth=6, random_state=seed
    ).fit(X, y)
    mean = np.zeros((len(X), classes))
    single = DecisionTreeClassifier(splitter="histogram", criterion=criterion, max_depth=6)
    for rows in forest.estimators_samples_:
        # Bins are those of all rows, so the single tree is told to use the same.
        counts = np.bincount(rows, minlength=len(X)).astype(float)
        mean += grown_on_all_bins(single, X, y, counts).predict_proba(X)
    np.testing.assert_allclose(forest.predict_proba(X), mean / 8, atol=1e-12)


def grown_on_all_bins(model, X, y, counts):
    """Fit a single tree with the bins of all rows: tiny weights keep absent rows in the bins."""
    from corollary.tree import BinnedTable, grow_histogram

    rows, y, _ = model._check(X, y, None)
    problem = model._problem(model._code(y))
    table = BinnedTable.of(rows, categorical=model.categories_.mask(rows.shape[1]))
    rules = model._stopping_rules(len(rows), rows.shape[1], counts.sum())
    model.nodes_ = grow_histogram(table, problem, rules, sample_weight=counts)
    return model


@pytest.mark.parametrize("kind", ["classifier", "regressor"])
def test_threads_do_not_change_bits(seed, kind):
    X, y = labels(seed)
    model = RandomForestClassifier if kind == "classifier" else RandomForestRegressor
    settings = {"n_estimators": 30, "random_state": 5, "oob_score": True}
    one, two = (model(n_jobs=k, **settings).fit(X, y) for k in (1, 2))
    for name in ("offsets", "feature", "threshold", "left", "value", "gain"):
        assert getattr(one.trees_, name).tobytes() == getattr(two.trees_, name).tobytes()
    assert one.predict(X).tobytes() == two.predict(X).tobytes()
    assert one.oob_score_ == two.oob_score_
    other = model(n_jobs=2, **{**settings, "random_state": 6}).fit(X, y)
    assert one.trees_.value.tobytes() != other.trees_.value.tobytes()


def test_more_trees_keep_the_first(seed):
    X, y = labels(seed)
    few = RandomForestClassifier(3, random_state=1).fit(X, y)
    more = RandomForestClassifier(6, random_state=1).fit(X, y)
    assert np.array_equal(few.trees_[2].threshold, more.trees_[2].threshold)


def test_out_of_bag_by_hand(seed):
    X, y = labels(seed, n=80, classes=3)
    forest = RandomForestClassifier(30, oob_score=True, random_state=seed).fit(X, y)
    sums, seen = np.zeros((80, 3)), np.zeros(80)
    for tree, rows in zip(forest.estimators_, forest.estimators_samples_):
        out = np.setdiff1d(np.arange(80), rows)
        sums[out] += tree.predict_proba(X[out])
        seen[out] += 1
    np.testing.assert_allclose(forest.oob_decision_function_, sums / seen[:, None])
    assert forest.oob_score_ == (sums.argmax(axis=1) == y).mean()


@pytest.mark.parametrize("weighted", [False, True])
def test_out_of_bag_numbers_by_hand(seed, weighted):
    X, y = labels(seed, n=60)
    w = np.arange(60.0) + 5 if weighted else None
    forest = RandomForestRegressor(60, oob_score=True, random_state=seed)
    forest.fit(X, y.astype(float), sample_weight=w)
    sums, seen = np.zeros(60), np.zeros(60)
    for tree, rows in zip(forest.estimators_, forest.estimators_samples_):
        out = np.setdiff1d(np.arange(60), rows)
        sums[out] += tree.predict(X[out])
        seen[out] += 1
    np.testing.assert_allclose(forest.oob_prediction_, sums / seen)


def test_as_good_as_scikit_learns():
    X, y = load_breast_cancer(return_X_y=True)
    ours = cross_val_score(RandomForestClassifier(60, random_state=0), X, y, cv=3)
    theirs = cross_val_score(PeerForest(60, random_state=0), X, y, cv=3)
    assert ours.mean() > theirs.mean() - 0.012
    X, y = load_diabetes(return_X_y=True)
    ours = cross_val_score(RandomForestRegressor(60, random_state=0), X, y, cv=3)
    theirs = cross_val_score(PeerRegressor(60, random_state=0), X, y, cv=3)
    assert ours.mean() > theirs.mean() - 0.03


def test_trees_are_grown_to_the_end():
    X, y = load_iris(return_X_y=True)
    forest = RandomForestClassifier(10, bootstrap=False, random_state=0).fit(X, y)
    assert forest.score(X, y) == 1.0
    leaf = forest.trees_.left < 0
    assert (forest.trees_.value[leaf].max(axis=1) == 1.0).all()


@pytest.mark.parametrize("sampling", ["split", "tree"])
def test_fewer_columns_make_trees_less_alike(sampling):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 8))
    y = X[:, 0] + 0.7 * X[:, 1] + 0.4 * X[:, 2:].sum(axis=1) + rng.normal(size=400)
    new = rng.normal(size=(300, 8))

    def likeness(max_features):
        forest = RandomForestRegressor(
            20, max_features=max_features, feature_sampling=sampling, random_state=0
        ).fit(X, y)
        answers = np.array([tree.predict(new) for tree in forest.estimators_])
        return np.corrcoef(answers)[np.triu_indices(20, 1)].mean()

    assert likeness(2) < likeness(8) - 0.05


def test_columns_drawn_per_tree(seed):
    X, y = labels(seed)
    forest = RandomForestClassifier(
        10, feature_sampling="tree", max_features=2, random_state=0
    ).fit(X, y)
    used = [set(forest.trees_[t].feature.tolist()) - {-1} for t in range(10)]
    assert all(len(columns) <= 2 for columns in used)
    assert len(set().union(*used)) > 2
    assert forest.max_features_ == 2


@pytest.mark.parametrize("weights", ["balanced", "balanced_subsample"])
def test_balanced_forests_find_the_rare_class(seed, weights):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(600, 3))
    y = (X[:, 0] + rng.normal(size=600) > 2.3).astype(int)
    plain = RandomForestClassifier(20, max_depth=3, random_state=0).fit(X, y)
    even = RandomForestClassifier(20, max_depth=3, class_weight=weights, random_state=0).fit(X, y)
    assert even.predict(X)[y == 1].mean() > plain.predict(X)[y == 1].mean() + 0.2


def test_stopping_rules_hold_in_every_tree(seed):
    X, y = labels(seed)
    forest = RandomForestClassifier(5, min_samples_leaf=7, max_depth=4, random_state=0).fit(X, y)
    for tree, rows in zip(forest.estimators_, forest.estimators_samples_):
        leaves, counts = np.unique(tree.apply(X[np.unique(rows)]), return_counts=True)
        assert counts.min() >= 7
        assert tree.get_depth() <= 4
        assert len(leaves) == tree.get_n_leaves()
    few = RandomForestClassifier(5, max_leaf_nodes=4, random_state=0).fit(X, y)
    assert all(tree.get_n_leaves() <= 4 for tree in few.estimators_)
    pruned = RandomForestClassifier(5, ccp_alpha=0.02, random_state=0).fit(X, y)
    assert len(pruned.trees_.left) < len(forest.trees_.left)
    small = RandomForestClassifier(5, max_samples=20, random_state=0).fit(X, y)
    assert (small.trees_.weight[small.trees_.offsets[:-1]] == 20).all()


def test_missing_values_and_categories(seed):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"c": pd.Categorical(list("abcd") * 60), "x": rng.normal(size=240)})
    y = frame["c"].isin(["a", "d"]).to_numpy().astype(int)
    frame.loc[::7, "x"] = np.nan
    forest = RandomForestClassifier(20, max_features=None, random_state=0).fit(frame, y)
    assert forest.score(frame, y) == 1.0
    assert forest.feature_importances_[0] > 0.9
    assert TreeDisplay.from_estimator(forest.estimators_[0]).texts_


def test_importances_are_shares(seed):
    X, y = labels(seed)
    forest = RandomForestClassifier(20, random_state=0).fit(X, y)
    assert forest.feature_importances_.sum() == pytest.approx(1.0)
    mean = np.mean([tree.feature_importances_ for tree in forest.estimators_], axis=0)
    np.testing.assert_allclose(forest.feature_importances_, mean)
    constant = RandomForestRegressor(3).fit(X, np.ones(len(X)))
    assert (constant.feature_importances_ == 0).all()


def test_paths_and_leaves(seed):
    X, y = labels(seed)
    forest = RandomForestRegressor(4, max_depth=3, random_state=0).fit(X, y)
    leaves = forest.apply(X)
    indicator, offsets = forest.decision_path(X)
    assert leaves.shape == (300, 4)
    for t in range(4):
        assert indicator[np.arange(300), offsets[t] + leaves[:, t]].min() == 1
    by_hand = np.mean([forest.trees_[t].value[leaves[:, t], 0] for t in range(4)], axis=0)
    np.testing.assert_allclose(forest.predict(X), by_hand)


def test_a_single_tree_of_the_forest_is_a_model(seed):
    X, y = labels(seed)
    forest = RandomForestRegressor(2, random_state=0).fit(X, y)
    assert isinstance(forest.estimators_[0], DecisionTreeRegressor)
    mean = np.mean([tree.predict(X) for tree in forest.estimators_], axis=0)
    np.testing.assert_allclose(forest.predict(X), mean)


def test_errors():
    X, y = np.zeros((4, 1)), [0, 1, 0, 1]
    with pytest.raises(ValueError, match="Set bootstrap=True or oob_score=False"):
        RandomForestClassifier(bootstrap=False, oob_score=True).fit(X, y)
    with pytest.raises(ValueError, match="'feature_sampling' parameter"):
        RandomForestRegressor(feature_sampling="node").fit(X, y)
    with pytest.warns(UserWarning, match="Raise n_estimators"):
        RandomForestClassifier(1, oob_score=True, random_state=0).fit(np.arange(4.0)[:, None], y)


@pytest.mark.parametrize("sampling", ["split", "tree"])
def test_bins_taken_along_are_the_same_bins(seed, monkeypatch, sampling):
    # Branches of at most 300 of 2,500 rows copy their bins, or none does.
    from corollary.tree.growth import histogram as grow

    X, y = labels(seed, n=2500, classes=3)
    X[::11, 1] = np.nan
    X[:, 3] = np.round(2 * X[:, 3] + 6).clip(0, 12)
    grown = []
    for near in (300 * 6, 2**60):
        monkeypatch.setattr(grow, "_NEAR_BYTES", near)
        forest = RandomForestClassifier(
            3, categorical_features=[3], feature_sampling=sampling, max_features=3, random_state=0
        )
        grown.append(forest.fit(X, y).trees_)
    for name in ("feature", "threshold", "left", "value", "gain", "bitsets"):
        assert getattr(grown[0], name).tobytes() == getattr(grown[1], name).tobytes()
