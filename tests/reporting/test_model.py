"""The model of a report: predictions, flags, and its file."""

import io
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest

import corollary
from corollary.core.files import ModelFileError, pack, unpack
from corollary.reporting import (
    ReportError,
    as_csv,
    from_memory,
    load_model,
    measure,
    predict_file,
    report,
)


def _frame(seed, n=300, task="classification"):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "size": rng.uniform(1, 9, n),
            "colour": rng.choice(["red", "green", "blue"], n),
            "shop": [f"shop {i}" for i in rng.integers(0, 60, n)],
            "day": pd.date_range("2021-03-01", periods=n).strftime("%Y-%m-%d"),
            "note": [
                " ".join(rng.choice(["ripe", "old", "new", "soft"], 4)) + f" {i}" for i in range(n)
            ],
        }
    )
    score = frame["size"] - 5 + 2 * (frame["colour"] == "red") + rng.normal(size=n)
    frame["y"] = np.where(score > 0, "good", "bad") if task == "classification" else score
    return frame


@pytest.fixture(scope="module")
def classifier():
    frame = _frame(0)
    return measure(from_memory(frame), "y", fast=True)[1], frame


@pytest.fixture(scope="module")
def regressor():
    frame = _frame(0, task="regression")
    return measure(from_memory(frame), "y", fast=True)[1], frame


def test_predictions_of_classes(classifier):
    model, frame = classifier
    table = model.predict_table(frame)
    assert list(table.columns) == [
        "prediction",
        "set",
        "probability bad",
        "probability good",
        "unusual",
    ]
    probability = table[["probability bad", "probability good"]].to_numpy()
    np.testing.assert_allclose(probability.sum(axis=1), 1)
    best = np.array(["bad", "good"])[probability.argmax(axis=1)]
    assert (table["prediction"] == best).all()
    assert all(p in s.split(" | ") for p, s in zip(table["prediction"], table["set"]))
    assert (table["prediction"] == frame["y"]).mean() > 0.8


def test_predictions_of_numbers(regressor):
    model, frame = regressor
    table = model.predict_table(frame)
    assert list(table.columns) == ["prediction", "low", "high", "unusual"]
    assert (table["low"] <= table["prediction"]).all()
    assert (table["prediction"] <= table["high"]).all()
    fresh = _frame(1, n=2000, task="regression")
    fresh["day"] = np.resize(frame["day"], 2000)  # no day beyond those of training
    table = model.predict_table(fresh)
    inside = (table["low"] <= fresh["y"]) & (fresh["y"] <= table["high"])
    assert inside.mean() > 0.8


def test_column_order_extra_columns_and_polars_do_not_matter(classifier):
    model, frame = classifier
    expected = model.predict_table(frame)
    shuffled = frame[frame.columns[::-1]].assign(more=1)
    pd.testing.assert_frame_equal(model.predict_table(shuffled), expected)
    pd.testing.assert_frame_equal(model.predict_table(pl.from_pandas(frame)), expected)


def test_the_index_is_kept(classifier):
    model, frame = classifier
    rows = frame.iloc[[5, 3]].set_axis(["u", "v"])
    assert model.predict_table(rows).index.tolist() == ["u", "v"]


def test_flags(classifier):
    model, frame = classifier
    rows = frame.iloc[:5].copy()
    rows.loc[0, "size"] = 100.0
    rows.loc[1, "colour"] = "purple"
    rows.loc[2, "size"] = np.nan
    rows.loc[3, "day"] = "2030-01-01"
    assert model.predict_table(rows)["unusual"].tolist() == [
        "size: far above the training range",
        "colour: a level not seen in training",
        "size: missing, which it never was in training",
        "day: far beyond the training range",
        "",
    ]
    absent = model.predict_table(rows.drop(columns="colour"))
    assert absent["unusual"].str.contains("colour: column absent").all()


def test_predictions_without_flags_warn_of_absent_columns(classifier):
    model, frame = classifier
    rows = frame.head(3)
    for ask in (model.predict, model.predict_proba, model.predict_set):
        with pytest.warns(UserWarning, match=r"columns that the data lack: colour, note\. They"):
            ask(rows.drop(columns=["note", "colour"]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(rows)
        model.predict_table(rows.drop(columns="colour"))  # which says so beside each row


def test_later_rows_are_told_once_and_not_flagged(classifier, tmp_path):
    """Training ends on 2021-12-25, after 299 days: rows of 2022 are later, not unusual."""
    model, frame = classifier
    rows = frame.head(4).assign(day=["2021-12-25", "2021-12-26", "2022-10-20", "2022-10-21"])
    flags = model.predict_table(rows)["unusual"].tolist()
    assert flags == ["", "", "", "day: far beyond the training range"]
    later, last = model.later(rows)["day"]
    assert later.tolist() == [False, True, True, True]
    assert last == "2021-12-25"
    assert model.later(frame) == {}
    assert model.later(rows.drop(columns="day")) == {}
    corollary.save(model, tmp_path / "m.corollary")
    rows.to_csv(tmp_path / "new.csv", index=False)
    notes = predict_file(tmp_path / "m.corollary", tmp_path / "new.csv")[1]
    said = [note for note in notes if "lie after" in note]
    assert len(said) == 1
    assert said[0].startswith("3 of 4 rows lie after 2021-12-25, the last 'day' of training.")


def test_strange_rows_still_get_finite_predictions(classifier):
    model, _ = classifier
    for value in (None, "word", 1e308, -np.inf, True, "1999-01-01"):
        rows = pd.DataFrame({c: pd.Series([value] * 2, dtype=object) for c in model.columns})
        assert np.isfinite(model.predict_table(rows)["probability good"]).all()


def test_refusals(classifier):
    model, frame = classifier
    with pytest.raises(ReportError, match="none of the columns that the model reads: size, colour"):
        model.predict_table(pd.DataFrame({"other": [1]}))
    with pytest.raises(ReportError, match="no rows to predict"):
        model.predict_table(frame.iloc[:0])
    with pytest.raises(ReportError, match=r"must be a data frame\. Got ndarray"):
        model.predict_table(np.zeros((2, 5)))


@pytest.mark.parametrize("kind", ["classifier", "regressor"])
def test_saved_and_loaded(kind, request, tmp_path):
    model, frame = request.getfixturevalue(kind)
    path = tmp_path / "model.corollary"
    corollary.save(model, path)
    again = load_model(path)
    pd.testing.assert_frame_equal(again.predict_table(frame), model.predict_table(frame))
    assert path.stat().st_size < 2_000_000
    corollary.save(model, tmp_path / "again.corollary")
    assert (tmp_path / "again.corollary").read_bytes() == path.read_bytes()


@pytest.mark.parametrize(
    "change",
    [
        {"columns": ("size",)},
        {"classes": ("good",)},
        {"task": "regression"},
        {"coverage": 2.0},
        {"target": 5},
        {"encoder": "swapped"},
        {"calibration": "swapped"},
    ],
)
def test_parts_that_do_not_fit_are_refused(classifier, regressor, change, tmp_path, monkeypatch):
    from dataclasses import replace

    from corollary.core.schema import Schema

    model, _ = classifier
    if change == {"encoder": "swapped"}:
        change = {"encoder": model.predictor}
    if change == {"calibration": "swapped"}:
        change = {"calibration": regressor[0].calibration}
    with monkeypatch.context() as patch:
        patch.setattr(Schema, "problem", lambda *args: None)
        patch.setattr(type(model)._schema, "check", None)
        corollary.save(replace(model, **change), tmp_path / "m.corollary")
    with pytest.raises(ModelFileError, match="ReportModel does not fit"):
        corollary.load(tmp_path / "m.corollary")
    with pytest.raises(ReportError, match="was refused") as caught:
        load_model(tmp_path / "m.corollary")
    assert caught.value.exit_code == 6


def test_model_files_that_are_none(tmp_path):
    with pytest.raises(ReportError, match="There is no model file"):
        load_model(tmp_path / "absent.corollary")
    with pytest.raises(ReportError, match=r"is a directory. Did you mean .*model\.corollary"):
        load_model(tmp_path)
    (tmp_path / "text").write_text("hello")
    with pytest.raises(ReportError, match="was refused"):
        load_model(tmp_path / "text")
    from corollary.linear import Ridge

    corollary.save(Ridge().fit([[0.0], [1.0]], [0.0, 1.0]), tmp_path / "ridge")
    with pytest.raises(ReportError, match="holds a Ridge, not the model of a report"):
        load_model(tmp_path / "ridge")


def test_predicting_files(classifier, tmp_path):
    model, frame = classifier
    corollary.save(model, tmp_path / "m.corollary")
    frame.drop(columns="size").assign(extra=1).to_csv(tmp_path / "new.csv", index=False)
    table, notes = predict_file(tmp_path / "m.corollary", tmp_path / "new.csv")
    assert len(table) == 300
    assert "Absent columns, taken as missing: size." in notes
    assert "Columns the model does not read: extra." in notes
    assert any(n.startswith("300 of 300 rows are unlike the training rows; see") for n in notes)
    formats = {"p.csv": pd.read_csv, "p.parquet": pd.read_parquet, "p.json": pd.read_json}
    for name, read in formats.items():
        predict_file(tmp_path / "m.corollary", tmp_path / "new.csv", tmp_path / name)
        assert read(tmp_path / name)["prediction"].tolist() == table["prediction"].tolist()
    with pytest.raises(ReportError, match="could not be written") as caught:
        predict_file(tmp_path / "m.corollary", tmp_path / "new.csv", tmp_path / "no" / "p.csv")
    assert caught.value.exit_code == 5


@pytest.mark.parametrize("name", ["p.xlsx", "p.feather", "p.csv.gz"])
def test_formats_that_are_not_written_are_refused_before_any_work(tmp_path, name):
    with pytest.raises(ReportError, match=r"as \.csv, \.json or \.parquet\. Got .*p\.") as caught:
        predict_file(tmp_path / "no model", tmp_path / "no data", tmp_path / name)
    assert caught.value.kind == "output"


def test_rows_keep_what_names_them(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(90, 2)), columns=["a", "b"])
    frame.insert(0, "customer", [f"C{i:03d}" for i in range(90)])
    frame.insert(1, "prediction", range(1, 91))  # counts the rows
    frame["y"] = frame["a"] + 0.1 * rng.normal(size=90)
    made = report(frame, "y", out=tmp_path, fast=True)
    assert made.model.keys == ("customer", "prediction")
    frame[["b", "customer", "a", "prediction"]].tail(3).to_csv(tmp_path / "new.csv", index=False)
    path = made.paths["model.corollary"]
    table, notes = predict_file(path, tmp_path / "new.csv", tmp_path / "p.csv", keep=["b"])
    columns = ["customer", "prediction (input)", "b", "prediction", "low", "high", "unusual"]
    assert list(table.columns) == columns
    assert table["customer"].tolist() == ["C087", "C088", "C089"]
    assert table["prediction (input)"].tolist() == [88, 89, 90]
    assert not any("does not read" in note for note in notes)
    assert list(pd.read_csv(tmp_path / "p.csv").columns) == columns
    with pytest.raises(ReportError, match=r"no column 'c' to keep\. Its columns are b") as caught:
        predict_file(path, tmp_path / "new.csv", keep=["c"])
    assert caught.value.kind == "usage"


def test_text_among_numbers_and_dates_is_named(classifier):
    model, frame = classifier
    rows = frame.iloc[:4].astype(object)
    rows.iloc[0, rows.columns.get_loc("size")] = "forty"
    rows.iloc[1, rows.columns.get_loc("day")] = "soon"
    rows.iloc[2, rows.columns.get_loc("size")] = "12.5"
    rows.iloc[3, rows.columns.get_loc("size")] = "x" * 50
    said = model.flags(rows)
    assert said[0] == "size: 'forty' is not a number"
    assert said[1] == "day: 'soon' is not a date"
    assert "not a number" not in said[2]
    assert said[3] == f"size: {'x' * 40!r} is not a number"


def test_a_column_of_other_texts_is_flagged_in_every_row(classifier):
    model, frame = classifier
    rows = frame.assign(size=[f"text {i}" for i in range(300)])
    said = model.flags(rows)
    assert all("is not a number" in one or "size: not a number" in one for one in said)
    assert sum("size: 'text" in one for one in said) == 100


def test_a_csv_holds_no_formula():
    texts = ["=1+1", "+a", "-b", "@SUM(A1)", "\tx", "\ry", "-5", "+1e3", "plain", " =1", "", None]
    table = pd.DataFrame({"=name": texts, "low": np.linspace(-5, 5, len(texts))})
    again = pd.read_csv(io.StringIO(as_csv(table)), keep_default_na=False, dtype={0: str})
    assert list(again.columns) == ["'=name", "low"]
    assert again["'=name"].tolist() == [
        *("'=1+1", "'+a", "'-b", "'@SUM(A1)", "'\tx", "'\ny"),
        *("-5", "+1e3", "plain", " =1", "", ""),
    ]
    assert again["low"].tolist() == pytest.approx(table["low"].tolist(), rel=1e-14)
    assert table["=name"].tolist()[:-1] == texts[:-1]  # as they were


def test_a_report_of_another_model_beside_is_noticed(regressor, tmp_path):
    frame = regressor[1]
    made = report(frame, regressor[0].target, out=tmp_path, fast=True)
    frame.to_csv(tmp_path / "new.csv", index=False)
    path = made.paths["model.corollary"]
    assert not any("another model" in note for note in predict_file(path, tmp_path / "new.csv")[1])
    # A run that was killed between two renames.
    corollary.save(replace(made.model, label="another"), path)
    notes = predict_file(path, tmp_path / "new.csv")[1]
    assert "report.json describes another model than model.corollary" in notes[0]
    (tmp_path / "report.json").write_text("[3]")
    assert not any("another model" in note for note in predict_file(path, tmp_path / "new.csv")[1])


@pytest.mark.parametrize("value", [1e308, -1e308])
def test_numbers_that_nobody_learnt_end_in_a_sentence(regressor, tmp_path, value):
    model, frame = regressor
    corollary.save(model, tmp_path / "m.corollary")
    header, arrays = unpack((tmp_path / "m.corollary").read_bytes())
    encoder = header["root"]["state"]["encoder"]["state"]
    arrays[encoder["centre_"]["v"]][:] = value
    arrays[encoder["scale_"]["v"]][:] = 1e-300
    (tmp_path / "m.corollary").write_bytes(pack(header, arrays))
    forged = load_model(tmp_path / "m.corollary")
    for predict in (forged.predict, forged.predict_table, forged.predict_interval):
        with pytest.raises(ReportError, match="no finite numbers for these rows") as caught:
            predict(frame)
        assert caught.value.kind == "model"
