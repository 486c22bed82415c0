"""Model files that were written when the package was called ``corollary.report``."""

import importlib
import json
import pathlib

import numpy as np
import pytest

import corollary
from corollary.reporting import load_model, read_demo

FILES = pathlib.Path(__file__).parent / "files"
SAID = json.loads((FILES / "predictions.json").read_text())


@pytest.mark.parametrize("name", ["iris", "diabetes"])
def test_a_former_model_predicts_what_it_predicted(name):
    table = load_model(FILES / f"{name}.corollary").predict_table(read_demo(name).frame.iloc[::40])
    assert list(table.columns) == list(SAID[name])
    for column, values in SAID[name].items():
        if isinstance(values[0], float):
            np.testing.assert_allclose(table[column], values, rtol=1e-12)
        else:
            assert table[column].tolist() == values


def test_a_former_machine_with_probabilities(seed):
    X = np.random.default_rng(0).normal(size=(60, 2))[:5]
    model = corollary.load(FILES / "margins.corollary")
    np.testing.assert_allclose(model.predict_proba(X), SAID["margins"]["probability"], rtol=1e-10)


def test_the_former_package_says_where_its_names_are():
    with pytest.raises(ImportError, match=r"import other names .* from corollary\.reporting"):
        importlib.import_module("corollary.report")
    assert callable(corollary.report)
