import math
import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import corollary
from corollary.conformal import (
    SplitConformalClassifier,
    class_probabilities,
    coverage_score,
    mean_size,
)
from corollary.core.simulate import assert_bound_holds, assert_share_equals


class Table(ClassifierMixin, BaseEstimator):
    """Takes the features for probabilities: the world is known exactly."""

    def __init__(self, n_classes=3):
        self.n_classes = n_classes

    def fit(self, X, y):
        self.classes_ = np.arange(self.n_classes)
        return self

    def predict_proba(self, X):
        return np.asarray(X, dtype=float)

    def predict(self, X):
        return np.argmax(X, axis=1)


def draw(n, rng, skew=0.5):
    """Rows whose first columns are the true class probabilities, and labels drawn from them."""
    X = rng.dirichlet([skew, 1.0, 2.0], size=n)
    y = (rng.random(n)[:, None] > np.cumsum(X, axis=1)).sum(axis=1)
    return X, np.minimum(y, 2)


def table(**how):
    return SplitConformalClassifier(Table().fit(None, None), prefit=True, **how)


SETTINGS = [
    {"conformity_score": "lac"},
    {"conformity_score": "aps", "randomised": True},
    {"conformity_score": "raps", "randomised": True, "penalty": 0.1},
]


@pytest.mark.parametrize("how", SETTINGS, ids=["lac", "randomised aps", "randomised raps"])
@pytest.mark.parametrize("n", [1, 2, 4, 5, 9, 14, 30])
def test_marginal_coverage_is_exact(n, how, seed):
    rng = np.random.default_rng([seed, n])
    confidence, repetitions, covered = 0.8, 400, 0
    for i in range(repetitions):
        X, y = draw(n + 1, rng)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            model = table(confidence=confidence, random_state=i, **how).fit(X[:-1], y[:-1])
        covered += model.predict_set(X[-1:])[0, y[-1]]
    rank = math.ceil((n + 1) * confidence - 1e-9)
    if rank > n:
        assert covered == repetitions
    else:
        assert_share_equals(int(covered), repetitions, rank / (n + 1))


@pytest.mark.parametrize("score", ["aps", "raps"])
def test_plain_aps_covers_and_is_never_empty(score, seed):
    rng = np.random.default_rng(seed)
    repetitions, missed = 600, 0
    for _ in range(repetitions):
        X, y = draw(10, rng)
        model = table(confidence=0.7, conformity_score=score).fit(X[:-1], y[:-1])
        sets = model.predict_set(X)
        assert sets.any(axis=1).all()
        missed += not sets[-1, y[-1]]
    assert_bound_holds(missed, repetitions, 0.3)


def test_raps_shortens_the_longest_sets():
    rng = np.random.default_rng(0)
    X, y = draw(2000, rng)
    how = {"confidence": 0.9, "randomised": True, "random_state": 0}
    aps = table(conformity_score="aps", **how).fit(X, y).predict_set(X)
    raps = table(conformity_score="raps", penalty=5.0, free_classes=2, **how).fit(X, y)
    assert raps.predict_set(X).sum(axis=1).max() <= aps.sum(axis=1).max()
    assert raps.predict_set(X)[np.arange(2000), y].mean() == pytest.approx(0.9, abs=0.03)


def test_random_scores_still_cover(seed):
    """Coverage needs no good model: here the probabilities are noise."""
    rng = np.random.default_rng(seed)
    repetitions, covered = 600, 0
    for _ in range(repetitions):
        X, y = rng.dirichlet(np.ones(3), size=10), rng.integers(0, 3, size=10)
        covered += table(confidence=0.7).fit(X[:-1], y[:-1]).predict_set(X[-1:])[0, y[-1]]
    assert_share_equals(int(covered), repetitions, 7 / 10)


def test_fitted_model_covers_new_rows(seed):
    rng = np.random.default_rng(seed)
    repetitions, covered = 250, 0
    for i in range(repetitions):
        X = rng.normal(size=(40, 2))
        y = (X[:, 0] + rng.normal(size=40) > 0).astype(int)
        model = SplitConformalClassifier(
            LogisticRegression(), confidence=0.75, calibration_size=15, random_state=i
        ).fit(X[:-1], y[:-1])
        covered += model.predict_set(X[-1:])[0, y[-1]]
    assert_share_equals(int(covered), repetitions, 12 / 16)


@pytest.mark.parametrize("score", ["lac", "aps"])
def test_every_class_is_covered_when_asked(score, seed):
    rng = np.random.default_rng(seed)
    X, y = draw(3000, rng, skew=0.2)
    X_new, y_new = draw(6000, rng, skew=0.2)
    pooled = table(conformity_score=score).fit(X, y).predict_set(X_new)
    each = table(conformity_score=score, class_conditional=True).fit(X, y)
    assert each.group_sizes_.tolist() == np.bincount(y).tolist()
    sets = each.predict_set(X_new)
    rare = y_new == 0
    if score == "lac":
        assert pooled[rare, 0].mean() < 0.85
    for label in range(3):
        assert sets[y_new == label, label].mean() > 0.85


def test_class_conditional_coverage_is_exact(seed):
    """With 9 calibration rows of a class, its labels are covered with probability 8 / 10."""
    rng = np.random.default_rng(seed)
    repetitions, covered = 500, 0
    for _ in range(repetitions):
        X = rng.dirichlet(np.ones(3), size=19)
        y = np.r_[np.zeros(9), np.ones(9), 0].astype(int)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            model = table(confidence=0.75, class_conditional=True).fit(X[:-1], y[:-1])
        covered += model.predict_set(X[-1:])[0, 0]
    assert_share_equals(int(covered), repetitions, 8 / 10)


def test_too_few_rows_give_full_sets_and_a_warning():
    X, y = draw(4, np.random.default_rng(0))
    with pytest.warns(UserWarning, match=r"Until 5 more rows are given, sets hold every class"):
        model = table().fit(X, y)
    assert model.predict_set(X).all()
    words = "too few calibration rows in 3 of 3 classes, 0 in the smallest; .* every such class"
    with pytest.warns(UserWarning, match=words):
        table(class_conditional=True).fit(X[:1], y[:1])


@pytest.mark.parametrize("how", [*SETTINGS, {"conformity_score": "aps"}])
def test_sets_grow_with_confidence(how, seed):
    X, y = draw(200, np.random.default_rng(seed))
    model = table(random_state=seed, **how).fit(X[:100], y[:100])
    sizes = [mean_size(model.predict_set(X[100:], confidence=c)) for c in (0.5, 0.8, 0.95)]
    smaller, larger = (model.predict_set(X[100:], confidence=c) for c in (0.6, 0.9))
    assert np.all(smaller <= larger)
    assert sizes == sorted(sizes)


def test_lac_by_hand():
    X = np.array([[0.9, 0.1], [0.6, 0.4], [0.3, 0.7]])
    model = SplitConformalClassifier(Table(2).fit(None, None), prefit=True, confidence=0.5)
    model.fit(X, [0, 0, 0])
    assert model.scores_ == pytest.approx(np.array([0.1, 0.4, 0.7]))
    # Rank ceil(4 / 2) = 2: classes of probability at least 0.6; some rows have none.
    assert model.predict_set([[0.61, 0.39], [0.5, 0.5]]).tolist() == [[True, False], [False, False]]


def test_partition_has_thresholds_per_group(seed):
    rng = np.random.default_rng(seed)
    X, y = draw(600, rng)

    def partition(rows):
        return rows.max(axis=1) > 0.7

    model = table(partition=partition, class_conditional=True).fit(X[:300], y[:300])
    assert model.group_labels_.tolist() == [False, True]
    assert len(model.group_sizes_) == 6
    sets = model.predict_set(X[300:])
    sure = partition(X[300:])
    for member in (sure, ~sure):
        assert coverage_score(y[300:][member], sets[member], classes=[0, 1, 2]) > 0.82


def test_labels_unknown_to_the_model_have_infinite_scores():
    X, y = draw(9, np.random.default_rng(0))
    y = np.where(np.arange(9) < 6, 7 + np.arange(9) % 2, y)
    with pytest.warns(UserWarning, match=r"6 of 9 calibration rows .* \(such as 7\)"):
        model = table(confidence=0.5).fit(X, y)
    assert np.isinf(model.scores_).sum() == model.n_unknown_ == 6
    assert model.unknown_labels_.tolist() == [7, 8]
    assert model.set_labels_.tolist() == [0, 1, 2, 7, 8]
    assert model.predict_set(X).shape == (9, 5)
    assert model.predict_set(X).all()
    assert not model.predict_set(X, confidence=0.1)[:, 3:].any()
    with pytest.warns(UserWarning, match="calibration rows"):
        each = table(class_conditional=True).fit(X, y)
    assert each.n_calibration_ == 3
    assert each.predict_set(X)[:, 3:].all()
    # Rows of classes that are all known again have no such columns.
    assert table().fit(X, np.arange(9) % 3).set_labels_.tolist() == [0, 1, 2]


@pytest.mark.filterwarnings("ignore:SplitConformalClassifier has")
@pytest.mark.parametrize("n", [4, 9, 19])
@pytest.mark.parametrize(("share", "confidence"), [(0.15, 0.8), (0.15, 0.9), (0.4, 0.75)])
def test_coverage_where_labels_are_unknown_to_the_model(n, share, confidence, seed):
    """Labels that the model never saw, more of them than may be missed, or fewer."""
    rng = np.random.default_rng([seed, n])
    repetitions, missed = 600, 0
    for _ in range(repetitions):
        X, y = draw(n + 1, rng)
        y = np.where(rng.random(n + 1) < share, 9, y)
        model = table(confidence=confidence).fit(X[:-1], y[:-1])
        sets = model.predict_set(X[-1:])
        missed += not sets[0, model.set_labels_ == y[-1]].any()
        assert model._outside(X[-1:], y[-1:])[0] == (not sets[0, model.set_labels_ == y[-1]].any())
    assert_bound_holds(missed, repetitions, 1 - confidence)


def test_columns_of_unknown_labels_survive_a_file(tmp_path):
    X, y = load_iris(return_X_y=True)
    two = corollary.linear.LogisticRegression().fit(X[:100:2], y[:100:2])
    with pytest.warns(UserWarning, match="25 of 75 calibration rows"):
        model = SplitConformalClassifier(two, prefit=True).fit(X[1::2], y[1::2])
    corollary.save(model, tmp_path / "model")
    again = corollary.load(tmp_path / "model")
    assert again.set_labels_.tolist() == [0, 1, 2]
    np.testing.assert_array_equal(again.predict_set(X), model.predict_set(X))
    for labels, count in [([1], 25), (["new"], 25), ([2, 3], 1), ([], 25)]:
        model.unknown_labels_, model.n_unknown_ = np.array(labels), count
        assert "unknown labels do not fit" in model._fits_together()


def test_logits_become_probabilities():
    X, y = load_iris(return_X_y=True)
    ridge = RidgeClassifier().fit(X, y)
    p = class_probabilities(ridge, X)
    logits = np.exp(ridge.decision_function(X))
    assert p == pytest.approx(logits / logits.sum(axis=1, keepdims=True))
    binary = RidgeClassifier().fit(X, y == 1)
    p = class_probabilities(binary, X)
    assert p.sum(axis=1) == pytest.approx(1.0)
    assert np.array_equal(p[:, 1] > 0.5, binary.predict(X))
    model = SplitConformalClassifier(RidgeClassifier(), random_state=0).fit(X, y)
    assert not hasattr(model, "predict_proba")
    assert coverage_score(y, model.predict_set(X), classes=model.classes_) > 0.8
    with pytest.raises(TypeError, match="has neither predict_proba nor decision_function"):
        class_probabilities(DummyWithout().fit(X, y), X)


class DummyWithout(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


def test_string_labels_and_delegation():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = SplitConformalClassifier(LogisticRegression(max_iter=1000), random_state=0)
    model.fit(X, names)
    assert model.classes_.tolist() == ["setosa", "versicolor", "virginica"]
    assert model.n_features_in_ == 4
    assert model.score(X, names) > 0.9
    assert np.array_equal(model.predict_proba(X), model.estimator_.predict_proba(X))
    assert coverage_score(names, model.predict_set(X), classes=model.classes_) > 0.8


def test_randomised_sets_repeat_with_the_seed_and_differ_from_calibration(seed):
    X, y = draw(100, np.random.default_rng(seed))
    how = {"conformity_score": "aps", "randomised": True, "random_state": seed}
    first, second = (table(**how).fit(X, y) for _ in "ab")
    assert np.array_equal(first.predict_set(X), second.predict_set(X))
    other = table(**{**how, "random_state": seed + 1}).fit(X, y)
    assert len({first.set_seed_, other.set_seed_, seed}) == 3
    assert not np.array_equal(first.predict_set(X), other.predict_set(X))


def test_uninformative_model_gives_large_sets():
    X, y = load_iris(return_X_y=True)
    model = SplitConformalClassifier(DummyClassifier(), conformity_score="aps", random_state=0)
    assert mean_size(model.fit(X, y).predict_set(X)) > 2


def test_saving_and_loading(tmp_path, seed):
    X, y = load_iris(return_X_y=True)
    names = np.array(["a", "b", "c"])[y]
    model = SplitConformalClassifier(
        make_pipeline(StandardScaler(), DummyClassifier()),
        conformity_score="aps",
        randomised=True,
        random_state=seed,
    ).fit(X, names)
    corollary.save(model, tmp_path / "model.corollary")
    again = corollary.load(tmp_path / "model.corollary")
    assert np.array_equal(again.predict_set(X), model.predict_set(X))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda X, y: table(conformity_score="best").fit(X, y), "'conformity_score' parameter"),
        (lambda X, y: table().fit(X, X[:, 0]), "Unknown label type"),
        (lambda X, y: table().fit(X, y[:3]), "inconsistent numbers of samples"),
        (lambda X, y: table(calibration_size=0.0).fit(X, y), "'calibration_size' parameter"),
        (lambda X, y: table(partition=3).fit(X, y), "'partition' parameter"),
    ],
)
def test_errors_say_what_is_required(call, message):
    X, y = draw(20, np.random.default_rng(0))
    with pytest.raises(ValueError, match=message):
        call(X, y)
