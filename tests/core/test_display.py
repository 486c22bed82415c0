import sys
from dataclasses import is_dataclass, replace
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest

import corollary
from corollary.core.display import Difference, Tabular, axes_for

mpl.use("Agg")


def test_the_users_axes_are_kept_and_others_made():
    ax = axes_for(figsize=(2, 1))
    assert ax.figure.get_size_inches().tolist() == [2, 1]
    assert axes_for(ax) is ax


def test_without_matplotlib_the_repair_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"pip install 'corollary\[plot\]'"):
        axes_for()


def test_results_of_many_rows_are_short_in_a_console():
    from sklearn.linear_model import LinearRegression

    from corollary.anomaly import AnomalyDetector
    from corollary.optimize import minimize
    from corollary.validation import cross_validate

    X = np.random.default_rng(0).normal(size=(500, 2))
    called = AnomalyDetector(measure="mahalanobis", random_state=0).fit_discover(X)
    solution = minimize(lambda x: (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2, [0.0, 0.0])
    for result in (called, solution, cross_validate(LinearRegression(), X, X[:, 0])):
        assert len(repr(result)) < 900, repr(result)
    assert "scores=<ndarray of shape (500,)>" in repr(called)
    assert "x=array([1., 1.])" in repr(solution)
    assert f"certificate=<{solution.certificate}>" in repr(solution)


def test_a_list_of_certificates_can_be_read():
    from corollary.certificates import error_rate_certificate

    certificates = [error_rate_certificate(2, 143, confidence=0.95)]
    assert repr(certificates) == (
        "[Certificate('at most 4.4% of such rows are classified wrongly', confidence=0.95, "
        "n_samples=143, theorem='theory.clopper-pearson')]"
    )
    vacuous = replace(certificates[0], vacuous=True)
    assert repr(vacuous).startswith("Certificate('error rate: vacuous', confidence=0.95")


def test_no_result_writes_all_its_fields():
    for name in dir(corollary):
        getattr(corollary, name)
    classes = [*Tabular.__subclasses__(), *Difference.__subclasses__()]
    classes = [cls for cls in classes if is_dataclass(cls)]
    assert len(classes) > 10
    for cls in classes:  # a data class makes a writer of its own, in no file of ours
        assert "corollary" in Path(cls.__repr__.__code__.co_filename).parts, cls
