"""Friedman's gradient boosting beside scikit-learn's, and what histograms have of its names."""

import numpy as np
import pytest
from sklearn import ensemble as peer
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.metrics import accuracy_score

import corollary
from corollary.ensemble import (
    GammaBoostingLoss,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    HuberBoostingLoss,
)

X, y = load_diabetes(return_X_y=True)
X = X.astype(np.float32).astype(np.float64)  # as the peer reads them
WEIGHT = np.random.default_rng(0).uniform(0.5, 2.0, len(y))


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["equal", "weighted"])
@pytest.mark.parametrize(
    ("loss", "stages"),
    # Signs of residuals have many splits of equal gain, of which later stages choose others.
    [("squared_error", 20), ("huber", 20), ("absolute_error", 1), ("quantile", 1)],
)
def test_regression_equals_the_peers(loss, stages, weight):
    settings = {"loss": loss, "n_estimators": stages, "max_depth": 2, "min_samples_leaf": 5}
    ours = GradientBoostingRegressor(**settings).fit(X, y, weight)
    theirs = peer.GradientBoostingRegressor(**settings, random_state=0).fit(X, y, weight)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-9)
    np.testing.assert_allclose(ours.train_score_, theirs.train_score_, rtol=1e-9)
    np.testing.assert_allclose(ours.init_.predict(X), theirs.init_.predict(X))
    assert ours.estimators_.shape == theirs.estimators_.shape
    assert ours.apply(X).shape == theirs.apply(X).shape


@pytest.mark.parametrize("loss", ["log_loss", "exponential", "three classes"])
def test_classification_equals_the_peers(loss):
    rows, labels = (load_wine if loss == "three classes" else load_breast_cancer)(return_X_y=True)
    settings = {"n_estimators": 5}
    settings["loss"] = "log_loss" if loss == "three classes" else loss
    ours = GradientBoostingClassifier(**settings).fit(rows, labels)
    theirs = peer.GradientBoostingClassifier(**settings, random_state=0).fit(rows, labels)
    for method in ("predict_proba", "decision_function", "predict_log_proba"):
        first, second = getattr(ours, method)(rows), getattr(theirs, method)(rows)
        np.testing.assert_allclose(first, second, atol=1e-4)
    np.testing.assert_allclose(ours.train_score_, theirs.train_score_, rtol=1e-6)
    assert ours.apply(rows).shape == theirs.apply(rows).shape
    assert ours.n_trees_per_iteration_ == theirs.n_trees_per_iteration_
    np.testing.assert_allclose(
        ours.init_.predict_proba(rows[:2]), theirs.init_.predict_proba(rows[:2])
    )
    staged = list(ours.staged_decision_function(rows))
    np.testing.assert_allclose(staged[-1], ours.decision_function(rows))


def test_stages_that_are_added_are_those_of_one_fit():
    settings = {"subsample": 0.5, "max_features": 0.5, "random_state": 0}
    once = GradientBoostingRegressor(n_estimators=12, **settings).fit(X, y)
    twice = GradientBoostingRegressor(n_estimators=5, warm_start=True, **settings).fit(X, y)
    twice.set_params(n_estimators=12).fit(X, y)
    np.testing.assert_allclose(twice.predict(X), once.predict(X), rtol=1e-12)
    np.testing.assert_allclose(twice.oob_improvement_, once.oob_improvement_)
    assert len(twice.train_score_) == 12
    assert twice.oob_score_ == twice.oob_scores_[-1]
    with pytest.raises(ValueError, match="must be larger or equal"):
        twice.set_params(n_estimators=3).fit(X, y)


def test_stopping_early_a_monitor_and_a_first_estimator():
    first = peer.RandomForestRegressor(5, random_state=0)
    model = GradientBoostingRegressor(init=first, n_estimators=3).fit(X, y)
    gap = model.predict(X) - model.init_.predict(X)
    trees = model.trees_.predict_values(X)[:, 0]
    np.testing.assert_allclose(gap, 0.1 * trees)
    stopped = GradientBoostingRegressor(n_estimators=400, n_iter_no_change=3, random_state=0)
    assert stopped.fit(X, y).n_estimators_ < 400
    ended = GradientBoostingRegressor().fit(X, y, monitor=lambda i, model, variables: i == 4)
    assert ended.n_estimators_ == 5 == len(ended.estimators_)
    zero = GradientBoostingClassifier(init="zero", n_estimators=1).fit(X, y > 150)
    assert zero.init_ == "zero"
    assert abs(zero.decision_function(X)).max() < 0.3


def test_contributions_add_up(tmp_path):
    model = GradientBoostingRegressor(n_estimators=10).fit(X, y)
    total = model.expected_value_ + model.contributions(X[:20]).sum(axis=1)
    np.testing.assert_allclose(total, model.predict(X[:20]))
    corollary.save(model, tmp_path / "model.corollary")
    loaded = corollary.load(tmp_path / "model.corollary")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def test_huber_between_both_errors():
    residuals, zero = np.array([0.1, -0.2, 5.0]), np.zeros((3, 1))
    np.testing.assert_allclose(HuberBoostingLoss(1.0).value(residuals, zero), [0.005, 0.02, 4.5])
    slope, _ = HuberBoostingLoss(1.0).derivatives(residuals, zero)
    np.testing.assert_allclose(slope[0], [-0.1, 0.2, -1.0])
    # The median 0.1, and the mean of 0, -0.3 and 1 around it.
    assert HuberBoostingLoss(1.0).leaf_value(residuals, zero)[0] == pytest.approx(0.1 + 0.7 / 3)


# -- histograms ------------------------------------------------------------------------------------


def test_a_gamma_law_is_fitted_by_its_deviance():
    rng = np.random.default_rng(0)
    rows = rng.uniform(size=(800, 2))
    target = rng.gamma(2.0, np.exp(2 * rows[:, 0]) / 2)
    model = HistGradientBoostingRegressor("gamma").fit(rows, target)
    theirs = peer.HistGradientBoostingRegressor(loss="gamma").fit(rows, target)
    assert np.corrcoef(model.predict(rows), theirs.predict(rows))[0, 1] > 0.98
    assert model.staged_loss(rows, target)[-1] < 1.05 * np.mean(
        GammaBoostingLoss().value(target, np.log(theirs.predict(rows))[:, None])
    )
    raw, step = np.array([[0.3]]), 1e-6
    ends = [GammaBoostingLoss().value(np.array([2.0]), raw + s)[0] for s in (-step, 0.0, step)]
    slope, curvature = GammaBoostingLoss().derivatives(np.array([2.0]), raw)
    assert slope[0, 0] == pytest.approx((ends[2] - ends[0]) / (2 * step), rel=1e-6)
    assert curvature[0, 0] == pytest.approx(2 * np.exp(-0.3))
    with pytest.raises(ValueError, match="needs targets that are positive"):
        model.fit(rows, -target)


@pytest.mark.parametrize(
    ("allowed", "groups"),
    [
        ("no_interactions", [{0}, {1}, {2}, {3}]),
        ("pairwise", [{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}]),
        ([{0, 1}, [1, 2]], [{0, 1}, {1, 2}, {3}]),
    ],
)
@pytest.mark.parametrize("budget", [None, 0], ids=["memory", "blocks"])
def test_features_interact_only_as_allowed(allowed, groups, budget):
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(400, 4))
    target = rows[:, 0] * rows[:, 1] + rows[:, 2] * rows[:, 3] + rows[:, 1] * rows[:, 2]
    model = HistGradientBoostingRegressor(interaction_cst=allowed, max_iter=5, min_samples_leaf=5)
    free = HistGradientBoostingRegressor(max_iter=5, min_samples_leaf=5).fit(rows, target)
    if budget is None:
        model.fit(rows, target)
    else:
        model.fit_source([(rows, target)], memory_budget=budget)

    def ways(trees):
        for tree in (trees[t] for t in range(len(trees))):
            open_ = [(0, frozenset())]
            while open_:
                node, used = open_.pop()
                if tree.left[node] < 0:
                    yield used
                    continue
                used = used | {int(tree.feature[node])}
                open_ += [(tree.left[node], used), (tree.left[node] + 1, used)]

    assert all(any(way <= group for group in groups) for way in ways(model.trees_))
    assert not all(any(way <= group for group in groups) for way in ways(free.trees_))
    with pytest.raises(ValueError, match="from 0 to n_features - 1=3"):
        HistGradientBoostingRegressor(interaction_cst=[[0, 4]]).fit(rows, target)


@pytest.mark.parametrize("stops", [False, True])
def test_iterations_that_are_added_are_those_of_one_fit(stops):
    settings = {"subsample": 0.6, "max_features": 0.5, "random_state": 0, "early_stopping": stops}
    settings |= {"n_iter_no_change": 30}
    labels = np.digitize(y, (100, 200))
    for kind, target in (
        (HistGradientBoostingRegressor, y),
        (HistGradientBoostingClassifier, labels),
    ):
        once = kind(max_iter=9, **settings).fit(X, target)
        twice = kind(max_iter=4, warm_start=True, **settings).fit(X, target)
        before = twice.n_iter_
        twice.set_params(max_iter=9).fit(X, target)
        if not stops:
            np.testing.assert_array_equal(twice.trees_.value, once.trees_.value)
            assert twice.n_iter_ == 9
        assert twice.n_iter_ >= before
        with pytest.raises(ValueError, match="must be larger than or equal to n_iter_"):
            twice.set_params(max_iter=1).fit(X, target)


def test_a_score_of_scikit_learn_may_decide_when_to_stop():
    labels = np.array(["low", "high"])[(y > 150).astype(int)]
    model = HistGradientBoostingClassifier(
        early_stopping=True, scoring="accuracy", n_iter_no_change=3, random_state=0
    ).fit(X, labels)
    assert model.do_early_stopping_
    assert 0.5 < model.validation_score_.max() <= 1.0
    whole = HistGradientBoostingClassifier(
        early_stopping=True, scoring="accuracy", validation_fraction=None, max_iter=3
    ).fit(X, labels)
    assert whole.train_score_[-1] == accuracy_score(labels, whole.predict(X))
    assert whole.is_categorical_ is None
    assert whole.n_trees_per_iteration_ == 1


def test_losses_by_iteration_are_scores():
    model = HistGradientBoostingRegressor(early_stopping=True, max_iter=5, random_state=0).fit(X, y)
    assert (np.diff(model.train_score_) > 0).all()
    assert not HistGradientBoostingRegressor(max_iter=2).fit(X, y).do_early_stopping_


def test_given_rows_judge_when_to_stop():
    settings = {"early_stopping": True, "random_state": 0, "n_iter_no_change": 3}
    model = HistGradientBoostingRegressor(**settings).fit(
        X[:300], y[:300], X_val=X[300:], y_val=y[300:]
    )
    assert len(model.validation_score_) == len(model.train_score_)
    best = model.staged_loss(X[300:], y[300:])
    np.testing.assert_allclose(-model.validation_score_[: len(best)], best)
    alone = HistGradientBoostingRegressor(max_iter=model.n_iter_, early_stopping=False)
    np.testing.assert_array_equal(alone.fit(X[:300], y[:300]).predict(X), model.predict(X))
    with pytest.raises(ValueError, match="together with y_val"):
        model.fit(X, y, X_val=X)
