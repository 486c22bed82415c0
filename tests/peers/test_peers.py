"""The harness that runs scikit-learn's tests on our classes: what it swaps, selects and records."""

import pytest

from tests.peers import files, shared
from tests.peers.__main__ import Result, report, run

TESTS = """
import numpy as np
import pytest
from sklearn import svm
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.linear_model._ridge import _solve_svd
from sklearn.utils._testing import assert_allclose

X, y = np.arange(6.0).reshape(3, 2), np.arange(3.0)
MODELS = {"line": LinearRegression}


def fitted():
    return Ridge().fit(X, y)


def test_ours():
    assert Ridge.__module__.startswith("corollary")


def test_ours_by_module():
    assert svm.SVC.__module__.startswith("corollary")


def test_ours_by_helper_and_testing_tools():
    assert_allclose(fitted().predict(X), y, atol=1)


def test_ours_by_table():
    assert all(model().fit(X, y) for model in MODELS.values())


@pytest.mark.parametrize("model", [Ridge(), DummyRegressor()])
def test_by_parameter(model):
    model.fit(X, y)


def test_fails():
    assert fitted().predict(X)[0] == 7.5, "seven"


def test_private_function():
    _solve_svd(X, y, [fitted().alpha])


def test_private_attribute():
    fitted()._decision_function(X)


def test_private_module(monkeypatch):
    monkeypatch.setattr("sklearn.linear_model._ridge.Ridge", Ridge)


def test_another_class():
    DummyRegressor().fit(X, y)


def test_skips():
    Ridge()
    pytest.skip("not here")


def test_other_words():
    with pytest.raises(ValueError, match="words of somebody else"):
        Ridge(alpha=-1.0).fit(X, y)


def test_other_type():
    with pytest.raises(KeyError, match="alpha"):
        Ridge(alpha=-1.0).fit(X, y)


def test_right_words():
    with pytest.raises(ValueError, match="alpha"):
        Ridge(alpha=-1.0).fit(X, y)


def test_no_warning():
    with pytest.warns(UserWarning, match="words"):
        Ridge().fit(X, y)


@pytest.mark.parametrize("case", [1, 2])
def test_listed(case):
    assert fitted().alpha == case
"""


def test_imports_are_swapped_and_tests_are_sorted(tmp_path):
    path = tmp_path / "test_sample.py"
    path.write_text(TESTS)
    broken = tmp_path / "test_broken.py"
    broken.write_text("from sklearn.linear_model import Ridge\nRidge(nonsense=1)\n")
    result = run("sample", [path, broken], [], ["test_listed[*", "test_gone"])
    ends = {
        record["test"].partition("::")[2]: (record["outcome"], record["why"])
        for record in result.records
    }
    passed = ("test_ours", "test_ours_by_module", "test_ours_by_helper_and_testing_tools")
    passed = (*passed, "test_ours_by_table", "test_by_parameter[model0]", "test_listed[1]")
    for name in (*passed, "test_right_words"):
        assert ends[name] == ("passed", ""), name
    for name in ("test_private_function", "test_private_attribute", "test_private_module"):
        assert ends[name] == ("excluded", "private"), name
    for name in ("test_another_class", "test_by_parameter[model1]"):
        assert ends[name] == ("excluded", "another class"), name
    assert ends["test_skips"] == ("excluded", "skipped by scikit-learn")
    assert ends["test_other_words"] == ("excluded", "other words")
    for name in ("test_fails", "test_other_type", "test_no_warning"):
        assert ends[name][0] == "failed", name
    assert ends["test_listed[2]"] == ("excluded", "listed")
    idle = [r["test"] for r in result.records if r["outcome"] == "no longer excluded"]
    assert idle == ["test_gone"]
    assert "seven" in ends["test_fails"][1]
    assert result.outcomes["not loaded"] == 1
    assert result.share == pytest.approx(7 / 10)
    assert not result.holds
    assert "nonsense" in report(result)


@pytest.mark.parametrize(
    ("outcomes", "holds"),
    [
        ({"passed": 95, "failed": 5, "excluded": 40}, True),
        ({"passed": 94, "failed": 6}, False),
        ({"passed": 100, "not loaded": 1}, False),
        ({"passed": 100, "no longer excluded": 1}, False),
    ],
)
def test_a_package_holds_if_95_percent_pass(outcomes, holds):
    ends = [outcome for outcome, count in outcomes.items() for _ in range(count)]
    result = Result("sample", [{"test": "t", "outcome": end, "why": ""} for end in ends])
    assert result.holds is holds


def test_every_shared_class_has_its_tests():
    assert shared()["Ridge"][0] == "sklearn.linear_model"
    assert {"svm", "tree", "ensemble", "neighbors", "kernel_ridge", "mixture"} <= files().keys()
    assert all(paths for paths in files().values())
