"""A few hundred hostile cases; ``python -m tests.fuzz`` runs the many of ``make verify``."""

import time

import numpy as np
import pytest

from corollary.linear import Ridge
from tests.fuzz import arrays, files, outcome, tables
from tests.fuzz.arrays import name_of

#: They are compiled for every shape; ``make verify`` tries them.
NETWORKS = ("MLPClassifier", "MLPRegressor", "PACBayesClassifier")


def faults_of(run, seeds):
    return [fault for seed in seeds if (fault := run(seed)) is not None]


def without_networks(seeds):
    return [seed for seed in seeds if name_of(seed) not in NETWORKS]


@pytest.mark.parametrize("start", range(0, 216, 36))
def test_hostile_arrays(start):
    assert faults_of(arrays.run, without_networks(range(start, start + 36))) == []


@pytest.mark.parametrize("start", range(0, 36, 12))
def test_changed_files(start):
    places = [k + i * len(arrays.models()) for k in range(start, start + 12) for i in range(8)]
    assert faults_of(files.run, without_networks(places)) == []


@pytest.mark.parametrize("start", range(0, 12, 4))
def test_hostile_tables(start):
    assert faults_of(tables.run, range(start, start + 4)) == []


# -- the generators can fail -----------------------------------------------------------------


def refuse(message):
    raise ValueError(message)


@pytest.mark.parametrize(
    ("case", "fault"),
    [
        (lambda: np.linalg.cholesky(-np.eye(2)), "LinAlgError"),
        (lambda: 1 / 0, "ZeroDivisionError"),
        (lambda: refuse("not from the library, though a sentence"), "ValueError in refuse"),
        (lambda: "what the case found", "what the case found"),
        (lambda: time.sleep(5), "no end within 1 s"),
    ],
)
def test_a_fault_is_told(monkeypatch, case, fault):
    monkeypatch.setattr(outcome, "PATIENCE", 1)
    assert fault in outcome.outcome(case)


def test_a_refusal_of_ours_is_no_fault():
    assert outcome.outcome(lambda: Ridge(alpha=-1).fit([[0.0]], [0.0])) is None
    assert outcome.outcome(lambda: None) is None


def test_an_estimator_that_gives_nan_is_told(monkeypatch):
    monkeypatch.setattr(Ridge, "_predict", lambda self, X: np.full(len(X), np.nan))
    place = list(arrays.models()).index("Ridge")
    seeds = range(place, 30 * len(arrays.models()), len(arrays.models()))
    assert "Ridge: predict gives NaN" in faults_of(arrays.run, seeds)


def test_a_schema_that_lets_nan_pass_is_told(monkeypatch):
    from corollary.core.schema import Array

    shape_only = Array.matches
    monkeypatch.setattr(
        Array, "matches", lambda self, value, sizes: shape_only(self, np.nan_to_num(value), sizes)
    )
    place = list(arrays.models()).index("Ridge")
    seeds = range(place, 30 * len(arrays.models()), len(arrays.models()))
    assert any("gives NaN" in fault for fault in faults_of(files.run, seeds))


def test_tables_reach_reports_and_predictions(monkeypatch):
    # If every table were refused at once, little would be tried.
    said = []
    command = tables._command

    def listen(*words):
        said.append((words[0], fault := command(*words)))
        return fault

    monkeypatch.setattr(tables, "_command", listen)
    assert faults_of(tables.run, range(12, 18)) == []
    assert "predict" in {word for word, _ in said}
