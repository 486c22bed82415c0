"""Numbers at the ends of double precision, and classes that occur once: an answer or a sentence."""

import json

import numpy as np
import pandas as pd
import pytest

import corollary
from corollary.reporting import ReportError, report


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    return pd.DataFrame(rng.normal(size=(90, 3)), columns=["a", "b", "y"])


def _choice(*values):
    return np.random.default_rng(1).choice(values, 90)


@pytest.mark.parametrize(
    "column",
    [
        _choice(1e308, -1e308, 1.7e308),
        _choice(5e-324, 1e-310, 0.0),
        np.geomspace(5e-324, 1e308, 90),
        np.r_[np.geomspace(5e-324, 1.0, 89), np.nan],
    ],
    ids=["huge", "denormal", "all sizes", "small"],
)
def test_extreme_columns_are_encoded_saved_and_predicted(data, column, tmp_path):
    made = report(data.assign(a=column), "y", out=tmp_path, fast=True)
    text = made.paths["report.json"].read_text()
    json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} in report.json"))
    rows = pd.DataFrame({"a": [0.0, 1e308, -1e308, 5e-324], "b": 1.0})
    table = corollary.load(made.paths["model.corollary"]).predict_table(rows)
    assert np.isfinite(table[["prediction", "low", "high"]].to_numpy()).all()


def test_huge_numbers_are_told_of(data):
    made = report(data.assign(a=_choice(1.0, 1e308)), "y", out=None, fast=True)
    assert "beyond 1e+302 read as 1e+302" in json.dumps(made.content)


def test_whole_numbers_too_large_to_count_are_classes(data):
    made = report(data.assign(y=_choice(1e308, -1e308)), "y", out=None, fast=True)
    assert made.model.classes == ("-1e+308", "1e+308")


def test_classes_that_occur_once_are_refused(data):
    with pytest.raises(ReportError, match="90 classes in 90 rows, so that no row is left") as error:
        report(data, "y", task="classification", out=None, fast=True)
    assert error.value.kind == "target"
