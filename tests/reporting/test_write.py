"""The files of a report: whole or not at all."""

import hashlib
import html
import json
import os
import signal
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest

import corollary
from corollary.reporting import ReportError, predict_file, read_demo, report
from corollary.reporting._report import reproduce_command
from corollary.reporting._settings import Settings
from corollary.reporting._write import FILES, write_report


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 2)), columns=["a", "b"])
    return frame.assign(y=frame["a"] + 0.3 * rng.normal(size=60))


def test_three_files_that_belong_together(data, tmp_path):
    import hashlib

    made = report(data, "y", out=tmp_path / "deep" / "out", fast=True, date="2026-01-02")
    assert sorted(p.name for p in (tmp_path / "deep" / "out").iterdir()) == sorted(FILES)
    content = json.loads(made.paths["report.json"].read_text())
    assert content["date"] == "2026-01-02"
    digest = hashlib.sha256(made.paths["model.corollary"].read_bytes()).hexdigest()
    assert made.evidence.hashes["model"] == digest
    assert digest in made.paths["report.html"].read_text()
    model = corollary.load(made.paths["model.corollary"])
    pd.testing.assert_frame_equal(model.predict_table(data), made.model.predict_table(data))


def test_same_seed_same_model_file(data, tmp_path):
    first = report(data, "y", out=tmp_path / "1", fast=True).paths["model.corollary"]
    second = report(data, "y", out=tmp_path / "2", fast=True).paths["model.corollary"]
    assert first.read_bytes() == second.read_bytes()


def test_files_can_be_read_by_others(data, tmp_path):
    made = report(data, "y", out=tmp_path, fast=True)
    umask = os.umask(0)
    os.umask(umask)
    for path in made.paths.values():
        assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~umask


def test_nothing_is_written_without_a_place(data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert report(data, "y", out=None, fast=True).paths == {}
    assert list(tmp_path.iterdir()) == []


def test_an_unwritable_place_is_refused_before_any_work(data, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("I am a file")
    with pytest.raises(ReportError, match="is a file; --out must be a directory") as caught:
        report(data, "y", out=tmp_path / "file")
    assert caught.value.exit_code == 5
    with pytest.raises(ReportError, match=r"Nothing can be written to .* Choose another --out"):
        report(data, "y", out=tmp_path / "file" / "inside")

    def refuse(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.NamedTemporaryFile", refuse)
    with pytest.raises(ReportError, match=r"Nothing can be written to .*: Permission denied"):
        report(data, "y", out=tmp_path / "closed")


KILLED = """
import os, signal, sys
from pathlib import Path
import pandas as pd
import corollary.reporting.page._render as render
from corollary.reporting import report
from corollary.reporting._write import write_report

def die(*args, **kwargs):
    os.kill(os.getpid(), signal.SIGKILL)

def die_at(number):
    replace, calls = os.replace, []
    def replace_once(source, target):
        calls.append(target)
        # the first call is that of the model file inside the hidden directory
        die() if len(calls) == number else replace(source, target)
    os.replace = replace_once

made = report(pd.read_csv(sys.argv[1]), "y", out=None, fast=True)
for moment, out in zip(sys.argv[2::2], sys.argv[3::2]):
    run = os.fork()  # one report, and a process for each death that it dies
    if run == 0:
        if moment == "rendering":
            render.render_page = die
        else:
            die_at(int(moment))
        write_report(made.evidence, made.model, Path(out))
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(run, 0)[1]))
"""


@pytest.fixture(scope="module")
def deaths(data, tmp_path_factory):
    """Directories where runs were killed: when the page was rendered, at its names and between."""
    folder = tmp_path_factory.mktemp("killed")
    table, moments = folder / "t.csv", {"rendering": "rendering", "naming": "2", "between": "3"}
    data.to_csv(table, index=False)
    for moment in ("rendering", "naming"):
        (folder / moment).mkdir()
        for name in FILES:
            (folder / moment / name).write_text("old")
    other = data.assign(y=data["y"] > data["y"].median())
    report(other, "y", out=folder / "between", fast=True)
    plan = [str(word) for moment, when in moments.items() for word in (when, folder / moment)]
    done = subprocess.run(
        [sys.executable, "-c", KILLED, table, *plan], check=True, capture_output=True, text=True
    )
    assert list(map(int, done.stdout.split())) == [-signal.SIGKILL] * 3
    return folder


@pytest.mark.parametrize("moment", ["rendering", "naming"])
def test_a_killed_run_leaves_nothing_half_written(data, deaths, moment):
    out = deaths / moment
    assert [(out / name).read_text() for name in FILES] == ["old"] * 3
    assert len(list(out.iterdir())) > len(FILES)  # what the killed run left behind
    report(data, "y", out=out, fast=True)
    assert sorted(p.name for p in out.iterdir()) == sorted(FILES)


def test_a_kill_between_two_renames_is_noticed(data, deaths):
    table, out = deaths / "t.csv", deaths / "between"
    notes = predict_file(out / "model.corollary", table)[1]
    assert "report.json describes another model than model.corollary" in notes[0]
    report(data, "y", out=out, fast=True)
    assert not any("another model" in n for n in predict_file(out / "model.corollary", table)[1])


def test_runs_that_write_to_one_directory_at_once_take_turns(data, tmp_path):
    made = [report(data, "y", out=None, fast=True, seed=seed) for seed in (1, 2)]

    def write(one):
        for _ in range(4):
            write_report(one.evidence, one.model, tmp_path)

    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(write, one) for one in made]:
            done.result()
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(FILES)
    digest = hashlib.sha256((tmp_path / "model.corollary").read_bytes()).hexdigest()
    assert digest in (tmp_path / "report.json").read_text()
    assert digest in (tmp_path / "report.html").read_text()


def test_the_command_that_repeats_it():
    table = read_demo("iris")
    command = reproduce_command(table, None, "species", Settings(seed=3))
    assert command == "corollary report --demo iris --seed 3"
    settings = Settings(task="classification", coverage=0.8, seed=3, fast=True)
    command = reproduce_command(table, "my file.csv", "a b", settings)
    assert command == (
        "corollary report 'my file.csv' --target 'a b' --task classification --coverage 0.8 "
        "--seed 3 --fast"
    )


def test_a_target_must_be_named(data):
    with pytest.raises(ReportError, match="Name the column of table to predict"):
        report(data, out=None)


def test_a_report_prints_as_a_summary_and_shows_as_a_page(data, tmp_path):
    made = corollary.report(data, "y", out=tmp_path, fast=True)
    verdict = made.content["verdict"]
    text = repr(made)
    assert text.startswith(verdict["headline"])
    assert all(card["question"] in text and card["sentence"] in text for card in verdict["cards"])
    assert text.endswith(str(made.paths["report.html"]))
    shown = made._repr_html_()
    page = made.paths["report.html"].read_text()
    assert html.unescape(shown.partition('srcdoc="')[2].partition('" sandbox')[0]) == page
    assert made.content == json.loads(made.paths["report.json"].read_text())
    assert made.certificates is made.evidence.certificates


class _Stranger:
    """A classifier of another library, of which model files know nothing."""

    def fit(self, X, y):
        self.classes_, self.n_features_in_ = np.unique(y), X.shape[1]
        return self

    def predict(self, X):
        return (X[:, 0] > 0).astype(int)

    def predict_proba(self, X):
        yes = np.clip(X[:, 0] > 0, 0.02, 0.98)
        return np.column_stack([1 - yes, yes])


def test_a_model_that_cannot_be_saved_is_reported_all_the_same(tmp_path, monkeypatch):
    from corollary.reporting.models import _candidates as register

    monkeypatch.setattr(register, "_ENTRIES", dict(register._ENTRIES))
    fit = register.register_candidate("stranger", "stranger", "Knows.", tasks=("classification",))
    fit(lambda situation, X, y: _Stranger().fit(X, y))
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=300)})
    frame["y"] = np.where(frame.x > frame.x.mean(), "yes", "no")
    frame.loc[rng.permutation(300)[:8], "y"] = "no"
    (tmp_path / "model.corollary").write_text("of an earlier report")
    made = report(frame, "y", out=tmp_path, fast=True)
    assert any(isinstance(part, _Stranger) for part in made.model.predictor.estimators)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report.html", "report.json"]
    assert list(made.paths) == ["report.json", "report.html"]
    said = json.loads((tmp_path / "report.json").read_text())["unsaved"]
    assert said.startswith("There is no model file, because")
    assert "_Stranger" in said
    assert said in str(made)
    assert said in made.content["sections"]["limits"]["limits"]
    assert "There is no model file" in (tmp_path / "report.html").read_text()
