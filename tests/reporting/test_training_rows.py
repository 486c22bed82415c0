"""Certificates from training rows: the same plane, in units that no training row has set."""

import numpy as np
import pandas as pd
import pytest

from corollary.core.simulate import assert_bound_holds
from corollary.reporting import from_memory, measure
from corollary.reporting.page._render import to_dict
from corollary.reporting.trust._training_rows import RANGE


def _table(seed, n=400, units=(1.0, 100.0, 0.01)):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = np.where(2 * X[:, 0] - X[:, 1] + 0.5 * rng.normal(size=n) > 0, "yes", "no")
    frame = pd.DataFrame(X * np.array(units) + np.array(units), columns=list("abc"))
    return frame.assign(y=y)


@pytest.fixture(scope="module")
def evidence():
    return measure(from_memory(_table(0)), "y", fast=True)[0]


def test_a_plane_is_certified_by_its_training_rows(evidence):
    found = evidence.training_certificates
    assert {c.theorem for c in found} >= {"theory.vc-bound", "theory.pac-bayes-gaussian"}
    assert all(c.seen and c.n_samples == evidence.n_train for c in found)
    assert [c.bound for c in found] == sorted(c.bound for c in found)
    for certificate in found:
        assert RANGE in certificate.assumptions
        assert RANGE not in certificate.checked
        made_true = [a for a in certificate.assumptions if a.about == "choice"]
        assert made_true
        assert set(made_true) <= set(certificate.checked)


def test_bounds_do_not_depend_on_units(evidence):
    other = measure(from_memory(_table(0, units=(1e-3, 7.0, 1e4))), "y", fast=True)[0]
    mine = [(c.theorem, c.quantity.name) for c in evidence.training_certificates]
    assert [(c.theorem, c.quantity.name) for c in other.training_certificates] == mine
    np.testing.assert_allclose(
        [c.bound for c in other.training_certificates],
        [c.bound for c in evidence.training_certificates],
        rtol=1e-6,
    )


def test_the_observed_error_is_that_of_the_chosen_model():
    frame = _table(3)
    evidence, model = measure(from_memory(frame), "y", fast=True)
    wrong = model.predict_table(frame)["prediction"] != frame["y"]
    found = {c.theorem: c for c in evidence.training_certificates}
    n = round(found["theory.vc-bound"].empirical * evidence.n_train)
    # The other errors lie in the calibration and test rows.
    tested = int((evidence.test.truth != evidence.test.prediction).sum())
    assert tested + n <= wrong.sum() <= tested + n + evidence.n_calibration


@pytest.mark.parametrize(
    "change",
    [
        lambda frame: frame.assign(colour=np.where(np.arange(len(frame)) % 3, "red", "blue")),
        lambda frame: frame.assign(a=frame["a"].where(np.arange(len(frame)) % 5 > 0)),
        lambda frame: frame.assign(y=frame["y"].where(frame["c"] < 0.015, "third")),
        lambda frame: frame.assign(y=frame["a"] + 0.1 * frame["b"]),
    ],
    ids=["a category", "a gap", "three classes", "a number"],
)
def test_elsewhere_no_theorem_is_claimed(change):
    evidence, _ = measure(from_memory(change(_table(0))), "y", fast=True)
    assert evidence.training_certificates == ()
    training = to_dict(evidence)["sections"]["certificate"]["training"]
    assert training["certificates"] == []
    assert "the bounds rest on the test rows alone" in training["sentence"]


def test_columns_are_read_for_planes_only(monkeypatch):
    def refuse(encoder, table, features):
        raise AssertionError("a column was read in vain")

    monkeypatch.setattr("corollary.reporting.trust._training_rows._as_measured", refuse)
    frame = _table(0)
    evidence, _ = measure(from_memory(frame.assign(y=frame["a"])), "y", fast=True)
    assert evidence.training_certificates == ()


def test_a_column_left_out_after_a_look_is_for_the_reader_to_judge():
    frame = _table(0).assign(same=1)
    evidence, _ = measure(from_memory(frame), "y", fast=True)
    for certificate in evidence.training_certificates:
        assert not any(a.about == "choice" for a in certificate.checked)


def test_the_page_says_what_training_rows_prove(evidence):
    section = to_dict(evidence)["sections"]["certificate"]
    training = section["training"]
    assert len(training["certificates"]) == len(evidence.training_certificates)
    best = min(c.bound for c in evidence.training_certificates if c.quantity.name == "error rate")
    assert best > evidence.certificates[0].bound
    assert "That is less than the test rows prove." in training["sentence"]
    assert all(c["idea"] for c in [*section["certificates"], *training["certificates"]])


def test_bounds_hold_on_fresh_rows():
    missed = 0
    fresh = _table(10**6, n=20_000)
    for seed in range(8):
        evidence, model = measure(from_memory(_table(seed, n=150)), "y", fast=True, confidence=0.8)
        truth = (model.predict_table(fresh)["prediction"] != fresh["y"]).mean()
        plain = [c for c in evidence.training_certificates if c.quantity.name == "error rate"]
        bounds = [c.bound for c in plain]
        missed += truth > min(bounds, default=1.0)
    assert_bound_holds(missed, 8, 0.2 * 3)
