"""Decision trees against scikit-learn's, and what scikit-learn's do not do."""

import numpy as np
import pandas as pd
import pytest
from sklearn import tree as peer
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris

from corollary.tree import DecisionTreeClassifier, DecisionTreeRegressor, export_text

SPLITTERS = ("exact", "histogram")


def single_precision(X):
    # scikit-learn rounds inputs to single precision.
    return X.astype(np.float32).astype(np.float64)


RULES = [
    {"max_depth": 3},
    {"min_samples_leaf": 9},
    {"min_samples_split": 40, "min_samples_leaf": 4},
    {"min_samples_leaf": 0.05},
    {"min_impurity_decrease": 0.01, "min_samples_leaf": 5},
    {"max_leaf_nodes": 6},
    {"min_weight_fraction_leaf": 0.06},
]


@pytest.mark.parametrize("rules", RULES, ids=str)
def test_regression_trees_are_scikit_learns(seed, rules):
    rng = np.random.default_rng(seed)
    X, y = single_precision(rng.normal(size=(300, 4))), rng.normal(size=300)
    y = y + X[:, 0] * X[:, 1]
    ours = DecisionTreeRegressor(**rules).fit(X, y)
    theirs = peer.DecisionTreeRegressor(**rules, random_state=0).fit(X, y)
    new = single_precision(rng.normal(size=(500, 4)))
    np.testing.assert_allclose(ours.predict(new), theirs.predict(new), rtol=1e-9)
    importance = theirs.feature_importances_
    np.testing.assert_allclose(ours.feature_importances_, importance, rtol=1e-6, atol=1e-9)
    assert ours.get_depth() == theirs.get_depth()


@pytest.mark.parametrize("criterion", ["gini", "entropy", "log_loss"])
def test_classification_trees_are_scikit_learns(criterion):
    X, y = load_breast_cancer(return_X_y=True)
    X = single_precision(X[:, [0, 1, 7, 8]])
    rules = {"criterion": criterion, "min_samples_leaf": 12, "max_depth": 5}
    ours = DecisionTreeClassifier(**rules).fit(X, y)
    theirs = peer.DecisionTreeClassifier(**rules, random_state=0).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-9)
    assert ours.get_n_leaves() == theirs.get_n_leaves()


def test_absolute_error_is_scikit_learns():
    X, y = load_diabetes(return_X_y=True)
    X, y = single_precision(X[:200, [2, 8]]), y[:200]
    rules = {"criterion": "absolute_error", "min_samples_leaf": 20, "max_depth": 3}
    ours = DecisionTreeRegressor(**rules).fit(X, y)
    theirs = peer.DecisionTreeRegressor(**rules, random_state=0).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("splitter", SPLITTERS)
def test_leaves_answer_with_shares_and_means(seed, splitter):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(400, 3)), rng.integers(0, 3, 400)
    w = rng.integers(0, 3, 400).astype(float)
    model = DecisionTreeClassifier(max_depth=3, splitter=splitter).fit(X, y, sample_weight=w)
    leaf = model.apply(X)
    for node in np.unique(leaf[w > 0]):
        share = np.array([w[(leaf == node) & (y == k)].sum() for k in range(3)])
        np.testing.assert_allclose(model.nodes_.value[node], share / share.sum(), rtol=1e-12)
    assert np.array_equal(model.predict(X), model.predict_proba(X).argmax(axis=1))
    target = rng.normal(size=400)
    other = DecisionTreeRegressor(max_depth=3, splitter=splitter).fit(X, target, sample_weight=w)
    leaf = other.apply(X)
    for node in np.unique(leaf[w > 0]):
        mean = np.average(target[leaf == node], weights=w[leaf == node])
        assert other.nodes_.value[node, 0] == pytest.approx(mean, abs=1e-12)


@pytest.mark.parametrize("criterion", ["gini", "entropy", "misclassification", "squared_error"])
def test_histograms_of_few_values_are_exact(seed, criterion):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 12, size=(300, 3)).astype(float)
    X[rng.uniform(size=X.shape) < 0.05] = np.nan
    y = rng.normal(size=300)
    kind = DecisionTreeRegressor
    if criterion != "squared_error":
        kind, y = DecisionTreeClassifier, np.digitize(y, [-0.5, 0.5])
    exact = kind(criterion=criterion, max_depth=4).fit(X, y)
    bins = kind(criterion=criterion, max_depth=4, splitter="histogram").fit(X, y)
    assert exact.nodes_.gain.sum() == pytest.approx(bins.nodes_.gain.sum(), rel=0.02)
    assert np.array_equal(exact.nodes_.feature[:3], bins.nodes_.feature[:3])
    assert exact.nodes_.gain[0] == pytest.approx(bins.nodes_.gain[0])


def test_absolute_error_on_bins(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 9, size=(120, 2)).astype(float), rng.normal(size=120)
    rules = {"criterion": "absolute_error", "max_depth": 2, "min_samples_leaf": 10}
    exact = DecisionTreeRegressor(**rules).fit(X, y)
    bins = DecisionTreeRegressor(**rules, splitter="histogram").fit(X, y)
    assert np.array_equal(exact.predict(X), bins.predict(X))


@pytest.mark.parametrize("splitter", SPLITTERS)
def test_a_threshold_on_gain_misses_exclusive_or(splitter):
    # No first split lowers the error, yet two levels of splits remove it.
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]] * 5)
    y = (X[:, 0] != X[:, 1]).astype(int)
    assert DecisionTreeClassifier(splitter=splitter).fit(X, y).score(X, y) == 1.0
    stopped = DecisionTreeClassifier(splitter=splitter, min_impurity_decrease=1e-6).fit(X, y)
    assert stopped.get_n_leaves() == 1
    assert DecisionTreeRegressor(splitter=splitter).fit(X, y).score(X, y) == 1.0


@pytest.mark.parametrize("splitter", SPLITTERS)
def test_missing_values_have_a_direction_of_their_own(seed, splitter):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=300)
    lost = rng.uniform(size=300) < 0.3
    y = np.where(lost, 5.0, np.where(x > 0, 1.0, 0.0))
    X = np.where(lost, np.nan, x)[:, None]
    model = DecisionTreeRegressor(splitter=splitter).fit(X, y)
    np.testing.assert_allclose(model.predict([[np.nan], [-2.0], [2.0]]), [5.0, 0.0, 1.0])
    # Where training saw none missing, they go with most rows.
    few = DecisionTreeRegressor(splitter=splitter).fit(x[:, None], (x > 1.0).astype(float))
    assert few.predict([[np.nan]])[0] == pytest.approx(0.0)


@pytest.mark.parametrize("splitter", SPLITTERS)
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_categories_of_data_frames(seed, library, splitter):
    rng = np.random.default_rng(seed)
    names = np.array(["red", "green", "blue", "black", "white"])
    colour = names[rng.integers(0, 5, 400)]
    size = rng.normal(size=400)
    y = np.isin(colour, ["green", "white"]).astype(int)
    frame = pd.DataFrame({"size": size, "colour": pd.Categorical(colour)})
    if library == "polars":
        import polars as pl

        frame = pl.from_pandas(frame)
    model = DecisionTreeClassifier(splitter=splitter).fit(frame, y)
    assert model.get_n_leaves() == 2
    assert model.score(frame, y) == 1.0
    assert list(model.feature_names_in_) == ["size", "colour"]
    text = export_text(model)
    assert "colour in {" in text
    assert "green" in text
    # A colour never seen goes where missing values go: with most rows.
    one = pd.DataFrame({"size": [0.0], "colour": ["pink"]})
    one = pl.from_pandas(one) if library == "polars" else one
    assert model.predict(one)[0] == 0


@pytest.mark.parametrize("splitter", SPLITTERS)
def test_categories_of_several_classes(seed, splitter):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 9, size=(500, 1)).astype(float)
    y = np.array([0, 1, 2, 0, 1, 2, 0, 1, 2])[X[:, 0].astype(int)]
    model = DecisionTreeClassifier(categorical_features=[0], splitter=splitter).fit(X, y)
    assert model.get_n_leaves() == 3
    assert model.score(X, y) == 1.0


def test_weight_is_repetition_and_zero_is_absence(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(80, 3)), rng.integers(0, 2, 80)
    w = rng.integers(0, 4, 80)
    copies = np.repeat(np.arange(80), w)
    for splitter in SPLITTERS:
        one = DecisionTreeClassifier(splitter=splitter, max_depth=4).fit(X, y, sample_weight=w)
        two = DecisionTreeClassifier(splitter=splitter, max_depth=4).fit(X[copies], y[copies])
        np.testing.assert_allclose(one.predict_proba(X), two.predict_proba(X))


@pytest.mark.parametrize("scale", [1e-300, 1e300])
@pytest.mark.parametrize("splitter", ["exact", "histogram"])
def test_the_unit_of_weights_does_not_matter(seed, splitter, scale):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(40, 2)), rng.normal(size=40)
    weight = rng.choice([1.0, 2.0, 3.0], size=40)
    rules = {"min_weight_fraction_leaf": 0.05, "random_state": 0, "splitter": splitter}
    for kind, target in ((DecisionTreeRegressor, y), (DecisionTreeClassifier, y > 0)):
        wanted = kind(**rules).fit(X, target, sample_weight=weight)
        model = kind(**rules).fit(X, target, sample_weight=scale * weight)
        np.testing.assert_array_equal(model.apply(X), wanted.apply(X))
        np.testing.assert_allclose(model.predict(X), wanted.predict(X), rtol=1e-12)


CRITERIA = [
    (DecisionTreeClassifier, "gini"),
    (DecisionTreeClassifier, "entropy"),
    (DecisionTreeClassifier, "misclassification"),
    (DecisionTreeRegressor, "squared_error"),
    (DecisionTreeRegressor, "absolute_error"),
]


@pytest.mark.parametrize("splitter", SPLITTERS)
@pytest.mark.parametrize(("kind", "criterion"), CRITERIA, ids=lambda x: str(x)[-22:])
def test_weights_that_round_to_nothing_beside_others(seed, kind, criterion, splitter):
    # The weight of the right side, a difference, is zero or less where ratios exceed 1e16.
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(60, 3)).round(1), rng.integers(0, 3, 60)
    heavy = rng.random(60) < 0.5
    alone = kind(criterion=criterion, splitter=splitter).fit(X[heavy], y[heavy])
    for smallest in (-17, -40, -300):
        weight = np.where(heavy, 1.0, 10.0 ** rng.uniform(smallest, -15.0, size=60))
        model = kind(criterion=criterion, splitter=splitter).fit(X, y, sample_weight=weight)
        assert np.isfinite(model.predict(X)).all()
        assert model.score(X[heavy], y[heavy]) >= 0.9 * alone.score(X[heavy], y[heavy])


def test_a_light_row_at_the_edge():
    X, y = [[0.0], [1.0], [2.0]], [0, 1, 0]
    for splitter in SPLITTERS:
        model = DecisionTreeClassifier(splitter=splitter).fit(X, y, sample_weight=[1, 1, 1e-20])
        np.testing.assert_array_equal(model.predict(X), [0, 1, 1])


def test_balanced_classes(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 1))
    y = (X[:, 0] + rng.normal(size=200) > 2.0).astype(int)
    plain = DecisionTreeClassifier(max_depth=1).fit(X, y)
    even = DecisionTreeClassifier(max_depth=1, class_weight="balanced").fit(X, y)
    assert even.predict(X).sum() > plain.predict(X).sum()
    np.testing.assert_allclose(even.nodes_.value[0], [0.5, 0.5])


@pytest.mark.parametrize("splitter", SPLITTERS)
def test_columns_are_drawn_by_the_seed(seed, splitter):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(200, 6)), rng.normal(size=200)
    make = lambda s: DecisionTreeRegressor(  # noqa: E731
        max_features="sqrt", random_state=s, splitter=splitter, max_depth=5
    ).fit(X, y)
    assert make(1).max_features_ == 2
    assert np.array_equal(make(1).nodes_.feature, make(1).nodes_.feature)
    assert any(not np.array_equal(make(1).predict(X), make(s).predict(X)) for s in range(2, 6))
    for wanted, got in [(None, 6), (0.5, 3), (4, 4), ("log2", 2), (1.0, 6)]:
        model = DecisionTreeRegressor(max_features=wanted, max_depth=1).fit(X, y)
        assert model.max_features_ == got
    # Constant columns do not count: the only one that varies is found.
    Z = np.zeros((50, 8))
    Z[:, 5] = np.arange(50)
    model = DecisionTreeRegressor(max_features=1, splitter=splitter, max_depth=1)
    assert model.fit(Z, np.arange(50.0)).nodes_.feature[0] == 5


def test_many_classes_and_one_class():
    X, y = load_iris(return_X_y=True)
    assert DecisionTreeClassifier().fit(X, y).score(X, y) == 1.0
    assert DecisionTreeClassifier(splitter="histogram").fit(X, y).score(X, y) == 1.0
    for splitter in SPLITTERS:
        lone = DecisionTreeClassifier(splitter=splitter).fit(X, ["same"] * len(X))
        assert lone.predict(X[:2]).tolist() == ["same", "same"]
        np.testing.assert_array_equal(lone.predict_proba(X[:2]), [[1.0], [1.0]])
        fifty = np.arange(150) % 50
        many = DecisionTreeClassifier(splitter=splitter).fit(X + 20 * fifty[:, None], fifty)
        assert many.score(X + 20 * fifty[:, None], fifty) == 1.0


def test_misclassification_grows_worse_trees_than_gini():
    # The classic example: both splits have the same error, Gini prefers the pure side.
    X = np.array([[0.0, 0.0]] * 300 + [[0.0, 1.0]] * 100 + [[1.0, 0.0]] * 100 + [[1.0, 1.0]] * 300)
    y = np.array([0] * 300 + [0] * 100 + [1] * 100 + [1] * 300)
    assert DecisionTreeClassifier(criterion="gini", max_depth=1).fit(X, y).nodes_.feature[0] == 0


def test_rules_in_words():
    X, y = load_iris(return_X_y=True)
    model = DecisionTreeClassifier(max_depth=2).fit(X, y)
    text = export_text(model, feature_names=load_iris().feature_names)
    assert text.splitlines()[:2] == [
        "petal length (cm) <= 2.45",
        "|   class: 0 at 1.00 (50 rows)",
    ]
    assert "|   petal width (cm) > 1.75\n|   |   class: 2 at 0.98 (46 rows)" in text
    short = export_text(model, max_depth=1)
    assert "... a branch of 2 leaves" in short
    with pytest.raises(ValueError, match="must name 4 columns"):
        export_text(model, feature_names=["a"])
    lost = DecisionTreeRegressor().fit([[0.0], [np.nan]], [0.0, 1.0])
    assert "x0 is missing" in export_text(lost)


def test_errors():
    X, y = np.zeros((3, 1)), [0, 1, 0]
    with pytest.raises(ValueError, match="'criterion' parameter of DecisionTreeClassifier"):
        DecisionTreeClassifier(criterion="squared_error").fit(X, y)
    with pytest.raises(ValueError, match=r"int in the range \[2, inf\)"):
        DecisionTreeClassifier(min_samples_split=1).fit(X, y)
    assert DecisionTreeClassifier(min_samples_split=1.0).fit(X, y).get_n_leaves() == 1
    with pytest.raises(ValueError, match="'splitter' parameter"):
        DecisionTreeRegressor(splitter="nonsense").fit(X, y)
    with pytest.raises(ValueError, match="at least one non-zero"):
        DecisionTreeRegressor().fit(X, y, sample_weight=[0.0, 0.0, 0.0])
    with pytest.raises(ValueError, match="infinity"):
        DecisionTreeRegressor().fit([[np.inf], [0.0], [1.0]], y)
