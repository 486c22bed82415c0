"""The table encoder: every kind of column, its laws, and its file."""

import dataclasses
import pathlib

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import corollary
from corollary.core.files import ModelFileError
from corollary.core.schema import Schema
from corollary.representation import Column, ColumnTable, TableEncoder, level_statistics
from corollary.representation.table._reading import distinct_strings, to_number


@pytest.fixture
def table(seed):
    rng = np.random.default_rng(seed)
    n = 300
    words = np.array(["apple", "pear", "plum", "cherry", "quince", "fig"])
    days = pd.date_range("2020-01-01", periods=n)
    frame = pd.DataFrame(
        {
            "number": rng.normal(size=n),
            "count": rng.integers(0, 9, n),
            "flag": rng.random(n) > 0.5,
            "colour": rng.choice(["red", "green", "blue"], n),
            "shop": [f"shop {i}" for i in rng.integers(0, 80, n)],
            "day": days,
            "written day": days.strftime("%d/%m/%Y"),
            "text": [" ".join(rng.choice(words, 5)) + f" {i}" for i in range(n)],
            "number as text": [f"{v:.3f}" for v in rng.normal(size=n)],
            "mixed": [str(i) if i % 10 else "unknown" for i in range(n)],
            "empty": [None] * n,
            "same": ["x"] * n,
            "id": [f"id{i}" for i in range(n)],
        }
    )
    frame.loc[::7, "number"] = np.nan
    frame.loc[3, "number"] = np.inf
    frame.loc[::9, "colour"] = None
    return frame


def test_every_kind_is_recognised(table):
    kinds = {name: Column(table[name]).content.kind for name in table}
    assert kinds == {
        "number": "numeric",
        "count": "numeric",
        "flag": "boolean",
        "colour": "category",
        "shop": "category",
        "day": "date",
        "written day": "date",
        "text": "text",
        "number as text": "numeric",
        "mixed": "numeric",
        "empty": "empty",
        "same": "constant",
        "id": "identifier",
    }


def test_features_are_finite_named_and_counted(table):
    y = np.arange(len(table)) % 2
    encoder = TableEncoder(text_dimensions=5)
    features = encoder.fit_transform(table, y)
    names = encoder.get_feature_names_out()
    assert features.shape == (300, len(names))
    assert np.isfinite(features).all()
    assert features.dtype == np.float64
    assert [n for n in names if n.startswith("colour")] == [
        "colour=blue",
        "colour=green",
        "colour=red",
        "colour missing",
    ]
    assert [n for n in names if n.startswith("mixed")] == ["mixed", "mixed=unknown"]
    assert [n for n in names if n.startswith("day")] == [
        "day year",
        "day day",
        "day weekday",
        "day seconds",
    ]
    assert sum(n.startswith("text") for n in names) == 5
    assert encoder.left_out_ == {
        "empty": "every value is missing",
        "same": "every value is the same",
        "id": "every value is distinct, as in an identifier",
    }
    assert encoder.notes_["number"] == ["1 infinite value read as missing"]


def test_dates_by_hand():
    frame = pd.DataFrame({"day": ["2024-02-29 06:00", "2023-12-31 12:30", "1969-07-20 20:17"]})
    encoder = TableEncoder(scale=False).fit(frame)
    features = pd.DataFrame(encoder.transform(frame), columns=encoder.get_feature_names_out())
    assert features["day year"].tolist() == [2024, 2023, 1969]
    assert features["day month"].tolist() == [2, 12, 7]
    assert features["day day"].tolist() == [29, 31, 20]
    assert features["day weekday"].tolist() == [3, 6, 6]  # Thursday, Sunday, Sunday
    np.testing.assert_allclose(features["day hour"], [6.0, 12.5, 20 + 17 / 60])


@pytest.mark.parametrize(
    ("values", "date_format"),
    [
        (["2020-01-31", "2020-02-28"], "ISO8601"),
        (["31/01/2020", "28/02/2020"], "%d/%m/%Y"),
        (["01/31/2020", "02/28/2020"], "%m/%d/%Y"),
        (["31.01.2020", "28.02.2020"], "%d.%m.%Y"),
        (["31 Jan 2020", "28 Feb 2020"], "%d %b %Y"),
        (["January 31, 2020", "February 28, 2020"], "%B %d, %Y"),
        (["2020/01/31 10:00", "2020/02/28 11:30"], "ISO8601"),
        (["2020-01-31T10:00:00+02:00", "2020-02-28T11:30:00Z"], "ISO8601"),
    ],
)
def test_date_formats(values, date_format):
    content = Column(pd.Series(values * 5)).content
    assert (content.kind, content.date_format) == ("date", date_format)


def test_an_ambiguous_date_is_said():
    assert "other way round" in Column(pd.Series(["01/02/2020", "03/04/2020"])).content.notes[0]


@pytest.mark.parametrize(
    "values", [["012", "345", "067"], ["A1", "B2"], ["1-2", "3-4"], ["12:30", "x"]]
)
def test_codes_are_neither_numbers_nor_dates(values):
    assert Column(pd.Series(values * 10)).content.kind == "category"


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_survive_writing_and_reading(value):
    assert to_number(repr(value)) == value
    assert to_number(f"${value!r}") == value


@pytest.mark.parametrize("text", ["nan", "inf", "-", "", "1,2", "0x1F", "1_000", "ten"])
def test_what_is_no_number(text):
    assert np.isnan(to_number(text))


def test_missing_numbers_are_the_median_and_marked():
    frame = pd.DataFrame({"a": [1.0, 2.0, 9.0, None]})
    encoder = TableEncoder(scale=False).fit(frame)
    np.testing.assert_array_equal(encoder.transform(frame), [[1, 0], [2, 0], [9, 0], [2, 1]])


def test_scaling_is_that_of_training_rows():
    frame = pd.DataFrame({"a": [1.0, 2.0, 9.0, 4.0], "c": ["u", "v", "u", "v"]})
    features = TableEncoder().fit_transform(frame)
    np.testing.assert_allclose(features[:, 0].mean(), 0, atol=1e-12)
    np.testing.assert_allclose(features[:, 0].std(), 1)
    assert set(features[:, 1]) == {0.0, 1.0}


def test_unknown_levels_are_rare_or_nothing():
    frame = pd.DataFrame({"c": ["u"] * 10 + ["v"] * 10 + ["w"] * 10 + ["odd"]})
    encoder = TableEncoder().fit(frame)
    assert encoder.get_feature_names_out().tolist() == ["c=u", "c=v", "c=w", "c=(rare)"]
    new = pd.DataFrame({"c": ["u", "odd", "never seen", None]})
    np.testing.assert_array_equal(
        encoder.transform(new), [[1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 0]]
    )
    encoder = TableEncoder().fit(frame.iloc[:30])
    np.testing.assert_array_equal(encoder.transform(new)[1:], np.zeros((3, 3)))


def test_values_far_outside_are_held_one_range_beyond():
    encoder = TableEncoder(scale=False).fit(pd.DataFrame({"a": [0.0, 10.0]}))
    new = pd.DataFrame({"a": [15.0, 1e300, -1e300, np.inf]})
    np.testing.assert_array_equal(encoder.transform(new)[:, 0], [15, 20, -10, 5])


def test_levels_by_hand_and_their_limits():
    codes = np.array([0, 0, 1, 1, 2, -1])
    target = np.array([[1.0], [3.0], [5.0], [7.0], [4.0], [100.0]])
    statistics, prior = level_statistics(codes, target, 3)
    assert prior == pytest.approx([20.0])
    means = np.array([2.0, 6.0, 4.0])
    # Shrunk towards the overall mean, never past it, and more so with fewer rows.
    weight = (statistics[:, 0] - 20.0) / (means - 20.0)
    assert ((weight >= 0) & (weight < 1)).all()
    assert weight[0] == pytest.approx(weight[1])
    assert weight[2] < weight[0]


def test_many_levels_predict_without_leaking(seed):
    rng = np.random.default_rng(seed)
    shop = rng.integers(0, 500, 2000)
    quality = rng.normal(size=500)
    frame = pd.DataFrame({"shop": [f"s{i}" for i in shop]})
    encoder = TableEncoder()
    noise = rng.normal(size=2000)
    column = encoder.fit_transform(frame, noise)[:, 1]
    # With a target of pure noise, cross-fitted statistics carry no trace of the row's own target;
    # plain ones do.
    assert abs(np.corrcoef(column, noise)[0, 1]) < 0.1
    signal = quality[shop] + 0.5 * rng.normal(size=2000)
    column = encoder.fit_transform(frame, signal)[:, 1]
    assert np.corrcoef(column, signal)[0, 1] > 0.5


def test_ten_thousand_levels(seed):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"c": [f"level {i}" for i in rng.integers(0, 10_000, 20_000)]})
    y = rng.integers(0, 3, 20_000)
    features = TableEncoder().fit_transform(frame, y)
    assert features.shape == (20_000, 4)
    assert np.isfinite(features).all()
    assert TableEncoder(max_levels=7).fit_transform(frame).shape == (20_000, 8)


def test_texts_that_share_words_are_near_each_other():
    fruit = [f"fresh ripe apples and pears number {i}" for i in range(30)]
    metal = [f"galvanised steel bolts with washers {i}" for i in range(30)]
    features = TableEncoder(text_dimensions=4).fit_transform(pd.DataFrame({"t": fruit + metal}))
    gram = features @ features.T
    assert gram[:30, :30].mean() > 0 > gram[:30, 30:].mean()


def test_rows_are_encoded_one_by_one(table):
    encoder = TableEncoder(text_dimensions=5).fit(table, np.arange(300.0))
    whole = encoder.transform(table)
    order = np.random.default_rng(0).permutation(300)
    np.testing.assert_allclose(encoder.transform(table.iloc[order]), whole[order], atol=1e-12)
    np.testing.assert_allclose(encoder.transform(table.iloc[[5]]), whole[[5]], atol=1e-12)
    for position, name in enumerate(table):
        block = encoder.transform_column(position, table[name])
        mine = encoder.feature_columns_ == position
        np.testing.assert_allclose(block, whole[:, mine], atol=1e-12)


def test_frames_of_other_libraries_and_csv_give_the_same_features(table, tmp_path):
    y = np.arange(300) % 3
    features = TableEncoder().fit_transform(table, y)
    frame = table.astype({"empty": "float64"})
    polars = pl.from_pandas(frame)
    for other in (polars, polars.lazy(), polars.to_arrow()):
        np.testing.assert_allclose(TableEncoder().fit_transform(other, y), features)
    table.to_csv(tmp_path / "t.csv", index=False)
    read = pd.read_csv(tmp_path / "t.csv")
    np.testing.assert_allclose(TableEncoder().fit_transform(read, y), features, atol=1e-9)


def test_values_of_another_type_are_survived(table):
    encoder = TableEncoder(text_dimensions=5).fit(table, np.arange(300.0))
    for value in (None, "word", 3, 2.5, True, pd.Timestamp("2020-01-01"), "2020-01-01"):
        strange = pd.DataFrame({name: pd.Series([value] * 3, dtype=object) for name in table})
        assert np.isfinite(encoder.transform(strange)).all()


def test_blanks_are_missing_and_outer_blanks_do_not_count():
    codes, levels = distinct_strings(pd.Series([" a", "a ", "", "  ", None, "b"]))
    assert codes.tolist() == [0, 0, -1, -1, -1, 1]
    assert levels == ["a", "b"]


def test_errors():
    with pytest.raises(ValueError, match="Complex data not supported"):
        TableEncoder().fit(pd.DataFrame({"a": [1 + 2j, 3j]}))
    with pytest.raises(ValueError, match="at least one row and one column"):
        TableEncoder().fit(pd.DataFrame({"a": []}))
    with pytest.raises(ValueError, match="'max_levels' parameter of TableEncoder must be an int"):
        TableEncoder(max_levels=0).fit(pd.DataFrame({"a": [1, 2]}))


def test_saved_and_loaded(table, tmp_path):
    encoder = TableEncoder(text_dimensions=5).fit(table, np.arange(300) % 3)
    corollary.save(encoder, tmp_path / "encoder.corollary")
    again = corollary.load(tmp_path / "encoder.corollary")
    np.testing.assert_array_equal(again.transform(table), encoder.transform(table))
    assert again.get_feature_names_out().tolist() == encoder.get_feature_names_out().tolist()


def _set(encoder, j, **fields):
    encoder.plans_[j] = dataclasses.replace(encoder.plans_[j], **fields)


def _save_unchecked(model, path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(Schema, "problem", lambda *args: None)
        for cls in (TableEncoder, *(type(plan) for plan in model.plans_ if plan is not None)):
            if hasattr(cls, "_schema"):
                patch.setattr(cls._schema, "check", None)
        corollary.save(model, path)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda e: _set(e, 0, median=np.nan),
        lambda e: _set(e, 0, kind="numbers"),
        lambda e: _set(e, 0, low=-1.0, log=True),
        lambda e: _set(e, 0, tokens=["more"]),
        lambda e: _set(e, 4, counts=np.arange(3)),
        lambda e: _set(e, 4, prior=np.zeros(7)),
        lambda e: _set(e, 4, statistic_names=["one too few"]),
        lambda e: _set(e, 7, directions=np.zeros((5, 8), np.float32)),
        lambda e: _set(e, 6, date_format="%x"),
        lambda e: _set(e, 6, medians=e.plans_[6].medians | {" century": 20.0}),
        lambda e: e.plans_.pop(),
        lambda e: e.plans_.insert(0, None),
        lambda e: setattr(e, "feature_columns_", e.feature_columns_[::-1].copy()),
        lambda e: setattr(e, "scale_", 0 * e.scale_),
    ],
)
def test_a_spoilt_file_is_refused(table, tmp_path, spoil, monkeypatch):
    encoder = TableEncoder(text_dimensions=5).fit(table, np.arange(300) % 3)
    spoil(encoder)
    _save_unchecked(encoder, tmp_path / "encoder.corollary", monkeypatch)
    with pytest.raises(ModelFileError, match=r"(TableEncoder|Plan) does not fit"):
        corollary.load(tmp_path / "encoder.corollary")


FILES = pathlib.Path(__file__).parents[1] / "core" / "files"


def test_encoders_of_earlier_versions_encode_the_same_rows_alike(monkeypatch):
    # The file holds a list of three, as nobody writes them any more.
    monkeypatch.setattr("corollary.core.files.persist._is_object", lambda root: True)
    encoders = corollary.load(FILES / "table-encoders-format-1.corollary")
    rows = pd.read_parquet(FILES / "table-encoders-format-1.parquet")
    with np.load(FILES / "table-encoders-format-1.npz") as expected:
        for encoder, name in zip(encoders, "abc"):
            features = encoder.transform(rows[encoder.feature_names_in_])
            np.testing.assert_allclose(features, expected[name], rtol=1e-12, atol=1e-12)
        assert encoders[0].get_feature_names_out().tolist() == expected["names"].tolist()
    kinds = [type(plan).__name__ for plan in encoders[0].plans_]
    assert set(kinds) == {
        *("NumberPlan", "IndicatorPlan", "LevelPlan", "DatePlan", "TextPlan", "UnusedPlan")
    }


# A plan as versions before wrote it.
FORMER = {
    "name": "size",
    "kind": "numeric",
    "notes": [],
    "tokens": [],
    "median": 2.0,
    "log": False,
    "low": 1.0,
    "high": 3.0,
    "missing": False,
    "features": [["", "each"]],
}


@pytest.mark.parametrize(
    ("changes", "loads"),
    [
        ({}, True),
        ({"zero": True}, True),
        ({"median": np.nan}, False),
        ({"kind": "numbers"}, False),
        ({"kind": []}, False),
        ({"low": "1"}, False),
        ({"log": True}, False),
        ({"more": 1}, False),
        ({"missing": True}, False),
    ],
)
def test_plans_of_earlier_versions_are_checked_too(changes, loads, tmp_path, monkeypatch):
    encoder = TableEncoder().fit(pd.DataFrame({"size": [1.0, 2.0, 3.0]}))
    encoder.plans_ = [FORMER | changes]
    _save_unchecked(encoder, tmp_path / "encoder.corollary", monkeypatch)
    if loads:
        again = corollary.load(tmp_path / "encoder.corollary")
        assert again.plans_[0].median == 2.0
    else:
        with pytest.raises(ModelFileError, match="TableEncoder does not fit"):
            corollary.load(tmp_path / "encoder.corollary")


def test_positive_skewed_numbers_get_their_logarithm(seed):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"income": rng.lognormal(size=200), "age": rng.normal(40, 5, 200)})
    encoder = TableEncoder(scale=False).fit(frame)
    assert encoder.get_feature_names_out().tolist() == ["income", "income log", "age"]
    features = encoder.transform(frame)
    np.testing.assert_allclose(features[:, 1], np.log(frame["income"]))
    least = np.log(frame["income"].min() / 2)
    new = pd.DataFrame({"income": [0.0, -3.0], "age": [40.0, 40.0]})
    np.testing.assert_allclose(encoder.transform(new)[:, 1], least)


def lengths(seed, n=400):
    return np.random.default_rng(seed).uniform(3.0, 9.0, size=n)


def test_a_zero_is_a_quantity_however_far_from_all_other_numbers(seed):
    x = lengths(seed)
    x[:2] = 0.0
    encoder = TableEncoder(scale=False).fit(pd.DataFrame({"x": x}))
    assert encoder.get_feature_names_out().tolist() == ["x"]
    assert encoder.transform(pd.DataFrame({"x": [0.0]}))[0, 0] == 0.0
    assert encoder.plans_[0].low == 0.0
    # Files of earlier versions hold plans that fill it.
    filling = dataclasses.replace(encoder.plans_[0], zero=True)
    assert filling.apply(Column(pd.Series([0.0]))).tolist() == [[encoder.plans_[0].median]]


@pytest.mark.parametrize("kind", ["near", "many", "negative", "counts", "few rows"])
def test_other_zeros_are_quantities(seed, kind):
    x = lengths(seed, 30 if kind == "few rows" else 400)
    if kind == "near":
        x[:20] = np.linspace(0.2, 3.0, 20)
    elif kind == "negative":
        x[0] = -4.0
    elif kind == "counts":
        x = np.round(x)
    x[-1 if kind != "many" else slice(-20, None)] = 0.0
    encoder = TableEncoder(scale=False).fit(pd.DataFrame({"x": x}))
    assert encoder.transform(pd.DataFrame({"x": [0.0]}))[0, 0] == 0.0


MIXED = [
    pd.Series(["$1,200", " 80", None, "unknown", "80 ", "7%", "unknown"], name="price"),
    pd.Series([3.0, np.nan, 3.0, np.inf, 1.0, 2.0, 2.0], name="size"),
    pd.Series(["2020-01-03", "2019-12-31", None, "", "2020-01-03", "x", "2020-01-04"], name="day"),
    pd.Series(["b", "a", "b", "c", None, "a", "d"], name="level").astype("category"),
    pd.Series([True, False, None, True, True, False, False], name="flag", dtype="boolean"),
]


@pytest.mark.parametrize("values", MIXED, ids=lambda v: v.name)
@pytest.mark.parametrize("rows", [[0, 1, 2, 3, 4, 5, 6], [6, 5, 2, 2, 0], [3], []])
def test_rows_of_a_column_are_read_as_if_they_were_all_of_it(values, rows):
    whole, alone = Column(values), Column(values.iloc[rows])
    for part in (whole.take(rows), whole.take([6, 5, 4, 3, 2, 1, 0]).take([6 - r for r in rows])):
        assert len(part) == len(alone)
        assert part.name == alone.name
        np.testing.assert_array_equal(part.numbers, alone.numbers)
        np.testing.assert_array_equal(part.dates(""), alone.dates(""))
        np.testing.assert_array_equal(part.strings[0], alone.strings[0])
        assert part.strings[1] == alone.strings[1]
        assert part.values.equals(alone.values)


def test_a_table_of_columns_is_encoded_like_its_frame(seed):
    rng = np.random.default_rng(seed)
    frame = pd.concat(MIXED, axis=1).loc[rng.integers(0, 7, 60)].reset_index(drop=True)
    frame, y = frame.set_axis(["a", "b", "c", "d", "4"], axis=1), rng.normal(size=60)
    table = ColumnTable.of(frame)
    assert table.names == ["a", "b", "c", "d", "4"]
    train, new = np.arange(40), np.arange(40, 60)
    one = TableEncoder().fit(frame.iloc[train], y[train])
    other = TableEncoder().fit(table.take(train), y[train])
    np.testing.assert_array_equal(one.transform(frame.iloc[new]), other.transform(table.take(new)))
    np.testing.assert_array_equal(one.transform(frame.iloc[new]), one.transform(table.take(new)))
    with pytest.raises(ValueError, match="names"):
        TableEncoder().fit(table.select(["a", "c"])).transform(table.select(["c", "a"]))


@pytest.mark.parametrize(
    ("start", "n_days", "parts"),
    [
        ("2021-03-01", 20, ["year", "weekday", "seconds"]),
        ("2021-03-01", 200, ["year", "day", "weekday", "seconds"]),
        ("2021-03-01", 500, ["year", "month", "day", "weekday", "seconds"]),
    ],
)
def test_parts_of_a_date_that_are_the_date_once_more_are_left_out(start, n_days, parts):
    days = pd.DataFrame({"on": pd.date_range(start, periods=n_days)})
    names = TableEncoder().fit(days).get_feature_names_out()
    assert [name.removeprefix("on ") for name in names] == parts


@pytest.mark.parametrize(
    ("values", "numbers"),
    [
        (["13:30", "1:05"], [13.5, 1 + 5 / 60]),
        (["1:30 PM", "12:15 a.m."], [13.5, 0.25]),
        (["2:03:36", "100:00:00"], [2.06, 100.0]),
        (["12.5 kg", "80kg"], [12.5, 80.0]),
        (["1,200 m", "3 m"], [1200.0, 3.0]),
    ],
)
def test_clock_times_and_units_are_numbers(values, numbers):
    column = Column(pd.Series(values * 5))
    assert column.content.kind == "numeric"
    np.testing.assert_allclose(column.numbers[: len(values)], numbers)
    assert column.content.notes


@pytest.mark.parametrize("values", [["12A", "14B"], ["500 g", "1 kg"], ["12 Main", "5 Elm"]])
def test_seats_mixed_units_and_streets_are_not(values):
    assert Column(pd.Series(values * 5)).content.kind == "category"


@pytest.mark.parametrize(
    ("values", "first"),
    [
        (["8/6/20 18:57", "12/31/19 1:05"], "2020-08-06T18:57:00"),
        (["31.12.19 23:59", "01.01.20 00:00"], "2019-12-31T23:59:00"),
        (["06-Aug-20", "31-Dec-19"], "2020-08-06T00:00:00"),
        (["2020Q3", "2021Q4"], "2020-07-01T00:00:00"),
    ],
)
def test_short_years_and_quarters_are_dates(values, first):
    column = Column(pd.Series(values * 5))
    content = column.content
    assert content.kind == "date"
    assert str(np.datetime64(int(column.dates(content.date_format)[0]), "s")) == first
    plan = TableEncoder().fit(pd.DataFrame({"when": values * 5})).plans_[0]
    assert plan.date_format == content.date_format


def test_a_new_level_is_usual_where_most_rows_bring_one(seed):
    rng = np.random.default_rng(seed)
    titles = pd.DataFrame({"title": [f"title {i}" for i in rng.integers(0, 3000, 2000)]})
    y = rng.normal(size=2000)
    new = pd.Series(["title 9999", "title"])
    usual = TableEncoder(target="number").fit(titles, y).plans_[0]
    assert not any(mask.any() for mask, what in usual.unusual(Column(new)))
    towns = pd.DataFrame({"town": [f"town {i}" for i in rng.integers(0, 60, 2000)]})
    strange = TableEncoder(target="number").fit(towns, y).plans_[0]
    assert strange.unusual(Column(new))[0][0].tolist() == [True, True]


def test_rows_of_a_column_are_read_as_it_was_told():
    texts = pd.Series([f"word{i}" for i in range(30)] + ["word0"] * 31, name="x")
    whole = Column(texts)
    assert whole.content.kind == "category"
    assert whole.take(range(30)).content.kind == "identifier"
    told = whole.read_as(whole.content)
    assert told.take(range(30)).content.kind == "category"
    assert told.take(range(30)).take([3, 4]).content.kind == "category"
    assert told.take(range(40, 50)).content.kind == "constant"
