"""From a table to evidence: honest verdicts, small and odd data, same seed same numbers."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import corollary
from corollary.reporting import ReportError, from_memory, measure, read_demo
from corollary.reporting._clock import Clock
from corollary.reporting._settings import Settings
from corollary.reporting.models._selection import compare_models, fit_chosen
from corollary.reporting.page._render import render_data, to_dict
from corollary.reporting.page.verdict import _verdict as verdict
from corollary.reporting.table._split import count_folds, deal_units
from corollary.reporting.table._target import read_target
from corollary.representation import ColumnTable
from tests.reporting.evidence_parts import page_of


def _coin_flips(seed, n=300, d=20):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n, d)), columns=[f"x{i}" for i in range(d)])
    return frame.assign(label=rng.choice(["heads", "tails"], n))


def _linear(seed, n=200, d=4, task="classification"):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n, d)), columns=[f"x{i}" for i in range(d)])
    score = 2 * frame["x0"] - frame["x1"] + rng.normal(size=n)
    return frame.assign(y=np.where(score > 0, "yes", "no") if task == "classification" else score)


def _renders(evidence):
    assert json.loads(render_data(to_dict(evidence)))["verdict"]
    page = page_of(evidence)
    assert "<html" in page
    return page


@pytest.fixture(scope="module")
def breast_cancer():
    table = read_demo("breast_cancer")
    return measure(table, table.target)


def test_breast_cancer(breast_cancer):
    evidence, _ = breast_cancer
    assert evidence.verdict == "shown"
    assert not any(f.act for f in evidence.profile.findings)
    names = [c.name for c in evidence.candidates]
    assert set(names) >= {"logistic", "sparse-logistic", "process", "mean", "baseline"}
    assert names[-1] == "baseline"
    assert sum(c.chosen for c in evidence.candidates) == 1
    assert evidence.test.loss.mean() < 0.2
    assert (evidence.n_train, evidence.n_calibration, evidence.n_test) == (342, 85, 142)
    exact = evidence.certificates[0]
    wrong = int((evidence.test.truth != evidence.test.prediction).sum())
    assert exact.empirical == pytest.approx(wrong / 142)
    assert exact.bound == min(c.bound for c in evidence.certificates)
    assert len(evidence.importances) == 30
    assert evidence.effects
    _renders(evidence)


def test_same_seed_same_numbers(breast_cancer):
    table = read_demo("breast_cancer")
    again, _ = measure(table, table.target)

    def content(evidence):
        report = to_dict(evidence)
        report["sections"]["reproduce"].pop("finding")  # it tells how long the run took
        text = json.dumps(report, sort_keys=True)
        return _without_times(json.loads(text))

    assert content(again) == content(breast_cancer[0])
    other, _ = measure(table, table.target, seed=1, fast=True)
    assert not np.array_equal(other.test.positions, again.test.positions)


def _without_times(value):
    if isinstance(value, dict):
        gone = ("seconds", "time_words", "times", "date", "stages", "total_seconds")
        return {k: _without_times(v) for k, v in value.items() if k not in gone}
    return [_without_times(v) for v in value] if isinstance(value, list) else value


def test_the_test_rows_never_change_the_model():
    frame = _linear(0)
    evidence, model = measure(from_memory(frame), "y", fast=True)
    changed = frame.copy()
    rows = evidence.test.positions
    # Flip within classes so that the split, which looks at targets, stays the same.
    changed.loc[rows, ["x0", "x1"]] = -5 * changed.loc[rows, ["x0", "x1"]]
    evidence_2, model_2 = measure(from_memory(changed), "y", fast=True)
    assert np.array_equal(evidence_2.test.positions, rows)
    pd.testing.assert_frame_equal(model_2.predict_table(frame), model.predict_table(frame))
    assert evidence_2.candidates[0].loss == evidence.candidates[0].loss


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("n", [10, 30])
def test_tiny_tables(task, n, tmp_path):
    evidence, model = measure(from_memory(_linear(0, n=n, task=task)), "y")
    assert evidence.n_train == evidence.n_test == evidence.gain.n == n
    assert evidence.notes
    _renders(evidence)
    new = _linear(1, n=5, task=task)
    predicted = model.predict_table(new)
    assert len(predicted) == 5
    # Intervals without an end are saved like others.
    corollary.save(model, tmp_path / "m.corollary")
    again = corollary.load(tmp_path / "m.corollary")
    pd.testing.assert_frame_equal(again.predict_table(new), predicted)
    if task == "regression":  # nine errors suffice for an end
        assert np.isfinite(predicted["high"]).all()


def test_regression_with_a_skewed_target(seed):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"carat": rng.uniform(0.2, 3, 500), "cut": rng.choice(["a", "b"], 500)})
    frame["price"] = np.exp(6 + 1.2 * frame["carat"] + 0.2 * rng.normal(size=500))
    evidence, _ = measure(from_memory(frame), "price", fast=True)
    assert evidence.task == "regression"
    assert evidence.verdict == "shown"
    assert next(c for c in evidence.candidates if c.chosen).name in ("ridge-log", "mean")
    inside = (evidence.test.low <= evidence.test.truth) & (
        evidence.test.truth <= evidence.test.high
    )
    assert inside.mean() > 0.8
    assert (evidence.test.low > 0).all()
    assert evidence.importances[0].column == "carat"
    assert evidence.importance_loss == "absolute error"
    effect = evidence.effects[0]
    assert effect.column == "carat"
    assert np.all(np.diff(effect.mean) > 0)
    assert sum(effect.density) == pytest.approx(1)
    _renders(evidence)


def test_a_severely_skewed_target_is_compared_by_its_logarithm(seed):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"a": rng.normal(size=300), "b": rng.normal(size=300)})
    frame["y"] = np.exp(2.5 * frame["a"] + rng.normal(size=300))
    evidence, _ = measure(from_memory(frame), "y", fast=True)
    assert evidence.verdict == "shown"
    assert evidence.loss.of_logarithm
    assert "so skewed" in " ".join(evidence.notes)


def test_severe_skewness_is_judged_by_training_rows_alone(seed):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"a": rng.normal(size=400), "b": rng.normal(size=400)})
    y = np.exp(2.5 * frame["a"].to_numpy() + rng.normal(size=400))
    goal = read_target(from_memory(frame.assign(y=y)), "y")
    split = deal_units(goal.values, goal.task, np.arange(400), Settings(fast=True))
    goal.values[split.test[:5]] = -1.0
    table = ColumnTable.of(frame)
    found = compare_models(table, goal, split, seed=0, fast=True, clock=Clock())
    assert found.loss.name.of_logarithm
    predictor, found = fit_chosen(found, goal.values[split.train])
    features = found.encoder.transform(table.take(split.test))
    losses = found.loss(goal.values[split.test], predictor.predict(features))
    assert np.isfinite(losses).all()
    smallest = goal.values[split.train].min()
    guess = np.full(5, 3.0)
    same = found.loss(np.full(5, smallest), guess)
    np.testing.assert_allclose(found.loss(goal.values[split.test[:5]], guess), same)


def test_still_true_counts_far_rows_where_averages_mean_nothing(seed):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"a": rng.normal(size=300), "b": rng.normal(size=300)})
    frame["y"] = np.exp(2.5 * frame["a"] + rng.normal(size=300))
    evidence, _ = measure(from_memory(frame), "y", fast=True)
    card = verdict.build(evidence)["cards"][-1]
    assert "average" not in card["sentence"]
    assert "or more of the rows are off by more than" in card["sentence"]


def test_the_worst_rows_are_set_beside_their_neighbours(breast_cancer):
    evidence, model = breast_cancer
    assert len(evidence.worst) == 20
    table = read_demo("breast_cancer").frame
    features = model.encoder.transform(table[list(model.columns)])
    taken = {n.position for w in evidence.worst for n in w.neighbours}
    assert not taken & set(evidence.test.positions.tolist())
    worst = evidence.worst[0]
    assert evidence.test.loss[worst.row] == evidence.test.loss.max()
    mine = features[evidence.test.positions[worst.row]]
    for neighbour in worst.neighbours:
        apart = np.linalg.norm(features[neighbour.position] - mine)
        assert neighbour.distance == pytest.approx(apart)
        assert neighbour.values["mean area"] == table["mean area"][neighbour.position]
    distances = [n.distance for n in worst.neighbours]
    assert distances == sorted(distances)
    others = np.setdiff1d(np.arange(len(table)), evidence.test.positions)
    # Calibration rows lie among the others: no training row is nearer than the nearest of all.
    assert distances[0] >= np.linalg.norm(features[others] - mine, axis=1).min() - 1e-9


def test_a_forest_states_its_out_of_bag_loss(breast_cancer):
    evidence, _ = breast_cancer
    by_name = {c.name: c for c in evidence.candidates}
    forest = by_name["forest"]
    assert 0 < forest.out_of_bag < by_name["baseline"].loss.value
    assert forest.out_of_bag == pytest.approx(forest.loss.value, rel=0.6)
    assert by_name["logistic"].out_of_bag is None
    assert "out of bag" in _renders(evidence)


def test_a_weighted_mean_is_saved_and_predicts_the_same(breast_cancer, tmp_path):
    evidence, model = breast_cancer
    assert next(c for c in evidence.candidates if c.chosen).name == "mean"
    corollary.save(model, tmp_path / "m.corollary")
    again = corollary.load(tmp_path / "m.corollary")
    np.testing.assert_array_equal(again.predictor.weights, model.predictor.weights)
    table = read_demo("breast_cancer").frame
    pd.testing.assert_frame_equal(again.predict_table(table), model.predict_table(table))
    forged = replace(model.predictor, weights=-model.predictor.weights)
    with pytest.raises(TypeError, match="weights"):
        corollary.save(replace(model, predictor=forged), tmp_path / "f.corollary")


def test_guessing_is_described_without_clutter():
    evidence, _ = measure(from_memory(_coin_flips(0)), "label", fast=True)
    assert next(c for c in evidence.candidates if c.chosen).baseline
    assert evidence.importances == ()
    assert evidence.effects == ()
    content = to_dict(evidence)
    assert not {"errors", "why"} & set(content["sections"])
    cards = {card["key"]: card for card in content["verdict"]["cards"]}
    assert "Always guessing" not in cards["how-good"]["sentence"]
    assert cards["why"]["number"] == "none"
    _renders(evidence)


def test_few_folds_for_many_rows():
    assert (count_folds(500, False), count_folds(500, True), count_folds(9_000, False)) == (5, 3, 3)


def test_copies_with_a_row_number_are_still_copies(seed):
    frame = pd.concat([_coin_flips(seed, n=120, d=4)] * 5, ignore_index=True)
    frame.insert(0, "row", np.arange(len(frame)))
    evidence, _ = measure(from_memory(frame), "label", fast=True)
    kinds = {f.kind for f in evidence.profile.findings}
    assert "copies" in kinds
    assert "twins-across-split" not in kinds
    assert (evidence.n_test, evidence.gain.n) == (30, 30)
    assert evidence.certificates


def test_a_perfect_column_is_shown_however_skewed_the_target(seed):
    rng = np.random.default_rng(seed)
    price = np.exp(1.2 * rng.normal(size=400))
    frame = pd.DataFrame({"euros": 0.9 * price, "noise": rng.normal(size=400), "price": price})
    evidence, _ = measure(from_memory(frame), "price", fast=True)
    assert evidence.verdict == "shown"


def test_stand_ins_and_permutation_of_whole_columns(seed):
    rng = np.random.default_rng(seed)
    a = rng.normal(size=400)
    frame = pd.DataFrame(
        {"a": a, "twin": a + 0.01 * rng.normal(size=400), "noise": rng.normal(size=400)}
    )
    frame["colour"] = rng.choice(["red", "green", "blue"], 400)
    frame["y"] = frame["a"] + 3 * (frame["colour"] == "red") + 0.3 * rng.normal(size=400)
    evidence, _ = measure(from_memory(frame), "y", fast=True)
    found = {i.column: i for i in evidence.importances}
    assert found["a"].stand_ins == ("twin",)
    assert found["noise"].stand_ins == ()
    assert evidence.importances[0].column == "colour"
    # Shuffled, a column of levels with p = 1/3 is wrong by 3 in 4/9 of rows: 4/3 on average.
    rise = found["colour"].increase
    assert rise.value == pytest.approx(4 / 3 - 0.24 * 4 / 9, abs=0.35)
    assert rise.low < rise.value < rise.high
    assert found["noise"].increase.high < 0.1


def test_everything_at_once(tmp_path):
    rng = np.random.default_rng(0)
    frame = _linear(0, n=260)
    frame["text"] = [
        " ".join(rng.choice(["good", "bad", "fine", "poor"], 5)) + f" {i}" for i in range(260)
    ]
    frame["date"] = pd.date_range("2020-01-01", periods=260)
    frame["levels"] = [f"l{i}" for i in rng.integers(0, 100, 260)]
    frame["infinite"] = np.where(rng.random(260) < 0.1, np.inf, rng.normal(size=260))
    frame["mixed"] = [str(i % 40) if i % 9 else "unknown" for i in range(260)]
    frame["empty"] = None
    frame["same"] = 1
    frame["<script>alert(1)</script>"] = rng.normal(size=260)
    evidence, model = measure(from_memory(frame), "y", fast=True)
    assert evidence.verdict == "shown"
    page = page_of(evidence)
    assert "<script>alert(1)" not in page
    assert {"empty", "same"} == {c.name for c in evidence.profile.columns if not c.used}
    assert np.isfinite(model.predict_table(frame)["probability yes"]).all()


def test_ten_thousand_categories(seed):
    rng = np.random.default_rng(seed)
    n = 12_000
    frame = pd.DataFrame(
        {"user": [f"u{i}" for i in rng.integers(0, 10_000, n)], "x": rng.normal(size=n)}
    )
    frame["y"] = np.where(frame["x"] + rng.normal(size=n) > 0, "a", "b")
    evidence, _ = measure(from_memory(frame), "y", fast=True)
    assert evidence.verdict == "shown"
    assert evidence.profile.columns[0].n_distinct > 5000
    assert evidence.importances[0].column == "x"


def test_large_tables_are_compared_on_a_part(monkeypatch):
    from corollary.reporting.models import _selection as selection

    monkeypatch.setattr(selection, "COMPARED_ROWS", 60)
    evidence, _ = measure(from_memory(_linear(0, n=400, task="regression")), "y", fast=True)
    assert evidence.verdict == "shown"
    assert evidence.candidates[0].loss.n == 60
    assert any("compared on 60 of the 240 training rows" in note for note in evidence.notes)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"task": "ranking"}, "must be auto, classification or regression. Got 'ranking'"),
        ({"confidence": 1.0}, "confidence must lie strictly between 0 and 1. Got 1.0"),
        ({"coverage": 0}, "coverage must lie strictly between 0 and 1. Got 0"),
        ({"seed": -1}, "seed must be in"),
    ],
)
def test_settings_are_checked(settings, message):
    with pytest.raises(ReportError, match=message) as caught:
        measure(from_memory(_linear(0)), "y", **settings)
    assert caught.value.kind == "usage"


def test_no_usable_column():
    frame = pd.DataFrame({"id": [f"i{k}" for k in range(40)], "same": 1, "y": [0, 1] * 20})
    with pytest.raises(ReportError, match="No column of table can be used"):
        measure(from_memory(frame), "y")


@pytest.mark.parametrize(
    "columns",
    [
        {
            "huge": lambda r: r.normal(size=150) * 1e300,
            "tiny": lambda r: r.normal(size=150) * 1e-300,
        },
        {"lists": lambda r: [[1, 2]] * 75 + [[3]] * 75},
        {"times": lambda r: pd.date_range("2020", periods=150, tz="Europe/Berlin")},
        {"spans": lambda r: pd.to_timedelta(np.arange(150), unit="h")},
        {"bits": lambda r: pd.array(r.random(150) < 0.5, dtype="boolean")},
        {"whole": lambda r: pd.array([pd.NA, *range(149)], dtype="Int64")},
        {"levels": lambda r: pd.Categorical(r.choice(["low", "high"], 150))},
        {"prediction": lambda r: r.normal(size=150), "flags": lambda r: r.normal(size=150)},
    ],
    ids="-".join,
)
def test_odd_columns(columns):
    rng = np.random.default_rng(0)
    frame = _linear(0, n=150).assign(**{name: draw(rng) for name, draw in columns.items()})
    evidence, model = measure(from_memory(frame), "y", fast=True)
    assert evidence.verdict == "shown"
    _renders(evidence)
    assert np.isfinite(model.predict_table(frame)["probability yes"]).all()


def test_data_that_repeat_by_nature_still_get_a_certificate():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 2, (500, 5)), columns=list("abcde"))
    frame["y"] = np.where(rng.random(500) < 0.2 + 0.6 * frame["a"], "u", "v")
    evidence, _ = measure(from_memory(frame), "y", fast=True)
    assert evidence.verdict == "shown"
    assert evidence.certificates
    assert any(f.kind == "twins-across-split" for f in evidence.profile.findings)
