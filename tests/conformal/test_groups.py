"""Rows in groups or in time: quantiles, wrappers, and predictions that are made already."""

import pathlib
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor

import corollary
from corollary.certificates import coverage_certificates
from corollary.conformal import (
    Bands,
    ConformalQuantileRegressor,
    PerClass,
    SplitConformalClassifier,
    SplitConformalRegressor,
    calibrate_intervals,
    calibrate_sets,
    conformal_quantile,
    group_maxima,
    hierarchical_quantile,
    learn_difficulty,
    weighted_conformal_quantile,
)
from corollary.conformal._groups import hash_labels
from corollary.core.simulate import assert_bound_holds, assert_share_equals
from corollary.linear import QuantileRegressor, Ridge

FILES = pathlib.Path(__file__).parent / "files"


def by_fractions(scores, groups, confidence):
    """Add up shares of groups exactly, score by score."""
    n_groups = len(set(groups))
    for score in sorted(set(scores)):
        total = Fraction(0)
        for group in set(groups):
            inside = [s for s, g in zip(scores, groups) if g == group]
            total += Fraction(sum(s <= score for s in inside), len(inside))
        if total >= (n_groups + 1) * confidence:
            return score
    return np.inf


rows_in_groups = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 6)), min_size=1, max_size=25)


@given(rows_in_groups, st.integers(1, 19))
@settings(max_examples=200, deadline=None)
def test_the_quantile_is_the_one_of_exact_shares(rows, twentieths):
    scores, groups = zip(*rows)
    exact = by_fractions(scores, groups, Fraction(twentieths, 20))
    assert hierarchical_quantile(scores, groups, twentieths / 20) == exact


@given(rows_in_groups, st.integers(1, 19))
@settings(max_examples=100, deadline=None)
def test_maxima_are_those_of_a_loop(rows, twentieths):
    scores, groups = map(list, zip(*rows))
    loop = [max(s for s, g in rows if g == group) for group in sorted(set(groups))]
    assert group_maxima(scores, groups).tolist() == loop


def test_the_smallest_numbers_of_groups():
    scores, groups = np.arange(30.0), np.arange(30) // 3
    assert hierarchical_quantile(scores[:3], groups[:3], 0.5) == 2.0  # one group: its largest
    assert hierarchical_quantile(scores[:3], groups[:3], 0.51) == np.inf
    assert hierarchical_quantile(scores[:24], groups[:24], 0.9) == np.inf  # 8 < 1 / 0.1 - 1
    assert hierarchical_quantile(scores[:27], groups[:27], 0.9) == 26.0  # 9: the largest of all
    # 0.9 of 11 is 9.9 groups: two of three rows of the tenth are not enough.
    assert hierarchical_quantile(scores, groups, 0.9) == 29.0
    # 0.8 of 11 is 8.8 groups: all three rows of eight, and three of the ninth.
    assert hierarchical_quantile(scores, groups, 0.8) == 26.0


def test_singletons_and_copies_are_ordinary_rows(seed):
    rng = np.random.default_rng(seed)
    scores, sizes = rng.normal(size=37), rng.integers(1, 50, size=37)
    names, copies = np.repeat(np.arange(37), sizes), np.repeat(scores, sizes)
    for confidence in (0.3, 0.5, 0.75, 0.9, 0.95, 0.98):
        ordinary = conformal_quantile(scores, confidence)
        assert hierarchical_quantile(scores, rng.permutation(37), confidence) == ordinary
        assert hierarchical_quantile(copies, names, confidence) == ordinary


def leave_each_out(groups, threshold, covered):
    """Average over which of exchangeable groups is the new one."""
    shares = []
    for new in range(len(groups)):
        rest = [scores for place, scores in enumerate(groups) if place != new]
        names = np.repeat(np.arange(len(rest)), [len(scores) for scores in rest])
        shares.append(covered(groups[new] <= threshold(np.concatenate(rest), names)))
    return float(np.mean(shares))


def test_coverage_by_enumeration(seed):
    """Given the groups, which of them is new is uniform: coverage is an average of K + 1 shares."""
    rng = np.random.default_rng(seed)
    pooled = []
    for _ in range(60):
        hard = rng.random(6) < 0.5  # small groups are hard, large ones easy
        groups = [rng.normal(size=1) + 9 if h else rng.normal(size=30) for h in hard]
        level = rng.choice([0.5, 0.6, 0.75, 0.8])

        def one_row(scores, names, level=level):
            return hierarchical_quantile(scores, names, level)

        def all_rows(scores, names, level=level):
            return conformal_quantile(group_maxima(scores, names), level)

        assert leave_each_out(groups, one_row, np.mean) >= level - 1e-9
        assert leave_each_out(groups, all_rows, np.all) >= level - 1e-9
        pooled.append(
            leave_each_out(groups, lambda s, n, level=level: conformal_quantile(s, level), np.mean)
            - level
        )
    assert min(pooled) < -0.1  # rows counted instead of groups


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: hierarchical_quantile([1.0, 2.0], [1], 0.9), "one label for each of 2 rows"),
        (lambda: hierarchical_quantile([1.0], [np.nan], 0.9), "Got 1 that are missing"),
        (lambda: hierarchical_quantile([np.nan], [1], 0.9), "free of NaN"),
        (lambda: group_maxima([[1.0]], [1]), "one-dimensional"),
        (lambda: hierarchical_quantile([1.0], [1], 1.0), "confidence"),
    ],
)
def test_what_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def owners(rng, n_groups, sizes=None, effect=1.0):
    """Rows of owners with an effect each, that no column shows."""
    sizes = np.full(n_groups, 6) if sizes is None else sizes
    g = np.repeat(np.arange(n_groups), sizes)
    X = rng.normal(size=(len(g), 2))
    y = X[:, 0] + effect * rng.normal(size=n_groups)[g] + 0.5 * rng.normal(size=len(g))
    return X, y, g


def calibrates(model, g):
    """Say which rows are of groups that calibrated."""
    return np.isin(hash_labels(g), model.calibration_groups_)


@pytest.mark.parametrize("covers", ["row", "group"])
def test_a_wrapper_is_its_quantile(covers, seed):
    rng = np.random.default_rng(seed)
    X, y, g = owners(rng, 80, rng.integers(1, 30, size=80))
    model = SplitConformalRegressor(LinearRegression(), covers=covers, random_state=0)
    model.fit(X, y, groups=g)
    kept = calibrates(model, g)
    errors, names = np.abs(y - model.estimator_.predict(X))[kept], g[kept]
    assert len(np.unique(names)) == 20
    assert model.n_calibration_ == len(errors)
    for confidence in (0.9, 0.75):
        expected = (
            hierarchical_quantile(errors, names, confidence)
            if covers == "row"
            else conformal_quantile(group_maxima(errors, names), confidence)
        )
        width = np.diff(model.predict_interval(X[:3], confidence=confidence))[:, 0]
        np.testing.assert_allclose(width, 2 * expected)
    assert model.exchangeable_ == "groups"


def test_groups_are_kept_whole_and_remembered(seed):
    X, y, g = owners(np.random.default_rng(seed), 40)
    model = SplitConformalRegressor(LinearRegression(), random_state=0).fit(X, y, groups=g)
    assert not np.isin(model.training_groups_, model.calibration_groups_).any()
    assert len(model.training_groups_) == 30
    assert len(model.calibration_groups_) == 10
    assert model.knows_groups(g).all()
    assert model.knows_groups([3, 40, 39, -1]).tolist() == [True, False, True, False]
    assert model.knows_groups(["3", "40"]).tolist() == [True, False]
    assert model.knows_groups(pl.Series([3.0, 4.5])).tolist() == [True, False]
    train = ~calibrates(model, g)
    trained = LinearRegression().fit(X[train], y[train])
    np.testing.assert_allclose(model.estimator_.coef_, trained.coef_)
    number = SplitConformalRegressor(LinearRegression(), calibration_size=12, random_state=0)
    assert len(number.fit(X, y, groups=g).calibration_groups_) == 12


@pytest.mark.parametrize("kind", [pd.Series, pl.Series, list, np.array])
@pytest.mark.parametrize(
    "names",
    [np.array([f"client {k:02}" for k in range(40)]), pd.date_range("2020", periods=40).values],
)
def test_any_kind_of_groups(kind, names, seed):
    X, y, g = owners(np.random.default_rng(seed), 40)
    model = SplitConformalRegressor(LinearRegression(), random_state=0)
    plain = model.fit(X, y, groups=g).predict_interval(X)
    np.testing.assert_array_equal(model.fit(X, y, groups=kind(names[g])).predict_interval(X), plain)
    assert model.knows_groups(kind(names[g][:3])).all()


def test_the_order_of_rows_and_names_of_groups_do_not_matter(seed):
    rng = np.random.default_rng(seed)
    X, y, g = owners(rng, 30)
    order = rng.permutation(len(y))
    model = SplitConformalRegressor(LinearRegression().fit(X[:50], y[:50]), prefit=True)
    expected = model.fit(X, y, groups=g).thresholds_
    assert model.fit(X[order], y[order], groups=500 - g[order]).thresholds_ == expected


def test_too_few_groups_are_counted_as_groups():
    X, y, g = owners(np.random.default_rng(0), 30, np.full(30, 20))
    model = SplitConformalRegressor(LinearRegression(), random_state=0)
    with pytest.warns(UserWarning, match="has 8 calibration groups; .* at least 9. Until 1 more g"):
        model.fit(X, y, groups=g)
    assert np.isinf(model.predict_interval(X[:1])).all()
    model.set_params(calibration_size=9).fit(X, y, groups=g)
    assert np.isfinite(model.predict_interval(X[:1])).all()
    with pytest.raises(
        ValueError, match=r"groups to train and groups to calibrate. Got n_groups=1"
    ):
        model.fit(X, y, groups=np.zeros(600))


def test_a_partition_weighs_groups_in_each_part(seed):
    """Rows weigh one over the size of their whole group, and a new group at most one."""
    rng = np.random.default_rng(seed)
    X, y, g = owners(rng, 90, rng.integers(1, 12, size=90))
    part = (X[:, 1] > 0).astype(int)
    inner = LinearRegression().fit(X, y)
    model = SplitConformalRegressor(inner, prefit=True, partition=Bands((0.0,), column=1))
    model.fit(X, y, groups=g)
    errors, sizes = np.abs(y - inner.predict(X)), np.bincount(g)
    for band in (0, 1):
        inside = part == band
        (expected,) = weighted_conformal_quantile(
            errors[inside], 1 / sizes[g][inside], [1.0], model.confidence
        )
        assert model.thresholds_[band] == expected


def two_kinds(rng, n_groups):
    """Half of the groups have ten hard rows in part 0; half one easy row there and nine in 1."""
    hard = rng.random(n_groups) < 0.5
    g, part = np.repeat(np.arange(n_groups), 10), np.zeros((n_groups, 10), dtype=int)
    part[~hard, 1:] = 1
    y = np.where(hard[:, None], 10.0, 1.0) * rng.normal(size=(n_groups, 10))
    return part.ravel()[:, None].astype(float), y.ravel(), g


def test_coverage_given_the_part_of_a_row(seed):
    """One over the rows of the group in the part would cover 45% of rows in part 0."""
    rng = np.random.default_rng(seed)
    inner = KNeighborsRegressor(1).fit([[0.0]], [0.0])
    model = SplitConformalRegressor(
        inner, prefit=True, partition=Bands((0.5,), column=0), confidence=0.7
    )
    missed, drawn = np.zeros(2, dtype=int), np.zeros(2, dtype=int)
    for _ in range(300):
        X, y, g = two_kinds(rng, 21)
        row = 200 + rng.integers(10)
        model.fit(X[:200], y[:200], groups=g[:200])
        part = int(X[row, 0])
        drawn[part] += 1
        missed[part] += model.misses(X[[row]], y[[row]])[0]
    for part in (0, 1):
        assert_bound_holds(int(missed[part]), int(drawn[part]), 0.3)


@pytest.mark.parametrize("covers", ["row", "group"])
@pytest.mark.parametrize("n_groups", [1, 8, 9, 20])
def test_wrappers_cover_new_groups(covers, n_groups, seed):
    rng = np.random.default_rng(seed)
    level = 0.5 if n_groups == 1 else 0.8
    inner = LinearRegression().fit([[0.0, 0.0], [1.0, 0.0]], [0.0, 1.0])
    model = SplitConformalRegressor(inner, prefit=True, covers=covers, confidence=level)
    missed = 0
    for _ in range(300):
        X, y, g = owners(rng, n_groups + 1, rng.integers(1, 15, size=n_groups + 1), effect=3.0)
        new = g == n_groups
        outside = model.fit(X[~new], y[~new], groups=g[~new]).misses(X[new], y[new])
        missed += outside.any() if covers == "group" else outside[rng.integers(new.sum())]
    assert_bound_holds(missed, 300, 1 - level)


@pytest.mark.parametrize("score", ["lac", "aps", "raps"])
def test_sets_cover_new_groups(score, seed):
    rng = np.random.default_rng(seed)
    inner = GaussianNB().fit([[-1.0], [-1.5], [1.0], [1.5]], [0, 0, 1, 1])
    model = SplitConformalClassifier(
        inner, prefit=True, conformity_score=score, randomised=True, confidence=0.7
    )
    missed = 0
    for k in range(300):
        g = np.repeat(np.arange(11), 5)
        y = rng.integers(0, 2, size=55)
        flipped = rng.random(11) < 0.25  # such groups are labelled the wrong way round
        X = (2.0 * np.where(flipped[g], 1 - y, y) - 1 + rng.normal(size=55))[:, None]
        model.set_params(random_state=k).fit(X[:50], y[:50], groups=g[:50])
        missed += model.misses(X[50:51], y[50:51])[0]
    assert_bound_holds(missed, 300, 0.3)


def test_quantile_models_and_learnt_scales_take_groups(seed):
    X, y, g = owners(np.random.default_rng(seed), 60)
    two = ConformalQuantileRegressor(QuantileRegressor(), random_state=0).fit(X, y, groups=g)
    assert np.isfinite(two.predict_interval(X)).all()
    assert two.knows_groups([0])[0]
    # A model that knows the owner errs little on rows of owners it has seen: folds that split
    # owners would teach the scale errors of 0.5, those of new owners are about 5.
    X = np.column_stack([100.0 * g, X])
    y = 5 * np.random.default_rng(1).normal(size=60)[g] + 0.1 * y
    model = SplitConformalRegressor(
        KNeighborsRegressor(3), conformity_score="normalised", random_state=0
    )
    assert model.fit(X, y).predict(X[:1]).shape == (1,)
    seen = model.conformity_score_.model.predict(X).mean()
    assert model.fit(X, y, groups=g).conformity_score_.model.predict(X).mean() > 5 * seen


def test_calibrating_again(seed):
    X, y, g = owners(np.random.default_rng(seed), 60)
    old, new = g < 40, g >= 40
    model = SplitConformalRegressor(LinearRegression(), random_state=0)
    model.fit(X[old], y[old], groups=g[old])
    with pytest.raises(ValueError, match=r"needs groups of the calibration rows. Got none"):
        model.calibrate(X[new], y[new])
    with pytest.raises(ValueError, match=r"needs rows of other groups. Got 180 of 240 rows"):
        model.calibrate(X[old], y[old], groups=g[old])
    model.calibrate(X[new], y[new], groups=g[new])
    errors = np.abs(y - model.estimator_.predict(X))[new]
    assert model.thresholds_[0] == pytest.approx(hierarchical_quantile(errors, g[new], 0.9))
    # Groups that calibrated before have no part in the wrapper any more, those that trained do.
    assert model.knows_groups(np.unique(g)).sum() == 30 + 20


def test_groups_with_what_they_cannot_go_with():
    X, y, g = owners(np.random.default_rng(0), 40)
    model = SplitConformalRegressor(LinearRegression(), random_state=0)
    with pytest.raises(ValueError, match=r"by groups or by time. Got both"):
        model.fit(X, y, groups=g, time=g)
    with pytest.raises(ValueError, match="'groups' of SplitConformalRegressor needs one label"):
        model.fit(X, y, groups=g[1:])
    assert model.fit(X, y).knows_groups(g) is None
    with pytest.raises(ValueError, match="by their groups or by a density ratio"):
        model.calibrate(X, y, weights=np.ones(len(y)), groups=g)
    ratio = SplitConformalRegressor(LinearRegression(), likelihood_ratio=lambda X: np.ones(len(X)))
    with pytest.raises(ValueError, match="by their groups or by a density ratio"):
        ratio.fit(X, y, groups=g)
    with pytest.raises(ValueError, match="weights of calibration rows and of new rows"):
        model.fit(X, y, groups=g).predict_interval(X, weights=np.ones(len(X)))
    for parts in ({"partition": Bands((0.0,))}, {"partition": PerClass()}):
        kind = SplitConformalClassifier if "PerClass" in repr(parts) else SplitConformalRegressor
        inner = GaussianNB() if kind is SplitConformalClassifier else LinearRegression()
        with pytest.raises(ValueError, match="covers='group' needs one threshold"):
            kind(inner, covers="group", **parts).fit(X, (y > 0).astype(int), groups=g)


def test_the_latest_rows_calibrate(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(200, 2)), rng.normal(size=200)
    time = rng.permutation(200)
    model = SplitConformalRegressor(LinearRegression(), random_state=0).fit(X, y, time=time)
    early = time < 150
    inner = LinearRegression().fit(X[early], y[early])
    np.testing.assert_allclose(model.estimator_.coef_, inner.coef_)
    errors = np.abs(y - inner.predict(X))[~early]
    assert model.thresholds_[0] == pytest.approx(conformal_quantile(errors, 0.9))
    assert model.exchangeable_ == "nothing"
    assert model.calibration_groups_ is None
    dates = pd.Timestamp("2020-01-01", tz="UTC") + pd.to_timedelta(time, unit="D")
    for moments in (dates, pd.Series(dates), pl.Series(time.tolist()), dates.tz_localize(None)):
        again = SplitConformalRegressor(LinearRegression()).fit(X, y, time=moments)
        np.testing.assert_allclose(again.thresholds_, model.thresholds_)
    # Rows of one moment are not parted: the latest 50 reach into a moment of 40.
    coarse = SplitConformalRegressor(LinearRegression()).fit(X, y, time=time // 40)
    assert coarse.n_calibration_ == 80
    with pytest.raises(ValueError, match="reach back to the first moment"):
        SplitConformalRegressor(LinearRegression()).fit(X, y, time=np.zeros(200))
    with pytest.raises(ValueError, match="Got the text '1 May'; read it as a date"):
        SplitConformalRegressor(LinearRegression()).fit(X, y, time=["1 May"] * 200)
    with pytest.raises(ValueError, match="missing"):
        SplitConformalRegressor(LinearRegression()).fit(X, y, time=[np.nan] * 200)


@pytest.mark.parametrize("how", ["groups", "time"])
def test_no_certificate_of_exchangeable_rows(how, seed):
    X, y, g = owners(np.random.default_rng(seed), 200)
    model = SplitConformalRegressor(LinearRegression(), random_state=0).fit(X, y)
    assert len(coverage_certificates(model)) == 1
    model.fit(X, y, **{how: g})
    assert model.calibration_cells() == []
    assert coverage_certificates(model) == []
    prefit = SplitConformalRegressor(LinearRegression().fit(X, y), prefit=True)
    assert coverage_certificates(prefit.fit(X, y, **{how: g})) == []
    if how == "time":  # calibrating again does not make rows exchangeable
        assert coverage_certificates(model.calibrate(X[:300], y[:300])) == []


@pytest.mark.parametrize("covers", ["row", "group"])
def test_files_hold_groups(covers, seed, tmp_path):
    X, y, g = owners(np.random.default_rng(seed), 60)
    model = SplitConformalRegressor(Ridge(), covers=covers, random_state=0).fit(X, y, groups=g)
    corollary.save(model, tmp_path / "model")
    loaded = corollary.load(tmp_path / "model")
    for confidence in (0.9, 0.6):
        np.testing.assert_array_equal(
            loaded.predict_interval(X, confidence=confidence),
            model.predict_interval(X, confidence=confidence),
        )
    assert loaded.knows_groups([0, 60]).tolist() == [True, False]
    assert loaded.calibration_cells() == []
    for name, value, message in (
        ("weights_", None, "thresholds"),
        ("thresholds_", np.zeros(1), "not those of its scores"),
        ("exchangeable_", "rows", "groups do not fit"),
    ):
        setattr(loaded, name, value)
        with pytest.raises(TypeError, match=message):
            corollary.save(loaded, tmp_path / "forged")
        setattr(loaded, name, getattr(model, name))


def test_former_files_have_exchangeable_rows():
    model = corollary.load(FILES / "regressor-absolute.corollary")
    assert model.exchangeable_ == "rows"
    assert len(model.calibration_cells()) == 1
    assert model.knows_groups([1]) is None


def test_a_search_routes_groups_to_folds_and_wrapper(seed):
    X, y, g = owners(np.random.default_rng(seed), 80)
    with config_context(enable_metadata_routing=True):
        model = SplitConformalRegressor(Ridge(), random_state=0).set_fit_request(groups=True)
        search = GridSearchCV(model, {"estimator__alpha": [0.1, 1.0]}, cv=GroupKFold(2))
        best = search.fit(X, y, groups=g).best_estimator_
        assert best.exchangeable_ == "groups"
        assert best.knows_groups(g).all()
        weighted = SplitConformalRegressor(Ridge().set_fit_request(sample_weight=True))
        assert weighted.fit(X, y, np.ones(len(y)), groups=g).exchangeable_ == "groups"


def test_sets_and_intervals_of_predictions_are_their_quantiles(seed):
    rng = np.random.default_rng(seed)
    X, y, g = owners(rng, 30, rng.integers(1, 9, size=30))
    difficulty = learn_difficulty(X, y, X[:, 0])
    learnt = calibrate_intervals(difficulty, X[:, 0], X, y, X[:, 0], 0.9, groups=g)
    scores = np.abs(y - X[:, 0]) / difficulty.difficulty(X, X[:, 0])
    assert learnt.thresholds.tolist() == [hierarchical_quantile(scores, g, 0.9)]
    probability = rng.dirichlet(np.ones(3), size=len(y))
    labels = rng.integers(3, size=len(y))
    scores = 1 - probability[np.arange(len(y)), labels]
    sets = calibrate_sets(probability, labels, 0.9, groups=[f"owner {k}" for k in g])
    assert sets.threshold == pytest.approx(hierarchical_quantile(scores, g, 0.9))
    few = calibrate_sets(probability[g < 8], labels[g < 8], 0.9, groups=g[g < 8])
    assert few.threshold == np.inf


@pytest.mark.parametrize(("n_groups", "n_bands"), [(9, 1), (53, 1), (54, 2), (135, 5), (400, 5)])
def test_bands_have_enough_groups(n_groups, n_bands, seed):
    """Groups that each lie in one band are the hardest to share out."""
    rng = np.random.default_rng(seed)
    g = np.repeat(np.arange(n_groups), 20)
    x = rng.normal(size=n_groups)[g] + 0.01 * rng.normal(size=len(g))
    y = x + rng.normal(size=len(g))
    difficulty = learn_difficulty(x[:, None], y, x)
    learnt = calibrate_intervals(difficulty, x, x[:, None], y, x, 0.9, groups=g)
    assert len(learnt.thresholds) == n_bands
    assert np.isfinite(learnt.thresholds).all()
    assert len(calibrate_intervals(difficulty, x, x[:, None], y, x, 0.9).thresholds) == min(
        5, len(g) // 100
    )


@pytest.mark.parametrize("n_groups", [9, 60])
def test_intervals_of_predictions_cover_new_groups(n_groups, seed):
    rng = np.random.default_rng(seed)
    missed = 0
    Z, w, _ = owners(rng, 100)
    difficulty = learn_difficulty(Z, w, Z[:, 0])
    for _ in range(200):
        X, y, g = owners(rng, n_groups + 1, rng.integers(1, 9, size=n_groups + 1), effect=3.0)
        old, new = g < n_groups, np.flatnonzero(g == n_groups)
        row = new[[rng.integers(len(new))]]
        learnt = calibrate_intervals(
            difficulty, Z[:, 0], X[old], y[old], X[old, 0], 0.8, groups=g[old]
        )
        low, high = learnt.intervals(X[row], X[row, 0])
        missed += int(not low[0] <= y[row][0] <= high[0])
    assert_bound_holds(missed, 200, 0.2)


@pytest.mark.parametrize("sizes", ["all 6", "1 to 200"])
@pytest.mark.parametrize("n_groups", [9, 20, 40])
def test_mean_coverage_as_published_simulations_have_it(sizes, n_groups, seed):
    """Nearly 1 - alpha + alpha / (K + 1) at most where rows of a group are alike."""
    rng = np.random.default_rng(seed)
    hits, alike = 0, 0
    for _ in range(300):
        m = np.full(n_groups + 1, 6)
        if sizes == "1 to 200":
            m = np.exp(rng.uniform(0, np.log(201), size=n_groups + 1)).astype(int)
        g = np.repeat(np.arange(n_groups + 1), m)
        effect = rng.normal(size=n_groups + 1)
        scores = np.abs(effect[g] + rng.normal(size=len(g)))
        old = g < n_groups
        hits += rng.choice(scores[~old]) <= hierarchical_quantile(scores[old], g[old], 0.9)
        alike += abs(effect[-1]) <= hierarchical_quantile(np.abs(effect[g[old]]), g[old], 0.9)
    assert_bound_holds(300 - hits, 300, 0.1)
    # Rows that all equal their group's effect leave no slack: coverage is that of K scores.
    rank = int(np.ceil((n_groups + 1) * 0.9 - 1e-9))
    assert_share_equals(alike, 300, rank / (n_groups + 1))


def test_no_warning_where_there_is_enough():
    X, y, g = owners(np.random.default_rng(0), 40)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SplitConformalRegressor(LinearRegression(), random_state=0).fit(X, y, groups=g)
