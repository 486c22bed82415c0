"""The dictionary, its schema, and the page made from it."""

import html
import json
import os
import pathlib
import re
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser

import jsonschema
import pytest

import corollary.reporting.page._render as render
from corollary.reporting import json_schema
from corollary.reporting.page import _schema
from corollary.reporting.page._render import render_data, render_page, to_dict
from corollary.reporting.page.sections import SECTIONS
from tests.reporting import worked_example
from tests.reporting.evidence_parts import page_of

ROOT = pathlib.Path(__file__).parents[2]
NAMES = [name for name in worked_example.BUILDERS if name not in ("many_rows", "wide")]
VOID = {"meta", "br", "img", "input", "hr", "link"}


class Page(HTMLParser):
    """Collects elements, and checks that tags are nested as they should be."""

    def __init__(self, html: str):
        super().__init__()
        self.elements: list[tuple[str, dict]] = []
        self.stack: list[str] = []
        self.text: dict[str, list[str]] = {}
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.stack, f"</{tag}> closes nothing"
        assert self.stack[-1] == tag, f"</{tag}> closes <{self.stack[-1]}>"
        self.stack.pop()

    def handle_data(self, data):
        if self.stack:
            self.text.setdefault(self.stack[-1], []).append(data)

    def find(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture(scope="module")
def schema():
    return json_schema()


def test_the_schema_is_one_and_knows_no_value_by_accident(schema):
    jsonschema.Draft202012Validator.check_schema(schema)
    assert set(schema["properties"]["sections"]["properties"]) == set(SECTIONS)
    with pytest.raises(TypeError, match="No schema is known for values of"):
        _schema._schema_of(complex)


@pytest.fixture(scope="module", params=NAMES)
def evidence(request):
    return worked_example.BUILDERS[request.param]()


def test_json_follows_its_schema(evidence, schema):
    report = json.loads(render_data(to_dict(evidence)))
    jsonschema.validate(report, schema)
    assert report["schema_version"] == _schema.SCHEMA_VERSION


@pytest.mark.parametrize(
    "damage",
    [
        lambda r: r.pop("verdict"),
        lambda r: r["verdict"].update(phrase="fine"),
        lambda r: r["verdict"]["cards"].pop(),
        lambda r: r["sections"]["models"]["candidates"][0]["loss"].update(value="0.1"),
        lambda r: r["sections"]["data"].update(extra=1),
        lambda r: r["sections"]["calibration"]["coverage"].update(value=1.2),
    ],
)
def test_schema_refuses_a_damaged_report(damage, schema):
    report = to_dict(worked_example.breast_cancer())
    damage(report)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(report, schema)


def test_json_holds_plain_values_only(evidence):
    report = to_dict(evidence)
    assert json.loads(json.dumps(report, allow_nan=False)) == report


def test_page_is_made_from_the_json_alone(evidence):
    assert render_page(json.loads(render_data(to_dict(evidence)))) == page_of(evidence)


def test_same_bytes_in_another_process_with_another_hash_seed():
    command = [sys.executable, "-m", "tests.reporting.worked_example", "three_classes"]
    environment = {**os.environ, "PYTHONHASHSEED": "123", "PYTHONIOENCODING": "utf-8"}
    other = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, check=True, timeout=300
    )
    assert other.stdout.decode("utf-8") == page_of(worked_example.three_classes())


def test_page_is_well_formed_and_its_links_lead_somewhere(evidence):
    html = page_of(evidence)
    assert html.startswith("<!doctype html>")
    page = Page(html)
    assert page.stack == []
    ids = [a["id"] for _, a in page.elements if "id" in a]
    assert len(ids) == len(set(ids))
    for attributes in page.find("a"):
        assert attributes["href"].startswith("#")
        assert attributes["href"][1:] in ids
    for attributes in page.find("svg"):
        assert attributes["role"] == "img"
        assert attributes["aria-labelledby"] in ids
        if "aria-describedby" in attributes:
            assert attributes["aria-describedby"] in ids
    assert page.find("html")[0]["lang"] == "en"
    assert len(page.find("h1")) == 1


def test_every_fold_has_a_summary_and_every_heading_an_order():
    page = Page(page_of(worked_example.breast_cancer()))
    assert len(page.find("details")) == len(page.find("summary")) > 10
    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1
    assert all(b - a <= 1 for a, b in zip(levels, levels[1:]))  # noqa: RUF007


def test_sections_come_in_the_order_of_the_five_questions():
    page = Page(page_of(worked_example.diabetes()))
    names = [a["id"] for a in page.find("section")]
    first = ["data", "models", "certificate", "calibration", "errors", "why", "new-data"]
    assert names[:7] == first
    assert names[-2:] == ["reproduce", "limits"]
    questions = [c["question"] for c in to_dict(worked_example.diabetes())["verdict"]["cards"]]
    assert questions == [
        "How good?", "How sure?", "How wrong at worst?", "Why?", "Still true on new data?",
    ]  # fmt: skip


def test_no_empty_sections():
    evidence = worked_example.breast_cancer()
    bare = replace(
        evidence,
        certificates=(),
        importances=(),
        effects=(),
        test=replace(evidence.test, probability=None, sets=None),
    )
    report = to_dict(bare)
    assert set(report["sections"]) & {"certificate", "why", "calibration"} == set()
    html = page_of(bare)
    page = Page(html)
    assert {"certificate", "why", "calibration"} & {a["id"] for a in page.find("section")} == set()
    assert "#certificate" not in html
    assert "unknown" in html  # the card says that it does not know


def test_every_section_opens_with_its_finding(evidence):
    for name, section in to_dict(evidence)["sections"].items():
        assert section["finding"].strip(), name
        assert section["finding"][-1] in ".?", name


def test_date_is_the_only_clock():
    evidence = worked_example.breast_cancer()
    assert "2026-11-15" in page_of(evidence)
    assert "<time" not in page_of(replace(evidence, date=""))


@pytest.mark.parametrize("name", ["breast_cancer", "diabetes"])
def test_typical_page_is_small(name):
    assert len(page_of(worked_example.BUILDERS[name]()).encode()) < 700_000


@pytest.mark.parametrize(("rows", "columns"), [(5_000, 120)])
def test_page_stays_small(rows, columns):
    page = page_of(worked_example.many_rows(rows, columns))
    assert len(page.encode()) < 2_000_000
    assert "cell-5" in page
    assert 'class="dot' not in page


@pytest.mark.verify
def test_page_stays_below_two_megabytes_with_a_million_rows_and_200_columns():
    assert len(page_of(worked_example.many_rows()).encode()) < 2_000_000


def test_two_thousand_points_are_drawn_and_more_are_binned():
    few = to_dict(worked_example.many_rows(2_000, 3))["sections"]["errors"]["scatter"]
    many = to_dict(worked_example.many_rows(2_001, 3))["sections"]["errors"]["scatter"]
    assert len(few["points"]) == 2_000
    assert few["cells"] is None
    assert many["points"] == []
    assert sum(n for _, _, n in many["cells"]["counts"]) == 2_001


def test_a_thousand_columns_are_cut_and_said_so():
    evidence = worked_example.many_rows(100, 1_000)
    html = page_of(evidence)
    assert "700 further columns" in html
    assert len(html.encode()) < 2_000_000


def test_print_opens_every_fold():
    style = (render.TEMPLATES / "style.css").read_text(encoding="utf-8")
    printed = style[style.index("@media print") :]
    assert re.search(r"details::details-content \{[^}]*content-visibility: visible", printed)
    assert "size: A4" in printed
    script = (render.TEMPLATES / "script.js").read_text(encoding="utf-8")
    assert "beforeprint" in script


def test_script_is_below_its_limit():
    assert (render.TEMPLATES / "script.js").stat().st_size <= 20_000


def _luminance(colour):
    colour = colour.lstrip("#")
    if len(colour) == 3:
        colour = "".join(2 * c for c in colour)
    parts = [int(colour[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("scheme", ["light", "dark", "print"])
def test_contrast_is_at_least_aa(scheme):
    style = (render.TEMPLATES / "style.css").read_text(encoding="utf-8")
    blocks = re.findall(r":root \{(.*?)\}", style, flags=re.DOTALL)
    block = blocks[["light", "dark", "print"].index(scheme)]
    colours = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]+)", block))
    pairs = [(t, p) for t in ("ink", "soft", "faint", "accent", "warn") for p in ("paper", "wash")]
    pairs += [("ink", "accent-soft"), ("ink", "warn-soft"), ("warn", "warn-soft")]
    for text, paper in pairs:
        a, b = _luminance(colours[text]), _luminance(colours[paper])
        ratio = (max(a, b) + 0.05) / (min(a, b) + 0.05)
        assert ratio >= 4.5, f"{text} on {paper} in {scheme}: {ratio:.2f}"


def test_code_stands_apart_from_the_words():
    call = 'corollary.certify(corollary.load("model.corollary"), rows, targets)'
    for name in ("diabetes", "breast_cancer"):
        page = html.unescape(page_of(worked_example.BUILDERS[name]()))
        assert f"<code>{call}</code> bounds" in page
