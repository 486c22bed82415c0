"""LogisticRegressionCV: the choice, its warm starts, and its peer."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegressionCV as Peer
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score

from corollary.linear import LogisticRegression, LogisticRegressionCV


def make_data(seed, n=200, d=6, n_classes=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    scores = X[:, :n_classes] + rng.gumbel(size=(n, n_classes))
    return X, scores.argmax(axis=1)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("scoring", ["neg_log_loss", "accuracy"])
def test_scores_and_choice_agree_with_scikit_learn(seed, n_classes, scoring):
    X, y = make_data(seed, n_classes=n_classes)
    settings = {"Cs": 4, "cv": StratifiedKFold(3), "scoring": scoring, "tol": 1e-9}
    ours = LogisticRegressionCV(**settings).fit(X, y)
    theirs = Peer(max_iter=5000, l1_ratios=(0.0,), use_legacy_attributes=False, **settings).fit(
        X, y
    )
    np.testing.assert_allclose(ours.scores_, theirs.scores_, atol=1e-5)
    assert pytest.approx(theirs.C_) == ours.C_
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    assert ours.coefs_paths_.shape == theirs.coefs_paths_.shape
    np.testing.assert_allclose(ours.coefs_paths_, theirs.coefs_paths_, atol=1e-2)


def test_scores_are_those_of_separate_fits(seed):
    X, y = make_data(seed)
    model = LogisticRegressionCV(Cs=[10.0, 0.01], l1_ratios=[0.0, 1.0], tol=1e-9).fit(X, y)
    assert model.Cs_.tolist() == [0.01, 10.0]
    for i, ratio in enumerate([0.0, 1.0]):
        for j, C in enumerate([0.01, 10.0]):
            one = LogisticRegression(C=C, l1_ratio=ratio, tol=1e-9)
            expected = cross_val_score(one, X, y, cv=StratifiedKFold(5), scoring="neg_log_loss")
            np.testing.assert_allclose(model.scores_[:, i, j], expected, atol=1e-6)
    best = np.unravel_index(model.scores_.mean(axis=0).argmax(), (2, 2))
    assert (model.l1_ratio_, model.C_) == ([0.0, 1.0][best[0]], [0.01, 10.0][best[1]])
    again = LogisticRegression(C=model.C_, l1_ratio=model.l1_ratio_, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(model.coef_, again.coef_)


def test_equal_scores_mean_the_strongest_penalty():
    X = np.array([[-2.0], [-1.0], [1.0], [2.0]] * 5)
    y = (X[:, 0] > 0).astype(int)
    assert LogisticRegressionCV(Cs=[1.0, 5.0, 25.0], scoring=None).fit(X, y).C_ == 1.0


def test_weights_count_in_fits_and_scores(seed):
    X, y = make_data(seed, n=90)
    weight = np.random.default_rng(seed).integers(1, 4, size=90)
    folds = [(np.arange(90)[f != np.arange(90) % 3], np.arange(90)[f == np.arange(90) % 3])
             for f in range(3)]  # fmt: skip
    where = np.repeat(np.arange(90), weight)
    repeated = [
        (np.flatnonzero(np.isin(where, a)), np.flatnonzero(np.isin(where, b))) for a, b in folds
    ]
    for scoring in ("neg_log_loss", "accuracy"):
        settings = {"Cs": 3, "tol": 1e-9, "scoring": scoring}
        one = LogisticRegressionCV(cv=folds, **settings).fit(X, y, weight)
        two = LogisticRegressionCV(cv=repeated, **settings).fit(X[where], y[where])
        np.testing.assert_allclose(one.scores_, two.scores_, atol=1e-7)


def test_folds_with_one_test_class_can_be_scored(seed):
    X, y = make_data(seed)
    order = np.argsort(y, kind="stable")
    folds = [(np.r_[0:40, 100:200], np.arange(40, 100)), (np.arange(100), np.arange(100, 200))]
    assert len(np.unique(y[order][40:60])) == 1
    model = LogisticRegressionCV(Cs=3, cv=folds[:1]).fit(X[order], y[order])
    assert np.isfinite(model.scores_).all()


def test_trouble_is_said(seed):
    X, y = make_data(seed)
    order = np.argsort(y)
    with pytest.raises(ValueError, match="is missing from the training rows of fold"):
        LogisticRegressionCV(cv=KFold(2)).fit(X[order][50:150], np.repeat([0, 1], 50))
    with pytest.raises(ValueError, match="at least 2 classes"):
        LogisticRegressionCV().fit(X, np.zeros(200))
    with pytest.warns(ConvergenceWarning):
        LogisticRegressionCV(Cs=2, max_iter=1, tol=1e-9).fit(X, y)


def test_a_fold_counts_by_its_weight(seed):
    # Wrong labels in a fold that weighs nothing must not choose C.
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(120, 3))
    y = (X[:, 0] + 0.5 * rng.normal(size=120) > 0).astype(int)
    fold, weight = np.arange(120) // 40, np.ones(120)
    weight[fold == 2] = 1e-9
    wrong = np.where(fold == 2, 1 - y, y)
    cv = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(3)]
    right, other = (
        LogisticRegressionCV(cv=cv).fit(X, labels, sample_weight=weight) for labels in (y, wrong)
    )
    assert other.C_ == right.C_
    mean = np.average(other.scores_, axis=0, weights=[40.0, 40.0, 4e-8])
    assert other.Cs_[np.argmax(mean[0])] == other.C_


@pytest.mark.parametrize("n_classes", [2, 3])
def test_averages_of_folds_equal_the_peer(seed, n_classes):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(90, 3))
    y = (X @ rng.normal(size=(3, n_classes)) + rng.gumbel(size=(90, n_classes))).argmax(axis=1)
    options = {"Cs": [0.01, 1.0, 100.0], "cv": 3, "refit": False, "l1_ratios": (0.0,)}
    options |= {"scoring": "neg_log_loss", "use_legacy_attributes": False, "max_iter": 1000}
    ours = LogisticRegressionCV(**options, tol=1e-9).fit(X, y)
    theirs = Peer(**options, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(ours.C_, theirs.C_, rtol=1e-10)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-4)


def test_penalties_by_name_and_the_form_of_attributes(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(60, 3)), rng.integers(2, size=60)
    named = LogisticRegressionCV(penalty="l1", solver="saga", Cs=3, cv=3).fit(X, y)
    plain = LogisticRegressionCV(l1_ratios=(1.0,), Cs=3, cv=3).fit(X, y)
    np.testing.assert_array_equal(named.coef_, plain.coef_)
    with pytest.raises(ValueError, match="l1_ratios must be an array-like of numbers between 0"):
        LogisticRegressionCV(l1_ratios=(2.0,)).fit(X, y)
    with pytest.raises(ValueError, match="form of use_legacy_attributes=False"):
        LogisticRegressionCV(use_legacy_attributes=True).fit(X, y)
