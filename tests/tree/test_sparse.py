"""Sparse tables give the trees and answers of the same tables filled up."""

import numpy as np
import pytest
from scipy import sparse
from sklearn import ensemble as peer

import corollary
from corollary.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    permutation_importance,
)
from corollary.tree import DecisionTreeClassifier, DecisionTreeRegressor, find_bins
from corollary.tree.binning import _columns as base
from corollary.tree.structure import _rows as rows

KINDS = [sparse.csr_matrix, sparse.csc_matrix, sparse.csr_array, sparse.coo_matrix]


def data(seed, n=200, d=30):
    random = np.random.default_rng(seed)
    X = random.poisson(0.3, size=(n, d)) * random.normal(size=(n, d)).round(1)
    X[3, 2] = np.nan
    return X, np.where(X[:, 0] - X[:, 1] > 0, "up", "down"), random.uniform(0, 2, size=n)


@pytest.mark.parametrize("kind", KINDS)
def test_bins_are_those_of_the_filled_table(kind, seed):
    X, _, weight = data(seed)
    for weights in (None, weight, np.where(weight > 1, weight, 0.0)):
        whole = find_bins(X, sample_weight=weights)
        found = find_bins(kind(X).tocsr(), sample_weight=weights)
        for one, two in zip(whole.cuts, found.cuts, strict=True):
            assert np.array_equal(one, two)
        assert np.array_equal(whole.missing, found.missing)
        assert np.array_equal(whole.transform(X), found.transform(kind(X).tocsc()))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "model",
    [
        DecisionTreeClassifier(),
        DecisionTreeClassifier(splitter="histogram", max_depth=5),
        RandomForestClassifier(5, random_state=0, class_weight="balanced"),
        BaggingClassifier(n_estimators=3, random_state=0),
        AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=5),
    ],
    ids=lambda model: type(model).__name__,
)
def test_classifiers_agree_with_the_filled_table(kind, model, seed, monkeypatch):
    X, y, weight = data(seed)
    whole = model.fit(X, y, sample_weight=weight).predict_proba(X)
    S = kind(X)
    assert np.array_equal(model.predict_proba(S), whole)  # a dense model, sparse rows
    model.fit(S, y, sample_weight=weight)
    assert np.array_equal(model.predict_proba(S), whole)
    assert np.array_equal(model.predict_proba(X), whole)
    monkeypatch.setattr(rows, "FILLED", 100)  # three rows at a time
    assert np.array_equal(model.predict_proba(S), whole)


def test_everything_else_of_a_forest_agrees(seed, tmp_path, monkeypatch):
    X, _, _ = data(seed)
    S, y = sparse.csr_matrix(X), np.nan_to_num(X[:, 0] ** 2 + X[:, 3])
    monkeypatch.setattr(rows, "FILLED", 1000)
    options = {"n_estimators": 20, "random_state": 0, "oob_score": True}
    one, two = (RandomForestRegressor(**options).fit(table, y) for table in (X, S))
    assert np.array_equal(one.oob_prediction_, two.oob_prediction_)
    assert np.array_equal(one.apply(X), two.apply(S))
    assert (one.decision_path(X)[0] != two.decision_path(S)[0]).nnz == 0
    assert np.array_equal(one.contributions(X[:20]), two.contributions(S[:20]))
    assert np.array_equal(one.feature_importances_, two.feature_importances_)
    corollary.save(two, tmp_path / "model")
    assert np.array_equal(corollary.load(tmp_path / "model").predict(S), one.predict(X))
    more = RandomForestRegressor(5, warm_start=True, random_state=0).fit(S, y)
    assert np.array_equal(more.set_params(n_estimators=20).fit(S, y).predict(S), two.predict(S))
    tree = DecisionTreeRegressor(splitter="histogram").fit(S, y)
    assert np.array_equal(tree.apply(S), tree.apply(X))
    assert tree.decision_path(S).shape == (200, tree.nodes_.n_nodes)
    path = tree.cost_complexity_pruning_path(S, y)
    assert np.array_equal(path.ccp_alphas, tree.cost_complexity_pruning_path(X, y).ccp_alphas)


def test_forests_of_words_are_as_good_as_the_peers(seed):
    random = np.random.default_rng(seed)
    counts = random.poisson(0.1, size=(800, 100)).astype(float)
    y = counts[:, :5].sum(axis=1) + 0.3 * random.normal(size=800) > 0.5
    S = sparse.csr_matrix(counts)
    scores = [
        model(50, random_state=0).fit(S[:500], y[:500]).score(S[500:], y[500:])
        for model in (RandomForestClassifier, peer.RandomForestClassifier)
    ]
    assert scores[0] >= scores[1] - 0.03
    assert scores[0] > 0.8


def test_errors_say_what_to_repair(seed, monkeypatch):
    X, y, _ = data(seed)
    S = sparse.csr_matrix(X)
    with pytest.raises(ValueError, match=r"sparse matrix hold numbers. Give categorical features"):
        RandomForestClassifier(2, categorical_features=[0]).fit(S, y)
    model = RandomForestClassifier(2, categorical_features=[]).fit(S, y)
    with pytest.raises(ValueError, match=r"Got a sparse matrix. Give X.toarray\(\)"):
        permutation_importance(model, S, y)
    monkeypatch.setattr(base, "MEMORY", 200 * 30 * 24 - 1)
    with pytest.raises(MemoryError, match=r"Exact splits .* 200 rows of 30 .* splitter='hist"):
        DecisionTreeClassifier().fit(S, y)
    DecisionTreeClassifier(splitter="histogram").fit(S, y)
    DecisionTreeClassifier().fit(X, y)
    monkeypatch.setattr(base, "MEMORY", 200 * 30 - 1)
    with pytest.raises(MemoryError, match="Keep fewer columns, or reduce them first"):
        RandomForestClassifier(2).fit(S, y)
