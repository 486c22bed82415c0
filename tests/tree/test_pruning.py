"""Cost-complexity pruning against all pruned trees, and against scikit-learn's path."""

from itertools import product

import numpy as np
import pytest
from sklearn import tree as peer
from sklearn.datasets import load_breast_cancer, load_diabetes

from corollary.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    prune,
    prune_by_cross_validation,
    weakest_links,
)
from corollary.tree.structure._cut import cut


def all_pruned(tree, node=0):
    """Yield every set of nodes at which the branch below a node can end."""
    yield (node,)
    if tree.left[node] >= 0:
        child = int(tree.left[node])
        for a, b in product(all_pruned(tree, child), all_pruned(tree, child + 1)):
            yield a + b


def node_sums(model, X, y):
    """Criterion of each node as a sum over its rows, from the rows themselves."""
    passed = model.decision_path(X).toarray().astype(bool)
    return np.array([((y[p] - y[p].mean()) ** 2).sum() for p in passed.T])


def test_no_pruned_tree_is_cheaper(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(30, 2)), rng.normal(size=30)
    model = DecisionTreeRegressor(max_depth=3).fit(X, y)
    cost = node_sums(model, X, y)
    forms = [list(form) for form in all_pruned(model.nodes_)]
    path = weakest_links(model.nodes_)
    middle = (path.lambdas[:-1] + path.lambdas[1:]) / 2
    for price in [0.0, *middle, *(path.lambdas * 1.000001), 2 * path.lambdas[-1]]:
        costs = [cost[form].sum() + price * len(form) for form in forms]
        least = min(costs)
        best = min((form for form, c in zip(forms, costs) if c <= least + 1e-9 * cost[0]), key=len)
        pruned = prune(model.nodes_, price)
        assert pruned.n_leaves == len(best)
        leaves = np.flatnonzero(pruned.left < 0)
        kept = np.sort(pruned.weight[leaves])
        np.testing.assert_allclose(kept, np.sort(model.nodes_.weight[best]))


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_path_of_a_classifier_is_scikit_learns(criterion):
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:200, [0, 1, 4]].astype(np.float32).astype(float)
    ours = DecisionTreeClassifier(criterion=criterion, min_samples_leaf=5)
    theirs = peer.DecisionTreeClassifier(criterion=criterion, min_samples_leaf=5, random_state=0)
    compare_paths(ours, theirs, X, y[:200])


def test_path_of_one_split_by_hand():
    # Half of either class is one bit, or 1/2 by Gini's index; one split leaves nothing of it.
    X, y = np.arange(4.0)[:, None], np.array([0, 0, 1, 1])
    for criterion, whole in (("entropy", 1.0), ("gini", 0.5)):
        path = DecisionTreeClassifier(criterion=criterion).cost_complexity_pruning_path(X, y)
        np.testing.assert_allclose(path.ccp_alphas, [0.0, whole], rtol=1e-12)
        np.testing.assert_allclose(path.impurities, [0.0, whole], rtol=1e-12)


def test_path_of_a_regressor_is_scikit_learns():
    X, y = load_diabetes(return_X_y=True)
    X = X.astype(np.float32).astype(float)
    ours = DecisionTreeRegressor(min_samples_leaf=10)
    theirs = peer.DecisionTreeRegressor(min_samples_leaf=10, random_state=0)
    compare_paths(ours, theirs, X, y)


def compare_paths(ours, theirs, X, y):
    path = ours.cost_complexity_pruning_path(X, y)
    known = theirs.cost_complexity_pruning_path(X, y)
    their_alphas = known.ccp_alphas
    distinct = np.append(np.diff(their_alphas) > 1e-9 * their_alphas[-1], True)
    np.testing.assert_allclose(path.ccp_alphas, their_alphas[distinct], rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(path.impurities, known.impurities[distinct], rtol=1e-6)
    for k in (1, len(path.ccp_alphas) // 2, len(path.ccp_alphas) - 1):
        alpha = path.ccp_alphas[k] * 1.0001
        mine = ours.set_params(ccp_alpha=alpha).fit(X, y)
        other = theirs.set_params(ccp_alpha=alpha).fit(X, y)
        assert mine.get_n_leaves() == other.get_n_leaves()
        np.testing.assert_allclose(mine.predict(X), other.predict(X))
    assert ours.set_params(ccp_alpha=1e9).fit(X, y).get_n_leaves() == 1


def test_minimisers_are_nested(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(120, 3)), rng.normal(size=120)
    tree = DecisionTreeRegressor().fit(X, y).nodes_
    path = weakest_links(tree)
    assert (np.diff(path.lambdas) > 0).all()
    assert (np.diff(path.n_leaves) < 0).all()
    assert path.lost[-1] == pytest.approx(((y - y.mean()) ** 2).sum())
    inner = np.flatnonzero(tree.left >= 0)
    for node in inner:
        for child in (tree.left[node], tree.left[node] + 1):
            assert path.collapse[child] <= path.collapse[node]
    for price, size in zip(path.lambdas[1:], path.n_leaves[1:]):
        assert prune(tree, price).n_leaves == size


def test_misclassification_can_prune_what_gini_grew():
    # Rows of the two leaves have the same majority: Gini sees a gain, errors do not.
    X = np.array([[0.0]] * 10 + [[1.0]] * 10)
    y = np.array([0] * 9 + [1] + [0] * 7 + [1] * 3)
    grown = DecisionTreeClassifier(criterion="gini").fit(X, y)
    assert grown.get_n_leaves() == 2
    errors = DecisionTreeClassifier(criterion="misclassification").fit(X, y)
    assert weakest_links(errors.nodes_).lambdas.tolist() == [0.0]
    assert prune(errors.nodes_, 0.0).n_leaves == 1


def test_categories_survive_a_cut(seed):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.integers(0, 6, 200), rng.normal(size=200)]).astype(float)
    y = rng.normal(size=6)[X[:, 0].astype(int)] + X[:, 1]
    model = DecisionTreeRegressor(categorical_features=[0]).fit(X, y)
    path = weakest_links(model.nodes_)
    pruned = prune(model.nodes_, path.lambdas[-3])
    assert (pruned.categories >= 0).any()
    rows = X.copy()
    by_hand = np.where(path.collapse <= path.lambdas[-3], -1, model.nodes_.left)
    for i in range(30):
        way = model.nodes_.decision_path(rows[i : i + 1]).indices
        stop = min(way[by_hand[way] < 0], key=lambda node: model.nodes_.depth[node])
        assert pruned.predict_values(rows[i : i + 1])[0, 0] == model.nodes_.value[stop, 0]
    assert cut(model.nodes_, np.ones(model.nodes_.n_nodes, dtype=bool)).n_nodes == 1


def test_cross_validation_finds_the_step(seed):
    rng = np.random.default_rng(seed)
    x = rng.uniform(size=300)
    y = np.digitize(x, [0.3, 0.7]) + 0.3 * rng.normal(size=300)
    choice = prune_by_cross_validation(DecisionTreeRegressor(), x[:, None], y)
    assert choice.estimator.get_n_leaves() == 3
    assert choice.estimator.ccp_alpha == choice.ccp_alpha
    best = choice.losses.argmin()
    at = np.searchsorted(choice.ccp_alphas, choice.ccp_alpha)
    assert choice.losses[at] <= choice.losses[best] + choice.standard_errors[best]
    assert choice.losses[0] > choice.losses[at]
    whole = prune_by_cross_validation(DecisionTreeRegressor(), x[:, None], y, rule="best")
    assert whole.ccp_alpha <= choice.ccp_alpha


def test_cross_validated_losses_are_those_of_pruned_models(seed):
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    rng = np.random.default_rng(seed)
    X = rng.normal(size=(120, 2))
    y = np.where(X[:, 0] + rng.normal(size=120) > 0, "b", "a")
    model = DecisionTreeClassifier(min_samples_leaf=3)
    choice = prune_by_cross_validation(model, X, y, cv=StratifiedKFold(4))
    for k in (1, len(choice.ccp_alphas) - 2):
        single = model.set_params(ccp_alpha=choice.ccp_alphas[k])
        wrong = cross_val_predict(single, X, y, cv=StratifiedKFold(4)) != y
        assert choice.losses[k] == pytest.approx(wrong.mean())
        assert choice.standard_errors[k] == pytest.approx(wrong.std() / np.sqrt(120))


def test_errors():
    tree = DecisionTreeRegressor().fit([[0.0], [1.0]], [0.0, 1.0]).nodes_
    with pytest.raises(ValueError, match="at least 0"):
        prune(tree, -1.0)
    with pytest.raises(ValueError, match="'rule' parameter of prune_by_cross_validation"):
        prune_by_cross_validation(DecisionTreeRegressor(), [[0.0]], [0.0], rule="two")
