"""Tables whose rows depend on each other: of whom the report speaks, and whether that holds."""

import numpy as np
import pandas as pd
import pytest

from corollary.conformal import calibrate_intervals
from corollary.core.population import Population
from corollary.reporting import ReportError, from_memory, load_model, measure, report
from corollary.reporting._settings import Settings
from corollary.reporting._structure import is_trait
from corollary.reporting.table._dependence import examine, noun_of
from corollary.reporting.table._profile import inspect
from corollary.validation import Estimate, Unit, UnitEffect, find_dependence


def _shuffled(frame, seed=0):
    return frame.sample(frac=1, random_state=seed).reset_index(drop=True)


def _measure(frame, **options):
    return measure(from_memory(frame), "y", **options)


def _finding(evidence, kind):
    return [f for f in evidence.profile.findings if f.kind == kind]


def _persons(seed, n_persons=80, each=6, effect=2.0):
    """Rows of persons, numbered in whole numbers, with an effect of the person."""
    rng = np.random.default_rng(seed)
    person, X = np.repeat(np.arange(n_persons), each), rng.normal(size=(n_persons * each, 3))
    y = X[:, 0] + effect * rng.normal(size=n_persons)[person] + 0.5 * rng.normal(size=len(X))
    numbers = rng.permutation(900)[:n_persons] + 1000
    return _shuffled(pd.DataFrame(X, columns=list("abc")).assign(person=numbers[person], y=y), seed)


def _drift(seed, n=400):
    rng = np.random.default_rng(seed)
    X, day = rng.normal(size=(n, 3)), np.arange(n)
    y = X[:, 0] + 0.3 * np.cumsum(rng.normal(size=n)) + 0.5 * rng.normal(size=n)
    dates = pd.Timestamp("2020-01-01") + pd.to_timedelta(day, unit="D")
    return _shuffled(pd.DataFrame(X, columns=list("abc")).assign(day=dates, y=y), seed)


def _copied(rng):
    frame = pd.DataFrame(rng.integers(0, 10, (200, 4)), columns=list("abcd"))
    return pd.concat([frame.assign(y=rng.permutation([0, 1] * 100))] * 3)


def _joined(rng):
    base = pd.DataFrame(rng.normal(size=(150, 4)).round(3), columns=list("abcd"))
    base = base.assign(y=rng.permutation([0, 1] * 75)).loc[np.repeat(np.arange(150), 4)]
    return base.assign(item=rng.integers(0, 40, 600), price=rng.normal(size=600).round(2))


def _nearly_copied(rng):
    base = pd.DataFrame(rng.normal(size=(200, 4)).round(3), columns=list("abcd"))
    base["y"] = rng.permutation([0, 1] * 100)
    noise = 1e-4 * rng.normal(size=(3, 200, 4))
    return pd.concat([base.assign(**(base[list("abcd")] + e)) for e in noise])


def _oversampled(rng):
    frame = pd.DataFrame(rng.integers(0, 12, (450, 4)), columns=list("abcd"))
    frame["y"] = (rng.random(450) < 0.15) * 1
    return pd.concat([frame] + [frame[frame.y == 1]] * 4)


@pytest.mark.parametrize("make", [_copied, _joined, _nearly_copied, _oversampled])
def test_coin_flips_are_not_shown_however_often_rows_recur(make, seed):
    frame = _shuffled(make(np.random.default_rng(seed)), seed)
    evidence, _ = _measure(frame)
    assert evidence.verdict != "shown"
    kinds = {f.kind for f in evidence.profile.findings}
    assert kinds & {"copies", "dependent-rows"}


def test_copies_count_once():
    evidence, _ = _measure(_shuffled(_copied(np.random.default_rng(1))), fast=True)
    (said,) = _finding(evidence, "copies")
    n = evidence.structure.copies.n_units
    assert f"600 rows are {n} different rows" in said.sentence
    assert evidence.n_train + evidence.n_calibration + evidence.n_test == n <= 200
    assert evidence.profile.n_rows == 600


def test_the_headline_speaks_of_new_persons_and_holds_for_them(seed):
    frame = _persons(seed, n_persons=140)
    persons = frame.person.unique()
    new = frame.person.isin(persons[100:])
    evidence, model = _measure(frame[~new].reset_index(drop=True), fast=True, seed=seed)
    assert evidence.population.rows == "rows of new persons"
    (asked,) = _finding(evidence, "dependent-rows")
    assert "--group person" in asked.sentence
    assert "--independent" in asked.sentence
    # Whole persons in every part, and their number is what counts.
    assert evidence.gain.n == len(np.unique(evidence.test.units)) == 25
    assert "person" not in model.columns
    predicted = model.predict_table(frame[new])
    held = (predicted.low <= frame.y[new]) & (frame.y[new] <= predicted.high)
    assert held.groupby(frame.person[new]).mean().mean() > 0.8
    assert set(predicted.promise) == {"90% for rows of new persons"}
    known = model.predict_table(frame[~new])
    trained = known.promise.str.startswith("none: this person was trained on")
    assert 0.5 < trained.mean() < 0.7  # the persons of the training part


def test_owners_count_in_calibration_and_certificates(seed, monkeypatch):
    from corollary.reporting.trust import _calibration

    groups = []

    def calibrate(*parts, **options):
        groups.append(options["groups"])
        return calibrate_intervals(*parts, **options)

    monkeypatch.setattr(_calibration, "calibrate_intervals", calibrate)
    evidence, _ = _measure(_persons(seed, n_persons=60), group="person", fast=True)
    assert len(np.unique(groups[0])) == 9
    assert evidence.calibrated == ()  # no law of the coverage of exchangeable rows
    assert evidence.training_certificates == ()
    assert {c.population for c in evidence.certificates} == {evidence.population}
    for certificate in evidence.certificates:
        assert certificate.n_samples == 15
        drawn, shared = (a for a in certificate.assumptions if a.about == "draws")
        assert (drawn.checked, shared.checked) == (False, True)
        assert shared.text.startswith("No row of these persons trained")
    classes = _persons(seed, n_persons=60)
    evidence, _ = _measure(classes.assign(y=classes.y > 0), group="person", fast=True)
    assert evidence.training_certificates == ()


def test_stretches_are_what_counts_in_a_period(seed):
    evidence, _ = _measure(_drift(seed), time="day", fast=True)
    assert evidence.n_test == 100
    assert evidence.gain.n < 20
    assert {c.population.kind for c in evidence.certificates} == {"period"}
    claim = evidence.certificates[0].claim
    assert "the rows from 2020-10-27 to 2021-02-03, the miss rate of 90% intervals" in claim
    assert evidence.certificates[0].at(0.99).population == evidence.population


def test_rows_drawn_alike_raise_no_question(seed):
    frame = _persons(seed, effect=0.0)
    evidence, model = _measure(frame, fast=True)
    assert evidence.population.rows == "such rows"
    assert not _finding(evidence, "dependent-rows")
    assert evidence.test.units is None
    assert model.promise is None
    assert "promise" not in model.predict_table(frame.head())


def test_a_drift_is_tested_on_the_latest_rows(seed):
    evidence, model = _measure(_drift(seed), fast=True)
    population = evidence.population
    assert (population.kind, population.end) == ("period", "2021-02-03")
    frame = _drift(seed)
    tested = frame.day.iloc[evidence.test.positions]
    assert tested.min() > frame.day.drop(index=evidence.test.positions).max()
    assert str(tested.min().date()) == population.start
    later = model.predict_table(frame.head(3).assign(day=pd.Timestamp("2022-01-01")))
    assert set(later.promise) == {"none: beyond 2021-02-03, where nothing was tested"}
    assert "day" not in "".join(later["unusual"])
    rows = evidence.test
    held = np.mean((rows.low <= rows.truth) & (rows.truth <= rows.high))
    (within,) = set(model.predict_table(frame.iloc[rows.positions]).promise)
    assert within == f"none: {held:.0%} of {population.rows} were held, nothing is proved"


def test_owners_count_where_the_model_continues_the_trend(seed):
    """Trees err most on later rows, a linear model does not: time is a fact, owners remain."""
    rng = np.random.default_rng(seed)
    person, t = rng.permutation(np.repeat(np.arange(80), 6)), np.arange(480)
    X = rng.normal(size=(480, 3))
    y = X[:, 0] + rng.normal(size=80)[person] + 0.03 * t + 0.5 * rng.normal(size=480)
    days = pd.Timestamp("2020-01-01") + pd.to_timedelta(t // 2, unit="D")
    frame = pd.DataFrame(X, columns=list("abc")).assign(day=days, person=person + 1000, y=y)
    evidence, _ = _measure(_shuffled(frame, seed), fast=True)
    assert [fact.kind for fact in evidence.structure.facts if fact.asked] == ["time"]
    assert evidence.population.rows == "rows of new persons"


def test_a_trend_that_the_model_continues_is_a_fact(seed):
    rng = np.random.default_rng(seed)
    frame = _drift(seed)
    days = (frame.day - frame.day.min()).dt.days
    frame["y"] = frame.a + 0.02 * days + 0.5 * rng.normal(size=len(frame))
    evidence, model = _measure(frame, fast=True)
    assert evidence.population.rows == "such rows"
    (fact,) = _finding(evidence, "row-structure")
    assert "more on later rows, in order of 'day'" in fact.sentence
    later = frame.assign(day=frame.day + pd.to_timedelta(len(frame), unit="D"))
    truth = later.a + 0.02 * (days + len(frame)) + 0.5 * rng.normal(size=len(frame))
    error = np.median(np.abs(truth - model.predict_table(later).prediction))
    assert error < 1.3 * evidence.error_sizes.within[0]


def test_what_is_fixed_for_each_owner_is_no_further_structure():
    """New patients bring new ages: that new ages are harder is no news beside new patients."""
    rng = np.random.default_rng(7)
    person, X = np.repeat(np.arange(60), 12), rng.normal(size=(720, 3))
    y = X[:, 0] + 2 * rng.normal(size=60)[person] + 0.5 * rng.normal(size=720)
    frame = pd.DataFrame(X, columns=list("abc")).assign(
        person=[f"P{i:02d}" for i in person], age=rng.integers(30, 80, 60)[person], y=y
    )
    evidence, _ = _measure(_shuffled(frame), fast=True)
    assert evidence.population.rows == "rows of new persons"
    assert _finding(evidence, "row-structure") == []


def _owner(codes, hint):
    none = Estimate(0.0, 0.0, 0.0, 60)
    effect = UnitEffect(none, hint, 0.5, 1.0, 1e-4, 1.0, 1.0)
    return Unit("owner", ("column",), np.asarray(codes), effect=effect)


def test_a_trait_is_fixed_for_each_owner_and_costs_no_more():
    patient = _owner([0, 0, 1, 1, 2, 2], 0.5)
    for codes, hint, trait in (
        ([0, 0, 1, 1, 1, 1], 0.4, True),  # an age
        ([0, 0, 1, 1, 1, 1], 0.6, False),  # a clinic: new ones are harder than new patients
        ([0, 1, 1, 1, 1, 1], 0.4, False),  # not fixed
    ):
        assert is_trait(_owner(codes, hint), patient) == trait
    assert not is_trait(patient, None)


def test_options_settle_what_the_report_speaks_of(seed):
    frame = _persons(seed, effect=0.0)
    evidence, _ = _measure(frame, group="person", fast=True)
    assert evidence.population.rows == "rows of new persons"
    assert _finding(evidence, "told-rows")
    frame = _drift(seed)
    evidence, _ = _measure(frame, time="day", horizon="6w", fast=True)
    assert evidence.n_test == 42
    evidence, _ = _measure(frame, order=True, fast=True)
    assert evidence.population.rows == "the rows from row 301 to row 400"
    evidence, _ = _measure(_persons(seed), independent=True, fast=True)
    assert evidence.population.rows == "such rows"
    assert "rests on your word" in _finding(evidence, "independent")[0].sentence


def test_nested_owners_are_split_by_the_outer_one(seed):
    rng = np.random.default_rng(seed)
    clinic, patient = np.repeat(np.arange(20), 24), np.repeat(np.arange(120), 4)
    frame = pd.DataFrame({"x": rng.normal(size=480), "clinic": clinic, "patient": patient + 500})
    frame["y"] = frame.x + rng.normal(size=480)
    evidence, model = _measure(frame, group=("patient", "clinic"), fast=True)
    assert evidence.population.rows == "rows of new clinics"
    assert model.columns == ("x",)
    with pytest.raises(ReportError, match="must be nested"):
        _measure(frame.assign(patient=np.tile(np.arange(120), 4)), group=["patient", "clinic"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"group": "persn"}, "no column 'persn' .--group.. Did you mean 'person'"),
        ({"group": "y"}, "names 'y', which is the target"),
        (
            {"group": "same"},
            "at least 4 values, to train and to test on different ones. 'same' has",
        ),
        (
            {"group": "word"},
            "at least 4 values, to train and to test on different ones. 'word' has",
        ),
        ({"group": "key"}, "Every row has its own 'key'"),
        ({"time": "word"}, "'word' holds values such as 'u'"),
        ({"time": "same"}, "at least 10 different moments. 'same' holds 1; --group same"),
        ({"time": "a", "order": True}, "both say when a row was"),
        ({"horizon": "4w"}, "--horizon 4w needs --time"),
        ({"time": "day", "horizon": "soon"}, "such as 28d, 4w or 12h. Got 'soon'"),
        ({"time": "day", "horizon": "-3d"}, "must be positive"),
        ({"time": "day", "horizon": "900d"}, "Choose another horizon"),
        ({"group": "person", "independent": True}, "Leave one of them out"),
    ],
)
def test_options_that_cannot_be_followed_are_refused_in_words(options, message):
    frame = _persons(0, n_persons=30).assign(same=1, key=[f"k{i}" for i in range(180)])
    frame = frame.assign(word=["u", "v"] * 90, day=pd.date_range("2020-01-01", periods=180))
    with pytest.raises(ReportError, match=message) as refused:
        _measure(frame, fast=True, **options)
    assert refused.value.kind == "usage"


def test_targets_of_test_rows_do_not_decide_the_unit(seed, monkeypatch):
    from corollary.reporting.table import _dependence

    measured = []

    def find(table, y, **options):
        measured.append(options["measured"])
        return find_dependence(table, y, **options)

    monkeypatch.setattr(_dependence, "find_dependence", find)
    evidence, _ = _measure(_persons(seed, effect=0.0), fast=True)
    assert not set(measured[0]) & set(evidence.test.positions)
    assert len(measured[0]) + evidence.n_test == 480


def test_a_model_remembers_what_it_speaks_of(seed, tmp_path):
    frame = _persons(seed)
    made = report(frame, "y", out=tmp_path, fast=True, group="person")
    loaded = load_model(made.paths["model.corollary"])
    fresh = frame.assign(person=frame.person.astype(str))  # the same numbers, written as text
    assert (
        loaded.predict_table(fresh).promise.tolist()
        == made.model.predict_table(frame).promise.tolist()
    )
    assert loaded.predict_table(frame.drop(columns="person")).promise.nunique() == 1
    assert loaded.outside(frame).sum() == made.evidence.n_train
    again = report(frame, "y", out=None, fast=True, group="person")
    assert again.content["verdict"] == made.content["verdict"]
    np.testing.assert_array_equal(again.evidence.test.low, made.evidence.test.low)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("person", "rows of new persons"),
        ("customer_id", "rows of new customers"),
        ("patientID", "rows of new patients"),
        ("city", "rows of new cities"),
        ("g", "rows of new values of g"),
        ("Kundennr.", "rows of new values of Kundennr."),
        ("\x1b[2Jhost", "rows of new values of [2Jhost"),
    ],
)
def test_owners_are_named_by_their_column(name, words):
    assert Population("new units", unit=noun_of(name)).rows == words


def test_rows_that_agree_by_chance_are_not_thinned():
    rng = np.random.default_rng(0)
    n = 2000
    frame = pd.DataFrame({"flag": rng.integers(0, 2, n), "x": rng.normal(size=n).round(2)})
    chance = np.where(frame.flag == 1, 0.5 + 0.2 * np.tanh(frame.x), 0.96 * (frame.x > 0) + 0.02)
    frame["y"] = np.where(rng.random(n) < chance, "yes", "no")
    table = from_memory(frame)
    examined = examine(inspect(table, "y", "auto"), Settings(fast=True))
    assert frame.duplicated().sum() > 500
    assert examined.copies is None
    assert len(examined.alike.test) == n // 4
    # What is kept to test has the repeats, and the conflicts, that new rows have.
    repeated = frame.iloc[examined.alike.test].duplicated().mean()
    assert abs(repeated - frame.sample(n // 4, random_state=0).duplicated().mean()) < 0.05
