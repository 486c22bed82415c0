"""The model of a report: predictions, flags, and its file."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import corollary
from corollary.core.files import ModelFileError
from corollary.reporting import ReportError, from_memory, load_model, measure, predict_file


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
        "flags",
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
    assert list(table.columns) == ["prediction", "low", "high", "flags"]
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
    assert model.predict_table(rows)["flags"].tolist() == [
        "size: above the training range",
        "colour: a level not seen in training",
        "size: missing, which it never was in training",
        "day: above the training range",
        "",
    ]
    absent = model.predict_table(rows.drop(columns="colour"))
    assert absent["flags"].str.contains("colour: column absent").all()


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
    for name, read in (("p.csv", pd.read_csv), ("p.parquet", pd.read_parquet)):
        predict_file(tmp_path / "m.corollary", tmp_path / "new.csv", tmp_path / name)
        assert read(tmp_path / name)["prediction"].tolist() == table["prediction"].tolist()
    with pytest.raises(ReportError, match="could not be written") as caught:
        predict_file(tmp_path / "m.corollary", tmp_path / "new.csv", tmp_path / "no" / "p.csv")
    assert caught.value.exit_code == 5
