"""What only the reader can answer is asked: leaks, signs, codes, computed targets."""

import numpy as np
import pandas as pd
import pytest

from corollary.reporting import from_memory, measure, read_demo
from corollary.reporting.table._odd_values import codes_as_numbers, lone_negatives
from corollary.reporting.table._profile import inspect, profile_table


def _asked(frame, target="y"):
    """Kinds of the findings of a table, with the columns they are about."""
    findings = profile_table(inspect(from_memory(frame), target, "auto")).findings
    return {(finding.kind, *finding.columns) for finding in findings}


def test_a_column_that_leaves_two_per_cent_of_the_variance_is_asked_about():
    rng = np.random.default_rng(0)
    y = rng.gamma(4, 2, 3000)
    frame = pd.DataFrame({"gross": y + 0.14 * y.std() * rng.normal(size=3000), "y": y})
    assert ("predicts-alone", "gross") in _asked(frame)
    frame["gross"] = y + 0.5 * y.std() * rng.normal(size=3000)  # a strong column, and no leak
    assert not _asked(frame)


def test_a_code_that_names_the_class_but_for_slips_is_asked_about():
    rng = np.random.default_rng(0)
    dead = rng.random(8000) < 0.045
    severity = np.where(dead, 4, rng.choice([0, 1, 2, 3], 8000))
    slips = rng.random(8000) < 0.015
    severity = np.where(slips, rng.integers(0, 5, 8000), severity)
    frame = pd.DataFrame({"severity": severity, "y": np.where(dead, "yes", "no")})
    assert ("predicts-alone", "severity") in _asked(frame)
    slips = rng.random(8000) < 0.1
    frame["severity"] = np.where(slips, rng.integers(0, 5, 8000), severity)
    assert not _asked(frame)


@pytest.mark.parametrize("name", ["breast_cancer", "iris", "wine", "diabetes"])
def test_real_tables_without_a_leak_are_not_asked_about(name):
    table = read_demo(name)
    assert profile_table(inspect(table, table.target, "auto")).findings == ()


def test_a_target_that_is_a_difference_of_columns_is_asked_about():
    rng = np.random.default_rng(0)
    planned = rng.uniform(300, 1300, 600)
    delay = rng.gamma(1.2, 20, 600) - 12
    frame = pd.DataFrame({"planned": planned, "actual": planned + delay, "y": delay})
    frame["y"] += 3 * rng.normal(size=600)
    evidence = measure(from_memory(frame), "y", fast=True)[0]
    (asked,) = [f for f in evidence.profile.findings if f.kind == "computed-target"]
    assert set(asked.columns) == {"planned", "actual"}
    assert not asked.act
    honest = pd.DataFrame({"planned": planned, "load": delay})
    honest["y"] = delay + 3 * rng.normal(size=600)
    evidence = measure(from_memory(honest), "y", fast=True)[0]
    assert not [f for f in evidence.profile.findings if f.kind == "computed-target"]


def test_a_few_negative_numbers_are_asked_about_where_they_stand_apart():
    rng = np.random.default_rng(0)
    rows = np.arange(1000)
    age = rng.integers(0, 90, 1000).astype(float)
    age[7] = -4
    (asked,) = lone_negatives("age", age, rows)
    assert asked.rows == (7,)
    assert not asked.act
    assert not lone_negatives("depth", age, rows)  # near to the others, and may have a sign
    weighed = rng.uniform(40, 90, 1000)
    weighed[:2] = -60
    assert lone_negatives("mass", weighed, rows)
    assert not lone_negatives("age", np.abs(age), rows)
    assert not lone_negatives("age", rng.normal(size=1000), rows)
    frame = pd.DataFrame({"age": age, "y": rng.normal(size=1000)})
    assert ("impossible-sign", "age") in _asked(frame)


def test_numbers_whose_name_says_code_are_asked_about():
    zips = np.array([10115.0, 20095.0, 80331.0])
    assert codes_as_numbers("zip_code", zips)
    assert codes_as_numbers("ZIP", zips)
    assert not codes_as_numbers("zipper", zips)
    assert not codes_as_numbers("zip", zips + 0.5)


def test_missing_values_are_counted_and_told_by_kind():
    rng = np.random.default_rng(0)
    words = rng.choice(["ab", "cd", "ef"], 2000).astype(object)
    words[3] = None
    frame = pd.DataFrame({"word": words, "x": rng.normal(size=2000), "y": rng.normal(size=2000)})
    findings = profile_table(inspect(from_memory(frame), "y", "auto")).findings
    (said,) = [f.sentence for f in findings if f.kind == "missing-values"]
    assert said == "'word' has missing values (1 row, 0.05%)."
    frame.loc[4, "x"] = np.nan
    findings = profile_table(inspect(from_memory(frame), "y", "auto")).findings
    (said,) = [f.sentence for f in findings if f.kind == "missing-values"]
    assert "Missing numbers were filled" in said


def test_a_column_is_of_one_kind_in_the_profile_and_in_the_model():
    rng = np.random.default_rng(0)
    pool = [f"the {a} of {b}" for a in range(15) for b in range(20)]
    titles = np.array(pool)[np.r_[np.arange(145), rng.integers(0, 145, 155)]][rng.permutation(300)]
    x = rng.normal(size=300)
    frame = pd.DataFrame({"title": titles, "x": x, "y": x + 0.1 * rng.normal(size=300)})
    evidence, model = measure(from_memory(frame), "y", fast=True, independent=True)
    (profiled,) = [column for column in evidence.profile.columns if column.name == "title"]
    (plan,) = [plan for plan in model.encoder.plans_ if plan.name == "title"]
    assert profiled.kind == plan.kind == "category"
    trained = np.setdiff1d(np.arange(300), evidence.test.positions)
    assert len(set(titles[trained])) > 0.5 * len(trained)  # alone they would be read as text
