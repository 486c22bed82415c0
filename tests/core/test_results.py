"""Results print as sentences, show as tables in notebooks and become frames."""

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyRegressor

from corollary import certify
from corollary.linear import LogisticRegression, Ridge
from corollary.theory import compare_losses
from corollary.validation import compare_learners, cross_validate, hold_out, tune


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    return X, X[:, 0] + 0.1 * rng.normal(size=90)


def test_folds_of_a_cross_validation(rows):
    outcome = cross_validate(Ridge(), *rows, cv=3, random_state=0)
    frame = outcome.to_frame()
    assert list(frame.columns) == ["fold", "risk", "rows", "training rows"]
    assert frame["rows"].tolist() == [30, 30, 30]
    assert frame["risk"].mean() == pytest.approx(outcome.risk)
    assert str(outcome).startswith(f"The mean loss of such rows is {outcome.risk:.4g}, with a ")
    assert "3 folds of 90 rows" in str(outcome)


def test_rows_of_a_hold_out(rows):
    units = np.arange(90) // 3
    outcome = hold_out(Ridge(), *rows, groups=units, random_state=0)
    frame = outcome.to_frame()
    assert frame["loss"].to_numpy() == pytest.approx(outcome.losses)
    assert frame.groupby("unit")["loss"].mean().mean() == pytest.approx(outcome.risk)
    assert "rows of new owners" in str(outcome)


def test_settings_of_a_tuning(rows):
    outcome = tune(Ridge(), {"alpha": [1e4, 1.0]}, *rows, random_state=0)
    frame = outcome.to_frame()
    assert frame["alpha"].tolist() == [1e4, 1.0]
    assert frame["chosen"].tolist() == [False, True]
    assert "{'alpha': 1.0} was chosen of 2 settings" in str(outcome)


@pytest.mark.parametrize("swapped", [False, True])
def test_comparisons_say_which_is_better(rows, swapped):
    learners = [DummyRegressor(), Ridge()][:: -1 if swapped else 1]
    better = "first" if swapped else "second"
    by_folds = compare_learners(*learners, *rows, loss="square", confidence=0.9)
    assert str(by_folds).startswith(f"The {better} is better: ")
    assert f"90% interval {by_folds.lower:.4g} to {by_folds.upper:.4g}" in str(by_folds)
    losses = [np.ones(50), np.zeros(50)][:: -1 if swapped else 1]
    assert str(compare_losses(*losses)).startswith(f"The {better} is better: ")
    assert str(compare_losses(losses[0], losses[0])).startswith("Neither is shown to be better: ")
    assert by_folds.to_frame()["difference"].tolist() == [by_folds.difference]


def test_certificates_of_one_model_in_one_frame(rows):
    X, y = rows
    model = LogisticRegression().fit(X[:50], y[:50] > 0)
    certificates = certify(model, X[50:], y[50:] > 0)
    frame = pd.concat([certificate.to_frame() for certificate in certificates])
    assert frame["bound"].tolist() == [certificate.bound for certificate in certificates]
    assert frame["theorem"].iloc[0] == "theory.clopper-pearson"
    assert "independent draws" in frame["assumed"].iloc[0]


def test_notebooks_show_the_sentence_and_the_table_and_run_nothing():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 1)), rng.normal(size=40)
    outcome = cross_validate(Ridge(), X, y, random_state=0, groups=pd.Series(range(40), name="<b>"))
    page = outcome._repr_html_()
    assert page.startswith("<p>The mean loss of rows of new &lt;b&gt;")
    assert "<th>training rows</th>" in page
