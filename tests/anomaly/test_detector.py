"""The detector: p-values, thresholds, weights, gaps, tables, sources, files, bad input."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import corollary
from corollary.anomaly import AnomalyDetector, Discoveries, PCAMixture, tail_p_values
from corollary.conformal import conformal_p_values, conformal_quantile, weighted_selection
from corollary.core.simulate import assert_bound_holds
from corollary.representation import TableEncoder
from corollary.validation import benjamini_hochberg

NAMES = ["mixture", "pca-mixture", "mahalanobis", "reconstruction", "clusters", "density"]


@pytest.fixture
def X(seed):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(300, 4)) @ rng.normal(size=(4, 4)) + 50.0


def test_some_rows_fit_and_the_others_calibrate(X):
    model = AnomalyDetector("mahalanobis", calibration_size=0.3, random_state=0).fit(X)
    assert len(model.calibration_indices_) == len(model.calibration_scores_) == 90
    inside = np.delete(X, model.calibration_indices_, axis=0)
    alone = AnomalyDetector("mahalanobis", calibration_size=0, random_state=1).fit(inside)
    np.testing.assert_array_equal(alone.score_samples(X), model.score_samples(X))
    np.testing.assert_array_equal(
        model.calibration_scores_, -model.score_samples(X[model.calibration_indices_])
    )
    new = X[:20] + 3
    truth = conformal_p_values(model.calibration_scores_, -model.score_samples(new))
    np.testing.assert_array_equal(model.p_values(new), truth)


def test_prediction_is_one_threshold(X):
    model = AnomalyDetector(false_alarm_rate=0.1, random_state=0).fit(X)
    assert -model.offset_ == conformal_quantile(model.calibration_scores_, 0.9)
    new = np.vstack([X, X + 5])
    called = model.predict(new) == -1
    np.testing.assert_array_equal(called, model.p_values(new) <= 0.1 + 1e-12)
    decision = model.decision_function(new)
    np.testing.assert_array_equal(decision, model.score_samples(new) - model.offset_)
    np.testing.assert_array_equal(called, decision < 0)


@pytest.mark.parametrize("contamination", [0.01, 0.1, 0.5])
def test_contamination_is_a_share_of_the_training_rows(X, contamination):
    model = AnomalyDetector(contamination=contamination, random_state=0).fit(X)
    assert (model.predict(X) == -1).sum() == int(300 * contamination)
    weights = np.ones(300)
    weights[:100] = 3.0
    model.fit(X, sample_weight=weights)
    called = model.predict(X) == -1
    assert weights[called].sum() <= 500 * contamination < weights[called].sum() + 3


def test_weights_count_like_copies(X):
    weights = np.arange(300) % 3
    whole = {"calibration_size": 0.0, "random_state": 0}
    a = AnomalyDetector("mahalanobis", **whole).fit(X, sample_weight=weights)
    b = AnomalyDetector("mahalanobis", **whole).fit(np.repeat(X, weights, axis=0))
    np.testing.assert_allclose(a.score_samples(X), b.score_samples(X), rtol=1e-9)
    a.calibrate(X, sample_weight=weights)
    b.calibrate(np.repeat(X, weights, axis=0))
    np.testing.assert_allclose(a.p_values(X + 1), b.p_values(X + 1), rtol=1e-9)
    assert a.offset_ == pytest.approx(b.offset_)
    c = AnomalyDetector(random_state=0).fit(X, sample_weight=weights)
    assert not (weights[c.calibration_indices_] == 0).any()
    assert len(c.calibration_scores_) == 100


def test_level_is_an_argument_of_predict(X):
    model = AnomalyDetector(random_state=0).fit(X)
    new = np.vstack([X[:30], X[:10] + 40])
    for level in (0.05, 0.2):
        found = model.discover(new, level=level)
        truth = benjamini_hochberg(model.p_values(new)) <= level * (1 + 1e-12)
        np.testing.assert_array_equal(found.called, truth)
        np.testing.assert_array_equal(model.predict(new, level=level) == -1, truth)
    assert set(range(30, 40)) <= set(found.rows)
    assert (np.diff(found.scores[found.rows]) <= 0).all()


def test_known_density_ratio(X):
    model = AnomalyDetector(random_state=0).fit(X)
    new = np.vstack([X[:30], X[:10] + 40])
    old_ratio, ratio = np.exp(0.1 * X[model.calibration_indices_, 0]), np.exp(0.1 * new[:, 0])
    ratios = {"density_ratio": ratio, "calibration_ratio": old_ratio}
    scores = -model.score_samples(new)
    weights = {"weights": old_ratio, "new_weights": ratio}
    truth = conformal_p_values(model.calibration_scores_, scores, **weights)
    np.testing.assert_array_equal(model.p_values(new, **ratios), truth)
    chosen = weighted_selection(model.calibration_scores_, scores, 0.3, **weights)
    np.testing.assert_array_equal(model.discover(new, level=0.3, **ratios).called, chosen)
    with pytest.raises(ValueError, match="give both"):
        model.p_values(new, density_ratio=ratio)
    with pytest.raises(ValueError, match="each of 150 calibration rows"):
        model.p_values(new, density_ratio=ratio, calibration_ratio=[1.0])


def test_too_few_calibration_rows_call_nobody(X):
    model = AnomalyDetector("mahalanobis", calibration_size=0.4, random_state=0).fit(X[:20])
    assert model.offset_ == -np.inf
    with pytest.warns(UserWarning, match="8 calibration rows are too few .* takes 19. Fit or"):
        assert (model.predict(X + 1e6) == 1).all()
    for n, called in ((45, False), (48, True)):  # 18 and 19 calibration rows
        enough = AnomalyDetector("mahalanobis", calibration_size=0.4, random_state=0).fit(X[:n])
        with warnings.catch_warnings():
            warnings.simplefilter("error" if called else "ignore")
            assert (enough.predict(X + 1e6) == (-1 if called else 1)).all()
    found = model.discover(X[:3] + 1e6, level=0.05)
    assert not found.called.any()
    assert found.fewest == 7  # of 3 rows, at p = 1 / 9
    assert found.rows_missing == 59 - 8
    assert "No row can be called" in str(found)
    assert "With 51 more" in str(found)
    # Three rows at p = 1 / 9 each pass at level 1 / 9, and no earlier.
    assert model.discover(X[:3] + 1e6, level=1 / 9).called.all()


def test_sentences():
    scores, p = np.array([1.0, 9.0, 3.0]), np.array([0.9, 0.01, 0.3])
    assert str(Discoveries(scores, p, 0.1, 99, 0.01)).startswith("1 of 3 row is unusual, at a")
    plenty = Discoveries(scores, p, 0.1, 99, 0.01)
    assert (plenty.fewest, plenty.rows_missing) == (1, 0)
    two = Discoveries(scores, np.array([0.9, 0.01, 0.01]), 0.1, 99, 0.01)
    assert str(two).startswith("2 of 3 rows are")
    assert two.rows.tolist() == [1, 2]
    assert str(Discoveries(scores, np.full(3, 0.9), 0.1, 99, 0.01)).endswith("rate of 10%.")
    some = Discoveries(scores, np.full(3, 0.9), 0.1, 19, 0.05)
    assert (some.fewest, some.rows_missing) == (2, 10)
    assert "Fewer than 2 unusual rows among 3" in str(some)
    assert "1 calibration row is too few" in str(Discoveries(scores, np.full(3, 0.9), 0.1, 1, 0.5))
    assert "ever more slowly" in str(Discoveries(scores, np.full(3, 0.9), 0.1, 3, 0.3, None, 1e-4))
    assert some.to_frame()["row"].tolist() == [1, 2, 0]
    assert "<table>" in some._repr_html_()


def test_rows_among_themselves_are_called_with_their_assumption(seed):
    """Stated figures: a constant rate leaves no room for the models of the folds."""
    rng, trials = np.random.default_rng(seed), 80
    model, some = AnomalyDetector("mahalanobis", random_state=0), 0
    for _ in range(trials):
        some += model.fit_discover(rng.laplace(size=(40, 1)), level=0.1).called.any()
    assert_bound_holds(int(some), trials, 0.2)
    found = model.fit_discover(np.append(rng.normal(size=100), 40.0)[:, None])
    assert str(found).endswith("10%, if distances thin out at a rate that does not fall.")
    assert "if distances" not in str(model.discover([[40.0]] * 8))


@pytest.mark.parametrize("n", [40, 200])
def test_own_rows_are_found_at_the_rate(n, seed):
    rng, trials, level = np.random.default_rng([seed, n]), 60, 0.2
    false, any_false, power = 0.0, 0, 0.0
    for _ in range(trials):
        X = rng.normal(size=(n, 3))
        planted = np.arange(n) < n // 20
        X[planted] += 14 * rng.choice([-1, 1], size=(planted.sum(), 3))
        model = AnomalyDetector("mahalanobis", random_state=int(rng.integers(1000)))
        called = model.fit_discover(X, level=level).called
        false += (called & ~planted).sum() / max(1, called.sum()) / trials
        power += (called & planted).sum() / planted.sum() / trials
        clean = model.fit_discover(X[~planted], level=level)
        any_false += bool(clean.called.any())
    assert false <= level
    assert_bound_holds(any_false, trials, level)
    assert power > 0.5


def test_own_rows_equal_their_definition(seed):
    X = np.random.default_rng(seed).normal(size=(60, 3))
    X[7] += 20
    model = AnomalyDetector("mahalanobis", random_state=0)
    found = model.fit_discover(X, cv=3)
    folds = np.random.RandomState(0).permutation(60) % 3
    scores = np.empty(60)
    for fold in range(3):
        part = AnomalyDetector("mahalanobis", calibration_size=0.0).fit(X[folds != fold])
        scores[folds == fold] = -part.score_samples(X[folds == fold])
    np.testing.assert_allclose(found.scores, scores)
    p_values, assumption = tail_p_values(np.sqrt(scores - scores.min()))
    np.testing.assert_allclose(found.p_values, p_values)
    assert found.assumption == pytest.approx(assumption)
    assert (found.least, found.n_calibration, found.rows.tolist()) == (0.0, 60, [7])
    assert found.rows_missing == 0
    by_distance = AnomalyDetector("clusters", random_state=0).fit_discover(X, cv=3)
    np.testing.assert_allclose(by_distance.p_values, tail_p_values(by_distance.scores).p_values)


def test_own_rows_by_ranks_call_nobody_where_tails_are_heavy(seed):
    X = np.random.default_rng(seed).standard_cauchy(size=(600, 2))
    found = AnomalyDetector("mahalanobis", random_state=0).fit_discover(X)
    assert found.refuted
    assert not found.called.any()
    np.testing.assert_allclose(np.sort(found.p_values), np.arange(1, 601) / 600)


def test_gaps_are_filled_by_what_the_row_says(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(500, 1)) + 0.3 * rng.normal(size=(500, 3))
    gaps = X.copy()
    gaps[rng.random(X.shape) < 0.1] = np.nan
    model = AnomalyDetector("mahalanobis", random_state=0).fit(gaps)
    row = np.array([[2.0, np.nan, 2.0], [2.0, np.nan, -2.0]])
    p = model.p_values(row)
    assert p[0] > 0.05
    assert p[1] < 0.02
    np.testing.assert_allclose(model.contributions(row)[:, 1], 0, atol=0.05)
    complete = AnomalyDetector("mahalanobis", random_state=0).fit(X)
    assert complete.p_values(row)[1] < 0.02
    # The distance of a filled row is that of the columns that it has.
    S, m = complete.measure_.covariance, complete.measure_.mean
    z = ((row - complete.centre_) / complete.scale_ - m)[0, [0, 2]]
    half = 0.5 * z @ np.linalg.solve(S[np.ix_([0, 2], [0, 2])], z)
    assert -complete.score_samples(row)[0] == pytest.approx(half, rel=0.02)
    empty = gaps.copy()
    empty[:, 1] = np.nan
    with pytest.raises(ValueError, match="Column 1 has none"):
        AnomalyDetector().fit(empty)


def table(rng, n=400):
    return pd.DataFrame(
        {
            "size": rng.normal(size=n),
            "price": rng.gamma(2, size=n),
            "colour": rng.choice(["red", "green", "blue"], n),
        }
    )


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_tables_with_categories(library, seed):
    rng = np.random.default_rng(seed)
    frame = table(rng)
    frame.loc[::9, "size"] = np.nan
    new = frame[:4].copy()
    new.loc[0, "price"] = 80.0
    rows, asked = library(frame), library(new)
    model = AnomalyDetector(random_state=0).fit(rows)
    assert list(model.feature_names_in_) == list(frame.columns)
    assert model.p_values(asked)[0] < 0.01
    found = model.contributions(asked)
    assert found.shape == (4, 3)
    assert found[0].argmax() == 1
    inner = model.measure_.contributions(model._preparation.rows(asked))
    np.testing.assert_allclose(found.sum(axis=1), inner.sum(axis=1))
    inside = np.setdiff1d(np.arange(400), model.calibration_indices_)
    encoder = TableEncoder().fit(frame.iloc[inside])
    np.testing.assert_array_equal(model.encoder_.transform(new), encoder.transform(new))
    weighted = AnomalyDetector(random_state=0).fit(rows, sample_weight=np.arange(400) % 2)
    assert len(weighted.calibration_scores_) == 100


@pytest.mark.parametrize("measure", ["mixture", "mahalanobis", "reconstruction", "clusters"])
@pytest.mark.parametrize("weighted", [False, True])
def test_sources_have_the_bits_of_memory(measure, weighted, seed, monkeypatch):
    monkeypatch.setattr("corollary.core.summary.summary.BLOCK_BYTES", 2**14)
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(2000, 4)) @ rng.normal(size=(4, 4)) + 9
    w = rng.integers(0, 3, size=2000) + 0.0
    options = {"contamination": 0.1, "random_state": 0}
    memory = AnomalyDetector(measure, calibration_size=0.0, **options)
    memory.fit(X, sample_weight=w if weighted else None)
    parts = [(X[:700], None, w[:700]), (X[700:], None, w[700:])]
    chunks = parts if weighted else [part[:1] for part in parts]
    model = AnomalyDetector(measure, **options).fit_source(chunks)
    np.testing.assert_array_equal(model.score_samples(X), memory.score_samples(X))
    assert model.offset_ == memory.offset_
    assert (model.p_values(X) == 1).all()
    assert len(model.calibrate(X[:99]).calibration_scores_) == 99
    assert model.offset_ == memory.offset_
    assert model.p_values(X + 99).max() == 0.01


@pytest.mark.parametrize("measure", NAMES)
def test_files_and_new_bits(measure, X, tmp_path):
    model = AnomalyDetector(measure, random_state=0).fit(X)
    corollary.save(model, tmp_path / "model.corollary")
    loaded = corollary.load(tmp_path / "model.corollary")
    np.testing.assert_array_equal(loaded.p_values(X), model.p_values(X))
    np.testing.assert_array_equal(loaded.contributions(X), model.contributions(X))


@pytest.mark.parametrize("measure", ["mixture", "mahalanobis", "clusters"])
def test_hard_rows(measure, seed):
    rng = np.random.default_rng(seed)
    wide, flat = rng.normal(size=(30, 60)), rng.normal(size=(60, 3))
    flat[:, 1] = 7.0
    for X in (wide, flat, np.repeat(flat, 2, axis=0)):
        model = AnomalyDetector(measure, random_state=0).fit(X)
        assert np.isfinite(model.score_samples(X)).all()
        assert np.isfinite(model.contributions(X)).all()
    moved = flat[:1] + [[0.0, 10.0, 0.0]]  # a column that never moved
    assert AnomalyDetector("mahalanobis", random_state=0).fit(flat).p_values(moved)[0] < 0.1


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_equal_rows_are_normal_and_others_not():
    model = AnomalyDetector("mahalanobis", random_state=0).fit(np.ones((40, 2)))
    assert model.p_values([[1.0, 1.0], [1.0, 2.0]]).tolist() == [1.0, 1 / 21]


@pytest.mark.parametrize(
    ("options", "rows", "message"),
    [
        ({}, np.ones((1, 2)), "n_samples=1"),
        ({}, [[1.0, np.inf]] * 9, "infinity"),
        ({"contamination": 0.6}, np.eye(5), "contamination"),
        ({"contamination": 0.0}, np.eye(5), "contamination"),
        ({"calibration_size": 1.0}, np.eye(5), "calibration_size"),
        ({"false_alarm_rate": 0.0}, np.eye(5), "false_alarm_rate"),
        ({"measure": "nonsense"}, np.eye(5), "measure"),
        ({"calibration_size": 0.9}, np.eye(5), "at least 2 rows"),
    ],
)
def test_bad_input(options, rows, message):
    with pytest.raises(ValueError, match=message):
        AnomalyDetector(**options).fit(rows)


def test_bad_weights_and_levels(X):
    with pytest.raises(ValueError, match="non-zero"):
        AnomalyDetector().fit(X, sample_weight=np.zeros(300))
    with pytest.raises(ValueError, match="at least 2 rows of positive weight"):
        AnomalyDetector().fit(X, sample_weight=np.arange(300) < 1)
    model = AnomalyDetector(random_state=0).fit(X)
    for level in (0.0, 1.0, -0.1, 2.0):
        with pytest.raises(ValueError, match="level"):
            model.predict(X, level=level)
    with pytest.raises(ValueError, match="Negative"):
        model.calibrate(X, sample_weight=-np.ones(300))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda model, X: model.predict(X, level=1.0), r"'level' .* of AnomalyDetector.predict "),
        (lambda model, X: model.discover(X, level="a"), r"'level' .* of AnomalyDetector.discover "),
        (lambda model, X: model.fit_discover(X, level=0), r"of AnomalyDetector.fit_discover "),
        (lambda model, X: model.fit_discover(X, cv=1), r"'cv' .* of AnomalyDetector.fit_discover "),
        (lambda model, X: model.fit_discover(X, cv=2.5), r"'cv' parameter"),
        (lambda model, X: clone(model).set_params(measure=3).fit_discover(X), r"'measure'"),
    ],
)
def test_refusals_name_what_was_called(call, message, X):
    with pytest.raises(ValueError, match=message):
        call(AnomalyDetector(random_state=0).fit(X), X)


@pytest.mark.parametrize("measure", NAMES)
@pytest.mark.parametrize("standardize", [False, True])
def test_rows_beyond_all_numbers_are_as_unusual_as_can_be(measure, standardize, X):
    model = AnomalyDetector(measure, standardize=standardize, random_state=0).fit(X)
    far = np.sign(X[:3]) * 1e200
    np.testing.assert_array_equal(model.p_values(far), 1 / 151)
    far[:, 0] = np.nan
    np.testing.assert_array_equal(model.p_values(far), 1 / 151)
    assert np.isfinite(model.contributions(far)).all()


@pytest.mark.parametrize("measure", ["density", "one-class", "mahalanobis", "mixture"])
def test_no_column_of_equal_rows_contributes(measure):
    model = AnomalyDetector(measure, random_state=0).fit(np.ones((40, 3)))
    np.testing.assert_array_equal(model.contributions(np.ones((2, 3))), 0.0)


def test_infinite_scores_beyond_an_infinite_threshold_are_not_called(X):
    from corollary.anomaly import ModelScore
    from corollary.density import KernelDensity

    score = ModelScore(KernelDensity(kernel="tophat", bandwidth=1.0))
    model = AnomalyDetector(score, random_state=0).fit(X[:20])
    assert model.decision_function(X[:1] + 1e3).tolist() == [0.0]
    with pytest.warns(UserWarning, match="10 calibration rows are too few"):
        assert model.predict(X[:1] + 1e3).tolist() == [1]


def test_same_seed_same_bits_and_templates_stay_as_they_were(X):
    score = PCAMixture(2)
    a, b = (AnomalyDetector(score, random_state=3).fit(X) for _ in range(2))
    np.testing.assert_array_equal(a.p_values(X), b.p_values(X))
    assert score.pca is None


@pytest.mark.parametrize("method", ["calibrate", "contributions", "discover", "p_values"])
def test_an_unfitted_detector_says_so(method, X):
    with pytest.raises(NotFittedError):
        getattr(AnomalyDetector(), method)(X)
