"""The model of a report is a model for scikit-learn's tools and for certify."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import is_classifier, is_regressor
from sklearn.inspection import permutation_importance
from sklearn.metrics import get_scorer

import corollary
from corollary.reporting import ReportError, from_memory, measure
from corollary.reporting._model import read_labels


def _frame(seed, n=400):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {"size": rng.uniform(1, 9, n), "colour": rng.choice(["red", "green", "blue"], n)}
    )
    frame["score"] = frame["size"] - 5 + 2 * (frame["colour"] == "red") + rng.normal(size=n)
    return frame


@pytest.fixture(scope="module", params=["texts", "numbers", "booleans"])
def classifier(request, tmp_path_factory):
    good = {"texts": "good", "numbers": 1, "booleans": True}[request.param]
    bad = {"texts": "bad", "numbers": 0, "booleans": False}[request.param]

    def labelled(seed):
        frame = _frame(seed)
        return frame.drop(columns="score"), np.where(frame["score"] > 0, good, bad)

    frame, y = labelled(0)
    out = tmp_path_factory.mktemp("report")
    corollary.report(frame.assign(y=y), target="y", out=out, fast=True)
    return corollary.load(out / "model.corollary"), labelled


def test_the_loaded_model_is_a_classifier_of_the_labels_of_the_table(classifier):
    model, labelled = classifier
    frame, y = labelled(1)
    assert is_classifier(model)
    assert set(model.classes_.tolist()) == set(y.tolist())
    assert (model.predict(frame) == y).mean() > 0.8
    probability = model.predict_proba(frame)
    assert (model.classes_[probability.argmax(axis=1)] == model.predict(frame)).all()
    right = (model.predict(frame) == y).mean()
    assert get_scorer("accuracy")(model, frame, y) == model.score(frame, y) == right
    found = permutation_importance(model, frame, y, n_repeats=2, random_state=0)
    assert found.importances_mean.argmax() == 0


def test_certify_counts_its_mistakes_and_missed_sets_on_new_rows(classifier):
    model, labelled = classifier
    frame, y = labelled(1)
    wrong = int((model.predict(frame) != y).sum())
    certificates = corollary.certify(model, frame, y, kept_aside=True)
    assert any(c.observed.startswith(f"{wrong} of 400") for c in certificates)
    missed = model.misses(frame, y)
    table = model.predict_table(frame)
    inside = [str(label) in row.split(" | ") for label, row in zip(y.tolist(), table["set"])]
    assert (missed == ~np.array(inside)).all()
    assert not hasattr(model, "predict_interval")
    assert any("outside their 90% set" in c.claim for c in certificates)


def test_rows_that_it_was_trained_on_are_refused(classifier):
    model, labelled = classifier
    frame, y = labelled(0)
    with pytest.raises(ValueError, match="was not trained on"):
        corollary.certify(model, frame, y)


def test_a_model_of_numbers_gives_intervals_and_certificates():
    model = measure(from_memory(_frame(0)), "score", fast=True)[1]
    frame = _frame(1)
    rows, y = frame.drop(columns="score"), frame["score"]
    assert is_regressor(model)
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError):
        _ = model.classes_
    low, high = model.predict_interval(rows).T
    assert (model.misses(rows, y) == ((y < low) | (y > high))).all()
    assert model.misses(rows, y).mean() < 0.2
    claims = [c.claim for c in corollary.certify(model, rows, y, kept_aside=True)]
    assert any("lie outside their 90% interval" in claim for claim in claims)
    assert get_scorer("r2")(model, rows, y) > 0.6
    with pytest.raises(ReportError, match="is fitted already"):
        model.fit(rows, y)


@pytest.mark.parametrize(
    ("names", "labels"),
    [
        (("0", "1", "10"), [0, 1, 10]),
        (("0.5", "1.0"), [0.5, 1.0]),
        (("01", "1"), ["01", "1"]),
        (("False", "True"), [False, True]),
        (("1", "none"), ["1", "none"]),
    ],
)
def test_labels_are_read_back_as_the_table_holds_them(names, labels):
    assert read_labels(names).tolist() == labels
    assert [type(label) for label in read_labels(names).tolist()] == list(map(type, labels))
