"""The profile: what is odd is said, what is clean raises no alarm."""

import numpy as np
import pandas as pd
import pytest

from corollary.reporting.table._odd_values import (
    impossible_zeros,
    isolated_values,
    sentinel_values,
)
from corollary.reporting.table._profile import inspect, profile_table
from corollary.reporting.table._read import DEMOS, from_memory, read_demo


def _profile(frame, target, task="auto"):
    table = from_memory(frame)
    subject = inspect(table, target, task)
    return profile_table(subject), subject.used.names


def _kinds(profile):
    return {finding.kind for finding in profile.findings}


@pytest.fixture
def frame(seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=400)
    return pd.DataFrame(
        {
            "x": x,
            "length": rng.uniform(3, 8, 400),
            "group": rng.choice(["u", "v", "w"], 400),
            "y": np.where(x + rng.normal(size=400) > 0, "yes", "no"),
        }
    )


@pytest.mark.parametrize("name", DEMOS)
def test_clean_data_raise_no_alarm(name):
    table = read_demo(name)
    profile, _ = _profile(table.frame, table.target)
    assert not any(finding.act for finding in profile.findings)


def test_columns_are_described(frame):
    frame["day"] = pd.date_range("2020-01-01", periods=400)
    frame["flag"] = np.arange(400) % 2 == 0
    frame["count"] = np.arange(400) % 7
    frame.loc[3, "x"] = np.nan
    profile, used = _profile(frame, "y")
    columns = {column.name: column for column in profile.columns}
    assert {name: (c.kind, c.scale) for name, c in columns.items()} == {
        "x": ("numeric", "interval"),
        "length": ("numeric", "ratio"),
        "group": ("category", "nominal"),
        "day": ("date", "interval"),
        "flag": ("boolean", "nominal"),
        "count": ("numeric", "absolute"),
    }
    assert columns["x"].n_missing == 1
    assert columns["x"].numbers["max"] == frame["x"].max()
    assert sum(columns["x"].histogram["counts"]) == 399
    assert columns["day"].numbers["min"] == "2020-01-01"
    assert sum(columns["group"].histogram["counts"]) == 400
    assert profile.target.histogram["labels"]
    assert used == list(columns)
    assert "missing-values" in _kinds(profile)


def test_whole_days_have_no_hours(frame):
    frame["day"] = pd.date_range("2020-01-01", periods=400).astype(str)
    frame["moment"] = pd.date_range("2020-01-01", periods=400, freq="h")
    profile, _ = _profile(frame, "y")
    columns = {column.name: column for column in profile.columns}
    assert columns["day"].numbers["median"] == "2020-07-18"
    assert columns["moment"].numbers["median"] == "2020-01-09T07:30:00"


def test_values_that_differ_in_capitals_only_are_asked_about(frame):
    assert "alike-values" not in _kinds(_profile(frame, "y")[0])
    frame["y"] = frame["y"].where(np.arange(400) % 5 > 0, frame["y"].str.upper())
    frame["group"] = frame["group"].where(np.arange(400) % 7 > 0, "U")
    profile, _ = _profile(frame, "y")
    found = {f.columns[0]: f for f in profile.findings if f.kind == "alike-values"}
    assert set(found) == {"y", "group"}
    assert "'NO', 'no'; 'YES', 'yes'. Should they be one?" in found["y"].sentence
    assert not found["y"].act


def test_positions_are_those_of_the_file(frame):
    frame.loc[0, "y"] = None
    frame.loc[9, "length"] = 0.0
    profile, _ = _profile(frame, "y")
    assert profile.findings[0].rows == (9,)
    assert profile.n_dropped == 1


def test_zeros_that_are_natural_are_left_alone():
    rng = np.random.default_rng(0)
    rows = np.arange(1000)
    assert not impossible_zeros("count", rng.poisson(6, 1000).astype(float), rows)
    rain = rng.exponential(size=1000)
    rain[:3] = 0
    assert not impossible_zeros("rain", rain, rows)
    many = rng.uniform(3, 8, 1000)
    many[:200] = 0
    assert not impossible_zeros("often", many, rows)


def test_zeros_are_called_wrong_only_by_a_witness(seed):
    rng = np.random.default_rng(seed)
    length = rng.uniform(3, 8, 1000)
    weight = length**3 * np.exp(0.02 * rng.normal(size=1000))
    length[:2] = 0
    rows = np.arange(1000)
    (asked,) = impossible_zeros("length", length, rows)
    assert not asked.act
    assert asked.sentence.endswith("Does a zero there mean none, or that the value is missing?")
    length[:20] = 0
    assert not impossible_zeros("length", length, rows)  # so many are a habit of the data
    columns = {"length": length, "noise": rng.normal(size=1000), "weight": weight}
    (wrong,) = impossible_zeros("length", length, rows, columns)
    assert wrong.act
    assert "'weight', which otherwise moves along with it, is not unusual there" in wrong.sentence
    # Where the other column is at its lowest too, a zero may be what was measured.
    lowest = {"weight": np.where(length == 0, weight.min() / 2, weight)}
    assert not impossible_zeros("length", length, rows, columns | lowest)
    # A fifth of the rows is no slip, whatever another column says: a question.
    length[:200] = 0
    (asked,) = impossible_zeros("length", length, rows, columns)
    assert not asked.act
    assert asked.sentence.endswith("is not unusual there. " + QUESTION)


QUESTION = "Does a zero there mean none, or that the value is missing?"


def test_an_index_and_years_of_service_may_be_zero(seed):
    rng = np.random.default_rng(seed)
    rows = np.arange(900)
    index = np.round(np.clip(rng.normal(6, 1.6, 900), 1.4, 10), 2)
    index[:2] = 0
    assert not impossible_zeros("index", index, rows)
    years = np.clip(rng.poisson(3, 900), 1, 25).astype(float)
    years[:30] = 20 + np.arange(30)
    years[40:43] = 0
    assert not impossible_zeros("years", years, rows)
    weight = rng.normal(70, 9, 900).round(1)
    weight[:2] = 0
    assert impossible_zeros("weight", weight, rows)[0].kind == "possible-code"


def test_a_clipped_logarithm_is_no_missing_value(seed):
    rng = np.random.default_rng(seed)
    x = np.where(rng.random(2000) < 0.24, 0, rng.uniform(12, 1300, 2000))
    cap = np.where(x > 0, x * 0.5 + 20 * rng.normal(size=2000), rng.uniform(50, 600, 2000))
    log = np.log(np.maximum(x, 1))
    found = impossible_zeros("log", log, np.arange(2000), {"log": log, "cap": cap})
    assert not any(finding.act for finding in found)


@pytest.mark.parametrize(
    ("name", "values", "dropped"),
    [
        ("ticket", np.arange(100_234, 100_634), True),
        ("ticket", 5_000 + np.cumsum(np.arange(400) % 4 + 1), True),
        ("ticket", np.arange(100_634, 100_234, -1), True),
        ("customerId", np.random.default_rng(0).permutation(10**6)[:400], True),
        ("customer_id", np.random.default_rng(0).permutation(10**6)[:400], True),
        ("ticket", np.random.default_rng(0).permutation(10**6)[:400], False),
        ("year", np.arange(1601, 2001), False),
        ("paid", np.sort(np.random.default_rng(0).permutation(10**7)[:400]), False),
        ("grid", np.arange(400) // 2 + 7, False),
        ("level", np.arange(400) + 7.5, False),
        ("humid", np.arange(400) * 1_000, False),
    ],
)
def test_numbers_of_records_are_not_used(frame, name, values, dropped):
    profile, used = _profile(frame.assign(**{name: values}), "y")
    assert (name not in used) is dropped
    found = [f for f in profile.findings if f.kind == "row-number"]
    assert [f.columns for f in found] == ([(name,)] if dropped else [])
    assert not any(f.act for f in found)


def test_codes_for_unknown(seed):
    rng = np.random.default_rng(seed)
    ages = rng.integers(18, 90, 500).astype(float)
    rows = np.arange(500)
    assert not sentinel_values("age", ages, rows)
    ages[[4, 5]] = 999
    assert sentinel_values("age", ages, rows)[0].rows == (4, 5)
    ages[[4, 5]] = -99
    assert "is -99 in 2 rows" in sentinel_values("age", ages, rows)[0].sentence


def test_isolated_values(seed):
    rng = np.random.default_rng(seed)
    width = rng.uniform(3.7, 10.5, 1000)
    rows = np.arange(1000)
    assert not isolated_values("y", width, rows)
    width[[3, 4]] = [58.9, 31.8]
    assert isolated_values("y", width, rows)[0].rows == (3, 4)
    # A heavy tail is no mistake: over 200 draws hardly any may be asked about.
    asked = sum(bool(isolated_values("i", rng.lognormal(size=1000), rows)) for _ in range(200))
    assert asked <= 2


@pytest.mark.parametrize("side", [1, -1])
def test_isolated_values_among_numbers_of_both_signs(side, seed):
    rng = np.random.default_rng(seed)
    numbers, rows = rng.normal(size=300), np.arange(300) + 5
    assert not isolated_values("x", numbers, rows)
    numbers[[7, 9]] = side * 1234.0, side * 1300.0
    (found,) = isolated_values("x", numbers, rows)
    assert found.rows == (12, 14)
    assert not found.act
    assert f"'x' reaches {side * 1300:.3g} while all but 2 of its values" in found.sentence
    asked = sum(bool(isolated_values("t", rng.standard_t(2, 300), rows)) for _ in range(200))
    assert asked <= 2


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_a_leaked_column_is_asked_about(frame, task, seed):
    rng = np.random.default_rng([seed, 1])  # not the stream that drew the frame
    if task == "classification":
        frame["leak"] = np.where(frame["y"] == "yes", "approved", "refused")
        frame["number leak"] = (frame["y"] == "yes") * 2.0 + rng.uniform(size=400)
        days = rng.choice(["2024-03-05", "2024-04-01"], 400)
        frame["closed on"] = np.where(frame["y"] == "yes", days, None)
        said = np.where(frame["y"] == "yes", "payment was approved by clerk", "no payment, clerk")
        frame["remark"] = [f"{text} number {i}" for i, text in enumerate(said)]
        names = ["leak", "number leak", "closed on", "remark"]
    else:
        frame["y"] = rng.lognormal(size=400)
        frame["leak"] = frame["y"] * 1.2
        names = ["leak"]
    profile, used = _profile(frame, "y")
    found = [f for f in profile.findings if f.kind == "predicts-alone"]
    assert [f.columns[0] for f in found] == names
    assert not any(f.act for f in found)
    assert set(names) <= set(used)


def test_columns_that_carry_nothing_are_left_out_with_the_reason(frame):
    frame["same"] = 3
    frame["nothing"] = None
    frame["id"] = [f"user-{i}" for i in range(400)]
    frame["row"] = np.arange(400)
    profile, used = _profile(frame, "y")
    assert used == ["x", "length", "group"]
    reasons = {c.name: c.why_unused for c in profile.columns if not c.used}
    assert reasons == {
        "same": "every value is the same",
        "nothing": "every value is missing",
        "id": "every value is distinct, as in an identifier",
        "row": "it counts the rows of the file",
    }
    assert {"constant-column", "empty-column", "identifier", "row-number"} <= _kinds(profile)


def test_infinities_mixed_values_and_rare_classes_are_said(frame):
    frame.loc[5, "x"] = np.inf
    frame["mixed"] = [str(i % 50) if i % 40 else "unknown" for i in range(400)]
    frame.loc[:2, "y"] = "maybe"
    profile, _ = _profile(frame, "y")
    sentences = " ".join(f.sentence for f in profile.findings)
    assert "1 infinite value read as missing" in sentences
    assert "10 values are no numbers ('unknown') and count as missing" in sentences
    assert "Classes with fewer than 10 rows: 'maybe' (3)" in sentences
    assert not any(f.act for f in profile.findings)
