"""The acceptance list: faults planted in data, and pages opened as readers open them.

Every test runs the whole way from a file to the three files of a report. Where an alarm is
expected, the same data without the fault must raise none.
"""

import html as entities
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from corollary.reporting import measure, read_demo, read_table, report
from tests.reporting.test_render import Page

CHROMIUM = next(
    (p for p in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if p), None
)
browser = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip


class Made:
    """A report made from a frame by way of a CSV file, and what a reader finds in it."""

    def __init__(self, frame, target, folder, *, name="data.csv", **settings):
        path = folder / name
        frame.to_csv(path, index=False)
        made = report(path, target, out=folder / "out", fast=True, date="", **settings)
        self.path, self.paths, self.evidence, self.model = (
            path, made.paths, made.evidence, made.model,
        )  # fmt: skip
        self.html = made.paths["report.html"].read_text(encoding="utf-8")
        self.json = json.loads(made.paths["report.json"].read_text(encoding="utf-8"))
        self.findings = self.json["sections"]["data"]["findings"]
        self.verdict = self.json["verdict"]

    def found(self, kind):
        return [f for f in self.findings if f["kind"] == kind]

    @property
    def words(self):
        """The text of the page, without what scripts would add; code stands within its sentence."""
        page = Page(re.sub("</?code>", "", self.html))
        return " ".join(
            " ".join(texts) for tag, texts in page.text.items() if tag not in ("script", "style")
        )


def browse(folder, html, *flags):
    path = folder / "page.html"
    path.write_text(html, encoding="utf-8")
    command = [CHROMIUM, *FLAGS, f"--user-data-dir={folder / 'profile'}", *flags, path.as_uri()]
    return subprocess.run(command, capture_output=True, timeout=120, check=True)


def browsed_title(folder, html):
    out = browse(folder, html, "--dump-dom").stdout.decode("utf-8", "replace")
    return entities.unescape(re.search(r"<title>(.*?)</title>", out, flags=re.DOTALL)[1])


def _coin_flips(seed, n=300, d=20):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n, d)), columns=[f"x{i}" for i in range(d)])
    return frame.assign(label=rng.choice(["heads", "tails"], n))


def _linear(seed, n=200, d=4):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n, d)), columns=[f"x{i}" for i in range(d)])
    score = 2 * frame["x0"] - frame["x1"] + rng.normal(size=n)
    return frame.assign(y=np.where(score > 0, "yes", "no"))


def _diamonds(seed, n=400):
    rng = np.random.default_rng(seed)
    carat = rng.uniform(0.2, 2.5, n)
    side = 6.4 * carat ** (1 / 3)
    frame = pd.DataFrame(
        {
            "carat": carat,
            "cut": rng.choice(["Fair", "Good", "Ideal"], n),
            "x": side * rng.normal(1, 0.01, n),
            "y": side * rng.normal(1, 0.01, n),
            "z": 0.62 * side * rng.normal(1, 0.01, n),
        }
    )
    return frame.assign(price=np.exp(7.5 + 1.7 * np.log(carat) + 0.15 * rng.normal(size=n))).round(
        2
    )


@pytest.fixture(scope="module")
def diamonds(tmp_path_factory):
    return Made(_diamonds(0), "price", tmp_path_factory.mktemp("diamonds"))


@pytest.fixture(scope="module")
def breast_cancer(tmp_path_factory):
    table = read_demo("breast_cancer")
    return Made(table.frame, table.target, tmp_path_factory.mktemp("cancer"))


# ------------------------------------------------------------------------- faults in the data


def _says_not_shown(seed, fast=True):
    from corollary.reporting import from_memory

    return measure(from_memory(_coin_flips(seed)), "label", fast=fast)[0].verdict == "not shown"


def test_coin_flips_are_not_shown(tmp_path):
    made = Made(_coin_flips(0), "label", tmp_path)
    assert made.verdict["phrase"] == "not shown"
    assert made.verdict["headline"] == "Better than guessing, not shown."
    assert made.verdict["act"]
    # Of 8 seeds none or one may be called shown: 2 or more have probability 0.06 at a rate of 5%.
    assert sum(_says_not_shown(seed) for seed in range(1, 8)) >= 6
    assert Made(_linear(0), "y", tmp_path).verdict["phrase"] == "better than guessing, shown"


@pytest.mark.verify
def test_coin_flips_are_not_shown_in_95_of_100_seeds():
    assert sum(_says_not_shown(seed) for seed in range(100)) >= 95
    assert sum(_says_not_shown(seed, fast=False) for seed in range(20)) >= 19


def _rare(seed, n, others, slope=0.0):
    """Labels of a rare class; with no slope the columns say nothing about it."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n, 4)), columns=list("abcd"))
    score = slope * frame["a"] + rng.gumbel(size=n)
    return frame.assign(y=np.where(score.rank() > n - others, "rare", "common"))


def test_test_rows_of_one_class_show_nothing(tmp_path):
    from corollary.reporting import from_memory

    verdicts = [measure(from_memory(_rare(s, 300, 1)), "y", fast=True)[0] for s in range(3)]
    assert {e.verdict for e in verdicts} == {"not shown"}
    # The interval of the gain would have said otherwise: no rare row was there to deny it.
    assert any(e.gain.low > 0 for e in verdicts)
    made = Made(_rare(0, 300, 1), "y", tmp_path)
    assert made.verdict["phrase"] == "not shown"
    assert "none is not common: too few to show anything" in made.verdict["sentence"]


def test_a_rare_class_that_is_never_called_is_named_on_the_first_screen(tmp_path):
    made = Made(_rare(0, 2000, 80, slope=1.2), "y", tmp_path)
    assert made.verdict["phrase"] == "better than guessing, shown"
    assert set(made.evidence.test.prediction) == {made.evidence.classes.index("common")}
    assert made.verdict["headline"].endswith("better decisions, not shown.")
    said = "It finds none of 20 rows of rare."
    assert said in made.verdict["sentence"]
    assert said in entities.unescape(made.html)


def test_a_leaked_column_is_asked_about_on_the_first_screen(tmp_path):
    frame = _linear(0)
    clean = Made(frame, "y", tmp_path)
    assert not clean.found("predicts-alone")
    frame["decision"] = np.where(frame["y"] == "yes", "granted", "refused")
    made = Made(frame, "y", tmp_path)
    assert [f["columns"] for f in made.found("predicts-alone")] == [["decision"]]
    # It is a question, not an alarm: only the reader knows what is known when.
    assert not any(f["act"] for f in made.findings)
    question = "decision alone predicts almost perfectly: is it known before the target is?"
    assert question in made.verdict["sentence"]
    assert question not in clean.verdict["sentence"]
    assert made.evidence.importances[0].column == "decision"


def test_doubts_stand_on_the_first_screen(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"bought": rng.normal(size=200), "noise": rng.normal(size=200)})
    frame["day"] = pd.date_range("2020-01-01", periods=200)[rng.permutation(200)]
    frame["sold"] = 100.0 + rng.normal(size=200)
    frame["gain"] = frame["sold"] - frame["bought"]
    made = Made(frame, "gain", tmp_path)
    for said in (
        "But so small an error is rare: is gain computed from other columns, such as",
        "Rows were dealt at random whatever their day, so nothing here tells how well",
    ):
        assert said in entities.unescape(made.html)


def test_the_first_screen_says_of_whom_it_speaks(tmp_path):
    rng = np.random.default_rng(0)
    owner = np.repeat(np.arange(60), 10)
    level = rng.normal(size=60)[owner]  # nothing but the owner tells it
    frame = pd.DataFrame({"patient": [f"p{i}" for i in owner], "x": rng.normal(size=600)})
    frame["town"] = rng.choice(["a", "b", "c"], 600)
    frame["y"] = level + frame.x + 0.5 * rng.normal(size=600)
    made = Made(frame, "y", tmp_path)
    assert "on rows of new patients" in made.verdict["headline"]
    said = made.verdict["scope"]["sentence"]
    assert "These numbers speak of rows of new patients" in said
    assert "on further rows of the 60 patients of the table" in said
    assert "Will new rows bring new patients? If so, --group patient settles it." in said
    assert "run with --independent" in said
    assert said in entities.unescape(re.sub("</?code>", "", made.html))
    (asked,) = made.found("dependent-rows")
    assert "'patient'" in asked["sentence"]
    # New patients are as hard as the report says, and harder than those it has seen.
    new = pd.DataFrame({"patient": "new", "x": rng.normal(size=500), "town": "a"})
    truth = new.x + np.hypot(1, 0.5) * rng.normal(size=500)
    error = np.median(np.abs(truth - made.model.predict_table(new).prediction))
    strip = made.verdict["cards"][0]["strip"]
    assert strip["low"] < error < strip["high"]
    unit = made.verdict["scope"]["unit"]
    assert unit["error_seen"] < 0.75 * unit["error_unseen"]
    clean = Made(frame.assign(y=frame.x + rng.normal(size=600)), "y", tmp_path)
    assert clean.verdict["scope"] is None
    assert clean.verdict["headline"] == "Better than guessing, shown."


def test_twins_never_cross_the_split(tmp_path):
    frame = pd.concat([_linear(0), _linear(0).iloc[:60]], ignore_index=True)
    made = Made(frame, "y", tmp_path)
    tested = made.evidence.test.positions
    assert len(np.unique(tested % 200)) == len(tested) == 50  # a copy of a test row counts once
    assert not made.found("twins-across-split")
    (said,) = made.found("copies")
    assert "260 rows are 200 different rows" in said["sentence"]
    assert said["sentence"] in entities.unescape(made.html)
    assert not Made(_linear(0), "y", tmp_path).found("copies")


def test_twins_that_must_cross_the_split_are_counted(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 2, (500, 5)), columns=list("abcde"))
    frame["y"] = np.where(rng.random(500) < 0.2 + 0.6 * frame["a"], "u", "v")
    made = Made(frame, "y", tmp_path)
    (said,) = made.found("twins-across-split")
    assert "500 rows have an identical twin, no more than chance explains" in said["sentence"]


def test_impossible_values_are_named(diamonds, tmp_path):
    frame = _diamonds(0)
    frame.loc[[7, 70, 300], "z"] = 0.0
    made = Made(frame, "price", tmp_path)
    (said,) = made.found("impossible-value")
    assert said["act"]
    assert said["columns"] == ["z"]
    assert said["rows"] == [7, 70, 300]
    assert "'z' is exactly 0 in 3 rows" in said["sentence"]
    assert said["where"] == "Rows 8, 71 and 301."  # as a reader counts them
    assert "1 finding needs your attention" in made.json["sections"]["data"]["finding"]
    assert ">Act</strong>" in made.html
    assert not diamonds.found("impossible-value")
    assert ">Act</strong>" not in diamonds.html


def test_clean_breast_cancer_raises_no_alarm(breast_cancer):
    made = breast_cancer
    assert made.findings == []
    assert not made.verdict["act"]
    assert made.verdict["phrase"] == "better than guessing, shown"
    body = made.html[made.html.index("<body") : made.html.index("<script")]
    # The warning colour is for what a reader must act on.
    assert not re.search(r'class="[^"]*\b(act|warn|warn-line)\b', body)
    assert 'class="tag"' not in body


# ------------------------------------------------------------------------- odd sizes


def test_two_hundred_columns(tmp_path):
    made = Made(_linear(0, n=600, d=200), "y", tmp_path)
    assert made.verdict["phrase"] == "better than guessing, shown"
    drawn = [a["title"] for a in Page(made.html).find("h4") if "title" in a]
    assert set(drawn) >= {f"x{i}" for i in range(200)}
    assert {i.column for i in made.evidence.importances[:2]} == {"x0", "x1"}
    assert len(made.html.encode()) < 2_000_000


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_thirty_rows(task, tmp_path):
    frame = _linear(0, n=30)
    if task == "regression":
        frame["y"] = 2 * frame["x0"] + np.random.default_rng(1).normal(size=30)
    made = Made(frame, "y", tmp_path)
    evidence = made.evidence
    assert evidence.task == task
    assert (evidence.n_train, evidence.n_calibration, evidence.n_test) == (30, 0, 30)
    # Small data call for rules of their own, and the reader is told.
    assert any("no certificate" in note for note in evidence.notes)
    assert any(note in entities.unescape(made.html) for note in evidence.notes)
    assert "training and testing in turn" in made.html
    card = made.verdict["cards"][0]
    assert card["n"] == evidence.n_test == 30
    # Thirty rows: the interval is wide, and no bound pretends otherwise.
    if task == "classification":
        assert evidence.error_rate.upper > evidence.error_rate.value + 0.1
    else:
        assert card["strip"]["high"] / max(card["strip"]["low"], 1e-9) > 2


def test_a_class_with_three_rows(tmp_path):
    frame = _linear(0, n=150)
    frame.loc[:2, "y"] = "perhaps"
    made = Made(frame, "y", tmp_path)
    assert made.evidence.classes == ("no", "perhaps", "yes")
    (said,) = made.found("rare-class")
    assert "perhaps" in said["sentence"]
    assert not any(c.error for c in made.evidence.candidates)
    trained = set(range(150)) - set(made.evidence.test.positions.tolist())
    assert trained & {0, 1, 2}
    # One row of the rare class was given next to no probability: that loss decides the mean.
    assert made.verdict["phrase"] == "not shown"
    assert "Its decisions are better" in made.verdict["sentence"]


# ------------------------------------------------------------------------- hostile names

SCRIPT = "<script>document.title='owned'</script>"
IMAGE = '"><img src=x onerror="document.title=\'owned\'">'
FORMULA = '=HYPERLINK("http://example.invalid","click")'
TEMPLATE = "{{ 7 * 7 }}{% raw %}"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    rng = np.random.default_rng(0)
    frame = _linear(0, n=160)
    frame[SCRIPT] = rng.choice([IMAGE, FORMULA, TEMPLATE, "+1+1", "@SUM(A1)"], 160)
    frame[IMAGE] = rng.normal(size=160)
    frame[FORMULA] = rng.choice([SCRIPT, "]]>--><!--", 'a,b\n"c"'], 160)
    frame[TEMPLATE] = np.where(frame["y"] == "yes", SCRIPT, FORMULA)
    name = "<img src=x onerror=\"document.title='owned'\">.csv"
    frame = frame.drop(columns="y")
    return frame, Made(frame, TEMPLATE, tmp_path_factory.mktemp("hostile"), name=name)


def test_hostile_names_stay_text(hostile):
    _, made = hostile
    assert made.evidence.classes == tuple(sorted([SCRIPT, FORMULA]))
    page = Page(made.html)  # checks the nesting of tags
    assert len(page.find("script")) == 1
    assert not page.find("img")
    for tag, attributes in page.elements:
        assert not [key for key in attributes if key.startswith("on")], tag
        assert attributes.get("href", "#").startswith("#"), tag
    for text in (SCRIPT, TEMPLATE, "=HYPERLINK(", "<img src=x"):
        assert text in made.words
    assert "49{" not in made.words


@browser
def test_hostile_names_run_nothing_in_a_browser(hostile, tmp_path):
    _, made = hostile
    title = browsed_title(tmp_path, made.html)
    assert title.startswith(TEMPLATE)
    assert title != "owned"


def test_hostile_names_survive_prediction(hostile, tmp_path):
    frame, made = hostile
    frame.drop(columns=TEMPLATE).to_csv(tmp_path / "new.csv", index=False)
    from corollary.reporting import predict_file

    predict_file(made.paths["model.corollary"], tmp_path / "new.csv", tmp_path / "out.csv")
    written = pd.read_csv(tmp_path / "out.csv", keep_default_na=False)
    assert len(written) == 160
    # A spreadsheet would run a formula: it is written as a text.
    assert set(written["prediction"]) <= {SCRIPT, f"'{FORMULA}"}


# ------------------------------------------------------------------------- ways of reading


@pytest.mark.parametrize("name", ["breast_cancer", "diamonds"])
def test_scripts_off(name, request):
    made = request.getfixturevalue(name)
    body = Page(made.html)
    for tag, attributes in body.elements:
        # Nothing waits for a script: no hidden parts, no controls that do nothing without one.
        assert "hidden" not in attributes, tag
        assert tag not in ("button", "input", "select", "noscript", "iframe", "canvas"), tag
    assert len(body.find("details")) == len(body.find("summary")) > 8
    # The slider has a table to fall back on, and every picture its numbers in words.
    if name == "breast_cancer":
        assert "Another threshold" in made.words
    for attributes in body.find("svg"):
        assert attributes["aria-labelledby"]
    for card in made.verdict["cards"]:
        assert card["number"] in made.words
        assert card["sentence"] in " ".join(made.words.split())
    style = "".join(body.text["style"])
    assert not re.search(r"\.no-js|\.js\b", style)


@browser
@pytest.mark.parametrize("name", ["breast_cancer", "diamonds", "hostile"])
def test_a_phone_needs_no_sideways_scrolling(name, request, tmp_path):
    made = request.getfixturevalue(name)
    made = made[1] if name == "hostile" else made
    page = entities.escape(made.html, quote=True)
    wrapper = (
        "<!doctype html><title>waiting</title><body>"
        f'<iframe width=390 height=844 srcdoc="{page}"></iframe><script>'
        "addEventListener('load', function () {"
        " var page = frames[0].document, root = page.documentElement;"
        " var cards = page.querySelector('.cards').getBoundingClientRect();"
        " var small = Array.from(page.querySelectorAll('main p, .card p')).filter(function (p) {"
        "  return p.offsetHeight && parseFloat(frames[0].getComputedStyle(p).fontSize) < 11; });"
        " document.title = [frames[0].innerWidth, root.scrollWidth <= 390,"
        "  cards.bottom < 3 * 844, small.length].join(' '); });</script>"
    )
    # Fits the width; the five answers end within three screens; nothing is too small to read.
    assert browsed_title(tmp_path, wrapper) == "390 true true 0"


def test_a_phone_gets_pictures_of_its_own(breast_cancer):
    page = Page(breast_cancer.html)
    assert {"name": "viewport", "content": "width=device-width, initial-scale=1"} in page.find(
        "meta"
    )
    style = "".join(page.text["style"])
    narrow = style[style.index("@media screen and (max-width") :]
    assert re.search(r"svg\.wide \{[^}]*display: none", narrow)
    classes = [a.get("class", "") for a in page.find("svg")]
    assert classes.count("wide") == classes.count("narrow") > 2


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    """Ten classes and 64 columns: as long as a report gets."""
    table = read_demo("digits")
    return Made(table.frame, table.target, tmp_path_factory.mktemp("digits"))


@browser
@pytest.mark.parametrize("name", ["breast_cancer", "diamonds", "digits"])
def test_print_takes_at_most_nine_pages_with_every_fold_open(name, request, tmp_path):
    made = request.getfixturevalue(name)
    # Without scripts, which open folds too, and without the policy, which forbids other styles.
    page = re.sub(r"<script>.*?</script>|<meta http-equiv[^>]*>", "", made.html, flags=re.DOTALL)
    pages = {}
    for kind, html in (("open", page), ("shut", page.replace("details::details-content", "i"))):
        target = tmp_path / f"{kind}.pdf"
        browse(tmp_path, html, "--no-pdf-header-footer", f"--print-to-pdf={target}")
        pages[kind] = len(re.findall(rb"/Type\s*/Page\b", target.read_bytes()))
    assert pages["shut"] < pages["open"] <= 9


# ------------------------------------------------------------------------- repetition

AGAIN = """
import sys, time
time.perf_counter = lambda: 0.0
from corollary.reporting import report
report(sys.argv[1], "price", out=sys.argv[2], fast=True, date="")
"""


def test_same_seed_same_bytes(diamonds, tmp_path, monkeypatch):
    """All three files, with the clock stopped, in another process with another hash seed."""
    environment = {**os.environ, "PYTHONHASHSEED": "7", "OMP_NUM_THREADS": "2"}
    command = [sys.executable, "-c", AGAIN, str(diamonds.path), str(tmp_path / "other")]
    subprocess.run(command, env=environment, check=True, timeout=300)
    monkeypatch.setattr("time.perf_counter", lambda: 0.0)
    mine = report(diamonds.path, "price", out=tmp_path / "mine", fast=True, date="")
    for name, path in mine.paths.items():
        other = pathlib.Path(tmp_path / "other" / name)
        assert path.read_bytes() == other.read_bytes(), name
    another = report(diamonds.path, "price", out=tmp_path / "mine", fast=True, date="", seed=1)
    for name, path in another.paths.items():
        assert path.read_bytes() != (tmp_path / "other" / name).read_bytes(), name


def test_the_file_alone_decides(diamonds):
    """Reading the same bytes again gives the same table and hash."""
    again = read_table(diamonds.path)
    assert again.sha256 == diamonds.evidence.hashes["data"]
