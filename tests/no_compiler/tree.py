"""Loops of trees without the compiler."""

import numpy as np


def _table(seed=0, n=60):
    """Two numbers, one with gaps, and categories; the answer needs all three."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=(n, 2)), rng.integers(0, 5, size=n)])
    y = np.where(np.isin(X[:, 2], (1, 3)), 2.0, 0.0) + np.sign(X[:, 0]) + 0.5 * (X[:, 1] > 0.3)
    X[rng.random(n) < 0.2, 1] = np.nan
    return X, y


def _share_explained(model, X, y):
    return 1.0 - np.mean((model.predict(X) - y) ** 2) / np.var(y)


def check_regression_trees():
    from corollary.tree import DecisionTreeRegressor

    X, y = _table()
    for splitter in ("exact", "histogram"):
        for more in (
            {"categorical_features": [2]},
            {"min_samples_leaf": 3, "max_depth": 6},
            {"max_leaf_nodes": 12, "categorical_features": [2]},
            {"monotonic_cst": [1, 0, 0]},
            {"max_features": 2, "random_state": 3},
            {"criterion": "absolute_error", "categorical_features": [2]},
        ):
            tree = DecisionTreeRegressor(splitter=splitter, **more).fit(X, y)
            assert _share_explained(tree, X, y) > 0.7, (splitter, more)
    rows = np.repeat(X[:8], 41, axis=0)
    rows[:, 0] = np.linspace(-3.0, 3.0, 8 * 41)
    rows[:, 1:] = X[0, 1:]
    rising = DecisionTreeRegressor(splitter="histogram", monotonic_cst=[1, 0, 0]).fit(X, y)
    assert (np.diff(rising.predict(rows)) >= 0).all()


def check_classification_trees():
    from corollary.tree import DecisionTreeClassifier

    X, y = _table()
    for labels in (y > 1.0, np.digitize(y, (0.0, 1.5))):
        for criterion in ("gini", "entropy", "misclassification"):
            for splitter in ("exact", "histogram"):
                for weight in (None, np.arange(len(X)) % 4):
                    tree = DecisionTreeClassifier(
                        splitter=splitter, criterion=criterion, categorical_features=[2]
                    )
                    tree.fit(X, labels, sample_weight=weight)
                    kept = slice(None) if weight is None else weight > 0
                    assert tree.score(X[kept], labels[kept]) > 0.9, (criterion, splitter)
    for criterion in ("gini", "entropy"):
        model = DecisionTreeClassifier(
            splitter="histogram", criterion=criterion, monotonic_cst=[1, 0, 0], max_depth=4
        )
        assert model.fit(X, y > 1.0).score(X, y > 1.0) > 0.8


def check_drawn_cuts():
    from corollary.tree import DecisionTreeClassifier, DecisionTreeRegressor

    X, y = _table()
    drawn = {"splitter": "random", "categorical_features": [2], "random_state": 0}
    assert _share_explained(DecisionTreeRegressor(**drawn).fit(X, y), X, y) > 0.9
    assert DecisionTreeClassifier(**drawn).fit(X, y > 1.0).score(X, y > 1.0) > 0.9


def check_trees_of_several_targets():
    from corollary.tree import DecisionTreeClassifier, DecisionTreeRegressor

    X, y = _table()
    for splitter in ("exact", "random"):
        tree = DecisionTreeRegressor(splitter=splitter, random_state=0)
        tree.fit(X, np.column_stack([y, -2.0 * y]))
        assert np.mean((tree.predict(X) - np.column_stack([y, -2.0 * y])) ** 2) < 0.1, splitter
        labels = np.column_stack([y > 1.0, np.digitize(y, (0.0, 1.5))])
        for criterion in ("gini", "entropy"):
            model = DecisionTreeClassifier(splitter=splitter, criterion=criterion, random_state=0)
            assert (model.fit(X, labels).predict(X) == labels).mean() > 0.9, (splitter, criterion)


def check_branches_that_take_their_bins_along():
    from corollary.tree import BinnedTable, GrowthProblem, GrowthRules, grow_histogram
    from corollary.tree.growth import histogram as grow

    X, y = _table(n=700)
    table = BinnedTable.of(X)
    whole = grow_histogram(table, GrowthProblem(y, "squared_error", 0), GrowthRules(max_depth=5))
    before, grow._NEAR_BYTES = grow._NEAR_BYTES, 3 * 256
    try:
        near = grow_histogram(table, GrowthProblem(y, "squared_error", 0), GrowthRules(max_depth=5))
    finally:
        grow._NEAR_BYTES = before
    assert (near.predict_values(X) == whole.predict_values(X)).all()


def check_bins():
    from corollary.tree import find_bins
    from corollary.tree.binning import _columns as binning

    values = np.append(np.random.default_rng(1).normal(size=200).round(1), [np.nan, -0.0, 0.0])
    plain = find_bins(values[:, None])
    before, binning.SORT_BY_RADIX = binning.SORT_BY_RADIX, 4
    try:
        by_radix = find_bins(values[:, None])
    finally:
        binning.SORT_BY_RADIX = before
    assert (plain.cuts[0] == by_radix.cuts[0]).all()
    codes = plain.transform(values[:, None])[:, 0]
    assert codes[-3] == 255
    assert (np.argsort(codes, kind="stable") == np.argsort(values.round(1), kind="stable")).all()


def check_contributions():
    from corollary.tree import DecisionTreeRegressor, expected_values, tree_contributions

    X, y = _table()
    tree = DecisionTreeRegressor(max_depth=4, categorical_features=[2]).fit(X, y)
    parts = tree_contributions(tree.nodes_, X)[:, :, 0]
    total = parts.sum(axis=1) + expected_values(tree.nodes_)[0]
    assert np.allclose(total, tree.predict(X), rtol=0, atol=1e-12)
    assert (tree.apply(X) >= 0).all()
