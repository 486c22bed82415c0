"""The drawing kit: scales, ticks, text that fits, and pictures that stay inside their frame."""

import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corollary.reporting.page import _forest_plots as intervals
from corollary.reporting.page import _plots as plots
from corollary.reporting.page._axes import Scale, tick_texts, ticks
from corollary.reporting.page._svg import Drawing, fit_text, text_width
from tests.reporting import worked_example
from tests.reporting.evidence_parts import page_of

NAME = {"name": "example", "title": "Example"}


@given(
    st.floats(-1e6, 1e6),
    st.floats(1e-6, 1e6),
    st.integers(2, 12),
)
def test_ticks_are_few_round_and_inside(low, width, most):
    high = low + width
    if not high > low:
        return
    values = ticks(low, high, most)
    assert len(values) <= most
    slack = 1e-6 * (high - low)
    assert all(low - slack <= v <= high + slack for v in values)
    if len(values) > 2:
        assert np.allclose(np.diff(values), values[1] - values[0], rtol=1e-3)


def test_ticks_of_an_empty_range():
    assert ticks(3.0, 3.0) == [3.0]
    assert ticks(float("nan"), 1.0) == []


@given(st.lists(st.integers(-50, 50), min_size=2, max_size=6, unique=True), st.integers(-4, 3))
def test_tick_texts_tell_values_apart(numbers, power):
    values = sorted(n * 10.0**power for n in numbers)
    assert len(set(tick_texts(values))) == len(values)


@given(st.text(max_size=80), st.floats(20, 300))
def test_fitted_text_fits(text, width):
    assert text_width(fit_text(text, width)) <= width + 0.5


def test_width_estimate_is_not_below_a_wide_system_font():
    # Advance widths of DejaVu Sans in units of 1/2048 em, from its own tables.
    dejavu = {"a": 1255, "e": 1260, "i": 569, "m": 1995, "n": 1298, "W": 2025, "0": 1303, " ": 651}
    for word in ("mean", "nine", "Wane 000", "minimum"):
        assert text_width(word, 2048) >= 0.97 * sum(dejavu.get(c, 1298) for c in word)


def test_scale_clamps():
    scale = Scale(0.0, 10.0, 0.0, 100.0)
    assert scale.clamp(20.0, 0.0) == 100.0
    assert scale.clamp(None, -5.0) == 0.0
    assert Scale(1.0, 1.0, 0.0, 10.0)(1.0) == 5.0


def test_text_and_titles_are_escaped():
    picture = Drawing(100, 20)
    picture.text(0, 10, "<script>alert(1)</script>")
    picture.circle(1, 1, 1, "mark", title='"><img onerror=x>')
    svg = str(picture.render("x", "<b>", "&amp;"))
    assert "<script" not in svg
    assert "<img" not in svg
    assert "&lt;b&gt;" in svg
    assert "&amp;amp;" in svg


def _drawings(html):
    return [ElementTree.fromstring(svg) for svg in re.findall(r"<svg.*?</svg>", html, re.DOTALL)]


@pytest.mark.parametrize(
    "name", [n for n in worked_example.BUILDERS if n not in ("wide", "many_rows")]
)
def test_no_text_leaves_its_picture_and_no_shape_is_nan(name):
    html = page_of(worked_example.BUILDERS[name]())
    found = _drawings(html)
    assert len(found) > 20
    for drawing in found:
        width = float(drawing.get("viewBox").split()[2])
        assert drawing.find("title") is not None
        for element in drawing.iter():
            for key in set(element.keys()) & {"x", "y", "cx", "cy", "r", "d", "width", "height"}:
                assert "nan" not in element.get(key)
                assert "inf" not in element.get(key)
        for text in drawing.iter("text"):
            # A shortened text carries its full form as a title of its own.
            shown = "".join(t for t in text.itertext()).removeprefix(text.findtext("title") or "")
            size = {"t-small": 11}.get(text.get("class"), 12)
            wide = text_width(shown, size)
            x = float(text.get("x"))
            anchor = text.get("text-anchor", "start")
            start = {"start": x, "middle": x - wide / 2, "end": x - wide}[anchor]
            assert start >= -9, (shown, start)
            assert start + wide <= width + 9, (shown, start + wide, width)


def _texts(svg):
    return ["".join(t.itertext()) for t in ElementTree.fromstring(str(svg)).iter("text")]


def test_forest_marks_a_row_beyond_the_frame_by_an_arrow():
    rows = [
        {"label": f"model {i}", "value": v, "low": v - 0.1, "high": v + 0.1, "text": str(v)}
        for i, v in enumerate([0.1, 0.2, 0.3, 50.0])
    ]
    data = {"rows": rows, "reference": 0.0, "reference_label": "", "axis": "difference"}
    clipped = str(intervals.forest(data, clip=True, **NAME))
    assert "<circle" in clipped
    assert clipped.count("<circle") == 3
    assert str(intervals.forest(data, clip=False, **NAME)).count("<circle") == 4


def test_forest_draws_an_interval_without_an_end_to_the_edge():
    row = {"label": "a", "value": 1.0, "low": 0.5, "high": None, "text": "1"}
    data = {"rows": [row], "reference": 0.0, "reference_label": "", "axis": ""}
    lines = ElementTree.fromstring(str(intervals.forest(data, **NAME))).iter("line")
    marks = [line for line in lines if line.get("class") == "mark-line"]
    assert len(marks) == 2  # the interval and one cap only


@pytest.mark.parametrize("width", [880, 350])
def test_forest_writes_every_row(width):
    rows = [
        {"label": f"m{i}", "value": i, "low": i - 1, "high": i + 1, "text": f"w{i}", "note": "same"}
        for i in range(5)
    ]
    data = {"rows": rows, "reference": 0.0, "reference_label": "zero", "axis": "x"}
    texts = _texts(intervals.forest(data, width=width, **NAME))
    for i in range(5):
        assert f"m{i}" in texts
        assert f"w{i}" in texts
    assert texts.count("same") == 5


def test_effect_density_is_per_unit_of_the_column():
    # Quantile grids have equal shares; the density is then high where the grid is dense.
    heights = plots._density([0.0, 1.0, 2.0, 10.0], [0.25, 0.25, 0.25, 0.25])
    assert heights[0] == heights[1] == 1.0
    assert heights[3] == pytest.approx(1 / 8)


def test_miniature_draws_labels_and_rest_apart():
    svg = str(plots.miniature({"labels": ["a", "b"], "counts": [3, 1], "other": 2}, **NAME))
    assert 'class="bar"' in svg
    assert 'class="bar-soft"' in svg
    empty = str(plots.miniature({"edges": [], "counts": []}, **NAME))
    assert "<path" not in empty


def test_cells_get_darker_with_counts():
    data = {
        "points": [],
        "cells": {
            "x_edges": [0, 1, 2],
            "y_edges": [0, 1, 2],
            "counts": [[0, 0, 1], [1, 1, 1000]],
        },
        "ribbon": [],
        "domain": [0.0, 2.0],
        "x_label": "x",
        "y_label": "y",
    }
    svg = str(plots.scatter(data, **NAME))
    assert "cell-1" in svg
    assert "cell-5" in svg
    assert "cell-3" not in svg


@pytest.mark.parametrize("width", [880, 340])
def test_the_labels_of_parts_are_whole_and_do_not_overlap(width):
    parts = [
        {"label": label, "n": n}
        for label, n in [("training", 24_000), ("calibration", 6_000), ("test", 1_000)]
    ]
    drawn = str(plots.split(parts, name="split", title="Rows", width=width))
    found = re.findall(r'<text[^>]* x="([\d.]+)"[^>]*>([^<]+)</text>', drawn)
    places = sorted((float(x), text) for x, text in found)
    assert [text for _, text in places] == ["training 24,000", "calibration 6,000", "test 1,000"]
    for (x, text), (after, _) in zip(places, [*places[1:], (width, "")], strict=True):
        assert x + text_width(text) <= after + 0.1  # places are rounded


def test_names_of_categories_take_turns_on_two_lines_where_they_do_not_fit():
    def draw(names):
        n = len(names)
        data = {"grid": names, "mean": [1.0] * n, "density": [1 / n] * n, "numeric": False}
        data |= {"dated": False, "domain": (0.0, 2.0), "percent": False, "column": "clarity"}
        return str(plots.effect(data, name="e", title="t"))

    clarity = ["SI1", "VS2", "SI2", "VS1", "VVS2", "VVS1", "IF", "I1"]
    drawn = draw(clarity)
    assert all(f">{name}<" in drawn for name in clarity)
    assert len(set(re.findall(r'y="([^"]+)" text-anchor="middle"', drawn))) == 2
    assert len(set(re.findall(r'y="([^"]+)" text-anchor="middle"', draw(["a", "b"])))) == 1
