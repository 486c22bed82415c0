"""Files that were written before scores were objects: one of each wrapper, with its answers."""

import pathlib

import numpy as np
import pytest

import corollary
from corollary.conformal import APS, LAC, RAPS, Absolute, Quantiles, Scaled
from corollary.linear import Ridge

FILES = pathlib.Path(__file__).parent / "files"
ANSWERS = np.load(FILES / "answers.npz")
SCORES = {
    "regressor-absolute": Absolute,
    "regressor-normalised": Scaled,
    "regressor-weighted": Absolute,
    "quantiles-one-model": Quantiles,
    "quantiles-two-models": Quantiles,
    "classifier-lac": LAC,
    "classifier-aps": APS,
    "classifier-raps-by-class": RAPS,
    "cv-plus": None,
    "after-bootstrap": None,
}


@pytest.mark.parametrize("name", SCORES)
def test_a_former_file_predicts_what_it_did(name, tmp_path):
    model, X = corollary.load(FILES / f"{name}.corollary"), ANSWERS["X"]
    corollary.save(model, tmp_path / "again")
    for loaded in (model, corollary.load(tmp_path / "again")):
        predict = loaded.predict_set if hasattr(loaded, "predict_set") else loaded.predict_interval
        how = {"weights": np.ones(6)} if name == "regressor-weighted" else {}
        np.testing.assert_allclose(predict(X, **how), ANSWERS[name], rtol=1e-12)
        np.testing.assert_array_equal(loaded.predict(X), ANSWERS[f"{name}.predict"])
        if SCORES[name] is not None:
            assert isinstance(loaded.conformity_score_, SCORES[name])


def test_parts_of_former_scores_keep_their_names():
    scaled = corollary.load(FILES / "regressor-normalised.corollary")
    assert isinstance(scaled.scale_estimator_, Ridge)
    assert scaled.scale_floor_ == scaled.conformity_score_.floor > 0
    two = corollary.load(FILES / "quantiles-two-models.corollary")
    assert two.upper_estimator_ is two.conformity_score_.high
    assert corollary.load(FILES / "quantiles-one-model.corollary").upper_estimator_ is None
    assert corollary.load(FILES / "classifier-lac.corollary").classes_.tolist() == ["high", "low"]


def test_a_former_file_without_a_fit():
    model = corollary.load(FILES / "unfitted.corollary")
    assert not hasattr(model, "conformity_score_")
    assert model.scale_estimator.alpha == 2.0
