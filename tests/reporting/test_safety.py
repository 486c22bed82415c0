"""Nothing that comes from data may run, load, or leave its place."""

import html as entities
import json
import re
import shutil
import subprocess

import pytest

from corollary.reporting.page._format import clean
from corollary.reporting.page._render import content_hash
from tests.reporting import worked_example
from tests.reporting.evidence_parts import page_of
from tests.reporting.test_render import Page

CHROMIUM = next(
    (p for p in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if p), None
)
browser = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
NAMES = [name for name in worked_example.BUILDERS if name not in ("many_rows", "wide")]
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip


@pytest.fixture(scope="module")
def hostile():
    return page_of(worked_example.hostile())


def run(tmp_path, html, *flags):
    path = tmp_path / "page.html"
    path.write_text(html, encoding="utf-8")
    command = [CHROMIUM, *FLAGS, f"--user-data-dir={tmp_path / 'profile'}", *flags, path.as_uri()]
    return subprocess.run(command, capture_output=True, timeout=120, check=True)


def browsed_title(tmp_path, html, *flags):
    out = run(tmp_path, html, "--dump-dom", *flags).stdout.decode("utf-8", "replace")
    return re.search(r"<title>(.*?)</title>", out, flags=re.DOTALL)[1]


@pytest.mark.parametrize("name", NAMES)
def test_policy_allows_our_style_and_script_by_hash_and_nothing_else(name):
    html = page_of(worked_example.BUILDERS[name]())
    page = Page(html)
    policies = [a for a in page.find("meta") if a.get("http-equiv") == "Content-Security-Policy"]
    assert len(policies) == 1
    rules = dict(rule.strip().split(" ", 1) for rule in policies[0]["content"].split(";"))
    assert rules == {
        "default-src": "'none'",
        "style-src": f"'{content_hash(''.join(page.text['style']))}'",
        "script-src": f"'{content_hash(''.join(page.text['script']))}'",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    assert len(page.find("script")) == len(page.find("style")) == 1
    # The policy must come before anything it governs.
    assert html.index("Content-Security-Policy") < html.index("<style")


@pytest.mark.parametrize("name", NAMES)
def test_page_has_no_inline_handlers_styles_or_outside_addresses(name):
    page = Page(page_of(worked_example.BUILDERS[name]()))
    allowed = {
        "html", "head", "meta", "title", "style", "body", "a", "div", "header", "p", "time", "h1",
        "h2", "h3", "h4", "bdi", "span", "strong", "ol", "ul", "li", "nav", "main", "section",
        "footer", "figure", "figcaption", "details", "summary", "table", "thead", "tbody", "tr",
        "th", "td", "pre", "code", "dl", "dt", "dd", "script", "svg", "desc", "line", "rect",
        "circle", "path", "text",
    }  # fmt: skip
    for tag, attributes in page.elements:
        assert tag in allowed
        for key, value in attributes.items():
            assert not key.startswith("on"), (tag, key)
            assert key not in ("style", "src", "srcset", "action", "formaction", "xlink:href")
            if key == "href":
                assert value.startswith("#")


def test_hostile_texts_appear_as_text_everywhere(hostile):
    page = Page(hostile)
    written = " ".join(text for texts in page.text.values() for text in texts)
    for text in ("<script>document.title='owned'</script>", "{{ 7 * 7 }}{% raw %}"):
        assert text in written
    assert "49{" not in written  # no template was evaluated
    assert "<script>document" not in hostile
    assert "<img" not in hostile
    assert "<svg onload" not in hostile
    assert "\x00" not in hostile
    assert "\u202e" not in hostile
    assert clean(worked_example.HOSTILE[5]) in written


def test_hostile_values_of_attributes_stay_inside(hostile):
    for tag, attributes in Page(hostile).elements:
        assert "onerror" not in attributes, tag
        assert "onload" not in attributes, tag


def test_slider_data_are_numbers_only(hostile):
    attributes = next(a for _, a in Page(hostile).elements if "data-fine" in a)
    fine = json.loads(attributes["data-fine"])
    assert all(isinstance(n, int) for pair in fine for n in pair)


def test_script_builds_no_markup_from_text():
    page = Page(page_of(worked_example.tiny()))
    script = "".join(page.text["script"])
    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "fetch",
                 "XMLHttpRequest", "localStorage", "new Function"):  # fmt: skip
        assert word not in script


@browser
def test_no_script_of_the_data_runs_in_a_browser(hostile, tmp_path):
    title = entities.unescape(browsed_title(tmp_path, hostile))
    assert title != "owned"
    assert title.startswith("{{ 7 * 7 }}{% raw %} from <script>document")


@browser
def test_policy_stops_what_an_escape_would_have_let_through(tmp_path):
    page = page_of(worked_example.tiny())
    breach = (
        "<script>document.title='owned'</script>"
        "<img src=x onerror=\"document.title='owned'\">"
        "<svg onload=\"document.title='owned'\"></svg>"
    )
    assert "owned" not in browsed_title(tmp_path, page.replace("<main>", "<main>" + breach))
    # The same breach without the policy does run: the test can fail.
    open_page = re.sub(r"<meta http-equiv[^>]*>", "", page)
    assert "owned" in browsed_title(tmp_path, open_page.replace("<main>", "<main>" + breach))
