"""Rows, groups and dates are named as a reader knows them."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from corollary.reporting import from_memory, measure
from corollary.reporting.page._render import render_page, to_dict


@pytest.fixture(scope="module")
def made():
    rng = np.random.default_rng(0)
    n = 400
    frame = pd.DataFrame({"customer": [f"C{i:05d}" for i in rng.permutation(n)]})
    frame["flag"] = rng.integers(0, 2, n)
    frame["x"] = rng.normal(size=n)
    frame["day"] = pd.date_range("2021-01-01", periods=n)[rng.permutation(n)]
    noise = np.where(frame.flag == 1, 1.5, 0.05) * rng.normal(size=n)
    late = (frame.day - frame.day.min()).dt.days / 100
    frame["y"] = np.where(frame.x + late - 2 + noise > 0, "yes", "no")
    return frame, *measure(from_memory(frame), "y", fast=True, independent=True)


def test_a_row_is_named_by_its_identifier(made):
    frame, evidence, _ = made
    content = to_dict(evidence)
    worst = content["sections"]["errors"]["worst"]
    assert worst["columns"][0] == "customer"
    for row in worst["rows"] + worst["neighbours"]:
        assert row["values"][0] == frame.customer[row["position"]]
    surest = evidence.wrong_classes.sure.worst
    name = frame.customer[evidence.test.positions[surest]]
    assert f"(customer {name})" in content["verdict"]["cards"][2]["sentence"]


def test_groups_of_few_numbers_are_these_numbers(made):
    _, evidence, _ = made
    cut = [group for group in evidence.groups.groups if group.column == "flag"]
    assert {(group.part, group.level) for group in cut} == {("level", 0), ("level", 1)}
    assert {group.part for group in evidence.groups.groups if group.column == "x"} == {
        "lowest",
        "middle",
        "highest",
    }
    weakest = to_dict(evidence)["sections"]["errors"]["weak"]["forest"]["rows"][0]
    assert weakest["label"] == "flag: 1"


def test_the_effect_of_a_date_covers_its_whole_range(made):
    _, evidence, _ = made
    (effect,) = [e for e in to_dict(evidence)["sections"]["why"]["effects"] if e["column"] == "day"]
    assert effect["dated"]
    assert effect["n_levels_hidden"] == 0
    assert len(effect["grid"]) == len(effect["mean"]) == 21
    assert effect["grid"][0][:7] == "2021-01"
    assert effect["grid"][-1][:7] in ("2022-01", "2022-02")
    page = render_page(to_dict(evidence))
    assert effect["grid"][0][:10] in page
    assert effect["grid"][-1][:10] in page


def test_moments_of_one_day_are_written_with_their_hours(made):
    _, evidence, _ = made
    grid = [f"2021-03-01T{hour:02d}:30:00" for hour in range(3, 9)]
    effects = tuple(
        replace(e, grid=grid, mean=[0.5] * 6, density=[1 / 6] * 6) if e.dated else e
        for e in evidence.effects
    )
    page = render_page(to_dict(replace(evidence, effects=effects)))
    assert "2021-03-01 03:30" in page
