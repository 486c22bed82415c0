"""Gradient boosting: trees against brute force, laws, options, sources, distributions."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import ensemble
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.linear_model import LinearRegression
from sklearn.metrics import log_loss, mean_squared_error
from sklearn.model_selection import train_test_split

from corollary.core.files import load, save
from corollary.core.parallel import Team
from corollary.core.simulate import assert_bound_holds
from corollary.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    StagewiseRegressor,
)
from corollary.ensemble.boosting import _boost, _grow
from corollary.ensemble.boosting._grow import Grower, Growth, Settling
from corollary.tree import find_bins


def table(seed, n=600, d=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = X[:, 0] + np.sin(2 * X[:, 1]) * (X[:, 2] > 0) + 0.3 * rng.normal(size=n)
    return X, y


def bits(model):
    parts = [model.start_] + [
        getattr(model.trees_, name)
        for name in ("feature", "threshold", "left", "value", "missing_left", "gain", "weight")
    ]
    return b"".join(np.ascontiguousarray(p).tobytes() for p in parts)


# -- one tree against brute force --------------------------------------------------------------


def best_stump(x_columns, g, h, l2, min_rows):
    """The split of largest gain, by trying all of them."""
    best = (0.0, None)
    for j, x in enumerate(x_columns):
        for threshold in np.unique(x)[:-1]:
            left = x <= threshold
            if min(left.sum(), (~left).sum()) < min_rows:
                continue
            gain = -(g.sum() ** 2) / (h.sum() + l2)
            for side in (left, ~left):
                gain += g[side].sum() ** 2 / (h[side].sum() + l2)
            if gain > best[0] + 1e-9:
                best = (gain, (j, left))
    return best


@pytest.mark.parametrize("l2", [0.0, 3.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_stump_is_the_best_of_all(seed, l2, weighted):
    X, y = table(seed, n=80)
    w = np.random.default_rng(seed).uniform(0.5, 2.0, 80) if weighted else np.ones(80)
    model = HistGradientBoostingRegressor(
        max_iter=1, max_leaf_nodes=2, min_samples_leaf=5, learning_rate=1.0,
        l2_regularization=l2,
    ).fit(X, y, sample_weight=w if weighted else None)  # fmt: skip
    start = np.average(y, weights=w)
    gain, (feature, left) = best_stump(X.T, w * (start - y), w, l2, 5)
    tree = model.trees_[0]
    assert tree.feature[0] == feature
    np.testing.assert_array_equal(X[:, feature] <= tree.threshold[0], left)
    assert tree.gain[0] == pytest.approx(gain / 2, rel=1e-4)
    for side in (left, ~left):
        step = (w * (y - start))[side].sum() / (w[side].sum() + l2)
        np.testing.assert_allclose(model.predict(X[side]), start + step, rtol=1e-10)


@pytest.mark.parametrize("loss", ["log_loss", "exponential"])
def test_leaves_take_newton_steps(seed, loss):
    X, y = table(seed)
    labels = (y > 0.5).astype(int)
    model = HistGradientBoostingClassifier(loss, max_iter=1, learning_rate=0.5).fit(X, labels)
    share = labels.mean()
    start = np.log(share / (1 - share)) * (1.0 if loss == "log_loss" else 0.5)
    s = 2 * labels - 1
    if loss == "log_loss":
        p = np.full(len(y), share)
        g, h = p - labels, p * (1 - p)
    else:
        h = np.exp(-s * start)
        g = -s * h
    leaves = model.trees_.apply(X)[:, 0]
    for leaf in np.unique(leaves):
        rows = leaves == leaf
        expected = start - 0.5 * g[rows].sum() / h[rows].sum()
        np.testing.assert_allclose(model.decision_function(X[rows]), expected, rtol=1e-9)


def test_grows_until_rows_are_told_apart():
    X = np.arange(20.0)[:, None]
    y = np.random.default_rng(0).permutation(20).astype(float)
    model = HistGradientBoostingRegressor(
        max_iter=1, max_leaf_nodes=None, min_samples_leaf=1, learning_rate=1.0
    ).fit(X, y)
    np.testing.assert_allclose(model.predict(X), y, atol=1e-9)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 1000), st.integers(2, 20), st.integers(1, 30), st.none() | st.integers(1, 5))
def test_limits_are_kept(seed, leaves, rows, depth):
    X, y = table(seed, n=300)
    model = HistGradientBoostingRegressor(
        max_iter=3, max_leaf_nodes=leaves, min_samples_leaf=rows, max_depth=depth
    ).fit(X, y)
    for t in range(len(model.trees_)):
        tree = model.trees_[t]
        assert tree.n_leaves <= leaves
        assert depth is None or tree.max_depth <= depth
        counts = np.bincount(tree.apply(X), minlength=tree.n_nodes)[tree.left < 0]
        np.testing.assert_array_equal(counts, tree.weight[tree.left < 0])
        assert counts.min() >= min(rows, 300)


# -- laws ------------------------------------------------------------------------------------


@pytest.fixture
def eager_threads(monkeypatch):
    """Let threads share even small nodes, which are else not worth waking one for."""
    monkeypatch.setattr(_grow, "ALONE", 1_000)
    monkeypatch.setattr(_grow, "MERGED", 0)
    monkeypatch.setattr(_grow, "SETTLE_ALONE", 100)
    monkeypatch.setattr(_boost, "DERIVE_ALONE", 100)


@pytest.mark.usefixtures("eager_threads")
@pytest.mark.parametrize("loss", ["squared_error", "quantile", "normal"])
def test_threads_do_not_change_a_bit(seed, loss):
    X, y = table(seed, n=20_000)
    X[::7, 2] = np.nan
    w = np.random.default_rng(seed).uniform(0.1, 3.0, len(y))
    options = {"loss": loss, "max_iter": 3, "subsample": 0.9, "random_state": 0}
    one = HistGradientBoostingRegressor(n_jobs=1, **options).fit(X, y, w)
    two = HistGradientBoostingRegressor(n_jobs=2, **options).fit(X, y, w)
    three = HistGradientBoostingRegressor(n_jobs=3, **options).fit(X, y, w)
    assert bits(one) == bits(two) == bits(three)


def test_shift_and_scale_of_targets_carry_over(seed):
    X, y = table(seed)
    plain = HistGradientBoostingRegressor(max_iter=20).fit(X, y).predict(X)
    moved = HistGradientBoostingRegressor(max_iter=20).fit(X, 8.0 * y).predict(X)
    np.testing.assert_allclose(moved, 8.0 * plain, rtol=1e-9)


def test_monotone_maps_of_features_do_not_matter(seed):
    X, y = table(seed)
    plain = HistGradientBoostingRegressor(max_iter=20).fit(X, y).predict(X)
    mapped = HistGradientBoostingRegressor(max_iter=20).fit(np.exp(X), y).predict(np.exp(X))
    np.testing.assert_allclose(mapped, plain, rtol=1e-10)


def test_weight_is_repetition(seed):
    X, y = table(seed, n=150)
    w = np.random.default_rng(seed).integers(0, 4, 150)
    options = {"max_iter": 10, "min_samples_leaf": 1, "max_leaf_nodes": 6}
    weighted = HistGradientBoostingRegressor(**options).fit(X, y, w)
    repeated = HistGradientBoostingRegressor(**options).fit(np.repeat(X, w, 0), np.repeat(y, w))
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-9)


def test_training_loss_falls(seed):
    X, y = table(seed)
    labels = np.digitize(y, [-0.5, 0.5])
    for model, target in (
        (HistGradientBoostingRegressor(max_iter=30), y),
        (HistGradientBoostingRegressor("poisson", max_iter=30), np.exp(y)),
        (HistGradientBoostingRegressor("absolute_error", max_iter=30), y),
        (HistGradientBoostingClassifier(max_iter=30, learning_rate=0.05), labels),
        (HistGradientBoostingClassifier("exponential", max_iter=30), labels > 0),
    ):
        losses = model.fit(X, target).staged_loss(X, target)
        assert (np.diff(losses) < 1e-12).all()
        assert losses[-1] < 0.8 * losses[0]


def test_square_loss_and_a_full_linear_class_converge_in_one_step(seed):
    X, y = table(seed)
    model = StagewiseRegressor(LinearRegression(), n_estimators=1).fit(X, y)
    np.testing.assert_allclose(model.predict(X), LinearRegression().fit(X, y).predict(X))


def test_staged_predictions_end_at_the_prediction(seed):
    X, y = table(seed)
    model = HistGradientBoostingRegressor(max_iter=7).fit(X, y)
    stages = list(model.staged_predict(X))
    assert len(stages) == 7
    np.testing.assert_allclose(stages[-1], model.predict(X), rtol=1e-12)
    labels = np.digitize(y, [0.0, 1.0])
    model = HistGradientBoostingClassifier(max_iter=4).fit(X, labels)
    *_, last = model.staged_predict_proba(X)
    np.testing.assert_allclose(last, model.predict_proba(X), rtol=1e-10)
    *_, last = model.staged_predict(X)
    np.testing.assert_array_equal(last, model.predict(X))


# -- options -----------------------------------------------------------------------------------


def test_rounded_derivatives_have_no_systematic_error():
    n = 40_000
    gradient, hessian = np.full(n, 1e-4), np.full(n, 1e-3)
    gradient[0], hessian[0] = -1.0, 1.0  # leaves little resolution for the others
    codes = np.asfortranarray(np.zeros((n, 1), dtype=np.uint8))
    codes[n // 2 :] = 1
    bins = find_bins(codes.astype(float))
    growth = Growth(2, None, 1, 0.0, 1.0)
    with Team(1) as team:
        grower = Grower(codes, bins, growth, np.zeros(1, dtype=np.int64), team, 1)
        rows = np.arange(n, dtype=np.uint32)
        pairs = np.stack([gradient, hessian], axis=1)
        grown = grower.grow(pairs, np.ones(2), rows, 0)
        raw = np.zeros((n, 1))
        grower.settle(grown, raw, 0, np.empty(0), Settling(0.5, None))
    rule = grower.rule[0]
    assert len(grown.leaves) == 2
    for leaf in grown.leaves.tolist():
        node, members = grown.nodes[leaf], grown.members(leaf)
        g, h = gradient[members].sum(), hessian[members].sum()
        assert node["g"] * rule["g_scale"] == pytest.approx(g, rel=0.02)
        assert (node["hc"] >> rule["shift"]) * rule["h_scale"] == pytest.approx(h, rel=0.02)
        assert node["mass"] == len(members)
        # Values come from derivatives that are not rounded.
        assert grown.steps[leaf, 0] == pytest.approx(-0.5 * g / h, rel=1e-9)
        np.testing.assert_array_equal(raw[members, 0], grown.steps[leaf, 0])


@pytest.mark.usefixtures("eager_threads")
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_leaves_without_limit_are_those_of_a_limit_that_does_not_bind(seed, n_jobs):
    X, y = table(seed, n=20_000)
    settings = {"max_iter": 3, "min_samples_leaf": 30, "n_jobs": n_jobs, "early_stopping": False}
    free = HistGradientBoostingRegressor(max_leaf_nodes=None, **settings).fit(X, y)
    best_first = HistGradientBoostingRegressor(max_leaf_nodes=20_000, **settings).fit(X, y)
    assert free.trees_[0].n_leaves > 200
    np.testing.assert_array_equal(free.predict(X), best_first.predict(X))
    limited = HistGradientBoostingRegressor(max_leaf_nodes=100, **settings).fit(X, y)
    assert limited.trees_[0].n_leaves == 100
    # Best first: no split left out gains more than one that was made.
    made, wanted = limited.trees_[0], best_first.trees_[0]
    inner = np.sort(wanted.gain[wanted.left >= 0])[::-1]
    assert made.gain.sum() >= inner[:99].sum() * 0.9


def test_trees_of_an_iteration_grown_at_the_same_time_are_those_grown_in_turn(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(900, 5))
    y = rng.integers(5, size=900) + (X[:, 0] > 0)
    settings = {"max_iter": 4, "max_features": 0.6, "subsample": 0.8, "random_state": 3}
    models = [HistGradientBoostingClassifier(n_jobs=k, **settings).fit(X, y) for k in (1, 2, 3)]
    assert bits(models[0]) == bits(models[1]) == bits(models[2])


def test_rounded_derivatives_do_not_hurt_rare_classes(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30_000, 3))
    y = rng.random(30_000) < 0.01 * np.exp(X[:, 0])
    settings = {"max_iter": 20, "early_stopping": False}
    ours = HistGradientBoostingClassifier(**settings).fit(X, y)
    theirs = ensemble.HistGradientBoostingClassifier(**settings).fit(X, y)
    losses = [log_loss(y, m.predict_proba(X)) for m in (ours, theirs)]
    assert losses[0] < 1.01 * losses[1]
    assert ours.predict_proba(X)[:, 1].mean() == pytest.approx(y.mean(), rel=0.05)


def test_missing_values_go_to_the_better_side(seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=400)
    y = np.where(rng.random(400) < 0.3, 5.0, (x > 0) * 1.0)
    x[y == 5.0] = np.nan
    model = HistGradientBoostingRegressor(
        max_iter=1, learning_rate=1.0, max_leaf_nodes=3, min_samples_leaf=1
    ).fit(x[:, None], y)
    np.testing.assert_allclose(model.predict(x[:, None]), y, atol=1e-9)


def test_values_missing_for_the_first_time_go_with_the_majority(seed):
    X, y = table(seed)
    model = HistGradientBoostingRegressor(max_iter=1, max_leaf_nodes=2).fit(X, y)
    tree = model.trees_[0]
    heavier = 1 if tree.weight[1] >= tree.weight[2] else 2
    assert tree.apply(np.full((1, 4), np.nan))[0] == heavier


def test_categories_are_split_into_the_best_two_sets(seed):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 6, 400)
    means = rng.permutation([0.0, 0.1, 0.2, 5.0, 5.1, 5.2])
    y = means[codes] + 0.01 * rng.normal(size=400)
    names = np.array(list("fbdace"))
    X = pd.DataFrame({"c": names[codes]})
    model = HistGradientBoostingRegressor(
        max_iter=1, max_leaf_nodes=2, learning_rate=1.0, min_samples_leaf=1
    ).fit(X, y)
    best = min(
        sum(((y[s] - y[s].mean()) ** 2).sum() for s in (side, ~side) if s.any())
        for size in range(1, 4)
        for some in itertools.combinations(range(6), size)
        for side in [np.isin(codes, some)]
    )
    assert ((y - model.predict(X)) ** 2).sum() == pytest.approx(best, rel=1e-6)
    unknown = model.predict(pd.DataFrame({"c": ["zebra", None]}))
    assert np.isfinite(unknown).all()


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "poisson"])
def test_monotone_constraints_hold(seed, sign, loss):
    X, y = table(seed)
    y = np.exp(0.5 * (np.sin(3 * X[:, 0]) + 0.2 * sign * X[:, 0] + X[:, 1]))
    model = HistGradientBoostingRegressor(
        loss, max_iter=40, monotonic_cst=[sign, 0, 0, 0], min_samples_leaf=3
    ).fit(X, y)
    grid = np.repeat(X[:60], 50, axis=0)
    grid[:, 0] = np.tile(np.linspace(-3, 3, 50), 60)
    steps = np.diff(model.predict(grid).reshape(60, 50), axis=1)
    assert (sign * steps >= -1e-12).all()
    free = HistGradientBoostingRegressor(loss, max_iter=40, min_samples_leaf=3).fit(X, y)
    assert (sign * np.diff(free.predict(grid).reshape(60, 50), axis=1) < -1e-3).any()


def test_early_stopping_keeps_the_best_iteration(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(400, 5)), rng.integers(0, 2, 400)
    model = HistGradientBoostingClassifier(
        early_stopping=True, learning_rate=0.5, max_iter=200, random_state=0
    ).fit(X, y)
    assert model.n_iter_ < 20
    assert len(model.trees_) == model.n_iter_
    best = int(np.argmax(model.validation_score_))
    assert model.n_iter_ == max(1, best)
    assert len(model.validation_score_) == len(model.train_score_) >= best + 11


def test_rows_outside_a_sample_follow_the_trees(seed):
    X, y = table(seed)
    X[::5, 0] = np.nan
    model = HistGradientBoostingRegressor(
        early_stopping=True, validation_fraction=None, subsample=0.5, max_iter=8
    ).fit(X, y)
    np.testing.assert_allclose(-model.train_score_, model.staged_loss(X, y), rtol=1e-10)


def test_samples_of_rows_and_features(seed):
    X, y = table(seed, d=6)
    model = HistGradientBoostingRegressor(
        subsample=0.5, max_features=0.3, max_iter=10, random_state=1
    ).fit(X, y)
    again = HistGradientBoostingRegressor(
        subsample=0.5, max_features=0.3, max_iter=10, random_state=1
    ).fit(X, y)
    assert bits(model) == bits(again)
    assert all(model.trees_[t].weight[0] == 300 for t in range(10))
    other = HistGradientBoostingRegressor(
        subsample=0.5, max_features=0.3, max_iter=10, random_state=2
    ).fit(X, y)
    assert bits(model) != bits(other)
    assert model.score(X, y) > 0.4


def test_class_weights_act_as_row_weights(seed):
    X, y = table(seed)
    X = np.round(X, 1)  # a bin for each value: quantiles know of row weights only
    labels = y > 1.0
    balanced = HistGradientBoostingClassifier(max_iter=5, class_weight="balanced")
    w = np.where(labels, 0.5 / labels.mean(), 0.5 / (1 - labels.mean()))
    by_hand = HistGradientBoostingClassifier(max_iter=5).fit(X, labels, w)
    np.testing.assert_allclose(
        balanced.fit(X, labels).predict_proba(X), by_hand.predict_proba(X), rtol=1e-6
    )


def test_contributions_add_up_to_the_raw_prediction(seed):
    X, y = table(seed)
    labels = np.digitize(y, [-0.5, 0.5])
    model = HistGradientBoostingClassifier(max_iter=5).fit(X, labels)
    total = model.contributions(X[:20]).sum(axis=1) + model.expected_value_
    np.testing.assert_allclose(total, model.decision_function(X[:20]), atol=1e-10)
    model = HistGradientBoostingRegressor(max_iter=5).fit(X, y)
    assert model.expected_value_ == pytest.approx(model.predict(X).mean())
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    assert model.feature_importances_.argmax() == 0


# Small trees: quantiles of large ones follow the training rows and are too close to each other.
GENTLE = {"max_iter": 60, "max_leaf_nodes": 5, "min_samples_leaf": 50}


# -- quantiles and distributions -----------------------------------------------------------------


@settings(max_examples=15, deadline=None)
@given(
    st.integers(0, 10_000),
    st.sampled_from([(0.05, 0.5, 0.95), (0.1, 0.2), (0.6, 0.7, 0.8, 0.9), (0.01, 0.99)]),
    st.sampled_from(["smooth", "ties", "outliers"]),
)
def test_quantiles_never_cross(seed, levels, kind):
    X, y = table(seed, n=120)
    if kind == "ties":
        y = np.round(y)
    if kind == "outliers":
        y = y**7
    model = HistGradientBoostingRegressor(
        "quantile", quantile=levels, max_iter=15, learning_rate=0.5, min_samples_leaf=2
    ).fit(X, y)
    far = np.random.default_rng(seed).normal(scale=10.0, size=(200, 4))
    for rows in (X, far):
        assert (np.diff(model.predict_quantiles(rows), axis=1) >= 0).all()


def two_scales(seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(6000, 2))
    scale = np.where(X[:, 1] > 0, 1.0, 0.2)
    y = np.sin(3 * X[:, 0]) + scale * rng.normal(size=6000)
    return X[:3000], y[:3000], X[3000:], y[3000:], scale[3000:]


def test_each_of_several_quantiles_has_its_share_below(seed):
    X, y, X_test, y_test, scale = two_scales(seed)
    levels = [0.05, 0.25, 0.5, 0.75, 0.95]
    model = HistGradientBoostingRegressor("quantile", quantile=levels, **GENTLE).fit(X, y)
    found = model.predict_quantiles(X_test)
    for side in (scale == 1.0, scale == 0.2):
        share = (y_test[side, None] <= found[side]).mean(axis=0)
        np.testing.assert_allclose(share, levels, atol=0.06)
        width = np.mean(found[side, -1] - found[side, 0])
        assert width == pytest.approx(2 * 1.645 * scale[side][0], rel=0.2)
    np.testing.assert_allclose(model.predict(X_test), found[:, 2])


def test_one_quantile_has_its_share_below(seed):
    X, y, X_test, y_test, _ = two_scales(seed)
    model = HistGradientBoostingRegressor("quantile", quantile=0.8, **GENTLE).fit(X, y)
    assert (y_test <= model.predict(X_test)).mean() == pytest.approx(0.8, abs=0.04)


def test_the_normal_law_is_calibrated(seed):
    X, y, X_test, y_test, scale = two_scales(seed)
    model = HistGradientBoostingRegressor("normal", random_state=0, **GENTLE).fit(X, y)
    law = model.predict_dist(X_test)
    z = (y_test - model.predict(X_test)) / model.predict_std(X_test)
    assert z.std() == pytest.approx(1.0, abs=0.1)
    low, high = law.interval(0.9)
    for side in (scale == 1.0, scale == 0.2):
        inside = ((y_test >= low) & (y_test <= high))[side]
        # A tenth is meant to miss; the estimated law is allowed a little more.
        assert_bound_holds(int((~inside).sum()), len(inside), 0.13)
        assert inside.mean() < 0.94
    loss = -law.logpdf(y_test).mean()
    truth = (0.5 * np.log(2 * np.pi) + np.log(scale) + 0.5).mean()
    constant = 0.5 * np.log(2 * np.pi * y_test.var()) + 0.5
    assert truth - 0.05 < loss < truth + 0.1 < constant
    np.testing.assert_allclose(
        model.predict_quantiles(X_test, [0.05, 0.95]), np.stack([low, high], axis=1), rtol=1e-9
    )


def test_the_normal_law_is_calibrated_by_default(seed):
    # Without rows held out, intervals of 95% hold about 60%.
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(3500, 5))
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * rng.normal(size=3500)
    coverage = []
    for fraction in (0.1, None):
        model = HistGradientBoostingRegressor(
            "normal", validation_fraction=fraction, random_state=0
        )
        low, high = model.fit(X[:1500], y[:1500]).predict_dist(X[1500:]).interval(0.95)
        coverage.append(((low <= y[1500:]) & (y[1500:] <= high)).mean())
    assert 0.9 < coverage[0] < 0.98
    assert coverage[1] < 0.75


def test_equal_targets_are_no_accident():
    X = np.arange(50.0)[:, None]
    for loss in ("squared_error", "absolute_error", "quantile", "poisson", "normal"):
        model = HistGradientBoostingRegressor(loss, max_iter=5).fit(X, np.full(50, 3.0))
        np.testing.assert_allclose(model.predict(X), 3.0, rtol=1e-6)


# -- against the peer, files, errors ---------------------------------------------------------------


@pytest.mark.parametrize("name", ["cancer", "digits", "diabetes"])
def test_quality_equals_the_peers(name):
    load_data = {"cancer": load_breast_cancer, "digits": load_digits, "diabetes": load_diabetes}
    X, y = load_data[name](return_X_y=True)
    ours, theirs = 0.0, 0.0
    for split in range(3):
        a, b, ya, yb = train_test_split(X, y, random_state=split, test_size=0.4)
        if name == "diabetes":
            options = {"learning_rate": 0.05}
            mine = HistGradientBoostingRegressor(max_iter=40, **options).fit(a, ya)
            peer = ensemble.HistGradientBoostingRegressor(max_iter=40, **options).fit(a, ya)
            ours += mean_squared_error(yb, mine.predict(b))
            theirs += mean_squared_error(yb, peer.predict(b))
        else:
            rounds = 30 if name == "cancer" else 10
            # For K classes our steps are (K - 1) / K of the peer's.
            rate = 0.1 if name == "cancer" else 0.1 * 10 / 9
            mine = HistGradientBoostingClassifier(max_iter=rounds, learning_rate=rate).fit(a, ya)
            peer = ensemble.HistGradientBoostingClassifier(
                max_iter=rounds, early_stopping=False
            ).fit(a, ya)
            ours += log_loss(yb, mine.predict_proba(b))
            theirs += log_loss(yb, peer.predict_proba(b))
    assert ours < 1.05 * theirs


def test_a_saved_model_predicts_the_same(seed, tmp_path):
    X, y = table(seed)
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame["e"] = np.where(X[:, 0] > 0, "up", "down")
    model = HistGradientBoostingRegressor("quantile", quantile=[0.1, 0.9], max_iter=3)
    model.fit(frame, y)
    save(model, tmp_path / "model.corollary")
    again = load(tmp_path / "model.corollary")
    np.testing.assert_array_equal(again.predict_quantiles(frame), model.predict_quantiles(frame))


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (HistGradientBoostingRegressor("quantile", quantile=[0.5, 0.2]), "ascending and distinct"),
        (HistGradientBoostingRegressor("quantile", quantile=[0.5, 1.2]), r"range \(0.0, 1.0\)"),
        (HistGradientBoostingRegressor("poisson"), "not negative and not all 0"),
        (HistGradientBoostingRegressor(monotonic_cst=[1]), "each of 4 features"),
        (HistGradientBoostingRegressor(monotonic_cst=[2, 0, 0, 0]), "-1, 0 or 1"),
        (HistGradientBoostingRegressor(monotonic_cst={"a": 1}), "no column names"),
        (HistGradientBoostingRegressor("normal", monotonic_cst=[1, 0, 0, 0]), "one output"),
        (HistGradientBoostingRegressor(max_bins=256), "max_bins"),
    ],
)
def test_wrong_settings(seed, model, message):
    X, y = table(seed)
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)


def test_wrong_use(seed):
    X, y = table(seed, n=60)
    with pytest.raises(ValueError, match=r"two classes\. Got 3"):
        HistGradientBoostingClassifier("exponential").fit(X, np.arange(60) % 3)
    with pytest.raises(ValueError, match=r"at least 2 classes\. Got one class: 1\.$"):
        HistGradientBoostingClassifier().fit(X, np.ones(60, dtype=int))
    with pytest.raises(ValueError, match="targets whose squares have a finite sum"):
        HistGradientBoostingRegressor().fit(X, 1e160 * y)
    with pytest.raises(ValueError, match="positive weight"):
        HistGradientBoostingRegressor().fit_source([(X, y, np.zeros(60))])
    model = HistGradientBoostingRegressor(max_iter=1).fit(X, y)
    with pytest.raises(ValueError, match="loss='normal'"):
        model.predict_std(X)
    with pytest.raises(ValueError, match="loss='quantile' or loss='normal'"):
        model.predict_quantiles(X)
    with pytest.raises(ValueError, match="reads the data several times"):
        model.fit_source((X[i : i + 9], y[i : i + 9]) for i in range(0, 60, 9))
    with pytest.raises(ValueError, match="needs one column of targets"):
        model.fit_source([(X,)])
