"""Monotone trees: monotone everywhere, the peer's trees, nothing changed without constraints."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import ensemble as peer_forests
from sklearn import tree as peer

import corollary
from corollary.ensemble import RandomForestClassifier, RandomForestRegressor
from corollary.tree import DecisionTreeClassifier, DecisionTreeRegressor

SIGNS = [1, -1, 0, 1]


def data(seed, n=300, noise=1.0):
    random = np.random.default_rng(seed)
    X = random.uniform(-1, 1, size=(n, 4))
    # Neither column behaves: constraints must bind.
    y = np.sin(4 * X[:, 0]) - X[:, 1] ** 2 + X[:, 2] + noise * random.normal(size=n)
    return X, y


def answers(model, X):
    return model.predict_proba(X)[:, 1] if hasattr(model, "classes_") else model.predict(X)


def violations(model, seed, signs=SIGNS, n=60):
    """Walk along each constrained column from random points; count steps in the wrong direction."""
    random = np.random.default_rng(seed)
    wrong = 0
    for feature, sign in enumerate(signs):
        if sign:
            base = random.uniform(-1.1, 1.1, size=(n, 1, 4)).repeat(80, axis=1)
            base[..., feature] = np.linspace(-1.2, 1.2, 80)
            values = answers(model, base.reshape(-1, 4)).reshape(n, 80)
            wrong += int((sign * np.diff(values, axis=1) < 0).sum())
    return wrong


def models(signs, seed):
    growth = [{}, {"max_leaf_nodes": 12}, {"min_samples_leaf": 5, "max_features": 2}]
    for splitter in ("exact", "histogram"):
        for options in growth:
            options = {**options, "splitter": splitter, "monotonic_cst": signs}
            yield DecisionTreeRegressor(**options, random_state=seed)
            for criterion in ("gini", "entropy", "misclassification"):
                yield DecisionTreeClassifier(criterion=criterion, **options, random_state=seed)
    yield DecisionTreeRegressor(ccp_alpha=0.01, monotonic_cst=signs)
    for criterion in ("gini", "entropy"):
        forest = RandomForestClassifier(8, criterion=criterion, monotonic_cst=signs)
        yield forest.set_params(random_state=seed)
    yield RandomForestRegressor(8, monotonic_cst=signs, random_state=seed)


@pytest.mark.parametrize("missing", [False, True])
def test_answers_are_monotone_everywhere(missing, seed):
    X, y = data(seed)
    if missing:
        X[np.random.default_rng(seed).uniform(size=X.shape) < 0.1] = np.nan
    weight = np.random.default_rng(seed).integers(0, 4, size=300)
    bound = 0
    for model in models(SIGNS, seed):
        target = np.where(y > 0, "yes", "no") if "Classifier" in type(model).__name__ else y
        model.fit(X, target, sample_weight=weight)
        assert violations(model, seed) == 0
        bound += violations(model.set_params(monotonic_cst=None).fit(X, target), seed) > 0
    assert bound > 20  # without constraints nearly all would break them


@given(seed=st.integers(0, 2**32 - 1), splitter=st.sampled_from(["exact", "histogram"]))
def test_few_values_with_many_ties_stay_monotone(seed, splitter):
    random = np.random.default_rng(seed)
    X = random.integers(0, 4, size=(40, 4)) * 0.5 - 1
    y = random.integers(0, 3, size=40) / 3.0
    model = DecisionTreeRegressor(splitter=splitter, monotonic_cst=SIGNS).fit(X, y)
    assert violations(model, seed, n=20) == 0


@pytest.mark.parametrize("options", [{}, {"max_depth": 4}, {"max_leaf_nodes": 15}])
def test_trees_are_the_peers(options, seed):
    X, y = data(seed)
    # Few rows can be split by several columns alike, and the peer chooses one at random.
    options = {**options, "min_samples_leaf": 4, "monotonic_cst": SIGNS}
    ours = DecisionTreeRegressor(**options).fit(X, y)
    theirs = peer.DecisionTreeRegressor(random_state=0, **options).fit(X, y)
    assert ours.get_n_leaves() == theirs.get_n_leaves()
    Q = np.random.default_rng(seed).uniform(-1, 1, size=(2000, 4))
    assert ours.predict(Q) == pytest.approx(theirs.predict(Q))
    labels = y > 0
    for criterion in ("gini", "entropy"):
        # Weights without common multiples keep gains from being equal by chance.
        weight = np.random.default_rng(seed).uniform(0.5, 2, size=300)
        given = {"criterion": criterion, "random_state": 0, **options}
        ours = DecisionTreeClassifier(**given).fit(X, labels, weight)
        theirs = peer.DecisionTreeClassifier(**given).fit(X, labels, weight)
        assert ours.predict_proba(Q) == pytest.approx(theirs.predict_proba(Q), abs=1e-9)


@pytest.mark.parametrize("options", [{}, {"max_leaf_nodes": 15}])
def test_histograms_of_all_values_give_the_exact_tree(options, seed):
    X, y = data(seed, n=200)  # a bin for every value
    weight = np.random.default_rng(seed).uniform(0.5, 2, size=200)
    options = {**options, "min_samples_leaf": 4, "monotonic_cst": SIGNS}
    for model, target in (
        (DecisionTreeRegressor(), y),
        (DecisionTreeClassifier(), y > 0),
        (DecisionTreeClassifier(criterion="entropy"), y > 0),
    ):
        model.set_params(**options)
        exact = model.set_params(splitter="exact").fit(X, target, weight)
        expected, leaves = answers(exact, X), exact.get_n_leaves()
        binned = model.set_params(splitter="histogram").fit(X, target, weight)
        assert binned.get_n_leaves() == leaves
        assert answers(binned, X) == pytest.approx(expected)


def test_forests_are_as_good_as_the_peers(seed):
    X, y = data(seed, n=1500)
    Q, truth = data(seed + 1, n=1500, noise=0.0)
    ours = RandomForestRegressor(40, monotonic_cst=SIGNS, random_state=0).fit(X, y)
    theirs = peer_forests.RandomForestRegressor(40, monotonic_cst=SIGNS, random_state=0).fit(X, y)
    errors = [((model.predict(Q) - truth) ** 2).mean() for model in (ours, theirs)]
    assert errors[0] == pytest.approx(errors[1], rel=0.1)


@pytest.mark.parametrize("splitter", ["exact", "histogram"])
def test_constraints_that_hold_anyway_change_nothing(splitter, seed):
    X = np.random.default_rng(seed).uniform(-1, 1, size=(200, 4))
    y = X[:, 0] - X[:, 1]
    for target, cls in ((y, DecisionTreeRegressor), (y > 0, DecisionTreeClassifier)):
        free = cls(splitter=splitter, max_depth=1).fit(X, target).nodes_
        bound = cls(splitter=splitter, max_depth=1, monotonic_cst=SIGNS)
        bound = bound.fit(X, target).nodes_
        for name in ("feature", "threshold", "left", "value", "gain"):
            assert np.array_equal(getattr(free, name), getattr(bound, name)), name
    zeros = DecisionTreeRegressor(splitter=splitter, monotonic_cst=[0] * 4).fit(X, y).nodes_
    plain = DecisionTreeRegressor(splitter=splitter).fit(X, y).nodes_
    assert np.array_equal(zeros.value, plain.value)


def test_names_and_files(tmp_path, seed):
    X, y = data(seed)
    frame = pd.DataFrame(X, columns=list("abcd"))
    by_name = RandomForestRegressor(5, monotonic_cst={"a": 1, "b": -1, "d": 1}, random_state=0)
    by_place = RandomForestRegressor(5, monotonic_cst=SIGNS, random_state=0)
    prediction = by_name.fit(frame, y).predict(frame)
    assert prediction.tobytes() == by_place.fit(X, y).predict(X).tobytes()
    corollary.save(by_name, tmp_path / "model")
    assert corollary.load(tmp_path / "model").predict(frame).tobytes() == prediction.tobytes()


def test_best_is_another_name_of_exact(seed):
    X, y = data(seed)
    one, two = (DecisionTreeRegressor(splitter=s).fit(X, y) for s in ("best", "exact"))
    assert one.predict(X).tobytes() == two.predict(X).tobytes()


def test_errors_say_what_to_repair(seed):
    X, y = data(seed)
    for signs, message in (
        ([1, 0], r"one entry for each of 4 features. Got shape \(2,\)"),
        ([1, 2, 0, 0], "must be -1, 0 or 1"),
        ([0.5, 0, 0, 0], "must be -1, 0 or 1"),
        ({"a": 1}, "names 'a', which is not a column of X. X has no column names; give a list"),
    ):
        for model in (DecisionTreeRegressor(), RandomForestRegressor(2)):
            with pytest.raises(ValueError, match=message):
                model.set_params(monotonic_cst=signs).fit(X, y)
    with pytest.raises(ValueError, match="Got 3 classes; leave monotonic_cst at None"):
        DecisionTreeClassifier(monotonic_cst=SIGNS).fit(X, np.arange(300) % 3)
    with pytest.raises(ValueError, match=r"take criterion='squared_error'"):
        DecisionTreeRegressor(criterion="absolute_error", monotonic_cst=SIGNS).fit(X, y)
    categorical = np.c_[np.arange(300) % 5, X[:, 1:]]
    with pytest.raises(ValueError, match=r"has no order and cannot be monotonic: Rand.* column 0"):
        RandomForestRegressor(2, monotonic_cst=SIGNS, categorical_features=[0]).fit(categorical, y)
    constant = DecisionTreeClassifier(monotonic_cst=SIGNS).fit(X, np.ones(300))
    assert constant.predict(X[:2]).tolist() == [1.0, 1.0]
