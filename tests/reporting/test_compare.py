"""Cross-validated comparison: pairing, correction, choice."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from corollary.reporting.models._candidates import (
    Situation,
    candidates,
    fitted_size,
    is_skewed,
    register_candidate,
    skewness,
)
from corollary.reporting.models._compare import (
    as_candidates,
    choose,
    compare,
)
from corollary.reporting.models._predictor import baseline, retransformation_factor
from corollary.reporting.models._trials import (
    Trial,
    encode_folds,
    fit_predictor,
    out_of_bag_losses,
    run_trial,
)
from corollary.reporting.table._split import as_folds
from corollary.representation import ColumnTable, TableEncoder
from corollary.validation import cross_validated_error
from corollary.validation import log_score as log_loss


def _encode(frame, y, folds):
    encoder = TableEncoder(target="classes")
    return encode_folds(ColumnTable.of(frame), y, as_folds(folds), encoder)


def _situation(task="classification", **changes):
    settings = {
        "task": task,
        "n": 200,
        "d": 2,
        "n_classes": 2 if task == "classification" else 0,
        "log": False,
        "severe": False,
        "seed": 0,
        "fast": True,
    }
    return Situation(**{**settings, **changes})


def _data(n=200, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"a": rng.normal(size=n), "b": rng.normal(size=n)})
    y = (frame["a"].to_numpy() + 0.5 * rng.normal(size=n) > 0).astype(int)
    return frame, y, np.arange(n) % 5


def _trial(loss, name="t", entries=()):
    return Trial(name, name, "", entries, np.zeros(len(loss)), np.asarray(loss, float), 0.0)


def test_every_row_is_predicted_by_a_model_that_never_saw_it():
    frame, y, folds = _data()
    situation = _situation()
    (entry,) = candidates(situation)
    encoded = encode_folds(
        ColumnTable.of(frame), y, as_folds(folds), TableEncoder(target="classes")
    )
    trial = run_trial(
        (entry,), encoded, y, situation, log_loss, name="l", label="l", description=""
    )
    for k in range(5):
        held, rest = folds == k, folds != k
        encoder = TableEncoder(target="classes").fit(frame[rest], y[rest])
        alone = fit_predictor((entry,), situation, encoder.transform(frame[rest]), y[rest])
        expected = alone.predict_proba(encoder.transform(frame[held]))
        np.testing.assert_allclose(trial.prediction[held], expected, atol=1e-10)
    np.testing.assert_allclose(trial.loss, -np.log(trial.prediction[np.arange(200), y]))


def test_signal_is_chosen_and_noise_is_not():
    frame, y, folds = _data()
    situation = _situation()
    encoded = encode_folds(
        ColumnTable.of(frame), y, as_folds(folds), TableEncoder(target="classes")
    )
    trials = compare(candidates(situation), encoded, y, situation, log_loss)
    assert choose(trials, 5).name == "logistic"
    noise = np.random.default_rng(1).integers(0, 2, 200)
    encoded = encode_folds(
        ColumnTable.of(frame), noise, as_folds(folds), TableEncoder(target="classes")
    )
    trials = compare(candidates(situation), encoded, noise, situation, log_loss)
    assert choose(trials, 5) is trials[0]


def test_the_rule_guessing_stands_within_one_standard_error():
    rng = np.random.default_rng(0)
    guess = _trial(np.ones(400), "guess")
    gains = rng.normal(size=400)
    gains -= gains.mean()
    error = cross_validated_error(gains, 5)
    assert choose([guess, _trial(1 - gains - 0.9 * error)], 5) is guess
    better = _trial(1 - gains - 1.1 * error)
    assert choose([guess, better], 5) is better
    failed = _trial(np.full(400, np.inf))
    failed = replace(failed, error="it failed")
    assert choose([guess, failed, better], 5) is better


def test_the_rule_counts_units():
    rng = np.random.default_rng(0)
    units = np.repeat(np.arange(20), 20)
    gains = rng.normal(size=20)
    gains = (gains - gains.mean())[units]
    error = cross_validated_error(gains, 5)
    guess, better = _trial(np.ones(400), "guess"), _trial(1 - gains - 2 * error)
    assert choose([guess, better], 5) is better  # as if 400 rows said so, and not 20 owners
    assert choose([guess, better], 5, units) is guess
    described = as_candidates([guess, better], better, 5, 0.95, units)
    assert described[0].versus_baseline.n == 20


def test_candidates_are_described_against_the_chosen_and_the_baseline():
    rng = np.random.default_rng(0)
    guess = _trial(2 + rng.normal(size=100), "guess")
    good = _trial(1 + rng.normal(size=100), "good")
    twin = _trial(good.loss + 0.01 * rng.normal(size=100) + 0.002, "twin")
    failed = _trial(np.full(100, np.inf), "failed")
    failed = replace(failed, error="it failed")
    described = as_candidates([guess, twin, good, failed], good, 5, 0.95)
    assert [c.name for c in described] == ["good", "twin", "failed", "guess"]
    by_name = {c.name: c for c in described}
    assert by_name["good"].chosen
    assert by_name["good"].versus_chosen.value == 0
    assert by_name["twin"].indistinguishable
    assert not by_name["guess"].indistinguishable
    assert by_name["guess"].baseline
    assert by_name["good"].versus_baseline.value == pytest.approx((good.loss - guess.loss).mean())
    assert by_name["failed"].error == "it failed"
    assert all(c.loss.low >= 0 for c in described if not c.error)


def test_a_candidate_that_fails_does_not_take_the_others_with_it():
    frame, y, folds = _data()

    @register_candidate("broken", "broken", "", tasks=("classification",))
    def broken(situation, X, y):
        raise ValueError("it cannot be fitted\nat all")

    try:
        situation = _situation()
        encoded = encode_folds(
            ColumnTable.of(frame), y, as_folds(folds), TableEncoder(target="classes")
        )
        trials = compare(candidates(situation), encoded, y, situation, log_loss)
    finally:
        from corollary.reporting.models._candidates import _ENTRIES

        del _ENTRIES["broken", "classification"]
    assert {t.name: t.error for t in trials} == {
        "baseline": "",
        "logistic": "",
        "broken": "ValueError: it cannot be fitted",
    }


#: What takes part is stated here; a kind that came later states it in a test of its own.
FIRST_KINDS = {
    *("logistic", "sparse-logistic", "ridge", "lasso", "process", "forest", "machine", "waves"),
    *("boosting", "network"),
}


def test_what_takes_part():
    def names(situation):
        listed = [entry.name for entry in candidates(situation)]
        return [name for name in listed if name.removesuffix("-log") in FIRST_KINDS]

    assert names(_situation(fast=False)) == ["logistic", "sparse-logistic", "process", "forest"]
    assert names(_situation("regression", fast=False)) == ["ridge", "lasso", "process", "forest"]
    some = {"fast": False, "n": 3_000}
    most = ["forest", "machine", "boosting", "network"]
    assert names(_situation(**some)) == ["logistic", "sparse-logistic", *most]
    assert names(_situation("regression", **some)) == ["ridge", "lasso", *most]
    log = names(_situation("regression", log=True, **some))
    assert log == ["ridge-log", "ridge", "lasso-log", *(f"{name}-log" for name in most)]
    many = {"fast": False, "n": 30_000}
    assert names(_situation("regression", **many)) == [
        "ridge",
        "lasso",
        "forest",
        "waves",
        *most[2:],
    ]
    assert names(_situation("regression", log=True)) == ["ridge-log", "ridge"]
    assert names(_situation("regression", n=3_000)) == ["ridge", "boosting"]


def test_size_counts_the_numbers_that_were_learnt():
    from corollary.ensemble import RandomForestRegressor
    from corollary.linear import LassoCV, Ridge
    from corollary.neighbors import KNeighborsRegressor

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.uniform(1, 2, 60)
    assert fitted_size(Ridge().fit(X, y), ("coef_", "intercept_")) == 4
    zeros = LassoCV(cv=3).fit(np.column_stack([X[:, 0], X[:, 0] * 0]), X[:, 0])
    assert fitted_size(zeros, ("coef_", "intercept_")) == 2
    forest = RandomForestRegressor(5, random_state=0).fit(X, y)
    # A tree with k leaves has 2k - 1 nodes with a mean each, and k - 1 of them split a column.
    leaves = [len(np.unique(tree.apply(X))) for tree in forest.estimators_]
    by_hand = sum(3 * k - 2 for k in leaves)
    assert fitted_size(forest, ("trees_.value", "trees_.feature")) == by_hand
    # A candidate that names nothing is counted by the real numbers that it holds.
    assert fitted_size(KNeighborsRegressor().fit(X, y)) == X.size + y.size
    with pytest.raises(AttributeError, match="weights_"):
        fitted_size(forest, ("weights_",))


def test_skewness():
    rng = np.random.default_rng(0)
    assert skewness(rng.exponential(size=100_000)) == pytest.approx(2.0, abs=0.15)
    assert is_skewed(rng.lognormal(size=1000))
    assert not is_skewed(rng.normal(10, 1, size=1000))
    assert not is_skewed(rng.lognormal(size=1000) - 0.1)


def test_a_rare_class_keeps_its_share_where_it_was_not_trained_on():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 2)), np.repeat([0, 2], 50)
    situation = _situation(n_classes=3)
    predictor = fit_predictor(candidates(situation), situation, X, y)
    probability = predictor.predict_proba(X)
    np.testing.assert_allclose(probability.sum(axis=1), 1)
    np.testing.assert_allclose(probability[:, 1], 1 / 103, rtol=1e-3)
    one = fit_predictor(candidates(situation), situation, X, np.zeros(100, int))
    assert one.estimators == ()


@pytest.mark.parametrize(
    "counts", [(40, 3), (40, 2, 2), (40, 1, 1), (20, 20, 1), (3, 3, 3), (2, 1)]
)
def test_logistic_regression_survives_rare_classes(counts):
    y = np.repeat(np.arange(len(counts)), counts)
    X = np.random.default_rng(0).normal(size=(len(y), 2))
    situation = _situation(n_classes=len(counts))
    predictor = fit_predictor(candidates(situation), situation, X, y)
    assert np.isfinite(predictor.predict_proba(X)).all()


def test_the_baseline_is_the_best_constant():
    y = np.array([0, 0, 0, 1])
    np.testing.assert_allclose(baseline(y, 2, 1).predict_proba(np.zeros((1, 1))), [[4 / 6, 2 / 6]])
    numbers = np.array([1.0, 2.0, 9.0])
    assert baseline(numbers, 0, 1).predict(np.zeros((2, 1))).tolist() == [4.0, 4.0]
    logs = baseline(numbers, 0, 1, log=True).predict(np.zeros((1, 1)))
    assert logs == pytest.approx(18 ** (1 / 3))


def test_log_scale_predictions_estimate_the_mean():
    rng = np.random.default_rng(0)
    x = rng.normal(size=20_000)
    y = np.exp(1 + 0.5 * x + 0.6 * rng.normal(size=20_000))
    factor = retransformation_factor(y, 1 + 0.5 * x)
    # E[exp(0.6 Z)] = exp(0.18)
    assert factor == pytest.approx(np.exp(0.18), rel=0.02)


def test_averages_are_means_of_predictions():
    situation = _situation("regression")
    (entry,) = candidates(situation)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 2)), rng.normal(size=50)
    one = fit_predictor((entry,), situation, X, y)
    two = replace(
        one,
        estimators=one.estimators * 2,
        logs=np.array([False, True]),
        factors=np.array([1.0, 3.0]),
        limits=np.array([2.0, 4.0]),
    )
    raw = one.predict(X)
    np.testing.assert_allclose(two.predict(X), (raw + np.clip(3 * np.exp(raw), 2, 4)) / 2)
    assert two.predict(X[:0]).shape == (0,)


def test_weights_of_a_mean():
    situation = _situation("regression")
    (entry,) = candidates(situation)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 2)), rng.normal(size=50)
    one = fit_predictor((entry,), situation, X, y)
    two = fit_predictor((entry, entry), situation, X, y, np.array([0.25, 0.75]))
    np.testing.assert_allclose(two.predict(X), one.predict(X))
    raw = [np.array([1.0]), np.array([5.0])]
    np.testing.assert_allclose(two.combine(raw), [4.0])


def test_out_of_bag_losses_are_those_of_trees_that_have_not_drawn_a_row():
    situation = _situation(fast=False)
    entry = next(e for e in candidates(situation) if e.name == "forest")
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 3)), rng.integers(0, 2, 120)
    predictor = fit_predictor((entry,), situation, X, y)
    losses = out_of_bag_losses(predictor, y, log_loss)
    (forest,) = predictor.estimators
    drawn = np.array([np.bincount(rows, minlength=120) > 0 for rows in forest.estimators_samples_])
    answers = np.array([tree.predict_proba(X)[:, 1] for tree in forest.estimators_])
    by_hand = np.array([answers[~drawn[:, i], i].mean() for i in range(120)])
    given = np.clip(np.where(y == 1, by_hand, 1 - by_hand), 1e-6, 1 - 1e-6)
    np.testing.assert_allclose(losses, -np.log(given), atol=1e-5)
    # Labels are coin flips: trees that have drawn a row know its label, the others do not.
    assert losses.mean() > 1.5 * log_loss(y, predictor.predict_proba(X)).mean()
    ridge = fit_predictor(
        candidates(_situation("regression")), _situation("regression"), X, y * 1.0
    )
    assert len(out_of_bag_losses(ridge, y * 1.0, log_loss)) == 0


def test_a_comparison_of_some_models_is_gone_on_from_as_if_all_were_compared_at_once():
    frame, y, fold = _data()
    folds, situation = _encode(frame, y, fold), _situation(fast=False)
    entries = [e for e in candidates(situation) if e.name in ("logistic", "forest")]
    assert len(entries) == 2
    first = compare(entries[:1], folds, y, situation, log_loss)
    went_on = compare(entries, folds, y, situation, log_loss, first)
    assert all(a is b for a, b in zip(went_on, first))  # what is ready is not run again
    at_once = compare(entries, folds, y, situation, log_loss)
    assert [t.name for t in went_on] == [t.name for t in at_once]
    for trial, other in zip(went_on, at_once):
        np.testing.assert_array_equal(trial.loss, other.loss)
        np.testing.assert_array_equal(trial.prediction, other.prediction)
